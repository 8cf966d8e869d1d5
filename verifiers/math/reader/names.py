"""Reads names: symbols with subscripts, functions with arguments, operators."""

from verifiers.commitment.latex import split
from verifiers.math.reader.factors import starts_factor
from verifiers.math.reader.levels import Levels
from verifiers.math.reader.numbers import split_digit
from verifiers.math.tree import Node, Unreadable, show

_FUNCTION_COMMANDS = split("\\Gamma \\zeta \\phi \\psi \\Phi \\Psi \\varphi")
_MAX_ARGUMENT_TOKENS = 40
_FUNCTION_LETTERS = frozenset("fghuvφψ")


def read_symbol(reader: Levels, name: str, bare: bool) -> Node:
    """Read a name with its subscript, applied to arguments if it is a function; `bare`: the name alone."""
    if not bare:
        name += read_subscript(reader)
    if name == "e":
        return reader.node("const", leaf="e")
    if name == "i":
        return reader.node("const", leaf="i")
    applies = (
        name[0] in _FUNCTION_LETTERS
        or name.partition("_")[0] in _FUNCTION_COMMANDS
        or (name[0].isupper() and not name.startswith("math"))
        or (reader.is_at("(") and _is_left_side(reader))
    )
    if not bare and applies and reader.is_at("(") and not reader.tokens[reader.at].spaced:
        return read_applied(reader, name)
    if not bare and applies and reader.is_at("^") and _power_of_function(reader):
        reader.at += 1
        exponent = reader.exponent()
        return read_applied(reader, f"{name}^{show(exponent)}")
    return reader.node("sym", leaf=name)


def _is_left_side(reader: Levels) -> bool:
    """Whether `y(…)` before this point is the whole left side of an equation, so that it is a function's value."""
    start, depth = reader.at - 1, 0
    if start > 0 and reader.tokens[start - 1].kind not in (",", ";", "newline", "word"):
        return False
    for index in range(reader.at, min(len(reader.tokens), reader.at + _MAX_ARGUMENT_TOKENS)):
        depth += (reader.tokens[index].kind == "(") - (reader.tokens[index].kind == ")")
        if depth == 0:
            return index + 1 < len(reader.tokens) and reader.tokens[index + 1].kind == "="
    return False


def _power_of_function(reader: Levels) -> bool:
    """Whether a power belongs to a function: `f^{-1}(x)`, `f^2(x)`, braced or one token, then a parenthesis."""
    index = reader.at + 1
    if index < len(reader.tokens) and reader.tokens[index].kind == "{":
        while index < len(reader.tokens) and reader.tokens[index].kind != "}":
            index += 1
    return (
        index + 1 < len(reader.tokens)
        and reader.tokens[index + 1].kind == "("
        and reader.tokens[reader.at - 1].value in _FUNCTION_LETTERS
    )


def read_subscript(reader: Levels) -> str:
    """Read a subscript as part of a name."""
    if not reader.take("_"):
        return ""
    if not reader.is_at("{"):
        token = reader.next()
        if token.kind not in ("num", "id", "cmd", "text", "op", "*", "+"):
            raise Unreadable("a subscript is expected")
        if token.kind == "num" and len(token.value) > 1:
            reader.at -= 1
            return "_" + show(split_digit(reader))
        return "_" + token.value
    depth = 0
    pieces: list[str] = []
    while True:
        token = reader.next()
        depth += (token.kind == "{") - (token.kind == "}")
        if depth == 0:
            return "_" + "".join(pieces[1:])
        pieces.append(token.value)


def read_applied(reader: Levels, name: str) -> Node:
    """Read a name applied to arguments in parentheses."""
    reader.expect("(")
    reader.arguments += 1
    bars, reader.bars = reader.bars, 0
    arguments: list[Node] = []
    while not reader.is_at(")"):
        arguments.append(reader.nested(lambda: reader.sequence("list", ")")))
        if reader.is_at("|", ";") or reader.is_at_command("mid", "|"):
            reader.at += 1
            arguments.append(reader.node("sym", leaf="given"))
        elif not reader.is_at(")"):
            raise Unreadable("expected ')'")
    reader.expect(")")
    reader.arguments -= 1
    reader.bars = bars
    return reader.node("apply", *arguments, leaf=name)


def read_operator(reader: Levels, name: str) -> Node:
    """Read an operator applied to what follows."""
    name += read_subscript(reader)
    if reader.is_at("("):
        return read_applied(reader, name)
    token = reader.peek()
    if token is not None and starts_factor(reader, token):
        return reader.node("apply", reader.nested(reader.power), leaf=name)
    return reader.node("sym", leaf=name)
