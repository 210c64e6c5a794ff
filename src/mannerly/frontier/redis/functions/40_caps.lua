-- How much of one site is taken: what mannerly.frontier.caps decides, in the place where it must be
-- decided to be atomic. The conformance suite holds both to the same answers.

local PORTION = 200
local NO_LIMIT = 2 ^ 52

local function left(cap, taken)
  if cap == 0 then return NO_LIMIT end
  return cap - taken
end

local function room(caps, site)
  local by_pending = left(caps.pending, site.pending)
  local by_pages = left(caps.pages, site.pages + site.pending)
  return math.max(0, math.min(by_pending, by_pages))
end

local function spill_room(caps, site)
  local by_spilt = left(caps.spilt, site.spilt)
  local by_pages = left(caps.pages, site.pages + site.spilt)
  return math.max(0, math.min(by_spilt, by_pages))
end

local function is_full(caps, site)
  return caps.pages > 0 and site.pages >= caps.pages
end

local function coming_back(caps, site)
  if caps.pending > 0 and 2 * site.pending > caps.pending then return 0 end
  return math.min(site.spilt, PORTION, room(caps, site))
end

local function drop(bucket, site, urls, cause)
  if urls == 0 then return end
  site.dropped, site.changed = site.dropped + urls, true
  count(bucket, 'dropped', urls, cause)
end

local function drop_spill(bucket, site)
  local key = bucket.spill .. site.id
  for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    unsee(bucket, site, string.sub(member, 1, HASH_END))
  end
  redis.call('UNLINK', key)
  count(bucket, 'urls_spilt', -site.spilt)
  drop(bucket, site, site.spilt, SITE_FULL)
  site.spilt = 0
end

-- Bring what is spilt back into the queue, as far as there is room; or drop it, if the site has
-- given all its pages.
local function refill(call, bucket, site)
  if site.spilt == 0 then return end
  if is_full(call.caps, site) then
    drop_spill(bucket, site)
    return
  end
  local back = coming_back(call.caps, site)
  if back == 0 then return end
  local spill, queue = bucket.spill .. site.id, bucket.queue .. site.id
  local rows = redis.call('ZRANGE', spill, 0, back - 1, 'WITHSCORES')
  redis.call('ZREMRANGEBYRANK', spill, 0, back - 1)
  for at = 1, #rows, 2 do
    redis.call('ZADD', queue, rows[at + 1], rows[at])
    mark(bucket, site, string.sub(rows[at], 1, HASH_END), PENDING)
  end
  site.pending, site.known = site.pending + back, site.known + back
  site.spilt, site.changed = site.spilt - back, true
  count(bucket, 'urls_spilt', -back)
  count(bucket, 'urls', back)
end
