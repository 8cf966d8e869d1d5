"""Decides whether a response stands by a mention, from the cues in the sentence of that mention."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from functools import cache

from propcache.api import cached_property

from memory import forgets, remember
from verifiers.commitment.contrasts import contrasts
from verifiers.commitment.cues import (
    Cue,
    Kind,
    Word,
    adverbs,
    cues,
    first_word,
    kinds,
    languages,
    listed,
    phrases,
    vocabulary,
    words,
    words_of,
)
from verifiers.commitment.exceptions import is_exception
from verifiers.commitment.glance import (
    CONCEDES,
    REJECTS,
    UNREAL,
    UNSETTLES,
    UNSETTLING,
    Tokens,
    bits_of,
    held,
    may_end_in,
    may_end_stance,
    may_hold,
    may_tell_opinion,
    tokens,
)
from verifiers.commitment.language import languages_of
from verifiers.commitment.moods import is_conditional, unreal_places
from verifiers.commitment.opinions import (
    Opinions,
    answering,
    at_marks,
    erring,
    opinions,
    picking,
    picks_things,
    tells_of_group,
)
from verifiers.commitment.slots import openings_of, parts
from verifiers.commitment.spans import Span
from verifiers.commitment.wording import single


class Stance(StrEnum):
    """The stance of a response towards one mention."""

    ANNOUNCED = "announced"
    """It is called the answer: "the answer is C"."""
    CALLED = "called"
    """It is called right: "C is correct"."""
    TRUE = "true"
    """It is called true, whether or not the question asks for that."""
    SINGLED = "singled"
    """It is named as the one that is not true, whether or not the question asks for that: "the false statement is C"."""
    CONCLUDED = "concluded"
    """It is chosen or concluded: "so it's C", "I'd go with C"."""
    STATED = "stated"
    HEDGED = "hedged"
    SUPPOSED = "supposed"
    ATTRIBUTED = "attributed"
    DENIED = "denied"
    RETRACTED = "retracted"
    """It is taken back behind its sentence, or another value is put in its place: "C. Wait, that's wrong"."""
    MARKED = "marked"
    """Its form marks it: a tag, a box, a line behind `####`, a JSON field. Nothing around it speaks against it."""


UNMADE = frozenset([Stance.HEDGED, Stance.SUPPOSED, Stance.ATTRIBUTED, Stance.DENIED])

_GOVERNS = {
    Kind.NOT: Stance.DENIED,
    Kind.DIFFERS: Stance.DENIED,
    Kind.BAD: Stance.DENIED,
    Kind.DOUBT: Stance.DENIED,
    Kind.MAYBE: Stance.HEDGED,
    Kind.IF: Stance.SUPPOSED,
    Kind.SAID: Stance.ATTRIBUTED,
}
_ENDS_SCOPE = frozenset([Kind.SO, Kind.BUT, Kind.BECAUSE])
_SKIPPED = frozenset([Kind.THE, Kind.NOUN, Kind.RIGHT])
_COMMAS = frozenset(",，、،؛;；:：—–()（）")
_OPENS = frozenset("(（[{<\"'“‘«「『【《〈\\$#|")
_COLONS = frozenset(":：")
_TELLS = frozenset(":：=—–-→⇒➜⟹>∴")
_ARROWS = frozenset("→⇒➜⟹∴")
_JOINS = frozenset([",", "，", "、", "/", "&", "+", "|", ";", "；"])
_QUESTION = frozenset("?？؟")
_ASKS = re.compile("[?？؟吗]")
_SAID = frozenset([Kind.SAID])
_IT = frozenset([Kind.IT, Kind.IS])
_DENYING = frozenset([Kind.NOT, Kind.BAD, Kind.DOUBT])
_VERBS_OF_SUBJECT = frozenset([Kind.IS, Kind.CHOOSE])
_VERBS = frozenset([Kind.IS, Kind.HAS, Kind.SO, Kind.CHOOSE])
_CLAIMS = frozenset([Kind.RIGHT, Kind.ANSWER, Kind.RESULT, Kind.FITS, Kind.CALLED, Kind.TRUE])
_VERDICTS = frozenset([Kind.YES, Kind.NO])
_VERDICTS_ON_REST = frozenset([Kind.WRONG, Kind.FITS, Kind.CALLED, Kind.TRUE])
"""What is said of all options but the one behind "except"."""
_OPEN = frozenset([Kind.NOT, Kind.OTHER, Kind.WRONG, Kind.MAYBE, Kind.BAD, Kind.IF])
_MAX_SENTENCE_CHARS = 600
_STOP = re.compile(
    r"[\n.!?…。．！？｡।؟](?:(?<=\n)\n*|(?<=[。！？｡।])[。！？｡।]*|(?<=．)(?!\d)|(?<=…)|(?<=[.!?؟])[.!?؟]*(?=[\"'”’)\]*_`]{0,4}(?:\s|\Z)))"
)
"""The first sign stands alone before the alternatives, so that a search goes from sign to sign."""
_NO_STOP = re.compile(
    r"(?:(?:\A|\n|[.!?]\s)[\s*_#>(-]{0,6}(?:[A-Za-z]|\d{1,2})|\b(?:e\.g|i\.e|vs|approx|no|st|mr|mrs|dr|eq|fig))\Z", re.I
)


_ENDS_OF_SHORTENED = frozenset(["rox", "mrs", "fig"])
"""Endings of three letters; most words before a full stop have other endings."""


def sentences(text: str, start: int, end: int) -> Iterator["Sentence"]:
    """The sentences between two places, in order. The end of a line ends a sentence."""
    first, before = start, _read_before(text)
    for stop in _STOP.finditer(text, start, end):
        at, following = stop.span()
        sign = stop[0]
        if sign == ".":
            last = text[at - 3 : at]
            may_go_on = not last.isalpha() or last.lower() in _ENDS_OF_SHORTENED
            may_go_on = may_go_on and not _is_acronym(text, at, following)
            if may_go_on and _NO_STOP.search(text, max(start, at - 12), at) and not _is_denial(text, at, following):
                continue
        if first < at and not text[first:at].isspace():
            yield before.get((first, at, sign)) or _once(before, text, first, at, sign)
        first = following
    if text[first:end].strip():
        yield _once(before, text, first, end, "")


def _is_acronym(text: str, at: int, following: int) -> bool:
    """Whether two capitals before a full stop end a sentence, rather than being short for a word: "compare AVC to MR. The answer"."""
    capitals = text[at - 2 : at]
    return capitals.isalpha() and capitals.isupper() and not text[following : following + 4].strip()[:2].isupper()


def _is_denial(text: str, at: int, following: int) -> bool:
    """Whether the "no" before a full stop is a sentence of its own: "No. It is 5"; not "No. 5", nor "Wait, no. It is 5"."""
    is_no = text[at - 2 : at].lower() == "no" and _DIGIT_BEHIND.match(text, following) is None
    return is_no and text[max(0, at - _MAX_GAP_CHARS) : at - 2].rstrip(" *_")[-1:] in _BEFORE_SENTENCE


_MAX_GAP_CHARS = 16
_BEFORE_SENTENCE = ("", *"\n.!?:)")
_DIGIT_BEHIND = re.compile(r"\s?[#№]?\s?\d")


def _once(before: "dict[_Key, Sentence]", text: str, start: int, end: int, stop: str) -> "Sentence":
    if (sentence := before.get((start, end, stop))) is None:
        if len(before) >= _MAX_SENTENCES:
            before.clear()
        sentence = before[start, end, stop] = Sentence(text, start, end, stop)
        if end - start > _MAX_SENTENCE_CHARS:
            heard = before.setdefault((sentence.heard_from, end, _HEARD), sentence)
            vars(sentence).update(vars(heard) | {"start": start, "stop": stop})
    return sentence


def _read_before(text: str) -> "dict[_Key, Sentence]":
    """The sentences of a text that were made before, so that their words and cues are read once, whichever rule asks."""
    for kept, table in _recent:
        if kept is text:
            return table
    fresh: dict[_Key, Sentence] = {}
    _recent[:] = [(text, fresh), *_recent[: _MAX_RECENT - 1]]
    return fresh


_MAX_RECENT, _MAX_SENTENCES = 2, 128
_Key = tuple[int, int, str]
"""Start, end and stop of a sentence."""
_LAST, _LAST_WITH_WORDS = "last", "last with words"
"""In place of the stop: the last sentence between two places."""
_HEARD = "heard"
"""In place of the stop: any sentence with these words. In a long line each search begins elsewhere, and hears the same words."""
_LINE = "line"
"""In place of the stop: all sentences of a line, as one."""
_recent: list[tuple[str, "dict[_Key, Sentence]"]] = []
"""The last texts with their sentences. Rules read a text one after the other, and short texts made of it between."""
forgets(_recent.clear)


def last_sentence(text: str, start: int, end: int, *, has_words: bool = False) -> "Sentence | None":
    """The last sentence between two places; with `has_words`, the last one that has letters or digits. Only its line is read."""
    before, key = _read_before(text), (start, end, _LAST_WITH_WORDS if has_words else _LAST)
    if (kept := before.get(key)) is not None:
        return kept
    sentence = _last_sentence(text, start, end, has_words)
    if sentence is not None and len(before) < _MAX_SENTENCES:
        before[key] = sentence
    return sentence


def _last_sentence(text: str, start: int, end: int, has_words: bool) -> "Sentence | None":
    stop = end
    while stop > start:
        line = max(start, text.rfind("\n", start, stop))
        if not text[line:stop].isspace():
            for sentence in reversed([*sentences(text, line, end)]):
                if not has_words or any(map(str.isalnum, text[sentence.start : sentence.end])):
                    return sentence
        stop = line
    return None


def line_at(text: str, start: int, span: Span) -> "Sentence | None":
    """The lines that hold a part of a text, as one sentence; None if they are too long to be heard."""
    first, stop = max(start, text.rfind("\n", start, span[0]) + 1), text.find("\n", span[1])
    stop = len(text) if stop < 0 else stop
    return _once(_read_before(text), text, first, stop, _LINE) if stop - first <= _MAX_SENTENCE_CHARS else None


def _grouped(pairs: Sequence[tuple[int, Cue]]) -> Mapping[int, Sequence[Cue]]:
    table: dict[int, list[Cue]] = {}
    for index, cue in pairs:
        table.setdefault(index, []).append(cue)
    return table


class Sentence:
    """A sentence with its words and cues; `stop` is the sign that ends it."""

    def __init__(self, text: str, start: int, end: int, stop: str) -> None:
        self.text, self.start, self.end, self.stop = text, start, end, stop

    @property
    def asks(self) -> bool:
        return not _QUESTION.isdisjoint(self.stop) or self.text.endswith("吗", self.start, self.end)

    @property
    def heard_from(self) -> int:
        """The start of the part of the sentence whose words count."""
        return max(self.start, self.end - _MAX_SENTENCE_CHARS)

    @cached_property
    def _places(self) -> dict[Span, Span]:
        return {}

    @cached_property
    def words(self) -> Sequence[Word]:
        return words(self.text, self.heard_from, self.end)

    @cached_property
    def _tokens(self) -> Tokens:
        return tokens(self.text, self.heard_from, self.end)

    def may_hold(self, kinds: frozenset[Kind]) -> bool:
        """Whether a cue of some kinds other than an opinion may be in the sentence; this reads no cues."""
        bits = bits_of(kinds)
        return bool((bits & UNSETTLING and self._unsettled & bits) or (bits & ~UNSETTLING and self._rest & bits))

    @cached_property
    def _unsettled(self) -> int:
        return held(self._tokens, UNSETTLING)

    @cached_property
    def _rest(self) -> int:
        return held(self._tokens, ~UNSETTLING)

    def may_end_in(self, head: str, kind: Kind) -> bool:
        """Whether a phrase of a kind may end where a part of the sentence ends; this reads no cues."""
        return may_end_in(self._tokens, head, kind)

    @cached_property
    def may_tell_opinion(self) -> bool:
        """Whether the sentence may tell the opinion of somebody else; this reads no cues."""
        return may_tell_opinion(self._unsettled, self.text, self.heard_from, self.end)

    def may_trail_off(self) -> bool:
        """Whether the sentence may end in a doubt, a concession or somebody's opinion; this reads no cues."""
        return bool(self._unsettled & CONCEDES) or self.may_hold(_MAY_TRAIL) or self.may_tell_opinion

    @cached_property
    def is_calm(self) -> bool:
        """Whether no word asks, denies, doubts, supposes, concedes or tells an opinion; this reads no cues."""
        bits = self._unsettled
        if bits & UNSETTLES or _ASKS.search(self.text, self.start, self.end) or self.may_tell_opinion:
            return False
        return not (bits & UNREAL and any(is_conditional(Word(word, 0, 0)) for word in self._tokens))

    def may_choose(self) -> bool:
        """Whether the stance towards a mention may be stronger than STATED; this reads no cues."""
        bits = held(self._tokens, _CHOICE)
        if bits & _CHOOSES or bits & _CONTRASTS == _CONTRASTS:
            return True
        if not (_subjects().isdisjoint(self._tokens) and _ARROWS.isdisjoint(self._tokens)):
            return True
        return self.text.find(">", self.heard_from, self.end) >= 0 or self._may_hold_verdict()

    def may_deny(self) -> bool:
        """Whether the stance towards a mention may be DENIED; this reads no cues."""
        return self.may_hold(_MAY_DENY) or self._may_hold_verdict()

    def may_reject(self) -> bool:
        """Whether a clause may say that something is not the answer; this reads no cues."""
        return held(self._tokens, REJECTS) != 0

    def _may_hold_verdict(self) -> bool:
        """Whether the rest of the line may be a verdict on the sentence."""
        stop = self.end + _MAX_VERDICT_CHARS
        line = self.text.find("\n", self.end, stop)
        is_near = line > self.end or (line < 0 and len(self.text) <= stop)
        return is_near and may_hold(tokens(self.text, self.end, line if line >= 0 else stop), _VERDICTS)

    @cached_property
    def cues(self) -> Sequence[Cue]:
        signals = self.listed
        hits = [*self._opinions.all, *contrasts(self.text, self.words, signals)]
        return sorted([*signals, *hits], key=lambda cue: cue.first) if hits else signals

    @cached_property
    def listed(self) -> Sequence[Cue]:
        """The phrases of the lexicons alone, without opinions, contrasts, and verbs that pick a number of things or say who is counted."""
        signals = cues(self.words)
        events = [
            cue
            for cue in signals
            if cue.kind is Kind.SAID
            and (picks_things(self.words, cue.stop) or tells_of_group(self.words, signals, cue))
        ]
        return [cue for cue in signals if cue not in events] if events else signals

    @cached_property
    def _opinions(self) -> Opinions:
        is_of_answer = any(cue.kind is Kind.ANSWER for cue in self.listed)
        if not is_of_answer and not self.may_tell_opinion:
            return Opinions()
        return opinions(self.text, self.words, self.listed)

    @cached_property
    def _at_marks(self) -> Sequence[Cue]:
        """The opinions of others that count beside a mark alone."""
        return at_marks(self.text, self.words, self.listed) if self.may_tell_opinion else ()

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of all cues of the sentence."""
        return frozenset([cue.kind for cue in self.cues])

    @cached_property
    def _by_first(self) -> Mapping[int, Sequence[Cue]]:
        return _grouped([(cue.first, cue) for cue in self.cues])

    @cached_property
    def _by_stop(self) -> Mapping[int, Sequence[Cue]]:
        return _grouped([(cue.stop, cue) for cue in self.cues])

    def place(self, span: Span) -> Span:
        """The places of the words in a span: the first word, and the one behind the last."""
        if (extent := self._places.get(span)) is None:
            first = bisect_left(self.words, span[0], key=lambda word: word.end - 1)
            stop = bisect_left(self.words, span[1], key=lambda word: word.start)
            extent = self._places[span] = first, max(first, stop)
        return extent

    def at(self, index: int) -> Sequence[Cue]:
        """The cues that begin at a word."""
        return self._by_first.get(index, ())

    def begins(self, index: int, *kinds: Kind) -> bool:
        """Whether a cue of one of these kinds begins at a word."""
        return any(cue.kind in kinds for cue in self.at(index))

    def is_command(self, index: int) -> bool:
        r"""Whether a word is a command of LaTeX: the "boxed" of `\boxed`."""
        return self.text.startswith("\\", self.words[index].start - 1)

    def past_cue(self, index: int, *kinds: Kind) -> int:
        """The place behind the longest cue of some kinds that begins at a word; the same place if there is none."""
        return max([cue.stop for cue in self.at(index) if cue.kind in kinds], default=index)

    def has(self, kind: Kind, first: int, stop: int) -> bool:
        return kind in self.kinds and any(
            cue.kind is kind and first <= cue.first and cue.stop <= stop for cue in self.cues
        )

    def ends_in(self, stop: int, *kinds: Kind) -> Cue | None:
        """The longest cue of these kinds that ends before a word."""
        for cue in self._by_stop.get(stop, ()):
            if cue.kind in kinds:
                return cue
        return None

    def stance(self, span: Span, spans: Sequence[Span] = ()) -> Stance:
        """The stance of the sentence towards the mention at `span`; `others` are its other mentions."""
        first, stop = self.place(span)
        if self.asks or self._is_exception(first):
            return Stance.HEDGED if self.asks else Stance.SINGLED
        extents = [self.place(neighbour) for neighbour in spans]
        kind = None if self._is_verdict(first, stop) else self._behind(self.list_end(stop, extents), extents)
        if kind in _VERDICTS_ON_REST and self.ends_in(self.skipped(first), Kind.EXCEPT):
            return Stance.DENIED if self._is_rest_right(stop, kind) else Stance.CALLED
        if kind is Kind.WRONG or self._ticked(first) is Kind.NO:
            return Stance.DENIED
        if kind is Kind.IF and (spans or self._would_be(first)):
            return Stance.SUPPOSED
        if kind in (Kind.ALSO, Kind.MAYBE) or self._trails_off(stop, extents):
            return Stance.HEDGED
        if (governed := self._governed(first, spans)) is not None:
            return governed
        if self.is_told_of(stop):
            return Stance.ATTRIBUTED
        if kind is Kind.CALLED:
            return Stance.ANNOUNCED
        if kind is None and self._is_better_of(first, stop, extents):
            return Stance.CALLED
        if kind is Kind.FITS or self._ticked(first) is Kind.YES:
            is_open = self._is_conditional() or self._is_reason(first)
            if not is_open and any(cue.kind is Kind.MAYBE and cue.first >= stop for cue in self.cues):
                return Stance.HEDGED
            if not is_open and not spans and any(cue.kind is Kind.BUT and cue.first > stop for cue in self.cues):
                return Stance.HEDGED
            return Stance.STATED if is_open else Stance.CALLED
        if kind is Kind.TRUE:
            return Stance.STATED if self._is_conditional() or self._is_reason(first) else Stance.TRUE
        if self._is_only(first) and kind is None and not self.has(Kind.OR, 0, len(self.words)):
            return Stance.CALLED
        led = self._led(first, stop)
        # "The question asks for the exception, so it must be C": what comes before "so" is only the reason.
        start = max([cue.first for cue in self.cues if cue.kind is Kind.SO and cue.stop <= first], default=0)
        is_open = led is Stance.CONCLUDED and (self._is_conditional() or self.has(Kind.OTHER, start, first))
        return Stance.STATED if is_open else led

    def _is_exception(self, first: int) -> bool:
        """Whether a verb, past adverbs, leads from a subject that is called false to a mention."""
        if self.kinds.isdisjoint(DENIES):
            return False
        index = self.skipped(first)
        while index and self.words[index - 1].text in adverbs() and not self.ends_in(index, Kind.IS):
            index -= 1
        verbs = [cue.first for cue in self._by_stop.get(index, ()) if cue.kind in _VERBS_OF_SUBJECT]
        verbs += [index - 1] if index and self.words[index - 1].text in _TELLS else []
        return any(is_exception(self.words, self.cues, verb) for verb in verbs)

    def denies(self, span: Span) -> bool:
        """Whether the stance is DENIED. This is a quick test for marks: most of their sentences hold no denying cue."""
        if self.kinds.isdisjoint(DENIES) and self.place(span)[1] > _MAX_ENTRY_WORDS:
            return False
        return self.stance(span) is Stance.DENIED

    def wavers(self, start: int = 0) -> bool:
        """Whether the words from a place on ask or doubt, or end in a bare denial: "12?", "maybe 12", "12, probably not"."""
        if not self.asks and not self.may_hold(_MAY_WAVER):
            return False
        end = self._past_adverbs(self.past(start, _PAUSES))
        is_denied = any(cue.kind is Kind.NOT and self._is_last(cue.stop) for cue in self.cues if cue.first >= end)
        return self.asks or is_denied or any(cue.kind in _WAVERS and cue.first >= start for cue in self.cues)

    def trails_off(self, span: Span) -> bool:
        r"""Whether the sentence ends in a doubt or a bare denial behind a mark: `\boxed{12}, perhaps`."""
        first, stop = self.place(span)
        return self._trails_off(stop, ()) or self._concedes(first, stop)

    def _concedes(self, first: int, stop: int) -> bool:
        """Whether a clause behind a mark says that another value is possible: "though 6 is possible", "but it may be 6"."""
        turns = [cue.stop for cue in self.cues if cue.kind is Kind.BUT and cue.first >= stop]
        turns += [index + 1 for index in range(stop, len(self.words)) if self.words[index].text in listed("although")]
        if not turns:
            return False
        cues = [cue for cue in self.cues if cue.first >= min(turns)]
        terms = {word.text for word in self.words[first:stop]}
        indices = [
            index
            for index, word in enumerate(self.words[min(turns) :], min(turns))
            if word.text not in terms and any(map(str.isdigit, word.text))
        ]
        if any(cue.kind is Kind.OR and self.words[cue.first - 1].text in terms for cue in cues):
            return True
        may_be = any(
            cue.kind is Kind.ALSO or (cue.kind is Kind.FITS and indices[0] < cue.first) for cue in cues if indices
        )
        return may_be and DENIES.isdisjoint(cue.kind for cue in cues)

    def _trails_off(self, stop: int, spans: Sequence[Span]) -> bool:
        """Whether the sentence ends in a doubt or a bare denial behind a mention: "C, perhaps.", "12 cm (probably not)"."""
        if self.kinds.isdisjoint(_TRAILS):
            return False
        for cue in self.cues:
            if cue.kind not in _TRAILS or cue.first < stop or not self._is_last(cue.stop):
                continue
            between = self.words[stop : cue.first]
            plain = [word for word in between if word.text not in adverbs() and word.text not in _PAUSES]
            is_near = len(plain) <= (_MAX_TRAIL_WORDS if cue.kind is Kind.MAYBE else 0)
            is_alone = all(end <= stop or start >= cue.stop for start, end in spans)
            is_set_off = any(word.text in _PAUSES for word in between) or not between
            is_plain = not any(
                neighbour.kind in _TRAIL_ENDS for neighbour in self.cues if stop <= neighbour.first < cue.first
            )
            if is_near and is_alone and is_set_off and is_plain:
                return True
        return False

    def is_told_of(self, stop: int, *, is_mark: bool = False) -> bool:
        """Whether the sentence ends by saying whose opinion it is: "The answer is 42, according to my teacher"."""
        cues = [*self._opinions.all, *(self._at_marks if is_mark else ())]
        # "42, by mistake": the words stand directly behind, so that "He opened 42 doors by mistake" is none of that.
        cues += self.at(self.past(stop, _CLOSES | _COMMAS)) if is_mark else ()
        return any(cue.kind is Kind.SAID and cue.first >= stop and self._is_last(cue.stop) for cue in cues)

    @property
    def is_sourced(self) -> bool:
        """Whether all opinions in the sentence are those of sources or of nobody: "according to Wikipedia", "reportedly", "is said to be"."""
        cues = [cue for cue in self.cues if cue.kind is Kind.SAID]
        sourced = self._opinions.sourced
        return bool(cues) and all(cue in sourced or self.begins(cue.first, *_IT) for cue in cues)

    def is_told_before(self, span: Span) -> bool:
        """Whether somebody's opinion, named beside what is known for an answer, reaches a mention: "Tom says it's NaCl"."""
        first = self.place(span)[0]
        return any(cue.stop <= first and self._reaches(cue, first, ()) for cue in self._at_marks)

    def stance_at_end(self, *, is_counted: bool = False) -> Stance | None:
        """The stance of the last words that do more than lead to what follows: "perhaps it is", "my friend says the answer is".

        `is_counted`: what follows only counts a noun.
        """
        if not (self.may_hold(_MAY_GOVERN) or self.may_tell_opinion) or not self._may_lead():
            return None
        index, is_apart = len(self.words), False
        cues = [cue for cue in self._at_marks if not is_counted or self.words[cue.stop - 1].text not in picking()]
        cues += [] if is_counted else erring(self.words)
        verbs = {} if self.kinds.isdisjoint(_SAID) or is_counted else answering(self.words)
        while index > 0:
            if any(cue.stop == index for cue in cues):
                return Stance.ATTRIBUTED
            if index in verbs and self.ends_in(verbs[index], Kind.SAID):
                return Stance.ATTRIBUTED
            if (cue := self.ends_in(index, *_GOVERNING)) and not (
                self._is_example(cue)
                or (is_counted and cue.kind is Kind.SAID and self.words[index - 1].text in picking())
                or (cue.kind in _DENYING and self.tells_which(cue, len(self.words)))
            ):
                return _GOVERNS[cue.kind] if cue.kind in _STAYS or not is_apart else None
            word = self.words[index - 1].text
            is_apart = is_apart or word in _COMMAS
            if led := self.ends_in(index, *_LEADS_TO):
                index = led.first
            elif word in _COMMAS or word in _OPENS or word in _TELLS or word in adverbs() or word in listed("subjects"):
                index -= 1
            else:
                return None
        return None

    def _may_lead(self) -> bool:
        """Whether a word that may end a phrase with a stance is the last one, but for those that only lead on; this reads no cues."""
        members, leading = self._tokens, _leading()
        for word in reversed(self.words):
            is_name = self.text[word.start].isupper() and word.text not in vocabulary()
            if is_name or may_end_stance(members, word.text):
                return True
            if word.text not in leading:
                return False
        return False

    def _is_example(self, cue: Cue) -> bool:
        return not listed("examples").isdisjoint(word.text for word in self.words[cue.first : cue.stop])

    def _past_adverbs(self, index: int) -> int:
        while index < len(self.words) and self.words[index].text in adverbs():
            index += 1
        return index

    def _is_last(self, index: int) -> bool:
        """Whether only closing signs stand behind a place."""
        return self.past(index, _CLOSES | {"!", "."}) == len(self.words)

    def _is_better_of(self, first: int, stop: int, spans: Sequence[Span]) -> bool:
        """Whether a mention is called the better one of those that begin its sentence: "Of B and C, C is better"."""
        if Kind.ALSO not in self.kinds or not self.words or self.words[0].text not in listed("among"):
            return False
        extents = [span for span in spans if span[1] < self.skipped(first)]
        is_among = any(self.shown(*span) == self.shown(first, stop) for span in extents)
        if len(extents) < 2 or not is_among or not self.is_list(1, extents[-1][1], extents):
            return False
        cues = [cue for cue in self.at(stop) if cue.kind is Kind.ALSO and self.ends(cue.stop)]
        is_better = any(self.words[cue.stop - 1].text in listed("compared") for cue in cues)
        return is_better and _OPEN.isdisjoint(self.kinds)

    def _is_rest_right(self, stop: int, kind: Kind) -> bool:
        """Whether all but a mention is called right: "all but C fit", 除C以外都对."""
        later = [cue.kind for cue in self.cues if cue.first > stop]
        return kind is not Kind.WRONG or (Kind.YES in later and DENIES.isdisjoint(later))

    def _is_better_than(self, stop: int, spans: Sequence[Span]) -> bool:
        """Whether a mention is called better than all others that its sentence names: "C fits better than B"."""
        indices = [cue.stop for cue in self.at(stop) if cue.kind is Kind.ALSO]
        if (
            not indices
            or self.words[max(indices) - 1].text not in listed("compared")
            or max(indices) >= len(self.words)
        ):
            return False
        positions = [start for start, _ in spans if start >= stop]
        return (
            bool(positions)
            and self.words[max(indices)].text in listed("than")
            and self.skipped(positions[0]) == max(indices) + 1
        )

    def _is_verdict(self, first: int, stop: int) -> bool:
        """Whether a mention is a yes or no, so that the words behind its comma are not about it: "No, it is not"."""
        if stop == len(self.words) or self.words[stop].text not in _COMMAS:
            return False
        return any(cue.kind in _VERDICTS and cue.stop == stop for cue in self.at(first))

    def _is_only(self, first: int) -> bool:
        """Whether a clause speaks of the mention alone: "only C is in France"."""
        if Kind.ONLY not in self.kinds or not _OPEN.isdisjoint(self.kinds):
            return False
        return self.ends_in(self.skipped(first), Kind.ONLY) is not None

    def _is_reason(self, first: int) -> bool:
        """Whether a clause only gives a reason, or concedes a point."""
        for cue in self.cues if Kind.BECAUSE in self.kinds else ():
            is_reason = cue.kind is Kind.BECAUSE and cue.stop <= first
            if is_reason and _COMMAS.isdisjoint(word.text for word in self.words[cue.stop : first]):
                return True
        return False

    def _is_conditional(self) -> bool:
        return Kind.IF in self.kinds

    def _ticked(self, first: int) -> Kind | None:
        """The verdict of a sign before a mention; None if there is none."""
        if self.kinds.isdisjoint(_VERDICTS):
            return None
        index = self.skipped(first)
        kinds = [cue.kind for cue in self._by_stop.get(index, ()) if _is_sign(cue, self.words)]
        return next((kind for kind in kinds if kind in (Kind.YES, Kind.NO)), None)

    def _behind(self, stop: int, spans: Sequence[Span]) -> Kind | None:
        """The verdict directly behind a mention, past the words that belong to the mention."""
        kind = self._verdict_behind(stop, spans)
        return Kind.FITS if kind in (None, Kind.ALSO) and self._is_better_than(stop, spans) else kind

    def _verdict_behind(self, stop: int, spans: Sequence[Span]) -> Kind | None:
        index = self.past(stop, _CLOSES)
        if any(cue.kind is Kind.IF for cue in self.at(index)):
            return Kind.IF
        if "%" in [word.text for word in self.words[index : index + 3]]:
            return Kind.MAYBE
        if (verdict := self._verdict(index) or self._entry_verdict(stop, spans)) is not None:
            return verdict
        if index < len(self.words) and self.words[index].text == ",":
            index = self._past_aside(index)
        if self._is_the_only(index):
            return Kind.CALLED
        first, is_counted = index, False
        for _ in range(_MAX_COUNTED_WORDS + 1):
            if index > stop and any(start == index for start, _ in spans):
                return None
            cues = self.at(index)
            if self._is_of_counted(stop, index, is_counted):
                return None
            if (kind := self._predicate(cues, index, first, is_counted)) is not None:
                return kind
            led = [cue.stop for cue in cues if cue.kind in (Kind.NOUN, Kind.RIGHT)]
            if not led and any(cue.kind is Kind.IS for cue in cues):
                return self._within_verb(cues, index)
            if index >= len(self.words) or not self.words[index].text.isalpha():
                return None
            if not led and any(cue.kind in _SAYS_BEHIND or cue.kind is Kind.TRUE for cue in cues):
                return None
            is_counted = is_counted or not (led or self.words[index].text in adverbs())
            index = max([index + 1, *led])
        return None

    def _verdict(self, index: int) -> Kind | None:
        """A verdict that stands alone behind a mention: "C: correct", "C ✓", "C (rejected)"."""
        judged = self.past(index, _TELLS | {"|", "(", "-"})
        for cue in self.at(judged):
            if not self.ends(cue.stop):
                continue
            if cue.kind in (Kind.YES, Kind.NO) and (judged > index or _is_sign(cue, self.words)):
                return Kind.FITS if cue.kind is Kind.YES else Kind.WRONG
            if cue.kind is Kind.WRONG and judged > index:
                return Kind.WRONG
        return None

    def _predicate(self, cues: Sequence[Cue], index: int, first: int, is_counted: bool) -> Kind | None:
        """The verdict of the cues at a place on the mention before it.

        `is_counted`: words of the mention stand between.
        """
        if any(cue.kind in (Kind.WRONG, Kind.FALSE) and self._is_whole(cue) for cue in cues) or self._is_unsaid(cues):
            return Kind.WRONG
        if any(cue.kind is Kind.TRUE for cue in cues) and not is_counted:
            return Kind.TRUE
        if any(cue.kind is Kind.NOT and not self.is_beyond(cue) for cue in cues) and self._is_denial(index):
            return Kind.WRONG
        fits = [(cue.stop, cue.kind) for cue in cues if cue.kind in (Kind.FITS, Kind.CALLED)]
        if not fits or is_counted:
            return None
        is_called = max(fits)[1] is Kind.CALLED and self._has_complement(max(fits)[0])
        if not is_called and not self.goes_well(max(fits)[0]):
            return None
        return Kind.ALSO if self._is_also(first, max(fits)[0]) else max(fits)[1]

    def _is_of_counted(self, stop: int, index: int, is_counted: bool) -> bool:
        """Whether the words at a place tell of what a number counts: "42 claims are false", "42 were rejected", "42 questions wrong"."""
        number = next((word.text for word in reversed(self.words[:stop]) if word.text not in _CLOSES), "")
        if not number[:1].isdigit() or number == "1" or index >= len(self.words):
            return False
        verb = self.words[index].text
        return verb in listed("plural") or (is_counted and verb in listed("adjectives"))

    def _has_complement(self, index: int) -> bool:
        """Whether only a complement follows "the answer", such as "to this question"."""
        kinds = [cue.kind for cue in self.cues if cue.first >= index]
        is_start = any(cue.kind is Kind.COMPLEMENT for cue in self.at(index))
        is_answer = self.ends_in(index, Kind.ANSWER) is not None
        return is_start and is_answer and not any(kind in _GOVERNS or kind is Kind.BUT for kind in kinds)

    def _within_verb(self, cues: Sequence[Cue], index: int) -> Kind | None:
        """The verdict of a cue that begins inside a verb: the "be wrong" of "would be wrong"."""
        stop = max(cue.stop for cue in cues if cue.kind is Kind.IS)
        kinds = [cue.kind for cue in self.cues if index < cue.first <= stop]
        return next((kind for kind in kinds if kind in (Kind.WRONG, Kind.FITS)), None)

    def _past_aside(self, index: int) -> int:
        """The place behind a comma, or behind the second comma of an aside: "C, as I said, is wrong"."""
        for stop in range(index + 2, min(len(self.words), index + _MAX_ASIDE_WORDS)):
            if self.words[stop].text == ",":
                kinds = [cue.kind for cue in self.at(stop + 1)]
                return stop + 1 if Kind.WRONG in kinds else index + 1
        return index + 1

    def _is_the_only(self, index: int) -> bool:
        """Whether a mention is called the only one, and not the only one of a kind that is ruled out."""
        if Kind.ONLY not in self.kinds or not any(cue.kind is Kind.IS for cue in self.at(index)):
            return False
        only = [
            cue
            for cue in self.cues
            if cue.kind is Kind.ONLY
            and index < cue.first <= index + 2
            and (cue.first == index + 1 or self.words[cue.first - 1].text == "the")
        ]
        against = (Kind.NOT, Kind.WRONG, Kind.OTHER, Kind.BAD, Kind.MAYBE, Kind.IF)
        return bool(only) and not any(cue.kind in against for cue in self.cues if cue.first >= index)

    def _is_unsaid(self, cues: Sequence[Cue]) -> bool:
        """Whether a denial follows a predicate, in languages whose verb comes last."""
        stops = [cue.stop for cue in cues if cue.kind in (Kind.FITS, Kind.CALLED)]
        return bool(stops) and any(
            cue.kind is Kind.WRONG and max(stops) <= cue.first <= max(stops) + 1
            for cue in self.cues
            if not self.words[cue.first].text.isascii()
        )

    def _is_whole(self, cue: Cue) -> bool:
        """Whether a predicate is complete. "Is not" alone is complete if the clause ends behind it."""
        if self.words[cue.stop - 1].text in listed("adjectives") and cue.stop - cue.first == 1:
            return self.ends(cue.stop)
        last = {
            neighbour.kind for neighbour in self._by_stop.get(cue.stop, ()) if neighbour.stop - neighbour.first == 1
        }
        if Kind.NOT in last:
            return self.ends(cue.stop)
        return Kind.ALSO not in last or not self.ends(cue.stop)

    def list_end(self, stop: int, spans: Sequence[Span]) -> int:
        """The end of a list that continues behind a mention."""
        start, joined, count = stop, stop, 0
        for origin, end in spans:
            earlier = [(start - (end - origin), start), *(span for span in spans if span[1] <= origin)]
            is_repeated = any(self.shown(origin, end) == self.shown(*span) for span in earlier)
            if origin >= stop and not is_repeated and self.is_list(stop, origin, ()):
                joint = {word.text for word in self.words[stop:origin]}
                is_joint = not joint.isdisjoint("、/") or any(
                    cue.kind in (Kind.OR, Kind.JOINS) and stop <= cue.first < origin for cue in self.cues
                )
                if is_joint or joint <= {","}:
                    stop, count = end, count + 1
                    joined = stop if is_joint or count > 1 else joined
        verb = self.words[stop].text if stop < len(self.words) else ""
        if verb in listed("plural"):
            return stop
        return start if verb in listed("singular") and not self.has(Kind.OR, start, stop) else joined

    def shown(self, first: int, stop: int) -> str:
        """The words between two places, with one space between them."""
        return " ".join(word.text for word in self.words[first:stop])

    def _is_denial(self, index: int) -> bool:
        """Whether a clause that begins with "not" denies that something is right."""
        stop = index
        while stop < len(self.words) and not self.ends(stop):
            indices = [cue.stop for cue in self.at(stop) if cue.kind in _DENIAL]
            if not indices:
                return False
            stop = max(indices)
        return stop > index + 1

    def _is_also(self, first: int, stop: int) -> bool:
        """Whether a clause says that something else is right, too."""
        return any(first - 2 <= cue.first <= stop + 2 for cue in self.also())

    def also(self) -> Sequence[Cue]:
        """The cues which say that something else is right; "too" counts only at the end of a clause."""
        if Kind.ALSO not in self.kinds:
            return ()
        joint = [cue for cue in self.cues if cue.kind is Kind.JOINS]
        cues = [cue for cue in self.cues if cue.kind is Kind.ALSO]
        cues = [cue for cue in cues if not any(neighbour.first <= cue.first < neighbour.stop for neighbour in joint)]
        return [cue for cue in cues if self.words[cue.stop - 1].text not in listed("compared") or self.ends(cue.stop)]

    def _entry_verdict(self, stop: int, spans: Sequence[Span]) -> Kind | None:
        """The verdict at the end of a line on the mention that begins it: "A) London: wrong". A reason may be followed by a no
        alone: "C, because it is large ✗".
        """
        breaks = {cue.kind for cue in self.cues if cue.kind in _BREAKS and cue.first >= stop}
        if stop > _MAX_ENTRY_WORDS or (breaks and not self._only_explains(stop, breaks, spans)):
            return None
        verdict = self._last_verdict(stop)
        return None if breaks and verdict is Kind.FITS else verdict

    def _only_explains(self, stop: int, breaks: AbstractSet[Kind], spans: Sequence[Span]) -> bool:
        """Whether what goes on behind a mention is a reason for it that speaks of nothing else."""
        if Kind.BECAUSE not in breaks or not breaks <= _REASONS or self.has(Kind.OTHER, stop, len(self.words)):
            return False
        return all(end <= stop for _, end in spans)

    def _last_verdict(self, stop: int) -> Kind | None:
        line = self.text.find("\n", self.end, self.end + _MAX_VERDICT_CHARS)
        is_near = stop > 0 and self.stop and self._may_hold_verdict()
        signals = cues(words(self.text, self.end, line if line >= 0 else None)) if is_near else []
        if len(signals) == 1 and signals[0].first <= 1 and signals[0].kind in (Kind.YES, Kind.NO):
            return Kind.FITS if signals[0].kind is Kind.YES else Kind.WRONG
        for cue in self.cues:
            if (
                cue.kind in (Kind.YES, Kind.NO)
                and cue.first > stop
                and self.past(cue.stop, _CLOSES | {"!", "|", "]"}) == len(self.words)
            ) and (self.words[cue.first - 1].text in _TELLS | {"-", "|", "(", ","} or _is_sign(cue, self.words)):
                return Kind.FITS if cue.kind is Kind.YES else Kind.WRONG
        return None

    def past(self, index: int, signs: frozenset[str] | set[str]) -> int:
        """The place behind some signs."""
        while index < len(self.words) and self.words[index].text in signs:
            index += 1
        return index

    def ends(self, index: int) -> bool:
        """Whether a clause ends before a word."""
        index = self.past(index, _CLOSES)
        while endings := [cue.stop for cue in self.at(index) if cue.kind is Kind.ENDS]:
            index = self.past(max(endings), _CLOSES)
        if index >= len(self.words) or self.words[index].text in _STOPS:
            return True
        return self.begins(index, *_GOES_ON)

    def goes_well(self, index: int) -> bool:
        """Whether the text behind a predicate leaves it as it is: the clause ends, or has an object."""
        if any(cue.kind in (Kind.NOT, Kind.MAYBE) for cue in self.at(index)):
            return False
        if self.ends(index) or "\u0e00" <= self.words[index - 1].text[-1] <= "\ud7af":
            return True
        word = self.words[index].text
        return word in adverbs() or word in listed("objects") or self.begins(index, *_SKIPPED)

    def _governed(self, first: int, spans: Sequence[Span]) -> Stance | None:
        """The stance that a cue before a mention gives to it."""
        if self._is_unreal(first) or self._is_operand(first) or self.is_property(first) or self._is_landmark(first):
            return Stance.SUPPOSED
        if self._is_improbable(first):
            return Stance.HEDGED
        if self.kinds.isdisjoint(_GOVERNS):
            return None
        extents = [self.place(span) for span in spans]
        for cue in reversed(self.cues):
            stance = _GOVERNS.get(cue.kind)
            if stance is None or cue.stop > first or (extents and _is_part(cue, extents)):
                continue
            if cue.kind is Kind.BAD and any(
                neighbour.kind in ANNOUNCES and neighbour.first <= cue.first < neighbour.stop for neighbour in self.cues
            ):
                continue
            if cue.kind is Kind.MAYBE and (self.is_settled(cue, first) or self.begins(cue.stop, Kind.ONLY)):
                continue
            if cue.kind is Kind.NOT and (self.is_beyond(cue) or self._is_in_limit(cue)):
                continue
            if cue.kind in _DENYING and self.tells_which(cue, first):
                continue
            if self._reaches(cue, first, extents):
                return stance
        return None

    def _is_improbable(self, first: int) -> bool:
        """Whether the speaker is less than half sure of a mention: "I'm 10% sure the answer is C"."""
        sure = [cue.first for cue in self.cues if cue.kind is Kind.SURE and cue.first > 1 and cue.stop <= first]
        amounts = [self.words[index - 2].text for index in sure if self.words[index - 1].text == "%"]
        return any(amount.isdecimal() and int(amount) < _EVEN for amount in amounts)

    def is_beyond(self, cue: Cue) -> bool:
        """Whether a word like "over" denies nothing, as nothing is chosen before it: "built over the river"."""
        is_alone = cue.stop == cue.first + 1 and self.words[cue.first].text in listed("preferring")
        indices = {neighbour.first for neighbour in self.cues if neighbour.kind is Kind.IT}
        return is_alone and not any(
            neighbour.kind in _PREFERS and neighbour.first < cue.first and neighbour.first not in indices
            for neighbour in self.cues
        )

    def _is_in_limit(self, denial: Cue) -> bool:
        """Whether a denial is a word of a limit that is reached: the "no" of "no more than", the "не" of "не менее"."""
        limits = [cue for cue in self.cues if cue.kind is Kind.BOUND and cue.first <= denial.first < cue.stop]
        return any(denial.stop <= cue.stop and self.shown(cue.first, cue.stop) in _limits() for cue in limits)

    def _is_operand(self, first: int) -> bool:
        """Whether what is told is of something made of the answer: "half of the answer is 6", "the answer plus one is 13"."""
        nouns = [cue for cue in self.cues if cue.kind is Kind.ANSWER and cue.stop <= first]
        if not nouns:
            return False
        noun = max(nouns, key=lambda cue: (cue.stop, -cue.first))
        if self._is_bounded(noun, first):
            return True
        if Kind.PART not in self.kinds:
            return False
        suffix = self.words[noun.stop].text if noun.stop < len(self.words) else ""
        start = self.skipped(noun.first)
        return suffix in listed("operators") or any(self.ends_in(at, Kind.PART) for at in range(start, noun.first + 1))

    def _is_bounded(self, noun: Cue, first: int) -> bool:
        """Whether what is told is a bound of the answer: "the upper bound on the answer is", 答案的上界是."""
        verb = next((cue.first for cue in self.cues if cue.kind is Kind.IS and noun.stop <= cue.first), first)
        prefix = self.words[max(0, noun.first - _MAX_OWNER_WORDS) : noun.first]
        texts = [word.text for word in (*prefix, *self.words[noun.stop : min(verb, first)])]
        return not listed("bounds").isdisjoint(texts) and _COMMAS.isdisjoint(texts)

    def is_property(self, first: int) -> bool:
        """Whether a number says what the answer has, and not what it is: "the answer has 42 digits"; not "it has 2 parts: 3, 4"."""
        if not 1 < first < len(self.words) or not self.words[first].text[0].isdigit():
            return False
        nouns = [cue.stop for cue in self.cues if cue.kind is Kind.ANSWER and first - 2 <= cue.stop < first]
        is_owned = any(self.words[stop].text in listed("owns") for stop in nouns)
        return is_owned and _TELLS.isdisjoint(word.text for word in self.words[first:])

    def _is_landmark(self, first: int) -> bool:
        """Whether a mention only says where something else is: "the option after B", "the opposite of B"."""
        if not first or self.words[first - 1].text not in _last_of_beside():
            return False
        for start in range(max(0, first - _MAX_BESIDE_WORDS), first):
            if self.shown(start, first) in listed("contrary"):
                return True
            if self.shown(start, first) in listed("beside"):
                return any(cue.kind in _NAMED and start - 2 <= cue.stop <= start for cue in self.cues)
        return False

    def _is_unreal(self, first: int) -> bool:
        """Whether an answer is told for what is not the case: "if x were 3, the answer would be 12"."""
        return self.is_announced(first) and self.is_unreal(first)

    def is_announced(self, first: int) -> bool:
        """Whether a noun for an answer or a result stands before a mention."""
        return any(cue.kind in ANNOUNCES and cue.stop <= first for cue in self.cues)

    def turns_from(self, index: int) -> bool:
        """Whether a clause behind a place says that something is not so: "but n is odd", "it isn't", "which it is not"."""
        *_, (last, _) = [(index, index), *self._clauses_from(index)]
        kinds = {cue.kind for cue in self.cues if cue.first >= last}
        is_turn = any(
            self.begins(first, Kind.BUT) and not self.has(Kind.IF, first, stop) and not self._has_digit(first, stop)
            for first, stop in self._clauses_from(index)
        )
        return is_turn or (Kind.IF not in kinds and Kind.NOT in kinds and not self._has_digit(last, len(self.words)))

    def refutes(self, index: int, condition: frozenset[str]) -> bool:
        """Whether a clause behind a place turns and denies, in no other words than those of a condition: "but it is not fair"."""
        for first, stop in self._clauses_from(index):
            turns = max([cue.stop for cue in self.at(first) if cue.kind is Kind.BUT], default=first)
            texts = [word.text for word in self.words[turns:stop] if word.text.isalpha()]
            cues = [cue for cue in self.cues if turns <= cue.first < stop]
            content = [word for word in texts if word not in vocabulary()]
            covered = {at for cue in cues if cue.kind in _PRO_FORMS for at in range(cue.first, cue.stop)}
            is_told = condition.issuperset(content) if content else len(covered) >= len(texts) > 0
            if turns > first and is_told and any(cue.kind in DENIES for cue in cues):
                return True
        return False

    def _clauses_from(self, index: int) -> Iterator[Span]:
        """The clauses behind a place, between pauses."""
        first = self.past(index, _CLOSES | _PAUSES)
        for at in range(first, len(self.words)):
            if self.words[at].text in _COMMAS:
                if first < at:
                    yield first, at
                first = at + 1
        if first < len(self.words):
            yield first, len(self.words)

    def _has_digit(self, first: int, stop: int) -> bool:
        return any(word.text[0].isdigit() for word in self.words[first:stop])

    def is_unreal(self, first: int) -> bool:
        """Whether a mention is told for what is not the case: "if x were 3, we would have 12"."""
        is_inverted = self.is_inverted
        if Kind.IF not in self.kinds and not is_inverted:
            return False
        last = min(first + _MAX_VERB_BEHIND, len(self.words) - 1)
        would = max((index for index in range(last + 1) if is_conditional(self.words[index])), default=-1)
        indices = unreal_places(self.words, self.words[would]) if would >= 0 else ()
        if not indices or self._is_told_apart(would, first):
            return False
        origins = [cue.stop for cue in self.cues if cue.kind is Kind.IF]
        return is_inverted or any(
            start <= index < would or first < start <= index for start in origins for index in indices
        )

    @property
    def begins_unreal(self) -> bool:
        """Whether the first word tells what is not the case: "had"."""
        return first_word(self.text, self.heard_from, self.end) in listed("unreal")

    @property
    def is_inverted(self) -> bool:
        """Whether the sentence begins with the verb of a condition: "Had we ignored friction, it would be"."""
        return self.begins_unreal and any(is_conditional(word) for word in self.words[1:])

    def _would_be(self, first: int) -> bool:
        """Whether a mention is told of what would be: "The answer would be B if it were red"."""
        return self.is_announced(first) and not listed("conditional").isdisjoint(
            word.text for word in self.words[:first]
        )

    def _is_told_apart(self, verb: int, first: int) -> bool:
        """Whether another clause begins between a verb and a mention: "x would be odd, so the answer is"."""
        cues = [cue for cue in self.cues if verb < cue.first and cue.stop <= first]
        return any(cue.kind in _ENDS_SCOPE or (cue.kind is Kind.IS and cue.first > verb + 2) for cue in cues)

    def is_settled(self, cue: Cue, first: int) -> bool:
        """Whether a doubt only says which noun is meant, or what somebody is able to do with a number of things."""
        return self._is_relative(cue, first) or self._is_ability(cue, first)

    def _is_ability(self, cue: Cue, first: int) -> bool:
        """Whether a modal has a subject that acts, and a verb before a counted noun: "he could buy 9 games"; not "it could take 9 days"."""
        if self.words[cue.first].text not in listed("ability") or cue.first == 0 or cue.stop >= first:
            return False
        noun = self.past(first + 1, _CLOSES)
        is_counted = noun < len(self.words) and self.words[noun].text.isalpha() and not self.at(noun)
        is_acting = self.words[cue.first - 1].text not in listed("turning") | listed("impersonal")
        return is_acting and is_counted and not any(cue.stop <= verb.first < first for verb in self.cues)

    def _is_relative(self, cue: Cue, first: int) -> bool:
        """Whether a doubt only says which noun is meant, and a verb behind it what that is: "the number that may be needed is 5"."""
        modal, pronoun = self.words[cue.first].text, self.words[cue.first - 1].text if cue.first else ""
        # "that may be needed" and "that could not be needed"
        verb = next((denial.stop for denial in self.at(cue.first + 1) if denial.kind is Kind.NOT), cue.first + 1)
        if modal not in listed("modals") or pronoun not in listed("relatives") or not self.begins(verb, Kind.IS):
            return False
        subject = [
            neighbour.kind
            for neighbour in self.cues
            if cue.first - _MAX_SUBJECT_WORDS <= neighbour.first < cue.first - 1
        ]
        if subject[:1] != [Kind.THE] or not _VERBS.isdisjoint(subject):
            return False
        kinds = [neighbour.kind for neighbour in self.cues if verb < neighbour.first and neighbour.stop <= first]
        return kinds.count(Kind.IS) == 1 and _CLAIMS.isdisjoint(kinds)

    def tells_which(self, cue: Cue, first: int) -> bool:
        """Whether a denial only says what is counted or meant: "the number of false claims is 3", "the one who disagrees is"."""
        if cue.first and self.words[cue.first - 1].text in listed("of") and cue.kind is Kind.BAD:
            return True
        verbs = [
            neighbour.first
            for neighbour in self.cues
            if neighbour.kind is Kind.IS and cue.stop <= neighbour.first < first
        ]
        # The "be" of "that could not be folded is" belongs to the denial.
        verbs = verbs[1:] if len(verbs) > 1 and verbs[0] == cue.stop else verbs
        if len(verbs) == 1 and self.words[verbs[0] - 1].text in listed("attributive"):
            return True  # 不属于罗马法的是D
        pronouns = [at for at in range(1, cue.first) if self.words[at].text in listed("relatives")]
        start = self.past_cue(0, Kind.SO)
        if len(verbs) != 1 or not pronouns or not self.begins(start, Kind.THE):
            return False
        return not any(start <= neighbour.first < pronouns[-1] and neighbour.kind in _VERBS for neighbour in self.cues)

    def _reaches(self, cue: Cue, first: int, spans: Sequence[Span]) -> bool:
        """Whether the scope of a cue includes the words at a place."""
        if any(cue.stop <= start < first for start, _ in spans) and self.is_list(cue.stop, first, spans):
            return True
        if cue.kind is Kind.DIFFERS:
            return self.skipped(first) <= cue.stop
        between = [word.text for word in self.words[cue.stop : first]]
        is_apart = between and (between[0] in ",，、،" or (cue.kind is Kind.SAID and between[0] in _COLONS))
        if is_apart and cue.kind is not Kind.NOT:
            between = between[1:]
        if not _COMMAS.isdisjoint(between[:-1] if between and between[-1] in _OPENS | _TELLS else between):
            return False
        cues = [neighbour for neighbour in self.cues if cue.stop <= neighbour.first and neighbour.stop <= first]
        if any(neighbour.kind in _ENDS_SCOPE for neighbour in cues):
            return False
        # 不满足条件的数有42个: what is denied is the property of what is counted.
        if cues[-2:-1] and (cues[-2].kind, cues[-1].kind) == (Kind.ENDS, Kind.HAS):
            return False
        if cue.kind is Kind.IF and any(word in listed("then") or word[0].isdigit() for word in between):
            return False
        if cue.kind is Kind.NOT and any(neighbour.kind is Kind.WRONG for neighbour in cues):
            return False
        if cue.kind is Kind.NOT and between[-1:] in ([":"], ["："]):
            return all(self._is_told(index) for index in range(cue.stop, first))
        if cue.kind is Kind.BAD:
            return all(self._is_told(index) for index in range(cue.stop, first))
        if cue.kind in (Kind.NOT, Kind.MAYBE) and "=" in between and any(word[0].isdigit() for word in between):
            return False
        return cue.kind is not Kind.NOT or not any(
            neighbour.kind is Kind.IS and neighbour.first > cue.stop for neighbour in cues
        )

    def _is_told(self, index: int) -> bool:
        """Whether a word only leads from a noun to the value of that noun."""
        if self.words[index].text in _TELLS | _OPENS:
            return True
        return any(cue.first <= index < cue.stop and cue.kind in _LEADS for cue in self.cues)

    def is_list(self, first: int, stop: int, spans: Sequence[Span]) -> bool:
        """Whether only other mentions stand between two places."""
        index = first
        while index < stop:
            item = next((end for start, end in spans if start == index), None)
            if (
                item is None
                and any(cue.kind in (Kind.CHOOSE, Kind.IS) for cue in self.at(index))
                and not any(cue.kind in (Kind.OR, Kind.JOINS) for cue in self.at(index))
            ):
                return False
            if item is not None:
                index = item
            elif self.words[index].text in _BETWEEN_ITEMS or self.begins(index, *_JOINTS):
                index += 1
            else:
                return False
        return True

    def led_stance(self, noun: int, stop: int) -> Stance:
        """The stance that the words before and inside an announcement give to the announced value."""
        return self._governed(stop, ()) or Stance.ANNOUNCED

    def _led(self, first: int, stop: int) -> Stance:
        """The stance that the words before a mention give to it."""
        index = self.skipped(first)
        if self.ends_in(index, Kind.BUT):
            denied = [cue for cue in self.cues if cue.kind is Kind.NOT and cue.stop < index]
            if denied and self._is_only_contrast(denied[0], index):
                return Stance.CONCLUDED
            index = self.skipped(denied[-1].first) if denied else index
        elif (place := self._place_of_denied(index)) is not None:
            index = place
        if only := self.ends_in(index, Kind.ONLY):
            index = only.first
        tells = index > 0 and self.words[index - 1].text in _TELLS
        verb = self.ends_in(index - 1 if tells else index, Kind.IS)
        at = verb.first if verb else index - 1 if tells else index
        if self.announces(at, index if verb or tells else first):
            # "Answer A is too narrow" names A; "the option lizards fits" announces it.
            is_label = first < len(self.words) and len(self.words[first].text) == 1
            is_named = is_label and not (verb or tells) and self.has_verb(stop)
            return Stance.STATED if is_named else Stance.ANNOUNCED
        if self.ends_in(index, Kind.CHOOSE) or self.ends_in(at, Kind.CHOOSE):
            return Stance.CONCLUDED
        if verb and self.words[verb.first - 1].text in listed("subjects") and verb.first:
            return Stance.CONCLUDED
        comma = index and self.words[index - 1].text in ",，:："
        is_arrow = tells and (
            self.words[index - 1].text in _ARROWS or [w.text for w in self.words[index - 2 : index]] == ["=", ">"]
        )
        # "Also ist die Antwort A": Germanic languages put the verb before the noun there.
        is_inverted = verb and index < first and self.ends_in(at, Kind.SO)
        if is_arrow or is_inverted or self.ends_in(index - 1 if comma else index, Kind.SO):
            return Stance.CONCLUDED
        return Stance.STATED

    def _place_of_denied(self, index: int) -> int | None:
        """The start of a letter that is denied directly before another one, which takes its place: 答えはAではなくD."""
        comma = index > 0 and self.words[index - 1].text in _COMMAS
        denial = self.ends_in(index - 1 if comma else index, Kind.WRONG)
        if denial is None or not denial.first:
            return None
        word = self.words[denial.first - 1]
        is_letter = word.end - word.start == 1 and self.text[word.start].isupper()
        return self.skipped(denial.first - 1) if is_letter else None

    def _is_only_contrast(self, denial: Cue, index: int) -> bool:
        """Whether a sentence only denies one value and names another: "Nicht B, sondern C", "No es B sino C"."""
        is_led = all(self._is_told(at) or self.begins(at, *_IT) for at in range(1, denial.first))
        return is_led and index - denial.stop <= _MAX_CONTRAST_WORDS and denial.first <= _MAX_CONTRAST_WORDS

    def has_verb(self, stop: int) -> bool:
        """Whether a verb behind a mention makes the noun before it a mere name: "answer A is too narrow", 答案A过窄."""
        denied = self.past(stop, _CLOSES)
        end = self.past_cue(denied, Kind.NOT)
        if denied < end < len(self.words) and self.words[end].text in _LABELS:  # "Answer A, not B"
            return False
        if end >= len(self.words) or not self.words[end].text[0].isalpha() or self.ends(end):
            return False
        return self.text[self.words[end].start - 1] not in "'’"  # "C'dir" says that it is C.

    def is_named(self, first: int, stop: int) -> bool:
        """Whether a number only names an answer of which a verb tells something: "the answer 42 overlooks the tax".

        Only in English: "A válasz 3 ezer" needs no verb to be an announcement.
        """
        if self.ends_in(first, Kind.ANSWER) is None or not self.words[first].text[0].isdigit():
            return False
        if self.is_defiant(stop):
            return True
        is_told = self.begins(0, Kind.THE) and self.has_verb(stop)
        return is_told and "en" in languages_of(self.text[self.start : self.end])

    def is_defiant(self, stop: int) -> bool:
        """Whether a mention goes against something, or leaves it out: "42 contradicts the premise", "die Antwort 42 vergisst die Steuer"."""
        following = self.past(stop, _CLOSES)
        if following >= len(self.words) or self.words[following].text not in openings_of("verdict", "defies"):
            return False
        stops = [
            part.stop for part in parts("verdict", self.words[following:]) if part.slot == "defies" and not part.first
        ]
        return any(
            self.begins(following + end, Kind.THE) or self.words[following].text[0] >= _FIRST_HAN for end in stops
        )

    def skipped(self, first: int) -> int:
        """The start of the words before a mention that belong to it: an article, "option", a bracket."""
        index = first
        while index > 0:
            if self.words[index - 1].text in _OPENS or (index == 1 and self.words[0].text in "-•·–—"):
                index -= 1
            elif index < first and self.ends_in(index, Kind.CHOOSE):
                break
            elif cue := self.ends_in(index, *_SKIPPED):
                if self.ends_in(index, Kind.CHOOSE):
                    break
                index = cue.first
            elif self.words[index - 1].text in adverbs() and (
                not self.ends_in(index, Kind.SO) or self.ends_in(index - 1, Kind.IS)
            ):
                index -= 1
            elif (position := self._aside(index)) is not None:
                index = position
            else:
                break
        return index

    def _aside(self, index: int) -> int | None:
        """The start of an aside between commas that ends before a word; None if there is none."""
        if self.words[index - 1].text != ",":
            return None
        for start in range(index - 2, max(-1, index - 8), -1):
            if self.words[start].text == ",":
                cues = [cue for cue in self.cues if start < cue.first and cue.stop < index]
                return None if any(cue.kind in _GOVERNS or cue.kind in _BREAKS for cue in cues) else start
        return None

    def bounds(self, span: Span) -> bool:
        """Whether a mention is a limit: "at least 3", "between 2 and 3"."""
        return self._bound_before(span) is not None

    def may_be_bound(self, span: Span) -> bool:
        """Whether a mark may be a limit, by the words before it; this reads no cues."""
        if not self.may_hold(_BOUND):
            return False
        head = self.text[max(self.heard_from, span[0] - _MAX_HEAD_CHARS) : span[0]].rstrip(_BEFORE_MARKS)
        return self.may_end_in(head, Kind.BOUND)

    def _bound_before(self, span: Span) -> Cue | None:
        if Kind.BOUND not in self.kinds:
            return None
        index = self.place(span)[0]
        while index and self.words[index - 1].text in _OPENS:
            index -= 1
        if index > 1 and self.words[index - 1].text in single(Kind.JOINS) and self.words[index - 2].text[0].isdigit():
            index -= 2
        return self.ends_in(index, Kind.BOUND)

    def tells_need(self, span: Span) -> bool:
        """Whether a limit says how many of something there have to be, or may be: "at least 3 moves are needed"; not "x is at least 3"."""
        first, stop = self.place(span)
        bound, noun = self._bound_before(span), self.past(stop, _CLOSES)
        if bound is None or noun >= len(self.words) or not self.words[noun].text[0].isalpha():
            return False
        is_inclusive = self.shown(bound.first, bound.stop) in _limits()
        verb = self.ends_in(bound.first, Kind.IS)
        is_told = (verb is not None and self.words[verb.first].text not in listed("ought")) or self.is_announced(first)
        outer = [cue.kind for cue in self.cues if not bound.first <= cue.first < bound.stop]
        return is_inclusive and not is_told and _OPENING.isdisjoint(outer)

    def opening(self) -> int:
        """The end of the correcting or alternative words that begin the sentence."""
        index = 0
        while index < len(self.words):
            indices = [cue.stop for cue in self.at(index) if cue.kind in TURNS]
            if not indices and index:
                indices = [cue.stop for cue in self.at(index) if cue.kind in _TURNS_ON]
            if indices:
                index = max(indices)
            elif index and self._turns(index):
                index += 1
            else:
                break
        return index

    def corrects(self) -> bool:
        """Whether the sentence begins by calling the text before wrong, and then states: "wait, no, it's"."""
        turns = self.opening()
        kinds = {cue.kind for cue in self.cues if cue.stop <= turns}
        if self.begins(0, Kind.OR):  # "otherwise it is": 否则为
            return False
        is_denial = any(word.text in listed("untruth") for word in self.words[:turns])
        return Kind.IS in kinds and (is_denial or not kinds.isdisjoint([Kind.BACK, Kind.NO]))

    def takes_back(self, stop: int, kinds: frozenset[Kind] = frozenset([Kind.BACK])) -> bool:
        """Whether the sentence takes back its part before `stop`; with `stop` 0, the text before the sentence."""
        cues = [cue for cue in self.cues if cue.kind in kinds]
        if not cues:
            return False
        turns = {stop, *(cue.stop for cue in self.cues if cue.kind in (Kind.BUT, Kind.SO) and cue.first >= stop)}
        turns |= {index + 1 for index in range(stop, len(self.words)) if self.words[index].text in "(,—–;.，；"}
        return any(cue.first in turns and self.ends(cue.stop) for cue in cues)

    def _turns(self, index: int) -> bool:
        """Whether a correction continues past a sign or a pronoun."""
        word = self.words[index].text
        return word in _TURN_SIGNS or word in listed("turning")

    def announces(self, at: int, first: int) -> bool:
        """Whether a noun that announces an answer leads to a verb or a colon at a place."""
        for cue in reversed(self.cues) if not self.kinds.isdisjoint(ANNOUNCES) else ():
            if cue.kind not in ANNOUNCES or cue.stop > first:
                continue
            if cue.stop >= at:
                return True
            between = self.words[cue.stop : at]
            if between and sum(word.text == "=" for word in self.words) > 1:
                return False
            if len(between) > _MAX_ABOUT_WORDS or (len(between) > 2 and any(word.text in ".;:：=" for word in between)):
                return False
            cues = [c for c in self.cues if cue.stop <= c.first and c.stop <= at]
            return not any(c.kind in (Kind.IS, Kind.SO, Kind.BUT, Kind.NOT) for c in cues)
        return False


@cache
def _limits() -> frozenset[str]:
    """The words for limits that are reached, in all languages: "at least", "no more than"."""
    terms = [
        entry for lexicon in languages().values() for sign in (">=", "<=") for entry in lexicon["written"].get(sign, ())
    ]
    return frozenset(" ".join(word.text for word in words(phrase)) for entry in terms for phrase in phrases(entry))


@cache
def _leading() -> frozenset[str]:
    """The words and signs that may stand between a stance and the mark that it leads to."""
    return adverbs() | listed("subjects") | words_of(_LEADS_TO) | _COMMAS | _OPENS | _TELLS


@cache
def _last_of_beside() -> frozenset[str]:
    return frozenset(phrase.split()[-1] for phrase in listed("beside") | listed("contrary"))


_NAMED = frozenset([Kind.ANSWER, Kind.NOUN])
_MAX_BESIDE_WORDS = 4
_MAX_HEAD_CHARS = 40
_BEFORE_MARKS = " \t\n$*_`([{\\"
_OPENING = frozenset([Kind.IF, Kind.BUT, Kind.OR, Kind.MAYBE])
_WAVERS = frozenset([Kind.MAYBE, Kind.LIKELY, Kind.DOUBT])
_MAY_WAVER = _WAVERS | {Kind.NOT}
_PREFERS = frozenset([Kind.CHOOSE, Kind.FITS, Kind.SO, Kind.ANSWER, Kind.CALLED])
_TRAILS = frozenset([Kind.MAYBE, Kind.NOT])
_MAY_TRAIL = _TRAILS | {Kind.BUT, Kind.SAID}
_TRAIL_ENDS = frozenset([Kind.IS, Kind.OR, Kind.JOINS, Kind.BECAUSE, Kind.SO, Kind.BUT, Kind.IF])
_PAUSES = frozenset(",，、،;；:：—–-()（）[]}$\\")
_MAX_TRAIL_WORDS = 4
_EVEN = 50
"""In per cent."""
_MAX_OWNER_WORDS = 3
_LABELS = frozenset("abcdefghij")
_FIRST_HAN = "\u3400"
"""Behind verbs of scripts without spaces no article stands."""
_PRO_FORMS = frozenset([Kind.IS, Kind.NOT, Kind.IT])
"""The words of a denial that names nothing: "it is not"."""
_MAX_CONTRAST_WORDS = 4
_MAX_VERB_BEHIND = 2
"""The words from a number to the verb behind it, in languages whose verb comes last."""
TURNS = frozenset([Kind.BUT, Kind.OR, Kind.MAYBE, Kind.ALSO, Kind.BACK])
_TURNS_ON = frozenset([Kind.IS, Kind.THE, Kind.ANSWER, Kind.RESULT, Kind.NOUN, Kind.RIGHT, Kind.CHOOSE])
_TURN_SIGNS = frozenset(",:;.—–-!…，、：；。！،؛")


@cache
def _subjects() -> Tokens:
    """The words of subjects, as a glance has them: "it is" concludes."""
    return frozenset(word.strip("'") for word in listed("subjects"))


def _is_part(cue: Cue, extents: Sequence[Span]) -> bool:
    """Whether a cue is a word of another mention, such as the "not" of the option "It does not rise"."""
    return any(
        first <= cue.first and cue.stop <= stop and cue.stop - cue.first < stop - first for first, stop in extents
    )


def _is_sign(cue: Cue, phrase: Sequence[Word]) -> bool:
    return not phrase[cue.first].text.isalnum()


DENIES = frozenset([Kind.NOT, Kind.DIFFERS, Kind.BAD, Kind.DOUBT, Kind.WRONG, Kind.FALSE, Kind.NO])
_MAY_DENY = DENIES | {Kind.EXCEPT}
_GOES_ON = frozenset([Kind.BECAUSE, Kind.NOT, Kind.BUT, Kind.SO, Kind.GUESS, Kind.OR, Kind.JOINS])
_DENIAL = frozenset([Kind.RESULT, Kind.NOT, Kind.IS, Kind.THE, Kind.RIGHT, Kind.ANSWER, Kind.NOUN, Kind.FITS])
_STOPS = frozenset(",.;:!?…—–-，。；：！？、()（）[|/")
_SAYS_BEHIND = frozenset(
    [Kind.WRONG, Kind.FITS, Kind.IS, Kind.NOT, Kind.OR, Kind.BUT, Kind.SO, Kind.BECAUSE, Kind.JOINS]
)
_REASONS = frozenset([Kind.BECAUSE, Kind.NOT])
_BREAKS = frozenset([Kind.OR, Kind.BUT, Kind.SO, Kind.BECAUSE, Kind.NOT])
ANNOUNCES = frozenset([Kind.ANSWER, Kind.RESULT])
_CHOOSES = bits_of(kinds("answer result fits called true yes only also so choose except bad false no"))
"""The bits of the kinds without which a sentence only names a value, unless a subject or a contrast leads to it."""
_CONTRASTS = bits_of(kinds("not but"))
_CHOICE = _CHOOSES | _CONTRASTS
_BOUND = frozenset([Kind.BOUND])
_GOVERNING = frozenset(_GOVERNS)
_MAY_GOVERN = _GOVERNING | {Kind.BUT}
"""A turn makes an opinion of the answer before it."""
_STAYS = frozenset([Kind.SAID, Kind.MAYBE])
"""What reaches a mark across a comma, too: "Perhaps, 12"; not "if so, 12"."""
_LEADS_TO = frozenset([Kind.RESULT, Kind.THE, Kind.NOUN, Kind.RIGHT, Kind.ANSWER, Kind.IS, Kind.IT])
_LEADS = frozenset([Kind.RESULT, Kind.THE, Kind.NOUN, Kind.RIGHT, Kind.ANSWER, Kind.IS])
_CLOSES = frozenset(")）]}>\"'”’»」』】》〉$%°\\")
_BETWEEN_ITEMS = _JOINS | _OPENS | _CLOSES
_JOINTS = frozenset([Kind.OR, Kind.MAYBE, Kind.JOINS, Kind.THE, Kind.NOUN])
_MAX_COUNTED_WORDS = 3
_MAX_ENTRY_WORDS = 4
_MAX_VERDICT_CHARS = 40
"""The length of the longest text behind a sentence, on its line, that may be a verdict on it."""
_MAX_ASIDE_WORDS = 8
_MAX_SUBJECT_WORDS = 8
_MAX_ABOUT_WORDS = 16


def sentence_at(text: str, index: int, start: int, end: int) -> Sentence:
    """The sentence at a place, among those between `start` and `end`."""
    first = max(start, index - _MAX_SENTENCE_CHARS)
    line = text.rfind("\n", first, index)
    first = line + 1 if line >= 0 else first
    stop = text.find("\n", index, end)
    stop = end if stop < 0 else stop
    for sentence in sentences(text, first, stop):
        if sentence.end >= index:
            return (
                sentence
                if sentence.end < stop or sentence.stop
                else _once(_read_before(text), text, sentence.start, sentence.end, "\n" if stop < end else "")
            )
    return _once(_read_before(text), text, first, stop, "\n")


@remember(512)
def between(prefix: str, suffix: str) -> Stance:
    """The stance of a sentence towards a mention between two of its parts, however long the mention is."""
    earlier = list(sentences(prefix, 0, len(prefix)))
    lead = prefix[earlier[-1].start :] if earlier and not earlier[-1].stop else ""
    start = len(lead) + 1
    text = f"{lead} {_MENTION} {suffix}"
    tail = next(sentences(text, start, len(text)))
    sentence = Sentence(text, 0, tail.end, tail.stop)
    if not sentence.asks and _UNMAKES.isdisjoint(cue.kind for cue in sentence.cues):
        return Stance.STATED
    return sentence.stance((start, start + len(_MENTION)))


_MENTION = "zzz"
"""A placeholder for any mention. It is not a word of any language."""
_UNMAKES = frozenset([*_GOVERNS, Kind.WRONG, Kind.FALSE, Kind.NO, Kind.ALSO, Kind.BUT])
"""The kinds of cues that can deny a mention. A sentence without them denies nothing."""
