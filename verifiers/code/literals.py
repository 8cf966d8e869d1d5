"""Reads values that data sets write as text: JSON or Python literals, one or several arguments."""

import ast
import json
import math
import re
from typing import Any

import msgspec

from sandbox.runner.values import encoding
from verifiers.base import InvalidItem, clip

MAX_LITERAL_CHARS = 1_000_000
"""Longer texts are read as JSON or not at all: Python's own parser takes seconds for megabytes."""

_ERRORS = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)


def value(text: str, where: str) -> Any:
    """One value: JSON, a Python literal, or a bare word, which stands for itself.

    Raises:
        InvalidItem: the text is none of these, or the value is elided.
    """
    text = text.strip()
    try:
        return _json(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        pass
    read = _python(text)
    if read is _NOTHING:
        read = _json_of_python(text)
    if read is _NOTHING:
        if text and text[0] not in "[]{}()\"'`-+.0123456789" and "\n" not in text:
            return text
        raise InvalidItem("unparseable_tests", f"{where}: expected JSON or a Python literal, found {clip(text)!r}")
    if is_elided(read):
        raise elided(where, text)
    return read


def arguments(text: str, where: str) -> tuple[list[Any], bool]:
    """Read the arguments of a call: one JSON value per line, or the text in the parentheses of a Python call.

    The second value says whether JSON leaves them unchanged.

    Raises:
        InvalidItem: the text has neither form.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    read: list[Any] = []
    for line in lines:
        try:
            read.append(_json(line))
        except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
            break
    else:
        return read, True
    for pieces in (lines, [text]):
        try:
            values = [argument for piece in pieces for argument in _call_arguments(piece)]
            return values, is_json(values)
        except _ERRORS:
            continue
    raise InvalidItem(
        "unparseable_tests",
        f"{where}: expected one argument per line as JSON or Python literals, found {clip(text)!r}",
    )


def is_json(value: object) -> bool:
    """Whether a value stays the same when it is written as JSON and read again."""
    if value is None or isinstance(value, (bool, int, str)):
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list):
        return all(map(is_json, value))
    return isinstance(value, dict) and all(isinstance(key, str) and is_json(part) for key, part in value.items())


def is_elided(read: Any) -> bool:
    """Whether part of a value is elided (`[1, 2, ...]`)."""
    if read is Ellipsis:
        return True
    if isinstance(read, dict):
        return any(is_elided(part) for pair in read.items() for part in pair)
    return isinstance(read, (list, tuple, set, frozenset)) and any(map(is_elided, read))


def is_elided_text(text: str) -> bool:
    """Whether a text is a list with an elided end; elsewhere dots are ordinary output."""
    text = text.strip()
    return text[:1] in ("[", "(", "{") and _ELIDED_END.search(text[-20:]) is not None


_ELIDED_END = re.compile(r",\s*(?:\.\.\.|…)\s*[\])}]\Z")


def elided(where: str, text: str) -> InvalidItem:
    return InvalidItem("elided_tests", f"{where}: the value must be written in full, found {clip(text)!r}")


def image(values: Any) -> bytes:
    """The image (`encoding`) of values that a data set expects.

    Raises:
        ValueError: they have none, because they are too large or hold something else than plain data.
    """
    written = encoding.encode(values)
    try:
        read_again = encoding.decode(written)
    except encoding.Undecodable as error:
        raise ValueError(f"a value is {error}") from error
    if isinstance(read_again, encoding.Opaque):
        raise ValueError(f"it takes more than {encoding.MAX_BYTES} bytes, or is a {read_again.type_name}")
    return written


class _Nothing:
    pass


_NOTHING = _Nothing()


def _json(text: str) -> Any:
    return msgspec.json.decode(text.encode())


def _json_of_python(text: str) -> Any:
    """Read JSON with Python's words for numbers that are not finite: NaN, Infinity."""
    if _NO_NUMBERS.search(text) is None:
        return _NOTHING
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING


_NO_NUMBERS = re.compile(r"(?:\A|[\[,:\s])(?:NaN|-?Infinity)(?:\Z|[\],}\s])")


def _python(text: str) -> Any:
    if len(text) > MAX_LITERAL_CHARS:
        return _NOTHING
    try:
        return ast.literal_eval(text.replace("…", "...") if _ELIDED_END.search(text[-20:]) else text)
    except _ERRORS:
        return _NOTHING


def _call_arguments(text: str) -> list[Any]:
    """The values between the parentheses of a call, named ones in their order.

    Raises:
        SyntaxError, ValueError and others of `_ERRORS`: the text is not a list of arguments.
    """
    if len(text) > MAX_LITERAL_CHARS:
        raise ValueError("too long")
    call = ast.parse(f"_(\n{text}\n)", mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ValueError("not a list of arguments")
    nodes = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [ast.literal_eval(node) for node in nodes]
