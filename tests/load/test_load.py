"""Short versions of what `python -m tests.load` measures; no figure of speed is asserted, only ratios."""

import json
from pathlib import Path

import pytest

from tests.chaos.servers import Server
from tests.load.generator import counting_client, until_true
from tests.load.ledger import Ledger
from tests.load.malformed import malformed
from tests.load.mix import Mix
from tests.load.overload import overload
from tests.load.soak import soak
from tests.ports import free_ports


@pytest.mark.load
@pytest.mark.alone
async def test_a_thousand_malformed_requests_break_and_leak_nothing(tmp_path: Path) -> None:
    server = Server(
        tmp_path / "log.jsonl", "127.0.0.1", free_ports(3), sandbox="local", workers="1", log_level="warning"
    )
    await server.start()
    try:
        found = await malformed(server, 1000)
        assert not found.broken, found.broken[:5]
        assert found.http[400] > 50
        assert found.grpc["INVALID_ARGUMENT"] > 10
        for gauge in ("in_flight_items", "in_flight_bytes", "in_flight_requests"):
            await until_true(lambda gauge=gauge: server.metric(gauge) == 0)  # type: ignore[misc]
        assert found.before is not None
        assert found.after is not None
        assert found.after.files - found.before.files < 30
        batch = Mix(1, {"rules": 1.0, "math": 1.0, "code": 0.1}).take(100)
        async with counting_client(server.url, Ledger()) as client:
            results = await client.score([item for item, _ in batch])
        assert [result.score for result in results] == [score for _, score in batch]
    finally:
        await server.end()
    assert not _errors(tmp_path)


@pytest.mark.load
@pytest.mark.alone
async def test_a_flood_is_refused_with_a_time_to_come_back_and_costs_no_work(tmp_path: Path) -> None:
    found = await overload(tmp_path, seconds=3.0)
    assert found.flood.statuses.keys() == {200, 429}
    assert found.flood.statuses[429] > found.flood.statuses[200]
    assert (found.flood.wrong, found.flood.without_retry_after) == (0, 0)
    assert found.flood.goodput > 0.3 * found.capacity.goodput
    refusal_s = sorted(found.flood.refusals_s)[len(found.flood.refusals_s) // 2]
    assert refusal_s < 0.2 * sorted(found.flood.waits_s)[len(found.flood.waits_s) // 2]


@pytest.mark.load
@pytest.mark.alone
async def test_mixed_load_at_four_fifths_of_capacity_is_all_judged(tmp_path: Path) -> None:
    found = await soak(tmp_path, seconds=5.0)
    ledger = found.ledger
    assert (ledger.wrong, ledger.lost, ledger.failed) == (0, 0, 0), ledger.examples
    assert ledger.sent == ledger.right > 100


def _errors(folder: Path) -> list[str]:
    """What the service itself logged as errors."""
    (log,) = folder.glob("*.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [
        str(line) for line in lines if line["level"] == "error" and str(line.get("logger")).startswith("rewardline")
    ]
