"""Rewards for google-tunix: `GRPOLearner(..., reward_fns=[reward(verifier="math")])`.

tunix adds up the rewards of all functions, and knows no abstention. So the hook waits (`rewardline.always_reward`), and then
raises, which ends the step.

tunix's command line takes the functions that a module defines. A function that `reward` makes there counts as such:

    # rewards.py, for `reward_functions: ["rewards.py"]`
    from rewardline.tunix import reward
    math = reward(verifier="math")

Its agentic learner gives reward functions only the first message of an episode. So the environment judges instead: by
`task_reward` the last message, by `rewardline.tunix_environment` the whole episode with its calls. `trajectory` then passes
these rewards to the learner.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Callable

from rewardline.always_reward import never_none, waiting_hook
from rewardline.columns import reference_of, rows_of
from rewardline.hook import Hook, plain
from rewardline.messages import sendable

REFERENCE = "answer"
"""The column where tunix's examples have the answer."""


def reward(
    *, name: str = "rewardline", reference: str | None = REFERENCE, **options: Any
) -> Callable[..., list[float]]:
    """Make a function for `reward_fns`.

    Args:
        name: The name in tunix's logs.
        reference: The column of the reference; None for rewards without one.
        options: The options of a `Hook`.

    Raises:
        TypeError: There is no such option.
        ValueError: An option can never work.
    """
    hook = waiting_hook("tunix", **options)

    def score(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float]:
        rows = rows_of(columns, len(completions))
        items = [
            hook.item(
                sendable(plain(completion)),
                reference=reference_of(row, reference),
                prompt=sendable(plain(prompt)),
                row=row,
            )
            for prompt, completion, row in zip(prompts, completions, rows)
        ]
        results = hook.score_blocking(items) if items else []
        return [never_none(value) for value in hook.rewards(results)]

    _define_by_caller(score, name)
    return score


def task_reward(*, reference: str | None = REFERENCE, **options: Any) -> Callable[..., float]:
    """Make a `reward_fn` for tunix's environments, which call it with a task and the model's last message.

    Args:
        reference: The task's field of the reference; None for rewards without one.
        options: The options of a `Hook`.
    """
    hook = waiting_hook("tunix", **options)

    def score(task: Mapping[str, Any], action: Any) -> float:
        return reward_of(hook, action, task, reference)

    return score


def trajectory(
    prompts: Sequence[Any], completions: Sequence[Any], trajectory_rewards: Sequence[float], **_: Any
) -> list[float]:
    """The function for `reward_fns` of tunix's agentic learner: it returns the rewards that the environment gave."""
    return [float(value) for value in trajectory_rewards]


def reward_of(hook: Hook, response: Any, task: Mapping[str, Any], reference: str | None) -> float:
    """The reward of text or messages for a task, which has the fields of a row.

    Raises:
        FailedItems, InvalidItems: There is no reward.
    """
    prompt = next((task[name] for name in ("prompt", "question", "prompts") if name in task), None)
    item = hook.item(
        sendable(plain(response)),
        reference=reference_of(task, reference),
        prompt=sendable(plain(prompt)),
        row=task,
    )
    return never_none(hook.reward(hook.score_one_blocking(item)))


def _define_by_caller(function: Any, name: str) -> None:
    """Make a function look as if the calling module defined it: tunix's command line finds only such functions."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = sys._getframe(2).f_globals.get("__name__", function.__module__)
