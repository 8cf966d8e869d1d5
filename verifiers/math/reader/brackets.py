"""Reads the notations with brackets: tuples, intervals, sets, absolute values, floors."""

from verifiers.math.reader.levels import Levels
from verifiers.math.reader.names import read_operator, read_subscript
from verifiers.math.tree import Node, Unreadable, show

BRACKET_COMMANDS = {
    "lfloor": ("floor", "rfloor"), "lceil": ("ceil", "rceil"), "lvert": ("abs", "rvert"), "lVert": ("abs", "rVert"),
    "langle": ("angle", "rangle"), "lbrace": ("brace", "rbrace"),
}  # fmt: skip
"""Commands that open a bracket: the kind of bracket, and the command that closes it."""


def read_brackets(reader: Levels, opening: str) -> Node:
    """Read parentheses, brackets and intervals."""
    bars, reader.bars = reader.bars, 0
    arguments, reader.arguments = reader.arguments, 0
    if opening == "(" and reader.is_at(")"):
        raise Unreadable("empty parentheses")
    node = reader.nested(lambda: reader.sequence("inside", ")", "]"))
    reader.bars, reader.arguments = bars, arguments
    closing = reader.next().kind
    if closing not in (")", "]"):
        raise Unreadable("unclosed bracket")
    kind = {"()": "paren", "[]": "bracket", "(]": "oc", "[)": "co"}[opening + closing]
    if node.kind != "inside":
        if kind == "paren":
            return node
        if kind == "bracket" and node.kind == "matrix":
            return node
        if kind == "bracket":
            return reader.node("bracket", node)
        raise Unreadable("brackets do not match")
    if kind in ("oc", "co") and len(node.args) != 2:
        raise Unreadable("an interval has two ends")
    return reader.node(kind, *node.args)


def read_set(reader: Levels, closing: str) -> Node:
    """Read a set: its elements, or the condition for them."""
    if reader.take(closing):
        return reader.node("sym", leaf="emptyset")
    bars, reader.bars = reader.bars, 1
    arguments, reader.arguments = reader.arguments, 0
    node = reader.nested(lambda: reader.sequence("inside", closing))
    reader.bars = bars
    if reader.is_at("|", ":") or reader.is_at_command("mid"):
        reader.at += 1
        reader.bars = 0
        condition = reader.nested(lambda: reader.sequence("list", closing))
        node = reader.node("suchthat", node, condition)
        reader.bars = bars
    reader.arguments = arguments
    if not (reader.take(closing) or (closing == "\\}" and reader.is_at_command("rbrace") and reader.next())):
        raise Unreadable("unclosed set")
    if node.kind == "suchthat":
        return node
    return reader.node("brace", *(node.args if node.kind == "inside" else (node,)))


def read_absolute(reader: Levels, closing: str) -> Node:
    """Read an absolute value, a norm, or the number of elements of a set."""
    reader.bars += 1
    arguments, reader.arguments = reader.arguments, 0
    node = reader.nested(reader.set_expression)
    reader.bars -= 1
    reader.arguments = arguments
    if closing == "|":
        reader.expect("|")
    elif not reader.is_at_command(closing):
        raise Unreadable("unclosed bar")
    else:
        reader.at += 1
    node = reader.node("apply", node, leaf="norm") if closing == "rVert" else reader.node("abs", node)
    index = read_subscript(reader)  # |T|_{\max}
    return reader.node("apply", node, leaf=index) if index else node


def read_indexed(reader: Levels, name: str) -> Node:
    """Read a union or intersection over an index, which is known by its notation only."""
    name += read_subscript(reader)
    if reader.take("^"):
        name += "^" + show(reader.nested(reader.argument))
    return reader.node("apply", reader.nested(reader.set_expression), leaf=name)


def read_norm(reader: Levels) -> Node:
    """Read a norm between double bars."""
    reader.norms += 1
    node = reader.nested(reader.sum)
    reader.norms -= 1
    reader.expect("||")
    return reader.node("apply", node, leaf="norm")


def read_many(reader: Levels, name: str) -> Node:
    """Read a function of several arguments, such as gcd."""
    if reader.is_at("_"):
        return read_operator(reader, name)
    opening = reader.next().kind
    if opening not in ("(", "\\{", "{", "["):
        reader.at -= 1
        return read_operator(reader, name)
    closing = {"(": ")", "\\{": "\\}", "{": "}", "[": "]"}[opening]
    node = reader.nested(lambda: reader.sequence("inside", closing))
    reader.expect(closing)
    return reader.node("fn", *(node.args if node.kind == "inside" else (node,)), leaf=name)


def read_bracket_command(reader: Levels, name: str) -> Node:
    """Read brackets that are written as commands."""
    kind, closing = BRACKET_COMMANDS[name]
    if name == "lbrace":
        return read_set(reader, "\\}")
    if kind == "abs":
        return read_absolute(reader, closing)
    node = reader.nested(lambda: reader.sequence("inside", closing))
    if not reader.is_at_command(closing):
        raise Unreadable(f"unclosed {name}")
    reader.at += 1
    if kind in ("floor", "ceil"):
        return reader.node(kind, node)
    return reader.node("paren" if kind == "angle" else kind, *(node.args if node.kind == "inside" else (node,)))
