"""Finds the answer of a response that marks none: its last line, or what its last sentence says that something is.

    NO2                                 **CuSO4 · 5 H2O**
    The formula of water is H2O.        So the compound is sodium chloride, NaCl.

A sentence of prose reads neither as a formula nor as a SMILES, so whatever reads as one is meant as one. An answer that
the sentence denies, doubts or asks about is not stated.
"""

import re
from collections.abc import Callable, Iterator

from verifiers.commitment import ExtractionParams, final_segment
from verifiers.commitment.courtesies import without_courtesy
from verifiers.commitment.cues import Kind
from verifiers.commitment.spans import Span, trim
from verifiers.commitment.stance import UNMADE, Sentence, sentences

_MAX_CHARS = 600
"""The last line or sentence is looked for in this many characters at the end."""
_LEADS = frozenset([Kind.IS, Kind.SO])
_APART = re.compile(r"[,:][*_]{0,3}\s")
"""What stands between a name or a label and its formula: "sodium chloride, NaCl", "**SMILES:** OCC"."""


def stated(response: str, params: ExtractionParams, reads: Callable[[str], bool]) -> Span | None:
    """The place of the answer; None if nothing that `reads` accepts is stated at the end."""
    segment = final_segment(response, params.think)
    if segment.reason != "found":
        return None
    end = without_courtesy(response, segment.start, segment.end)
    begin = max(segment.start, end - _MAX_CHARS)
    line = trim(response, max(begin, response.rfind("\n", begin, end) + 1), end)
    if reads(response[slice(*line)]):
        return line
    *_, last = [None, *sentences(response, begin, end)]
    if last is None or last.asks:
        return None
    for span in _said(last, reads):
        if reads(response[slice(*span)]):
            return None if last.stance(span) in UNMADE else span
    return None


def _said(sentence: Sentence, reads: Callable[[str], bool]) -> Iterator[Span]:
    """What may be said at the end of a sentence: all behind a verb or a conclusion, or what follows a name or a label.

    Of two answers with a comma between them none is said.
    """
    text, end = sentence.text, sentence.end
    starts = sorted({sentence.words[cue.stop - 1].end for cue in sentence.cues if cue.kind in _LEADS})
    for start in starts:
        yield trim(text, start, end)
    aparts = [*_APART.finditer(text, sentence.start, end)]
    before = [max([sentence.start, *(start for start in starts if start <= apart.start())]) for apart in aparts]
    if not any(reads(text[slice(*trim(text, start, at.start()))]) for start, at in zip(before, aparts, strict=True)):
        yield from (trim(text, apart.end(), end) for apart in reversed(aparts))
