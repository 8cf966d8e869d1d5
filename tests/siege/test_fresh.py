"""What is drawn is what it says, from the first item to the last that the memory lane takes: numbers grow with the index."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

import pytest

from tests.siege.counts import batch_items, items_of
from tests.siege.fresh.items import GENERATORS
from tests.siege.stand import Stand, besieged

pytestmark = pytest.mark.siege
_PARTS: Final = 7
_ITEMS: Final = 32


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with besieged() as stand:
        yield stand


@pytest.mark.parametrize("verifier", GENERATORS)
def test_items_have_the_scores_that_they_say(stand: Stand, verifier: str) -> None:
    size = min(_ITEMS, batch_items(verifier))
    starts = range(0, 2 * items_of(verifier) - size + 1, 2 * items_of(verifier) // _PARTS)
    outcomes = sum((stand.judge(verifier, range(start, start + size)) for start in starts), Counter())
    assert outcomes == {"right": size * len(starts)}
