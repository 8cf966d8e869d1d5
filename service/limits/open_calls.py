"""Calls that are being answered, and how they end when the service stops waiting for them.

A server that just stops breaks them off: callers see a plain 500 or a reset, which say nothing. So each call is first
refused as its door refuses: nothing of it was judged, and another replica can judge it.
"""

import asyncio
from types import TracebackType
from typing import Any, Final, Self

from service.errors import ShuttingDown

RETRY_AFTER_S: Final = 1.0


class OpenCalls:
    """The calls that both doors are answering; single-threaded, so it needs no lock."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self.is_over = False
        """The service no longer waits for calls; new ones are refused."""

    def track(self) -> "OpenCall":
        """A call from its head to its answer; use it as a context manager around all that its task does.

        Raises:
            ShuttingDown: the call was ended, or came after that.
        """
        return OpenCall(self)

    async def wait_until_answered(self, timeout_s: float) -> None:
        """Let those whose items are all judged say so; one that is idle never ends by itself."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout_s)

    def end(self) -> int:
        """End all calls; how many there were."""
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
    """One call's."""

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
        "this replica has shut down before it was done; send the request to another", retry_after_s=RETRY_AFTER_S
    )
