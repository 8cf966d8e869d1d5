"""One service without a proxy, on parts that break in other ways: a Redis under Sentinel, a small disk for the audit
log, and a clock that the test sets.
"""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from tests.chaos.servers import Server
from tests.judge_upstream.grader import Grader
from tests.load.generator import PATIENT, loading, more, until_true
from tests.load.ledger import Ledger
from tests.load.mix import Mix
from tests.ports import free_ports
from tests.service.redis_server import RedisServer, SentinelServer

_DISK_MB = 2
_FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
_SHARES = {"rules": 0.6, "math": 0.3, "judge": 0.1}
_CALM = 100


@dataclass(frozen=True)
class Alone:
    """The service and the parts around it."""

    server: Server
    master: RedisServer
    replica: RedisServer
    disk: Path
    clock: Path
    """This file holds the error of the service's wall clock: `+0`, `-1h`."""


Break = Callable[[Alone, Ledger], Any]


async def run(breaks: Break, alone: Alone, seed: int) -> Ledger:
    """Send load before, during and after the fault."""
    ledger = Ledger()
    urls = [alone.server.url, alone.server.grpc_url]
    async with loading(urls, ledger, Mix(seed, _SHARES), client=PATIENT):
        await more(ledger, _CALM)
        await breaks(alone, ledger)
        await more(ledger, _CALM)
    return ledger


@asynccontextmanager
async def standing(folder: Path) -> AsyncIterator[Alone]:
    """Start everything. This needs root and libfaketime.

    Raises:
        FileNotFoundError: libfaketime is not installed.
    """
    _check_tools()
    homes = [folder / name for name in ("master", "replica", "sentinel")]
    for home in homes:
        home.mkdir()
    clock = folder / "clock"
    clock.write_text("+0\n")
    async with AsyncExitStack() as stack:
        master = stack.enter_context(RedisServer(homes[0]))
        replica = stack.enter_context(RedisServer(homes[1], "--replicaof", "127.0.0.1", str(master.port)))
        sentinel = stack.enter_context(SentinelServer(homes[2], master.port))
        await until_true(lambda: _knows(sentinel, replica))
        disk = stack.enter_context(_small_disk(folder / "disk"))
        grader = stack.enter_context(Grader())
        server = Server(
            folder / "alone.jsonl", "127.0.0.1", free_ports(3),
            redis_url=f"redis+sentinel://127.0.0.1:{sentinel.port}/{sentinel.service}/0", cache_memory_mb="1",
            audit_dir=str(disk / "audit"), audit_rotate_mb="0.2", audit_queue_mb="0.5",
            judge_file=str(grader.file(folder)), sandbox="none", workers="1", log_level="warning",
        )  # fmt: skip
        stack.push_async_callback(server.end)
        await server.start()
        await until_true(server.has_redis)
        yield Alone(server, master, replica, disk, clock)


async def fail_over(alone: Alone, ledger: Ledger) -> None:
    """Kill the master. Sentinel makes the replica the new master."""
    alone.master.kill()
    await until_true(lambda: not alone.server.has_redis())
    await until_true(lambda: _is_master(alone.replica))
    await until_true(alone.server.has_redis)
    before = alone.server.metric("cache_written_total")
    await more(ledger, _CALM)
    await until_true(lambda: alone.server.metric("cache_written_total") > before)


def _is_master(server: RedisServer) -> bool:
    try:
        return server.call("ROLE")[0] in (b"master", "master")
    except redis.ConnectionError:  # a replica closes all connections when it becomes the master
        return False


async def fill_disk(alone: Alone, ledger: Ledger) -> None:
    """Fill the disk. The audit log loses lines, counts them, and continues when there is room."""
    filler = alone.disk / "filler"
    dropped = alone.server.metric("audit_dropped_items_total")
    with filler.open("wb") as file:
        try:
            while file.write(b"x" * 65536):
                file.flush()
        except OSError:
            pass  # the disk is full
        await until_true(lambda: alone.server.metric("audit_dropped_items_total") > dropped)
        file.truncate(0)
    filler.unlink()
    written = alone.server.metric("audit_records_total")
    await until_true(lambda: alone.server.metric("audit_records_total") > written)
    await more(ledger, _CALM)


async def step_clock(alone: Alone, ledger: Ledger) -> None:
    """Set the clock an hour ahead, two days back, and right again. This comes after `kill_the_only_server`."""
    for offset in ("+3600", "-172800", "+0"):
        alone.clock.write_text(f"{offset}\n")
        await more(ledger, 2 * _CALM)


async def kill_the_only_server(alone: Alone, ledger: Ledger) -> None:
    """Kill the service. Callers wait for the new one, which runs with a clock that can be set."""
    await alone.server.kill()
    await asyncio.sleep(1)
    with _clock(alone.clock):
        await alone.server.start()
    await more(ledger, _CALM)


SCENARIOS: dict[str, tuple[str, Break]] = {
    "disk": ("the audit log's disk: full, later with room", fill_disk),
    "failover": ("Redis: its master kill -9, failover by Sentinel", fail_over),
    "only_server": ("the only service, without a proxy: kill -9, new process", kill_the_only_server),
    "clock": ("the wall clock: an hour ahead, two days back, right again", step_clock),
}


def _check_tools() -> None:
    if not _FAKETIME.exists():
        raise FileNotFoundError("libfaketime is not installed: `make chaos-tools` as root installs it")


def _knows(sentinel: SentinelServer, replica: RedisServer) -> bool:
    known: list[dict[str, Any]] = sentinel.call("SENTINEL SLAVES", sentinel.service)
    return [one["port"] for one in known if one["flags"] == "slave"] == [replica.port]


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    """Mount a small disk. This needs root."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK_MB}m", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _clock(file: Path) -> Iterator[None]:
    """Variables for processes with a false clock. They read `file` at each look at the wall clock. The monotonic
    clock stays true, as it does when an administrator sets the time.
    """
    variables = {
        "LD_PRELOAD": str(_FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_RESET": "1",
    }
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
