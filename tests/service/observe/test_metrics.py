"""Counts whose labels are names of callers, and the scrape of many."""

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from service.observe import metrics as module
from service.observe.metrics import _MOST_KEYS, _SAMPLES_AT_ONCE, Metrics
from service.usage.run_counts import OTHER


def test_keys_beyond_the_first_are_counted_together() -> None:
    """Keys come and go for as long as the process runs, and a count stays."""
    metrics = Metrics("1")
    for number in range(2 * _MOST_KEYS):
        metrics.observe_request("http", "/v1/score", "200", f"key{number}", 0.1)
    [requests] = (family for family in metrics.registry.collect() if family.name == "rewardline_requests")
    counts = {sample.labels["key"]: sample.value for sample in requests.samples}
    assert len(counts) == _MOST_KEYS + 1
    assert (counts["key0"], counts[OTHER]) == (1, _MOST_KEYS)


async def test_a_scrape_renders_few_samples_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics, sizes = Metrics("1"), [0]
    for number in range(_SAMPLES_AT_ONCE):
        metrics.observe_stall(f"step{number}", 0.01)

    def counted(registry: CollectorRegistry) -> bytes:
        sizes.append(sum(len(family.samples) for family in registry.collect()))
        return generate_latest(registry)

    monkeypatch.setattr(module, "generate_latest", counted)
    exposed = await metrics.exposed()
    assert max(sizes) == _SAMPLES_AT_ONCE
    assert exposed == generate_latest(metrics.registry)
