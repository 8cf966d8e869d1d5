"""Rewards for OpenRLHF: a file that ends in `.py` for `--reward.remote_url`, and an agent for `--train.agent_func_path`.

    # reward.py
    from rewardline.openrlhf import reward
    reward_func = reward(recipe="think_math")

OpenRLHF knows no abstention. It logs an exception as a line of information, and crashes later, far from the cause. So the hook
waits (`rewardline.always_reward`). Then, and at once for an invalid sample, it logs the cause as an error and raises, which
ends the run.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Callable

import torch

from rewardline.always_reward import waiting_hook
from rewardline.errors import RewardlineError
from rewardline.hook import LABELS, ROW_FIELDS, Hook, plain
from rewardline.results import Result
from rewardline.special_tokens import without_ending

_TAIL = 32
"""The search for the end of a prompt uses so many characters."""
_GARBLED = 4
"""A cut within a character leaves at most so many wrong characters at the beginning."""
_NAMED = ("verifier", "recipe", "checks", "params")
_FIELDS = {*ROW_FIELDS, *LABELS, *_NAMED, "metadata"}

log = logging.getLogger("rewardline.openrlhf")


def reward(**options: Any) -> Callable[..., dict[str, Any]]:
    """Make a `reward_func` by the options of a `Hook`.

    A label is the reference, or a JSON object with the fields of a row:
    `{"ground_truth": "5", "data_source": "openai/gsm8k"}`, `{"reference": "5", "recipe": "think_math"}`.
    """
    hook = waiting_hook("OpenRLHF", **options)

    def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any) -> dict[str, Any]:
        with _logged():
            items = [item_of(hook, *sample) for sample in zip(queries, prompts, labels)]
            results = [hook.score_one_blocking(items[0])] if len(items) == 1 else hook.score_blocking(items)
            return answer_of(hook, results)

    return reward_func


def item_of(hook: Hook, query: str, prompt: str, label: Any) -> dict[str, Any]:
    """Make the item of one sample. `query` is prompt and response as one text.

    The fields of a label override those of the hook.
    """
    row = _row(label)
    reference = label if row is None and label != "" else None
    fields = {name: plain(row[name]) for name in _NAMED if row is not None and row.get(name) is not None}
    params = {**(hook.params or {}), **fields.pop("params", {})}
    if fields:
        hook = replace(hook, verifier=None, recipe=None, checks=None)
    item = hook.item(response_of(query, prompt), reference=reference, prompt=prompt, row=row)
    if fields:
        item = {name: value for name, value in item.items() if name not in LABELS}
    return {**item, **fields, **({"params": params} if params else {})}


def response_of(query: str, prompt: str) -> str:
    """The text after the prompt, without special tokens at its end.

    Raises:
        ValueError: The text does not hold the end of the prompt.
    """
    return without_ending(query[len(prompt) if query.startswith(prompt) else _end_of(prompt, query) :])


def answer_of(hook: Hook, results: Sequence[Result]) -> dict[str, Any]:
    """The answer for OpenRLHF. It trains on `rewards`, and filters samples by `scores`, which are in [0, 1].

    Raises:
        FailedItems, InvalidItems: There is no reward.
    """
    numbers = [hook.numbers(result) for result in results]
    keys = numbers[0] if numbers else ()
    return {
        "rewards": _tensor([row["score"] for row in numbers]),
        "scores": _tensor([min(max(row["acc"], 0.0), 1.0) for row in numbers]),
        "extra_logs": {name: _tensor([row[name] for row in numbers]) for name in keys},
    }


@contextmanager
def _logged() -> Iterator[None]:
    """Log an exception as an error: OpenRLHF logs it only as information."""
    try:
        yield
    except (RewardlineError, ValueError, TypeError) as error:
        log.error("no reward, and OpenRLHF cannot do without one: %s", error)  # noqa: TRY400 - raised again
        raise


def _tensor(values: Sequence[float]) -> Any:
    return torch.tensor(values, dtype=torch.float32)


def _end_of(prompt: str, query: str) -> int:
    """The position where the prompt ends, in a text that does not begin with it: OpenRLHF cut it, or decoded it differently."""
    tail = prompt.rstrip()[-_TAIL:]
    tail_ends = [match.end() for match in re.finditer(re.escape(tail), query)] if tail else []
    for end in tail_ends:
        if any(prompt.rstrip().endswith(query[start:end]) for start in range(min(_GARBLED, end - len(tail)) + 1)):
            return end
    occurrences = prompt.count(tail) if tail else 0
    if not 0 < occurrences <= len(tail_ends):
        raise ValueError(f"the text does not hold the end of its prompt: {query[:200]!r}")
    return tail_ends[occurrences - 1]


def _row(label: Any) -> Mapping[str, Any] | None:
    """The fields of a row that a label holds; None if the label is the reference itself."""
    if isinstance(label, str) and label.lstrip().startswith("{"):
        try:
            label = json.loads(label)
        except ValueError:
            return None
    if not isinstance(label, Mapping):
        return None
    is_named = any(label.get(name) is not None for name in ("verifier", "recipe", "checks"))
    is_row = set(label) <= _FIELDS and bool(set(label) & {*LABELS, "reference", "ground_truth"})
    return label if is_named or is_row else None
