"""Cuts a prepared text into tokens: numbers, letters, commands, words, units and signs."""

import re

import msgspec

from verifiers.commitment.latex import COMMAND, any_of, split
from verifiers.commitment.letters import LETTERS
from verifiers.math import units, words
from verifiers.math.limits import MAX_NODES
from verifiers.math.tree import TooComplex, Unreadable


class Token(msgspec.Struct, frozen=True):
    """`kind` is num, id, cmd, word, text, unit, or the character itself."""

    kind: str
    value: str
    spaced: bool
    """Whether a blank stood before it."""


_UPRIGHT = words.TEXT_COMMANDS | split("textnormal mathsf boldsymbol bm mathbb mathcal mathfrak operatorname*")
_TEXT = rf"\\{any_of(_UPRIGHT)}\s*(?:\{{(?P<text>[^{{}}]*)\}}|(?P<bare>[A-Za-z](?![A-Za-z])))"
_ENVIRONMENT = r"\\begin\s*\{(?P<begin>[a-zA-Z*]{1,20})\}(?:\{[clr|]{0,40}\})?|\\end\s*\{(?P<end>[a-zA-Z*]{1,20})\}"
_COMMAND = r"\\(?P<cmd>[A-Za-z]+)|(?P<newline>\\\\(?:\[[^\[\]]{0,10}\])?)|\\(?P<escaped>[{}|%_#&])"
_BASE_BEHIND = r"(?=_\{?\s*(?:1[1-9]|2\d|3[0-6])\s*\}?(?!\d))"
_NUMERAL = rf"(?P<numeral>(?=[0-9A-F]{{0,60}}\d)(?=[0-9A-F]{{0,60}}[A-F])[0-9A-F]{{2,60}}{_BASE_BEHIND})"
_POINT_LAST = r"\d+\.(?=\s*(?:\\(?:overline|bar|dot)(?![a-zA-Z])|\(\d+\)|[/*]))"
_NUMBER = rf"(?P<num>{_POINT_LAST}|\d[\d,]*\d(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
_TOKEN = re.compile(
    rf"(?P<space>\s+)|{_TEXT}|{_ENVIRONMENT}|{_COMMAND}|{_NUMERAL}|{_NUMBER}|(?P<word>{LETTERS.pattern})|(?P<char>.)",
    re.DOTALL,
)
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_DIFFERENTIAL = re.compile(r"d[xyztuvwrsθ]")
_FUNCTION_OF_LETTER = re.compile(r"([a-z]?)(sin|cos|tan|cot|sec|csc|ln|log)([a-zA-Z])")
_E_NOTATION = re.compile(r"[eE]([+-]?\d{1,6})(?![\d.])")
_UNITS = split(
    "kg mg cm mm km nm ml kL mL dL kW MW Hz kHz MHz Pa kPa atm mol rad deg km/h mph kmh kph cents cent dollars dollar "
    "USD inches inch feet foot ft lb lbs oz yd mi min hr hrs sec hours hour minutes minute seconds days day weeks "
    "years months men meters meter metres miles mile degrees degree units unit apples people percent pct am pm AM PM"
)


def tokenize(text: str, splits_capitals: bool = False) -> list[Token]:
    """Cut a prepared text into tokens; `splits_capitals`: capitals in a row are factors, not one name.

    Raises:
        Unreadable, TooComplex: a character that no notation has; too many tokens.
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
        if kind in ("text", "bare") and _is_upright_unit(tokens, match, value.strip()):
            tokens.append(Token("unit", value.strip(), spaced))
        elif splits_capitals and kind == "word" and value.isupper() and value.isascii():
            tokens += [Token("id", letter, spaced and not index) for index, letter in enumerate(value)]
        else:
            tokens += _tokens(kind, value, spaced, match)
        spaced = False
        if len(tokens) > MAX_NODES:
            raise TooComplex("too many tokens")
    return _with_products(tokens)


def _is_upright_unit(tokens: list[Token], match: re.Match[str], letter: str) -> bool:
    r"""Whether an upright letter behind a value is a unit: `5 \mathrm{N}`."""
    is_upright = match[0].startswith(("\\mathrm", "\\text{", "\\text {"))
    return is_upright and letter in _UPRIGHT_UNITS and bool(tokens) and tokens[-1].kind in ("num", "}", ")")


_UPRIGHT_UNITS = frozenset(["m", "s", "g", "N", "J", "W", "V", "L", "K", "h", "A", "C", "F", "T", "H", "t"])


def _with_products(tokens: list[Token]) -> list[Token]:
    """Turn a unit or a short word into letters if only a product of variables can stand in its place.

    A unit ends its element, so inside a fraction, without a value before it or with a factor after it, `mg` is m·g; and
    a word does not touch a sign, so `v_0 + at` ends in a·t.
    """
    if not any(token.kind in ("unit", "word") or token.value in _AMBIGUOUS for token in tokens):
        return tokens
    result: list[Token] = []
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.kind == "{") - (token.kind == "}")
        previous = tokens[index - 1] if index else None
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.value in _AMBIGUOUS and _is_unit(previous, following):
            result.append(Token("unit", "s" if token.value == "sec" else token.value, token.spaced))
            continue
        splits = token.value.isalpha() and token.value.isascii() and len(token.value) < 4
        if splits and token.kind == "unit":
            splits = token.value not in _WORD_UNITS and (
                depth > 0
                or not _ends_value(previous)
                or (following is not None and _begins_factor(following))
                or _is_in_sum(tokens, index, result)
            )
        elif depth > 0 and token.kind == "word" and token.value not in ("or", "and"):
            splits = token.value.isalpha() and token.value.isascii() and len(token.value) <= _MAX_FACTORS
        elif splits and token.kind == "word":
            splits = token.value in words.CONNECTIVES and _is_in_formula(previous, token, following)
        else:
            splits = False
        if splits:
            result += [Token("id", letter, token.spaced and not at) for at, letter in enumerate(token.value)]
        else:
            result.append(token)
    return result


def _is_in_sum(tokens: list[Token], index: int, result: list[Token]) -> bool:
    """Whether `mg` is m·g in a sum: `2mg + kx`, `2mg - T`, and glued to its number `T - 2mg`; not in `5 ft-lb`."""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if following is not None and (following.kind == "+" or (following.kind == "-" and following.spaced)):
        return True
    if tokens[index].spaced:
        return False
    start = max((at for at, token in enumerate(result) if token.kind in _ENDS_ELEMENT), default=-1) + 1
    kinds = {token.kind for token in result[start:]}
    return "id" in kinds and not kinds.isdisjoint("+-")


_ENDS_ELEMENT = frozenset([",", ";", "=", "<", ">", "word", "text"])


_AMBIGUOUS = split("min sec in")
"""Functions and a preposition that are units behind a number if nothing behind them could be their argument."""


def _is_unit(previous: Token | None, following: Token | None) -> bool:
    return (
        previous is not None
        and (previous.kind in ("num", "/", "unit", "text") or previous.kind == "}")
        and (following is None or following.kind in (",", ";", "num", "=", "^", ")", "}", "/"))
    )


_MAX_FACTORS = 5
"""Letters in a row that are a product inside a fraction or a root, where no words stand."""
_WORD_UNITS = split("cent inch feet foot yard mile deg min sec day days hour pct am pm AM PM or and")
_SIGNS = frozenset(["+", "-", "*", "/", "^", "_", "=", "(", "{", "[", ")", "}", "]", ",", "<", ">"])


def _ends_value(token: Token | None) -> bool:
    return token is not None and token.kind in ("num", ")", "}", "]", "id", "/")


def _begins_factor(token: Token) -> bool:
    return token.kind in ("id", "(", "_") or (token.kind == "cmd" and token.value not in _NO_FACTOR)


_NO_FACTOR = split("cdot times div le leq ge geq approx pm mp or and ldots text in quad qquad")


def _is_in_formula(previous: Token | None, token: Token, following: Token | None) -> bool:
    """Whether a short word stands between signs, and not between words and values."""
    if following is not None and following.kind in ("^", "_"):
        return True
    opens = previous is None or previous.kind in _SIGNS or (not token.spaced and previous.kind in ("num", "cmd", "id"))
    closes = following is None or (following.kind in _SIGNS and following.kind not in ("(", "{", "["))
    return opens and closes and (previous is not None or following is not None)


def _tokens(kind: str, value: str, spaced: bool, match: re.Match[str]) -> list[Token]:
    if kind in ("num", "numeral"):
        return [Token("num", value.replace(",", ""), spaced)]
    if kind in ("text", "bare"):
        style = COMMAND.match(match[0])
        return _styled(style[1] if style else "text", value, spaced)
    if kind == "word":
        return _letters(value, spaced)
    if kind == "escaped":
        return [Token({"|": "||", "%": "%", "{": r"\{", "}": r"\}"}.get(value, value), value, spaced)]
    if kind == "char":
        return [Token(value, value, spaced)]
    return [Token(kind, value, spaced)]


_LINKED = re.compile(r"(\S[^,;]{0,40}) (or|and)|(or|and) ([^,;]{0,40}\S)")
"""Words with `and` or `or` at one end: `5 \\text{ girls and } 8 \\text{ boys}`."""
_NAMED_FUNCTIONS = words.FUNCTIONS | words.FUNCTION_SYNONYMS.keys() | {"gcd", "lcm", "max", "min", "log", "cis"}


def _styled(style: str, value: str, spaced: bool) -> list[Token]:
    content = value.strip()
    if link := _LINKED.fullmatch(content):
        prefix, word, suffix = link[1], link[2] or link[3], link[4]
        texts = [_styled("text", f" {part} ", True) for part in (prefix, suffix) if part]
        link_tokens = [Token("word", word, True)]
        return [*texts[0], *link_tokens] if prefix else [*link_tokens, *texts[0]]
    if style == "mathbf" and content in ("R", "Z", "N", "Q"):
        style = "mathbb"
    if style in ("mathbb", "mathcal", "mathfrak"):
        return [Token("id", f"{style} {content}", spaced)]
    if style.startswith("operatorname"):
        return [
            Token(
                "cmd" if content in _NAMED_FUNCTIONS else "op",
                content,
                spaced,
            )
        ]
    if style in ("boldsymbol", "bm", "mathbf", "mathit") or (
        style in ("mathrm", "mathsf", "text") and len(content) == 1 and content == value
    ):
        if content.startswith("\\"):
            return [Token("cmd", content[1:], spaced)]
        if style in ("boldsymbol", "bm", "mathbf") and content in ("i", "j", "k"):
            return [Token("id", f"vec {content}", spaced)]
        return _letters(content, spaced) if content.isalpha() else [_number_or_text(content, spaced)]
    if value != content and content.isalpha() and content.lower() not in ("or", "and"):
        return [Token("text", content, spaced)]
    if content.startswith("\\") and content[1:].isalpha():
        return [Token("cmd", content[1:], spaced)]
    if style in ("mathrm", "text") and content in _NAMED_FUNCTIONS:
        return [Token("cmd", content, spaced)]
    if content.lower() in ("or", "and"):
        return [Token("word", content.lower(), True)]
    return [_number_or_text(content, spaced)] if content else []


def _number_or_text(content: str, spaced: bool) -> Token:
    return Token("num" if content.isascii() and content.isdigit() else "text", content, spaced)


_FIRST_OF_WORDS = "\u0590"
"""The first letter behind those of Greek and Cyrillic: no variable is called by it."""


def _letters(run: str, spaced: bool) -> list[Token]:
    if len(run) == 1 and run < _FIRST_OF_WORDS:
        return [Token("id", run, spaced)]
    if run in words.WORD_COMMANDS:
        return [Token("cmd", words.WORD_COMMANDS[run], spaced)]
    if run in words.FUNCTIONS or run in words.FUNCTION_SYNONYMS:
        return [Token("cmd", run, spaced)]
    if not run.isascii() and any(c >= _FIRST_OF_WORDS for c in run):
        return [Token("text", run, spaced)]
    if run in _UNITS or (len(run) > 2 and (unit := units.key(run)) is not None and units.is_known(unit)):
        return [Token("unit", run, spaced)]
    if run in ("or", "and"):
        return [Token("word", run, spaced)]
    if run.isupper() and run.isascii():
        return [Token("id", run, spaced)]
    if _DIFFERENTIAL.fullmatch(run):
        return [Token("id", run, spaced)]
    if match := _FUNCTION_OF_LETTER.fullmatch(run):
        factor = [Token("id", match[1], spaced)] * bool(match[1])
        return [*factor, Token("cmd", match[2], spaced), Token("id", match[3], True)]
    if words.is_product(run) or (len(run) == 2 and run not in words.CONNECTIVES and run.isascii()):
        return [Token("id", letter, spaced and not index) for index, letter in enumerate(run)]
    return [Token("word", run, spaced)]
