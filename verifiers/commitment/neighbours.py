r"""The text beside a box. It can cancel the box (`2\boxed{21}`, "\boxed{42} is wrong"), name it, or give it a unit."""

import re

import msgspec

from verifiers.commitment.behind import is_denied
from verifiers.commitment.beside import Beside
from verifiers.commitment.cues import listed
from verifiers.commitment.latex import FUNCTIONS, OPERATORS, command_at, command_before, split
from verifiers.commitment.offers import Offer
from verifiers.commitment.wording import ends_in

_BESIDE_CHARS = 48
_OPENINGS = ("\\(", "\\[", "$", "=", ":", "：", "≈", ",", ";", "，", "。", "；", ".")
"""Signs before a box that leave it without a neighbour on its left."""
_BINDS_LEFT = frozenset("+/^<>≤≥≠√∛×·÷±∓∑∏∫")
_BINDS_IN_MATH = frozenset("-−*_|")
_GROUP = r"\\(?:end|text\w{0,6}|mathrm|mathbf|mbox|color|textcolor|tag)\s?\{[^{}]{0,40}\}"
_ITEM = r"(?:^|[\s$])\(?(?:[a-h]|[ivx]{1,4}|\d{1,2})[.)]"
_MARKUP_BEFORE = re.compile(rf"(?:<[/A-Za-z][^<>]{{0,20}}>|[-=]>|⇒|→|\\[,;:! ]|{_GROUP}|{_ITEM})$")
_LAYOUT = split("implies Rightarrow Longrightarrow rightarrow to therefore quad qquad displaystyle approx equiv in")
_FACTORS = FUNCTIONS | {"pi"}
_HIDES = split("cancel bcancel xcancel sout st xout phantom hphantom vphantom")
"""Commands that strike their content out, or show nothing of it."""
_SPACES = re.compile(r"(?:\s|\\[,;:! ]){0,4}")
_SIGN_BEHIND = re.compile(
    r"\^(?!\s?\{?\s?(?:\\circ|\\prime|°|'))|[²³⁰¹⁴-⁹√>≤≥≠×·÷±]|<(?![/A-Za-z|])|[-+−](?![->])|/(?!\w{0,8}>)|[*](?![*])"
)
_PER_UNIT = re.compile(r"/[\s$]{0,4}(?:\\(?:text|mathrm|textrm|mbox)\s?\{[~\s]*[A-Za-z]|[A-Za-z]{2,}(?![A-Za-z]*\())")
r"""The unit that a value is divided by: `\boxed{5} / \mathrm{cm}^3`, `\boxed{4} / can`."""
_TOUCHES_RIGHT = re.compile(r"[\dπ(]|[a-bijknp-rt-zIXYZ](?![A-Za-z])")
SPAN_ENDS = ("$", "\\)", "\\]", ".", ",", "\n", "}", ":")
"""Signs behind a box that leave it without a neighbour on its right, and without a unit."""
_NAME = re.compile(r"(?:^|[\s,;$({&\[])(\\?[A-Za-z]+(?:_\{?\w{1,4}\}?)?)\s{0,2}=[\s$]{0,3}$")
_UNIT_NAME = r"(?P<name>[A-Za-z]{1,4})(?:/[A-Za-z]{1,4})?(?:\^?\{?[23²³]\}?)?"
_NAMED_UNIT = rf"\\(?:text|mathrm|textrm|mbox)\s?\{{[~\s]*{_UNIT_NAME}\s?\}}(?:\^\{{?[23]\}}?)?"
_UNIT_BEHIND = re.compile(
    rf"(?:\s|\\[,;:! ]){{0,3}}(?P<unit>\\?%|％|\^\s?(?:\\circ|\{{\s?\\circ\s?\}})(?![A-Za-z])|°|{_NAMED_UNIT})"
)


def beside(start: int, box: Offer) -> tuple[int, int]:
    """The span of the text before a box that is read."""
    return max(start, box.outer_start - _BESIDE_CHARS), box.outer_start


def is_spoken_of(text: str, start: int, box: Offer) -> bool:
    r"""Whether the text only speaks about an empty box: "put it in \boxed{}"."""
    return ends_in(text[slice(*beside(start, box))].rstrip(_QUOTES), "form")


_QUOTES = " \t\n`\"'“‘$*(\\"


def stands_alone(text: str, start: int, end: int, box: Offer, neighbour: Beside) -> bool:
    r"""Whether a box alone is the answer: it has no factor, sign, bound or function (`2\boxed{21}`), and stands.

    A box behind `name =` or at the end of a chain of equations is the answer. Text outside its formula does not change
    it. What is read as a part of its value (`beside`) does not either.
    """
    prefix = text[max(start, box.outer_start - _BESIDE_CHARS) : box.outer_start]
    if prefix.rpartition("\n")[2].startswith("%"):  # a comment in LaTeX
        return False
    is_free = neighbour.before or prefix.endswith(_OPENINGS) or prefix.isspace()
    if not is_free and _binds_left(text, start, box.outer_start, prefix):
        return False
    if text.startswith(SPAN_ENDS, box.outer_end):
        if end - box.outer_end < 4:
            return not text.startswith(("?", "？"), end - 1) and not is_denied(
                text, start, (box.outer_start, box.outer_end), end
            )
    elif not neighbour.after and _binds_right(text, start, end, box.outer_end, prefix):
        return False
    span = box.outer_start, box.outer_end
    return not is_denied(text, start, span, end)


def _binds_left(text: str, start: int, position: int, prefix: str) -> bool:
    head = prefix.rstrip()
    last = head[-1:]
    if not last or head.endswith(_OPENINGS):
        return False
    if _is_markup(prefix) or _is_markup(head):
        return False
    if last in "{(":
        content = head[:-1].rstrip()
        if command := command_before(content):
            return command in FUNCTIONS or command in _HIDES
        if _is_markup(content):
            return False
        return (content[-1:].isalnum() or content[-1:] == "}") and _in_math(text, start, position)
    if last == "+" and (not head[:-1].strip() or head[:-1].rstrip().endswith(_OPENINGS)):
        return False  # a sign: "= +\\boxed{10}"
    if last in _BINDS_LEFT:
        return last != ">" or head.rpartition("\n")[2].strip("> ") != ""
    if command_before(head) in _FACTORS:
        return True
    if last in _BINDS_IN_MATH:
        adjacent = last in "-−|" and prefix == head and head[-2:-1] != last
        return adjacent or _in_math(text, start, position)
    return (last.isalnum() or last in ")}") and _in_math(text, start, position) and not _ends_with_word(head)


def _is_markup(prefix: str) -> bool:
    """Whether a text ends with markup that only arranges the formula behind it."""
    return command_before(prefix) in _LAYOUT or _MARKUP_BEFORE.search(prefix) is not None


def _ends_with_word(head: str) -> bool:
    r"""Whether a text ends with a word or a command without meaning (`\Large`), rather than with a factor."""
    return len(head) > 1 and head[-1].isalpha() and head[-2].isalpha()


def _in_math(text: str, start: int, position: int) -> bool:
    """Whether a position lies between delimiters of mathematics, as far as its paragraph shows."""
    paragraph = max(start, position - 400, text.rfind("\n\n", start, position))
    dollars = text.count("$", paragraph, position) - text.count("\\$", paragraph, position)
    if (dollars - text.count("$$", paragraph, position)) % 2:
        return True
    opening = max(text.rfind("\\(", paragraph, position), text.rfind("\\[", paragraph, position))
    return opening > max(text.rfind("\\)", paragraph, position), text.rfind("\\]", paragraph, position))


def _binds_right(text: str, start: int, end: int, position: int, prefix: str) -> bool:
    if position == end or text.startswith("**", position):
        return False
    if text[position] == "!":
        return _in_math(text, start, position) or not any(map(str.isalpha, prefix.rpartition("\n")[2]))
    if unit_behind(text, position, end) is not None:
        return False
    if _TOUCHES_RIGHT.match(text, position, end):
        return text[position] != "(" or _in_math(text, start, position)
    first = min(end, _SPACES.match(text, position, end).end())  # type: ignore[union-attr]  # matches nothing, too
    if _PER_UNIT.match(text, first, end):
        return False
    command = command_at(text, first)
    if command not in OPERATORS and command != "pi" and _SIGN_BEHIND.match(text, first, end) is None:
        return False
    return not text[position].isspace() or _in_math(text, start, position)


def with_name(text: str, start: int, box: Offer) -> Offer:
    r"""The same box, with its name if it has one: `x` for `x = \boxed{42}`."""
    match = _NAME.search(text, *beside(start, box))
    return box if match is None else msgspec.structs.replace(box, name=match[1])


def unit_behind(text: str, position: int, end: int) -> tuple[int, int] | None:
    """The unit directly behind a box, in the same formula."""
    if position == end or text[position] not in " \\%％^°" or text.startswith(SPAN_ENDS, position):
        return None
    match = _UNIT_BEHIND.match(text, position, end)
    return None if match is None or match["name"] in listed("short") else match.span("unit")
