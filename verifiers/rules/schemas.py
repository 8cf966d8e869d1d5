"""JSON schemas that callers send: compiled once, without a network, with regular expressions of linear time.

The validator is jsonschema-rs. It knows drafts 4 to 2020-12 by `$schema`, 2020-12 without; `$ref` reaches into the
schema itself and no further. Patterns are matched by an automaton: look-around and back-references, which would
need backtracking, are refused with the schema. `format` is an annotation, as in the standard, unless asked for.
"""

import json
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

MAX_SCHEMA_CHARS = 200_000
_MAX_QUICK_CHARS = 20_000
_MAX_QUICK_MEETINGS = 40_000
"""Up to 120 ns each."""
_MAX_QUICK_UNIQUE = 1_000
"""Items that have to differ may be compared each with each."""
_MAX_PATTERN_BYTES = 10 << 20
_ENVELOPE = frozenset(("name", "strict", "schema", "description"))
"""Of `response_format` in OpenAI's API."""
_SLOW_WORDS = ('"$ref"', '"$dynamicRef"', '"$recursiveRef"', '"pattern"', '"patternProperties"')


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema that compiled."""

    validator: Any

    def holds(self, value: Any) -> bool:
        """Whether the value is valid; a value with lone surrogates, which no text can hold, is not."""
        try:
            return bool(self.validator.is_valid(value))
        except UnicodeEncodeError:
            return False

    def error(self, value: Any) -> str:
        """What is wrong with a value that is not valid, for people."""
        try:
            error = next(iter(self.validator.iter_errors(value)), None)
        except UnicodeEncodeError as unencodable:
            return str(unencodable)
        if error is None:
            return ""
        path = "".join(f"[{part!r}]" for part in error.instance_path)
        return f"{error.message[:200]} at ${path[:80]}"


def compile_schema(schema: Any, *, check_formats: bool) -> Schema | str:
    """The schema made ready, or what is wrong with it."""
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except (ValueError, RecursionError) as error:
            return f"the schema is text, but not JSON: {error}"
    if not isinstance(schema, dict | bool):
        return f"a schema is an object or a boolean, not {type(schema).__name__}"
    if isinstance(schema, dict) and _is_envelope(schema):
        return (
            "the schema is inside what an API wraps it in, which every document satisfies: give what its `schema` holds"
        )
    length = len(json.dumps(schema))
    if length > MAX_SCHEMA_CHARS:
        return f"the schema has {length} characters; at most {MAX_SCHEMA_CHARS}"
    try:
        validator = jsonschema_rs.validator_for(
            schema,
            validate_formats=check_formats,
            retriever=_refuse,
            pattern_options=jsonschema_rs.RegexOptions(
                size_limit=_MAX_PATTERN_BYTES, dfa_size_limit=_MAX_PATTERN_BYTES
            ),
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        return f"not a schema: {getattr(error, 'message', None) or error}"
    return Schema(validator)


def _is_envelope(schema: dict[str, Any]) -> bool:
    says = isinstance(schema.get("name"), str) or isinstance(schema.get("strict"), bool)
    return says and isinstance(schema.get("schema"), dict) and schema.keys() <= _ENVELOPE


def quick_values(schema: Any, *, check_formats: bool) -> int:
    """How many parts a document may have for compiling and validating to take a few milliseconds at most.

    None at all for a large schema, one with references, which may multiply, or with patterns, which may be large; of
    others each part of the document may meet each part of the schema.
    """
    text = schema if isinstance(schema, str) else json.dumps(schema)
    if len(text) > _MAX_QUICK_CHARS or check_formats or any(word in text for word in _SLOW_WORDS):
        return 0
    most = _MAX_QUICK_MEETINGS // parts(text)
    return min(most, _MAX_QUICK_UNIQUE) if '"uniqueItems"' in text else most


def is_quick(schema: Any, *, check_formats: bool) -> bool:
    """Whether that is so for documents of a few hundred parts."""
    return quick_values(schema, check_formats=check_formats) >= _FEW_HUNDRED


_FEW_HUNDRED = 200


def parts(text: str) -> int:
    """At least as many as there are values in a JSON text."""
    encoded = text.encode("utf-8", "surrogatepass")
    return 1 + len(encoded) - len(encoded.translate(None, b",[{:"))


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri[:100]} is outside the schema")
