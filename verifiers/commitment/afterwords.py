"""What stands behind the sentence that concludes: a check of it, or a note.

    So the total is 42.  ‖  Check: 42 / 7 = 6 ✓            It takes 13 years.  ‖  Note: at the end of year 12 he broke even.
    So the total is 42.  ‖  (42 / 7 = 6.)                  答：一共42个。  ‖  检验：42 ÷ 7 = 6

Its numbers are not the answer. It is not passed over if it concludes, denies or doubts anything itself, or if no value stands before it.
"""

import re
from functools import cache

from verifiers.commitment.cues import Kind, kinds, listed, phrases
from verifiers.commitment.figures import last_digit_end
from verifiers.commitment.spans import strip
from verifiers.commitment.stance import Sentence, sentence_at

_CHARS = 400
_CONCLUDES = kinds("so but back also other or if maybe doubt not no wrong bad answer result")
"""Cues of a conclusion, of another value, or of a doubt. A text with one of them may be the answer itself."""
_RIGHT = frozenset([Kind.RIGHT, Kind.YES, Kind.FITS, Kind.TRUE])
_UNEQUAL = re.compile(r"[≠?？]|\\neq?(?![A-Za-z])|!=")
_BRACKET = re.compile(r"(?<=[.。!！])\s{1,4}\((?P<said>[^()=\n]{1,60}=[^()=\n]{1,60})\)[\s.。]{0,4}\Z")
_HEAD = re.compile(
    r"(?:\n|[.!](?=[*)\s])|[。！])[\s*_#>()（）✓✔✅]{0,8}(?P<words>[^\W\d_][^\d\n:：,，.!?。=]{0,40})(?P<sign>[:：,，])"
)


def without_afterword(text: str, start: int, end: int) -> int:
    """The end of a part of a text before the check or the note that ends it, if a sentence with a value stands before that."""
    first = max(start, end - _CHARS)
    matches = [*_HEAD.finditer(text, first, end)] or [*_BRACKET.finditer(text, first, end)]
    index = next((match.start() for match in matches if _is_apart(text, start, match, end)), None)
    return end if index is None else strip(text, start, index + 1)[1]


@cache
def _forms(name: str) -> frozenset[str]:
    """The words that begin a check (`checks`) or a note (`notes`)."""
    return frozenset(form for entry in listed(name) for form in phrases(entry))


def _is_apart(text: str, start: int, head: re.Match[str], end: int) -> bool:
    """Whether a text from a head on concludes nothing, and stands behind a sentence with a value."""
    first = head.start("said") if "said" in head.re.groupindex else head.end()
    if not _is_of_kind(head, text[first:end]):
        return False
    previous = last_digit_end(text, max(start, head.start() - _CHARS), head.start())
    if previous is None or _UNEQUAL.search(text, first, end):
        return False
    sentence = sentence_at(text, previous - 1, start, head.start())
    suffix = text[strip(text, start, head.start())[1] - 1]
    is_statement = (
        not sentence.asks and suffix not in ":：,，" and not text[sentence.end : head.start()].strip(" \n.。!！*_)")
    )
    return is_statement and not _concludes(Sentence(text, first, end, ""))


def _concludes(sentence: Sentence) -> bool:
    """Whether a text concludes anything but that what was said before it is right: "7 + 8 = 15, so it is correct"."""
    kinds = sentence.kinds & _CONCLUDES
    if kinds != {Kind.SO}:
        return bool(kinds)
    first = min(cue.first for cue in sentence.cues if cue.kind is Kind.SO)
    conclusion = [word.text for word in sentence.words[first:] if word.text[0].isalnum()]
    is_right = conclusion[-1] in listed("truth") or any(
        cue.kind in _RIGHT and cue.first > first for cue in sentence.cues
    )
    return any(word[0].isdigit() for word in conclusion) or not is_right


def _is_of_kind(head: re.Match[str], text_behind: str) -> bool:
    """Whether the text behind a head is what the head says: sums as a check, one sentence without a sum as a note."""
    if "said" in head.re.groupindex:
        return True
    remainder = text_behind.strip()
    words, is_label = head["words"].strip(" *_").casefold(), head["sign"] in ":："
    if words in _forms("checks"):
        return is_label or "=" in remainder
    return (
        words in _forms("notes")
        and is_label
        and "=" not in remainder
        and "\n" not in remainder
        and remainder.count(". ") == 0
    )
