"""The field of a JSON object that holds the answer, where the object ends a text."""

import json
import re
from collections.abc import Mapping
from typing import Any

from verifiers.commitment.cues import Kind, cues, words
from verifiers.commitment.offers import Offer, last_matches
from verifiers.commitment.spans import Span, strip, unwrap

_TEXT = r'"(?:[^"\\]|\\.)*"'
_FIELD = r'"(?:(?:final_?)?answer|(?P<option>choice|option|label|letter))"\s{0,4}:\s{0,4}'
_VALUE = rf'(?P<list>\[\s?)?(?P<text>{_TEXT})(?(list)\s?\])|(?P<bare>[^\s",{{}}\[\]]+)'
_JSON_FIELD = re.compile(rf"{_FIELD}(?:{_VALUE})", re.IGNORECASE)
_CLOSED = re.compile(r"\}[\s`]{0,8}(?:</\w{1,20}>)?[\s`]{0,8}\Z")
_MAX_JSON_CHARS = 4000
_END_CHARS = 48


def may_end_in_object(text: str) -> bool:
    """Whether the last characters of a text hold the end of an object. A quick look."""
    return "}" in text[-_END_CHARS:]


def json_answer(text: str, start: int, end: int) -> Offer | None:
    """The value of `answer` or `final_answer` in a JSON object that ends the text, fenced, tagged or not."""
    span = _object(text, start, end)
    fields = [match for match in _fields(text, span) if match["option"] is None]
    if span is None or not fields:
        return None
    inside = fields[-1].span("bare") if fields[-1]["text"] is None else _inside(fields[-1].span("text"))
    return Offer(*unwrap(text, *strip(text, *inside)), *span)


def without_other_fields(text: str) -> str:
    """A text of the same length without the fields beside the answer in a JSON object that ends it: its reasoning, its confidence."""
    if not may_end_in_object(text):
        return text
    text = _without_open_object(text)
    span = _object(text, 0, len(text))
    fields = _fields(text, span)
    if span is None or len(fields) != 1:
        return text
    (opening, end), (first, last) = span, fields[0].span()
    blanks = " " * (first - opening - 1), " " * (end - 1 - last)
    return f"{text[: opening + 1]}{blanks[0]}{text[first:last]}{blanks[1]}{text[end - 1 :]}"


def unescaped(text: str) -> str:
    r"""A text of the same length, with the answer in a JSON object that ends it as JSON means it: `\frac12` for `\\frac12`.

    Where LaTeX stands as it is, `\frac12`, nothing is an escape. An object that takes its own answer back is left out.
    """
    if not may_end_in_object(text):
        return text
    text = _without_open_object(text)
    if "\\\\" not in text and "\\u" not in text:
        return text
    fields = _fields(text, _object(text, 0, len(text)))
    if not fields or fields[-1]["text"] is None:
        return text
    start, end = _inside(fields[-1].span("text"))
    value = text[start:end]
    meant = json.loads(f'"{value}"', strict=False) if _ESCAPED.fullmatch(value) else value
    if '"' in meant or any("\ud800" <= letter <= "\udfff" for letter in meant):
        return text
    return f"{text[:start]}{meant:<{end - start}}{text[end:]}"


def _without_open_object(text: str) -> str:
    """The text with blanks for an object that ends it, and does not commit to its answer."""
    span = _object(text, 0, len(text))
    fields = None if span is None else _parsed(text[slice(*span)])
    if span is None or fields is None or not _is_open(fields):
        return text
    return f"{text[: span[0]]}{' ' * (span[1] - span[0])}{text[span[1] :]}"


def _is_open(fields: Mapping[str, Any]) -> bool:
    """Whether an object calls its answer wrong, holds only a wrong one, or another beside it.

    {"answer": "B", "is_correct": false}     {"wrong_answer": "B"}     {"answer": "B", "alternative": "C"}
    """
    answers = [value for key, value in fields.items() if _KEY.fullmatch(key)]
    for key, value in fields.items():
        if _KEY.fullmatch(key) or len(key) > _MAX_KEY_CHARS:
            continue
        kinds = _kinds_of(key)
        is_against = not kinds.isdisjoint(_AGAINST)
        if isinstance(value, bool):
            if answers and (is_against if value else not is_against and Kind.RIGHT in kinds):
                return True
        elif answers:
            if value and not kinds.isdisjoint(_BESIDE) and value not in answers:
                return True
        elif Kind.ANSWER in kinds and (is_against or Kind.OTHER in kinds):
            return True
    return False


def names_beside(text: str) -> list[str]:
    """The texts that an object, which ends a text, gives for the answer beside its label: {"answer": "B", "text": "Paris"}."""
    span = _object(text, 0, len(text))
    fields = {} if span is None else _parsed(text[slice(*span)]) or {}
    return [
        value
        for key, value in fields.items()
        if isinstance(value, str) and len(key) <= _MAX_KEY_CHARS and not _NAMES.isdisjoint(_kinds_of(key))
    ]


def judged_names(text: str) -> tuple[Mapping[str, bool], Span]:
    """What an object, which ends a text, says of each of its keys, and its place; nothing if it says anything else: {"A": false, "B": true}."""
    span = _object(text, 0, len(text)) or (0, 0)
    fields = _parsed(text[slice(*span)]) or {}
    return (fields if all(isinstance(value, bool) for value in fields.values()) else {}), span


def _kinds_of(key: str) -> frozenset[Kind]:
    return frozenset(cue.kind for cue in cues(words(key.replace("_", " ").replace("-", " "))))


_KEY = re.compile(r"(?:final[_ ]?)?answer|choice|option|label|letter", re.IGNORECASE)
_MAX_KEY_CHARS = 40
_AGAINST = frozenset([Kind.NOT, Kind.WRONG, Kind.BAD])
_BESIDE = frozenset([Kind.OTHER, Kind.ALSO])
_NAMES = frozenset([Kind.ANSWER, Kind.NOUN, Kind.SOURCE])
_ESCAPED = re.compile(r"(?:[^\\]|\\(?:[\\/]|u[0-9a-fA-F]{4}))*")


def _inside(quoted: Span) -> Span:
    return quoted[0] + 1, quoted[1] - 1


def _fields(text: str, span: Span | None) -> list[re.Match[str]]:
    return [] if span is None else last_matches(_JSON_FIELD.finditer(text, *span), 2)


def _object(text: str, start: int, end: int) -> Span | None:
    """The place of the JSON object that ends a text."""
    origin = max(start, end - _END_CHARS)
    match = _CLOSED.search(text, origin, end) if text.find("}", origin, end) >= 0 else None
    if match is None:
        return None
    stop = match.start() + 1
    origin = max(start, stop - _MAX_JSON_CHARS)
    openings = text.rfind("{", origin, stop), text.find("{", origin, stop)
    for opening in openings:
        if opening >= 0 and _OPENING.match(text, opening) and _parsed(text[opening:stop]) is not None:
            return opening, stop
    return None


_OPENING = re.compile(r"\{\s{0,40}\"")


def _parsed(text: str) -> Mapping[str, Any] | None:
    """An object of JSON, also with what models write in its strings: line breaks, and LaTeX's backslashes; None if it is none."""
    try:
        fields = json.loads(_ESCAPE.sub(_whole_escape, text), strict=False)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


_ESCAPE = re.compile(r"\\.", re.DOTALL)


def _whole_escape(match: re.Match[str]) -> str:
    return match[0] if match[0][1] in '"\\/bfnrt' else f"\\{match[0]}"
