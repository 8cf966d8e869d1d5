"""Decides whether an answer states a reference: its words stand in a row, and at least once the answer affirms them.

A mention does not count if its sentence denies it, asks it, supposes it or calls it the opinion of others (commitment).
Nor does one of several guesses: "Paris or Rome", "Paris, London, Rome, Berlin".
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from memory import remember
from verifiers.commitment.affirmed import OPPOSITE, Outcome, affirms, is_or, is_short, is_stuffed, says_truth
from verifiers.commitment.folding import visible
from verifiers.commitment.spans import Span
from verifiers.math.units.names import SYMBOLS
from verifiers.math.units.names import names as unit_names
from verifiers.rules.qa.words import Normalise, has_cjk, unaccented

_EAST = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""The characters of Chinese, Japanese and Korean."""
_DOTTED = r"(?<![^\W_])(?:[A-Z]\.){1,4}[A-Z]\b\.?"
_TOKEN = re.compile(rf"{_DOTTED}|\d+(?:[.,]\d+)*(?:[^\W\d_]+)?|[^\W\d_{_EAST}]+|[{_EAST}]")
_CJK = re.compile(rf"[{_EAST}]|[^\W_{_EAST}]+")
_ARTICLES = frozenset(["a", "an", "the"])
_HYPHENS = ("-", "‐", "‑", "–")
_MAX_PLACES = 64


def contained(
    answer: str, reference: str, normalise: Normalise, *, is_name: bool = False, synonyms: Sequence[str] = ()
) -> Outcome:
    """The way in which an answer states a reference, if it does. The accents of a name do not count.

    An "or" between the reference and one of its `synonyms`, which are right as well, leaves nothing open.
    """
    answer = _spaced(answer)
    if (truth := reference.strip(" .").lower()) in OPPOSITE:
        return says_truth(answer, truth)
    if _is_stuffed(answer):
        return "several_candidates"
    outcome = _outcome(answer, reference, _forms(visible(reference)), normalise, is_name=is_name)
    if outcome == "absent" and ("-" in answer or "-" in reference):
        joined = _HYPHEN.sub("", visible(reference))
        outcome = _outcome(_HYPHEN.sub("", answer), joined, (joined,), normalise, is_name=is_name)
    if outcome == "several_candidates" and (shorter := _without_synonym(answer, reference, synonyms, normalise)):
        return _outcome(shorter, reference, _forms(visible(reference)), normalise, is_name=is_name)
    if outcome == "absent" and len(names := _listed(visible(reference), normalise)) > 1:
        outcomes = {_outcome(answer, reference, (name,), normalise, is_name=is_name) for name in names}
        return "found" if outcomes == {"found"} else "absent"
    return outcome


def _outcome(answer: str, reference: str, forms: Iterable[str], normalise: Normalise, *, is_name: bool) -> Outcome:
    """The best outcome of the places where a form of a reference stands."""
    outcome: Outcome = "absent"
    spans = chain.from_iterable(
        _places(answer, form, normalise, unaccented if is_name else str) for form in forms if _may_hold(answer, form)
    )
    for span in islice(spans, _MAX_PLACES):
        affirmation = affirms(answer, span, reference)
        if affirmation == "found":
            return "found"
        outcome = affirmation if outcome != "several_candidates" else outcome
    return outcome


_HYPHEN = re.compile(r"(?<=[a-z])[-‐‑](?=[a-z])")
"""The hyphen of a word that may be written without one: "non-profit"."""


def _without_synonym(answer: str, reference: str, synonyms: Sequence[str], normalise: Normalise) -> str | None:
    """An answer without a right synonym that an "or" joins to a reference: "naos or cella"; None if there is none."""
    own = list(islice(_places(answer, reference, normalise, str), _MAX_PLACES))
    for synonym in synonyms if own else ():
        for other in islice(_places(answer, synonym, normalise, str), _MAX_PLACES):
            for span in own:
                left, right = sorted((span, other))
                if left[1] < right[0] and is_or(answer[left[1] : right[0]]):
                    head, _, either = answer[: left[0]].rstrip().rpartition(" ")
                    before = head if is_or(either) else answer[: left[0]]
                    return f"{before} {answer[slice(*span)]}{answer[right[1] :]}"
    return None


_GLUED = re.compile(r"(?<![^\W_])[a-z]{2,12}(?=[A-Z][a-z]{2})|(?:1[5-9]|20)\d\d(?=(?:on|in|by|at|and|for)\b)")
_FOOTNOTE = re.compile(r"(?:(?<=\b(?:in|to) )|(?<=\d, ))((?:1[5-9]|20)\d\d)\d{1,2}(?=\.(?:\s|\Z))")
_RAISED = re.compile(r"(?:(?<=[^\W\d_])|(?<=\b1[5-9]\d\d)|(?<=\b20\d\d))[¹²³⁴-⁹]+(?!\w)")
_LOST = "\N{HAIR SPACE}"
"""Stands for the space that was left out before a link."""
_ACRONYM = re.compile(r"(?<=[a-z]) \([A-Z]{2,6}\)(?= [a-z])")
"""The acronym of the words before it, inside a name: "the sinoatrial (SA) node"."""


_is_stuffed = remember(4)(is_stuffed)


@remember(4)
def _spaced(answer: str) -> str:
    """What an answer shows, with the spaces that lost links leave out, and without footnotes: "byAndrew Lloyd Webber", "in 193912.",
    "Hawes⁶". A long answer is compared with many references, so this and its words are remembered.
    """
    answer = visible(answer)
    if not answer.isascii() and has_cjk(answer):
        return answer
    answer = _INITIALS.sub("", _ACRONYM.sub("", _RAISED.sub("", answer)))
    return _FOOTNOTE.sub(r"\1", _GLUED.sub(rf"\g<0>{_LOST}", answer))


_INITIALS = re.compile(r"(?<=\b[A-Z]\.)\s{1,2}(?=[A-Z]\.)")
"""Between initials, which are one word: "P. D. James"."""
_JOINTS = re.compile(r",\s(?:and\s)?|\sand\s|(?<=\d{4})\s?[-–]\s?(?=\d{4})")
_PART = re.compile(r"(?:[A-Z][^\W\d_]*+(?:[.'’-][^\W\d_]*+)*+(?:\s|\Z)){1,4}")
_YEARS = re.compile(r"\d{4}")


def _listed(reference: str, normalise: Normalise) -> Sequence[str]:
    """The parts of a reference that lists names or years, each of which has to be affirmed: "Chile and Argentina"."""
    names = _JOINTS.split(reference.strip(" .")) if normalise != "none" and len(reference) <= _MAX_LISTED_CHARS else ()
    return names if all(map(_PART.fullmatch, names)) or all(map(_YEARS.fullmatch, names)) else ()


_MAX_LISTED_CHARS = 120


def _may_hold(answer: str, form: str) -> bool:
    """Whether an answer holds a long word of a form, by a quick look. Most answers that lack a reference hold none."""
    word = _LONG_WORD.search(form) if answer.isascii() and form.isascii() else None
    return word is None or word[0].lower() in _NUMBERS or word[0].lower().removesuffix("s") in answer.lower()


_LONG_WORD = re.compile(r"(?<![\w.])[A-Za-z]{4,}(?![\w.'])")


def _forms(reference: str) -> Iterator[str]:
    """A reference, and the same in other words: a date in the other order, without its acronym or middle names."""
    yield (reference := _INITIALS.sub("", reference))
    yield from _figures(reference)
    bare = " ".join(_REMARK.sub(" ", reference).split())
    if bare != reference and len(bare) > 2 and bare[0].isalnum():
        yield bare
    if "'s " in bare or "’s " in bare:
        yield _POSSESSIVE.sub("", bare)
    for conjunction, replacement in ((" and ", " & "), (" & ", " and ")):
        if conjunction in bare:
            yield bare.replace(conjunction, replacement)
    if _CAPITALS_OR.fullmatch(bare):
        yield from bare.split(" or ")
    if about := _ABOUT.match(bare):
        yield bare[about.end() :]
    if nicknamed := _NICKNAMED.fullmatch(bare):
        yield from (f"{nicknamed['first']} {nicknamed['last']}", f"{nicknamed['nick']} {nicknamed['last']}")
    names = _TITLE.sub("", _SUFFIX.sub("", bare)).split()
    is_name = len(names) >= _FULL_NAME and names[0].lower() not in _ARTICLES and all(map(_NAME.fullmatch, names))
    if is_name and len(names) > _FULL_NAME:
        yield f"{names[0]} {names[-1]}"
    elif is_name and names != bare.split():
        yield " ".join(names)


def _figures(reference: str) -> Iterator[str]:
    """A whole number, years, a day, a range or an amount of money in another form."""
    if whole := _WHOLE.fullmatch(reference):
        yield whole["whole"]
    if years := _YEARS_TO.fullmatch(reference):
        first, last = years["first"], years["last"]
        for year in {last, first[: -len(last)] + last}:
            yield from (f"{first} {year}", f"{first} to {year}")
    if day := _DAY.fullmatch(reference):
        month, number, year = day["month"] or day["name"], int(day["day"] or day["number"]), day["year"] or day["of"]
        yield f"{month} {number} {year}"
        yield f"{number} {month} {year}"
    if day := _DAY_OF_YEAR.fullmatch(reference):
        yield f"{day['other']} {day['month']}" if day["month"] else f"{day['name']} {day['number']}"
    if between := _RANGE.fullmatch(reference):
        yield f"{between['low']}-{between['high']}{between['unit']}"
    if _MONEY.fullmatch(reference):
        yield f"{reference}.00"
    if month := _MONTH_OF_YEAR.fullmatch(reference):
        yield from (f"{month['month']} {day} {month['year']}" for day in range(1, _LAST_DAY + 1))


_WHOLE = re.compile(r"(?P<whole>\d+)\.0+")
_YEARS_TO = re.compile(r"(?:between |from )?(?P<first>[12]\d{3})(?:\s?[-–]\s?| and | to )(?P<last>[12]\d{3}|\d\d)")
_MONTH_OF_YEAR = re.compile(r"(?P<month>[A-Z][a-z]{2,8}),?\s(?P<year>\d{4})")
_LAST_DAY = 31
_POSSESSIVE = re.compile(r"['’]s(?=\s)")
_CAPITALS_OR = re.compile(r"[A-Z][A-Z '-]+ or [A-Z][A-Z '-]+|[a-z]+ (?P<noun>[a-z]+) or [a-z]+ (?P=noun)")
"""Two answers, either of which is right: "hit points or health points". A title has small and capital letters: "Trick or Treat"."""
_ABOUT = re.compile(r"(?:approximately|about|around|roughly|circa|ca?\.)\s(?=\d)")
_NICKNAMED = re.compile(r"(?P<first>[A-Z][\w.]*) [\"“](?P<nick>[A-Z]\w+)[\"”] (?P<last>[A-Z][\w'-]+)")
_TITLE = re.compile(r"(?:Dr|Mr|Mrs|Ms|Prof|Sir|Dame|Justice|Judge|Professor|Doctor)\.?\s(?=[A-Z])")
_SUFFIX = re.compile(r",?\s(?:Jr|Sr)\.?\Z")
_MONTH = "[A-Z][a-z]{2,8}"
_TH = "(?:st|nd|rd|th)?"
_DAY = re.compile(
    rf"(?P<month>{_MONTH})\s(?P<day>\d{{1,2}}){_TH},?\s(?P<year>\d{{4}})"
    rf"|(?P<number>\d{{1,2}}){_TH}\s(?:of\s)?(?P<name>{_MONTH}),?\s(?P<of>\d{{4}})"
)
_DAY_OF_YEAR = re.compile(
    rf"(?P<month>{_MONTH})\s(?P<other>\d{{1,2}}){_TH}|(?P<number>\d{{1,2}}){_TH}\s(?P<name>{_MONTH})"
)
_RANGE = re.compile(r"(?P<low>\d[\d.]*) to (?P<high>\d[\d.]*)(?P<unit>\s?%?)")
_MONEY = re.compile(r"[$€£¥₹₱]\s?\d[\d,]*")
_REMARK = re.compile(r"\([^()]{1,60}\)")
_NAME = re.compile(r"[A-Z][^\W\d_]*[.'’-]?[^\W\d_]*\.?")
_FULL_NAME = 2
"""A name of more words has middle names, which may be left out."""


def _places(answer: str, reference: str, normalise: Normalise, folded: Callable[[str], str]) -> Iterator[Span]:
    """The spans where the words of a reference stand in a row."""
    token = _CJK if normalise == "cjk" or has_cjk(reference) else _TOKEN
    words = [form for form, _, _ in _tokens(reference, token, folded)]
    words = [word for word in words if word not in _ARTICLES] or words
    if not words:
        return
    tokens = [each for each in _tokens_again(answer, token, folded) if each[0] not in _ARTICLES or each[0] in words]
    forms = [form for form, _, _ in tokens]
    is_negative = reference.startswith(("-", "−"))
    plurals = _plurals(words[-1]) if reference.split()[-1][0].islower() else ()
    firsts = {words[0]} if len(words) > 1 else {words[0], *plurals}
    is_full_name = len(words) == _FULL_NAME and all(map(_NAME.fullmatch, reference.split()))
    for start_at in range(len(tokens) - len(words) + 1):
        if forms[start_at] not in firsts:
            continue
        last = start_at + len(words) - 1
        if answer.startswith(_LOST, tokens[start_at][1] - 1) and _is_glued(forms[last], words[-1]):
            forms[last], tokens[last] = words[-1], (words[-1], tokens[last][1], tokens[last][1] + len(words[-1]))
        if is_full_name and forms[last] != words[-1]:
            last = _past_middle_names(answer, tokens, start_at, words[-1])
        if _is_same(
            forms[start_at : start_at + 1] + forms[last : last + 1] if is_full_name else forms[start_at : last + 1],
            words,
            plurals,
        ):
            start, end = tokens[start_at][1], tokens[last][2]
            sign = answer[max(0, start - 2) : start]
            if sign[-1:] in _HYPHENS and sign[:1].isalpha():
                continue
            if words[0][0].isdigit() and (sign[-1:] in ("-", "−") and not sign[:1].isalnum()) is not is_negative:
                continue
            yield start, end


def _tokens(text: str, token: re.Pattern[str], folded: Callable[[str], str]) -> list[tuple[str, int, int]]:
    """The forms of the words of a text, with their places. The names of a unit have one form: "6 ft", "6-foot", "6ft"."""
    tokens: list[tuple[str, int, int]] = []
    for found in token.finditer(text):
        start, end = found.span()
        glued = _MEASURE.fullmatch(text, start, end)
        if glued and (unit := _unit(glued["unit"])):
            tokens += [(_form(glued["number"]), start, glued.end("number")), (unit, glued.start("unit"), end)]
            continue
        is_behind = bool(tokens) and tokens[-1][0][0].isdigit() and text[tokens[-1][2] : start] in _GAPS
        unit = _unit(found[0]) if is_behind else None
        tokens.append((unit or _form(folded(found[0])), start, end))
    return tokens


_MEASURE = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)(?P<unit>[^\W\d_]{2,})")
_GAPS = (" ", "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}", *_HYPHENS)


_tokens_again = remember(4)(_tokens)


def _unit(word: str) -> str | None:
    """The form of the name of a unit, which is no word; None for other words."""
    atoms = SYMBOLS.get(word) or unit_names().get(word.casefold())
    return f" {next(iter(atoms))}" if atoms is not None and list(atoms.values()) == [1] else None


def _is_glued(word: str, last: str) -> bool:
    """Whether a name runs into a short word behind it, as one that begins behind a lost space does: "byRicky Nelsonin"."""
    return len(last) > 1 and word.startswith(last) and is_short(word[len(last) :])


def _past_middle_names(answer: str, tokens: Sequence[tuple[str, int, int]], start: int, last: str) -> int:
    """The place of a last name behind middle names, initials or a nickname: "James Edward Fleet", `Dwayne "The Rock" Johnson`."""
    for at in range(start + 2, min(start + _MAX_MIDDLE_NAMES + 2, len(tokens))):
        between = answer[tokens[start][2] : tokens[at][1]]
        if tokens[at][0] == last and _MIDDLE_NAMES.fullmatch(between):
            return at
    return start + 1


_MAX_MIDDLE_NAMES = 3
_MIDDLE_NAMES = re.compile(r"\s(?:[A-Z][\w-]*\.?\s){1,2}|\s[\"“][A-Z][\w ]{1,20}[\"”]\s")


def _is_same(forms: list[str], words: list[str], plurals: tuple[str, ...]) -> bool:
    """Whether words are the wanted ones; the last may be in the plural."""
    return forms == words or (forms[:-1] == words[:-1] and forms[-1] in plurals)


def _plurals(noun: str) -> tuple[str, ...]:
    """The other numbers of a noun: a plural, or what a plural may be one of."""
    is_noun = noun.isascii() and noun.isalpha() and len(noun) >= _SHORTEST_NOUN
    singular = (noun[:-1],) if is_noun and _PLURAL.fullmatch(noun) else ()
    return (noun + "s", noun + "es", *singular) if is_noun else ()


_PLURAL = re.compile(r"[a-z]{3,}[^isu\W]s")


_SHORTEST_NOUN = 4


def _form(word: str) -> str:
    word = word.replace(".", "").casefold() if word[0].isalpha() else word.casefold()
    return word.replace(",", "") if word[0].isdigit() else _NUMBERS.get(word, word)


_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], start=2
    )
}
"""Numbers in words; "one" is a pronoun, too."""
