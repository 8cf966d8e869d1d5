"""Nothing is left of ten thousand runs, nor of a service that was killed: no container, mount, process, control group,
descriptor or directory.
"""

import contextlib
import os
import re
import signal
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import httpx
import pytest

from sandbox.boxes.backend import Backend, BoxSize
from sandbox.boxes.docker import DockerBackend
from sandbox.boxes.local import LocalBackend, cgroups
from tests.conftest import Served, serving
from tests.processes import descendants
from tests.sandbox.bench import RIGHT, Bench, bench
from tests.sandbox.containers import containers_of
from tests.sandbox.processes import groups_of, is_alive
from tests.waiting import PATIENCE_S, eventually, until

SIZE = BoxSize(memory_mb=512, processes=64, disk_mb=64)
RUNS = 100
_PATIENT_LOOKS = 2000
"""At what is held, 10 ms apart: then what is more than before and stays the same is taken for left over."""
MANY: dict[str, Any] = {
    "case_type": "stdio",
    "test_cases": [{"input": f"{n} 1\n", "expected_output": str(n + 1)} for n in range(RUNS)],
}
FEW = MANY | {"test_cases": MANY["test_cases"][:10]}
UNTIDY = """```python
import os, time
open("left", "w").write("x"); os.makedirs("a/b/c")
for place in ("/tmp", "/dev/shm"):
    open(f"{place}/left-{os.getpid()}", "w").close()
if os.fork() == 0:
    os.setsid()
    time.sleep(1000)
print(sum(map(int, input().split())))
```"""
"""Right, and leaves behind what it can."""


_MOUNTS_OF_OTHERS = ("/docker/", "/netns/", "/mmdebstrap.")
"""The daemon's for containers that run just now, their file systems and network namespaces, and an image's being built."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a process has of the machine."""

    descriptors: int
    mounts: frozenset[str]
    processes: Counter[str]
    """How many there are of each name."""
    groups: int
    directories: frozenset[str]

    @classmethod
    def of(cls, pid: int, *state_dirs: Path) -> "Holdings":
        return cls(
            descriptors=len(os.listdir(f"/proc/{pid}/fd")),
            mounts=frozenset(line for line in _mounts(pid) if not any(part in line for part in _MOUNTS_OF_OTHERS)),
            processes=Counter(map(_name_of, descendants(pid))),
            groups=len(groups_of(pid)),
            directories=frozenset(str(path) for state in state_dirs for path in state.glob("*/*")),
        )

    def more_than(self, before: "Holdings") -> dict[str, object]:
        """What is there that was not before."""
        found = {
            "descriptors": self.descriptors - before.descriptors,
            "mounts": sorted(self.mounts - before.mounts),
            "processes": dict(self.processes - before.processes),
            "groups": self.groups - before.groups,
            "directories": sorted(self.directories - before.directories),
        }
        return {name: more for name, more in found.items() if (more > 0 if isinstance(more, int) else more)}


def _mounts(pid: int) -> list[str]:
    """Those of containers are the daemon's; that no container is left is looked at by itself."""
    return Path(f"/proc/{pid}/mountinfo").read_text().splitlines()


def _name_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return "gone"


async def leaks_of(judge: Bench, state: Path, programs: int) -> dict[str, object]:
    """What becomes more with each half of many programs, and as many again where the second left more than the first.

    Connections are kept for later, as many as were needed at once so far: these become more now and then, but not always.
    """
    await _work(judge, programs // 2)
    before = await _at_rest(judge, state)
    more: dict[str, object] = {}
    for _ in range(3):
        await _work(judge, programs // 2)
        now = await _at_rest(judge, state, before)
        more = now.more_than(before)
        if not more:
            return {}
        before = now
    return more


async def _work(judge: Bench, programs: int) -> None:
    for at in range(programs // 10):
        responses = [UNTIDY if number == at % 10 else RIGHT for number in range(10)]
        assert [verdict.score for verdict in await judge.judge_all(responses, MANY)] == [1.0] * 10


async def _at_rest(judge: Bench, state: Path, before: Holdings | None = None) -> Holdings:
    """When boxes that were taken out of service are destroyed and others are in their place.

    The end of a box takes its time on a busy machine: with more than `before`, it is looked at again and again.
    """
    sandbox = judge.sandbox

    def at_rest() -> bool:
        if sandbox.ready != sandbox.slots or sandbox.busy:
            return False
        now, seen = Holdings.of(os.getpid(), state), looks[-1] if looks else None
        looks.append(now)
        return now == seen and (before is None or not now.more_than(before) or len(looks) > _PATIENT_LOOKS)

    looks: list[Holdings] = []
    await until(at_rest, lambda: f"it does not come to rest: {looks[-1:]}")
    return looks[-1]


@pytest.mark.leaks
async def test_ten_thousand_runs_leave_nothing_of_local_boxes(tmp_path: Path) -> None:
    state = tmp_path / "state"
    backend: Backend = LocalBackend(SIZE, state_dir=state)
    at_first = Holdings.of(os.getpid(), state)
    async with bench(backend, jobs_per_box=13) as judge:
        assert not await leaks_of(judge, state, 100)
        assert judge.sandbox.counters.jobs >= 100

    def left() -> dict[str, object]:
        found = Holdings.of(os.getpid(), state).more_than(at_first)
        found.pop("descriptors", None)  # the event loop's own
        return found

    await until(lambda: not left(), lambda: f"left over: {left()}")
    assert not list(state.iterdir())


@pytest.mark.leaks
async def test_thousands_of_runs_leave_nothing_of_containers(docker_address: str, tmp_path: Path) -> None:
    owner = f"leaks-{os.getpid()}"
    with contextlib.closing(docker.APIClient(docker_address, version="auto")) as client:
        async with bench(DockerBackend(SIZE, owner=owner, address=docker_address), jobs_per_box=5) as judge:
            assert not await leaks_of(judge, tmp_path, 60)
            assert len(containers_of(client, owner)) == judge.sandbox.slots
        assert not containers_of(client, owner)


# --- a service that is killed


@pytest.fixture
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """For the services a test starts, which keep the state of their boxes there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


BUSY = {"verifier": "code", "response": "```python\nimport time\ntime.sleep(1000)\n```", "reference": MANY}


def kill_at_work(served: Served) -> set[int]:
    """Kill the service while its boxes are busy; the processes it had."""
    state = httpx.get(f"{served.url}/v1/sandbox").json()
    assert state["state"] == "ready", state

    def ask() -> None:
        with contextlib.suppress(httpx.HTTPError):  # it is killed before it answers
            httpx.post(f"{served.url}/v1/score", json={"items": [BUSY, BUSY]}, timeout=PATIENCE_S)

    asking = threading.Thread(target=ask)
    asking.start()
    busy = re.compile(r'^rewardline_boxes\{state="busy"\} [1-9]', re.MULTILINE)
    eventually(lambda: busy.search(httpx.get(f"{served.url}/metrics").text))
    had = descendants(served.process.pid)
    assert len(had) > 2
    served.process.send_signal(signal.SIGKILL)
    served.process.wait(PATIENCE_S)
    asking.join()
    return had


@pytest.mark.chaos
def test_the_boxes_of_a_killed_service_end_and_the_next_one_clears_up(
    own_temporary_folder: Path, tmp_path: Path
) -> None:
    with serving(tmp_path / "first.jsonl", sandbox="local") as first:
        had = kill_at_work(first)
        eventually(lambda: not [pid for pid in had if is_alive(pid)])
    left = list(own_temporary_folder.glob("rewardline-*/*"))
    assert len(left) == 1, "the killed service could not clear up"
    with serving(tmp_path / "second.jsonl", sandbox="local") as second:
        now = list(own_temporary_folder.glob("rewardline-*/*"))
        assert len(now) == 1
        assert now != left
        assert not groups_of(first.process.pid)
        assert groups_of(second.process.pid) or cgroups.find_parents() is None
        assert second.stop() == 0
    assert not list(own_temporary_folder.glob("rewardline-*/*"))
    assert not groups_of(second.process.pid)


@pytest.mark.chaos
def test_the_containers_of_a_killed_service_end_and_the_next_one_removes_them(
    docker_address: str, own_temporary_folder: Path, tmp_path: Path
) -> None:
    with contextlib.closing(docker.APIClient(docker_address, version="auto")) as client:

        def of(served: Served, *, running: bool) -> list[dict[str, Any]]:
            found = client.containers(all=True, filters={"label": "rewardline.process"})
            mine = [one for one in found if one["Labels"]["rewardline.process"].startswith(f"{served.process.pid}@")]
            return [one for one in mine if one["State"] == "running"] if running else mine

        with serving(tmp_path / "first.jsonl", sandbox="docker", docker_host=docker_address) as first:
            kill_at_work(first)
            assert of(first, running=False)
            eventually(lambda: not of(first, running=True))
        with serving(tmp_path / "second.jsonl", sandbox="docker", docker_host=docker_address) as second:
            assert not of(first, running=False)
            assert of(second, running=True)
            assert second.stop() == 0
        assert not of(second, running=False)


@pytest.mark.leaks
def test_a_service_that_ends_in_order_leaves_nothing(own_temporary_folder: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "log.jsonl", sandbox="local") as served:
        item = {"verifier": "code", "response": UNTIDY, "reference": FEW}
        (result,) = httpx.post(f"{served.url}/v1/score", json={"items": [item]}, timeout=PATIENCE_S).json()["results"]
        assert result["score"] == 1.0
        had = descendants(served.process.pid)
        assert served.stop() == 0
    assert not [pid for pid in had if is_alive(pid)]
    assert not list(own_temporary_folder.glob("*/*"))
    assert not groups_of(served.process.pid)
