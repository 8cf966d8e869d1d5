"""Keeps jobs in this process, for a service without Redis. They end with the process. After SIGTERM the process waits
for them, and for callers that fetch their results.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from fairness import TENANT, Turns
from service.jobs.job import Board, Claim, ClaimLost, JobCounters, Limits, Snapshot, State, Submission, conflict, new_id
from service.storage.memory_table import MemoryTable
from service.tenant import parted


@dataclass(slots=True)
class _Held:
    """A job."""

    submission: Submission
    state: State = State.QUEUED
    token: str = ""
    attempts: int = 0
    begun: float | None = None
    lines: list[bytes] = field(default_factory=list)
    summary: bytes | None = None
    is_collected: bool = False
    """Whether a caller has fetched all of its results, or none will: it was cancelled or removed."""


class MemoryJobStore:
    """A `JobStore` in memory. There is one event loop, so it needs no lock."""

    errors = 0
    is_reached = True

    def __init__(self, limits: Limits, counters: JobCounters) -> None:
        self.board = Board()
        self._limits = limits
        self._counters = counters
        self._held = MemoryTable[_Held](limits.max_jobs, limits.max_bytes, self._on_gone)
        self._by_key: dict[str, tuple[str, bytes]] = {}
        """The id and the digest of the job that came with each idempotency key."""
        self._queues: dict[str, deque[str]] = {}
        """The jobs of each tenant that wait."""
        self._turns = Turns()
        self._queued = asyncio.Event()
        self._changed = asyncio.Event()

    @property
    def jobs(self) -> int:
        return len(self._held)

    @property
    def nbytes(self) -> int:
        return self._held.nbytes

    @property
    def unfinished(self) -> int:
        return sum(not job.state.is_last for job in self._held)

    async def start(self) -> None:
        pass

    async def close(self) -> None:
        self._held.clear()

    async def all_ended(self, timeout_s: float) -> None:
        """Wait until no job is queued or running. Then wait up to the timeout until callers have fetched the jobs that
        ended meanwhile.
        """
        ending = [job for job in self._held if not job.state.is_last]
        await self._until(lambda: not self.unfinished)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._until(lambda: all(job.is_collected for job in ending))

    async def submit(self, submission: Submission) -> str:
        existing_id = self._by_key.get(submission.key)
        if existing_id is not None:
            job_id, digest = existing_id
            if digest != submission.digest:
                raise conflict()
            self._counters.repeated += 1
            return job_id
        size = len(submission.packed)
        self._limits.check_size(size)
        job_id = new_id()
        if not self._held.fits(job_id, size):
            self._counters.refused += 1
            values, nbytes, tenant = self._held.values, self._held.bytes, TENANT.get()
            raise self._limits.overloaded(
                values.all, nbytes.all, values.held(tenant), nbytes.held(tenant), self._held.first_goes_in_s
            )
        job = _Held(submission)
        self._held.put(job_id, job, size, self._limits.unfinished_ttl_s)
        if submission.key:
            self._by_key[submission.key] = job_id, submission.digest
        self._enqueue(job_id, job)
        self._counters.submitted += 1
        return job_id

    async def read(self, job_id: str, after: int) -> Snapshot | None:
        job = self._held.get(job_id)
        if job is None:
            return None
        if job.state.is_last and after <= len(job.lines):
            job.is_collected = True
            self._changed.set()
        return Snapshot(job.state, job.submission.items, len(job.lines), job.lines[after:], job.summary)

    async def cancel(self, job_id: str) -> State | None:
        job = self._held.get(job_id)
        if job is None:
            return None
        state = job.state
        if state is State.DONE:
            self._held.drop(job_id)
        elif state is not State.CANCELLED:
            self._counters.cancelled += 1
            self._end(job_id, job, State.CANCELLED)
        return state

    async def take(self, passed_over: Callable[[], Sequence[str]] = tuple) -> Claim:
        while True:
            while waiting := self._queues.keys() - passed_over():
                tenant = self._turns.next(sorted(waiting))
                job_id = self._dequeue(tenant)
                job = self._held.get(job_id)
                if job is not None and job.state is State.QUEUED:
                    self._turns.charge(tenant, job.submission.items)
                    return self._claim(job_id, job)
            self._queued.clear()
            await self._queued.wait()

    def look_again(self) -> None:
        self._queued.set()

    async def leave(self) -> None:
        pass

    async def keep(self, claim: Claim) -> NoReturn:
        with self.board.waiting(claim.job_id) as rung:
            while True:
                self._owned(claim)
                rung.clear()
                await rung.wait()

    async def append(self, claim: Claim, offset: int, lines: Sequence[bytes]) -> int:
        job = self._owned(claim)
        assert offset == len(job.lines)
        job.lines += lines
        self._held.grow(claim.job_id, sum(map(len, lines)))
        self.board.ring(claim.job_id, ended=False)
        return len(job.lines)

    async def finish(self, claim: Claim, summary: bytes) -> None:
        job = self._owned(claim)
        job.summary = summary
        self._end(claim.job_id, job, State.DONE)

    async def release(self, claim: Claim) -> None:
        self._enqueue(claim.job_id, self._owned(claim))

    async def mend(self, claim: Claim, position: int, line: bytes) -> None:
        self._owned(claim).lines[position] = line

    async def drop(self, claim: Claim) -> None:
        self._owned(claim)
        self._held.drop(claim.job_id)

    def _claim(self, job_id: str, job: _Held) -> Claim:
        now = asyncio.get_running_loop().time()
        job.state = State.RUNNING
        job.attempts += 1
        job.token = str(job.attempts)
        if job.begun is None:
            job.begun = now
        return Claim(job_id, job.token, job.attempts, job.submission, list(job.lines), now - job.begun)

    def _owned(self, claim: Claim) -> _Held:
        job = self._held.get(claim.job_id)
        if job is None or job.state is not State.RUNNING or job.token != claim.token:
            raise ClaimLost
        return job

    def _enqueue(self, job_id: str, job: _Held) -> None:
        job.state = State.QUEUED
        self._queues.setdefault(parted(job_id)[0], deque()).append(job_id)
        self._queued.set()

    def _dequeue(self, tenant: str) -> str:
        queue = self._queues[tenant]
        job_id = queue.popleft()
        if not queue:
            del self._queues[tenant]
        return job_id

    def _end(self, job_id: str, job: _Held, state: State) -> None:
        job.state = state
        job.is_collected = state is State.CANCELLED
        job.submission = job.submission.unloaded()
        self._held.put(job_id, job, sum(map(len, job.lines)), self._limits.ttl_s)
        self._tell_end(job_id)

    def _on_gone(self, job_id: str, job: _Held) -> None:
        job.is_collected = True
        self._by_key.pop(job.submission.key, None)
        self._tell_end(job_id)

    def _tell_end(self, job_id: str) -> None:
        self._changed.set()
        self.board.ring(job_id, ended=True)

    async def _until(self, is_true: Callable[[], bool]) -> None:
        while not is_true():
            self._changed.clear()
            await self._changed.wait()
