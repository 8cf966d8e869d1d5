"""Limits how much work is in flight at once, counted in items and bytes.

A request that does not fit is refused at once and as a whole. The refusal says when it is worth trying again. So no
queue grows without a bound. Bytes are reserved before a body is read, and items as soon as they are counted.

No tenant fills the room (`fairness.Room`), so that nobody keeps others out.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from fairness import TENANT, Room
from service.errors import BadRequest, Overloaded, ShuttingDown
from service.limits.keys import CALLER
from service.limits.open_calls import OpenCalls
from service.limits.rate_limits import RateLimits
from service.system_random import SYSTEM_RANDOM

_MIN_RETRY_S, _MAX_RETRY_S = 1.0, 30.0
_MAX_DIGITS = 9


class Admission:
    """The permits of this process. It runs in one thread and needs no lock."""

    def __init__(self, max_items: int, max_bytes: int, max_connections: int = 65_536) -> None:
        self._items = Room(max_items)
        self._bytes = Room(max_bytes)
        self.requests = 0
        self.draining = False
        """Whether nothing is admitted any more."""
        self.leaving = False
        """Whether callers should go elsewhere from now on, though they are still admitted."""
        self._left_at = 0.0
        self.calls = OpenCalls(max_connections)
        self.rate_limits = RateLimits()
        self._items_per_s = 0.0
        self._freed = asyncio.Event()

    @property
    def items(self) -> int:
        return self._items.all

    @property
    def bytes(self) -> int:
        return self._bytes.all

    def enter(self) -> "Permit":
        """A permit that holds nothing yet; use it as a context manager.

        Raises:
            ShuttingDown: the service has stopped admitting.
        """
        self.check()
        return Permit(self)

    def check(self) -> None:
        """Refuse when the service is shutting down.

        Raises:
            ShuttingDown
        """
        if self.draining:
            raise ShuttingDown("this replica is shutting down; send the request to another replica", retry_after_s=1.0)

    def permit(self) -> "Permit":
        """A permit like that of `enter`, for work that has been admitted already."""
        return Permit(self)

    async def leave(self, notice_s: float) -> None:
        """Send callers elsewhere from now on. Returns when they have had `notice_s` seconds to notice, counted from the
        first call.
        """
        clock = asyncio.get_running_loop().time
        if not self.leaving:
            self.leaving, self._left_at = True, clock()
        await asyncio.sleep(max(0.0, self._left_at + notice_s - clock()))

    async def idle(self) -> None:
        """Wait until no request is in flight."""
        while self.requests:
            await self.freed()

    async def freed(self) -> None:
        """Wait until a request gives back items or bytes."""
        self._freed.clear()
        await self._freed.wait()

    @contextlib.contextmanager
    def unsent(self, nbytes: int) -> Iterator[None]:
        """Count bytes of an answer that waits to be read by its caller, while the block lasts. They are there already, so
        they are not refused; what comes next is.
        """
        tenant = TENANT.get()
        self._bytes.take(tenant, nbytes)
        try:
            yield
        finally:
            self.give(0, nbytes, 0, tenant)

    def give(self, items: int, nbytes: int, requests: int, tenant: str) -> None:
        self._items.take(tenant, -items)
        self._bytes.take(tenant, -nbytes)
        self.requests -= requests
        self._freed.set()

    def observe_rate(self, items: int, seconds: float) -> None:
        """Note a finished request. `Retry-After` is computed from such notes."""
        rate = items / max(seconds, 1e-3)
        self._items_per_s += 0.1 * (rate - self._items_per_s)

    def check_room(self, items: int) -> None:
        """Refuse items that do not fit before they are read.

        This reserves nothing: a caller that only announces items must not keep others out.

        Raises:
            Overloaded
        """
        self._check_room(items, 0, TENANT.get())

    def take(self, items: int, nbytes: int, tenant: str) -> None:
        self._check_room(items, nbytes, tenant)
        self._items.take(tenant, items)
        self._bytes.take(tenant, nbytes)

    def _check_room(self, items: int, nbytes: int, tenant: str) -> None:
        if not (self._items.fits(tenant, items) and self._bytes.fits(tenant, nbytes)):
            raise Overloaded(
                f"{self.items} items and {self.bytes / 1e6:.1f} MB are in flight, "
                f"{self._items.held(tenant)} and {self._bytes.held(tenant) / 1e6:.1f} MB of them yours; at most "
                f"{self._items.most} items and {self._bytes.most / 1e6:.0f} MB may be, and some room is kept for others",
                retry_after_s=self._retry_after_s(),
            )

    def _retry_after_s(self) -> float:
        """The time in which about half of the work in flight will be done. It has jitter, so that callers do not come
        back all at once.
        """
        expected = self.items / 2 / self._items_per_s if self._items_per_s else _MIN_RETRY_S
        return min(max(expected, _MIN_RETRY_S), _MAX_RETRY_S) * SYSTEM_RANDOM.uniform(1.0, 1.5)


class Permit:
    """The items and bytes that one request holds. They are given back when the `with` block ends."""

    __slots__ = ("_admission", "_bytes", "_caller", "_charged", "_items", "_tenant")

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._caller = CALLER.get()
        self._tenant = TENANT.get()
        self._items = 0
        self._bytes = 0
        self._charged = 0

    def __enter__(self) -> Self:
        self._admission.requests += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._admission.give(self._items, self._bytes, 1, self._tenant)
        self._admission.rate_limits.give(self._caller, self._charged)

    def add(self, *, items: int = 0, nbytes: int = 0) -> None:
        """Hold more items and bytes.

        Raises:
            Overloaded: the work does not fit, or is more than the caller's key may ask for.
        """
        self._admission.take(items, nbytes, self._tenant)
        try:
            self.charge(items)
        except Overloaded:
            self._admission.give(items, nbytes, 0, self._tenant)
            raise
        self._items += items
        self._bytes += nbytes

    def charge(self, items: int) -> None:
        """Charge items to the key of the caller. `add` does this for its items.

        Raises:
            Overloaded: the key asks for more than it may.
        """
        if items:
            self._admission.rate_limits.take(self._caller, items)
            self._charged += items

    def hold(self, nbytes: int) -> None:
        """Hold more bytes, for what decoding makes of a body.

        Raises:
            Overloaded: they do not fit.
        """
        self.add(nbytes=nbytes)

    async def reserve(self, nbytes: int) -> None:
        """Hold more bytes: `add` as a coroutine."""
        self.add(nbytes=nbytes)

    async def reserve_when_possible(self, nbytes: int) -> None:
        await self.add_when_possible(nbytes=nbytes)

    async def add_when_possible(self, *, items: int = 0, nbytes: int = 0) -> None:
        """Hold more items and bytes as soon as they fit, for callers that wait instead of being refused."""
        while True:
            try:
                self.add(items=items, nbytes=nbytes)
            except Overloaded as refusal:
                with contextlib.suppress(TimeoutError):  # waiting keeps the key's rate, whatever is given back
                    async with asyncio.timeout(refusal.retry_after_s):
                        await self._admission.freed()
            else:
                return


def announced(count: str | bytes | None, limit: int) -> int:
    """The number of items that a request announces (`X-Item-Count`), at most the number that a request may bring.
    Without the header it is one.

    Raises:
        BadRequest: it announces something else.
    """
    if count is None:
        return 1
    if len(count) > _MAX_DIGITS or not (count.isascii() and count.isdigit()):
        text = count.decode("latin-1") if isinstance(count, bytes) else count
        raise BadRequest(
            f"X-Item-Count: {text[:40]!r} is not a number of items; send one whole number, such as 64, or leave it out"
        )
    return max(1, min(int(count), limit))
