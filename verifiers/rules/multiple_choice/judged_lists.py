"""A list of the options at a response's end that says of each whether it is right: "A) London: incorrect", "| C | Yes |"."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

import msgspec

from verifiers.rules.multiple_choice.choices import MultipleChoiceParams
from verifiers.rules.multiple_choice.closing import CROSSED, TICKED
from verifiers.rules.multiple_choice.commitment import Found
from verifiers.rules.multiple_choice.lines import ENTRY, MAX_LINE_CHARS
from verifiers.rules.multiple_choice.options import Options
from verifiers.rules.multiple_choice.phrases import Clues

_MAX_ENTRIES = 26
_NEXT_ENTRY = re.compile(r"(?<=[.;,])\s+(?=[(\[*]{0,3}[A-Z][)\]*]{0,3}\s?[.:)–—=-])")
_RIGHT, _WRONG = (
    r"correct|right|true|yes|正[确確]|[对對]|√",
    r"incorrect|wrong|false|no|not\s(?:correct|right|true)|错误|錯誤|不正[确確]|不[对對]|[错錯]|×",
)
_CALLS = re.compile(
    rf"(?:^|[.:|(,=→–—：，（。-]|[选選]?[项項])[\s*_|]*(?:(?:so\s)?(?:this|that|it)(?:['’]s|\sis)\s)?(?:(?P<right>{_RIGHT})|(?P<wrong>{_WRONG}))(?=[*_\s|]*(?:[.,;:!)–—-]|$))",
    re.IGNORECASE,
)
_IN_TEXTS = re.compile(rf"(?<![^\W_])(?:{_RIGHT}|{_WRONG})(?![^\W_])", re.IGNORECASE)
_PLAIN_WORDS = frozenset(
    ("correct", "incorrect", "right", "wrong", "not correct", "not right", "正确", "错误", "不正确", "√", "×")
)
"""That are hardly an option themselves, as "true" and "yes" are."""
_BUT = re.compile(r"[但或]|\b(?:but|however|though|although|except|unless|if|only\swhen|or)\b", re.IGNORECASE)
_MIN_WRONG = 2
"""With one alone it is open whether the right or the wrong one is asked for."""


class _Entry(msgspec.Struct, frozen=True):
    label: str
    is_right: bool | None
    is_ticked: bool
    span: tuple[int, int]


def judged(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    """The one option called right in a list that ends the response and calls the others wrong; with `multi`, those."""
    text = clues.scene.text
    entries = _entries(text, options)
    if entries is None:
        return Found(None, "conflicting_answers", "line")
    if len(entries) <= _MIN_WRONG or any(map(_IN_TEXTS.search, options.texts.values())):
        return None
    right = [entry for entry in entries.values() if entry.is_right]
    wrong = [entry for entry in entries.values() if entry.is_right is False]
    is_whole = len(right) + len(wrong) == len(entries)
    if not right or (len(right) > 1 and not (params.multi and is_whole)):
        return None
    if len(wrong) < _MIN_WRONG - params.multi and not all(entry.is_ticked for entry in right):
        return None
    seen = tuple(text[slice(*entry.span)] for entry in right)
    return Found(frozenset(entry.label for entry in right), "found", "line", right[-1].span, seen)


def _entries(text: str, options: Options) -> Mapping[str, _Entry] | None:
    """What the lines at the end, or else the parts of the last one, say of an option each; none where one is told of
    twice, None where it is called right and wrong.
    """
    start, end = next(_lines_from_the_end(text), (0, 0))
    if not ENTRY.match(text, start, end):
        return {}
    found: dict[str, _Entry] = {}
    for begin, stop in _lines_from_the_end(text):
        entry = _entry(text, begin, stop, options)
        if entry is None:
            break
        if (below := found.get(entry.label)) and {below.is_right, entry.is_right} == {True, False}:
            return None
        if below or len(found) == _MAX_ENTRIES:
            return {}
        found[entry.label] = entry
    if len(found) > 1:
        return found
    parts = [start, *(gap.end() for gap in _NEXT_ENTRY.finditer(text, start, end)), end]
    several = [_entry(text, begin, stop, options) for begin, stop in pairwise(parts)]
    entries = [entry for entry in several if entry is not None]
    by_label = {entry.label: entry for entry in entries}
    return by_label if len(by_label) == len(several) else {}


def _lines_from_the_end(text: str) -> Iterator[tuple[int, int]]:
    """The lines that are not blank, the last one first, up to one that is too long for an entry."""
    end = len(text)
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        if end - start > MAX_LINE_CHARS:
            return
        if start < end and not text[start:end].isspace():
            yield start, end
        end = start - 1


def _entry(text: str, start: int, end: int, options: Options) -> _Entry | None:
    match = ENTRY.match(text, start, end)
    label = options.label(match["label"]) if match else None
    if match is None or label is None:
        return None
    told = match["told"]
    ticks, crosses = TICKED.search(told) is not None, CROSSED.search(told) is not None
    calls = [call for call in _CALLS.finditer(told) if _counts(call, options)]
    ticks = ticks or match["box"] not in (None, " ")
    is_right = ticks or any(call["right"] for call in calls)
    is_wrong = crosses or match["box"] == " " or any(call["wrong"] for call in calls)
    if is_right and (is_wrong or _BUT.search(told)):
        return None
    return _Entry(label, is_right if is_right or is_wrong else None, ticks, match.span("label"))


def _counts(call: re.Match[str], options: Options) -> bool:
    """Whether a word is a verdict, and cannot be an option's text that is not known."""
    return bool(options.forms) or (call["right"] or call["wrong"]).lower() in _PLAIN_WORDS
