r"""The notation of answers that all puzzles share: arrows, pairs of numbers, tables and words of LaTeX, lines.

    A --5--> B   A => B   A \to B   A ➔ B   ──►   A → B
    \text{red}                              ──►   red
    \begin{array}{cc} 1 & 2 \\ \end{array}  ──►   1 | 2, in lines of its own

Every replacement is as long as the text that it replaces, so that every other sign keeps its place.
"""

import re
from collections.abc import Iterator

_FONTS = "text textbf textit texttt mathrm mathbf mathit"
_WORDS = re.compile(rf"\\(?:{'|'.join(_FONTS.split())})\{{([^{{}}\n]{{1,200}})\}}")
_ARROW_COMMANDS = "to rightarrow longrightarrow Rightarrow"
_LABEL = r"[(\[]?\d{1,9}(?:\.\d{1,9})?[)\]]?"
_ARROW = re.compile(
    rf"[-–—]{{1,20}}(?:{_LABEL}[-–—]{{1,3}})?>|=>|[⇒⟶⟹➔➜➝➞➡]"
    rf"|\\xrightarrow\{{[^{{}}\n]{{0,40}}\}}|\\(?:{'|'.join(_ARROW_COMMANDS.split())})(?![A-Za-z])"
)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s?\{[a-z]{1,12}\*?\}(?:\{[|clr ]{0,99}\})?")
_RULES = re.compile(r"\\hline|\\(?:left|right)[\[\]().|]?")

PAIR = re.compile(r"[(\[]\s{0,4}(\d{1,3})\s{0,4},\s{0,4}(\d{1,3})\s{0,4}[)\]]")
"""A pair of numbers: row and column, or column and row."""


def plain(text: str) -> str:
    """The text with one kind of arrow, and without LaTeX commands for words."""
    if "\\" in text:
        text = _WORDS.sub(lambda match: f"{match[1]} ".rjust(len(match[0])), text)
    return _ARROW.sub(lambda match: "→".rjust(len(match[0])), text)


def tabled(text: str) -> str:
    """The text with LaTeX matrices turned into Markdown tables."""
    if "\\\\" not in text and "\\begin" not in text:
        return text
    text = _ENVIRONMENT.sub(lambda match: "\n".ljust(len(match[0])), text)
    return _RULES.sub(blank, text).replace("\\\\", " \n").replace("&", "|")


def blank(match: re.Match[str]) -> str:
    """Spaces of the length of a match."""
    return " " * len(match[0])


def lines(text: str) -> Iterator[tuple[int, str]]:
    """The start of each line, and the line."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1
