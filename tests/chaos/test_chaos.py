"""Whatever breaks under load: nothing is lost, nothing is judged wrongly, and callers who wait get every verdict."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.chaos import alone, daemon, scenarios, stand
from tests.dockerd import NoDocker
from tests.load.ledger import Ledger

pytestmark = [pytest.mark.chaos, pytest.mark.asyncio(loop_scope="module")]
_NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="NO TEST OF A FULL DISK: mounting one needs root")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[stand.Stand]:
    """One deployment for all scenarios, which it has to survive in a row."""
    async with stand.standing(tmp_path_factory.mktemp("stand")) as parts:
        yield parts


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def by_itself(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[alone.Alone]:
    async with alone.standing(tmp_path_factory.mktemp("alone")) as parts:
        yield parts


@pytest.mark.parametrize("name", scenarios.SCENARIOS)
async def test_a_deployment_loses_and_misjudges_nothing(deployed: stand.Stand, name: str) -> None:
    seed = list(scenarios.SCENARIOS).index(name) + 1
    _check(await scenarios.run(scenarios.SCENARIOS[name], deployed, times=1, seed=seed, largest=64))


@_NEEDS_ROOT
@pytest.mark.parametrize("name", alone.SCENARIOS)
async def test_a_single_service_loses_and_misjudges_nothing(by_itself: alone.Alone, name: str) -> None:
    ledger = await alone.run(alone.SCENARIOS[name][1], by_itself, seed=20 + list(alone.SCENARIOS).index(name))
    _check(ledger)
    if name == "only_server":
        assert ledger.asked_again > 0


async def test_a_restarted_docker_daemon_costs_no_verdict(docker_address: str, tmp_path: Path) -> None:
    try:
        async with daemon.standing(tmp_path, docker_address) as parts:
            ledger = await daemon.run(parts, times=1)
    except NoDocker as why:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"NO TEST WITH A DAEMON OF ITS OWN: {why}")
    _check(ledger)
    assert ledger.asked_again > 0


def _check(ledger: Ledger) -> None:
    assert (ledger.wrong, ledger.lost, ledger.failed) == (0, 0, 0), ledger.examples
    assert ledger.sent == ledger.right > 0
