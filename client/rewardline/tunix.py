"""Rewards for google-tunix: `GRPOLearner(..., reward_fns=[reward(verifier="math")])`.

tunix adds up the rewards of all functions and knows no abstention. What cannot be judged is asked for again until the deadline,
half an hour unless told otherwise, and then is an exception, which ends the step.

tunix's command line takes the functions that are defined in a module it is told of, and one made there by `reward` is such:

    # rewards.py, for `reward_functions: ["rewards.py"]`
    from rewardline.tunix import reward
    math = reward(verifier="math")

Its agentic learner gives reward functions the first message of an episode alone. There the environment judges, by
`task_reward`, or by `rewardline.tunix_environment` with all that was called; and `trajectory` hands its rewards on.
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
"""The column that tunix's examples have the answer in."""


def reward(
    *, name: str = "rewardline", reference: str | None = REFERENCE, **options: Any
) -> Callable[..., list[float]]:
    """A function for `reward_fns`, by the options of a `Hook`.

    Args:
        name: By which tunix logs it.
        reference: The column to judge against; None for rewards that need none.
        options: Those of `Hook`.

    Raises:
        TypeError: there is no such option.
        ValueError: one of them can never work.
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
    """A `reward_fn` for tunix's environments, which give it a task and the last thing that the model said.

    Args:
        reference: The task's field to judge against; None for rewards that need none.
        options: Those of `Hook`.
    """
    hook = waiting_hook("tunix", **options)

    def score(task: Mapping[str, Any], action: Any) -> float:
        return judged(hook, action, task, reference)

    return score


def trajectory(
    prompts: Sequence[Any], completions: Sequence[Any], trajectory_rewards: Sequence[float], **_: Any
) -> list[float]:
    """For `reward_fns` of tunix's agentic learner: what the environment made of each episode."""
    return [float(value) for value in trajectory_rewards]


def judged(hook: Hook, response: Any, task: Mapping[str, Any], reference: str | None) -> float:
    """The reward of text or messages for a task, whose fields are those of a row.

    Raises:
        FailedItems, InvalidItems: there is no reward.
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
    """Make of a function one that the calling module defined: tunix's command line finds no other."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = sys._getframe(2).f_globals.get("__name__", function.__module__)
