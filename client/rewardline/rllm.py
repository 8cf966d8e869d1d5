"""Rewards for rLLM: a function of its kind, `reward_function(task_info, action) -> RewardOutput`.

    from rewardline.rllm import reward
    workflow = ... reward_function=reward(verifier="math")

`action` is the model's text, an `Action` that holds it, or messages with their calls. rLLM knows no abstention: what cannot be
judged is asked for again until the deadline, half an hour unless told otherwise, and then is an exception, which its engine counts
as an episode that failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from rllm.rewards.reward_types import RewardOutput

from rewardline.hook import is_missing
from rewardline.messages import sendable
from rewardline.patience import certain, patient

_REFERENCES = ("reference", "ground_truth", "answer")
_PROMPTS = ("question", "problem", "prompt")


def reward(**options: Any) -> Callable[..., Any]:
    """A reward function by the options of a `Hook`.

    Raises:
        TypeError: there is no such option.
        ValueError: one of them can never work.
    """
    hook = patient("rLLM", **options)

    def score(task_info: Mapping[str, Any], action: Any, **_: Any) -> Any:
        reference = next((task_info[name] for name in _REFERENCES if not is_missing(task_info.get(name))), None)
        prompt = next((task_info[name] for name in _PROMPTS if task_info.get(name)), None)
        said = sendable(getattr(action, "action", action))
        result = hook.score_one_blocking(hook.item(said, reference=reference, prompt=prompt, row=task_info))
        numbers = hook.numbers(result)
        metadata = {"reason": result.reason, "extracted": result.extracted, **numbers}
        return RewardOutput(reward=certain(hook.reward(result)), is_correct=result.score == 1.0, metadata=metadata)

    return score
