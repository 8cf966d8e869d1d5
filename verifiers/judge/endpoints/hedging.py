"""Doubles a late call: another endpoint is asked too, and the answer that comes first counts ("The Tail at Scale", Dean
and Barroso, 2013).

A call is late once the other endpoint would have answered 95 of 100 calls. Each call adds a share to the budget, and each
second call takes one from it, so that an endpoint that hangs costs little, and the last calls of a step find a budget
that the calls before them have filled.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from verifiers.judge.endpoints.faults import Fault

T = TypeVar("T")

_MOST_SAVED = 100.0
"""The most second calls that a budget saves up."""
_AT_LEAST_S = 0.001


class HedgeBudget:
    """Allows a share of all calls to be doubled, and one call more."""

    def __init__(self, share: float) -> None:
        self._share = share
        self._saved = 1.0 if share else 0.0

    def called(self) -> None:
        self._saved = min(self._saved + self._share, _MOST_SAVED)

    @property
    def is_open(self) -> bool:
        return self._saved >= 1.0

    def take(self) -> None:
        self._saved -= 1.0


class Race(Generic[T]):
    """One call, and from `late_s` on a second one if `begin` gives one. `begin` is asked again after each `late_s`.

    `first_lost` is called when the second call has won. The other call is cancelled.
    """

    def __init__(
        self,
        late_s: float,
        begin: Callable[[], asyncio.Task[T | Fault] | None],
        first_lost: Callable[[], None],
    ) -> None:
        self._late_s = max(late_s, _AT_LEAST_S)
        self._begin = begin
        self._first_lost = first_lost
        self._second: asyncio.Task[T | Fault] | None = None
        self._is_over = False
        self._has_won = False

    async def run(self, first: Coroutine[Any, Any, T | Fault]) -> T | Fault:
        """The outcome of the race: a fault only if neither call has an answer."""
        task = asyncio.current_task()
        assert task is not None
        self._task, cancels = task, task.cancelling()
        self._await_lateness()
        try:
            outcome = await first
        except BaseException as error:
            self._end()
            if self._second is None:
                raise
            if isinstance(error, asyncio.CancelledError) and self._has_won and task.uncancel() <= cancels:
                self._first_lost()
                return self._second.result()
            await self._stop_second()
            raise
        self._end()
        if self._second is None:
            return outcome
        if not isinstance(outcome, Fault):
            await self._stop_second()
            return outcome
        try:
            return await self._second
        except BaseException:
            await self._stop_second()
            raise

    def _await_lateness(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._late_s, self._late)

    def _late(self) -> None:
        self._second = self._begin()
        if self._second is None:
            self._await_lateness()
        else:
            self._second.add_done_callback(self._second_ended)

    def _second_ended(self, second: "asyncio.Task[T | Fault]") -> None:
        if self._is_over or second.cancelled() or second.exception() or isinstance(second.result(), Fault):
            return
        self._has_won = True
        self._task.cancel()

    def _end(self) -> None:
        self._is_over = True
        self._timer.cancel()

    async def _stop_second(self) -> None:
        if self._second is not None:
            self._second.cancel()
            await asyncio.wait([self._second])
