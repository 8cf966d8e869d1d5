"""The ledger that all figures of reliability come from."""

import math

import pytest
from rewardline import Result, Status

from tests.load.footprint import growth
from tests.load.ledger import Ledger
from tests.load.mix import SHARES, Mix


def result(score: float | None, status: Status = Status.OK) -> Result:
    return Result("0", status, score, score, "because")


def test_each_item_is_counted_once_as_what_became_of_it() -> None:
    ledger = Ledger()
    batch = [("a", 1.0), ("b", 1.0), ("c", 0.0), ("d", 1.0), ("e", 1.0)]
    found = [result(1.0), result(0.0), result(0.0), result(None, Status.FAILED), result(None, Status.INVALID)]
    ledger.settle(batch, found, 0.1)
    assert (ledger.right, ledger.wrong, ledger.failed, ledger.lost) == (2, 2, 1, 0)
    assert len(ledger.examples) == 3


def test_what_has_no_result_is_lost_and_what_nobody_asked_for_is_wrong() -> None:
    ledger = Ledger()
    ledger.settle([("a", 1.0), ("b", 1.0)], [result(1.0)], 0.1)
    ledger.settle([("a", 1.0)], [result(1.0), result(1.0)], 0.1)
    ledger.lose([("a", 1.0)] * 3, RuntimeError("gone"))
    assert (ledger.right, ledger.lost, ledger.wrong) == (2, 4, 1)
    assert ledger.settled == 7


def test_waits_are_told_by_the_share_of_batches() -> None:
    ledger = Ledger(waits_s=[n / 1000 for n in range(100, 0, -1)])
    assert [ledger.wait_ms(share) for share in (0.5, 0.99, 1.0)] == pytest.approx([50, 99, 100])
    assert math.isnan(Ledger().wait_ms(0.5))


def test_growth_leaves_out_the_beginning() -> None:
    assert growth([1, 1, 10, 10, 10, 10, 10, 10, 11, 11]) == pytest.approx(0.1)
    with pytest.raises(ValueError, match="too few"):
        growth([1, 2])


def test_every_kind_of_item_comes_right_and_wrong_and_some_come_again() -> None:
    taken = Mix(3).take(3000)
    assert {(item["verifier"] in ("exact_match", "numeric", "regex"), score) for item, score in taken} == {
        (is_rule, score) for is_rule in (True, False) for score in (True, False)
    }
    assert {item["verifier"] for item, _ in taken} >= SHARES.keys() - {"rules"}
    distinct = {str(item) for item, _ in taken}
    assert 2000 < len(distinct) < 2900
