-- open, moment, vouch, set_offset, align: the clock that all processes share. `open` is the first call on
-- every connection, so nothing is leased from a server that was restarted before it was noticed.

local function moment(_, args)
  local call = begin(args)
  local meta = redis.call('HMGET', call.meta, 'last_at', 'version')
  local delay_s = redis.call('HGET', call.settings, 'delay_s')
  return answer(call, meta[1] or '0', delay_s or '', meta[2] or '0')
end

-- Have the buckets' clocks say what the caller's does, where they have parted.
local function align_clocks(call)
  for _, number in ipairs(call.numbers) do
    local clock = call.clocks[number]
    if is_parted(call, call.ms + clock.offset) then
      clock.offset = math.floor((call.low + call.high) / 2 - call.ms + 0.5)
      write_clock(call, number)
    end
  end
end

local function align(_, args)
  local call = begin(args)
  align_clocks(call)
  return answer(call)
end

-- As `open` does for the crawl on one server, for each bucket by itself: how many of them rest now.
local function open_buckets(call, run_id, is_durable)
  local resting = 0
  align_clocks(call)
  for _, number in ipairs(call.numbers) do
    local clock = call.clocks[number]
    if clock.run_id ~= run_id then
      if clock.run_id ~= '' and not is_durable and clock.longest > 0 then
        clock.rest_until = call.up_at + clock.longest
        resting = resting + 1
      end
      clock.run_id = run_id
      write_clock(call, number)
    end
  end
  return resting
end

-- `is_durable`: what the server acknowledges outlives its crash. If not, leases and rests of its
-- last moments may be gone after a restart: then nobody leases anything for as long as the longest
-- lease ever was. Returns 1 if that is so now.
local function open(_, args)
  local call, read = begin(args)
  local run_id, is_durable = read(), read() == '1'
  if not call.is_crawl then return answer(call, open_buckets(call, run_id, is_durable)) end
  redis.call('HSETNX', call.meta, 'version', VERSION)
  local before = redis.call('HGET', call.meta, 'run_id')
  if before == run_id then return answer(call, 0) end
  redis.call('HSET', call.meta, 'run_id', run_id)
  local longest = tonumber(redis.call('HGET', call.meta, 'longest_ttl') or 0)
  if not before or is_durable or longest == 0 then return answer(call, 0) end
  redis.call('HSET', call.meta, 'rest_until', text(call.up_at + longest))
  return answer(call, 1)
end

local function vouch(_, args)
  local call, read = begin(args)
  local at = tonumber(read())
  if at > tonumber(redis.call('HGET', call.meta, 'last_at') or 0) then
    redis.call('HSET', call.meta, 'last_at', text(at))
  end
  return answer(call)
end

-- Unless another process was quicker.
local function set_offset(_, args)
  local call, read = begin(args)
  local before, offset = tonumber(read()), read()
  if call.offset ~= before then return answer(call, 0) end
  redis.call('HSET', call.meta, 'offset', offset)
  return answer(call, 1)
end
