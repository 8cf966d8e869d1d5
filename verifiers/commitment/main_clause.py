"""The number that the main clause of a sentence states, where all numbers behind it only restrict what it counts or measures.

    There are 9 pairs with x + y = 10    The minimum is 7 at x = 3    She needs 12 boxes for 96 eggs    有12个8的倍数

It stands behind a verb of being or need. A preposition, a relative pronoun or a reason leads to the others. Nothing is
decided here if the sentence goes on with another clause, shares something out, or gives a range or a ratio.
"""

import re
from collections.abc import Sequence
from functools import cache

from verifiers.commitment.cues import Kind, listed
from verifiers.commitment.measures import is_money, is_unit
from verifiers.commitment.offers import Offer
from verifiers.commitment.stance import UNMADE, Sentence, sentence_at
from verifiers.commitment.wording import single

_MAX_VERB_WORDS = 3
_MAX_BETWEEN_WORDS = 1
_LIGHT = frozenset([Kind.ABOUT, Kind.ONLY, Kind.THE])
_TURNS = frozenset([Kind.SO, Kind.BUT, Kind.BACK, Kind.OR])
_OPENS = frozenset("$(*")
_BREAKS = frozenset(":;：；。—–")
_OPERATORS = frozenset("-−+×*/÷")
_EQUALS = frozenset("=≈<>≤≥")
_COMMAS = frozenset(",，、")
_JOINS = frozenset([Kind.JOINS])
_TELLS = frozenset([Kind.IS, Kind.HAS])
_MAX_ATTRIBUTE_WORDS = 16


def without_restrictions(text: str, start: int, end: int, offers: list[Offer]) -> list[Offer]:
    """The numbers up to the one that the last sentence states; all numbers if that is not certain."""
    number = _stated(text, start, end, offers) if len(offers) > 1 else None
    return offers if number is None else offers[: offers.index(number) + 1]


def counted_end(text: str, start: int, last_digit: int | None, end: int) -> int:
    r"""The end of a text behind what its last sentence counts, if a clause says of what: "there are 8 values of \( x \) for which …"."""
    if last_digit is None:
        return end
    sentence = sentence_at(text, last_digit - 1, start, end)
    if sentence.asks or not any(word.text in _first_of_exists() for word in sentence.words):
        return end
    number = next((at for at, word in enumerate(sentence.words) if word.text[0].isdigit()), 0)
    formulas = [match.span() for match in _FORMULA.finditer(text, sentence.start, sentence.end)]
    plain = [
        at
        for at in range(number + 1, len(sentence.words))
        if not any(first <= sentence.words[at].start < stop for first, stop in formulas)
    ]
    index = number
    while cue := sentence.ends_in(index, *(_LIGHT | _SO)):
        index = cue.first
    if not plain or not _ends_in(sentence, index, "exists") or not sentence.words[number + 1].text.isalpha():
        return end
    lead = next((at for at in plain[1:_MAX_NOUN_WORDS] if _leads_clause(sentence, at)), 0)
    tail = [at for at in plain if at >= lead]
    is_apart = any(sentence.words[at].text in _COMMAS for at in plain if at < lead)
    if not lead or is_apart or any(cue.kind in _OPEN and cue.stop <= lead for cue in sentence.cues):
        return end
    is_clear = not any(cue.kind in _TURNS and cue.first in tail for cue in sentence.cues)
    is_one = is_clear and not any(_tells_another(sentence, at) for at in tail)
    return sentence.words[number + 1].end if is_one else end


_FORMULA = re.compile(r"\$[^$\n]{1,200}\$|\\\((?:(?!\\\)).){1,200}\\\)")
_MAX_NOUN_WORDS = 12
_OPEN = frozenset([Kind.NOT, Kind.DOUBT, Kind.MAYBE, Kind.IF, Kind.OR])


@cache
def _first_of_exists() -> frozenset[str]:
    return frozenset(phrase.split()[0] for phrase in listed("exists"))


def _leads_clause(sentence: Sentence, at: int) -> bool:
    """Whether a clause about the noun before it begins at a word: "such that", "for which", "that", "between"."""
    word, successor = (sentence.shown(index, index + 1) for index in (at, at + 1))
    is_relative = word in listed("relatives") and successor not in listed("equates") - {"are", "is"}
    is_led = word in listed("relates") and successor in listed("relatives")
    return is_relative or is_led or any(sentence.shown(at, at + size) in listed("restricts") for size in (1, 2, 3))


def _tells_another(sentence: Sentence, at: int) -> bool:
    """Whether a sum is told at a word, or a joint leads to a number of other things: "and 8 girls"; not "between 1 and 8"."""
    word, successor = sentence.words[at].text, sentence.shown(at + 1, at + 2)
    is_joint = word in _COMMAS or sentence.begins(at, Kind.JOINS)
    is_number = successor[:1].isdigit() and not sentence.words[at - 1].text[0].isdigit()
    is_clause = word in _COMMAS and successor.isalpha() and len(successor) > 1 and not _leads_clause(sentence, at + 1)
    return word in listed("totals") or word in listed("distributive") or is_clause or (is_joint and is_number)


def _stated(text: str, start: int, end: int, offers: Sequence[Offer]) -> Offer | None:
    """The number that the last sentence states, if the numbers behind it only restrict it; None if that is not certain."""
    sentence = sentence_at(text, offers[-1].start, start, end)
    numbers = [offer for offer in offers if offer.start >= sentence.start]
    if len(numbers) < 2 or sentence.asks or not sentence.kinds.isdisjoint((Kind.NOT, Kind.DOUBT, Kind.MAYBE)):
        return None
    if any(word.text in listed("ratios") for word in sentence.words):
        return None
    if any(word.text in listed("distributive") for word in sentence.words):
        is_plain = not _ends_in(sentence, sentence.place((numbers[0].start, numbers[0].end))[0], "exists")
        return _object(sentence, numbers) if is_plain else None  # "12 boxes with 5 apples each" tell no count alone
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
    return _object(sentence, numbers)


def _object(sentence: Sentence, numbers: Sequence[Offer]) -> Offer | None:
    """The number of things a verb has as its object or subject, or the result of a calculation, if each number behind it stands
    directly behind a preposition: "he paid $15 for 3 books", "4 of the 8 games", "so that's 6 x 4 = 24 movies in 4 weeks".
    """
    for number in numbers[:-1]:
        first, stop = sentence.place((number.start, number.end))
        if not _is_result(sentence, first) and (number is not numbers[0] or not _is_of_verb(sentence, first)):
            continue
        later = [offer for offer in numbers if offer.start > number.start]
        is_money = _is_money(sentence, number)
        if not is_money and is_unit(sentence.shown(stop, stop + 1)):
            continue  # "3 miles in 25 minutes", "5 feet by 6 feet"
        is_priced = not is_money and any(_is_money(sentence, offer) for offer in later)
        is_told = sentence.stance((number.start, number.end)) not in UNMADE and not is_priced
        if is_told and _are_adjuncts(sentence, stop, later, is_paid=is_money):
            return number
    return None


def _is_money(sentence: Sentence, number: Offer) -> bool:
    """Whether the sign of a currency stands before a number, or its name behind it."""
    stop = sentence.place((number.start, number.end))[1]
    noun = sentence.words[stop].text if stop < len(sentence.words) else ""
    return sentence.text[number.start] in _CURRENCIES or is_money(noun)


def _is_result(sentence: Sentence, index: int) -> bool:
    """Whether a number stands behind the equality sign of a calculation, and not of a name: the 24 of "6 x 4 = 24"."""
    index = _before_signs(sentence, index)
    side = sentence.words[index - 2].text if index > 1 else ""
    return bool(side) and sentence.words[index - 1].text == "=" and (side[0].isdigit() or side in _CLOSES)


def _before_signs(sentence: Sentence, index: int) -> int:
    while index and sentence.words[index - 1].text in _OPENS:
        index -= 1
    return index


def _is_of_verb(sentence: Sentence, index: int) -> bool:
    """Whether a number begins a clause, or stands behind a word that can be its verb."""
    index = _before_signs(sentence, index)
    while cue := sentence.ends_in(index, *_LIGHT):
        index = cue.first
    if (
        index == 0
        or sentence.ends_in(index, *_TELLS)
        or sentence.ends_in(index - (sentence.words[index - 1].text in _COMMAS), Kind.SO)
    ):
        return True
    word = sentence.words[index - 1].text
    is_lead = any(word in listed(name) for name in _LEADING)
    return word.isalpha() and len(word) > 1 and not is_lead and not any(cue.stop == index for cue in sentence.cues)


def _are_adjuncts(sentence: Sentence, stop: int, numbers: Sequence[Offer], *, is_paid: bool) -> bool:
    """Whether words of which nothing joins or turns lead to each number, and a preposition stands directly before it."""
    last = sentence.place((numbers[-1].start, numbers[-1].end))
    if any(cue.kind in _TURNS | _JOINS and cue.first >= stop for cue in sentence.cues):
        return False
    if any(word.text in listed("distributive") for word in sentence.words[: last[0]]):
        return False
    indices = [sentence.place((offer.start, offer.end)) for offer in numbers]
    figures = {index for span in indices for index in range(*span)}
    between = [sentence.words[at].text for at in range(stop, last[0]) if at not in figures]
    if not all(map(_is_led_on, between, [*between[1:], ""])):
        return False
    return all(_lead_before(sentence, _before_signs(sentence, first), stop - is_paid) for first, _ in indices)


def _is_led_on(word: str, successor: str) -> bool:
    """Whether a word or sign between two numbers begins no other clause, and no total: a comma stands before a preposition."""
    is_set_off = word in _COMMAS and (successor in listed("relates") or successor in listed("restricts"))
    return is_set_off or word in "$%" or (word.isalpha() and word not in listed("totals"))


def _lead_before(sentence: Sentence, index: int, stop: int) -> bool:
    """Whether a preposition stands before a number, with an article or an adjective at most between; alone it makes a part: "2 in 6"."""
    for at in range(index - 1, max(stop, index - _MAX_LEAD_WORDS) - 1, -1):
        word = sentence.words[at].text
        if sentence.shown(at - 1, at + 1) in listed("relates"):
            return at - 1 > stop or at < index - 1
        if not word.isalpha() or sentence.ends_in(at + 1, *_GOVERNING):
            return False
        if word in listed("relates") or word in listed("restricts"):
            return at > stop or at < index - 1
    return False


_LEADING = ("relates", "restricts", "purposes", "determiners", "across", "ranges")
_CURRENCIES = frozenset("$€£¥￥₹")
_CLOSES = frozenset(")}")
_SO = frozenset([Kind.SO])
_GOVERNING = frozenset([Kind.IS, Kind.HAS, Kind.PART, Kind.BOUND])
_MAX_LEAD_WORDS = 3


def _leads(sentence: Sentence, number: Offer, first: Offer) -> frozenset[str]:
    """The words that may lead to a restriction behind a number, by the verb before it; none if there is no such verb."""
    index = sentence.place((number.start, number.end))[0]
    while index and not (is_existing := _ends_in(sentence, index, "exists")):
        cue = sentence.ends_in(index, *(_LIGHT | _SO))
        if cue is None and sentence.words[index - 1].text not in _OPENS | listed("adverbs"):
            break
        index = cue.first if cue else index - 1
    if index and is_existing:
        return listed("restricts") | listed("relates") | listed("relatives")
    if verb := sentence.ends_in(index, Kind.IS):
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
    return listed("restricts") if sentence.ends_in(index, Kind.HAS) else frozenset()


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
        if self._sentence.begins(at, *_TURNS) or (
            not self._lead and word in listed("ranges") and self._is_number(at + 1)
        ):
            return False
        if self._is_joint(at):
            return self._passes_joint(at)
        if lead := self._lead_at(at):
            return self._opens(at, lead, is_direct)
        is_operator = (word in listed("operators") or word in listed("infixes")) and word not in listed("attributive")
        if is_operator or (is_direct and self._sentence.begins(at, Kind.MADE)):
            return False
        if self._is_bound(at):
            return bool(self._lead)
        return self._is_in_clause() or not self._sentence.begins(at, Kind.IS)

    def _is_in_clause(self) -> bool:
        """Whether what is read now may have a verb of its own."""
        return self._lead in listed("restricts") or self._lead in listed("relatives")

    def _is_told(self, at: int) -> bool:
        """Whether a verb leads to a number."""
        return self._sentence.ends_in(self._sentence.skipped(at), *_TELLS) is not None

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
        if lead in listed("relatives") and verb in listed("equates") and not self._sentence.begins(stop, Kind.IS):
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
        return self._sentence.begins(at, Kind.BOUND)

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
        return self._sentence.begins(at, Kind.JOINS) or self._said[at].text in single(Kind.JOINS) - {"a"}

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
