-- Grants one replica its part of limits on judge models; see judge_limits.py.
-- KEYS: replicas (by the time of their last report), the number of the replica's last report, then one for each limit.
-- ARGV: replica, number, seconds after which a replica is gone, slots of a window, then of each limit:
--       kind, limit, step, change, held, needed.
local me, gone_s, slots_kept = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
redis.call('ZADD', KEYS[1], now, me)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - gone_s)
redis.call('EXPIRE', KEYS[1], math.ceil(gone_s))
local replicas = redis.call('ZCARD', KEYS[1])
-- A report whose answer was lost comes again with the same number: its change is not counted twice.
local is_new = redis.call('GET', KEYS[2]) ~= ARGV[2]
redis.call('SET', KEYS[2], ARGV[2], 'EX', 86400)

local function part(left, needed)
    if needed == 0 or left <= 0 then return 0 end
    return math.min(left, math.max(needed, left / (2 * replicas)))
end

-- A hash with what is left of the budget per minute, and when that was so.
local function bucket(key, capacity, per_s, change, _, needed)
    local level = tonumber(redis.call('HGET', key, 'level') or capacity)
    local at = tonumber(redis.call('HGET', key, 'at') or now)
    level = math.min(level + math.max(now - at, 0) * per_s, capacity)
    if is_new then level = math.min(level + change, capacity) end
    local granted = part(level, needed)
    redis.call('HSET', key, 'level', string.format('%.17g', level - granted), 'at', string.format('%.17g', now))
    redis.call('EXPIRE', key, 600)
    return {string.format('%.17g', granted), string.format('%.17g', level - granted)}
end

-- A hash with what was spent in each slot (`sNUMBER`), and what each replica was granted (`hREPLICA`).
local function window(key, limit, slot_s, change, held, needed)
    local slot = math.floor(now / slot_s)
    if is_new and change ~= 0 then redis.call('HINCRBYFLOAT', key, 's' .. slot, string.format('%.17g', change)) end
    local fields, granted = redis.call('HGETALL', key), 0
    for i = 1, #fields, 2 do
        local kind, name, amount = fields[i]:sub(1, 1), fields[i]:sub(2), tonumber(fields[i + 1])
        if kind == 'h' and not redis.call('ZSCORE', KEYS[1], name) then
            -- Its replica is gone, and may have spent it.
            redis.call('HDEL', key, fields[i])
            redis.call('HINCRBYFLOAT', key, 's' .. slot, fields[i + 1])
        elseif kind == 'h' and name ~= me then
            granted = granted + amount
        end
    end
    local spent, answer = 0, {'', '0'}
    fields = redis.call('HGETALL', key)
    for i = 1, #fields, 2 do
        if fields[i]:sub(1, 1) == 's' then
            local number = tonumber(fields[i]:sub(2))
            if number < slot - slots_kept then
                redis.call('HDEL', key, fields[i])
            else
                spent = spent + tonumber(fields[i + 1])
                answer[#answer + 1] = tostring(fields[i]:sub(2))
                answer[#answer + 1] = fields[i + 1]
            end
        end
    end
    local whole = held + part(limit - spent - granted - held, needed)
    redis.call('HSET', key, 'h' .. me, string.format('%.17g', whole))
    redis.call('EXPIRE', key, math.ceil(slot_s * (slots_kept + 1) + gone_s))
    answer[1] = string.format('%.17g', whole)
    return answer
end

local answers, at = {tostring(replicas), string.format('%.17g', now)}, 5
for i = 3, #KEYS do
    local grant = ARGV[at] == 'bucket' and bucket or window
    local numbers = {}
    for j = 1, 5 do numbers[j] = tonumber(ARGV[at + j]) end
    answers[#answers + 1] = grant(KEYS[i], unpack(numbers))
    at = at + 6
end
return answers
