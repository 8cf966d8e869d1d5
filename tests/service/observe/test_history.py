"""The last hour, from metrics that a test sets and a clock that it holds."""

import asyncio
import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from prometheus_client.metrics_core import Metric

from service.observe import panels
from service.observe.history import MAX_LINES, OTHER, STEP_S, STEPS, History, Past
from service.observe.metrics import Metrics
from service.observe.panels import Increase, Level, Line, Match, Panel, Quantile, Rate, Ratio, Row, Seldom
from service.wire import encode
from tests.virtual_time import in_virtual_time

EPOCH_S = 1_000_000_000.0


class Service:
    """Metrics and a clock, as a test sets them, and the history of them."""

    def __init__(self, *lines: Line) -> None:
        self.samples: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
        self.now = 1000.0
        rows = [Row("row", [Panel("panel", "about", lines)])]
        self.history = History(self._collect, rows=rows, clock=lambda: self.now, wall=lambda: self.now + EPOCH_S)

    def _collect(self) -> Iterator[Metric]:
        family = Metric("all", "", "untyped")
        for (name, labels), value in self.samples.items():
            family.add_sample(name, dict(labels), value)
        yield family

    def put(self, name: str, value: float, **labels: str) -> None:
        self.samples[name, tuple(labels.items())] = value

    def step(self, steps: int = 1) -> None:
        self.now += steps * STEP_S
        self.history.sample()

    def lines(self, since: float | None = None) -> dict[str, list[float | None]]:
        """The values by legend, as a caller gets them."""
        given = json.loads(encode(self.history.since(since)()))
        return {series["legend"]: series["values"] for series in given["series"]}


def test_a_rate_is_the_rise_per_second_and_a_counter_that_fell_began_again() -> None:
    service = Service(Line(Rate("items", ("kind",)), "{{kind}}"))
    service.put("items", 100, kind="a")
    service.history.sample()
    for value in (110, 110, 5):
        service.put("items", value, kind="a")
        service.step()
    service.put("items", 20, kind="b")  # it was not there before, so it rose from 0
    service.step()
    assert service.lines() == {"a": [None, 2, 0, 1, 0], "b": [None, None, None, None, 4]}


def test_missed_steps_have_no_figure_and_their_rise_is_spread() -> None:
    service = Service(Line(Rate("items"), "all"), Line(Level("queue"), "queue"))
    service.put("items", 0)
    service.put("queue", 7)
    service.history.sample()
    service.put("items", 60)
    service.step(4)
    assert service.lines() == {"all": [None, None, None, None, 3], "queue": [7, None, None, None, 7]}
    service.history.sample()  # this step has its figures already
    service.put("items", 61)
    service.step(STEPS + 10)
    assert service.lines()["queue"] == [None] * (STEPS - 1) + [7]


def test_values_of_one_step_are_joined_as_their_line_says() -> None:
    service = Service(
        Line(Level("size"), "sum"),
        Line(Level("size", how="max"), "max"),
        Line(Level("size", how="min"), "min"),
        Line(
            Level("size", where=(Match("of", "!=", "a"), Match("of", "=~", "b|c"), Match("of", "=~", "$all"))), "some"
        ),
        Line(Level("size", where=(Match("of", "!~", "a|b"),)), "rest"),
    )
    for of, value in (("a", 1), ("b", 2), ("c", 30)):
        service.put("size", value, of=of)
    service.history.sample()
    assert service.lines() == {"sum": [33], "max": [30], "min": [1], "some": [32], "rest": [30]}


def test_a_ratio_divides_by_the_same_labels_or_by_the_whole() -> None:
    items = Rate("items", ("kind",))
    right = Rate("items", ("kind",), (Match("right", "=", "yes"),))
    never = Seldom(Rate("never"))
    lines = (Line(Ratio(right, items), "{{kind}}"), Line(Ratio(right, Rate("items")), "{{kind}} of all"))
    service = Service(*lines, Line(Ratio(never, Rate("items")), "never"), Line(Ratio(never, Rate("none")), "no items"))
    service.history.sample()
    for kind, yes, no in (("a", 30, 10), ("b", 0, 40)):
        service.put("items", yes, kind=kind, right="yes")
        service.put("items", no, kind=kind, right="no")
    service.step()
    service.step()
    assert service.lines() == {
        "a": [None, 0.75, None],
        "b": [None, 0, None],
        "a of all": [None, 0.375, None],
        "b of all": [None, 0, None],
        "never": [None, 0, None],
        "no items": [None, None, None],
    }


def test_a_quantile_is_interpolated_within_its_bucket() -> None:
    """The value is what Prometheus' `histogram_quantile` gives for the same counts."""
    service = Service(Line(Quantile(0.5, "s", ("of",)), "p50 {{of}}"), Line(Quantile(0.99, "s", ("of",)), "p99 {{of}}"))
    service.history.sample()
    for bound, count in (("0.1", 10), ("1.0", 40), ("2.0", 40), ("+Inf", 50)):
        service.put("s_bucket", count, of="x", le=bound)
    service.step()
    assert service.lines() == {"p50 x": [None, 0.55], "p99 x": [None, 2]}


def test_what_is_counted_over_an_hour_is_forgotten_after_it() -> None:
    service = Service(
        Line(Seldom(Increase("ended", ("why",))), "{{why}}"), Line(Increase("ended", per_step=True), "now")
    )
    service.history.sample()
    service.put("ended", 3, why="age")
    service.step()
    service.put("ended", 5, why="age")
    service.step()
    assert service.lines() == {"age": [None, 3, 5], "now": [None, 3, 2]}
    for _ in range(STEPS - 2):
        service.step()
    assert service.lines()["age"][-1] == 5
    service.step()
    assert service.lines()["age"][-1] == 2
    service.step()
    assert service.lines()["age"][-1] == 0


def test_the_largest_lines_have_figures_of_their_own_and_the_others_share_one() -> None:
    service = Service(Line(Rate("items", ("status", "reason")), "{{status}} {{reason}}"))
    service.history.sample()
    for number in range(MAX_LINES + 6):
        service.put("items", (number + 1) * STEP_S, status="ok", reason=f"r{number}")
    service.step()
    lines = service.lines()
    assert len(lines) == MAX_LINES + 1
    assert lines[f"ok r{MAX_LINES + 5}"] == [None, MAX_LINES + 6]
    assert lines["other status"] == [None, sum(range(1, 7))]
    (other,) = (each for each in service.history.since()().series if each.legend == "other status")
    assert other.labels == {"status": OTHER, "reason": OTHER}


def test_a_line_that_was_idle_for_an_hour_makes_room() -> None:
    service = Service(Line(Rate("items", ("reason",)), "{{reason}}"))
    service.history.sample()
    for number in range(MAX_LINES):
        service.put("items", 1, reason=f"r{number}")
    service.step()
    service.put("items", 10, reason="late")
    service.step()
    assert "late" not in service.lines()
    service.step(STEPS)
    service.put("items", 20, reason="later")
    service.step()
    lines = service.lines()
    assert lines["later"][-1] == 4
    assert len(lines) <= MAX_LINES + 1


def test_lines_that_were_never_used_leave_their_places_to_others() -> None:
    service = Service(Line(Level("queue", ("of",)), "{{of}}"))
    for number in range(2 * MAX_LINES):
        service.put("queue", 0, of=f"v{number}")
    service.history.sample()
    for number in range(MAX_LINES, 2 * MAX_LINES - 1):
        service.put("queue", number, of=f"v{number}")
    service.step()
    lines = service.lines()
    assert {lines[f"v{number}"][-1] for number in range(MAX_LINES, 2 * MAX_LINES - 1)} == set(
        range(MAX_LINES, 2 * MAX_LINES - 1)
    )
    assert (lines["other of"], len(lines)) == ([0, 0], MAX_LINES + 1)


def test_only_what_is_new_is_given_again() -> None:
    service = Service(Line(Level("queue"), "queue"))
    for value in range(3):
        service.put("queue", value)
        service.step()
    first = service.history.since()()
    assert [panel.name for panel in first.panels] == ["panel"]
    assert first.until == EPOCH_S + service.now == first.start + 2 * STEP_S
    nothing = service.history.since(first.until)()
    assert (nothing.panels, nothing.until, service.lines(first.until)) == ([], first.until, {"queue": []})
    service.put("queue", 9)
    service.step()
    new = service.history.since(first.until)()
    assert (new.start, new.series[0].values) == (first.until + STEP_S, [9])
    assert service.lines(0) == {"queue": [0, 1, 2, 9]}
    assert service.lines(1e11) == {"queue": []}


def test_an_hour_is_kept_and_no_more() -> None:
    service = Service(Line(Level("queue"), "queue"))
    for value in range(STEPS + 30):
        service.put("queue", value)
        service.step()
    values = service.lines()["queue"]
    assert values == list(range(30, STEPS + 30))


def test_a_figure_has_four_digits() -> None:
    service = Service(Line(Level("a"), "a"), Line(Level("b"), "b"), Line(Level("c"), "c"))
    for name, value in (("a", 123456.7), ("b", 0.000123456), ("c", -math.pi)):
        service.put(name, value)
    service.history.sample()
    assert service.lines() == {"a": [123500], "b": [0.0001235], "c": [-3.142]}


@in_virtual_time
async def test_it_samples_at_each_step_until_it_is_cancelled() -> None:
    loop = asyncio.get_running_loop()
    seen: list[float] = []

    def collect() -> Iterable[Metric]:
        seen.append(loop.time())
        return []

    history = History(collect, clock=loop.time)
    await asyncio.sleep(2)
    running = asyncio.create_task(history.run())
    await asyncio.sleep(STEP_S * 3)
    running.cancel()
    assert seen == [2.0, STEP_S, 2 * STEP_S, 3 * STEP_S]


@in_virtual_time
async def test_a_timer_that_fires_a_little_early_costs_no_step() -> None:
    loop = asyncio.get_running_loop()
    read: set[float] = set()

    def clock() -> float:
        """Early when it is read for the first time after each third sleep, as timers of whole milliseconds are."""
        now = loop.time()
        early = 0.0 if now in read or now % (3 * STEP_S) else 1e-4
        read.add(now)
        return now - early

    queue = Metric("queue", "", "gauge")
    queue.add_sample("queue", {}, 1.0)
    rows = [Row("row", [Panel("panel", "about", [Line(Level("queue"))])])]
    history = History(lambda: [queue], rows=rows, clock=clock)
    running = asyncio.create_task(history.run())
    await asyncio.sleep(STEP_S * 10 + 1)
    running.cancel()
    (series,) = history.since()().series
    assert series.values[-10:] == [1.0] * 10


def test_every_kind_of_line_of_the_table_is_understood() -> None:
    metrics = Metrics("test")
    now = 0.0
    history = History(metrics.registry.collect, clock=lambda: now)
    for _ in range(3):
        metrics.observe({("math", "ok", "correct"): 3, ("math", "failed", "timeout"): 1}, {"memory": 2}, 1)
        metrics.observe_request("http", "/v1/score", "200", "me", 0.2)
        metrics.observe_request("http", "/v1/series", "200", "me", 100.0)
        metrics.observe_judge_call("one", "ok", 0.7)
        history.sample()
        now += STEP_S
    past = history.since()()
    figures = {(each.name, each.legend): each.values[-1] for each in past.series}
    assert figures["Items per second", ""] == pytest.approx(4 / STEP_S)
    assert figures["Could not be judged", ""] == 0.25
    assert figures["From caches", ""] == 0.5
    assert figures["Share judged correct", "math"] == 1.0
    assert figures["Why not judged", "failed timeout"] == pytest.approx(1 / STEP_S)
    assert figures["Calls by endpoint", "one ok"] == pytest.approx(1 / STEP_S)
    assert 0.1 < _number(past, "p99 of requests") < 0.25
    assert {panel.name for panel in past.panels} == {
        panel.title for row in panels.ROWS for panel in row.panels if panel.title != "Replicas"
    }


def _number(past: Past, name: str) -> float:
    (found,) = (each for each in past.series if each.name == name)
    value: Any = found.values[-1]
    return float(value)
