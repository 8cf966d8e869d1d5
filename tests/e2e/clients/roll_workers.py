"""Our worker for ROLL on real tensors, with a stand-in for ROLL itself, called as ROLL's scheduler calls workers.

It prints the result of each batch.
"""

import asyncio
import inspect
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import yaml
from rewardline import Result, Status
from rewardline.hook import Hook
from rewardline.roll import RewardWorker, tensors_of
from roll.distributed.scheduler.protocol import DataProto
from tiny_tokenizer import tiny

EXAMPLES = Path(__file__).parents[3] / "client" / "examples"
URL, NOWHERE = sys.argv[1], "http://127.0.0.1:9"
RIGHT, WRONG = "so \\boxed{4}<|im_end|>", "so \\boxed{5}<|im_end|>"
TOKENIZER = tiny()


@dataclass
class RewardConfig:
    """A stand-in for ROLL's class, with the fields that a worker reads."""

    reward_manager_config: list[dict[str, Any]] = field(default_factory=list)
    model_args: Any = field(default_factory=lambda: SimpleNamespace(model_name_or_path="tiny"))


def batch(texts: list[str], **columns: list[Any]) -> DataProto:
    tensors = {"responses": ids_of(texts), "prompts": ids_of(["2+2="] * len(texts))}
    columns = {"ground_truth": ["4"] * len(texts), "tag": ["deepmath_103k"] * len(texts), **columns}
    arrays = {name: np.array(values, dtype=object) for name, values in columns.items()}
    return DataProto.from_dict(tensors=tensors, non_tensors=arrays)


def ids_of(texts: list[str]) -> Any:
    """Token ids padded on the right, as responses are."""
    if not texts:
        return torch.zeros((0, 8), dtype=torch.long)
    shape = {"add_special_tokens": False, "padding": True, "padding_side": "right", "return_tensors": "pt"}
    return TOKENIZER(texts, **shape)["input_ids"]


def worker(*options: dict[str, Any]) -> Any:
    made = RewardWorker(RewardConfig(list(options)))
    made.initialize(None)
    return made


async def judged(data: DataProto, *options: dict[str, Any]) -> Any:
    try:
        output = await worker(*options).compute_rewards(data)
    except Exception as error:  # noqa: BLE001 - told by its name, as the trainer takes any
        return type(error).__name__
    tensors = {name: output.batch[name] for name in ("token_level_rewards", "response_level_rewards", "scores")}
    kinds = {str(tensor.dtype) for tensor in tensors.values()}
    shape = list(tensors["token_level_rewards"].shape) == list(data.batch["responses"].shape)
    numbers = {name: tensors[name].tolist() for name in ("response_level_rewards", "scores")}
    is_zero = not tensors["token_level_rewards"].any().item()
    return {**numbers, "kinds": sorted(kinds), "shape": shape and is_zero, "metrics": output.meta_info["metrics"]}


async def together(made: Any) -> list[float]:
    """Many calls of one sample at once, as an actor with a coroutine method gets them."""
    batches = [batch([RIGHT if number % 2 else WRONG]) for number in range(128)]
    outputs = await asyncio.gather(*map(made.compute_rewards, batches))
    return [output.batch["scores"].item() for output in outputs]


def held(score: float, reward: float) -> Any:
    result = Result("0", Status.OK, score, reward, "partial")
    try:
        tensors = tensors_of(Hook(), [result], torch.zeros((1, 2)))
    except OverflowError as error:
        return type(error).__name__
    return [tensors["scores"].item() == 1.0, tensors["response_level_rewards"].item()]


async def main() -> None:
    ours = {"url": URL, "verifier": "math"}
    routed = {"url": URL}
    by_tag = {"url": URL, "recipes": {"aime": "slime.dapo", "*": "roll.math_rule"}}
    lost = {"url": NOWHERE, "verifier": "math", "deadline_s": 0.3}
    written = json.dumps([{"role": "user", "content": "2+2="}])
    rows: dict[str, list[Any]] = {
        "messages": [written, written],
        "difficulty": [np.float64("nan"), 3],
        "id": ["a", "b"],
    }
    voting = {**ours, "group": {"method": "majority", "size": 4}}
    votes = [batch([text], prompt=["2+2="]) for text in (WRONG, WRONG, RIGHT, WRONG)]
    method = RewardWorker.compute_rewards
    examples = yaml.safe_load((EXAMPLES / "roll" / "rlvr_config.yaml").read_text())["rewards"]
    answers = {
        "example": [await judged(batch([RIGHT]), *examples["math_rule"]["reward_manager_config"])],
        "code_example": [
            await judged(batch([RIGHT], tag=["KodCode"]), *examples["code_sandbox"]["reward_manager_config"])
        ],
        "method": [inspect.iscoroutinefunction(method), method.dispatched["dispatch_mode"].name],
        "ranks": [worker(ours).rank_info.dp_rank, worker(ours).rank_info.dp_size],
        "judged": await judged(batch([RIGHT, WRONG], **rows), ours),
        "marked": await judged(batch(["4[fin]", "44[fin]"]), {"url": URL, "verifier": "exact_match"}),
        "routed": await judged(batch([RIGHT, WRONG]), routed),
        "by_tag": await judged(batch([RIGHT, "Answer: 5"], tag=["deepmath_103k", "aime"]), by_tag),
        "no_tag": await judged(batch([RIGHT], tag=["other"]), {"url": URL, "recipes": {"aime": "roll.math_rule"}}),
        "empty": await judged(batch([]), ours),
        "lost": await judged(batch([RIGHT]), lost),
        "filled": await judged(batch([RIGHT, WRONG]), lost, {"on_failed": -1}),
        "invalid": await judged(batch([RIGHT], ground_truth=[None]), ours),
        "unknown_option": await judged(batch([RIGHT]), {"url": URL, "recipee": "roll.math_rule"}),
        "abstain": await judged(batch([RIGHT]), {"url": URL, "on_failed": "abstain"}),
        "both": await judged(batch([RIGHT]), {**by_tag, "verifier": "math"}),
        "together": await together(worker(ours)),
        "votes": [
            output["scores"][0] for output in await asyncio.gather(*(judged(sample, voting) for sample in votes))
        ],
        "held": [held(1.0, 0.7), held(0.9999, 0.9999), held(0.5, 1e6)],
    }
    print(json.dumps(answers))


asyncio.run(main())
