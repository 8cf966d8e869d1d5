"""A tiny model learns to add by rewards of a Rewardline server alone, on a CPU, within a minute.

    rewardline serve &
    pip install rewardline "trl>=1.10" matplotlib
    python sums.py --url http://127.0.0.1:8080 --out sums

It writes `sums.json` (the mean reward of every step, and the share of all sums that are right at the first attempt, before
and after training) and `sums.png`. The model starts untrained and never sees a solved sum. At first it is right by chance, about
one time in thirty; it learns the rest from its rewards.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

from rewardline.hook import Hook
from rewardline.trl import reward_func

LONGEST = 2
"""Tokens of an answer: one or two digits."""
GROUP = 16
"""The number of answers to each sum; training reinforces the better ones."""


def make_tokenizer() -> PreTrainedTokenizerFast:
    """One token per character."""
    words = ["<pad>", "<eos>", *"0123456789+="]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=words[0]))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    fast_tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokenizer, padding_side="left")
    fast_tokenizer.add_special_tokens({"pad_token": words[0], "eos_token": words[1]})
    return fast_tokenizer


def make_model(tokenizer: PreTrainedTokenizerFast) -> Qwen2ForCausalLM:
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=256,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=32,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )


def make_rows(largest: int) -> list[dict[str, str]]:
    """All sums of two numbers up to this one."""
    numbers = range(largest + 1)
    return [{"prompt": f"{a}+{b}=", "solution": str(a + b)} for a in numbers for b in numbers]


def share_right(
    model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, rows: list[dict[str, str]], hook: Hook
) -> float:
    """The share of sums that the model gets right with its likeliest digits, by the server's verdicts."""
    encoded = tokenizer([row["prompt"] for row in rows], return_tensors="pt", padding=True)
    encoded.pop("token_type_ids", None)
    model.eval()
    with torch.no_grad():
        ids = model.generate(**encoded, max_new_tokens=LONGEST, do_sample=False)
    answers = tokenizer.batch_decode(ids[:, encoded["input_ids"].shape[1] :], skip_special_tokens=True)
    items = [hook.item(answer, reference=row["solution"]) for answer, row in zip(answers, rows)]
    rewards = hook.rewards(hook.score_blocking(items))
    return sum(reward or 0.0 for reward in rewards) / len(rewards)


def learn(
    model: Qwen2ForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    rows: list[dict[str, str]],
    arguments: argparse.Namespace,
    folder: str,
) -> list[dict[str, Any]]:
    """Train by rewards, and return TRL's log of each step."""
    config = GRPOConfig(
        output_dir=folder,
        max_steps=arguments.steps,
        per_device_train_batch_size=arguments.prompts * GROUP,
        num_generations=GROUP,
        max_completion_length=LONGEST,
        learning_rate=arguments.learning_rate,
        lr_scheduler_type="constant",
        temperature=1.0,
        beta=0.0,
        scale_rewards="group",
        loss_type="dr_grpo",
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        disable_tqdm=True,
        seed=arguments.seed,
    )
    trainer = GRPOTrainer(
        model,
        reward_funcs=reward_func(arguments.verifier, url=arguments.url),
        args=config,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    trainer.train()
    return [entry for entry in trainer.state.log_history if "reward" in entry]


def plot(report: dict[str, Any], path: Path) -> None:
    import matplotlib  # noqa: PLC0415 - a slow import, needed only at the end

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415 - after the choice of the backend

    rewards = report["rewards"]
    width = max(1, len(rewards) // 20)
    smooth = [
        sum(rewards[max(0, at - width) : at + 1]) / len(rewards[max(0, at - width) : at + 1])
        for at in range(len(rewards))
    ]
    figure, axes = pyplot.subplots(figsize=(7, 3.6))
    axes.plot(rewards, color="tab:blue", alpha=0.25, linewidth=0.8, label="mean reward of a step")
    axes.plot(smooth, color="tab:blue", label=f"mean of {width + 1} steps")
    axes.plot(
        [0, len(rewards) - 1], [report["before"], report["after"]], "o", color="tab:orange", label="all sums, greedy"
    )
    axes.set(xlabel="step", ylabel="share of sums that are right", ylim=(0, 1))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="the server; default: the variable REWARDLINE_URL, or this machine")
    parser.add_argument("--verifier", default="math")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--prompts", type=int, default=25, help="sums per step, each of which is tried sixteen times")
    parser.add_argument("--largest", type=int, default=9, help="number in a sum")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where to write, less the suffix")
    arguments = parser.parse_args()

    torch.set_num_threads(1)  # at this size, more threads only wait for each other
    torch.manual_seed(arguments.seed)
    tokenizer = make_tokenizer()
    model = make_model(tokenizer)
    rows = make_rows(arguments.largest)
    hook = Hook(verifier=arguments.verifier, url=arguments.url)
    share_before = share_right(model, tokenizer, rows, hook)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        log = learn(model, tokenizer, rows, arguments, folder)
    report = {
        "before": share_before,
        "after": share_right(model, tokenizer, rows, hook),
        "rewards": [entry["reward"] for entry in log],
        "failed": max(entry[f"{arguments.verifier}/failed"] for entry in log),
        "learning_s": round(time.monotonic() - began, 1),
    }
    if arguments.out is not None:
        arguments.out.with_suffix(".json").write_text(json.dumps(report))
        plot(report, arguments.out.with_suffix(".png"))
    print(json.dumps(report))


if __name__ == "__main__":
    main()
