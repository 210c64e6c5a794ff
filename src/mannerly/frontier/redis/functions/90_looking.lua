-- explain, robots_of, iterate, iterate_sites, stats, settings, writer_state: what only reads.

local WINDOW = 2000        -- sites that one call looks at

local function facts(call, bucket, site)
  local held = redis.call('HGET', bucket.lease, site.id)
  local labels = labels_of(call, bucket.number)
  local label = held and redis.call('HGET', labels, string.sub(held, 9)) or ''
  return {
    site.name, site.state, text(site.ready_at), held and 1 or 0, label, site.failures,
    text(site.delay), site.pending, site.spilt, site.pages, text(site.dropped),
  }
end

-- The URL with this hash, and its place; nil if it is not there.
local function queued_with(key, hash)
  for start = 0, redis.call('ZCARD', key), 500 do
    local rows = redis.call('ZRANGE', key, start, start + 499, 'WITHSCORES')
    for at = 1, #rows, 2 do
      if string.sub(rows[at], 1, HASH_END) == hash then return rows[at], rows[at + 1] end
    end
  end
  return nil
end

local function explain(_, args)
  local call, read = begin(args)
  local bucket, name, hash = bucket_at(call, tonumber(read())), read(), read()
  local site = find_site(bucket, name)
  if not site then return answer(call, -2) end
  local about, outcome = facts(call, bucket, site), outcome_of(bucket, site, hash)
  if not outcome then return answer(call, -1, about) end
  if outcome ~= SPILT and outcome ~= PENDING then return answer(call, outcome, about) end
  local key = (outcome == SPILT and bucket.spill or bucket.queue) .. site.id
  local member, score = queued_with(key, hash)
  local before = outcome == SPILT and site.pending or redis.call('ZCOUNT', key, '-inf', '(' .. score)
  return answer(call, outcome, about, member, score, before)
end

local function robots_of(_, args)
  local call, read = begin(args)
  local bucket, name, origin = bucket_at(call, tonumber(read())), read(), read()
  local id = redis.call('HGET', bucket.names, name)
  return answer(call, id and redis.call('HGET', bucket.robots, id .. ' ' .. origin) or '')
end

-- Visit sites of the covered buckets in the order of buckets and ids, from one on, until `visit` says
-- that it is enough or many were looked at. Returns the bucket and id to go on with; BUCKETS is none.
local function walk(call, number, first, visit)
  local looked = 0
  for _, covered_number in ipairs(call.numbers) do
    number = covered_number
    local bucket = bucket_at(call, number)
    for id = first, tonumber(redis.call('GET', bucket.ids) or 0) do
      if looked == WINDOW then return number, id end
      looked = looked + 1
      local packed = redis.call('HGET', bucket.site, text(id))
      if packed and visit(bucket, unpacked(text(id), packed)) then return number, id + 1 end
    end
    first = 1
  end
  return number + 1, 1
end

-- Pending or spilt URLs, from behind a place of the first site on. Those of excluded sites wait in
-- vain, and are left out unless they are asked for.
local function waiting(_, args)
  local call, read = begin(args)
  local number, first, after = tonumber(read()), tonumber(read()), read()
  local limit, is_spill, all = tonumber(read()), read() == '1', read() == '1'
  local found = {}
  local to_bucket, to_id = walk(call, number, first, function(bucket, site)
    local waits_here = is_spill and site.spilt or site.pending
    if (all or site.state ~= EXCLUDED) and waits_here > 0 then
      local is_first = bucket.number == number and tonumber(site.id) == first
      local key = (is_spill and bucket.spill or bucket.queue) .. site.id
      local rows = redis.call('ZRANGE', key, is_first and '(' .. after or '-inf', '+inf', 'BYSCORE',
        'LIMIT', 0, limit, 'WITHSCORES')
      if #rows > 0 then found[#found + 1] = { site.name, bucket.number, site.id, rows } end
      limit = limit - #rows / 2
    end
    return limit <= 0
  end)
  return answer(call, to_bucket, to_id, found)
end

-- Leaves of sites that have something settled: whole sites, until there are at least `limit`.
local function settled(_, args)
  local call, read = begin(args)
  local number, first, limit = tonumber(read()), tonumber(read()), tonumber(read())
  local found = {}
  local to_bucket, to_id = walk(call, number, first, function(bucket, site)
    local done = site.known - site.pending
    if done > 0 then
      local leaves = {}
      for leaf = 0, site.leaves - 1 do
        leaves[#leaves + 1] = redis.call('HGET', bucket.seen, leaf_field(site, leaf)) or ''
      end
      found[#found + 1] = { site.name, bucket.number, site.id, table.concat(leaves) }
      limit = limit - done
    end
    return limit <= 0
  end)
  return answer(call, to_bucket, to_id, found)
end

local function sites(_, args)
  local call, read = begin(args)
  local number, first, limit = tonumber(read()), tonumber(read()), tonumber(read())
  local found = {}
  local to_bucket, to_id = walk(call, number, first, function(bucket, site)
    found[#found + 1] = facts(call, bucket, site)
    return #found >= limit
  end)
  return answer(call, to_bucket, to_id, found)
end

local function stats(_, args)
  local call = begin(args)
  local totals, with_work, ready, writers = {}, 0, 0, 0
  for _, number in ipairs(call.numbers) do
    local bucket = bucket_at(call, number)
    local rows = redis.call('HGETALL', bucket.tally)
    for at = 1, #rows, 2 do totals[rows[at]] = (totals[rows[at]] or 0) + tonumber(rows[at + 1]) end
    with_work = with_work + redis.call('ZCARD', bucket.ready)
    if call.at >= rest_of(call, number) then
      ready = ready + redis.call('ZCOUNT', bucket.ready, '-inf', text(call.at))
    end
  end
  if call.is_crawl then
    for _, row in ipairs(redis.call('HVALS', call.writers)) do
      writers = writers + struct.unpack(WRITER, row)
    end
  end
  local flat = {}
  for name, total in pairs(totals) do
    flat[#flat + 1] = name
    flat[#flat + 1] = text(total)
  end
  return answer(call, with_work, ready, writers, flat)
end

local function settings(_, args)
  local call = begin(args)
  local created = redis.call('HEXISTS', call.meta, 'created_at')
  return answer(call, created, redis.call('HGETALL', call.settings))
end

local function writer_state(_, args)
  local call, read = begin(args)
  local writer = read()
  local row = redis.call('HGET', call.writers, writer) or ''
  return answer(call, row, redis.call('HGET', call.open, writer) or '')
end
