r"""Tells when a text behind a mark announces another name than that of the mark.

    \boxed{Paris}  The correct answer is Lyon.     another one
    \boxed{no}     The answer is yes.              another one
    \boxed{Paris}  The answer is Paris, France.    the same with more words
    \boxed{Paris}  The answer is based on the map. no name

A name has few words. It is written with a capital or in a script that has none, or the text sets it off: "Answer: red", "the correct
answer is red". A name that holds the other one is no other name.
"""

import re
from collections.abc import Sequence

from verifiers.commitment.cues import Cue, Kind, cues, listed, words
from verifiers.commitment.folding import fold
from verifiers.commitment.offers import Offer
from verifiers.commitment.slots import is_word

_MAX_WORDS = 6
_MAX_CHARS = 120
_UNCASED = "\u0590"
_FORMULA = re.compile(r"[\d\\$^=+*/<>{}]")
_HELD = re.compile(r"(?=[^\W\d_]|[^\x00-\x7f])[^\\$^=+*/<>{}]{2,}")
_COMMAND = re.compile(r"\\(?:text(?:bf|it|rm|sf|normal)?|math(?:rm|bf|it|sf)|mbox)\s?\{([^{}]*)\}")
_WORDS = "*_`\"“”'’.,!。 "
_SETS_OFF = (":", "：", "**", "__", '"', "“", "`")
_RIGHT = frozenset([Kind.RIGHT])
_NAMED = frozenset([Kind.THE])


def holds_name(text: str, offer: Offer) -> bool:
    """Whether a mark holds words, and not a number or a formula."""
    held = _name(text[offer.start : offer.end])
    return _HELD.fullmatch(held) is not None


def is_another_name(text: str, offer: Offer, later: Offer) -> bool:
    """Whether an announcement names something else than an earlier mark, which holds a name."""
    held, announced = _name(text[offer.start : offer.end]), _name(text[later.start : later.end])
    if not announced or len(held) + len(announced) > _MAX_CHARS:
        return False
    truths = [_truth(held), _truth(announced)]
    if any(truths):
        return all(truths) and truths[0] != truths[1]
    held_words, announced_words = f" {held.casefold()} ", f" {announced.casefold()} "
    if held_words.strip() in announced_words or announced_words.strip() in held_words:
        return False
    return _is_name(text, later, announced)


def _name(text: str) -> str:
    return fold(_COMMAND.sub(r"\1", text)).strip(_WORDS)


def _truth(name: str) -> str:
    """The list of words for true or false that a name is one of; empty if it is none of them."""
    return next((kind for kind in ("truth", "untruth") if name.casefold() in listed(kind)), "")


def _is_name(text: str, later: Offer, name: str) -> bool:
    phrase = words(name)
    signals = cues(phrase)
    if len(name) == 1 or _FORMULA.search(name) or any(cue.kind is Kind.IS for cue in signals):
        return False
    if name[0] >= _UNCASED:
        return not signals and len(phrase) <= 2 * _MAX_WORDS
    if len(phrase) > _MAX_WORDS or not any(map(is_word, phrase)) or _is_said(signals, len(phrase)):
        return False
    lead = text[later.outer_start : later.start].rstrip(" ")
    is_set_off = lead.endswith(_SETS_OFF) or any(cue.kind in _RIGHT for cue in cues(words(lead)))
    return is_set_off or name[0].isupper()


def _is_said(signals: Sequence[Cue], count: int) -> bool:
    """Whether cues begin a text or make up all of it, so that it is no name: "boxed above", "Based on the map"."""
    if any(cue.first == 0 and cue.kind not in _NAMED for cue in signals):
        return True
    return len({at for cue in signals for at in range(cue.first, cue.stop)}) == count
