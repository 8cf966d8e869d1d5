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
    "Omega": " Ω", "mu": " μ", "cdot": "\\cdot ", "times": "\\cdot ", "dollar": " $", "euro": " euro",
    "pounds": " pound sterling", "yen": " ¥",
}  # fmt: skip


def unit_ahead(reader: Levels, offset: int) -> bool:
    """Whether a unit may begin `offset` tokens further on."""
    token = reader.peek(offset)
    if token is not None and token.kind == "cmd":
        return token.value in CURRENCIES or (token.value in UNIT_COMMANDS and _is_unit_command(reader, token, offset))
    return token is not None and token.kind in ("text", "unit", "word") and token.value not in ("or", "and")


def _is_unit_command(reader: Levels, token: Token, offset: int) -> bool:
    r"""Whether `\Omega` at the end, or `\mu` before a unit, is ohms or micro, behind a number."""
    following = reader.peek(offset + 1)
    if following is None or following.kind in ("text", "unit"):
        return True
    return token.value == "mu" and following.kind == "id" and units.key(f"μ{following.value}") is not None


def unit_after(reader: Levels, node: Node) -> Node:
    r"""Read a unit at the end of an element: `5 \text{ cm}^2`, `12 km/h`, `5 ft 3 in`; qualifying words are not units."""
    if not unit_ahead(reader, 0):
        return node
    node = _with_unit(reader, node)
    amounts = [node]
    while reader.is_at("num") and node.kind == "quantity":
        value = reader.power()
        if not unit_ahead(reader, 0):
            raise Unreadable("a number without a unit after one with a unit")
        amounts.append(_with_unit(reader, value))
    if len(amounts) == 1:
        return node
    total = added(tuple(amounts))
    if total is None:
        raise Unreadable("units that do not add up")
    return total


def _with_unit(reader: Levels, node: Node) -> Node:
    unit_tokens: list[str] = []
    while (token := reader.peek()) is not None and _belongs_to_unit(reader, token, unit_tokens):
        is_word = token.kind in ("text", "unit", "word", "id")
        unit_tokens.append(
            f" {token.value}" if is_word else {"cmd": _COMMAND_UNITS.get(token.value, " ")}.get(token.kind, token.value)
        )
        reader.at += 1
    text = "".join(unit_tokens).strip()
    unit = units.key(text) or (units.unlisted(text) if node.kind != "quantity" else None)
    if unit is None:
        raise Unreadable("words after the answer")
    if node.kind == "quantity":
        if unit == node.leaf:
            return node
        unit_key = units.key(f"{node.leaf} {unit}" if not unit.startswith("1/") else f"{node.leaf}{unit[1:]}")
        if unit_key is None:
            raise Unreadable("two units")
        return reader.node("quantity", *node.args, leaf=unit_key)
    return reader.node("quantity", node, leaf=unit)


def _belongs_to_unit(reader: Levels, token: Token, unit_tokens: Sequence[str]) -> bool:
    """Whether a token belongs to a unit: words and unit signs; after the first, also powers, quotients and products."""
    if token.kind in ("text", "unit") or (token.kind == "word" and token.value not in ("or", "and")):
        return True
    if token.kind == "cmd" and (token.value in CURRENCIES or token.value in UNIT_COMMANDS):
        return True
    if not unit_tokens:
        return False
    if token.kind == "cmd":
        following = reader.peek(1)
        return token.value in ("cdot", "times") and following is not None and following.kind in ("text", "unit", "id")
    if token.kind == "-":
        following = reader.peek(1)
        return unit_tokens[-1] in ("^", "{") or (following is not None and following.kind in ("text", "unit"))
    if token.kind == "num":
        return unit_tokens[-1] in ("^", "{", "-")
    if token.kind == "id":
        return unit_tokens[-1].strip() in ("/", "\\cdot", "per", "μ")
    return token.kind in ("/", "^", "{", "}", "*")
