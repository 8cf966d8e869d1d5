"""Rewards length along half a cosine: short right answers earn more than long ones, short wrong answers less.

From "Demystifying Long Chain-of-Thought Reasoning" (arXiv 2502.03373); Open R1 and TRL have it as
`get_cosine_scaled_reward`. With p = min(length / max_length, 1) and c = (1 + cos(pi p)) / 2, which falls from 1 to 0,
the reward is

    right:  min_correct + (max_correct - min_correct) * c          wrong:  max_wrong + (min_wrong - max_wrong) * c

`detail.reward` holds the reward. The score is its place between the lowest and the highest value that the parameters
allow, so that `low + score * (high - low)`, both in the detail, is the reward again. Another verifier decides whether
the answer is right; `correct` gives its result. Without it, the score is c itself, for recipes that combine scores.

Presets: `trl` (the default; tokens), `open_r1` (characters, at most 1000, and its configuration's default values, which
reward long wrong answers less than short ones) and `demystify` (tokens; 2, 1, -10, 0, and -10 for a response that
reaches the maximum). Deliberate difference: Open R1 does not stop at p = 1, so that a text of twice the maximum earns
as much as an empty one; here a longer text never earns more than one of the maximal length.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from sandbox.workers import Workers
from verifiers import long_texts
from verifiers.base import Example, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.long_texts import judge_all
from verifiers.rules.words import MAX_LENGTH, Unit, measure

_PRESETS: Mapping[str, Mapping[str, Any]] = {
    "trl": {"unit": "tokens", "min_wrong": -1.0, "max_wrong": -0.5, "min_correct": 0.5, "max_correct": 1.0},
    "open_r1": {"unit": "characters", "min_wrong": 0.0, "max_wrong": -0.5, "min_correct": 0.5, "max_correct": 1.0},
    "demystify": {"unit": "tokens", "min_wrong": -10.0, "max_wrong": 0.0, "min_correct": 1.0, "max_correct": 2.0},
}
_EXCEEDED = {"demystify": -10.0}

_Value = Annotated[float, Field(ge=-1e6, le=1e6)]


class CosineLengthParams(Params):
    """The curve, and where on it the response is. Values that are not given are the preset's."""

    preset: Literal["trl", "open_r1", "demystify"] = "trl"
    """The unit and the values of the curve that are not given: those of TRL, Open R1 or the paper."""
    max_length: Annotated[int, Field(gt=0, le=MAX_LENGTH)] = 1000
    """The length, in `unit`, at which the curve ends."""
    unit: Unit | None = None
    """What is counted. If it is left out: the preset's unit."""
    completion_tokens: Annotated[int, Field(ge=0, le=MAX_LENGTH)] | None = None
    """The number of tokens of the response, as counted by its tokenizer."""
    correct: bool | None = None
    """Whether the answer is right."""
    min_wrong: _Value | None = None
    """The reward of a wrong answer of length 0."""
    max_wrong: _Value | None = None
    """The reward of a wrong answer of the maximal length."""
    min_correct: _Value | None = None
    """The reward of a right answer of the maximal length."""
    max_correct: _Value | None = None
    """The reward of a right answer of length 0."""
    exceeded: _Value | None = None
    """The reward at the maximum and beyond, right or wrong, if it differs from the end of the curve."""


class CosineLength(Verifier[CosineLengthParams]):
    name = "cosine_length"
    version = "1"
    params = CosineLengthParams
    summary = "A reward that changes with the length along half a cosine, by whether the answer is right"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[CosineLengthParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)


def create(resources: Resources) -> CosineLength:
    long_texts.register(resources.workers, judge, CosineLengthParams, EXAMPLES[0])
    return CosineLength(resources.workers)


def judge(response: str, params: CosineLengthParams, explain: bool = False) -> Verdict:
    preset = _PRESETS[params.preset]
    unit: Unit = params.unit or preset["unit"]
    length = params.completion_tokens if unit == "tokens" else measure(response, unit)
    if length is None:
        return Verdict.invalid("missing_length", "unit tokens needs completion_tokens: how many the response has")
    part = min(length / params.max_length, 1.0) if length < params.max_length else 1.0
    curve = 0.5 * (1.0 + math.cos(part * math.pi))
    if params.correct is None:
        return Verdict(Status.OK, curve, "placed", None, {"length": length})
    values = {name: preset[name] if value is None else value for name, value in _given(params).items()}
    exceeded = _EXCEEDED.get(params.preset) if params.exceeded is None else params.exceeded
    reward = _reward(values, curve, params.correct)
    if exceeded is not None and length >= params.max_length:
        reward = exceeded
    return _placed(reward, [*values.values(), *([] if exceeded is None else [exceeded])], length)


def _given(params: CosineLengthParams) -> dict[str, float | None]:
    return {
        "min_wrong": params.min_wrong,
        "max_wrong": params.max_wrong,
        "min_correct": params.min_correct,
        "max_correct": params.max_correct,
    }


def _reward(values: Mapping[str, float], curve: float, correct: bool) -> float:
    end, start = ("min_correct", "max_correct") if correct else ("max_wrong", "min_wrong")
    return values[end] + (values[start] - values[end]) * curve


def _placed(reward: float, values: Sequence[float], length: int) -> Verdict:
    low, high = min(values), max(values)
    if low == high:
        return Verdict.invalid("constant_reward", f"all values are {low}: nothing depends on the length")
    score = min(max((reward - low) / (high - low), 0.0), 1.0)
    return Verdict(Status.OK, score, "placed", None, {"length": length, "reward": reward, "low": low, "high": high})


def _example(tokens: int, correct: bool | None, score: float, note: str, **params: Any) -> Example:
    fields = {"max_length": 100, "completion_tokens": tokens, "correct": correct, **params}
    return Example("...", fields, score, "placed", note)


EXAMPLES = (
    _example(0, True, 1.0, "the shortest right answer: reward 1"),
    _example(100, True, 0.75, "a long right one: 0.5"),
    _example(0, False, 0.0, "a short wrong one: -1"),
    _example(100, False, 0.25, "a long wrong one: -0.5"),
    _example(
        200,
        True,
        0.75,
        "looks like 1 again in Open R1: twice the maximum is the maximum",
        preset="open_r1",
        unit="tokens",
        min_wrong=-1.0,
    ),
    Example("...", {"correct": True}, None, "missing_length", "we have no tokenizer", Status.INVALID),
)
