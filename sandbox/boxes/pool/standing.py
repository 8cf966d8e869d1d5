"""Runs that stand ready: they have read the beginning of their input (`Execute.ahead`) and wait for the rest.

    the second run with the same beginning ──► make, in a box of its own, beside the slots
    the next one                           ──► take, and another is made in its place

There are never more than `most`. If there is no room, one makes room whose beginning was not asked for lately. Owners of
programs share none: that one stands ready would tell an owner what another had asked for.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Final

from sandbox.base import Execute, Run, SandboxUnavailable
from sandbox.boxes.pool.job import Ending, Job
from sandbox.boxes.pool.pooled_box import PooledBox
from sandbox.boxes.pool.programs import Plan

_MOST_KEYS: Final = 256
_LATELY: Final = 32
"""So many of the last runs with a beginning count as lately."""


@dataclass(frozen=True, slots=True, eq=False)
class StandingRun:
    """One such run. Whoever takes it must lend or discard its box."""

    box: PooledBox
    job: Job

    @property
    def is_waiting(self) -> bool:
        """Whether it can still be given the rest of its input."""
        return not self.job.ending.done()


class StandingRuns:
    """The runs of one pool that stand ready. `close` ends the making of more."""

    def __init__(
        self,
        capacity: int,
        make: Callable[[Plan, Execute], Awaitable[StandingRun]],
        end: Callable[[StandingRun], None],
    ) -> None:
        """Begin with none.

        Args:
            capacity: How many there may be.
            make: Begins such a run; raises `SandboxUnavailable`.
            end: Destroys the box of one that nobody took.
        """
        self._most = capacity
        self._make = make
        self._end = end
        self._ready: dict[StandingRun, Hashable] = {}
        self._making: set[asyncio.Task[None]] = set()
        self._numbers = count()
        self._asked: dict[Hashable, int] = {}
        """The number of the last run with each beginning; the latest come last."""

    @property
    def ready(self) -> int:
        """How many have been begun and wait for their input."""
        return sum(run.job.is_waiting for run in self._ready)

    def take(self, plan: Plan, runs: Sequence[Run]) -> StandingRun | None:
        """A run with the beginning that these runs want, if there is one. Begin to make the next one."""
        key = self._key(plan, runs)
        if key is None:
            return None
        ready = next((run for run, its_key in self._ready.items() if its_key == key and run.is_waiting), None)
        if ready is not None:
            del self._ready[ready]
        is_known = self._asked.pop(key, None) is not None
        self._asked[key] = next(self._numbers)
        if len(self._asked) > _MOST_KEYS:
            del self._asked[next(iter(self._asked))]
        if is_known and self._has_room(key):
            (run,) = runs
            assert isinstance(run, Execute)
            task = asyncio.get_running_loop().create_task(self._stand(key, plan, run))
            self._making.add(task)
            task.add_done_callback(self._making.discard)
        return ready

    async def close(self) -> None:
        """Stop making runs. Those that are ready end with their boxes."""
        self._most = 0
        while self._making:
            for task in self._making:
                task.cancel()
            await asyncio.wait(self._making)

    def _key(self, plan: Plan, runs: Sequence[Run]) -> Hashable:
        """What two runs must have in common; None if these runs cannot be prepared."""
        if self._most == 0 or not plan.language.run or plan.language.compile or plan.program.files or len(runs) != 1:
            return None
        (run,) = runs
        if not isinstance(run, Execute) or not run.ahead or run.files:
            return None
        run_key = (plan.source, run.ahead, tuple(run.arguments), tuple(run.fetch), run.limits)
        return (plan.program.owner, plan.language.name, *run_key)

    def _has_room(self, key: Hashable) -> bool:
        """Whether another run may be made. If need be, one makes room for it."""
        if len(self._ready) + len(self._making) < self._most:
            return True
        candidates = [run for run, its_key in self._ready.items() if its_key != key]
        oldest = min(candidates, key=lambda run: self._asked.get(self._ready[run], -1), default=None)
        if oldest is None or self._asked.get(self._ready[oldest], -1) > self._asked[key] - _LATELY:
            return False
        self._drop(oldest)
        return True

    async def _stand(self, key: Hashable, plan: Plan, run: Execute) -> None:
        try:
            standing_run = await self._make(plan, run)
        except SandboxUnavailable:
            return  # the next run with this beginning asks for one again
        self._ready[standing_run] = key
        standing_run.job.ending.add_done_callback(partial(self._on_end, standing_run))

    def _on_end(self, run: StandingRun, ending: "asyncio.Future[Ending]") -> None:
        if not ending.cancelled():
            ending.exception()  # of a run that nobody takes, nobody asks for it
        self._drop(run)

    def _drop(self, run: StandingRun) -> None:
        """End a run that nobody took."""
        if self._ready.pop(run, None) is not None:
            self._end(run)
