"""The jobs of the current tenant. A store holds the jobs of all tenants, and its ids name their owners."""

import asyncio
from contextlib import AbstractContextManager

from service.jobs.job import JobStore, Snapshot, State, Submission
from service.tenant import owned, parted


class OwnedJobs:
    """The steps of a store that callers ask for, with the ids that callers know."""

    def __init__(self, store: JobStore) -> None:
        self._store = store

    @property
    def is_closed(self) -> bool:
        """Whether waiting should end, because the process is about to end."""
        return self._store.board.is_closed

    def waiting(self, job_id: str, *, for_news: bool) -> AbstractContextManager[asyncio.Event]:
        return self._store.board.waiting(owned(job_id), for_news=for_news)

    async def submit(self, submission: Submission) -> str:
        return parted(await self._store.submit(submission))[1]

    async def read(self, job_id: str, after: int) -> Snapshot | None:
        return await self._store.read(owned(job_id), after)

    async def cancel(self, job_id: str) -> State | None:
        return await self._store.cancel(owned(job_id))
