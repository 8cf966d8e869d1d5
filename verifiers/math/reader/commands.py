"""Reads commands: fractions, roots, functions, accents, and sums and integrals as text."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from verifiers.commitment.latex import split
from verifiers.math.reader.brackets import BRACKET_COMMANDS, read_bracket_command, read_many
from verifiers.math.reader.factors import starts_factor, times
from verifiers.math.reader.levels import Levels
from verifiers.math.reader.names import read_applied, read_operator, read_symbol
from verifiers.math.reader.notation import (
    ACCENTS,
    BIG,
    CURRENCIES,
    LETTERS_LIKE,
    OPERATORS,
    RELATIONS,
    SYMBOL_SYNONYMS,
    SYMBOLS,
)
from verifiers.math.tokens import Token
from verifiers.math.tree import Node, Unreadable, show
from verifiers.math.words import FUNCTION_SYNONYMS, FUNCTIONS

_FUNCTION_ACCENTS = split("vec overrightarrow hat tilde")
_UNIT_VECTORS = {
    Node("const", leaf="i"): "vec i", Node("sym", leaf="vec i"): "vec i",
    Node("sym", leaf="j"): "vec j", Node("sym", leaf="vec j"): "vec j",
    Node("sym", leaf="k"): "vec k", Node("sym", leaf="vec k"): "vec k",
}  # fmt: skip


def read_command(reader: Levels, name: str, bare: bool) -> Node:
    """Read what a LaTeX command begins; `bare` as for a name."""
    name = FUNCTION_SYNONYMS.get(name, name)
    if name in CURRENCIES:
        return _currency(reader, name)
    if (read := _OWN.get(name)) is not None:
        return read(reader)
    if name in FUNCTIONS or name == "cis":
        return _function(reader, name)
    if name in ("gcd", "lcm", "max", "min"):
        return read_many(reader, name)
    if name in BRACKET_COMMANDS:
        return read_bracket_command(reader, name)
    if name in BIG:
        return _big(reader, name)
    if name in ACCENTS:
        return _accented(reader, name)
    if name in OPERATORS:
        return read_operator(reader, name)
    if name == "partial" and reader.is_at("id"):
        return reader.node("sym", leaf=f"\\partial {reader.next().value}")
    if name in SYMBOLS:
        symbol = SYMBOL_SYNONYMS.get(name, name)
        return read_symbol(reader, f"\\{symbol}" if name in LETTERS_LIKE else symbol, bare)
    raise Unreadable(f"unknown command {name[:20]!r}")


def _currency(reader: Levels, name: str) -> Node:
    return reader.node("quantity", reader.nested(reader.term), leaf=CURRENCIES[name])


def _root(reader: Levels) -> Node:
    degree = reader.node("num", leaf=Fraction(2))
    if reader.take("["):
        degree = reader.nested(reader.sum)
        reader.expect("]")
    return reader.node("root", reader.nested(reader.argument), degree)


def _logarithm(reader: Levels) -> Node:
    base = reader.node("const", leaf="log")
    if reader.take("_"):
        base = reader.nested(reader.argument)
    power = _function_power(reader)
    node = reader.node("log", base, _function_argument(reader))
    return node if power is None else reader.node("^", node, power)


def _function(reader: Levels, name: str) -> Node:
    power = _function_power(reader)
    if name == "cis":
        return _cis(reader, _function_argument(reader))
    inverse_name = next((full_name for full_name in (f"arc{name}", f"ar{name}") if full_name in FUNCTIONS), name)
    inverse = power is not None and show(power) == "neg(1)" and inverse_name != name
    node = reader.node("fn", _function_argument(reader), leaf=inverse_name if inverse else name)
    if reader.is_at("^") and power is None:
        return node
    return node if power is None or inverse else reader.node("^", node, power)


def _cis(reader: Levels, angle: Node) -> Node:
    """The node of cos x + i sin x."""
    sine = reader.node("*", reader.node("const", leaf="i"), reader.node("fn", angle, leaf="sin"))
    return reader.node("+", reader.node("fn", angle, leaf="cos"), sine)


def _function_power(reader: Levels) -> Node | None:
    if reader.take("^"):
        return reader.nested(reader.exponent)
    return None


def _function_argument(reader: Levels) -> Node:
    r"""Read the argument of `\sin(x)`, `\sin{x}` or `\sin 2x`: factors up to the next sign or function."""
    if reader.is_at("(", "{"):
        return reader.nested(reader.primary)
    node = reader.nested(reader.power)
    while (token := reader.peek()) is not None and starts_factor(reader, token) and token.kind not in ("(", "{", "|"):
        if token.kind == "cmd" and (token.value in FUNCTIONS or token.value in ("log", "frac", *BIG, *ACCENTS)):
            break
        if token.kind == "id" and (token.value.startswith("vec ") or (token.value == "e" and reader.next_is("^"))):
            break
        node = times(reader, node, reader.nested(reader.power))
    if reader.is_at("/") and node.kind == "num":
        following = reader.peek(1)
        if following is not None and following.kind == "num":
            reader.at += 1
            node = reader.node("/", node, reader.power())
    return node


def _accented(reader: Levels, name: str) -> Node:
    arg = reader.nested(reader.argument)
    if name in ("hat", "vec", "overrightarrow", "widehat") and (unit := _UNIT_VECTORS.get(arg)) is not None:
        return reader.node("sym", leaf=unit)
    leaf = "bar" if name in ("overline", "bar") else name
    if arg.kind == "sym" and reader.is_at("(") and not reader.tokens[reader.at].spaced and name in _FUNCTION_ACCENTS:
        return read_applied(reader, f"{leaf} {arg.leaf}")
    return reader.node("apply", arg, leaf=leaf)


def _big(reader: Levels, name: str) -> Node:
    """Read a sum or integral with everything that follows it; only a computer algebra system reads that text."""
    start = reader.at
    depth = 0
    while (token := reader.peek()) is not None:
        if depth == 0 and (
            token.kind in ("}", ")", "]", ",", ";", "\\}") or (token.value in RELATIONS and token.value != "to")
        ):
            break
        depth += (token.kind in ("{", "(", "[", "\\{")) - (token.kind in ("}", ")", "]", "\\}"))
        reader.at += 1
    source = " ".join(_latex(token) for token in reader.tokens[start : reader.at])
    return reader.node("big", leaf=f"\\{name} {source}")


def _latex(token: Token) -> str:
    if token.kind in ("cmd", "op"):
        return "\\" + token.value
    if token.kind == "text":
        return rf"\text{{{token.value}}}"
    return token.kind if token.kind in ("\\{", "\\}") else token.value


def _pair(kind: str) -> Callable[[Levels], Node]:
    """A reader for a command with two arguments."""
    return lambda reader: reader.node(kind, reader.nested(reader.argument), reader.nested(reader.argument))


_OWN: Mapping[str, Callable[[Levels], Node]] = {
    "pi": lambda reader: reader.node("const", leaf="pi"),
    "infty": lambda reader: reader.node("const", leaf="infty"),
    "imath": lambda reader: reader.node("const", leaf="i"),
    "jmath": lambda reader: reader.node("sym", leaf="j"),
    "frac": _pair("/"),
    "sqrt": _root,
    **dict.fromkeys(("binom", "dbinom", "tbinom"), _pair("binom")),
    "log": _logarithm,
}
"""Commands with a reader of their own."""
