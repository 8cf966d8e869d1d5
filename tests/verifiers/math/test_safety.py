"""What a response can do to the service: nothing. Real worker processes."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox.workers import Exit, Outcome, Workers
from verifiers.base import Item, Resources, Status, Unavailable, Verdict
from verifiers.math import Math, MathParams, create
from verifiers.math.grading import grade
from verifiers.math.limits import MAX_NESTING, nesting, refusal

Judge = Callable[..., Awaitable[Verdict]]
DATA = Path(__file__).parents[2] / "data" / "math"


def items_of(name: str) -> list[tuple[Item[MathParams], bool]]:
    rows = map(json.loads, (DATA / name).read_text(encoding="utf-8").splitlines())
    return [(Item(row["response"], MathParams(reference=row["gold"])), row["expected"]) for row in rows]


async def until_judged(verifier: Math, items: list[Item[MathParams]]) -> list[Verdict]:
    """As a client asks: what a starved machine could not finish is asked again, and nothing else is."""
    verdicts = list(await verifier.score(items))
    for _ in range(10):
        again = [index for index, verdict in enumerate(verdicts) if verdict.reason == "worker_stalled"]
        fresh = await verifier.score([items[index] for index in again])
        for index, verdict in zip(again, fresh, strict=True):
            verdicts[index] = verdict
    return verdicts


@pytest.mark.slow
async def test_killers_are_judged_and_their_neighbours_unharmed(verifier: Math) -> None:
    killers = items_of("killers.jsonl")
    good = Item(r"\boxed{\frac{x}{2}}", MathParams(reference="x/2"))
    items = [item for killer, _ in killers for item in (killer, good)]
    verdicts = await until_judged(verifier, items)
    assert [verdict.score for verdict in verdicts[1::2]] == [1.0] * len(killers)
    for verdict, (item, expected) in zip(verdicts[::2], killers, strict=True):
        assert (verdict.status, verdict.score) == (Status.OK, float(expected)), (item.response, verdict)


@pytest.mark.parametrize(
    "response",
    [
        r"\boxed{" + "9" * 1_000_000 + "}",
        r"\boxed{" + "x+" * 500_000 + "x}",
        r"\boxed{" + "{" * 100_000 + "1" + "}" * 100_000 + "}",
        r"\boxed{" + r"\frac{1}{" * 900 + "2" + "}" * 900 + "}",
        r"\boxed{" + "-" * 9_000 + "1}",
        r"\boxed{" + "1/x" * 3_000 + "}",
        r"\boxed{" + "^2" * 3_000 + "}",
        r"\boxed{" + r"\sqrt{" * 25 + "2" + "}" * 25 + "}",
        r"\boxed{((x!)!)!}",
        r"\boxed{e^{e^{e^{e^{9}}}}}",
    ],
    ids=lambda response: response[7:20],
)
async def test_large_answers_are_wrong_not_failed(judge: Judge, response: str) -> None:
    verdict = await judge("5", response)
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch MARKER')",
        "exec(\"open('MARKER','w')\")",
        "().__class__.__base__.__subclasses__()",
        r"\sum_{k=1}^{2} open(\text{MARKER})",
        r"\pi + __import__('pathlib').Path('MARKER').touch()",
        "lambda: open('MARKER', 'w')",
        r"\operatorname{eval}(open('MARKER','w'))",
        r"\sum_{x=__import__('os').mkdir('MARKER')}^{2} x",
    ],
)
def test_nothing_in_an_answer_or_a_reference_is_executed(text: str, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    hostile = text.replace("MARKER", str(marker))
    assert grade([["5"], hostile, 0.0, 0.0])["outcome"] in {"unparseable", "different", "too_complex"}
    grade([[hostile], "5", 0.0, 0.0])
    assert not marker.exists()


async def test_an_answer_that_breaks_a_limit_is_wrong_and_a_reference_that_does_is_invalid(judge: Judge) -> None:
    for large in (r"\prod_{k=1}^{100000} (x+k)", r"\sum_{k=1}^{10^{12}} \frac{1}{k}", "(10^8)!", "9^{9^{9^{9}}}"):
        answers = await judge("5", rf"\boxed{{{large}}}")
        assert (answers.status, answers.score, answers.reason) == (Status.OK, 0.0, "too_complex")
        references = await judge(large, r"\boxed{5}")
        assert (references.status, references.reason) == (Status.INVALID, "reference_too_complex")


@pytest.mark.parametrize(
    "reference",
    [
        r"\int_0^\infty \frac{\sin(x^3+\cos x)}{x+\ln(x+2)} dx",  # sympy takes many seconds over it
        r"\sum_{n=1}^\infty (-1)^n",  # there is no value
    ],
)
@pytest.mark.parametrize("answer", ["2", "0.5"])
async def test_a_reference_that_sympy_cannot_evaluate_is_never_a_wrong_answer(
    judge: Judge, reference: str, answer: str
) -> None:
    verdict = await judge(reference, rf"\boxed{{{answer}}}")
    assert (verdict.status, verdict.score, verdict.reason) == (Status.INVALID, None, "reference_too_complex")


async def test_an_answer_that_sympy_cannot_evaluate_is_too_complex(judge: Judge) -> None:
    for answer in (r"\int_0^\infty \frac{\sin(x^3+\cos x)}{x+\ln(x+2)} dx", r"\sum_{n=1}^\infty (-1)^n"):
        verdict = await judge("2", rf"\boxed{{{answer}}}")
        assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 0.0, "too_complex")


class Ending:
    """Stands in for the pool where an ending cannot be had at will: answers with one outcome per call."""

    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = list(outcomes)

    def register(self, task: object) -> None:
        pass

    async def map(self, task: object, payloads: list[Any], on_outcome: Callable[[int, Outcome], None]) -> list[Outcome]:
        outcomes = [self._outcomes.pop(0) for _ in payloads]
        for index, outcome in enumerate(outcomes):
            on_outcome(index, outcome)
        return outcomes


@pytest.mark.parametrize(
    ("exit_", "reason"),
    [
        (Exit.CRASHED, "worker_crashed"),
        (Exit.STALLED, "worker_stalled"),
        (Exit.RAISED, "verifier_bug"),
    ],
)
async def test_trouble_of_ours_is_no_score(exit_: Exit, reason: str) -> None:
    (verdict,) = await _ending(Outcome(exit_, message="why"))
    assert (verdict.status, verdict.score, verdict.reason) == (Status.FAILED, None, reason)


@pytest.mark.parametrize("exit_", [Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.OUTPUT_LIMIT])
async def test_a_broken_limit_is_charged_to_whoever_broke_it(exit_: Exit) -> None:
    fine = Outcome(Exit.OK, {"outcome": "different", "method": "reference"})
    (answers,) = await _ending(Outcome(exit_), fine)
    assert (answers.status, answers.score, answers.reason) == (Status.OK, 0.0, "too_complex")
    (references,) = await _ending(Outcome(exit_), Outcome(exit_))
    assert (references.status, references.score) == (Status.INVALID, None)
    assert references.reason == "reference_too_complex"
    (neither,) = await _ending(Outcome(exit_), Outcome(Exit.STALLED))
    assert (neither.status, neither.score) == (Status.FAILED, None)


async def _ending(*outcomes: Outcome) -> list[Verdict]:
    made = create(Resources(workers=Ending(*outcomes)))  # type: ignore[arg-type] # the three methods used are there
    return list(await made.score([Item(r"\boxed{x}", MathParams(reference="y"))]))


async def test_a_pool_that_is_not_there_is_no_verdict() -> None:
    made = create(Resources(workers=Workers(1)))
    with pytest.raises(Unavailable):
        await made.score([Item(r"\boxed{x}", MathParams(reference="y"))])


def test_the_checks_before_reading_are_plain_text() -> None:
    assert refusal("x" * 10_001) == "too_complex"
    assert refusal("1" * 4_001) == "too_complex"
    assert refusal("{" * (MAX_NESTING + 1)) == "too_complex"
    assert refusal("a `code` b") == "unparseable"
    assert refusal(r"1 + \lambda") is None
    assert nesting("((a)(b(c)))") == 3
