"""What the answers to a mode's questions come to."""

from typing import Any

import pytest

from tests.tables import table
from verifiers.judge.modes import Question, finding, split
from verifiers.judge.parameters import JudgeParams
from verifiers.judge.parsing import Reading
from verifiers.judge.profiles import Profile
from verifiers.judge.rendering import Data
from verifiers.judge.schemas import NO_CONTEXT
from verifiers.judge.voting import Decision

_NO_REASONS = Reading("x", 0.0)


def _found(mode: Any, decisions: list[Decision], profile: dict[str, Any] | None = None, **params: Any) -> Any:
    asked = [Question(Data(steps=("a", "b", "c", "d")), NO_CONTEXT)] * len(decisions)
    made = Profile.model_validate({"mode": mode, "pool": "p", **(profile or {})})
    return finding(mode, asked, decisions, JudgeParams.model_validate(params), made)


@table(
    ("first", "second", "score", "reason"),
    [
        (1.0, 0.0, 1.0, "win"),
        (0.0, 1.0, 0.0, "loss"),
        (0.5, 0.5, 0.5, "tie"),
        (1.0, 0.25, 0.875, "win"),
        (0.9, 0.2, 0.85, "win"),
        (1.0, 1.0, 0.5, "tie"),
        (0.5, 0.0, 0.5, "tie"),
        (0.6, 0.6, 0.5, "tie"),
    ],
)
def test_a_side_must_be_the_better_one_in_both_orders(first: float, second: float, score: float, reason: str) -> None:
    """The second score is for the other response, which then stood first."""
    found = _found("pairwise", [Decision("x", first, 1.0, ()), Decision("x", second, 1.0, ())], other="x")
    assert (found.score, found.reason) == (pytest.approx(score), reason)
    assert ("flags" in found.detail) is (reason == "tie" and (first, second) != (0.5, 0.5))


@table(
    ("aggregate", "more", "scores", "score"),
    [
        ("weighted", {}, (1.0, 0.5, 0.0), 2.5 / 4),
        ("all", {}, (1.0, 1.0, 0.0), 1.0),
        ("all", {}, (1.0, 0.5, 0.0), 0.0),
        ("any", {}, (0.0, 1.0, 1.0), 1.0),
        ("any", {}, (0.0, 0.5, 0.0), 0.0),
        ("min", {}, (1.0, 0.5, 0.0), 0.5),
        ("product", {}, (0.5, 0.5, 0.0), 0.25),
        ("threshold", {"threshold": 0.6}, (1.0, 0.5, 0.0), 1.0),
        ("threshold", {"threshold": 0.7}, (1.0, 0.5, 0.0), 0.0),
    ],
)
def test_criteria_are_put_together_as_asked(
    aggregate: str, more: dict[str, Any], scores: tuple[float, ...], score: float
) -> None:
    """Of weight 1 and 3, and a fault, which is met where it is absent."""
    criteria = [{"text": "a", "weight": 1}, {"text": "b", "weight": 3}, {"text": "c", "weight": -2}]
    values = {f"c{number}": each for number, each in enumerate(scores, 1)}
    said = Decision(values, 0.0, 1.0, (_NO_REASONS,))
    found = _found("criteria", [said], criteria=criteria, aggregate=aggregate, **more)
    assert found.score == pytest.approx(score)


@table(("first_error", "reward", "score"), [("0", "outcome", 1.0), ("3", "outcome", 0.0), ("3", "prefix", 0.5)])
def test_steps_pay_all_or_those_before_the_first_wrong_one(first_error: str, reward: str, score: float) -> None:
    found = _found("steps", [Decision(first_error, 0.3, 1.0, ())], {"steps_reward": reward})
    assert found.score == score


@table(
    ("text", "steps"),
    [("a\n\nb\nc", ["a", "b\nc"]), ("a\nb\n", ["a", "b"]), ("a", ["a"]), (" \n a \n  \n\n b", ["a", "b"])],
)
def test_paragraphs_are_steps_or_else_lines(text: str, steps: list[str]) -> None:
    assert split(text) == steps
