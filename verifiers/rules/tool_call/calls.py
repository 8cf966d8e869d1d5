"""Defines a call, to which all forms are converted: a name, and named arguments that are JSON values.

This module reads calls that are JSON objects:

    {"name": …, "arguments" or "parameters": …}, also inside OpenAI's `function`
    messages with `tool_calls` or the older `function_call`
    Claude's `tool_use` blocks in the `content` of a message
    Gemini's `functionCall`, LangChain's `args`, Cohere's `tool_name`
    {"tool" or "function" or "action": …}, with the arguments under one of the usual keys
    lists of them

Arguments may be an object or its JSON text. An object that describes a tool, with a JSON schema for its parameters, is
not a call.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from propcache.api import cached_property

from verifiers.rules.documents import Unreadable, read_json

MAX_CALLS = 256
"""The most calls that a response or reference may have."""


class Malformed(Exception):
    """A part is meant as a call, but cannot be read as one. The message says why."""


@dataclass(frozen=True)
class Call:
    name: str
    arguments: Mapping[str, Any]
    """JSON values, or `raw.Raw` if the form has no types."""
    is_shown: bool = False
    """Whether the call stands in a Python fence beside other text. Such a fence may also show a program."""

    @cached_property
    def key(self) -> str:
        """A key that is equal for equal calls. It also gives them a fixed order."""
        return json.dumps([self.name, self.arguments], sort_keys=True, default=lambda raw: [raw.text])


def objects_of(value: Any, *, marked: bool = False) -> list[dict[str, Any]] | None:
    """The objects with a name and arguments in a JSON value; None if it is something else.

    With `marked`, only calls may stand there. Anything else is then malformed, and arguments may be missing.

    Raises:
        Malformed: a part of the value is a call, and another part is not.
    """
    elements, marked = _elements(value, marked=marked)
    if len(elements) > MAX_CALLS:
        raise Malformed(f"there are more than {MAX_CALLS} calls")
    objects = [_object(element, marked=marked) for element in elements]
    calls = [call for call in objects if call is not None]
    if len(calls) == len(objects):
        return calls
    if calls or marked:
        raise Malformed("expected only calls: objects with a name and arguments")
    return None


def _elements(value: Any, *, marked: bool) -> tuple[list[Any], bool]:
    """The elements of a JSON value that may be calls, and whether all of them must be calls."""
    # `{"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}`
    if isinstance(value, dict) and "tool_calls" in value:
        value, marked = [] if value["tool_calls"] is None else value["tool_calls"], True
    elif isinstance(value, dict) and isinstance(value.get("function_call"), dict):
        value = value["function_call"]
    elif isinstance(value, dict) and value.get("role") == "assistant" and isinstance(value.get("content"), list):
        value = value["content"]
    if not isinstance(value, list):
        return [value], marked
    kinds = [element.get("type") if isinstance(element, dict) else None for element in value]
    # Anthropic's blocks: `[{"type": "text", …}, {"type": "tool_use", …}]`
    if "tool_use" not in kinds:
        return value, marked
    return [element for element, kind in zip(value, kinds, strict=True) if kind not in _OTHER_BLOCKS], True


_OTHER_BLOCKS = ("text", "thinking", "redacted_thinking")


def _object(value: Any, *, marked: bool) -> dict[str, Any] | None:
    for key in ("function", "functionCall"):
        if isinstance(value, dict) and isinstance(value.get(key), dict):
            value, marked = value[key], True
    # A tool that is described, and not called.
    if not isinstance(value, dict) or _is_tool(value):
        return None
    fields = _named(value)
    if not isinstance(fields.get("name"), str):
        return None
    if "arguments" in fields or "parameters" in fields:
        return fields
    for key, kind in (("args", "tool_call"), ("input", "tool_use")):
        # `{"name": "f", "args": {}}` may be anything, unless a mark or `type` says that it is a call.
        if key in fields and (marked or fields.get("type") == kind):
            return _renamed(fields, key, "arguments")
    return fields if marked else None


def are_tools(value: Any) -> bool:
    """Whether a JSON value describes one tool or several, as OpenAI's `tools` do."""
    described = value if isinstance(value, list) else [value]
    functions = [function.get("function", function) if isinstance(function, dict) else None for function in described]
    return bool(functions) and all(isinstance(function, dict) and _is_tool(function) for function in functions)


def _is_tool(value: Mapping[str, Any]) -> bool:
    parameters = value.get("parameters")
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        return False
    properties = parameters.get("properties")
    return isinstance(properties, dict) and all(isinstance(schema, dict) for schema in properties.values())


def _named(value: dict[str, Any]) -> dict[str, Any]:
    """The object with the function's name under `name` and its arguments under `arguments`, if other keys held them."""
    if "name" in value:
        return value
    for key, names in _ARGUMENTS_OF.items():
        if isinstance(value.get(key), str):
            keys = [name for name in names if isinstance(value.get(name), dict | str if name in _MAY_BE_TEXT else dict)]
            # `{"action": "f", "action_input": {}}`
            if len(keys) == 1:
                return _renamed(_renamed(value, keys[0], "arguments"), key, "name")
    return _renamed(value, "tool_name", "name")


_ARGUMENTS_OF = {
    "tool_name": ("arguments", "parameters", "args", "params", "tool_args", "tool_input"),
    "tool": ("arguments", "parameters", "args", "params", "tool_args", "tool_input", "input"),
    "function": ("arguments", "parameters", "args", "params"),
    "action": ("arguments", "parameters", "args", "params", "action_input"),
}
"""Keys for the name of the function, each with the keys for its arguments.

They occur in LangChain, in users' own prompts, and in Llama's errors.
"""
_MAY_BE_TEXT = ("arguments", "parameters")


def _renamed(value: Mapping[str, Any], key: str, new: str) -> dict[str, Any]:
    return {new if name == key else name: field for name, field in value.items()}


def call_of(value: Mapping[str, Any]) -> Call:
    """Convert one object to a call.

    Raises:
        Malformed: its name or its arguments have the wrong form.
    """
    if not value["name"]:
        raise Malformed("a call has no name")
    if "arguments" in value and "parameters" in value:
        raise Malformed("a call has both arguments and parameters; give one of them")
    return Call(value["name"], arguments_of(value.get("arguments", value.get("parameters"))))


def arguments_of(value: Any) -> dict[str, Any]:
    """Read arguments from an object or its JSON text. None and blank text are not arguments.

    Raises:
        Malformed: they are something else.
    """
    # `"arguments": "{\"city\": \"Rome\"}"`, as OpenAI has them
    if isinstance(value, str):
        try:
            value = read_json(value, unique_keys=True) if value.strip() else {}
        except Unreadable as error:
            raise Malformed(f"arguments given as text cannot be read as JSON: {error}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Malformed(f"arguments must be an object, not {type(value).__name__}")
    return value
