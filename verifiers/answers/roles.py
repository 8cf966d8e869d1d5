"""What the words before a number make of it: a label (step 3), or a bound, an operand or the value of something else.

A label says which one, and "at least 3", "the square root of 3" or `x^2 = 3` do not say what was asked: neither is an
answer.
"""

import re

from verifiers.answers.offers import Offer

_LABEL_WORDS = frozenset(
    [
        "step",
        "steps",
        "problem",
        "question",
        "questions",
        "equation",
        "equations",
        "line",
        "lines",
        "page",
        "pages",
        "case",
        "section",
        "figure",
        "table",
        "chapter",
        "exercise",
        "example",
        "theorem",
        "lemma",
        "error",
        "aime",
        "amc",
        "imo",
        "option",
        "solution",
        "see",
    ]
)
_LABELLED = re.compile(rf"\b(?:{'|'.join(sorted(_LABEL_WORDS))}|eqs?\.|第)[ ]?[(#]?$|(?<!#)#$", re.IGNORECASE)
_OPTION_ENDS = frozenset(".)")
_ITEM_AFTER = re.compile(r"\s?[.)、]\**$")
_OPTION_BEFORE = re.compile(r"(?:^|\n)[\s*(]{0,6}[A-H][.)][\s$*]{0,4}$")
_LABEL_ENDS = re.compile(r"\s[a-z]")
"""Behind a label comes no noun: `Step 3`, but in `see 3 birds` the number counts."""


def is_label(text: str, start: int, end: int, number: Offer) -> bool:
    """Whether a number says which (step 3, equation (42), item 3 of a list), or what an option says, not how much."""
    before = text[max(start, number.start - 24) : number.start]
    last = before.rstrip(" (*$")[-1:]
    is_labelled = (last in "#.第" or _last_word(before, " (#*$") in _LABEL_WORDS) and _LABELLED.search(before)
    if is_labelled and not _LABEL_ENDS.match(text, number.end, end):
        return True
    if last in _OPTION_ENDS and _OPTION_BEFORE.search(before):
        return True
    value = text[number.start : number.end]
    if before.endswith("\n") and value.isdecimal() and len(value) < 4 and _ITEM_AFTER.match(text, number.end, end):
        return text.find(f"{int(value) - 1}.", start, number.start) >= 0
    return False


_BOUND_WORD = re.compile(
    r"(?:\b(?:than|at\s(?:least|most)|up\sto|exceeds?|times|plus|minus|negative|twice|thrice|double|triple|mod(?:ulo)?|out\sof|log|ln|sin"
    r"|cos|tan|lg|exp|sqrt(?:\sof)?"
    r"|roots?\sof|squared?\sof|cubed?\sof|power\sof|multiples?\sof|factors?\sof|(?:fraction|half|third|quarter"
    r"|percent)\sof|\d{1,12}\s?\\?%\sof|\d{1,12}\sin|\d{1,12}\sof(?:\s(?:the|all|his|her|their|its|these|those))?|\d{1,12}\s(?:r(?:em(?:ainder)?)?|(?:(?:feet|foot|ft|inch(?:es)?|in|yards?|miles?|[ck]?m|met(?:er|re)s?|units?)\s)?by)"
    r"|(?:divid|multipl)\w{1,6}(?:\s\w{1,12}){0,2}\sby)|至少|至多|最多|超过|大于|小于|多于|少于|高于|低于|不足|不到|除以|乘以|负)[\s$*(]{0,4}$"
    r"|[√∛≤≥≠≡^²³|±∓][ $*(]{0,3}$|[<>!]=[ $]{0,3}$|\\(?:sqrt|log|ln|ne|neq|leq?|geq?|lt|gt|equiv|pmod|bmod"
    r"|mod|pm|mp)[ ({$]{0,3}$|[A-Za-z]\($"
    r"|\b[a-z]\s?(?:→|\\to)[ ]?$",
    re.IGNORECASE,
)
_SIDE = re.compile(
    r"(?:\d[ ]?[abcefijknpqrtuvwxyz]"
    r"|[A-Za-z)\]}][ ]?(?:\^[ ]?\{?[ ]?\w{1,3}[ ]?\}?|[²³⁰¹⁴-⁹ⁿ])|\|(?-i:[^|\nA-Z]{1,20})\|"
    r"|\b(?:squared|cubed|doubled)|√\w+|\b(?:sin|cos|tan|log|ln|sqrt)(?:[ ]?\(\w{1,3}\)?|[ ]\w{1,3}|[xyzθαβ\d]\w?)|\\(?:sqrt|ln|log|sin|cos"
    r"|tan)[ ]?[{(]?\w{1,3}[})]?)"
    r"[ $]{0,3}(?:=|\bequals|\bis[ ]equal[ ]to)[ $*]{0,4}$",
    re.IGNORECASE,
)
"""A side of an equation that is not a name or a sum but a multiple, a power or a function of what may be asked."""
_SUPPOSED = re.compile(
    r"\b(?:where|let|if|when|suppose|assume|setting|substitut\w+)\s\$?[A-Za-z]\s?=[\s$]{0,3}$", re.IGNORECASE
)
_ATTAINED = re.compile(
    r"(?:\b(?:is|are|was|of|equals|be)|[=:])[\s$*]{1,3}[-−]?\d[\d.,/]{0,12}[$*]{0,3},?\s(?:[a-z]{2,12}\s){0,3}?(?:at|for)\s\$?[A-Za-z]\s?=[\s$]{0,3}$"
)
"""Where something has the value that was stated before: "the minimum is 3 at x = 4"."""
_ONE_OF_TWO = re.compile(r"\d[ ][A-Za-z]{2,12}[ ]and[ ]$")
_BOUND_LAST_WORDS = frozenset(
    [
        "than",
        "least",
        "most",
        "to",
        "exceed",
        "exceeds",
        "times",
        "plus",
        "minus",
        "negative",
        "twice",
        "thrice",
        "double",
        "triple",
        "r",
        "rem",
        "remainder",
        "mod",
        "modulo",
        "of",
        "the",
        "all",
        "his",
        "her",
        "their",
        "its",
        "these",
        "those",
        "log",
        "ln",
        "sin",
        "cos",
        "tan",
        "lg",
        "exp",
        "sqrt",
        "in",
        "by",
    ]
)
_BOUND_SIGNS = frozenset("√∛≤≥≠≡^²³|±∓=→{")


def is_bound_to_words(text: str, start: int, number: Offer) -> bool:
    """Whether what precedes a number makes it a bound, an operand, one count of two, or a value of something else."""
    before = text[max(start, number.start - 40) : number.start].rpartition("\n")[2]
    head = before.rstrip(" $*(")
    last = head[-1:]
    if last == "=":
        return head.endswith(("<=", ">=", "!=")) or _is_other_side(before)
    word = _last_word(before, " $*(")
    is_suspect = last in _BOUND_SIGNS or word in _BOUND_LAST_WORDS or "\\" in word or not last.isascii()
    if (is_suspect or before[-1:] == "(") and _BOUND_WORD.search(before):
        return True
    if word in ("equals", "to") and _is_other_side(before):
        return True
    return word == "and" and "=" not in before and _ONE_OF_TWO.search(before) is not None


def _is_other_side(before: str) -> bool:
    """Whether the left side of an equation is not what is asked (`x^2 = 9`), or only supposed (`where x = 4`)."""
    if before.rstrip(" $*=")[-1:].isdecimal() and not any(char in before[-24:] for char in "^√\\|("):
        return False
    return (_SIDE.search(before) or _SUPPOSED.search(before) or _ATTAINED.search(before)) is not None


def _last_word(before: str, strip: str) -> str:
    return before.rstrip(strip).rpartition(" ")[2].rpartition("\n")[2].lstrip("(").lower()
