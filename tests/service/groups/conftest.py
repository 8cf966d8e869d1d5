"""A service with a judge that the tests script."""

from collections.abc import Iterator

import pytest

from tests.conftest import Served, serving
from tests.judge_upstream.grader import Grader


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as grader:
        yield grader


@pytest.fixture(scope="module")
def judged(grader: Grader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("judged")
    endpoint = {"base_url": grader.url, "model": "grader", "health": {"probe": False}}
    endpoints = {"grader": endpoint, "vectors": {**endpoint, "protocol": "sglang_embeddings"}}
    pools = {"judges": {"members": ["grader"]}, "embeddings": {"members": ["vectors"]}}
    file = grader.file(folder, endpoints=endpoints, pools=pools)
    with serving(folder / "log.jsonl", (), None, sandbox="none", workers="1", judge_file=str(file)) as one:
        yield one
