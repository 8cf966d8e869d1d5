"""Reads calls in Gemma's notation: `call:f{a:<|"|>text<|"|>,b:[1,2],c:{d:true}}`.

Keys, numbers, true, false and null have no quotes. Strings stand between two equal tokens, `<|"|>` (Gemma 4) or
`<escape>` (FunctionGemma), and have no escapes.
"""

import re
from typing import Any

from verifiers.rules.documents import MAX_DEPTH, Unreadable, read_json
from verifiers.rules.tool_call.calls import Call, Malformed

MARK = r"(?:<\|tool_call>|<start_function_call>)\s?call:"
_NAME = re.compile(r"([\w.\-]{1,200})\s?(?=\{)")
_CLOSING = re.compile(r"\s*(?:<tool_call\|>|<end_function_call>)")
_QUOTES = ('<|"|>', "<escape>")
_KEY = re.compile(r"\s*(?:<\|\"\|>|<escape>)?([^\s:,{}\[\]<>]{1,200})(?:<\|\"\|>|<escape>)?\s*:\s*")
_BARE = re.compile(r"[^,\[\]{}<>]{1,5000}")
_SPACE = re.compile(r"\s*")


def gemma(text: str, position: int) -> tuple[list[Call], int]:
    name = _NAME.match(text, position)
    if name is None:
        raise Malformed("a call has no name")
    arguments, position = _mapping(text, name.end(), 1)
    closing = _CLOSING.match(text, position)
    if closing is None:
        raise Malformed("a call is not closed")
    return [Call(name[1], arguments)], closing.end()


def _value(text: str, position: int, depth: int) -> tuple[Any, int]:
    if depth > MAX_DEPTH:
        raise Malformed("the arguments of a call are nested too deep")
    for quote in _QUOTES:
        if text.startswith(quote, position):
            return _string(text, position + len(quote), quote)
    if text.startswith("{", position):
        return _mapping(text, position, depth)
    return _list(text, position, depth) if text.startswith("[", position) else _bare(text, position)


def _string(text: str, position: int, quote: str) -> tuple[str, int]:
    end = text.find(quote, position)
    if end < 0:
        raise Malformed("a string is not closed")
    return text[position:end], end + len(quote)


def _bare(text: str, position: int) -> tuple[Any, int]:
    """The value of text without quotes, and its end. It is a number, a JSON word, or else a string."""
    match = _BARE.match(text, position)
    word = match[0].strip() if match else ""
    if match is None or not word:
        raise Malformed("expected a value")
    try:
        return read_json(word, unique_keys=True), match.end()
    except Unreadable:
        return word, match.end()


def _mapping(text: str, position: int, depth: int) -> tuple[dict[str, Any], int]:
    mapping: dict[str, Any] = {}
    position = _skip(text, position + 1)
    while not text.startswith("}", position):
        key = _KEY.match(text, position)
        if key is None:
            raise Malformed("expected a key")
        if key[1] in mapping:
            raise Malformed("a key is named twice")
        mapping[key[1]], position = _value(text, key.end(), depth + 1)
        position = _next(text, position, "}")
    return mapping, position + 1


def _list(text: str, position: int, depth: int) -> tuple[list[Any], int]:
    entries: list[Any] = []
    position = _skip(text, position + 1)
    while not text.startswith("]", position):
        value, position = _value(text, position, depth + 1)
        entries.append(value)
        position = _next(text, position, "]")
    return entries, position + 1


def _next(text: str, position: int, closing: str) -> int:
    """The start of the next element, or of `closing`."""
    position = _skip(text, position)
    if text.startswith(",", position):
        return _skip(text, position + 1)
    if not text.startswith(closing, position):
        raise Malformed(f"expected a comma or {closing}")
    return position


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
