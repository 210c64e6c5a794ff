-- take_beginning, leave_beginning, clear, create: from nothing to a crawl.
--
-- `beginner` in meta says who is at the beginning of the crawl: its token and its connection. Who
-- finds another there asks the server whether that connection still is (no function may), and only
-- then takes its place. In a Cluster each bucket holds it, too, with a number that rises: who was late on
-- its way to a bucket does not take it from who came after.

local EXISTS, NOT_MINE = -1, -2

local function is_created(call)
  return redis.call('HEXISTS', call.meta, 'created_at') == 1
end

local function beginner(call)
  return redis.call('HGET', call.meta, 'beginner') or ''
end

local function token_of(beginner)
  return string.match(beginner, '^%x+')
end

-- Begin, in the place of `before` ('' for nobody) or of one's own. Where another is: who.
local function take_beginning(_, args)
  local call, read = begin(args)
  local mine, before = read(), read()
  if is_created(call) then return answer(call, EXISTS, '', 0) end
  local found = beginner(call)
  local may = found == '' or found == before or token_of(found) == token_of(mine)
  if not may then return answer(call, NOT_MINE, found, 0) end
  redis.call('HSET', call.meta, 'beginner', mine)
  return answer(call, 0, '', redis.call('HINCRBY', call.meta, 'beginnings', 1))
end

local function take_buckets(_, args)
  local call, read = begin(args)
  local mine, beginning = read(), tonumber(read())
  for _, number in ipairs(call.numbers) do
    local key = keys_of(call.name, number).beginner
    local before = tonumber(string.match(redis.call('GET', key) or '', '^%d+') or 0)
    if beginning < before then return answer(call, NOT_MINE) end
    redis.call('SET', key, text(beginning) .. ' ' .. mine)
  end
  return answer(call, 0)
end

-- Whether it is still `mine` to begin what the call covers.
local function begins(call, mine)
  if call.is_crawl then return mine == beginner(call) and not is_created(call) end
  for _, number in ipairs(call.numbers) do
    local found = redis.call('GET', keys_of(call.name, number).beginner) or ''
    if string.match(found, '^%d+ (.*)$') ~= mine then return false end
  end
  return true
end

local function leave_beginning(_, args)
  local call, read = begin(args)
  if beginner(call) == read() then redis.call('HDEL', call.meta, 'beginner') end
  return answer(call)
end

-- A slice of clear: the queues of sites from `first` on; with the last of them all else of the
-- bucket. Ids are not given again: who remembers one must never mean another site. Returns where to
-- go on, 0 when the bucket is empty.
local function clear(_, args)
  local call, read = begin(args)
  local mine = read()
  if call.is_crawl and is_created(call) then return answer(call, EXISTS) end
  if not begins(call, mine) then return answer(call, NOT_MINE) end
  local bucket, first, slice = bucket_at(call, tonumber(read())), tonumber(read()), tonumber(read())
  local last = tonumber(redis.call('GET', bucket.ids) or 0)
  for id = first, math.min(last, first + slice - 1) do
    redis.call('UNLINK', bucket.queue .. text(id), bucket.spill .. text(id))
  end
  if first + slice <= last then return answer(call, first + slice) end
  redis.call('UNLINK', bucket.names, bucket.order, bucket.site, bucket.lease, bucket.ready,
    bucket.seen, bucket.robots, bucket.tally)
  return answer(call, 0)
end

-- `mine` is '' where nothing was cleared before.
local function create(_, args)
  local call, read = begin(args)
  local mine, created_at = read(), read()
  if is_created(call) or (mine ~= '' and beginner(call) ~= mine) then return answer(call, 0) end
  redis.call('HSET', call.meta, 'created_at', created_at)
  redis.call('HDEL', call.meta, 'beginner')
  for _ = 1, tonumber(read()) do redis.call('HSET', call.settings, read(), read()) end
  return answer(call, 1)
end
