"""Makes items of verl's samples."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from rewardline.hook import Hook, is_missing, plain
from rewardline.messages import sendable

EXTRAS = ("test_cases", "case_type", "test_case_function", "evaluation_criteria", "reward_weights", "reward_clip")
"""The columns of `extra_info` that the server knows. Labels are left out, since data sets use them differently."""
PROMPTS = ("prompt", "question")
"""The columns of `extra_info` that may hold the prompt. The first one counts."""
RUBRICS = (
    *("rubrics", "rubric", "rubric_items", "criteria", "checklist", "score_rubric", "prompt_metadata"),
    *("sub_tasks", "TARGET_QUESTION", "orig_criteria"),
)
"""The columns that hold a rubric, in `extra_info` or in the `reward_model` of it or of the row."""
RESPONSE = "response_messages"
"""The key in `extra_fields` where an agent loop may leave the messages of the response, with calls and results."""
_LEVELS = ("easy", "medium", "hard")


def hook_of(options: Mapping[str, Any]) -> Hook:
    """The hook of these options, which may come from a configuration of OmegaConf.

    Raises:
        TypeError: There is no such option.
        ValueError: An option can never work.
    """
    return _hook(json.dumps(plain(options), sort_keys=True))


@functools.lru_cache(maxsize=64)
def _hook(options: str) -> Hook:
    hook = Hook.of(json.loads(options))
    for name in ("on_failed", "on_invalid"):
        if getattr(hook, name) == "abstain":
            raise ValueError(
                f"{name}: verl needs a reward for every sample; set it to 'raise', which drops the sample, or to a number"
            )
    return hook


def item_of(
    hook: Hook,
    response: Any,
    *,
    data_source: Any,
    ground_truth: Any,
    extra_info: Any,
    prompt: Any = None,
    item_id: str | None = None,
) -> dict[str, Any]:
    """Make the item of one sample. `prompt` overrides the prompt in `extra_info`, and messages there override the text."""
    extra = extra_info if isinstance(extra_info, Mapping) else {}
    row = {name: extra.get(name) for name in EXTRAS}
    if is_missing(row["evaluation_criteria"]):
        row["evaluation_criteria"] = rubric_of(extra, extra.get("reward_model"))
    row["difficulty"] = _difficulty(extra.get("difficulty"))
    row["data_source"] = None if is_missing(data_source) else str(data_source)
    prompts = (prompt, *(extra.get(name) for name in PROMPTS))
    return hook.item(
        response_of(response, extra) if isinstance(response, str) else response,
        reference=None if is_missing(ground_truth) else ground_truth,
        prompt=next((text for text in map(prompt_of, prompts) if text), None) if hook.send_prompt else None,
        row=row,
        item_id=item_id,
    )


def item_of_row(hook: Hook, text: str, row: Mapping[str, Any], data_source_key: str = "data_source") -> dict[str, Any]:
    """Make the item of one sample of a manager: `text` is its decoded response, `row` its non-tensor values."""
    return item_of(
        hook,
        response_of(text, row, row.get("tool_extra_fields")),
        data_source=row.get(data_source_key),
        ground_truth=(row.get("reward_model") or {}).get("ground_truth"),
        extra_info=_with_rubric(row),
        prompt=row.get("raw_prompt"),
        item_id=None if row.get("uid") is None else str(row["uid"]),
    )


def rubric_of(*mappings: Any) -> dict[str, Any] | None:
    """The columns of the first mapping that has a rubric, with those texts beside it that a judge may need."""
    for mapping in mappings:
        if isinstance(mapping, Mapping) and any(not is_missing(plain(mapping.get(name))) for name in RUBRICS):
            return {str(name): plain(value) for name, value in mapping.items() if not is_missing(plain(value))}
    return None


def _with_rubric(row: Mapping[str, Any]) -> Any:
    """The row's `extra_info`, with the rubric that stands beside it."""
    extra = row.get("extra_info")
    rubric = rubric_of(row.get("reward_model"))
    if rubric is None or rubric_of(extra) is not None:
        return extra
    return {**(extra if isinstance(extra, Mapping) else {}), "reward_model": rubric}


def response_of(text: str, *mappings: Any) -> Any:
    """The response: the messages that an agent loop left in one of these mappings; else its text."""
    stored = (plain(mapping.get(RESPONSE)) for mapping in mappings if isinstance(mapping, Mapping))
    return next((sendable(messages) for messages in stored if isinstance(messages, list) and messages), text)


def prompt_of(value: Any) -> Any:
    """A prompt's text, or its chat messages without images and other parts that are not text; None without any."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Iterable):
        return None
    messages = [message for message in value if isinstance(message, Mapping)]
    return [
        {"role": str(turn.get("role", "user")), "content": text_of(turn.get("content"))} for turn in messages
    ] or None


def text_of(content: Any) -> str:
    """The text of a chat message's content, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Iterable):
        return ""
    texts = [piece.get("text") if isinstance(piece, Mapping) else piece for piece in content]
    return "".join(piece for piece in texts if isinstance(piece, str))


def _difficulty(value: Any) -> float | str | None:
    """The difficulty as routes can read it; None if the data set uses other words."""
    value = plain(value)
    if isinstance(value, str) and value.strip().lower() in _LEVELS:
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
