-- The steps of background jobs in Redis. One call does one step, atomically.
--
-- KEYS[1] is the prefix of every key. Its hash tag keeps all keys on one node of a cluster.
-- ARGV    is the name of the step, then its arguments. No step reads results: there are thousands, and a script would copy
--         each of them four times.
--
--   queue      stream  one entry for each job that is queued or running; delivered through the group `workers`. Each tenant
--                      has its own, `queue:` and the beginning of its ids; without one it is that of the default tenant
--   turns      zset    the tenants with a queue, by what they were served over their weight; `clock` is where they begin
--   events     stream  `queued`, `news` or `ended` and the job, for waiting callers; only the latest are kept
--   expiry     zset    every job, by the time (ms) at which it expires
--   sizes      hash    bytes by job, and their `total`; `sizes:` and the beginning of ids: the same of one tenant
--   key:...    string  the job that was submitted with this idempotency key
--   job:...    hash    packed digest size items weight key queue entry state owner attempts started done summary
--                      edition astray
--   results:.. list    the job's results, in the order in which they were judged
--
-- `owner` is the token of the service that runs the job. When another service takes the job over, it becomes the owner, and
-- writes of the old owner are refused.
--
-- `edition` names the verifiers that judge the job, with their versions. A job that has results is left to services of its
-- edition. One that others have read from its queue is parked: its entry is pending for the consumer `edition:` and the
-- edition, which no service is. `astray` is when such a job was first passed over. After some time it is taken all the same,
-- to be ended.

local base = KEYS[1]
local events, expiry, sizes, turns, clock =
  base .. 'events', base .. 'expiry', base .. 'sizes', base .. 'turns', base .. 'clock'
local group = 'workers'
local GRACE_MS = 60000 -- keys expire this much after their job, in case no service is left to remove them
local IDLE_CONSUMER_MS = 3600000
local STALE_ENTRIES = 64 -- the most that one step skips
local PAGE = 100 -- pending entries that are looked at at once

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function job_of(id) return base .. 'job:' .. id end
local function results_of(id) return base .. 'results:' .. id end
local function type_of(key) return redis.call('TYPE', key).ok end

-- Of what is no hash any more, every field is missing.
local function get(id, field)
  local value = redis.pcall('HGET', job_of(id), field)
  return type(value) == 'string' and value
end

local function tenant_of(id) return id:match('^.*/') or '' end
local function stream_of(tenant) return base .. (tenant == '' and 'queue' or 'queue:' .. tenant) end
local function sizes_of(tenant) return base .. 'sizes:' .. tenant end

-- The tenants that have or had a queue, those whose turn it is first. Jobs of older releases are all in that of the default
-- tenant.
local function tenants_in_turn()
  local tenants = redis.call('ZRANGE', turns, 0, -1)
  if not redis.call('ZSCORE', turns, '') then table.insert(tenants, 1, '') end
  return tenants
end

local function tell(what, id)
  redis.call('XADD', events, 'MAXLEN', '~', 1000, '*', what, id)
end

local function enqueue(id)
  local tenant = tenant_of(id)
  local queue = stream_of(tenant)
  if redis.call('EXISTS', queue) == 0 then
    redis.call('XGROUP', 'CREATE', queue, group, '0', 'MKSTREAM')
  end
  redis.call('ZADD', turns, 'NX', redis.call('GET', clock) or 0, tenant)
  local entry = redis.call('XADD', queue, '*', 'job', id)
  redis.call('HSET', job_of(id), 'queue', queue, 'entry', entry, 'state', 'queued')
  tell('queued', id)
end

local function queue_of(id) return get(id, 'queue') or base .. 'queue' end

local function drop_entry(queue, entry)
  redis.call('XACK', queue, group, entry)
  redis.call('XDEL', queue, entry)
end

local function dequeue(id)
  local entry = get(id, 'entry')
  if entry then
    drop_entry(queue_of(id), entry)
    redis.call('HDEL', job_of(id), 'entry')
  end
end

local function resize(id, bytes)
  for _, held in ipairs({sizes, sizes_of(tenant_of(id))}) do
    redis.call('HINCRBY', held, id, bytes)
    redis.call('HINCRBY', held, 'total', bytes)
  end
end

local function keep(id, ttl_ms)
  local at = string.format('%.0f', now + ttl_ms)
  local beyond = string.format('%.0f', now + ttl_ms + GRACE_MS)
  redis.call('ZADD', expiry, at, id)
  redis.call('PEXPIREAT', job_of(id), beyond)
  redis.call('PEXPIREAT', results_of(id), beyond)
  local key = get(id, 'key')
  if key and key ~= '' then redis.call('PEXPIREAT', base .. 'key:' .. key, beyond) end
  local tenant = tenant_of(id)
  for _, name in ipairs({sizes_of(tenant), tenant ~= '' and stream_of(tenant) or nil}) do
    if redis.call('PTTL', name) < ttl_ms + GRACE_MS then redis.call('PEXPIREAT', name, beyond) end
  end
end

local function forget(id)
  dequeue(id)
  local key = get(id, 'key')
  if key and redis.call('GET', base .. 'key:' .. key) == id then redis.call('DEL', base .. 'key:' .. key) end
  local own = sizes_of(tenant_of(id))
  for _, held in ipairs({sizes, own}) do
    local bytes = redis.call('HGET', held, id)
    if bytes then
      redis.call('HDEL', held, id)
      redis.call('HINCRBY', held, 'total', 0 - bytes) -- not -bytes, which is "-0" if bytes is 0
    end
  end
  if redis.call('HLEN', own) == 1 then redis.call('DEL', own) end
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

local function results_stored(id) return redis.call('LLEN', results_of(id)) end

-- Whether a service of this edition may judge the job, and whether it may take the job at all.
local function suits(id, edition, wait_ms)
  local own = get(id, 'edition')
  if not own or own == edition or results_stored(id) == 0 then return true, true end
  redis.call('HSETNX', job_of(id), 'astray', now)
  return false, now - get(id, 'astray') >= wait_ms
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
  return redis.pcall('LLEN', results_of(id)) == tonumber(get(id, 'done'))
end

-- Whether somebody has put something else in place of a job or its results.
local function is_damaged(id)
  local job, results = type_of(job_of(id)), type_of(results_of(id))
  return (job ~= 'hash' and job ~= 'none') or (results ~= 'list' and results ~= 'none')
end

-- Whether the fields that these steps count with are numbers.
local function is_sound(id)
  for _, field in ipairs({'size', 'items', 'attempts'}) do
    if not tonumber(get(id, field)) then return false end
  end
  for _, field in ipairs({'weight', 'started'}) do
    local value = get(id, field)
    if value and not tonumber(value) then return false end
  end
  return true
end

-- Ends a job that is damaged. It is kept until its time is over, so that its owner is told.
local function spoil(id)
  if type_of(job_of(id)) ~= 'hash' then return end
  dequeue(id)
  redis.call('HSET', job_of(id), 'state', 'damaged')
  redis.call('HDEL', job_of(id), 'owner')
  unload(id)
  tell('ended', id)
end

local step = {}

-- Whether a tenant that holds `own` may have more, if that leaves so much free: `fairness.Room` says why. A share of 0 is that
-- of a tenant without others.
local function fits(own, more, left, share)
  return left >= 0 and (own <= 0 or share == 0 or own + more <= share * left)
end

-- Returns {'new' | 'same' | 'other', id}, or {'full', jobs, bytes, jobs and bytes of the tenant, ms until the next job expires}.
function step.submit(id, packed, digest, size, items, key, max_jobs, max_bytes, ttl_ms, share, weight)
  sweep()
  if key ~= '' then
    local known = redis.call('GET', base .. 'key:' .. key)
    if known and get(known, 'state') == 'damaged' then forget(known) end
    if known and get(known, 'state') then
      return {get(known, 'digest') == digest and 'same' or 'other', known}
    end
  end
  share = tonumber(share)
  local own = sizes_of(tenant_of(id))
  local jobs, own_jobs = redis.call('ZCARD', expiry), math.max(0, redis.call('HLEN', own) - 1)
  local bytes, own_bytes = tonumber(redis.call('HGET', sizes, 'total') or 0), tonumber(redis.call('HGET', own, 'total') or 0)
  if not fits(own_jobs, 1, max_jobs - jobs - 1, share) or not fits(own_bytes, #packed, max_bytes - bytes - #packed, share) then
    local first = redis.call('ZRANGE', expiry, 0, 0, 'WITHSCORES')[2]
    return {'full', jobs, bytes, own_jobs, own_bytes, first and math.max(0, first - now) or 0}
  end
  redis.call('HSET', job_of(id), 'packed', packed, 'digest', digest, 'size', size, 'items', items, 'weight', weight, 'key', key,
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
  if is_damaged(id) then return {'damaged', 0, 0, ''} end
  local found = redis.call('HMGET', job_of(id), 'state', 'items', 'done', 'summary')
  if not found[1] or not is_whole(id) then
    forget(id)
    return false
  end
  return {found[1], found[2], found[3], found[4] or ''}
end

local function parked_for(edition) return 'edition:' .. edition end

-- Makes the first of some pending entries that this service may take pending for `consumer`. Returns it, or nothing if there is
-- none. The entries are those of `holder`, or of all ('') if they have been silent for `idle_ms`.
local function claim_pending(queue, consumer, edition, wait_ms, holder, idle_ms)
  local start = '-'
  repeat
    local pending
    if holder ~= '' then
      pending = redis.call('XPENDING', queue, group, start, '+', PAGE, holder)
    else
      pending = redis.call('XPENDING', queue, group, 'IDLE', idle_ms, start, '+', PAGE)
    end
    for _, held in ipairs(pending) do
      local entry = redis.call('XRANGE', queue, held[1], held[1])[1]
      if not entry then
        redis.call('XACK', queue, group, held[1])
      else
        local _, may = suits(entry[2][2], edition, wait_ms)
        if may then
          redis.call('XCLAIM', queue, group, consumer, 0, held[1], 'JUSTID')
          return entry
        end
      end
    end
    start = #pending == PAGE and '(' .. pending[PAGE][1]
  until not start
end

-- The next entry of a queue that this service may take, and whether its consumer has been silent for `idle_ms`. Others that were
-- not delivered yet are parked.
local function next_entry(queue, consumer, idle_ms, edition, wait_ms)
  if redis.call('EXISTS', queue) == 0 then return nil end
  local entry = claim_pending(queue, consumer, edition, wait_ms, parked_for(edition), 0)
  if entry then return entry, false end
  entry = claim_pending(queue, consumer, edition, wait_ms, '', idle_ms)
  if entry then return entry, true end
  while true do
    local reply = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', 1, 'STREAMS', queue, '>')
    if not reply then return nil end
    entry = reply[1][2][1]
    local id = entry[2][2]
    local _, may = suits(id, edition, wait_ms)
    if may then return entry, false end
    redis.call('XCLAIM', queue, group, parked_for(get(id, 'edition')), 0, entry[1], 'JUSTID')
    tell('queued', id)
  end
end

-- Gives a job to its new owner. Returns what `take` does.
local function begin(id, token, taken_over, edition, wait_ms)
  local is_own = suits(id, edition, wait_ms)
  if is_own then redis.call('HSET', job_of(id), 'edition', edition) end
  redis.call('HDEL', job_of(id), 'astray')
  local attempts = redis.call('HINCRBY', job_of(id), 'attempts', 1)
  redis.call('HSET', job_of(id), 'state', 'running', 'owner', token)
  redis.call('HSETNX', job_of(id), 'started', now)
  local found = redis.call('HMGET', job_of(id), 'packed', 'digest', 'size', 'items', 'started')
  return {id, attempts, found[1], found[2], found[3], found[4], now - found[5], taken_over and 1 or 0,
    results_stored(id), is_own and 0 or 1}
end

-- The next job of a queue, and whether it was taken over. Nothing if there is none.
local function next_job(queue, consumer, idle_ms, edition, wait_ms)
  for _ = 1, STALE_ENTRIES do
    local entry, taken_over = next_entry(queue, consumer, idle_ms, edition, wait_ms)
    if not entry then return nil end
    local id = entry[2][2]
    if get(id, 'entry') ~= entry[1] then
      drop_entry(queue, entry[1])
    elseif is_damaged(id) or not is_sound(id) then
      drop_entry(queue, entry[1])
      spoil(id)
    elseif is_over(id) or not is_whole(id) then
      forget(id)
    else
      return id, taken_over
    end
  end
end

-- Notes that a tenant, whose turn it was, is served a job (`fairness.Turns`).
local function charge(tenant, id)
  local due = math.max(tonumber(redis.call('GET', clock) or 0), tonumber(redis.call('ZSCORE', turns, tenant) or 0))
  local cost = tonumber(get(id, 'items')) / tonumber(get(id, 'weight') or 1)
  redis.call('SET', clock, string.format('%.3f', due))
  redis.call('ZADD', turns, string.format('%.3f', due + cost), tenant)
end

-- Takes a job of the tenant whose turn it is, but of none that is passed over. Returns {id, attempts, packed, digest, size,
-- items, ms since the first start, 1 if taken over from another consumer, results stored, 1 if another edition began it}.
function step.take(consumer, token, idle_ms, edition, wait_ms, ...)
  wait_ms = tonumber(wait_ms)
  local passed_over = {}
  for _, tenant in ipairs({...}) do passed_over[tenant] = true end
  for _, tenant in ipairs(tenants_in_turn()) do
    if not passed_over[tenant] then
      local id, taken_over = next_job(stream_of(tenant), consumer, idle_ms, edition, wait_ms)
      if id then
        charge(tenant, id)
        return begin(id, token, taken_over, edition, wait_ms)
      end
    end
  end
  return false
end

-- Shows that the owner is alive. Returns 0 if the token is not the owner any more.
function step.beat(id, token, consumer)
  if not is_owner(id, token) or is_over(id) then return 0 end
  redis.call('XCLAIM', queue_of(id), group, consumer, 0, get(id, 'entry'), 'JUSTID')
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
  for _, tenant in ipairs(tenants_in_turn()) do
    local queue = stream_of(tenant)
    if redis.call('EXISTS', queue) == 1 then
      for _, pending in ipairs(redis.call('XPENDING', queue, group, '-', '+', 1000, consumer)) do
        local entry = redis.call('XRANGE', queue, pending[1], pending[1])[1]
        if entry and get(entry[2][2], 'entry') == entry[1] then requeue(entry[2][2], true) end
      end
      redis.call('XGROUP', 'DELCONSUMER', queue, group, consumer)
    end
  end
end

-- Cancels a job that is queued or running, and removes one that is done or damaged. Returns the state that the job had, or nothing if
-- there is no such job.
function step.cancel(id, ttl_ms)
  local state = get(id, 'state')
  if not state and not is_damaged(id) or is_over(id) then return false end
  if state == 'cancelled' then return state end
  if (state == 'queued' or state == 'running') and not is_damaged(id) then
    redis.call('HSET', job_of(id), 'state', 'cancelled')
    redis.call('HDEL', job_of(id), 'owner')
    dequeue(id)
    unload(id)
    keep(id, ttl_ms)
    tell('ended', id)
    return state
  end
  forget(id)
  return state == 'done' and state or 'cancelled'
end

function step.forget(id)
  forget(id)
end

-- Puts the result of an item that was judged again in the place of a damaged one. Returns 0 if the token is not the owner any more.
function step.mend(id, token, position, result)
  if not is_owner(id, token) then return 0 end
  redis.call('LSET', results_of(id), position, result)
  return 1
end

function step.spoil(id)
  spoil(id)
end

-- Forgets whose turn it is, once there is no job. Before that nobody gets a new turn by leaving.
local function forget_turns()
  for _, tenant in ipairs(tenants_in_turn()) do
    if tenant ~= '' then redis.call('DEL', stream_of(tenant)) end
  end
  redis.call('DEL', turns, clock)
end

-- Removes expired jobs. Returns {jobs, bytes, jobs queued or running}.
function step.tend()
  sweep()
  local waiting = 0
  for _, tenant in ipairs(tenants_in_turn()) do
    local queue = stream_of(tenant)
    if redis.call('EXISTS', queue) == 1 then
      waiting = waiting + redis.call('XLEN', queue)
      for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', queue, group)) do
        if consumer[4] == 0 and consumer[6] > IDLE_CONSUMER_MS then
          redis.call('XGROUP', 'DELCONSUMER', queue, group, consumer[2])
        end
      end
    end
  end
  if waiting == 0 then forget_turns() end
  return {redis.call('ZCARD', expiry), tonumber(redis.call('HGET', sizes, 'total') or 0), waiting}
end

return step[ARGV[1]](unpack(ARGV, 2))
