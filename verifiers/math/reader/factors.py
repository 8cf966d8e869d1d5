"""Combines neighbouring factors: products without a sign, mixed numbers, products that are not of numbers."""

from fractions import Fraction

from verifiers.commitment.latex import split
from verifiers.math.reader.levels import Levels
from verifiers.math.reader.notation import ACCENTS, BIG, OPERATORS, SYMBOLS
from verifiers.math.reader.numbers import fraction_of
from verifiers.math.tokens import Token
from verifiers.math.tree import Node, Unreadable
from verifiers.math.words import FUNCTION_SYNONYMS, FUNCTIONS


def crossed(reader: Levels, lhs: Node, rhs: Node) -> Node:
    r"""Read `\times`; between vectors, sets or capitals it does not commute and is not a product of numbers."""
    factors = lhs.args if lhs.kind == "*" else (lhs,)
    if not (_is_crossed(factors[-1]) and _is_crossed(rhs)):
        return times(reader, lhs, rhs)
    cross = reader.node("apply", factors[-1], rhs, leaf="times")
    return cross if len(factors) == 1 else reader.node("*", *factors[:-1], cross)


def times(reader: Levels, lhs: Node, rhs: Node) -> Node:
    """A product without nested products."""
    return reader.node("*", *(lhs.args if lhs.kind == "*" else (lhs,)), rhs)


def juxtaposed(reader: Levels, lhs: Node, rhs: Node, previous: Token, token: Token) -> Node:
    """Combine two factors without a sign between them; digits before a fraction are a mixed number."""
    if "text" in (lhs.kind, rhs.kind):
        raise Unreadable("words beside a formula")
    if previous.kind == "num" and lhs.kind == "num" and isinstance(lhs.leaf, Fraction):
        if token.kind == "num" and rhs.kind == "num" and token.spaced and reader.is_at("/"):
            reader.at += 1
            denominator = reader.power()
            rhs = reader.node("/", rhs, denominator)
        elif token.kind == "num":
            raise Unreadable("two numbers in a row")
        percent = rhs.kind == "%"
        fraction = rhs.args[0] if percent else rhs
        if token.kind == "num" or (token.kind == "cmd" and token.value == "frac" and fraction.kind == "/"):
            mixed = _mixed(reader, lhs, fraction)
            if mixed is not None:
                return reader.node("%", mixed) if percent else mixed
    elif token.kind == "num" and lhs.kind != "num":
        last = lhs.args[-1] if lhs.kind == "*" else lhs
        is_power = previous.kind == "id" and rhs.kind == "^"
        if (
            previous.kind in ("num", "id")
            and not is_power
            and not (token.spaced and (previous.kind == "id" or last.kind == "^"))
        ):
            raise Unreadable("a number after a factor")
    return times(reader, lhs, rhs)


def _mixed(reader: Levels, integer: Node, fraction: Node) -> Node | None:
    top, bottom = fraction.args
    if not top.kind == bottom.kind == "num":
        return None
    if fraction_of(integer).denominator == 1 and 0 < fraction_of(top) < fraction_of(bottom):
        return reader.node("+", integer, fraction)
    raise Unreadable("not a mixed number")


def starts_factor(reader: Levels, token: Token) -> bool:
    """Whether a token behind a factor begins another factor."""
    if token.kind in ("num", "id", "op", "(", "{", "begin", r"\{"):
        return True
    if token.kind == "[":
        return not reader.arguments
    if token.kind == "||":
        return not reader.norms
    if token.kind == "|":
        return not reader.bars and not reader.arguments
    return token.kind == "cmd" and token.value in _OPERANDS


_OPERANDS = (
    SYMBOLS | FUNCTIONS | FUNCTION_SYNONYMS.keys() | OPERATORS | ACCENTS | BIG
    | split(
        "cis pi infty imath jmath frac sqrt binom dbinom tbinom log gcd lcm max min lfloor lceil lvert langle lVert lbrace"
    )
)  # fmt: skip


def _is_crossed(node: Node) -> bool:
    r"""Whether `\times` beside a node is a cross or Cartesian product: a vector, \nabla, a set, one capital letter."""
    if node.kind == "apply":
        return node.leaf in ("vec", "overrightarrow", "times")
    if node.kind in ("brace", "setminus", "union", "cap"):
        return True
    name = str(node.leaf) if node.kind == "sym" else ""
    is_capital = len(name) == 1 and name.isupper()
    return is_capital or name == "\\nabla" or name.startswith(("vec ", "bold ", "math"))
