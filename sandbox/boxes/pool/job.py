"""One program in one box: asks for runs as the answers come, and hands on each result as soon as it exists.

    load ──► loaded ──► run 0 ──► result 0 ──► runs 1 and 2 ──► result 1 ──► run 3 ── ... ──► unload ──► unloaded
                                                                                 caller has all ▲      box is free ▲

The second run is asked for before the first has ended only if the program has proved to be quick. So a caller that
stops at the first wrong result, or the first time-out, does not wait for another run. The caller is answered before the
box is emptied.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sandbox.base import Built, Execute, Exit, Limits, Run, RunResult, SandboxUnavailable, Tests
from sandbox.boxes.link import Link, Question
from sandbox.boxes.pool.compile_cache import Files
from sandbox.boxes.pool.messages import Loaded, Unloaded, frame, read_unloaded
from sandbox.boxes.pool.programs import Plan, rest

WINDOW: Final = 2
"""How many runs may be asked for and not yet answered."""
QUICK_S: Final = 0.05
"""If the last run took longer than this, the next runs are asked for one at a time."""
LEFTOVER_PATIENCE_S: Final = 0.25
"""How long an unwanted run may continue before its box is destroyed."""
UNLOAD_PATIENCE_S: Final = 10.0
_HARD_FACTOR: Final = 10
_HARD_EXTRA_S: Final = 30.0
"""A runner counts as dead when it has not answered after this factor times the backstop plus this many seconds. It ends
a run itself long before, and does not count time in which the machine did not let the run execute.
"""


class Loss(StrEnum):
    """Why a job gave no result. As far as is known, none of these is the program's fault."""

    DIED = "died"
    """The connection to the box was lost."""
    SILENT = "silent"
    UNJUDGED = "unjudged"
    """The runner itself says that the end of the run means nothing. The box is healthy."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The result of a job."""

    built: Built
    """As far as it is known."""
    loss: Loss | None = None
    why: str = ""
    position: int | None = None
    """The run that was under way when the box was lost; None: the program was being loaded."""
    is_of_memory: bool = False
    """The kernel killed the box because memory ran out."""


class Submission:
    """One call of `run`, across all boxes that it uses."""

    __slots__ = ("_on_result", "next", "runs", "wants_more")

    def __init__(self, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None) -> None:
        self.runs = runs
        self.next = 0
        """The first run without a result."""
        self.wants_more = bool(runs)
        self._on_result = on_result

    def deliver(self, result: RunResult) -> None:
        """Hand the result of the next run to the caller."""
        position = self.next
        self.next += 1
        goes_on = self._on_result is None or self._on_result(position, result)
        self.wants_more = goes_on and self.next < len(self.runs)


class Job:
    """Runs one submission in one box. `ending` is set once no more results will come."""

    __slots__ = (
        "_asked", "_built", "_core", "_is_over", "_is_unloading", "_left", "_link", "_loop", "_plan", "_position",
        "_submission", "_unloads", "_waits", "_window", "ending", "on_broken", "on_compiled", "on_emptied", "on_run",
        "patience_ends_s",
    )  # fmt: skip

    def __init__(
        self,
        link: Link,
        plan: Plan,
        submission: Submission,
        core: int | None,
        *,
        waits: bool = False,
        unloads: bool = True,
    ) -> None:
        """Make a job that `begin` begins.

        Args:
            link: To the runner of its box.
            plan: Of the program.
            submission: The runs.
            core: The processor that it is pinned to.
            waits: Its one run gets the rest of its input by `go_on`.
            unloads: The box is emptied for the next job. If not, it counts as emptied once the caller has an answer.
        """
        self._loop = asyncio.get_running_loop()
        self.ending: asyncio.Future[Ending] = self._loop.create_future()
        self.patience_ends_s = 0.0
        """On the loop's clock: when to call `lose` if no answer has come."""
        self.on_compiled: Callable[[Files], None] = _ignore
        self.on_run: Callable[[RunResult], None] = _ignore
        self.on_emptied: Callable[[bool], None] = _ignore
        """Called when the box can be lent again. True: the program had left processes in it, which the runner killed.
        """
        self.on_broken: Callable[[Loss], None] = _ignore
        """Called if the box turns out to be lost after the job's end."""
        self._link = link
        self._core = core
        self._plan = plan
        self._submission = submission
        self._built = Built(ok=False)
        self._position: int | None = None
        """The run whose result comes next, wanted or not."""
        self._asked = submission.next
        self._waits = waits
        self._unloads = unloads
        self._window = 1
        self._left = 0
        self._is_over = False
        self._is_unloading = False

    def begin(self, compiled: Files | None) -> None:
        """Load the program, with the compiler's earlier output if there is any."""
        self._link.when_lost(self._on_lost)
        self._built = Built(ok=False, cached=compiled is not None)
        self._expect(_patience_s(self._plan.compile_limits))
        self._link.ask(self._plan.load(compiled, self._on_loaded, core=self._core))

    def go_on(self, submission: Submission) -> None:
        """Give the run that waits the rest of its input: that of this submission's run, which gets its result."""
        self._submission = submission
        self._waits = False
        (run,) = submission.runs
        assert isinstance(run, Execute)
        if self._asked:
            self._link.tell(rest(run.stdin))
            self._expect_result()

    @property
    def is_waiting(self) -> bool:
        """Whether its run has begun, and waits for the rest of its input."""
        return self._waits and self._asked > 0

    def lose(self, loss: Loss, why: str) -> None:
        """Give up the box. Runs without a result stay without one."""
        self._link.close()
        self.patience_ends_s = math.inf
        if self._is_over:
            self.on_broken(loss)
        else:
            self._end(Ending(self._built, loss, why, self._position))

    def fail(self, error: SandboxUnavailable) -> None:
        """End the caller's wait with this error."""
        self._is_over = True
        if not self.ending.done():
            self.ending.set_exception(error)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be delivered, and the box is given back or lost. It may still be being emptied."""
        return self._is_over

    def _on_loaded(self, answer: tuple[Loaded, Files]) -> None:
        loaded, files = answer
        compiled = loaded.compile
        how = Exit.EXITED if compiled is None else compiled.exit
        if how is None and not loaded.ok:
            self._end_unjudged()
            return
        cpu_s = 0.0 if compiled is None else compiled.cpu_s
        self._built = Built(loaded.ok, loaded.message, how or Exit.EXITED, cpu_s, self._built.cached)
        if loaded.ok and files:
            self.on_compiled(files)
        try:
            self._continue()
        except ValueError as error:
            self._end_with(error)

    def _on_result(self, answer: tuple[RunResult | None, int]) -> None:
        result, leftovers = answer
        self._left += leftovers
        if self.ending.done():  # the result of a run asked for ahead, or the caller has just gone
            return
        if result is None:
            self._end_unjudged()
            return
        self.on_run(result)
        self._window = WINDOW if result.wall_s < QUICK_S else 1
        try:
            self._submission.deliver(result)
            self._continue()
        except Exception as error:  # noqa: BLE001  # not hidden: it ends the caller's call
            self._end_with(error)

    def _continue(self) -> None:
        """Ask for the next runs, if there are to be any.

        Raises:
            ValueError: a run cannot be encoded.
        """
        if not self._built.ok or not self._submission.wants_more:
            self._end(Ending(self._built))
            return
        self._position = self._submission.next
        self._ask_runs()

    def _ask_runs(self) -> None:
        runs = self._submission.runs
        while self._asked < min(len(runs), self._submission.next + self._window):
            run = runs[self._asked]
            self._asked += 1
            last = self._asked == len(runs)
            self._link.ask(self._plan.question(run, self._on_result, waits=self._waits, last=last))
        if self._waits:
            self.patience_ends_s = math.inf
        else:
            self._expect_result()

    def _expect_result(self) -> None:
        runs = self._submission.runs
        run = runs[self._submission.next]
        self._expect(_patience_s(self._plan.limits(run)) * (3 if isinstance(run, Tests) else 1))
        if self._asked == len(runs) and self._unloads:
            self._unload()

    def _end(self, ending: Ending) -> None:
        """Answer the caller. After that, empty the box, if it still exists."""
        if not self.ending.done():
            self.ending.set_result(ending)
        if ending.loss in (None, Loss.UNJUDGED):
            self._is_over = True
            self._empty_soon()

    def _end_with(self, error: Exception) -> None:
        if not self.ending.done():
            self.ending.set_exception(error)
        self._is_over = True
        self._empty_soon()

    def _end_unjudged(self) -> None:
        why = "the machine killed it or gave it no CPU time"
        self._end(Ending(self._built, Loss.UNJUDGED, why, self._position))

    def _empty_soon(self) -> None:
        has_leftover = self._asked > self._submission.next
        self._expect(LEFTOVER_PATIENCE_S if has_leftover else UNLOAD_PATIENCE_S)
        self._unload()

    def _unload(self) -> None:
        if not self._unloads:
            self.on_emptied(self._left > 0)
        elif not self._is_unloading:
            self._is_unloading = True
            self._link.ask(Question(frame("unload", {}), read_unloaded, self._on_unloaded))

    def _on_unloaded(self, _unloaded: Unloaded) -> None:
        self.on_emptied(self._left > 0)

    def _on_lost(self, why: str) -> None:
        self.lose(Loss.DIED, why)

    def _expect(self, patience_s: float) -> None:
        self.patience_ends_s = self._loop.time() + patience_s


def _patience_s(limits: Limits) -> float:
    return _HARD_FACTOR * limits.backstop_s + _HARD_EXTRA_S


def _ignore(_: object) -> None:
    pass
