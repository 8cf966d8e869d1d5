"""Real Redis servers as processes that a test may stop, freeze and kill: a single one, one under Sentinel, or a
cluster.
"""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.ports import free_port
from tests.waiting import eventually

_START_S = 20.0


class RedisServer:
    """One `redis-server` on a free port of loopback. After `kill` and `start` it has the same port, and has lost its
    data.
    """

    def __init__(self, folder: Path, *options: str, port: int | None = None) -> None:
        self.port = port or free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = folder
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def socket_path(self) -> Path:
        return self._folder / f"{self.port}.sock"

    def start(self) -> None:
        """Start the server, and return when it answers."""
        self._process = subprocess.Popen(self._command(), stdout=subprocess.DEVNULL, cwd=self._folder)
        eventually(self._answers)

    def stop(self) -> None:
        """Ask the server to end, as an operator would."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Leave its connections open and unanswered until `thaw`."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def call(self, *command: Any) -> Any:
        """Send one command on a connection of its own."""
        once = Retry(NoBackoff(), 0)
        with redis.Redis(port=self.port, socket_timeout=_START_S, protocol=2, retry=once) as client:
            return client.execute_command(*command)

    def calls(self, command: str) -> int:
        """How often the server has run `command`."""
        stats: dict[str, dict[str, int]] = self.call("INFO", "commandstats")
        return stats.get(f"cmdstat_{command.lower()}", {}).get("calls", 0)

    def _command(self) -> list[str]:
        return [
            *("redis-server", "--port", str(self.port), "--bind", "127.0.0.1"),
            *("--unixsocket", str(self.socket_path), "--save", "", "--appendonly", "no"),
            *("--repl-diskless-sync-delay", "0"),
            *self._options,
        ]

    def _answers(self) -> bool:
        assert self._process
        if self._process.poll() is not None:
            raise RuntimeError(f"redis-server ended with {self._process.returncode}: {self._command()}")
        try:
            self.call("PING")
        except redis.ConnectionError:
            return False
        return True

    def _end(self, by: signal.Signals) -> None:
        if self._process:
            self._process.send_signal(by)
            self._process.send_signal(signal.SIGCONT)
            self._process.wait()
            self._process = None


class SentinelServer(RedisServer):
    """A Sentinel that watches one master under the name `verdicts`, and decides alone."""

    service = "verdicts"

    def __init__(self, folder: Path, master_port: int) -> None:
        super().__init__(folder)
        self._config = folder / "sentinel.conf"
        self._config.write_text(
            f"port {self.port}\nbind 127.0.0.1\n"
            f"sentinel monitor {self.service} 127.0.0.1 {master_port} 1\n"
            f"sentinel down-after-milliseconds {self.service} 300\n"
            f"sentinel failover-timeout {self.service} 3000\n"
        )

    def _command(self) -> list[str]:
        return ["redis-server", str(self._config), "--sentinel"]


@contextmanager
def redis_cluster(folder: Path, nodes: int = 3) -> Iterator[list[RedisServer]]:
    """A cluster of masters that share the slots evenly. They all end with the block."""
    slots = 16384
    with ExitStack() as stack:
        servers = []
        for number in range(nodes):
            home = folder / str(number)
            home.mkdir()
            # The cluster's own port must be below 65536 and free. By default it is the other port plus 10000.
            options = ("--cluster-enabled", "yes", "--cluster-port", str(free_port()), "--cluster-node-timeout", "1000")
            servers.append(stack.enter_context(RedisServer(home, *options)))
        for number, server in enumerate(servers):
            server.call("CLUSTER", "ADDSLOTSRANGE", number * slots // nodes, (number + 1) * slots // nodes - 1)
            server.call("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for server in servers[1:]:
            bus = int(server.call("CONFIG GET", "cluster-port")["cluster-port"])
            servers[0].call("CLUSTER", "MEET", "127.0.0.1", server.port, bus)
        for server in servers:
            eventually(lambda server=server: _knows_all_slots(server, nodes))  # type: ignore[misc]
        yield servers


def _knows_all_slots(server: RedisServer, nodes: int) -> bool:
    info: dict[str, str] = server.call("CLUSTER INFO")
    return info["cluster_state"] == "ok" and int(info["cluster_known_nodes"]) == nodes
