"""The types of background jobs: submission, claim, snapshot, and the contract of a job store."""

import asyncio
import contextlib
import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

import zstandard

from service.decompression import inflate
from service.errors import BadRequest, Conflict, Overloaded, TooLarge
from service.system_random import SYSTEM_RANDOM
from service.tenant import owned

MAX_ATTEMPTS = 3
"""The number of times that a job is begun. After that, the job itself may be what killed its processes, so it ends
without a further one."""
_MIN_RETRY_S, _MAX_RETRY_S = 1.0, 30.0
_THREAD_BYTES = 64_000
"""Packing or unpacking a smaller request is quicker than handing it to a thread."""


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"

    @property
    def is_last(self) -> bool:
        return self in (State.DONE, State.CANCELLED)


class ClaimLost(Exception):
    """This process has lost the job: it was cancelled, its time is over, or another process took it over."""


class Damaged(Exception):
    """The store's data of a job differs from what was put there."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A checked request in the form in which it is stored."""

    packed: bytes
    """The JSON of the request, compressed."""
    digest: bytes
    """The SHA-256 of the JSON."""
    size: int
    """The bytes of the JSON before compression."""
    items: int
    key: str
    """A hash of the idempotency key, owned by its tenant. Empty without a key."""

    def unloaded(self) -> "Submission":
        """The submission as it is kept after the job has ended."""
        return replace(self, packed=b"")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A job as callers see it."""

    state: State
    items: int
    done: int
    """The number of results that exist."""
    lines: Sequence[bytes]
    """The requested results as JSON, in the order in which they were made."""
    summary: bytes | None


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run a job, with everything that is needed for it."""

    job_id: str
    token: str
    """The token of this claim alone. The store refuses writes of a claim that is not the latest."""
    attempt: int
    submission: Submission
    lines: Sequence[bytes | None]
    """The results that earlier processes have stored. None is one that is damaged; its item is judged again."""
    age_s: float
    """Seconds since the job was first begun."""
    is_foreign: bool = False
    """Whether verifiers of other versions have judged a part of the job, and no process has them any more. What they have
    not judged is not judged any more: no job holds scores of two versions."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a store may hold, and for how long."""

    max_jobs: int
    max_bytes: int
    ttl_s: float
    """The time to live of jobs that have ended."""
    unfinished_ttl_s: float
    """The time to live of all other jobs, from their submission on."""

    def check_size(self, size: int) -> None:
        """Check that a job of this size can ever have room.

        Raises:
            TooLarge: a job so large would never have room.
        """
        if size > self.max_bytes:
            raise TooLarge(f"the job has {size} bytes when compressed; all jobs together may have {self.max_bytes}")

    def overloaded(
        self, jobs: int, held_bytes: int, own_jobs: int, own_bytes: int, first_goes_in_s: float
    ) -> Overloaded:
        """The refusal of a submission without room. Room comes when other jobs are removed, or end and become
        smaller.
        """
        wait_s = min(max(first_goes_in_s, _MIN_RETRY_S), _MAX_RETRY_S)
        return Overloaded(
            f"{jobs} jobs with {held_bytes / 1e6:.1f} MB are held, {own_jobs} with {own_bytes / 1e6:.1f} MB of them yours; "
            f"at most {self.max_jobs} with {self.max_bytes / 1e6:.0f} MB may be, and some room is kept for others; "
            "DELETE those whose results you have",
            retry_after_s=wait_s * SYSTEM_RANDOM.uniform(1.0, 1.5),
        )


def new_id() -> str:
    """The id of a new job of the current tenant."""
    return owned(secrets.token_hex(16))


def conflict() -> Conflict:
    return Conflict("this Idempotency-Key came with another body before; use a new key for each job")


@dataclass(slots=True)
class JobCounters:
    """Events in this process since the start. Each count only grows."""

    submitted: int = 0
    repeated: int = 0
    """Submissions that were answered with an earlier job, by their idempotency key."""
    refused: int = 0
    """Submissions that found no room."""
    finished: int = 0
    cancelled: int = 0
    taken_over: int = 0
    """Jobs taken over from a process that was silent."""
    claims_lost: int = 0
    """Jobs given up here because they were cancelled or taken over."""
    handed_back: int = 0
    astray: int = 0
    """Jobs that ended with the rest of their items `failed`, as no process of their version was left."""
    abandoned: int = 0
    """Jobs that ended after `MAX_ATTEMPTS` with the rest of their items `failed`."""


class Board:
    """Tells waiting requests that a job has changed. It may call too often, but never too rarely."""

    def __init__(self) -> None:
        self._waiting: dict[str, dict[asyncio.Event, bool]] = {}
        self.is_closed = False
        """Whether waiting should end, because the process is about to end."""

    @contextlib.contextmanager
    def waiting(self, job_id: str, *, for_news: bool = False) -> Iterator[asyncio.Event]:
        """An event that is set when the job ends. With `for_news` it is also set when the job has new results."""
        rung = asyncio.Event()
        self._waiting.setdefault(job_id, {})[rung] = for_news
        try:
            yield rung
        finally:
            waiters = self._waiting[job_id]
            del waiters[rung]
            if not waiters:
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
    """Holds jobs until their time is over. A result that has been shown never changes.

    All methods but `take`, `look_again`, `leave` and `keep` may raise `StateUnavailable`; then the change may have been made or not.
    Methods that take a claim may raise `ClaimLost`.
    """

    @property
    def board(self) -> Board: ...

    @property
    def errors(self) -> int:
        """The number of calls that failed."""

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def submit(self, submission: Submission) -> str:
        """Store and queue a job. Returns its id.

        Raises:
            Overloaded: the store is full.
            Conflict: its idempotency key belongs to another request.
        """

    async def read(self, job_id: str, after: int) -> Snapshot | None:
        """The job, with its results after the first `after`. None if there is no such job.

        Raises:
            Gone: what is kept of the job is damaged.
        """

    async def cancel(self, job_id: str) -> State | None:
        """Stop a job wherever it runs. A finished job is removed. Returns the state that it had; None if there is no
        such job.
        """

    async def take(self, passed_over: Callable[[], Sequence[str]] = tuple) -> Claim:
        """Wait for the next job: the oldest of the tenant whose turn it is, but of none that is `passed_over` then."""

    def look_again(self) -> None:
        """Note that fewer tenants may be passed over now."""

    async def leave(self) -> None:
        """Give back all claims, so that other processes can take the jobs at once."""

    async def keep(self, claim: Claim) -> None:
        """Hold the claim until it is lost. It never returns."""

    async def append(self, claim: Claim, offset: int, lines: Sequence[bytes]) -> int:
        """Store the results from number `offset` on. May be repeated.

        Returns how many results are stored now. If that is fewer than `offset`, the store has lost some, and they must
        be stored again.
        """

    async def finish(self, claim: Claim, summary: bytes) -> None:
        """Mark the job as done, after all results are stored. May be repeated."""

    async def release(self, claim: Claim) -> None:
        """Give the job back for another attempt. This attempt counts."""

    async def drop(self, claim: Claim) -> None:
        """End a job that is damaged. Its owner is told when it asks for the job, and may cancel it."""

    async def mend(self, claim: Claim, position: int, line: bytes) -> None:
        """Store the result of an item that was judged again in place of a damaged one. May be repeated."""


async def pack(body: bytes, items: int, key: str) -> Submission:
    """Compress a request's JSON for the store."""
    if len(body) < _THREAD_BYTES:
        packed, digest = _pack(body)
    else:
        packed, digest = await asyncio.to_thread(_pack, body)
    return Submission(packed, digest, len(body), items, key)


def _pack(body: bytes) -> tuple[bytes, bytes]:
    return zstandard.ZstdCompressor(level=3).compress(body), hashlib.sha256(body).digest()


async def unpack(submission: Submission) -> bytes:
    """The JSON of a stored request.

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
        raise Damaged("the request differs from the one that was stored")
    return body
