"""Citation marks behind a statement: "Paris [1]", "12 km [2][3].", 【1†source】."""

import re

from verifiers.commitment.cues import Kind, cues, words
from verifiers.commitment.spans import behind_thinking

_MARK = r"(?:\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,8}\]|【\d{1,3}(?::\d{1,3})?†[^】\n]{0,80}】)"
_MARKS = re.compile(rf"{_MARK}(?:[\s,]?{_MARK}){{0,8}}(?=[\s.,;!?*_)<\"”。，]|\Z)")
_BRACKET = re.compile(r"\[\^?\d")
"""The beginning of most marks; few brackets of LaTeX begin so."""
_BEFORE_CHARS = 48
_GOES_ON = re.compile(r"\s?[-+*/×·=^\[(]\s?[\w(\[]")
_MARKS_AT_END = re.compile(rf"(?:[\s,]?{_MARK}){{1,9}}(?P<stop>[.!。]?)\Z")
_AT_END_CHARS = 200


def without_citations(text: str) -> str:
    """A text of the same length, with spaces for the citation marks behind an amount: their numbers are not amounts."""
    start = behind_thinking(text)
    if _BRACKET.search(text, start) is None and text.find("†", start) < 0:
        return text
    return text[:start] + _MARKS.sub(_space, text[start:])


def _space(marks: re.Match[str]) -> str:
    text, start = marks.string, marks.start()
    is_source = "†" in marks[0] or _is_behind_amount(text, max(0, start - _BEFORE_CHARS), start)
    return " " * len(marks[0]) if is_source and not _GOES_ON.match(text, marks.end()) else marks[0]


def _is_behind_amount(text: str, start: int, end: int) -> bool:
    """Whether a part of a text ends in a number with its noun: "12 km", "3 apples left"."""
    phrase = words(text, start, end)
    index = len(phrase) - (phrase[-1:] != [] and phrase[-1].text in ".,")
    indices = {cue.stop - 1 for cue in cues(phrase) if cue.kind in _NO_UNITS}
    for _ in range(_MAX_UNIT_WORDS):
        index -= index > 0 and phrase[index - 1].text.isalpha() and index - 1 not in indices
    while index > 0 and phrase[index - 1].text in "%°$":
        index -= 1
    return index > 0 and phrase[index - 1].text[0].isdigit()


_NO_UNITS = frozenset([Kind.IS, Kind.THE, Kind.OR, Kind.JOINS, Kind.COMPLEMENT, Kind.ASIDE, Kind.CHOOSE])
_MAX_UNIT_WORDS = 3


def without_citations_at_end(text: str) -> str:
    """A short text without the marks at its end. A text of nothing but marks keeps them."""
    if "]" not in text and "】" not in text:
        return text
    marks = _MARKS_AT_END.search(text, max(0, len(text) - _AT_END_CHARS))
    if marks is None or not any(map(str.isalnum, text[: marks.start()])):
        return text
    return text[: marks.start()] + marks["stop"]
