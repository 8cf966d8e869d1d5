"""Limits on calls at once, per minute and on spending: arithmetic with a clock of our own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers.judge.endpoints.config import ConcurrencyConfig, PriceConfig, SpendConfig
from verifiers.judge.endpoints.latency import Latency
from verifiers.judge.endpoints.limiter import Limiter
from verifiers.judge.endpoints.messages import Usage
from verifiers.judge.endpoints.shared_limits import BURST_S, Bucket
from verifiers.judge.endpoints.spending import Allowance, Spending, Use, cost_of


def full_round(limiter: Limiter) -> None:
    """As many calls as fit, all of which succeed."""
    count = limiter.limit - limiter.in_flight
    for _ in range(count):
        limiter.begin()
    for _ in range(count):
        limiter.succeeded(0.0)
        limiter.end()


def test_a_limit_in_use_grows_up_to_its_maximum() -> None:
    limiter = Limiter(ConcurrencyConfig(start=2, max=20))
    for _ in range(50):
        full_round(limiter)
    assert limiter.limit == 20


def test_a_limit_that_is_not_in_use_does_not_grow() -> None:
    limiter = Limiter(ConcurrencyConfig(start=8))
    for _ in range(100):
        limiter.begin()
        limiter.succeeded(0.0)
        limiter.end()
    assert limiter.limit == 8


def test_once_refused_it_grows_by_one_per_round() -> None:
    limiter = Limiter(ConcurrencyConfig(start=10, max=100))
    limiter.refused(0.0, 1.0)
    assert limiter.limit == 9
    for _ in range(5):
        limiter.begin()
    limits = []
    for _ in range(60):
        while limiter.has_room:
            limiter.begin()
        limiter.succeeded(0.0)
        limiter.end()
        limits.append(limiter.limit)
    # Nine to thirteen: 9 + 10 + 11 + 12 successes, and some more.
    assert limits[-1] in (13, 14)
    assert limits == sorted(limits)


def test_refusals_of_one_round_decrease_once() -> None:
    limiter = Limiter(ConcurrencyConfig(start=100, max=100))
    for began_at in (0.0, 0.1, 0.2):
        limiter.refused(began_at, 1.0 + began_at)
    assert limiter.limit == 90
    limiter.refused(1.5, 2.0)
    assert limiter.limit == 81


def test_a_first_refusal_after_doubling_takes_half() -> None:
    limiter = Limiter(ConcurrencyConfig(start=4, max=100))
    for _ in range(3):
        full_round(limiter)
    before = limiter.limit
    assert before > 4
    limiter.refused(0.0, 1.0)
    assert limiter.limit == before // 2


@settings(deadline=None)
@given(st.lists(st.booleans(), max_size=300))
def test_a_limit_stays_between_its_bounds(events: list[bool]) -> None:
    limiter = Limiter(ConcurrencyConfig(start=4, min=2, max=9))
    for second, good in enumerate(events):
        limiter.begin()
        if good:
            limiter.succeeded(0.0)
        else:
            limiter.refused(float(second), float(second))
        limiter.end()
        assert 2 <= limiter.limit <= 9
        assert limiter.in_flight == 0


def test_a_bucket_lets_a_burst_pass_and_then_its_rate() -> None:
    bucket = Bucket(60.0, 0.0)
    for _ in range(int(BURST_S)):
        assert bucket.wait_s(1, 0.0) == 0
        bucket.take(1, 0.0)
    assert bucket.wait_s(1, 0.0) == pytest.approx(1.0)
    assert bucket.wait_s(1, 1.0) == 0


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 5), st.floats(1, 500)), min_size=1, max_size=60))
def test_no_minute_takes_more_than_its_budget_and_a_burst(calls: list[tuple[float, float]]) -> None:
    per_minute, now, taken = 600.0, 0.0, 0.0
    bucket = Bucket(per_minute, now)
    most = 0.0
    for gap, amount in calls:
        now += gap
        now += bucket.wait_s(amount, now)
        bucket.take(amount, now)
        taken += amount
        most = max(most, amount)
        assert taken <= per_minute / 60 * (now + BURST_S) + most + 1e-3


def test_what_is_more_than_a_bucket_holds_needs_it_full_and_leaves_a_debt() -> None:
    bucket = Bucket(60.0, 0.0)
    assert bucket.wait_s(1000, 0.0) == 0
    bucket.take(1000, 0.0)
    assert bucket.wait_s(1, 0.0) == pytest.approx(991)


def test_a_bucket_is_settled_with_what_was_used() -> None:
    bucket = Bucket(60.0, 0.0)
    bucket.take(10, 0.0)
    bucket.settle(10, 4)
    assert bucket.wait_s(6, 0.0) == 0
    assert bucket.wait_s(7, 0.0) == pytest.approx(1.0)
    bucket.settle(0, 6)
    assert bucket.wait_s(1, 0.0) == pytest.approx(1.0)


def test_spending_counts_what_is_reserved_and_forgets_what_is_old() -> None:
    spending = Spending(SpendConfig(window_s=60, max_tokens=100))
    assert spending.verdict(100, 0, 0.0) is Allowance.YES
    spending.reserve(60, 0)
    assert spending.verdict(41, 0, 0.0) is Allowance.LATER
    assert spending.verdict(40, 0, 0.0) is Allowance.YES
    spending.settle((60, 0), (10, 0), 0.0)
    assert spending.verdict(90, 0, 0.0) is Allowance.YES
    assert spending.verdict(91, 0, 59.0) is Allowance.NEVER
    assert spending.verdict(91, 0, spending.retry_after_s(0.0) + 0.001) is Allowance.YES


def test_reservations_are_by_measured_use_once_it_is_known() -> None:
    use = Use()
    for _ in range(19):
        use.note(0.1)
    assert use.share == 1.0
    use.note(0.2)
    assert use.share == pytest.approx(0.22)
    use.note(5.0)
    assert use.share == 1.0


def test_a_429_leaves_what_was_taken() -> None:
    limiter = Limiter(ConcurrencyConfig(start=8, max=100))
    for _ in range(8):
        limiter.begin()
    for _ in range(4):  # the endpoint takes four
        limiter.refused_beyond_taken(1.0)
        limiter.end()
    assert limiter.limit == 4
    for _ in range(4):
        limiter.succeeded(1.5)
        limiter.end()
    for _ in range(9):  # no attempt to pass it, for ten seconds
        full_round(limiter)
        limiter.in_flight = 0
    assert limiter.limit == 4
    for _ in range(4):
        limiter.begin()
    for _ in range(5):
        limiter.succeeded(11.0)
    assert limiter.limit == 5


def test_a_429_to_the_only_call_keeps_the_minimum() -> None:
    limiter = Limiter(ConcurrencyConfig(start=8, min=2))
    limiter.begin()
    limiter.refused_beyond_taken(1.0)
    assert limiter.limit == 2


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 40)), max_size=60))
def test_no_window_holds_more_than_its_limit(calls: list[tuple[int, int]]) -> None:
    spending = Spending(SpendConfig(window_s=60, max_tokens=100))
    now, done = 0.0, list[tuple[float, int]]()
    for gap, tokens in calls:
        now += gap
        if spending.verdict(tokens, 0, now) is Allowance.YES:
            spending.reserve(tokens, 0)
            spending.settle((tokens, 0), (tokens, 0), now)
            done.append((now, tokens))
        assert sum(tokens for at, tokens in done if at > now - 60) <= 100


def test_cost_is_unknown_rather_than_nothing() -> None:
    price = PriceConfig(input=2.0, cached_input=1.0, output=10.0)
    assert cost_of(Usage(1_000_000, 500_000, 100_000), price) == pytest.approx(1.0 + 0.5 + 1.0)
    assert cost_of(Usage(1_000_000, None, 0), price) == pytest.approx(2.0)
    assert cost_of(Usage(10, 0, None), price) is None
    assert cost_of(Usage(10, 0, 10), None) is None


def test_latency_of_an_endpoint_that_is_silent_is_its_silence() -> None:
    latency = Latency()
    assert latency.estimate_s(0, 0.0) is None
    latency.began(0, 0.0)
    assert latency.estimate_s(1, 7.0) == 7.0
    latency.answered(8.0, 8.0)
    assert latency.estimate_s(1, 9.0) == 8.0
    assert latency.estimate_s(1, 28.0) == 20.0


def test_latency_of_an_endpoint_that_is_not_asked_fades() -> None:
    latency = Latency()
    latency.began(0, 0.0)
    latency.answered(10.0, 10.0)
    assert latency.estimate_s(0, 10.0) == 10.0
    assert latency.estimate_s(0, 20.0) == pytest.approx(5.0)
    latency.began(0, 20.0)
    assert latency.estimate_s(1, 21.0) == pytest.approx(5.0)
