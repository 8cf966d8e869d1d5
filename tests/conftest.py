"""Fixtures with a real server in a process of its own: started like `rewardline serve`, or forked from a process
that has imported its modules.
"""

import gc
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # a fork must not let gRPC's threads use our descriptors

import httpx
import pytest
from hypothesis import settings

from tests.dockerd import NoDocker, docker_with_image
from tests.forked_servers import ForkedServer, Seed, lend_zygotes
from tests.lanes import ALONE, LANES, is_of
from tests.waiting import PATIENCE_S, eventually

ROOT = Path(__file__).parents[1]
_SERVICE = "service"
_LONG = 120
"""Parameters with more characters or bytes than this do not become a part of a test's name."""
settings.register_profile("at any speed", settings.default, deadline=None)
settings.load_profile("at any speed")
os.environ["XDG_STATE_HOME"] = str(ROOT / ".build" / "state")
_UNBALANCED = {"drain_notice_s": "0"}
"""The settings of servers that no balancer watches, so that they stop at once."""
_seed: Seed | None = None
"""The process that servers are forked from. It exists while tests run. Measurements outside tests start new
processes."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect the tests without garbage collection. Thousands of tests stay in memory, and searching them for garbage
    takes a third of the time, during the collection and later.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Give tests of long texts short names. Names are sent between processes, and are in the environment of each."""
    if not isinstance(val, str | bytes) or len(val) <= _LONG:
        return None
    shown = val[:_LONG] if isinstance(val, str) else val[:_LONG].decode("ascii", "backslashreplace")
    return f"{shown}~{len(val)}"


def pytest_addoption(parser: pytest.Parser) -> None:
    lanes = ("quick", "all", *LANES)
    parser.addoption("--lane", choices=lanes, default="quick", help="which tests: see tests/lanes.py")


def pytest_configure(config: pytest.Config) -> None:
    os.environ.pop("PYTEST_ADDOPTS", None)  # the options of this run are not those of the runs that tests start
    for name, why in {**LANES, ALONE: "nothing else may run beside it"}.items():
        config.addinivalue_line("markers", f"{name}: {why}")


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in its own hook
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the lane, and put them into an order and into groups.

    Tests that need what `make test` prepares in the background come late. A group holds the tests that share something
    that only one process can use.

    The order is: tests that need none of this; boxes in Docker, the longest series that must run one after the other;
    trainers, with environments that take long to make; verifiers, thousands of short tests, which run beside both; what
    the fuzzing found. If all tests run, boxes in Docker come first: one process waits for their images, and their series
    ends no later than the rest.
    """
    lane, seen = config.getoption("--lane"), Counter[str]()
    wanted: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        function = item.nodeid.partition("[")[0]
        (wanted if is_of(lane, item, seen[function]) else others).append(item)
        seen[function] += 1
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = wanted
    items.sort(key=lambda item: _lateness(item, lane))
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_company(item)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Allow parallel runs only if pytest-xdist sees the groups. Otherwise tests that share user ids would kill each
    other's processes.
    """
    if session.config.getoption("loadgroup", False) and not all("@" in item.nodeid for item in session.items):
        raise pytest.UsageError("pytest-xdist does not see the groups of tests")
    global _seed
    _seed = Seed(ROOT)  # the imports are done; some set variables
    lend_zygotes(_seed)


def _lateness(item: pytest.Item, lane: str) -> int:
    if _waits_for_fuzzing(item):
        return 4
    if "e2e" in item.path.parts:
        return 2
    if _needs_docker(item):
        return -1 if lane == "all" else 1
    return 3 if item.path.is_relative_to(ROOT / "tests" / "verifiers") else 0


def _company(item: pytest.Item) -> str:
    """The group of a test, which shares one process: users of the only daemon; tests that wait for the fuzzing;
    tests with boxes and their user ids; or the tests of one file.
    """
    if _needs_docker(item):
        return "docker"
    if _waits_for_fuzzing(item):
        return (
            "fuzzed"  # not the group of its file: the file's other tests come early, and the wait would come with them
        )
    return "boxes" if item.path.is_relative_to(ROOT / "tests" / "sandbox") else str(item.path)


def _waits_for_fuzzing(item: pytest.Item) -> bool:
    return "fuzzed" in getattr(item, "fixturenames", ())


def _needs_docker(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return "docker" in item.name or any("docker" in name or "daemon" in name for name in fixtures)


@dataclass(frozen=True)
class Served:
    """A running server."""

    url: str
    grpc: str
    process: subprocess.Popen[str] | ForkedServer
    log: Path
    ops: str = ""
    """The address of the operators' port, if `ops_port` is set."""

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=PATIENCE_S)

    def logged(self) -> list[dict[str, Any]]:
        """The lines of the log that are written to their ends: a reader may see the first half of the last one."""
        lines = self.log.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]


@contextmanager
def serving(
    log: Path, arguments: tuple[str, ...] = (), plugins: Path | None = None, module: str = _SERVICE, **settings: str
) -> Iterator[Served]:
    """Start a server on free ports with `REWARDLINE_<NAME>` settings, and stop it in the end.

    `plugins` is a folder of installed distributions. `module` has the command `serve`.
    """
    environment = _with_settings(settings)
    if plugins is not None:
        environment["PYTHONPATH"] = str(plugins)
    can_be_forked = module == _SERVICE and _seed is not None and _seed.suits(environment)
    with _running(log, arguments, environment, _seed if can_be_forked else None, module) as served:
        yield served


@contextmanager
def serving_as_users_do(log: Path, **settings: str) -> Iterator[Served]:
    """Start a server that is never forked: a forked one holds all modules of its seed, too."""
    with _running(log, (), _with_settings(settings), None) as served:
        yield served


def _with_settings(settings: Mapping[str, str]) -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("REWARDLINE_")}
    without_log = {} if "audit_dir" in settings else {"audit_log": "off"}
    chosen = {**_UNBALANCED, **without_log, **settings}
    return environment | {f"REWARDLINE_{name.upper()}": value for name, value in chosen.items()}


@contextmanager
def opening(log: Path, **settings: str) -> Iterator[Served]:
    """Start a server, and go on as soon as its ports answer: parts of it may still be starting."""
    assert _seed is not None
    environment = {f"REWARDLINE_{name.upper()}": value for name, value in settings.items()}
    with _opened(log, (), environment, _seed, _SERVICE) as served:
        yield served


@contextmanager
def _running(
    log: Path, arguments: Sequence[str], environment: Mapping[str, str], seed: Seed | None, module: str = _SERVICE
) -> Iterator[Served]:
    with _opened(log, arguments, environment, seed, module) as served:
        _await_readiness(served.ops or served.url)
        yield served


@contextmanager
def _opened(
    log: Path, arguments: Sequence[str], environment: Mapping[str, str], seed: Seed | None, module: str
) -> Iterator[Served]:
    command = ("serve", "--http-port", "0", "--grpc-port", "0", *arguments)
    with log.open("w") as errors, _started(command, environment, errors, seed, module) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"HTTP on (\S+) and gRPC on (\S+)\.(?: Operations on (\S+)\.)?", line)
        try:
            assert found, f"the server did not start: {line!r} {log.read_text()[-3000:]}"
            yield Served(found[1], found[2], process, log, found[3] or "")
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _started(
    command: Sequence[str], environment: Mapping[str, str], errors: IO[str], seed: Seed | None, module: str
) -> subprocess.Popen[str] | ForkedServer:
    if seed is not None:
        return seed.fork(command, environment, errors)
    whole = [sys.executable, "-m", module, *command]
    return subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment, cwd=ROOT)


def rewardline(*arguments: object, text: str | None = None, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with `REWARDLINE_<NAME>` settings. It has no boxes unless `sandbox` says otherwise.
    `text` is what it reads from standard input.

    It is forked like servers, from a process that has imported what commands import.
    """
    assert _seed is not None
    environment = {f"REWARDLINE_{name.upper()}": value for name, value in {"sandbox": "none", **settings}.items()}
    command = [*map(str, arguments)]
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        _with_text(text) as file,
        _seed.fork(command, environment, errors, file) as process,
    ):
        assert process.stdout is not None
        output = process.stdout.read()
        code = process.wait(120)
        errors.seek(0)
        return subprocess.CompletedProcess(command, code, output, errors.read())


@contextmanager
def _with_text(text: str | None) -> Iterator[IO[str] | None]:
    if text is None:
        yield None
        return
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        file.write(text)
        file.seek(0)
        yield file


def _await_readiness(url: str) -> None:
    def asked() -> httpx.Response:
        return httpx.get(f"{url}/readyz", verify=False, timeout=PATIENCE_S)

    eventually(lambda: asked().status_code == 200, lambda: asked().text)


@pytest.fixture(scope="session")
def docker_address(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a Docker daemon with the box image. If there is none, tests are skipped, except where all tests
    must pass.
    """
    try:
        with docker_with_image(request.config.getoption("--lane")) as address:
            yield address
    except NoDocker as why:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"NO TEST WITH DOCKER: {why}")


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server with the defaults, which all tests share that do not harm it."""
    with serving_as_users_do(tmp_path_factory.mktemp("served") / "log.jsonl") as server:
        yield server


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts servers for one test: `serve(max_items_in_flight="10")`. They have no boxes unless `sandbox` says
    otherwise.
    """
    with ExitStack() as stack:
        count = 0

        def start(*arguments: str, **settings: str) -> Served:
            nonlocal count
            count += 1
            settings = {"sandbox": "none", **settings}
            return stack.enter_context(serving(tmp_path / f"log{count}.jsonl", arguments, None, **settings))

        yield start
