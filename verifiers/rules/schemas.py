"""Compiles the JSON schemas of callers once, without a network, and with regular expressions of linear time.

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
"""Pairs of a part of a document and a part of a schema, at up to 120 ns each."""
_MAX_QUICK_UNIQUE = 1_000
"""Items that have to differ. Each may be compared with every other."""
_MAX_PATTERN_BYTES = 10 << 20
_ENVELOPE = frozenset(("name", "strict", "schema", "description"))
"""Of `response_format` in OpenAI's API."""
_SLOW_WORDS = ('"$ref"', '"$dynamicRef"', '"$recursiveRef"', '"pattern"', '"patternProperties"')


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema that compiled."""

    validator: Any

    def holds(self, value: Any) -> bool:
        """Whether a value is valid. A value with lone surrogates, which no text can hold, is not valid."""
        try:
            return bool(self.validator.is_valid(value))
        except UnicodeEncodeError:
            return False

    def error(self, value: Any) -> str:
        """A message for people about the fault of an invalid value."""
        try:
            error = next(iter(self.validator.iter_errors(value)), None)
        except UnicodeEncodeError as unencodable:
            return str(unencodable)
        if error is None:
            return ""
        path = "".join(f"[{part!r}]" for part in error.instance_path)
        return f"{error.message[:200]} at ${path[:80]}"


def compile_schema(schema: Any, *, check_formats: bool) -> Schema | str:
    """The compiled schema, or the fault in it."""
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
    """The number of parts of a document for which compiling and validating take at most a few milliseconds.

    It is 0 for a large schema, for one with references, which may multiply, and for one with patterns, which may be
    large. With others, each part of the document may meet each part of the schema.
    """
    text = schema if isinstance(schema, str) else json.dumps(schema)
    if len(text) > _MAX_QUICK_CHARS or check_formats or any(word in text for word in _SLOW_WORDS):
        return 0
    most = _MAX_QUICK_MEETINGS // parts(text)
    return min(most, _MAX_QUICK_UNIQUE) if '"uniqueItems"' in text else most


def is_quick(schema: Any, *, check_formats: bool) -> bool:
    """Whether documents of a few hundred parts are quick by `quick_values`."""
    return quick_values(schema, check_formats=check_formats) >= _FEW_HUNDRED


_FEW_HUNDRED = 200


def parts(text: str) -> int:
    """An upper bound for the number of values in a JSON text."""
    encoded = text.encode("utf-8", "surrogatepass")
    return 1 + len(encoded) - len(encoded.translate(None, b",[{:"))


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri[:100]} is outside the schema")
