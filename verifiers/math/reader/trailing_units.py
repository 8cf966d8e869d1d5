"""Reads the unit behind a value."""

from collections.abc import Sequence

from verifiers.commitment.latex import split
from verifiers.math import units
from verifiers.math.quantities import added
from verifiers.math.reader.levels import Levels
from verifiers.math.reader.notation import CURRENCIES
from verifiers.math.tokens import Token
from verifiers.math.tree import Node, Unreadable

UNIT_COMMANDS = split("Omega mu")
"""Commands that are units behind a number."""
_COMMAND_UNITS = {
    "Omega": " Ω",
    "mu": " μ",
    "cdot": "\\cdot ",
    "times": "\\cdot ",
    "dollar": " $",
    "euro": " euro",
    "pounds": " pound sterling",
    "yen": " ¥",
}


def unit_ahead(reader: Levels, ahead: int) -> bool:
    """Whether a unit may begin `ahead` tokens further on."""
    token = reader.peek(ahead)
    if token is not None and token.kind == "cmd":
        return token.value in CURRENCIES or (token.value in UNIT_COMMANDS and _is_unit_command(reader, token, ahead))
    return token is not None and token.kind in ("text", "unit", "word") and token.value not in ("or", "and")


def _is_unit_command(reader: Levels, token: Token, ahead: int) -> bool:
    r"""Whether `\Omega` at the end, or `\mu` before a unit, is ohms or micro, behind a number."""
    after = reader.peek(ahead + 1)
    if after is None or after.kind in ("text", "unit"):
        return True
    return token.value == "mu" and after.kind == "id" and units.key(f"μ{after.value}") is not None


def unit_after(reader: Levels, node: Node) -> Node:
    r"""Read a unit at the end of an element: `5 \text{ cm}^2`, `12 km/h`, `5 ft 3 in`; qualifying words are not units."""
    if not unit_ahead(reader, 0):
        return node
    node = _with_unit(reader, node)
    parts = [node]
    while reader.is_at("num") and node.kind == "quantity":
        value = reader.power()
        if not unit_ahead(reader, 0):
            raise Unreadable("a number without a unit after one with a unit")
        parts.append(_with_unit(reader, value))
    if len(parts) == 1:
        return node
    whole = added(tuple(parts))
    if whole is None:
        raise Unreadable("units that do not add up")
    return whole


def _with_unit(reader: Levels, node: Node) -> Node:
    written: list[str] = []
    while (token := reader.peek()) is not None and _belongs_to_unit(reader, token, written):
        is_word = token.kind in ("text", "unit", "word", "id")
        written.append(
            f" {token.value}" if is_word else {"cmd": _COMMAND_UNITS.get(token.value, " ")}.get(token.kind, token.value)
        )
        reader.at += 1
    text = "".join(written).strip()
    unit = units.key(text) or (units.unlisted(text) if node.kind != "quantity" else None)
    if unit is None:
        raise Unreadable("words after the answer")
    if node.kind == "quantity":
        if unit == node.leaf:
            return node
        both = units.key(f"{node.leaf} {unit}" if not unit.startswith("1/") else f"{node.leaf}{unit[1:]}")
        if both is None:
            raise Unreadable("two units")
        return reader.node("quantity", *node.args, leaf=both)
    return reader.node("quantity", node, leaf=unit)


def _belongs_to_unit(reader: Levels, token: Token, written: Sequence[str]) -> bool:
    """Whether a token belongs to a unit: words and unit signs; after the first, also powers, quotients and products."""
    if token.kind in ("text", "unit") or (token.kind == "word" and token.value not in ("or", "and")):
        return True
    if token.kind == "cmd" and (token.value in CURRENCIES or token.value in UNIT_COMMANDS):
        return True
    if not written:
        return False
    if token.kind == "cmd":
        after = reader.peek(1)
        return token.value in ("cdot", "times") and after is not None and after.kind in ("text", "unit", "id")
    if token.kind == "-":
        after = reader.peek(1)
        return written[-1] in ("^", "{") or (after is not None and after.kind in ("text", "unit"))
    if token.kind == "num":
        return written[-1] in ("^", "{", "-")
    if token.kind == "id":
        return written[-1].strip() in ("/", "\\cdot", "per", "μ")
    return token.kind in ("/", "^", "{", "}", "*")
