"""Chat messages as trainers hold them, made ready to be sent: whole, with what JSON cannot hold named by its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewardline.hook import plain

_JSON = (str, bool, int, float)


def sendable(value: Any) -> Any:
    """Text, messages, or what they hold, as JSON has it.

    Lone surrogates, which are in no UTF-8, become question marks: a model may write them as escapes, and is judged all the
    same. An image that is held as an object is sent as a part that has nothing but its type.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if value is None or isinstance(value, _JSON):
        return value
    value = plain(value)
    if isinstance(value, Mapping):
        return {sendable(str(key)): sendable(each) for key, each in value.items() if _is_json(each)}
    if isinstance(value, Sequence):
        return [sendable(each) for each in value]
    return value if isinstance(value, _JSON) else None


def last_turn(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the assistant did since the user last said something, the results of its calls among it."""
    turn: list[dict[str, Any]] = []
    for message in map(sendable, messages):
        if message.get("role") in ("user", "system"):
            turn.clear()
        else:
            turn.append(message)
    return turn


def _is_json(value: Any) -> bool:
    """Whether there is a JSON form of it, or of what is in it."""
    kinds = (*_JSON, bytes, Mapping, Sequence)
    return value is None or isinstance(value, kinds) or hasattr(value, "tolist") or hasattr(value, "model_dump")
