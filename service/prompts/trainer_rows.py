"""Rows as trainers read them, as Parquet.

verl       data_source, prompt (messages), ability, reward_model {style, ground_truth}, extra_info {index, ...}
trl        prompt (messages), solution, and further columns, which reward functions get by name
prime-rl   prompt (messages), answer, info (JSON as text), of the environments of Prime Intellect's verifiers
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from service.prompts.collecting import Prompt

Row = dict[str, Any]


def _facts(at: int, prompt: Prompt) -> Row:
    rate = prompt.rate.rate
    return {"index": at, "pass_rate": rate, "responses": prompt.rate.count, "band": prompt.rate.band}


def _source(prompt: Prompt) -> str:
    """What says who judges the row, the nearest to the data first. Trainers refuse a row without it."""
    names = ("data_source", "tag", "domain", "recipe", "verifier")
    return next((str(prompt.fields[name]) for name in names if prompt.fields.get(name)), "")


def _verl(at: int, prompt: Prompt) -> Row:
    return {
        "data_source": _source(prompt),
        "prompt": prompt.messages,
        "ability": str(prompt.fields.get("verifier") or ""),
        "reward_model": {"style": "rule", "ground_truth": prompt.reference},
        "extra_info": {"split": "train", **_facts(at, prompt)},
    }


def _trl(at: int, prompt: Prompt) -> Row:
    return {
        "prompt": prompt.messages,
        "solution": prompt.reference,
        "data_source": _source(prompt),
        **_facts(at, prompt),
    }


def _prime_rl(at: int, prompt: Prompt) -> Row:
    info = {"data_source": _source(prompt), **_facts(at, prompt)}
    return {"prompt": prompt.messages, "answer": prompt.reference, "info": json.dumps(info, ensure_ascii=False)}


TRAINERS: Final[Mapping[str, Callable[[int, Prompt], Row]]] = {"verl": _verl, "trl": _trl, "prime-rl": _prime_rl}


def write(path: Path, prompts: Sequence[Prompt], trainer: str) -> None:
    """Write the prompts as rows of the trainer.

    Raises:
        ImportError: pyarrow is not installed.
        OSError: the file cannot be written.
    """
    import pyarrow as pa  # noqa: PLC0415  # an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    make = TRAINERS[trainer]
    pq.write_table(pa.Table.from_pylist([make(at, prompt) for at, prompt in enumerate(prompts)]), path)
