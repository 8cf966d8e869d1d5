"""Faults of the daemon in mid-task: an item is `failed` and never 0, the next one is judged, and nothing is left."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import docker
import pytest

from tests.dockerd import DockerDaemon
from tests.sandbox.containers import containers_of
from tests.task_images import repository_image
from tests.verifiers.repository.judge import FILES, FIX, OWNER, Judge
from tests.waiting import eventually
from verifiers.base import Status, Verdict

pytestmark = pytest.mark.repositories

RIGHT = FILES["calc/__init__.py"].replace("a - b", "a + b")
DISK_MB = 384


@contextmanager
def judging(data: Path, folder: Path) -> Iterator[tuple[DockerDaemon, Judge]]:
    """A daemon with an image of a task, and a verifier that has seen the task once. In the end nothing is left."""
    daemon = DockerDaemon(data, folder)
    daemon.start()
    try:
        with closing(docker.APIClient(daemon.address, version="auto", timeout=300)) as client:
            judge = Judge(daemon.address, *repository_image(client, FILES))
        try:
            assert judge.verdict(FIX).score == 1.0
            yield daemon, judge
            assert judge.verdict(FIX).score == 1.0
        finally:
            judge.close()
        with closing(docker.APIClient(daemon.address, version="auto", timeout=300)) as client:
            assert containers_of(client, OWNER) == []
    finally:
        daemon.stop()


@contextmanager
def in_mid_task(judge: Judge, before: str) -> Iterator["Future[Verdict]"]:
    """The verdict to come on a right response whose code runs `before` when its tests import it."""
    started = judge.containers.counters.started
    response = json.dumps({"files": {"calc/__init__.py": f"{before}\n{RIGHT}"}})
    with ThreadPoolExecutor(1) as thread:
        verdict = thread.submit(judge.verdict, response)
        eventually(lambda: judge.containers.counters.started > started)
        yield verdict


# Docker's own client leaves its socket to the garbage collector where a daemon that was killed refuses it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("end", [DockerDaemon.stop, DockerDaemon.kill])
def test_a_daemon_that_ends_in_mid_task_is_no_verdict(end: Callable[[DockerDaemon], None], tmp_path: Path) -> None:
    with judging(tmp_path / "data", tmp_path) as (daemon, judge):
        with in_mid_task(judge, "import time; time.sleep(3600)") as verdict:
            end(daemon)
            assert (verdict.result().status, verdict.result().score) == (Status.FAILED, None)
        daemon.start()


def test_a_full_disk_is_no_verdict(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", disk], check=True)
    try:
        with judging(disk / "data", tmp_path) as (_, judge):
            write = (
                "import os, time\nwhile os.statvfs('/').f_bavail > 0: time.sleep(0.01)\n"
                "open('result', 'wb').write(bytes(1 << 20))"
            )
            with in_mid_task(judge, write) as verdict:
                fill(disk / "filler")
                assert (verdict.result().status, verdict.result().reason) == (Status.FAILED, "no_space")
            later = judge.verdict(FIX)
            assert (later.status, later.score, later.reason) == (Status.FAILED, None, "no_space")
            (disk / "filler").unlink()
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def fill(file: Path) -> None:
    """Write a file until the disk has no room."""
    piece = bytes(os.sysconf("SC_PAGESIZE"))
    with file.open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(piece)
        except OSError:
            return
