"""Rewards for ROLL's RLVR pipeline: `worker_cls: rewardline.roll.RewardWorker` for any domain.

    rewards:
      math_rule:
        worker_cls: rewardline.roll.RewardWorker
        model_args: {model_name_or_path: ${reward_pretrain}}
        tag_included: [deepmath_103k, aime]
        world_size: 8
        reward_manager_config: [{url: "http://verifier:8080", recipes: {aime: my_math, "*": roll.math_rule}}]

ROLL drops what its configuration has no field for; `reward_manager_config` arrives as it was written, and an option in it that
does not exist is an error. `system_envs` may hold REWARDLINE_URL and REWARDLINE_API_KEY.

An exception ends the run, and there is no abstention. What cannot be judged is asked for again until the deadline, half an
hour unless told otherwise, and then ends the run, or gets the number that `on_failed` names; a metric counts these.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from roll.distributed.executor.worker import Worker
from roll.distributed.scheduler.decorator import Dispatch, register
from roll.distributed.scheduler.protocol import DataProto
from roll.models.model_providers import default_tokenizer_provider

from rewardline.always_reward import waiting_hook
from rewardline.hook import LABELS, Hook, is_missing, plain
from rewardline.results import Result, Status

_ANY_TAG = "*"
_LARGEST = float(torch.finfo(torch.float16).max)
_BELOW_ONE = 1.0 - 2.0**-11
"""The half-precision number before 1."""


class RewardWorker(Worker):
    """Judges the samples of its domain.

    Its method is a coroutine, so that Ray lets the actor have a thousand calls at once; their samples travel together.
    """

    def __init__(self, worker_config: Any) -> None:
        super().__init__(worker_config=worker_config)
        self.rank_info.dp_rank = self.rank_info.rank
        self.rank_info.dp_size = self.rank_info.world_size
        self.tokenizer = default_tokenizer_provider(model_args=worker_config.model_args)
        self.hook, self.recipes = configured(worker_config)

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def initialize(self, pipeline_config: Any) -> None:
        """Nothing is opened before the first call."""

    @register(dispatch_mode=Dispatch.DP_MP_COMPUTE, clear_cache=False)
    async def compute_rewards(self, data: Any) -> Any:
        """The rewards of a batch, in order, in half precision.

        Raises:
            FailedItems, InvalidItems, OverflowError: there is no reward, or none that half precision holds.
        """
        items = self._items(data)
        results = list(await asyncio.gather(*map(self.hook.score_one, items)))
        output = DataProto.from_dict(tensors=tensors_of(self.hook, results, data.batch["responses"]))
        output.meta_info = {"metrics": metrics_of(results)}
        return output

    def _items(self, data: Any) -> list[dict[str, Any]]:
        responses = self._texts(data.batch["responses"])
        rows = rows_of(data.non_tensor_batch, len(responses))
        prompts = self._prompts(data, rows) if self.hook.send_prompt else [None] * len(rows)
        return [item_of(self.hook, self.recipes, *sample) for sample in zip(responses, prompts, rows)]

    def _prompts(self, data: Any, rows: Sequence[Mapping[str, Any]]) -> list[Any]:
        written = [_messages(row) for row in rows]
        if None not in written or "prompts" not in data.batch.keys():  # noqa: SIM118 - a TensorDict knows no `in`
            return written
        decoded = self._texts(data.batch["prompts"])
        return [text if known is None else known for known, text in zip(written, decoded)]

    def _texts(self, ids: Any) -> list[str]:
        return list(self.tokenizer.batch_decode(ids, skip_special_tokens=True)) if len(ids) else []


def configured(worker_config: Any) -> tuple[Hook, Mapping[str, str]]:
    """The hook of a worker, and the recipe by tag, of which "*" is for all others.

    Raises:
        ValueError, TypeError: an option that does not exist, or cannot be.
    """
    options: dict[str, Any] = {}
    for given in getattr(worker_config, "reward_manager_config", None) or ():
        options.update(plain(given))
    recipes = options.pop("recipes", None) or {}
    hook = waiting_hook("ROLL", **options)
    if recipes and (hook.verifier, hook.recipe, hook.checks) != (None, None, None):
        raise ValueError("recipes by tag, or one verifier, recipe or checks for all, not both")
    return hook, recipes


def rows_of(columns: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """The samples' columns, one mapping each."""
    return [{name: values[index] for name, values in columns.items()} for index in range(count)]


def item_of(
    hook: Hook, recipes: Mapping[str, str], response: str, prompt: Any, row: Mapping[str, Any]
) -> dict[str, Any]:
    """One sample as the server takes it.

    Raises:
        ValueError: the recipes by tag have none for this one.
    """
    item = hook.item(response, prompt=prompt, row=row)
    if recipes:
        tag = row.get("tag")
        recipe = recipes.get(str(tag), recipes.get(_ANY_TAG))
        if recipe is None:
            raise ValueError(f"no recipe for the tag {tag!r} in {sorted(recipes)}; '*' is for all others")
        item["recipe"] = recipe
        for label in LABELS:
            item.pop(label, None)
    return item


def tensors_of(hook: Hook, results: Sequence[Result], responses: Any) -> dict[str, Any]:
    """What ROLL asks of a worker: `response_level_rewards` are trained on; that a score is 1 is what validation counts.

    Raises:
        FailedItems, InvalidItems, OverflowError
    """
    hook.rewards(results)
    numbers = [hook.numbers(result) for result in results]
    return {
        "token_level_rewards": torch.zeros_like(responses, dtype=torch.float16),
        "response_level_rewards": torch.tensor([_held(each["score"]) for each in numbers], dtype=torch.float16),
        "scores": torch.tensor([_apart_from_one(each["acc"]) for each in numbers], dtype=torch.float16),
    }


def metrics_of(results: Sequence[Result]) -> dict[str, float]:
    """Shares of a batch."""
    count = len(results) or 1
    return {
        "rewardline/failed": sum(result.status is Status.FAILED for result in results) / count,
        "rewardline/invalid": sum(result.status is Status.INVALID for result in results) / count,
        "rewardline/cached": sum(result.cached for result in results) / count,
    }


def _held(reward: float) -> float:
    if abs(reward) > _LARGEST:
        raise OverflowError(f"a reward of {reward:g} is infinite in half precision; the recipe should clip it")
    return reward


def _apart_from_one(score: float) -> float:
    """Half precision would round 0.9998 to a right answer."""
    return min(score, _BELOW_ONE) if score < 1.0 else score


def _messages(row: Mapping[str, Any]) -> Any:
    """The prompt as the data set has it; None where it has none."""
    for name in ("messages", "prompt"):
        value = plain(row.get(name))
        if is_missing(value):
            continue
        if isinstance(value, str) and value.lstrip().startswith("["):
            try:
                value = json.loads(value)
            except ValueError:
                return value
        return value
    return None
