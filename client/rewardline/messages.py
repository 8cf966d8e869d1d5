"""Makes JSON of a trainer's chat messages. A part that JSON cannot hold keeps only its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewardline.hook import plain

_JSON = (str, bool, int, float)


def sendable(value: Any) -> Any:
    """The JSON form of text, of messages, or of a value in them.

    A lone surrogate, which UTF-8 cannot hold, becomes a question mark: a model may write one as an escape, and must still
    be judged. A part with an image that is an object keeps only its type.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if value is None or isinstance(value, _JSON):
        return value
    value = plain(value)
    if isinstance(value, Mapping):
        return {sendable(str(key)): sendable(member) for key, member in value.items() if _is_json(member)}
    if isinstance(value, Sequence):
        return [sendable(member) for member in value]
    return value if isinstance(value, _JSON) else None


def last_turn(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """All messages after the last user or system message: those of the assistant and the results of its calls."""
    turn: list[dict[str, Any]] = []
    for message in map(sendable, messages):
        if message.get("role") in ("user", "system"):
            turn.clear()
        else:
            turn.append(message)
    return turn


def _is_json(value: Any) -> bool:
    """Whether the value, or a value in it, has a JSON form."""
    kinds = (*_JSON, bytes, Mapping, Sequence)
    return value is None or isinstance(value, kinds) or hasattr(value, "tolist") or hasattr(value, "model_dump")
