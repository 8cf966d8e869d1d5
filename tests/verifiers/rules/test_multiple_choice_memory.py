"""What questions leave behind. Each question of a data set is new, and there are tens of thousands of them."""

import gc
import itertools
import random
import weakref
from collections.abc import Iterator

import pytest

import memory
from verifiers.rules.multiple_choice import MultipleChoiceParams, choices, judge
from verifiers.rules.multiple_choice.choices import Question

WORDS = ("energy", "of", "the", "system", "is", "conserved", "because", "market", "supply", "ruling", "membrane")
QUESTIONS = "multiple_choice.questions"


def questions(count: int) -> Iterator[MultipleChoiceParams]:
    draw = random.Random(45)
    for number in range(count):
        texts = [f"{' '.join(draw.choices(WORDS, k=6))} {number}-{place}" for place in range(10)]
        yield MultipleChoiceParams.model_validate({"reference": "C", "choices": texts})


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    memory.forget()
    yield
    memory.forget()


def test_parameters_do_not_grow_by_being_used() -> None:
    for params in questions(3):
        before = memory.size_of(params)
        assert judge("The answer is (C).", params).score == 1.0
        assert memory.size_of(params) == before


def test_a_question_ends_when_it_is_forgotten() -> None:
    gc.disable()
    try:
        alive = []
        for params in questions(5):
            judge("We see that it is so. The answer is (C).", params, True)
            question = params.question
            assert isinstance(question, Question)
            alive.append(weakref.ref(question.options))
            del question
        memory.forget()
        assert [options() for options in alive] == [None] * 5
    finally:
        gc.enable()


def test_questions_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices._QUESTIONS, "max_bytes", 2_000_000)
    most = 0
    for params in questions(60):
        judge("The answer is (C).", params)
        most = max(most, memory.holdings()[QUESTIONS].bytes)
    assert 0 < most <= 2_000_000
    for name in ("multiple_choice.names", "multiple_choice.commitments"):
        assert memory.holdings()[name].entries >= 60, "they hold texts, not questions"
        assert memory.holdings()[name].bytes < 100_000


def test_questions_are_counted_as_large_as_they_are() -> None:
    for params in questions(20):
        judge("We see that it is so. The answer is (C).", params)
    counted = memory.holdings()[QUESTIONS].bytes
    measured = sum(memory.size_of(question) for question, _ in choices._QUESTIONS._kept.values())
    assert 0.7 * measured < counted < 1.5 * measured


def test_a_full_memory_drops_questions_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices._QUESTIONS, "max_bytes", 2_000_000)
    entries = []
    for params in questions(60):
        judge("The answer is (C).", params)
        entries.append(memory.holdings()[QUESTIONS].entries)
    assert all(after >= before - 1 for before, after in itertools.pairwise(entries))
    assert entries[-1] == entries[-2] > 5


def test_responses_to_one_question_share_it() -> None:
    first, again = (next(questions(1)) for _ in range(2))
    assert first.question is again.question
