"""No step holds the event loop: while ever new items of each verifier are judged, none takes more than 5 ms of CPU.

CPU time is counted, in units of a fixed work on the same loop (`tests.siege.steps`): what shares the machine makes both take
longer. So that one stroke of bad luck is not a failure, a step is too long if it is too long in each of several batches.
"""

from collections.abc import Iterator
from typing import Final

import pytest

from tests.siege.counts import batch_items
from tests.siege.fresh.items import GENERATORS
from tests.siege.stand import Stand, besieged

pytestmark = [pytest.mark.siege, pytest.mark.alone]
_MAY_TAKE_S: Final = 0.005
_BATCHES: Final = 4
_COUNTED_S: Final = 0.025
"""A step that the service's own watch counts may have begun up to 10 ms before it was seen. This is its next bucket."""


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with besieged() as stand:
        yield stand


@pytest.mark.parametrize("verifier", GENERATORS)
def test_new_items_do_not_hold_the_loop(stand: Stand, verifier: str) -> None:
    size = batch_items(verifier)
    stand.judge(verifier, range(size))
    steps: list[tuple[str, float, float]] = []
    stalls: list[float] = []
    for number in range(1, _BATCHES + 1):
        before = stand.stalls(_COUNTED_S)
        stand.begin_steps()
        stand.judge(verifier, range(number * size, (number + 1) * size))
        name, taken_s = stand.longest_step()
        steps.append((name, taken_s, slowness := stand.total("siege_slowness")))
        stalls.append(stand.stalls(_COUNTED_S) - before)
        if taken_s <= _MAY_TAKE_S * slowness and not stalls[-1]:
            return
    pytest.fail(
        f"the longest steps, in seconds, and slowness: {steps}; steps that the service counted as long: {stalls}"
    )
