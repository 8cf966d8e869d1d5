"""Shares the counts of a ledger between replicas, through Redis.

Once a second, what was noted here is added to the counts in Redis, and the same round trip brings what all replicas
have noted. Nobody waits for it. While Redis does not answer, counting goes on here, and is written later.

A script may have been carried out although its answer is lost. So each one has a number, which Redis remembers, and is
sent again unchanged until it is answered: nothing is counted twice. All keys of a tenant have one hash tag.

    rl1use:{TENANT}:runs                   the latest runs, with the times of their last use
    rl1use:{TENANT}:total:RUN              a hash: when counting began, and the sums. Without a run: the tenant's own
    rl1use:{TENANT}:minute:RUN:NUMBER      a hash: the sums of that minute
    rl1use:{TENANT}:sent:REPLICA           the number of the last script of a replica
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final
from urllib.parse import quote

from service.errors import StateUnavailable
from service.limits.budgets import Measure
from service.storage.redis_link import RedisLink
from service.usage.account import Account, Amounts
from service.usage.ledger import Ledger

EVERY_S: Final = 1.0
AGAIN_S: Final = 5.0
"""The pause after Redis did not answer."""
_CALL_S: Final = 2.0
_CONNECT_S: Final = 1.0
_MAX_CALLS: Final = 8
_ACCOUNTS_PER_SCRIPT: Final = 100
_MINUTE_KEPT_S: Final = 180
_RUN_KEPT_S: Final = 30 * 24 * 3600
_SENT_KEPT_S: Final = 24 * 3600
_MEASURES: Final = tuple(Measure)
_FIELDS: Final = ", ".join(f"'{measure.value}'" for measure in Measure)
# KEYS: sent, runs, then the total and the minute of each account.
# ARGV: number of the script, time, most runs, then of each account its run, its sums in all, its sums of the minute.
_SCRIPT: Final = f"""
local fields = {{{_FIELDS}}}
local new = redis.call('GET', KEYS[1]) ~= ARGV[1]
if new then redis.call('SET', KEYS[1], ARGV[1], 'EX', {_SENT_KEPT_S}) end
local function add(key, at)
    local used = false
    for i, field in ipairs(fields) do
        if ARGV[at + i] ~= '0' then
            redis.call('HINCRBYFLOAT', key, field, ARGV[at + i])
            used = true
        end
    end
    return used
end
local found, at = {{}}, 4
for i = 3, #KEYS, 2 do
    local total, minute, run = KEYS[i], KEYS[i + 1], ARGV[at]
    if new and add(total, at) then
        redis.call('HSETNX', total, 'began', ARGV[2])
        if add(minute, at + #fields) then redis.call('EXPIRE', minute, {_MINUTE_KEPT_S}) end
        if run ~= '' then
            redis.call('ZADD', KEYS[2], ARGV[2], run)
            redis.call('EXPIRE', total, {_RUN_KEPT_S})
        end
    end
    found[#found + 1] = redis.call('HMGET', total, 'began', unpack(fields))
    found[#found + 1] = redis.call('HMGET', minute, unpack(fields))
    at = at + 1 + 2 * #fields
end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - tonumber(ARGV[3]))
return found
"""

log = logging.getLogger("rewardline.usage")


@dataclass(frozen=True, slots=True)
class _Letter:
    """A script that may have been carried out, with the accounts whose sums it adds."""

    accounts: Sequence[tuple[Account, int]]
    """Each with the number of the minute of its sums."""
    command: tuple[Any, ...]


class RedisSharing:
    """Shares one ledger. `run` it in the background.

    Raises:
        ValueError: the URL has an unknown form, or its certificates cannot be used.
    """

    def __init__(
        self,
        ledger: Ledger,
        url: str,
        *,
        prefix: str = "rl1use:",
        clock: Callable[[], float] = time.time,
        call_s: float = _CALL_S,
    ) -> None:
        """`clock` is that of the ledger."""
        self._ledger = ledger
        self._prefix = prefix
        self._clock = clock
        self._link = RedisLink(url, "usage", call_s=call_s, connect_s=_CONNECT_S, max_calls=_MAX_CALLS)
        self._replica = secrets.token_hex(8)
        self._written = 0
        self._unanswered: dict[str, _Letter] = {}
        """By tenant."""
        self._turn = asyncio.Lock()
        """Guards `_unanswered`: of each tenant one letter is under way."""

    @property
    def errors(self) -> int:
        return self._link.errors

    async def run(self) -> None:
        """Share again and again."""
        pause_s = EVERY_S
        while True:
            await asyncio.sleep(pause_s)
            try:
                await self.share()
            except StateUnavailable:  # the link has logged it
                pause_s = AGAIN_S
            else:
                pause_s = EVERY_S

    async def close(self) -> None:
        """Share what is left, if Redis answers."""
        try:
            await self.share()
        except StateUnavailable:
            log.warning("the last counts of usage were not written")
        await self._link.close()

    async def share(self) -> None:
        """Write and read the accounts that were touched.

        Raises:
            StateUnavailable: not all were written. The others will be.
        """
        async with self._turn:
            waiting = [tenant for tenant in self._ledger.touched if tenant not in self._unanswered]
            for tenant in [*waiting, *self._unanswered]:  # a part of Redis that is down holds up no other
                await self._share(tenant)

    async def look_up(self, tenant: str) -> None:
        """Read the accounts of a tenant and of its latest runs, wherever they were used.

        Raises:
            StateUnavailable
        """
        runs = await self._link.ask("ZREVRANGE", self._key(tenant, "runs"), 0, self._ledger.max_runs - 1)
        if not isinstance(runs, list):
            raise self._link.nonsense()
        self._ledger.know(tenant, [run.decode("utf-8", "replace") for run in runs])
        async with self._turn:
            await self._share(tenant)

    async def _share(self, tenant: str) -> None:
        while True:
            letter = self._unanswered.pop(tenant, None) or self._letter(tenant)
            if letter is None:
                return
            self._unanswered[tenant] = letter  # behind all others
            answer = await self._link.ask(*letter.command)
            self._settle(letter, answer)
            del self._unanswered[tenant]

    def _letter(self, tenant: str) -> _Letter | None:
        """A script with the sums of touched accounts. None: no account was touched."""
        touched = self._ledger.touched.get(tenant)
        if not touched:
            self._ledger.touched.pop(tenant, None)
            return None
        now = self._clock()
        accounts = [touched.pop(run) for run in list(islice(touched, _ACCOUNTS_PER_SCRIPT))]
        for account in accounts:
            account.move(now)
        self._written += 1
        keys = [self._key(tenant, "sent", self._replica), self._key(tenant, "runs")]
        values: list[Any] = [self._written, repr(now), self._ledger.max_runs]
        for account in accounts:
            keys += (self._key(tenant, "total", account.run), self._key(tenant, "minute", account.run, account.number))
            values += (account.run, *_listed(account.total.send()), *_listed(account.minute.send()))
        numbered = [(account, account.number) for account in accounts]
        return _Letter(numbered, ("EVAL", _SCRIPT, len(keys), *keys, *values))

    def _settle(self, letter: _Letter, answer: Any) -> None:
        try:
            read = [
                (None if began is None else float(began), _amounts(total), _amounts(minute))
                for (began, *total), minute in _pairs(answer)
            ]
        except (TypeError, ValueError) as error:
            raise self._link.nonsense() from error
        if len(read) != len(letter.accounts):
            raise self._link.nonsense()
        for (account, number), (began, total, minute) in zip(letter.accounts, read, strict=True):
            if began is not None:
                account.began = began
            account.total.settle(total)
            if account.number == number:
                account.minute.settle(minute)

    def _key(self, tenant: str, *segments: object) -> str:
        return ":".join((f"{self._prefix}{{{quote(tenant, safe='')}}}", *map(str, segments)))


def _listed(amounts: Mapping[Measure, float]) -> list[str]:
    """The amounts in the order of the script's fields."""
    return [f"{amounts.get(measure, 0.0):.17g}" for measure in _MEASURES]


def _amounts(values: Sequence[bytes | None]) -> Amounts:
    return {measure: 0.0 if value is None else float(value) for measure, value in zip(_MEASURES, values, strict=True)}


def _pairs(answer: Any) -> list[tuple[Any, Any]]:
    return list(zip(answer[::2], answer[1::2], strict=True))
