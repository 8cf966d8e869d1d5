"""Keeps jobs in Redis, where every replica finds them. `redis_store.lua` says what Redis holds and how it changes.

Redis must be 6.2 or later, with EVAL and streams and without eviction: after an eviction nothing is known of the job.
Results are checked when they are read, as in the verdict cache.
"""

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NoReturn
from zlib import crc32

from fairness import TENANT, share_of, weight_of
from service.cancellation import cancel
from service.errors import Gone, StateUnavailable
from service.jobs.job import (
    Board,
    Claim,
    ClaimLost,
    Damaged,
    JobCounters,
    Limits,
    Snapshot,
    State,
    Submission,
    conflict,
    new_id,
)
from service.jobs.results import completed, is_summary
from service.storage.listening_link import ListeningLink
from service.system_random import SYSTEM_RANDOM
from service.tenant import prefix_of

log = logging.getLogger("rewardline.jobs")

_STEPS = Path(__file__).with_name("redis_store.lua").read_text(encoding="utf-8")
_PREFIX = "rl1:{jobs}:"
_LOOK_S = 5.0
"""The interval at which jobs of dead processes are looked for. It is shorter if `claim_idle_s` is short."""
_TEND_S = 5.0
_NEVER_MS = 10**15
_SUM_BYTES = 4


class RedisJobStore:
    """A `JobStore` in Redis.

    If a claim has not been refreshed for `claim_idle_s`, another process takes over its job. While Redis is away nobody can
    refresh a claim, so that for `claim_idle_s` after that none is taken over.

    `edition` names the verifiers of this process with their versions. A job that has results is left to processes of the
    same edition. If none takes it for `edition_wait_s`, it is taken as a foreign one.

    Raises:
        ValueError: the URL has an unknown form, or its certificates cannot be used.
    """

    def __init__(
        self,
        url: str,
        limits: Limits,
        counters: JobCounters,
        *,
        claim_idle_s: float,
        edition: str = "",
        edition_wait_s: float = 60.0,
    ) -> None:
        self.board = Board()
        self.jobs = self.nbytes = self.unfinished = 0
        """Counts of everything that Redis holds, as last heard."""
        self._limits = limits
        self._counters = counters
        self._claim_idle_s = claim_idle_s
        self._edition = edition
        self._edition_wait_s = edition_wait_s
        self._consumer = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._tokens = count(1)
        self._queued = asyncio.Event()
        self._nobody_is_silent_before = 0.0
        """On the event loop's clock."""
        self._link = ListeningLink(
            url, "jobs", events=f"{_PREFIX}events", on_event=self._hear, on_reached=self._hear_all
        )
        self._tending: asyncio.Task[None] | None = None

    @property
    def is_reached(self) -> bool:
        return self._link.is_reached

    @property
    def errors(self) -> int:
        return self._link.errors

    async def start(self) -> None:
        """Start the connections. Without Redis, jobs are refused until it is there."""
        await self._link.start()
        self._tending = asyncio.create_task(self._tend())

    async def close(self) -> None:
        await cancel(self._tending)
        await self._link.close()

    # For callers

    async def submit(self, submission: Submission) -> str:
        limits = self._limits
        limits.check_size(len(submission.packed))
        reply = await self._call(
            "submit",
            new_id(),
            submission.packed,
            submission.digest,
            submission.size,
            submission.items,
            submission.key,
            limits.max_jobs,
            limits.max_bytes,
            _ms(limits.unfinished_ttl_s),
            share_of(TENANT.get()) or 0,
            weight_of(TENANT.get()),
        )
        match reply:
            case [b"new", bytes(job_id)]:
                self._counters.submitted += 1
            case [b"same", bytes(job_id)]:
                self._counters.repeated += 1
            case [b"other", _]:
                raise conflict()
            case [b"full", int(jobs), int(held_bytes), int(own_jobs), int(own_bytes), int(first_goes_in_ms)]:
                self._counters.refused += 1
                raise limits.overloaded(jobs, held_bytes, own_jobs, own_bytes, first_goes_in_ms / 1000)
            case _:
                raise self._link.nonsense()
        return job_id.decode("ascii", "replace")

    async def read(self, job_id: str, after: int) -> Snapshot | None:
        reply = await self._call("read", job_id)
        if reply is None:
            return None
        try:
            state, items, done_count, summary = reply
            snapshot = Snapshot(State(state.decode()), int(items), int(done_count), (), summary or None)
            lines = await self._lines(job_id, after, snapshot.done)
        except (ValueError, TypeError, AttributeError) as error:
            if await self._call("read", job_id) != reply:  # the link has garbled it
                raise self._link.nonsense() from error
            raise _damaged(job_id, error) from error
        if lines is None:
            return None
        is_told = snapshot.state is not State.DONE or is_summary(summary, snapshot.items)
        if is_told and all(line is not None for line in lines):
            return replace(snapshot, lines=[line for line in lines if line is not None])
        return await self._mended(job_id, snapshot, after)

    async def _mended(self, job_id: str, snapshot: Snapshot, after: int) -> Snapshot | None:
        """A job of which a result or the summary is damaged. Until it has ended, only the results before that count."""
        lines = await self._lines(job_id, 0, snapshot.done)
        if lines is None:
            return None
        if not snapshot.state.is_last:
            sound_lines = [line for line in lines[: _first_hole(lines)] if line is not None]
            return replace(snapshot, done=len(sound_lines), lines=sound_lines[after:])
        log.error("jobs: a part of job %s is damaged in Redis", job_id)
        try:
            sound_lines, summary = completed(lines, snapshot.items)
        except Damaged as error:
            raise _damaged(job_id, error) from error
        return replace(snapshot, lines=sound_lines[after:], summary=summary if snapshot.state is State.DONE else None)

    async def _lines(self, job_id: str, start: int, end: int) -> list[bytes | None] | None:
        """The results of the job from `start` up to `end`, None for each that is damaged. None if the job has been removed
        meanwhile.
        """
        if start >= end:
            return []
        command = ("LRANGE", f"{_PREFIX}results:{job_id}", start, end - 1)
        framed = await self._link.ask(*command)
        if len(framed) != end - start:
            return None
        lines = [_unframed(job_id, line) for line in framed]
        if None in lines and await self._link.ask(*command) != framed:  # the link has garbled it
            raise self._link.nonsense()
        return lines

    async def cancel(self, job_id: str) -> State | None:
        reply = await self._call("cancel", job_id, _ms(self._limits.ttl_s))
        if reply is None:
            return None
        try:
            state = State(reply.decode())
        except (ValueError, AttributeError) as error:
            raise self._link.nonsense() from error
        self._counters.cancelled += not state.is_last
        return state

    # For the runner

    async def take(self, passed_over: Callable[[], Sequence[str]] = tuple) -> Claim:
        while True:
            self._queued.clear()
            with suppress(StateUnavailable):
                claim = await self._take_one(passed_over())
                if claim is not None:
                    return claim
            with suppress(TimeoutError):
                async with asyncio.timeout(min(_LOOK_S, self._claim_idle_s / 4) * _jitter()):
                    await self._queued.wait()

    def look_again(self) -> None:
        self._queued.set()

    async def _take_one(self, passed_over: Sequence[str]) -> Claim | None:
        token = f"{self._consumer}:{next(self._tokens)}"
        owners = map(prefix_of, passed_over)
        is_early = asyncio.get_running_loop().time() < self._nobody_is_silent_before
        idle_ms = _NEVER_MS if is_early else _ms(self._claim_idle_s)
        waits = idle_ms, self._edition, _ms(self._edition_wait_s)
        asking = asyncio.create_task(self._call("take", self._consumer, token, *waits, *owners))
        try:
            reply = await asyncio.shield(asking)
        finally:
            # If this is cancelled, Redis may still give us a job. `leave` gives it back.
            await asyncio.wait([asking])
        if reply is None:
            return None
        try:
            job_id, attempt, packed, digest, size, items, age_ms, taken_over, stored, is_foreign = reply
            job_id = job_id.decode("ascii")
            submission = Submission(packed or b"", digest, int(size), int(items), "")
            lines = await self._lines(job_id, 0, stored)
        except (ValueError, TypeError, AttributeError) as error:
            raise self._link.nonsense() from error
        if lines is None:
            return None
        self._counters.taken_over += taken_over
        return Claim(job_id, token, int(attempt), submission, lines, int(age_ms) / 1000, bool(is_foreign))

    async def leave(self) -> None:
        with suppress(StateUnavailable):
            await self._call("leave", self._consumer)

    async def keep(self, claim: Claim) -> NoReturn:
        with self.board.waiting(claim.job_id) as rung:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._claim_idle_s / 4):
                        await rung.wait()
                rung.clear()
                with suppress(StateUnavailable):
                    if await self._call("beat", claim.job_id, claim.token, self._consumer) != 1:
                        raise ClaimLost

    async def append(self, claim: Claim, offset: int, lines: Sequence[bytes]) -> int:
        framed = [_framed(claim.job_id, line) for line in lines]
        stored = await self._call("append", claim.job_id, claim.token, offset, *framed)
        if not isinstance(stored, int) or stored > offset + len(lines):
            raise self._link.nonsense()
        if stored < 0:
            raise ClaimLost
        return stored

    async def finish(self, claim: Claim, summary: bytes) -> None:
        if await self._call("finish", claim.job_id, claim.token, summary, _ms(self._limits.ttl_s)) != 1:
            raise ClaimLost

    async def release(self, claim: Claim) -> None:
        await self._call("release", claim.job_id, claim.token)

    async def mend(self, claim: Claim, position: int, line: bytes) -> None:
        if await self._call("mend", claim.job_id, claim.token, position, _framed(claim.job_id, line)) != 1:
            raise ClaimLost

    async def drop(self, claim: Claim) -> None:
        await self._call("spoil", claim.job_id)

    async def _call(self, step: str, *arguments: Any) -> Any:
        return await self._link.ask("EVAL", _STEPS, 1, _PREFIX, step, *arguments)

    def _hear(self, event: bytes, job_id: str) -> None:
        if event == b"queued":
            self._queued.set()
        else:
            self.board.ring(job_id, ended=event == b"ended")

    def _hear_all(self) -> None:
        if self.errors:  # Redis was away
            self._nobody_is_silent_before = asyncio.get_running_loop().time() + self._claim_idle_s
        self._queued.set()
        self.board.ring_all()

    async def _tend(self) -> None:
        """Remove jobs that are over, and note how many there are. It never returns."""
        while True:
            with suppress(StateUnavailable):
                match await self._call("tend"):
                    case [int(jobs), int(held_bytes), int(unfinished)]:
                        self.jobs, self.nbytes, self.unfinished = jobs, held_bytes, unfinished
            await asyncio.sleep(_TEND_S * _jitter())


def _framed(job_id: str, line: bytes) -> bytes:
    return crc32(job_id.encode() + line).to_bytes(_SUM_BYTES, "big") + line


def _unframed(job_id: str, framed: bytes) -> bytes | None:
    """The result. None if it differs from the one that was stored."""
    line = framed[_SUM_BYTES:]
    return line if _framed(job_id, line) == framed else None


def _first_hole(lines: Sequence[bytes | None]) -> int:
    return next((position for position, line in enumerate(lines) if line is None), len(lines))


def _damaged(job_id: str, error: Exception) -> Gone:
    log.error("jobs: the record of job %s is damaged in Redis: %s", job_id, error)
    return Gone("what is kept of this job is damaged; DELETE it, and send its items again")


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _jitter() -> float:
    return SYSTEM_RANDOM.uniform(0.8, 1.2)
