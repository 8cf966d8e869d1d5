"""The faults under load. Each scenario breaks a part of the stand several times, and repairs what does not repair
itself. The load continues all the time. `run` reports what happened to the items.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.chaos.servers import boxes, end_at_once, workers
from tests.chaos.stand import Stand
from tests.load.generator import DEFAULTS, PATIENT, loading, more, until_true
from tests.load.ledger import Ledger
from tests.load.mix import SHARES, Mix
from tests.waiting import until

Break = Callable[[Stand, Ledger, int], Awaitable[None]]

_CALM = 100
"""The number of items that must be settled between two faults."""
_PROGRAMS = {"rules": 0.3, "math": 0.1, "code": 0.6}


@dataclass(frozen=True)
class Scenario:
    """A part that breaks."""

    about: str
    """The title of a row in docs/reliability.md."""
    breaks: Break
    shares: Mapping[str, float]
    client: Mapping[str, Any]


async def run(scenario: Scenario, stand: Stand, times: int, seed: int, calm: int = _CALM, largest: int = 256) -> Ledger:
    """Send load before, during and after the fault. Return when everything works again under load.

    `largest` is the most items of a batch. All batches in flight are awaited.
    """
    ledger = Ledger()
    async with loading(stand.urls, ledger, Mix(seed, scenario.shares, largest), client=scenario.client):
        await more(ledger, calm)
        await scenario.breaks(stand, ledger, times)
        await stand.whole_again()
        await more(ledger, calm)
    return ledger


async def kill_workers(stand: Stand, ledger: Ledger, times: int) -> None:
    before = stand.metric("worker_restarts_total")
    for _ in range(times):
        for front in stand.fronts:
            await until(lambda front=front: end_at_once(workers(front.pid)) > 0)  # type: ignore[misc]
        await more(ledger, _CALM)
    await until_true(lambda: stand.metric("worker_restarts_total") > before)


async def kill_boxes(stand: Stand, ledger: Ledger, times: int) -> None:
    """Kill boxes on the hosts in turn, so that one host always has living boxes."""
    for number in range(times):
        host = stand.hosts[number % 2]
        await until(lambda host=host: end_at_once(boxes(host.pid)) > 0)  # type: ignore[misc]
        await more(ledger, _CALM // 2)


async def kill_box_hosts(stand: Stand, ledger: Ledger, times: int) -> None:
    for number in range(times):
        host = stand.hosts[number % 2]
        await host.kill()
        await more(ledger, _CALM // 2)
        await host.start()


async def kill_servers(stand: Stand, ledger: Ledger, times: int) -> None:
    for number in range(times):
        front = stand.fronts[number % 2]
        await front.kill()
        await more(ledger, _CALM)
        await front.start()
        await stand.whole_again()


async def kill_redis(stand: Stand, ledger: Ledger, times: int) -> None:
    for _ in range(times):
        stand.redis.kill()
        await more(ledger, 2 * _CALM)
        await asyncio.to_thread(stand.redis.start)
        await stand.whole_again()


async def restart_redis(stand: Stand, ledger: Ledger, times: int) -> None:
    for _ in range(times):
        await asyncio.to_thread(stand.redis.stop)
        await asyncio.to_thread(stand.redis.start)
        await more(ledger, 2 * _CALM)
        await stand.whole_again()


async def freeze_redis(stand: Stand, ledger: Ledger, times: int) -> None:
    for _ in range(times):
        stand.redis.freeze()
        try:
            await until_true(lambda: not any(front.has_redis() for front in stand.fronts))
            await more(ledger, 2 * _CALM)
        finally:
            stand.redis.thaw()
        await stand.whole_again()


async def slow_redis(stand: Stand, ledger: Ledger, times: int) -> None:
    before = stand.metric("cache_errors_total")
    for _ in range(times):
        stand.redis_proxy.fault = "latency"
        try:
            await more(ledger, 2 * _CALM)
            await until_true(lambda: stand.metric("cache_errors_total") > before)
        finally:
            stand.redis_proxy.fault = "none"
        await stand.whole_again()


async def fill_redis(stand: Stand, ledger: Ledger, times: int) -> None:
    """Fill Redis, which evicts nothing. It answers every write with an error."""
    call = stand.redis.call
    for _ in range(times):
        before = stand.metric("cache_errors_total")
        call("CONFIG", "SET", "maxmemory-policy", "noeviction", "maxmemory", "1")
        try:
            await more(ledger, 2 * _CALM)
            await until_true(lambda before=before: stand.metric("cache_errors_total") > before)  # type: ignore[misc]
        finally:
            call("CONFIG", "SET", "maxmemory", "0")
        await stand.whole_again()


async def roll(stand: Stand, ledger: Ledger, times: int) -> None:
    """Replace both replicas, one after the other, as a Deployment does: drain, SIGTERM, a new process."""
    for _ in range(times):
        for front in stand.fronts:
            code = await front.drain_and_stop()
            assert code == 0, f"the exit code was {code}"
            await more(ledger, _CALM)
            await front.start()
            await stand.whole_again()


SCENARIOS = {
    "workers": Scenario("every worker of both services: kill -9", kill_workers, SHARES, PATIENT),
    "boxes": Scenario("boxes, on two box hosts in turn: kill -9", kill_boxes, _PROGRAMS, PATIENT),
    "box_hosts": Scenario("one of two box hosts: kill -9", kill_box_hosts, _PROGRAMS, PATIENT),
    "servers": Scenario("one of two services: kill -9", kill_servers, SHARES, PATIENT),
    "redis_killed": Scenario("Redis: kill -9, started again empty", kill_redis, SHARES, PATIENT),
    "redis_restarted": Scenario("Redis: stopped and started", restart_redis, SHARES, PATIENT),
    "redis_frozen": Scenario("Redis: SIGSTOP, later SIGCONT", freeze_redis, SHARES, PATIENT),
    "redis_slow": Scenario("Redis: each answer 200 ms late", slow_redis, SHARES, PATIENT),
    "redis_full": Scenario("Redis: out of memory, no eviction", fill_redis, SHARES, PATIENT),
    "rolling": Scenario("both services, one after the other: drain, SIGTERM, new process", roll, SHARES, DEFAULTS),
}
