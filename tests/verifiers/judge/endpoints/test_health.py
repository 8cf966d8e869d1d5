"""When an endpoint is asked no more, and when again."""

from verifiers.judge.endpoints.config import HealthConfig
from verifiers.judge.endpoints.health import Health, State

CONFIG = HealthConfig(failures=3, window=10, failure_rate=0.5, eject_s=10, eject_cap_s=60)


def test_three_failures_in_a_row_eject() -> None:
    health = Health(CONFIG)
    assert not health.failed("connect", 0.0)
    health.succeeded()
    assert [health.failed("connect", 0.0) for _ in range(3)] == [False, False, True]
    assert (health.tick(9.9), health.why, health.ejections) == (State.EJECTED, "connect", 1)
    assert health.tick(10.0) is State.TRIAL


def test_half_of_the_recent_calls_failing_ejects() -> None:
    health = Health(CONFIG)
    outcomes = [False, True] * 5
    for good in outcomes:
        assert health.state is State.HEALTHY
        if good:
            health.succeeded()
        else:
            health.failed("upstream_5xx", 0.0)
    assert health.failed("upstream_5xx", 0.0)


def test_a_failed_trial_doubles_the_time_up_to_a_bound_and_a_good_one_ends_it() -> None:
    health = Health(CONFIG)
    now = 0.0
    spans = []
    for _ in range(3):
        health.failed("connect", now)
    for _ in range(5):
        spans.append(health.ejected_until - now)
        now = health.ejected_until
        assert health.tick(now) is State.TRIAL
        health.failed("connect", now)
    assert spans == [10, 20, 40, 60, 60]
    health.tick(health.ejected_until)
    health.succeeded()
    assert (health.tick(now), health.why) == (State.HEALTHY, None)


def test_after_a_good_while_the_time_is_short_again() -> None:
    health = Health(CONFIG)
    for _ in range(3):
        health.failed("connect", 0.0)
    health.tick(10.0)
    health.failed("connect", 10.0)
    health.tick(30.0)
    for _ in range(12):
        health.succeeded()
    for _ in range(3):
        health.failed("connect", 100.0)
    assert health.ejected_until == 110.0


def test_failures_of_calls_that_began_before_an_ejection_do_not_prolong_it() -> None:
    health = Health(CONFIG)
    for _ in range(50):
        health.failed("connect", 0.0)
    assert (health.ejected_until, health.ejections) == (10.0, 1)


def test_what_is_disabled_is_tried_again_much_later() -> None:
    health = Health(CONFIG)
    health.disable("auth", 5.0)
    health.succeeded()
    health.eject("connect", 5.0)
    later = 5.0 + CONFIG.eject_cap_s
    assert (health.tick(later - 0.1), health.why) == (State.DISABLED, "auth")
    assert health.tick(later) is State.TRIAL
    health.disable("auth", later)
    assert health.tick(later + 0.1) is State.DISABLED
    assert health.tick(later + CONFIG.eject_cap_s) is State.TRIAL
    health.succeeded()
    assert health.tick(1e9) is State.HEALTHY


def test_nothing_is_known_before_the_first_probe() -> None:
    health = Health(CONFIG)
    health.await_probe()
    assert health.tick(0.0) is State.UNPROBED
    assert health.failed("connect", 0.0)
    assert health.tick(1.0) is State.EJECTED


def test_successes_of_calls_that_began_before_an_ejection_do_not_end_it() -> None:
    health = Health(CONFIG)
    for _ in range(3):
        health.failed("connect", 5.0)
    health.succeeded(began_at=4.0)
    assert health.tick(6.0) is State.EJECTED
    health.succeeded(began_at=6.0)
    assert health.tick(6.0) is State.HEALTHY
