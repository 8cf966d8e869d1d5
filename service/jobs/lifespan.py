"""Builds a store and a runner for background jobs, and ends both with the server."""

import asyncio
import contextlib
import importlib
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Final

from service.cancellation import cancel
from service.jobs.job import JobCounters, Limits
from service.jobs.memory_store import MemoryJobStore
from service.jobs.runner import Groups, Runner
from service.limits.admission import Admission
from service.observe.metrics import Metrics
from service.scoring.engine import Engine
from service.settings import Settings

if TYPE_CHECKING:
    from service.jobs.redis_store import RedisJobStore  # its library is loaded only where there is a Redis

_COLLECTING_S: Final = 5.0
"""Seconds for which a process without Redis stays up after the last job, so that callers can still fetch results."""


class BackgroundJobs:
    """The store and the runner of background jobs. `open_jobs` makes it."""

    def __init__(self, store: "MemoryJobStore | RedisJobStore", runner: Runner, counters: JobCounters) -> None:
        self.store = store
        self._runner = runner
        self._counters = counters

    async def drain(self) -> None:
        """Release the jobs that another process can finish, and wait for those that no other process can."""
        try:
            if isinstance(self.store, MemoryJobStore):
                await self.store.all_ended(_COLLECTING_S)
            else:
                await self._runner.stop()
        finally:
            self.store.board.close()

    def publish(self, metrics: Metrics) -> None:
        store, counters = self.store, self._counters
        shared = "here" if isinstance(store, MemoryJobStore) else "in Redis, as last heard"
        metrics.watch("jobs_under_way", "Jobs that run in this process", lambda: self._runner.under_way)
        metrics.watch("jobs_unfinished", f"Jobs queued or running {shared}", lambda: store.unfinished)
        metrics.watch("jobs_held", f"Jobs held {shared}", lambda: store.jobs)
        metrics.watch("jobs_held_bytes", f"Bytes of jobs and results held {shared}", lambda: store.nbytes)
        metrics.watch("jobs_store_reached", "1 if jobs can be read and written, else 0", lambda: store.is_reached)
        for name, about in (
            ("submitted", "Jobs submitted"),
            ("repeated", "Submissions answered with an earlier job, by their idempotency key"),
            ("refused", "Submissions refused, as there was no room"),
            ("finished", "Jobs whose last result came from here"),
            ("cancelled", "Jobs cancelled by callers"),
            ("taken_over", "Jobs taken over from a process that was silent"),
            ("claims_lost", "Jobs given up here, as they were cancelled or taken over"),
            ("handed_back", "Jobs handed back when this process ended"),
            ("astray", "Jobs ended with failed items, as no replica of the version that began them was left"),
            ("abandoned", "Jobs ended with failed items, as processes died while they ran them"),
        ):
            metrics.watch_total(f"jobs_{name}", about, partial(_read, counters, name))
        metrics.watch_total("jobs_store_errors", "Calls to Redis for jobs that failed", lambda: store.errors)


@contextlib.asynccontextmanager
async def open_jobs(
    settings: Settings, engine: Engine, admission: Admission, groups: Groups | None = None
) -> AsyncIterator[BackgroundJobs]:
    """Accept jobs and run them. Leaving the block hands back the jobs under way."""
    counters = JobCounters()
    limits = Limits(
        settings.max_jobs, int(settings.max_jobs_mb * 1_000_000), settings.job_ttl_s, settings.job_unfinished_ttl_s
    )
    store: MemoryJobStore | RedisJobStore
    if settings.redis_url is None:
        store = MemoryJobStore(limits, counters)
    else:
        url = settings.redis_url.get_secret_value()
        kind: type[RedisJobStore] = importlib.import_module("service.jobs.redis_store").RedisJobStore
        store = kind(
            url,
            limits,
            counters,
            claim_idle_s=settings.job_claim_idle_s,
            edition=engine.registry.edition,
            edition_wait_s=settings.job_version_wait_s,
        )
    runner = Runner(
        store,
        engine,
        admission,
        counters,
        max_under_way=settings.max_jobs_under_way,
        max_deadline_s=settings.max_deadline_s,
        groups=groups,
    )
    starting = asyncio.create_task(store.start())  # a Redis that does not answer must not delay the service
    try:
        async with runner:
            yield BackgroundJobs(store, runner, counters)
    finally:
        await cancel(starting)
        await store.close()


def _read(counters: JobCounters, name: str) -> float:
    return float(getattr(counters, name))
