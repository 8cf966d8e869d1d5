"""One call, as every way of writing it comes to: a name and named arguments that are JSON values.

Read here are JSON objects: `{"name", "arguments" or "parameters"}`, that object as OpenAI's `function`, messages with
`tool_calls` or the older `function_call`, and lists of them. Arguments may be an object or its JSON text.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from verifiers.rules.documents import Unreadable, read_json

MAX_CALLS = 256
"""Of one response or reference."""


class Malformed(Exception):
    """Something that was meant as a call cannot be read as one; the text says why."""


@dataclass(frozen=True)
class Raw:
    """An argument written as bare text, which does not say whether it is a string, a number or something else."""

    text: str

    @cached_property
    def readings(self) -> tuple[Any, ...]:
        """The text itself, and the value it is the JSON (or Python's word) of, unless that is a string."""
        stripped = self.text.strip()
        if stripped in _PYTHON_WORDS:
            return (self.text, _PYTHON_WORDS[stripped])
        try:
            value = read_json(stripped, unique_keys=True)
        except Unreadable:
            return (self.text,)
        return (self.text,) if isinstance(value, str) else (self.text, value)


_PYTHON_WORDS = {"True": True, "False": False, "None": None}


@dataclass(frozen=True)
class Call:
    name: str
    arguments: Mapping[str, Any]
    """JSON values, and `Raw` where the form has no types."""

    @cached_property
    def key(self) -> str:
        """Equal for equal calls; orders calls whatever order they came in."""
        return json.dumps([self.name, self.arguments], sort_keys=True, default=lambda raw: [raw.text])


def objects_of(value: Any, *, marked: bool = False) -> list[dict[str, Any]] | None:
    """The objects with a name and arguments in a JSON value; None where it is something else.

    `marked`: it stands where only calls stand, so that anything else is malformed, and arguments may be missing.

    Raises:
        Malformed: some of it is a call and some is not.
    """
    if isinstance(value, dict) and "tool_calls" in value:
        value = [] if value["tool_calls"] is None else value["tool_calls"]
        marked = True
    elif isinstance(value, dict) and isinstance(value.get("function_call"), dict):
        value = value["function_call"]
    elements = value if isinstance(value, list) else [value]
    if len(elements) > MAX_CALLS:
        raise Malformed(f"more than {MAX_CALLS} calls")
    objects = [_object(element, marked=marked) for element in elements]
    found = [inner for inner in objects if inner is not None]
    if len(found) == len(objects):
        return found
    if found or marked:
        raise Malformed("expected objects with a name and arguments")
    return None


def _object(value: Any, *, marked: bool) -> dict[str, Any] | None:
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value, marked = value["function"], True
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    return value if marked or "arguments" in value or "parameters" in value else None


def call_of(value: Mapping[str, Any]) -> Call:
    """The call of one object.

    Raises:
        Malformed: its name or arguments are not what they must be.
    """
    if not value["name"]:
        raise Malformed("a call without a name")
    if "arguments" in value and "parameters" in value:
        raise Malformed("a call with both arguments and parameters")
    return Call(value["name"], arguments_of(value.get("arguments", value.get("parameters"))))


def arguments_of(value: Any) -> dict[str, Any]:
    """Arguments from an object, its JSON text, or nothing.

    Raises:
        Malformed: they are something else.
    """
    if isinstance(value, str):
        try:
            value = read_json(value, unique_keys=True) if value.strip() else {}
        except Unreadable as error:
            raise Malformed(f"arguments: {error}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Malformed(f"arguments must be an object, not {type(value).__name__}")
    return value
