"""Likenesses of texts are those of the libraries that define them, to 1e-9: sacrebleu, rouge-score and jiwer.

Rapidfuzz counts the edits itself. Without Chinese, Japanese and Korean, whose characters are words here and not there.
"""

import json
import random
import re
from collections.abc import Callable, Iterator

import jiwer
import pytest
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from tests.conftest import ROOT
from verifiers.nemo_gym.measures import rouge_l
from verifiers.rules.qa.similarity import Rouge, rouge, wer
from verifiers.rules.qa.translation import bleu, chrf

_ROWS = (ROOT / "tests/data/math/gsm8k_model_solutions.jsonl").read_text(encoding="utf-8").splitlines()
WORDS = [word for row in _ROWS for word in json.loads(row)["response"].split()]
MARKS = [
    "naïve",
    "Straße",
    "größer",
    "été",
    "мир",
    "&amp;",
    "<b>",
    "--",
    "...",
    '"',
    "'",
    "(",
    ")",
    "3.14",
    "1,000",
    "$5",
    "50%",
    "e-mail",
    "U.S.",
    "x^2",
    "a/b",
    "\n",
]
KINDS: tuple[Rouge, ...] = ("1", "2", "l")

_bleu, _chrf = BLEU(effective_order=True), CHRF()
_plain = RougeScorer(["rouge1", "rouge2", "rougeL"])
_stemmed = RougeScorer(["rougeL"], use_stemmer=True)


def pairs(count: int) -> Iterator[tuple[str, str]]:
    """An answer and a reference; of five answers four are the reference with up to five changes."""
    drawn = random.Random(54)
    for _ in range(count):
        words, others = (_drawn(drawn) for _ in range(2))
        changed = list(words)
        for _ in range(drawn.randrange(6)):
            place = drawn.randrange(len(changed))
            drawn.choice(CHANGES)(changed, place, drawn.choice(others))
        yield " ".join(changed if drawn.random() < 0.8 else others), " ".join(words)


def _drawn(drawn: random.Random) -> list[str]:
    return [drawn.choice(WORDS if drawn.random() < 0.8 else MARKS) for _ in range(drawn.randrange(1, 40))]


def _swap(words: list[str], place: int, _: str) -> None:
    words[place], words[-1] = words[-1], words[place]


def _replace(words: list[str], place: int, other: str) -> None:
    words[place] = other


def _shout(words: list[str], place: int, _: str) -> None:
    words[place] = words[place].upper()


CHANGES: tuple[Callable[[list[str], int, str], None], ...] = (
    lambda words, place, other: words.insert(place, other),
    lambda words, place, _: words.append(words.pop(place)),
    _swap,
    _replace,
    _shout,
)


def ours(answer: str, reference: str) -> list[float]:
    lhs, rhs = _letters(answer), _letters(reference)
    shares = [float(rouge(lhs, rhs, "none", kind)) for kind in KINDS] if lhs and rhs else []
    return [
        bleu(answer, reference, None),
        chrf(answer, reference, None),
        rouge_l(answer, reference),
        rouge_l(answer, reference, stemmed=True),
        float(wer(answer, reference, "none")),
        *shares,
    ]


def theirs(answer: str, reference: str) -> list[float]:
    lhs, rhs = _letters(answer), _letters(reference)
    shares = [_plain.score(rhs, lhs)[f"rouge{kind.upper()}"].fmeasure for kind in KINDS] if lhs and rhs else []
    return [
        _bleu.sentence_score(answer, [reference]).score / 100,
        _chrf.sentence_score(answer, [reference]).score / 100,
        _plain.score(reference, answer)["rougeL"].fmeasure,
        _stemmed.score(reference, answer)["rougeL"].fmeasure,
        max(0.0, 1 - jiwer.wer(reference, answer)),
        *shares,
    ]


def _letters(text: str) -> str:
    return " ".join(re.findall("[a-z]+", text.lower()))


@pytest.mark.parametrize("count", [250, pytest.param(10_010, marks=pytest.mark.accuracy)])
def test_texts_are_measured_as_by_their_own_libraries(count: int) -> None:
    for answer, reference in pairs(count):
        if answer.strip() and reference.strip():
            assert ours(answer, reference) == pytest.approx(theirs(answer, reference), abs=1e-9), (answer, reference)
