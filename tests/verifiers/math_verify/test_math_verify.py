"""Math-Verify's own verdicts, and what it is silent about told. Real worker processes."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from math_verify import parse, verify
from msgspec import Raw

from sandbox.workers import Workers
from service.run.core import open_core
from service.settings import Settings
from service.wire import BatchRequest, ScoreItem
from tests.verifiers.math.patience import until_judged
from verifiers.base import Item, Resources, Status, Verdict
from verifiers.math_verify import MathVerify, MathVerifyParams, create, grading
from verifiers.math_verify.params import Terms

DATA = Path(__file__).parents[2] / "data" / "math"
BOXES_ONLY = {"targets": [{"kind": "latex", "boxed_match_priority": 0, "try_extract_without_anchor": False}]}


@pytest.fixture
async def verifier() -> AsyncIterator[MathVerify]:
    pool = Workers(1)
    made = create(Resources(workers=pool))
    await pool.start()
    yield made
    await pool.stop()


def item(reference: Any, response: str, **params: Any) -> Item[MathVerifyParams]:
    return Item(response, MathVerifyParams.model_validate_json(json.dumps({"reference": reference, **params})))


def rows(name: str) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def summary(verdict: Verdict) -> tuple[str, float | None, str]:
    return verdict.status.value, verdict.score, verdict.reason


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.accuracy)])
async def test_its_own_published_cases_are_judged_as_it_judges_them(verifier: MathVerify, step: int) -> None:
    cases = [row for row in rows("math_verify_cases.jsonl") if row["gold"] == "$12:00$"]
    cases += rows("math_verify_cases.jsonl")[::step]
    verdicts = await until_judged(verifier, [item(row["gold"], row["response"], **row["params"]) for row in cases])
    judged = [(row, verdict) for row, verdict in zip(cases, verdicts, strict=True) if verdict.status is Status.OK]
    assert [(row, verdict) for row, verdict in judged if verdict.score != float(row["expected"])] == []
    others = [(row, verdict.reason) for row, verdict in zip(cases, verdicts, strict=True) if verdict.score is None]
    assert {(row["gold"], row["expected"], reason) for row, reason in others} == {
        ("$12:00$", False, "unparseable_reference")  # 12 by 0: `verify` raises, whatever the answer
    }


async def test_each_parameter_reaches_it(verifier: MathVerify) -> None:
    pairs: Sequence[tuple[Item[MathVerifyParams], float]] = [
        (item("$0.333$", "$1/3$"), 0.0),
        (item("$0.333$", "$1/3$", float_rounding=3), 1.0),
        (item("$x$", "$y$"), 0.0),
        (item("$x$", "$y$", strict=False), 1.0),
        (item("$(1,2)$", "$1 < x < 2$"), 0.0),
        (item("$(1,2)$", "$1 < x < 2$", allow_set_relation_comp=True), 1.0),
        (item("5", "It is 5."), 1.0),
        (item("5", "It is 5.", parse_response=BOXES_ONLY), 0.0),
        (item(r"\sqrt{8}", r"$2\sqrt{2}$", reference_is="math"), 1.0),
        (item(r"\sqrt{8}", r"$2\sqrt{2}$", reference_is="boxed"), 1.0),
        (item("C", "It is C.", **dict.fromkeys(("parse_reference", "parse_response"), STRINGS)), 1.0),
        (item(["6", "5"], "It is 5."), 1.0),
        (item({"final_answer": "5"}, "It is 5."), 1.0),
    ]
    verdicts = await until_judged(verifier, [each for each, _ in pairs])
    assert [verdict.score for verdict in verdicts] == [expected for _, expected in pairs]


STRINGS = {"targets": [{"kind": "string"}]}


async def test_what_it_is_silent_about_is_told(verifier: MathVerify) -> None:
    cases = [
        (item("hello", r"\boxed{5}"), ("invalid", None, "unparseable_reference")),
        (item("5", ""), ("ok", 0.0, "no_answer")),
        (item("5", "I do not know."), ("ok", 0.0, "no_answer")),
        (item("5", r"\boxed{6}"), ("ok", 0.0, "wrong_answer")),
        (item("$12:00$", "$1:00$"), ("invalid", None, "unparseable_reference")),
        (item("$12:00$", "$12:00$"), ("ok", 1.0, "correct")),
    ]
    verdicts = await until_judged(verifier, [each for each, _ in cases])
    assert [summary(verdict) for verdict in verdicts] == [expected for _, expected in cases]


@pytest.mark.parametrize("every", [400, pytest.param(10, marks=pytest.mark.accuracy)])
@pytest.mark.filterwarnings("ignore::SyntaxWarning")  # Python's, of texts such as `2(3)`
async def test_labelled_rows_are_judged_as_the_library_judges_them(verifier: MathVerify, every: int) -> None:
    """In this process with its own alarms, which are heard in a main thread."""
    chosen = [row for name in ("exam.jsonl", "gsm8k_model_solutions.jsonl", "hard_sample.jsonl") for row in rows(name)][
        ::every
    ]
    items = [item(row["gold"], row["response"], reference_is="math") for row in chosen]
    verdicts = await until_judged(verifier, items)
    judged = [(each, verdict) for each, verdict in zip(items, verdicts, strict=True) if verdict.status is Status.OK]
    assert len(judged) > 0.97 * len(items)
    different = [
        (each.params.references[0], each.response[-100:], verdict)
        for each, verdict in judged
        if verdict.score != float(verify(parse(each.params.references[0]), parse(each.response)))
    ]
    assert different == []


@pytest.mark.parametrize(
    ("raises_on", "error", "outcome"),
    [
        ([6], ValueError, "not_comparable"),
        ([6], RecursionError, "too_complex"),
        ([6, 1], ValueError, "unparseable_reference"),
        ([], ValueError, "different"),
    ],
)
def test_what_verify_raises_is_nobodys_wrong_answer(
    monkeypatch: pytest.MonkeyPatch, raises_on: list[int], error: type[Exception], outcome: str
) -> None:
    def raising(gold: list[Any], answer: list[Any], **_: Any) -> bool:
        if answer[0] in raises_on:
            raise error
        return False

    monkeypatch.setattr(grading, "verify", raising)
    assert grading.grade([["5"], "It is 6.", Terms().model_dump_json()])["outcome"] == outcome


HANGING = {
    "a tower": r"\boxed{10^{10^{10}}}",
    "a factorial": r"\boxed{(10^8)!}",
    "deep nesting": r"\boxed{" + r"\frac{1}{1+" * 300 + "x" + "}" * 300 + "}",
    "a large matrix": r"\boxed{\begin{pmatrix}" + r"\\".join([" & ".join(["x+1"] * 30)] * 30) + r"\end{pmatrix}^{50}}",
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.bombs) for name in HANGING])
async def test_what_hangs_it_is_wrong_and_the_worker_comes_back(verifier: MathVerify, name: str) -> None:
    hostile, good = item("5", HANGING[name], timeout_seconds=1.0), item("5", r"\boxed{5}")
    verdicts = await until_judged(verifier, [hostile, good])
    assert verdicts[0].status is Status.OK
    assert verdicts[0].score == 0.0
    assert verdicts[0].reason in ("too_complex", "wrong_answer", "unparseable", "no_answer")
    assert verdicts[1].score == 1.0


@pytest.mark.accuracy
async def test_a_broken_limit_is_the_answers_or_the_references_fault(verifier: MathVerify) -> None:
    tower = r"10^{10^{10}}"
    cases = [
        (item("5", rf"\boxed{{{tower}}}", timeout_seconds=1.0), ("ok", 0.0, "too_complex")),
        (item(rf"${tower}$", r"\boxed{5}", timeout_seconds=1.0), ("invalid", None, "reference_too_complex")),
        (item(rf"${tower}$", rf"\boxed{{{tower}}}", timeout_seconds=1.0), ("ok", 1.0, "correct")),
    ]
    verdicts = await until_judged(verifier, [each for each, _ in cases])
    assert [summary(verdict) for verdict in verdicts] == [expected for _, expected in cases]


@pytest.mark.bombs
async def test_items_that_hang_leave_those_behind_them_their_time() -> None:
    hanging = [
        ScoreItem(
            rf"\boxed{{10^{{10^{{{10 + n}}}}}}}", "math_verify", Raw(b'"5"'), params=Raw(b'{"timeout_seconds": 0.2}')
        )
        for n in range(4)
    ]
    items = [*hanging, ScoreItem(r"\boxed{5}", "math_verify", Raw(b'"5"'))]
    async with open_core(Settings(sandbox="none", workers=1, item_deadline_s=0.3)) as core:
        batch = BatchRequest(items, {}, "off", False, asyncio.get_running_loop().time() + 300)
        results = (await core.engine.score(batch)).results
    assert "item_deadline" not in [result.reason for result in results]
