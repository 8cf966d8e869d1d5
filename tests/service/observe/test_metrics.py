"""Counts whose labels are names of callers."""

from service.observe.metrics import _MOST_KEYS, Metrics
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
