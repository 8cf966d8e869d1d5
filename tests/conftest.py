"""A real server in a process of its own, as `rewardline serve` starts it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Served:
    """A running server."""

    url: str
    grpc: str
    process: subprocess.Popen[str]
    log: Path

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


@contextmanager
def serving(
    log: Path, arguments: tuple[str, ...] = (), plugins: Path | None = None, **settings: str
) -> Iterator[Served]:
    """Start a server on free ports with `REWARDLINE_<NAME>` settings, and stop it in the end.

    `plugins` is a folder of installed distributions.
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith("REWARDLINE_")}
    environment |= {f"REWARDLINE_{name.upper()}": value for name, value in settings.items()}
    if plugins is not None:
        environment["PYTHONPATH"] = str(plugins)
    command = [sys.executable, "-m", "service", "serve", "--http-port", "0", "--grpc-port", "0", *arguments]
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment, cwd=ROOT
        ) as process,
    ):
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"HTTP on (\S+) and gRPC on (\S+)\.", line)
        try:
            assert found, f"the server did not start: {line!r} {log.read_text()[-3000:]}"
            yield Served(found[1], found[2], process, log)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server with the defaults, shared by all tests that do it no harm."""
    with serving(tmp_path_factory.mktemp("served") / "log.jsonl") as server:
        yield server


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts servers of the test's own: `serve(max_items_in_flight="10")`."""
    with ExitStack() as stack:
        count = 0

        def start(*arguments: str, **settings: str) -> Served:
            nonlocal count
            count += 1
            return stack.enter_context(serving(tmp_path / f"log{count}.jsonl", arguments, None, **settings))

        yield start
