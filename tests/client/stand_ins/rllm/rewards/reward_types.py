"""The inputs and results of a reward function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class RewardOutput:
    reward: float
    metadata: dict[str, Any] = field(default_factory=dict)
    is_correct: bool | None = None


@dataclass
class Action:
    action: Any = None
