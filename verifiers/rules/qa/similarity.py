"""The likeness of a longer text and a reference, in exact shares of words.

    wer     1 − edits / words of the reference, not below 0 (Video-R1's OCR reward)
    rouge   F1 of words, of pairs of words, or of the longest common subsequence (Lin 2004), without stemming

The values are those of jiwer and of rouge-score without stemming, which would drop every letter beyond a to z. Unlike
there, Chinese, Japanese and Korean characters are words, and surplus words do not bring `wer` below 0.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from rapidfuzz.distance import LCSseq, Levenshtein

from verifiers.rules.qa.overlap import harmonic
from verifiers.rules.qa.words import Normalise, words

Rouge = Literal["1", "2", "l", "mean"]


def wer(answer: str, reference: str, normalise: Normalise) -> Fraction:
    given, wanted = words(answer, normalise), words(reference, normalise)
    return max(Fraction(0), 1 - Fraction(edits(given, wanted), len(wanted)))


def rouge(answer: str, reference: str, normalise: Normalise, kind: Rouge) -> Fraction:
    given, wanted = words(answer, normalise), words(reference, normalise)
    if kind == "mean":
        return sum((_rouge(given, wanted, each) for each in ("1", "2", "l")), Fraction(0)) / 3
    return _rouge(given, wanted, kind)


def _rouge(given: Sequence[str], wanted: Sequence[str], kind: str) -> Fraction:
    if kind == "l":
        return harmonic(common_subsequence(given, wanted), len(given), len(wanted))
    if kind == "2":
        given, wanted = [f"{a} {b}" for a, b in pairwise(given)], [f"{a} {b}" for a, b in pairwise(wanted)]
    return harmonic(sum((Counter(given) & Counter(wanted)).values()), len(given), len(wanted))


def edits(given: Sequence[str], wanted: Sequence[str]) -> int:
    """The number of insertions, deletions and substitutions that turn one sequence of words into the other."""
    return Levenshtein.distance(*_numbered(given, wanted))


def common_subsequence(given: Sequence[str], wanted: Sequence[str]) -> int:
    """The length of the longest sequence of words that stands in both, not necessarily in a row."""
    return LCSseq.similarity(*_numbered(given, wanted))


def _numbered(given: Sequence[str], wanted: Sequence[str]) -> tuple[list[int], list[int]]:
    """The words as numbers. Rapidfuzz would compare their hashes, which every process salts anew."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(word, len(numbers)) for word in given], [
        numbers.setdefault(word, len(numbers)) for word in wanted
    ]
