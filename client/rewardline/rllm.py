"""Rewards for rLLM: a function of its kind, `reward_function(task_info, action) -> RewardOutput`.

    from rewardline.rllm import reward
    workflow = ... reward_function=reward(verifier="math")

`action` is the model's text, an `Action` that holds it, or messages with their calls. For agent flows, which rLLM judges by their
episodes, there is `rewardline.rllm_evaluator`. rLLM knows no abstention: what cannot be
judged is asked for again until the deadline, half an hour unless told otherwise, and then is an exception, which its engine counts
as an episode that failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from rllm.rewards.reward_types import RewardOutput

from rewardline.always_reward import never_none, waiting_hook
from rewardline.hook import is_missing
from rewardline.messages import sendable

_REFERENCES = ("reference", "ground_truth", "answer")
_PROMPTS = ("question", "problem", "prompt")


def reward(**options: Any) -> Callable[..., Any]:
    """A reward function by the options of a `Hook`.

    Raises:
        TypeError: there is no such option.
        ValueError: one of them can never work.
    """
    hook = waiting_hook("rLLM", **options)

    def score(task_info: Mapping[str, Any], action: Any, **_: Any) -> Any:
        said = sendable(getattr(action, "action", action))
        item = hook.item(said, reference=reference_of(task_info), prompt=prompt_of(task_info), row=task_info)
        result = hook.score_one_blocking(item)
        numbers = hook.numbers(result)
        metadata = {"reason": result.reason, "extracted": result.extracted, **numbers}
        return RewardOutput(reward=never_none(hook.reward(result)), is_correct=result.score == 1.0, metadata=metadata)

    return score


def reference_of(row: Mapping[str, Any]) -> Any:
    """What a task is judged against."""
    return next((row[name] for name in _REFERENCES if not is_missing(row.get(name))), None)


def prompt_of(row: Mapping[str, Any]) -> Any:
    """What a task asks."""
    return next((row[name] for name in _PROMPTS if row.get(name)), None)
