"""The number that the main clause of a sentence states, where all numbers behind it only restrict what it counts or measures.

    There are 9 pairs with x + y = 10    The minimum is 7 at x = 3    She needs 12 boxes for 96 eggs    有12个8的倍数

It stands behind a verb of being or need. A preposition, a relative pronoun or a reason leads to the others. Nothing is
decided here if the sentence goes on with another clause, shares something out, or gives a range or a ratio.
"""

from collections.abc import Sequence

from verifiers.commitment.cues import Kind, listed
from verifiers.commitment.offers import Offer
from verifiers.commitment.stance import UNMADE, Sentence, sentence_at
from verifiers.commitment.wording import single

_MAX_VERB_WORDS = 3
_MAX_BETWEEN_WORDS = 1
_IS = frozenset([Kind.IS])
_HAS = frozenset([Kind.HAS])
_LIGHT = frozenset([Kind.ABOUT, Kind.ONLY, Kind.THE])
_TURNS = frozenset([Kind.SO, Kind.BUT, Kind.BACK, Kind.OR])
_OPENS = frozenset("$(*")
_BREAKS = frozenset(":;：；。—–")
_OPERATORS = frozenset("-−+×*/÷")
_EQUALS = frozenset("=≈<>≤≥")
_COMMAS = frozenset(",，、")
_JOINS = frozenset([Kind.JOINS])
_TELLS = frozenset([Kind.IS, Kind.HAS])
_BOUND = frozenset([Kind.BOUND])
_MADE = frozenset([Kind.MADE])
_MAX_ATTRIBUTE_WORDS = 16


def without_restrictions(text: str, start: int, end: int, offers: list[Offer]) -> list[Offer]:
    """The numbers up to the one that the last sentence states; all numbers if that is not certain."""
    number = _stated(text, start, end, offers) if len(offers) > 1 else None
    return offers if number is None else offers[: offers.index(number) + 1]


def _stated(text: str, start: int, end: int, offers: Sequence[Offer]) -> Offer | None:
    """The number that the last sentence states, if the numbers behind it only restrict it; None if that is not certain."""
    sentence = sentence_at(text, offers[-1].start, start, end)
    numbers = [offer for offer in offers if offer.start >= sentence.start]
    if len(numbers) < 2 or sentence.asks or not sentence.kinds.isdisjoint((Kind.NOT, Kind.DOUBT, Kind.MAYBE)):
        return None
    if any(word.text in listed("distributive") or word.text in listed("ratios") for word in sentence.words):
        return None
    for number in numbers[:-1]:
        leads = _leads(sentence, number, numbers[0])
        if not leads or sentence.stance((number.start, number.end)) in UNMADE:
            continue
        stop = sentence.place((number.start, number.end))[1]
        indices = {sentence.place((offer.start, offer.end))[0] for offer in numbers if offer.start > number.start}
        is_rate = any(word.text in listed("rates") for word in sentence.words[stop:])
        is_apart = not is_rate and min(indices) >= stop
        if is_apart and _Walk(sentence, indices, leads).restricts(stop):
            return number
    return None


def _leads(sentence: Sentence, number: Offer, first: Offer) -> frozenset[str]:
    """The words that may lead to a restriction behind a number, by the verb before it; none if there is no such verb."""
    index = sentence.place((number.start, number.end))[0]
    while index and not (is_existing := _ends_in(sentence, index, "exists")):
        cue = sentence.ends_in(_LIGHT, index)
        if cue is None and sentence.words[index - 1].text not in _OPENS | listed("adverbs"):
            break
        index = cue.first if cue else index - 1
    if index and is_existing:
        return listed("restricts") | listed("relates") | listed("relatives")
    if verb := sentence.ends_in(_IS, index):
        is_relative = verb.first > 1 and sentence.words[verb.first - 1].text in listed(
            "relatives"
        )  # a value that is 3 for n = 6
        return frozenset() if is_relative else listed("restricts") | listed("relates")
    if number is not first and not _begins_clause(sentence, first, index):
        return frozenset()
    spans = range(index, max(0, index - _MAX_BETWEEN_WORDS - 1), -1)
    is_need = any(_ends_in(sentence, at, "requires") for at in spans if _are_names(sentence, at, index))
    if is_need:
        return listed("restricts") | listed("purposes")
    return listed("restricts") if sentence.ends_in(_HAS, index) else frozenset()


def _begins_clause(sentence: Sentence, offer: Offer, index: int) -> bool:
    """Whether a clause begins between a number and a place."""
    first = sentence.place((offer.start, offer.end))[1]
    return any(word.text in _COMMAS for word in sentence.words[first:index]) or sentence.has(Kind.SO, first, index)


def _are_names(sentence: Sentence, first: int, stop: int) -> bool:
    """Whether only names stand between a verb and a number: "it takes Tom 9 hours"."""
    return all(sentence.words[at].text.isalpha() and not sentence.at(at) for at in range(first, stop))


def _ends_in(sentence: Sentence, index: int, name: str) -> bool:
    """Whether a phrase of a list ends before a place."""
    sizes = range(1, min(_MAX_VERB_WORDS, index) + 1)
    return any(sentence.shown(index - size, index) in listed(name) for size in sizes)


class _Walk:
    """A walk over the words behind a number. It ends at words after which another number may be the answer."""

    def __init__(self, sentence: Sentence, numbers: set[int], leads: frozenset[str]) -> None:
        self._sentence, self._said, self._numbers, self._leads = sentence, sentence.words, numbers, leads
        self._is_formula = False
        self._lead = ""
        """The word that leads to what is read now; empty outside a restriction."""

    def restricts(self, stop: int) -> bool:
        """Whether all numbers from a place on belong to restrictions of the number before it."""
        return all(self._goes_on(at, at == stop) for at in range(stop, len(self._said)))

    def _goes_on(self, at: int, is_direct: bool) -> bool:
        word = self._said[at].text
        if word == "$" and not self._is_currency(at):
            self._is_formula = not self._is_formula
        if at in self._numbers:
            return (bool(self._lead) and (self._is_in_clause() or not self._is_told(at))) or self._is_attribute(at)
        if self._is_formula or word == "$":
            return True
        if not word[0].isalnum():
            return self._passes_sign(at)
        if self._sentence.begins(_TURNS, at) or (
            not self._lead and word in listed("ranges") and self._is_number(at + 1)
        ):
            return False
        if self._is_joint(at):
            return self._passes_joint(at)
        if lead := self._lead_at(at):
            return self._opens(at, lead, is_direct)
        is_operator = (word in listed("operators") or word in listed("infixes")) and word not in listed("attributive")
        if is_operator or (is_direct and self._sentence.begins(_MADE, at)):
            return False
        if self._is_bound(at):
            return bool(self._lead)
        return self._is_in_clause() or not self._sentence.begins(_IS, at)

    def _is_in_clause(self) -> bool:
        """Whether what is read now may have a verb of its own."""
        return self._lead in listed("restricts") or self._lead in listed("relatives")

    def _is_told(self, at: int) -> bool:
        """Whether a verb leads to a number."""
        return self._sentence.ends_in(_TELLS, self._sentence.skipped(at)) is not None

    def _is_currency(self, at: int) -> bool:
        """Whether a dollar sign stands before an amount, and opens no formula."""
        suffix = [word.text for word in self._said[at + 1 : at + 3]]
        return (
            not self._is_formula
            and self._is_number(at + 1)
            and (len(suffix) < 2 or suffix[1].isalpha() or suffix[1] in ",.")
        )

    def _opens(self, at: int, lead: str, is_direct: bool) -> bool:
        """Whether a restriction begins at a word: not in "12 out of 20", "for a total of 36", "which makes 36"."""
        stop = at + lead.count(" ") + 1
        noun = self._sentence.past_cue(stop, Kind.THE)
        if is_direct and lead not in listed("restricts") and self._is_number(stop):
            return False
        if lead in listed("purposes") and noun < len(self._said) and self._said[noun].text in listed("totals"):
            return False
        verb = self._said[stop].text if stop < len(self._said) else ""
        if lead in listed("relatives") and verb in listed("equates") and not self._sentence.begins(_IS, stop):
            return False
        self._lead = self._lead if self._is_in_clause() and lead not in listed("restricts") else lead
        return True

    def _lead_at(self, at: int) -> str:
        """The phrase at a word that leads to a restriction; empty if there is none."""
        sizes = range(min(_MAX_VERB_WORDS, len(self._said) - at), 0, -1)
        items = (self._sentence.shown(at, at + size) for size in sizes)
        lead = next((phrase for phrase in items if phrase in self._leads), "")
        is_bound = self._is_bound(at) and listed("relatives") <= self._leads
        return lead or (self._said[at].text if is_bound else "")

    def _is_bound(self, at: int) -> bool:
        return self._sentence.begins(_BOUND, at)

    def _passes_sign(self, at: int) -> bool:
        """Whether a sign does not begin another clause: a comma before a reason, the brackets of a point."""
        word, suffix = self._said[at].text, self._said[at + 1].text if at + 1 < len(self._said) else ""
        if word in _COMMAS:
            is_reason = self._lead_at(at + 1) in listed("restricts") if suffix else False
            is_sum = self._is_number(at + 2) and any(token.text in listed("totals") for token in self._said[at:])
            is_reason = is_reason and not is_sum
            return is_reason or (not suffix[:1].isalpha() and self._is_number(at - 1)) or len(suffix) == 1
        if word in "(（":
            return len(suffix) == 1 and suffix.isalpha()
        if word in _OPERATORS:
            return self._is_in_clause() or self._sentence.text[self._said[at].start - 1].isalpha()
        return word not in _BREAKS and (bool(self._lead) or word not in _EQUALS)

    def _passes_joint(self, at: int) -> bool:
        """Whether a joint stands between two parts of one restriction: "between 1 and 100", "less than 9 and divisible by 2"."""
        if not self._lead or self._lead_at(at + 1):
            return bool(self._lead) or not self._lead_at(at + 1)
        if self._is_number(at - 1) and self._is_number(at + 1):
            return not self._lead_at(at + 2)
        self._lead = ""
        return True

    def _is_joint(self, at: int) -> bool:
        return self._sentence.begins(_JOINS, at) or self._said[at].text in single(Kind.JOINS) - {"a"}

    def _is_number(self, at: int) -> bool:
        at = self._sentence.past(at, _OPENS)
        return at < len(self._said) and self._said[at].text[0].isdigit()

    def _is_attribute(self, at: int) -> bool:
        """Whether a number stands in an attribute before its noun, in languages that put it there: 有12个8的倍数."""
        terms = {word.text for word in self._said[at + 1 : at + _MAX_ATTRIBUTE_WORDS]}
        return (
            listed("relatives") <= self._leads
            and not self._is_joint(at - 1)
            and not terms.isdisjoint(listed("attributive"))
        )
