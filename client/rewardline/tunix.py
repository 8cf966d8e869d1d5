"""Rewards for google-tunix: `GRPOLearner(..., reward_fns=[reward(verifier="math")])`.

tunix adds up the rewards of all functions and knows no abstention. What cannot be judged is asked for again until the deadline,
half an hour unless told otherwise, and then is an exception, which ends the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

from rewardline.columns import reference_of, rows_of
from rewardline.hook import plain
from rewardline.messages import sendable
from rewardline.patience import certain, patient

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
    hook = patient("tunix", **options)

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
        return [certain(value) for value in hook.rewards(results)]

    score.__name__ = name
    return score
