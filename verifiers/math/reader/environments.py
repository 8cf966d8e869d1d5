"""Reads environments: matrices, functions by cases, lines under each other."""

import re
from fractions import Fraction

from verifiers.commitment.latex import split
from verifiers.math.reader.levels import Levels
from verifiers.math.reader.notation import is_relation
from verifiers.math.tokens import Token
from verifiers.math.tree import Node, Unreadable
from verifiers.math.words import word_key

_MATRICES = {
    "pmatrix": "p", "bmatrix": "p", "matrix": "p", "smallmatrix": "p", "array": "p", "vmatrix": "v", "Bmatrix": "B",
    "Vmatrix": "V",
}  # fmt: skip
_ALIGNED = split("aligned align alignat alignedat gathered gather split eqnarray multline")
_CONDITIONS = split("if for when where otherwise else")


def read_environment(reader: Levels, name: str) -> Node:
    """Read a matrix, a function by cases, or lines under each other."""
    name = name.rstrip("*")
    if name in _ALIGNED:
        return _aligned(reader)
    if name in ("cases", "dcases", "rcases"):
        return _cases(reader)
    kind = _MATRICES.get(name)
    if kind is None:
        raise Unreadable(f"environment {name}")
    rows: list[list[Node]] = [[]]
    while True:
        if reader.is_at("end"):
            reader.at += 1
            break
        rows[-1].append(reader.nested(reader.sum))
        if reader.take("&"):
            continue
        if reader.take("newline"):
            if not reader.is_at("end"):
                rows.append([])
        elif not reader.is_at("end"):
            raise Unreadable("in a matrix")
    width = len(rows[0])
    if width == 0 or any(len(row) != width for row in rows):
        raise Unreadable("rows of different length")
    return reader.node(
        "matrix" if kind == "p" else "matrix" + kind, *(cell for row in rows for cell in row), leaf=width
    )


def _aligned(reader: Levels) -> Node:
    """Read lines as elements of a list; a line that begins with a relation continues the line before."""
    end = next((i for i in range(reader.at, len(reader.tokens)) if reader.tokens[i].kind == "end"), None)
    if end is None:
        raise Unreadable("an environment without an end")
    tokens = [token for token in reader.tokens[reader.at : end] if token.kind != "&"]
    lines: list[Token] = []
    for position, token in enumerate(tokens):
        if token.kind != "newline":
            lines.append(token)
        elif lines and position + 1 < len(tokens) and not is_relation(tokens[position + 1]):
            lines += [Token(",", ",", False)] * (lines[-1].kind not in (",", ";"))
    if not lines:
        raise Unreadable("an empty environment")
    reader.tokens = [*reader.tokens[: reader.at], *lines, Token("end", "", False), *reader.tokens[end + 1 :]]
    node = reader.nested(lambda: reader.sequence("list", "end"))
    reader.expect("end")
    return node


def _cases(reader: Levels) -> Node:
    """Read a function by cases, each a value with the condition for it; without conditions it is a system."""
    rows: list[Node] = []
    conditional = False
    while not reader.take("end"):
        value = reader.nested(lambda: reader.sequence("list", "&", "newline", "end"))
        conditional = conditional or reader.is_at("&")
        condition = _condition(reader) if reader.take("&") else reader.node("text", leaf="otherwise")
        rows.append(reader.node("case", value, condition))
        reader.take(".")  # a stop of the sentence
        if not reader.take("newline") and not reader.is_at("end"):
            raise Unreadable("in a case")
    if not conditional:
        return reader.node("list", *(row.args[0] for row in rows))
    return reader.node("cases", *rows)


def _condition(reader: Levels) -> Node:
    if (parity := _parity(reader)) is not None:
        return parity
    while (token := reader.peek()) is not None and token.kind in ("text", "word", "unit"):
        if word_key(token.value) not in _CONDITIONS:
            break
        reader.at += 1
        reader.take("&")
    if reader.is_at("newline", "end"):
        return reader.node("text", leaf="otherwise")
    return reader.nested(lambda: reader.sequence("list", "newline", "end"))


def _parity(reader: Levels) -> Node | None:
    """Read what says in words that a letter is even or odd, up to the end of the case, as a congruence."""
    stop = next(
        (at for at in range(reader.at, len(reader.tokens)) if reader.tokens[at].kind in ("newline", "end")), reader.at
    )
    tokens = reader.tokens[reader.at : stop]
    said = _PARITY.fullmatch(" ".join(token.value for token in tokens if token.kind != "&"))
    if said is None:
        return None
    reader.at = stop
    remainder = Fraction(0 if said["parity"] in ("even", "偶数") else 1)
    letter = Node("sym", leaf=said["letter"])
    return reader.node("cong", letter, Node("num", leaf=remainder), Node("num", leaf=Fraction(2)))


_PARITY = re.compile(
    r"(?:(?:if|for|when) )?(?P<letter>[A-Za-z]) ?(?:is |为|是)?(?:an )?(?P<parity>even|odd|偶数|奇数)[ .,;]{0,2}"
)
