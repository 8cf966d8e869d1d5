"""What is counted for whom, and when a budget is used up, by a clock that the test sets."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from fairness import TENANT
from service.limits.budgets import Budget, Budgets, Measure
from service.tenant import RUN
from service.usage.ledger import JUDGING, NOBODY, Ledger
from service.usage.run_counts import OTHER, RunCounts

NOON = 1_800_000_000.0
"""The begin of a minute."""


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@contextmanager
def serving(tenant: str, run: str = "") -> Iterator[None]:
    caller, running = TENANT.set(tenant), RUN.set(run)
    yield
    TENANT.reset(caller)
    RUN.reset(running)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def ledger_of(clock: Clock, budgets: Mapping[str, Budgets] | None = None, max_runs: int = 1000) -> Ledger:
    made = Ledger(clock, max_runs=max_runs)
    made.use(budgets or {})
    return made


def test_the_minute_begins_when_the_clock_says_so() -> None:
    assert NOON % 60 == 0


def test_a_tenant_is_counted_with_all_its_runs_and_each_run_by_itself(clock: Clock) -> None:
    ledger = ledger_of(clock)
    for run, items in (("", 1), ("r1", 10), ("r2", 100), ("r1", 1000)):
        with serving("red", run):
            assert ledger.begin(items) is None
    with serving("blue", "r1"):
        ledger.begin(7)
    ledger.note("red", "r2", {Measure.CPU_S: 1.5, Measure.JUDGED: 90})
    red = ledger.report("red")
    assert (red.total.items, red.minute.items, red.total.cpu_s, red.total.judged) == (1111, 1111, 1.5, 90)
    assert [(run.run_id, run.total.items, run.total.cpu_s) for run in red.runs] == [("r2", 100, 1.5), ("r1", 1010, 0)]
    assert ledger.report("blue").total.items == 7
    assert ledger.report("unknown").total.items == 0


def test_a_minute_ends_and_the_whole_goes_on(clock: Clock) -> None:
    ledger = ledger_of(clock)
    with serving("red"):
        clock.now = NOON + 59.9
        ledger.begin(5)
        assert ledger.report("red").minute.items == 5
        clock.now = NOON + 60
        assert (ledger.report("red").minute.items, ledger.report("red").total.items) == (0, 5)
    assert ledger.report("red").since == "2027-01-15T08:00:59Z"


def test_a_budget_per_minute_says_when_it_begins_anew(clock: Clock) -> None:
    ledger = ledger_of(clock, {"red": Budgets(budget=Budget(items_per_minute=100))})
    clock.now = NOON + 12
    with serving("red", "r"):
        assert ledger.begin(99) is None
        assert ledger.begin(50) is None, "a batch that begins within the budget may overrun it"
        refusal = ledger.begin(1)
        assert refusal is not None
        assert refusal.detail == {
            "budget": "items_per_minute",
            "of": "tenant",
            "retry_after_s": 48.0,
            "ends_at": "2027-01-15T08:01:00Z",
        }
        for said in ("'red'", "149", "100", "items_per_minute", "2027-01-15T08:01:00Z"):
            assert said in refusal.message
        assert ledger.report("red").total.items == 149, "what is refused is not counted"
        assert [(each.budget, each.until) for each in ledger.report("red").exhausted] == [
            ("items_per_minute", "2027-01-15T08:01:00Z")
        ]
        clock.now = NOON + 60
        assert ledger.begin(1) is None


def test_a_budget_in_all_does_not_end_by_itself_but_can_be_raised(clock: Clock) -> None:
    ledger = ledger_of(clock, {"red": Budgets(budget=Budget(items=10, items_per_minute=10))})
    with serving("red"):
        ledger.begin(10)
        refusal = ledger.begin(1)
        assert refusal is not None
        assert (refusal.budget, refusal.retry_after_s) == ("items", None), "the one that lasts is told"
        assert "does not end by itself" in refusal.message
        clock.now += 3600
        assert ledger.begin(1) is not None
        ledger.use({"red": Budgets(budget=Budget(items=20))})
        assert ledger.begin(1) is None


def test_each_run_has_its_own_budget(clock: Clock) -> None:
    ledger = ledger_of(clock, {"red": Budgets(run_budget=Budget(judge_tokens=1000, cpu_s=0))})
    ledger.note("red", "r1", {Measure.JUDGE_TOKENS: 1000})
    with serving("red", "r1"):
        refusal = ledger.refusal(JUDGING)
        assert refusal is not None
        assert (refusal.run, refusal.detail) == ("r1", {"budget": "judge_tokens", "of": "run"})
        assert ledger.begin(1) is None, "other measures have budgets of their own"
    with serving("red", "r2"):
        assert ledger.refusal(JUDGING) is None
        assert ledger.refusal((Measure.CPU_S,)) is not None, "a budget of nothing is used up from the start"
    with serving("red"):
        assert ledger.refusal((Measure.CPU_S, *JUDGING)) is None
    with serving("blue", "r1"):
        assert ledger.refusal((Measure.CPU_S, *JUDGING)) is None


def test_only_the_latest_runs_are_kept_and_the_tenant_keeps_their_sum(clock: Clock) -> None:
    ledger = ledger_of(clock, max_runs=3)
    for run in ("a", "b", "c", "a", "d"):
        with serving("red", run):
            ledger.begin(1)
    assert [account.run for account in ledger.runs("red")] == ["d", "a", "c"]
    assert ledger.report("red").total.items == 5
    assert set(ledger.touched["red"]) == {"", "a", "c", "d"}


def test_what_the_service_does_for_itself_is_nobodys(clock: Clock) -> None:
    ledger = ledger_of(clock)
    ledger.note(NOBODY, "", {Measure.JUDGE_TOKENS: 5})
    assert ledger.tenants() == []


def test_runs_beyond_the_limit_become_other_and_no_count_goes_down() -> None:
    counts = RunCounts(2)
    for run, items in (("a", 1), ("b", 2), ("", 4), ("a", 8), ("c", 16)):
        counts.add("red", run, items)
    assert counts.counts() == {("red", OTHER): 6, ("red", "a"): 9, ("red", "c"): 16}
    counts.add("red", "b", 32)
    assert counts.counts() == {("red", OTHER): 15, ("red", "c"): 16, ("red", "b"): 32}
