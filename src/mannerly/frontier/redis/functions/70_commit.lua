-- commit. Everything is read and judged before anything is written: a function that fails in the
-- middle is not undone.

local SETTLED, SETTLED_SIZE = '>dc8B', 17      -- place, hash, outcome
local DEFERRED, DEFERRED_SIZE = '>dhH', 12     -- place, new priority, tries
local RELEASED = '>ddI4B'                      -- rest, delay, failures, abandoned

local NOT_AT_ITS_PLACE = 'a commit settles or defers a URL that is not at its place in the queue '
  .. '(twice, or after it was deferred); nothing of it was applied'

-- The URL at a place that nothing of this commit has touched yet; nil if there is none.
local function untouched(part, score)
  local key = text(score)
  if part.touched[key] then return nil end
  part.touched[key] = true
  return redis.call('ZRANGE', part.bucket.queue .. part.id, key, key, 'BYSCORE')[1]
end

local function read_settled(part, packed)
  for at = 1, #packed, SETTLED_SIZE do
    local score, hash, outcome = struct.unpack(SETTLED, packed, at)
    local member = untouched(part, score)
    if not member or string.sub(member, 1, HASH_END) ~= hash then return false end
    part.settled[#part.settled + 1] = { member = member, hash = hash, outcome = outcome }
  end
  return true
end

local function read_deferred(part, packed)
  for at = 1, #packed, DEFERRED_SIZE do
    local score, priority, tries = struct.unpack(DEFERRED, packed, at)
    local member = untouched(part, score)
    if not member then return false end
    part.deferred[#part.deferred + 1] = { member = member, priority = priority, tries = tries }
  end
  return true
end

-- What one lease's holder says, judged. `live` is false where the lease has moved on.
local function read_part(call)
  local read = call.read
  local handle, token = read(), read()
  local settled, deferred, released, robots = read(), read(), read(), {}
  for at = 1, tonumber(read()) do robots[at] = { read(), read() } end
  local bucket, id = of_handle(call, handle)
  local held = redis.call('HGET', bucket.lease, id)
  local part = {
    bucket = bucket, id = id, token = token, released = released, robots = robots,
    live = held and string.sub(held, 1, 8) == token, settled = {}, deferred = {}, touched = {},
  }
  if not part.live then return part end
  part.site = site_at(bucket, id)
  return part, not (read_settled(part, settled) and read_deferred(part, deferred))
end

local function settle(part)
  local bucket, site = part.bucket, part.site
  for _, it in ipairs(part.settled) do
    redis.call('ZREM', bucket.queue .. part.id, it.member)
    mark(bucket, site, it.hash, it.outcome)
    site.pending = site.pending - 1
    if it.outcome == FETCHED then site.pages = site.pages + 1 end
    count(bucket, 'settled', 1, it.outcome)
  end
  site.changed = true
end

local function defer(part)
  local bucket = part.bucket
  local key = bucket.queue .. part.id
  for _, it in ipairs(part.deferred) do
    redis.call('ZREM', key, it.member)
    local later = string.sub(it.member, 1, TRIES_AT - 1) .. struct.pack('>H', it.tries)
      .. string.sub(it.member, SOURCE_AT)
    redis.call('ZADD', key, place(it.priority, redis.call('INCR', bucket.place)), later)
  end
end

local function learn_robots(call, part)
  for _, it in ipairs(part.robots) do
    local state, age_ms, failures, body_at = struct.unpack(ROBOTS, it[2])
    local record = struct.pack(ROBOTS, state, call.at - age_ms, failures)
    local field = part.id .. ' ' .. it[1]
    redis.call('HSET', part.bucket.robots, field, record .. string.sub(it[2], body_at))
  end
end

local function release(call, part)
  local bucket, site = part.bucket, part.site
  local rest_ms, delay_ms, failures, abandoned = struct.unpack(RELEASED, part.released)
  site.failures, site.ready_at, site.changed = failures, rested(call, rest_ms), true
  if delay_ms > 0 then site.delay = delay_ms end
  if site.state == OPEN then
    if abandoned == 1 then
      site.state = ABANDONED
      count(bucket, 'sites_abandoned', 1)
      count(bucket, 'urls_abandoned', site.pending)
    else
      refill(call, bucket, site)
    end
  end
  redis.call('HDEL', bucket.lease, part.id)
  place_in_ready(bucket, site, waits(site))
end

local function out_of_order(writer, sequence, last)
  return misuse('writer ' .. writer .. ' sent commit ' .. text(sequence) .. ' after ' .. text(last)
    .. '; two processes write under one id, or one goes on from an old copy')
end

-- What is said under each lease, judged; nil if the caller is mistaken.
local function read_parts(call)
  local read, parts = call.read, {}
  for at = 1, tonumber(read()) do
    local part, wrong = read_part(call)
    if wrong then return nil end
    parts[at] = part
  end
  return parts
end

-- Do it. Returns the refused tokens.
local function apply(call, parts)
  local refused = {}
  for _, part in ipairs(parts) do
    if part.live then
      settle(part)
      defer(part)
      learn_robots(call, part)
      if part.released ~= '' then release(call, part) end
    else
      refused[#refused + 1] = part.token
      count(bucket_at(call, part.bucket.number), 'refused', 1)
    end
  end
  return table.concat(refused)
end

local function commit(_, args)
  local call, read = begin(args)
  read_caps(call)
  local writer, sequence = read(), tonumber(read())
  local row = redis.call('HGET', call.writers, writer)
  if not row then return never_enlisted(writer) end
  local enlisted, last, refused_at = struct.unpack(WRITER, row)
  if sequence == last then return answer(call, string.sub(row, refused_at)) end
  if sequence ~= last + 1 then return out_of_order(writer, sequence, last) end
  local parts = read_parts(call)
  if not parts then return misuse(NOT_AT_ITS_PLACE) end
  local refused = apply(call, parts)
  redis.call('HSET', call.writers, writer, struct.pack(WRITER, enlisted, sequence) .. refused)
  finish(call)
  return answer(call, refused)
end
