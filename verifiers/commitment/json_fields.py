"""The field of a JSON object that holds the answer, where the object ends a text."""

import json
import re

from verifiers.commitment.offers import Offer, last_matches
from verifiers.commitment.spans import Span, strip, unwrap

_TEXT = r'"(?:[^"\\]|\\.)*"'
_FIELD = r'"(?:(?:final_?)?answer|(?P<option>choice|option|label|letter))"\s{0,4}:\s{0,4}'
_VALUE = rf'(?P<list>\[\s?)?(?P<text>{_TEXT})(?(list)\s?\])|(?P<bare>[^\s",{{}}\[\]]+)'
_JSON_FIELD = re.compile(rf"{_FIELD}(?:{_VALUE})", re.IGNORECASE)
_CLOSED = re.compile(r"\}[\s`]{0,8}(?:</\w{1,20}>)?[\s`]{0,8}\Z")
_MAX_JSON_CHARS = 4000
_END_CHARS = 48


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
    span = _object(text, 0, len(text))
    fields = _fields(text, span)
    if span is None or len(fields) != 1:
        return text
    (opening, end), (first, last) = span, fields[0].span()
    blanks = " " * (first - opening - 1), " " * (end - 1 - last)
    return f"{text[: opening + 1]}{blanks[0]}{text[first:last]}{blanks[1]}{text[end - 1 :]}"


def unescaped(text: str) -> str:
    r"""A text of the same length, with the answer in a JSON object that ends it as JSON means it: `\frac12` for `\\frac12`.

    Where LaTeX stands as it is, `\frac12`, nothing is an escape.
    """
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
    return next(((opening, stop) for opening in openings if opening >= 0 and _is_json(text[opening:stop])), None)


def _is_json(text: str) -> bool:
    """Whether the text is an object of JSON, also with what models write in its strings: line breaks, and LaTeX's backslashes."""
    try:
        return isinstance(json.loads(_ESCAPE.sub(_whole_escape, text), strict=False), dict)
    except (ValueError, RecursionError):
        return False


_ESCAPE = re.compile(r"\\.", re.DOTALL)


def _whole_escape(match: re.Match[str]) -> str:
    return match[0] if match[0][1] in '"\\/bfnrt' else f"\\{match[0]}"
