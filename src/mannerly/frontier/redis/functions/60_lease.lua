-- lease and claim.

-- Writer rows: enlisted (1 byte), sequence (8), refused tokens (8 each).
local WRITER = '>Bd'

local function never_enlisted(writer)
  return misuse('writer ' .. writer .. ' was never enlisted; enlist first')
end

local function refused_by(rows, writer)
  local row = redis.call('HGET', rows, writer)
  if not row then return never_enlisted(writer) end
  if struct.unpack(WRITER, row) == 0 then
    return misuse('writer ' .. writer .. ' was retired; enlist again')
  end
  return nil
end

-- nil if the writer may lease, else what to answer.
local function refusal(call, writer)
  if call.is_crawl then return refused_by(call.writers, writer) end
  for _, number in ipairs(call.numbers) do
    local no = refused_by(writers_of(call, number), writer)
    if no then return no end
  end
  return nil
end

-- Buckets by the site that is ready first in each: a heap, each bucket with the next few of its sites.
local function fronts(call, want)
  local heap, all = {}, {}
  local portion = math.ceil(want / #call.numbers) + 1

  local function load(front)
    local rows = redis.call('ZRANGE', front.ready, 0, front.portion - 1, 'WITHSCORES')
    front.earliest = tonumber(rows[2])
    front.rows, front.next, front.is_whole = rows, 1, #rows < 2 * front.portion
    front.portion = front.portion * 2
  end

  -- When the next site is ready; nil if no site of it is ready now.
  local function due(front)
    local at = tonumber(front.rows[front.next + 1])
    return at and math.max(at, front.rest_until) <= call.at and at or nil
  end

  local function sift(at)
    while true do
      local child = 2 * at
      if child > #heap then return end
      if child < #heap and due(heap[child + 1]) < due(heap[child]) then child = child + 1 end
      if due(heap[child]) >= due(heap[at]) then return end
      heap[at], heap[child] = heap[child], heap[at]
      at = child
    end
  end

  for _, number in ipairs(call.numbers) do
    local keys = keys_of(call.name, number)
    local front = {
      number = number, ready = keys.ready, portion = portion, rest_until = rest_of(call, number),
    }
    load(front)
    all[#all + 1] = front
    if due(front) then heap[#heap + 1] = front end
  end
  for at = math.floor(#heap / 2), 1, -1 do sift(at) end
  return { heap = heap, all = all, load = load, due = due, sift = sift }
end

-- The site that has been ready longest; nil if there is none. What was given before has been moved
-- away in `ready` meanwhile.
local function next_site(call, at)
  local heap = at.heap
  local top = heap[1]
  if not top then return nil end
  local id = top.rows[top.next]
  top.next, top.touched = top.next + 2, true
  local follow = function()
    if top.next > #top.rows and not top.is_whole then at.load(top) end
    if not at.due(top) then
      heap[1] = heap[#heap]
      heap[#heap] = nil
    end
    at.sift(1)
  end
  return bucket_at(call, top.number), id, follow
end

local function stamp(call, bucket, site, token, writer, ttl_ms)
  redis.call('HSET', bucket.lease, site.id, token .. writer)
  site.ready_at, site.changed = rested(call, ttl_ms), true
  count(bucket, 'leases', 1)
end

-- The robots records of these URLs' origins: origin, record, origin, record...
local function robots_for(bucket, site, rows)
  local found, looked = {}, {}
  for at = 1, #rows, 2 do
    local url = string.sub(rows[at], URL_AT)
    local origin = string.sub(url, 1, (string.find(url, '/', 9, true) or #url + 1) - 1)
    if not looked[origin] then
      looked[origin] = true
      local record = redis.call('HGET', bucket.robots, site.id .. ' ' .. origin)
      if record then
        found[#found + 1] = origin
        found[#found + 1] = record
      end
    end
  end
  return found
end

-- When the first site with work may be leased; '' if none has any.
local function earliest(at)
  local first
  for _, front in ipairs(at.all) do
    if front.touched then
      front.earliest = tonumber(redis.call('ZRANGE', front.ready, 0, 0, 'WITHSCORES')[2])
    end
    if front.earliest then
      local ready_at = math.max(front.earliest, front.rest_until)
      first = math.min(first or ready_at, ready_at)
    end
  end
  return first and text(first) or ''
end

-- Lease a site, or park it if there is nothing to lease it for. Returns what the holder gets.
local function take(call, bucket, site, urls, ttl_ms, token, writer)
  if site.pending == 0 then refill(call, bucket, site) end
  if site.pending == 0 then
    -- Its holder settled everything and never released it. It keeps its token: nobody else wants
    -- the site.
    place_in_ready(bucket, site, false)
    return nil
  end
  local rows = redis.call('ZRANGE', bucket.queue .. site.id, 0, urls - 1, 'WITHSCORES')
  stamp(call, bucket, site, token, writer, ttl_ms)
  place_in_ready(bucket, site, true)
  local handle = handle_of(bucket, site.id)
  return { handle, site.name, site.failures, rows, robots_for(bucket, site, rows) }
end

local function remember_longest(call, ttl_ms)
  if not call.is_crawl then
    -- Not only where something was leased: what is written long before is not lost in a last moment.
    for _, number in ipairs(call.numbers) do
      local clock = call.clocks[number]
      if ttl_ms > clock.longest then
        clock.longest = ttl_ms
        write_clock(call, number)
      end
    end
    return
  end
  local longest = tonumber(redis.call('HGET', call.meta, 'longest_ttl') or 0)
  if ttl_ms > longest then redis.call('HSET', call.meta, 'longest_ttl', text(ttl_ms)) end
end

local function lease(_, args)
  local call, read = begin(args)
  read_caps(call)
  local writer, want, ttl_ms = read(), tonumber(read()), tonumber(read())
  local urls, tokens = tonumber(read()), read()
  local no = refusal(call, writer)
  if no then return no end
  local leases = {}
  local at = fronts(call, want)
  while #leases < want do
    local bucket, id, follow = next_site(call, at)
    if not bucket then break end
    local token = string.sub(tokens, 8 * #leases + 1, 8 * #leases + 8)
    leases[#leases + 1] = take(call, bucket, site_at(bucket, id), urls, ttl_ms, token, writer)
    follow()
  end
  if #leases > 0 then remember_longest(call, ttl_ms) end
  finish(call)
  return answer(call, earliest(at), leases)
end

-- The ready times of the first sites that `lease` would give, at most `want` of each bucket: a Cluster's
-- nodes are asked before they are told how many each is to give. And when the first is ready.
local function ready_times(_, args)
  local call, read = begin(args)
  local writer, want, times = read(), tonumber(read()), {}
  local no = refusal(call, writer)
  if no then return no end
  local at = fronts(call, 0)
  for _, front in ipairs(at.heap) do
    local rows = redis.call('ZRANGE', front.ready, '-inf', text(call.at), 'BYSCORE', 'LIMIT', 0,
      want, 'WITHSCORES')
    for score = 2, #rows, 2 do times[#times + 1] = rows[score] end
  end
  return answer(call, earliest(at), times)
end

local function claim(_, args)
  local call, read = begin(args)
  local bucket, name = bucket_at(call, tonumber(read())), read()
  local writer, ttl_ms, token, may = read(), tonumber(read()), read(), read() == '1'
  local no = refusal(call, writer)
  if no then return no end
  local site = found_or_made(call, bucket, name)
  local free = may and call.at >= rest_of(call, bucket.number)
  local handle = ''
  if free and site.state ~= EXCLUDED and site.ready_at <= call.at then
    stamp(call, bucket, site, token, writer, ttl_ms)
    remember_longest(call, ttl_ms)
    if redis.call('ZSCORE', bucket.ready, site.id) then place_in_ready(bucket, site, true) end
    handle = handle_of(bucket, site.id)
  end
  finish(call)
  return answer(call, handle, site.failures)
end
