"""The likeness of a translation and a reference, measured by n-grams of words or characters.

    bleu    sentence BLEU with mteval-v13a's words, orders up to 4, exponential smoothing and effective order (Post 2018)
    chrf    F2 of character n-grams, orders 1 to 6, without spaces (Popović 2015)

The values are sacrebleu's sentence scores divided by 100, and as fast. Sacrebleu is not a dependency: docs/nemo-gym.md says what it
would cost. Unlike in sacrebleu, Chinese, Japanese and Korean characters are words.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from verifiers.commitment.folding import visible
from verifiers.rules.qa.words import Normalise, has_cjk, words

_DECIMALS = 9
"""The decimals kept of values from logarithms. So many are the same on every machine."""
_BLEU_ORDER = 4
_CHRF_ORDER = 6
_CHRF_BETA_SQUARED = 4
_MTEVAL_13A = (
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


def bleu(answer: str, reference: str, normalise: Normalise | None) -> float:
    answer_words, reference_words = _bleu_words(answer, normalise), _bleu_words(reference, normalise)
    precisions: list[float] = []
    smoothing = 1
    for order in range(1, min(_BLEU_ORDER, len(answer_words)) + 1):
        answer_runs, reference_runs = _runs(answer_words, order), _runs(reference_words, order)
        common, total = sum((answer_runs & reference_runs).values()), len(answer_words) - order + 1
        if order == 1 and not common:
            return 0.0
        if not common:
            smoothing *= 2
        precisions.append((common or 1 / smoothing) / total)
    if not precisions:
        return 0.0
    brevity = math.exp(min(0.0, 1 - len(reference_words) / len(answer_words)))
    mean = math.exp(sum(map(math.log, precisions)) / len(precisions))
    return min(1.0, round(brevity * mean, _DECIMALS))


def _runs(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[at : at + order]) for at in range(len(tokens) - order + 1))


def _bleu_words(text: str, normalise: Normalise | None) -> Sequence[str]:
    if normalise is not None:
        return words(text, normalise)
    text = visible(text).replace("-\n", "").replace("\n", " ")
    for entity, char in _ENTITIES:
        text = text.replace(entity, char)
    text = f" {text} "
    for pattern, replacement in _MTEVAL_13A:
        text = pattern.sub(replacement, text)
    if not has_cjk(text):
        return text.split()
    return [word for run in text.split() for word in (words(run, "cjk") if has_cjk(run) else (run,))]


def chrf(answer: str, reference: str, normalise: Normalise | None) -> float:
    answer_chars, reference_chars = _characters(answer, normalise), _characters(reference, normalise)
    precision = recall = Fraction(0)
    orders = min(_CHRF_ORDER, len(answer_chars), len(reference_chars))
    for order in range(1, orders + 1):
        answer_runs = Counter([answer_chars[at : at + order] for at in range(len(answer_chars) - order + 1)])
        reference_runs = Counter([reference_chars[at : at + order] for at in range(len(reference_chars) - order + 1)])
        common = sum((answer_runs & reference_runs).values())
        precision += Fraction(common, len(answer_chars) - order + 1)
        recall += Fraction(common, len(reference_chars) - order + 1)
    if not precision or not recall:
        return 0.0
    precision, recall = precision / orders, recall / orders
    weighed = _CHRF_BETA_SQUARED * precision + recall
    return float((1 + _CHRF_BETA_SQUARED) * precision * recall / weighed)


def _characters(text: str, normalise: Normalise | None) -> str:
    return "".join(visible(text).split()) if normalise is None else "".join(words(text, normalise))
