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
            if labels is None and line == lines[-1:] and (result := _result(shown, neighbour, options)) is not None:
                shown, span = shown[result:], (span[0] + result, stop)
                labels = options.named(shown, is_declared=False)
            if labels is None or (start == first and may_be_ordinal(shown)):
                continue
            if neighbour and _is_joined(neighbour[0], start, options):
                return Found(None, "conflicting_answers", "line", None, (shown,))
            beside = options.named(neighbour[0][0], is_declared=False) if neighbour else None
            if beside is not None and beside != labels and not _concludes(text, whole, start, neighbour, options):
                return _reasoned(text, lines[0], options) or Found(None, "conflicting_answers", "line", None, (shown,))
            if start == first and labels and lets_stand(text[stop : stop + BESIDE_CHARS], labels, options):
                return Found(None, "conflicting_answers", "line", None, (shown,))
            return commit([(shown, span)], "line", params, options)
    return None


def _result(line: str, neighbour: Sequence[tuple[str, tuple[int, int]]], options: Options) -> int | None:
    """Where a last line has an equation's result, if the one above has none that is another option."""
    if "=" not in line or (place := options.result_in(line)) is None:
        return None
    above = neighbour[0][0] if neighbour else ""
    other = options.result_in(above) if "=" in above else None
    is_other = other is not None and options.by_text(clean(above[other:])) != options.by_text(clean(line[place:]))
    return None if is_other else place


def _reasoned(text: str, line: tuple[str, tuple[int, int]], options: Options) -> Found | None:
    """The option that a response begins with, if all that follows says why it is none of the others."""
    shown, span = line
    labels = options.named(shown, is_declared=False)
    if not labels or len(labels) > 1 or not _are_reasons(text[span[1] :], labels, options):
        return None
    return Found(labels, "found", "line", span, (shown,))


def _are_reasons(rest: str, chosen: frozenset[str], options: Options) -> bool:
    """Whether all that stands below a line and a blank one tells of each of the other options more than its text."""
    if not _BLANK_LINE.match(rest) or len(rest) > _MAX_REASONS_CHARS:
        return False
    told_of: set[str] = set()
    for line in filter(str.strip, rest.splitlines()):
        entry = ENTRY.match(line)
        label = options.label(entry["label"]) if entry else None
        if entry is None or label is None or label in chosen or label in told_of:
            return False
        told = entry["told"].strip(_AROUND_TOLD)
        reason = options.beyond_own_text(told, label)
        if reason == told or len(reason.split()) < _MIN_REASON_WORDS or _SPEAKS_FOR.search(reason):
            return False
        told_of.add(label)
    return len(told_of) > 1


_BLANK_LINE = re.compile(r"[^\S\n]*\n[^\S\n]*\n")
_MAX_REASONS_CHARS = 4_000
_MIN_REASON_WORDS = 3
_AROUND_TOLD = " \t*_"
_SPEAKS_FOR = re.compile(r"\b(?:correct|right|best|answer|also|too|true)\b", re.IGNORECASE)


ENTRY = re.compile(
    r"(?:[^\S\n]|[*•·#>|+-]){0,8}(?:\d{1,2}[.)][^\S\n])?(?:\[(?P<box>[ xX✓✔])\][^\S\n])?(?:(?:option|choice|statement)[^\S\n])?"
    r"(?-i:[(\[*_]{0,4}(?P<label>[A-Z])(?![\w'’])[)\]*_]{0,4})[^\S\n]?[.:)|–—=、．：）-]{0,2}"
    rf"(?P<told>[^\n]{{0,{MAX_LINE_CHARS}}})",
    re.IGNORECASE,
)
"""A line of a list about one option each."""
_TEXT_ENDS = re.compile(
    r"[.!][*_]{0,2}\s+(?=\w+(?:['’]\w+)?\s\w)|[,;:]\s(?=[a-z]+(?:['’]\w+)?\s\w)|\s[—–-]\s(?=[a-z]+(?:['’]\w+)?\s\w)|,?\s(?:because|since|as)\s|\sis\sthe\s"
)
_UNDECIDED = re.compile(
    r"\b(?:not|no|never|nor|neither|none|or|either|if|unless|except|whether|might|may|maybe|perhaps|could|but|however|although|though"
    r"|wait|wrong|incorrect|false|unsure|actually|second|third|next|worst|least|opposite)\b|n['’]t\b|[?？]",
    re.IGNORECASE,
)
_CLOSED = frozenset(("yes", "no", "maybe", "true", "false"))
_VERDICT = r"(?:yes|no|maybe|true|false|unsure|unclear|undecided|neither|both)"
_OTHER_VERDICT = re.compile(
    rf"[.!?,;:\n(—–-]\s*(?:(?:but|or|and|well|then|rather|perhaps|possibly|maybe)\s){{0,3}}{_VERDICT}(?=[*_]{{0,2}}\s*(?:[.,;:!?)\n—–]|\Z))"
    rf"|\b{_VERDICT}\s(?:and|or)\s{_VERDICT}\b|\b(?:wait|actually|correction|kidding|on\ssecond\sthought)\b|\?",
    re.IGNORECASE,
)
"""Behind a verdict that reasons follow, another one; "no" and "not" in these say nothing against it."""
_MAX_OPENING_CHARS = 600


def opening_text(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    """The option with whose text a short response begins that goes on to say why, and names no other: "Paris. It is ..."."""
    text = clues.scene.text
    if not options.forms or len(text) > _MAX_OPENING_CHARS:
        return None
    for stop in _TEXT_ENDS.finditer(text, 0, min(len(text), options.longest_chars + _MAX_MARKUP_CHARS)):
        label = options.by_text(clean(text[: stop.start()]))
        if label is not None:
            rest = _NO_OTHER.sub("", form_of(text[stop.end() :]))
            if _CLOSED.issuperset(options.forms):
                is_open = _OTHER_VERDICT.search(text, stop.start()) is not None
            else:
                is_open = (
                    _UNDECIDED.search(rest) is not None
                    or any(form in rest for form in options.forms)
                    or lets_stand(text[stop.start() :], {label}, options)
                )
            return (
                None
                if is_open
                else Found(frozenset({label}), "found", "line", (0, stop.start()), (text[: stop.start()],))
            )
    return None


_NO_OTHER = re.compile(r"\b(?:no\sother|none\sof\sthe\s(?:others?|rest|remaining))\b")
"""In a reason what speaks for the option, not against it."""
_MAX_MARKUP_CHARS = 40
_SUBJECT = r"(?:the|this|these|that|it|its|my|our|[^\W\d_]+['’]s)\b[^\n.;:!?]{0,160}"
_TELLS = (
    r"\s?(?:(?:\b(?:is|are|was|were|be)|['’]s(?!\s[^\n.]{1,40}\s(?:is|are|was|were)\s))(?:\s(?:an?|to))?:?|:)\s"
    r"(?P<shown>[*_(\[“\"$]{0,4}[^\n;:!?]{2,200}?)[.*_\s]{0,6}"
)
_TOLD = (
    re.compile(rf"(?P<about>{_SUBJECT}?){_TELLS}", re.IGNORECASE),
    re.compile(rf"(?P<about>{_SUBJECT}){_TELLS}", re.IGNORECASE),
    re.compile(
        r"(?P<about>[^\n。；：？！，,是为不没未非无否可或若如除另还又怎吗呢]{1,40})[是为]\s?(?P<shown>[^\n。；：？！，,]{1,60}?)[。.*\s]{0,4}"
    ),
    re.compile(rf"(?P<about>{_SUBJECT})\s(?:in|on|at)\s(?P<shown>[^\n;:!?]{{2,200}}?)[.*_\s]{{0,6}}", re.IGNORECASE),
)
"""Up to the first verb that may be the sentence's, as an option may have one, or the last: "the city we are looking for is …"; or
what was where or when."""
_OTHER_SUBJECT = re.compile(
    r"\b(?:other|another|second|third|fourth|last|first|next\s(?:best|option|choice|one|most)|options?|choices?|alternatives?|statements?|claims?|mistakes?|errors?|distractors?|traps?|tempting|misleading|usual|common"
    r"|hints?|guess(?:es)?|suggestions?|previous\sanswer|nobody|(?:people|students?|friend|teacher|others)['’]?s?\s(?:think|say|believe|choose|pick|guess|answer|first|name)"
    r"|opposite|least|worst|rul(?:e|es|ed|ing)\sout|eliminat\w*|exclud\w*|reject\w*|discard\w*|dismiss\w*|remov\w*)\b|干扰|误|陷阱|错|第二|其次|排除|另|相反|提示|例",
    re.IGNORECASE,
)
_NEXT_STEP = re.compile(r"\bnext\s(?=step|action|stage|move|test)", re.IGNORECASE)
"""Where patients are told of, what comes next is what is asked for."""
_MIN_LETTERS = 3
"""A number that ends one sentence of several may be a step on the way."""


def told_text(clues: Clues, params: MultipleChoiceParams, options: Options) -> Found | None:
    """The option in which the first or the last sentence of a short response ends, where that names no other: "It is Paris."."""
    text = clues.scene.text
    if not options.forms or len(text) > _MAX_OPENING_CHARS or not _CLOSED.isdisjoint(options.forms):
        return None
    shown_text = form_of(text)
    named = [form for form in options.forms if form in shown_text]
    if not named:
        return None
    first = text.find("\n")
    last = max(text.rfind("\n"), text.rfind(". "), text.rfind("! ")) + 1
    spans = {(0, first if first > 0 else len(text)), (last, len(text))}
    for start, end in sorted(spans, reverse=True):
        start += len(text[start:end]) - len(text[start:end].lstrip(" *_#>"))
        sentences = (sentence.fullmatch(text, start, end) for sentence in _TOLD)
        told = next((one for one in sentences if one and options.named(one["shown"], is_declared=False)), None)
        if told is None or _doubts(told["about"]):
            continue
        shown = told["shown"]
        labels = options.named(shown, is_declared=False)
        is_all = (start, end) == (0, len(text))
        if not labels or len(labels) > 1 or (not is_all and sum(map(str.isalpha, shown)) < _MIN_LETTERS):
            continue
        label = next(iter(labels))
        own = form_of(options.texts[label])
        is_alone = all(form in own for form in named)
        has_label = options.by_text(clean(shown)) is None
        if not (is_alone or (has_label and start == 0)) or lets_stand(text[end : end + BESIDE_CHARS], labels, options):
            continue
        if is_alone and _UNDECIDED.search(text[:start]):
            continue
        return Found(labels, "found", "line", told.span("shown"), (shown,))
    return None


def _doubts(about: str) -> bool:
    return _UNDECIDED.search(_NEXT_STEP.sub("", about)) is not None or _OTHER_SUBJECT.search(about) is not None


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


def last_line(text: str) -> str:
    """The last of them; nothing where there is none."""
    lines = edges(text)
    return lines[-1][0] if lines else ""


def _is_line(line: str) -> bool:
    return line[:1].isalnum() or (any(map(str.isalnum, line)) and not line.startswith(_FENCES))


_FENCES = ("```", "~~~")
