"""The same verdict whichever path decides: on every labelled row that the quick path decides, the general one agrees."""

import os
from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from sandbox.workers import Exit
from tests.accuracy import paths
from tests.accuracy.real_data import (
    Rows,
    against_themselves,
    benchmark_golds,
    benchmarks,
    deepmath,
    deepmath_golds,
    gsm8k,
    probes,
)
from tests.accuracy.rewrites import Rewrite
from verifiers.commitment import ExtractionParams, extract
from verifiers.math.options import DEFAULT, Options

TOLERANT = (Options(rel_tol=0.01), Options(abs_tol=0.5), Options(abs_tol=1e-9, rel_tol=1e-9))


@pytest.mark.accuracy
@pytest.mark.parametrize("options", [DEFAULT, *TOLERANT], ids=["default", "relative", "absolute", "tiny"])
def test_both_paths_give_the_same_verdict(options: Options) -> None:
    decided = {
        (reference, answer): verdict
        for reference, answer in _pairs()
        if (verdict := paths.quick(reference, answer, options)) is not None
        and (options is DEFAULT or paths.quick(reference, answer, DEFAULT) is False)
    }
    assert len(decided) > 1_000
    questions = [(reference, answer, options) for reference, answer in decided]
    outcomes = paths.judge_generally(questions, workers=len(os.sched_getaffinity(0)))
    differing = [
        (pair, verdict, outcome)
        for (pair, verdict), outcome in zip(decided.items(), outcomes, strict=True)
        if outcome.exit is not Exit.OK or (outcome.value != paths.UNSOUND and (outcome.value == "equal") is not verdict)
    ]
    assert differing == []
    assert sum(outcome.value == paths.UNSOUND for outcome in outcomes) < 0.01 * len(outcomes)


@cache
def _pairs() -> Sequence[tuple[str, str]]:
    """Reference and extracted answer of every labelled row that has an answer."""
    items = [item for rows in _labelled() for item in rows.items]
    answers = [extract(item["response"], ExtractionParams()).answer for item in items]
    return [(item["reference"], answer) for item, answer in zip(items, answers, strict=True) if answer is not None]


def _labelled() -> Iterator[Rows]:
    yield from (probes(), gsm8k(), deepmath(), benchmarks())
    for golds in (deepmath_golds(), benchmark_golds()):
        for rewrite in Rewrite:
            yield against_themselves("golds", golds, rewrite)
