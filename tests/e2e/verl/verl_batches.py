"""Helpers of the scripts beside this file: verl's own configuration, and batches as its rollouts make them."""

import os
import re
import urllib.request
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import verl
from hydra import compose, initialize_config_dir
from tensordict import TensorDict
from verl import DataProto

NOWHERE = "http://127.0.0.1:9"
"""Nothing listens on the port `discard`."""

Row = dict[str, Any]


def config_of(tokenizer: str, *overrides: str) -> Any:
    """The trainer's own configuration, as its command line makes it."""
    folder = os.path.join(os.path.dirname(verl.__file__), "trainer", "config")
    with initialize_config_dir(folder, version_base=None):
        return compose("ppo_trainer", [f"actor_rollout_ref.model.path={tokenizer}", *overrides])


def row(response: str, truth: Any, source: str = "openai/gsm8k", **more: Any) -> Row:
    return {"response": response, "ground_truth": truth, "data_source": source, **more}


def batch_of(tokenizer: Any, rows: Sequence[Row]) -> DataProto:
    """Left-padded prompts, right-padded responses, and the columns of a data set, as rollouts make them."""
    prompts = [tokenizer(each.get("prompt", "How much?"), add_special_tokens=False)["input_ids"] for each in rows]
    answers = [tokenizer(f"{each['response']}<|im_end|>", add_special_tokens=False)["input_ids"] for each in rows]
    before, behind = max(map(len, prompts)), max(map(len, answers)) + 3
    pad = tokenizer.pad_token_id
    left = torch.tensor([[pad] * (before - len(ids)) + ids for ids in prompts])
    right = torch.tensor([ids + [pad] * (behind - len(ids)) for ids in answers])
    mask = torch.tensor(
        [
            [0] * (before - len(prompt)) + [1] * (len(prompt) + len(answer)) + [0] * (behind - len(answer))
            for prompt, answer in zip(prompts, answers, strict=True)
        ]
    )
    tensors = {"prompts": left, "responses": right, "attention_mask": mask, "input_ids": torch.cat([left, right], 1)}
    columns = {
        "data_source": [each["data_source"] for each in rows],
        "reward_model": [{"style": "rule", "ground_truth": each["ground_truth"]} for each in rows],
        "extra_info": [dict(each.get("extra_info", {})) for each in rows],
        "raw_prompt": [np.array([{"role": "user", "content": each.get("prompt", "How much?")}]) for each in rows],
        "uid": [f"group-{at // 4}" for at in range(len(rows))],
        "__num_turns__": [2] * len(rows),
        "tool_extra_fields": [{"turn_scores": [], "tool_rewards": [], **each.get("left", {})} for each in rows],
    }
    return DataProto(TensorDict(tensors, len(rows)), {name: objects(values) for name, values in columns.items()})


def objects(values: Sequence[Any]) -> Any:
    array: Any = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def requests_to(url: str) -> int:
    """The number of scoring requests that the server has answered."""
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        text = answer.read().decode()
    found = re.findall(r'^rewardline_requests_total\{.*method="/v1/score".*\} (\S+)$', text, re.MULTILINE)
    return sum(int(float(each)) for each in found)
