"""User ids of boxes: each living box's are its own, as the kernel counts processes by user, and a runner may end by user."""

import os
from pathlib import Path

import pytest

from sandbox.base import SandboxUnavailable
from sandbox.boxes.docker import DockerBackend
from sandbox.boxes.docker.fitness import user_ids_of_boxes
from sandbox.boxes.local import LocalBackend, user_ids
from sandbox.boxes.user_ids import HIGHEST, LOWEST, RANGE, Range, Ranges
from tests.dockerd import DockerDaemon
from tests.sandbox.bench import CASES, RIGHT, WRONG, Bench, bench, python

MACHINE = "         0          0 4294967295\n"
CONTAINER = "0 100000 65536\n"
SHARED_PYTHON = "/usr/bin/python3"
ONE_RUN = {"case_type": "stdio", "test_cases": CASES[:1]}
THREADS = python("""
import threading
import time
over = threading.Event()
for _ in range(50):
    threading.Thread(target=over.wait, daemon=True).start()
time.sleep(1.5)
print(sum(map(int, input().split())))
""")
"""More than half of the threads that a program may have, for as long as it takes another to do the same."""
LEAVES_A_PROCESS = python("""
import os
import time
if os.fork() == 0:
    time.sleep(1000)
else:
    time.sleep(0.5)
    print(sum(map(int, input().split())))
""")
"""Which the runner has to find and end, while the other is in the middle of its work."""


def test_living_boxes_have_no_ids_in_common_and_get_back_those_of_ended_ones() -> None:
    ranges = Ranges(Range(5000, 450), 100)
    lent = [ranges.lend() for _ in range(4)]
    assert sorted(ids.first for ids in lent) == [5000, 5100, 5200, 5300]
    assert {ids.count for ids in lent} == {100}
    with pytest.raises(SandboxUnavailable, match="for 4 boxes"):
        ranges.lend()
    ranges.give_back(lent[2])
    assert ranges.lend() == lent[2]


def test_shared_ids_do_not_run_out() -> None:
    ranges = Ranges(Range(5000, 100), 100, is_shared=True)
    assert [ranges.lend() for _ in range(3)] == [Range(5000, 100)] * 3


def test_ids_come_from_what_the_service_has() -> None:
    of_machine = user_ids.choose(MACHINE, may_share=False)
    assert of_machine is not None
    drawn = [of_machine.lend() for _ in range(50)]
    assert len({ids.first for ids in drawn}) == 50
    assert {ids.count for ids in drawn} == {RANGE}
    assert all(LOWEST <= ids.first < HIGHEST for ids in drawn)
    assert user_ids.choose("0 1000 1\n", may_share=True) is None


def test_ids_of_a_container_are_divided_unless_boxes_may_share_them() -> None:
    rootless = "0 1000 1\n1 100000 65536\n"
    shared = user_ids.choose(rootless, may_share=True)
    assert shared is not None
    assert [shared.lend() for _ in range(2)] == [Range(1 + 32768, 32768)] * 2
    divided = user_ids.choose(rootless, may_share=False)
    assert divided is not None
    assert sorted(divided.lend().first for _ in range(16)) == list(range(1 + 32768, 1 + 65536, 2048))
    with pytest.raises(SandboxUnavailable):
        divided.lend()


def test_containers_have_as_many_ids_as_their_daemon_gives_them() -> None:
    assert user_ids_of_boxes({"SecurityOptions": ["name=seccomp,profile=default"]}).lend().first >= LOWEST
    ids = user_ids_of_boxes({"SecurityOptions": ["name=seccomp,profile=default", "name=userns"]}).lend()
    assert ids.first > 0
    assert ids.first + ids.count < 65534


@pytest.mark.boxes
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
async def test_without_pid_namespaces_no_box_ends_programs_of_another(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a container with few ids, where all boxes could have been given the same ones."""
    monkeypatch.setattr(user_ids, "ranges", lambda may_share: user_ids.choose(CONTAINER, may_share=may_share))
    backend = LocalBackend(python=SHARED_PYTHON, tier="landlock", state_dir=open_folder / "state")
    try:
        await backend.open()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    async with bench(backend, slots=2) as judge:
        verdicts = await judge.judge_all([THREADS, LEAVES_A_PROCESS, *[RIGHT, WRONG] * 3], ONE_RUN)
    assert [verdict.score for verdict in verdicts] == [1.0, 1.0, *[1.0, 0.0] * 3], verdicts


async def _two_at_once(judge: Bench) -> None:
    verdicts = await judge.judge_all([THREADS] * 2, ONE_RUN)
    assert [verdict.score for verdict in verdicts] == [1.0] * 2, verdicts


@pytest.mark.boxes
async def test_the_threads_of_a_program_do_not_count_in_another_container(docker_address: str) -> None:
    async with bench(DockerBackend(address=docker_address), slots=2) as judge:
        await _two_at_once(judge)


@pytest.mark.boxes
@pytest.mark.parametrize("own_daemon", ["maps_user_ids"], indirect=True)
async def test_a_daemon_that_maps_user_ids_will_do(own_daemon: DockerDaemon) -> None:
    async with bench(DockerBackend(image="small", address=own_daemon.address), slots=2) as judge:
        await _two_at_once(judge)
