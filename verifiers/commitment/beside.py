r"""What stands directly beside a mark that holds a number: a part of its value, or words that make another value of it.

    read into the value     minus \boxed{42}   $-\boxed{42}$   \boxed{3} and a half   \boxed{42} million   \boxed{3}/5
    not an answer           half of \boxed{42}   \boxed{42} squared   \boxed{42} times 5   \boxed{42} or more

Words that lead to a value change nothing: "a remainder of \boxed{3}", "\boxed{3} mod 7", "\boxed{42} times".
"""

import re
from typing import NamedTuple

from verifiers.commitment.amounts import bound_behind, negative_before, operates_on_figures
from verifiers.commitment.around import formula_at
from verifiers.commitment.cues import Cue, Kind, Word, cues, listed, words
from verifiers.commitment.figures import OPERAND_BEFORE
from verifiers.commitment.glance import ends_with
from verifiers.commitment.language import languages_around
from verifiers.commitment.offers import Offer
from verifiers.numerals import parts
from verifiers.numerals.scales import scale_word

_CHARS = 48
_NUMBER = re.compile(r"[\d.,]{0,24}\d|\\[dt]?frac\{\d{1,9}\}\{\d{1,9}\}|\d{1,9}/\d{1,9}")
_SIGN = re.compile(r"[-−]\Z")
_LEADS_TO_SIGN = re.compile(r"(?:[$=:：≈(]|\\[(\[]|\\approx)\s?\Z")
_OPENS = " \t$*(`"
_CLOSES = re.compile(r"(?:[\s$*)`]|\\[)\]]){0,6}")
_POWER = r"\s?(?:\\times|\\cdot|×|·)\s?10\s?(?:\^\s?(?:\{\s?[-−]?\d{1,3}\s?\}|[-−]?\d{1,3})|[⁻⁰¹²³⁴-⁹]{1,4})"
_FACTOR = re.compile(
    rf"(?:\s?/\s?\d{{1,9}}|{_POWER}|\s?(?:\\pi(?![A-Za-z])|π))(?=[\s$.,;:)*]|\\[)\],;]|\Z)(?!\s?[-+*/=^])"
)
_COMMA = re.compile(r"(?:\s|\\[ ,;])?,")
_LISTED = re.compile(r"(?:\s|\\[ ,;])?,(?:\s|\\[ ,;]){0,2}[-−]?\d[\d.]{0,24}\s?\Z")
_SUM = re.compile(r"[+×÷]\s?\d[\d.,]{0,24}(?=[\s$.]*\Z)")
r"""The rest of a sum that is all of a line: `\boxed{42} + 5`."""
_OPERATORS = frozenset([Kind.PART, Kind.MADE])


class Beside(NamedTuple):
    """The signs and words beside a number that belong to its value."""

    before: str = ""
    after: str = ""
    is_other: bool = False
    """Whether words or signs make another value of the number, which is not read."""


PLAIN = Beside()


def read_beside(text: str, start: int, end: int, mark: Offer) -> Beside:
    """What stands beside a mark between two places of a text; nothing if the mark holds no plain number."""
    if _NUMBER.fullmatch(text, mark.start, mark.end) is None:
        return PLAIN
    head = text[max(start, mark.outer_start - _CHARS) : mark.outer_start].rpartition("\n")[2]
    tail = text[mark.outer_end : min(end, mark.outer_end + _CHARS)].partition("\n")[0]
    prefix, suffix = _sign(head), _factor(tail) or _words_behind(text, mark, tail)
    is_other = (
        (not prefix and _is_operand(head)) or (not suffix and _is_operated(tail)) or _is_listed(text, mark, start, end)
    )
    return Beside(prefix, suffix, is_other)


def _sign(head: str) -> str:
    """A minus before a number, in figures, if no operand stands before it."""
    if _SIGN.search(head):
        lead = head[:-1]
        is_led = not lead or _LEADS_TO_SIGN.search(lead) or ends_with(lead.rstrip(), Kind.IS)
        return "-" if is_led else ""
    if not (head.rstrip(_OPENS)[-1:].isalpha() and (word := negative_before(head))):
        return ""
    return "" if OPERAND_BEFORE.search(head[: len(head) - len(word)]) else "-"


def _factor(tail: str) -> str:
    """A divisor, a power of ten or π that ends the formula of a number."""
    factor = _FACTOR.match(tail)
    return factor[0] if factor else ""


def _words_behind(text: str, mark: Offer, tail: str) -> str:
    """A fraction or a scale in words: "and a half", "million"."""
    gap = _CLOSES.match(tail)
    position = gap.end() if gap else 0
    if not tail[position : position + 1].isalpha():
        return ""
    figures, glue = text[mark.start : mark.end], " " if tail[position] < _UNSPACED else ""
    display = f"{figures}{glue}{tail[position:]}"
    if span := parts.whole(display, 0, len(figures), len(display)):
        return display[len(figures) : span[1]]
    scale = scale_word(tail[position:], frozenset())
    around = languages_around(text, mark.outer_start, mark.outer_end + position + len(scale), scale) if scale else _NONE
    return glue + scale if scale and scale_word(tail[position:], around) == scale else ""


_NONE: frozenset[str] = frozenset()
_UNSPACED = "\u0e00"


def _is_operand(head: str) -> bool:
    """Whether the words before a number make it the operand of an operation: "half of", "8 minus"."""
    bare = head.rstrip(_OPENS)
    if not bare[-1:].isalpha():
        return False
    phrase = words(bare)
    return any(
        cue.stop == len(phrase) and _operates(phrase, cue, bare) for cue in cues(phrase) if cue.kind is Kind.PART
    )


def _operates(wording: list[Word], cue: Cue, text: str) -> bool:
    """Whether a phrase operates on what follows it; one that stands between two values needs the first of them."""
    if _is_valued(wording, cue):
        return False
    phrase = text[wording[cue.first].start : wording[cue.stop - 1].end].casefold()
    return phrase not in listed("infixes") or OPERAND_BEFORE.search(text[: wording[cue.first].start]) is not None


def _is_operated(tail: str) -> bool:
    """Whether the words behind a number make another value or a limit of it: "squared", "times 5", "or more", 以上."""
    suffix = tail[_CLOSES.match(tail).end() :]  # type: ignore[union-attr]  # matches nothing, too
    if not suffix[:1].isalpha():
        return _SUM.match(suffix) is not None
    phrase = words(suffix)
    for cue in cues(phrase):
        if cue.first == 0 and cue.kind in _OPERATORS and not _is_valued(phrase, cue):
            is_with_figures = cue.stop < len(phrase) and phrase[cue.stop].text[0].isdigit()
            if cue.kind is Kind.MADE or is_with_figures:
                return True
    return operates_on_figures(suffix) or bool(bound_behind(suffix))


def _is_valued(phrase: list[Word], cue: Cue) -> bool:
    """Whether a phrase names what a value is, rather than changes it: "a remainder of", "mod"."""
    return not listed("valued").isdisjoint(word.text for word in phrase[cue.first : cue.stop])


def _is_listed(text: str, mark: Offer, start: int, end: int) -> bool:
    r"""Whether other numbers follow a number in its formula: `$\boxed{1}, 2$`."""
    if _COMMA.match(text, mark.outer_end) is None:
        return False
    formula = formula_at(
        text,
        max(start, mark.outer_start - _CHARS),
        (mark.outer_start, mark.outer_end),
        min(end, mark.outer_end + _CHARS),
    )
    return formula is not None and _LISTED.fullmatch(text, mark.outer_end, formula[1]) is not None
