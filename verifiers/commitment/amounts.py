"""What the words beside a number make of it: a limit, a part of an expression, no number, in all languages of the lexicon.

A number pays only if its words are understood. Before it they lead to it ("about", "the total is"); behind it may stand one noun
that is counted ("5 apples"). In English, whose operators and bounds the lexicon knows, other words may stand there, too.
"""

import re
from collections.abc import Sequence
from functools import cache

from verifiers import cldr, numerals
from verifiers.commitment.cues import Cue, Kind, Word, adverbs, cues, kinds, listed, phrases, words
from verifiers.commitment.glance import may_end_in, tokens
from verifiers.commitment.language import is_english
from verifiers.commitment.latex import any_of
from verifiers.commitment.letters import LETTERS
from verifiers.commitment.spans import Span
from verifiers.commitment.stance import Sentence, Stance
from verifiers.commitment.wording import single

_CHARS = 40
_BEFORE = frozenset([Kind.BOUND, Kind.NOT])
_DENYING = frozenset([Kind.NOT, Kind.NO, Kind.BAD, Kind.DOUBT, Kind.WRONG, Kind.FALSE, Kind.EXCEPT])
_ANYWHERE = frozenset([Kind.OR, Kind.IF])
_MAX_COUNTED = 3
"""The number of words for the counted noun between a number and a limit: 20個以上, "5 years or more"."""
_SIGN = re.compile(r"\+(?!\s?\d)")
_RELATION = re.compile(
    r"[\s$]{0,2}(?:<(?![^<>\n]{0,60}>)=?|>=?|[≤≥≠]|!=|\\(?:[lg](?:eq?|t)|neq?|[lg]eqslant)(?![A-Za-z]))"
)
_LETTER = re.compile(r"[\s$]{0,2}[A-Za-z](?!\w)(?:(?<=\sa)\s(?P<noun>[a-z]{2,24}))?")
"""The name of a quantity, or the article of a noun."""
_VARIABLE = re.compile(r"[\s$]{0,2}\\?[A-Za-z]")


def is_bounded(text: str, start: int, end: int) -> bool:
    """Whether the words beside a number make it a limit, a choice, a condition or a part of an expression."""
    if not any(map(str.isalpha, text[:start] + text[end:])):
        return False
    sentence = Sentence(text, 0, len(text), "")
    first, stop = sentence.place((start, end))
    index = max([cue.stop for cue in sentence.cues if cue.kind is Kind.IS and cue.stop <= first], default=0)
    table = {cue.first: cue.stop for cue in sentence.cues if cue.kind in (Kind.NEGATIVE, Kind.ASIDE)}
    for cue in sentence.cues:
        is_beside = cue.kind is Kind.PART and (cue.stop == first or cue.first == stop)
        is_limit = (cue.kind is Kind.BOUND and cue.first >= index) or (cue.kind is Kind.LIMIT and cue.first >= stop)
        is_sign = cue.first < first and cue.stop <= table.get(cue.first, 0)
        if not is_sign and (is_beside or is_limit or cue.kind in _ANYWHERE):
            return True
    may_be_denied = any(cue.kind in _DENYING for cue in sentence.cues)
    return may_be_denied and sentence.stance((start, end)) in (Stance.DENIED, Stance.SUPPOSED)


def leads_to_number(prefix: str, suffix: str) -> bool:
    """Whether the words before a number are understood: "el total es", "about"; not those of "raíz de 42".

    What has a unit needs none ("Jane met Bob 3 hours ago"), and a noun may stand before a number with a counter: 사과 6개.
    """
    if not any(map(str.isalpha, prefix)):
        return True
    phrase = words(prefix)
    signals = cues(phrase)
    is_beside = not any(map(str.isalpha, suffix)) and tells_side(prefix)  # "the number after 12"
    is_but = any(cue.kind is Kind.BUT and cue.stop == len(phrase) and cue.first > 0 for cue in signals)
    if is_beside or is_but or any(cue.kind is Kind.EXCEPT for cue in signals):
        return False
    if all(word.text in _totals() for word in phrase):
        return True
    verbs = [cue.stop for cue in signals if cue.kind in _VERBS]
    unread = _unread(phrase, [cue for cue in signals if cue.kind not in _CHANGES], max(verbs, default=0))
    unit = LETTERS.search(suffix)
    if not unread or is_english(prefix + suffix) or (unit and unit[0].casefold() in cldr.UNITS):
        return True
    return len(LETTERS.findall(prefix)) == 1 and suffix.strip(" .").casefold() in listed("counters")


@cache
def _totals() -> frozenset[str]:
    """The words of "a total of", "in total", 总共."""
    terms = {word.text for name in ("totals", "of") for entry in listed(name) for word in words(entry)}
    return frozenset(terms | single(Kind.THE, Kind.AT) | _ARTICLES | {",", ":"})


def tells_side(prefix: str) -> bool:
    """Whether words end in one that says what a time is before or behind: "some time after", "vor"."""
    phrase = words(prefix)
    return bool(phrase) and phrase[-1].text in listed("sides")


def states_result(text: str, first: int, end: int) -> bool:
    """Whether the words of a sentence before a place lead to its result, and are not denials, reason, condition or complement."""
    first = max(first, text.rfind(".", first, end) + 1, text.rfind("\n", first, end) + 1)
    return _NO_RESULT.isdisjoint(Sentence(text, first, end, "").kinds)


_NO_RESULT = frozenset([Kind.NOT, Kind.BECAUSE, Kind.IF, Kind.COMPLEMENT])


def are_alternatives(text: str, first: int, span: Span, last: int) -> bool:
    """Whether two numbers are a choice or a range: the words before the first from `first` on, and those up to the last at `last`."""
    gap = text[span[1] : last].rstrip(" *")
    if gap[-1:].isalpha() and not may_end_in(tokens(gap, 0, len(gap)), gap, Kind.OR, Kind.JOINS):
        return False
    phrase = words(text, first, last)
    at = next((index for index, word in enumerate(phrase) if word.start >= span[0]), 0)
    stop = next((index for index, word in enumerate(phrase) if word.start >= span[1]), len(phrase))
    signals = cues(phrase)
    between = [cue for cue in signals if cue.first in (stop, stop + 1) and cue.stop == len(phrase)]
    is_range = any(cue.kind is Kind.BOUND and cue.stop == at for cue in signals)
    return any(cue.kind is Kind.OR or (is_range and cue.kind is Kind.JOINS) for cue in between)


def joins(gap: str) -> bool:
    """Whether the words between two numbers part them, so that they are several: a word, or a joint of one letter (y, o)."""
    joints = single(Kind.OR, Kind.JOINS) | listed("ranges")
    return any(len(word) > 1 or word in joints for word in LETTERS.findall(gap))


def is_counter(word: str) -> bool:
    """Whether a word only stands between a number and what it counts: 8个."""
    return word in listed("counters")


def is_verb(word: str) -> bool:
    """Whether a word is the verb between a name and its value: "is"."""
    return word.lower() in single(Kind.IS)


def is_no_amount(word: str) -> bool:
    """Whether a word behind a number in words makes it no amount: "two of them"."""
    return word.lower() in listed("no_amount")


def lead_end(text: str) -> int:
    """The end of the words at the beginning of a text that only lead to its number: "exactly 42", "ungefähr 42"."""
    phrase = words(text[:_CHARS])
    stop = max([cue.stop for cue in cues(phrase) if cue.first == 0 and cue.kind is Kind.ABOUT], default=0)
    return phrase[stop].start if 0 < stop < len(phrase) else 0


def is_counted(suffix: str) -> bool:
    """Whether the words behind a number can be a noun that is counted: no operator, no denial, no number, and but one word that is
    not understood.
    """
    terms = LETTERS.findall(suffix)
    if not terms:
        return True
    if _operators("operators").match(suffix) or terms[0].casefold() in single(Kind.JOINS) - _ARTICLES:
        return False
    if suffix.isascii() or suffix.strip(" .") in cldr.UNITS:
        return True
    phrase = words(suffix)
    signals = cues(phrase)
    is_part = any((cue.first == 0 and cue.kind in _NO_NOUN) or cue.kind in _TAKES_BACK for cue in signals)
    if is_part or any(numerals.value(word) is not None for word in terms):
        return False
    unread = [word for word in _unread(phrase, signals, 0) if word not in listed("counters")]
    return suffix.strip() >= _UNSPACED or len(unread) < _TOO_MANY


def _unread(phrase: Sequence[Word], cues: Sequence[Cue], first: int) -> Sequence[str]:
    """The words from a place on that are not part of some cues."""
    read = {index for cue in cues for index in range(cue.first, cue.stop)}
    texts = [word.text for index, word in enumerate(phrase) if index >= first and index not in read]
    return [word for word in texts if any(map(str.isalpha, word)) and word not in adverbs()]


_TOO_MANY = 2


_CHANGES = kinds("not bad made part except also other complement joins")
"""The kinds of words that do not lead to a number."""
_VERBS = frozenset([Kind.IS, Kind.HAS, Kind.CHOOSE, Kind.SO])
_NO_NOUN = frozenset([Kind.NOT, Kind.MADE, Kind.PART, Kind.NEGATIVE])
_TAKES_BACK = frozenset([Kind.BACK, Kind.DOUBT])
_ARTICLES = frozenset(["a", "&"])


@cache
def _operators(*names: str) -> re.Pattern[str]:
    forms = {form for name in names for phrase in listed(name) for form in phrases(phrase)}
    latin = any_of(form for form in forms if form < _UNSPACED)
    glued = any_of(form for form in forms if form >= _UNSPACED)
    return re.compile(rf"\s*(?:(?:{latin})(?![^\W\d_])|{glued})", re.IGNORECASE)


def operates_on_figures(suffix: str) -> bool:
    """Whether a text begins with an operator and figures: "plus 5", の2倍."""
    operator = _operators("operators", "infixes").match(suffix)
    return operator is not None and suffix[operator.end() :].lstrip(" $")[:1].isdigit()


_UNSPACED = "\u0e00"
"""Letters behind this one belong to scripts without spaces, or with endings behind a word."""


def negative_before(head: str) -> str:
    """The word for a minus sign at the end of a text; none in "at least" and "about", such as "al menos", "más o menos"."""
    word = _ending(head, frozenset([Kind.NEGATIVE]))
    is_sign = word and not _ending(head, _NO_SIGN) and not _ending(head[: len(head) - len(word)], frozenset([Kind.OR]))
    return word if is_sign else ""


_NO_SIGN = frozenset([Kind.BOUND, Kind.ABOUT])


def behind_negative(text: str) -> str:
    """The text behind a word for a minus sign that begins a text, if a figure follows; else empty."""
    if not text[:1].isalpha() or not any(map(str.isdigit, text)):
        return ""
    phrase = words(text[:_CHARS])
    stop = max([cue.stop for cue in cues(phrase) if cue.first == 0 and cue.kind is Kind.NEGATIVE], default=0)
    return text[phrase[stop].start :] if 0 < stop < len(phrase) and phrase[stop].text[0].isdigit() else ""


def bound_before(head: str) -> str:
    """The words at the end of a text that make the number behind it a limit, or deny it."""
    return _ending(head, _BEFORE)


def _ending(head: str, kinds: frozenset[Kind]) -> str:
    bare = head[-_CHARS:].rstrip(" $*(")
    if not bare[-1:].isalpha() or not may_end_in(tokens(bare, 0, len(bare)), bare, *kinds):
        return ""
    phrase = words(bare)
    signals = [cue for cue in cues(phrase) if cue.stop == len(phrase) and cue.kind in kinds]
    return head[len(head[:-_CHARS]) + phrase[min(cue.first for cue in signals)].start :] if signals else ""


def _names_quantity(text: str, start: int) -> bool:
    """Whether a letter at a place is the name of a quantity: "more than n", "than a dozen"; not the article of "than a pie"."""
    letter = _LETTER.match(text, start)
    return letter is not None and (letter["noun"] is None or numerals.value(f"a {letter['noun']}") is not None)


def bound_behind(suffix: str) -> str:
    """The words at the beginning of a text that make the number before it a limit, or deny it."""
    sign = _SIGN.match(suffix) or _RELATION.match(suffix)
    if sign and (sign.re is _SIGN or _VARIABLE.match(suffix, sign.end())):
        return suffix[: sign.end() + 1]
    suffix = suffix[:_CHARS].partition("\n")[0]
    if not any(map(str.isalpha, suffix)):
        return ""
    phrase = words(suffix)
    signals = cues(phrase)
    for cue in signals:
        is_start = cue.first == 0 or all(word.text.isalpha() or word.text in "*," for word in phrase[: cue.first])
        is_near = is_start and cue.first <= _MAX_COUNTED
        is_end = cue.stop == len(phrase) or phrase[cue.stop].text in ".,;!?)" or not phrase[cue.first].text.isascii()
        # "is the maximum" and "das Maximum" say what the number is.
        is_said = any(led.kind in (Kind.IS, Kind.THE) and led.stop <= cue.first for led in signals)
        is_limit = cue.kind is Kind.LIMIT and not is_said
        is_limit = is_limit or (cue.kind is Kind.WRONG and not phrase[cue.first].text.isascii())
        is_relation = cue.kind is Kind.BOUND and cue.first <= 1 and _names_quantity(suffix, phrase[cue.stop - 1].end)
        if is_near and ((is_limit and (cue.first == 0 or is_end)) or is_relation):
            return suffix[: phrase[cue.stop - 1].end]
    return ""
