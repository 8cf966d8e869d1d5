"""The start of a server: what does not wait for what, and one line instead of a traceback where it cannot start."""

import asyncio
import gc
import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory import GRADUAL_THRESHOLDS
from sandbox.workers import Workers
from service.cache import redis_cache
from service.cli.serve import EARLY, _announce
from service.jobs.lifespan import open_jobs
from service.run import core
from service.run.sockets import Addresses
from service.settings import Settings
from service.storage import listening_link
from tests.conftest import ROOT, opening, rewardline
from tests.waiting import PATIENCE_S, eventually
from verifiers import commitment, registry
from verifiers.base import Resources

JSON = dict[str, Any]
MATH = {"verifier": "math", "response": "\\boxed{x+1}", "reference": "1+x"}


@contextmanager
def hanging(path: Path) -> Iterator[socket.socket]:
    """A server at this path that takes connections and never answers."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen(64)
        yield server


def test_the_ports_answer_while_boxes_start_and_one_line_says_that_there_are_none(tmp_path: Path) -> None:
    """The Docker daemon hangs. Then it is gone, and the setting demands it."""
    path, log = tmp_path / "docker.sock", tmp_path / "log.jsonl"
    with hanging(path) as daemon, opening(log, sandbox="docker", docker_host=f"unix://{path}", workers="1") as served:
        starting = httpx.get(f"{served.url}/readyz")
        assert starting.status_code == 503
        assert "are starting" in starting.json()["problems"]["sandbox"]
        assert httpx.get(f"{served.url}/healthz").status_code == 200
        scored = httpx.post(f"{served.url}/v1/score", json={"items": [MATH]}, timeout=PATIENCE_S).json()["results"]
        assert [result["score"] for result in scored] == [1.0]
        path.unlink()
        daemon.close()
        assert served.process.wait(timeout=PATIENCE_S) == 2
    lines = [line for line in log.read_text().splitlines() if not line.startswith("{")]
    assert len(lines) == 1, lines
    assert lines[0].startswith("rewardline: the setting `sandbox` demands boxes for programs, and there are none: ")


@pytest.mark.siege
def test_boxes_that_are_starting_hold_up_nothing_where_they_are_not_demanded(tmp_path: Path) -> None:
    path = tmp_path / "docker.sock"
    code = {
        "verifier": "code",
        "response": "```python\nprint(input())\n```",
        "reference": [{"input": "a", "output": "a"}],
    }
    with hanging(path), opening(tmp_path / "log", sandbox="auto", docker_host=f"unix://{path}", workers="1") as served:
        eventually(lambda: httpx.get(f"{served.url}/readyz").status_code == 200)
        answer = httpx.get(f"{served.url}/readyz").json()
        assert "sandbox" in answer.get("starting", {}) or httpx.get(f"{served.url}/v1/sandbox").json()["refused"], (
            answer
        )
        # Docker is given up after a while, and local boxes are made: the program has waited for them.
        scored = httpx.post(f"{served.url}/v1/score", json={"items": [code]}, timeout=PATIENCE_S).json()["results"]
        assert [(result["status"], result["score"]) for result in scored] == [("ok", 1.0)]
        assert "starting" not in httpx.get(f"{served.url}/readyz").json()


@pytest.mark.siege
async def test_a_redis_that_does_not_answer_delays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is waited for without end, and everything else is there."""
    for module, name in (
        (redis_cache, "_CONNECT_TIMEOUT_S"),
        (listening_link, "_CONNECT_S"),
        (listening_link, "_SILENCE_S"),
    ):
        monkeypatch.setattr(module, name, 1e6)
    path = tmp_path / "redis.sock"
    with hanging(path):
        settings = Settings(sandbox="none", workers=1, redis_url=f"unix://{path}")
        monkeypatch.setattr(redis_cache.RedisCache, "_probe", _without_end)
        async with core.begin_core(settings) as built, open_jobs(settings, built.engine, built.admission):
            await built.workers.settled()
            readiness = built.readiness()
            assert not readiness.problems
            assert "redis" in readiness.starting


async def _without_end(self: redis_cache.RedisCache, client: Any) -> None:
    await asyncio.Event().wait()


@pytest.mark.contract
def test_before_its_workers_begin_a_server_loads_nothing_that_is_for_others() -> None:
    """Doors come later, other commands never, and what speaks to Redis, Docker, judges and box hosts only where they are."""
    code = (
        "import sys, service.cli.serve, service.run.startup; print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {"service", "verifiers", "sandbox"} <= loaded
    later = {"fastapi", "uvicorn", "starlette", "google", "redis", "docker", "aiohttp", "requests", "rewardline", "ray"}
    assert loaded & later == set()


def test_garbage_is_collected_once_the_ports_answer() -> None:
    thresholds = gc.get_threshold()
    gc.disable()
    try:
        _announce(Settings(), Addresses("http://127.0.0.1:1", "127.0.0.1:2"))
        assert (gc.isenabled(), gc.get_threshold()) == (True, GRADUAL_THRESHOLDS)
    finally:
        gc.enable()
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def test_what_workers_load_early_is_what_they_are_ordered_to_load() -> None:
    workers = Workers(1)
    registry.load(Resources(workers))
    workers.register(commitment.LOAD)
    early = [(task.module, task.function) for task in EARLY]
    assert set(early) <= {(module, function) for module, function, *_ in workers._order.tasks}


@contextmanager
def taken() -> Iterator[int]:
    """A port that is in use."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"redis_url": "http://:secret@host"}, "redis_url: Redis URL: expected one of redis://"),
        ({"redis_url": "rediss://h?ssl_certfile=/no/cert"}, "redis_url: Redis URL: ssl_certfile: cannot read /no/cert"),
        ({"openenv_tasks": "/no/tasks"}, "openenv_tasks: cannot read /no/tasks"),
        ({"harbor_root": "/no/tasks"}, "harbor_root: there is no folder /no/tasks"),
        ({"dataset_root": "/no/data"}, "dataset_root: there is no folder /no/data"),
        ({"recipes_file": "/no/recipes"}, "/no/recipes: "),
        ({"judge_file": "/no/judges"}, "cannot read /no/judges"),
        ({"keys_file": "/no/keys"}, "cannot read /no/keys"),
        ({"workres": "1"}, "REWARDLINE_WORKRES: there is no such variable; did you mean REWARDLINE_WORKERS?"),
        ({"redis_ulr": "redis://h"}, "REWARDLINE_REDIS_ULR: there is no such variable; did you mean REWARDLINE_REDIS_URL?"),
    ],
)  # fmt: skip
def test_what_cannot_start_says_so_in_one_line(settings: dict[str, str], line: str) -> None:
    done = rewardline("serve", "--http-port", "0", "--grpc-port", "0", **settings, workers="1", log_level="error")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"rewardline: {line}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr


@pytest.mark.parametrize("port", ["http_port", "grpc_port", "ops_port"])
def test_a_port_in_use_is_said_before_anything_starts(port: str) -> None:
    """The recipes are not read yet: otherwise they would be what is wrong."""
    with taken() as used:
        ports = {"http_port": "0", "grpc_port": "0", port: str(used)}
        done = rewardline("serve", **ports, recipes_file="/no/recipes", log_level="error")
    assert (done.returncode, done.stderr) == (
        2,
        f"rewardline: cannot listen on 127.0.0.1:{used} (setting `{port}`): Address already in use\n",
    )


def test_few_open_files_are_said_in_one_line() -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))

    command = [sys.executable, "-m", "service", "serve", "--http-port", "0", "--grpc-port", "0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("rewardline: this process may open 100 files (RLIMIT_NOFILE), and needs at least 128")
    assert done.stderr.count("\n") == 1


_OF_FEW_PROCESSES = """
import os, resource, sys
from service.run import host
from service.run.cannot_start import CannotStart
from service.settings import Settings
host.check_processes(Settings(workers=1))
os.setgroups([]); os.setgid(64123); os.setuid(64123)  # the kernel sets root no limit
resource.setrlimit(resource.RLIMIT_NPROC, (5, 5))
try:
    host.check_processes(Settings(workers=1))
except CannotStart as error:
    sys.exit(str(error))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user without other processes")
def test_few_processes_are_said_in_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", _OF_FEW_PROCESSES], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("user 64123 can start only ")
    assert "its limit for all its processes is 5; a start needs 33" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.siege
def test_a_machine_that_speaks_ascii_judges_any_language() -> None:
    command = [sys.executable, "-m", "service", "try", "exact_match", "--response", "é…", "--reference", "é…", "--json"]
    environment = {"PATH": os.environ["PATH"], "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, env={**environment, "REWARDLINE_SANDBOX": "none"})
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["score"] == 1.0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make file systems read-only")
def test_without_a_folder_for_temporary_files_readiness_says_so() -> None:
    script = """
for place in /tmp /var/tmp /usr/tmp; do [ -d $place ] && mount -t tmpfs -o ro none $place; done
cd / && mount --bind /sys /sys && mount -o remount,bind,ro /sys && cd /sys && exec "$0" -c "$1"
"""
    code = f"import sys; sys.path[:0] = {[str(ROOT), str(ROOT / 'client')]!r}; from service.run import host; print(host.lack_of_files())"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, sys.executable, code],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"]},
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr}")
    assert done.stdout.startswith("no folder for temporary files can be written"), done.stderr
