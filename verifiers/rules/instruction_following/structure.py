"""The instructions of IFBench (Pyatkin et al. 2025) on the parts of a response: bullets, lists, sections, slots.

Profile fixed checks every section and bullet where the published check looks at only the first or at none. It does not
accept a response that lacks the parts.
"""

import re
from collections.abc import Sequence

from verifiers.commitment import fold
from verifiers.rules.instruction_following import boundaries
from verifiers.rules.instruction_following.amounts import kinds
from verifiers.rules.instruction_following.constraints import Constraint, text
from verifiers.rules.instruction_following.counting import Text, sentences
from verifiers.rules.tags import has_substance


def _official_list(view: Text, sep: str) -> bool:
    return view.raw.count(sep) >= 2


_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+\S")


def _list(view: Text, sep: str) -> bool:
    """Whether at least two lines begin with the separator and go on, and no line begins with another bullet."""
    mark = fold(sep).strip()
    wrapping = "".join(set(" *_>") - set(mark[0]))
    items = [line.strip().lstrip(wrapping) if mark in line else line.strip() for line in view.lines]
    marked = [item for item in items if item.startswith(mark) and any(map(str.isalnum, item[len(mark) :]))]
    return len(marked) >= 2 and not any(_BULLET.match(item) for item in items if not item.startswith(mark))


def _official_thesis(view: Text) -> bool:
    start = view.raw.find("<i>")
    if start < 0:
        start = view.raw.find("<em>")
    if start < 0:
        return False
    value = view.raw[start:]
    stop = value.find("</i>")
    if stop < 0:
        stop = value.find("</em>")
    return stop >= 0 and bool(value[3:stop].strip()) and bool(value[stop + 4 :].strip())


_HEADERS = (
    re.compile(r"#{1,6}\s+\S.*"),
    re.compile(r"\*\*[^*\n]{1,200}\*\*:?"),
    re.compile(r"<h[1-6]>.*", re.IGNORECASE),
    re.compile(r"(?:section|part|chapter)\s+[\w]{1,12}\b.{0,120}", re.IGNORECASE),
    re.compile(r"(?:[IVX]{1,5}|\d{1,2})[.)]\s.{0,120}", re.IGNORECASE),
)

_THESIS = re.compile(r"\s*(?:<(?:p|div|section|article)>\s*){0,3}<(i|em)>([^<]*)</\1>", re.IGNORECASE)

_TAG = re.compile(r"<[^<>]{0,200}>")

_END_OF_HEADING = re.compile(r"</h[1-6]>", re.IGNORECASE)


def _thesis(view: Text) -> bool:
    """Whether every section begins with words in italics and goes on after them."""
    sections: list[list[str]] = [[]]
    for line in filter(str.strip, _END_OF_HEADING.sub(r"\g<0>\n", view.folded).split("\n")):
        if any(header.fullmatch(line.strip()) for header in _HEADERS) and not _THESIS.match(line):
            sections.append([])
        else:
            sections[-1].append(line)
    if len(sections) > 1 and not _THESIS.match("\n".join(sections[0])):
        del sections[0]
    return bool(sections) and all(map(_begins_with_thesis, sections))


def _begins_with_thesis(lines: Sequence[str]) -> bool:
    value = "\n".join(lines)
    match = _THESIS.match(value)
    if match is None or not any(map(str.isalnum, match[2])):
        return False
    return any(map(str.isalnum, _TAG.sub("", value[match.end() :])))


def _official_sub_bullets(view: Text) -> bool:
    return all("-" in piece for piece in view.raw.split("*")[1:])


_STAR_BULLET = re.compile(r"\s*\*(?:\s+\S|[^\s*][^*]*$)")

_DASH_BULLET = re.compile(r"\s*-\s+\S")


def _sub_bullets(view: Text) -> bool:
    """Whether there are bullets with `*`, and each has a line with `-` before the next one."""
    dash_counts: list[int] = []
    for line in filter(has_substance, view.lines):
        if _STAR_BULLET.match(line):
            dash_counts.append(0)
        elif _DASH_BULLET.match(line) and dash_counts:
            dash_counts[-1] += 1
    return bool(dash_counts) and all(dash_counts)


def _official_then_bullets(view: Text) -> bool:
    """Whether at least two sentences come before the bullets, by the published check.

    After a bullet, or a line without sentences, that check accepts only bullets.
    """
    sentence_count = bulleted = 0
    reading = True
    for line in map(str.strip, view.raw.split("\n")):
        if line.startswith("*"):
            if sentence_count < 2:
                return False
            reading = False
            bulleted += 1
        elif not reading:
            return False
        else:
            line_sentences = len(boundaries.sentences(line))
            reading = line_sentences > 0
            sentence_count += line_sentences
    return bulleted >= 2


def _then_bullets(view: Text) -> bool:
    """Whether at least two sentences that end in a full stop come before at least two bullets."""
    lines = [line for line in view.lines if has_substance(line)]
    first = next((index for index, line in enumerate(lines) if _STAR_BULLET.match(line)), None)
    if first is None:
        return False
    stated, _, _ = kinds(sentences("\n".join(lines[:first])))
    return stated >= 2 and sum(_STAR_BULLET.match(line) is not None for line in lines[first:]) >= 2


_SLOTS = ("My Answer:", "My Conclusion:", "Future Outlook:")
_UNFILLED = ("[answer]", "[conclusion]", "[outlook]")
_LINE_MARKS = "#>-_ \t\n"
"""The marks of a heading, a bullet or a quote. They do not count as text before the first label."""


def _official_template(view: Text) -> bool:
    return all(slot in view.raw for slot in _SLOTS)


def _template(view: Text) -> bool:
    """Whether the three labels occur once each and in order, with nothing before the first and own text after each."""
    value = view.folded.replace("*", "").lstrip(_LINE_MARKS)
    if not value.startswith(_SLOTS[0]) or any(value.count(slot) != 1 for slot in _SLOTS):
        return False
    starts_at = [value.index(slot) for slot in _SLOTS]
    stops = [*starts_at[1:], len(value)]
    return starts_at == sorted(starts_at) and all(
        any(map(str.isalnum, value[start + len(slot) : end].replace(unfilled, "")))
        for start, slot, end, unfilled in zip(starts_at, _SLOTS, stops, _UNFILLED, strict=True)
    )


CONSTRAINTS = (
    Constraint("format:list", _official_list, _list, {"sep": text}),
    Constraint("format:thesis", _official_thesis, _thesis),
    Constraint("format:sub-bullets", _official_sub_bullets, _sub_bullets),
    Constraint("format:no_bullets_bullets", _official_then_bullets, _then_bullets),
    Constraint("format:output_template", _official_template, _template),
)
