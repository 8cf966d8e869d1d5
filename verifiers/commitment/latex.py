"""LaTeX commands beside a number or a box; some of them make it a part of an expression."""

import re
from collections.abc import Iterable

_BEFORE = re.compile(r"\\([A-Za-z]+)(?:\[[^\]]{0,9}\])?\s{0,3}$")
COMMAND = re.compile(r"\\([A-Za-z]+)")
"""A command with its name."""


def split(names: str) -> frozenset[str]:
    """The names of a line, as a set."""
    return frozenset(names.split())


def any_of(names: Iterable[str]) -> str:
    """A pattern for any of some names, longer ones first."""
    return "(?:" + "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name)))) + ")"


OPERATORS = split("cdot times div pm mp sqrt frac dfrac tfrac le leq leqslant ge geq geqslant lt gt ne neq")
"""Commands that make the text on both sides a part of an expression."""
FUNCTIONS = split("log ln lg exp sin cos tan cot not sum prod int binom overline") | OPERATORS
"""Commands that make the text behind them a part of an expression."""


def command_before(text: str) -> str:
    r"""The name of the command that ends a text: `sqrt` for `2\sqrt[3] `; empty if there is none."""
    match = _BEFORE.search(text) if "\\" in text else None
    return match[1] if match else ""


def command_at(text: str, index: int) -> str:
    """The name of the command that begins at a place; empty if there is none."""
    match = COMMAND.match(text, index)
    return match[1] if match else ""


_TEXT_COMMAND = re.compile(r"\\(?:text(?:bf|it|rm|sf|normal)?|math(?:rm|bf|it|sf)|mbox|operatorname)\s?\{([^{}]*)\}")


def untexted(answer: str) -> str:
    r"""The words of a box without `\text{…}` and similar commands."""
    return _TEXT_COMMAND.sub(r"\1", answer).strip() if "\\" in answer else answer
