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
    lhs, rhs = words(answer, normalise), words(reference, normalise)
    return max(Fraction(0), 1 - Fraction(edits(lhs, rhs), len(rhs)))


def rouge(answer: str, reference: str, normalise: Normalise, kind: Rouge) -> Fraction:
    lhs, rhs = words(answer, normalise), words(reference, normalise)
    if kind == "mean":
        return sum((_rouge(lhs, rhs, variant) for variant in ("1", "2", "l")), Fraction(0)) / 3
    return _rouge(lhs, rhs, kind)


def _rouge(lhs: Sequence[str], rhs: Sequence[str], kind: str) -> Fraction:
    if kind == "l":
        return harmonic(common_subsequence(lhs, rhs), len(lhs), len(rhs))
    if kind == "2":
        lhs, rhs = [f"{a} {b}" for a, b in pairwise(lhs)], [f"{a} {b}" for a, b in pairwise(rhs)]
    return harmonic(sum((Counter(lhs) & Counter(rhs)).values()), len(lhs), len(rhs))


def edits(lhs: Sequence[str], rhs: Sequence[str]) -> int:
    """The number of insertions, deletions and substitutions that turn one sequence of words into the other."""
    return Levenshtein.distance(*_numbered(lhs, rhs))


def common_subsequence(lhs: Sequence[str], rhs: Sequence[str]) -> int:
    """The length of the longest sequence of words that stands in both, not necessarily in a row."""
    return LCSseq.similarity(*_numbered(lhs, rhs))


def _numbered(lhs: Sequence[str], rhs: Sequence[str]) -> tuple[list[int], list[int]]:
    """The words as numbers. Rapidfuzz would compare their hashes, which every process salts anew."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(word, len(numbers)) for word in lhs], [
        numbers.setdefault(word, len(numbers)) for word in rhs
    ]
