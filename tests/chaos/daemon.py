"""A service with containers as boxes. The Docker daemon below it restarts under load."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.servers import Server
from tests.dockerd import DockerDaemon, bring_small_image
from tests.load.generator import PATIENT, loading, more, until_true
from tests.load.ledger import Ledger
from tests.load.mix import Mix
from tests.ports import free_ports

ABOUT = "dockerd: stopped and started"
_SHARES = {"rules": 0.5, "code": 0.5}


@dataclass(frozen=True)
class Dockerized:
    """The service and the daemon."""

    server: Server
    daemon: DockerDaemon


@asynccontextmanager
async def standing(folder: Path, docker_address: str) -> AsyncIterator[Dockerized]:
    """Start a daemon of its own, with an image made from the one that `docker_address` has.

    Raises:
        NoDocker
    """
    daemon = DockerDaemon(folder / "data", folder)
    async with AsyncExitStack() as stack:
        await asyncio.to_thread(daemon.start)
        stack.callback(daemon.stop)
        await asyncio.to_thread(bring_small_image, docker_address, daemon.address)
        server = Server(
            folder / "docker.jsonl", "127.0.0.1", free_ports(3),
            sandbox="docker", docker_host=daemon.address, docker_image="small", box_slots="2", workers="1",
        )  # fmt: skip
        stack.push_async_callback(server.end)
        await server.start()
        yield Dockerized(server, daemon)


async def run(parts: Dockerized, times: int, seed: int = 40) -> Ledger:
    """Send load before, during and after the daemon's absence. Rules are judged all the time."""
    ledger = Ledger()
    urls = [parts.server.url, parts.server.grpc_url]
    async with loading(urls, ledger, Mix(seed, _SHARES), client=PATIENT):
        for _ in range(times):
            await more(ledger, 100)
            await asyncio.to_thread(parts.daemon.stop)
            for state in ("sandbox_state", "task_daemon_state"):
                await until_true(lambda state=state: parts.server.metric(state, state="lost") == 1)  # type: ignore[misc]
            await asyncio.to_thread(parts.daemon.start)
            for state in ("sandbox_state", "task_daemon_state"):
                await until_true(lambda state=state: parts.server.metric(state, state="ready") == 1)  # type: ignore[misc]
        await more(ledger, 100)
    return ledger
