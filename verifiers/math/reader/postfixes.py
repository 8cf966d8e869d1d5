"""Reads what stands behind a base: powers, degrees, factorials, primes, indices."""

import math
from fractions import Fraction

from verifiers.math.reader.levels import Levels
from verifiers.math.reader.names import read_applied, read_subscript
from verifiers.math.reader.numbers import fraction_of, read_based, read_number
from verifiers.math.tree import Node

_MAX_DOUBLE_FACTORIAL = 300


def read_postfixes(reader: Levels, node: Node) -> Node:
    """Read powers, factorials, percent signs, indices and primes behind a base."""
    while True:
        if reader.is_at("^"):
            reader.at += 1
            node = _raised(reader, node)
        elif reader.is_at("!") and not reader.next_is("="):
            reader.at += 1
            node = _double_factorial(reader, node) if reader.take("!") else reader.node("!", node)
        elif reader.is_at("%") or _is_percent(reader):
            reader.at += 1
            node = reader.node("%", node)
        elif reader.is_at_command("degree"):
            reader.at += 1
            node = reader.node("deg", node)
        elif reader.is_at("_") and node.kind == "num" and reader.tokens[reader.at - 1].kind == ")":
            node = read_based(reader, str(node.leaf))
        elif reader.is_at("_") and node.kind in ("apply", "paren"):
            node = reader.node("apply", node, leaf=read_subscript(reader))
        elif reader.is_at("[") and node.kind in ("sym", "apply") and not reader.tokens[reader.at].spaced:
            reader.at += 1
            node = reader.node("apply", node, reader.nested(lambda: reader.sequence("list", "]")), leaf="[]")
            reader.expect("]")
        elif reader.is_at("'"):
            reader.at += 1
            node = _primed(reader, node)
        else:
            return node


def _is_percent(reader: Levels) -> bool:
    return reader.is_at("unit", "text", "word") and reader.tokens[reader.at].value.lower() in _PERCENT


_PERCENT = frozenset(["percent", "pct", "per cent", "percentage", "percentage point", "percentage points"])


def _double_factorial(reader: Levels, node: Node) -> Node:
    """Read a double factorial: 6!! = 6 · 4 · 2; except for a small number it is a notation only."""
    value = fraction_of(node)
    if node.kind != "num" or value.denominator != 1 or not 0 <= value <= _MAX_DOUBLE_FACTORIAL:
        return reader.node("apply", node, leaf="!!")
    factors = range(value.numerator, 1, -2)
    return reader.node("num", leaf=Fraction(math.prod(factors)))


def _primed(reader: Levels, node: Node) -> Node:
    """Read a derivative: `y'`, or `f'(2x)` for a function with its arguments."""
    leaf = "'"
    while reader.take("'"):
        leaf += "'"
    token = reader.peek()
    if node.kind != "sym" or token is None or token.kind != "(" or token.spaced:
        return reader.node("apply", node, leaf=leaf)
    return read_applied(reader, f"{node.leaf}{leaf}")


def _raised(reader: Levels, base: Node) -> Node:
    if reader.is_at_command("circ", "degree"):
        reader.at += 1
        return _degrees(reader, base)
    braced = reader.peek(1)
    if reader.is_at("{") and braced is not None and braced.kind == "cmd" and braced.value in ("circ", "degree"):
        closing = reader.peek(2)
        if closing is not None and closing.kind == "}":
            reader.at += 3
            return _degrees(reader, base)
    if reader.is_at("*") or reader.is_at_command("prime", "star", "ast", "dagger", "top", "perp", "T"):
        return reader.node("apply", base, leaf="^" + reader.next().value)
    if reader.is_at("{") and braced is not None and braced.kind in ("'", "*") and _closes(reader, 2):
        reader.at += 3
        return reader.node("apply", base, leaf="^" + braced.value)
    if base.kind == "sym" and str(base.leaf).startswith("mathbb ") and (sign := _sign_alone(reader)):
        return reader.node("sym", leaf=f"{base.leaf}^{sign}")
    exponent = reader.exponent()
    return reader.node("^", base, exponent)


def _sign_alone(reader: Levels) -> str:
    r"""The `+` or `-` of `\mathbb{R}^+` and `\mathbb{R}^{+}`, which selects the positive or negative numbers."""
    offset = int(reader.is_at("{"))
    token, following = reader.peek(offset), reader.peek(offset + 1)
    if token is None or token.kind not in ("+", "-") or (offset and (following is None or following.kind != "}")):
        return ""
    reader.at += 1 + 2 * offset
    return token.kind


def _degrees(reader: Levels, base: Node) -> Node:
    """Read an angle, with its minutes and seconds, or a temperature."""
    token = reader.peek()
    if token is not None and token.kind in ("id", "text", "unit") and token.value in ("C", "F"):
        reader.at += 1
        return reader.node("quantity", base, leaf=f"°{token.value}")
    terms = [base]
    for mark in ("'", "''"):
        if not reader.is_at("num") or any(not _is_mark(reader, 1 + at) for at in range(len(mark))):
            break
        terms.append(read_number(reader, reader.next()))
        reader.at += len(mark)
    if len(terms) > 1:
        base = reader.node(
            "+", *(reader.node("/", part, reader.node("num", leaf=Fraction(60**at))) for at, part in enumerate(terms))
        )
    return reader.node("deg", base)


def _is_mark(reader: Levels, offset: int) -> bool:
    token = reader.peek(offset)
    return token is not None and token.kind == "'"


def _closes(reader: Levels, offset: int) -> bool:
    token = reader.peek(offset)
    return token is not None and token.kind == "}"
