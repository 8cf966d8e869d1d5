"""Rewards for rLLM's agent flows: an evaluator, `evaluate(task, episode) -> EvalOutput`, for its trainer and `rllm eval`.

    AgentTrainer(agent_flow=agent, evaluator=evaluator(verifier="math"), ...)
    evaluate = evaluator(verifier="math")  # in a benchmark's tests/evaluate.py

    episode ──last step of the last trajectory──► its messages ──those after the prompt──► judged whole
       └──no messages──► the answer that the flow gave

rLLM knows no abstention, so the hook waits (`rewardline.always_reward`), and then raises. rLLM's engine plays the task again a few
times, and ends the run if each attempt fails. But rLLM turns an exception of a benchmark's own `evaluate` into 0.0. An evaluator
that is called as that function therefore raises `Unjudged`, which is not an `Exception` and ends the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rllm.eval.types import EvalOutput, Signal

from rewardline.always_reward import Unjudged, never_none, waiting_hook
from rewardline.columns import REFERENCES, first_value
from rewardline.hook import Hook
from rewardline.messages import sendable
from rewardline.rllm import prompt_of


def evaluator(*, trajectory: str | None = None, **options: Any) -> Evaluator:
    """Make an evaluator by the options of a `Hook`.

    Args:
        trajectory: The name of an agent. Its trajectory is judged. Default: the last trajectory.
        options: The options of a `Hook`.

    Raises:
        TypeError: There is no such option.
        ValueError: An option can never work.
    """
    return Evaluator(waiting_hook("rLLM", **options), trajectory)


@dataclass(frozen=True)
class Evaluator:
    """An evaluator, which rLLM calls by its method or as a function. Its signals are the hook's numbers."""

    hook: Hook
    trajectory: str | None = None

    def __call__(self, task: Any, episode: Any) -> Any:
        """As `evaluate`, for code that turns any `Exception` into 0.0.

        Raises:
            Unjudged: There is no reward.
        """
        try:
            return self.evaluate(task, episode)
        except Exception as error:
            raise Unjudged(f"{type(error).__name__}: {error}") from error

    def evaluate(self, task: Any, episode: Any) -> Any:
        """Judge an episode.

        Args:
            task: A row from rLLM's trainer, or a `Task` with the row as its metadata.
            episode: The trajectories of the agents.

        Raises:
            FailedItems, InvalidItems: There is no reward.
            ValueError: No trajectory has the given name.
        """
        row = task if isinstance(task, Mapping) else task.metadata
        prompt, response = self._parts(episode)
        item = self.hook.item(
            response,
            reference=first_value(row, REFERENCES),
            prompt=prompt or prompt_of(row) or sendable(getattr(task, "instruction", None)),
            row=row,
        )
        result = self.hook.score_one_blocking(item)
        why = {"reason": result.reason, "extracted": result.extracted}
        return EvalOutput(
            reward=never_none(self.hook.reward(result)),
            is_correct=result.score == 1.0,
            signals=[Signal(name, value, metadata=why) for name, value in self.hook.numbers(result).items()],
        )

    def _parts(self, episode: Any) -> tuple[list[Any], Any]:
        """The prompt of the judged agent, and its response."""
        trajectories = [trajectory for trajectory in episode.trajectories if self.trajectory in (None, trajectory.name)]
        if self.trajectory is not None and not trajectories:
            names = [trajectory.name for trajectory in episode.trajectories]
            raise ValueError(f"no trajectory is named {self.trajectory!r}; there are {names}")
        steps = trajectories[-1].steps if trajectories else []
        chat = _chat(steps)
        if not chat:
            return [], _answer(episode, trajectories[-1:], steps)
        start = _start(_messages(steps[0]), chat)
        return chat[:start], chat[start:]


def _chat(steps: Sequence[Any]) -> list[Any]:
    """All messages of the last step. A workflow keeps the calls of the last answer apart, in the model's output."""
    if not steps:
        return []
    chat = _messages(steps[-1])
    calls = getattr(getattr(steps[-1], "model_output", None), "tool_calls", None)
    if chat and calls and chat[-1].get("role") == "assistant" and not chat[-1].get("tool_calls"):
        chat[-1] = {**chat[-1], "tool_calls": [_plain(call) for call in calls]}
    return chat


def _messages(step: Any) -> list[Any]:
    """The messages of a step. A step of `rllm.types` has none until the engine adds them."""
    return [sendable(_plain(message)) for message in getattr(step, "chat_completions", None) or ()]


def _plain(value: Any) -> Any:
    """Translate rLLM's own calls to those of chat, with the arguments as the model wrote them, if rLLM kept these."""
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(member) for member in value]
    if hasattr(value, "name") and hasattr(value, "arguments"):
        raw_arguments = getattr(value, "arguments_raw", None)
        return {"type": "function", "function": {"name": value.name, "arguments": raw_arguments or value.arguments}}
    return str(value) if hasattr(value, "to_string") else value


def _start(first: Sequence[Any], chat: Sequence[Any]) -> int:
    """The position where the prompt ends: before the first step's answer; in another conversation, before any answer."""
    prompt_size = len(first) - 1
    if first and list(first[:prompt_size]) == list(chat[:prompt_size]):
        return prompt_size
    return next((position for position, message in enumerate(chat) if message.get("role") == "assistant"), len(chat))


def _answer(episode: Any, trajectories: Sequence[Any], steps: Sequence[Any]) -> Any:
    """The response of an episode without messages: the flow's answer, else the last output."""
    outputs = [getattr(candidate, "output", None) for candidate in (*trajectories, *reversed(steps))]
    candidates = [getattr(episode, "artifacts", {}).get("answer"), *outputs]
    return sendable(next((candidate for candidate in candidates if candidate not in (None, "")), ""))
