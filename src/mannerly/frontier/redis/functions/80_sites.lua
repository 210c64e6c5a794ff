-- enlist, retire, exclude, forget: what is seldom called.

-- In a Cluster first in the buckets, then here: a crawl that is handed over meanwhile takes nobody.
local function enlist(_, args)
  local call, read = begin(args)
  local writer, label = read(), read()
  if not call.is_crawl then
    for _, number in ipairs(call.numbers) do
      redis.call('HSETNX', writers_of(call, number), writer, struct.pack(WRITER, 1, 0))
      redis.call('HSETNX', labels_of(call, number), writer, label)
    end
    return answer(call)
  end
  local to = redis.call('HGET', call.settings, 'moved_to')
  if to then return answer(call, 0, to) end
  local new = redis.call('HSETNX', call.writers, writer, struct.pack(WRITER, 1, 0))
  if new == 1 then redis.call('HSET', call.labels, writer, label) end
  return answer(call, new, '')
end

local function bring_back(call, bucket, id, rest_ms)
  local site = site_at(bucket, id)
  redis.call('HDEL', bucket.lease, id)
  site.ready_at = math.min(site.ready_at, rested(call, math.max(rest_ms, site.delay)))
  site.changed = true
  place_in_ready(bucket, site, waits(site))
end

local function retire_in(rows, writer)
  local row = redis.call('HGET', rows, writer)
  if row then redis.call('HSET', rows, writer, struct.pack('>B', 0) .. string.sub(row, 2)) end
  return row
end

local function retire(_, args)
  local call, read = begin(args)
  local writer, rest_ms, back = read(), tonumber(read()), 0
  if call.is_crawl then
    if not retire_in(call.writers, writer) then return answer(call, 0, 0) end
    redis.call('HDEL', call.crawlers, writer)
    redis.call('HINCRBY', call.meta, 'given_back', 1)
  end
  for _, number in ipairs(call.numbers) do
    local bucket = bucket_at(call, number)
    if not call.is_crawl then retire_in(bucket.writers, writer) end
    local held = redis.call('HGETALL', bucket.lease)
    for at = 1, #held, 2 do
      if string.sub(held[at + 1], 9) == writer then
        bring_back(call, bucket, held[at], rest_ms)
        back = back + 1
      end
    end
  end
  finish(call)
  return answer(call, 1, back)
end

local function exclude(_, args)
  local call, read = begin(args)
  local sites, urls = 0, 0
  for _ = 1, tonumber(read()) do
    local bucket = bucket_at(call, tonumber(read()))
    local site = found_or_made(call, bucket, read())
    if site.state ~= EXCLUDED then
      if site.state == ABANDONED then
        count(bucket, 'sites_abandoned', -1)
        count(bucket, 'urls_abandoned', -site.pending)
      end
      count(bucket, 'sites_excluded', 1)
      count(bucket, 'urls_excluded', site.pending + site.spilt)
      count(bucket, 'pending_excluded', site.pending)
      count(bucket, 'urls_spilt', -site.spilt)
      site.state, site.changed = EXCLUDED, true
      redis.call('HDEL', bucket.lease, site.id)
      place_in_ready(bucket, site, false)
      sites, urls = sites + 1, urls + site.pending + site.spilt
    end
  end
  finish(call)
  return answer(call, sites, urls)
end

-- Take the last leaf of a site; how many entries it had, by outcome.
local function forget_leaf(bucket, site, outcomes)
  local leaf = leaf_at(bucket, site, site.leaves - 1)
  for at = ENTRY, #leaf.entries, ENTRY do
    local outcome = string.byte(leaf.entries, at)
    outcomes[outcome] = (outcomes[outcome] or 0) + 1
  end
  leaf.entries, leaf.changed = '', true
  if site.leaves > 1 then site.leaves = site.leaves - 1 end
  return site.leaves
end

-- A slice of forget: some leaves of `seen`, and at the last of them the queues.
local function forget(_, args)
  local call, read = begin(args)
  local bucket, name, leaves = bucket_at(call, tonumber(read())), read(), tonumber(read())
  local site = find_site(bucket, name)
  if not site then return answer(call, 0, 0, 0) end
  if site.state ~= EXCLUDED then
    return misuse(name .. ' is not excluded; exclude it before it is forgotten')
  end
  local outcomes = {}
  for _ = 1, math.min(leaves, site.leaves) do forget_leaf(bucket, site, outcomes) end
  local pending, spilt, settled = outcomes[PENDING] or 0, outcomes[SPILT] or 0, 0
  for outcome, number in pairs(outcomes) do
    if outcome ~= PENDING and outcome ~= SPILT then
      settled = settled + number
      count(bucket, 'settled', -number, outcome)
    end
  end
  count(bucket, 'urls', -(pending + settled))
  count(bucket, 'urls_excluded', -(pending + spilt))
  count(bucket, 'pending_excluded', -pending)
  site.pending, site.spilt = site.pending - pending, site.spilt - spilt
  site.pages = site.pages - (outcomes[FETCHED] or 0)
  site.known, site.changed = site.known - pending - settled, true
  if site.known + site.spilt == 0 then
    redis.call('UNLINK', bucket.queue .. site.id, bucket.spill .. site.id)
  end
  finish(call)
  return answer(call, pending + spilt, settled, site.known + site.spilt)
end

-- A slice of forget: the robots records among the next few of the bucket's.
local function forget_robots(_, args)
  local call, read = begin(args)
  local bucket, name, cursor, gone = bucket_at(call, tonumber(read())), read(), read(), 0
  local site = find_site(bucket, name)
  if not site or site.state ~= EXCLUDED then return answer(call, '0', 0) end
  local scanned = redis.call('HSCAN', bucket.robots, cursor, 'MATCH', site.id .. ' *', 'COUNT', 2000)
  for at = 1, #scanned[2], 2 do
    gone = gone + redis.call('HDEL', bucket.robots, scanned[2][at])
  end
  return answer(call, scanned[1], gone)
end
