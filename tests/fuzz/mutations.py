"""Changes to texts that keep them nearly mathematics, or nearly an answer. They change tokens where a fuzzer would
change bytes.
"""

import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from tests.fuzz import expressions
from tests.fuzz.choices import Choices
from tests.fuzz.targets import CHOSEN, PUMPED, SPLIT

DICTIONARY: Final = Path(__file__).with_name("tokens.dict")
"""The tokens in libFuzzer's format, which it reads itself."""
_TOKEN: Final = re.compile(r"\\[A-Za-z]+|\\.|\d+|[^\W\d]+|\s+|.", re.DOTALL)
_FRAMES: Final = (
    ("(", ")"), ("[", "]"), ("{", "}"), ("|", "|"), (r"\frac{1}{", "}"), (r"\sqrt{", "}"), (r"\sqrt[3]{", "}"),
    (r"\text{", "}"), (r"\boxed{", "}"), ("$", "$"), ("-", ""), ("", "!"), ("", "^2"), ("", "%"), (r"\sin(", ")"),
    (r"\log_2(", ")"), (r"\lfloor ", r"\rfloor "), (r"\left(", r"\right]"), (r"\{", r"\}"), ("x=", ""), ("2^{", "}"),
    (r"\overline{", "}"), (r"\begin{pmatrix}", r"\end{pmatrix}"), (r"\sum_{k=1}^{3}", ""), ("f(", ")"),
)  # fmt: skip
_NUMBERS: Final = (
    "0", "1", "-1", "2", "10", "1000", "7999", "20000", "10^{8}", "10^{400}", "0.1", "10^{-30}", "1e6", "1e-999", "1/3",
    "1,234", "0.\\overline{3}", "9" * 40, "9" * 1100, "3_7", "1.5e3", "½", "²", "٣", "３", "፩", "1 1/2",
)  # fmt: skip


@cache
def tokens() -> Sequence[str]:
    """The entries of the dictionary."""
    lines = DICTIONARY.read_text(encoding="ascii").splitlines()
    entries = [line[1:-1] for line in lines if line.startswith('"')]
    return [_unescaped(entry) for entry in entries]


def _unescaped(entry: str) -> str:
    r"""The text without its escapes. libFuzzer has only `\\`, `\"` and `\xNN`."""
    raw = re.sub(rb"\\(?:x([0-9A-Fa-f]{2})|(.))", _unescape, entry.encode())
    return raw.decode()


def _unescape(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[1].decode()) if match[1] else match[2]


def mutated(data: bytes, source: random.Random) -> bytes:
    """The text after one to four changes."""
    parts = _TOKEN.findall(data.decode("utf-8", "replace"))
    for _ in range(source.choice((1, 1, 2, 4))):
        parts = source.choice(_CHANGES)(parts, source)
    return "".join(parts).encode("utf-8", "replace")


Change = Callable[[list[str], random.Random], list[str]]


def _span(parts: Sequence[str], source: random.Random) -> tuple[int, int]:
    start = source.randint(0, len(parts))
    return start, min(len(parts), start + source.choice((0, 1, 1, 1, 2, 3, 5, 9, 30)))


def _insert(parts: list[str], source: random.Random) -> list[str]:
    at = source.randint(0, len(parts))
    return [*parts[:at], source.choice(tokens()), *parts[at:]]


def _replace(parts: list[str], source: random.Random) -> list[str]:
    start, end = _span(parts, source)
    return [*parts[:start], source.choice(tokens()), *parts[end:]]


def _delete(parts: list[str], source: random.Random) -> list[str]:
    start, end = _span(parts, source)
    return parts[:start] + parts[end:]


def _repeat(parts: list[str], source: random.Random) -> list[str]:
    start, end = _span(parts, source)
    return parts[:start] + parts[start:end] * source.choice((2, 2, 3, 8, 40, 300)) + parts[end:]


def _frame(parts: list[str], source: random.Random) -> list[str]:
    start, end = _span(parts, source)
    opening, closing = source.choice(_FRAMES)
    times = source.choice((1, 1, 1, 2, 12, 28))
    return [*parts[:start], *[opening] * times, *parts[start:end], *[closing] * times, *parts[end:]]


def _number(parts: list[str], source: random.Random) -> list[str]:
    places = [index for index, part in enumerate(parts) if part.isdigit()] or [0]
    at = source.choice(places)
    return [*parts[:at], source.choice(_NUMBERS), *parts[at + 1 :]]


def _formula(parts: list[str], source: random.Random) -> list[str]:
    choices = Choices(source.randbytes(40))
    start, end = _span(parts, source)
    return [*parts[:start], expressions.written(expressions.formula(choices), choices), *parts[end:]]


def _move(parts: list[str], source: random.Random) -> list[str]:
    start, end = _span(parts, source)
    rest, moved = parts[:start] + parts[end:], parts[start:end]
    at = source.randint(0, len(rest))
    return rest[:at] + moved + rest[at:]


def _mirror(parts: list[str], source: random.Random) -> list[str]:
    """The reference as the answer, or the two exchanged. Most random pairs have nothing to do with each other."""
    if SPLIT not in parts:
        return parts
    at = parts.index(SPLIT)
    left, right = parts[:at], parts[at + 1 :]
    return source.choice(([*left, SPLIT, *left], [*right, SPLIT, *left], [*right, SPLIT, *right]))


def _choose(parts: list[str], source: random.Random) -> list[str]:
    """Other parameters, the default ones, or the whole text many times over."""
    text = "".join(parts)
    text = text[2:] if text.startswith(CHOSEN) else text
    prefix = source.choice(("", "", PUMPED, CHOSEN + source.choice("abcdefghijklmnop")))
    return [prefix, *_TOKEN.findall(text)]


_CHANGES: Final[Sequence[Change]] = (
    _insert, _insert, _replace, _replace, _delete, _repeat, _frame, _frame, _number, _formula, _move, _mirror, _choose,
)  # fmt: skip
