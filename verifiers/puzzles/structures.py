"""Reads JSON, Python literals and mixtures of both: mappings, lists and words. Nothing is evaluated.

A text is split into brackets, quoted words and bare words. Keys are texts. A bare word is a number, a truth value,
None, or text, so that `{0: 1}`, `{"A": "red"}` and `{A: red}` can all be read. The cost is linear in the length, and
nesting is bounded.
"""

import re
from collections.abc import Iterator
from typing import Any, NoReturn

MAX_DEPTH = 50
_MAX_SPANS = 16


class Unreadable(Exception):
    """The text is no such structure."""


def read(text: str) -> Any:
    """The value of a whole text: dict, list, str, int, float, bool or None.

    Raises:
        Unreadable: the text is not a structure, is nested too deep, or gives one key two values.
    """
    tokens = _tokens(text)
    value = _value(tokens, next(tokens), 0)
    if next(tokens) != _END:
        _refuse("text behind the value")
    return value


def offers(text: str, opening: str) -> list[tuple[int, int, Any]]:
    r"""The outermost readable spans that begin with `opening` (`{` or `[`), with their values; the last `_MAX_SPANS`.

    LaTeX braces, `\{`, count as braces.
    """
    structures = []
    text = text.replace("\\{", " {").replace("\\}", " }")
    for start, end in _spans(text)[-_MAX_SPANS:]:
        if text[start] != opening:
            continue
        try:
            structures.append((start, end, read(text[start:end])))
        except Unreadable:
            continue
    return structures


def _spans(text: str) -> list[tuple[int, int]]:
    """The bracketed spans outside any other closed span."""
    spans: list[tuple[int, int]] = []
    brackets: list[tuple[str, int]] = []
    for match in _BRACKET.finditer(text):
        char, position = match[0], match.start()
        if char in _CLOSING:
            brackets.append((_CLOSING[char], position))
        elif brackets and brackets[-1][0] == char:
            start = brackets.pop()[1]
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, position + 1))
        else:
            brackets.clear()
    return spans


_CLOSING = {"{": "}", "[": "]"}
_BRACKET = re.compile(r"[{}\[\]]")
_END = ("end", "")
_QUOTED = r"(?P<quote>[\"'])(?P<quoted>(?:(?!(?P=quote))[^\\]|\\.)*+)(?P=quote)"
_WORD = r"[^\s{}\[\](),:\"']++"
_TOKEN = re.compile(rf"\s*+(?:(?P<sign>[{{}}\[\](),:])|{_QUOTED}|(?P<bare>{_WORD}(?:[ \t]++{_WORD})*+))", re.DOTALL)
_LISTS = {"[": "]", "(": ")"}
_INTEGER = re.compile(r"[-+]?\d{1,18}")
_DECIMAL = re.compile(r"[-+]?\d{1,18}\.\d{1,18}(?:[eE][-+]?\d{1,2})?")
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

_Token = tuple[str, str]


def _refuse(why: str) -> NoReturn:
    raise Unreadable(why)


def _tokens(text: str) -> Iterator[_Token]:
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position, end)
        if match is None:
            _refuse("a quote is not closed")
        position = match.end()
        yield match.lastgroup or "", match[match.lastgroup or 0]
    while True:
        yield _END


def _value(tokens: Iterator[_Token], token: _Token, depth: int) -> Any:
    kind, text = token
    if depth > MAX_DEPTH:
        _refuse("nested too deep")
    if kind == "quoted":
        return _ESCAPE.sub(r"\1", text)
    if kind == "bare":
        return _bare(text)
    if text == "{":
        return _mapping(tokens, depth)
    if kind == "sign" and text in _LISTS:
        return _list(tokens, _LISTS[text], depth)
    _refuse(f"unexpected {text[:20]!r}")


def _bare(text: str) -> Any:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return _CONSTANTS.get(text.lower(), text)


def _list(tokens: Iterator[_Token], closing: str, depth: int) -> list[Any]:
    values: list[Any] = []
    while (token := next(tokens)) != ("sign", closing):
        if token == ("sign", ","):
            continue
        values.append(_value(tokens, token, depth + 1))
    return values


def _mapping(tokens: Iterator[_Token], depth: int) -> dict[str, Any]:
    values: dict[str, Any] = {}
    while (token := next(tokens)) != ("sign", "}"):
        if token == ("sign", ","):
            continue
        if token[0] not in ("quoted", "bare") or next(tokens) != ("sign", ":"):
            _refuse("a key without a value")
        key = _ESCAPE.sub(r"\1", token[1])
        value = _value(tokens, next(tokens), depth + 1)
        if key in values and values[key] != value:
            _refuse(f"two values for {key[:20]!r}")
        values[key] = value
    return values
