-- The steps of background jobs in Redis. One call does one step, atomically.
--
-- KEYS[1] is the prefix of every key. Its hash tag keeps all keys on one node of a cluster.
-- ARGV    is the name of the step, then its arguments. No step reads results: there are thousands, and a script would copy
--         each of them four times.
--
--   queue      stream  one entry for each job that is queued or running; delivered through the group `workers`
--   events     stream  `queued`, `news` or `ended` and the job, for waiting callers; only the latest are kept
--   expiry     zset    every job, by the time (ms) at which it expires
--   sizes      hash    bytes by job, and their `total`
--   key:...    string  the job that was submitted with this idempotency key
--   job:...    hash    packed digest size items key entry state owner attempts started done summary
--   results:.. list    the job's results, in the order in which they were judged
--
-- `owner` is the token of the service that runs the job. When another service takes the job over, it becomes the owner, and
-- writes of the old owner are refused.

local base = KEYS[1]
local queue, events, expiry, sizes = base .. 'queue', base .. 'events', base .. 'expiry', base .. 'sizes'
local group = 'workers'
local GRACE_MS = 60000 -- keys expire this much after their job, in case no service is left to remove them
local IDLE_CONSUMER_MS = 3600000
local STALE_ENTRIES = 64 -- the most that one step skips

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function job_of(id) return base .. 'job:' .. id end
local function results_of(id) return base .. 'results:' .. id end
local function get(id, field) return redis.call('HGET', job_of(id), field) end

local function tell(what, id)
  redis.call('XADD', events, 'MAXLEN', '~', 1000, '*', what, id)
end

local function enqueue(id)
  if redis.call('EXISTS', queue) == 0 then
    redis.call('XGROUP', 'CREATE', queue, group, '0', 'MKSTREAM')
  end
  local entry = redis.call('XADD', queue, '*', 'job', id)
  redis.call('HSET', job_of(id), 'entry', entry, 'state', 'queued')
  tell('queued', id)
end

local function drop_entry(entry)
  redis.call('XACK', queue, group, entry)
  redis.call('XDEL', queue, entry)
end

local function dequeue(id)
  local entry = get(id, 'entry')
  if entry then
    drop_entry(entry)
    redis.call('HDEL', job_of(id), 'entry')
  end
end

local function resize(id, bytes)
  redis.call('HINCRBY', sizes, id, bytes)
  redis.call('HINCRBY', sizes, 'total', bytes)
end

local function keep(id, ttl_ms)
  local at = string.format('%.0f', now + ttl_ms)
  local beyond = string.format('%.0f', now + ttl_ms + GRACE_MS)
  redis.call('ZADD', expiry, at, id)
  redis.call('PEXPIREAT', job_of(id), beyond)
  redis.call('PEXPIREAT', results_of(id), beyond)
  local key = get(id, 'key')
  if key and key ~= '' then redis.call('PEXPIREAT', base .. 'key:' .. key, beyond) end
end

local function forget(id)
  dequeue(id)
  local key = get(id, 'key')
  if key and redis.call('GET', base .. 'key:' .. key) == id then redis.call('DEL', base .. 'key:' .. key) end
  local bytes = redis.call('HGET', sizes, id)
  if bytes then
    redis.call('HDEL', sizes, id)
    redis.call('HINCRBY', sizes, 'total', 0 - bytes) -- not -bytes, which is "-0" if bytes is 0
  end
  redis.call('ZREM', expiry, id)
  redis.call('DEL', job_of(id), results_of(id))
  tell('ended', id)
end

local function sweep()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', expiry, '-inf', now, 'LIMIT', 0, 100)) do forget(id) end
end

local function is_over(id)
  local at = redis.call('ZSCORE', expiry, id)
  return not at or tonumber(at) <= now
end

-- Removes the request of a finished job, which no longer needs it.
local function unload(id)
  local packed = redis.call('HSTRLEN', job_of(id), 'packed')
  redis.call('HDEL', job_of(id), 'packed')
  resize(id, 0 - packed)
end

local function requeue(id, blameless)
  dequeue(id)
  redis.call('HDEL', job_of(id), 'owner')
  if blameless then redis.call('HINCRBY', job_of(id), 'attempts', -1) end
  enqueue(id)
end

local function is_owner(id, token)
  return get(id, 'owner') == token and get(id, 'state') == 'running'
end

-- Whether Redis still has all results of a job. If some were lost, items would be judged and shown again.
local function is_whole(id)
  return redis.call('LLEN', results_of(id)) == tonumber(get(id, 'done'))
end

local step = {}

-- Returns {'new' | 'same' | 'other', id}, or {'full', jobs, bytes, ms until the next job expires}.
function step.submit(id, packed, digest, size, items, key, max_jobs, max_bytes, ttl_ms)
  sweep()
  if key ~= '' then
    local known = redis.call('GET', base .. 'key:' .. key)
    if known and get(known, 'state') then
      return {get(known, 'digest') == digest and 'same' or 'other', known}
    end
  end
  local jobs = redis.call('ZCARD', expiry)
  local bytes = tonumber(redis.call('HGET', sizes, 'total') or 0)
  if jobs >= tonumber(max_jobs) or bytes + #packed > tonumber(max_bytes) then
    local first = redis.call('ZRANGE', expiry, 0, 0, 'WITHSCORES')[2]
    return {'full', jobs, bytes, first and math.max(0, first - now) or 0}
  end
  redis.call('HSET', job_of(id), 'packed', packed, 'digest', digest, 'size', size, 'items', items, 'key', key,
    'attempts', 0, 'done', 0)
  if key ~= '' then redis.call('SET', base .. 'key:' .. key, id) end
  resize(id, #packed)
  enqueue(id)
  keep(id, ttl_ms)
  return {'new', id}
end

-- Returns {state, items, done, summary}, or nothing if there is no such job (or Redis has evicted a part of it).
function step.read(id)
  if is_over(id) then return false end
  local found = redis.call('HMGET', job_of(id), 'state', 'items', 'done', 'summary')
  if not found[1] or not is_whole(id) then
    forget(id)
    return false
  end
  return {found[1], found[2], found[3], found[4] or ''}
end

-- The entry of a consumer that has been silent for `idle_ms`. If there is none: the next entry that was not delivered yet.
local function next_entry(consumer, idle_ms)
  if redis.call('EXISTS', queue) == 0 then return nil end
  local cursor = '0-0'
  repeat
    local reply = redis.call('XAUTOCLAIM', queue, group, consumer, idle_ms, cursor, 'COUNT', 1)
    if reply[2][1] then return reply[2][1], true end
    cursor = reply[1]
  until cursor == '0-0'
  local reply = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', 1, 'STREAMS', queue, '>')
  return reply and reply[1][2][1], false
end

-- Returns {id, attempts, packed, digest, size, items, ms since the first start, 1 if taken over from another consumer,
-- results stored}.
function step.take(consumer, token, idle_ms)
  for _ = 1, STALE_ENTRIES do
    local entry, taken_over = next_entry(consumer, idle_ms)
    if not entry then return false end
    local id = entry[2][2]
    if get(id, 'entry') ~= entry[1] then
      drop_entry(entry[1])
    elseif is_over(id) or not is_whole(id) then
      forget(id)
    else
      local attempts = redis.call('HINCRBY', job_of(id), 'attempts', 1)
      redis.call('HSET', job_of(id), 'state', 'running', 'owner', token)
      redis.call('HSETNX', job_of(id), 'started', now)
      local found = redis.call('HMGET', job_of(id), 'packed', 'digest', 'size', 'items', 'started')
      return {id, attempts, found[1], found[2], found[3], found[4], now - found[5], taken_over and 1 or 0,
        redis.call('LLEN', results_of(id))}
    end
  end
  return false
end

-- Shows that the owner is alive. Returns 0 if the token is not the owner any more.
function step.beat(id, token, consumer)
  if not is_owner(id, token) or is_over(id) then return 0 end
  redis.call('XCLAIM', queue, group, consumer, 0, get(id, 'entry'), 'JUSTID')
  return 1
end

-- Adds results; the first one has the number `offset`. Skips results that are stored already. Returns how many are stored
-- now: fewer than `offset` if Redis has lost some, -1 if the token is not the owner any more.
function step.append(id, token, offset, ...)
  if not is_owner(id, token) then return -1 end
  local results, bytes = {...}, 0
  local have = redis.call('LLEN', results_of(id))
  if have < tonumber(offset) then return have end
  for number = have - offset + 1, #results do
    redis.call('RPUSH', results_of(id), results[number])
    bytes = bytes + #results[number]
  end
  have = redis.call('LLEN', results_of(id))
  redis.call('HSET', job_of(id), 'done', have)
  redis.call('PEXPIRE', results_of(id), math.max(1, redis.call('PTTL', job_of(id))))
  resize(id, bytes)
  tell('news', id)
  return have
end

-- Returns 1 also if the job was finished before by this owner: the first reply may have been lost.
function step.finish(id, token, summary, ttl_ms)
  if get(id, 'state') == 'done' and get(id, 'owner') == token then return 1 end
  if not is_owner(id, token) then return 0 end
  redis.call('HSET', job_of(id), 'state', 'done', 'summary', summary)
  dequeue(id)
  unload(id)
  keep(id, ttl_ms)
  tell('ended', id)
  return 1
end

-- Gives the job back to the queue. The attempt counts.
function step.release(id, token)
  if is_owner(id, token) then requeue(id, false) end
end

-- Gives all jobs of this consumer back to the queue. The attempts do not count.
function step.leave(consumer)
  if redis.call('EXISTS', queue) == 0 then return end
  for _, pending in ipairs(redis.call('XPENDING', queue, group, '-', '+', 1000, consumer)) do
    local entry = redis.call('XRANGE', queue, pending[1], pending[1])[1]
    if entry and get(entry[2][2], 'entry') == entry[1] then requeue(entry[2][2], true) end
  end
  redis.call('XGROUP', 'DELCONSUMER', queue, group, consumer)
end

-- Cancels a job that is queued or running, and removes one that is done. Returns the state that the job had, or nothing if
-- there is no such job.
function step.cancel(id, ttl_ms)
  local state = get(id, 'state')
  if not state or is_over(id) then return false end
  if state == 'done' then forget(id) end
  if state == 'queued' or state == 'running' then
    redis.call('HSET', job_of(id), 'state', 'cancelled')
    redis.call('HDEL', job_of(id), 'owner')
    dequeue(id)
    unload(id)
    keep(id, ttl_ms)
    tell('ended', id)
  end
  return state
end

function step.forget(id)
  forget(id)
end

-- Removes expired jobs. Returns {jobs, bytes, jobs queued or running}.
function step.tend()
  sweep()
  local waiting = 0
  if redis.call('EXISTS', queue) == 1 then
    waiting = redis.call('XLEN', queue)
    for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', queue, group)) do
      if consumer[4] == 0 and consumer[6] > IDLE_CONSUMER_MS then
        redis.call('XGROUP', 'DELCONSUMER', queue, group, consumer[2])
      end
    end
  end
  return {redis.call('ZCARD', expiry), tonumber(redis.call('HGET', sizes, 'total') or 0), waiting}
end

return step[ARGV[1]](unpack(ARGV, 2))
