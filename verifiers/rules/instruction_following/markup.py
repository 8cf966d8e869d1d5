"""The instructions of IFEval (Zhou et al. 2023) on the content and markup of a response: `detectable_…`.

Profile official reads a text as the published checkers do. Profile fixed corrects their known faults: they take
citations for placeholders, rules for bullets, arithmetic for emphasis and bare scalars for JSON, and accept a list of
all options as a choice.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from verifiers.caseless import caseless
from verifiers.commitment import fold
from verifiers.rules.instruction_following import patterns
from verifiers.rules.instruction_following.constraints import Constraint, count, stripped, word
from verifiers.rules.instruction_following.counting import HANGUL, UNSPACED, Text, phrase_end, placeholders
from verifiers.rules.tags import has_substance

# --- content


def _official_placeholders(text: Text, num_placeholders: int) -> bool:
    return len(placeholders(text.raw)) >= num_placeholders


_LINK = re.compile(r"\[[^\[\]\n]{0,1000}\]\([^()\s]{0,2000}\)")
_BOX = re.compile(r"^([^\S\n]*[-*+][^\S\n]+)\[[ xX]\]", re.MULTILINE)


def placeholders_named(text: Text) -> int:
    """The number of brackets that name something. Citations (`[1]`), links and boxes to tick do not count."""
    plain = _BOX.sub(r"\1", _LINK.sub(" ", text.folded))
    return sum(any(map(str.isalpha, inside)) for inside in placeholders(plain))


def _placeholders(text: Text, num_placeholders: int) -> bool:
    return placeholders_named(text) >= num_placeholders


_POSTSCRIPTS = {"P.S.": re.compile(r"p\.\s?s\."), "P.P.S": re.compile(r"p\.\s?p\.\s?s")}


def _official_postscript(text: Text, postscript_marker: str) -> bool:
    pattern = _POSTSCRIPTS.get(postscript_marker)
    if pattern:
        return pattern.search(text.lower) is not None
    return patterns.keyword(postscript_marker.lower(), ignore_case=False).found(text.lower)


_ANY_POSTSCRIPT = re.compile(r"[\s*_>(\"-]*p\.\s?(?:p\.\s?)*s\b", re.IGNORECASE)


def postscript(text: Text, postscript_marker: str) -> bool:
    """Whether the response has a postscript with content after its text.

    It begins a line, or follows a sentence on the same line. If the marker stands alone, as a heading does, the next
    paragraph is the content. The text after the marker is part of the postscript: lists, further postscripts, or lines
    that are not longer than the text before it.
    """
    pieces = text.paragraphs
    passed = 0
    for index, piece in enumerate(pieces):
        lines = piece.split("\n")
        for number, line in enumerate(lines):
            span = _postscript_in(line, postscript_marker, may_begin=bool(index or number))
            if span is None:
                continue
            start, end = span
            following = lines[number + 1 :]
            lead_chars = passed + sum(map(len, lines[:number])) + start
            if sum(map(len, following)) > lead_chars and not _is_tail(following):
                continue
            content = line[end:] + "".join(following)
            remaining = pieces[index + 1 :]
            if remaining and not any(map(str.isalnum, content)):
                content, remaining = remaining[0], remaining[1:]
                if len(content) > lead_chars:
                    continue
            if any(map(str.isalnum, content)) and all(map(_belongs_to_postscript, remaining)):
                return True
        passed += len(piece)
    return False


def _belongs_to_postscript(piece: str) -> bool:
    return _ANY_POSTSCRIPT.match(piece) is not None or not any(map(str.isalnum, piece))


def _postscript_in(line: str, marker: str, *, may_begin: bool) -> tuple[int, int] | None:
    """Where a marker begins a line, or follows a sentence on it."""
    small = caseless(line)
    spans = _marked(small, marker)
    if may_begin:
        behind_marks = [end for start, end in spans if _LINE_MARKS.fullmatch(line, 0, start)]
        if behind_marks:
            return 0, behind_marks[-1]
    for start, end in spans:
        sentence_end = _SENTENCE_ENDS.search(line, max(0, start - _MAX_BEFORE_POSTSCRIPT), start)
        if sentence_end is not None:
            return sentence_end.start(), end
    return None


def _marked(small: str, marker: str) -> list[tuple[int, int]]:
    """The places of a marker in a line without case."""
    pattern = _POSTSCRIPTS.get(marker)
    if pattern is not None:
        return [match.span() for match in pattern.finditer(small)]
    target, spans = caseless(fold(marker)), []
    start = small.find(target)
    while start >= 0:
        spans.append((start, start + len(target)))
        start = small.find(target, start + 1)
    return spans


_LINE_MARKS = re.compile(r"[\s#*_>(\"'-]{0,20}")
_SENTENCE_ENDS = re.compile(r"[.!?…][\"”’)\]*_]{0,5}\s{1,5}[*_(]{0,3}\Z")
_MAX_BEFORE_POSTSCRIPT = 14


def _is_tail(lines: Sequence[str]) -> bool:
    """Whether all lines may follow in a postscript: further postscripts, items of lists, and indented lines."""
    return all(_ANY_POSTSCRIPT.match(line) or re.match(r"\s|[-*+•]\s|\d{1,3}[.)]\s", line) for line in lines)


# --- format

_STAR_LINE = re.compile(r"^[^\S\n]*\*[^*].*$", re.MULTILINE)
_DASH_LINE = re.compile(r"^[^\S\n]*-.*$", re.MULTILINE)
_REAL_BULLET = re.compile(r"[-*+]\s+\S")


def _official_bullets(text: Text, num_bullets: int) -> bool:
    return len(_STAR_LINE.findall(text.raw)) + len(_DASH_LINE.findall(text.raw)) == num_bullets


def bullets(text: Text) -> int:
    """The number of lines with a bullet and visible content after it."""
    return sum(
        (match := _REAL_BULLET.match(line)) is not None and has_substance(line[match.end() - 1 :])
        for line in map(str.strip, text.lines)
    )


def _bullets(text: Text, num_bullets: int) -> bool:
    return bullets(text) == num_bullets


_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_ANY_OPTION = re.compile(r"\bmy\s+answer\s+is\W{1,8}(yes|no|maybe)\b", re.IGNORECASE)


def _official_choice(text: Text) -> bool:
    return any(option in text.raw for option in _OPTIONS)


def _choice(text: Text) -> bool:
    """Whether the response holds exactly one option as it is written, and no other option in any spelling."""
    if sum(option in text.folded for option in _OPTIONS) != 1:
        return False
    return len({choice.casefold() for choice in _ANY_OPTION.findall(text.folded)}) == 1


_EMPHASIS = re.compile(r"\*[^\n*]*\*")
_STRONG = re.compile(r"\*\*[^\n*]*\*\*")
_SPACED = rf"[^\W{UNSPACED}{HANGUL}]"
_HIGHLIGHT = re.compile(
    rf"(?=\*)(?<!\*)(?<!{_SPACED})(\*{{1,3}})(?=[^\s*])([^\n*]{{1,5000}})(?<=[^\s*\\])\1(?!\*)(?!{_SPACED})"
)
"""Emphasis that is not directly beside a letter, where asterisks are arithmetic.

It may stand beside characters of scripts without spaces, and Korean particles may follow it.
"""


def _official_highlights(text: Text, num_highlights: int) -> bool:
    highlights = [*_EMPHASIS.findall(text.raw), *_STRONG.findall(text.raw)]
    return sum(bool(piece.strip("*").strip()) for piece in highlights) >= num_highlights


def highlights(text: Text) -> int:
    """The number of emphasised parts, as in Markdown: without space inside the asterisks, with a letter or digit."""
    return sum(any(map(str.isalnum, match[2])) for match in _HIGHLIGHT.finditer(text.folded))


def _highlights(text: Text, num_highlights: int) -> bool:
    return highlights(text) >= num_highlights


def _official_sections(text: Text, section_spliter: str, num_sections: int) -> bool:
    return patterns.keyword(section_spliter, patterns.BEFORE_NUMBER, ignore_case=False).count(text.raw) >= num_sections


_CARDINALS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_ORDINALS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
_LABEL = rf"(?:\d{{1,4}}|[ivxlc]{{1,7}}|[a-z]|{_CARDINALS}|{_ORDINALS})"


def sections(text: Text, splitter: str) -> list[tuple[str, bool]]:
    """The sections of a text: the label of each, and whether it has content.

    Lines such as "Section 1" and "## SECTION II: Rain" begin them.
    """
    words = caseless(fold(splitter)).split()
    labels: list[tuple[str, bool]] = []
    for line in text.lines:
        head = _section_head(line, words)
        if head:
            labels.append((head[1].lower(), has_substance(line[head.end() :])))
        elif labels and not labels[-1][1]:
            labels[-1] = labels[-1][0], has_substance(line)
    return labels


def are_sections(labels: Sequence[tuple[str, bool]], number: int) -> bool:
    """Whether there are as many sections as asked for, all with different labels and with content."""
    return len(labels) == number == len(dict(labels)) and all(is_filled for _, is_filled in labels)


def _section_head(line: str, words: Sequence[str]) -> re.Match[str] | None:
    """The label of a section at the start of a line, behind the words that name a section."""
    small, marks = caseless(line), _HEADING_MARKS.match(line)
    for start in range(marks.end() if marks else 0, -1, -1):
        end = phrase_end(small, start, words)
        label = None if end is None else _SECTION_LABEL.match(line, end)
        if label is not None:
            return label
    return None


_HEADING_MARKS = re.compile(r"[\s#*_>\"“']{0,20}")
_SECTION_LABEL = re.compile(rf"[\s*_#:.-]{{0,5}}({_LABEL})(?![^\W_]|\.\d)", re.IGNORECASE)


def _sections(text: Text, section_spliter: str, num_sections: int) -> bool:
    return are_sections(sections(text, section_spliter), num_sections)


_FENCES = ("```json", "```Json", "```JSON", "```")


def _official_json(text: Text) -> bool:
    value = text.raw.strip()
    for fence in _FENCES:
        value = value.removeprefix(fence)
    try:
        json.loads(value.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


_FENCE = re.compile(r"(?P<fence>```|~~~)[^\S\n]*[a-zA-Z0-9]{0,10}(?=[\s{[])")


def json_document(text: Text) -> bool:
    """Whether the response is a JSON object or array that is not empty, alone or in one fence.

    NaN and infinities are not JSON.
    """
    value = text.raw.strip()
    opening = _FENCE.match(value)
    if opening and value.endswith(opening["fence"]):
        value = value[opening.end() : -3]
    try:
        document = json.loads(value, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict | list) and bool(document)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _official_title(text: Text) -> bool:
    return any(title.lstrip("<").rstrip(">").strip() for title in titles(text.raw))


def titles(text: str) -> list[str]:
    """The longest `<<…>>` of each line, with at least one character inside."""
    contents: list[str] = []
    for line in text.split("\n"):
        start, stop = line.find("<<"), line.rfind(">>")
        if start >= 0 and stop >= start + 3:
            contents.append(line[start : stop + 2])
    return contents


_TITLE = re.compile(r"<<(?=\S)([^<>\n]{1,1000})(?<=\S)>>")
_TITLE_LINE = re.compile(r"[\s#*_]*<<([^<>\n]{1,1000})>>[\s*_]*")


def title(text: Text) -> bool:
    inside = [match[1] for match in _TITLE.finditer(text.folded)]
    inside += [match[1] for match in map(_TITLE_LINE.fullmatch, text.lines) if match]
    return any(any(map(str.isalnum, title)) for title in inside)


CONSTRAINTS = (
    Constraint(
        "detectable_content:number_placeholders", _official_placeholders, _placeholders, {"num_placeholders": count}
    ),
    Constraint("detectable_content:postscript", _official_postscript, postscript, {"postscript_marker": stripped}),
    Constraint("detectable_format:number_bullet_lists", _official_bullets, _bullets, {"num_bullets": count}),
    Constraint("detectable_format:constrained_response", _official_choice, _choice),
    Constraint(
        "detectable_format:number_highlighted_sections", _official_highlights, _highlights, {"num_highlights": count}
    ),
    Constraint(
        "detectable_format:multiple_sections",
        _official_sections,
        _sections,
        {"section_spliter": word, "num_sections": count},
    ),
    Constraint("detectable_format:json_format", _official_json, json_document),
    Constraint("detectable_format:title", _official_title, title),
)
