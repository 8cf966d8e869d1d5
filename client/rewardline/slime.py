"""Rewards for slime: `--custom-rm-path rewardline.slime.custom_rm`, for single samples and with `--group-rm`.

    sample ──judged──► a number, or with --reward-key the dict of numbers
       └──not judged──► remove_sample, and a number that stands for none

A removed sample is not trained on, but its number would still count in the mean of its group. So with `--group-rm` it is
the mean of the others, and `--custom-reward-post-process-path rewardline.slime.post_process_rewards` normalises each group
without it, either way. In evaluation there is no group and nothing to be removed from: there, what could not be judged is an
exception, unless `on_failed` is a number. slime refuses `--group-rm` together with evaluation: with evaluation, leave it out;
samples that come one by one travel together anyhow.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Callable, Union

from rewardline.hook import Hook, plain
from rewardline.results import Result
from rewardline.special_tokens import without_ending

Reward = Union[float, dict[str, float]]
_CENTRED = ("grpo", "gspo", "cispo", "reinforce_plus_plus_baseline")
_SCALED = ("grpo", "gspo", "cispo")
"""What slime's own normalisation does by `--advantage-estimator`."""
_EPSILON = 1e-6


def reward(**options: Any) -> Callable[..., Any]:
    """A function for `--custom-rm-path`, judging by the options of a `Hook`.

    `on_failed` is by default "abstain": the sample is removed. "raise" ends the run; a number is a reward as any other.
    """
    hook = _hook(**options)

    async def custom_rm(args: Any, samples: Any, **_: Any) -> Reward | list[Reward]:
        return await _rewards(hook, args, samples)

    return custom_rm


async def custom_rm(args: Any, samples: Any, **_: Any) -> Reward | list[Reward]:
    """As `reward`, with the options under `rewardline` in the file of `--custom-config-path`.

    Without verifier or recipe, `--rm-type` and a sample's `metadata["rm_type"]` name the recipe `slime.<rm_type>`, and
    where there is none, the labels in `metadata` route the sample.
    """
    options = getattr(args, "rewardline", None) or {}
    return await _rewards(_hook_of(json.dumps(plain(options), sort_keys=True)), args, samples)


def post_process_rewards(args: Any, samples: Sequence[Any]) -> tuple[list[float], list[float]]:
    """The rewards as they are, and normalised as slime does, each group by those of its samples that were judged."""
    flat = [each for one in samples for each in (one if isinstance(one, (list, tuple)) else (one,))]
    raw = [float(sample.get_reward_value(args)) for sample in flat]
    estimator = getattr(args, "advantage_estimator", "")
    if estimator not in _CENTRED or not getattr(args, "rewards_normalization", True):
        return raw, raw
    is_scaled = estimator in _SCALED and getattr(args, "grpo_std_normalization", True)
    normalised = [0.0] * len(flat)
    for members in _groups(args, flat):
        judged = [index for index in members if not flat[index].remove_sample]
        for index, value in zip(judged, _normalised([raw[index] for index in judged], is_scaled)):
            normalised[index] = value
    return raw, normalised


def _hook(**options: Any) -> Hook:
    return Hook(**{"on_failed": "abstain", **options})


@functools.lru_cache(maxsize=None)
def _hook_of(options: str) -> Hook:
    return _hook(**json.loads(options))


async def _rewards(hook: Hook, args: Any, samples: Any) -> Reward | list[Reward]:
    is_group = isinstance(samples, (list, tuple))
    group = samples if is_group else [samples]
    items = [_item(hook, args, sample) for sample in group]
    results = await hook.score(items) if is_group else [await hook.score_one(items[0])]
    rewards = _valued(hook, args, group, results)
    return rewards if is_group else rewards[0]


def _valued(hook: Hook, args: Any, samples: Sequence[Any], results: Sequence[Result]) -> list[Reward]:
    """Mark the samples without reward as removed, and give them the mean of the others."""
    if any(getattr(sample, "group_index", None) is None for sample in samples):
        hook = _instead(hook, "raise")
    known = hook.rewards(results)
    judged = [value for value in known if value is not None]
    stand_in = sum(judged) / len(judged) if judged else 0.0
    for sample, value in zip(samples, known):
        if value is None:
            sample.remove_sample = True
    if not getattr(args, "reward_key", None):
        return [stand_in if value is None else value for value in known]
    numbers = _instead(hook, stand_in).numbers
    return [numbers(result) for result in results]


def _instead(hook: Hook, missing: Any) -> Hook:
    """The hook with this in place of abstaining."""
    changed: dict[str, Any] = {
        name: missing for name in ("on_failed", "on_invalid") if getattr(hook, name) == "abstain"
    }
    return replace(hook, **changed)


def _item(hook: Hook, args: Any, sample: Any) -> dict[str, Any]:
    metadata = sample.metadata if isinstance(sample.metadata, Mapping) else {}
    item = hook.item(without_ending(sample.response or ""), reference=sample.label, prompt=sample.prompt, row=metadata)
    kind = str(metadata.get("rm_type") or getattr(args, "rm_type", None) or "").strip()
    if kind not in ("", "remote_rm") and hook.verifier is None and hook.recipe is None and hook.checks is None:
        item["recipe"] = f"slime.{kind}"
        item.update(_as_slime_reads(kind, metadata))
    return item


def _as_slime_reads(kind: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What two of slime's rewards take from the metadata rather than from the label."""
    if kind.endswith("ifbench"):
        return {"reference": plain({name: metadata.get(name) for name in ("instruction_id_list", "kwargs")})}
    named = {"choices": metadata.get("choices"), "letters": metadata.get("valid_letters")}
    params = {name: plain(value) for name, value in named.items() if value is not None}
    return {"params": params} if kind.endswith("gpqa") and params else {}


def _groups(args: Any, samples: Sequence[Any]) -> list[list[int]]:
    """The positions of each prompt's samples."""
    size = int(getattr(args, "n_samples_per_prompt", 0) or len(samples) or 1)
    groups: dict[Any, list[int]] = {}
    for position, sample in enumerate(samples):
        index = getattr(sample, "group_index", None)
        groups.setdefault(("at", position // size) if index is None else index, []).append(position)
    return list(groups.values())


def _normalised(values: Sequence[float], is_scaled: bool) -> list[float]:
    if not values:
        return []
    mean = sum(values) / len(values)
    centred = [value - mean for value in values]
    if not is_scaled or len(values) < 2:
        return centred
    deviation = (sum(value * value for value in centred) / (len(values) - 1)) ** 0.5
    return [value / (deviation + _EPSILON) for value in centred]
