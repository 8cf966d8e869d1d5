"""Gathers single calls made at almost the same time into one request (micro-batching).

A trainer that scores sample by sample would otherwise pay for one request per sample. The first call opens a group and
waits for the length of the window; later calls join. A bad item of one caller costs the others nothing.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from rewardline.batching import Entry
from rewardline.errors import RequestError, RewardlineError
from rewardline.results import Result
from rewardline.retry import Deadline


class RequestOptions(NamedTuple):
    """What a request says once for all its items. Only calls with equal options share a request."""

    deadline_s: float
    cache: str
    explain: bool
    run_id: str | None


class _Waiting(NamedTuple):
    entry: Entry
    future: asyncio.Future[Result]


class _Group:
    def __init__(self, options: RequestOptions) -> None:
        self.options = options
        self.deadline = Deadline(options.deadline_s)
        self.waiting: list[_Waiting] = []
        self.size = 0
        self.timer: asyncio.TimerHandle | None = None
        self.task: asyncio.Task[None] | None = None


Judge = Callable[[list[Entry], RequestOptions, Deadline, Callable[[Entry, Result], None]], Awaitable[None]]


class Gatherer:
    """The open and the sent groups of one event loop."""

    def __init__(self, judge: Judge, window_s: float, max_items: int, max_bytes: int) -> None:
        self._judge = judge
        self._window_s = window_s
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._open: dict[RequestOptions, _Group] = {}
        self._sent: set[_Group] = set()

    async def score(self, entry: Entry, options: RequestOptions) -> Result:
        loop = asyncio.get_running_loop()
        group = self._open.get(options)
        if group is not None and group.size + entry.payload.size > self._max_bytes:
            self._send(group)
            group = None
        if group is None:
            group = self._open[options] = _Group(options)
            if self._window_s > 0:
                group.timer = loop.call_later(self._window_s, self._send, group)
        waiting = _Waiting(entry, loop.create_future())
        group.waiting.append(waiting)
        group.size += entry.payload.size
        if self._window_s <= 0 or len(group.waiting) >= self._max_items:
            self._send(group)
        try:
            return await waiting.future
        except asyncio.CancelledError:
            self._leave(group)
            raise

    async def close(self) -> None:
        """End all groups. Callers that still wait get a RuntimeError."""
        groups = [*self._open.values(), *self._sent]
        self._open.clear()
        for group in groups:
            if group.timer is not None:
                group.timer.cancel()
            for waiting in group.waiting:
                if not waiting.future.done():
                    waiting.future.set_exception(RuntimeError("the client was closed during the call"))
        tasks = [group.task for group in groups if group.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _send(self, group: _Group) -> None:
        if self._open.get(group.options) is group:
            del self._open[group.options]
        if group.timer is not None:
            group.timer.cancel()
        group.waiting = [waiting for waiting in group.waiting if not waiting.future.done()]
        if not group.waiting:
            return
        self._sent.add(group)
        group.task = asyncio.get_running_loop().create_task(self._settle(group, group.waiting))
        group.task.add_done_callback(lambda _: self._sent.discard(group))

    def _leave(self, group: _Group) -> None:
        """Cancel the request of a group that no caller waits for any more."""
        if group.task is not None and all(waiting.future.done() for waiting in group.waiting):
            group.task.cancel()

    async def _settle(self, group: _Group, waiting: list[_Waiting]) -> None:
        """Give every future a result or an error. A request that was refused for one item is halved until that item is alone."""
        futures = {id(waiter.entry): waiter.future for waiter in waiting}

        def emit(entry: Entry, result: Result) -> None:
            future = futures[id(entry)]
            if not future.done():
                future.set_result(result)

        try:
            await self._judge([waiter.entry for waiter in waiting], group.options, group.deadline, emit)
        except Exception as error:  # noqa: BLE001 - the callers get it, whatever it is
            unsettled = [waiter for waiter in waiting if not waiter.future.done()]
            if isinstance(error, RequestError) and error.about_items and len(waiting) > 1:
                half = (len(unsettled) + 1) // 2
                await asyncio.gather(
                    *(self._settle(group, part) for part in (unsettled[:half], unsettled[half:]) if part),
                )
                return
            for waiter in unsettled:
                waiter.future.set_exception(copy.copy(error) if isinstance(error, RewardlineError) else error)
