"""One engine for all tests of shipped recipes, and one with boxes for recipes that judge programs."""

from collections.abc import Iterator

import pytest

from service.settings import Settings
from tests.judge_upstream.grader import Grader
from tests.service.recipes.shipped.scorer import Scorer


@pytest.fixture(scope="session")
def scorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scorer]:
    """An engine without boxes, with an honest judge."""
    with Grader() as grader:
        judges = grader.file(tmp_path_factory.mktemp("judges"))
        everything = Scorer(Settings(sandbox="none", workers=1, judge_file=judges))
        yield everything
        everything.close()


@pytest.fixture(scope="session")
def code_scorer() -> Iterator[Scorer]:
    """An engine that runs programs in local boxes."""
    everything = Scorer(Settings(sandbox="local", workers=1, box_slots=2))
    yield everything
    everything.close()
