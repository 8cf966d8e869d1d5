"""A whole deployment on loopback. Scenarios break it part by part.

load ─► HAProxy (deploy/docker/haproxy.cfg) ─► two services ─► two box hosts
├─► Redis, through a proxy that can spoil it
└─► a judge
"""

import asyncio
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.chaos.servers import Server
from tests.conftest import ROOT
from tests.judge_upstream.grader import Grader
from tests.load.generator import until_true
from tests.ports import free_ports
from tests.service.fault_proxy import FaultProxy, fault_proxy
from tests.service.redis_server import RedisServer

_KEY = "0123456789abcdef-boxes"


@dataclass(frozen=True)
class Stand:
    """The parts of the deployment. `urls` lead through HAProxy."""

    fronts: Sequence[Server]
    hosts: Sequence[Server]
    redis: RedisServer
    redis_proxy: FaultProxy
    urls: Sequence[str]

    async def whole_again(self) -> None:
        """Return when every part works, as far as the parts can tell."""
        for server in (*self.fronts, *self.hosts):
            await until_true(lambda server=server: is_ready(server))  # type: ignore[misc]
        for front in self.fronts:
            await until_true(front.has_redis)

    def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric over both services."""
        return sum(front.metric(name, **labels) for front in self.fronts)


def is_ready(server: Server) -> bool:
    """Whether a service takes new work, and lacks nothing for any kind of it."""
    try:
        answer = httpx.get(f"{server.ops}/readyz")
    except httpx.TransportError:
        return False
    return answer.status_code == 200 and "lacks" not in answer.json()


@asynccontextmanager
async def standing(folder: Path) -> AsyncIterator[Stand]:
    """Start everything at once, and end it in the end."""
    async with AsyncExitStack() as stack:
        grader = stack.enter_context(Grader())
        redis = stack.enter_context(RedisServer(folder))
        proxy = await stack.enter_async_context(fault_proxy(redis.port))
        limits = {"workers": "1", "item_deadline_s": "20", "log_level": "warning"}
        hosts = [
            Server(
                folder / f"host{n}.jsonl", "127.0.0.1", free_ports(3),
                sandbox="local", box_slots="1", api_keys=f"front={_KEY}", **limits,
            )
            for n in range(2)
        ]  # fmt: skip
        # the replicas have the same ports, at different addresses
        ports = free_ports(3)
        shared = {
            "redis_url": proxy.url, "box_hosts": ",".join(host.url for host in hosts), "box_hosts_key": _KEY,
            "judge_file": str(grader.file(folder)), "cache_memory_mb": "1",
        }  # fmt: skip
        fronts = [Server(folder / f"front{n}.jsonl", f"127.0.0.{n}", ports, **shared, **limits) for n in (2, 3)]
        for server in (*hosts, *fronts):
            stack.push_async_callback(server.end)
        async with asyncio.TaskGroup() as tasks:
            for server in (*hosts, *fronts):
                tasks.create_task(server.start())
        urls = stack.enter_context(haproxy(folder, [front.url for front in fronts], ports))
        stand = Stand(fronts, hosts, redis, proxy, urls)
        await stand.whole_again()
        await until_true(lambda: _answers(urls[0]))
        yield stand


@contextmanager
def haproxy(folder: Path, urls: Sequence[str], ports: Sequence[int]) -> Iterator[list[str]]:
    """HAProxy as it is deployed, with addresses instead of the names that it looks up. Yields its addresses for HTTP
    and gRPC.

    Raises:
        FileNotFoundError: it is not installed.
    """
    if shutil.which("haproxy") is None:
        raise FileNotFoundError("haproxy is not installed: `make chaos-tools` as root installs it")
    http, grpc, ops = free_ports(3)
    file = folder / "haproxy.cfg"
    file.write_text(_configuration([url.split("/")[2].split(":")[0] for url in urls], ports, (http, grpc, ops)))
    with ExitStack() as stack:
        log = stack.enter_context((folder / "haproxy.log").open("w"))
        process = stack.enter_context(subprocess.Popen(["haproxy", "-db", "-f", file], stdout=log, stderr=log))
        stack.callback(process.kill)
        yield [f"http://127.0.0.1:{http}", f"grpc://127.0.0.1:{grpc}"]


def _configuration(hosts: Sequence[str], ports: Sequence[int], doors: Sequence[int]) -> str:
    """The deployed configuration, with servers by address and with the ports of this run."""
    text = (ROOT / "deploy/docker/haproxy.cfg").read_text()
    text = text.replace(" resolvers names init-addr none", "").replace("8090", str(ports[2]))
    for door, port in zip(("8080", "8081", "8404"), doors, strict=True):
        text = text.replace(f"bind :{door}", f"bind 127.0.0.1:{port}")
    for door, port in zip(("8080", "8081"), ports, strict=False):
        lines = [f"    server s{host} {host}:{port}\\1\n" for host in hosts]
        template = rf" *server-template service 1-16 service-watch:{door}(.*)\n"
        text, count = re.subn(template, "".join(lines), text)
        assert count
    return text


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz").status_code == 200
    except httpx.TransportError:
        return False
