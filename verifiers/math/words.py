"""Answers that are words, names or units, and when letters in a row are a product of variables instead."""

import re
import unicodedata
from collections.abc import Sequence

from verifiers.math.tree import Node


def split(names: str) -> frozenset[str]:
    """A set of names, from one line of them."""
    return frozenset(names.split())


TEXT = re.compile(
    r"\\(?:text|textbf|textit|textrm|texttt|textsf|mathrm|mathbf|mathit|mbox|operatorname)\s*\{([^{}]*)\}"
)
_PLAIN = re.compile(r"[^\W_][\w\s,;:.!?&/()'’-]*|\([^\W_]\)")
_DASH = re.compile(r"(?<![a-z])-|-(?![a-z])|_")
_LETTERS = re.compile(r"[^\W\d_]+")
FUNCTIONS = split(
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan arccot arcsec arccsc arsinh arcosh artanh "
    "ln lg exp sgn Re Im arg"
)
FUNCTION_SYNONYMS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sign": "sgn", "arcsinh": "arsinh", "arccosh": "arcosh",
    "arctanh": "artanh", "tg": "tan", "ctg": "cot", "arctg": "arctan", "cosec": "csc",
}  # fmt: skip
WORD_COMMANDS = {
    "pi": "pi", "infinity": "infty", "inf": "infty", "infty": "infty", "sqrt": "sqrt", "log": "log", "gcd": "gcd",
    "lcm": "lcm", "max": "max", "min": "min", "mod": "bmod", "alpha": "alpha", "beta": "beta", "theta": "theta",
    "lambda": "lambda", "union": "cup",
}  # fmt: skip
_SHORT_WORDS = split(
    "no yes odd all two six ten one none even in on is it if of at to by an as we he me my so up us do go be the and "
    "not any for ii iii iv vi vii ix am per few low high true both left"
)
_KEY = re.compile(r"[^\W_]+(?:\.\d+)?|[<>=+*/^%≤≥≠−-]")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_INITIALS = re.compile(r"(?<=\b[^\W\d_])\.")
_ARTICLE = re.compile(r"^(?:an?|the) (?=[^\W\d_]{2})")
CONNECTIVES = split("if is of to at no in on")
SYNONYMS = {
    "no solutions": "no solution", "no real solution": "no solution", "no real solutions": "no solution",
    "no solution exists": "no solution", "none exist": "no solution", "the empty set": "empty set",
    "all reals": "all real numbers", "any real number": "all real numbers", "dne": "does not exist",
    "undefined": "undefined",
}  # fmt: skip


def as_words(text: str) -> Node | None:
    r"""The text as words, when it holds nothing else: `\text{Dana}`, `no solution`, `HTTH`, `\text{(A)}`."""
    whole = TEXT.fullmatch(text)
    inner = (whole[1] if whole else TEXT.sub(r" \1 ", text)).strip()
    runs = _LETTERS.findall(inner)
    if not runs or not _PLAIN.fullmatch(inner) or _DASH.search(inner) or _has_digits(inner):
        return None
    if whole:
        return None if any(c in inner for c in ",;") else Node("text", leaf=word_key(inner))
    if any(c in "(),;:/&!?" for c in inner) or any(run in ("or", "and") for run in runs):
        return None
    if len(runs) == 1:
        is_word = runs[0] in FUNCTIONS or not (runs[0] in WORD_COMMANDS or is_product(runs[0]))
        return Node("text", leaf=word_key(inner)) if is_word else None
    if any(run in FUNCTIONS or run in FUNCTION_SYNONYMS or run in WORD_COMMANDS for run in runs):
        return None
    return Node("text", leaf=word_key(inner)) if sum(len(run) > 1 for run in runs) >= len(runs) / 2 else None


def _has_digits(text: str) -> bool:
    return any(c.isdigit() for c in text)


def as_prose(text: str) -> Node | None:
    """The text as words, when it holds at least two that are no notation, whatever else is in it."""
    inner = TEXT.sub(r" \1 ", text)
    if "\\" in inner or "$" in inner or not _is_prose(_LETTERS.findall(inner)):
        return None
    return Node("text", leaf=word_key(inner))


def word_key(text: str) -> str:
    """What makes two texts the same words: letters, numbers and signs, without case, punctuation and blanks aside."""
    folded = _INITIALS.sub("", unicodedata.normalize("NFKC", text).casefold())
    key = _ARTICLE.sub("", " ".join(_KEY.findall(_HYPHEN.sub(" ", folded))))
    return SYNONYMS.get(key, key)


def _is_prose(runs: Sequence[str]) -> bool:
    known = ("or", "and", *FUNCTIONS, *WORD_COMMANDS)
    return sum(len(run) > 3 and run not in known for run in runs) >= 2


def is_product(run: str) -> bool:
    """Whether letters in a row are a product of variables rather than a word or a name."""
    if len(run) == 1:
        return True
    if run in _SHORT_WORDS or len(run) > 3 or len(set(run)) < len(run):
        return False
    return not run.isupper() and run.isascii() and (len(run) == 2 or run.islower())


_QUALIFIERS = split(
    "or more less fewer least most not no and of than at about approximately if for when where only up to over under "
    "percent mod with is are any all each plus minus times"
)
_UNIT_SYNONYMS = {
    "textdollar": "$", "pounds": "pound", "dollars": "$", "dollar": "$", "usd": "$", "degrees": "degree", "deg": "degree", "feet": "ft", "foot": "ft",
    "inches": "inch", "metres": "meter", "metre": "meter", "meters": "meter", "hrs": "hour", "hr": "hour", "h": "hour",
    "centimeters": "cm", "kilometers": "km", "kilometer": "km", "minutes": "minute", "min": "minute", "sec": "second",
    "s": "second", "m": "meter", "mph": "mile per hour", "people": "person", "units": "unit", "yuan": "yuan",
}  # fmt: skip


def unit_key(text: str) -> str | None:
    """A unit's one spelling; None when the words are not a unit."""
    words = re.findall(r"[^\W\d_]+|[\^/\d]+", unicodedata.normalize("NFKC", text).casefold())
    if not words or len(words) > 8 or any(word in _QUALIFIERS for word in words) or not words[0][0].isalpha():
        return None
    return " ".join(_UNIT_SYNONYMS.get(word, word.rstrip("s") if len(word) > 3 else word) for word in words)
