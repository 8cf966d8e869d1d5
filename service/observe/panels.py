"""What there is to see of a service at work: a table of panels, each with the lines that it draws from metrics.

The Grafana dashboard (`deploy/grafana/dashboard.py`) writes the lines as PromQL; the console (`history.py`) reads them from
the metrics of its own process. There is one row for each question that a training team asks: is anything judged, is it
judged right, is it fast, what waits, what comes from caches, do workers, boxes and judge models work.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias


class Match(NamedTuple):
    """A condition on a label, as PromQL has them. A value `$name` is a choice of the dashboard's reader: all, here."""

    label: str
    how: Literal["=", "!=", "=~", "!~"]
    value: str


Where: TypeAlias = tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class Rate:
    """The rise of a counter per second, summed over what `by` does not name."""

    metric: str
    by: tuple[str, ...] = ()
    where: Where = ()


@dataclass(frozen=True, slots=True)
class Increase:
    """The rise of a counter over an hour. For a heat map: over a step."""

    metric: str
    by: tuple[str, ...] = ()
    where: Where = ()
    per_step: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """The value of a gauge."""

    metric: str
    by: tuple[str, ...] = ()
    where: Where = ()
    how: Literal["sum", "max", "min", "count"] = "sum"


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile of a histogram."""

    share: float
    metric: str
    by: tuple[str, ...] = ()
    where: Where = ()


@dataclass(frozen=True, slots=True)
class Seldom:
    """A value that is 0 if nothing like it has happened yet, because an empty panel would look like a broken one."""

    value: "Rate | Increase | Level | Quantile"


Term: TypeAlias = Rate | Increase | Level | Quantile
Value: TypeAlias = Term | Seldom


@dataclass(frozen=True, slots=True)
class Ratio:
    """A value for each of its labels, divided by the value of the same labels, or by the one value without labels."""

    part: Value
    whole: Term


@dataclass(frozen=True, slots=True)
class Line:
    """One value, and the name of its lines: Grafana's form, with labels in double braces."""

    value: Value | Ratio
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel that answers one question."""

    title: str
    about: str
    lines: Sequence[Line]
    unit: str = "short"
    kind: Literal["timeseries", "stat", "heatmap"] = "timeseries"
    width: int = 8
    red_above: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    title: str
    panels: Sequence[Panel]


_JUDGED: Final = (Match("verifier", "=~", "$verifier"),)
_OK: Final = (*_JUDGED, Match("status", "=", "ok"))
_OF_TRAINERS: Final = (Match("method", "!~", "/(healthz|readyz|metrics|startupz|drain|console|v1/series|v1/judges)"),)
_REWARDED: Final = (Match("recipe", "=~", "$recipe"), Match("tag", "=~", "$tag"))
_REFUSED: Final = (Match("code", "=~", "4..|5..|[A-Z_]+"), Match("code", "!=", "OK"))
_ALL_ITEMS: Final = Rate("rewardline_items_total")


def _mean_reward(by: str) -> Ratio:
    count, total = (Rate(f"rewardline_reward_{name}", (by,), _REWARDED) for name in ("count", "sum"))
    return Ratio(total, count)


ROWS: Final = (
    Row(
        "Now",
        (
            Panel("Items per second", "Verdicts of all kinds.", [Line(_ALL_ITEMS)], "ops", "stat", 4),
            Panel(
                "Could not be judged",
                "The share of items with status `failed`. They have no score; the caller tries again.",
                [
                    Line(
                        Ratio(Seldom(Rate("rewardline_items_total", (), (Match("status", "=", "failed"),))), _ALL_ITEMS)
                    )
                ],
                "percentunit",
                "stat",
                4,
                red_above=0.001,
            ),
            Panel(
                "p99 of requests",
                "Time from a request's first byte to its answer. Requests are batches.",
                [Line(Quantile(0.99, "rewardline_request_seconds", (), _OF_TRAINERS))],
                "s",
                "stat",
                4,
            ),
            Panel(
                "Under way",
                "Items that are admitted and not yet answered.",
                [Line(Level("rewardline_in_flight_items"))],
                "short",
                "stat",
                4,
            ),
            Panel(
                "From caches",
                "The share of items that were answered from a cache.",
                [Line(Ratio(Seldom(Rate("rewardline_items_cached_total")), _ALL_ITEMS))],
                "percentunit",
                "stat",
                4,
            ),
            Panel(
                "Replicas",
                "Replicas that were scraped in the last minute.",
                [Line(Level("rewardline_build_info", how="count"))],
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
                [Line(Rate("rewardline_items_total", ("verifier",), _JUDGED), "{{verifier}}")],
                "ops",
            ),
            Panel(
                "By status",
                "`invalid`: the data set must be mended. `failed`: could not be judged, and is asked again.",
                [Line(Rate("rewardline_items_total", ("status",), _JUDGED), "{{status}}")],
                "ops",
            ),
            Panel(
                "Why not judged",
                "Reasons of `failed` and `invalid`.",
                [
                    Line(
                        Seldom(
                            Rate(
                                "rewardline_items_total", ("status", "reason"), (*_JUDGED, Match("status", "!=", "ok"))
                            )
                        ),
                        "{{status}} {{reason}}",
                    )
                ],
                "ops",
            ),
            Panel(
                "Share judged correct",
                "The share of judged items, by verifier. A jump is a reward hack, a broken data set or a new policy: look at texts.",
                [
                    Line(
                        Ratio(
                            Rate("rewardline_items_total", ("verifier",), (*_OK, Match("reason", "=", "correct"))),
                            Rate("rewardline_items_total", ("verifier",), _OK),
                        ),
                        "{{verifier}}",
                    )
                ],
                "percentunit",
            ),
            Panel(
                "Verdicts by reason",
                "Reasons of judged items: truncated, no answer, wrong answer, ...",
                [Line(Rate("rewardline_items_total", ("reason",), _OK), "{{reason}}")],
                "ops",
            ),
            Panel(
                "Answers to other systems' clients",
                "Answers by client and outcome: SandboxFusion, OpenRLHF, slime, ROLL, NeMo, open-instruct.",
                [Line(Seldom(Rate("rewardline_door_answers_total", ("client", "outcome"))), "{{client}} {{outcome}}")],
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
                [Line(_mean_reward("recipe"), "{{recipe}}")],
            ),
            Panel(
                "Mean reward by tag",
                "Only tags of the routing table have a line.",
                [Line(_mean_reward("tag"), "{{tag}}")],
            ),
            Panel(
                "Distribution of rewards",
                "The number of items by their reward.",
                [Line(Increase("rewardline_reward_bucket", ("le",), _REWARDED, per_step=True), "{{le}}")],
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
                    Line(
                        Quantile(share, "rewardline_request_seconds", ("door",), _OF_TRAINERS),
                        f"p{share * 100:g} {{{{door}}}}",
                    )
                    for share in (0.5, 0.99)
                ],
                "s",
            ),
            Panel(
                "Verifiers",
                "Time that a verifier takes for one chunk of items, p99.",
                [Line(Quantile(0.99, "rewardline_verifier_seconds", ("verifier",), _JUDGED), "{{verifier}}")],
                "s",
            ),
            Panel(
                "Event loop",
                "The largest delay. Probes and answers wait this long.",
                [Line(Level("rewardline_event_loop_lag_seconds", ("instance",), how="max"), "{{instance}}")],
                "s",
                red_above=0.5,
            ),
            Panel(
                "Long steps",
                "The share of time in which one step of more than 5 ms held the event loop, by what ran.",
                [Line(Seldom(Rate("rewardline_loop_stall_seconds_sum", ("step",))), "{{step}}")],
                "percentunit",
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
                    Line(Level("rewardline_queued_work_seconds", ("verifier",), _JUDGED), "{{verifier}}"),
                    Line(Level("rewardline_queued_work_seconds_peak", how="max"), "recent peak of a replica"),
                ],
                "s",
            ),
            Panel(
                "Items queued",
                "Items in the queue of each verifier.",
                [Line(Level("rewardline_queue_items", ("verifier",), _JUDGED), "{{verifier}}")],
            ),
            Panel(
                "Refused",
                "Refused requests: overload (429, RESOURCE_EXHAUSTED), draining (503, UNAVAILABLE), limits of keys.",
                [
                    Line(Seldom(Rate("rewardline_requests_total", ("code",), _REFUSED)), "{{code}}"),
                    Line(Seldom(Rate("rewardline_key_refused_total", ("key", "reason"))), "{{key}} {{reason}}"),
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
                    Line(Ratio(Seldom(Rate("rewardline_items_cached_total", ("layer",))), _ALL_ITEMS), "{{layer}}"),
                    Line(Ratio(Rate("rewardline_items_deduplicated_total"), _ALL_ITEMS), "same batch"),
                ],
                "percentunit",
            ),
            Panel(
                "Redis",
                "1 for the state of the circuit breaker; `open` means Redis is given up for a while, and every key is a miss.",
                [Line(Level("rewardline_cache_redis_state", ("state",)), "{{state}}")],
            ),
            Panel(
                "Errors of Redis",
                "Calls that failed or were late, and verdicts that did not reach Redis. None of these loses a verdict.",
                [
                    Line(Rate("rewardline_cache_errors_total"), "errors"),
                    Line(Rate("rewardline_cache_dropped_writes_total"), "dropped writes"),
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
                    Line(Level("rewardline_workers_busy"), "busy"),
                    Line(Level("rewardline_workers_queued_items"), "items waiting"),
                ],
            ),
            Panel(
                "Workers replaced",
                "Workers by reason, over an hour. If a worker is killed, its item is tried again, and never gets a wrong score.",
                [Line(Seldom(Increase("rewardline_worker_restarts_total", ("reason",))), "{{reason}}")],
            ),
            Panel(
                "Boxes",
                "Boxes by what they do, and programs that wait for one.",
                [
                    Line(Level("rewardline_boxes", ("state",)), "{{state}}"),
                    Line(Level("rewardline_box_waiting_programs"), "programs waiting"),
                ],
            ),
            Panel(
                "Boxes recycled",
                "Boxes by reason, over an hour: number of jobs, age, or a fault (died, silent, memory, leftovers).",
                [Line(Increase("rewardline_boxes_ended_total", ("reason",)), "{{reason}}")],
            ),
            Panel(
                "Runs of programs",
                "By outcome.",
                [Line(Rate("rewardline_box_runs_total", ("exit",)), "{{exit}}")],
                "ops",
            ),
            Panel(
                "Programs refused or run again",
                "Refused because too many were waiting; run again because a box died.",
                [
                    Line(Rate("rewardline_box_refused_total"), "refused"),
                    Line(Rate("rewardline_box_jobs_again_total"), "again"),
                    Line(Rate("rewardline_box_starts_failed_total"), "boxes that did not start"),
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
                    Line(
                        Seldom(Rate("rewardline_judge_call_seconds_count", ("endpoint", "outcome"))),
                        "{{endpoint}} {{outcome}}",
                    )
                ],
                "reqps",
            ),
            Panel(
                "How long calls take",
                "p50 and p99 by endpoint.",
                [
                    Line(
                        Seldom(Quantile(share, "rewardline_judge_call_seconds", ("endpoint",))),
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
                    Line(Seldom(Level("rewardline_judge_endpoint_healthy", ("endpoint",), how="min")), "{{endpoint}}"),
                    Line(Seldom(Level("rewardline_judge_waiting_calls")), "calls waiting"),
                ],
            ),
        ),
    ),
)
