"""Calls that are being answered, and how they end when the service shuts down.

A server that just stops breaks its calls off: callers see a plain 500 or a reset, which say nothing. So each open call
is first refused in the way of its door. The refusal says that nothing was judged and that another replica can judge it.

A call over HTTP holds a connection while it is answered, and a websocket for as long as it is open. No tenant holds all
that this process may have (`fairness.Room`).
"""

import asyncio
import contextlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final, Self

from fairness import TENANT, Room
from service.errors import Overloaded, ShuttingDown

RETRY_AFTER_S: Final = 1.0


class OpenCalls:
    """The calls that both doors are answering. It runs in one thread and needs no lock."""

    def __init__(self, max_connections: int) -> None:
        self._connections = Room(max_connections)
        self._tasks: set[asyncio.Task[Any]] = set()
        self.is_over = False
        """Whether the service no longer waits for calls. New ones are refused."""

    def track(self) -> "OpenCall":
        """A call from its head to its answer. Use it as a context manager around everything that its task does.

        Raises:
            ShuttingDown: the call was ended, or came after the end of calls.
        """
        return OpenCall(self)

    @contextlib.contextmanager
    def connected(self) -> Iterator[None]:
        """Count a connection of the current tenant.

        Raises:
            Overloaded: the tenant has too many.
        """
        tenant, room = TENANT.get(), self._connections
        if not room.fits(tenant, 1):
            raise Overloaded(
                f"{room.all} calls are open, {room.held(tenant)} of them yours; at most {room.most} may be, and no more of "
                "yours; send fewer at once",
                retry_after_s=RETRY_AFTER_S,
            )
        room.take(tenant, 1)
        try:
            yield
        finally:
            room.take(tenant, -1)

    async def wait_until_answered(self, timeout_s: float) -> None:
        """Wait until calls with all items judged have been answered. An idle call never ends by itself."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout_s)

    def end(self) -> int:
        """End all calls. Returns how many there were."""
        self.is_over = True
        for task in self._tasks:
            task.cancel()
        return len(self._tasks)

    def enter(self, task: asyncio.Task[Any]) -> None:
        if self.is_over:
            raise refusal()
        self._tasks.add(task)

    def leave(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)


class OpenCall:
    """One call that is being answered."""

    __slots__ = ("_calls", "_task")

    def __init__(self, calls: OpenCalls) -> None:
        self._calls = calls
        task = asyncio.current_task()
        assert task is not None
        self._task = task

    def __enter__(self) -> Self:
        self._calls.enter(self._task)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._calls.leave(self._task)
        if isinstance(error, asyncio.CancelledError) and self._calls.is_over and self._task.uncancel() == 0:
            raise refusal() from None


def refusal() -> ShuttingDown:
    return ShuttingDown(
        "this replica shut down before the request was done; send it to another replica", retry_after_s=RETRY_AFTER_S
    )
