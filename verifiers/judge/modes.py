"""The questions of each mode to a judge, and the result of the answers."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from verifiers.base import InvalidItem
from verifiers.judge import criteria
from verifiers.judge.criteria import Criterion
from verifiers.judge.parameters import MAX_STEPS, JudgeParams
from verifiers.judge.profiles import Mode, Profile
from verifiers.judge.rendering import Data, Prompt
from verifiers.judge.schemas import SCHEMAS, Context, Kind
from verifiers.judge.voting import Decision

_PARAGRAPHS = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Question:
    """One call, or one call for each vote."""

    data: Data
    context: Context


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of all answers about an item."""

    score: float
    reason: str
    detail: Mapping[str, Any]


class TooManySteps(Exception):
    """The response has more steps than a judge is asked about."""


def suits(prompt: Prompt, mode: Mode) -> bool:
    """Whether a prompt asks the question of a mode."""
    kind, slots = SCHEMAS[prompt.schema].kind, prompt.slots
    match mode:
        case "reference":
            return "reference" in slots and "response" in slots and kind is Kind.LABELS
        case "criteria":
            return "criteria" in slots and kind is Kind.RUBRIC
        case "quality":
            return "response" in slots and kind is Kind.NUMBER
        case "pairwise":
            return "response_b" in slots and kind is Kind.LABELS
        case "steps":
            return "steps" in slots and kind is Kind.STEPS


def require(mode: Mode, params: JudgeParams) -> None:
    """Check that no parameter is missing.

    Raises:
        InvalidItem: the mode needs a parameter that is missing.
    """
    if mode == "reference" and not params.reference:
        raise InvalidItem(
            "bad_reference",
            "mode reference needs a reference; to grade without one, set params.mode to quality or name its profile",
        )
    if mode == "criteria" and not params.criteria:
        raise InvalidItem("bad_params", "params.criteria: mode criteria needs them")
    if mode == "pairwise" and params.other is None:
        raise InvalidItem("bad_params", "params.other: mode pairwise needs the response to compare with")


def questions(mode: Mode, text: str, question: str | None, params: JudgeParams, profile: Profile) -> Sequence[Question]:
    """The questions about a response of which `text` is shown. The parameters have what the mode needs (`require`).

    Raises:
        TooManySteps
    """
    asked = Data(question=question or None, references=params.reference, response=text)
    match mode:
        case "reference":
            return [Question(asked, Context())]
        case "quality":
            return [Question(asked, Context())]
        case "criteria":
            assert params.criteria
            return [_about(asked, part) for part in _parts(params.criteria, profile.criteria_per_call)]
        case "pairwise":
            assert params.other is not None
            turned = replace(asked, response=params.other, response_b=text)
            return [Question(replace(asked, response_b=params.other), Context()), Question(turned, Context())]
        case "steps":
            steps = tuple(params.steps or split(text))
            if len(steps) > MAX_STEPS:
                raise TooManySteps
            return [Question(replace(asked, response=None, steps=steps), Context(n_steps=len(steps)))]


def _about(asked: Data, part: Sequence[Criterion]) -> Question:
    return Question(
        replace(asked, criteria={each.id: each.text for each in part}),
        Context(criteria={each.id: each.weight for each in part}),
    )


def _parts(chosen: Sequence[Criterion], size: int) -> Sequence[Sequence[Criterion]]:
    step = size or len(chosen)
    return [chosen[start : start + step] for start in range(0, len(chosen), step)]


def split(text: str) -> list[str]:
    """Split a response into steps if it does not number them."""
    paragraphs = [part.strip() for part in _PARAGRAPHS.split(text) if part.strip()]
    if len(paragraphs) > 1:
        return paragraphs
    return [line.strip() for line in text.splitlines() if line.strip()] or [text]


def finding(
    mode: Mode, asked: Sequence[Question], decisions: Sequence[Decision], params: JudgeParams, profile: Profile
) -> Finding:
    """The result of the decisions, one for each question."""
    first = decisions[0]
    match mode:
        case "criteria":
            return _criteria(decisions, params)
        case "pairwise":
            return _pairwise(decisions)
        case "steps":
            return _steps(first, len(asked[0].data.steps or ()), profile)
        case "quality":
            return Finding(
                first.score, "graded", {"grade": first.value} if isinstance(first.value, float | int) else {}
            )
        case "reference":
            return _label(first, profile)


def _label(decision: Decision, profile: Profile) -> Finding:
    value = str(decision.value)
    score = profile.rewards.get(value, decision.score)
    if profile.score_source == "expected":
        score = decision.score
    reason = "correct" if score >= 1.0 else "nothing_to_grade" if value == "C" else "wrong_answer"
    return Finding(score, reason if score in (0.0, 1.0) else "graded", {"verdict": value})


def _criteria(decisions: Sequence[Decision], params: JudgeParams) -> Finding:
    scores: dict[str, float] = {}
    why: dict[str, str] = {}
    for decision in decisions:
        if isinstance(decision.value, Mapping):
            scores |= decision.value
            why |= decision.readings[0].reasons
    assert params.criteria is not None
    score = _aggregate(params, scores)
    missed = [each.id for each in params.criteria if each.must_pass and scores[each.id] < 1.0]
    reason = (
        "must_pass_missed" if missed else "correct" if score == 1.0 else "criteria_missed" if score == 0 else "graded"
    )
    rated = [
        {"id": each.id, "score": scores[each.id], "weight": each.weight}
        | ({"rationale": why[each.id]} if why.get(each.id) else {})
        for each in params.criteria
    ]
    return Finding(score, reason, {"criteria": rated})


def _aggregate(params: JudgeParams, scores: Mapping[str, float]) -> float:
    assert params.criteria is not None
    mean = criteria.total(params.criteria, scores)
    met = [1.0 - scores[each.id] if each.weight < 0 else scores[each.id] for each in params.criteria]
    if any(each.must_pass and scores[each.id] < 1.0 for each in params.criteria):
        return 0.0
    match params.aggregate:
        case "weighted":
            return mean
        case "all":
            return float(min(met) == 1.0)
        case "any":  # the absence of a fault earns nothing
            merits = [scores[each.id] for each in params.criteria if each.weight > 0]
            return float(max(merits or met) == 1.0)
        case "min":
            return min(met)
        case "product":
            return math.prod(met)
        case "threshold":
            assert params.threshold is not None
            return float(mean >= params.threshold)


def _pairwise(decisions: Sequence[Decision]) -> Finding:
    """The result for a response that was shown first, then second: it must be better, or worse, both times."""
    first, second = decisions[0].score, 1.0 - decisions[1].score
    if (first > 0.5) is not (second > 0.5) or (first < 0.5) is not (second < 0.5):
        return Finding(0.5, "tie", {"verdict": "tie", "flags": ["position_inconsistent"]})
    score = (first + second) / 2
    reason = "win" if score > 0.5 else "loss" if score < 0.5 else "tie"
    return Finding(score, reason, {"verdict": reason})


def _steps(decision: Decision, steps: int, profile: Profile) -> Finding:
    wrong = int(str(decision.value))
    if not wrong:
        return Finding(1.0, "correct", {"first_error": 0, "steps": steps})
    score = (wrong - 1) / steps if profile.steps_reward == "prefix" else 0.0
    return Finding(score, "wrong_step", {"first_error": wrong, "steps": steps})
