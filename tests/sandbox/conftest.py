"""What tests of real containers need."""

import os
from collections.abc import Iterator

import pytest

from tests.dockerd import NoDocker, docker_with_image


@pytest.fixture(scope="session")
def docker_address() -> Iterator[str]:
    """A Docker daemon with the box image. Where there can be none, tests are skipped, but not where all must pass."""
    try:
        with docker_with_image() as address:
            yield address
    except NoDocker as why:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"NO TEST WITH DOCKER: {why}")
