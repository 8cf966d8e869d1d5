"""What a background job is: how it is handed in, claimed, looked at, and what a store of jobs promises."""

import asyncio
import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

import zstandard

from service.decompression import inflate
from service.errors import BadRequest, Conflict, Overloaded, TooLarge
from service.system_random import SYSTEM_RANDOM

MAX_ATTEMPTS = 3
"""So often a job is begun; then the processes that died with it may have died of it, and it is ended without them."""
_MIN_RETRY_S, _MAX_RETRY_S = 1.0, 30.0
_THREAD_BYTES = 64_000
"""Packing and unpacking less than this is quicker than handing it to a thread."""


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"

    @property
    def is_last(self) -> bool:
        return self in (State.DONE, State.CANCELLED)


class ClaimLost(Exception):
    """The job is not ours any more: cancelled, over its time, or taken over by another process."""


class Damaged(Exception):
    """What the store holds of a job is not what was put there."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A request that has been checked, as it is stored."""

    packed: bytes
    """Its JSON, compressed."""
    digest: bytes
    """SHA-256 of its JSON."""
    size: int
    """Bytes of its JSON."""
    items: int
    key: str
    """A hash of the idempotency key and of who sent it; empty without one."""

    def unloaded(self) -> "Submission":
        """As it is kept when the job has ended."""
        return replace(self, packed=b"")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A job as it is seen from outside."""

    state: State
    items: int
    done: int
    """Results that exist."""
    lines: Sequence[bytes]
    """Those asked for, as JSON, in the order in which they came to be."""
    summary: bytes | None


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run a job, with what is needed for it."""

    job_id: str
    token: str
    """Of this claim and no other; the store refuses the writes of a claim that is not the latest."""
    attempt: int
    submission: Submission
    lines: Sequence[bytes]
    """The results that others have stored before."""
    age_s: float
    """Since the job was first begun."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a store may hold, and for how long."""

    max_jobs: int
    max_bytes: int
    ttl_s: float
    """Of jobs that have ended."""
    unfinished_ttl_s: float
    """Of others, from their submission on."""

    def check_size(self, size: int) -> None:
        """
        Raises:
            TooLarge: a job so large would never have room.
        """
        if size > self.max_bytes:
            raise TooLarge(f"the job has {size} bytes when compressed; all jobs together may have {self.max_bytes}")

    def overloaded(self, jobs: int, held_bytes: int, first_goes_in_s: float) -> Overloaded:
        """The refusal of a submission for which there is no room until others go, or end and are smaller then."""
        wait_s = min(max(first_goes_in_s, _MIN_RETRY_S), _MAX_RETRY_S)
        return Overloaded(
            f"{jobs} jobs with {held_bytes / 1e6:.1f} MB are held; at most {self.max_jobs} with "
            f"{self.max_bytes / 1e6:.0f} MB may be; DELETE those whose results you have",
            retry_after_s=wait_s * SYSTEM_RANDOM.uniform(1.0, 1.5),
        )


def conflict() -> Conflict:
    return Conflict("this Idempotency-Key came with another body before; use a new key for each job")


@dataclass(slots=True)
class JobCounters:
    """What happened in this process since the start; each only grows."""

    submitted: int = 0
    repeated: int = 0
    """Submissions that were answered with the job of an earlier one, by their idempotency key."""
    refused: int = 0
    """Submissions for which there was no room."""
    finished: int = 0
    cancelled: int = 0
    taken_over: int = 0
    """From a process that was silent."""
    claims_lost: int = 0
    """Jobs given up here, since they were cancelled or taken over."""
    handed_back: int = 0
    abandoned: int = 0
    """Ended with the rest of their items `failed`, after `MAX_ATTEMPTS`."""
    store_errors: int = 0


class Board:
    """Where those who wait for a job are told that it has changed; perhaps too often, never too rarely."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[asyncio.Event, bool]] = {}
        self.is_closed = False
        """Nobody should wait any more: the process is about to end."""

    @contextlib.contextmanager
    def waiting(self, job_id: str, *, for_news: bool = False) -> Iterator[asyncio.Event]:
        """An event that is set when the job ends, or `for_news` also when it has new results."""
        rung = asyncio.Event()
        self._waiting.setdefault(job_id, {})[rung] = for_news
        try:
            yield rung
        finally:
            others = self._waiting[job_id]
            del others[rung]
            if not others:
                del self._waiting[job_id]

    def ring(self, job_id: str, *, ended: bool) -> None:
        for rung, for_news in self._waiting.get(job_id, {}).items():
            if ended or for_news:
                rung.set()

    def ring_all(self) -> None:
        for waiting in self._waiting.values():
            for rung in waiting:
                rung.set()

    def close(self) -> None:
        self.is_closed = True
        self.ring_all()


class JobStore(Protocol):
    """Where jobs are, until their time is over. Results that have been shown never change.

    All but `take`, `leave` and `keep` raise `StateUnavailable`, after which what was asked may have been done or not; what
    is done with a claim raises `ClaimLost`.
    """

    @property
    def board(self) -> Board: ...

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def submit(self, submission: Submission) -> str:
        """Keep and queue it; the id of the job.

        Raises:
            Overloaded: the store is full.
            Conflict: its idempotency key belongs to another request.
        """

    async def read(self, job_id: str, after: int) -> Snapshot | None:
        """The job with its results but for the first `after`; None if there is none."""

    async def cancel(self, job_id: str) -> State | None:
        """Stop it wherever it runs; what is finished is removed. The state it had; None if there is none."""

    async def take(self) -> Claim:
        """Wait for the next job."""

    async def leave(self) -> None:
        """Give back all claims, so that others can take the jobs at once."""

    async def keep(self, claim: Claim) -> None:
        """Hold the claim until it is lost: never returns."""

    async def append(self, claim: Claim, offset: int, lines: Sequence[bytes]) -> int:
        """Store the results from the one numbered `offset` on; how many are stored now. Fewer than `offset` are when the
        store has lost some, which are then to be stored again. May be repeated.
        """

    async def finish(self, claim: Claim, summary: bytes) -> None:
        """All results are stored. May be repeated."""

    async def release(self, claim: Claim) -> None:
        """Let the job be tried again; this attempt counts."""

    async def drop(self, claim: Claim) -> None:
        """Remove a job that is damaged."""


async def pack(body: bytes, items: int, key: str) -> Submission:
    """The request's JSON as it is stored."""
    if len(body) < _THREAD_BYTES:
        packed, digest = _pack(body)
    else:
        packed, digest = await asyncio.to_thread(_pack, body)
    return Submission(packed, digest, len(body), items, key)


def _pack(body: bytes) -> tuple[bytes, bytes]:
    return zstandard.ZstdCompressor(level=3).compress(body), hashlib.sha256(body).digest()


async def unpack(submission: Submission) -> bytes:
    """The request's JSON.

    Raises:
        Damaged
    """
    if submission.size < _THREAD_BYTES:
        return _unpack(submission)
    return await asyncio.to_thread(_unpack, submission)


def _unpack(submission: Submission) -> bytes:
    try:
        body = inflate(submission.packed, "zstd", submission.size)
    except (BadRequest, TooLarge) as error:
        raise Damaged("the request cannot be unpacked") from error
    if hashlib.sha256(body).digest() != submission.digest:
        raise Damaged("the request is not the one that was stored")
    return body
