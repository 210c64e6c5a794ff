-- beat and crawlers: who is crawling, and what all of them together may still do. `beat` decides as
-- mannerly.frontier.beats does, in the place where no two can be given the same pages; the
-- conformance suite holds both to the same answers.

-- began_at, run_at, seen_at, pages, rate, in_flight, page_limit, time_limit, reserved
local CRAWLER = '>ddddddddd'

-- The smaller of two limits; 0 is none.
local function least(one, other)
  if one == 0 or other == 0 then return math.max(one, other) end
  return math.min(one, other)
end

local function pages_fetched(call)
  local fetched = 0
  for _, number in ipairs(call.numbers) do
    local tally = keys_of(call.name, number).tally
    fetched = fetched + tonumber(redis.call('HGET', tally, 'settled:' .. FETCHED) or 0)
  end
  return fetched
end

local function fetched(_, args)
  local call = begin(args)
  return answer(call, pages_fetched(call))
end

-- How often pages that were reserved ceased to be so. Who was told what was fetched before the last
-- time may know neither of such a page that it is reserved nor that it is fetched.
local function given_back(call)
  return redis.call('HGET', call.meta, 'given_back') or '0'
end

local function times_given_back(_, args)
  local call = begin(args)
  return answer(call, given_back(call))
end

-- What the living others have: when their run began (nil: there are none), limits, what is theirs.
local function heard_of(call, rows, writer, lapse_ms)
  local others = { page_limit = 0, time_limit = 0, reserved = 0 }
  for at = 1, #rows, 2 do
    local _, run_at, seen_at, _, _, _, page_limit, time_limit, reserved =
      struct.unpack(CRAWLER, rows[at + 1])
    if rows[at] ~= writer and seen_at > call.at - lapse_ms then
      others.run_at = math.min(others.run_at or run_at, run_at)
      others.page_limit = least(others.page_limit, page_limit)
      others.time_limit = least(others.time_limit, time_limit)
      others.reserved = others.reserved + reserved
    end
  end
  return others
end

-- Those that were silent for a day go when somebody new begins.
local function forget_silent(call, rows, forget_ms)
  for at = 1, #rows, 2 do
    local _, _, seen_at = struct.unpack(CRAWLER, rows[at + 1])
    if seen_at < call.at - forget_ms then redis.call('HDEL', call.crawlers, rows[at]) end
  end
end

local function beat(_, args)
  local call, read = begin(args)
  local writer, lapse_ms, forget_ms = read(), tonumber(read()), tonumber(read())
  local pages, rate, in_flight = tonumber(read()), tonumber(read()), tonumber(read())
  local page_limit, time_limit = tonumber(read()), tonumber(read())
  local reserved, more = tonumber(read()), tonumber(read())
  -- In a Cluster: what was fetched, and how often something had been given back before that was asked.
  local told, before = tonumber(read()), read()
  local no = refusal(call, writer)
  if no then return no end
  local rows = redis.call('HGETALL', call.crawlers)
  local others = heard_of(call, rows, writer, lapse_ms)
  local mine = redis.call('HGET', call.crawlers, writer)
  local began_at, run_at, gives_back = call.at, others.run_at or call.at, false
  if mine then
    local had
    began_at, run_at, _, _, _, _, _, _, had = struct.unpack(CRAWLER, mine)
    gives_back = told and reserved < had
  else
    forget_silent(call, rows, forget_ms)
  end
  page_limit, time_limit = least(page_limit, others.page_limit), least(time_limit, others.time_limit)
  local fetched, granted = told or pages_fetched(call), 0
  if page_limit > 0 and (not told or before == given_back(call)) then
    granted = math.max(0, math.min(more, page_limit - fetched - reserved - others.reserved))
  end
  if gives_back then redis.call('HINCRBY', call.meta, 'given_back', 1) end
  redis.call('HSET', call.crawlers, writer, struct.pack(CRAWLER, began_at, run_at, call.at, pages,
    rate, in_flight, page_limit, time_limit, reserved + granted))
  return answer(call, text(run_at), fetched, granted, page_limit, text(time_limit))
end

-- Label, row, label, row...
local function crawlers(_, args)
  local call = begin(args)
  local rows, found = redis.call('HGETALL', call.crawlers), {}
  for at = 1, #rows, 2 do
    found[#found + 1] = redis.call('HGET', call.labels, rows[at]) or ''
    found[#found + 1] = rows[at + 1]
  end
  return answer(call, found)
end
