"""The reward manager `rewardline` for trainers that pass a whole batch: verl up to 0.6, and its forks."""

from __future__ import annotations

from typing import Any

import torch
from verl.workers.reward_manager import register
from verl.workers.reward_manager.abstract import AbstractRewardManager

from rewardline.verl.options import manager_options
from rewardline.verl.samples import item_of_row


@register("rewardline")
class LegacyRewardManager(AbstractRewardManager):
    """Judges a batch in one call of a Rewardline server. Its options, under `reward_model.reward_kwargs`, are those of
    `rewardline.hook.Hook`.
    """

    def __init__(
        self,
        tokenizer: Any,
        num_examine: int = 0,
        compute_score: Any = None,
        reward_fn_key: str = "data_source",
        **options: Any,
    ) -> None:
        """Ignore `num_examine` and `compute_score`: the manager prints nothing, and the server judges."""
        self._tokenizer = tokenizer
        self._reward_fn_key = reward_fn_key
        self._hook, self._token_params = manager_options(options)

    def __call__(self, data: Any, return_dict: bool = False) -> Any:
        """The rewards, each at the last token of its response. `return_dict` adds the other numbers.

        Raises:
            FailedItems, InvalidItems: They name all such samples by their positions.
        """
        model_rewards = self._extract_reward_from_rm_scores(data, return_dict)
        if model_rewards is not None:
            return model_rewards
        ids = _response_ids(data)
        results = self._hook.score_blocking([self._item(data[at], token_ids) for at, token_ids in enumerate(ids)])
        self._hook.rewards(results)
        numbers = [self._hook.numbers(result) for result in results]
        rewards = torch.zeros_like(data.batch["responses"], dtype=torch.float32)
        for at, token_ids in enumerate(ids):
            rewards[at, len(token_ids) - 1] = numbers[at]["score"]
        if not return_dict:
            return rewards
        columns = {name: [row[name] for row in numbers] for name in (numbers[0] if numbers else ())}
        return {"reward_tensor": rewards, "reward_extra_info": columns}

    def _item(self, sample: Any, token_ids: Any) -> dict[str, Any]:
        text = str(self._tokenizer.decode(token_ids, skip_special_tokens=True))
        item = item_of_row(self._hook, text, sample.non_tensor_batch, self._reward_fn_key)
        return self._token_params.add(item, token_ids)


def _response_ids(data: Any) -> list[Any]:
    """The tokens of each response, without padding."""
    responses = data.batch["responses"]
    lengths = data.batch["attention_mask"][:, data.batch["prompts"].shape[-1] :].sum(dim=-1)
    return [ids[: int(length)] for ids, length in zip(responses, lengths)]
