r"""Arithmetic of + - * / and parentheses over exact fractions. Its own parser reads it; nothing is evaluated as code.

    expression = term { ("+" | "-") term }
    term       = factor { ("*" | "/") factor | "(" expression ")" }
    factor     = [ "-" ] ( number | "(" expression ")" )

The LaTeX commands `\times \cdot \div \frac{a}{b} \left( \right)` are known. Parentheses behind parentheses multiply,
`(7 - 5)(4 + 8)`, and square brackets are parentheses. Powers, floor division, other implied multiplication, digits of
other kinds (`3²`) and everything else are not arithmetic.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

MAX_CHARS = 200
MAX_DEPTH = 50


class NotArithmetic(Exception):
    """The text is not an expression."""


class DividesByZero(Exception):
    pass


@dataclass(slots=True)
class Expression:
    value: Fraction
    numbers: list[str] = field(default_factory=list)
    """The numbers as written, from left to right."""


def equation(text: str) -> list[Expression]:
    """The sides of `a = b = …`. A plain expression is one side.

    Raises:
        NotArithmetic, DividesByZero: a side is not an expression, or has no value.
    """
    if len(text) > MAX_CHARS:
        raise NotArithmetic
    return [_Reader(_tokens(side)).all() for side in text.split("=")]


_SIGNS = str.maketrans("×·⋅∙∗＊xX÷∕⁄／−–－＋（）[]＝０１２３４５６７８９", "********////---+()()=0123456789")
_COMMAND = re.compile(r"\\([A-Za-z]+|[,;:! ])")
_COMMANDS = {"times": "*", "cdot": "*", "ast": "*", "div": "/", "frac": "F", "dfrac": "F", "tfrac": "F"}
_NO_SIGNS = "left right big Big bigg displaystyle quad"
_COMMANDS |= dict.fromkeys([*_NO_SIGNS.split(), *",;:! "], " ")
_TOKEN = re.compile(r"[ \t\n]*+(?P<token>[0-9]+(?:\.[0-9]+)?|[-+*/(){}F])")


def plain(text: str) -> str:
    """The text with one sign for each operation, and `F` for a fraction of LaTeX."""
    text = _COMMAND.sub(lambda match: _COMMANDS.get(match[1], match[0]), text.replace("F", "?"))
    return text.translate(_SIGNS)


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position, text = 0, text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise NotArithmetic
        tokens.append(match["token"])
        position = match.end()
    return tokens


class _Reader:
    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._numbers: list[str] = []

    def all(self) -> Expression:
        value = self._expression(0)
        if self._at != len(self._tokens):
            raise NotArithmetic
        return Expression(value, self._numbers)

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, *tokens: str) -> str:
        if (token := self._next()) not in tokens:
            return ""
        self._at += 1
        return token

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise NotArithmetic

    def _expression(self, depth: int) -> Fraction:
        value = self._term(depth)
        while sign := self._take("+", "-"):
            term = self._term(depth)
            value = value + term if sign == "+" else value - term
        return value

    def _term(self, depth: int) -> Fraction:
        value = self._factor(depth)
        divides = False
        while (sign := self._take("*", "/")) or self._are_side_by_side():
            if divides and not sign:
                raise NotArithmetic  # 8 / (2)(4): 16 or 1
            factor = self._factor(depth)
            value = _divided(value, factor) if sign == "/" else value * factor
            divides = divides or sign == "/"
        return value

    def _are_side_by_side(self) -> bool:
        """Whether one parenthesis closes here and another opens."""
        return self._next() == "(" and self._tokens[self._at - 1] == ")"

    def _factor(self, depth: int) -> Fraction:
        if self._take("-"):
            return -self._operand(depth)
        return self._operand(depth)

    def _operand(self, depth: int) -> Fraction:
        if depth > MAX_DEPTH:
            raise NotArithmetic
        if self._take("("):
            return self._group(depth, ")")
        if self._take("F"):
            self._expect("{")
            numerator = self._group(depth, "}")
            self._expect("{")
            return _divided(numerator, self._group(depth, "}"))
        token = self._next()
        if not token[:1].isdigit():
            raise NotArithmetic
        self._at += 1
        self._numbers.append(token)
        return Fraction(token)

    def _group(self, depth: int, closing: str) -> Fraction:
        value = self._expression(depth + 1)
        self._expect(closing)
        return value


def _divided(value: Fraction, by: Fraction) -> Fraction:
    if by == 0:
        raise DividesByZero
    return value / by
