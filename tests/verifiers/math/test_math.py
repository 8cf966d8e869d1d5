"""The verifier from response to verdict."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.verifiers.math.patience import until_judged
from verifiers.base import Item, Status, Verdict
from verifiers.math import Math, MathParams

Judge = Callable[..., Awaitable[Verdict]]
DATA = Path(__file__).parents[2] / "data" / "math"


def rows_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("reference", "response", "score"),
    [
        ("5", r"$x=5$ first, then \boxed{@#!}", 0.0),
        ("42", r"\boxed{41}. Wait, I made an error. \boxed{42}", 1.0),
        ("15", r"either \boxed{12} or \boxed{15}", 0.0),
        ("42", r"<think>\boxed{42}</think> The answer is 41.", 0.0),
        ("42", r"\boxed{42.}", 1.0),
        ("42", r"\fbox{42}", 1.0),
        ("42", r"\boxed{\text{The answer is }42}", 1.0),
        ("7", "Answer: 7x+3", 0.0),
        ("12345678901234567890", r"\boxed{12345678901234567891}", 0.0),
        ("10", "The answer is not 10 but 12.", 0.0),
        ("1", "The answer is 1 or 2.", 0.0),
        ("540", "So he earned $540.", 1.0),
    ],
)
async def test_what_a_response_commits_to_is_what_is_judged(
    judge: Judge, reference: str, response: str, score: float
) -> None:
    verdict = await judge(reference, response)
    assert (verdict.status, verdict.score) == (Status.OK, score)


async def test_gsm8k_solutions_are_judged_as_labelled(verifier: Math) -> None:
    rows = rows_of("gsm8k_model_solutions.jsonl")
    verdicts = await until_judged(verifier, [Item(row["response"], MathParams(reference=row["gold"])) for row in rows])
    wrong = [
        (row["gold"], verdict.extracted, row["expected"])
        for row, verdict in zip(rows, verdicts, strict=True)
        if verdict.score != float(row["expected"])
    ]
    print(wrong)
    assert len(wrong) <= len(rows) / 1000


@pytest.mark.accuracy
async def test_every_deepmath_answer_equals_itself_and_not_another(verifier: Math) -> None:
    golds = [row["ground_truth"] for row in rows_of("deepmath_golds.jsonl")]
    same = await until_judged(verifier, [Item(rf"\boxed{{{gold}}}", MathParams(reference=gold)) for gold in golds])
    unequal = [gold for gold, verdict in zip(golds, same, strict=True) if verdict.score != 1.0]
    print(unequal)
    assert len(unequal) <= len(golds) / 500
    assert all(verdict.status is Status.INVALID for verdict in same if verdict.score != 1.0)
    sound = [gold for gold in golds if gold not in unequal and not gold.endswith("+ C")]  # + 1 is the same family
    shifted = [rf"\boxed{{{gold} + 1}}" for gold in sound]
    verdicts = await until_judged(
        verifier, [Item(response, MathParams(reference=gold)) for gold, response in zip(sound, shifted, strict=True)]
    )
    assert [gold for gold, verdict in zip(sound, verdicts, strict=True) if verdict.score != 0.0] == []


async def test_probes_no_wrong_answer_is_accepted_and_few_right_ones_are_missed(verifier: Math) -> None:
    rows = rows_of("probes.jsonl")
    verdicts = await until_judged(verifier, [Item(row["response"], MathParams(reference=row["gold"])) for row in rows])
    judged = [(row, verdict) for row, verdict in zip(rows, verdicts, strict=True) if verdict.status is Status.OK]
    assert len(judged) >= len(rows) * 0.98
    accepted = [row["id"] for row, verdict in judged if verdict.score == 1.0 and not row["expected"]]
    missed = [row["id"] for row, verdict in judged if verdict.score == 0.0 and row["expected"]]
    print(accepted, missed)
    assert accepted == []
    assert len(missed) <= len(rows) / 50


async def test_a_verdict_is_the_same_whatever_was_asked_before(judge: Judge) -> None:
    first = [await judge("x+1", r"\boxed{x+1}"), await judge("x+1", r"\boxed{1+x}")]
    again = [await judge("x+1", r"\boxed{x+1}"), await judge("x+1", r"\boxed{1+x}")]
    assert first == again
    assert [verdict.score for verdict in first] == [1.0, 1.0]
    assert [verdict.detail["method"] for verdict in first] == ["text", "value"]


async def test_a_bad_reference_is_invalid_even_when_the_response_repeats_it(judge: Judge) -> None:
    for response in (r"\boxed{\frac{1}{}", "no answer at all", r"\boxed{3 4}", r"\boxed{" + "1" * 50_000 + "}"):
        verdict = await judge("3 4", response)
        assert (verdict.status, verdict.score, verdict.reason) == (Status.INVALID, None, "unparseable_reference")
        assert "3 4" in verdict.detail["message"]


async def test_an_empty_response_is_wrong_and_says_why(judge: Judge) -> None:
    assert (await judge("x", "")).reason == "empty"
    assert (await judge("x", "<think> still thinking")).reason == "truncated"


async def test_explain_shows_both_sides_as_read(judge: Judge) -> None:
    verdict = await judge("x/2", r"\boxed{\frac{x}{3}}", explain=True)
    assert verdict.detail["reference_as_read"] == "/(x, 2)"
    assert verdict.detail["answer_as_read"] == "/(x, 3)"
    assert verdict.extracted == r"\frac{x}{3}"


async def test_text_that_no_encoding_carries_is_judged(judge: Judge) -> None:
    assert (await judge("x", "\\boxed{\ud800}")).score == 0.0


@pytest.mark.parametrize(
    ("reference", "texts"),
    [
        ("1/2", ["1/2"]),
        (3, ["3"]),
        (0.5, ["0.5"]),
        (["1", 2], ["1", "2"]),
        ({"final_answer": "x", "steps": ["a"]}, ["x"]),
        ({"final_answer": [1, 2]}, ["1", "2"]),
    ],
)
def test_references_come_in_several_shapes(reference: Any, texts: list[str]) -> None:
    assert MathParams(reference=reference).references == texts


@pytest.mark.parametrize("reference", [True, None, "", "  ", [], [""], [True], float("nan"), {"answer": 1}, {}])
def test_what_is_no_reference_is_refused(reference: Any) -> None:
    with pytest.raises(ValidationError):
        MathParams(reference=reference)


@pytest.mark.parametrize(
    "params", [{"unit_policy": "drop"}, {"abs_tol": -1}, {"rel_tol": 1}, {"form": "roman"}, {"order": True}]
)
def test_parameters_that_mean_nothing_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MathParams(reference="1", **params)
