"""Finds the value that a response commits to, if it commits to one.

marks (tags, boxes, ####, fields) ──┐
sentences that say which is right ──┴─► offers in the order of the text ──► the last, if nothing behind unmakes it
none of these: a last or first line that is a value; a last or first sentence that states exactly one
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any, NamedTuple, Protocol

from verifiers import commitment
from verifiers.commitment.alternatives import is_left_open
from verifiers.commitment.announce import announcements
from verifiers.commitment.behind import is_taken_back, replacement, stance_of_lead
from verifiers.commitment.boxes import read_boxes
from verifiers.commitment.byname import name_of, puts_in_place, verdict_on
from verifiers.commitment.cues import Cue, Kind, adverbs, cues, kinds, listed, words
from verifiers.commitment.extraction import Mentioned
from verifiers.commitment.glance import ends_with
from verifiers.commitment.hashes import read_hashes
from verifiers.commitment.json_fields import (
    judged_names,
    may_end_in_object,
    names_beside,
    unescaped,
    without_other_fields,
)
from verifiers.commitment.mentions import in_order
from verifiers.commitment.retraction import Verdict
from verifiers.commitment.spans import Span, trim
from verifiers.commitment.stance import ANNOUNCES, UNMADE, Sentence, Stance, sentences
from verifiers.commitment.tags import read_tags
from verifiers.commitment.truths import judgement_of
from verifiers.commitment.wording import places, single, without_guesses
from verifiers.sightings import beyond_ascii

Names = frozenset[Any]
"""The values that a text names: one, or several if several are wanted; none if the text contradicts itself."""
CONFLICT: Names = frozenset()


class Mention(NamedTuple):
    """A value that a text names, and its place."""

    value: Names
    start: int
    end: int

    @property
    def span(self) -> Span:
        return self.start, self.end


class Values(Protocol):
    """Describes the values of a verifier: how a text names them, and when two are the same."""

    multi: bool
    """Whether several values may be meant together."""
    may_ask: bool
    """Whether a value may itself be a question."""

    has_formulas: bool
    """Whether a value may be written in other ways than its own."""

    def places(self, text: str) -> Sequence[Span]:
        """The spans where values may be named, or where such names begin, in order. A quick look at a whole text."""

    def mentions(self, text: str, start: int, end: int, indices: Sequence[int] | None = None) -> Sequence[Mention]:
        """The values that a text names between two places, in order; `indices` say where to look."""

    def named(self, text: str) -> Names | None:
        """The values that a short text names, if it says nothing else."""

    def measured(self, text: str) -> Any | None:
        """The value of a number with a unit, if values are bare numbers."""

    def one(self, text: str) -> Any | None:
        """The value that a text stands for; the text may be a formula."""


class Commitment(NamedTuple):
    """The values that a response commits to, or the reason why it commits to nothing."""

    value: Names | None
    reason: str
    channel: str = ""
    span: Span | None = None
    seen: tuple[str, ...] = ()
    mentions: tuple[Mentioned, ...] = ()
    """All that was read as a possible value, in order; only if an explanation was asked for."""


_ENDS_PARAGRAPH = re.compile(r"[.!?。！？।؟][\"'”’»)\]*_]{0,4}[^\S\n]{0,4}\n\s{0,8}\n\s{0,8}\Z")
_MANY = 3
_MAX_SENTENCES = 400
_FORMULA_SENTENCES = 6
_MAX_MENTIONS = 32
"""The mentions of one sentence that are read, counted from the end; earlier ones are ignored."""
_MAX_FOLLOWING = 8
_LONGER_THAN_LABEL = 3
_MAX_SHORT_CHARS = 600
_SHORT_CHARS = 16
_ABBREVIATION_CHARS = 3
_STRONG = {Stance.ANNOUNCED: 4, Stance.CONCLUDED: 3, Stance.CALLED: 2, Stance.TRUE: 1, Stance.SINGLED: 1}
_MARK = 5


class Offer(NamedTuple):
    names: Names
    span: Span
    sentence: int
    strength: int
    channel: str


class Read(NamedTuple):
    sentence: Sentence
    mentions: Sequence[Mention]


Judged = Sequence[tuple[Mention, Stance]]
"""The mentions of a sentence, each with the stance of the sentence towards it."""


class Mark(NamedTuple):
    """A place whose form says that it holds the answer; `names` is None if it holds no value."""

    channel: str
    names: Names | None
    start: int
    end: int
    reason: str = "unparseable"


def commit(text: str, values: Values, on_conflict: str, explain: bool = False) -> Commitment:
    """The values that the final segment of a response commits to.

    With `on_conflict` "reject" the response may not name two different values at all. With `explain` all offers are
    returned as `seen`, and all mentions with their stances; otherwise the search skips what cannot matter.
    """
    if not _WIDE.keys().isdisjoint(map(ord, beyond_ascii(text))):
        text = text.translate(_WIDE)
    beside: Sequence[str] = ()
    if may_end_in_object(text):
        text = unescaped(text)
        beside = names_beside(text)
        text = without_other_fields(text)
    marks = list(_marks(text, values, on_conflict, beside))
    reader = _Reader(text, values, marks)
    commitment = None if on_conflict == "reject" else _final_line(text, values)
    if commitment is None:
        offers = reader.offers(0 if on_conflict == "reject" or values.multi else reader.begin())
        if offers and not marks and (offer := reader.alone_at_end()) is not None:
            offers.append(offer)
        commitment = _found(reader, marks, offers, on_conflict)
    if not explain:
        return commitment
    texts = reader.shown(reader.offers()) if commitment.seen else ()
    return commitment._replace(seen=texts, mentions=reader.mentioned(commitment))


def _found(reader: "_Reader", marks: Sequence["Mark"], offers: Sequence["Offer"], on_conflict: str) -> Commitment:
    last_mark = marks[-1] if marks else None
    if last_mark and last_mark.names is None and not any(offer.span[0] > last_mark.start for offer in offers):
        return Commitment(None, last_mark.reason, last_mark.channel)
    if offers:
        return reader.last(offers, on_conflict)
    commitment = reader.lines()
    return reader.judgement() or commitment if commitment.reason == "no_answer" else commitment


def _final_line(text: str, values: Values) -> Commitment | None:
    """The values of a last line that does nothing but announce them: 【答案】B stands against all prose before it.

    If another such line announces other values, there is no last word.
    """
    start = text.rstrip().rfind("\n") + 1
    if start == 0 or len(text) - start > _MAX_LINE_CHARS or not places(Kind.ANSWER, text, start, len(text)):
        return None
    table: dict[Names, Span] = {}
    for announcement in announcements(text, 0, len(text)):
        origin = text.rfind("\n", 0, announcement.start) + 1
        end = text.find("\n", announcement.span[0])
        end = len(text) if end < 0 else end
        is_plain = Sentence(text, origin, announcement.span[0], "").kinds.isdisjoint(_UNSETTLED)
        is_line = (
            announcement.stance is Stance.ANNOUNCED
            and is_plain
            and _NO_WORDS.fullmatch(text, origin, announcement.start)
        )
        if (
            is_line
            and text[end - 1] not in "?？"
            and (names := values.named(_unwrapped(text[announcement.span[0] : end]))) is not None
        ):
            table[names] = announcement.span[0], end
    if len(table) != 1 or (span := next(iter(table.values())))[0] < start:
        return None
    names = next(iter(table))
    return Commitment(names or None, "found" if names else "conflicting_answers", "statement", trim(text, *span))


_MAX_LINE_CHARS = 200
_NO_WORDS = re.compile(r"[\W_]*")
_WIDE = {0xFF01 + n: 0x21 + n for n in range(94) if chr(0xFF01 + n) not in "，：；？！（）"}
_WIDE |= {0x24B6 + n: ord("A") + n for n in range(26)}
"""Full-width and circled letters and digits, one character each."""


def _marks(text: str, values: Values, on_conflict: str, beside: Sequence[str]) -> Sequence[Mark]:
    """The marks, in order. A mark inside another one is a part of it. A field may not differ from the texts given `beside` it."""
    marks: list[Mark] = []
    for channel, reader in (("answer_tag", read_tags), ("boxed", read_boxes), ("hash4", read_hashes)):
        offers = reader(text, 0, len(text))
        for offer in offers.items:
            body = _unwrapped(f"{offer.before}{text[offer.start : offer.end]}{offer.after}")
            is_asked = not values.may_ask and body.rstrip(" *_$.").endswith(("?", "？", "؟"))
            names = None if is_asked else content(body, values, on_conflict)
            # A tag is a sentence of its own, so what leads to it is read here: "It is not <answer>B</answer>".
            is_led = channel == "answer_tag" and names is not None and _ends_in_word(text, offer.outer_start)
            lead = stance_of_lead(text, 0, (offer.start, offer.end)) if is_led else None
            reason = "unparseable" if lead is None else "no_answer"
            marks.append(Mark(channel, None if lead in UNMADE else names, offer.outer_start, offer.outer_end, reason))
        if offers.reason is not None and channel != "hash4":
            at = min(offers.at, len(text))
            marks.append(Mark(channel, None, at, at, offers.reason))
    for field in _FIELD.finditer(text):
        body = field["text"] or field["list"] or field["bare"] or _KEY.sub(" ", field["object"])
        names = values.named(body)
        names = _entry(body.strip('"'), values) if names is None else names
        rivals = map(values.named, beside if names else ())
        is_same = all(rival is None or rival == names for rival in rivals)
        marks.append(Mark("json", names if is_same else CONFLICT, *field.span()))
    table, span = judged_names(text) if may_end_in_object(text) else ({}, (0, 0))
    keys = [values.named(key) for key in table]
    if keys and all(keys):
        names = frozenset().union(
            *(key for key, is_right in zip(keys, table.values(), strict=True) if key and is_right)
        )
        marks.append(Mark("json", names if len(names) == 1 or values.multi else CONFLICT, *span))
    marks.sort(key=lambda mark: (mark.start, -mark.end))
    outer: list[Mark] = []
    for mark in marks:
        if not outer or mark.start >= outer[-1].end:
            outer.append(mark)
    return outer


def _ends_in_word(text: str, end: int) -> bool:
    """Whether a letter stands before a place, with at most a few spaces between them."""
    return text[max(0, end - _SHORT_CHARS) : end].rstrip(" ")[-1:].isalpha()


def _entry(text: str, values: Values) -> Names | None:
    """The option of a text that is a label with any words: `C) twelve`, "Option (C) twelve", "b is the correct choice".

    The words may not name another option, nor deny, doubt or ask.
    """
    entry = _LABELLED.fullmatch(text.strip()) if len(text) <= _MAX_LINE_CHARS else None
    names = values.named(entry["label"]) if entry else None
    if not entry or not names or (entry["noun"] and not (entry["sign"] and ends_with(entry["noun"], Kind.NOUN))):
        return None
    if entry["label"].isdigit() and entry["sign"] == ":" and entry["text"][0].isdigit():
        return None  # a ratio, or a time: 3:15
    if entry["label"].islower() and (entry["sign"] or "").endswith((")", "]")):
        return None  # the sign of a copyright: (c)2024
    remainder = Sentence(entry["text"], 0, len(entry["text"]), "")
    rivals = values.mentions(remainder.text, 0, remainder.end)
    if remainder.asks or _is_unsettled(remainder) or any(mention.value != names for mention in rivals):
        return None
    is_verdict = any(
        cue.kind is Kind.FITS
        and cue.first == 0
        and remainder.ends(remainder.past_cue(cue.stop, Kind.NOUN, Kind.ANSWER))
        for cue in remainder.cues
    )
    return names if entry["sign"] or is_verdict else None


def _is_unsettled(remainder: Sentence) -> bool:
    """Whether the words behind a label leave it open or speak against it: "not this one", "it may be", "wrong"; not "the box is not big
    enough" or "no change in mass", which are texts of options.
    """
    against = [cue for cue in remainder.cues if cue.kind in _AGAINST]
    # The "no" of "No change in mass" begins no correction.
    spans = {(cue.first, cue.stop) for cue in against if cue.first <= _MAX_SUBJECT_WORD}
    if any(cue.kind in _LEFT_OPEN and (cue.first, cue.stop) not in spans for cue in remainder.cues):
        return True
    return any(
        _speaks_of_option(remainder, cue) or (cue.first <= _MAX_SUBJECT_WORD and _is_all(remainder, cue))
        for cue in against
    )


def _is_all(remainder: Sentence, against: Cue) -> bool:
    """Whether a word against something is all that its clause says, of this or that: "wrong, because …", "not quite", "not this one"."""
    index = against.stop
    if remainder.words[index - 1].text in listed("of"):
        return False  # "None of the above"
    while index < len(remainder.words) and remainder.words[index].text in adverbs():
        index += 1
    is_over = remainder.ends(index) or remainder.begins(index, *_PARTS)
    return is_over or remainder.words[index].text in listed("pronouns") or remainder.begins(index, Kind.THE)


def _speaks_of_option(remainder: Sentence, against: Cue) -> bool:
    """Whether a word against something speaks of the option itself: "not this one", "it is wrong", "gravity is not the answer"."""
    verbs = {(cue.first, cue.stop) for cue in remainder.cues if cue.kind is Kind.IS}
    return any(
        cue.kind in _NAMES_OPTION
        or (cue.kind in _PRAISE and against.first <= cue.first <= against.stop)
        or (
            cue.kind in _PRO_FORMS
            and (cue.first, cue.stop) not in verbs
            and (
                cue.first <= _MAX_SUBJECT_WORD or (against.first <= _MAX_SUBJECT_WORD and cue.first <= against.stop + 1)
            )
        )
        for cue in remainder.cues
    )


_EMPHASIS = "[*_]{0,3}"
_BRACKET_CLOSED = rf"\s?[)\]](?:{_EMPHASIS}\s?[.:,，：、．])?"
_SIGN_BEHIND = rf"{_EMPHASIS}\s?(?:[：、．，]|[.:,](?={_EMPHASIS}[^!-')-~])|:(?=\d))"
_LABELLED = re.compile(
    rf"{_EMPHASIS}(?:(?P<noun>[^\W\d_]{{2,12}})\s?)?[(\[]?\s?(?P<label>[^\W_])"
    rf"(?:(?P<sign>(?:{_BRACKET_CLOSED}|{_SIGN_BEHIND}){_EMPHASIS}\s*)|\s+)(?P<text>\S.*?){_EMPHASIS}"
)
_NAMES_OPTION = frozenset([Kind.ANSWER, Kind.NOUN, Kind.LABEL])
_PRAISE = frozenset([Kind.RIGHT, Kind.FITS])
_PRO_FORMS = frozenset([Kind.IT, Kind.CHOOSE])
_MAX_SUBJECT_WORD = 1
_UNSETTLED = kinds("not bad doubt maybe if said or wrong no but except")
_FIELD_KEY = r'"(?:final_?)?(?:answer|choice|option|label|letter)"\s{0,4}:\s{0,4}'
_FIELD_TEXT = r'(?P<text>"[^"\\\n]{0,300}")|(?P<list>\[[^\[\]]{0,300}\])'
_FIELD = re.compile(
    rf"{_FIELD_KEY}(?:{_FIELD_TEXT}|(?P<object>\{{[^{{}}]{{0,300}}\}})|(?P<bare>\w{{1,8}}))", re.IGNORECASE
)
_KEY = re.compile(r"\"\w{1,20}\"\s?:")


_TAGGED = re.compile(r"\s*<(?P<name>\w{1,20})>(?P<inner>[^<>]{1,200})</(?P=name)>\s*")
_NUMBERED = re.compile(r"(?:(?P<noun>[^\W\d_]{1,12})\.?\s?#?)?\d{1,3}\s?[.):]\s(?=\W{0,4}[A-Z]\W{0,4}\Z)")
"""The number of the only question, before its answer: "1. C"."""
_ENTRY = re.compile(r".?[)\].:]\s")
_MAY_BE_FORMULA, _SIGN_OF_FORMULA = re.compile(r"[\\$\d]"), re.compile(r"[\\$]")
_FORMULA = re.compile(r"\$[^$\n]{1,200}\$|\\\([^\n]{1,200}?\\\)")
_FONT = re.compile(r"\\(?:bf|rm|it|sf|tt|left|right)(?![A-Za-z])")
_WRAPPER = re.compile(r"\\(?:text\w{0,6}|math(?:bf|rm|it|sf|tt)|boldsymbol|bm|operatorname|[mh]box)\s?\{([^{}]*)\}")


def _unwrapped(text: str) -> str:
    return _FONT.sub("", _WRAPPER.sub(r"\1", text)) if "\\" in text else text


def content(text: str, values: Values, on_conflict: str) -> Names | None:
    """The content of a mark: the name of an option, or a sentence that commits to one."""
    if (names := values.named(text)) is not None:
        is_open = values.one(text) is None and (_is_doubted(text) or _is_corrected(text, names, values))
        return CONFLICT if is_open else names
    if (measured := values.measured(text)) is not None:
        return frozenset({measured})
    if not values.has_formulas and not values.places(text):
        return None
    if _is_doubted(text):
        return CONFLICT
    reader = _Reader(f"Answer: {text}" if "\n" not in text.strip() else text, values, ())
    if offers := reader.offers():
        return reader.last(offers, on_conflict).value or CONFLICT
    return None


def _is_doubted(text: str) -> bool:
    """Whether a short mark doubts or asks its own content: "probably C"."""
    return 2 < len(text) <= _MAX_DOUBTED_CHARS and Sentence(text, 0, len(text), "").wavers()


def _is_corrected(text: str, names: Names, values: Values) -> bool:
    """Whether brackets behind the content of a short mark put another value in its place: "B (should be C)"."""
    start = text.find("(")
    if start < 0 or len(text) > _MAX_DOUBTED_CHARS:
        return False
    rivals = (mention for mention in values.mentions(text, start, len(text)) if mention.value != names)
    return any(puts_in_place(text, start, rival.span, len(text)) for rival in rivals)


_MAX_DOUBTED_CHARS = 60
"""A longer mark holds reasoning, whose doubts may be settled behind."""


class _Reader:
    """A text with its sentences, and the options that each sentence mentions."""

    def __init__(self, text: str, values: Values, marks: Sequence[Mark]) -> None:
        self._text, self._values, self._marks = text, values, marks
        self._places = values.places(text)
        self._tail = list(self._sentences())[-_MAX_SENTENCES:]
        self._formulas_from = len(self._tail) - _FORMULA_SENTENCES * values.has_formulas
        self._starts = self._grouped([start for start, _ in self._places])
        self._marked = self._grouped([mark.start for mark in marks])
        self._offered: dict[int, Offer | None] = {}
        self._mentioned: dict[int, Sequence[Mention]] = {}
        self._known: dict[int, Sequence[Stance]] = {}
        self._retracted: set[Span] = set()
        """The offers that the text behind them takes back or replaces."""

    def _read(self, index: int) -> Read:
        """A sentence with its mentions."""
        if (mentions := self._mentioned.get(index)) is None:
            mentions = self._mentioned[index] = self._mentions(index)
        return Read(self._tail[index], mentions)

    def _mentions(self, index: int) -> Sequence[Mention]:
        sentence = self._tail[index]
        text, start, end = sentence.text, sentence.start, sentence.end
        indices = self._places_in(index)
        inside = [mark for mark in self._marks if start <= mark.start < end or start < mark.end <= end]
        mentions: list[Mention] = []
        if indices:
            candidates = self._values.mentions(text, start, end, indices)
            mentions = [
                mention
                for mention in candidates
                if not _within(mention, self._marks) and not _is_neutral(sentence, mention)
            ]
            nouns = {left for left, right in pairwise(mentions) if _announces(sentence, left, right)}
            mentions = [mention for mention in mentions if mention not in nouns]
            if span := _choices_shown(sentence, mentions):
                mentions = [mention for mention in mentions if not span[0] <= mention.start < span[1]]
        if index >= self._formulas_from and not inside:
            mentions = self._with_formula(sentence, mentions)
        mentions += [
            Mention(mark.names, mark.start, min(mark.end, end))
            for mark in inside
            if mark.names is not None and mark.start >= start
        ]
        return sorted(mentions, key=lambda mention: mention.start)[-_MAX_MENTIONS:] if mentions else ()

    def _grouped(self, origins: Sequence[int]) -> Mapping[int, Sequence[int]]:
        """Some places of the text, by the sentences that hold them."""
        stops = [sentence.end for sentence in self._tail]
        table: dict[int, list[int]] = {}
        for start in origins:
            index = bisect_right(stops, start)
            if index < len(stops) and self._tail[index].start <= start:
                table.setdefault(index, []).append(start)
        return table

    def _places_in(self, index: int) -> Sequence[int]:
        """Where values may be named in the part of a sentence whose words count."""
        origins, heard_from = self._starts.get(index, ()), self._tail[index].heard_from
        return (
            origins if not origins or origins[0] >= heard_from else [start for start in origins if start >= heard_from]
        )

    def _may_mention(self, index: int) -> bool:
        """Whether a sentence may mention a value; most sentences of a long text do not."""
        return index in self._starts or index in self._marked or index >= self._formulas_from

    def _may_commit(self, index: int) -> bool:
        """Whether a sentence may commit to a mention: most sentences mention nothing, or choose nothing."""
        if index in self._marked:
            return True
        sentence = self._tail[index]
        may_be = bool(self._places_in(index)) or (index >= self._formulas_from and _has(_MAY_BE_FORMULA, sentence))
        return may_be and (sentence.may_choose() or (index > 0 and self._may_head(index - 1)))

    def _may_head(self, index: int) -> bool:
        """Whether a line may announce what begins the next one."""
        return "\n" in self._tail[index].stop and self._tail[index].may_hold(ANNOUNCES)

    def _with_formula(self, sentence: Sentence, mentions: list[Mention]) -> list[Mention]:
        """The mentions, with those of formulas read as a whole.

        A formula, or all the text behind a verb or a colon, may name a value. Its parts then name nothing.
        """
        sign = _SIGN_OF_FORMULA if mentions else _MAY_BE_FORMULA
        if not _has(sign, sentence):
            return mentions
        spans = [formula.span() for formula in _FORMULA.finditer(sentence.text, sentence.start, sentence.end)]
        if not spans and not sentence.may_hold(_IS) and sentence.text.find(":", sentence.start, sentence.end) < 0:
            return mentions
        leads = [cue.stop for cue in sentence.listed if cue.kind is Kind.IS] + [
            n + 1 for n, word in enumerate(sentence.words) if word.text == ":"
        ]
        spans += [(sentence.words[lead].start, sentence.end) for lead in leads if lead < len(sentence.words)]
        hits = [(span, label) for span in spans if (label := self._values.one(sentence.text[slice(*span)]))]
        if not hits:
            return mentions
        mention = Mention(frozenset({hits[-1][1]}), *hits[-1][0])
        candidates = [
            candidate for candidate in mentions if mention.start <= candidate.start and candidate.end <= mention.end
        ]
        if mentions and all(candidate.value == mention.value for candidate in candidates):
            return mentions
        return [*(candidate for candidate in mentions if candidate not in candidates), mention]

    def _sentences(self) -> Iterator[Sentence]:
        """The sentences of the text, also where no full stop stands before an announcement: "= 2$ The answer is (C)"."""
        nouns = places(Kind.ANSWER, self._text, 0, len(self._text)) if _GAP.search(self._text) else ()
        return self._parted(nouns) if nouns else self._ended_sentences()

    def _parted(self, nouns: Sequence[int]) -> Iterator[Sentence]:
        for sentence in self._ended_sentences():
            first = sentence.start
            for noun in nouns[bisect_left(nouns, first) : bisect_left(nouns, sentence.end)]:
                gaps = [gap.end() for gap in _GAP.finditer(self._text, max(first, noun - _SHORT_CHARS), noun)]
                if gaps and self._announces(Sentence(self._text, gaps[-1], sentence.end, sentence.stop)):
                    yield Sentence(self._text, first, gaps[-1], "")
                    first = gaps[-1]
            yield sentence if first == sentence.start else Sentence(self._text, first, sentence.end, sentence.stop)

    def _announces(self, remainder: Sentence) -> bool:
        """Whether words begin a sentence, and go on to the noun of an answer and its verb: "The answer is"."""
        nouns = [cue.stop for cue in remainder.cues if cue.kind is Kind.ANSWER and cue.first < _MAX_LED_WORDS]
        return remainder.begins(0, *_BEGINS) and any(remainder.begins(stop, Kind.IS) for stop in nouns)

    def _ended_sentences(self) -> Iterator[Sentence]:
        """The sentences by their stops. A tag is a sentence of its own."""
        start = 0
        for mark in self._marks:
            if mark.channel == "answer_tag" and mark.start < mark.end:
                yield from sentences(self._text, start, mark.start)
                yield Sentence(self._text, mark.start, mark.end, "\n")
                start = mark.end
            elif mark.channel == "boxed" and self._begins_sentence(mark.end):
                yield from sentences(self._text, start, mark.end)
                start = mark.end
        yield from sentences(self._text, start, len(self._text))

    def _begins_sentence(self, index: int) -> bool:
        """Whether a capital letter begins a sentence behind a place without a full stop: "The …", "So …"."""
        start = self._text.find(" ", index, index + 2)
        remainder = self._text[start : start + _SHORT_CHARS].lstrip() if start >= 0 else ""
        return remainder[:1].isupper() and Sentence(remainder, 0, len(remainder), "").begins(0, *_BEGINS)

    def begin(self) -> int:
        """The sentence of the last offer, if it is an announcement with at most one other offer before it; else 0."""
        for index in range(len(self._tail) - 1, max(-1, len(self._tail) - 1 - _MAX_FOLLOWING), -1):
            if (offer := self._offer_of(index)) is not None:
                is_last = offer.strength > 3 and offer.names
                return index if is_last and self._stands_alone(offer, index) else 0
        return 0

    def _stands_alone(self, offer: Offer, index: int) -> bool:
        """Whether at most one other value is named before a sentence.

        A sentence that names it twice may contradict itself.
        """
        start = self._tail[index].start
        if self._marks and self._marks[0].start < start:
            return False
        spans = self._places[: bisect_left(self._places, (start,))]
        terms = {_bare(self._text[slice(*span)]) for span in spans} - {_bare(self._text[slice(*offer.span)])}
        if len(terms) != 1:
            return not terms
        return all(len(self._places_in(at)) < 2 for at in self._starts if at < index)

    def offers(self, start: int = 0) -> list[Offer]:
        """The offers of the sentences from `begin` on."""
        proposals: list[Offer] = []
        for index in range(start, len(self._tail)):
            is_next = bool(proposals) and proposals[-1].strength > 3 and index == proposals[-1].sentence + 1
            if not is_next and not self._may_mention(index):
                continue
            entry = self._entry(index) if is_next else None
            if (offer := self._offer_of(index)) is not None:
                proposals.append(offer)
            elif entry and not entry <= proposals[-1].names:
                names = proposals[-1].names | entry if self._values.multi else CONFLICT
                proposals[-1] = proposals[-1]._replace(names=names, sentence=index)
        return proposals

    def alone_at_end(self) -> Offer | None:
        """The offer of a last paragraph that is nothing but a value, behind a paragraph of sentences."""
        index = len(self._tail) - 1
        if index < 1:
            return None
        sentence, predecessor = self._tail[index], self._tail[index - 1]
        if not _ENDS_PARAGRAPH.search(self._text, max(0, sentence.start - _SHORT_CHARS), sentence.start):
            return None
        names = self._values.named(self._text[sentence.start : sentence.end])
        is_value = (
            names and not sentence.asks and self._values.named(self._text[predecessor.start : predecessor.end]) is None
        )
        span = trim(self._text, sentence.start, sentence.end)
        return Offer(names, span, index, _STRONG[Stance.ANNOUNCED], "line") if names and is_value else None

    def _entry(self, index: int) -> Names | None:
        """The options that make up a whole line; None if the line says anything else."""
        sentence = self._tail[index]
        is_against = sentence.may_hold(_AGAINST) and any(cue.kind in _AGAINST for cue in sentence.cues)
        if "\n" not in self._tail[index - 1].stop or is_against:
            return None
        text = sentence.text[sentence.start : sentence.end]
        if (names := self._values.named(text)) is not None or not (mentions := self._read(index).mentions):
            return names
        first = sentence.place(mentions[0].span)[0]
        is_entry = sentence.skipped(first) == 0 and _ENTRY.match(sentence.text, mentions[0].end - 1, sentence.end)
        return mentions[0].value if is_entry and not any(cue.kind is Kind.IS for cue in sentence.cues) else None

    def _offer_of(self, index: int) -> Offer | None:
        """The offer of a sentence that is read only if it may commit to something."""
        if index not in self._offered:
            read = self._read(index) if self._may_commit(index) else None
            self._offered[index] = self._offer(*read, index) if read and read.mentions else None
        return self._offered[index]

    def _offer(self, sentence: Sentence, mentions: Sequence[Mention], index: int) -> Offer | None:
        """The offer that a sentence commits to; None if it commits to nothing."""
        judged = list(zip(mentions, self._stances(sentence, mentions, index), strict=True))
        strengths = [_STRONG[stance] for _, stance in judged if stance in _STRONG]
        marked = [mention for mention, stance in judged if self._is_mark(mention) and stance not in UNMADE]
        if not strengths and not marked:
            return None
        best = max(strengths, default=0)
        chosen = marked or [mention for mention, stance in judged if _STRONG.get(stance) == best]
        first = chosen[0]
        for later in chosen[1:]:
            if self._turns(sentence, first, later):
                first = later
        names = self._named_with(sentence, first, judged, bool(marked))
        is_settled = best >= _STRONG[Stance.CONCLUDED] or bool(marked)
        if self._contradicts(sentence, first, judged) or (not is_settled and self._turns_away(sentence, first, judged)):
            names = CONFLICT
        # "So C is right" is as strong as a conclusion.
        if best == _STRONG[Stance.CALLED] and sentence.has(Kind.SO, 0, sentence.place(first.span)[0]):
            best = _STRONG[Stance.CONCLUDED]
        return Offer(names, first.span, index, _MARK if marked else best, self._channel(first))

    def _named_with(self, sentence: Sentence, first: Mention, judged: Judged, is_marked: bool) -> Names:
        """The values that a sentence offers in one breath: "C", "A and C"; a conflict if only one may be meant."""
        mentions = [mention for mention, _ in judged]
        rivals = [
            mention
            for mention, stance in judged
            if self._is_beside(sentence, first, mention, stance, mentions, is_marked)
        ]
        names = frozenset().union(first.value or (), *(mention.value or () for mention in rivals))
        is_unclear = not first.value or not all(mention.value for mention in rivals)
        is_unclear = is_unclear or any(stance is Stance.HEDGED and mention in rivals for mention, stance in judged)
        may_be_several = self._values.multi and not self._has_or(sentence, mentions)
        return CONFLICT if is_unclear or (len(names) > 1 and not may_be_several) else names

    def _is_beside(
        self,
        sentence: Sentence,
        first: Mention,
        mention: Mention,
        stance: Stance,
        mentions: Sequence[Mention],
        marked: bool,
    ) -> bool:
        """Whether another value is offered together with the first: "B or C", "B, maybe C"."""
        if mention.value == first.value or (marked and not self._is_mark(mention) and mention.end <= first.start):
            return False
        may_be = stance is Stance.HEDGED and not sentence.asks
        if stance in UNMADE and not (may_be and self._joined_by_or(sentence, first, mention, mentions)):
            return False
        return not self._is_apart(sentence, first, mention, mentions)

    def _contradicts(self, sentence: Sentence, first: Mention, judged: Judged) -> bool:
        """Whether a sentence chooses another value behind the first, or denies the first: "C is right, so is B"."""
        mentions = [mention for mention, _ in judged]
        chosen = [mention for mention, stance in judged if stance in _STRONG and stance is not Stance.TRUE]
        rivals = [mention for mention in chosen if mention.value != first.value and mention.start > first.end]
        denied = [mention for mention, stance in judged if stance is Stance.DENIED and mention.value == first.value]
        if (first, Stance.ANNOUNCED) in judged:
            denied = [mention for mention in denied if not self._is_explained(sentence, first, mention)]
        if Kind.FALSE not in sentence.kinds and any(not self._is_left_out(sentence, mention) for mention in denied):
            return True
        candidates = [mention for mention in rivals if self._is_apart(sentence, first, mention, mentions)]
        return any(not self._is_reason(sentence, first, mention) for mention in candidates)

    def _is_explained(self, sentence: Sentence, mention: Mention, rival: Mention) -> bool:
        """Whether an answer is concluded from a denial, or explained by it: "C is false, so the answer is C"."""
        former, right = sorted((mention, rival), key=lambda candidate: candidate.start)
        first, stop = sentence.place((former.end, right.start))
        kind = Kind.SO if former is rival else Kind.BECAUSE
        return sentence.has(kind, first, stop)

    def _is_left_out(self, sentence: Sentence, mention: Mention) -> bool:
        return sentence.ends_in(sentence.skipped(sentence.place(mention.span)[0]), Kind.EXCEPT) is not None

    def _turns_away(self, sentence: Sentence, first: Mention, judged: Judged) -> bool:
        """Whether a sentence turns from its choice to another value: "C fits, but B"."""
        mentions = [mention for mention, stance in judged if mention.start > first.end and stance is Stance.STATED]
        return any(self._turns(sentence, first, mention) for mention in mentions)

    def _stances(self, sentence: Sentence, mentions: Sequence[Mention], index: int) -> Sequence[Stance]:
        if (stances := self._known.get(index)) is None:
            stances = self._known[index] = self._judged(sentence, mentions, index)
        return stances

    def _judged(self, sentence: Sentence, mentions: Sequence[Mention], index: int) -> Sequence[Stance]:
        spans = [mention.span for mention in mentions]
        stances = []
        if self._values.may_ask and mentions and self._asks_itself(sentence, mentions[-1]):
            # The mark belongs to an option that asks: "It can best answer (A) Is wax faster?"
            sentence = Sentence(sentence.text, sentence.start, sentence.end, "")
        for mention in mentions:
            stance = sentence.stance(mention.span, [span for span in spans if span != mention.span])
            if stance is Stance.STATED and mention is mentions[0] and index and self._is_headed(index, mention):
                stance = Stance.ANNOUNCED
            is_number = not any(map(str.isalpha, sentence.text[mention.start : mention.end]))
            if stance is Stance.CONCLUDED and (
                not sentence.ends(sentence.place(mention.span)[1]) or (is_number and index < len(self._tail) - 2)
            ):
                stance = Stance.STATED
            if (stance is Stance.CONCLUDED or self._is_mark(mention)) and sentence.is_told_before(mention.span):
                stance = Stance.ATTRIBUTED
            stances.append(stance)
        return stances

    def _asks_itself(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether the mark of a question ends the text of an option."""
        is_last = not self._text[mention.end : sentence.end].strip(' ?？"”')
        return is_last and mention.end - mention.start > _SHORT_CHARS

    def _is_reason(self, sentence: Sentence, mention: Mention, rival: Mention) -> bool:
        first, stop = sentence.place((mention.end, rival.start))
        return any(cue.kind is Kind.BECAUSE and first <= cue.first < stop for cue in sentence.cues)

    def _is_in_reason(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a mention belongs to the reason for the statement before it."""
        first = sentence.place(mention.span)[0]
        cues = [cue for cue in sentence.cues if cue.kind in _PARTS and cue.first > 0 and cue.stop <= first]
        # "The vents are located in the lower half" is a verb, no reason.
        cues = [cue for cue in cues if cue.kind is not Kind.BECAUSE or sentence.ends_in(cue.first, Kind.IS) is None]
        if not cues or cues[-1].kind is not Kind.BECAUSE:
            return False
        # "The largest city where the plane is built is Tokyo": the second verb is that of the statement.
        verbs = [cue for cue in sentence.cues if cue.kind is Kind.IS and cues[-1].stop <= cue.first < first]
        phrase = sentence.words[cues[-1].first - 1 : first]
        return len(verbs) < _VERBS_OF_RELATIVE or any(word.text in ",;—–(" for word in phrase)

    def _is_mark(self, mention: Mention) -> bool:
        return any(mark.start == mention.start for mark in self._marks)

    def _channel(self, mention: Mention) -> str:
        return next((mark.channel for mark in self._marks if mark.start == mention.start), "statement")

    def _turns(self, sentence: Sentence, mention: Mention, rival: Mention) -> bool:
        first, stop = sentence.place((mention.end, rival.start))
        return any(cue.kind in (Kind.BUT, Kind.SO) and first <= cue.first < stop for cue in sentence.cues)

    def _is_apart(self, sentence: Sentence, mention: Mention, rival: Mention, mentions: Sequence[Mention]) -> bool:
        """Whether another mention stands in its own clause, and that clause does not support it."""
        former, right = sorted((mention, rival), key=lambda candidate: candidate.start)
        first, stop = sentence.place((former.end, right.start))
        if sentence.ends_in(sentence.skipped(stop), Kind.OR, Kind.MAYBE):
            return False
        if sentence.ends_in(sentence.skipped(stop), Kind.BUT) and sentence.ends(sentence.place(right.span)[1]):
            return False
        if self._is_joined(sentence, first, stop):
            return not sentence.ends(sentence.place(right.span)[1])
        spans = [sentence.place(candidate.span) for candidate in mentions]
        if sentence.is_list(first, stop, spans):
            is_following = sentence.ends(sentence.list_end(sentence.place(right.span)[1], spans))
            is_set_out = any(
                candidate.value == right.value and former.end <= candidate.start < right.start for candidate in mentions
            )
            return not is_following and (
                is_set_out or all(word.text in ",;，；" for word in sentence.words[first:stop])
            )
        kinds = (Kind.BECAUSE, Kind.SO, Kind.BUT)
        if any(cue.kind in kinds and first <= cue.first < stop for cue in sentence.cues):
            return True
        between = [word.text for word in sentence.words[first:stop]]
        if not any(sign in between for sign in ",;:—–(，；：、"):
            return False
        is_item = sentence.skipped(stop) == stop and between[-1] in ",;，；、(/"
        return not (is_item and sentence.ends(sentence.place(right.span)[1]))

    def _is_joined(self, sentence: Sentence, first: int, stop: int) -> bool:
        """Whether an "and" with a degree of certainty is all that stands between two places: "and, I think,"."""
        phrase = sentence.words[first:stop]
        joint = {word.text for word in without_guesses(phrase) if word.text not in ",，"}
        return len(joint) == 1 and joint <= single(Kind.JOINS) and any(cue.kind is Kind.GUESS for cue in cues(phrase))

    def _joined_by_or(self, sentence: Sentence, mention: Mention, rival: Mention, mentions: Sequence[Mention]) -> bool:
        former, right = sorted((mention, rival), key=lambda candidate: candidate.start)
        first, stop = sentence.place((former.end, right.start))
        spans = [sentence.place(candidate.span) for candidate in mentions]
        if sentence.is_list(first, stop, spans) and sentence.has(Kind.OR, first, stop):
            return True
        return sentence.ends_in(sentence.skipped(stop), Kind.OR, Kind.MAYBE) is not None

    def _has_or(self, sentence: Sentence, mentions: Sequence[Mention]) -> bool:
        first, stop = sentence.place((mentions[0].start, mentions[-1].end))
        return sentence.has(Kind.OR, first, stop)

    def _is_headed(self, index: int, mention: Mention) -> bool:
        """Whether the line above announces the mention that begins the sentence."""
        predecessor, sentence = self._tail[index - 1], self._tail[index]
        if (
            "\n" not in predecessor.stop
            or not predecessor.words
            or sentence.skipped(sentence.place(mention.span)[0]) != 0
        ):
            return False
        kinds = [cue for cue in predecessor.cues if cue.kind in (Kind.ANSWER, Kind.RESULT)]
        if any(cue.kind in (Kind.BAD, Kind.NOT, Kind.SAID) for cue in predecessor.cues):
            return False
        if predecessor.words[-1].text in ":：":
            return bool(kinds)
        return any(cue.stop == len(predecessor.words) for cue in kinds) and len(predecessor.words) <= 5

    # --- the text behind an offer

    def shown(self, offers: Sequence[Offer]) -> tuple[str, ...]:
        """The texts of the last offers."""
        return tuple(self._text[slice(*offer.span)] for offer in offers[-16:])

    def mentioned(self, commitment: Commitment) -> tuple[Mentioned, ...]:
        """All mentions, with the stances that decided; the answer that was found is one of them."""
        candidates = [
            Mentioned((mark.start, mark.end), Stance.MARKED, mark.channel) for mark in self._marks if not mark.names
        ]
        for index in range(len(self._tail)):
            if not self._may_mention(index):
                continue
            sentence, mentions = self._read(index)
            for mention, stance in zip(mentions, self._stances(sentence, mentions, index), strict=True):
                is_mark = self._is_mark(mention)
                stance = Stance.MARKED if is_mark and stance not in UNMADE else stance
                stance = Stance.RETRACTED if mention.span in self._retracted else stance
                candidates.append(Mentioned(mention.span, stance, self._channel(mention) if is_mark else ""))
        if commitment.span is None:
            return in_order(candidates)
        stances = [
            candidate.stance
            for candidate in candidates
            if candidate.span == commitment.span and candidate.stance not in UNMADE
        ]
        answer = Mentioned(
            commitment.span, stances[0] if stances else Stance.STATED, commitment.channel, is_answer=True
        )
        return in_order([answer, *candidates])

    def last(self, offers: Sequence[Offer], on_conflict: str) -> Commitment:
        texts = self.shown(offers)
        strong = [offer for offer in offers if offer.strength > 2]
        if any(offer.strength > 1 for offer in offers):
            offers = [offer for offer in offers if offer.strength > 1]
        last = offers[-1]
        if strong and on_conflict != "reject":
            offers = [offer for offer in offers if offer.strength > 2 or offer.span > strong[-1].span]
            last = offers[-1]
        elif not strong and self._values.multi:
            last = last._replace(names=frozenset().union(*(offer.names for offer in offers)))
        refused: Commitment = Commitment(None, "conflicting_answers", last.channel, None, texts)
        distinct = {offer.names for offer in offers if not (self._values.multi and offer.names <= last.names)} | {
            last.names
        }
        if len(distinct) > 1 and on_conflict != "reject":
            offers = [offer for offer in offers if offer is last or not is_taken_back(self._text, offer.span[1])]
            distinct = {offer.names for offer in offers} & distinct
        if last.strength == 3 and self._is_against_another(last, offers):
            return refused
        if last.strength > _STRONG[Stance.CONCLUDED] and on_conflict != "reject":
            # What reasoning calls right or wrong on its way is no rival of an announcement: "so (D) is correct, (C) is not. The answer is (C)".
            distinct &= {offer.names for offer in offers if offer.strength > _STRONG[Stance.CONCLUDED]}
        if not last.names or len(distinct) >= _MANY or (on_conflict == "reject" and len(distinct) > 1):
            return refused
        if last.strength < 3 and len(distinct) > 1:
            return refused
        if on_conflict != "reject":
            last = self._corrected(last)
        if self._is_unmade(last):
            self._retracted.add(last.span)
            return refused
        if self._are_alternatives(last) or (not self._values.multi and self._begins_list(last)):
            return refused
        return Commitment(last.names, "found", last.channel, last.span, texts)

    def _corrected(self, last: Offer) -> Offer:
        """The offer, or the one that replaces it: the text directly behind may call it wrong and state another."""
        correction = replacement(self._text, last.span[1], self._text[slice(*last.span)])
        names = self._values.named(correction.value) if correction and correction.corrects else None
        if not correction or not names:
            return last
        self._retracted.add(last.span)
        return Offer(names, correction.span, self._sentence_at(correction.span[0]), last.strength, last.channel)

    def _is_unmade(self, last: Offer) -> bool:
        """Whether the text behind an offer takes it back, or lets another one stand."""
        count = len(self._tail)
        correction = replacement(self._text, last.span[1], self._text[slice(*last.span)])
        if correction is not None and self._values.named(correction.value) != last.names:
            return True
        if is_taken_back(self._text, self._end_of_restated(last)) or self._is_left_to_choose(last):
            return True
        for index in range(last.sentence, min(count, last.sentence + _MAX_FOLLOWING)):
            sentence, mentions = self._read(index)
            stances = self._stances(sentence, mentions, index)
            for mention, stance in zip(mentions, stances, strict=True):
                if mention.start <= last.span[0] or not mention.value:
                    continue
                if mention.value <= last.names:
                    is_false = any(cue.kind is Kind.FALSE for cue in sentence.cues)
                    if (
                        index > last.sentence
                        and stance is Stance.DENIED
                        and not is_false
                        and (self._is_denial(sentence, mention) or self._is_called_wrong(sentence, mention, last))
                    ):
                        return True
                    continue
                first, stop = sentence.place(mention.span)
                if stance is Stance.DENIED:
                    continue
                if puts_in_place(self._text, max(sentence.start, last.span[1]), mention.span, sentence.end):
                    return True
                if any(0 <= cue.first - stop <= 3 for cue in sentence.also()):
                    return True
                if any(0 <= first - cue.stop <= 2 for cue in sentence.also()):
                    return True
                opens = sentence.opening()
                spans = [sentence.place(candidate.span) for candidate in mentions]
                stop = sentence.list_end(stop, spans)
                if index > last.sentence and opens and opens >= sentence.skipped(first) and sentence.ends(stop):
                    return True
        if count - 1 > last.sentence and self._read(count - 1).mentions:
            sentence, mentions = self._read(count - 1)
            names = self._values.named(self._text[sentence.start : sentence.end]) or self._entry(count - 1)
            alive = [stance for stance in self._stances(sentence, mentions, count - 1) if stance is not Stance.DENIED]
            return bool(alive) and names is not None and not (names and names <= last.names)
        return False

    def _is_left_to_choose(self, last: Offer) -> bool:
        """Whether the words behind an offer let another one be as right: "C, unless it is D", "C... or not"."""
        return is_left_open(self._text, last.span[1], lambda other: self._values.named(other) not in (None, last.names))

    def _end_of_restated(self, offer: Offer) -> int:
        """The end of an offer, or of the sentence behind it that is nothing but the same value: "(B). No.", if B is "No"."""
        index = offer.sentence + 1
        if index >= len(self._tail) or _NO_WORDS.fullmatch(self._text, offer.span[1], self._tail[index].start) is None:
            return offer.span[1]
        sentence = self._tail[index]
        is_same = self._values.named(self._text[sentence.start : sentence.end]) == offer.names
        return sentence.end if is_same else offer.span[1]

    def _is_against_another(self, last: Offer, offers: Sequence[Offer]) -> bool:
        """Whether another value was announced before a conclusion, and no sentence since then begins with a turn."""
        indices = [offer.sentence for offer in offers if offer.strength > 3 and offer.names != last.names]
        if not indices:
            return False
        statement = self._tail[last.sentence]
        concludes = Kind.SO in statement.kinds or statement.corrects()
        since = self._tail[indices[-1] + 1 : last.sentence + concludes]
        return not any(cue.kind is Kind.BUT and cue.first == 0 for sentence in since for cue in sentence.cues)

    def _begins_list(self, last: Offer) -> bool:
        """Whether an announced label begins a list of all options on its line: "Answer: A. one B. two C. three"."""
        end = self._text.find("\n", last.span[0])
        end = min(len(self._text) if end < 0 else end, last.span[0] + _MAX_LIST_CHARS)
        labels = [entry["label"] for entry in _ENTRY_SIGN.finditer(self._text, last.span[0], end)]
        if len(labels) < _MANY or any(ord(b) != ord(a) + 1 for a, b in pairwise(labels)):
            return False
        return Sentence(self._text, last.span[0], end, "").kinds.isdisjoint(_VERDICTS_ON_ENTRIES)

    def _are_alternatives(self, last: Offer) -> bool:
        """Whether a mark stands beside another mark with another value, with no words between them."""
        marks = [mark for mark in self._marks if mark.end <= last.span[0] and mark.names is not None]
        if (
            last.strength < _MARK
            or not marks
            or marks[-1].names == last.names
            or marks[-1].channel != last.channel
            or "\n\n" in self._text[marks[-1].end : last.span[0]]
        ):
            return False
        phrase = words(self._text, marks[-1].end, last.span[0])
        spared = [cue for cue in cues(phrase) if cue.kind in (Kind.OR, Kind.MAYBE)]
        return not any(map(str.isalnum, "".join(word.text for word in phrase))) or bool(spared)

    def _denied(self, reads: Sequence[Read]) -> set[Names | None]:
        return {
            mention.value
            for index, (sentence, mentions) in enumerate(reads)
            for mention, stance in zip(mentions, self._stances(sentence, mentions, index), strict=True)
            if stance is Stance.DENIED
        }

    def _is_among_denied(self, index: int, word: int) -> bool:
        """Whether an "or" stands before a mention that is denied."""
        sentence, mentions = self._read(index)
        stances = zip(mentions, self._stances(sentence, mentions, index), strict=True)
        return any(stance is Stance.DENIED and sentence.place(mention.span)[0] > word for mention, stance in stances)

    def _is_bracketed(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a mention is a label in brackets that ends a sentence, or is the whole sentence with its text."""
        text = sentence.text[mention.start : mention.end]
        remainder = sentence.text[mention.end : sentence.end].strip(" *_$.")
        return ("(" in text[:1] or sentence.text[mention.start - 1 : mention.start] == "(") and not remainder.strip(")")

    def _is_subject(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a sentence only describes an option, named by its text."""
        first, stop = sentence.place(mention.span)
        text = sentence.text[mention.start : mention.end].strip("*_ ")
        is_text = len(text) > 2 and first == 0
        is_text = is_text and not any(cue.kind is Kind.OTHER for cue in sentence.cues)
        return is_text and any(
            cue.kind is Kind.IS
            and cue.first == stop
            and any(the.kind is Kind.THE and the.first == cue.stop for the in sentence.cues)
            for cue in sentence.cues
        )

    def _is_entry(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a sentence begins with a label and its text."""
        text = sentence.text[mention.start : mention.end]
        return sentence.place(mention.span)[0] == 0 and len(text) > 3 and text.strip("(*")[1:2] in ").:"

    def _is_led(self, sentence: Sentence, mentions: Sequence[Mention]) -> bool:
        """Whether a text begins with a label and its text.

        Statements about other texts then only explain that choice.
        """
        return bool(mentions) and self._is_entry(sentence, mentions[0])

    def _is_label_alone(self, mention: Mention) -> bool:
        return len(self._text[mention.start : mention.end].strip("*_([)]. ")) < _LONGER_THAN_LABEL

    def _is_short(self, mention: Mention) -> bool:
        """Whether a mention is a label, or begins with one."""
        text = self._text[mention.start : mention.end].strip("*_([ ")
        return len(text) < 3 or text[1:2] in ").:"

    def _goes_on_plainly(self, sentence: Sentence, stop: int) -> bool:
        """Whether the text behind a comma does not name another value of the same kind."""
        stop = sentence.past(stop, _CLOSING)
        if stop + 1 >= len(sentence.words) or sentence.words[stop].text not in ",;":
            return True
        if any(cue.kind is Kind.IS and cue.first > stop for cue in sentence.cues):
            return True
        if any(cue.kind in _VERDICTS and cue.first == 0 and cue.stop == stop for cue in sentence.cues):
            return True
        successor = sentence.words[stop + 1]
        return sentence.text[successor.start].islower() and stop + 2 < len(sentence.words)

    def _is_left_open(self, sentence: Sentence, first: int, stop: int) -> bool:
        """Whether a sentence doubts a mention, or supposes it: not behind a condition of its own, "If x is 3, y is C"."""
        indices = {cue.first for cue in sentence.cues if cue.kind is Kind.IF and cue.first == 0}
        pauses = [index for index in range(first) if sentence.words[index].text in ",，、،"]
        is_unreal = any(word.text in listed("unreal") for word in sentence.words[:first])
        spared = indices if pauses and not is_unreal else set()
        return any(
            cue.kind in _OPEN
            and (cue.first < stop or cue.kind is not Kind.ALSO)
            and (cue.stop <= first or cue.kind is not Kind.OTHER)
            and cue.first not in spared
            and not (cue.kind in _MODAL and sentence.is_settled(cue, first))
            for cue in sentence.cues
        )

    def _leads_to(self, sentence: Sentence, at: int) -> bool:
        prefix = sentence.words[at - 1].text
        if prefix == "=":
            return at < 2 or sentence.words[at - 2].text not in "<>!≤≥≠~"
        if prefix == ",":
            return any(cue.kind is Kind.BECAUSE and cue.first == 0 for cue in sentence.cues)
        return prefix in ":—–" or prefix in listed("places")

    def _is_told_against(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a clause with a mention has a word against it."""
        first = sentence.place(mention.span)[0]
        stop = self._end_of_clause(sentence, mention)
        indices = [
            sentence.place(candidate.span)[0]
            for candidate in self._values.mentions(sentence.text, sentence.start, sentence.end)
        ]
        for cue in sentence.cues:
            if cue.kind in _AGAINST and (
                cue.stop <= first or first < sentence.place(mention.span)[1] <= cue.first < stop
            ):
                if cue.kind is Kind.NOT and cue.first > first and any(index >= cue.stop for index in indices):
                    continue
                # "The number that is not prime is C" denies nothing of C; "the only option that does not work" is one to avoid.
                is_of_option = any(noun.kind in _CHOICES and noun.stop <= cue.first for noun in sentence.cues)
                if cue.stop <= first and not is_of_option and sentence.tells_which(cue, first):
                    continue
                return True
        return False

    def _end_of_clause(self, sentence: Sentence, mention: Mention) -> int:
        """The end of the clause of a mention: "B. The box is too small" says nothing of B behind the full stop."""
        stop = sentence.place(mention.span)[1]
        reasons = {cue.first for cue in sentence.cues if cue.kind is Kind.BECAUSE}
        while stop < len(sentence.words) and sentence.words[stop].text not in ",;—–-(，" and stop not in reasons:
            remainder = Sentence(sentence.text, sentence.words[stop].end, sentence.end, "")
            if sentence.words[stop].text == "." and not _is_unsettled(remainder):
                break
            stop += 1
        return stop

    def _is_denial(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a sentence does nothing but deny what it mentions."""
        first, stop = sentence.place(mention.span)
        return first <= 6 and sentence.ends(stop)

    def _is_called_wrong(self, sentence: Sentence, mention: Mention, last: Offer) -> bool:
        """Whether a sentence calls a value wrong, and none behind the offer speaks of another: a review of all is none."""
        verdict = verdict_on(sentence, name_of(sentence.text[slice(*mention.span)]))
        candidates = [self._read(index).mentions for index in range(last.sentence + 1, len(self._tail))]
        is_alone = all(candidate.value == mention.value for mentions in candidates for candidate in mentions)
        return verdict is Verdict.REJECTS and is_alone

    # --- texts in which no sentence makes a choice

    def judgement(self) -> Commitment | None:
        """The option that says what the only sentence says of the statement asked about: "The statement is not true"."""
        value = judgement_of(self._tail[0]) if len(self._tail) == 1 and not self._tail[0].asks else None
        names = None if value is None else self._values.named("true" if value else "false")
        span = trim(self._text, 0, len(self._text))
        return self._found(names, "statement", span) if names else None

    def lines(self) -> Commitment:
        text, values = self._text, self._values
        end = commitment.without_courtesy(text, 0, len(text))
        mentions = self._read(0).mentions if len(self._tail) == 1 else ()
        if mentions and is_taken_back(text, mentions[0].end):
            return Commitment(None, "conflicting_answers", "bare")
        if tagged := _TAGGED.fullmatch(text, 0, end):
            return self._found(values.named(tagged["inner"]) or CONFLICT, "bare", tagged.span("inner"))
        if (
            len(self._tail) == 1
            and (named := values.named(text[:end])) is not None
            and not self._are_unmade(0, end, named)
        ):
            return self._found(named, "bare", (0, end))
        lines = [line for line in _LINE.finditer(text, 0, end) if _is_line(line[0])]
        is_explained = len(lines) > 1 and self._is_explanation(lines[1].start(), end)
        entry = (
            _entry(text[: lines[0].end() if is_explained else end], values) if is_explained or len(lines) == 1 else None
        )
        if entry is not None:
            return self._found(entry, "bare", (0, end))
        if any(self._is_or(line[0]) for line in lines):
            return Commitment(None, "conflicting_answers", "line")
        numbered = _NUMBERED.match(text, 0, end)
        noun = (numbered and numbered["noun"]) or ""
        if len(noun) > _ABBREVIATION_CHARS and not ends_with(noun, Kind.LABEL, Kind.ANSWER):
            numbered = None
        if numbered and len(lines) == 1 and (named := values.named(text[numbered.end() : end])) is not None:
            return self._found(named, "bare", (numbered.end(), end))
        if values.multi and len(lines) > 1:
            named_lines = list(takewhile(bool, (values.named(line[0].strip()) for line in lines)))
            if len(named_lines) == len(lines):
                return self._found(frozenset().union(*(each for each in named_lines if each)), "line", lines[-1].span())
        ends = ((-1, -2), (0, 1))
        for index, position in ends[::-1] if len(lines) > 1 and _heads_explanation(lines[1][0]) else ends:
            if (
                not lines
                or (names := values.named(lines[index][0].strip())) is None
                or lines[index][0].rstrip(" *_").endswith((":", "："))
                or self._are_unmade(*lines[index].span(), names)
            ):
                continue
            other = values.named(lines[position][0].strip()) if len(lines) > 1 else None
            if other is not None and other != names:
                return Commitment(None, "conflicting_answers", "line")
            if _are_entries(*(line[0].strip() for line in (lines[:2] if index == 0 else lines[-2:]))):
                continue
            offer = Offer(names, lines[index].span(), self._sentence_at(lines[index].start()), 2, "line")
            if names and self._is_unmade(offer):
                return Commitment(None, "conflicting_answers", "line")
            return self._found(names, "line", lines[index].span())
        return self._stated(end)

    def _is_explanation(self, start: int, end: int) -> bool:
        """Whether a text only gives a reason: "Because 2 × 3 = 6."."""
        if end - start > _MAX_LINE_CHARS or self._values.mentions(self._text, start, end):
            return False
        reason = Sentence(self._text, start, end, "")
        return reason.begins(0, Kind.BECAUSE) and not reason.asks and not _is_unsettled(reason)

    def _only_told(self, reads: Sequence[Read]) -> Mention | None:
        """The text of an option that the first sentence tells, where no sentence names another one: "The vents are in the lower half
        of it"; None if the sentence doubts, denies or supposes something. A condition before it is that of the question.
        """
        sentence, mentions = reads[0]
        candidates = [mention for _, rivals in reads for mention in rivals]
        if (
            not mentions
            or sentence.asks
            or len({mention.value for mention in candidates}) > 1
            or any(map(self._is_label_alone, candidates))
        ):
            return None
        first = mentions[0]
        index = sentence.place(first.span)[0]
        commas = [at for at in range(index) if sentence.words[at].text in ",，、،"]
        # The "well" of "as well" does not turn to something else.
        indices = {at for cue in sentence.cues if cue.kind is Kind.ALSO for at in range(cue.first + 1, cue.stop)}
        against = [cue for cue in sentence.cues if cue.kind in _NOT_PLAIN and cue.first not in indices]
        is_plain = all(cue.kind is Kind.IF and cue.first == 0 and commas for cue in against)
        previous = sentence.skipped(index) - 1
        is_read = (
            previous < 0
            or sentence.words[previous].text[0].isdigit()
            or sentence.words[previous].text in listed("auxiliaries")
            or any(c.first <= previous < c.stop for c in sentence.cues)
        )
        if not is_read or not self._goes_on_plainly(sentence, sentence.place(first.span)[1]):
            return None  # "Paris, Texas" is another place, and so is "near Paris".
        is_led_on = self._text[first.end : sentence.end + 1].lstrip("*_ ").startswith((":", "："))
        is_word = _WORD.search(sentence.text, first.start, first.end) is not None and not is_led_on
        # "There are many towns, and Paris is one of them" tells of more than the option.
        is_alone = sentence.ends_in(index, Kind.JOINS) is None
        is_told = (
            is_plain
            and is_alone
            and is_word
            and not self._is_unmade(Offer(first.value or CONFLICT, first.span, 0, 2, "line"))
        )
        return first if is_told else None

    def _is_or(self, line: str) -> bool:
        """Whether a line is nothing but "or"."""
        if len(line.split(maxsplit=_MAX_OR_WORDS)) > _MAX_OR_WORDS:
            return False
        phrase = words(line)
        return any(cue.kind is Kind.OR and cue.first == 0 and cue.stop == len(phrase) for cue in cues(phrase))

    def _are_unmade(self, start: int, end: int, names: Names) -> bool:
        """Whether a line asks or denies what it names. It may deny others: "A, C, but not B"."""
        for index, sentence in enumerate(self._tail):
            if start <= sentence.start < end:
                if sentence.asks and not self._values.may_ask:
                    return True
                read = self._read(index)
                stances = zip(read.mentions, self._stances(*read, index), strict=True)
                if any(
                    stance in UNMADE and (not names or not mention.value or mention.value & names)
                    for mention, stance in stances
                ):
                    return True
        return False

    def _sentence_at(self, index: int) -> int:
        return next((n for n, sentence in enumerate(self._tail) if sentence.end > index), len(self._tail) - 1)

    def _found(self, names: Names, channel: str, span: Span) -> Commitment:
        if not names:
            return Commitment(None, "conflicting_answers", channel)
        return Commitment(names, "found", channel, span)

    def _stated(self, end: int) -> Commitment:
        """The single option that the last or the first sentence of a short response states."""
        none: Commitment = Commitment(None, "no_answer")
        if end > _MAX_SHORT_CHARS or not self._tail or self._tail[0].start >= end:
            return none
        reads = [self._read(index) for index, statement in enumerate(self._tail) if statement.start < end]
        is_led = self._is_led(*reads[0])
        alive = {
            mention.value
            for index, (sentence, mentions) in enumerate(reads)
            for mention, stance in zip(mentions, self._stances(sentence, mentions, index), strict=True)
            if stance not in UNMADE
            and not self._is_in_reason(sentence, mention)
            and not (is_led and index and stance is Stance.STATED and not self._is_short(mention))
        }
        if len(alive) != 1 or not next(iter(alive)) or alive & self._denied(reads):
            return none
        if (only := self._only_told(reads)) is not None:
            return self._found(only.value or CONFLICT, "line", only.span)
        for index in (0,) if is_led else (len(reads) - 1, 0):
            sentence, mentions = reads[index]
            for mention, stance in zip(mentions, self._stances(sentence, mentions, index), strict=True):
                first, stop = sentence.place(mention.span)
                if stop < len(sentence.words) and sentence.words[stop].text in ":：":
                    continue
                if (
                    stance in UNMADE
                    or not (
                        sentence.ends(stop) or self._is_entry(sentence, mention) or self._is_subject(sentence, mention)
                    )
                    or self._is_told_against(sentence, mention)
                ):
                    continue
                if (
                    index == 0
                    and len(reads) > 1
                    and not any(map(str.isalpha, sentence.text[mention.start : mention.end]))
                ):
                    continue
                at = sentence.skipped(first)
                if self._is_left_open(sentence, first, self._end_of_clause(sentence, mention)):
                    continue
                if any(cue.kind is Kind.OR and not self._is_among_denied(index, cue.first) for cue in sentence.cues):
                    continue
                if at == 0 and not self._goes_on_plainly(sentence, stop):
                    continue
                if (
                    self._is_bracketed(sentence, mention)
                    or at == 0
                    or sentence.ends_in(at, Kind.IS, Kind.SO, Kind.CHOOSE)
                    or self._leads_to(sentence, at)
                ):
                    offer = Offer(mention.value or CONFLICT, mention.span, index, 2, "line")
                    return none if self._is_unmade(offer) else self._found(offer.names, "line", mention.span)
        return none


def _heads_explanation(line: str) -> bool:
    """Whether a line is nothing but the heading of an explanation: 解析："""
    phrase = words(line) if len(line) <= _MAX_LINE_CHARS and line.rstrip(" *_").endswith((":", "：")) else []
    return any(cue.kind in _EXPLAINS and cue.first == 0 and cue.stop >= len(phrase) - 1 for cue in cues(phrase))


_EXPLAINS = frozenset([Kind.EXPLAINS, Kind.BECAUSE])


def _are_entries(line: str, successor: str = "") -> bool:
    """Whether two lines are an option and the next one, or its label alone, where the text stops within the list of options."""
    if max(len(line), len(successor)) > _MAX_LINE_CHARS:
        return False
    entry, following = _LABELLED.fullmatch(line), _LABELLED.fullmatch(successor)
    label = following["label"] if following and following["sign"] else successor.strip("()[].:：*_ ")
    return bool(entry and entry["sign"] and len(label) == 1 and ord(label) == ord(entry["label"]) + 1)


_VERDICTS = frozenset([Kind.YES, Kind.NO])
_ENTRY_SIGN = re.compile(r"(?<![^\W_])(?P<label>[A-Z])\s?[.)．、:：]\s?(?=\w)")
_LINE = re.compile(r"[^\n]+")
_ALNUM = re.compile(r"[^\W_]")
_MAX_OR_WORDS = 3
_GAP = re.compile(r"[$\d)\]}][^\S\n]+(?=[A-Z][a-z])")
_MAX_LED_WORDS = 5
_CHOICES = frozenset([Kind.CALLED, Kind.ANSWER])
_MODAL = frozenset([Kind.MAYBE, Kind.ALSO])
_VERBS_OF_RELATIVE = 2
_AGAINST = frozenset([Kind.NOT, Kind.WRONG, Kind.BAD, Kind.NO])
_LEFT_OPEN = _UNSETTLED - _AGAINST
_VERDICTS_ON_ENTRIES = frozenset([*_AGAINST, Kind.BECAUSE, Kind.FITS])
_MAX_LIST_CHARS = 400
_PARTS = frozenset([Kind.BECAUSE, Kind.BUT, Kind.SO])
_BEGINS = frozenset([Kind.SO, Kind.THE, Kind.RIGHT])
_CLOSING = frozenset(')]*_"”$')
_NEUTRAL, _IS = frozenset([Kind.NEUTRAL]), frozenset([Kind.IS])
_NOT_PLAIN = frozenset([*_UNSETTLED, Kind.FALSE, Kind.OTHER])
_WORD = re.compile(r"(?<!\d)(?<!\d\s)[^\W\d_]{3,}")
"""A word that is not the unit of a number."""
_OPEN = frozenset([Kind.ALSO, Kind.OTHER, Kind.MAYBE, Kind.IF, Kind.SAID, Kind.DOUBT])


def _has(sign: re.Pattern[str], sentence: Sentence) -> bool:
    return sign.search(sentence.text, sentence.start, sentence.end) is not None


def _bare(text: str) -> str:
    return text.strip(" \n_([{<:.)]!").casefold()


def _is_line(line: str) -> bool:
    return _ALNUM.search(line) is not None and not line.startswith(("```", "~~~"))


def _within(mention: Mention, marks: Sequence[Mark]) -> bool:
    return any(mark.start < mention.end and mention.start < mark.end for mark in marks)


_SHOWN = re.compile(r"[*_]{0,3}\s?[(\[][^()\[\]\n]{3,60}[)\]][*_]{0,3}")


def _choices_shown(sentence: Sentence, mentions: Sequence[Mention]) -> Span | None:
    """The span of a bracket behind the announcing noun that repeats what may be chosen: "Answer (A/B/C/D): A", "The answer (A or B) is A"."""
    if len(mentions) <= 2 or Kind.ANSWER not in sentence.kinds:
        return None
    for noun in [cue for cue in sentence.cues if cue.kind is Kind.ANSWER][-_MAX_NOUNS:]:
        bracket = _SHOWN.match(sentence.text, sentence.words[noun.stop - 1].end, sentence.end)
        if bracket is None:
            continue
        inside = {mention.value for mention in mentions if bracket.start() <= mention.start < bracket.end()}
        index = sentence.place((bracket.end(), bracket.end() + 1))[0]
        is_followed = sentence.shown(index, index + 1) in (":", "：") or sentence.begins(index, Kind.IS)
        if len(inside) > 1 and is_followed:
            return bracket.span()
    return None


_MAX_NOUNS = 4
_FEWEST_OF_NOUN = 3


def _announces(sentence: Sentence, mention: Mention, successor: Mention) -> bool:
    """Whether a mention is only the noun that announces the next one: "The answer is A", if "answer" is an option's text, too."""
    if mention.end - mention.start < _FEWEST_OF_NOUN or Kind.ANSWER not in sentence.kinds:
        return False
    first, stop = sentence.place((mention.start, mention.end))
    verb = sentence.past_cue(stop, Kind.IS)
    is_noun = any(cue.kind is Kind.ANSWER and cue.first <= first and cue.stop == stop for cue in sentence.cues)
    return is_noun and stop < verb == sentence.place((successor.start, successor.end))[0]


def _is_neutral(sentence: Sentence, mention: Mention) -> bool:
    if not sentence.may_hold(_NEUTRAL):
        return False
    first, _ = sentence.place(mention.span)
    return any(cue.kind is Kind.NEUTRAL and cue.first <= first < cue.stop for cue in sentence.cues)
