"""A model small enough for a test. It has learnt a few texts by heart, right and wrong ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from pyarrow import parquet
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig

_SPECIAL = ("<pad>", "<|im_start|>", "<|im_end|>")


def make_tokenizer(chat_template: str | None = None) -> PreTrainedTokenizerFast:
    """One token per byte, and three special ones."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*_SPECIAL, *letters])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, padding_side="left")
    made.add_special_tokens(
        {"pad_token": "<pad>", "eos_token": "<|im_end|>", "additional_special_tokens": ["<|im_start|>"]}
    )
    made.chat_template = chat_template
    return made


def make_model(tokenizer: PreTrainedTokenizerFast) -> Qwen2ForCausalLM:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=256,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=4096,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )


def learn_by_heart(
    model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, texts: Sequence[tuple[str, str]], steps: int
) -> float:
    """Train the model to continue each first text by the second. If a first text has several, it gives each as
    often. Returns the last loss.
    """
    rows = [
        (tokenizer(given)["input_ids"], tokenizer(said + tokenizer.eos_token)["input_ids"]) for given, said in texts
    ]
    longest = max(len(given) + len(said) for given, said in rows)
    pad = tokenizer.pad_token_id
    ids = torch.tensor([given + said + [pad] * (longest - len(given) - len(said)) for given, said in rows])
    labels = torch.tensor(
        [[-100] * len(given) + said + [-100] * (longest - len(given) - len(said)) for given, said in rows]
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    last = 0.0
    for _ in range(steps):
        loss = model(input_ids=ids, attention_mask=(ids != pad).long(), labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        last = loss.item()
    return last


def config(folder: str, **options: Any) -> GRPOConfig:
    """The configuration of a trainer that hardly changes the model, and records everything about each completion."""
    fixed = {
        "output_dir": folder,
        "learning_rate": 1e-6,
        "num_generations": 8,
        "per_device_train_batch_size": 16,
        "logging_steps": 1,
        "log_completions": True,
        "num_completions_to_print": 0,
        "save_strategy": "no",
        "report_to": [],
        "use_cpu": True,
        "bf16": False,
        "disable_tqdm": True,
        "seed": 0,
    }
    return GRPOConfig(**(fixed | options))


def completions(folder: str) -> list[dict[str, Any]]:
    """The completions of the training: the trainer's own table with their rewards and advantages."""
    paths = sorted(Path(folder, "completions").glob("*.parquet"))
    return [row for path in paths for row in parquet.read_table(path).to_pylist()]
