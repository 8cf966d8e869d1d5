"""Tenants share what there is, by weight: they take turns wherever work waits, and none fills a room that others need.

    Turns, FairLock   who is next: for workers, for boxes, for judges' endpoints, for background jobs
    Room              who may have more: items and bytes in flight, what is kept, calls that are open

Turns are start-time fair queueing (Goyal, Vin and Cheng, 1996): what a tenant is served moves its time on by cost / weight,
and the tenant whose time is least is next. A tenant that begins to wait starts at the time of the one served last, so
that nobody saves up turns. A tenant with weight 2 is served twice as much as one with weight 1 while both wait.
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from contextvars import ContextVar
from types import TracebackType
from typing import Final

DEFAULT: Final = "default"
"""The tenant of a service without keys."""
TENANT: ContextVar[str] = ContextVar("tenant", default=DEFAULT)
"""The tenant whose work is being done."""
WEIGHTS: Final[dict[str, int]] = {}
"""The weights of tenants in this process. Who is not named has 1."""
UNNAMED: Final = ""
"""In `WEIGHTS` it stands for all tenants that nothing names: those of tokens and certificates."""
_OF_WHAT_IS_FREE: Final = 3
"""A tenant may hold so many times what it leaves free, times its weight: three quarters if nobody else holds anything."""
_KEPT: Final = 1024
"""Tenants whose times are remembered, at most. Half of them are then forgotten: those that are next anyway."""


def weight_of(tenant: str) -> int:
    return WEIGHTS.get(tenant, 1)


def share_of(tenant: str) -> int | None:
    """How many times what it leaves free of a room the tenant may hold. None: it is the only one that there can be, and
    may fill the room.
    """
    is_named = tenant in WEIGHTS
    is_alone = len(WEIGHTS) == is_named and (is_named or tenant == DEFAULT)
    return None if is_alone else _OF_WHAT_IS_FREE * weight_of(tenant)


class Room:
    """A room for `most` things, or bytes, and what each tenant holds of it.

    Nobody fills it: what a tenant holds is bounded by what is free (the dynamic thresholds of Choudhury and Hahne, 1998).
    So a tenant that comes finds room, and two that want all of it come to have it by weight. Whoever holds nothing gets
    whatever fits.
    """

    def __init__(self, capacity: int) -> None:
        self.most = capacity
        self.all = 0
        """What all tenants hold."""
        self._held: dict[str, int] = {}

    def held(self, tenant: str) -> int:
        return self._held.get(tenant, 0)

    def fits(self, tenant: str, amount: int) -> bool:
        """Whether the tenant may have so much more. Giving back is always possible."""
        held_now, free = self.held(tenant), self.most - self.all - amount
        if amount <= 0:
            return True
        share = share_of(tenant)
        return free >= 0 and (not held_now or share is None or held_now + amount <= share * free)

    def take(self, tenant: str, amount: int) -> None:
        """Note that the tenant has so much more, or less if negative."""
        held_now = self._held.pop(tenant, 0) + amount
        if held_now:
            self._held[tenant] = held_now
        self.all += amount

    def kept_out(self) -> list[str]:
        """The tenants that hold something and may not have one more."""
        return [tenant for tenant in self._held if not self.fits(tenant, 1)]


class Turns:
    """Whose turn it is, among the tenants that wait for one thing."""

    def __init__(self) -> None:
        self._now = 0.0
        self._due: dict[str, float] = {}
        """The times of tenants. Those before `_now` mean nothing any more."""

    def due(self, tenant: str) -> float:
        """The tenant's time. Who has the least is next."""
        return max(self._now, self._due.get(tenant, 0.0))

    def next(self, waiting: Iterable[str]) -> str:
        """The tenant whose turn it is, among those that wait. Between equals the first is taken."""
        return min(waiting, key=self.due)

    def charge(self, tenant: str, cost: float) -> None:
        """Note that the tenant, whose turn it was, is served. `cost` has any unit that all tenants share; it may be an
        estimate, which `correct` makes good.
        """
        self._now = self.due(tenant)
        self.correct(tenant, cost)

    def correct(self, tenant: str, cost: float) -> None:
        """Note that what the tenant was served cost so much more than was charged, or less if negative."""
        self._due[tenant] = self.due(tenant) + cost / weight_of(tenant)
        if len(self._due) > _KEPT:
            latest = sorted(self._due.items(), key=lambda entry: entry[1])[-_KEPT // 2 :]
            self._due = {name: due for name, due in latest if due > self._now}


class FairLock:
    """A lock that tenants get in turn, each for the first of its tasks that wait. `places` tasks may have it at once."""

    def __init__(self, slots: int = 1) -> None:
        self._turns = Turns()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._free = slots

    async def __aenter__(self) -> None:
        tenant = TENANT.get()
        if self._free:
            self._free -= 1
            self._turns.charge(tenant, 1.0)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._pass_on()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        while self._waiting:
            tenant = self._turns.next(self._waiting)
            line = self._waiting[tenant]
            turn = line.popleft()
            if not line:
                del self._waiting[tenant]
            if not turn.done():
                self._turns.charge(tenant, 1.0)
                turn.set_result(None)
                return
        self._free += 1
