"""Real labelled data, and references against themselves: right, and the same through both doors and by command."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.accuracy import real_data
from tests.accuracy.real_data import (
    WAYS,
    Rows,
    against_themselves,
    benchmark_golds,
    benchmarks,
    deepmath,
    deepmath_golds,
    gsm8k,
    judge,
    judge_as,
    peers,
    probes,
    reports,
    sentences,
)
from tests.accuracy.rewrites import ANNOUNCED, Rewrite
from tests.conftest import Served


@pytest.mark.accuracy
@pytest.mark.parametrize(
    ("load", "least_agreement"),
    [(probes, 0.98), (gsm8k, 0.999), (deepmath, 0.98), (benchmarks, 0.98)],
    ids=["probes", "gsm8k", "deepmath", "benchmarks"],
)
def test_real_data_is_judged_right_and_the_same_each_way(
    served: Served, tmp_path: Path, load: Callable[[], Rows], least_agreement: float
) -> None:
    rows = load()
    outcomes = [judge(rows, way, served, tmp_path) for way in WAYS]
    assert outcomes[0].verdicts == outcomes[1].verdicts == outcomes[2].verdicts
    assert outcomes[0].failed.total() == 0
    wrong = outcomes[0].disagreements
    assert len(wrong) <= (1 - least_agreement) * len(rows.items), wrong[:20]
    assert outcomes[0].false_accepts <= 0.01 * rows.labels.count(False)


@pytest.mark.accuracy
@pytest.mark.parametrize("rewrite", ANNOUNCED)
@pytest.mark.parametrize("golds", [deepmath_golds, benchmark_golds])
def test_references_are_right_answers_to_themselves(
    served: Served, tmp_path: Path, golds: Callable[[], Sequence[str]], rewrite: Rewrite
) -> None:
    rows = against_themselves("golds", golds(), rewrite)
    outcome = judge(rows, WAYS[0], served, tmp_path)
    assert outcome.failed.total() == 0
    assert outcome.false_rejects <= 0.005 * len(rows.items), outcome.disagreements[:20]
    assert outcome.invalid <= 0.005 * len(rows.items), outcome.disagreements[:20]


LEAST = {
    "Math-Verify's own tests": 0.97,
    "Inspect's own tests": 0.93,
    "answers in sentences": 0.92,
    "reports: math": 0.99,
}
"""Names of variables, which the peers pass over, are policies here; decimal commas and rounding are parameters of the rows. All
other sets are judged as labelled."""


@pytest.mark.accuracy
@pytest.mark.parametrize("rows", [*peers(), sentences(), *reports()], ids=lambda rows: rows.name)
def test_what_other_graders_test_and_what_was_reported_is_judged(served: Served, tmp_path: Path, rows: Rows) -> None:
    outcome = judge(rows, WAYS[0], served, tmp_path)
    assert outcome.failed.total() == 0
    assert outcome.false_accepts <= 1, outcome.disagreements
    assert outcome.agree >= LEAST.get(rows.name, 1.0) * len(rows.items), outcome.disagreements[:20]


@pytest.mark.accuracy
@pytest.mark.parametrize(
    "load", [probes, lambda: peers()[0], lambda: peers()[1]], ids=["probes", "math_verify", "inspect"]
)
def test_a_second_opinion_makes_no_verdict_worse(served: Served, tmp_path: Path, load: Callable[[], Rows]) -> None:
    rows = load()
    never = judge(rows, WAYS[0], served, tmp_path)
    for rival in ("math, second opinion where unreadable", "math, second opinion always"):
        asked = judge_as(rival, rows, served, tmp_path)
        assert asked.false_accepts <= never.false_accepts, asked.disagreements
        assert asked.agree >= never.agree
        assert asked.failed.total() == 0


@pytest.mark.accuracy
def test_math_verify_is_asked_once_about_the_same_rows(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_data, "KEPT", tmp_path / "kept")
    rows = peers()[1].sample(8)
    first, again, others = (judge_as("math_verify", each, served, tmp_path) for each in (rows, rows, rows.sample(4)))
    assert (again.verdicts, again.seconds, again.agree) == (first.verdicts, first.seconds, first.agree)
    assert others.seconds != first.seconds
    assert len(list((tmp_path / "kept").iterdir())) == 2
