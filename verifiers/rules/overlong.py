"""Punishes overlong responses softly: not at all up to a length, then increasingly, and fully beyond the maximum.

Soft overlong punishment of DAPO (arXiv 2503.14476, equation 13). With length n, maximum L and buffer c the penalty is

    n <= L - c:  0        L - c < n <= L:  ((L - c) - n) / c        n > L:  -1

and the score is 1 + penalty. So do TRL's `get_soft_overlong_punishment` and Open R1's `soft_overlong_punishment`.
Deliberate difference to verl's `dapo`, AReaL and NeMo-RL: theirs goes on below -1 beyond L; a score cannot.
A factor (verl's `penalty_factor`) is the recipe's: `(score - 1) * factor`.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, model_validator

from sandbox.workers import Workers
from verifiers import long_texts
from verifiers.base import Example, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.long_texts import judge_all
from verifiers.rules.words import MAX_LENGTH, Unit, measure


class OverlongParams(Params):
    """The length that a response may have."""

    max_length: Annotated[int, Field(gt=0, le=MAX_LENGTH)] = 20_480
    """The length, in `unit`, beyond which the score is 0."""
    buffer: Annotated[int, Field(ge=0, le=MAX_LENGTH)] = 4_096
    """The punishment begins this far before the maximum (`cache` in TRL, `overlong_buffer_cfg.len` in verl)."""
    unit: Unit = "tokens"
    """What is counted; tokens need `completion_tokens`."""
    completion_tokens: Annotated[int, Field(ge=0, le=MAX_LENGTH)] | None = None
    """The number of tokens of the response, as counted by its tokenizer."""

    @model_validator(mode="after")
    def _check(self) -> "OverlongParams":
        if self.buffer > self.max_length:
            raise ValueError(f"buffer {self.buffer} is longer than max_length {self.max_length}")
        return self


class Overlong(Verifier[OverlongParams]):
    name = "overlong"
    version = "1"
    params = OverlongParams
    summary = "1 up to a length, then falling to 0 at the maximum (DAPO's soft overlong punishment)"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[OverlongParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)


def create(resources: Resources) -> Overlong:
    long_texts.register(resources.workers, judge, OverlongParams, EXAMPLES[0])
    return Overlong(resources.workers)


def judge(response: str, params: OverlongParams, explain: bool = False) -> Verdict:
    length = params.completion_tokens if params.unit == "tokens" else measure(response, params.unit)
    if length is None:
        return Verdict.invalid("missing_length", "unit tokens needs completion_tokens: how many the response has")
    penalty = _penalty(length, params)
    reason = "short_enough" if penalty == 0 else "too_long"
    return Verdict(Status.OK, 1.0 + penalty, reason, None, {"length": length, "penalty": penalty})


def _penalty(length: int, params: OverlongParams) -> float:
    free_length = params.max_length - params.buffer
    if length <= free_length:
        return 0.0
    return (free_length - length) / params.buffer if length <= params.max_length else -1.0


def _example(tokens: int | None, score: float | None, reason: str, note: str) -> Example:
    params = {"max_length": 100, "buffer": 20, "completion_tokens": tokens}
    return Example("...", params, score, reason, note, Status.INVALID if score is None else Status.OK)


EXAMPLES = (
    _example(80, 1.0, "short_enough", "up to max_length - buffer nothing happens"),
    _example(90, 0.5, "too_long", "half of the buffer is used"),
    _example(101, 0.0, "too_long", "beyond the maximum"),
    _example(None, None, "missing_length", "we have no tokenizer: the trainer counts"),
    Example(
        "one two three four", {"max_length": 4, "buffer": 2, "unit": "words"}, 0.0, "too_long", "the buffer is used up"
    ),
)
