"""A long run: a mixed load below the service's capacity, and the memory and files that the service holds meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from tests.chaos.servers import Server
from tests.judge_upstream.grader import Grader
from tests.load.footprint import Footprint, footprint
from tests.load.generator import loading
from tests.load.ledger import Ledger
from tests.load.mix import Mix
from tests.ports import free_ports
from tests.service.redis_server import RedisServer

_SAMPLES = 100


@dataclass
class Soak:
    """The result of one run."""

    ledger: Ledger
    capacity_items_per_s: float
    seconds: float = 0.0
    footprints: list[Footprint] = field(default_factory=list)

    @property
    def items_per_s(self) -> float:
        return self.ledger.right / self.seconds


async def soak(folder: Path, seconds: float, share: float = 0.8) -> Soak:
    """Find the capacity of the service in a few seconds, then load it with `share` of that."""
    async with _service(folder) as server:
        urls = [server.url, server.grpc_url]
        found = Soak(Ledger(), await _capacity(urls, max(5.0, seconds / 40)))
        started = perf_counter()
        rate = share * found.capacity_items_per_s
        async with loading(urls, found.ledger, Mix(2), callers=8, items_per_s=rate):
            for _ in range(_SAMPLES):
                await asyncio.sleep(seconds / _SAMPLES)
                found.footprints.append(await asyncio.to_thread(footprint, server.pid))
        found.seconds = perf_counter() - started
        return found


async def _capacity(urls: list[str], seconds: float) -> float:
    """Items per second, as fast as eight callers get answers."""
    ledger = Ledger()
    started = perf_counter()
    async with loading(urls, ledger, Mix(1), callers=8):
        await asyncio.sleep(seconds)
    return ledger.right / (perf_counter() - started)


@asynccontextmanager
async def _service(folder: Path) -> AsyncIterator[Server]:
    """A service with every part that one machine can have. Its caches are so small that they are soon full."""
    async with AsyncExitStack() as stack:
        grader = stack.enter_context(Grader())
        redis = stack.enter_context(RedisServer(folder, "--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru"))
        server = Server(
            folder / "soak.jsonl", "127.0.0.1", free_ports(3),
            sandbox="local", redis_url=redis.url, cache_memory_mb="4", judge_file=str(grader.file(folder, answers_memory_mb=2)),
            audit_dir=str(folder / "audit"), audit_keep_mb="50", audit_rotate_mb="10", log_level="warning",
        )  # fmt: skip
        stack.push_async_callback(server.end)
        await server.start()
        yield server
