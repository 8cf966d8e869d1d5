"""Reads the functions that may be called, from OpenAI's `tools`: their names, and JSON schemas of their arguments."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verifiers.rules import schemas
from verifiers.rules.documents import Unreadable, check_depth, read_json
from verifiers.rules.schemas import Schema, compile_schema
from verifiers.rules.tool_call import sources
from verifiers.rules.tool_call.calls import Call
from verifiers.rules.tool_call.raw import Raw
from verifiers.rules.tool_call.sources import Declared, Language, Source

MAX_TOOLS = 1_000


@dataclass(frozen=True)
class Tool:
    schema: Schema
    types: Mapping[str, str]
    """The types of the arguments, for those arguments where the schema names just one type."""
    language: Language | None = None
    """The language of a function whose arguments are texts, as in BFCL's Java and JavaScript rows."""
    inner: Mapping[str, str] = field(default_factory=dict)
    """The types of elements of lists, for functions of such a language."""

    def declared(self, name: str) -> Declared:
        return Declared(self.types.get(name, "any"), self.inner.get(name, "any"))


def read(value: Any, language: Language | None = None) -> dict[str, Tool] | str:
    """The tools by name, or a message about the fault in the list.

    Args:
        value: The list, or its JSON text.
        language: That of the functions. None: a function with types that only Java or JavaScript has is one of those.
    """
    functions = functions_of(value)
    if isinstance(functions, str):
        return functions
    try:
        check_depth(functions)
    except Unreadable:
        return "tools are nested too deep"
    tools: dict[str, Tool] = {}
    for function in functions:
        name = function["name"]
        if name in tools:
            return f"two tools have the name {name[:100]!r}"
        of_language = _tool_of_language(parameters_of(function), language)
        if of_language is not None:
            tools[name] = of_language
            continue
        parameters = _as_schema(parameters_of(function))
        schema = compile_schema(parameters, check_formats=False)
        if isinstance(schema, str):
            return f"parameters of {name[:100]!r}: {schema}"
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        tools[name] = Tool(schema, _types(properties if isinstance(properties, dict) else {}))
    return tools


def _tool_of_language(parameters: Any, language: Language | None) -> Tool | None:
    """The function as one of Java or JavaScript, whose arguments are texts; None if it is not."""
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    if not isinstance(properties, dict) or not all(isinstance(member, dict) for member in properties.values()):
        return None
    types = _types(properties)
    elements = _types({name: member["items"] for name, member in properties.items() if "items" in member})
    language = language or sources.language_of(frozenset(types.values()), frozenset(_type_names(properties)))
    if language is None:
        return None
    required = parameters.get("required")
    schema = compile_schema(
        {"type": "object", "required": required if isinstance(required, list) else []}, check_formats=False
    )
    if isinstance(schema, str):
        return None
    return Tool(schema, types, language, elements)


def _types(members: Mapping[str, Any]) -> dict[str, str]:
    """The types of those members of a schema that have just one."""
    return {
        name: member["type"]
        for name, member in members.items()
        if isinstance(member, dict) and isinstance(member.get("type"), str)
    }


def _type_names(value: Any) -> Iterator[str]:
    """The types of all members in a schema's properties, and of what is in them."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        if isinstance(member, dict) and isinstance(member.get("type"), str):
            yield member["type"]
        if name not in _DATA:
            yield from _type_names(member)


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
        return [_as_schema(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    schema = {name: entry if name in _DATA else _as_schema(entry) for name, entry in value.items()}
    kind = schema.get("type")
    if kind == "any":
        del schema["type"]
    elif isinstance(kind, str):
        schema["type"] = _PYTHON_TYPES.get(kind, kind)
    return schema


def named(call: Call, tools: Mapping[str, Tool]) -> Call | None:
    """The call under its tool's own name; None if there is no such tool.

    Some APIs write an underscore for a dot.
    """
    if call.name in tools:
        return call
    names = [name for name in tools if name.replace(".", "_") == call.name]
    return Call(names[0], call.arguments, call.is_shown) if len(names) == 1 else None


def typed(call: Call, tool: Tool) -> Call:
    """The call with typed values instead of bare texts.

    The type of a text comes from the schema, or else from its form.
    """
    if tool.language is not None:
        return as_sources(call, tool)
    return Call(
        call.name,
        {
            name: _value(value, tool.types.get(name)) if isinstance(value, Raw) else value
            for name, value in call.arguments.items()
        },
    )


def _value(raw: Raw, kind: str | None) -> Any:
    return raw.text if kind == "string" else raw.readings[-1]


def as_sources(call: Call, tool: Tool | None, language: Language | None = None) -> Call:
    """The call with arguments that are sources, of the tool's language or, without a tool, of this one."""
    arguments = {
        name: Source(
            value.text if isinstance(value, Raw) else sources.text_of(value),
            None if tool is None else tool.declared(name),
            tool.language if tool is not None else language,
        )
        for name, value in call.arguments.items()
    }
    return Call(call.name, arguments, call.is_shown)
