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
    with serving(
        folder / "log.jsonl", (), None, sandbox="none", workers="1", judge_file=str(grader.file(folder))
    ) as one:
        yield one
