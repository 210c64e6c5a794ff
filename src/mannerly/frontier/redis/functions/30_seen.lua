-- Every URL of a site that was accepted or spilt: its hash (8 bytes) and its outcome (1 byte; SPILT
-- stands for "not known, waits in the spill").
--
-- They lie in leaves of about LOAD entries, fields of one hash per bucket: 9 bytes a URL and
-- little else, where a set of Redis would take 60. Leaves grow by linear hashing: when they are too
-- full on average, one of them is split, so no call ever moves more than one leaf's entries.

local ENTRY = 9
local LOAD = 48

local function leaf_number(site, hash)
  if site.leaves <= 1 then return 0 end
  local a, b, c, d = string.byte(hash, 5, 8)
  local value = ((a * 256 + b) * 256 + c) * 256 + d
  local level = 1
  while level * 2 <= site.leaves do level = level * 2 end
  local number = value % (level * 2)
  if number >= site.leaves then number = number - level end
  return number
end

local function leaf_field(site, number)
  if number == 0 then return site.id end
  return site.id .. ':' .. text(number)
end

local function leaf_at(bucket, site, number)
  local field = leaf_field(site, number)
  local leaf = bucket.leaves[field]
  if not leaf then
    leaf = { entries = redis.call('HGET', bucket.seen, field) or '' }
    bucket.leaves[field] = leaf
  end
  return leaf
end

-- The leaf of a hash, and where in it the hash stands (nil: it does not).
local function find_hash(bucket, site, hash)
  local leaf = leaf_at(bucket, site, leaf_number(site, hash))
  local at = 1
  while true do
    at = string.find(leaf.entries, hash, at, true)
    if not at or (at - 1) % ENTRY == 0 then return leaf, at end
    at = at + 1
  end
end

-- The outcome of a hash; nil: never seen.
local function outcome_of(bucket, site, hash)
  local leaf, at = find_hash(bucket, site, hash)
  return at and string.byte(leaf.entries, at + HASH_END)
end

local function split_a_leaf(bucket, site)
  local level = 1
  while level * 2 <= site.leaves do level = level * 2 end
  local old = leaf_at(bucket, site, site.leaves - level)
  local new = leaf_at(bucket, site, site.leaves)
  local from = site.leaves - level
  site.leaves = site.leaves + 1
  local stay, go = {}, {}
  for at = 1, #old.entries, ENTRY do
    local entry = string.sub(old.entries, at, at + HASH_END)
    local side = leaf_number(site, entry) == from and stay or go
    side[#side + 1] = entry
  end
  old.entries, old.changed = table.concat(stay), true
  new.entries, new.changed = table.concat(go), true
end

-- Enter a hash that is not there.
local function see(bucket, site, hash, outcome)
  local leaf = leaf_at(bucket, site, leaf_number(site, hash))
  leaf.entries, leaf.changed = leaf.entries .. hash .. string.char(outcome), true
  if outcome == SPILT then site.spilt = site.spilt + 1 else site.known = site.known + 1 end
  site.changed = true
  if site.known + site.spilt > site.leaves * LOAD then split_a_leaf(bucket, site) end
end

-- Give a hash that is there another outcome.
local function mark(bucket, site, hash, outcome)
  local leaf, at = find_hash(bucket, site, hash)
  local entries = leaf.entries
  leaf.entries = string.sub(entries, 1, at + HASH_END - 1) .. string.char(outcome)
    .. string.sub(entries, at + ENTRY)
  leaf.changed = true
end

-- Take a hash out; the caller counts.
local function unsee(bucket, site, hash)
  local leaf, at = find_hash(bucket, site, hash)
  leaf.entries = string.sub(leaf.entries, 1, at - 1) .. string.sub(leaf.entries, at + ENTRY)
  leaf.changed = true
end
