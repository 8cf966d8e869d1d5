"""Computes the next state of an interaction from its state and a verdict. All functions are pure.

open ──reward ≥ success_threshold──► solved ──┐
  │ └──max_turns──► exhausted ────────────────┼──DELETE──► finalized
  └───────────────────────────────────────────┘
"""

from collections.abc import Sequence
from itertools import pairwise
from math import inf
from sys import float_info
from typing import Any, NamedTuple

import msgspec

from service.errors import Conflict
from service.interactions.feedback import feedback
from service.interactions.schemas import Options, State, TurnAnswer, TurnInfo, TurnRequest, TurnView, View
from service.wire import Result


class Plan(msgspec.Struct, frozen=True):
    """The settings of an interaction that may be shown. They are fixed when it is opened."""

    options: Options
    ttl_s: float
    judged_by: dict[str, str]
    """The verifier, recipe and labels that the item names."""


class Turn(msgspec.Struct, frozen=True, array_like=True):
    score: float
    reward: float
    reason: str
    edition: str = ""
    """A name for the verifiers that judged it, with their versions. Empty: an older release did."""


class Progress(msgspec.Struct, frozen=True):
    """The progress of an interaction so far."""

    state: State = "open"
    turns: tuple[Turn, ...] = ()

    @property
    def is_mixed(self) -> bool:
        """Whether verifiers of several versions judged the turns."""
        return len({turn.edition for turn in self.turns}) > 1


class Taken(msgspec.Struct, frozen=True):
    """A turn with its request and its answer."""

    digest: str
    key: str | None
    answer: msgspec.Raw

    def is_of(self, request: TurnRequest) -> bool:
        """Whether the request repeats this turn."""
        same_key = self.key is not None and self.key == request.idempotency_key
        return same_key or self.digest == request.digest()


class Judged(NamedTuple):
    """The judgement of the response of a turn."""

    score: float
    reward: float
    reason: str
    extracted: str | None
    verifier: str | None
    version: str | None
    recipe: str | None
    checks: list[dict[str, Any]] | None


_CHECK_FIELDS = ("name", "verifier", "version", "status", "score", "value", "weight", "reason")
"""The fields of a check that are shown. The detail is not among them, because it may quote the reference."""


def judged(result: Result, *, is_silent: bool) -> Judged:
    """The judgement from a result of the engine with status ok.

    If the assistant said nothing, `result` judges the empty text. Then the score is 0 whatever the verifier makes of an
    empty text, and the reward is at most 0.
    """
    assert result.score is not None
    assert result.reward is not None
    checks = result.checks and [{name: check.get(name) for name in _CHECK_FIELDS} for check in result.checks]
    origin = (result.extracted, result.verifier, result.version, result.recipe, checks)
    if is_silent:
        return Judged(0.0, min(0.0, result.reward), "no_answer", *origin)
    return Judged(result.score, result.reward, result.reason, *origin)


def replayed(progress: Progress, last_turn: Taken | None, request: TurnRequest) -> Taken | None:
    """The turn that the request repeats, or None if it asks for the next one.

    Raises:
        Conflict: the request is for another turn. The error says which turn is next.
    """
    count, index = len(progress.turns), request.index
    if progress.state == "finalized":
        raise Conflict(f"the interaction was finalized after turn {count}; it takes no more")
    if index <= count:
        if last_turn is not None and last_turn.is_of(request):
            return last_turn
        raise Conflict(f"turn {index} was taken with other messages; {_next(progress)}")
    if index != count + 1 or progress.state != "open":
        raise Conflict(f"turn_index is {index}, but {_next(progress)}")
    return None


def _next(progress: Progress) -> str:
    count = len(progress.turns)
    if progress.state == "open":
        return f"the next turn is {count + 1}"
    return f"the interaction ended with turn {count} ({progress.state})"


def after_turn(options: Options, progress: Progress, verdict: Judged, edition: str = "") -> tuple[Progress, TurnAnswer]:
    """The progress after one more turn, which verifiers of this edition judged, and the answer to the turn."""
    turns = (*progress.turns, Turn(verdict.score, verdict.reward, verdict.reason, edition))
    count = len(turns)
    state: State = "open"
    if verdict.reward >= options.success_threshold:
        state = "solved"
    elif count >= options.max_turns:
        state = "exhausted"
    step = steps([turn.reward for turn in turns], options.penalty)[-1]
    score = trajectory_score(options, turns)
    assert score is not None
    following = Progress(state, turns)
    answer = TurnAnswer(
        should_terminate=state != "open",
        response=feedback(options, state, turns),
        reward=verdict.reward,
        score=verdict.score,
        status="ok",
        reason=verdict.reason,
        turn=count,
        trajectory_score=score,
        info=TurnInfo(
            state,
            options.max_turns - count,
            *verdict[3:],
            step_reward=step if options.trajectory == "improving" else None,
            mixed_versions=following.is_mixed,
        ),
    )
    return following, answer


def trajectory_score(options: Options, turns: Sequence[Turn]) -> float | None:
    """The rewards of the turns as one number. None if there are no turns."""
    if not turns:
        return None
    rewards = [turn.reward for turn in turns]
    match options.trajectory:
        case "last":
            return rewards[-1]
        case "max":
            return max(rewards)
        case "sum":
            return _finite(sum(rewards))
        case "discounted":
            solved = (
                options.gamma**exponent
                for exponent, reward in enumerate(rewards)
                if reward >= options.success_threshold
            )
            return next(solved, 0.0)
        case "improving":
            return _finite(rewards[-1] + sum(steps(rewards, options.penalty)))


def steps(rewards: Sequence[float], penalty: float) -> list[float]:
    """One number per turn: 0, or minus the penalty if the reward is not above the one before (for the first turn: above
    0). This is the tool reward of verl's `Gsm8kTool.execute`.
    """
    return [0.0 if now > previous else -penalty for previous, now in pairwise([0.0, *rewards])]


def view(name: str, plan: Plan, progress: Progress) -> View:
    return View(
        id=name,
        state=progress.state,
        turn=len(progress.turns),
        max_turns=plan.options.max_turns,
        success_threshold=plan.options.success_threshold,
        ttl_s=plan.ttl_s,
        judged_by=plan.judged_by,
        trajectory=plan.options.trajectory,
        trajectory_score=trajectory_score(plan.options, progress.turns),
        turns=[TurnView(at, turn.score, turn.reward, turn.reason) for at, turn in enumerate(progress.turns, 1)],
        mixed_versions=progress.is_mixed or msgspec.UNSET,
    )


def _finite(value: float) -> float:
    """The value as a finite number, because JSON has no infinity."""
    return value if -inf < value < inf else float_info.max * (1 if value > 0 else -1)
