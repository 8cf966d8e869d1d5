"""The reward manager `rewardline` of verl's reward loop. Samples arrive one by one, as their rollouts end.

    run_single ──► token ids ──Decoder──► text ──► item ──Hook.score_one──► numbers
                               one batch per turn of the event loop               one request per few milliseconds

The manager also knows the prompt and the number of tokens, which reward functions do not. The text holds all tokens of the
response, with calls and results of tools in the form of the model's template. An agent loop may leave messages instead, see
`samples`.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from verl.experimental.reward_loop.reward_manager import register
from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

from rewardline.verl.options import manager_options
from rewardline.verl.samples import item_of_row


@register("rewardline")
class RewardManager(RewardManagerBase):
    """Judges by a Rewardline server. Its options, under `reward.reward_kwargs`, are those of `rewardline.hook.Hook`.

    For a sample that cannot be judged, `run_single` raises, and verl drops that sample.
    """

    def __init__(
        self,
        config: Any,
        tokenizer: Any,
        compute_score: Any = None,
        reward_router_address: str | None = None,
        reward_model_tokenizer: Any = None,
    ) -> None:
        super().__init__(config, tokenizer, compute_score)
        _refuse_what_would_be_ignored(config.reward)
        self._hook, self._token_params = manager_options(config.reward.get("reward_kwargs") or {})
        self._decoder = Decoder(tokenizer)
        self._size = 1 if self._hook.group is None else _samples_of_a_prompt(config)

    async def run_single(self, data: Any) -> dict[str, Any]:
        """The reward as `reward_score`, and the other numbers as `reward_extra_info`.

        Raises:
            FailedItems, InvalidItems: As `rewardline.verl.compute_score`.
        """
        sample = data[-1:][0]  # a trajectory may have several sequences; the last one is judged
        token_ids = response_ids(sample)
        item = item_of_row(self._hook, await self._decoder.text(token_ids), sample.non_tensor_batch)
        item = self._token_params.add(item, token_ids)
        if uid := sample.non_tensor_batch.get("uid"):
            item = self._hook.member(item, str(uid), secrets.token_hex(8), self._size)
        numbers = self._hook.numbers(await self._hook.score_one(item))
        return {"reward_score": numbers["score"], "reward_extra_info": numbers}


class Decoder:
    """Decodes token ids on a thread. All samples of one turn of the event loop form one batch.

    So samples that arrive together stay together, and share a request.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._next: tuple[list[Any], asyncio.Task[list[str]]] | None = None

    async def text(self, token_ids: Any) -> str:
        if self._next is None:
            batch: list[Any] = []
            self._next = batch, asyncio.create_task(self._decode(batch))
        batch, task = self._next
        batch.append(token_ids)
        position = len(batch) - 1
        # The cancellation of another sample must not cancel this one.
        return (await asyncio.shield(task))[position]

    async def _decode(self, batch: list[Any]) -> list[str]:
        # This runs after all samples that were ready have joined the batch.
        self._next = None
        return await asyncio.get_running_loop().run_in_executor(None, self._texts, batch)

    def _texts(self, batch: Sequence[Any]) -> list[str]:
        return [str(self._tokenizer.decode(token_ids, skip_special_tokens=True)) for token_ids in batch]


def response_ids(sample: Any) -> Any:
    """The tokens of the response, without padding."""
    ids = sample.batch["responses"]
    length = sample.non_tensor_batch.get("response_len")
    if length is None:
        length = sample.batch["attention_mask"][-ids.shape[-1] :].sum()
    return ids[: int(length)]


def _samples_of_a_prompt(config: Any) -> int:
    """The size of groups. A sample does not say whether it is one of validation, so both must have as many."""
    rollout = config.actor_rollout_ref.rollout
    if rollout.n != rollout.val_kwargs.n:
        raise ValueError(
            f"group: a prompt has {rollout.n} samples in training and {rollout.val_kwargs.n} in validation; set "
            "actor_rollout_ref.rollout.val_kwargs.n to the same"
        )
    return int(rollout.n)


def _refuse_what_would_be_ignored(reward: Any) -> None:
    """Raise if verl would ignore options, and train on other rewards than the configured ones."""
    function: Mapping[str, Any] = reward.get("custom_reward_function") or {}
    if function.get("path"):
        raise ValueError("the manager 'rewardline' judges by itself: remove reward.custom_reward_function.path")
    if function.get("reward_kwargs"):
        raise ValueError("move the options of the manager 'rewardline' to reward.reward_kwargs")
    if (reward.get("reward_model") or {}).get("enable"):
        raise ValueError(
            "with reward.reward_model.enable, verl calls that model and never the manager 'rewardline'; disable one of them"
        )
