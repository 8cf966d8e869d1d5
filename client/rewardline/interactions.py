"""Turns of an interaction whose state the server keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rewardline.errors import UnexpectedAnswer

INTERACTIONS = "/v1/interactions"


@dataclass(frozen=True)
class Turn:
    """A turn that was judged; one that could not be is an exception."""

    should_terminate: bool
    response: str
    """Feedback for the model: the next user message, unless `should_terminate`."""
    reward: float
    score: float
    """Correctness in [0, 1]."""
    reason: str
    turn: int
    trajectory_score: float
    """What the turns so far come to."""
    info: Mapping[str, Any]


def parse_turn(raw: Mapping[str, Any]) -> Turn:
    """Make a Turn of the server's JSON.

    Raises:
        UnexpectedAnswer: the answer breaks the contract.
    """
    try:
        turn = Turn(
            bool(raw["should_terminate"]),
            str(raw["response"]),
            float(raw["reward"]),
            float(raw["score"]),
            str(raw["reason"]),
            int(raw["turn"]),
            float(raw["trajectory_score"]),
            dict(raw.get("info") or {}),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UnexpectedAnswer(f"not a turn: {error!r}") from error
    if not all(map(math.isfinite, (turn.reward, turn.score, turn.trajectory_score))):
        raise UnexpectedAnswer("a turn whose reward is not a finite number")
    return turn
