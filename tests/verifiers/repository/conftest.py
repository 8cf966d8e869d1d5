"""A repository in an image, and a verifier for it on each runtime."""

from collections.abc import Iterator
from contextlib import closing

import docker
import pytest

from tests.sandbox.containers import containers_of
from tests.task_images import repository_image
from tests.verifiers.repository.judge import FILES, OWNER, Judge


@pytest.fixture(scope="session", params=["runc", pytest.param("runsc", marks=pytest.mark.repositories)])
def judge(request: pytest.FixtureRequest, docker_address: str) -> Iterator[Judge]:
    with closing(docker.APIClient(docker_address, version="auto", timeout=300)) as client:
        if request.param not in client.info()["Runtimes"]:
            pytest.skip(f"the Docker daemon has no runtime {request.param}")
        image, commit = repository_image(client, FILES, links={"same": "tests"})
    judge = Judge(docker_address, image, commit, request.param)
    yield judge
    judge.close()
    with closing(docker.APIClient(docker_address, version="auto", timeout=300)) as client:
        assert containers_of(client, OWNER) == []
