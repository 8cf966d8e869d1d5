"""Compiles the JSON schemas of callers: each once, without a network, with patterns that match in linear time.

The validator is jsonschema-rs. It chooses among drafts 4 to 2020-12 by `$schema`; without `$schema` the draft is
2020-12. `$ref` reaches only into the schema itself. An automaton matches patterns. Look-around and back-references
would need backtracking, so a schema with them is refused. `format` is an annotation, as in the standard, unless checks
are asked for.
"""

import json
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from sandbox.workers import Outcome
from verifiers.base import Verdict

MAX_SCHEMA_CHARS = 200_000
_MAX_QUICK_CHARS = 20_000
_MAX_QUICK_MEETINGS = 40_000
"""The most pairs of a part of a document and a part of a schema. Each takes up to 120 ns."""
_MAX_QUICK_UNIQUE = 1_000
"""The most items that must differ. Each of them may be compared with every other."""
_MAX_PATTERN_BYTES = 10 << 20
_BYTES_PER_CHAR = 16
"""Bytes of a validator for each character of its schema, by RSS."""
_BYTES_PER_PATTERN = 50_000
"""The automaton of a usual pattern after some texts. One with large repetitions is larger."""
_ENVELOPE = frozenset(("name", "strict", "schema", "description"))
"""The keys of `response_format` in OpenAI's API."""
_SLOW_WORDS = ('"$ref"', '"$dynamicRef"', '"$recursiveRef"', '"pattern"', '"patternProperties"')

PROBES = ("null", "0", '""', "[]", "{}")
"""The smallest documents. A schema that takes long on one of them is too slow for any response."""


def too_slow_schema(outcome: Outcome) -> Verdict:
    """The verdict on an item whose schema broke a limit with one of `PROBES`."""
    message = f"the schema takes more than a worker may spend on the smallest documents ({outcome.exit}); simplify it"
    return Verdict.invalid("schema_too_slow", message)


@dataclass(frozen=True, slots=True)
class Schema:
    """A compiled schema."""

    validator: Any
    native_bytes: int = 0
    """What the validator takes, which is not an object of Python's."""

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.native_bytes

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
    """The compiled schema, or a message about its fault."""
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except (ValueError, RecursionError) as error:
            return f"the schema is text, but not JSON: {error}"
    if not isinstance(schema, dict | bool):
        return f"a schema must be an object or a boolean, not {type(schema).__name__}"
    if isinstance(schema, dict) and _is_envelope(schema):
        return "the schema is an API's envelope, for which every document is valid: give the value of its key `schema`"
    text = json.dumps(schema)
    length = len(text)
    if length > MAX_SCHEMA_CHARS:
        return f"the schema has {length} characters; at most {MAX_SCHEMA_CHARS} are allowed"
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
        return f"the value is not JSON schema: {getattr(error, 'message', None) or error}"
    return Schema(validator, _BYTES_PER_CHAR * length + _BYTES_PER_PATTERN * text.count('"pattern'))


def _is_envelope(schema: dict[str, Any]) -> bool:
    says = isinstance(schema.get("name"), str) or isinstance(schema.get("strict"), bool)
    return says and isinstance(schema.get("schema"), dict) and schema.keys() <= _ENVELOPE


def quick_values(schema: Any, *, check_formats: bool) -> int:
    """The largest number of parts of a document for which compiling and validating take a few milliseconds.

    It is 0 for a large schema, for a schema with references, which may multiply, and for one with patterns, which may
    be large. With other schemas, each part of the document may meet each part of the schema.
    """
    text = schema if isinstance(schema, str) else json.dumps(schema)
    if len(text) > _MAX_QUICK_CHARS or check_formats or any(word in text for word in _SLOW_WORDS):
        return 0
    limit = _MAX_QUICK_MEETINGS // parts(text)
    return min(limit, _MAX_QUICK_UNIQUE) if '"uniqueItems"' in text else limit


def is_quick(schema: Any, *, check_formats: bool) -> bool:
    """Whether documents of a few hundred parts are quick, by `quick_values`."""
    return quick_values(schema, check_formats=check_formats) >= _FEW_HUNDRED


_FEW_HUNDRED = 200


def parts(text: str) -> int:
    """An upper bound for the number of values in a JSON text."""
    encoded = text.encode("utf-8", "surrogatepass")
    return 1 + len(encoded) - len(encoded.translate(None, b",[{:"))


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri[:100]} is outside the schema; $ref may only refer to its own parts")
