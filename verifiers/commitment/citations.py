"""Marks of sources behind what was found in them: "Paris [1]", "12 km [2][3].", 【1†source】."""

import re

from verifiers.commitment.spans import behind_thinking

_MARK = r"(?:\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,8}\]|【\d{1,3}(?::\d{1,3})?†[^】\n]{0,80}】)"
_MARKS = re.compile(rf"{_MARK}(?:[\s,]?{_MARK}){{0,8}}(?=[\s.,;!?*_)<\"”。，]|\Z)")
_BRACKET = re.compile(r"\[\^?\d")
"""With which most marks begin; of LaTeX's brackets few do."""
_AMOUNT_BEFORE = re.compile(
    r"\d[%°$*_]{0,3}(?:\s(?!(?:is|are|was|equals?|gives?|makes?|yields?|becomes?|to|and|or|in|at|for|with|from|by|of|the|list|array|vector)(?:\s|\Z))"
    r"[A-Za-z]{1,12}){0,3}[.,*_]{0,3}\s?\Z"
)
_BEFORE_CHARS = 48
_GOES_ON = re.compile(r"\s?[-+*/×·=^\[(]\s?[\w(\[]")
_MARKS_AT_END = re.compile(rf"(?:[\s,]?{_MARK}){{1,9}}(?P<stop>[.!。]?)\Z")
_AT_END_CHARS = 200


def without_citations(text: str) -> str:
    """A text of the same length with space in place of the marks behind an amount, which are numbers of another kind."""
    start = behind_thinking(text)
    if _BRACKET.search(text, start) is None and text.find("†", start) < 0:
        return text
    return text[:start] + _MARKS.sub(_space, text[start:])


def _space(marks: re.Match[str]) -> str:
    text, start = marks.string, marks.start()
    is_source = "†" in marks[0] or _AMOUNT_BEFORE.search(text, max(0, start - _BEFORE_CHARS), start) is not None
    return " " * len(marks[0]) if is_source and not _GOES_ON.match(text, marks.end()) else marks[0]


def without_citations_at_end(text: str) -> str:
    """A short text without the marks at its end; one that is nothing else keeps them."""
    if "]" not in text and "】" not in text:
        return text
    marks = _MARKS_AT_END.search(text, max(0, len(text) - _AT_END_CHARS))
    if marks is None or not any(map(str.isalnum, text[: marks.start()])):
        return text
    return text[: marks.start()] + marks["stop"]
