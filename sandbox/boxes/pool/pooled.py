"""`PooledSandbox`: a sandbox built from reusable boxes, and the rules for what a box's death says about a program.

    in a box that other programs used before
        ──► it died, was silent, or the runner could not judge: the rest again, in a box of its own
    in a box made for this program, used by no other
        ──► killed because memory ran out: that run's memory limit
        ──► lost at the same run again: `SandboxUnavailable`
        ──► lost at another run: that run gets its second box too

So no result is ever caused by another program in the box, nor by a death of unknown cause.
"""

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from sandbox.base import Built, Execute, Exit, Isolation, Program, Run, RunResult, Sandbox, SandboxUnavailable
from sandbox.boxes.backend import Backend
from sandbox.boxes.pool.box_pool import BoxPool, PoolSettings
from sandbox.boxes.pool.compile_cache import CompileCache, Files
from sandbox.boxes.pool.counters import Counters, Reason
from sandbox.boxes.pool.job import Ending, Job, Loss, Submission
from sandbox.boxes.pool.pooled_box import PooledBox
from sandbox.boxes.pool.programs import Plan
from sandbox.boxes.pool.standing import StandingRun, StandingRuns
from sandbox.languages import all_languages
from tracing import spans

MAX_LOSSES: Final = 4
"""How many boxes one program may lose for unknown reasons, each at another of its runs."""

_AHEAD_IF_FRESH: Final = 2
_FIRST_GUESS_S: Final = 0.005
_PACE_WEIGHT: Final = 0.05
_MAX_STDERR_CHARS: Final = 500
_CAUSE_PATIENCE_S: Final = 5.0
"""How long it may take to find out why a box died."""


class PooledSandbox(Sandbox):
    """Boxes of one backend, lent to one program at a time."""

    def __init__(
        self,
        backend: Backend,
        *,
        slots: int,
        ready: int | None = None,
        fresh: bool = False,
        jobs_per_box: int = 500,
        box_max_age_s: float = 900.0,
        compile_cache_mb: int = 256,
        queue_limit_s: float = 120.0,
        standing: int = 0,
    ) -> None:
        """Store the settings; `start` makes the boxes.

        Args:
            backend: Makes the boxes.
            slots: How many boxes may work at once.
            ready: Plain boxes made ahead; None: one for each slot, or two if each is used once: a new box waits for the
                kernel longer than it works.
            fresh: Each program gets a box of its own, made ahead and used once.
            jobs_per_box: How many programs a box is used for.
            box_max_age_s: Age at which a box is replaced.
            compile_cache_mb: Size of the cache of compiler output.
            queue_limit_s: Estimated work that may wait for each slot. Beyond it, calls are refused as sandbox_busy.
            standing: How many runs may stand ready beside the slots, with the beginning of their input read.
        """
        self.counters = Counters()
        self._backend = backend
        self._slots = slots
        if ready is None:
            ready = slots * (_AHEAD_IF_FRESH if fresh else 1)
        settings = PoolSettings(slots, ready, fresh, jobs_per_box, box_max_age_s, queue_limit_s)
        self._pool = BoxPool(backend, settings, self.counters)
        self._standing = StandingRuns(standing, self._stand, self._end_standing)
        self._cache = CompileCache(compile_cache_mb << 20)
        self._pace_s: dict[str, float] = {}
        self._is_started = False

    async def start(self) -> None:
        """Make the boxes that are to be ready. Do nothing the second time.

        Raises:
            SandboxUnavailable: none could be made.
        """
        if self._is_started:
            return
        self._is_started = True
        await self._pool.open()
        self.isolation = self._backend.isolation
        self.caveats = self._backend.caveats

    async def stop(self) -> None:
        if self._is_started:
            await self._standing.close()
            await self._pool.close()

    @property
    def languages(self) -> frozenset[str]:
        if self._pool.hello is None:
            return frozenset()
        programs = frozenset(self._pool.hello.programs)
        has_proc = self._backend.isolation is not Isolation.LANDLOCK
        return frozenset(
            name
            for name, language in all_languages().items()
            if programs.issuperset(language.needs) and (has_proc or not language.needs_proc)
        )

    @property
    def slots(self) -> int:
        return self._slots

    @property
    def busy(self) -> int:
        """Slots in use."""
        return self._pool.busy

    @property
    def waiting(self) -> int:
        """Programs that wait for a box."""
        return self._pool.waiting

    @property
    def trouble(self) -> str:
        """Why programs are refused just now: boxes were lost and none can be made. Empty while all is well."""
        return self._pool.trouble

    @property
    def standing(self) -> int:
        """Runs that stand ready, with the beginning of their input read."""
        return self._standing.ready

    @property
    def ready(self) -> int:
        """Boxes that wait for a program."""
        return self._pool.ready

    @spans.traced("program in a box")
    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        """See `Sandbox.run`. `on_result` must be quick: the event loop waits for it.

        Raises:
            SandboxUnavailable: see there.
            ValueError: the runs do not fit together, a function has an invalid name, or a path or text cannot be sent.
        """
        if program.language not in self.languages:
            raise SandboxUnavailable(
                f"{program.language!r} cannot be run here{_lacking(program.language)}; there are {sorted(self.languages)}",
                "language_unavailable",
            )
        spans.note(language=program.language, runs=len(runs))
        plan = Plan.of(program, runs)
        submission = Submission(runs, on_result)
        lost_at: set[int | None] = set()
        while True:
            ending = await self._attempt(plan, submission, alone=bool(lost_at))
            if ending.loss is None:
                return _consistent(ending.built, submission)
            if ending.is_of_memory and lost_at:
                if ending.position is None:
                    return Built(ok=False, message="the box's memory was used up", exit=Exit.MEMORY_LIMIT)
                self._deliver_memory_limit(submission)
                if not submission.wants_more:
                    return ending.built
            elif ending.position in lost_at or len(lost_at) >= MAX_LOSSES:
                raise _unavailable(ending)
            lost_at.add(ending.position)
            self.counters.jobs_again += 1

    async def _attempt(self, plan: Plan, submission: Submission, *, alone: bool) -> Ending:
        """Do the runs without a result in one box, as far as it gets."""
        first = submission.next
        pace_s = self._pace_s.get(plan.language.name, _FIRST_GUESS_S)
        work_s = pace_s * (len(submission.runs) - first + 1)
        with spans.span("wait for a box"):
            standing = None if alone else await self._lend_standing(plan, submission, work_s)
            box = await self._pool.acquire(plan.profile, work_s, alone=alone) if standing is None else standing.box
        began_s = asyncio.get_running_loop().time()
        ending = await self._in_box(box, plan, submission, None if standing is None else standing.job)
        spent_s = (asyncio.get_running_loop().time() - began_s) / (submission.next - first + 1)
        self._pace_s[plan.language.name] = pace_s + _PACE_WEIGHT * (spent_s - pace_s)
        return ending

    async def _lend_standing(self, plan: Plan, submission: Submission, work_s: float) -> StandingRun | None:
        """A run that stands ready, with a slot. None: there is none, or it ended before there was a slot."""
        ready = self._standing.take(plan, submission.runs)
        if ready is None:
            return None
        await self._pool.lend(ready.box, work_s)
        if ready.is_waiting:
            return ready
        self._end_standing(ready)
        return None

    async def _stand(self, plan: Plan, run: Execute) -> StandingRun:
        box = await self._pool.make_standing(plan.profile)
        job = self._job(box, plan, Submission([run], None), waits=True)
        job.begin(None)
        return StandingRun(box, job)

    def _end_standing(self, run: StandingRun) -> None:
        self._pool.discard(run.box, Reason.JOBS)

    async def _in_box(self, box: PooledBox, plan: Plan, submission: Submission, standing: Job | None = None) -> Ending:
        """Do the runs in a box, by a new job or by one that stands ready."""
        missing = sorted(plan.needs.difference(box.hello.preloaded))
        if missing:
            self._pool.release(box, left_processes=False)
            raise SandboxUnavailable(f"the boxes lack the Python modules {', '.join(missing)}", "language_unavailable")
        job = standing or self._job(box, plan, submission)
        try:
            if standing is None:
                job.begin(self._compiled_before(plan))
            else:
                job.go_on(submission)
            ending = await job.ending
            return ending if ending.loss in (None, Loss.UNJUDGED) else await self._find_cause_and_destroy(box, ending)
        except BaseException:
            if box.job is job and not job.is_over:  # otherwise the box may already be lent to another program
                self._pool.discard(box, Reason.CANCELLED)
            raise

    def _job(self, box: PooledBox, plan: Plan, submission: Submission, *, waits: bool = False) -> Job:
        self.counters.jobs += 1
        job = Job(box.link, plan, submission, box.core, waits=waits, unloads=not box.is_for_once)
        job.on_run = self._count
        job.on_emptied = partial(self._pool.release, box)
        job.on_broken = partial(self._discard, box)
        if plan.cache_key is not None:
            job.on_compiled = partial(self._cache.put, plan.cache_key)
        box.job = job
        return job

    def _compiled_before(self, plan: Plan) -> Files | None:
        if plan.cache_key is None:
            return None
        files = self._cache.get(plan.cache_key)
        if files is None:
            self.counters.compile_cache_misses += 1
        else:
            self.counters.compile_cache_hits += 1
        return files

    async def _find_cause_and_destroy(self, box: PooledBox, ending: Ending) -> Ending:
        """Find out why the box died, and destroy it."""
        of_memory, stderr_text = False, ""
        try:
            if ending.loss is Loss.DIED:
                async with asyncio.timeout(_CAUSE_PATIENCE_S):
                    of_memory = await box.box.died_of_memory()
                    stderr_text = box.link.stderr_text or await box.box.stderr_text()
        except (TimeoutError, SandboxUnavailable):
            stderr_text = "the cause is unknown"
        finally:
            self._pool.discard(box, Reason.MEMORY if of_memory else _reason(ending.loss))
        why = f"{ending.why}. {stderr_text[-_MAX_STDERR_CHARS:]}".rstrip(". ")
        return dataclasses.replace(ending, is_of_memory=of_memory, why=why)

    def _discard(self, box: PooledBox, loss: Loss) -> None:
        self._pool.discard(box, _reason(loss))

    def _count(self, result: RunResult) -> None:
        self.counters.runs[result.exit] += 1

    def _deliver_memory_limit(self, submission: Submission) -> None:
        result = RunResult(exit=Exit.MEMORY_LIMIT)
        self._count(result)
        submission.deliver(result)


def _lacking(name: str) -> str:
    language = all_languages().get(name)
    return f": boxes lack something of {', '.join(language.needs)}" if language and language.needs else ""


def _reason(loss: Loss | None) -> Reason:
    return Reason.SILENT if loss is Loss.SILENT else Reason.DIED


def _consistent(built: Built, submission: Submission) -> Built:
    """Check the result of loading. A program that loads in one box and not in the next says nothing about itself."""
    if not built.ok and submission.next:
        raise SandboxUnavailable(
            f"the program was loaded in one box and could not be loaded in the next: {built.message}", "box_died"
        )
    return built


def _unavailable(ending: Ending) -> SandboxUnavailable:
    where = "loading the program" if ending.position is None else f"run {ending.position}"
    reason = "sandbox_unavailable" if ending.loss is Loss.UNJUDGED else "box_died"
    return SandboxUnavailable(f"{where} was not finished in two boxes: {ending.why}", reason)
