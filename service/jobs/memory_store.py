"""Keeps jobs in this process, for a service without Redis. They end with the process. After SIGTERM the process waits
for them, and for callers that fetch their results.
"""

import asyncio
import contextlib
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from service.jobs.job import Board, Claim, ClaimLost, JobCounters, Limits, Snapshot, State, Submission, conflict


@dataclass(slots=True)
class _Held:
    """A job, and the time when it is removed."""

    submission: Submission
    timer: asyncio.TimerHandle
    state: State = State.QUEUED
    token: str = ""
    attempts: int = 0
    begun: float | None = None
    lines: list[bytes] = field(default_factory=list)
    summary: bytes | None = None
    size: int = 0
    is_collected: bool = False
    """Whether a caller has fetched all of its results."""


class MemoryJobStore:
    """A `JobStore` in memory. There is one event loop, so it needs no lock."""

    def __init__(self, limits: Limits, counters: JobCounters) -> None:
        self.board = Board()
        self.bytes = 0
        self.is_reached = True
        self._limits = limits
        self._counters = counters
        self._held: dict[str, _Held] = {}
        self._by_key: dict[str, str] = {}
        self._queue: deque[str] = deque()
        self._queued = asyncio.Event()
        self._changed = asyncio.Event()

    @property
    def jobs(self) -> int:
        return len(self._held)

    @property
    def unfinished(self) -> int:
        return sum(not held.state.is_last for held in self._held.values())

    async def start(self) -> None:
        pass

    async def close(self) -> None:
        for held in self._held.values():
            held.timer.cancel()

    async def all_ended(self, timeout_s: float) -> None:
        """Wait until no job is queued or running. Then wait up to the timeout until callers have fetched the jobs that
        ended meanwhile.
        """
        ending = [job_id for job_id, held in self._held.items() if not held.state.is_last]
        await self._until(lambda: not self.unfinished)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._until(lambda: all(self._is_collected(job_id) for job_id in ending))

    async def submit(self, submission: Submission) -> str:
        known = self._by_key.get(submission.key)
        if known is not None:
            if self._held[known].submission.digest != submission.digest:
                raise conflict()
            self._counters.repeated += 1
            return known
        size = len(submission.packed)
        self._limits.check_size(size)
        if len(self._held) >= self._limits.max_jobs or self.bytes + size > self._limits.max_bytes:
            self._counters.refused += 1
            first = min((held.timer.when() for held in self._held.values()), default=0.0)
            raise self._limits.overloaded(len(self._held), self.bytes, first - asyncio.get_running_loop().time())
        job_id = secrets.token_hex(16)
        self._held[job_id] = held = _Held(submission, self._timer(job_id, self._limits.unfinished_ttl_s))
        if submission.key:
            self._by_key[submission.key] = job_id
        self._resize(held, size)
        self._enqueue(job_id)
        self._counters.submitted += 1
        return job_id

    async def read(self, job_id: str, after: int) -> Snapshot | None:
        held = self._held.get(job_id)
        if held is None:
            return None
        if held.state.is_last and after <= len(held.lines):
            held.is_collected = True
            self._changed.set()
        return Snapshot(held.state, held.submission.items, len(held.lines), held.lines[after:], held.summary)

    async def cancel(self, job_id: str) -> State | None:
        held = self._held.get(job_id)
        if held is None:
            return None
        before = held.state
        if before is State.DONE:
            self._forget(job_id)
        elif before is not State.CANCELLED:
            self._counters.cancelled += 1
            self._end(job_id, held, State.CANCELLED)
        return before

    async def take(self) -> Claim:
        while True:
            while self._queue:
                job_id = self._queue.popleft()
                held = self._held.get(job_id)
                if held is not None and held.state is State.QUEUED:
                    return self._claim(job_id, held)
            self._queued.clear()
            await self._queued.wait()

    async def leave(self) -> None:
        pass

    async def keep(self, claim: Claim) -> NoReturn:
        with self.board.waiting(claim.job_id) as rung:
            while True:
                self._owned(claim)
                rung.clear()
                await rung.wait()

    async def append(self, claim: Claim, offset: int, lines: Sequence[bytes]) -> int:
        held = self._owned(claim)
        assert offset == len(held.lines)
        held.lines += lines
        self._resize(held, sum(map(len, lines)))
        self.board.ring(claim.job_id, ended=False)
        return len(held.lines)

    async def finish(self, claim: Claim, summary: bytes) -> None:
        held = self._owned(claim)
        held.summary = summary
        self._end(claim.job_id, held, State.DONE)

    async def release(self, claim: Claim) -> None:
        self._owned(claim)
        self._enqueue(claim.job_id)

    async def drop(self, claim: Claim) -> None:
        self._owned(claim)
        self._forget(claim.job_id)

    def _claim(self, job_id: str, held: _Held) -> Claim:
        now = asyncio.get_running_loop().time()
        held.state = State.RUNNING
        held.attempts += 1
        held.token = str(held.attempts)
        if held.begun is None:
            held.begun = now
        return Claim(job_id, held.token, held.attempts, held.submission, list(held.lines), now - held.begun)

    def _owned(self, claim: Claim) -> _Held:
        held = self._held.get(claim.job_id)
        if held is None or held.state is not State.RUNNING or held.token != claim.token:
            raise ClaimLost
        return held

    def _enqueue(self, job_id: str) -> None:
        self._held[job_id].state = State.QUEUED
        self._queue.append(job_id)
        self._queued.set()

    def _end(self, job_id: str, held: _Held, state: State) -> None:
        held.state = state
        self._resize(held, -len(held.submission.packed))
        held.submission = held.submission.unloaded()
        held.timer.cancel()
        held.timer = self._timer(job_id, self._limits.ttl_s)
        self._tell_end(job_id)

    def _forget(self, job_id: str) -> None:
        held = self._held.pop(job_id)
        held.timer.cancel()
        self._by_key.pop(held.submission.key, None)
        self.bytes -= held.size
        self._tell_end(job_id)

    def _tell_end(self, job_id: str) -> None:
        self._changed.set()
        self.board.ring(job_id, ended=True)

    def _is_collected(self, job_id: str) -> bool:
        held = self._held.get(job_id)
        return held is None or held.is_collected or held.state is State.CANCELLED

    async def _until(self, is_true: Callable[[], bool]) -> None:
        while not is_true():
            self._changed.clear()
            await self._changed.wait()

    def _timer(self, job_id: str, ttl_s: float) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(ttl_s, self._forget, job_id)

    def _resize(self, held: _Held, by: int) -> None:
        held.size += by
        self.bytes += by
