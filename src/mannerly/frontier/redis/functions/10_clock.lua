-- The server's clock in milliseconds, the one place that asks for it. Tests put a clock that they
-- move in this file's place.
local function server_ms(crawl)
  local time = redis.call('TIME')
  return time[1] * 1000 + time[2] / 1000
end
