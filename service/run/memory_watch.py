"""Watches the memory of this process and of its workers: see `memory.watch`. What they remember is halved beyond the bound."""

import asyncio

import memory
from sandbox.workers import Workers
from service.observe.metrics import Metrics
from tracing.lines import Log
from verifiers.pace import Pace

log = Log("rewardline")

_EVERY_S = 1.0
_SETTLE_EVERY = 60
"""After so many looks, memories that do not count themselves are measured."""


class MemoryWatch:
    """The watch of one service."""

    def __init__(self, bound_mb: int, workers: Workers) -> None:
        """`bound_mb`: of the service and its workers. 0: half of what this process may have."""
        self._workers = workers
        self._must_settle = self._must_trim = False
        self._trim = memory.trimming()
        self.watch = memory.Watch(
            growth_bytes=memory.GRADUAL_GROWTH_BYTES,
            is_gradual=True,
            settle=self._settle_soon,
            trim=self._trim_soon,
            bound_bytes=bound_mb * 1_000_000 or memory.machine_bytes() // 2,
            more_bytes=lambda: workers.resident_bytes,
        )

    async def run(self) -> None:
        """Look once a second, for as long as the service runs."""
        looks = 0
        while True:
            await asyncio.sleep(_EVERY_S)
            looks += 1
            self.look()
            if self._must_settle or looks % _SETTLE_EVERY == 0:
                self._must_settle = False
                await self._settle()
            if self._must_trim:
                self._must_trim = False
                await asyncio.to_thread(self._trim)

    def _settle_soon(self) -> None:
        self._must_settle = True

    def _trim_soon(self) -> None:
        self._must_trim = True

    async def _settle(self) -> None:
        pace = Pace()
        for _ in memory.settling():
            await pace.keep()

    def look(self) -> None:
        memory.drop_overfull()
        rss_bytes = self.watch.rss_bytes
        if self.watch.check():
            self._workers.halve_memories()
            log.warning(
                "memory_full",
                bound_bytes=self.watch.bound_bytes,
                service_bytes=rss_bytes,
                workers_bytes=self._workers.resident_bytes,
                remembered_bytes=memory.total_bytes(),
            )

    def publish(self, metrics: Metrics) -> None:
        watch = self.watch
        metrics.watch_gauges("memory_bytes", "Bytes remembered, by memory", _bytes, "memory")
        metrics.watch_gauges("memory_entries", "Entries remembered, by memory", _entries, "memory")
        metrics.watch("worker_memory_bytes", "Bytes remembered by workers", lambda: self._workers.memories_bytes)
        metrics.watch_gauges("resident_bytes", "Resident memory, by kind of process", self._resident, "process")
        metrics.watch("memory_bound_bytes", "The bound of all processes together", lambda: watch.bound_bytes or 0)
        metrics.watch_total("memory_halvings", "Times memories were halved at the bound", lambda: watch.halvings)
        metrics.watch_total("collections", "Full collections of garbage, after growth", lambda: watch.collections)
        metrics.watch_total("collection_seconds", "Time they took", lambda: watch.collection_s)

    def _resident(self) -> dict[str, float]:
        return {"service": memory.resident_bytes(), "workers": self._workers.resident_bytes}


def _bytes() -> dict[str, float]:
    return {name: holding.bytes for name, holding in memory.holdings().items()}


def _entries() -> dict[str, float]:
    return {name: holding.entries for name, holding in memory.holdings().items()}
