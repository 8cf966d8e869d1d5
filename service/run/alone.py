"""An engine of one verifier, without boxes, judges and doors: what a person needs who looks at one verdict. Only that
verifier is imported, and workers start when an item needs one.
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from importlib.metadata import version as distribution_version
from typing import Any, Final

from sandbox.workers import BY_NAME, Outcome, Task, Workers
from service.cache.memory_cache import MemoryCache
from service.cache.verdict_cache import VerdictCache
from service.observe.metrics import Metrics
from service.recipes.book import Book
from service.run.cannot_start import CannotStart
from service.scoring.engine import Engine
from service.settings import Settings
from verifiers import registry
from verifiers.base import Resources

_MORE: Final = frozenset({"sandbox", "judges", "containers", "task_root"})
"""What a verifier may ask of its resources that is not here."""


_COLD_S: Final = 1.0
"""CPU seconds for what the workers of a service have built and imported before their first item, and these have not."""


class _Workers(Workers):
    """A pool that starts when the first item asks for it. Its zygote imports the task of that item; a worker imports the
    others when they are asked for.
    """

    def __init__(self, size: int, *, memory_mb: int) -> None:
        super().__init__(size, memory_mb=memory_mb)
        self._known: dict[tuple[str, str], Task] = {}
        self._first: Task | None = None

    def register(self, task: Task) -> None:
        self._known[task.module, task.function] = task

    async def map(
        self, task: Task, payloads: Sequence[Any], on_outcome: Callable[[int, Outcome], None] | None = None
    ) -> list[Outcome]:
        if not payloads:
            return []
        known = self._known[task.module, task.function]
        if self._first is None:
            self._first = known
            super().register(replace(known, warm=()))
            super().register(BY_NAME)
            await self.begin()
        time_limit_s = task.time_limit_s + _COLD_S
        if self._first is known:
            return await super().map(replace(task, time_limit_s=time_limit_s), payloads, on_outcome)
        named = [[task.module, task.function, payload] for payload in payloads]
        return await super().map(replace(BY_NAME, time_limit_s=time_limit_s), named, on_outcome)


class _Resources(Resources):
    """Resources that note what a verifier takes from them."""

    taken: set[str]

    def __init__(self, workers: Workers) -> None:
        super().__init__(workers)
        object.__setattr__(self, "taken", set[str]())

    def __getattribute__(self, name: str) -> Any:
        if name in _MORE:
            self.taken.add(name)
        return super().__getattribute__(name)


@contextlib.asynccontextmanager
async def open_alone(settings: Settings, name: str) -> AsyncIterator[Engine | None]:
    """An engine with the verifier of this name. None: there is none, or it judges with more than workers.

    Raises:
        CannotStart: the verifier does not load.
    """
    workers = _Workers(1, memory_mb=settings.worker_memory_mb)
    resources = _Resources(workers)
    try:
        verifiers = registry.load_alone(name, resources)
    except registry.BrokenVerifier as error:
        raise CannotStart(str(error)) from error
    if verifiers is None or resources.taken:
        yield None
        return
    engine = Engine(
        verifiers,
        VerdictCache(MemoryCache(int(settings.cache_memory_mb * 1_000_000))),
        Metrics(distribution_version("rewardline-server")),
        workers=1,
        is_starting=lambda: workers.starting,
        item_deadline_s=settings.item_deadline_s,
        max_response_bytes=settings.max_response_bytes,
        book=Book({}, (), (), {}),
    )
    try:
        async with engine:
            yield engine
    finally:
        await workers.stop()
