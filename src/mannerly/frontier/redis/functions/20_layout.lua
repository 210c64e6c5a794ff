-- Where everything is, how it is packed, and what one call remembers of it.
-- The layout in words: docs/decisions/0014-redis.md.

local BUCKETS = 32
local SEQS = 2 ^ 36        -- a place in a queue is a score: (priority + 32768) * SEQS + seq
local LOWEST_PRIORITY = -32768
local TOLERANCE_MS = 1000  -- as in mannerly.frontier.server_clock

local OPEN, ABANDONED, EXCLUDED = 0, 1, 2                      -- SiteState
local SPILL_FULL, SITE_FULL, SITE_EXCLUDED = 1, 2, 3           -- DropCause
local PENDING, FETCHED, SPILT = 0, 1, 255                      -- outcomes in `seen`; SPILT is ours

-- state, ready_at, delay, dropped, failures, pending, pages, spilt, known, leaves; the name follows
local RECORD = '>BdddI4I4I4I4I4I4'
local ROBOTS = '>BdI4'     -- state, fetched_at, failures; the body follows
local HASH_END, TRIES_AT, SOURCE_AT, URL_AT = 8, 21, 23, 24    -- in a queued URL, see packing.py

local function text(number)
  return string.format('%.0f', number)
end

local function misuse(words)
  return redis.error_reply('MISUSE ' .. words)
end

-- The names of one crawl's keys, kept from call to call: making them costs more than asking for one.
local kept = { name = '' }

local function keys_of(name, number)
  if kept.name ~= name then kept = { name = name } end
  local keys = kept[number]
  if keys then return keys end
  -- In a Cluster as in cluster.py, which says why.
  local digits = IN_CLUSTER and math.floor(number / 4) * 10 + number % 4 or number
  local tag = string.format('{mannerly:%s:%02d}:', name, digits)
  keys = {
    names = tag .. 'names', ids = tag .. 'ids', site = tag .. 'site', lease = tag .. 'lease',
    ready = tag .. 'ready', seen = tag .. 'seen', robots = tag .. 'robots',
    tally = tag .. 'tally', place = tag .. 'place', queue = tag .. 'queue:',
    spill = tag .. 'spill:', order = tag .. 'order', tag = tag,
    -- In a Cluster only.
    clock = tag .. 'clock', writers = tag .. 'writers', labels = tag .. 'labels',
    beginner = tag .. 'beginner', nothing = tag .. 'nothing',
  }
  keys.__index = keys
  kept[number] = keys
  return keys
end

-- What a call covers: 'c' in front means the keys of the crawl as a whole; then buckets, a byte each.
-- On one server a call covers both. In a Cluster it covers one or the other, and only buckets of the
-- node that it is sent to. Kept from call to call, too.
local covered = { given = '' }

local function covered_by(given)
  if covered.given ~= given then
    covered = { given = given, is_crawl = string.sub(given, 1, 1) == 'c', numbers = {} }
    for at = 2, #given do covered.numbers[at - 1] = string.byte(given, at) end
  end
  return covered
end

-- A bucket's own clock in a Cluster, where each node has another: offset, until when it rests, longest
-- lease; then the run id of the node that it was on when it was last looked at.
local CLOCK = '>ddd'

-- While a Cluster moves a slot some keys are here and some are not, and a function that finds out in its
-- middle is not undone. A key that never is anywhere tells at once: it is asked for elsewhere. So
-- each bucket is asked for one before the first write.
local function read_clocks(call)
  call.clocks = {}
  for _, number in ipairs(call.numbers) do
    local keys = keys_of(call.name, number)
    local packed = redis.call('MGET', keys.clock, keys.nothing)[1]
    local clock = { offset = 0, rest_until = 0, longest = 0, run_id = '' }
    if packed then
      local run_at
      clock.offset, clock.rest_until, clock.longest, run_at = struct.unpack(CLOCK, packed)
      clock.run_id = string.sub(packed, run_at)
    end
    call.clocks[number] = clock
  end
end

local function write_clock(call, number)
  local clock = call.clocks[number]
  local packed = struct.pack(CLOCK, clock.offset, clock.rest_until, clock.longest)
  redis.call('SET', keys_of(call.name, number).clock, packed .. clock.run_id)
end

local function is_parted(call, here)
  return here - call.high > TOLERANCE_MS or call.low - here > TOLERANCE_MS
end

-- The caller's own clock says `low` to `high`. Where the two have parted the server's clock was set,
-- or the call was long on its way: then the caller's counts alone. Else whichever of both (of all:
-- a bucket that came from another node has that one's offset) makes no site early.
local function tell_time(call, offsets)
  local lowest, highest = offsets[1], offsets[1]
  for _, offset in ipairs(offsets) do
    if is_parted(call, call.ms + offset) then
      call.offset, call.at, call.up_at = offset, math.floor(call.low), math.ceil(call.high)
      return
    end
    lowest, highest = math.min(lowest, offset), math.max(highest, offset)
  end
  call.offset = lowest
  call.at = math.floor(math.min(call.ms + lowest, call.low))
  call.up_at = math.ceil(math.max(call.ms + highest, call.high))
end

-- What one call has: its arguments one by one (`read`), the time, and the buckets it touched.
local function begin(args)
  local at = 0
  local function read()
    at = at + 1
    return args[at]
  end
  local name, covers = read(), covered_by(read())
  local tag = '{mannerly:' .. name .. '}:'
  local call = {
    name = name, tag = tag, meta = tag .. 'meta', settings = tag .. 'settings',
    writers = tag .. 'writers', labels = tag .. 'labels', crawlers = tag .. 'crawlers',
    open = tag .. 'open', buckets = {}, read = read, rest_until = 0,
    is_crawl = covers.is_crawl, numbers = covers.numbers,
  }
  call.low, call.high = tonumber(read()), tonumber(read())
  local offsets = {}
  if call.is_crawl then
    if IN_CLUSTER then redis.call('EXISTS', tag .. 'nothing') end
    local meta = redis.call('HMGET', call.meta, 'offset', 'rest_until')
    offsets[1], call.rest_until = tonumber(meta[1] or 0), tonumber(meta[2] or 0)
  else
    call.tag = keys_of(name, call.numbers[1]).tag
    read_clocks(call)
    for at, number in ipairs(call.numbers) do offsets[at] = call.clocks[number].offset end
  end
  call.ms = server_ms(call)
  tell_time(call, offsets)
  return call, read
end

local function read_caps(call)
  local read = call.read
  call.caps = { pending = tonumber(read()), spilt = tonumber(read()), pages = tonumber(read()) }
end

-- When a site is ready that rests from now on.
local function rested(call, rest_ms)
  if rest_ms > 0 then return call.up_at + rest_ms end
  return call.at
end

-- Every answer begins with what the caller's clock needs.
local function answer(call, ...)
  return { string.format('%.3f', call.ms), text(call.offset), text(call.at), ... }
end

-- Until when nothing of a bucket is leased.
local function rest_of(call, number)
  if call.is_crawl then return call.rest_until end
  return call.clocks[number].rest_until
end

-- Where a writer's row is, and its label, for a call that covers this bucket.
local function writers_of(call, number)
  return call.is_crawl and call.writers or keys_of(call.name, number).writers
end

local function labels_of(call, number)
  return call.is_crawl and call.labels or keys_of(call.name, number).labels
end

local function bucket_at(call, number)
  local bucket = call.buckets[number]
  if not bucket then
    local mine = { number = number, sites = {}, leaves = {}, counts = {} }
    bucket = setmetatable(mine, keys_of(call.name, number))
    call.buckets[number] = bucket
  end
  return bucket
end

-- (bucket, id) of a handle. The id is a text, as keys have it.
local function of_handle(call, handle)
  local number = tonumber(handle)
  local bucket = number % BUCKETS
  return bucket_at(call, bucket), text((number - bucket) / BUCKETS)
end

local function handle_of(bucket, id)
  return text(tonumber(id) * BUCKETS + bucket.number)
end

local function unpacked(id, packed)
  local site = { id = id }
  local name_at
  site.state, site.ready_at, site.delay, site.dropped, site.failures, site.pending, site.pages,
    site.spilt, site.known, site.leaves, name_at = struct.unpack(RECORD, packed)
  site.name = string.sub(packed, name_at)
  return site
end

-- A site, read once in a call; false if there is none.
local function site_at(bucket, id)
  local site = bucket.sites[id]
  if site == nil then
    local packed = redis.call('HGET', bucket.site, id)
    site = packed and unpacked(id, packed)
    bucket.sites[id] = site
  end
  return site
end

local function find_site(bucket, name)
  local id = redis.call('HGET', bucket.names, name)
  return id and site_at(bucket, id)
end

local function count(bucket, name, more, part)
  local key = name .. ':' .. (part or 0)
  bucket.counts[key] = (bucket.counts[key] or 0) + more
end

-- A site, made if there is none: ready at once, and without work until it has some.
local function found_or_made(call, bucket, name)
  local site = find_site(bucket, name)
  if site then return site end
  local id = text(redis.call('INCR', bucket.ids))
  redis.call('HSET', bucket.names, name, id)
  redis.call('ZADD', bucket.order, 0, name .. '\0' .. id)
  site = {
    id = id, name = name, state = OPEN, ready_at = call.at, delay = 0, dropped = 0, failures = 0,
    pending = 0, pages = 0, spilt = 0, known = 0, leaves = 1, changed = true,
  }
  bucket.sites[id] = site
  count(bucket, 'sites', 1)
  return site
end

-- Sites with work stand in `ready`; all others do not.
local function place_in_ready(bucket, site, has_work)
  if has_work then
    redis.call('ZADD', bucket.ready, text(site.ready_at), site.id)
  else
    redis.call('ZREM', bucket.ready, site.id)
  end
end

local function waits(site)
  return site.state == OPEN and (site.pending > 0 or site.spilt > 0)
end

-- Write what the call changed.
local function finish(call)
  for _, bucket in pairs(call.buckets) do
    for id, site in pairs(bucket.sites) do
      if site and site.changed then
        local packed = struct.pack(RECORD, site.state, site.ready_at, site.delay, site.dropped,
          site.failures, site.pending, site.pages, site.spilt, site.known, site.leaves)
        redis.call('HSET', bucket.site, id, packed .. site.name)
      end
    end
    for field, leaf in pairs(bucket.leaves) do
      if leaf.changed then
        if leaf.entries == '' then
          redis.call('HDEL', bucket.seen, field)
        else
          redis.call('HSET', bucket.seen, field, leaf.entries)
        end
      end
    end
    for name, more in pairs(bucket.counts) do
      if more ~= 0 then redis.call('HINCRBY', bucket.tally, name, more) end
    end
  end
end
