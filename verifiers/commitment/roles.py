"""What the words before a number make of it: a label (step 3), or a bound, an operand or the value of something else.

A label says which one, and "at least 3", "the square root of 3" or `x^2 = 3` do not say what was asked: neither is an
answer.
"""

import re

from verifiers.commitment.cues import Kind
from verifiers.commitment.latex import FUNCTIONS, command_before, split
from verifiers.commitment.offers import Offer
from verifiers.commitment.wording import ends_with

_SIGNED = re.compile(r"\beqs?\.[ ]?[(#]?$|(?<!#)#$", re.IGNORECASE)
_OPTION_ENDS = frozenset(".)")
_ITEM_AFTER = re.compile(r"\s?[.)、]\**$")
_OPTION_BEFORE = re.compile(r"(?:^|\n)[\s*(]{0,6}[A-H][.)][\s$*]{0,4}$")
_LABEL_ENDS = re.compile(r"\s[a-z]")
"""Behind a label comes no noun: `Step 3`, but in `see 3 birds` the number counts."""


def is_label(text: str, start: int, end: int, number: Offer) -> bool:
    """Whether a number says which (step 3, equation (42), item 3 of a list), or what an option says, not how much."""
    before = text[max(start, number.start - 24) : number.start]
    last = before.rstrip(" (*$")[-1:]
    is_labelled = (last in "#." and _SIGNED.search(before)) or ends_with(before.rstrip(" (#*$"), Kind.LABEL)
    if is_labelled and not _LABEL_ENDS.match(text, number.end, end):
        return True
    if last in _OPTION_ENDS and _OPTION_BEFORE.search(before):
        return True
    value = text[number.start : number.end]
    if before.endswith("\n") and value.isdecimal() and len(value) < 4 and _ITEM_AFTER.match(text, number.end, end):
        return text.find(f"{int(value) - 1}.", start, number.start) >= 0
    return False


_SHARE = re.compile(
    r"\b\d{1,12}\s?\\?%?\s(?:of(?:\s[a-z]{2,5})?|in|r(?:em(?:ainder)?)?|(?:[a-z]{1,6}\s)?by)[\s$*(]{0,4}$",
    re.IGNORECASE,
)
"""A number before it makes both parts of something: "2 in 6", "5 feet by 6", "20% of"."""
_SIGN = re.compile(r"[√∛≤≥≠≡^²³|±∓][ $*(]{0,3}$|[<>!]=[ $]{0,3}$|[A-Za-z]\($|\b[a-z]\s?(?:→|\\to)[ ]?$")
_COMMANDS = FUNCTIONS | split("equiv mod pmod bmod")
_MULTIPLE = r"\d[ ]?[abcefijknpqrtuvwxyz]"
_POWER = r"[A-Za-z)\]}][ ]?(?:\^[ ]?\{?[ ]?\w{1,3}[ ]?\}?|[²³⁰¹⁴-⁹ⁿ])|\b(?:squared|cubed|doubled)"
_FUNCTION = r"(?<![a-z])(?:sin|cos|tan|log|ln|sqrt)(?:[ ]?[({]\w{1,3}[)}]|[ ]\w{1,3}|[xyzθαβ\d]\w?)|√\w+"
_EQUALS = r"[ $]{0,3}(?:=|\bequals|\bis[ ]equal[ ]to)[ $*]{0,4}$"
_SIDE = re.compile(rf"(?:{_MULTIPLE}|{_POWER}|\|(?-i:[^|\nA-Z]{{1,20}})\||{_FUNCTION}){_EQUALS}", re.IGNORECASE)
"""A side of an equation that is not a name or a sum but a multiple, a power or a function of what may be asked."""
_SUPPOSED = re.compile(
    r"\b(?:where|let|if|when|suppose|assume|setting|substitut\w+)\s\$?[A-Za-z]\s?=[\s$]{0,3}$", re.IGNORECASE
)
_STATED = r"(?:\b(?:is|are|was|of|equals|be)|[=:])[\s$*]{1,3}[-−]?\d[\d.,/]{0,12}[$*]{0,3},?\s"
_ATTAINED = re.compile(rf"{_STATED}(?:[a-z]{{2,12}}\s){{0,3}}?(?:at|for)\s\$?[A-Za-z]\s?=[\s$]{{0,3}}$")
"""Where something has the value that was stated before: "the minimum is 3 at x = 4"."""
_ONE_OF_TWO = re.compile(r"\d[ ][A-Za-z]{2,12}[ ]and[ ]$")


def is_bound_to_words(text: str, start: int, number: Offer) -> bool:
    """Whether what precedes a number makes it a bound, an operand, one count of two, or a value of something else."""
    before = text[max(start, number.start - 40) : number.start].rpartition("\n")[2]
    head = before.rstrip(" $*(")
    last = head[-1:]
    if last == "=":
        return head.endswith(("<=", ">=", "!=")) or _is_other_side(before)
    if command_before(before.rstrip(" ({$")) in _COMMANDS:
        return True
    if _SIGN.search(before) or _SHARE.search(before) or ends_with(head, Kind.BOUND, Kind.PART):
        return True
    word = head.rpartition(" ")[2].lower()
    if word in ("equals", "to") and _is_other_side(before):
        return True
    return word == "and" and "=" not in before and _ONE_OF_TWO.search(before) is not None


def _is_other_side(before: str) -> bool:
    """Whether the left side of an equation is not what is asked (`x^2 = 9`), or only supposed (`where x = 4`)."""
    if before.rstrip(" $*=")[-1:].isdecimal() and not any(char in before[-24:] for char in "^√\\|("):
        return False
    return (_SIDE.search(before) or _SUPPOSED.search(before) or _ATTAINED.search(before)) is not None
