"""Judges the length of the response.

    bounds            from `minimum` to `maximum`, both allowed: 1, else 0
    band              as ROLL's CrossThinkQA worker: 0 below `minimum`, then in a line up to 1 at `maximum`, and 1
                      beyond: (score - 1) * 0.5 is its punishment with 100 and 400
    max_length        as open-instruct's MaxLenVerifier: 1 - |length - target| / maximum, not below 0
    up_to_max_length  as its UpToMaxLenVerifier: 1 up to the target, then the same line
    kimi              Kimi k1.5's length reward (arXiv 2501.12599, section 2.3.3; Open R1's `len_reward`). It compares
                      with the other responses to the prompt, whose lengths are given in `group_lengths`, this one's
                      among them (the shortest and the longest are enough):
                      r = 0.5 - (length - shortest) / (longest - shortest), for wrong answers min(0, r), 0 when all are
                      equally long. The score is r + 0.5, and r is `detail.reward`

The whole response is judged, so that no think tag hides a part of it; `think: auto` judges the text behind thinking.
Words are separated by spaces, and each Han character and kana is a word. Invisible characters, comments (`<!-- … -->`),
space at either end and padding inside (more than eight blanks, more than one blank line, lone signs in a row) count
towards a maximum, but not towards a minimum. Only the trainer can count tokens: `completion_tokens`.

Deliberate differences: ROLL takes the length of its padded tensor, which is a constant; here it is the response's. Open
R1 counts a response with an unreadable reference as right; here `correct` has to be given.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sandbox.workers import Workers
from verifiers import long_texts
from verifiers.base import Example, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.commitment import Think, final_segment
from verifiers.long_texts import judge_all
from verifiers.rules import comments
from verifiers.rules.words import MAX_LENGTH, Unit, measure, visible
from verifiers.sightings import ASCII_SPACE, SPACE, Scan, beyond_ascii, scene

_Count = Annotated[int, Field(ge=0, le=MAX_LENGTH)]


class LengthParams(Params):
    """The length that the response should have."""

    mode: Literal["bounds", "band", "max_length", "up_to_max_length", "kimi"] = "bounds"
    """bounds: 1 from `minimum` to `maximum`; band: a line from 0 to 1 between them; max_length and up_to_max_length:
    open-instruct's distance from `target`; kimi: Kimi k1.5's length reward within a group."""
    unit: Unit = "words"
    """What is counted."""
    minimum: _Count | None = None
    """The least length, for bounds and band."""
    maximum: _Count | None = None
    """The greatest length, for bounds and band; for max_length and up_to_max_length the scale of the distance."""
    target: _Count | None = None
    """The wanted length, for max_length and up_to_max_length."""
    completion_tokens: _Count | None = None
    """The number of tokens of the response, as counted by its tokenizer."""
    group_lengths: Annotated[tuple[_Count, ...], Field(min_length=1, max_length=65_536)] | None = None
    """For kimi: the lengths of all responses to the prompt, this one included; the shortest and the longest are
    enough."""
    correct: bool | None = None
    """Whether the answer is right, for kimi."""
    think: Think = "none"
    """The text that is measured. none: all of it.

    Auto: after the last closing think tag; required: there must be one.
    """

    @model_validator(mode="after")
    def _check(self) -> "LengthParams":
        for name in _NEEDS[self.mode]:
            if getattr(self, name) is None:
                raise ValueError(f"mode {self.mode} needs {name}")
        if self.mode == "bounds" and self.minimum is None and self.maximum is None:
            raise ValueError("mode bounds needs minimum, maximum or both")
        if self.minimum is not None and self.maximum is not None and self.minimum > self.maximum:
            raise ValueError(f"minimum {self.minimum} is more than maximum {self.maximum}")
        if self.mode == "band" and self.minimum == self.maximum:
            raise ValueError("mode band needs a minimum below the maximum")
        if self.mode in ("max_length", "up_to_max_length") and self.maximum == 0:
            raise ValueError("maximum must be above 0: it is the length at which the line has fallen by 1")
        return self

    @property
    def asks_for_more(self) -> bool:
        """Whether a longer response may be better. Then only visible characters count."""
        return self.minimum is not None or self.target is not None


_NEEDS = {
    "bounds": (),
    "band": ("minimum", "maximum"),
    "max_length": ("target", "maximum"),
    "up_to_max_length": ("target", "maximum"),
    "kimi": ("group_lengths", "correct"),
}


class Length(Verifier[LengthParams]):
    name = "length"
    version = "7"
    params = LengthParams
    summary = "The response is as long as it should be: bounds, a ramp, a target, or compared with its group"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[LengthParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)


def create(resources: Resources) -> Length:
    long_texts.register(resources.workers, judge, LengthParams, EXAMPLES[0])
    return Length(resources.workers)


def judge(response: str, params: LengthParams, explain: bool = False) -> Verdict:
    text = response
    if params.think != "none":
        segment = final_segment(response, params.think)
        if segment.reason in ("truncated", "no_answer"):
            return Verdict.wrong(segment.reason)
        text = response[segment.start : segment.end]
    if params.unit == "tokens":
        if params.completion_tokens is None:
            return Verdict.invalid("missing_length", "unit tokens needs completion_tokens: how many the response has")
        counted = length = params.completion_tokens
    else:
        length = counted = measure(text, params.unit)
        if params.asks_for_more and (unpadded := _unpadded(visible(comments.shown(text)), params.unit)) != text:
            counted = measure(unpadded, params.unit)
    match params.mode:
        case "bounds":
            return _bounded(counted, length, params)
        case "band":
            return _graded(_band(counted, params), counted)
        case "kimi":
            return _kimi(length, params)
        case _:
            return _graded(_near(counted, length, params), length)


def _unpadded(text: str, unit: Unit) -> str:
    """The text with one blank, blank line or lone sign in place of many in a row, if this unit counts them."""
    shadow = scene(text).shadow
    if unit == "words":
        return _SIGNS.sub(".", text) if shadow is None or _TWO_SIGNS.is_in(shadow) else text
    if shadow is None or _MANY_SPACES.is_in(shadow) or not beyond_ascii(text).isprintable():
        return _BLANK_LINES.sub("\n\n", _BLANKS.sub(" ", text))
    return text


_SIGN = r"[!-/:-@\[-`{-~]"  # `?`, as which other characters are seen, is one
_TWO_SIGNS = Scan(f"{SPACE}{_SIGN}+{SPACE}+{_SIGN}+(?:{SPACE}|$)")
_SIGNS = re.compile(r"(?<!\S)[^\w\s]++(?:\s++[^\w\s]++(?!\S))+")
_MANY_SPACES = Scan(rf"[\t\v-\r\x1c-\x20]{{9}}|\n{ASCII_SPACE}*\n{ASCII_SPACE}*\n")
_BLANKS = re.compile(r"[^\S\n]{9,}+")
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*+\n){2,}+")


def _bounded(counted: int, length: int, params: LengthParams) -> Verdict:
    if params.minimum is not None and counted < params.minimum:
        return Verdict.wrong("too_short", length=counted)
    if params.maximum is not None and length > params.maximum:
        return Verdict.wrong("too_long", length=length)
    return Verdict.correct(length=length)


def _graded(score: float, length: int) -> Verdict:
    reason = "correct" if score == 1.0 else "off_length"
    return Verdict(Status.OK, score, reason, None, {"length": length})


def _band(length: int, params: LengthParams) -> float:
    assert params.minimum is not None
    assert params.maximum is not None
    if length < params.minimum:
        return 0.0
    return min((length - params.minimum) / (params.maximum - params.minimum), 1.0)


def _near(counted: int, length: int, params: LengthParams) -> float:
    assert params.target is not None
    assert params.maximum is not None
    over = max(length - params.target, 0)
    under = max(params.target - counted, 0) if params.mode == "max_length" else 0
    distance = max(over, under)
    return 0.0 if distance >= params.maximum else 1.0 - distance / params.maximum


def _kimi(length: int, params: LengthParams) -> Verdict:
    assert params.group_lengths is not None
    shortest, longest = min(params.group_lengths), max(params.group_lengths)
    if not shortest <= length <= longest:
        message = (
            f"the response has length {length}, and group_lengths, where it belongs, go from {shortest} to {longest}"
        )
        return Verdict.invalid("bad_group", message)
    reward = 0.0
    if shortest < longest:
        reward = 0.5 - (length - shortest) / (longest - shortest)
        reward = reward if params.correct else min(0.0, reward)
    return Verdict(Status.OK, reward + 0.5, "placed", None, {"length": length, "reward": reward})


EXAMPLES = (
    Example("one two three", {"minimum": 2, "maximum": 3}, 1.0, "correct", "both bounds are allowed"),
    Example("one two three", {"minimum": 4}, 0.0, "too_short", "three words"),
    Example("我喜欢数学", {"minimum": 5}, 1.0, "correct", "each Han character is a word"),
    Example("\u200b".join("abc"), {"minimum": 5, "unit": "characters"}, 0.0, "too_short", "looks like three, and is"),
    Example("a\nb", {"minimum": 2, "maximum": 2, "unit": "lines"}, 1.0, "correct", "two lines"),
    Example(
        "...",
        {"mode": "band", "minimum": 100, "maximum": 400, "unit": "tokens", "completion_tokens": 250},
        0.5,
        "off_length",
        "half way up ROLL's ramp",
    ),
    Example(
        "...",
        {"mode": "kimi", "unit": "tokens", "completion_tokens": 30, "group_lengths": [10, 20, 30], "correct": True},
        0.0,
        "placed",
        "the longest of its group: reward -0.5",
    ),
    Example("hello", {"minimum": 1, "unit": "tokens"}, None, "missing_length", "we have no tokenizer", Status.INVALID),
)
