"""Boxes, daemons and disks that give out in the middle of the work: what comes back is right, or `failed`, never wrong."""

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import docker
import httpx
import pytest

from sandbox.base import SandboxUnavailable
from sandbox.boxes.backend import Backend, Box, BoxSize, Profile
from sandbox.boxes.docker import DockerBackend
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.local.backend import LocalBox
from tests.conftest import Served, serving
from tests.dockerd import DockerDaemon
from tests.processes import children
from tests.sandbox.bench import RIGHT, SLOWLY_RIGHT, SUM, WRONG, Bench, bench, python
from tests.waiting import PATIENCE_S, eventually, until
from verifiers.base import Status, Verdict

pytestmark = pytest.mark.boxes

SIZE = BoxSize(memory_mb=512, processes=64, disk_mb=32)
IS_ROOT = os.geteuid() == 0
PAIRS = [SLOWLY_RIGHT, WRONG] * 12
"""Each takes at least a twentieth of a second."""


def owner() -> str:
    return f"test-{secrets.token_hex(4)}"


def misjudged(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Of `PAIRS`: those that are neither right nor `failed`."""
    expected = [1.0, 0.0] * (len(verdicts) // 2)
    return [
        verdict
        for verdict, score in zip(verdicts, expected, strict=True)
        if verdict.status is not Status.FAILED and verdict.score != score
    ]


def failed(verdicts: Sequence[Verdict]) -> int:
    return sum(verdict.status is Status.FAILED for verdict in verdicts)


async def soon_right(bench: Bench) -> None:
    """Boxes are made again when they can be."""
    async with asyncio.timeout(PATIENCE_S):
        while failed(verdicts := await bench.judge_all(PAIRS)):
            assert not misjudged(verdicts)
            await until(lambda: bench.sandbox.ready == bench.sandbox.slots)
    assert not misjudged(verdicts)


# --- a daemon that is stopped and started again


@pytest.mark.chaos
async def test_a_daemon_that_is_restarted_in_mid_batch_costs_no_right_verdict(own_daemon: DockerDaemon) -> None:
    async with bench(DockerBackend(SIZE, "small", owner=owner(), address=own_daemon.address)) as judge:
        batch = asyncio.create_task(judge.judge_all(PAIRS))
        await _some_ran(judge, 4)
        stopping = asyncio.create_task(asyncio.to_thread(own_daemon.stop))
        verdicts: list[Verdict] = []
        try:
            verdicts += await asyncio.wait_for(batch, PATIENCE_S)
            while not stopping.done():
                verdicts += await asyncio.wait_for(judge.judge_all(PAIRS), PATIENCE_S)
            verdicts += await asyncio.wait_for(judge.judge_all(PAIRS), PATIENCE_S)
        finally:
            await stopping
            await asyncio.to_thread(own_daemon.start)
        assert not misjudged(verdicts)
        assert 0 < failed(verdicts) < len(verdicts)
        await soon_right(judge)


@pytest.mark.chaos
def test_a_service_lives_through_a_restart_of_its_daemon(own_daemon: DockerDaemon, tmp_path: Path) -> None:
    with serving(
        tmp_path / "log.jsonl", sandbox="docker", docker_host=own_daemon.address, docker_image="small", box_slots="2"
    ) as served:
        assert _scores(served, [RIGHT, WRONG]) == [1.0, 0.0]
        own_daemon.stop()
        assert _scores(served, [RIGHT, WRONG]) == [None, None]
        eventually(lambda: _states(served)[1] == "lost")
        assert _states(served) == (200, "lost", "ready")
        assert "sandbox" in httpx.get(f"{served.url}/readyz").json()["lacks"]
        assert httpx.get(f"{served.url}/healthz").status_code == 200
        own_daemon.start()
        eventually(lambda: _states(served) == (200, "ready", "ready"))
        assert _scores(served, [RIGHT, WRONG]) == [1.0, 0.0]


def _states(served: Served) -> tuple[int, str, str]:
    """What a probe gets, the boxes' state, and the service's own."""
    probe = httpx.get(f"{served.url}/readyz")
    return probe.status_code, httpx.get(f"{served.url}/v1/sandbox").json()["state"], probe.json()["status"]


def _scores(served: Served, responses: Sequence[str]) -> list[float | None]:
    items = [{"verifier": "code", "response": response, "reference": SUM} for response in responses]
    reply = httpx.post(f"{served.url}/v1/score", json={"items": items, "cache": "off"}, timeout=PATIENCE_S)
    assert reply.status_code == 200, reply.text[:500]
    results = reply.json()["results"]
    assert all(result["status"] in ("ok", "failed") for result in results)
    return [result["score"] for result in results]


async def _some_ran(judge: Bench, count: int) -> None:
    await until(lambda: judge.sandbox.counters.jobs >= count)


def _runs(judge: Bench) -> int:
    return sum(judge.sandbox.counters.runs.values())


# --- boxes that are killed


def _kill_local(box: Box) -> None:
    """Its process 1, as the machine sees it."""
    assert isinstance(box, LocalBox)
    (first,) = children(box._keeper.process.pid)
    os.kill(first, signal.SIGKILL)


class Watched(Backend):
    """Remembers the boxes that another backend has made."""

    def __init__(self, inner: Backend) -> None:
        self.isolation, self.caveats = inner.isolation, inner.caveats
        self.inner = inner
        self.made: list[Box] = []
        self.refuses = False

    async def open(self) -> None:
        await self.inner.open()

    async def close(self) -> None:
        await self.inner.close()

    async def make(self, profile: Profile, *, once: bool = False) -> Box:
        if self.refuses:
            raise SandboxUnavailable("boxes cannot be made at the moment")
        self.made.append(await self.inner.make(profile, once=once))
        return self.made[-1]


Kill = Callable[[Box], Awaitable[None]]


@pytest.fixture(params=["local", pytest.param("docker", marks=pytest.mark.chaos)])
async def killable(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Watched, Kill]]:
    """A backend, and what ends the first process of one of its boxes."""
    if request.param == "local":

        async def kill(box: Box) -> None:
            _kill_local(box)

        yield Watched(LocalBackend(SIZE, state_dir=tmp_path / "state")), kill
        return
    address = request.getfixturevalue("docker_address")
    client = docker.APIClient(address, version="auto")

    async def kill_container(box: Box) -> None:
        await asyncio.to_thread(client.kill, box.name)

    yield Watched(DockerBackend(SIZE, owner=owner(), address=address)), kill_container
    client.close()


async def test_a_box_killed_in_mid_run_costs_nothing(killable: tuple[Watched, Kill]) -> None:
    backend, kill = killable
    async with bench(backend) as judge:
        batch = asyncio.create_task(judge.judge_all(PAIRS))
        await _some_ran(judge, 4)
        await kill(backend.made[0])
        verdicts = await asyncio.wait_for(batch, PATIENCE_S)
        assert not misjudged(verdicts)
        assert failed(verdicts) == 0
        assert judge.sandbox.counters.jobs_again >= 1 or len(backend.made) > 2


@pytest.mark.chaos
async def test_boxes_killed_again_and_again_fail_items_and_never_misjudge_them(killable: tuple[Watched, Kill]) -> None:
    backend, kill = killable
    async with bench(backend) as judge:
        batch = asyncio.create_task(judge.judge_all(PAIRS))
        dead = 0
        while not batch.done() and dead < 12:
            for box in backend.made[dead:]:
                ran = _runs(judge)
                await until(lambda ran=ran: _runs(judge) > ran or batch.done())  # type: ignore[misc]
                with contextlib.suppress(Exception):  # it may have gone by itself, or not be there yet
                    await kill(box)
                dead += 1
            await until(lambda dead=dead: len(backend.made) > dead or batch.done())  # type: ignore[misc]
        verdicts = await asyncio.wait_for(batch, PATIENCE_S)
        assert not misjudged(verdicts)
        assert dead >= 3
        await soon_right(judge)


@pytest.mark.chaos
async def test_boxes_that_cannot_be_made_fail_items_until_they_can(tmp_path: Path) -> None:
    backend = Watched(LocalBackend(SIZE, state_dir=tmp_path / "state"))
    async with bench(backend, slots=1, jobs_per_box=1) as judge:
        assert (await judge.judge(RIGHT)).score == 1.0
        backend.refuses = True
        verdicts = await asyncio.wait_for(judge.judge_all(PAIRS[:6]), PATIENCE_S)
        assert not misjudged(verdicts)
        assert failed(verdicts) >= 4
        backend.refuses = False
        await soon_right(judge)


async def test_a_backend_that_never_had_a_box_says_why(tmp_path: Path) -> None:
    backend = Watched(LocalBackend(SIZE, state_dir=tmp_path / "state"))
    backend.refuses = True
    with pytest.raises(SandboxUnavailable, match="cannot be made at the moment"):
        async with bench(backend):
            pass


# --- what programs use up


FILL = """
import errno, os
for place in (".", "/tmp", "/dev/shm"):
    try:
        for number in range(1000):
            with open(f"{place}/fill{number}", "wb") as file:
                file.write(b"x" * (1 << 20))
        full = False
    except OSError as error:
        full = error.errno == errno.ENOSPC
    assert full, place
"""


@pytest.fixture
async def judge(tmp_path: Path) -> AsyncIterator[Bench]:
    """One box, so that what is judged next is in the box of what was judged before."""
    async with bench(LocalBackend(SIZE, state_dir=tmp_path / "state"), slots=1) as judge:
        yield judge


async def test_a_full_disk_is_an_error_of_the_program_that_filled_it(judge: Bench) -> None:
    """Which may live with it; the next one has all the room again."""
    survivor = await judge.judge(python(f"{FILL}\nprint(sum(map(int, input().split())))"), time_limit_s=10)
    assert (survivor.score, survivor.reason) == (1.0, "correct")
    careless = await judge.judge(python("while True: open(str(id(object())), 'ab').write(b'x' * (1 << 20))"))
    assert (careless.status, careless.score) == (Status.OK, 0.0)
    uncaught = await judge.judge(python(f"{FILL}\nopen('one', 'wb').write(b'x' * (1 << 20))"), time_limit_s=10)
    assert (uncaught.status, uncaught.reason) == (Status.OK, "runtime_error")
    writer = "open('x', 'wb').write(b'x' * (16 << 20))\nprint(sum(map(int, input().split())))"
    assert (await judge.judge(python(writer))).score == 1.0


async def test_a_program_that_uses_up_its_memory_is_judged(judge: Bench) -> None:
    verdict = await judge.judge(python("held = bytearray(1 << 32)"), memory_mb=64)
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)
    assert (await judge.judge(RIGHT)).score == 1.0


EAT_TOGETHER = """
import mmap, os
for _ in range(8):
    if os.fork() == 0:
        held = []
        while True:
            held.append(mmap.mmap(-1, 1 << 24))
            held[-1].write(b"x" * (1 << 24))
for _ in range(8):
    os.wait()
"""


@pytest.mark.skipif(not IS_ROOT, reason="needs control groups")
async def test_a_program_that_uses_up_its_boxs_memory_is_judged(judge: Bench) -> None:
    verdict = await judge.judge(python(EAT_TOGETHER), time_limit_s=4.0, memory_mb=400)
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)
    assert (await judge.judge(RIGHT)).score == 1.0


async def test_a_container_whose_memory_is_used_up_costs_nobody_else(docker_address: str) -> None:
    async with bench(DockerBackend(SIZE, owner=owner(), address=docker_address)) as judge:
        eater, *others = await judge.judge_all([python(EAT_TOGETHER), *PAIRS[:8]], time_limit_s=4.0, memory_mb=400)
        assert (eater.status, eater.score) == (Status.OK, 0.0)
        assert not misjudged(others)
        assert failed(others) == 0


async def test_failed_is_no_verdict_of_zero(tmp_path: Path) -> None:
    """The first rule: what could not be judged has no score at all."""
    backend = Watched(LocalBackend(SIZE, state_dir=tmp_path / "state"))
    async with bench(backend, slots=1, jobs_per_box=1) as judge:
        backend.refuses = True
        await judge.judge(RIGHT)
        for verdict in await asyncio.wait_for(judge.judge_all([RIGHT, WRONG]), PATIENCE_S):
            assert (verdict.status, verdict.score) == (Status.FAILED, None)
