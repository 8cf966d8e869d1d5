"""Makes the Grafana dashboard. It is a program, because hundreds of lines of JSON hide the questions and their queries.

python -m deploy.grafana.dashboard > deploy/grafana/dashboards/rewardline.json

There is one row for each question that a training team asks: is anything judged, is it judged right, is it fast, what
waits, what comes from caches, do workers, boxes and judge models work. Every query covers all replicas or some
(`$instance`). Queries of events that may never happen end in `or on() vector(0)`, because an empty panel would look
like a broken one.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

WIDTH: Final = 24
HEIGHT: Final = 8
SOURCE: Final = {"type": "prometheus", "uid": "${source}"}


@dataclass(frozen=True, slots=True)
class Query:
    """One expression, and the name of its lines."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel that answers one question."""

    title: str
    about: str
    queries: Sequence[Query]
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 8
    red_above: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    title: str
    panels: Sequence[Panel]


def _rate(metric: str, *by: str, where: str = "") -> str:
    """The rate per second, summed over replicas."""
    labels = ",".join(part for part in ('instance=~"$instance"', where) if part)
    grouped = f" by ({', '.join(by)})" if by else ""
    return f"sum{grouped} (rate({metric}{{{labels}}}[$__rate_interval]))"


def _gauge(metric: str, *by: str, where: str = "", how: str = "sum") -> str:
    labels = ",".join(part for part in ('instance=~"$instance"', where) if part)
    grouped = f" by ({', '.join(by)})" if by else ""
    return f"{how}{grouped} ({metric}{{{labels}}})"


def _quantile(share: float, metric: str, *by: str, where: str = "") -> str:
    return f"histogram_quantile({share}, {_rate(f'{metric}_bucket', 'le', *by, where=where)})"


def _seldom(expr: str) -> str:
    """The expression, or 0 if the event has never happened."""
    return f"{expr} or on() vector(0)"


_JUDGED: Final = 'verifier=~"$verifier"'
_OF_TRAINERS: Final = 'method!~"/(healthz|readyz|metrics|startupz|drain)"'
_REWARDED: Final = 'recipe=~"$recipe",tag=~"$tag"'
_ALL_ITEMS: Final = _rate("rewardline_items_total")
_JUDGED_ITEMS: Final = _rate("rewardline_items_total", "verifier", where=f'{_JUDGED},status="ok"')
_CORRECT_ITEMS: Final = _rate("rewardline_items_total", "verifier", where=f'{_JUDGED},status="ok",reason="correct"')
_CACHED_ITEMS: Final = _seldom(_rate("rewardline_items_cached_total"))
_CACHED_BY_LAYER: Final = _seldom(_rate("rewardline_items_cached_total", "layer"))
_SHARED_ITEMS: Final = _rate("rewardline_items_deduplicated_total")
_FAILED_ITEMS: Final = _seldom(_rate("rewardline_items_total", where='status="failed"'))

ROWS: Final = (
    Row(
        "Now",
        (
            Panel(
                "Items per second", "Verdicts of all kinds.", [Query(_rate("rewardline_items_total"))], "ops", "stat", 4
            ),
            Panel(
                "Could not be judged",
                "The share of items with status `failed`. They have no score; the caller tries again.",
                [Query(f"({_FAILED_ITEMS}) / {_ALL_ITEMS}")],
                "percentunit",
                "stat",
                4,
                red_above=0.001,
            ),
            Panel(
                "p99 of requests",
                "Time from a request's first byte to its answer. Requests are batches.",
                [Query(_quantile(0.99, "rewardline_request_seconds", where=_OF_TRAINERS))],
                "s",
                "stat",
                4,
            ),
            Panel(
                "Under way",
                "Items that are admitted and not yet answered.",
                [Query(_gauge("rewardline_in_flight_items"))],
                "short",
                "stat",
                4,
            ),
            Panel(
                "From caches",
                "The share of items that were answered from a cache.",
                [Query(f"({_CACHED_ITEMS}) / {_ALL_ITEMS}")],
                "percentunit",
                "stat",
                4,
            ),
            Panel(
                "Replicas",
                "Replicas that were scraped in the last minute.",
                [Query(_gauge("rewardline_build_info", how="count"))],
                "short",
                "stat",
                4,
            ),
        ),
    ),
    Row(
        "What is judged",
        (
            Panel(
                "Items per second by verifier",
                "The items that trainers send.",
                [Query(_rate("rewardline_items_total", "verifier", where=_JUDGED), "{{verifier}}")],
                "ops",
            ),
            Panel(
                "By status",
                "`invalid`: the data set must be mended. `failed`: could not be judged, and is asked again.",
                [Query(_rate("rewardline_items_total", "status", where=_JUDGED), "{{status}}")],
                "ops",
            ),
            Panel(
                "Why not judged",
                "Reasons of `failed` and `invalid`.",
                [
                    Query(
                        _seldom(_rate("rewardline_items_total", "status", "reason", where=f'{_JUDGED},status!="ok"')),
                        "{{status}} {{reason}}",
                    )
                ],
                "ops",
            ),
            Panel(
                "Share judged correct",
                "The share of judged items, by verifier. A jump is a reward hack, a broken data set or a new policy: look at texts.",
                [
                    Query(
                        f"{_CORRECT_ITEMS} / {_JUDGED_ITEMS}",
                        "{{verifier}}",
                    )
                ],
                "percentunit",
            ),
            Panel(
                "Verdicts by reason",
                "Reasons of judged items: truncated, no answer, wrong answer, ...",
                [Query(_rate("rewardline_items_total", "reason", where=f'{_JUDGED},status="ok"'), "{{reason}}")],
                "ops",
            ),
            Panel(
                "Answers to other systems' clients",
                "Answers by client and outcome: SandboxFusion, OpenRLHF, slime, ROLL, NeMo, open-instruct.",
                [Query(_seldom(_rate("rewardline_door_answers_total", "client", "outcome")), "{{client}} {{outcome}}")],
                "ops",
            ),
        ),
    ),
    Row(
        "Rewards",
        (
            Panel(
                "Mean reward by recipe",
                "The mean over judged items. Others do not count.",
                [
                    Query(
                        f"{_rate('rewardline_reward_sum', 'recipe', where=_REWARDED)}"
                        f" / {_rate('rewardline_reward_count', 'recipe', where=_REWARDED)}",
                        "{{recipe}}",
                    )
                ],
            ),
            Panel(
                "Mean reward by tag",
                "Only tags of the routing table have a line.",
                [
                    Query(
                        f"{_rate('rewardline_reward_sum', 'tag', where=_REWARDED)}"
                        f" / {_rate('rewardline_reward_count', 'tag', where=_REWARDED)}",
                        "{{tag}}",
                    )
                ],
            ),
            Panel(
                "Distribution of rewards",
                "The number of items by their reward.",
                [
                    Query(
                        f'sum by (le) (increase(rewardline_reward_bucket{{instance=~"$instance",{_REWARDED}}}[$__rate_interval]))',
                        "{{le}}",
                    )
                ],
                kind="heatmap",
            ),
        ),
    ),
    Row(
        "How long it takes",
        (
            Panel(
                "Requests",
                "Time from a request's first byte to its answer, by door.",
                [
                    Query(
                        _quantile(share, "rewardline_request_seconds", "door", where=_OF_TRAINERS),
                        f"p{share * 100:g} {{{{door}}}}",
                    )
                    for share in (0.5, 0.99)
                ],
                "s",
            ),
            Panel(
                "Verifiers",
                "Time that a verifier takes for one chunk of items, p99.",
                [Query(_quantile(0.99, "rewardline_verifier_seconds", "verifier", where=_JUDGED), "{{verifier}}")],
                "s",
            ),
            Panel(
                "Event loop",
                "The largest delay. Probes and answers wait this long.",
                [Query(_gauge("rewardline_event_loop_lag_seconds", "instance", how="max"), "{{instance}}")],
                "s",
                red_above=0.5,
            ),
        ),
    ),
    Row(
        "What waits",
        (
            Panel(
                "Work queued",
                "Seconds of work that wait, by verifier. Autoscaling uses the recent peak.",
                [
                    Query(_gauge("rewardline_queued_work_seconds", "verifier", where=_JUDGED), "{{verifier}}"),
                    Query(_gauge("rewardline_queued_work_seconds_peak", how="max"), "recent peak of a replica"),
                ],
                "s",
            ),
            Panel(
                "Items queued",
                "Items in the queue of each verifier.",
                [Query(_gauge("rewardline_queue_items", "verifier", where=_JUDGED), "{{verifier}}")],
            ),
            Panel(
                "Refused",
                "Refused requests: overload (429, RESOURCE_EXHAUSTED), draining (503, UNAVAILABLE), limits of keys.",
                [
                    Query(
                        _seldom(_rate("rewardline_requests_total", "code", where='code=~"4..|5..|[A-Z_]+",code!="OK"')),
                        "{{code}}",
                    ),
                    Query(_seldom(_rate("rewardline_key_refused_total", "key", "reason")), "{{key}} {{reason}}"),
                ],
                "reqps",
            ),
        ),
    ),
    Row(
        "Caches",
        (
            Panel(
                "Share of items from caches",
                "The share by layer: memory of the replica, Redis; and verdicts shared within a batch.",
                [
                    Query(
                        f"({_CACHED_BY_LAYER}) / on() group_left() {_ALL_ITEMS}",
                        "{{layer}}",
                    ),
                    Query(
                        f"{_SHARED_ITEMS} / {_ALL_ITEMS}",
                        "same batch",
                    ),
                ],
                "percentunit",
            ),
            Panel(
                "Redis",
                "1 for the state of the circuit breaker; `open` means Redis is given up for a while, and every key is a miss.",
                [Query(_gauge("rewardline_cache_redis_state", "state"), "{{state}}")],
            ),
            Panel(
                "Errors of Redis",
                "Calls that failed or were late, and verdicts that did not reach Redis. None of these loses a verdict.",
                [
                    Query(_rate("rewardline_cache_errors_total"), "errors"),
                    Query(_rate("rewardline_cache_dropped_writes_total"), "dropped writes"),
                ],
                "ops",
            ),
        ),
    ),
    Row(
        "Workers and boxes",
        (
            Panel(
                "Workers",
                "Workers that are judging, and items that wait for one.",
                [
                    Query(_gauge("rewardline_workers_busy"), "busy"),
                    Query(_gauge("rewardline_workers_queued_items"), "items waiting"),
                ],
            ),
            Panel(
                "Workers replaced",
                "Workers by reason, over an hour. If a worker is killed, its item is tried again, and never gets a wrong score.",
                [
                    Query(
                        _seldom(
                            'sum by (reason) (increase(rewardline_worker_restarts_total{instance=~"$instance"}[1h]))'
                        ),
                        "{{reason}}",
                    )
                ],
            ),
            Panel(
                "Boxes",
                "Boxes by what they do, and programs that wait for one.",
                [
                    Query(_gauge("rewardline_boxes", "state"), "{{state}}"),
                    Query(_gauge("rewardline_box_waiting_programs"), "programs waiting"),
                ],
            ),
            Panel(
                "Boxes recycled",
                "Boxes by reason, over an hour: number of jobs, age, or a fault (died, silent, memory, leftovers).",
                [
                    Query(
                        'sum by (reason) (increase(rewardline_boxes_ended_total{instance=~"$instance"}[1h]))',
                        "{{reason}}",
                    )
                ],
            ),
            Panel(
                "Runs of programs",
                "By outcome.",
                [Query(_rate("rewardline_box_runs_total", "exit"), "{{exit}}")],
                "ops",
            ),
            Panel(
                "Programs refused or run again",
                "Refused because too many were waiting; run again because a box died.",
                [
                    Query(_rate("rewardline_box_refused_total"), "refused"),
                    Query(_rate("rewardline_box_jobs_again_total"), "again"),
                    Query(_rate("rewardline_box_starts_failed_total"), "boxes that did not start"),
                ],
                "ops",
            ),
        ),
    ),
    Row(
        "Judge models",
        (
            Panel(
                "Calls by endpoint",
                "By outcome.",
                [
                    Query(
                        _seldom(_rate("rewardline_judge_call_seconds_count", "endpoint", "outcome")),
                        "{{endpoint}} {{outcome}}",
                    )
                ],
                "reqps",
            ),
            Panel(
                "How long calls take",
                "p50 and p99 by endpoint.",
                [
                    Query(
                        _seldom(_quantile(share, "rewardline_judge_call_seconds", "endpoint")),
                        f"p{share * 100:g} {{{{endpoint}}}}",
                    )
                    for share in (0.5, 0.99)
                ],
                "s",
            ),
            Panel(
                "Endpoints",
                "1 while calls go there; and calls that wait for any.",
                [
                    Query(_seldom(_gauge("rewardline_judge_endpoint_healthy", "endpoint", how="min")), "{{endpoint}}"),
                    Query(_seldom(_gauge("rewardline_judge_waiting_calls")), "calls waiting"),
                ],
            ),
        ),
    ),
)


def dashboard() -> dict[str, Any]:
    """The dashboard as Grafana reads it."""
    return {
        "uid": "rewardline",
        "title": "Rewardline",
        "tags": ["rewardline"],
        "schemaVersion": 39,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": _variables()},
        "panels": _laid_out(),
    }


def _variables() -> list[dict[str, Any]]:
    source = {"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus", "current": {}}
    asked = (
        ("instance", "Replica", "label_values(rewardline_build_info, instance)"),
        ("verifier", "Verifier", "label_values(rewardline_items_total, verifier)"),
        ("recipe", "Recipe", "label_values(rewardline_reward_count, recipe)"),
        ("tag", "Tag", "label_values(rewardline_reward_count, tag)"),
    )
    return [source, *(_variable(*variable) for variable in asked)]


def _variable(name: str, label: str, query: str) -> dict[str, Any]:
    everything = {"text": "All", "value": "$__all"}
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": everything,
    }


def _laid_out() -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = []
    top = 0
    for row in ROWS:
        panels.append(
            {"type": "row", "title": row.title, "collapsed": False, "panels": [], "gridPos": _place(0, top, WIDTH, 1)}
        )
        left, top = 0, top + 1
        for panel in row.panels:
            if left + panel.width > WIDTH:
                left, top = 0, top + HEIGHT
            panels.append({**_drawn(panel), "gridPos": _place(left, top, panel.width, HEIGHT)})
            left += panel.width
        top += HEIGHT
    return [{"id": number, **panel} for number, panel in enumerate(panels, 1)]


def _place(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": width, "h": height}


def _drawn(panel: Panel) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    if panel.red_above is not None:
        steps.append({"color": "red", "value": panel.red_above})
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": SOURCE,
        "fieldConfig": {
            "defaults": {"unit": panel.unit, "thresholds": {"mode": "absolute", "steps": steps}},
            "overrides": [],
        },
        "options": {"calculate": False} if panel.kind == "heatmap" else {},
        "targets": [
            {
                "refId": chr(ord("A") + number),
                "datasource": SOURCE,
                "expr": query.expr,
                "legendFormat": query.legend or "__auto",
                "format": "heatmap" if panel.kind == "heatmap" else "time_series",
            }
            for number, query in enumerate(panel.queries)
        ],
    }


if __name__ == "__main__":
    json.dump(dashboard(), sys.stdout, indent=1)
    sys.stdout.write("\n")
