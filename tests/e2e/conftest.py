"""A task in a repository, for trainers whose rewards are its tests."""

import json
from contextlib import closing
from typing import Any

import docker
import pytest

from tests.task_images import repository_image
from tests.verifiers.repository.judge import FILES, small_task

WRONG = json.dumps({"files": {"calc/__init__.py": FILES["calc/__init__.py"]}})
RIGHT = WRONG.replace("a - b", "a + b")
"""Responses to the task: the repository as it is, and mended."""


@pytest.fixture(scope="session")
def docker_task(docker_address: str) -> dict[str, Any]:
    """The reference of the task, whose image the daemon has."""
    with closing(docker.APIClient(docker_address, version="auto", timeout=300)) as client:
        return small_task(*repository_image(client, FILES))
