"""The role that words give to a number: a label (step 3), a bound, an operand or the value of something else.

A label says which one. "At least 3", "the square root of 3" and `x^2 = 3` do not say what was asked. None of these is
an answer.
"""

import re

from verifiers.commitment.cues import Kind, adverbs, listed, words
from verifiers.commitment.glance import ends_with
from verifiers.commitment.latex import FUNCTIONS, command_before, split
from verifiers.commitment.offers import Offer
from verifiers.commitment.slots import is_word, openings_of, parts
from verifiers.commitment.stance import Sentence, sentence_at

_ABBREVIATION_CHARS = 4
_OPTION_ENDS = frozenset(".)")
_ITEM_AFTER = re.compile(r"\s?[.)、]\**$")
_OPTION_BEFORE = re.compile(r"(?:^|\n)[\s*(]{0,6}[A-H][.)][\s$*]{0,4}$")
_LABEL_ENDS = re.compile(r"\s[a-z]")
"""A label has no noun behind it: `Step 3` is a label, but in `see 3 birds` the number counts."""


def is_label(text: str, start: int, end: int, number: Offer) -> bool:
    """Whether a number says which one (step 3, equation (42), item 3 of a list), or belongs to an option's text."""
    prefix = text[max(start, number.start - 24) : number.start]
    if prefix.strip("#* \n") == "" == text[number.end : end].strip("*. \n"):
        return False  # "#1" alone
    if _is_labelled(prefix) and not _LABEL_ENDS.match(text, number.end, end):
        return True
    if prefix.rstrip(" (*$")[-1:] in _OPTION_ENDS and _OPTION_BEFORE.search(prefix):
        return True
    value = text[number.start : number.end]
    if prefix.endswith("\n") and value.isdecimal() and len(value) < 4 and _ITEM_AFTER.match(text, number.end, end):
        return text.find(f"{int(value) - 1}.", start, number.start) >= 0
    return False


def _is_labelled(prefix: str) -> bool:
    """Whether a labelling noun or sign stands before a number: "step", "eq. (", "#"."""
    head = prefix.rstrip(" (*$")
    if prefix.endswith("#") and not prefix.endswith("##"):
        return True
    is_short = head.endswith(".") and len(head.split()[-1]) <= _ABBREVIATION_CHARS
    return ends_with(head[:-1] if is_short else head.rstrip(" #"), Kind.LABEL)


_SIGN = re.compile(r"[√∛≤≥≠≡^²³|±∓][ $*(]{0,3}$|[<>!]=[ $]{0,3}$|[A-Za-z]\($|\b[a-z]\s?(?:→|\\to)[ ]?$")
_COMMANDS = FUNCTIONS | split("equiv mod pmod bmod")
_MULTIPLE = r"\d[ ]?[abcefijknpqrtuvwxyz]"
_POWER = r"[A-Za-z)\]}][ ]?(?:\^[ ]?\{?[ ]?\w{1,3}[ ]?\}?|[²³⁰¹⁴-⁹ⁿ])"
_FUNCTION = r"(?<![a-z])(?:sin|cos|tan|log|ln|sqrt)(?:[ ]?[({]\w{1,3}[)}]|[ ]\w{1,3}|[xyzθαβ\d]\w?)|√\w+"
_SIDE = re.compile(rf"(?:{_MULTIPLE}|{_POWER}|\|(?-i:[^|\nA-Z]{{1,20}})\||{_FUNCTION})\Z", re.IGNORECASE)
"""A side of an equation that is a multiple, a power or a function of the unknown, not a name or a sum."""
_POWER_OF_FIGURES = re.compile(r"\([-\d.,/+*× ]{1,24}\)\s?(?:\^\s?\{?\s?\d{1,3}\s?\}?|[²³⁰¹⁴-⁹])\Z")
"""A power that is no unknown's: `(20)^2`."""
_MAX_APART_WORDS = 4
_EDGES = " $*("


def is_bound_to_words(text: str, start: int, number: Offer) -> bool:
    """Whether the text before a number makes it a bound, an operand, one count of two, or a value of something else."""
    prefix = text[max(start, number.start - 40) : number.start].rpartition("\n")[2]
    head = prefix.rstrip(_EDGES)
    if head.endswith("="):
        return (
            head.endswith(("<=", ">=", "!="))
            or _is_other_side(head[:-1])
            or supposes(text, start, number.start, number.end)
        )
    if command_before(prefix.rstrip(" ({$")) in _COMMANDS:
        return True
    if _SIGN.search(prefix) or ends_with(head, Kind.BOUND, Kind.PART):
        return True
    sentence = Sentence(head, 0, len(head), "")
    return _is_of_two(sentence) or _is_equated(sentence)


def supposes(text: str, start: int, sign: int, stop: int) -> bool:
    """Whether a sentence only gives a value to a name: "Soit n = 17", "We are given that n = 17", n=17とする; not "14 + 3, soit n = 17".

    `sign` is the place behind the equality sign, and `stop` the place behind the value.
    """
    suffix = words(text, stop, min(len(text), stop + _MAX_LET_CHARS))
    if any(
        part.slot == "ends" and not any(map(is_word, suffix[: part.first])) for part in parts("supposition", suffix)
    ):
        return True
    sentence = sentence_at(text, sign, start, sign)
    openings, phrase, first = openings_of("supposition", "begins"), sentence.words, 0
    if openings.isdisjoint(word.text for word in phrase):
        return False
    while first < len(phrase) and phrase[first].text not in openings:
        is_lead = sentence.begins(first, *_LEADS_ON) or (
            phrase[first].text in adverbs() and not sentence.begins(first, Kind.SO)
        )
        if not is_lead and phrase[first].text not in openings_of("slip", "by") | _COMMAS:
            return False
        first += 1
    indices = [part.stop for part in parts("supposition", phrase[first:]) if (part.slot, part.first) == ("begins", 0)]
    between = [word.text for word in phrase[first + max(indices, default=0) : -1] if word.text not in _LET_SIGNS]
    return bool(indices) and len(between) <= _MAX_NAME_WORDS and all(map(str.isalpha, between))


_LEADS_ON = frozenset([Kind.STAGE, Kind.BUT, Kind.JOINS])
_COMMAS = frozenset(",，、")
_LET_SIGNS = frozenset("$*(:：")
_MAX_LET_CHARS = 24
_MAX_NAME_WORDS = 4


def _is_of_two(sentence: Sentence) -> bool:
    """Whether a number before this one makes both parts of a pair: "2 in 6", "5 feet by 6", "20% of", "3 birds and"."""
    index = len(sentence.words)
    if index and (
        sentence.words[-1].text in listed("determiners")
        or (sentence.may_end_in(sentence.text, Kind.THE) and sentence.ends_in(index, Kind.THE))
    ):
        index -= 1
    last = sentence.words[index - 1].text if index > 1 else ""
    previous = index - 2
    while previous > 0 and sentence.words[previous].text in "%\\":
        previous -= 1
    if last in listed("shares"):
        return sentence.words[previous].text[0].isdigit()
    is_counted = (
        previous > 0 and sentence.words[previous].text.isalpha() and sentence.words[previous - 1].text[0].isdigit()
    )
    if last in listed("across"):
        return is_counted or sentence.words[previous].text[0].isdigit()
    joins = is_counted and index == len(sentence.words) and sentence.ends_in(index, Kind.JOINS) is not None
    return joins and all(word.text != "=" for word in sentence.words)


def _is_equated(sentence: Sentence) -> bool:
    """Whether a text ends in words for an equality sign, behind the other side of the equation: "x^2 is equal to"."""
    index = len(sentence.words)
    if index > 1 and sentence.words[index - 2].text in listed("equals"):
        index -= 1
    if not index or sentence.words[index - 1].text not in listed("equals"):
        return False
    verb = sentence.ends_in(index - 1, Kind.IS)
    first = verb.first if verb else index - 1
    return _is_other_side(sentence.text[: sentence.words[first].start])


def _is_other_side(prefix: str) -> bool:
    """Whether a side of an equation is not the unknown (`x^2 = 9`), or is only supposed (`where x = 4`)."""
    prefix = prefix.rstrip(_EDGES)
    if prefix[-1:].isdecimal() and not any(char in prefix[-24:] for char in "^√\\|("):
        return False
    if _POWER_OF_FIGURES.search(prefix):
        return False
    return (
        bool(_SIDE.search(prefix)) or ends_with(prefix, Kind.MADE) or _is_supposed(Sentence(prefix, 0, len(prefix), ""))
    )


def _is_supposed(sentence: Sentence) -> bool:
    """Whether a side is a name with a supposed value, or gets a value that was stated before."""
    index = len(sentence.words) - 1
    if index < 1 or len(sentence.words[index].text) > 1 or not sentence.words[index].text.isalpha():
        return False
    index -= sentence.words[index - 1].text == "$"
    lead = sentence.words[index - 1].text if index > 0 else ""
    if sentence.ends_in(index, Kind.IF) or lead in listed("supposes"):
        return True
    if lead not in listed("attained"):
        return False
    stated = [
        at for at in range(max(1, index - _MAX_APART_WORDS - 1), index - 1) if sentence.words[at].text[0].isdigit()
    ]
    return any(sentence.words[at - 1].text in "=:" or sentence.ends_in(at, *_STATES) is not None for at in stated)


_STATES = frozenset([Kind.IS, Kind.COMPLEMENT])
