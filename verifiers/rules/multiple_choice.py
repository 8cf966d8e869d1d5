r"""The response commits to the right option, and to no other.

Looked at in this order, the first that is used decides: the answer tag, the box, a JSON field `answer`, a response that
is nothing but an option, statements ("the answer is C", "C is correct", 故选C), the last line, the first line. An option
is named by its label (`C`, `(c)`, `C) Paris`, `\text{C}`) or by its whole text (`Paris`; numbers compare as numbers).
Labels are words of their own: the A in "A plant needs light" and the C in "Correct!" are none, and only labels that
exist count.

A later statement corrects an earlier one, but "A or B", several options where one is asked for, and three different ones
in a row commit to nothing. With `multi` the set named must equal the reference set; a superset earns nothing.
"""

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from pydantic import Field

from sandbox.workers import Workers
from verifiers import answers, long_texts
from verifiers.answers import Channel, Extraction
from verifiers.base import Example, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.long_texts import judge_all
from verifiers.rules import numeric

_Text = Annotated[str, Field(max_length=10_000)]
_Label = Annotated[str, Field(min_length=1, max_length=8)]


class MultipleChoiceParams(answers.ExtractionParams):
    """The options and which of them is right."""

    reference: _Text | Annotated[tuple[_Text, ...], Field(min_length=1, max_length=64)]
    """The right option's label or text; with `multi`, several of them ("AC", "A, C" or a list)."""
    choices: (
        Annotated[tuple[_Text, ...], Field(min_length=1, max_length=64)]
        | Annotated[dict[_Label, _Text], Field(min_length=1, max_length=64)]
        | None
    ) = None
    """The options' texts in order, or by label. Without them only labels are understood."""
    multi: bool = False
    """Several options may be right, and all of them must be named."""
    letters: Annotated[str, Field(min_length=1, max_length=64)] = "ABCDEFGHIJ"
    """The labels of the options, in order; continued to Z when there are more choices."""


class MultipleChoice(Verifier[MultipleChoiceParams]):
    name = "multiple_choice"
    version = "1"
    params = MultipleChoiceParams
    summary = "The one committed option, by label or text, is the reference; with `multi`, the set of them"

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[MultipleChoiceParams]]) -> Sequence[Verdict]:
        return await judge_all(self._workers, judge, items)


def create(resources: Resources) -> MultipleChoice:
    resources.workers.register(long_texts.JUDGE)
    return MultipleChoice(resources.workers)


def judge(response: str, params: MultipleChoiceParams, explain: bool = False) -> Verdict:
    labelled = _labelled(params)
    if params.choices is not None and len(labelled) < len(params.choices):
        return Verdict.invalid("too_many_choices", f"{len(params.choices)} choices, and labels for {len(labelled)}")
    options = _Options(labelled, params.multi)
    expected = _expected(params, options)
    if expected is None:
        shown = clip(str(params.reference)) or ""
        return Verdict.invalid("reference_not_a_choice", f"reference {shown!r}: expected among {list(options.texts)}")
    found = _find(response, params, options)
    detail: dict[str, Any] = {}
    if found.channel:
        detail["channel"] = found.channel
    if found.span:
        detail["span"] = list(found.span)
    if explain:
        detail["candidates"] = [clip(text) for text in found.seen]
    if found.labels is None:
        return Verdict.wrong(found.reason, **detail)
    detail["options"] = [label for label in options.texts if label in found.labels]
    if explain:
        detail["compared"] = {"answer": detail["options"], "reference": sorted(expected)}
    extracted = response[slice(*found.span)] if found.span else None
    if found.labels == expected:
        return Verdict.correct(extracted, **detail)
    return Verdict.wrong(extracted=extracted, **detail)


@dataclass(frozen=True, slots=True)
class _Found:
    """The options a response names; None with a reason when it commits to none."""

    labels: frozenset[str] | None
    reason: str = "found"
    channel: str = ""
    span: tuple[int, int] | None = None
    seen: tuple[str, ...] = ()


_HEDGED: frozenset[str] = frozenset()
"""What a text names that offers several options where one is asked for."""


# --- the options


class _Options:
    """Labels and texts, and what a short text names among them."""

    def __init__(self, texts: Mapping[str, str], multi: bool) -> None:
        self.texts = texts
        self.multi = multi
        self._by_label = {label.casefold(): label for label in texts}
        by_form: dict[str, list[str]] = {}
        for label, text in texts.items():
            if form := _form(text):
                by_form.setdefault(form, []).append(label)
        self._by_form = {form: labels[0] for form, labels in by_form.items() if len(labels) == 1}
        self.forms = sorted(self._by_form, key=len, reverse=True)

    def label(self, text: str) -> str | None:
        return self._by_label.get(text.casefold())

    def named(self, text: str, is_declared: bool) -> frozenset[str] | None:
        """The options that `text` names: several only with `multi`; `_HEDGED` for a choice left open; None for none.

        `is_declared`: the text follows "the answer is", so more may follow the option in it.
        """
        text = _clean(text)
        if not text or len(text) > _MAX_PAYLOAD_CHARS:
            return None
        if one := self._one(text, is_declared=False):
            return frozenset({one})
        if is_declared:
            text = _REJECTS.split(text, maxsplit=1)[0].strip()
        several = self._several(text)
        if several is None and is_declared:
            first = _LABEL_FIRST.match(text)
            if first and self.label(first["label"]) and _OR_FOLLOWS.match(text, first.end()):
                return _HEDGED
            one = self._one(text, is_declared=True)
            return frozenset({one}) if one else None
        return several

    def _one(self, text: str, is_declared: bool) -> str | None:
        bare = _BRACKETED.sub(r"\1", text, count=1).strip(_EDGES)
        if label := self.label(bare):
            return label
        if label := self.by_text(text):
            return label
        match = _LABEL_AND_TEXT.match(text)
        if match and (label := self.label(match["label"] or match["bare"] or match["dashed"])):
            rest = match["rest"].strip(_EDGES)
            other = self.by_text(rest)
            contradicts = other not in (None, label) or self._names_others(rest, label)
            return None if contradicts else label
        return self._declared(text) if is_declared else None

    def _declared(self, text: str) -> str | None:
        """An option, followed by something that is not part of its name."""
        if match := _LABEL_FIRST.match(text):
            label = self.label(match["label"])
            rest = text[match.end() :]
            is_word = match["label"] in ("A", "I") or match["label"].islower()
            follows = _REASON_FOLLOWS.match(rest) if is_word and not match["bracket"] else _BOUNDARY.match(rest)
            if label and follows and not self._names_others(rest, label):
                return label
        form = _form(text)
        for candidate in self.forms:
            if form.startswith(candidate) and _REASON_FOLLOWS.match(form[len(candidate) :]):
                return self._by_form[candidate]
        return None

    def _names_others(self, rest: str, label: str) -> bool:
        """Whether more labels are offered after the first one."""
        return any(self.label(other[1]) not in (None, label) for other in _NEXT_LABEL.finditer(rest))

    def by_text(self, text: str) -> str | None:
        form = _form(text)
        if label := self._by_form.get(form):
            return label
        if not form or len(form) > 40 or any(char.isalpha() for char in form):
            return None
        number = _number(form)
        same = [label for other, label in self._by_form.items() if number is not None and number == _number(other)]
        return same[0] if len(same) == 1 else None

    def _several(self, text: str) -> frozenset[str] | None:
        text = _BOTH.sub("", text.strip("[]{}"))
        is_choice = _OR.search(text) is not None
        pieces = [piece for piece in _SEPARATOR.split(text) if piece.strip(_EDGES)]
        if len(pieces) > _MAX_PIECES:
            return _HEDGED
        labels = [self._one(_clean(piece), is_declared=False) for piece in pieces]
        if len(pieces) == 1:
            labels = [self.label(char) for char in _clean(text)] if text.isupper() and text.isalpha() else [None]
        elif pieces and labels[-1] is None and (match := _LABEL_FIRST.match(_clean(pieces[-1]))):
            labels[-1] = self.label(match["label"])
        found = {label for label in labels if label is not None}
        if is_choice and len(found) > 1:
            return _HEDGED
        if len(found) < 2 or None in labels:
            return _HEDGED if len(found) > 2 else None
        return frozenset(found) if self.multi else _HEDGED


_MAX_PAYLOAD_CHARS = 400
_MAX_PIECES = 64
_EDGES = " \t\n.,;:!?'\"()[]{}<>*_`$~-–—、。"
_WRAPPER = re.compile(r"\\(?:text|textbf|textit|textrm|mathbf|mathrm|mathit|mathsf|boldsymbol|bm|bf|rm)\s?\{([^{}]*)\}")
_COMMAND = re.compile(r"\\(?:left|right|displaystyle|quad|qquad|[,;:! ()\[\]])|[$*`]|(?<!\w)_|_(?!\w)")
_LEAD = re.compile(
    r"(?:the\s)?(?:(?:correct|right|best|final)\s)?(?:options?|choices?|letters?|answers?|选项|答案|选)(?:\s(?:is|are))?(?![a-z])[\s:]*",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"^[(\[{<]\s*([^()\[\]{}<>]{1,8}?)\s*[)\]}>]")
_LABEL_AND_TEXT = re.compile(
    r"(?:[(\[{<]\s*(?P<label>\w{1,8})\s*[)\]}>]\s*[.:、,—–-]?|(?P<bare>\w{1,8})\s?[).:、](?!\w*\.\w)|(?P<dashed>\w{1,8})\s[—–-](?=\s))"
    r"\s*(?P<rest>.+)$",
    re.DOTALL,
)
_LABEL_FIRST = re.compile(r"(?P<bracket>[(\[{<]\s*)?(?P<label>\w{1,8})(?(bracket)\s*[)\]}>])")
_BOUNDARY = re.compile(r"$|[\s,;:()]|[.!?](?:\s|$)")
_REASON_FOLLOWS = re.compile(
    r"\s*(?:$|[,;:(—–]|[.!?](?:\s|$)|-\s|(?:because|since|as|which|for|due|that|is|are|was|only|alone)\b|因为|因|项)"
)
_NEXT_LABEL = re.compile(
    r"(?:(?:^|[,;/&]|\b(?:or|and)\b)\s*|\s)[(\[]?\s?([A-Z]|\d{1,2})(?![\w'])(?=\s*[)\].,;:&/]|\s*$|\s+(?:or|and)\b)"
)
_REJECTS = re.compile(
    r"[\s,;(—–-]+(?:and\s)?(?:not|rather than|instead of)\b|[,，]?\s?(?:而不是|而非|不是)", re.IGNORECASE
)
_OR_FOLLOWS = re.compile(r"\s*(?:or\b|/|或)", re.IGNORECASE)
_COPULA = re.compile(r"(?<=[A-Z\d)])\s?(?:です|である|입니다|이다|选项|项)$")
_OR = re.compile(r"(?<![A-Za-z])(?:or|either|oder|ou)(?![A-Za-z])|/|或|还是", re.IGNORECASE)
_BOTH = re.compile(r"^\s*(?:both|either|all of)\s", re.IGNORECASE)
_SEPARATOR = re.compile(
    r"\s*(?:[,;/&+、\n]|(?<![A-Za-z])(?:and|or|und|oder|et|ou|y)(?![A-Za-z])|[和与及或])\s*", re.IGNORECASE
)


def _clean(text: str) -> str:
    """Without the markup around and the words before an option."""
    text = answers.fold(text)
    for _ in range(3):
        text = _WRAPPER.sub(r"\1", text)
    text = _COMMAND.sub("", text).strip(" \t\n\"'.。,;")
    text = _COPULA.sub("", text)
    lead = _LEAD.match(text)
    return text[lead.end() :].strip() if lead and lead.end() < len(text) else text


def _form(text: str) -> str:
    """What makes two option texts the same: case, spacing, markup and a leading article do not count."""
    text = " ".join(_COMMAND.sub("", _WRAPPER.sub(r"\1", answers.fold(text))).casefold().split()).strip(" .,;!?\"'。")
    return re.sub(r"^(?:the|an?)\s(?=\w)", "", text)


@lru_cache(maxsize=4096)
def _number(form: str) -> numeric.Number | None:
    number = numeric.read(form)
    return number if isinstance(number, numeric.Number) else None


def _labelled(params: MultipleChoiceParams) -> dict[str, str]:
    """The options by label, in order."""
    if isinstance(params.choices, dict):
        return {label.strip(): text for label, text in params.choices.items()}
    letters = list(dict.fromkeys(params.letters))
    if params.choices is None:
        references = (params.reference,) if isinstance(params.reference, str) else params.reference
        if all(_DIGITS.fullmatch(reference.strip()) for reference in references):
            return {str(number): "" for number in range(100)}
        return dict.fromkeys(letters, "")
    letters += [letter for letter in _ALPHABET if letter not in letters]
    return dict(zip(letters, params.choices, strict=False))


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = re.compile(r"\d{1,2}", re.ASCII)


def _expected(params: MultipleChoiceParams, options: _Options) -> frozenset[str] | None:
    references = (params.reference,) if isinstance(params.reference, str) else params.reference
    found = [options.named(reference, is_declared=False) for reference in references]
    if not all(found) or (not params.multi and len(references) > 1):
        return None
    return frozenset().union(*(labels for labels in found if labels))


# --- where a response names its option


_MAX_BARE_CHARS = 60
_MAX_LINE_CHARS = 300
_SPAM = 3
_MAX_STATEMENTS = 64
"""Of each form; earlier ones are not looked at."""
_STATEMENT = re.compile(
    r"(?:\b(?:option|choice)\s(?:is|would be|should be)(?!\s?n[o']t\b)(?:\sthe\b)?"
    r"|\b(?:i|we)(?:'d|'ll|\swould|\swill)?\s(?:choose|pick|select|go with)"
    r"|(?<!不)(?<!不能)(?:选择|选(?!项|择))|正确的?(?:选项|答案)?(?:应该)?[是为](?!不))\s?[:：]?\s*([^\n。！]{1,200})",
    re.IGNORECASE,
)
_IS_CORRECT = re.compile(
    r"(?<![\w'’-])(?P<option>[(\[*\s]{0,4}\w{1,8}[)\]*]{0,3})\s(?:is|must be)\s(?:indeed\s|clearly\s)?(?:the\s)?"
    r"(?:only\s|single\s)?(?:correct|right|best|true|answer)\b(?!\s(?:if|only if|when))",
    re.IGNORECASE,
)
_JOINED_BEFORE = re.compile(
    r"(?:\b(?P<nor>n?or|whether|if|neither|not)|\band|[,/&])[\s(*]*(?:(?:option|choice)\s)?$", re.IGNORECASE
)
_MAY_LEAD = re.compile(
    r"(?:^|[\n.,:;!?。，*(>/&—-]|\b(?:option|choice|answer|letter|so|thus|hence|therefore|clearly|only|then|believe|think"
    r"|conclude|say|see|means|and|n?or|neither|either|both|whether|if|that|not))[\s(*\[]*$",
    re.IGNORECASE,
)
"""What may stand before a label: the B of "Plan B is correct" is none."""
_IS_CORRECT_CJK = re.compile(r"(?<![A-Za-z和与或、,，及])(?P<option>[A-Z])(?:选项|项)?(?:是|为)?正确(?!吗|与否)")
_TEXT_IS_CORRECT = re.compile(r" (?:is|are) the (?:correct|right|best) (?:answer|option|choice)\b", re.IGNORECASE)
_LAST_SENTENCE = re.compile(r"[.!?]\s|\n")
_JSON = re.compile(
    r'"(?:final_)?(?:answer|choice|option)"\s{0,8}:\s{0,8}("[^"\\\n]{0,300}"|\[[^\]]{0,300}\]|\d{1,3}|[A-Za-z](?=\s*[,}]))',
    re.IGNORECASE,
)


def _find(response: str, params: MultipleChoiceParams, options: _Options) -> _Found:
    explicit = params.extract != "auto"
    extraction = answers.extract(response, params, (Channel.ANSWER_TAG, Channel.BOXED))
    if explicit or extraction.channel is not None or extraction.reason != "no_answer":
        return _extracted(extraction, params, options)
    segment = answers.final_segment(response, params.think)
    if segment.reason != "found":
        return _Found(None, segment.reason)
    text, offset = response[segment.start : segment.end], segment.start
    for look in (_json, _bare, _hash, _statements, _edge_lines):
        found = look(text, params, options)
        if found is not None:
            span = (found.span[0] + offset, found.span[1] + offset) if found.span else None
            return _Found(found.labels, found.reason, found.channel, span, found.seen)
    return _Found(None, "no_answer")


def _extracted(extraction: Extraction, params: MultipleChoiceParams, options: _Options) -> _Found:
    channel = extraction.channel.value if extraction.channel else ""
    seen = tuple(candidate.text for candidate in extraction.candidates)
    if extraction.answer is None:
        return _Found(None, extraction.reason, channel, None, seen)
    offers = [(candidate.text, candidate.span) for candidate in extraction.candidates]
    offers = [*offers[:-1], (extraction.answer, extraction.span or offers[-1][1])]
    return _commit(offers, channel, params, options, last_must_name=True) or _Found(None, "no_answer")


def _json(text: str, params: MultipleChoiceParams, options: _Options) -> _Found | None:
    start = max(text.rfind('answer"'), text.rfind('choice"'), text.rfind('option"')) - 8
    matches = list(_JSON.finditer(text, max(start, 0))) if start > -9 else []
    if not matches:
        return None
    return _commit([(matches[-1][1], matches[-1].span(1))], "json", params, options, last_must_name=True)


def _bare(text: str, params: MultipleChoiceParams, options: _Options) -> _Found | None:
    limit = _MAX_PAYLOAD_CHARS if params.multi else max(_MAX_BARE_CHARS, max(map(len, options.forms), default=0) + 8)
    if len(text) > limit or ("\n" in text and not params.multi) or not options.named(text, is_declared=False):
        return None
    return _commit([(text, (0, len(text)))], "bare", params, options, last_must_name=True)


def _hash(text: str, params: MultipleChoiceParams, options: _Options) -> _Found | None:
    extraction = answers.extract(text, _plain(params, Channel.HASH4))
    if extraction.answer is None or not options.named(extraction.answer, is_declared=True):
        return None
    return _extracted(extraction, params, options)


def _statements(text: str, params: MultipleChoiceParams, options: _Options) -> _Found | None:
    lines = answers.extract(text, _plain(params, Channel.ANSWER_LINE))
    offers = {candidate.span: candidate.text for candidate in lines.candidates}
    for match in _last(_STATEMENT.finditer(text)):
        if not any(start <= match.start() < end for start, end in offers):
            offers[match.span(1)] = match[1]
    for match in _last(_IS_CORRECT.finditer(text)):
        option = match["option"].strip(" *([])")
        before = _JOINED_BEFORE.search(text, max(0, match.start() - 24), match.start("option"))
        lead = text[max(0, match.start() - 24) : match.start("option")]
        if options.label(option) and _MAY_LEAD.search(lead) and not (option in "aAI" and not _is_clear(text, match)):
            if before and before["nor"] and before["nor"].lower() != "or":
                continue
            offers[match.span("option")] = f"{option} or other" if before else option
    for match in _last(_IS_CORRECT_CJK.finditer(text)):
        offers[match.span("option")] = match["option"]
    for match in _last(_TEXT_IS_CORRECT.finditer(text)):
        start = match.start() - len(
            _LAST_SENTENCE.split(text[max(0, match.start() - _MAX_LINE_CHARS) : match.start()])[-1]
        )
        if options.by_text(text[start : match.start()]):
            offers[start, match.start()] = text[start : match.start()]
    return _commit(sorted(((text, span) for span, text in offers.items()), key=_start), "statement", params, options)


def _last(matches: Iterable[re.Match[str]]) -> Iterable[re.Match[str]]:
    return deque(matches, maxlen=_MAX_STATEMENTS)


def _start(offer: tuple[str, tuple[int, int]]) -> int:
    return offer[1][0]


def _is_clear(text: str, match: re.Match[str]) -> bool:
    """An A or I that begins "… is correct" is a label unless it is the lower-case article or the pronoun."""
    return match["option"].strip(" *([])") == "A" or "(" in match["option"]


def _edge_lines(text: str, params: MultipleChoiceParams, options: _Options) -> _Found | None:
    """The last line or else the first, if it names an option and its neighbour is not another entry of a list."""
    lines = [line for line in _edges(text) if len(line[0]) <= _MAX_LINE_CHARS]
    for line, neighbour in ((lines[-1:], lines[-2:-1]), (lines[:1], lines[1:2])):
        for shown, span in line:
            labels = options.named(shown, is_declared=False)
            beside = options.named(neighbour[0][0], is_declared=False) if neighbour else None
            if labels is None:
                continue
            if beside is not None and beside != labels:
                return _Found(None, "conflicting_answers", "line", None, (shown,))
            return _commit([(shown, span)], "line", params, options)
    return None


def _edges(text: str) -> list[tuple[str, tuple[int, int]]]:
    """The first and the last two lines that are not blank, with their places."""
    found: list[tuple[str, tuple[int, int]]] = []
    position = 0
    while position < len(text) and len(found) < 2:
        stop = text.find("\n", position)
        stop = len(text) if stop < 0 else stop
        if text[position:stop].strip():
            found.append((text[position:stop], (position, stop)))
        position = stop + 1
    tail: list[tuple[str, tuple[int, int]]] = []
    stop = len(text)
    while stop > position and len(tail) < 2:
        start = max(text.rfind("\n", 0, stop) + 1, position)
        if text[start:stop].strip():
            tail.append((text[start:stop], (start, stop)))
        stop = start - 1
    return found + tail[::-1]


def _plain(params: MultipleChoiceParams, channel: Channel) -> answers.ExtractionParams:
    return answers.ExtractionParams(think="none", extract=channel, on_conflict=params.on_conflict)


def _commit(
    offers: Sequence[tuple[str, tuple[int, int]]],
    channel: str,
    params: MultipleChoiceParams,
    options: _Options,
    last_must_name: bool = False,
) -> _Found | None:
    """The last offer that names an option, unless the offers commit to none."""
    named = [(options.named(text, is_declared=True), span) for text, span in offers]
    seen = tuple(text for text, _ in offers)
    if last_must_name and named and named[-1][0] is None:
        return _Found(None, "unparseable", channel, None, seen)
    given = [(labels, span) for labels, span in named if labels is not None]
    if not given:
        return None
    labels, span = given[-1]
    distinct = {labels for labels, _ in given}
    if not labels or len(distinct) >= _SPAM or (params.on_conflict == "reject" and len(distinct) > 1):
        return _Found(None, "conflicting_answers", channel, None, seen)
    if not params.multi and len(labels) > 1:
        return _Found(None, "conflicting_answers", channel, None, seen)
    return _Found(labels, "found", channel, span, seen)


_CAPITALS = ("London", "Berlin", "Paris", "Madrid")
EXAMPLES = (
    Example("The answer is (C).", {"reference": "C", "choices": _CAPITALS}, 1.0, "correct", "by its label"),
    Example(r"\boxed{\text{Paris}}", {"reference": "C", "choices": _CAPITALS}, 1.0, "correct", "by its text"),
    Example("Answer: B", {"reference": "C", "choices": _CAPITALS}, 0.0, "wrong_answer", "another option"),
    Example("Answer: B or C", {"reference": "C", "choices": _CAPITALS}, 0.0, "conflicting_answers", "two options"),
    Example(
        "Clearly so.", {"reference": "C", "choices": _CAPITALS}, 0.0, "no_answer", "begins with C, names no option"
    ),
    Example("Answer: A and C", {"reference": ["A", "C"], "multi": True}, 1.0, "correct", "a set of options"),
    Example("Answer: A, B and C", {"reference": "AC", "multi": True}, 0.0, "wrong_answer", "a superset earns nothing"),
    Example("C", {"reference": "E", "choices": _CAPITALS}, None, "reference_not_a_choice", "mend it", Status.INVALID),
)
