"""What stands behind the sentence that concludes: a check of it, or a note.

    So the total is 42.  ‖  Check: 42 / 7 = 6 ✓            It takes 13 years.  ‖  Note: at the end of year 12 he broke even.
    So the total is 42.  ‖  (42 / 7 = 6.)                  答：一共42个。  ‖  检验：42 ÷ 7 = 6

Its numbers are not the answer. It is not passed over if it concludes, denies or doubts anything itself, or if no value stands before it.
"""

import re
from functools import cache

from verifiers.commitment.cues import Kind, listed, phrases
from verifiers.commitment.figures import last_digit_end
from verifiers.commitment.latex import any_of
from verifiers.commitment.spans import strip
from verifiers.commitment.stance import Sentence, sentence_at

_CHARS = 400
_CONCLUDES = frozenset(
    [
        *(Kind.SO, Kind.BUT, Kind.BACK, Kind.ALSO, Kind.OTHER, Kind.OR, Kind.IF, Kind.MAYBE, Kind.DOUBT, Kind.NOT),
        *(Kind.NO, Kind.WRONG, Kind.BAD, Kind.ANSWER, Kind.RESULT),
    ]
)
"""Cues of a conclusion, of another value, or of a doubt. A text with one of them may be the answer itself."""
_UNEQUAL = re.compile(r"[≠?？]|\\neq?(?![A-Za-z])|!=")
_BRACKET = re.compile(r"(?<=[.。!！])\s{1,4}\((?P<said>[^()=\n]{1,60}=[^()=\n]{1,60})\)[\s.。]{0,4}\Z")
_OPENS = r"(?:\A|(?<=\n)|(?<=[.!。！][*)\s])|(?<=[。！]))[\s*_#>(（✓✔✅]{0,8}"


def without_afterword(text: str, begin: int, end: int) -> int:
    """The end of a part of a text before the check or the note that ends it, if a sentence with a value stands before that."""
    first = max(begin, end - _CHARS)
    found = [*_heads().finditer(text, first, end)] or [*_BRACKET.finditer(text, first, end)]
    place = next((each.start() for each in found if _is_apart(text, begin, each, end)), None)
    return end if place is None else strip(text, begin, place)[1]


@cache
def _heads() -> re.Pattern[str]:
    """The words that begin a check, and those that begin a note, with the sign behind them."""
    checks = any_of(form for entry in listed("checks") for form in phrases(entry))
    notes = any_of(form for entry in listed("notes") for form in phrases(entry))
    return re.compile(
        rf"{_OPENS}(?:{checks}[*_]{{0,2}}\s?(?:[:：](?P<check>)|[,，](?P<sum>))|{notes}[*_]{{0,2}}\s?[:：](?P<note>))",
        re.I,
    )


def _is_apart(text: str, begin: int, head: re.Match[str], end: int) -> bool:
    """Whether a text from a head on concludes nothing, and stands behind a sentence with a value."""
    before = last_digit_end(text, max(begin, head.start() - _CHARS), head.start())
    first = head.start("said") if head.lastgroup == "said" else head.end()
    if before is None or _UNEQUAL.search(text, first, end) or not _is_of_kind(head, text[first:end]):
        return False
    own = sentence_at(text, before - 1, begin, head.start())
    behind = text[strip(text, begin, head.start())[1] - 1]
    is_statement = not own.asks and behind not in ":：,，" and not text[own.end : head.start()].strip(" \n.。!！*_)")
    return is_statement and _CONCLUDES.isdisjoint(Sentence(text, first, end, "").kinds)


def _is_of_kind(head: re.Match[str], rest: str) -> bool:
    """Whether the text behind a head is what the head says: sums as a check, one sentence without a sum as a note."""
    if head.lastgroup == "note":
        return "=" not in rest and "\n" not in rest and rest.count(". ") == 0
    return head.lastgroup == "check" or "=" in rest
