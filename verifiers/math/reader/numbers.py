"""Reads figures: decimals, repeating decimals, digits in another base."""

from fractions import Fraction

from verifiers.math.limits import MAX_DIGITS
from verifiers.math.reader.cursor import Cursor
from verifiers.math.tokens import Token
from verifiers.math.tree import Node, TooComplex, Unreadable

_MAX_PERIOD = 100
"""Notations of digits that repeat without end."""
_BASES = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "twelve": "12", "sixteen": "16",
}  # fmt: skip


def split_digit(cursor: Cursor) -> Node:
    """Split off the first digit of a number, as a command takes it; the other digits stay."""
    token = cursor.tokens[cursor.at]
    if not token.value.isdigit():
        raise Unreadable("a decimal where one digit is read")
    remaining_digits = Token("num", token.value[1:], False)
    cursor.tokens = [
        *cursor.tokens[: cursor.at],
        Token("num", token.value[0], False),
        remaining_digits,
        *cursor.tokens[cursor.at + 1 :],
    ]
    return read_number(cursor, cursor.next())


def read_number(cursor: Cursor, token: Token) -> Node:
    """Read figures, with a repeating part or a base if they have one."""
    if len(token.value) > MAX_DIGITS:
        raise TooComplex("too many digits")
    if cursor.is_at("_"):
        return read_based(cursor, token.value)
    value = Fraction(int(token.value) if token.value.isdecimal() else token.value)
    if "." in token.value and not _ends(cursor) and not cursor.tokens[cursor.at].spaced:
        value += _repeating(cursor, token.value)
    if "." in token.value and cursor.is_at_command("ldots", "dots", "cdots"):
        cursor.at += 1
        return _endless(cursor, token.value)
    if cursor.is_at("num") and not cursor.tokens[cursor.at].spaced and cursor.tokens[cursor.at].value.startswith("."):
        raise Unreadable("two decimal points")
    return cursor.node("num", leaf=value)


def _ends(cursor: Cursor) -> bool:
    return cursor.at >= len(cursor.tokens)


def _repeating(cursor: Cursor, decimal: str) -> Fraction:
    r"""The value that `\overline{3}`, `\dot{1}2\dot{3}` or `(3)` after a decimal's digits adds to it."""
    if cursor.is_at_command("overline", "bar"):
        cursor.at += 1
        digits = _digits(cursor)
    elif cursor.is_at_command("dot"):
        digits = _dotted(cursor)
    elif cursor.is_at("(") and cursor.next_is("num") and _closes_parenthesis(cursor, 2):
        digits = cursor.tokens[cursor.at + 1].value
        cursor.at += 3
        if not digits.isdigit() or len(digits) > _MAX_PERIOD:
            raise Unreadable("digits expected")
    else:
        return Fraction(0)
    decimals = len(decimal) - decimal.index(".") - 1
    return Fraction(int(digits), 10**decimals * (10 ** len(digits) - 1))


def _dotted(cursor: Cursor) -> str:
    r"""The repeating digits of `\dot{1}2\dot{3}`: from the first dotted digit to the last."""
    cursor.at += 1
    digits = _digits(cursor)
    start = cursor.at
    between = cursor.next().value if cursor.is_at("num") else ""
    if cursor.is_at_command("dot") and (between.isdigit() or not between):
        cursor.at += 1
        return digits + between + _digits(cursor)
    cursor.at = start
    return digits


def _closes_parenthesis(cursor: Cursor, offset: int) -> bool:
    token = cursor.peek(offset)
    return token is not None and token.kind == ")"


def _endless(cursor: Cursor, digits: str) -> Node:
    """Read `0.1212…`, which goes on if its last digits repeat; any other such number is unknown."""
    decimals = digits.partition(".")[2]
    for length in range(1, len(decimals) // 2 + 1):
        times = 3 if length == 1 else 2
        period = decimals[-length:]
        if len(decimals) >= times * length and decimals.endswith(period * times):
            tail = Fraction(int(period), 10 ** len(decimals) * (10**length - 1))
            return cursor.node("num", leaf=Fraction(digits) + tail)
    return cursor.node("apply", cursor.node("num", leaf=Fraction(digits)), leaf="ldots")


def _digits(cursor: Cursor) -> str:
    if cursor.is_at("num") and cursor.tokens[cursor.at].value.isdigit():
        return _split_digit_value(cursor)
    cursor.expect("{")
    token = cursor.next()
    if token.kind != "num" or not token.value.isdigit() or len(token.value) > _MAX_PERIOD:
        raise Unreadable("digits expected")
    cursor.expect("}")
    return token.value


def _split_digit_value(cursor: Cursor) -> str:
    """Split off one digit of a number that follows a command without braces."""
    token = cursor.next()
    if len(token.value) > 1:
        cursor.tokens = [*cursor.tokens[: cursor.at], Token("num", token.value[1:], False), *cursor.tokens[cursor.at :]]
    return token.value[0]


def read_based(cursor: Cursor, digits: str) -> Node:
    """Read digits with a base."""
    cursor.expect("_")
    braced = cursor.take("{")
    sign = -1 if cursor.take("-") else 1
    token = cursor.next()
    if braced:
        cursor.expect("}")
    base = _BASES.get(token.value.lower(), token.value)
    if not (base.isascii() and base.isdecimal()) or not 2 <= int(base[:3]) <= 36:
        raise Unreadable("a base is expected after a number")
    value = _in_base(digits, sign * int(base))
    name = f"{digits.lstrip('0') or '0'}_{'-' * (sign < 0)}{base}"
    return cursor.node("based", cursor.node("num", leaf=value), leaf=name)


def _in_base(digits: str, base: int) -> Fraction:
    """The value of digits, with or without a point among them, in a base that may be negative.

    Raises:
        Unreadable: a digit is too large for the base.
    """
    integer_digits, _, part = digits.partition(".")
    value = 0
    for digit in integer_digits + part:
        if int(digit, 36) >= abs(base):
            raise Unreadable(f"not a number in base {base}")
        value = value * base + int(digit, 36)
    return Fraction(value) / Fraction(base) ** len(part)


def fraction_of(node: Node) -> Fraction:
    """The value of a number's node; 0 for any other node."""
    return node.leaf if isinstance(node.leaf, Fraction) else Fraction(0)
