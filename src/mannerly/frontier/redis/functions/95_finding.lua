-- named, due, weighed, facts_of: what find_sites asks. Only numbers are compared here: texts would be
-- in the order of the server's locale, which is not that of names.

-- The next few of a bucket's names, behind `after` if that is not ''. Each has its id behind a zero.
local function names_in(bucket, begins, after, most)
  local from, to = '-', '+'
  if begins ~= '' then from, to = '[' .. begins, '(' .. begins .. '\255' end
  if after ~= '' then from = '(' .. after end
  return redis.call('ZRANGE', bucket.order, from, to, 'BYLEX', 'LIMIT', 0, most)
end

local function named(_, args)
  local call, read = begin(args)
  local begins, after, most, found = read(), read(), tonumber(read()), {}
  for at, number in ipairs(call.numbers) do
    found[at] = names_in(bucket_at(call, number), begins, after, most)
  end
  return answer(call, found)
end

-- The next few of each bucket's sites with work: id, ready time, id, ready time...
local function due(_, args)
  local call, read = begin(args)
  local most, found = tonumber(read()), {}
  for at, number in ipairs(call.numbers) do
    local ready, passed = bucket_at(call, number).ready, tonumber(read())
    found[at] = redis.call('ZRANGE', ready, passed, passed + most - 1, 'WITHSCORES')
  end
  return answer(call, found)
end

-- Where in a site's RECORD an order's number is, and its sign. The least comes first. To unpack the
-- whole record, and to sort here, took twice the time.
local WEIGHTS = {
  next = { '>d', 2, 1 }, failures = { '>I4', 26, -1 }, pending = { '>I4', 30, -1 },
  pages = { '>I4', 34, -1 },
}

-- Of the next WINDOW / 2 names of a bucket those that come no later than the last that is wanted so
-- far (`last`, `last_id`): weight, id, weight, id... And where to go on: '' if that was all.
local function weighed(_, args)
  local call, read = begin(args)
  local bucket, begins, after = bucket_at(call, tonumber(read())), read(), read()
  local kind, place, sign = unpack(WEIGHTS[read()])
  local last, last_id, most = tonumber(read()), tonumber(read()), WINDOW / 2
  local names = names_in(bucket, begins, after, most)
  if #names == 0 then return answer(call, '', {}) end
  local ids, first = {}, {}
  for at, name in ipairs(names) do ids[at] = string.match(name, '%z(%d+)$') end
  for at, packed in ipairs(redis.call('HMGET', bucket.site, unpack(ids))) do
    local weight = sign * struct.unpack(kind, packed, place)
    if weight < last or (weight == last and tonumber(ids[at]) <= last_id) then
      first[#first + 1] = text(weight)
      first[#first + 1] = ids[at]
    end
  end
  return answer(call, #names == most and names[#names] or '', first)
end

local function facts_of(_, args)
  local call, read = begin(args)
  local found = {}
  for _ = 1, tonumber(read()) do
    local bucket, id = of_handle(call, read())
    local site = site_at(bucket, id)
    found[#found + 1] = site and facts(call, bucket, site)
  end
  return answer(call, found)
end
