"""Runs background jobs: takes as many at a time as are allowed, and runs each to its last result.

Jobs of all tenants take turns, and the last place is not for a tenant that runs jobs already (`fairness.Room`).

A job is judged in slices. Each slice waits until the admission has room for it: a large job neither keeps other work
out nor is kept out by it, and no job is refused. The deadline of a job counts from the moment when its process begins
to judge it.

    ended by       what becomes of the job
    its last item  done
    DELETE, TTL    the work is stopped
    SIGTERM        handed back, for another process to finish; without Redis it is finished first
    SIGKILL        after a while taken over by another process
    a bug of ours  tried again, as after SIGKILL
    an upgrade     finished by a replica with the same verifiers; once there is none, its other items are `failed`
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from types import TracebackType
from typing import Protocol, Self

from fairness import TENANT, Room
from service import asked
from service.cancellation import cancel
from service.errors import StateUnavailable
from service.jobs.job import MAX_ATTEMPTS, Claim, ClaimLost, Damaged, JobCounters, JobStore, unpack
from service.jobs.results import JobResults, unjudged
from service.limits.admission import Admission
from service.observe.access_log import CURRENT_REQUEST
from service.scoring.engine import Engine
from service.tenant import RUN, parted
from service.wire import BatchRequest, CacheMode, Result, ScoreItem, ScoreRequest, Summary, decode_request
from verifiers.base import Verdict
from verifiers.pace import together

log = logging.getLogger("rewardline.jobs")

_SLICE_ITEMS = 512
_SLICES_AT_ONCE = 2
"""Slices of one job at once. There are several, so that the last items of a slice, which may be slow, do not leave the
verifiers idle."""
_AFTER_BUG_S = 1.0
_ABANDONED = Verdict.failed(
    "job_abandoned", f"{MAX_ATTEMPTS} processes have died while they ran this job; it is not begun again"
)
_VERSION_GONE = Verdict.failed(
    "version_gone",
    "verifiers of other versions judged the first items of this job, and no replica has them any more; send these items again",
)
_DEADLINE = Verdict.failed("deadline", "not judged before the job's deadline")


class Groups(Protocol):
    """Rewards members of groups (`service.groups.singles`)."""

    async def groups_of(self, items: Sequence[ScoreItem], cache: CacheMode) -> list[list[int]]:
        """The positions of the members of each group."""

    async def whole(
        self, items: Sequence[ScoreItem], positions: Sequence[int], cache: CacheMode, deadline: float
    ) -> list[Result]:
        """The results of the members of one group; `positions` are those in the job."""


class Runner:
    """Runs jobs. Use it as an async context manager; leaving it hands back the jobs under way."""

    def __init__(
        self,
        store: JobStore,
        engine: Engine,
        admission: Admission,
        counters: JobCounters,
        *,
        max_under_way: int,
        max_deadline_s: float,
        groups: Groups | None = None,
    ) -> None:
        self.under_way = 0
        self._store = store
        self._engine = engine
        self._groups = groups
        self._admission = admission
        self._counters = counters
        self._max_deadline_s = max_deadline_s
        self._free = asyncio.Semaphore(max_under_way)
        self._room = Room(max_under_way)
        self._running: set[asyncio.Task[None]] = set()
        self._taking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._taking = asyncio.create_task(self._take_jobs())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Take no more jobs, and hand back those under way. May be called again."""
        if self._taking is None:
            return
        await cancel(self._taking)
        self._taking = None
        self._counters.handed_back += len(self._running)
        await cancel(*self._running)
        await self._store.leave()

    async def _take_jobs(self) -> None:
        while True:
            await self._free.acquire()
            claim = await self._next()
            tenant = parted(claim.job_id)[0]
            self._room.take(tenant, 1)
            running = asyncio.create_task(self._see_through(claim))
            self._running.add(running)
            running.add_done_callback(partial(self._on_end, tenant))

    async def _next(self) -> Claim:
        while True:
            try:
                return await self._store.take(self._room.kept_out)
            except Exception:
                log.exception("taking a job raised")
                await asyncio.sleep(_AFTER_BUG_S)

    def _on_end(self, tenant: str, running: asyncio.Task[None]) -> None:
        self._running.discard(running)
        self._room.take(tenant, -1)
        self._free.release()
        self._store.look_again()

    async def _see_through(self, claim: Claim) -> None:
        """Run the job for as long as this process has it."""
        self.under_way += 1
        TENANT.set(parted(claim.job_id)[0])
        try:
            async with asyncio.TaskGroup() as group:
                keeping = group.create_task(self._store.keep(claim))
                record = await self._run(claim)
                keeping.cancel()
            await record.finish()
            self._counters.finished += 1
        except* ClaimLost:
            self._counters.claims_lost += 1
            log.info("this process has lost job %s", claim.job_id)
        except* Damaged as errors:
            log.error("job %s is damaged, and ended: %s", claim.job_id, errors.exceptions[0])  # noqa: TRY400  # no bug of ours
            with contextlib.suppress(StateUnavailable, ClaimLost):
                await self._store.drop(claim)
        except* Exception:
            log.exception("running job %s raised", claim.job_id)
            with contextlib.suppress(StateUnavailable, ClaimLost):
                await self._store.release(claim)
        finally:
            self.under_way -= 1

    async def _run(self, claim: Claim) -> JobResults:
        """Give every item a result, and store the results."""
        with self._admission.permit() as permit:
            await permit.add_when_possible(nbytes=claim.submission.size)
            request = await decode_request(await unpack(claim.submission), claim.submission.items)
            if len(request.items) != claim.submission.items:
                raise Damaged("the number of items of the job has changed")
            for index, item in enumerate(request.items):
                item.id = index if item.id is None else item.id
            RUN.set(request.run_id or "")
            CURRENT_REQUEST.set(parted(claim.job_id)[1])
            asked.note(request)
            record = JobResults(self._store, claim)
            async with asyncio.TaskGroup() as group:
                group.create_task(record.store_until_whole())
                if claim.attempt > MAX_ATTEMPTS:
                    self._counters.abandoned += 1
                    record.add(_unjudged(request, record.missing(), _ABANDONED))
                elif claim.is_foreign:
                    self._counters.astray += 1
                    log.warning("job %s was begun by verifiers of other versions; its other items fail", claim.job_id)
                    record.add(_unjudged(request, record.missing(), _VERSION_GONE))
                else:
                    await self._judge(request, record)
                record.complete()
        return record

    async def _judge(self, request: ScoreRequest, record: JobResults) -> None:
        deadline_s = min(request.deadline_s or self._max_deadline_s, self._max_deadline_s)
        deadline = asyncio.get_running_loop().time() + deadline_s
        missing = record.missing()
        groups = [] if self._groups is None else await self._groups.groups_of(request.items, request.cache)
        members = {at for group in groups for at in group}
        wanted = set(missing)
        singles = [at for at in missing if at not in members]
        slices = deque(_Slice(singles[start : start + _SLICE_ITEMS]) for start in range(0, len(singles), _SLICE_ITEMS))
        # If some members of a group have results, all are judged again: they depend on each other.
        slices.extend(_sliced([group for group in groups if not wanted.isdisjoint(group)]))

        async def work() -> None:
            while slices:
                await self._judge_slice(request, slices.popleft(), wanted, deadline, record)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(_SLICES_AT_ONCE):
                tasks.create_task(work())

    async def _judge_slice(
        self, request: ScoreRequest, part: "_Slice", wanted: set[int], deadline: float, record: JobResults
    ) -> None:
        positions = [*part.singles, *chain.from_iterable(part.groups)]
        with self._admission.permit() as permit:
            try:
                async with asyncio.timeout_at(deadline):
                    await permit.add_when_possible(items=len(positions))
            except TimeoutError:
                record.add(_unjudged(request, [at for at in positions if at in wanted], _DEADLINE))
                return
            if part.singles:
                await self._judge_alone(request, part.singles, deadline, record)
            if self._groups is not None:
                rewarded = [
                    self._groups.whole([request.items[at] for at in group], group, request.cache, deadline)
                    for group in part.groups
                ]
                results = chain.from_iterable(await together(rewarded))
                members = chain.from_iterable(part.groups)
                record.add((at, result) for at, result in zip(members, results, strict=True) if at in wanted)

    async def _judge_alone(
        self, request: ScoreRequest, indexes: Sequence[int], deadline: float, record: JobResults
    ) -> None:
        items = [request.items[index] for index in indexes]
        batch = BatchRequest(items, request.references, request.cache, request.explain, deadline)
        async with contextlib.aclosing(self._engine.stream(batch)) as chunks:
            async for part in chunks:
                if isinstance(part, Summary):
                    record.add_shared(part.deduplicated)
                else:
                    record.add((indexes[position], result) for position, result in part)


@dataclass(frozen=True, slots=True)
class _Slice:
    """The positions of the items that are judged together."""

    singles: Sequence[int]
    groups: Sequence[Sequence[int]] = ()
    """Those of the members of each group. A group is never divided."""


def _sliced(groups: Sequence[Sequence[int]]) -> Iterator[_Slice]:
    part: list[Sequence[int]] = []
    for group in groups:
        if part and sum(map(len, part)) + len(group) > _SLICE_ITEMS:
            yield _Slice((), part)
            part = []
        part.append(group)
    if part:
        yield _Slice((), part)


def _unjudged(request: ScoreRequest, indexes: Iterable[int], verdict: Verdict) -> list[tuple[int, Result]]:
    results = []
    for index in indexes:
        item_id = request.items[index].id
        assert item_id is not None
        results.append((index, unjudged(item_id, verdict)))
    return results
