"""Decodes JSON as judges write it: strictly first, then with a fixed list of repairs that cannot change its meaning.

Repairs, all in one pass over the text: backslashes that escape nothing (LaTeX), raw control characters in strings,
trailing commas, typographic quotes as delimiters, Python literals; besides, one pair of doubled outer braces and one
level of string encoding. Nothing is guessed: no missing quote, comma or brace is put in, no JSON5.

A key that occurs twice (without regard to case and spaces around it) is always an error: a quotation that broke out of
its string looks like that.
"""

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from verifiers.judge.errors import Unparseable
from verifiers.judge.parsing.objects import MAX_DEPTH

_MAX_NUMBER_CHARS: Final = 300
_PIECE: Final = re.compile(r'"|[“”„‟]|\'|,(?=\s*[}\]])|[A-Za-z]+', re.DOTALL)
_ESCAPE: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})')
_CONTROLS: Final = {code: f"\\u{code:04x}" for code in range(32)} | {10: "\\n", 13: "\\r", 9: "\\t"}
_PYTHON: Final = {"True": "true", "False": "false", "None": "null"}
_JSON_WORDS: Final = frozenset({"true", "false", "null"})
_CLOSERS: Final = {'"': '"', "'": "'", "“": "”", "”": "”", "„": "“”", "‟": "”"}


MISSING: Final = object()


def fold(key: str) -> str:
    return key.strip().casefold()


def member(value: Mapping[str, Any], key: str) -> Any:
    """The value under a key of an object, ignoring case and spaces around the key; `MISSING` if there is none."""
    if key in value:
        return value[key]
    folded = fold(key)
    return next((content for name, content in value.items() if fold(name) == folded), MISSING)


def decode(source: str) -> tuple[Any, bool]:
    """Decode a text; the value, and whether the text had to be repaired.

    Raises:
        Unparseable: invalid_json, duplicate_key, schema_mismatch (NaN, Infinity).
    """
    try:
        return _strict(source), False
    except ValueError:
        pass
    for attempt in (_repaired(source), *_unwrapped(source)):
        try:
            if attempt is not None:
                return _strict(attempt), True
        except ValueError:
            continue
    raise Unparseable("invalid_json", "the object is not JSON, and no repair of the list makes it so")


def strict(text: str) -> Any:
    """Decode JSON that a machine wrote, without repairs.

    Raises:
        Unparseable: invalid_json, duplicate_key, schema_mismatch.
    """
    try:
        return _strict(text)
    except ValueError as error:
        raise Unparseable("invalid_json", "the body is not JSON") from error


def begin_of(source: str, key: str) -> int | None:
    """The position of a member's text in a strict JSON object, after the opening quote if it has one."""
    decoder = json.JSONDecoder()
    position = 1
    while (quote := source.find('"', position)) >= 0:
        name, end = decoder.raw_decode(source, quote)
        value = source.index(":", end) + 1
        value += len(source[value:]) - len(source[value:].lstrip())
        if fold(name) == fold(key):
            return value + (source[value] == '"')
        _, position = decoder.raw_decode(source, value)
    return None


def decoded_text(text: str) -> str | None:
    """The text whose JSON string is `text`, if it holds an object: this is one level of string encoding."""
    bare = text.strip("` \t\n")
    bare = bare.removeprefix("json").lstrip()
    if not (len(bare) > 1 and bare[0] == bare[-1] == '"'):
        return None
    try:
        decoded = json.loads(bare, strict=False)
    except ValueError:
        return None
    return decoded.strip() if isinstance(decoded, str) and decoded.lstrip().startswith("{") else None


def _strict(source: str) -> Any:
    try:
        return json.loads(
            source,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_integer,
        )
    except RecursionError as error:
        raise Unparseable("invalid_json", f"more than {MAX_DEPTH} levels deep") from error


def _object(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    if len({fold(key) for key, _ in pairs}) != len(pairs):
        raise Unparseable("duplicate_key", "a key occurs twice")
    return dict(pairs)


def _refuse_constant(name: str) -> Any:
    raise Unparseable("schema_mismatch", f"{name} is not JSON value")


def _integer(digits: str) -> int | float:
    """Convert digits; for hundreds of digits only the size matters, because an exact conversion is slow."""
    return int(digits) if len(digits) <= _MAX_NUMBER_CHARS else float("-inf" if digits[0] == "-" else "inf")


def _unwrapped(source: str) -> list[str | None]:
    """The readings without doubled outer braces, and without escapes if all quotes are escaped."""
    readings: list[str | None] = []
    body = source[1:-1].strip()
    if source[0] == "{" and body[:1] == "{" and body[-1:] == "}":
        readings += [body, _repaired(body)]
    if re.match(r'\{\s*\\"', source):
        with contextlib.suppress(ValueError):
            readings.append(json.loads(f'"{source}"', strict=False))
    return readings


def _repaired(source: str) -> str | None:
    """The text after the repairs; None if it mixes notations that no writer mixes."""
    out: list[str] = []
    position, is_python = 0, False
    words: set[str] = set()
    while (piece := _PIECE.search(source, position)) is not None:
        out.append(source[position : piece.start()])
        text = piece.group()
        position = piece.end()
        if text in _CLOSERS:
            string = _string(source, position, _CLOSERS[text])
            if string is None:
                return None
            out.append(string[0])
            position = string[1]
            is_python = is_python or text == "'"
        elif text in _PYTHON:
            is_python = True
            out.append(_PYTHON[text])
        elif text != ",":
            words.add(text)
            out.append(text)
    out.append(source[position:])
    return None if is_python and words & _JSON_WORDS else "".join(out)


def _string(source: str, start: int, closers: str) -> tuple[str, int] | None:
    """A string, whose opening quote ends at `start`, in JSON form, and its end."""
    out = ['"']
    position = start
    while position < len(source):
        character = source[position]
        if character in closers:
            out.append('"')
            return "".join(out), position + 1
        if character == "\\":
            escape = _ESCAPE.match(source, position)
            if escape is not None:
                out.append(escape.group())
                position = escape.end()
            elif source[position + 1 : position + 2] == "'":
                out.append("'")
                position += 2
            else:
                out.append("\\\\")
                position += 1
            continue
        if character == '"':
            if closers != "'":
                return None
            out.append('\\"')
        else:
            out.append(_CONTROLS.get(ord(character), character))
        position += 1
    return None
