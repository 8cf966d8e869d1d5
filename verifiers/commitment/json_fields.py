"""The field `answer` of a JSON object that ends a text."""

import json
import re

from verifiers.commitment.offers import Offer, last_matches
from verifiers.commitment.spans import strip, unwrap

_JSON_KEY = re.compile(
    r'"(?:final_?)?answer"\s{0,4}:\s{0,4}(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<bare>[^\s",{}\[\]]+))', re.IGNORECASE
)
_MAX_JSON_CHARS = 4000


def json_answer(text: str, start: int, end: int) -> Offer | None:
    """The value of `answer` or `final_answer` in a JSON object that ends the text, fenced or not."""
    end = strip(text, start, end, "`")[1]
    start = max(start, end - _MAX_JSON_CHARS)
    if not text.endswith("}", start, end) or (found := last_matches(_JSON_KEY.finditer(text, start, end), 1)) == []:
        return None
    for opening in (text.rfind("{", start, end), text.find("{", start, end)):
        if _is_json(text[opening:end]):
            inner = found[0].span("bare" if found[0]["text"] is None else "text")
            return Offer(*unwrap(text, *strip(text, *inner)), opening, end)
    return None


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
