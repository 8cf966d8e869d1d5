"""Stores for the tests, and jobs to put into them."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from service.jobs.job import Claim, JobCounters, JobStore, Limits, Submission, pack
from service.jobs.memory_store import MemoryJobStore
from service.jobs.redis_store import RedisJobStore
from tests.service.redis_server import RedisServer
from tests.waiting import PATIENCE_S, until

JSON = dict[str, Any]
QUEUE = "rl1:{jobs}:queue"


def limits(
    max_jobs: int = 100, max_bytes: int = 1_000_000, ttl_s: float = 60.0, unfinished_ttl_s: float = 60.0
) -> Limits:
    return Limits(max_jobs, max_bytes, ttl_s, unfinished_ttl_s)


@asynccontextmanager
async def memory_store(bounds: Limits | None = None) -> AsyncIterator[MemoryJobStore]:
    store = MemoryJobStore(bounds or limits(), JobCounters())
    await store.start()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def redis_store(
    url: str,
    bounds: Limits | None = None,
    *,
    is_there: bool = True,
    edition: str = "",
    edition_wait_s: float = 60.0,
) -> AsyncIterator[RedisJobStore]:
    """A store as one process has it. The end of the block is the death of that process: it gives nothing back."""
    store = RedisJobStore(
        url, bounds or limits(), JobCounters(), claim_idle_s=60.0, edition=edition, edition_wait_s=edition_wait_s
    )
    await store.start()
    if is_there:
        await reached(store)
    try:
        yield store
    finally:
        await store.close()


async def reached(store: RedisJobStore) -> None:
    """Return when Redis answers."""
    await until(lambda: store.is_reached)


async def taken(store: JobStore) -> Claim:
    """The next job, which must come soon."""
    async with asyncio.timeout(PATIENCE_S):
        return await store.take()


def silence(server: RedisServer, *job_ids: str) -> None:
    """Make Redis believe that the processes of these jobs have been silent for long."""
    for job_id in job_ids:
        server.call("EVAL", _SILENCE, 1, QUEUE, job_id)


_SILENCE = """
for _, pending in ipairs(redis.call('XPENDING', KEYS[1], 'workers', '-', '+', 100)) do
  local entry = redis.call('XRANGE', KEYS[1], pending[1], pending[1])[1]
  if entry[2][2] == ARGV[1] then
    redis.call('XCLAIM', KEYS[1], 'workers', pending[2], 0, pending[1], 'IDLE', 1000000, 'JUSTID')
  end
end
"""


def silences_ms(server: RedisServer) -> list[int]:
    """The ages of the running jobs: how long their processes have been silent."""
    pending = server.call("EVAL", "return redis.call('XPENDING', KEYS[1], 'workers', '-', '+', 100)", 1, QUEUE)
    return [silence_ms for _, _, silence_ms, _ in pending]


def items(count: int, verifier: str = "counting") -> list[JSON]:
    """Items of which one in three is wrong."""
    return [
        {"verifier": verifier, "response": f"r{n}", "reference": f"r{n if n % 3 else 'wrong'}"} for n in range(count)
    ]


async def job(batch: Sequence[JSON], key: str = "", **more: Any) -> Submission:
    return await pack(json.dumps({"items": batch, **more}).encode(), len(batch), key)
