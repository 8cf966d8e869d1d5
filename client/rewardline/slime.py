"""Rewards for slime: `--custom-rm-path rewardline.slime.custom_rm`, for single samples and with `--group-rm`.

    sample ──judged──► a number, or with --reward-key the dict of numbers
       └──not judged──► remove_sample, and a number in place of the reward

slime does not train on a removed sample, but counts its number in the mean of its group. So with `--group-rm` the number is
the mean of the others. With and without it, `--custom-reward-post-process-path rewardline.slime.post_process_rewards`
normalises each group without the removed samples. Evaluation has no groups and removes nothing: there a sample that could not
be judged raises, unless `on_failed` is a number. With the option `group`, such as `{"method": "majority"}`, the server rewards
the samples of a prompt together, whether slime passes them one by one or with `--group-rm`. slime refuses `--group-rm` together with evaluation. Leave it out then:
single samples share requests, too.
"""

from __future__ import annotations

import functools
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Callable, Union

from rewardline.hook import PROCESS, Hook, plain
from rewardline.results import Result
from rewardline.special_tokens import without_ending

Reward = Union[float, dict[str, float]]
_CENTRED = ("grpo", "gspo", "cispo", "reinforce_plus_plus_baseline")
_SCALED = ("grpo", "gspo", "cispo")
"""The values of `--advantage-estimator` for which slime centres rewards, and for which it also scales them."""
_EPSILON = 1e-6


def reward(**options: Any) -> Callable[..., Any]:
    """Make a function for `--custom-rm-path` by the options of a `Hook`.

    `on_failed` is "abstain" by default, which removes the sample. "raise" ends the run. A number is used as the reward.
    """
    hook = _hook(**options)

    async def custom_rm(args: Any, samples: Any, **_: Any) -> Reward | list[Reward]:
        return await _rewards(hook, args, samples)

    return custom_rm


async def custom_rm(args: Any, samples: Any, **_: Any) -> Reward | list[Reward]:
    """Judge samples by the options under `rewardline` in the file of `--custom-config-path`.

    Without verifier or recipe, the recipe is `slime.<rm_type>`; the type is a sample's `metadata["rm_type"]`, else that of
    `--rm-type`. Without a type, the server routes the sample by the labels in `metadata`.
    """
    options = getattr(args, "rewardline", None) or {}
    return await _rewards(_hook_of(json.dumps(plain(options), sort_keys=True)), args, samples)


def post_process_rewards(args: Any, samples: Sequence[Any]) -> tuple[list[float], list[float]]:
    """The raw rewards, and the advantages: rewards normalised as slime does, each group by its judged samples."""
    flat = [member for group in samples for member in (group if isinstance(group, (list, tuple)) else (group,))]
    raw = [float(sample.get_reward_value(args)) for sample in flat]
    estimator = getattr(args, "advantage_estimator", "")
    if estimator not in _CENTRED or not getattr(args, "rewards_normalization", True):
        return raw, raw
    is_scaled = estimator in _SCALED and getattr(args, "grpo_std_normalization", True)
    normalised = [0.0] * len(flat)
    for members in _groups(args, flat):
        judged = [index for index in members if not flat[index].remove_sample]
        for index, value in zip(judged, _advantages([raw[index] for index in judged], is_scaled)):
            normalised[index] = value
    return raw, normalised


def _hook(**options: Any) -> Hook:
    return Hook.of({"on_failed": "abstain", **options})


@functools.lru_cache(maxsize=None)
def _hook_of(options: str) -> Hook:
    return _hook(**json.loads(options))


async def _rewards(hook: Hook, args: Any, samples: Any) -> Reward | list[Reward]:
    is_group = isinstance(samples, (list, tuple))
    group = samples if is_group else [samples]
    if any(getattr(sample, "group_index", None) is None for sample in group):  # evaluation has no groups
        if (method := (hook.group or {}).get("method")) in ("tournament", "listwise"):
            message = f"group: samples of an evaluation are in no group, and a {method} compares those of one"
            raise ValueError(f"{message}: name another function for it, by the data set's custom_rm_path")
        hook = replace(hook, group=None)
    is_whole = is_group and len(group) == int(getattr(args, "n_samples_per_prompt", 0))
    call = f"{secrets.token_hex(6)}/" if is_whole else ""  # a rollout may be begun anew
    items = [_item(hook, args, sample, call) for sample in group]
    results = await hook.score(items) if is_group else [await hook.score_one(items[0])]
    rewards = _rewards_of(hook, args, group, results)
    return rewards if is_group else rewards[0]


def _rewards_of(hook: Hook, args: Any, samples: Sequence[Any], results: Sequence[Result]) -> list[Reward]:
    """Mark samples without reward as removed, and give them the mean of the others."""
    if any(getattr(sample, "group_index", None) is None for sample in samples):
        hook = _with_missing(hook, "raise")
    rewards = hook.rewards(results)
    judged = [value for value in rewards if value is not None]
    stand_in = sum(judged) / len(judged) if judged else 0.0
    for sample, value in zip(samples, rewards):
        if value is None:
            sample.remove_sample = True
    if not getattr(args, "reward_key", None):
        return [stand_in if value is None else value for value in rewards]
    numbers = _with_missing(hook, stand_in).numbers
    return [numbers(result) for result in results]


def _with_missing(hook: Hook, missing: Any) -> Hook:
    """The hook, with `missing` in place of "abstain"."""
    changed: dict[str, Any] = {
        name: missing for name in ("on_failed", "on_invalid") if getattr(hook, name) == "abstain"
    }
    return replace(hook, **changed)


def _item(hook: Hook, args: Any, sample: Any, call: str) -> dict[str, Any]:
    metadata = sample.metadata if isinstance(sample.metadata, Mapping) else {}
    item = hook.item(without_ending(sample.response or ""), reference=sample.label, prompt=sample.prompt, row=metadata)
    kind = str(metadata.get("rm_type") or getattr(args, "rm_type", None) or "").strip()
    if kind not in ("", "remote_rm") and hook.verifier is None and hook.recipe is None and hook.checks is None:
        item["recipe"] = f"slime.{kind}"
        item.update(_metadata_fields(kind, metadata))
    if hook.group is None:
        return item
    name = f"{PROCESS}/{call}{sample.group_index}"
    return hook.member(item, name, str(sample.index), int(args.n_samples_per_prompt))


def _metadata_fields(kind: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that two of slime's rewards read from the metadata instead of the label."""
    if kind.endswith("ifbench"):
        return {"reference": plain({name: metadata.get(name) for name in ("instruction_id_list", "kwargs")})}
    options = {"choices": metadata.get("choices"), "letters": metadata.get("valid_letters")}
    params = {name: plain(value) for name, value in options.items() if value is not None}
    return {"params": params} if kind.endswith("gpqa") and params else {}


def _groups(args: Any, samples: Sequence[Any]) -> list[list[int]]:
    """The positions of the samples of each prompt."""
    size = int(getattr(args, "n_samples_per_prompt", 0) or len(samples) or 1)
    groups: dict[Any, list[int]] = {}
    for position, sample in enumerate(samples):
        index = getattr(sample, "group_index", None)
        groups.setdefault(("at", position // size) if index is None else index, []).append(position)
    return list(groups.values())


def _advantages(values: Sequence[float], is_scaled: bool) -> list[float]:
    if not values:
        return []
    mean = sum(values) / len(values)
    centred = [value - mean for value in values]
    if not is_scaled or len(values) < 2:
        return centred
    deviation = (sum(value * value for value in centred) / (len(values) - 1)) ** 0.5
    return [value / (deviation + _EPSILON) for value in centred]
