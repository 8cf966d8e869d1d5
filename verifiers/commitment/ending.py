"""Finds an answer in a notation of its own that nothing marks: the last line, or what the last sentence says something is.

    NO2                                 **CuSO4 · 5 H2O**
    The formula of water is H2O.        So the compound is sodium chloride, NaCl.

A sentence of prose reads neither as a formula nor as a SMILES, so whatever reads as one is meant as one. An answer that
the sentence denies, doubts or asks about is not stated.
"""

import re
from collections.abc import Callable, Iterator

from verifiers.commitment.courtesies import without_courtesy
from verifiers.commitment.cues import Kind, listed
from verifiers.commitment.parameters import ExtractionParams
from verifiers.commitment.segment import final_segment
from verifiers.commitment.spans import Span, trim
from verifiers.commitment.stance import UNMADE, Sentence, sentences

_MAX_CHARS = 600
"""The last line or sentence is looked for in this many characters at the end."""
_LEADS = frozenset([Kind.IS, Kind.SO])
_APART = re.compile(r"[,:][*_]{0,3}\s|[，：][*_]{0,3}\s?")
"""What stands between a name or a label and its formula: "sodium chloride, NaCl", "**SMILES:** OCC"."""
_IN_BRACKETS = re.compile(r"(?:\s\(|（)(?P<formula>[^\s()]{1,60}(?:\([^\s()]{1,20}\)[^\s()]{0,20})?)[)）][*_]{0,3}")
_FORMULA = re.compile(r"(?<!\S)[(\\$*]{0,3}(?=[^\s,;]*[A-Z][^\s,;]*[A-Z\d])[^\s,;]{2,60}")
"""A word with a capital, and a figure or another capital: the formula in "it forms CO2, not CO"."""


def stated_at_end(response: str, params: ExtractionParams, reads: Callable[[str], bool]) -> Span | None:
    """The place of the answer; None if nothing that `reads` accepts is stated at the end."""
    segment = final_segment(response, params.think)
    if segment.reason != "found":
        return None
    end = without_courtesy(response, segment.start, segment.end)
    start = max(segment.start, end - _MAX_CHARS)
    line = trim(response, max(start, response.rfind("\n", start, end) + 1), end)
    if reads(response[slice(*line)]):
        return line
    *_, last = [None, *(sentence for sentence in sentences(response, start, end) if not _is_unreal(sentence))]
    if last is None or last.asks:
        return None
    for span in _said(last, reads):
        if reads(response[slice(*span)]):
            return None if last.stance(span) in UNMADE or last.is_told_before(span) else span
    return None


def _said(sentence: Sentence, reads: Callable[[str], bool]) -> Iterator[Span]:
    """What may be said at the end of a sentence: all behind a verb or a conclusion, or what follows a name or a label.

    Of two answers with a comma between them none is said.
    """
    text, end = sentence.text, sentence.end
    if (bracket := _IN_BRACKETS.search(text, sentence.start, end)) and not text[bracket.end() : end].strip(" ."):
        yield bracket.span("formula")
    origins = sorted({sentence.words[cue.stop - 1].end for cue in sentence.cues if cue.kind in _LEADS})
    for start in origins:
        yield trim(text, start, end)
    aparts = [*_APART.finditer(text, sentence.start, end)]
    indices = [max([sentence.start, *(start for start in origins if start <= match.start())]) for match in aparts]
    if not any(reads(text[slice(*trim(text, start, at.start()))]) for start, at in zip(indices, aparts, strict=True)):
        yield from (trim(text, match.end(), end) for match in reversed(aparts))
    formulas = [trim(text, *hit.span()) for hit in _FORMULA.finditer(text, sentence.start, end)]
    stated = [span for span in formulas if _is_stated(sentence, span)]
    yield from stated if len(stated) == 1 else ()


def _is_unreal(sentence: Sentence) -> bool:
    return Kind.IF in sentence.kinds and any(word.text in listed("conditional") for word in sentence.words)


def _is_stated(sentence: Sentence, span: Span) -> bool:
    """Whether nothing denies a formula, or makes it part of a name: "no CO2 is formed", "an isomer of C2H6O"."""
    first = sentence.skipped(sentence.place(span)[0])
    is_part = first > 0 and sentence.words[first - 1].text in listed("of")
    # Letters alone may be any name: they are stated where words lead to them.
    has_figure = any(map(str.isdigit, sentence.text[slice(*span)]))
    if not has_figure and sentence.ends_in(first, *(_LEADS | {Kind.BUT})) is None:
        return False
    return sentence.stance(span) not in UNMADE and not is_part and sentence.ends_in(first, *_NO) is None


_NO = frozenset([Kind.NO, Kind.NOT])


def is_clause(text: str) -> bool:
    """Whether a text says that something is something, so that it is not a name."""
    return Kind.IS in Sentence(text, 0, len(text), "").kinds


def same_truths(words: str) -> frozenset[str] | None:
    """The words of all languages that say the same as yes or no; None for other words.

    A statement is true if the question whether it holds is answered by yes.
    """
    if words == "right":  # a direction, or an angle
        return None
    return next((listed(kind) for kind in ("truth", "untruth") if words in listed(kind)), None)
