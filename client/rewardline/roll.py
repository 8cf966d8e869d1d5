"""Rewards for ROLL's RLVR pipeline: `worker_cls: rewardline.roll.RewardWorker` for any domain.

    rewards:
      math_rule:
        worker_cls: rewardline.roll.RewardWorker
        model_args: {model_name_or_path: ${reward_pretrain}}
        tag_included: [deepmath_103k, aime]
        world_size: 8
        reward_manager_config: [{url: "http://verifier:8080", recipes: {aime: my_math, "*": roll.math_rule}}]

ROLL drops the fields that its configuration does not know, but passes `reward_manager_config` on unchanged. An unknown option in
it is an error. `system_envs` may hold REWARDLINE_URL, REWARDLINE_API_KEY and REWARDLINE_RUN_ID.

ROLL knows no abstention, and ends the run at an exception. The hook waits (`rewardline.always_reward`). A sample that cannot be
judged even so ends the run, or gets the number of `on_failed`; a metric counts these.
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
_MAX = float(torch.finfo(torch.float16).max)
_BELOW_ONE = 1.0 - 2.0**-11
"""The largest half-precision number below 1."""


class RewardWorker(Worker):
    """Judges the samples of its domain.

    Its method is a coroutine, so that Ray lets the actor have a thousand calls at once. Their samples share requests.
    """

    def __init__(self, worker_config: Any) -> None:
        super().__init__(worker_config=worker_config)
        self.rank_info.dp_rank = self.rank_info.rank
        self.rank_info.dp_size = self.rank_info.world_size
        self.tokenizer = default_tokenizer_provider(model_args=worker_config.model_args)
        self.hook, self.recipes = configured(worker_config)

    @register(dispatch_mode=Dispatch.ONE_TO_ALL)
    def initialize(self, pipeline_config: Any) -> None:
        """Do nothing: the first call opens the connections."""

    @register(dispatch_mode=Dispatch.DP_MP_COMPUTE, clear_cache=False)
    async def compute_rewards(self, data: Any) -> Any:
        """The rewards of a batch, in order, in half precision.

        Raises:
            FailedItems, InvalidItems: There is no reward.
            OverflowError: Half precision cannot hold a reward.
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
        chats = [_messages(row) for row in rows]
        if None not in chats or "prompts" not in data.batch.keys():  # noqa: SIM118 - a TensorDict knows no `in`
            return chats
        decoded = self._texts(data.batch["prompts"])
        return [text if chat is None else chat for chat, text in zip(chats, decoded)]

    def _texts(self, ids: Any) -> list[str]:
        return list(self.tokenizer.batch_decode(ids, skip_special_tokens=True)) if len(ids) else []


def configured(worker_config: Any) -> tuple[Hook, Mapping[str, str]]:
    """The hook of a worker, and the recipe for each tag; that of "*" is for all other tags.

    Raises:
        ValueError, TypeError: An option does not exist, or can never work.
    """
    options: dict[str, Any] = {}
    for tag_options in getattr(worker_config, "reward_manager_config", None) or ():
        options.update(plain(tag_options))
    recipes = options.pop("recipes", None) or {}
    hook = waiting_hook("ROLL", **options)
    if recipes and (hook.verifier, hook.recipe, hook.checks) != (None, None, None):
        raise ValueError("give recipes by tag, or one verifier, recipe or checks for all, not both")
    return hook, recipes


def rows_of(columns: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """One row for each sample."""
    return [{name: values[index] for name, values in columns.items()} for index in range(count)]


def item_of(
    hook: Hook, recipes: Mapping[str, str], response: str, prompt: Any, row: Mapping[str, Any]
) -> dict[str, Any]:
    """Make the item of one sample.

    Raises:
        ValueError: There is no recipe for the tag of this sample.
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
    """The tensors that ROLL takes from a worker. It trains on `response_level_rewards`; validation counts `scores` of 1.

    Raises:
        FailedItems, InvalidItems: There is no reward.
        OverflowError: Half precision cannot hold a reward.
    """
    hook.rewards(results)
    numbers = [hook.numbers(result) for result in results]
    return {
        "token_level_rewards": torch.zeros_like(responses, dtype=torch.float16),
        "response_level_rewards": torch.tensor([_in_range(row["score"]) for row in numbers], dtype=torch.float16),
        "scores": torch.tensor([_below_one(row["acc"]) for row in numbers], dtype=torch.float16),
    }


def metrics_of(results: Sequence[Result]) -> dict[str, float]:
    """The shares of failed, invalid and cached results."""
    count = len(results) or 1
    return {
        "rewardline/failed": sum(result.status is Status.FAILED for result in results) / count,
        "rewardline/invalid": sum(result.status is Status.INVALID for result in results) / count,
        "rewardline/cached": sum(result.cached for result in results) / count,
    }


def _in_range(reward: float) -> float:
    if abs(reward) > _MAX:
        raise OverflowError(f"a reward of {reward:g} is infinite in half precision; the recipe should clip it")
    return reward


def _below_one(score: float) -> float:
    """A score below 1 stays below 1: half precision would round 0.9998 to 1."""
    return min(score, _BELOW_ONE) if score < 1.0 else score


def _messages(row: Mapping[str, Any]) -> Any:
    """The prompt of the data set; None if it has none."""
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
