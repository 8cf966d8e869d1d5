r"""Reads the statements in a text's formulas, in order: relations between two sides, and bare values.

    "3x = 14 - 5 = 9, so $x=3$"   ──►   3x = 14-5    14-5 = 9    3x = 9    x = 3

A chain is split into pairs of neighbours and, as far as all its signs are `=`, into pairs of its first side and each
later side. In a plain line, the text around a relation sign is read if it could be a formula; a word ends the formula,
unless it only names what a number counts ("20 sheep + 160 sheep"). A formula that is denied or supposed ("if x = 3", "x
= 3 is wrong") is not a statement.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from verifiers.commitment.cues import Kind, adverbs, cues, words
from verifiers.commitment.stance import Stance, between
from verifiers.math.equations import ACTING
from verifiers.math.exact import unwrap
from verifiers.math.words import is_product
from verifiers.math_steps.spans import HIDDEN, Piece, pieces
from verifiers.math_steps.spans import Kind as PieceKind

MAX_STATEMENTS = 200
MAX_CHARS = 300


@dataclass(frozen=True, slots=True)
class Statement:
    """A relation between two sides, or a bare value."""

    relation: str
    """`=`, `!=`, `<`, `<=`, or empty for a value; `>` and `>=` are reversed."""
    left: str
    right: str
    """The right side, or the value if there is no relation."""

    @property
    def text(self) -> str:
        return f"{self.left} {self.relation} {self.right}" if self.relation else self.right


def statements(text: str) -> list[Statement]:
    """The first `MAX_STATEMENTS` statements of a text."""
    return list(islice(_stated(text), MAX_STATEMENTS))


def of_step(text: str) -> list[Statement]:
    """The statements of a single step: a formula without delimiters, or a line with formulas in it."""
    if not _IN_A_LINE.search(text):
        return [statement for clause in _clauses(Piece(PieceKind.FORMULA, text)) for statement in _of_clause(clause)]
    return statements(text) or list(_of_clause(text))


_IN_A_LINE = re.compile(r"\$|\\[(\[]|<<|(?<![\\A-Za-z])[A-Za-z]{3}|[\u3040-\u30ff\u4e00-\u9fff]")


def _stated(text: str) -> Iterator[Statement]:
    for piece in pieces(text):
        if piece.kind is PieceKind.LINE:
            yield from _of_line(piece.text)
        elif not _is_withheld(piece.before, piece.after):
            for clause in _clauses(piece):
                yield from _of_clause(clause)


# --- formulas

_ROW_END = re.compile(r"\\\\(?:\s*\[[^\]\n]{0,20}\])?|\n\s*\n")
_NO_FORMULA = re.compile(r"\\(?:begin|end)\{[a-z*]{1,12}\}|\\(?:label|tag)\{[^{}]{0,40}\}|\\(?:nonumber|notag)|&")
_LINKS = "Rightarrow Longrightarrow implies iff Leftrightarrow therefore because quad qquad land wedge"
_SEPARATOR = re.compile(
    rf"\\(?:{'|'.join(_LINKS.split())})(?![A-Za-z])|=>|[⇒⇔∴∵;；，。、]|,(?!\d{{3}}(?!\d))|,(?<!\d,)"
)
_TEXT = re.compile(r"\\(?:text|mbox|textrm)\s*\{([^{}]{0,40})\}")
_LINKING = frozenset([Kind.JOINS, Kind.OR, Kind.SO, Kind.BECAUSE])
_OPENERS, _CLOSERS = "([{", ")]}"


def _clauses(piece: Piece) -> Iterator[str]:
    """The clauses of a formula, from its rows; a row that begins with a relation sign continues the last side."""
    text = piece.text.replace("\n", " ") if piece.kind is PieceKind.ANNOTATION else piece.text
    rows: list[str] = []
    for row in _ROW_END.split(text):
        row = _TEXT.sub(_linked, _NO_FORMULA.sub(" ", row)).strip()
        if rows and _RELATION.match(row):
            rows[-1] += " " + row
        elif row:
            rows.append(row)
    for row in rows:
        yield from _split(row, _SEPARATOR)


def _linked(match: re.Match[str]) -> str:
    """A separator in place of words that only connect their neighbours in a formula."""
    spoken = [word for word in words(match[1]) if word.text not in ",.:;"]
    covered = {position for cue in cues(spoken) if cue.kind in _LINKING for position in range(cue.first, cue.stop)}
    is_link = all(position in covered or word.text in adverbs() for position, word in enumerate(spoken))
    return ";" if is_link else match[0]


def _split(text: str, separator: "re.Pattern[str]") -> Iterator[str]:
    """The parts between separators that are inside no bracket."""
    depth, start, position = 0, 0, 0
    for match in separator.finditer(text):
        for char in text[position : match.start()]:
            depth += (char in _OPENERS) - (char in _CLOSERS)
        position = match.start()
        if depth <= 0:
            yield text[start : match.start()]
            start = position = match.end()
            depth = 0
    yield text[start:]


_SIGNS = {
    "=": "=", "==": "=", "＝": "=", "≈": "=", "approx": "=", "≡": "=", "equiv": "=",
    "<": "<", "lt": "<", "＜": "<", ">": ">", "gt": ">", "＞": ">",
    "<=": "<=", "≤": "<=", "⩽": "<=", "le": "<=", "leq": "<=", "leqslant": "<=",
    ">=": ">=", "≥": ">=", "⩾": ">=", "ge": ">=", "geq": ">=", "geqslant": ">=",
    "!=": "!=", "≠": "!=", "ne": "!=", "neq": "!=",
}  # fmt: skip
_RELATION = re.compile(
    rf"\\(?P<command>{'|'.join(filter(str.isalpha, _SIGNS))})(?![A-Za-z])"
    r"|(?P<sign>!=|<=|>=|==|=(?!>)|<(?![-=])|(?<![-=])>|[≤≥≠≈≡⩽⩾＝＜＞])"
)
_TURNED = {">": "<", ">=": "<="}
_SAYS_SOMETHING = re.compile(r"[0-9A-Za-z\u0370-\u03ff\u4e00-\u9fff]")


def _of_clause(clause: str) -> Iterator[Statement]:
    """The statements of one clause: each pair of neighbours, and the first side with each later one."""
    if HIDDEN in clause or len(clause) > MAX_CHARS * 8:
        return
    clause = unwrap(clause)
    sides, signs = _sides(clause)
    if not signs:
        if _SAYS_SOMETHING.search(clause) and len(clause) <= MAX_CHARS:
            yield Statement("", "", _bare(clause))
        return
    if not sides[0]:  # a label in words stood before the sign
        sides, signs = sides[1:], signs[1:]
    if not signs and _SAYS_SOMETHING.search(sides[0]):
        yield Statement("", "", sides[0])
    is_equal = True
    for position, (lhs, rhs) in enumerate(pairwise(sides)):
        yield from _statement(lhs, signs[position], rhs)
        is_equal = is_equal and signs[position] == "="
        if position and is_equal:
            yield from _statement(sides[0], "=", rhs)


def _sides(clause: str) -> tuple[list[str], list[str]]:
    """The sides between the relation signs that are inside no bracket, and these signs."""
    sides = list(_split(clause, _RELATION))
    signs: list[str] = []
    remainder = clause
    for side in sides[:-1]:
        remainder = remainder[len(side) :]
        match = _RELATION.match(remainder)
        assert match is not None
        signs.append(_SIGNS[match["command"] or match["sign"]])
        remainder = remainder[match.end() :]
    return [_bare(side) for side in sides], signs


_CURRENCY = re.compile(r"\\?[$€£¥￥]")


def _bare(side: str) -> str:
    """A side without wrappers and without currency signs."""
    return unwrap(_CURRENCY.sub("", side).lstrip(" \t,:").rstrip(" \t.,:/"))


def _statement(lhs: str, sign: str, rhs: str) -> Iterator[Statement]:
    if not lhs or not rhs or max(len(lhs), len(rhs)) > MAX_CHARS:
        return
    if sign in _TURNED:
        lhs, sign, rhs = rhs, _TURNED[sign], lhs
    yield Statement(sign, lhs, rhs)


# --- plain lines

_BULLET = re.compile(r"^\s*(?:[-*+•]\s+|(?:step\s)?\(?\d{1,2}[.):：]\s+)", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<![\w)\]}])\*\*|\*\*(?![\w(\[{])")
_UNIT = r"[A-Za-z]{2,20}"
_UNIT_WORDS = re.compile(
    rf"(?<=[\d)%])(?:\s{{1,3}}(?P<one>{_UNIT})(?:\s(?P<two>{_UNIT}))?(?:/{_UNIT})?|/{_UNIT})"
    r"(?=\s{0,3}(?:[-+*/×·÷−–=<>≤≥≠≈]|[xX]\s?[\d$]|$))"
)
_TIMES = re.compile(r"(?<=[\d)%])\s{0,2}[xX]\s{0,2}(?=[\d($€£.])")
_COMMANDS = "frac dfrac tfrac sqrt times cdot div pi pm left right sin cos tan log ln alpha beta theta"
_NUMBER = r"\d+(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_SIGN = r"[-+*/^×·÷−–!%°√π()\[\]{}|_$€£¥'²³ \t]"
_TOKEN = re.compile(
    rf"(?P<relation>{_RELATION.pattern})|\\(?:{'|'.join(_COMMANDS.split())})(?![A-Za-z])|\\[%$,;! ]|{_NUMBER}"
    rf"|(?P<word>[A-Za-z]+(?:['’][A-Za-z]+)?|[^\W\d_A-Za-z]+)|{_SIGN}|(?P<other>.)"
)
_FUNCTIONS = frozenset(["sqrt", "sin", "cos", "tan", "log", "ln", "exp", "abs", "pi"])
_ARTICLES = frozenset(["a", "A", "I"])


def _of_line(line: str) -> Iterator[Statement]:
    if not _RELATION.search(line):
        return
    line = _EMPHASIS.sub("", _BULLET.sub("", line, count=1))
    line = _TIMES.sub(r" \\times ", _UNIT_WORDS.sub(_without_unit, line))
    for head, run, tail in _runs(line):
        if not _is_withheld(head, tail):
            yield from _of_clause(_begun(run, head))


def _without_unit(match: re.Match[str]) -> str:
    unit_words = {(match["one"] or "").lower(), (match["two"] or "").lower()}
    return match[0] if unit_words & ACTING else " "


def _runs(line: str) -> Iterator[tuple[str, str, str]]:
    """The parts of a line that may be formulas and hold a relation sign, with the text before and after each."""
    start: int | None = None
    has_relation = False
    for token in _TOKEN.finditer(line):
        if _is_formula(token, line):
            start = token.start() if start is None else start
            has_relation = has_relation or token["relation"] is not None
            continue
        if start is not None and has_relation:
            yield (
                line[max(start - 32, 0) : start],
                line[start : token.start()],
                line[token.start() : token.start() + 32],
            )
        start, has_relation = None, False
    if start is not None and has_relation:
        yield line[max(start - 32, 0) : start], line[start:], ""


def _is_formula(token: re.Match[str], line: str) -> bool:
    word = token["word"]
    if word is None:
        return token["other"] is None
    if word in _FUNCTIONS:
        return True
    if len(word) > 2 or not word.isascii() or not is_product(word) or word.lower() in ACTING:
        return False
    return word not in _ARTICLES or not re.match(r"\s+[A-Za-z]{2}", line[token.end() :])


_GOES_ON = ACTING - {"and", "or"}
_LAST_WORD = re.compile(r"([A-Za-z]+)\W*$")


def _begun(run: str, head: str) -> str:
    """The run without a first side that begins earlier, in words: "half of 12 = 6" gives only `= 6`."""
    word = _LAST_WORD.search(head)
    if word is None or word[1].lower() not in _GOES_ON or run.lstrip()[:1].isalpha():
        return run
    sign = _RELATION.search(run)
    assert sign is not None
    return run[sign.start() :]


# --- what is not stated


def _is_withheld(head: str, tail: str) -> bool:
    """Whether the text between `head` and `tail` is denied or only supposed."""
    return between(head, tail) in (Stance.DENIED, Stance.SUPPOSED)


def lines(text: str) -> Sequence[str]:
    """The lines and sentences of a text, for steps in words."""
    return [part for part in re.split(r"[\n。；;]|\.(?=\s|$)", text) if part.strip()][:MAX_STATEMENTS]
