"""Cuts a prepared text into tokens: numbers, letters, commands, words, units and signs."""

import re
from dataclasses import dataclass

from verifiers.math import words
from verifiers.math.limits import MAX_NODES
from verifiers.math.tree import TooComplex, Unreadable


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is num, id, cmd, word, text, unit, or the character itself."""

    kind: str
    value: str
    spaced: bool
    """Whether a blank stood before it."""


_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|\\(?:text|textbf|textit|textrm|texttt|textsf|textnormal|mathrm|mathbf|mathit|mathsf|mbox|boldsymbol|bm|mathbb"
    r"|mathcal|mathfrak|operatorname\*?)\s*(?:\{(?P<text>[^{}]*)\}|(?P<bare>[A-Za-z](?![A-Za-z])))"
    r"|\\begin\s*\{(?P<begin>[a-zA-Z*]{1,20})\}(?:\{[clr|]{0,40}\})?|\\end\s*\{(?P<end>[a-zA-Z*]{1,20})\}"
    r"|\\(?P<cmd>[A-Za-z]+)|(?P<newline>\\\\(?:\[[^\[\]]{0,10}\])?)|\\(?P<escaped>[{}|%_#&])"
    r"|(?P<num>\d+\.(?=\s*\\(?:overline|bar|dot)\b)|\d[\d,]*\d(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)|(?P<word>[^\W\d_]+)|(?P<char>.)",
    re.DOTALL,
)
_STYLE = re.compile(r"\\([A-Za-z]+)")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_E_NOTATION = re.compile(r"[eE]([+-]?\d{1,6})(?![\d.])")
_UNITS = words.split(
    "kg mg cm mm km nm ml kL mL dL kW MW Hz kHz MHz Pa kPa atm mol rad deg km/h mph kmh kph cents cent dollars dollar "
    "USD inches inch feet foot ft lb lbs oz yd mi min hr hrs sec hours hour minutes minute seconds days day weeks "
    "years months meters meter metres miles mile degrees degree units unit apples people percent pct am pm AM PM"
)


def tokenize(text: str) -> list[Token]:
    """Cut a prepared text into tokens.

    Raises:
        Unreadable, TooComplex: a character no notation has; too many tokens.
    """
    tokens: list[Token] = []
    spaced = False
    depth = 0
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:  # pragma: no cover - the last alternative takes any character
            raise Unreadable(f"unknown character at {position}")
        position = match.end()
        kind = match.lastgroup or ""
        if kind == "space":
            spaced = True
            continue
        value = match[kind]
        if kind == "num" and "," in value and (depth > 0 or not _GROUPED.fullmatch(value)):
            position = match.start() + value.index(",")
            value = value[: value.index(",")]
        if kind == "num" and (scientific := _E_NOTATION.match(text, position)):
            tokens += [Token("num", value.replace(",", ""), spaced), Token("cmd", "times", False)]
            tokens += [Token("num", "10", False), Token("^", "^", False), Token("{", "{", False)]
            tokens += [Token("-", "-", False)] * scientific[1].startswith("-")
            tokens += [Token("num", scientific[1].lstrip("+-"), False), Token("}", "}", False)]
            position, spaced = scientific.end(), False
            continue
        if kind == "char":
            depth += (value in "([") - (value in ")]")
        if kind == "escaped":
            depth += (value == "{") - (value == "}")
        tokens += _tokens(kind, value, spaced, match)
        spaced = False
        if len(tokens) > MAX_NODES:
            raise TooComplex("too many tokens")
    return tokens


def _tokens(kind: str, value: str, spaced: bool, match: re.Match[str]) -> list[Token]:
    if kind == "num":
        return [Token("num", value.replace(",", ""), spaced)]
    if kind in ("text", "bare"):
        style = _STYLE.match(match[0])
        return _styled(style[1] if style else "text", value, spaced)
    if kind == "word":
        return _letters(value, spaced)
    if kind == "escaped":
        return [Token({"|": "||", "%": "%", "{": r"\{", "}": r"\}"}.get(value, value), value, spaced)]
    if kind == "char":
        return [Token(value, value, spaced)]
    return [Token(kind, value, spaced)]


def _styled(style: str, value: str, spaced: bool) -> list[Token]:
    inner = value.strip()
    if style in ("mathbb", "mathcal", "mathfrak"):
        return [Token("id", f"{style} {inner}", spaced)]
    if style.startswith("operatorname"):
        return [
            Token(
                "cmd" if inner in words.FUNCTIONS or inner in ("gcd", "lcm", "max", "min", "log") else "op",
                inner,
                spaced,
            )
        ]
    if style in ("boldsymbol", "bm", "mathbf", "mathit") or (
        style in ("mathrm", "mathsf", "text") and len(inner) == 1 and inner == value
    ):
        if inner.startswith("\\"):
            return [Token("cmd", inner[1:], spaced)]
        return _letters(inner, spaced) if inner.isalpha() else [_number_or_text(inner, spaced)]
    if value != inner and inner.isalpha() and inner.lower() not in ("or", "and"):
        return [Token("text", inner, spaced)]
    if inner.startswith("\\") and inner[1:].isalpha():
        return [Token("cmd", inner[1:], spaced)]
    if style == "mathrm" and inner in words.FUNCTIONS | {"log", "gcd", "lcm", "max", "min"}:
        return [Token("cmd", inner, spaced)]
    if inner.lower() in ("or", "and"):
        return [Token("word", inner.lower(), True)]
    return [_number_or_text(inner, spaced)] if inner else []


def _number_or_text(inner: str, spaced: bool) -> Token:
    return Token("num" if inner.isascii() and inner.isdigit() else "text", inner, spaced)


def _letters(run: str, spaced: bool) -> list[Token]:
    if len(run) == 1:
        return [Token("id", run, spaced)]
    if run in words.WORD_COMMANDS:
        return [Token("cmd", words.WORD_COMMANDS[run], spaced)]
    if run in words.FUNCTIONS or run in words.FUNCTION_SYNONYMS:
        return [Token("cmd", run, spaced)]
    if run in _UNITS:
        return [Token("unit", run, spaced)]
    if run in ("or", "and"):
        return [Token("word", run, spaced)]
    if run.isupper() and run.isascii():
        return [Token("id", run, spaced)]
    if words.is_product(run) or (len(run) == 2 and run not in words.CONNECTIVES and run.isascii()):
        return [Token("id", letter, spaced and not index) for index, letter in enumerate(run)]
    return [Token("word", run, spaced)]
