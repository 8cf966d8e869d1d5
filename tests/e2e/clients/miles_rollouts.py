"""miles's own rollouts, rewards of groups and evaluation, with our functions and a policy that gives fixed answers.

It prints the rewards.
"""

import asyncio
import json
import sys
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from miles.rollout.base_types import GenerateFnInput, GenerateFnOutput
from miles.rollout.inference_rollout.inference_rollout_common import generate_and_rm, generate_and_rm_group
from miles.rollout.inference_rollout.inference_rollout_eval import eval_rollout_single_dataset
from miles.utils.eval_config import EvalDatasetConfig
from miles.utils.misc import load_function
from miles.utils.types import Sample

URL = sys.argv[1]
EXAMPLE = Path(__file__).parents[3] / "client" / "examples" / "miles" / "rewardline.yaml"
NOWHERE = "http://127.0.0.1:9"
RIGHT, WRONG = "<think>2+2</think>\\boxed{4}<|im_end|>", "<think>2+2</think>\\boxed{5}<|im_end|>"
CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>'
CALLING = (
    f"{CALL}<|im_end|>\n<|im_start|>user\n<tool_response>\n4\n</tool_response><|im_end|>\n<|im_start|>assistant\nDone."
)
WANTED = json.dumps([{"name": "add", "arguments": {"a": 2}}])


def arguments(rewardline: dict[str, Any] | None = None, **given: Any) -> Namespace:
    """The arguments that miles's rollouts read, with miles's defaults."""
    known = {
        "custom_rm_path": "rewardline.miles.custom_rm",
        "rm_type": None,
        "reward_key": None,
        "group_rm": False,
        "partial_rollout": False,
        "mask_offpolicy_in_partial_rollout": False,
        "eval_reward_key": None,
        "advantage_estimator": "grpo",
        "rewards_normalization": True,
        "grpo_std_normalization": True,
        "n_samples_per_prompt": 2,
        "rollout_stop": None,
        "rollout_stop_token_ids": None,
        "hf_checkpoint": "",
        "apply_chat_template": False,
        "chat_template_path": None,
        "rollout_skip_special_tokens": False,
    }
    return Namespace(**{**known, "rewardline": {"url": URL, **(rewardline or {})}, **given})


async def policy(given: GenerateFnInput) -> GenerateFnOutput:
    """A policy that gives the answer in the sample's metadata."""
    given.sample.response = given.sample.metadata["says"]
    given.sample.status = Sample.Status.COMPLETED
    return GenerateFnOutput(samples=given.sample)


def state(args: Namespace) -> Any:
    return SimpleNamespace(
        args=args, generate_fn_semaphore=asyncio.Semaphore(64), aborted=False, generate_function=policy
    )


def sample(says: str, label: str | None, place: int = 0, group: int | None = 0, **metadata: Any) -> Sample:
    return Sample(group_index=group, index=place, prompt="2+2=", label=label, metadata={"says": says, **metadata})


async def one(args: Namespace, given: Sample) -> Any:
    """The reward of one sample, and whether it was removed. For an exception: its name."""
    try:
        found = await generate_and_rm(state(args), given, {})
    except Exception as error:  # noqa: BLE001 - which one is what is printed
        return type(error).__name__
    return [found.reward, found.remove_sample]


async def group(args: Namespace, *given: Sample) -> Any:
    """The rewards of a group as miles trains on them: unchanged, and normalised by our function."""
    found = await generate_and_rm_group(state(args), list(given), {})
    return load_function("rewardline.miles.post_process_rewards")(args, found)


async def evaluated(args: Namespace, *given: Sample) -> Any:
    """The rewards of an evaluation. For an exception: its name and its message."""
    data_set = EvalDatasetConfig(name="sums", path="sums.jsonl", n_samples_per_eval_prompt=2, max_response_len=16)
    cache = {(*data_set.cache_key, args.hf_checkpoint, False, None): SimpleNamespace(samples=list(given))}
    try:
        return (await eval_rollout_single_dataset(state(args), data_set, cache))["sums"]["rewards"]
    except Exception as error:  # noqa: BLE001 - which one is what is printed
        return [type(error).__name__, str(error)]


async def main() -> None:
    math, lost = {"verifier": "math"}, {"verifier": "math", "url": NOWHERE, "deadline_s": 0.2}
    example = yaml.safe_load(EXAMPLE.read_text())["rewardline"]
    results = {
        "right": await one(arguments(math), sample(RIGHT, "4")),
        "wrong": await one(arguments(math), sample(WRONG, "4")),
        "by_type": await one(arguments(), sample("Answer: 5", "4", rm_type="dapo")),
        "keyed": await one(arguments(math, reward_key="score"), sample(RIGHT, "4")),
        "called": await one(arguments({"verifier": "tool_call"}), sample(CALLING, WANTED)),
        "called_in_vain": await one(arguments({"verifier": "tool_call"}), sample(CALLING, "[]")),
        "lost": await one(arguments(lost), sample(RIGHT, "4")),
        "invalid": await one(arguments(math), sample(RIGHT, None)),
        "groups": [
            await group(arguments(math, group_rm=is_group), sample(RIGHT, "4", 0), sample(WRONG, "4", 1))
            for is_group in (True, False)
        ],
        "evaluated": await evaluated(arguments(math), sample(RIGHT, "4", group=None), sample(WRONG, "4", group=None)),
        "evaluated_in_groups": await evaluated(arguments(math, group_rm=True), sample(RIGHT, "4", group=None)),
        "evaluated_lost": await evaluated(arguments(lost), sample(RIGHT, "4", group=None)),
        "example": await one(arguments(example), sample(RIGHT, "4")),
    }
    print(json.dumps(results))


asyncio.run(main())
