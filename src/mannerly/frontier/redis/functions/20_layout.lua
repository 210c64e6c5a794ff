-- Where everything is, how it is packed, and what one call remembers of it.
-- The layout in words: docs/decisions/0014-redis.md.

local VERSION = 1
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

-- What one call has: its arguments one by one (`read`), the time, and the buckets it touched.
local function begin(args)
  local at = 0
  local function read()
    at = at + 1
    return args[at]
  end
  local name = read()
  local tag = '{mannerly:' .. name .. '}:'
  -- While a Cluster moves the slot some keys are here and some are not, and a function that finds out
  -- in its middle is not undone. A key that never is anywhere tells at once: it is asked for elsewhere.
  if IN_ONE_SLOT then redis.call('EXISTS', tag .. 'nothing') end
  local call = {
    name = name, tag = tag, meta = tag .. 'meta', settings = tag .. 'settings',
    writers = tag .. 'writers', labels = tag .. 'labels', crawlers = tag .. 'crawlers',
    buckets = {}, read = read,
  }
  call.low, call.high = tonumber(read()), tonumber(read())
  local meta = redis.call('HMGET', call.meta, 'offset', 'rest_until')
  call.offset, call.rest_until = tonumber(meta[1] or 0), tonumber(meta[2] or 0)
  call.ms = server_ms(call)
  -- The caller's own clock says `low` to `high`. Where the two have parted the server's clock was
  -- set, or the call was long on its way: then the caller's counts alone. Else whichever of both
  -- makes no site early.
  local here = call.ms + call.offset
  if here - call.high > TOLERANCE_MS or call.low - here > TOLERANCE_MS then
    call.at, call.up_at = math.floor(call.low), math.ceil(call.high)
  else
    call.at = math.floor(math.min(here, call.low))
    call.up_at = math.ceil(math.max(here, call.high))
  end
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

-- The names of one crawl's keys, kept from call to call: making them costs more than asking for one.
local kept = { name = '' }

local function keys_of(name, number)
  if kept.name ~= name then kept = { name = name } end
  local keys = kept[number]
  if keys then return keys end
  local form = IN_ONE_SLOT and '{mannerly:%s}:%02d:' or '{mannerly:%s:%02d}:'
  local tag = string.format(form, name, number)
  keys = {
    names = tag .. 'names', ids = tag .. 'ids', site = tag .. 'site', lease = tag .. 'lease',
    ready = tag .. 'ready', seen = tag .. 'seen', robots = tag .. 'robots',
    tally = tag .. 'tally', place = tag .. 'place', queue = tag .. 'queue:',
    spill = tag .. 'spill:', order = tag .. 'order',
  }
  keys.__index = keys
  kept[number] = keys
  return keys
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
