r"""The formula around a number. A number that only ends a larger one is not an answer: an interval, a set, an equation.

* `$(-\infty, 2]$`, `$\{1, 2\}$`, `$1, 2$`, `$2 \le x$`: 2 is one of several numbers, or a bound.
* `$2x + y = 4$`, `$x^2 - 1 = 0$`: 4 and 0 are the other side of an equation.
* `$x = 3$`, `$a + b = 3$`, `$2^2 - 1 = 4 - 1 = 3$`: 3 is what the formula says.
"""

import re

from verifiers.commitment.spans import Span

_SIGNS = re.compile(r"(?<!\\)\$\$?|\\[()\[\]]|\n")
_CLOSING = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
_PROSE = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{3,}\s+[A-Za-z]{2,}")
_OPEN, _CLOSED = ("(", "[", r"\{"), (")", "]", r"\}")
_BRACKET = re.compile(r"\\[{}]|[()\[\]]")
_RELATION = re.compile(r"\s*(?:[<>≤≥≠∈]|\\(?:[lg]eq?|[lg]eqslant|[lg]t|neq?|in)(?![A-Za-z]))")
_CLAUSE = re.compile(r"[,;，；、]|\\(?:quad|qquad|Rightarrow|implies|therefore|text)(?![A-Za-z])|[⇒→∴]")
_SUM = re.compile(r"[-−+\w\s^{}*/·.]{1,200}")
_OPERATOR = re.compile(r"[\w}]\s?[-−+]")
_TERM = re.compile(r"\d\s?[a-z](?![A-Za-z])|(?<![A-Za-z])[A-Za-z]\s?\^")
_MAX_CHARS = 400


def is_cut_out(text: str, start: int, number: Span, end: int) -> bool:
    """Whether a number is a part of a larger formula between dollar signs or brackets of LaTeX, on its line."""
    formula = formula_at(text, max(start, number[0] - _MAX_CHARS), number, min(end, number[1] + _MAX_CHARS))
    if formula is None:
        return False
    prefix, suffix = text[formula[0] : number[0]], text[number[1] : formula[1]]
    return bool(_RELATION.match(suffix)) or _is_in_group(prefix, suffix) or _is_listed(prefix) or _is_side(prefix)


def formula_at(text: str, start: int, number: Span, end: int) -> Span | None:
    """The content of the formula that holds a number; None if the signs around it mark none, as in "$5 and 3 for $2"."""
    opening, sign = -1, ""
    for match in _SIGNS.finditer(text, start, end):
        if match.start() >= number[1]:
            is_price = match[0] == "$" and text[match.end() : match.end() + 1].isdigit()
            is_closed = match[0] == _CLOSING.get(sign) and not is_price
            return (opening, match.start()) if is_closed and not _PROSE.search(text, opening, match.start()) else None
        if match[0] == _CLOSING.get(sign) or match[0] == "\n":
            opening, sign = -1, ""
        elif not sign and match[0] in _CLOSING:
            opening, sign = match.end(), match[0]
    return None


def _is_in_group(prefix: str, suffix: str) -> bool:
    """Whether a bracket with something else inside is open before a number: `(1, 2)`, but not `(2)`."""
    indices: list[int] = []
    for bracket in _BRACKET.finditer(prefix):
        if bracket[0] in _OPEN:
            indices.append(bracket.end())
        elif indices:
            indices.pop()
    if not indices:
        return False
    is_alone = not prefix[indices[-1] :].strip() and suffix.lstrip().startswith(_CLOSED)
    return len(indices) > 1 or not is_alone


def _is_listed(prefix: str) -> bool:
    """Whether a number follows other values and a comma: `1, 2`, `x = 1, 2`."""
    clauses = _CLAUSE.split(prefix)
    return (
        len(clauses) > 1
        and not clauses[-1].strip(" $-−+\\")
        and prefix.rstrip(" $-−+\\").endswith((",", ";", "，", "；", "、"))
    )


def _is_side(prefix: str) -> bool:
    """Whether a number is a side of an equation of unknowns: `2x + y = 4`, `x^2 - 1 = 0`; not of `a + b = 3`."""
    sides = _CLAUSE.split(prefix)[-1].replace(r"\cdot", "*").split("=")
    if len(sides) != 2 or sides[1].strip(" $"):
        return False
    preface = sides[0].strip()
    return bool(_SUM.fullmatch(preface) and _OPERATOR.search(preface) and _TERM.search(preface))
