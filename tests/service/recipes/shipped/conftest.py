"""One engine for all tests of shipped recipes, and one with boxes for those that judge programs."""

from collections.abc import Iterator

import pytest

from service.settings import Settings
from tests.service.recipes.shipped.scorer import Scorer


@pytest.fixture(scope="session")
def scorer() -> Iterator[Scorer]:
    """It has no boxes."""
    everything = Scorer(Settings(sandbox="none", workers=1))
    yield everything
    everything.close()


@pytest.fixture(scope="session")
def code_scorer() -> Iterator[Scorer]:
    """It runs programs in local boxes."""
    everything = Scorer(Settings(sandbox="local", workers=1, box_slots=2))
    yield everything
    everything.close()
