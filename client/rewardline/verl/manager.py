"""The reward manager `rewardline` of verl's reward loop, where samples arrive one by one as their rollouts end.

    run_single ──► token ids ──Decoder──► text ──► item ──Hook.score_one──► numbers
                               those of one turn of the event loop together       those of a few milliseconds together

Beside what reward functions see it knows the prompt, and the number of tokens. The text is all that the response's tokens say, calls
and results of tools too, in the words of the model's own template; an agent loop may leave messages instead, see `samples`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from verl.experimental.reward_loop.reward_manager import register
from verl.experimental.reward_loop.reward_manager.base import RewardManagerBase

from rewardline.verl.options import manager_options
from rewardline.verl.samples import item_of, said


@register("rewardline")
class RewardManager(RewardManagerBase):
    """Judges by a Rewardline server. Its options are those of `rewardline.hook.Hook`, under `reward.reward_kwargs`.

    A sample that cannot be judged raises in `run_single`, by which verl drops that sample.
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

    async def run_single(self, data: Any) -> dict[str, Any]:
        """`reward_score`, and the numbers beside it as `reward_extra_info`.

        Raises:
            FailedItems, InvalidItems: see `rewardline.verl.compute_score`.
        """
        sample = data[-1:][0]  # of a trajectory in several sequences, the last one is judged
        row = sample.non_tensor_batch
        token_ids = response_ids(sample)
        item = item_of(
            self._hook,
            said(await self._decoder.text(token_ids), row, row.get("tool_extra_fields")),
            data_source=row.get("data_source"),
            ground_truth=(row.get("reward_model") or {}).get("ground_truth"),
            extra_info=row.get("extra_info"),
            prompt=row.get("raw_prompt"),
            item_id=_text(row.get("uid")),
        )
        numbers = self._hook.numbers(await self._hook.score_one(self._token_params.add(item, token_ids)))
        return {"reward_score": numbers["score"], "reward_extra_info": numbers}


class Decoder:
    """Token ids to text, on a thread; what is asked for in one turn of the event loop is decoded at once.

    So samples that arrive together stay together, and travel in one request.
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
        # Another sample's cancellation is not this one's.
        return (await asyncio.shield(task))[position]

    async def _decode(self, batch: list[Any]) -> list[str]:
        # It runs once all that were ready to ask have asked.
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


def _refuse_what_would_be_ignored(reward: Any) -> None:
    """Raise rather than train on rewards other than those that were configured."""
    function: Mapping[str, Any] = reward.get("custom_reward_function") or {}
    if function.get("path"):
        raise ValueError("the manager 'rewardline' judges by itself: remove reward.custom_reward_function.path")
    if function.get("reward_kwargs"):
        raise ValueError("the options of the manager 'rewardline' stand under reward.reward_kwargs")
    if (reward.get("reward_model") or {}).get("enable"):
        raise ValueError("with reward.reward_model.enable, verl asks that model and never the manager 'rewardline'")


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
