"""The questions of each mode to a judge, and the result of the answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from verifiers.base import InvalidItem
from verifiers.judge.criteria import Criterion
from verifiers.judge.parameters import MAX_STEPS, JudgeParams
from verifiers.judge.profiles import Mode, Profile
from verifiers.judge.rendering import Data, Prompt
from verifiers.judge.rubrics import formulas
from verifiers.judge.rubrics.rules import rule_of
from verifiers.judge.schemas import SCHEMAS, Context, Kind
from verifiers.judge.voting import Decision

_PARAGRAPHS = re.compile(r"\n\s*\n")
_PER_CALL = 64
"""The most criteria of one call."""
_PER_CALL_CHARS = 40_000
"""A call has no more text of criteria, unless one alone is longer."""
_CHUNK_SHARE = 0.75
"""Of the limit of a response: neutralising makes a text longer."""


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
            return "criteria" in slots and "response" in slots and kind is Kind.RUBRIC
        case "quality":
            return "response" in slots and kind is Kind.NUMBER
        case "pairwise":
            return "response_b" in slots and kind is Kind.LABELS
        case "compare":
            return "response_b" in slots and kind is Kind.RUBRIC
        case "listwise":
            return "criteria" in slots and "response" not in slots and kind is Kind.RUBRIC
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
    if mode in ("pairwise", "compare") and params.other is None:
        raise InvalidItem("bad_params", f"params.other: mode {mode} needs the response to compare with")
    if mode == "listwise" and params.others is None:
        raise InvalidItem("bad_params", "params.others: mode listwise needs the responses beside this one")


def questions(mode: Mode, text: str, question: str | None, params: JudgeParams, profile: Profile) -> Sequence[Question]:
    """The questions about a response of which `text` is shown. The parameters have what the mode needs (`require`).

    Raises:
        TooManySteps
    """
    history = [(turn.role, turn.content) for turn in params.history]
    data = Data(question or None, params.reference, text, history=history, principle=params.principle)
    match mode:
        case "reference":
            return [Question(data, Context())]
        case "quality":
            return [Question(data, Context())]
        case "criteria":
            assert params.criteria
            open_ones = [c for c in params.criteria if rule_of(c) is None]
            groups = _parts(open_ones, profile.criteria_per_call or _PER_CALL)
            return [
                _about(replace(data, response=chunk), group) for chunk in _chunks(text, profile) for group in groups
            ]
        case "pairwise":
            assert params.other is not None
            straight = Question(replace(data, response_b=params.other), Context())
            turned = Question(replace(data, response=params.other, response_b=text), Context())
            return [straight] if params.orders == "one" else [straight, turned]
        case "compare":
            marks = Context(dict.fromkeys(_SCALES, 1.0), _SCALES)
            return [Question(replace(data, response_b=params.other), marks)]
        case "listwise":
            assert params.others is not None
            listed = {f"R{number}": reply for number, reply in enumerate((text, *params.others), 1)}
            grades = Context(dict.fromkeys(listed, 1.0), dict.fromkeys(listed, _GRADES))
            return [Question(replace(data, response=None, criteria=listed), grades)]
        case "steps":
            steps = tuple(params.steps or split(text))
            if len(steps) > MAX_STEPS:
                raise TooManySteps
            return [Question(replace(data, response=None, steps=steps), Context(n_steps=len(steps)))]


def _about(data: Data, part: Sequence[Criterion]) -> Question:
    return Question(
        replace(data, criteria={criterion.id: _with_answers(criterion) for criterion in part}),
        Context(
            criteria={criterion.id: criterion.weight for criterion in part},
            choices={criterion.id: criterion.choices for criterion in part if criterion.choices},
            shown=data.response or "",
        ),
    )


def _with_answers(criterion: Criterion) -> str:
    """The text of a criterion with the list of its answers."""
    if not criterion.choices:
        return criterion.text
    if not criterion.levels:
        return f"{criterion.text}\nanswers: {' | '.join(criterion.choices)}"
    listed = (f"{choice}: {criterion.levels.get(choice, '')}".rstrip(": ") for choice in criterion.choices)
    return "\n".join([criterion.text, "answers:", *listed])


def _parts(chosen: Sequence[Criterion], limit: int) -> list[list[Criterion]]:
    """The criteria of each call, in order."""
    batches: list[list[Criterion]] = []
    chars = 0
    for criterion in chosen:
        chars += len(criterion.text) + sum(map(len, criterion.levels.values()))
        if not batches or len(batches[-1]) == limit or chars > _PER_CALL_CHARS:
            batches.append([])
            chars = len(criterion.text)
        batches[-1].append(criterion)
    return batches


def _chunks(text: str, profile: Profile) -> list[str]:
    """The parts of a long response that criteria are asked about one by one: whole paragraphs, where they fit."""
    limit = int(profile.limits.response_chars * _CHUNK_SHARE)
    if profile.on_truncate != "chunks" or len(text) <= limit:
        return [text]
    chunks = [""]
    for paragraph in text.split("\n\n"):
        pieces = [paragraph[start : start + limit] for start in range(0, len(paragraph), limit)]
        for piece in pieces:
            if chunks[-1] and len(chunks[-1]) + len(piece) + 2 > limit:
                chunks.append("")
            chunks[-1] += f"\n\n{piece}" if chunks[-1] else piece
    return chunks


def split(text: str) -> list[str]:
    """Split a response into steps if it does not number them."""
    paragraphs = [part.strip() for part in _PARAGRAPHS.split(text) if part.strip()]
    if len(paragraphs) > 1:
        return paragraphs
    return [line.strip() for line in text.splitlines() if line.strip()] or [text]


def finding(
    mode: Mode,
    questions_asked: Sequence[Question],
    decisions: Sequence[Decision],
    params: JudgeParams,
    profile: Profile,
    by_rule: Mapping[str, float] = MappingProxyType({}),
) -> Finding:
    """The result of the decisions, one for each question, and of the criteria that a rule has decided."""
    if mode == "criteria":
        return _criteria(decisions, params, by_rule)
    first = decisions[0]
    match mode:
        case "pairwise":
            return _pairwise(decisions, params.orders)
        case "compare":
            return _compared(first)
        case "listwise":
            assert isinstance(first.value, Mapping)
            grades = [round(value * (len(_GRADES) - 1), 6) for value in first.value.values()]
            return Finding(grades[0] / (len(_GRADES) - 1), "graded", {"scores": grades})
        case "steps":
            return _steps(first, len(questions_asked[0].data.steps or ()), profile)
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


def _criteria(decisions: Sequence[Decision], params: JudgeParams, by_rule: Mapping[str, float]) -> Finding:
    scores = dict(by_rule)
    why: dict[str, str] = {}
    for decision in decisions:
        assert isinstance(decision.value, Mapping)
        for name, score in decision.value.items():
            if score >= scores.get(name, 0.0):  # of the chunks of a response, the one that meets it best
                scores[name] = score
                why[name] = decision.readings[0].reasons.get(name, "") if decision.readings else ""
    chosen = params.criteria
    assert chosen is not None
    raw = formulas.value(params.formula, chosen, scores, params.threshold)
    missed = [criterion.id for criterion in chosen if criterion.must_pass and scores[criterion.id] < 1.0]
    score = 0.0 if missed else formulas.score(params.formula, chosen, raw, signed=params.signed)
    reason = (
        "must_pass_missed" if missed else "correct" if score == 1.0 else "criteria_missed" if score == 0 else "graded"
    )
    rubric: dict[str, Any] = {"formula": params.formula, "value": raw}
    if params.format is not None:
        rubric["format"] = params.format
    if tags := formulas.by_tag(params.formula, chosen, scores, params.threshold):
        rubric["by_tag"] = tags
    if by_rule:
        rubric["by_rule"] = len(by_rule) / len(chosen)
    return Finding(
        score, reason, {"criteria": [_rated(criterion, scores, why, by_rule) for criterion in chosen], "rubric": rubric}
    )


def _rated(
    criterion: Criterion, scores: Mapping[str, float], why: Mapping[str, str], by_rule: Mapping[str, float]
) -> dict[str, Any]:
    score = scores[criterion.id]
    rated: dict[str, Any] = {"id": criterion.id, "score": score, "weight": criterion.weight}
    if criterion.name:
        rated["name"] = criterion.name
    if criterion.choices:
        rated["answer"] = criterion.choices[round(score * (len(criterion.choices) - 1))]
    if criterion.tags:
        rated["tags"] = list(criterion.tags)
    if criterion.id in by_rule:
        rated["source"] = "rule"
    elif reason := why.get(criterion.id):
        rated["rationale"] = reason
    return rated


def _pairwise(decisions: Sequence[Decision], orders: str) -> Finding:
    """The result for a response that was shown first, then second: it must be better, or worse, both times."""
    first = decisions[0].score
    second = first if orders == "one" else 1.0 - decisions[1].score
    flags: dict[str, Any] = {}
    if (first > 0.5) is not (second > 0.5) or (first < 0.5) is not (second < 0.5):
        if orders == "agree":
            return Finding(0.5, "tie", {"verdict": "tie", "flags": ["position_inconsistent"]})
        flags = {"flags": ["position_inconsistent"]}
    score = _arena_hard(first, second) if orders == "arena_hard" else (first + second) / 2
    reason = "win" if score > 0.5 else "loss" if score < 0.5 else "tie"
    return Finding(score, reason, {"verdict": reason, **flags})


_SCALES: Mapping[str, Sequence[str]] = {"score_1": "12345", "score_2": "12345", "ranking": "123456"}
"""What mode compare asks for, with the marks of each from the lowest."""
_GRADES = tuple(map(str, range(11)))
_MIDDLE = 3.5


def _compared(decision: Decision) -> Finding:
    """The scores of both, and the ranking, from 1 (the first is much better) to 6, which decides between equal ones."""
    assert isinstance(decision.value, Mapping)
    first, second, ranking = (round(1 + decision.value[name] * (len(marks) - 1), 6) for name, marks in _SCALES.items())
    lead = first - second or _MIDDLE - ranking
    score = 1.0 if lead > 0 else 0.0 if lead < 0 else 0.5
    reason = "win" if lead > 0 else "loss" if lead < 0 else "tie"
    return Finding(score, reason, {"scores": [first, second], "ranking": ranking})


_DECISIVE = 3
"""How often a verdict of `significantly better` counts in Arena-Hard (lmarena/arena-hard-auto, show_result.py, load_judgments)."""


def _arena_hard(*scores: float) -> float:
    """The mean of both orders, each a win, a tie or a loss, and the decisive ones several times."""
    games = [
        (1.0 if score > 0.5 else 0.5 if score == 0.5 else 0.0, _DECISIVE if score in (0.0, 1.0) else 1)
        for score in scores
    ]
    return sum(result * times for result, times in games) / sum(times for _, times in games)


def _steps(decision: Decision, steps: int, profile: Profile) -> Finding:
    wrong = int(str(decision.value))
    if not wrong:
        return Finding(1.0, "correct", {"first_error": 0, "steps": steps})
    score = (wrong - 1) / steps if profile.steps_reward == "prefix" else 0.0
    return Finding(score, "wrong_step", {"first_error": wrong, "steps": steps})
