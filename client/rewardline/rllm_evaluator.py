"""Rewards for rLLM's agent flows: an evaluator, `evaluate(task, episode) -> EvalOutput`, for its trainer and `rllm eval`.

    AgentTrainer(agent_flow=agent, evaluator=evaluator(verifier="math"), ...)
    evaluate = evaluator(verifier="math")  # in a benchmark's tests/evaluate.py

    episode ──last step of the last trajectory──► its messages ──those after the prompt──► judged whole
       └──no messages──► the answer that the flow gave

rLLM knows no abstention: what cannot be judged is asked for again until the deadline, half an hour unless told otherwise, and then
is an exception. Its engine plays the task anew a few times, and ends the run when each of them fails. Of an exception of a
benchmark's own `evaluate` rLLM makes 0.0; called as that function, an evaluator raises what is no `Exception`, and ends the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rllm.eval.types import EvalOutput, Signal

from rewardline.always_reward import Unjudged, never_none, waiting_hook
from rewardline.hook import Hook
from rewardline.messages import sendable
from rewardline.rllm import prompt_of, reference_of


def evaluator(*, trajectory: str | None = None, **options: Any) -> Evaluator:
    """An evaluator by the options of a `Hook`.

    Args:
        trajectory: The name of the agent whose trajectory is judged; default: whichever is the last.
        options: Those of `Hook`.

    Raises:
        TypeError: there is no such option.
        ValueError: one of them can never work.
    """
    return Evaluator(waiting_hook("rLLM", **options), trajectory)


@dataclass(frozen=True)
class Evaluator:
    """What rLLM calls, by its method or as a function; its signals are the hook's numbers."""

    hook: Hook
    trajectory: str | None = None

    def __call__(self, task: Any, episode: Any) -> Any:
        """As `evaluate`, for code that makes 0.0 of any `Exception`.

        Raises:
            Unjudged: there is no reward.
        """
        try:
            return self.evaluate(task, episode)
        except Exception as error:
            raise Unjudged(f"{type(error).__name__}: {error}") from error

    def evaluate(self, task: Any, episode: Any) -> Any:
        """Judge an episode.

        Args:
            task: A row, as rLLM's trainer has it, or its `Task`, whose metadata are the row.
            episode: What the agents did.

        Raises:
            FailedItems, InvalidItems: there is no reward.
            ValueError: no trajectory has the name that was asked for.
        """
        row = task if isinstance(task, Mapping) else task.metadata
        prompt, said = self._parts(episode)
        item = self.hook.item(
            said,
            reference=reference_of(row),
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
        """What the judged agent was told at first, and what came of it."""
        trajectories = [each for each in episode.trajectories if self.trajectory in (None, each.name)]
        if self.trajectory is not None and not trajectories:
            names = [each.name for each in episode.trajectories]
            raise ValueError(f"no trajectory is named {self.trajectory!r}; there are {names}")
        steps = trajectories[-1].steps if trajectories else []
        chat = _chat(steps)
        if not chat:
            return [], _answer(episode, trajectories[-1:], steps)
        start = _start(_messages(steps[0]), chat)
        return chat[:start], chat[start:]


def _chat(steps: Sequence[Any]) -> list[Any]:
    """All messages of the last step. A workflow's step has the calls of its answer beside them, in the model's output."""
    if not steps:
        return []
    chat = _messages(steps[-1])
    calls = getattr(getattr(steps[-1], "model_output", None), "tool_calls", None)
    if chat and calls and chat[-1].get("role") == "assistant" and not chat[-1].get("tool_calls"):
        chat[-1] = {**chat[-1], "tool_calls": [_plain(call) for call in calls]}
    return chat


def _messages(step: Any) -> list[Any]:
    """A step's messages; the types of `rllm.types` have none before the engine adds them."""
    return [sendable(_plain(message)) for message in getattr(step, "chat_completions", None) or ()]


def _plain(value: Any) -> Any:
    """With rLLM's own calls as chat has them: the arguments as the model wrote them, where these were kept."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if hasattr(value, "name") and hasattr(value, "arguments"):
        written = getattr(value, "arguments_raw", None)
        return {"type": "function", "function": {"name": value.name, "arguments": written or value.arguments}}
    return str(value) if hasattr(value, "to_string") else value


def _start(first: Sequence[Any], chat: Sequence[Any]) -> int:
    """Where the prompt ends: before the first step's answer, or where that is another conversation, before any answer."""
    told = len(first) - 1
    if first and list(first[:told]) == list(chat[:told]):
        return told
    return next((place for place, message in enumerate(chat) if message.get("role") == "assistant"), len(chat))


def _answer(episode: Any, trajectories: Sequence[Any], steps: Sequence[Any]) -> Any:
    """The text that stands for an episode without messages: the flow's answer, else the last output."""
    outputs = [getattr(each, "output", None) for each in (*trajectories, *reversed(steps))]
    found = [getattr(episode, "artifacts", {}).get("answer"), *outputs]
    return sendable(next((each for each in found if each not in (None, "")), ""))
