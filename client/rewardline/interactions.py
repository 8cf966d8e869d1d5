"""Interactions of several turns. The server keeps their state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rewardline.errors import UnexpectedAnswer, cut

INTERACTIONS = "/v1/interactions"
OPTIONS = ("max_turns", "success_threshold", "ttl_s", "language", "feedback", "trajectory", "gamma", "penalty")
"""The fields of an interaction that say how its turns go. The server documents them."""


@dataclass(frozen=True)
class Turn:
    """The verdict on one turn. A turn that the server could not judge raises instead."""

    should_terminate: bool
    response: str
    """Feedback for the model. It is the next user message, unless `should_terminate`."""
    reward: float
    score: float
    """Correctness in [0, 1]."""
    reason: str
    turn: int
    trajectory_score: float
    """The score of all turns so far."""
    info: Mapping[str, Any]


def opening_fields(item: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that open an interaction: those of an item without its response, which each turn brings."""
    return {name: value for name, value in item.items() if name != "response"}


def parse_turn(raw: Mapping[str, Any]) -> Turn:
    """Make a Turn of the server's JSON.

    Raises:
        UnexpectedAnswer: The answer breaks the contract.
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
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise UnexpectedAnswer(f"not a turn: {cut(repr(error))}") from error
    if not all(map(math.isfinite, (turn.reward, turn.score, turn.trajectory_score))):
        raise UnexpectedAnswer("the reward of a turn is not a finite number")
    return turn
