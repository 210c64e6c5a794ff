-- commit in a Cluster: `intend` says to the crawl as a whole which leases of which buckets it is about,
-- then `commit_parts` does it on each node, once in each bucket. Whoever asks how far a writer came has what was
-- not reached refused (`conclude`, `concluded`), so that nobody ever sees half of a commit.

local NEW, BEGUN, CONCLUDED = 0, 1, 2

-- `intent`: by bucket the tokens of its leases, packed by the client. Answers with that of the first
-- time, or with what was refused, if the number was sent before.
local function intend(_, args)
  local call, read = begin(args)
  local writer, sequence, intent = read(), tonumber(read()), read()
  local row = redis.call('HGET', call.writers, writer)
  if not row then return never_enlisted(writer) end
  local enlisted, last, refused_at = struct.unpack(WRITER, row)
  if sequence == last then
    local before = redis.call('HGET', call.open, writer)
    if before then return answer(call, BEGUN, before) end
    return answer(call, CONCLUDED, string.sub(row, refused_at))
  end
  if sequence ~= last + 1 then return out_of_order(writer, sequence, last) end
  redis.call('HSET', call.writers, writer, struct.pack(WRITER, enlisted, sequence))
  redis.call('HSET', call.open, writer, intent)
  return answer(call, NEW, '')
end

-- A writer's row in a bucket: enlisted, the last commit that was about it, what was refused of that.
local function row_in_bucket(call, number, writer)
  local rows = writers_of(call, number)
  local row = redis.call('HGET', rows, writer) or struct.pack(WRITER, 0, 0)
  local enlisted, last, refused_at = struct.unpack(WRITER, row)
  return rows, enlisted, last, string.sub(row, refused_at)
end

-- Read past what is said under each lease.
local function skip_parts(read)
  for _ = 1, tonumber(read()) do
    for _ = 1, 5 do read() end
    for _ = 1, 2 * tonumber(read()) do read() end
  end
end

-- By bucket, in the order in which the call covers them. A bucket that has taken its part before
-- answers as it did then.
local function commit_parts(_, args)
  local call, read = begin(args)
  read_caps(call)
  local writer, sequence, refused, new = read(), tonumber(read()), {}, {}
  for _, number in ipairs(call.numbers) do
    local rows, enlisted, last, before = row_in_bucket(call, number, writer)
    if sequence < last then return out_of_order(writer, sequence, last) end
    if sequence == last then
      skip_parts(read)
      refused[#refused + 1] = before
    else
      local parts = read_parts(call)
      if not parts then return misuse(NOT_AT_ITS_PLACE) end
      new[#new + 1] = { rows = rows, enlisted = enlisted, parts = parts }
    end
  end
  for _, it in ipairs(new) do
    local tokens = apply(call, it.parts)
    redis.call('HSET', it.rows, writer, struct.pack(WRITER, it.enlisted, sequence) .. tokens)
    refused[#refused + 1] = tokens
  end
  finish(call)
  return answer(call, table.concat(refused))
end

-- What of a commit has not come to this bucket yet never will.
local function conclude(_, args)
  local call, read = begin(args)
  local writer, sequence, tokens = read(), tonumber(read()), read()
  local rows, enlisted, last, refused = row_in_bucket(call, call.numbers[1], writer)
  if sequence <= last then return answer(call, refused) end
  redis.call('HSET', rows, writer, struct.pack(WRITER, enlisted, sequence) .. tokens)
  count(bucket_at(call, call.numbers[1]), 'refused', #tokens / 8)
  finish(call)
  return answer(call, tokens)
end

-- A writer's row in each bucket; '' where there is none.
local function rows_in_buckets(_, args)
  local call, read = begin(args)
  local writer, found = read(), {}
  for at, number in ipairs(call.numbers) do
    found[at] = redis.call('HGET', writers_of(call, number), writer) or ''
  end
  return answer(call, found)
end

local function concluded(_, args)
  local call, read = begin(args)
  local writer, sequence, refused = read(), tonumber(read()), read()
  local enlisted, last = struct.unpack(WRITER, redis.call('HGET', call.writers, writer))
  if sequence == last then
    redis.call('HSET', call.writers, writer, struct.pack(WRITER, enlisted, sequence) .. refused)
    redis.call('HDEL', call.open, writer)
  end
  return answer(call)
end
