"""slime's own rollouts with our functions and a policy that gives fixed answers: samples that are rewarded one by one, and
with `--group-rm`. slime publishes no wheel: its checkout is on the path.

It prints the rewards as slime trains on them, unchanged and normalised, and what an evaluation gets.
"""

import asyncio
import json
import sys
from argparse import Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from slime.rollout.sglang_rollout import eval_rollout_single_dataset, generate_and_rm_group
from slime.utils.eval_config import EvalDatasetConfig
from slime.utils.misc import load_function
from slime.utils.types import Sample
from tiny_tokenizer import tiny

URL = sys.argv[1]
TEXTS = (r"\boxed{1/2}", r"\boxed{3}", r"\boxed{0.5}", "nothing")
MAJORITY = {"verifier": "math", "group": {"method": "majority"}}


async def policy(args: Any, sample: Sample, sampling_params: Any) -> Sample:
    """A policy that gives the answer in the sample's metadata."""
    sample.response = sample.metadata["says"]
    sample.status = Sample.Status.COMPLETED
    return sample


def arguments(folder: str, rewardline: dict[str, Any], **given: Any) -> Namespace:
    """The arguments that slime's rollouts read, with slime's defaults."""
    absent = ("rm_type", "reward_key", "eval_reward_key", "rollout_stop", "rollout_stop_token_ids", "multimodal_keys")
    off = ("group_rm", "partial_rollout", "mask_offpolicy_in_partial_rollout", "apply_chat_template")
    one = ("rollout_temperature", "rollout_top_p", "rollout_num_gpus", "rollout_num_gpus_per_engine", "sglang_dp_size")
    known = {
        **dict.fromkeys((*absent, "apply_chat_template_kwargs", "eval_max_prompt_len")),
        **dict.fromkeys((*off, "rollout_skip_special_tokens"), False),
        **dict.fromkeys((*one, "rewards_normalization", "grpo_std_normalization"), 1),
        "custom_rm_path": "rewardline.slime.custom_rm",
        "custom_generate_function_path": "__main__.policy",
        "hf_checkpoint": folder,
        "n_samples_per_prompt": 4,
        "advantage_estimator": "grpo",
        "rollout_top_k": -1,
        "rollout_max_response_len": 16,
        "sglang_server_concurrency": 64,
    }
    return Namespace(**{**known, "rewardline": {"url": URL, **rewardline}, **given})


async def group(args: Namespace, index: int, texts: tuple[str, ...] = TEXTS) -> Any:
    samples = [
        Sample(group_index=index, index=at, prompt="2+2=", metadata={"says": text}) for at, text in enumerate(texts)
    ]
    rewarded = await generate_and_rm_group(args, samples, {})
    return load_function("rewardline.slime.post_process_rewards")(args, rewarded)


async def evaluated(args: Namespace) -> Any:
    """The rewards of an evaluation. For an exception: its name and its message."""
    keys = {"input_key": "input", "label_key": "label", "metadata_key": "metadata"}
    path = f"{args.hf_checkpoint}/sums.jsonl"
    data_set = EvalDatasetConfig(name="sums", path=path, n_samples_per_eval_prompt=1, **keys)
    try:
        return (await eval_rollout_single_dataset(args, 0, data_set))["sums"]["rewards"]
    except Exception as error:  # noqa: BLE001 - which one is what is printed
        return [type(error).__name__, str(error)]


def write(folder: str) -> None:
    """A tokenizer, and rows to evaluate."""
    tiny().save_pretrained(folder)
    Path(folder, "config.json").write_text('{"model_type": "gpt2"}')
    rows = ({"input": "2+2=", "label": label, "metadata": {"says": TEXTS[1]}} for label in "34")
    Path(folder, "sums.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


async def main(folder: str) -> None:
    voting, together = (arguments(folder, MAJORITY, group_rm=is_whole) for is_whole in (False, True))
    results = {
        "groups": [await group(voting, 1), await group(together, 1)],
        "again": (await group(together, 1, (*TEXTS[1:], TEXTS[1])))[0],
        "evaluated": await evaluated(voting),
        "ranked": await evaluated(arguments(folder, {"verifier": "judge", "group": {"method": "tournament"}})),
    }
    print(json.dumps(results))


with TemporaryDirectory() as made:
    write(made)
    asyncio.run(main(made))
