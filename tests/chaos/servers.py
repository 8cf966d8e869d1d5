"""Servers that are killed and return at the same address, and what their operators' port says."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from service.cli.drain import drain
from tests.conftest import Served, serving
from tests.processes import children
from tests.waiting import PATIENCE_S


class Server:
    """A service that keeps its ports. Methods that wait for it block; the others do not."""

    def __init__(self, log: Path, host: str, ports: Sequence[int], **settings: str) -> None:
        self._http, self._grpc, ops = ports
        self._log = log
        self._starts = 0
        self._settings = {"host": host, "ops_port": str(ops), **settings}
        self._life = ExitStack()
        self._served: Served | None = None
        self.ops = f"http://{host}:{ops}"
        self.url = f"http://{host}:{self._http}"
        self.grpc_url = f"grpc://{host}:{self._grpc}"

    @property
    def served(self) -> Served:
        assert self._served
        return self._served

    @property
    def pid(self) -> int:
        return self.served.process.pid

    async def start(self) -> None:
        """Start the process, and return when it is ready."""
        await asyncio.to_thread(self._start)

    async def kill(self) -> None:
        """Kill the process and its children. Boxes and workers notice this and end by themselves."""
        os.kill(self.pid, signal.SIGKILL)
        await self.end()

    async def drain_and_stop(self) -> int:
        """Stop as Kubernetes does: the preStop hook, then SIGTERM. Returns the exit code."""
        await asyncio.to_thread(drain, self.ops)
        return await self.stop()

    async def stop(self) -> int:
        """Stop the process by SIGTERM alone. Returns the exit code."""
        self.served.process.send_signal(signal.SIGTERM)
        code = await asyncio.to_thread(self.served.process.wait, PATIENCE_S)
        await self.end()
        return code

    async def end(self) -> None:
        await asyncio.to_thread(self._life.close)

    def metric(self, name: str, **labels: str) -> float:
        """The sum of all samples of this name with these labels."""
        text = httpx.get(f"{self.ops}/metrics", timeout=PATIENCE_S).text
        found = [
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == f"rewardline_{name}" and labels.items() <= sample.labels.items()
        ]
        return float(sum(found))

    def has_redis(self) -> bool:
        """Whether the service's cache reaches Redis."""
        return self.metric("cache_redis_state", state="closed") == 1.0

    def _start(self) -> None:
        ports = ("--http-port", str(self._http), "--grpc-port", str(self._grpc))
        self._starts += 1
        log = self._log.with_suffix(f".{self._starts}.jsonl")
        self._served = self._life.enter_context(serving(log, ports, None, **self._settings))


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""


def workers(pid: int) -> list[int]:
    """The worker processes of the service with this pid."""
    zygotes = [child for child in children(pid) if b"sandbox.workers" in command_line(child)]
    return [worker for zygote in zygotes for worker in children(zygote)]


def boxes(pid: int) -> list[int]:
    """The first process of each local box of the service with this pid."""
    keepers = [child for child in children(pid) if b"sandbox.workers" not in command_line(child)]
    return [first for keeper in keepers for first in children(keeper)]


def end_at_once(pids: Sequence[int]) -> int:
    """Send SIGKILL to those that still exist. Returns how many there were."""
    ended = 0
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
            ended += 1
        except ProcessLookupError:
            pass  # it has ended by itself
    return ended
