"""A task in an image, and a verifier for it on each runtime."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest

from tests.task_images import repository_image
from tests.verifiers.harbor.judge import FILES, HarborJudge


@pytest.fixture(scope="session", params=["runc", pytest.param("runsc", marks=pytest.mark.repositories)])
def judge(
    request: pytest.FixtureRequest, docker_address: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HarborJudge]:
    with closing(docker.APIClient(docker_address, version="auto", timeout=300)) as client:
        if request.param not in client.info()["Runtimes"]:
            pytest.skip(f"the Docker daemon has no runtime {request.param}")
        image, _ = repository_image(client, FILES)
    root: Path = tmp_path_factory.mktemp("tasks")
    judge = HarborJudge(docker_address, image, root, request.param)
    yield judge
    judge.close()
