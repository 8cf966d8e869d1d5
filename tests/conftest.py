"""A real server in a process of its own, as `rewardline serve` starts it."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = (
    "0"  # in a fork, which asks nothing of gRPC, its threads would use our descriptors
)

import httpx
import pytest

ROOT = Path(__file__).parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the box image and the fuzzing, which `make test` began beforehand, waited for as late as can be."""
    items.sort(key=_lateness)


def _lateness(item: pytest.Item) -> int:
    fixtures = getattr(item, "fixturenames", ())
    if "fuzzed" in fixtures:
        return 2
    return int("docker" in item.name or any("docker" in name or "daemon" in name for name in fixtures))


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
            _await_readiness(found[1])
            yield Served(found[1], found[2], process, log)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                process.kill()


def _await_readiness(url: str) -> None:
    for _ in range(300):
        if httpx.get(f"{url}/readyz").status_code == 200:
            return
        time.sleep(0.1)
    raise AssertionError(httpx.get(f"{url}/readyz").text)


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
