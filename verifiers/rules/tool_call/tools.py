"""Reads the functions that may be called, from OpenAI's `tools`: their names, and JSON schemas of their arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verifiers.rules import schemas
from verifiers.rules.documents import Unreadable, check_depth, read_json
from verifiers.rules.schemas import Schema, compile_schema
from verifiers.rules.tool_call.calls import Call
from verifiers.rules.tool_call.raw import Raw

MAX_TOOLS = 1_000


@dataclass(frozen=True)
class Tool:
    schema: Schema
    types: Mapping[str, str]
    """The types of the arguments, for those arguments where the schema names just one type."""


def read(value: Any) -> dict[str, Tool] | str:
    """The tools by name, or a message about the fault in the list."""
    functions = functions_of(value)
    if isinstance(functions, str):
        return functions
    try:
        check_depth(functions)
    except Unreadable:
        return "tools are nested too deep"
    tools: dict[str, Tool] = {}
    for function in functions:
        name, parameters = function["name"], _as_schema(parameters_of(function))
        if name in tools:
            return f"two tools have the name {name[:100]!r}"
        schema = compile_schema(parameters, check_formats=False)
        if isinstance(schema, str):
            return f"parameters of {name[:100]!r}: {schema}"
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        types = {
            key: inner["type"]
            for key, inner in (properties.items() if isinstance(properties, dict) else ())
            if isinstance(inner, dict) and isinstance(inner.get("type"), str)
        }
        tools[name] = Tool(schema, types)
    return tools


def functions_of(value: Any) -> Sequence[dict[str, Any]] | str:
    """The function objects in a list of tools or in its JSON text, or a message about the fault in it."""
    if isinstance(value, str):
        try:
            value = read_json(value, unique_keys=True)
        except Unreadable as error:
            return f"tools given as text cannot be read as JSON: {error}"
    if not isinstance(value, list) or not 0 < len(value) <= MAX_TOOLS:
        return f"tools must be a list of 1 to {MAX_TOOLS} functions"
    functions: list[dict[str, Any]] = []
    for tool in value:
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return "a tool must be an object with a name and parameters, or with such an object under `function`"
        functions.append(function)
    return functions


def quick_values(value: Any) -> int:
    """The most parts of a response that the schemas check within milliseconds; see `schemas.quick_values`."""
    functions = functions_of(value)
    if isinstance(functions, str) or len(functions) > _MAX_QUICK_TOOLS:
        return 0
    return min(schemas.quick_values(parameters_of(function), check_formats=False) for function in functions)


_MAX_QUICK_TOOLS = 16


def parameters_of(function: Mapping[str, Any]) -> Any:
    """The schema of a function's arguments. A function without one takes no arguments."""
    parameters = function.get("parameters", function.get("input_schema"))
    return parameters if parameters else {"type": "object", "properties": {}, "additionalProperties": False}


_PYTHON_TYPES = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    "str": "string",
    "int": "integer",
    "bool": "boolean",
}
"""The names of types in BFCL's rows, with the names that JSON schemas use."""


_DATA = frozenset(("enum", "const", "default", "examples"))
"""Keys that hold values, not schemas."""


def _as_schema(value: Any) -> Any:
    """The schema with JSON's names of types. The type `any` is dropped, because it allows all values."""
    if isinstance(value, list):
        return [_as_schema(each) for each in value]
    if not isinstance(value, dict):
        return value
    schema = {name: each if name in _DATA else _as_schema(each) for name, each in value.items()}
    kind = schema.get("type")
    if kind == "any":
        del schema["type"]
    elif isinstance(kind, str):
        schema["type"] = _PYTHON_TYPES.get(kind, kind)
    return schema


def named(call: Call, known: Mapping[str, Tool]) -> Call | None:
    """The call under its tool's own name; None if there is no such tool.

    Some APIs write an underscore for a dot.
    """
    if call.name in known:
        return call
    found = [name for name in known if name.replace(".", "_") == call.name]
    return Call(found[0], call.arguments, call.is_shown) if len(found) == 1 else None


def typed(call: Call, tool: Tool) -> Call:
    """The call with typed values instead of bare texts.

    The type of a text comes from the schema, or else from its form.
    """
    return Call(
        call.name,
        {
            name: _value(value, tool.types.get(name)) if isinstance(value, Raw) else value
            for name, value in call.arguments.items()
        },
    )


def _value(raw: Raw, kind: str | None) -> Any:
    return raw.text if kind == "string" else raw.readings[-1]
