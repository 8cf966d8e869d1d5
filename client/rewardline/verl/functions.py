"""Reward functions for verl, in the form of each of its managers.

    naive, dapo, gdpo (0.7 and later)      compute_score            a coroutine per sample; these share requests
    batch (legacy)                         compute_score_batch      one call for the batch
    naive, dapo (legacy)                   compute_score_sync       one blocking call after the other
    prime (legacy)                         compute_score_prime      in its pool of processes

All take the options of `rewardline.hook.Hook` as `reward_kwargs`. Without verifier, recipe and checks, the server routes a
sample by its `data_source`. Every sample gets the same keys, since verl uses those of the first sample for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewardline.verl.samples import hook_of, item_of

_FROM_VERL = ("reward_router_address", "reward_model_tokenizer")
"""Arguments that verl adds if a reward model runs, too."""
_PRIME_DEADLINE_S = 240.0
"""The manager `prime` stops waiting after 300 s."""


class NoVerdict(BaseException):
    """There is no reward. Not an `Exception`: verl's manager `prime` turns each of those into a reward of 0."""


async def compute_score(
    data_source: Any = None, solution_str: str = "", ground_truth: Any = None, extra_info: Any = None, **options: Any
) -> dict[str, float]:
    """The reward of one sample and the numbers beside it, see `Hook.numbers`.

    Raises:
        FailedItems: The sample could not be judged within the deadline. verl drops it, or stops.
        InvalidItems: The sample cannot be judged until the data set is mended.
    """
    hook = hook_of(_ours(options))
    item = item_of(hook, solution_str, data_source=data_source, ground_truth=ground_truth, extra_info=extra_info)
    return hook.numbers(await hook.score_one(item))


def compute_score_sync(
    data_source: Any = None, solution_str: str = "", ground_truth: Any = None, extra_info: Any = None, **options: Any
) -> dict[str, float]:
    """As `compute_score`, without an event loop."""
    hook = hook_of(_ours(options))
    item = item_of(hook, solution_str, data_source=data_source, ground_truth=ground_truth, extra_info=extra_info)
    return hook.numbers(hook.score_one_blocking(item))


def compute_score_batch(
    data_sources: Sequence[Any],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Any] | None = None,
    **options: Any,
) -> list[dict[str, float]]:
    """As `compute_score`, for a batch in one call; `scores[i]` belongs to `solution_strs[i]`.

    Raises:
        FailedItems, InvalidItems: As `compute_score`. They name all such samples.
    """
    hook = hook_of(_ours(options))
    extras = [None] * len(solution_strs) if extra_infos is None else extra_infos
    lengths = [len(data_sources), len(solution_strs), len(ground_truths), len(extras)]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"data_sources, solution_strs, ground_truths and extra_infos have different lengths: {lengths}"
        )
    results = hook.score_blocking(
        [
            item_of(hook, response, data_source=source, ground_truth=truth, extra_info=extra)
            for source, response, truth, extra in zip(data_sources, solution_strs, ground_truths, extras)
        ]
    )
    hook.rewards(results)
    return [hook.numbers(result) for result in results]


def compute_score_prime(
    data_source: Any, solution_str: str, ground_truth: Any, extra_info: Any = None, **options: Any
) -> float:
    """As `compute_score_sync`, but returns only the reward, for the manager `prime`.

    Raises:
        NoVerdict: There is no reward. This stops the run.
    """
    options.setdefault("deadline_s", _PRIME_DEADLINE_S)
    try:
        return compute_score_sync(data_source, solution_str, ground_truth, extra_info, **options)["score"]
    except Exception as error:
        raise NoVerdict(f"{type(error).__name__}: {error}") from error


def _ours(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in _FROM_VERL}
