"""Shares the limits of judge models between replicas, through Redis.

Each replica reports what it has spent, and is granted a part of what is left: five times a second, and at once when a call lacks
something. `judge_limits.lua` says what Redis holds. All its keys have one hash tag, so that one script sees them all.
"""

import asyncio
import contextlib
import importlib
import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from pydantic import SecretStr

from service.cancellation import cancel
from service.errors import StateUnavailable
from verifiers.judge.endpoints.shared_limits import Grant, Limits, Peers, SharedBucket, SharedLimits
from verifiers.judge.endpoints.spending import SLOTS

if TYPE_CHECKING:
    from service.storage.redis_link import RedisLink  # its library is loaded only where there is a Redis

EVERY_S: Final = 0.2
GONE_S: Final = 15.0
"""A replica that has reported nothing for so long is gone; its grant counts as spent."""
_SOON_S: Final = 0.01
_AGAIN_S: Final = 1.0
"""The pause after Redis did not answer."""
_CALL_S: Final = 1.0
_ALL_REPORT_S: Final = 2.5
"""After Redis is back, the time in which every replica has noticed it and has reported."""
_PREFIX: Final = "rl1judge:{limits}:"
_SCRIPT: Final = Path(__file__).with_suffix(".lua").read_text(encoding="utf-8")


class LimitSharing:
    """Shares the limits that `limits` makes. `run` it in the background."""

    def __init__(self, link: "RedisLink", clock: Callable[[], float], *, gone_s: float = GONE_S) -> None:
        """`clock` is that of the calls."""
        self._link = link
        self._clock = clock
        self._gone_s = gone_s
        self._replica = secrets.token_hex(8)
        self._number = 0
        self._back_at = float("-inf")
        self._needed = asyncio.Event()
        self._peers = Peers(self._needed.set)
        self.limits = SharedLimits(self._peers)

    async def run(self) -> None:
        """Share again and again. Calls that lack something wait for a moment, and longer if what is left does not suffice."""
        soon_s = _SOON_S
        while True:
            self._needed.clear()
            await self.share()
            if self._peers.is_lost:
                await asyncio.sleep(_AGAIN_S)
                continue
            soon_s = min(2 * soon_s, EVERY_S) if self._needed.is_set() else _SOON_S
            await asyncio.sleep(soon_s)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._needed.wait(), EVERY_S - soon_s)

    async def share(self) -> None:
        """Report and take what is granted. If Redis does not answer, this replica keeps to its share from then on."""
        limits = self.limits.by_name
        if limits:
            try:
                self._take(await self._link.ask(*self._command()))
            except StateUnavailable:  # the link has logged it
                self._peers.is_lost = True
            else:
                if self._peers.is_lost:
                    self._back_at = self._clock()
                self._peers.is_lost = False
                self._number += 1
            self.limits.changed()

    async def close(self) -> None:
        """Give back what was not used, if Redis answers."""
        with contextlib.suppress(StateUnavailable):
            await self.share()
            await self._link.ask("ZREM", f"{_PREFIX}replicas", self._replica)
        await self._link.close()

    def _command(self) -> list[Any]:
        now = self._clock()
        self._peers.only_reports = self._peers.is_lost or now < self._back_at + _ALL_REPORT_S
        keys = [f"{_PREFIX}replicas", f"{_PREFIX}number:{self._replica}"]
        values: list[Any] = [self._replica, self._number, self._gone_s, SLOTS]
        for name, limit in self.limits.by_name.items():
            report = limit.report(now)
            keys.append(f"{_PREFIX}limit:{quote(name)}")
            numbers = (report.limit, report.step, report.change, report.held, report.needed)
            kind = "bucket" if isinstance(limit, SharedBucket) else "window"
            values += (kind, *(f"{number:.17g}" for number in numbers))
        return ["EVAL", _SCRIPT, len(keys), *keys, *values]

    def _take(self, answer: Any) -> None:
        now = self._clock()
        try:
            replicas, store_now, *answers = answer
            grants = [_grant(*fields) for fields in answers]
            replica_count, offset_s = int(replicas), float(store_now) - now
        except (TypeError, ValueError) as error:
            raise self._link.nonsense() from error
        if len(grants) != len(self.limits.by_name):
            raise self._link.nonsense()
        self._peers.replicas, self._peers.clock_offset_s = replica_count, offset_s
        for limit, grant in zip(self.limits.by_name.values(), grants, strict=True):
            limit.take_grant(grant, now)


def _grant(granted: bytes, level: bytes, *slots: bytes) -> Grant:
    pairs = zip(slots[::2], slots[1::2], strict=True)
    return Grant(float(granted), float(level), tuple((int(slot), float(amount)) for slot, amount in pairs))


@contextlib.asynccontextmanager
async def opened(redis_url: SecretStr | None) -> AsyncIterator[Limits]:
    """The limits of this process alone, or if there is a Redis, those of all replicas that use it."""
    if redis_url is None:
        yield Limits()
        return
    kind: type[RedisLink] = importlib.import_module("service.storage.redis_link").RedisLink
    link = kind(redis_url.get_secret_value(), "judge-limits", call_s=_CALL_S, connect_s=_CALL_S, max_calls=1)
    sharing = LimitSharing(link, asyncio.get_running_loop().time)
    task = asyncio.create_task(sharing.run())
    try:
        yield sharing.limits
    finally:
        await cancel(task)
        await sharing.close()
