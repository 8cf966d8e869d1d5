"""Rewards for ms-swift's GRPO: a plugin for `--external_plugins`; `--reward_funcs` takes its name.

    # plugin.py
    from rewardline.ms_swift import orm
    from swift.rewards import orms
    orms["ours"] = orm(recipe="think_math")

ms-swift ignores a reward of None, but counts it as 0 if the sample has no other. So the hook waits
(`rewardline.always_reward`), and then raises. The server judges all that the model said and called since the user's last
message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from swift.rewards import AsyncORM

from rewardline.always_reward import never_none, waiting_hook
from rewardline.columns import reference_of, rows_of
from rewardline.messages import last_turn, sendable

REFERENCE = "solution"
"""The column where swift's own rewards find the reference."""
_RESULT_ROLES = ("tool_response", "tool")


def orm(*, reference: str | None = REFERENCE, **options: Any) -> type[Any]:
    """Make a class for swift's `orms`.

    Args:
        reference: The column of the reference; None for rewards without one.
        options: The options of a `Hook`.

    Raises:
        TypeError: There is no such option.
        ValueError: An option can never work.
    """
    hook = waiting_hook("ms-swift", **options)

    class Reward(AsyncORM):
        async def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float]:
            rows = rows_of(columns, len(completions))
            items = [
                hook.item(
                    _said(row.get("messages"), completion),
                    reference=reference_of(row, reference),
                    prompt=_before(row.get("messages")) or None,
                    row=row,
                )
                for row, completion in zip(rows, completions)
            ]
            results = await hook.score(items) if items else []
            return [never_none(value) for value in hook.rewards(results)]

    return Reward


def _said(messages: Any, completion: Any) -> Any:
    """The last turn; or the completion, if swift gives no messages."""
    turn = last_turn(_as_chat(messages or ()))
    return turn or sendable(completion) or ""


def _before(messages: Any) -> list[dict[str, Any]]:
    chat = _as_chat(messages or ())
    return chat[: len(chat) - len(last_turn(chat))]


def _as_chat(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Translate swift's own roles to those of chat. In swift, a call is JSON text in a message of its own."""
    chat: list[dict[str, Any]] = []
    for message in map(sendable, messages):
        if message.get("role") == "tool_call":
            chat.append({"role": "assistant", "content": None, "tool_calls": [_call(message.get("content"))]})
        elif message.get("role") in _RESULT_ROLES:
            chat.append({**message, "role": "tool"})
        else:
            chat.append(message)
    return chat


def _call(content: Any) -> Any:
    """Parse a call. Text that is not JSON object becomes the arguments, and the server reads that as a malformed call."""
    if isinstance(content, str):
        try:
            content = json.loads(content)
        except ValueError:
            return {"function": {"name": "unreadable", "arguments": content}}
    return {"function": content} if isinstance(content, Mapping) else content
