"""The functions that may be called, as OpenAI's `tools` list them: names, and JSON schemas of their arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verifiers.rules import schemas
from verifiers.rules.documents import Unreadable, read_json
from verifiers.rules.schemas import Schema, compile_schema
from verifiers.rules.tool_call.calls import Call
from verifiers.rules.tool_call.raw import Raw

MAX_TOOLS = 1_000


@dataclass(frozen=True)
class Tool:
    schema: Schema
    types: Mapping[str, str]
    """Of the arguments whose schema simply names one."""


def read(value: Any) -> dict[str, Tool] | str:
    """The tools by name, or what is wrong with the list."""
    functions = functions_of(value)
    if isinstance(functions, str):
        return functions
    tools: dict[str, Tool] = {}
    for function in functions:
        name, parameters = function["name"], parameters_of(function)
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
    """The function objects in a list of tools or its JSON text, or what is wrong with it."""
    if isinstance(value, str):
        try:
            value = read_json(value, unique_keys=True)
        except Unreadable as error:
            return f"tools are text, but not JSON: {error}"
    if not isinstance(value, list) or not 0 < len(value) <= MAX_TOOLS:
        return f"tools are a list of 1 to {MAX_TOOLS} functions"
    functions: list[dict[str, Any]] = []
    for tool in value:
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return "a tool is an object with a name and parameters, or with such a function"
        functions.append(function)
    return functions


def quick_values(value: Any) -> int:
    """How many parts a response may have for its schemas to take milliseconds; see `schemas.quick_values`."""
    functions = functions_of(value)
    if isinstance(functions, str) or len(functions) > _MAX_QUICK_TOOLS:
        return 0
    return min(schemas.quick_values(parameters_of(function), check_formats=False) for function in functions)


_MAX_QUICK_TOOLS = 16


def parameters_of(function: Mapping[str, Any]) -> Any:
    """The schema of a function's arguments; without one it takes none."""
    parameters = function.get("parameters", function.get("input_schema"))
    return parameters if parameters else {"type": "object", "properties": {}, "additionalProperties": False}


def typed(call: Call, tool: Tool) -> Call:
    """The call with every bare text read as the type its schema names, or else as the value it spells."""
    return Call(
        call.name,
        {
            name: _value(value, tool.types.get(name)) if isinstance(value, Raw) else value
            for name, value in call.arguments.items()
        },
    )


def _value(raw: Raw, kind: str | None) -> Any:
    return raw.text if kind == "string" else raw.readings[-1]
