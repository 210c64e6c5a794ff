-- add: one slice. The URLs of a site come in the order in which they get the room that is left.

local function place(priority, seq)
  return text((priority - LOWEST_PRIORITY) * SEQS + seq)
end

local function put(bucket, key, given)
  local seq = redis.call('INCR', bucket.place)
  redis.call('ZADD', key, place(struct.unpack('>h', given), seq), string.sub(given, 3))
end

local function add_to_site(call, bucket, site, urls, added)
  local new = {}
  for _, given in ipairs(urls) do
    local outcome = outcome_of(bucket, site, string.sub(given, 3, 2 + HASH_END))
    if outcome == SPILT then
      added.spilt = added.spilt + 1
    elseif outcome then
      added.known = added.known + 1
    else
      new[#new + 1] = given
    end
  end
  if #new == 0 then return end
  if site.state == EXCLUDED then
    added.dropped = added.dropped + #new
    drop(bucket, site, #new, SITE_EXCLUDED)
    return
  end
  local queued = math.min(#new, room(call.caps, site))
  local spilt = 0
  if queued < #new then spilt = math.min(#new - queued, spill_room(call.caps, site)) end
  for at = 1, queued + spilt do
    local to = at <= queued and bucket.queue or bucket.spill
    put(bucket, to .. site.id, new[at])
    see(bucket, site, string.sub(new[at], 3, 2 + HASH_END), at <= queued and PENDING or SPILT)
  end
  site.pending = site.pending + queued
  count(bucket, 'urls', queued)
  count(bucket, 'urls_spilt', spilt)
  if site.state == ABANDONED then count(bucket, 'urls_abandoned', queued) end
  if site.state == OPEN and queued > 0 then place_in_ready(bucket, site, true) end
  local dropped = #new - queued - spilt
  drop(bucket, site, dropped, is_full(call.caps, site) and SITE_FULL or SPILL_FULL)
  added.new = added.new + queued
  added.spilt = added.spilt + spilt
  added.dropped = added.dropped + dropped
end

local function add(_, args)
  local call, read = begin(args)
  read_caps(call)
  local makes_sites, sites = read() == '1', tonumber(read())
  local added = { new = 0, known = 0, foreign = 0, spilt = 0, dropped = 0 }
  for _ = 1, sites do
    local bucket, name, urls = bucket_at(call, tonumber(read())), read(), {}
    for at = 1, tonumber(read()) do urls[at] = read() end
    local site
    if makes_sites then
      site = found_or_made(call, bucket, name)
    else
      site = find_site(bucket, name)
    end
    if site then
      add_to_site(call, bucket, site, urls, added)
    else
      added.foreign = added.foreign + #urls
    end
  end
  finish(call)
  return answer(call, added.new, added.known, added.foreign, added.spilt, added.dropped)
end
