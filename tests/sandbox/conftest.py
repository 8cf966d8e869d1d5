"""A folder that all users can pass, and a Docker daemon that a test may stop and change."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dockerd import DockerDaemon, NoDocker, bring_small_image


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can pass through. They cannot pass through pytest's own folders."""
    with tempfile.TemporaryDirectory(prefix="rewardline-tests-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture(scope="module")
def own_daemon(docker_address: str, request: pytest.FixtureRequest) -> Iterator[DockerDaemon]:
    """A daemon with an image `small`, for boxes that know only Python. A test may stop it.

    With the parameter `maps_user_ids` it maps user ids.
    """
    maps_user_ids = getattr(request, "param", "") == "maps_user_ids"
    with tempfile.TemporaryDirectory(prefix="rewardline-daemon-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # other users pass through it, which pytest's own folders do not allow
        try:
            daemon = DockerDaemon(folder / "data", folder, maps_user_ids=maps_user_ids)
            daemon.start()
        except NoDocker as why:
            pytest.skip(f"NO TEST WITH A DAEMON OF ITS OWN: {why}")
        try:
            bring_small_image(docker_address, daemon.address)
            yield daemon
        finally:
            daemon.stop()
