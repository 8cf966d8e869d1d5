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
    before, after = text[formula[0] : number[0]], text[number[1] : formula[1]]
    return bool(_RELATION.match(after)) or _is_in_group(before, after) or _is_listed(before) or _is_side(before)


def formula_at(text: str, start: int, number: Span, end: int) -> Span | None:
    """The content of the formula that holds a number; None if the signs around it mark none, as in "$5 and 3 for $2"."""
    opened, sign = -1, ""
    for found in _SIGNS.finditer(text, start, end):
        if found.start() >= number[1]:
            is_price = found[0] == "$" and text[found.end() : found.end() + 1].isdigit()
            is_closed = found[0] == _CLOSING.get(sign) and not is_price
            return (opened, found.start()) if is_closed and not _PROSE.search(text, opened, found.start()) else None
        if found[0] == _CLOSING.get(sign) or found[0] == "\n":
            opened, sign = -1, ""
        elif not sign and found[0] in _CLOSING:
            opened, sign = found.end(), found[0]
    return None


def _is_in_group(before: str, after: str) -> bool:
    """Whether a bracket with something else inside is open before a number: `(1, 2)`, but not `(2)`."""
    opened: list[int] = []
    for bracket in _BRACKET.finditer(before):
        if bracket[0] in _OPEN:
            opened.append(bracket.end())
        elif opened:
            opened.pop()
    if not opened:
        return False
    is_alone = not before[opened[-1] :].strip() and after.lstrip().startswith(_CLOSED)
    return len(opened) > 1 or not is_alone


def _is_listed(before: str) -> bool:
    """Whether a number follows other values and a comma: `1, 2`, `x = 1, 2`."""
    clauses = _CLAUSE.split(before)
    return (
        len(clauses) > 1
        and not clauses[-1].strip(" $-−+\\")
        and before.rstrip(" $-−+\\").endswith((",", ";", "，", "；", "、"))
    )


def _is_side(before: str) -> bool:
    """Whether a number is a side of an equation of unknowns: `2x + y = 4`, `x^2 - 1 = 0`; not of `a + b = 3`."""
    sides = _CLAUSE.split(before)[-1].replace(r"\cdot", "*").split("=")
    if len(sides) != 2 or sides[1].strip(" $"):
        return False
    left = sides[0].strip()
    return bool(_SUM.fullmatch(left) and _OPERATOR.search(left) and _TERM.search(left))
