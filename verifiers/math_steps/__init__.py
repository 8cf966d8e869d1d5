r"""Scores the final answer and the steps before it, so that a wrong answer can earn credit for its steps.

    response ─► math ─► final answer ─┬─ right ───────────────────────────────────────────► 1
                                      └─ wrong ─► its steps beside the reference's, in a worker ─► at most step_weight

`math` judges the final answer, with all of its parameters. Steps are the statements in formulas that the response makes
after its thinking, outside code and quotations (spans.py, statements.py). Their sides are compared one by one
(matching.py), and they are paired with the steps of the reference in order, each once (alignment.py).

    partial_if_wrong   right: 1. Wrong: step_weight x the share of the steps' weight that is matched, and 0 when the first
                       step is contradicted. Every right answer scores more than every wrong one.
    weighted           (1 - step_weight) x final answer + step_weight x the matched share
    final_only         the final answer alone; the same holds without any steps

A response that does not commit to one answer (`conflicting_answers`) gets nothing for its steps. With `"explain"` the
detail also has the statement that counted as each step, and the response's equations between numbers that hold
(`arith_consistency`, which never affects the score).
"""

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import msgspec
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictStr

from sandbox.workers import Exit, Outcome, Task
from verifiers import math
from verifiers.base import Example, Item, Resources, Status, Verdict
from verifiers.long_texts import ask_workers, sendable, trouble
from verifiers.math import Math, MathParams
from verifiers.math.blame import is_ours
from verifiers.math.params import Answers, FinalAnswer
from verifiers.math.solutions import MAX_STEP_CHARS, MAX_STEPS, annotated_steps

Mode = Literal["partial_if_wrong", "weighted", "final_only"]


def _not_blank(text: str) -> str:
    if not any(map(str.isalnum, text)):
        raise ValueError("a step must say something")
    return text


_Expression = Annotated[StrictStr, Field(max_length=MAX_STEP_CHARS), AfterValidator(_not_blank)]


class Step(BaseModel):
    """A step that counts more or less than another."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)

    expr: _Expression
    """An equation, an inequality, a value or words."""
    weight: float = Field(default=1.0, gt=0, le=1e6)
    """How much it counts beside the other steps."""


class Derivation(FinalAnswer):
    """A final answer and the way to it; `answer_type` and what else a row has is not needed."""

    steps: list[_Expression | Step] | None = Field(default=None, max_length=MAX_STEPS)
    """Equations, inequalities, values or words, in order."""


def _from_json(reference: Any) -> Any:
    """Parse an object that is given as JSON text; other texts are unchanged."""
    if not isinstance(reference, str) or not reference.lstrip().startswith("{") or "final_answer" not in reference:
        return reference
    try:
        content = json.loads(reference)
    except (ValueError, RecursionError):
        return reference
    return content if isinstance(content, dict) else reference


class MathStepsParams(MathParams):
    """Those of `math`, and what steps count."""

    reference: Annotated[Answers | Derivation, BeforeValidator(_from_json)]
    """The final answer as in `math`; or `{"final_answer", "steps", ...}`, also as JSON text; or a worked solution in
    the form of GSM8K, with its calculations in `<<48/2=24>>` and the answer behind `####`."""
    edit_distance: Literal[False] = False
    """Here a wrong answer earns something for its steps alone."""
    mode: Mode = "partial_if_wrong"
    """partial_if_wrong: steps count only if the final answer is wrong; weighted: answer and steps count by
    `step_weight`; final_only: the answer alone."""
    step_weight: float = Field(default=0.3, ge=0, lt=1)
    """The weight of the steps in the score."""

    @property
    def weighted_steps(self) -> list[tuple[str, float]]:
        """The steps of the reference with their weights."""
        if isinstance(self.reference, Derivation):
            steps = [Step(expr=step) if isinstance(step, str) else step for step in self.reference.steps or ()]
            return [(step.expr, step.weight) for step in steps]
        solution = self.reference if isinstance(self.reference, str) else ""
        return [(step, 1.0) for step in annotated_steps(solution)] if "####" in solution else []

    @property
    def steps(self) -> list[str]:
        return [text for text, _ in self.weighted_steps]


GRADE = Task(
    module="verifiers.math_steps.grading",
    function="grade",
    time_limit_s=2.0,
    warm=([[["3x=9", 1.0], ["x=3", 1.0]], "Then $3x = 9$, so x = 12/4 = 3.", "auto", True],),
)
_LIMITS = (Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.OUTPUT_LIMIT)
_NOT_COMMITTED = "conflicting_answers"


class MathSteps(Math):
    name = "math_steps"
    version = f"{Math.version}.3"
    params = MathStepsParams
    summary = "The final answer equals the reference, or the steps to it are those of the reference as far as they go"

    async def score_each(self, items: Sequence[Item[Any]], deliver: Callable[[int, Verdict], None]) -> None:
        finals: list[tuple[int, Verdict]] = []

        def take(index: int, final: Verdict) -> None:
            if _needs_steps(items[index], final):
                finals.append((index, final))
            else:
                deliver(index, final)

        await super().score_each(items, take)
        await self._look_at_steps(items, finals, deliver)

    async def _look_at_steps(
        self, items: Sequence[Item[Any]], finals: Sequence[tuple[int, Verdict]], deliver: Callable[[int, Verdict], None]
    ) -> None:
        broke: list[tuple[int, Verdict]] = []

        def take(position: int, outcome: Outcome) -> None:
            index, final = finals[position]
            if outcome.exit is Exit.OK:
                deliver(index, _verdict(items[index], final, outcome.value))
            elif outcome.exit in _LIMITS:
                broke.append((index, final))
            else:
                deliver(index, trouble(outcome))

        def blame(position: int, outcome: Outcome) -> None:
            index, final = broke[position]
            if outcome.exit is Exit.OK:
                deliver(index, _without_steps(items[index], final, outcome.value))
            elif outcome.exit in _LIMITS:
                message = f"the reference's steps take more than a worker may spend: {outcome.exit}"
                deliver(index, Verdict.invalid("reference_too_complex", message))
            else:
                deliver(index, trouble(outcome))

        payloads = [_payload(items[index], items[index].response) for index, _ in finals]
        await ask_workers(self._workers, GRADE, payloads, take)
        await ask_workers(self._workers, GRADE, [_payload(items[index], None) for index, _ in broke], blame)


def _needs_steps(item: Item[Any], final: Verdict) -> bool:
    """Whether the steps change the score, or the caller asked for them."""
    params: MathStepsParams = item.params
    if final.status is not Status.OK or not params.weighted_steps:
        return False
    return item.explain or _are_paid(params, final)


def _are_paid(params: MathStepsParams, final: Verdict) -> bool:
    if params.mode == "weighted":
        return True
    return params.mode == "partial_if_wrong" and not final.score and final.reason != _NOT_COMMITTED


def _payload(item: Item[Any], response: str | None) -> list[Any]:
    params: MathStepsParams = item.params
    steps = [(sendable(text), weight) for text, weight in params.weighted_steps]
    return [steps, None if response is None else sendable(response), params.think, item.explain]


def _verdict(item: Item[Any], final: Verdict, step_result: dict[str, Any]) -> Verdict:
    """The verdict of the final answer, changed by the credit for its steps."""
    params: MathStepsParams = item.params
    right = final.score or 0.0
    score = round(_combined(params, right, 0.0 if final.reason == _NOT_COMMITTED else _credit(params, step_result)), 6)
    reason = final.reason
    if right and score < 1:
        reason = "steps_missing"
    elif score and not right:
        reason = "partly_correct"
    detail = {**final.detail, "final": right, "final_reason": final.reason, **step_result}
    return msgspec.structs.replace(final, score=score, reason=reason, detail=detail)


def _without_steps(item: Item[Any], final: Verdict, step_result: dict[str, Any]) -> Verdict:
    """The verdict if comparing the steps could not be finished; `step_result` is the result without any matched step.

    Steps that a caller only asked to see change no score.
    """
    verdict = _verdict(item, final, {**step_result, "steps_reason": "too_complex"})
    steps = "\n".join(text for text, _ in item.params.weighted_steps)
    if _are_paid(item.params, final) and is_ours([steps], item.response, _ORDINARY_CHARS):
        return Verdict.failed("too_complex", "to compare the steps takes more than a worker may spend")
    return verdict


_ORDINARY_CHARS = 4_000
"""A response of at most this length is not an attempt to exhaust the service."""


def _credit(params: MathStepsParams, step_result: dict[str, Any]) -> float:
    is_off_at_once = params.mode == "partial_if_wrong" and step_result["steps"][0] == "contradicted"
    return 0.0 if is_off_at_once else float(step_result["step_score"])


def _combined(params: MathStepsParams, right: float, steps: float) -> float:
    if params.mode == "weighted":
        return (1 - params.step_weight) * right + params.step_weight * steps
    if params.mode == "partial_if_wrong" and not right:
        return params.step_weight * steps
    return right


def create(resources: Resources) -> MathSteps:
    math.create(resources)
    resources.workers.register(GRADE)
    return MathSteps(resources)


_EQUATION = {"steps": ["3x=14-5", "3x=9", "x=3"], "final_answer": "3"}
_GSM8K = "She sold 48/2=<<48/2=24>>24 in May.\nIn all that is 48+24=<<48+24=72>>72 clips.\n#### 72"
EXAMPLES = (
    Example(r"3x=9, x=3, so \boxed{3}", {"reference": _EQUATION}, 1.0, "correct", "a shorter way is right too"),
    Example(
        r"3x=9, x=3, so \boxed{3}",
        {"reference": _EQUATION, "mode": "weighted"},
        0.9,
        "steps_missing",
        "0.7 for the answer, and two of three steps",
    ),
    Example(
        r"移项得3x=14-5=9，解得x=4，答案是\boxed{4}",
        {"reference": _EQUATION},
        0.2,
        "partly_correct",
        "wrong in the last of three steps",
    ),
    Example(
        "48 / 2 = 24 in May, so 24 clips.\n#### 24",
        {"reference": _GSM8K},
        0.15,
        "partly_correct",
        "the first of two annotated calculations",
    ),
    Example(
        r"3x=14-5, 3x=9, x=3, so \boxed{4}",
        {"reference": _EQUATION, "mode": "final_only"},
        0.0,
        "wrong_answer",
        "steps do not count here",
    ),
    Example(
        r"3x=14-5=10, so \boxed{10/3}",
        {"reference": _EQUATION},
        0.0,
        "wrong_answer",
        "wrong from the first step on",
    ),
    Example(
        r"3x=9 and x=3, that is \boxed{3} or \boxed{4}",
        {"reference": _EQUATION},
        0.0,
        "conflicting_answers",
        "looks half right, but commits to no answer",
    ),
    Example(
        r"<think>3x=14-5, 3x=9, x=3</think> So \boxed{5}",
        {"reference": _EQUATION},
        0.0,
        "wrong_answer",
        "steps in the thinking only",
    ),
    Example(
        r"\boxed{3}",
        {"reference": {"steps": ["x=3"], "final_answer": r"\frac{1}{"}},
        None,
        "unparseable_reference",
        "mend the data",
        Status.INVALID,
    ),
)
