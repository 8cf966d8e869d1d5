"""Publishes metrics that are read from other parts: admission, queues, workers, the cache."""

from collections.abc import Mapping
from functools import partial

from sandbox.workers import Workers
from service.cache.counters import CacheCounters
from service.cache.verdict_cache import VerdictCache
from service.limits.admission import Admission
from service.observe.load_monitor import LoadMonitor
from service.observe.metrics import Metrics
from service.scoring.engine import Engine
from service.usage.run_counts import OTHER
from service.usage.usage import Usage


def publish(
    metrics: Metrics,
    admission: Admission,
    load_monitor: LoadMonitor,
    engine: Engine,
    workers: Workers,
    cache: VerdictCache,
) -> None:
    """Publish the counts of these parts as metrics."""
    counters = cache.counters
    metrics.watch("in_flight_items", "Items admitted and not yet answered", lambda: admission.items)
    metrics.watch("in_flight_bytes", "Bytes of admitted requests", lambda: admission.bytes)
    metrics.watch("in_flight_requests", "Requests admitted and not yet answered", lambda: admission.requests)
    metrics.watch("draining", "1 while the service drains, else 0", lambda: _is_leaving(admission))
    metrics.watch("event_loop_lag_seconds", "Largest delay of the event loop in 15 s", lambda: load_monitor.lag_s)
    metrics.watch_gauges("queued_work_seconds", "Seconds of work that wait, by verifier", engine.queued_s, "verifier")
    metrics.watch(
        "queued_work_seconds_peak", "Most seconds of work that waited in ten minutes", lambda: load_monitor.peak_s
    )
    metrics.watch_pairs(
        "key_refused",
        "Requests refused or held back by a key's limits",
        lambda: admission.rate_limits.refused,
        ("key", "reason"),
    )
    metrics.watch("workers_busy", "Workers that are judging", lambda: workers.busy)
    metrics.watch("workers_queued_items", "Items waiting for a worker", lambda: workers.queued)
    metrics.watch("cache_memory_bytes", "Bytes held by the in-process cache", lambda: cache.memory.used_bytes)
    metrics.watch("cache_memory_entries", "Verdicts held by the in-process cache", lambda: len(cache.memory))
    metrics.watch_states(
        "cache_redis_state",
        "State of Redis's circuit breaker: 1 for the current one",
        ("none", "closed", "half_open", "open"),
        lambda: cache.redis_state,
    )
    metrics.watch_gauges("queue_items", "Items waiting for their verifier", engine.queued, "verifier")
    for name, about in (
        ("misses", "Keys no cache had"),
        ("errors", "Calls to Redis that failed or were late"),
        ("rejected", "Values in Redis that were not what was stored"),
        ("written", "Verdicts written to Redis"),
        ("dropped_writes", "Verdicts that did not reach Redis"),
        ("breaker_opened", "Times Redis was given up for a while"),
    ):
        metrics.watch_total(f"cache_{name}", about, partial(_read, counters, name))


def publish_usage(metrics: Metrics, usage: Usage) -> None:
    """Publish what tenants and runs have used at this process."""
    ledger = usage.ledger

    def by_tenant() -> Mapping[tuple[str, str], float]:
        amounts: dict[tuple[str, str], float] = {}
        for tenant, account in ledger.totals():
            for measure, amount in account.here.items():
                labels = (metrics.tenant_label(tenant), measure.value)
                amounts[labels] = amounts.get(labels, 0.0) + amount
        return amounts

    def by_run() -> Mapping[tuple[str, str], float]:
        amounts: dict[tuple[str, str], float] = {}
        for (tenant, run), items in ledger.run_counts.counts().items():
            label = metrics.tenant_label(tenant)
            labels = (label, run if label == tenant else OTHER)
            amounts[labels] = amounts.get(labels, 0.0) + items
        return amounts

    metrics.watch_pairs("tenant_usage", "What tenants have used", by_tenant, ("tenant", "measure"))
    metrics.watch_pairs("run_items", "Items by run; other: older ones, and those without", by_run, ("tenant", "run"))
    metrics.watch_gauges("usage_accounts", "Accounts that are kept, of tenants and of runs", ledger.accounts, "of")
    metrics.watch_total("usage_errors", "Calls to Redis for usage that failed", lambda: usage.errors)


def _is_leaving(admission: Admission) -> float:
    return float(admission.draining or admission.leaving)


def _read(counters: CacheCounters, name: str) -> float:
    return float(getattr(counters, name))
