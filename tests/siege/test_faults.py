"""Faults with a labelled load beside each: nothing is lost, nothing judged wrongly, and all works again after it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.chaos import scenarios, stand
from tests.siege.faults import FAULTS

pytestmark = [pytest.mark.siege, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[stand.Stand]:
    async with stand.standing(tmp_path_factory.mktemp("stand")) as parts:
        yield parts


@pytest.mark.parametrize("name", FAULTS)
async def test_a_deployment_loses_and_misjudges_nothing(deployed: stand.Stand, name: str) -> None:
    ledger = await scenarios.run(FAULTS[name], deployed, times=1, seed=40 + list(FAULTS).index(name), largest=64)
    assert (ledger.wrong, ledger.lost, ledger.failed) == (0, 0, 0), ledger.examples
    assert ledger.sent == ledger.right > 0
