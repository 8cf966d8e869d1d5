"""Images of tasks that a real registry has."""

import asyncio
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import docker
import pytest

from sandbox.base import SandboxUnavailable
from sandbox.containers import BadTask, End, Task
from sandbox.containers.docker import DockerContainers
from sandbox.containers.images import ImageRules
from tests.dockerd import DockerDaemon
from tests.task_images import commit_upon, ensure_tools_image

pytestmark = pytest.mark.repositories

PLACE = "127.0.0.1:5000"
KNOWN = f"{PLACE}/tasks/known"
CONFIGURATION = """version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {folder}}}}}
http: {{addr: "{place}"}}
"""
LAYER_BYTES = 3_000_000


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DockerDaemon]:
    """A daemon whose registry has two tags of an image that the daemon itself has not."""
    if shutil.which("docker-registry") is None:
        pytest.skip("there is no docker-registry; `make registry` installs it")
    folder = tmp_path_factory.mktemp("registry")
    daemon = DockerDaemon(folder / "data", folder)
    daemon.start()
    try:
        with registry(daemon, folder), closing(docker.APIClient(daemon.address, version="auto", timeout=300)) as client:
            commit_upon(client, ensure_tools_image(client), layer(), f"{KNOWN}:1")
            client.tag(f"{KNOWN}:1", KNOWN, "latest")
            for tag in ("1", "latest"):
                said = client.push(KNOWN, tag)
                assert "error" not in said, said
                client.remove_image(f"{KNOWN}:{tag}")
            yield daemon
    finally:
        daemon.stop()


def layer() -> bytes:
    """A tar that does not shrink."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as members:
        member = tarfile.TarInfo("noise")
        member.size = LAYER_BYTES
        members.addfile(member, io.BytesIO(os.urandom(LAYER_BYTES)))
    return archive.getvalue()


@contextmanager
def registry(daemon: DockerDaemon, folder: Path) -> Iterator[None]:
    file = folder / "registry.yml"
    file.write_text(CONFIGURATION.format(folder=folder / "images", place=PLACE))
    with subprocess.Popen(daemon.beside("docker-registry", "serve", str(file))) as process:
        try:
            yield
        finally:
            process.terminate()


def pulling(daemon: DockerDaemon, allowed: Sequence[str] = (f"{PLACE}/*",)) -> DockerContainers:
    return DockerContainers(
        daemon.address, slots=2, owner="registry-tests", rules=ImageRules(allowed=allowed, may_pull=True)
    )


async def said(containers: DockerContainers, image: str) -> tuple[End, bytes]:
    async with containers.open(Task(image, "/root"), {}) as container:
        ended = await container.run(("sh", "-c", "wc -c </noise"))
        return ended.end, ended.output.strip()


async def test_an_image_is_pulled_once_for_all_that_wait_for_it(daemon: DockerDaemon) -> None:
    containers = pulling(daemon)
    try:
        answers = await asyncio.gather(*(said(containers, KNOWN) for _ in range(3)))
        assert answers == [(End.EXITED, str(LAYER_BYTES).encode())] * 3
        assert containers.counters.images_pulled == 1
        assert containers.counters.pulled_bytes > LAYER_BYTES / 2
        assert await said(containers, f"{KNOWN}:1") == answers[0]
        assert containers.counters.pulls_failed == 0
    finally:
        await containers.stop()


async def test_an_image_that_no_registry_has_is_the_tasks_fault_and_a_registry_that_is_gone_is_not(
    daemon: DockerDaemon,
) -> None:
    containers = pulling(daemon, ["127.0.0.1:*"])
    try:
        with pytest.raises(BadTask, match="no registry has the image"):
            await said(containers, f"{PLACE}/tasks/unknown")
        with pytest.raises(SandboxUnavailable, match="refused") as raised:
            await said(containers, "127.0.0.1:1/tasks/known")
        assert raised.value.reason == "pull_failed"
        assert containers.counters.pulls_failed == 2
    finally:
        await containers.stop()
