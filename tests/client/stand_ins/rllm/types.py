"""The objects that are judged: an episode has trajectories, and a trajectory has steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Task:
    id: str
    instruction: Any
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class ToolCall:
    """A call as rLLM's parsers return it. If the arguments are not JSON, they stay text."""

    name: str
    arguments: dict[str, Any]
    arguments_raw: str | None = None


@dataclass
class ModelOutput:
    content: str = ""
    tool_calls: list[ToolCall] | None = None


@dataclass
class Step:
    """A step. The engine adds `chat_completions` later."""

    output: Any = None
    chat_completions: list[dict[str, Any]] = field(default_factory=list)
    model_output: ModelOutput | None = None


@dataclass
class Trajectory:
    name: str = "agent"
    steps: list[Step] = field(default_factory=list)
    output: Any = None


@dataclass
class Episode:
    trajectories: list[Trajectory] = field(default_factory=list)
    artifacts: dict[str, Any] = field(default_factory=dict)
