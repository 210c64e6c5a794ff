-- hand_over, clock, and what export and restore need: a crawl that goes to another engine, or comes
-- from one. What is restored may be sent again: it is entered once.

local function retire_all(rows)
  local writers = redis.call('HGETALL', rows)
  for at = 1, #writers, 2 do
    local row = struct.pack('>B', 0) .. string.sub(writers[at + 1], 2)
    redis.call('HSET', rows, writers[at], row)
  end
end

-- Writers are retired and leases end; the ready times stay, for who held a lease may be in the middle
-- of a visit.
local function hand_over(_, args)
  local call, read = begin(args)
  local to = read()
  if call.is_crawl then
    if not is_created(call) then return answer(call, 0) end
    if to == '' then
      redis.call('HDEL', call.settings, 'moved_to')
      return answer(call, 1)
    end
    redis.call('HSET', call.settings, 'moved_to', to)
    retire_all(call.writers)
    redis.call('DEL', call.crawlers)
  end
  for _, number in ipairs(call.numbers) do
    local bucket = bucket_at(call, number)
    if not call.is_crawl then retire_all(bucket.writers) end
    for _, id in ipairs(redis.call('HKEYS', bucket.lease)) do
      local site = site_at(bucket, id)
      place_in_ready(bucket, site, waits(site))
    end
    redis.call('DEL', bucket.lease)
  end
  return answer(call, 1)
end

local function clock(_, args)
  local call = begin(args)
  local rest_until = call.rest_until
  for _, number in ipairs(call.numbers) do
    rest_until = math.max(rest_until, rest_of(call, number))
  end
  return answer(call, text(call.up_at), text(rest_until))
end

-- Sites as they are packed.
local function packed_sites(_, args)
  local call, read = begin(args)
  local number, first, limit = tonumber(read()), tonumber(read()), tonumber(read())
  local found = {}
  local to_bucket, to_id = walk(call, number, first, function(bucket, site)
    found[#found + 1] = redis.call('HGET', bucket.site, site.id)
    return #found >= limit
  end)
  return answer(call, to_bucket, to_id, found)
end

-- Some robots records of a bucket: name, origin, record... A scan may give one twice.
local function robots_in(_, args)
  local call, read = begin(args)
  local bucket, cursor, most = bucket_at(call, tonumber(read())), read(), read()
  local scanned, found = redis.call('HSCAN', bucket.robots, cursor, 'COUNT', most), {}
  for at = 1, #scanned[2], 2 do
    local id, origin = string.match(scanned[2][at], '^(%d+) (.*)$')
    local site = site_at(bucket, id)
    if site then found[#found + 1] = { site.name, origin, scanned[2][at + 1] } end
  end
  return answer(call, scanned[1], found)
end

-- Writer, label, row...
local function writers(_, args)
  local call = begin(args)
  local rows, found = redis.call('HGETALL', call.writers), {}
  for at = 1, #rows, 2 do
    local label = redis.call('HGET', call.labels, rows[at]) or ''
    found[#found + 1] = { rows[at], label, rows[at + 1] }
  end
  return answer(call, found)
end

-- What every restore begins with: nil if the caller is at the beginning of this crawl.
local function beginning(call)
  local mine = call.read()
  if mine ~= '' and begins(call, mine) then return nil end
  return misuse('clear a crawl before it is restored')
end

-- Each site as it is packed; what it has seen and spilt is counted as that comes.
local function restore_sites(_, args)
  local call, read = begin(args)
  local no = beginning(call)
  if no then return no end
  for _ = 1, tonumber(read()) do
    local bucket, given = bucket_at(call, tonumber(read())), unpacked('', read())
    local site = found_or_made(call, bucket, given.name)
    for name, value in pairs(given) do
      if name ~= 'id' then site[name] = value end
    end
    site.changed = true
    place_in_ready(bucket, site, waits(site))
    site.spilt, site.known, site.leaves = 0, 0, 1
  end
  finish(call)
  return answer(call)
end

-- By site: its URLs, each with whether it is spilt, its place and itself. `last` is the number of the
-- last place: those that the bucket gives later are behind it.
local function restore_waiting(_, args)
  local call, read = begin(args)
  local no = beginning(call)
  if no then return no end
  local last = tonumber(read())
  for _ = 1, tonumber(read()) do
    local bucket, name = bucket_at(call, tonumber(read())), read()
    local site = find_site(bucket, name)
    for _ = 1, tonumber(read()) do
      local is_spilt, score, member = read() == '1', read(), read()
      local hash = string.sub(member, 1, HASH_END)
      if not outcome_of(bucket, site, hash) then
        redis.call('ZADD', (is_spilt and bucket.spill or bucket.queue) .. site.id, score, member)
        see(bucket, site, hash, is_spilt and SPILT or PENDING)
      end
    end
  end
  for _, bucket in pairs(call.buckets) do
    if tonumber(redis.call('GET', bucket.place) or 0) < last then
      redis.call('SET', bucket.place, text(last))
    end
  end
  finish(call)
  return answer(call)
end

-- By site: entries of hash and outcome.
local function restore_settled(_, args)
  local call, read = begin(args)
  local no = beginning(call)
  if no then return no end
  for _ = 1, tonumber(read()) do
    local bucket, name, entries = bucket_at(call, tonumber(read())), read(), read()
    local site = find_site(bucket, name)
    for at = 1, #entries, ENTRY do
      local hash = string.sub(entries, at, at + HASH_END - 1)
      if not outcome_of(bucket, site, hash) then
        see(bucket, site, hash, string.byte(entries, at + HASH_END))
      end
    end
  end
  finish(call)
  return answer(call)
end

local function restore_robots(_, args)
  local call, read = begin(args)
  local no = beginning(call)
  if no then return no end
  for _ = 1, tonumber(read()) do
    local bucket, name, origin = bucket_at(call, tonumber(read())), read(), read()
    redis.call('HSET', bucket.robots, find_site(bucket, name).id .. ' ' .. origin, read())
  end
  return answer(call)
end

local function restore_writers(_, args)
  local call, read = begin(args)
  local no = beginning(call)
  if no then return no end
  for _ = 1, tonumber(read()) do
    local writer = read()
    redis.call('HSET', call.labels, writer, read())
    redis.call('HSET', call.writers, writer, read())
  end
  return answer(call)
end

-- The totals are those of all buckets together, so one of them may have them.
local function restore_counts(_, args)
  local call, read = begin(args)
  local no = beginning(call)
  if no then return no end
  for _, number in ipairs(call.numbers) do
    local tally = keys_of(call.name, number).tally
    redis.call('DEL', tally)
    if number == 0 then
      for _ = 1, tonumber(read()) do redis.call('HSET', tally, read(), read()) end
    end
  end
  return answer(call)
end
