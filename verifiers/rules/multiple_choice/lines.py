"""Options that stand on a line of their own, at the end of a response or at its beginning."""

import re
from collections.abc import Sequence

from verifiers.rules.multiple_choice import languages
from verifiers.rules.multiple_choice.choices import MultipleChoiceParams
from verifiers.rules.multiple_choice.commitment import Found, commit
from verifiers.rules.multiple_choice.forms import EDGES, clean, form_of
from verifiers.rules.multiple_choice.options import BESIDE_CHARS, Options, lets_stand
from verifiers.rules.multiple_choice.phrases import Clues
from verifiers.rules.multiple_choice.scripts import may_be_ordinal

MAX_BARE_CHARS = 60
MAX_LINE_CHARS = 300
_ANSWER_IN_OTHER_LANGUAGES = re.compile(rf"[\s*_#>]{{0,8}}{languages.lead()}", re.IGNORECASE)
"""What `answers` knows is not among them."""


def edge_lines(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    """The last line or else the first, if it names an option and its neighbour is not another entry of a list."""
    text = clues.scene.text
    lines = [line for line in edges(text) if len(line[0]) <= MAX_LINE_CHARS]
    first = lines[0][1][0] if len(lines) > 1 else None
    for line, neighbour in ((lines[-1:], lines[-2:-1]), (lines[:1], lines[1:2])):
        for whole, (start, stop) in line:
            may_lead = languages.NAMES_ANSWER.is_in(whole.encode("utf-8", "replace"))
            lead = _ANSWER_IN_OTHER_LANGUAGES.match(whole) if may_lead else None
            shown, span = (whole[lead.end() :], (start + lead.end(), stop)) if lead else (whole, (start, stop))
            labels = options.named(shown, is_declared=False)
            if labels is None or (start == first and may_be_ordinal(shown)):
                continue
            if neighbour and _is_joined(neighbour[0], start, options):
                return Found(None, "conflicting_answers", "line", None, (shown,))
            beside = options.named(neighbour[0][0], is_declared=False) if neighbour else None
            if beside is not None and beside != labels and not _concludes(text, whole, start, neighbour, options):
                return Found(None, "conflicting_answers", "line", None, (shown,))
            if start == first and labels and lets_stand(text[stop : stop + BESIDE_CHARS], labels, options):
                return Found(None, "conflicting_answers", "line", None, (shown,))
            return commit([(shown, span)], "line", params, options)
    return None


ENTRY = re.compile(
    r"(?:[^\S\n]|[*•·#>|+-]){0,8}(?:\d{1,2}[.)][^\S\n])?(?:\[(?P<box>[ xX✓✔])\][^\S\n])?(?:(?:option|choice|statement)[^\S\n])?"
    r"(?-i:[(\[*_]{0,4}(?P<label>[A-Z])(?![\w'’])[)\]*_]{0,4})[^\S\n]?[.:)|–—=、．：）-]{0,2}"
    rf"(?P<told>[^\n]{{0,{MAX_LINE_CHARS}}})",
    re.IGNORECASE,
)
"""A line of a list about one option each."""
_TEXT_ENDS = re.compile(
    r"[.!]\s+(?=\w+(?:['’]\w+)?\s\w)|[,;:]\s(?=[a-z]+(?:['’]\w+)?\s\w)|\s[—–-]\s(?=[a-z]+(?:['’]\w+)?\s\w)|,?\s(?:because|since|as)\s|\sis\sthe\s"
)
_UNDECIDED = re.compile(
    r"\b(?:not|no|never|nor|neither|none|or|either|if|unless|except|whether|might|may|maybe|perhaps|could|but|however|although|though"
    r"|wait|wrong|incorrect|false|unsure|actually|second|third|next|worst|least|opposite)\b|n['’]t\b|[?？]",
    re.IGNORECASE,
)
_MAX_OPENING_CHARS = 600


def opening_text(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    """The option with whose text a short response begins that goes on to say why, and names no other: "Paris. It is ..."."""
    text = clues.scene.text
    if not options.forms or len(text) > _MAX_OPENING_CHARS:
        return None
    for stop in _TEXT_ENDS.finditer(text, 0, min(len(text), options.longest_chars + _MAX_MARKUP_CHARS)):
        label = options.by_text(clean(text[: stop.start()]))
        if label is not None:
            rest = form_of(text[stop.end() :])
            is_open = _UNDECIDED.search(rest) or any(form in rest for form in options.forms)
            return (
                None
                if is_open
                else Found(frozenset({label}), "found", "line", (0, stop.start()), (text[: stop.start()],))
            )
    return None


_MAX_MARKUP_CHARS = 40
_OR = r"(?:or|alternatively|otherwise|oder|ou|oppure|или|或者?|还是|還是)"
_BEGINS_WITH_OR = re.compile(rf"^[\W_]*{_OR}(?![^\W_])", re.IGNORECASE)
_ENDS_IN_OR = re.compile(rf"(?<![^\W_]){_OR}[\W_]*$", re.IGNORECASE)


def _is_joined(beside: tuple[str, tuple[int, int]], start: int, options: Options) -> bool:
    """Whether the neighbour of the line at `start` ends or begins with a word that makes them alternatives."""
    other, (begin, _) = beside
    rest = (_ENDS_IN_OR if begin < start else _BEGINS_WITH_OR).sub("", other, count=1)
    if rest == other:
        return False
    return not any(map(str.isalnum, rest)) or options.named(rest, is_declared=False) is not None


def _concludes(
    text: str, line: str, start: int, neighbour: Sequence[tuple[str, tuple[int, int]]], options: Options
) -> bool:
    """Whether a label alone, apart from the list of options with their texts above it, is chosen from them."""
    above, (_, end) = neighbour[0]
    is_bare = options.label(line.strip(EDGES)) is not None
    return is_bare and end < start and text.count("\n", end, start) > 1 and options.label(above.strip(EDGES)) is None


def edges(text: str) -> list[tuple[str, tuple[int, int]]]:
    """The first and the last two lines that are not blank, nor a code fence, with their places."""
    found: list[tuple[str, tuple[int, int]]] = []
    position, end = 0, len(text)
    while position < end and len(found) < 2:
        stop = text.find("\n", position)
        stop = end if stop < 0 else stop
        if _is_line(line := text[position:stop]):
            found.append((line, (position, stop)))
        position = stop + 1
    tail: list[tuple[str, tuple[int, int]]] = []
    stop = end
    while stop > position and len(tail) < 2:
        start = text.rfind("\n", position, stop) + 1 or position
        if _is_line(line := text[start:stop]):
            tail.append((line, (start, stop)))
        stop = start - 1
    return found + tail[::-1]


def _is_line(line: str) -> bool:
    return line[:1].isalnum() or (any(map(str.isalnum, line)) and not line.startswith(_FENCES))


_FENCES = ("```", "~~~")
