-- open, moment, vouch, set_offset: the clock that all processes share. `open` is the first call on
-- every connection, so nothing is leased from a server that was restarted before it was noticed.

local function moment(_, args)
  local call = begin(args)
  local meta = redis.call('HMGET', call.meta, 'last_at', 'version')
  local delay_s = redis.call('HGET', call.settings, 'delay_s')
  return answer(call, meta[1] or '0', delay_s or '', meta[2] or '0')
end

-- `is_durable`: what the server acknowledges outlives its crash. If not, leases and rests of its
-- last moments may be gone after a restart: then nobody leases anything for as long as the longest
-- lease ever was. Returns 1 if that is so now.
local function open(_, args)
  local call, read = begin(args)
  local run_id, is_durable = read(), read() == '1'
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
