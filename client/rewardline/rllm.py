"""Rewards for rLLM: a function of its kind, `reward_function(task_info, action) -> RewardOutput`.

    from rewardline.rllm import reward
    workflow = ... reward_function=reward(verifier="math")

`action` is the model's text, an `Action` that holds it, or messages with their calls. rLLM judges agent flows by their episodes;
use `rewardline.rllm_evaluator` there. rLLM knows no abstention, so the hook waits (`rewardline.always_reward`), and then raises;
rLLM's engine counts that as a failed episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from rllm.rewards.reward_types import RewardOutput

from rewardline.always_reward import never_none, waiting_hook
from rewardline.columns import REFERENCES, first_value
from rewardline.messages import sendable

_PROMPTS = ("question", "problem", "prompt")


def reward(**options: Any) -> Callable[..., Any]:
    """Make a reward function by the options of a `Hook`.

    Raises:
        TypeError: There is no such option.
        ValueError: An option can never work.
    """
    hook = waiting_hook("rLLM", **options)

    def score(task_info: Mapping[str, Any], action: Any, **_: Any) -> Any:
        response = sendable(getattr(action, "action", action))
        item = hook.item(
            response, reference=first_value(task_info, REFERENCES), prompt=prompt_of(task_info), row=task_info
        )
        result = hook.score_one_blocking(item)
        numbers = hook.numbers(result)
        metadata = {"reason": result.reason, "extracted": result.extracted, **numbers}
        return RewardOutput(reward=never_none(hook.reward(result)), is_correct=result.score == 1.0, metadata=metadata)

    return score


def prompt_of(row: Mapping[str, Any]) -> Any:
    """The question of a task."""
    return next((row[name] for name in _PROMPTS if row.get(name)), None)
