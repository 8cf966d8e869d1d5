"""Writes values and trees for people."""

from fractions import Fraction

from verifiers.math import values
from verifiers.math.rounding import places
from verifiers.math.tree import Node, TooComplex, show
from verifiers.math.values import NoValue

_MAX_SHOWN_CHARS = 40


def value_text(node: Node) -> str:
    """A value as a text for people."""
    try:
        value = values.exact(node)
        if value is None or value.denominator.bit_length() > 64:
            return tree_text(node)
        return clipped(_as_decimal(value) if is_decimal(node) else str(value))
    except (NoValue, TooComplex, ValueError):  # ValueError: an integer of more digits than Python writes out
        return tree_text(node)


def tree_text(node: Node) -> str:
    """A tree in prefix form, for people."""
    try:
        return clipped(show(node))
    except ValueError:  # as above
        return "…"


def _as_decimal(value: Fraction) -> str:
    decimals = places(value)
    if not decimals:
        return str(value)
    digits = str(abs(value) * 10**decimals).rjust(decimals + 1, "0")
    return f"{'-' * (value < 0)}{digits[:-decimals]}.{digits[-decimals:]}"


def clipped(text: str) -> str:
    """The beginning of a long text; a short text unchanged."""
    return text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 1] + "…"


def is_decimal(node: Node) -> bool:
    """Whether a value is written as one number."""
    return (node.args[0] if node.kind in ("neg", "%") else node).kind == "num"
