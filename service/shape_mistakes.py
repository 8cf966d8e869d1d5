"""Sentences about JSON that is not JSON, or has another shape than a request: the decoder's messages in plain words.

items[1].response must be a text or a list; it is a number
items[0]: unknown field `completion`; write `response`
"""

import re
from collections.abc import Sequence
from typing import Final

_NAMES: Final = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
"""The decoder's names of types."""
_BOUNDS: Final = {">": "above", ">=": "of at least", "<": "below", "<=": "of at most"}
_TYPE: Final = re.compile(r"Expected `([^`]*)`, got `(\w+)`")
_LENGTH: Final = re.compile(r"Expected `(str|array|object)` of length (<=|>=) (\d+)")
_BOUND: Final = re.compile(r"Expected `(int|float)` (>=|<=|>|<) (-?[\d.]+)")
_FORM: Final = re.compile(r"Expected `str` matching regex '\^?(.*?)\$?'")
_CLASS: Final = re.compile(r"\[A-Za-z0-9\]\[A-Za-z0-9(.+)\]\{0,(\d+)\}")
"""The form of most names: a letter or digit, and then these characters, too."""
_CONSTANT: Final = re.compile(rb"-?(?:NaN|Infinity)")
_BYTE: Final = re.compile(r"\(byte (\d+)\)")


def sentence(message: str) -> str:
    """What a value must be, by the decoder's message about it."""
    if match := _TYPE.fullmatch(message):
        types = [_NAMES.get(each, each) for each in match[1].split(" | ") if each != "null" or match[1] == "null"]
        *others, last = types
        got = "a number" if match[2] in ("int", "float") and not {"int", "float"} & {*match[1].split(" | ")} else ""
        return f"must be {', '.join(others)}{' or ' if others else ''}{last}; it is {got or _NAMES.get(match[2], match[2])}"
    if match := _LENGTH.fullmatch(message):
        unit = " characters" if match[1] == "str" else ""
        return f"must be {_NAMES[match[1]]} {_BOUNDS[match[2]]} {match[3]}{unit}"
    if match := _BOUND.fullmatch(message):
        return f"must be {_NAMES[match[1]]} {_BOUNDS[match[2]]} {float(match[3]):g}"
    if match := _FORM.fullmatch(message):
        name = _CLASS.fullmatch(match[1])
        if name is None:
            return f"must be a text of the form {match[1]}"
        return f"must be at most {int(name[2]) + 1} letters, digits and {name[1]}, and begin with a letter or a digit"
    return message.replace("Object contains unknown", "unknown").replace(
        "Object missing required field", "missing field"
    )


def where(loc: Sequence[str | int]) -> str:
    """`items[1].response`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part[:100]}" for part in loc).removeprefix(".")


def not_json(message: str, data: bytes) -> str:
    """Why some bytes are not JSON."""
    if not data.strip():
        return "the body is empty"
    if place := _BYTE.search(message):
        at = int(place[1])
        if constant := _CONSTANT.search(data, max(at - 1, 0), at + 9):
            return (
                f"byte {at} begins {constant[0].decode()}, which JSON does not have; write null, or leave the field out"
            )
    return message
