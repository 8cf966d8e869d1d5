"""What the watch reads of a run does not depend on the traffic of other runs and tenants."""

import time

import pytest

from service.watch.alarms import Alarms
from service.watch.budget import RUN_SAMPLES_PER_S, SAMPLES_PER_S, Budget, Clock
from service.watch.stream import Windows
from service.watch.window import NBYTES, Whose
from tests.tables import table


def read(busy: tuple[str, int] | None, *, steps: int = 14, step_s: float = 5.0) -> list[int]:
    """What is read of 32 items in each step of a slow run, while a tenant posts 780 items a second in so many runs."""
    budget, counts = Budget(), []
    for step in range(steps):
        now_s = 1000 + step * step_s
        counts.append(budget.take("maths", "slow", 32, now_s))
        for post in range(100 if busy else 0):
            tenant, runs = busy or ("", 1)
            budget.take(tenant, f"busy-{post % runs}", 39, now_s + post * step_s / 100)
    return counts


@table(
    "busy",
    [None, ("agents", 1), ("agents", 60), ("agents", 100), ("maths", 1)],
    ids=["alone", "a busy tenant", "with many runs", "with more than are told apart", "a busy run of the same tenant"],
)
def test_a_busy_caller_does_not_take_the_reading_of_a_slow_run(busy: tuple[str, int] | None) -> None:
    assert sum(read(busy)) >= 0.95 * 14 * 32
    assert min(read(busy)[:8]) == 32


@table("tenants, runs", [(1, 1), (1, 50), (1, 500), (5, 3), (40, 40), (300, 1), (300, 7)])
def test_reading_is_bounded_whatever_the_tenants_and_runs(tenants: int, runs: int) -> None:
    budget, duration_s = Budget(), 120
    posts = [(f"t{at % tenants}", f"r{at % runs}", 64, at / 100) for at in range(100 * duration_s)]
    total = sum(budget.take(*post) for post in posts)
    assert total <= SAMPLES_PER_S * duration_s + 4.75 * SAMPLES_PER_S * 400 / 6
    if tenants == runs == 1:
        assert total <= RUN_SAMPLES_PER_S * duration_s + 400


def test_a_run_that_comes_back_after_a_pause_reads_a_whole_step_at_once() -> None:
    budget = Budget()
    assert budget.take("t", "r", 1000, 0.0) == 400
    assert budget.take("t", "r", 1000, 1.0) == 6
    assert budget.take("t", "r", 1000, 200.0) == 400


def test_a_tenant_with_many_runs_does_not_push_out_the_windows_of_others() -> None:
    windows = Windows(Alarms(), max_bytes=8 * NBYTES, redact=False)
    window = windows.of(Whose("maths", "slow", "math"))
    for at in range(50):
        windows.of(Whose("agents", f"busy-{at}", "exact_match"))
    assert windows.of(Whose("maths", "slow", "math")) is window
    assert windows.entries == 8


def test_the_clock_goes_slower_where_others_take_the_cpu_down_to_half(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([(0.0, 0.0), (10.0, 10.0), (20.0, 14.0), (30.0, 14.5), (40.0, 14.5)])
    wall_s, cpu_s = zip(*times, strict=True)
    monkeypatch.setattr(time, "monotonic", iter(wall_s).__next__)
    monkeypatch.setattr(time, "process_time", iter(cpu_s).__next__)
    clock = Clock()
    assert [clock.now_s() for _ in range(4)] == [10.0, 16.0, 21.0, 26.0]


def test_a_run_that_is_forgotten_is_told_once_in_a_while(caplog: pytest.LogCaptureFixture) -> None:
    windows = Windows(Alarms(), max_bytes=2 * NBYTES, redact=False)
    for run in ("first", "second", "third", "fourth"):
        windows.of(Whose("maths", run, "math"))
    assert [(record.message, vars(record)["fields"]["run"]) for record in caplog.records] == [
        ("watch_run_dropped", "first")
    ]
