"""Turns messages in any dialect into steps.

    OpenAI chat        role, content (text, null or parts), `tool_calls` or `function_call`, `reasoning_content`; tool results
    OpenAI Responses   items: `message`, `reasoning`, `function_call`, `function_call_output`; those in a row are one step
    Anthropic          content blocks: `text`, `thinking`, `tool_use`; `tool_result` in a user's message
    LangChain, vLLM    calls with `args`, or flat `{"name", "arguments"}`; `reasoning`; results with `status`

Text parts become text, and tool calls become calls. For all other parts (images, audio, calls of a provider's own
tools) only the type is kept, so that a verifier can refuse parts that it does not judge. Fields without meaning here
(`annotations`, `logprobs`) are ignored.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verifiers.base import InvalidItem
from verifiers.conversation import Conversation, Role, Step, ToolCall

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
    "observation": "tool",
    "environment": "tool",
}
_TEXTS = ("text", "input_text", "output_text", "summary_text", "reasoning_text")
_NO_PARTS = ("redacted_thinking",)
"""Parts with thought that the provider keeps secret, so that there is nothing to judge."""
_ITEMS = ("message", "reasoning", "function_call", "function_call_output")


def read(messages: Sequence[Any]) -> Conversation:
    """The steps of a list of messages.

    Raises:
        InvalidItem: one of them is not a message; the error says which, and what is wrong with it.
    """
    steps: list[Step] = []
    may_join = False
    for position, message in enumerate(messages):
        if not isinstance(message, dict):
            raise _bad(position, f"a message is an object, not {_kind(message)}")
        is_item = message.get("type") in _ITEMS or "role" not in message
        for step in _steps(message, position):
            if is_item and may_join and step.role == steps[-1].role == "assistant":
                steps[-1] = _joined(steps[-1], step)
            else:
                steps.append(step)
        may_join = is_item and bool(steps)
    return Conversation(tuple(steps))


def _steps(message: Mapping[str, Any], position: int) -> Iterator[Step]:
    kind = message.get("type")
    if kind == "function_call":
        yield Step("assistant", calls=(_call(message, position),))
    elif kind == "function_call_output":
        yield _result(message, message.get("output"), message.get("call_id"), position)
    elif kind == "reasoning" and "role" not in message:
        yield Step("assistant", reasoning=_reasoning_item(message, position))
    elif "role" in message:
        yield from _said(message, position)
    elif isinstance(kind, str):  # a call of a provider's own tool, such as `web_search_call`
        yield Step("assistant", others=(kind[:100],))
    else:
        raise _bad(position, "a message has a role, or is an item with a type")


def _said(message: Mapping[str, Any], position: int) -> Iterator[Step]:
    role = _ROLES.get(message["role"]) if isinstance(message["role"], str) else None
    if role is None:
        raise _bad(position, f"the role is one of {', '.join(_ROLES)}, not {str(message['role'])[:100]!r}")
    if role == "tool":
        answers = message.get("tool_call_id", message.get("call_id"))
        of_role = {} if message["role"] in ("tool", "function") else {"name": message["role"]}
        yield _result({**of_role, **message}, message.get("content"), answers, position)
        return
    pieces = _Parts(position)
    pieces.add_content(message.get("content"))
    yield from pieces.results
    if role == "assistant":
        _add_fields(pieces, message, position)
    if role == "assistant" or pieces.texts or pieces.others or not pieces.results:
        yield Step(
            role, "".join(pieces.texts), "\n".join(pieces.thoughts), tuple(pieces.calls), others=tuple(pieces.others)
        )


def _add_fields(pieces: "_Parts", message: Mapping[str, Any], position: int) -> None:
    """Add the fields beside the content of an assistant's message."""
    thought = next((text for name in _THOUGHTS if isinstance(text := message.get(name), str) and text), None)
    if thought is not None:
        pieces.thoughts.insert(0, thought)
    if isinstance(message.get("refusal"), str):
        pieces.texts.append(message["refusal"])
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise _bad(position, f"tool_calls is a list, not {_kind(calls)}")
    for call in calls or ():
        if isinstance(call, dict) and call.get("type") not in (None, "function", "tool_call"):
            pieces.others.append(str(call["type"])[:100])
        else:
            pieces.calls.append(_call(call, position))
    if message.get("function_call") is not None:
        pieces.calls.append(_call(message["function_call"], position))
    pieces.others += [name for name in _OTHER_FIELDS if message.get(name)]


_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_OTHER_FIELDS = ("audio", "images")


@dataclass
class _Parts:
    """The content of one message, by kind of part."""

    position: int
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[Step] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    def add_content(self, content: Any) -> None:
        if content is None:
            return
        if isinstance(content, str):
            self.texts.append(content)
            return
        if isinstance(content, dict):
            content = [content]
        if not isinstance(content, list):
            raise _bad(self.position, f"content is text, a list of parts or null, not {_kind(content)}")
        for part in content:
            if isinstance(part, str):
                self.texts.append(part)
            elif isinstance(part, dict):
                self._add(part)
            else:
                raise _bad(self.position, f"a part of content is an object, not {_kind(part)}")

    def _add(self, part: Mapping[str, Any]) -> None:
        kind = part.get("type", "text")
        if not isinstance(kind, str):
            raise _bad(self.position, f"the type of a part is text, not {_kind(kind)}")
        if reader := _READERS.get(kind):
            reader(self, part)
        elif kind not in _NO_PARTS:
            self.others.append(kind[:100])

    def add_text(self, part: Mapping[str, Any]) -> None:
        self.texts.append(_text(part.get("text", part.get("refusal")), self.position))

    def add_thought(self, part: Mapping[str, Any]) -> None:
        thought = next((part[name] for name in ("thinking", "reasoning", "text") if part.get(name) is not None), "")
        self.thoughts.append(_text(thought, self.position))

    def add_call(self, part: Mapping[str, Any]) -> None:
        self.calls.append(_call(part, self.position))

    def add_result(self, part: Mapping[str, Any]) -> None:
        self.results.append(_result(part, part.get("content"), part.get("tool_use_id"), self.position))


_READERS: Mapping[str, Callable[[_Parts, Mapping[str, Any]], None]] = {
    **dict.fromkeys((*_TEXTS, "refusal"), _Parts.add_text),
    **dict.fromkeys(("thinking", "reasoning"), _Parts.add_thought),
    **dict.fromkeys(("tool_use", "tool_call"), _Parts.add_call),
    "tool_result": _Parts.add_result,
}


def _reasoning_item(item: Mapping[str, Any], position: int) -> str:
    """The thought itself if the model's server gives it, otherwise its provider's summary."""
    for name in ("content", "summary"):
        if item.get(name):
            pieces = _Parts(position)
            pieces.add_content(item[name])
            return "\n".join(pieces.texts)
    return ""


def _result(message: Mapping[str, Any], content: Any, answers: Any, position: int) -> Step:
    pieces = _Parts(position)
    pieces.add_content(content)
    is_error = message.get("is_error") is True or message.get("status") == "error"
    return Step(
        "tool",
        "".join(pieces.texts),
        answers=answers if isinstance(answers, str) else None,
        name=message.get("name") if isinstance(message.get("name"), str) else None,
        is_error=is_error,
        others=tuple(pieces.others),
    )


def _call(value: Any, position: int) -> ToolCall:
    if isinstance(value, str):  # the library `verifiers` keeps its calls as JSON text
        try:
            value = json.loads(_of_whole_characters(value))
        except (ValueError, RecursionError) as error:
            raise _bad(position, f"a call is text, but not JSON: {error}") from error
    if not isinstance(value, dict):
        raise _bad(position, f"a call is an object, not {_kind(value)}")
    call_id = value.get("call_id", value.get("id"))
    called = value["function"] if isinstance(value.get("function"), dict) else value
    name = called.get("name")
    if not isinstance(name, str):
        raise _bad(position, "a call has the name of a function")
    arguments: Any = next((called[key] for key in _ARGUMENTS if called.get(key) is not None), {})
    return ToolCall(name, arguments, call_id if isinstance(call_id, str) else None)


_ARGUMENTS = ("arguments", "parameters", "args", "input")


def _of_whole_characters(text: str) -> str:
    """JSON text with U+FFFD in the place of each half of a surrogate pair: a model may write the escape of one."""
    if "\\ud" not in text.casefold():
        return text
    unescaped = json.dumps(json.loads(text), ensure_ascii=False)
    return unescaped.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _joined(first: Step, second: Step) -> Step:
    """Join two items of one answer into one step."""
    texts, thoughts = (
        "\n\n".join(part for part in pair if part)
        for pair in ((first.text, second.text), (first.reasoning, second.reasoning))
    )
    return Step("assistant", texts, thoughts, first.calls + second.calls, others=first.others + second.others)


def _text(value: Any, position: int) -> str:
    if not isinstance(value, str):
        raise _bad(position, f"the text of a part is text, not {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__


def _bad(position: int, message: str) -> InvalidItem:
    return InvalidItem("bad_messages", f"message {position}: {message}")
