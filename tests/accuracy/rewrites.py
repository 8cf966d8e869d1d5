r"""Ways in which a model may write the very answer of a reference. A grader must accept each of them.

    plain       Answer: \frac{1}{2}+x                  the text itself, on the answer line
    dollars     The final answer is $\frac{1}{2}+x$.
    boxed       ... $\boxed{\frac{1}{2}+x}$.
    spaced      ... $\boxed{\frac{ 1 }{ 2 }\,+ x}$.    other spaces, only where TeX ignores them
    fractions   ... $\boxed{1/2+x}$.                   \frac{a}{b} as a/b, and a/b as \frac{a}{b}
    alone       \frac{1}{2}+x, $\frac{1}{2}+x$         with nothing around it, which asks the most of extraction

A rewrite keeps the meaning of every reference, or gives None: not all ways apply to every reference. A reference is
taken without the `$` around all of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_WORK = "We work it out step by step.\n\n"


class Rewrite(StrEnum):
    """A way to write an answer."""

    PLAIN = "plain"
    DOLLARS = "$...$"
    BOXED = "boxed"
    SPACED = "boxed, spaced differently"
    FRACTIONS = r"boxed, \frac as /, / as \frac"
    ALONE = "alone"
    ALONE_IN_DOLLARS = "alone, $...$"


ANNOUNCED = (Rewrite.PLAIN, Rewrite.DOLLARS, Rewrite.BOXED, Rewrite.SPACED, Rewrite.FRACTIONS)
"""The ways that announce the answer."""


def response(reference: str, rewrite: Rewrite) -> str | None:
    """A response with the reference as its answer, written in this way. None if that is impossible."""
    answer = bare(reference)
    line = _one_line(answer)
    match rewrite:
        case Rewrite.PLAIN:
            return line and f"{_WORK}Answer: {line}"
        case Rewrite.ALONE:
            return line
        case Rewrite.BOXED:
            return _boxed(answer)
        case _ if not _has_no_dollar(answer) or _is_prose(answer):
            return None  # the reference is partly text: the bounds of its mathematics would change
        case Rewrite.DOLLARS:
            return line and f"{_WORK}The final answer is ${line}$."
        case Rewrite.ALONE_IN_DOLLARS:
            return line and f"${line}$"
        case Rewrite.SPACED:
            return _changed(answer, spaced(answer))
        case Rewrite.FRACTIONS:
            return _changed(answer, fractions_as_slashes(answer)) or _changed(answer, slashes_as_fractions(answer))


def bare(reference: str) -> str:
    r"""A reference without the `$`, `$$`, `\(` or `\[` around all of it."""
    text = reference.strip()
    for opening, closing in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
        inner = text[len(opening) : len(text) - len(closing)]
        is_wrapped = len(text) > len(opening + closing) and text.startswith(opening) and text.endswith(closing)
        if is_wrapped and _has_no_dollar(inner) and opening not in inner and closing not in inner:
            return inner.strip()
    return text


def _boxed(answer: str) -> str | None:
    return f"{_WORK}Therefore the final answer is $\\boxed{{{answer}}}$." if _is_balanced(answer) else None


def _changed(answer: str, rewritten: str) -> str | None:
    return None if rewritten == answer else _boxed(rewritten)


def _one_line(answer: str) -> str | None:
    """The text on one line. TeX takes a single line break for a blank. Several paragraphs or sentences are not answers
    line.
    """
    lines = [line.strip() for line in answer.splitlines()]
    if not all(lines) or (_is_prose(answer) and _NEXT_SENTENCE.search(answer)):
        return None
    return " ".join(lines)


def _is_prose(answer: str) -> bool:
    r"""Whether the text has words, separated by blanks, outside of `\text{}` and similar commands."""
    outside = " ".join(token.text if token.kind == "letters" else "." for token in _tokens(answer))
    return re.search(r"[^\W\d_]{2,} [^\W\d_]|[^\W\d_] [^\W\d_]{2,}", outside) is not None


_NEXT_SENTENCE = re.compile(r"[.!?]\s+(?=[A-Z(])")


def _has_no_dollar(text: str) -> bool:
    return re.search(r"(?<!\\)\$", text) is None


def _is_balanced(text: str) -> bool:
    """Whether braces match, so that a box around the text ends with the text."""
    depth = 0
    for brace in re.findall(r"\\.|[{}]", text, re.DOTALL):
        depth += (brace == "{") - (brace == "}")
        if depth < 0:
            return False
    return depth == 0 and not re.search(r"(?<!\\)(?:\\\\)*\\$", text)


# --- tokens


@dataclass(frozen=True, slots=True)
class _Token:
    """`kind` is opaque (words, environments), command, number, letters or sign."""

    kind: str
    text: str
    space: str
    """The white space before it."""


_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<opaque>\\begin\s*\{[^{}]*\}(?:\{[^{}]*\})?|\\end\s*\{[^{}]*\}"
    r"|\\(?:text[a-z]*|mbox|hbox|math[a-z]+|operatorname\*?|[hv]space\*?|phantom|color|tag|label)\s*\{[^{}]*\})"
    r"|(?P<command>\\[A-Za-z]+|\\.)"
    r"|(?P<number>(?:\d+(?:(?:[.,]|\{,\}|,?\\!)\d+)*|\.\d+)(?:[eE][-+]?\d+)?)"
    r"|(?P<letters>[^\W\d_]+)"
    r"|(?P<sign>.)",
    re.DOTALL,
)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    space = ""
    for match in _TOKEN.finditer(text):
        if match["space"]:
            space = match["space"]
            continue
        tokens.append(_Token(match.lastgroup or "", match[0], space))
        space = ""
    return tokens


_OPERATOR_COMMANDS = re.compile(
    r"\\(?:leq?|leqslant|geq?|geqslant|lt|gt|neq?|in|approx|cup|cap|setminus|cdot|times|pm|mp|to|equiv|subset(?:eq)?)"
)
_OPERATORS = frozenset("+-=<>/,;")
_OPTIONAL_ARGUMENT = re.compile(r"\\(?:sqrt|\\)\s*\[")
_OPENING, _CLOSING = frozenset(["(", "[", r"\{"]), frozenset([")", "]", r"\}"])


# --- spaces


def spaced(answer: str) -> str:
    r"""The answer with spaces added, and with other spaces removed.

    Spaces change only beside operators, commas and brackets, and inside braces, and never beside words: there TeX
    itself sets the distance. `2 1/4`, `1,234`, `\text{no solution}`, `x^-1` and `5-day` stay the same.
    """
    tokens = _tokens(answer)
    if _OPTIONAL_ARGUMENT.search(answer):
        return answer
    parts: list[str] = []
    for index, token in enumerate(tokens):
        before = tokens[:index]
        gap = token.space
        if before and _is_free(before, token, tokens[index + 1 :]):
            gap = _toggled(before[-1], token, thin=len(parts) % 4 == 2)
        parts += [gap, token.text]
    return "".join(parts)


def _is_free(before: list[_Token], token: _Token, after: list[_Token]) -> bool:
    """Whether the space between two tokens has no meaning."""
    left, right = before[-1], token
    if any(side.kind == "letters" and len(side.text) > 1 for side in (left, right)):
        return False
    if "{" in (left.text, right.text) or right.text == "}":
        return left.text not in ("$", "_", "^") and (left.kind == "command" or left.text in "{}" or right.text == "}")
    if left.text in _OPENING or right.text in _CLOSING:
        return left.text not in (r"\left", r"\right") and left.text[-1] not in "|.$^_"
    operator = next((side for side in (left, right) if _is_operator(side)), None)
    if operator is None:
        return False
    around = before[-2:-1] if operator is left else after[:1]
    return not any(_clings(side) for side in (left, right, *around))


def _is_operator(token: _Token) -> bool:
    return token.text in _OPERATORS or _OPERATOR_COMMANDS.fullmatch(token.text) is not None


def _clings(token: _Token) -> bool:
    """Whether a sign beside this token may be something else than an operator: a hyphen, an exponent, punctuation."""
    if token.kind in ("letters", "number", "opaque"):
        return token.kind == "letters" and len(token.text) > 1
    if token.kind == "command":
        return re.fullmatch(r"\\(?:[^A-Za-z{}]|left|right|[bB]ig+[lr]?|q?quad)", token.text) is not None
    return token.text in "^_.:!'\"%&$#~|*@`" or not token.text.isascii()


def _toggled(left: _Token, right: _Token, thin: bool) -> str:
    if not right.space:
        is_inside_braces = "{" in (left.text, right.text) or right.text == "}"
        return "\\," if thin and not is_inside_braces else " "
    is_list_of_numbers = left.text == "," and right.kind == "number"
    is_end_of_command = left.kind == "command" and left.text[-1].isalpha() and right.text[0].isalpha()
    is_like_a_power_of_ten = left.text in ("e", "E") or right.text in ("e", "E")  # for example `6e - 10`
    return right.space if is_list_of_numbers or is_end_of_command or is_like_a_power_of_ten else ""


# --- fractions

_FRACTION = re.compile(r"\\[dtc]?frac(?![A-Za-z])")
_SIMPLE = re.compile(r"\d+(?:\.\d+)?|[A-Za-z]|\\(?:pi|alpha|beta|gamma|theta|lambda|mu|phi)")
_NO_NUMBER = re.compile(
    r"\\(?:text|mathrm|mbox|begin|end|\\)|[=<>,;&$]|\\(?:le|ge|leq|geq|ne|neq|partial)(?![A-Za-z])|^\s*d"
)
_WEAK_BEFORE = re.compile(r"(?:^|[-+=<>(\[{,;]|\\(?:le|leq|ge|geq|ne|neq|in|pm|mp|cup|approx|to)\s)\s*$")
"""Tokens that bind no closer than a sum, so that a quotient behind them needs no parentheses."""
_WEAK_AFTER = re.compile(r"\s*(?:$|[-+=<>)\]},;]|\\(?:le|leq|ge|geq|ne|neq|pm|mp|cup|right|approx|to|\})(?![A-Za-z]))")
_STRONG_BEFORE = re.compile(r"\\(?:cdot|times)\s*$")
_EXPONENT_SIGN = re.compile(r"[\^_]\s*[-+]\s*$")


def fractions_as_slashes(answer: str) -> str:
    r"""`\frac{a}{b}` as `a/b`, with the needed parentheses.

    It does not apply behind a factor or a whole number (`2\frac{1}{2}`), to derivatives, or to fractions with words.
    """
    parts: list[str] = []
    position = 0
    while match := _FRACTION.search(answer, position):
        parts.append(answer[position : match.start()])
        position = match.end()
        arguments = _arguments(answer, position)
        quotient = None
        if arguments is not None:
            top, bottom, end = arguments
            quotient = _quotient(answer[: match.start()], top, bottom, answer[end:])
        if arguments is None or quotient is None:
            parts.append(match[0])
        else:
            parts.append(quotient)
            position = end
    return "".join((*parts, answer[position:]))


def _quotient(before: str, top: str, bottom: str, after: str) -> str | None:
    if _NO_NUMBER.search(top) or _NO_NUMBER.search(bottom) or _EXPONENT_SIGN.search(before):
        return None
    is_weak = _WEAK_BEFORE.search(before) is not None
    if not is_weak and not _STRONG_BEFORE.search(before):
        return None
    if re.match(r"\s*\d", after):
        return None
    quotient = "/".join(
        side if _SIMPLE.fullmatch(side) else f"({fractions_as_slashes(side)})" for side in (top.strip(), bottom.strip())
    )
    return quotient if is_weak and _WEAK_AFTER.match(after) else f"({quotient})"


def _arguments(text: str, position: int) -> tuple[str, str, int] | None:
    """The two arguments of a fraction, in braces or one character each, and the place where they end."""
    found: list[str] = []
    for _ in range(2):
        while position < len(text) and text[position].isspace():
            position += 1
        if position < len(text) and text[position].isdigit():
            found.append(text[position])
            position += 1
            continue
        end = next(_group_ends(text, position), None)
        if end is None or not text[position + 1 : end - 1].strip():
            return None
        found.append(text[position + 1 : end - 1])
        position = end
    return found[0], found[1], position


def _group_ends(text: str, position: int) -> Iterator[int]:
    depth = 0
    for brace in re.compile(r"\\.|[{}]|[^{}\\]+", re.DOTALL).finditer(text, position):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if depth <= 0:
            if brace[0] == "}":
                yield brace.end()
            return


_SLASH = re.compile(r"(?<![\d.])(\d+|\\pi)\s*/\s*(\d+)(?![\d.]|,\d)")


def slashes_as_fractions(answer: str) -> str:
    r"""`3/4` as `\frac{3}{4}`, unless a neighbour belongs to it, as in `2 1/4`, `1/2x`, `x^1/2` or `3/4/2020`."""

    def as_fraction(match: re.Match[str]) -> str:
        before, after = answer[: match.start()], answer[match.end() :]
        is_apart = _WEAK_BEFORE.search(before) and _WEAK_AFTER.match(after)
        is_part_of_number = re.search(r"\d,$", before) or _EXPONENT_SIGN.search(before)
        return f"\\frac{{{match[1]}}}{{{match[2]}}}" if is_apart and not is_part_of_number else match[0]

    return _SLASH.sub(as_fraction, answer)
