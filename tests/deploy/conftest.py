"""Fixtures for the tests of images and of Compose: a daemon, and the images of this checkout in it."""

import pytest

from tests.deploy.engine import Engine
from tests.deploy.images import build_images


@pytest.fixture(scope="session")
def docker_images(docker_address: str) -> Engine:
    """A daemon with the images that `build_images` makes."""
    build_images(docker_address)
    return Engine(docker_address)
