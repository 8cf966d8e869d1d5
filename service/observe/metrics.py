"""The Prometheus metrics of the service. Each is declared and written here.

Workers keep no metrics: they answer to this process, which holds the only registry. So a scrape is complete, and no
files can go stale. If there are several fronts on one machine, each has its own port for `/metrics`. No label holds a
text that a caller can invent, except for the names of a hundred runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from fairness import DEFAULT
from service.observe.reward_counts import OTHER, RewardCounts
from verifiers.pace import Pace

M = TypeVar("M", Counter, Histogram)
Label = TypeVar("Label", bound=str)

_LATENCY_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_STALL_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_SAMPLES_AT_ONCE = 250
"""A sample is rendered in some five microseconds."""
_HEAD_LINES = 2
"""Of a family: its help and its type."""

_MOST_KEYS = 1_000
"""Keys that have counts of their own, the first to come. A count stays for as long as the process, also of a key that is gone."""


class Metrics:
    """The registry and what is in it."""

    def __init__(self, version: str, *, max_tenants: int = 100) -> None:
        """`max_tenants` have counts of their own, the first to come. All others together are `other`."""
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library left it untyped
        self.version = version
        self.registry = CollectorRegistry()
        self._children: dict[tuple[Any, tuple[str, ...]], Any] = {}
        build = Info("rewardline_build", "Version of this server", registry=self.registry)
        build.info({"version": version})
        self._items = self._counter("items", "Items judged or refused", "verifier", "status", "reason")
        self._cached = self._counter("items_cached", "Items answered from a cache", "layer")
        self._deduplicated = self._counter("items_deduplicated", "Items that shared another item's verdict")
        self._requests = self._counter("requests", "Requests by outcome", "door", "method", "code", "key")
        self._request_s = Histogram(
            "rewardline_request_seconds",
            "Time from a request's first byte to its answer",
            ["door", "method"],
            buckets=_LATENCY_S,
            registry=self.registry,
        )
        self._verifier_s = Histogram(
            "rewardline_verifier_seconds",
            "Time that a verifier takes for one chunk of items",
            ["verifier"],
            buckets=_LATENCY_S,
            registry=self.registry,
        )
        self._judge_call_s = Histogram(
            "rewardline_judge_call_seconds",
            "Time of one call of a judge model's endpoint, by outcome",
            ["endpoint", "outcome"],
            buckets=_LATENCY_S,
            registry=self.registry,
        )
        self._loop_stall_s = Histogram(
            "rewardline_loop_stall_seconds",
            "CPU time of steps on the event loop that took more than 5 ms, by what ran",
            ["step"],
            buckets=_STALL_S,
            registry=self.registry,
        )
        self._max_tenants = max_tenants
        self._tenants: set[str] = set()
        self._keys: set[str] = set()
        self._tenant_requests = self._counter("tenant_requests", "Requests by tenant", "tenant")
        self._tenant_items = self._counter("tenant_items", "Items judged or refused, by tenant", "tenant", "status")
        self._restarts = self._counter("worker_restarts", "Workers that were replaced, by reason", "reason")
        self._reloads = self._counter("recipes_reloads", "Times the file of recipes was read again", "outcome")
        self._keys_reloads = self._counter("keys_reloads", "Times the file of keys was read again", "outcome")
        self.rewards = RewardCounts()
        self.registry.register(self.rewards)
        self._run_code = self._counter("run_code", "Answers of /run_code", "status")
        self._doors = self._counter(
            "door_answers", "Answers to other systems' clients, by outcome", "client", "outcome"
        )
        self._asked_again = self._counter("door_items_again", "Failed items judged again while callers wait")

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"rewardline_{name}", about, labels, registry=self.registry)

    def watch(self, name: str, about: str, read: Callable[[], float]) -> None:
        """Publish a gauge that is read at each scrape."""
        Gauge(f"rewardline_{name}", about, registry=self.registry).set_function(read)

    def watch_gauges(self, name: str, about: str, read: Callable[[], Mapping[str, float]], label: str) -> None:
        """Publish gauges that are read at each scrape: one per key of `read()`."""
        self.registry.register(_Read(lambda: _gauges(name, about, label, read())))

    def watch_states(self, name: str, about: str, states: Sequence[str], read: Callable[[], str]) -> None:
        """Publish one gauge per state. It is 1 for the current state."""
        self.watch_gauges(name, about, lambda: {state: float(state == read()) for state in states}, "state")

    def watch_total(self, name: str, about: str, read: Callable[[], float]) -> None:
        """Publish a counter that another part keeps. It is read at each scrape."""
        self.registry.register(_Read(lambda: CounterMetricFamily(f"rewardline_{name}", about, value=read())))

    def watch_totals(self, name: str, about: str, read: Callable[[], Mapping[Label, float]], label: str) -> None:
        """Publish counters that another part keeps: one per key of `read()`. They are read at each scrape."""
        self.registry.register(_Read(lambda: _totals(name, about, label, read())))

    def watch_pairs(
        self, name: str, about: str, read: Callable[[], Mapping[tuple[str, str], float]], labels: tuple[str, str]
    ) -> None:
        """Publish counters that another part keeps, with two labels."""

        def made() -> CounterMetricFamily:
            family = CounterMetricFamily(f"rewardline_{name}", about, labels=labels)
            for pair, value in read().items():
                family.add_metric(pair, value)
            return family

        self.registry.register(_Read(made))

    def observe(
        self,
        outcomes: Mapping[tuple[str, str, str], int],
        layers: Mapping[str, int],
        shared: int,
        tenant: str = DEFAULT,
    ) -> None:
        """Count one finished batch: items by (verifier, status, reason), cache hits by layer, shared verdicts."""
        tenant = self.tenant_label(tenant)
        for labels, count in outcomes.items():
            self._of(self._items, labels).inc(count)
            self._of(self._tenant_items, (tenant, labels[1])).inc(count)
        for layer, count in layers.items():
            if count:
                self._of(self._cached, (layer,)).inc(count)
        if shared:
            self._deduplicated.inc(shared)

    def observe_request(self, door: str, method: str, code: str, key: str, seconds: float) -> None:
        self._of(self._requests, (door, method, code, _label(self._keys, key, _MOST_KEYS))).inc()
        self._of(self._request_s, (door, method)).observe(seconds)

    def observe_tenant(self, tenant: str) -> None:
        self._of(self._tenant_requests, (self.tenant_label(tenant),)).inc()

    def tenant_label(self, tenant: str) -> str:
        """The tenant, or `other` beyond the limit."""
        return _label(self._tenants, tenant, self._max_tenants)

    def observe_chunk(self, verifier: str, seconds: float) -> None:
        self._of(self._verifier_s, (verifier,)).observe(seconds)

    def observe_stall(self, step: str, seconds: float) -> None:
        self._of(self._loop_stall_s, (step,)).observe(seconds)

    def observe_judge_call(self, endpoint: str, outcome: str, seconds: float) -> None:
        """`outcome`: ok, or the kind of failure."""
        self._of(self._judge_call_s, (endpoint, outcome)).observe(seconds)

    def observe_restart(self, reason: str) -> None:
        self._restarts.labels(reason).inc()

    def observe_reload(self, outcome: str) -> None:
        self._reloads.labels(outcome).inc()

    def observe_keys_reload(self, outcome: str) -> None:
        self._keys_reloads.labels(outcome).inc()

    def observe_run_code(self, status: str) -> None:
        self._run_code.labels(status).inc()

    def observe_door(self, client: str, outcome: str) -> None:
        """`outcome`: ok, invalid, failed, refused, gone."""
        self._of(self._doors, (client, outcome)).inc()

    def observe_asked_again(self, items: int) -> None:
        self._asked_again.inc(items)

    def _of(self, metric: M, labels: tuple[str, ...]) -> M:
        """A cached `metric.labels(*labels)`. The library's call takes a lock, and longer than the update itself."""
        child = self._children.get((metric, labels))
        if child is None:
            child = self._children[(metric, labels)] = metric.labels(*labels)
        return child

    def exposition(self) -> bytes:
        return generate_latest(self.registry)

    async def exposed(self) -> bytes:
        """The exposition, made some samples at a time: with many labels all of it would hold the event loop for long."""
        pace, chunks = Pace(), []
        for family in self.registry.collect():
            for chunk in _rendered(family):
                chunks.append(chunk)
                await pace.keep()
        return b"".join(chunks)


def _rendered(family: Metric) -> Iterator[bytes]:
    samples = family.samples
    for start in range(0, len(samples) or 1, _SAMPLES_AT_ONCE):
        family.samples = samples[start : start + _SAMPLES_AT_ONCE]
        text = generate_latest(_Family(family))
        yield text.split(b"\n", _HEAD_LINES)[-1] if start else text


class _Family(CollectorRegistry):
    """A registry of one family that has been collected already."""

    def __init__(self, family: Metric) -> None:
        super().__init__()
        self._family = family

    def collect(self) -> Iterator[Metric]:
        yield self._family


class _Read(Collector):
    """A metric that is made at each scrape."""

    def __init__(self, make: Callable[[], Metric]) -> None:
        self._make = make

    def collect(self) -> Iterator[Metric]:
        yield self._make()


def _label(known: set[str], name: str, most: int) -> str:
    """The name, or `other` if it is not among the first `most` to come, which are `known`."""
    if name not in known:
        if len(known) >= most:
            return OTHER
        known.add(name)
    return name


def _gauges(name: str, about: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"rewardline_{name}", about, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family


def _totals(name: str, about: str, label: str, values: Mapping[Label, float]) -> CounterMetricFamily:
    family = CounterMetricFamily(f"rewardline_{name}", about, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family
