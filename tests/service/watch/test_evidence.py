"""The promise of `service/watch/evidence.py`: few false alarms where the bound holds, and alarms where it does not."""

import math
import random

import pytest

from service.watch.evidence import Evidence, Moment, joint_crossing, upper_bound

_STREAMS, _NUMBERS = 300, 400


def _crosses(share: float, bound: float, log_least: float, rng: random.Random) -> int | None:
    evidence = Evidence(bound)
    for at in range(_NUMBERS):
        evidence.add(float(rng.random() < share), Moment(at))
        if evidence.crossing(log_least):
            return at
    return None


@pytest.mark.parametrize("bound", [0.05, 0.3, 0.9])
def test_at_the_bound_alarms_are_as_rare_as_promised(bound: float) -> None:
    rng, threshold = random.Random(1), 10.0 * _NUMBERS
    alarms = sum(_crosses(bound, bound, math.log(threshold), rng) is not None for _ in range(_STREAMS))
    # N / A = 0.1 of the streams are expected at most; 45 of 300 are four standard errors above.
    assert alarms <= 45


def test_above_the_bound_it_alarms_and_names_the_change() -> None:
    rng, evidence = random.Random(2), Evidence(0.1)
    for at in range(300):
        evidence.add(float(rng.random() < (0.05 if at < 200 else 0.5)), Moment(at, at // 10))
        crossing = evidence.crossing(12.0)
        if crossing is not None:
            break
    assert crossing is not None
    assert 190 <= crossing.item <= 230
    assert crossing.step == crossing.item // 10
    assert evidence.crossing(1.0) is None, "it begins anew"


def test_two_changes_at_once_need_evidence_for_both() -> None:
    up, still = Evidence(0.2), Evidence(0.2)
    for at in range(100):
        up.add(1.0, Moment(at))
        still.add(0.0, Moment(at))
    assert joint_crossing((up, still), 10.0) is None
    for at in range(100):
        still.add(1.0, Moment(100 + at))
    crossing = joint_crossing((up, still), 10.0)
    assert crossing is not None
    assert crossing.item == 100, "both hold from the later one on"


def test_the_upper_bound_of_a_share_holds_nineteen_times_in_twenty() -> None:
    rng = random.Random(3)
    for share in (0.02, 0.2, 0.7):
        holds = sum(upper_bound(sum(rng.random() < share for _ in range(64)), 64) >= share for _ in range(2000))
        assert holds >= 1860
