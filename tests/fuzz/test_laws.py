r"""Laws of `grade`, each over formulas whose values are known without it; and that the fuzz targets see them broken."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import corpus, expressions, mutations, shrink, targets
from tests.fuzz.choices import Choices
from tests.fuzz.expressions import Term, num
from tests.fuzz.guard import Broken
from tests.fuzz.targets import REFUSED, SPLIT
from verifiers.commitment import ExtractionParams, extract
from verifiers.math.characters import prepare
from verifiers.math.exact import number, plain
from verifiers.math.grading import grade
from verifiers.math.limits import refusal
from verifiers.math.options import DEFAULT

DECISIONS = st.binary(min_size=12, max_size=60).map(Choices)
SOME = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def outcome(reference: str, answer: str | None) -> str:
    return str(grade([[reference], answer, DEFAULT.packed()])["outcome"])


def sound(choices: Choices) -> tuple[Term, str] | None:
    """A formula and how it is written; None when it is not a reference: a division by zero, or beyond the limits."""
    term = expressions.formula(choices, depth=3)
    text = expressions.written(term, choices)
    has_value = any(value is not None for value in expressions.values(term))
    return (term, text) if has_value and outcome(text, None) not in REFUSED else None


@pytest.mark.fuzz
@SOME
@given(choices=DECISIONS)
def test_a_formula_equals_itself_however_it_is_written(choices: Choices) -> None:
    if made := sound(choices):
        term, text = made
        assert outcome(text, text) == "equal"
        assert outcome(text, expressions.written(term, choices)) == "equal"


@SOME
@given(choices=DECISIONS)
def test_adding_and_multiplying_by_equal_things_changes_nothing(choices: Choices) -> None:
    if made := sound(choices):
        term, text = made
        other = expressions.written(expressions.rewritten(term, choices), choices)
        assert outcome(text, other) in ("equal", "too_complex")
        for form in ("({})+0", r"1\cdot({})", "({})+7-7", r"\frac{{3({})}}{{3}}", "-(-({}))", r"\left({}\right)^{{1}}"):
            assert outcome(text, form.format(text)) in ("equal", "too_complex")


@SOME
@given(choices=DECISIONS, places=st.integers(1, 60))
def test_a_tiny_difference_is_a_difference(choices: Choices, places: int) -> None:
    if made := sound(choices):
        _, text = made
        for tiny in (
            rf"10^{{-{places}}}",
            f"0.{'0' * places}1",
            rf"\frac{{1}}{{10^{{{places}}}}}",
            rf"e^{{-{places}}}",
        ):
            assert outcome(text, f"({text})+{tiny}") != "equal"
            assert outcome(text, f"({text})-{tiny}") != "equal"


@SOME
@given(choices=DECISIONS)
def test_what_differs_anywhere_is_not_equal(choices: Choices) -> None:
    if made := sound(choices):
        term, text = made
        other = expressions.disturbed(term, choices)
        if expressions.difference(term, other):
            assert outcome(text, expressions.written(other, choices)) != "equal"


# --- the evaluation that the laws rest on


@pytest.mark.fuzz
@SOME
@given(choices=DECISIONS)
def test_a_rewriting_has_the_same_value(choices: Choices) -> None:
    term = expressions.formula(choices)
    assert not expressions.difference(term, expressions.rewritten(term, choices))


def test_values_are_those_of_mathematics() -> None:
    half = Term("/", (num(1), num(2)))
    assert expressions.difference(half, num(Fraction(1, 2))) == 0.0
    assert expressions.difference(Term("sin", (Term("const", leaf="pi"),)), num(0)) == 0.0
    assert expressions.difference(Term("cbrt", (num(-8),)), num(-2)) == 0.0
    assert expressions.difference(Term("sqrt", (num(-1),)), num(1)) is None
    assert expressions.difference(Term("/", (num(1), num(0))), num(1)) is None
    assert expressions.difference(num(1), num(1 + Fraction(1, 10**40))) == pytest.approx(1e-40)
    assert expressions.difference(num(10**900), num(10**900 + 1)) == 5e-324
    x = Term("var", leaf="x")
    assert expressions.difference(Term("abs", (x,)), x) == 2.0


# --- the laws can be broken


def _always(result: dict[str, Any]) -> Any:
    return lambda payload: result


@pytest.mark.parametrize(
    ("result", "text", "law"),
    [
        ({"outcome": "equal"}, f"5{SPLIT}5", "successor"),
        ({"outcome": "different"}, f"5{SPLIT}5", "reflexive"),
        ({"outcome": "perhaps"}, f"5{SPLIT}5", "known outcome"),
    ],
)
def test_a_wrong_grade_is_seen(monkeypatch: pytest.MonkeyPatch, result: dict[str, Any], text: str, law: str) -> None:
    monkeypatch.setattr(targets, "grade", _always(result))
    with pytest.raises(Broken) as broken:
        targets.grading(text.encode())
    assert broken.value.law == law


def test_a_grade_that_raises_executes_or_forgets_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    results = iter([{"outcome": "equal"}, {"outcome": "different"}])
    for broken_grade, law in (
        (lambda payload: 1 / 0, "raised"),
        (lambda payload: eval(payload[1]), "executed"),
        (lambda payload: next(results), "deterministic"),
        (lambda payload: {"outcome": "equal"} if payload[1] > payload[0][0] else {"outcome": "different"}, "reflexive"),
    ):
        monkeypatch.setattr(targets, "grade", broken_grade)
        with pytest.raises(Broken) as broken:
            targets.grading(f"5{SPLIT}6".encode())
        assert broken.value.law == law


@pytest.mark.fuzz
def test_a_wrong_equality_is_seen_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for verdict in ("equal", "different"):
        monkeypatch.setattr(targets, "grade", _always({"outcome": verdict}))
        for data in corpus.seeds("laws"):
            try:
                targets.laws(data)
            except Broken as broken:
                seen.add((verdict, broken.law))
    assert seen == {("equal", "different"), ("different", "equal")}


# --- time


@pytest.mark.fuzz(beyond=1)
@pytest.mark.parametrize(
    "function",
    [
        pytest.param(prepare, marks=pytest.mark.fuzz),
        *(plain, number, refusal),
        lambda text: extract(text, ExtractionParams()),
    ],
)
def test_what_is_done_to_a_text_before_it_is_read_is_linear(function: Callable[[str], object]) -> None:
    for token in mutations.tokens():
        targets.stays_linear(token, function)
    for around in ("1{}1", r"\text{{{}", "({}", "a{}"):
        for blank in (" ", "\t ", r"\, ", "~", "$"):
            targets.stays_linear(around.format(blank * 20_000), function)


# --- seeds, changes, shrinking


@pytest.mark.fuzz(beyond=1)
@pytest.mark.parametrize("target", sorted(set(targets.TARGETS) - {"grading"}))
def test_every_seed_holds(target: str) -> None:
    for data in corpus.seeds(target):
        targets.TARGETS[target](data)


def test_every_entry_of_the_dictionary_is_a_token_of_text() -> None:
    assert len(mutations.tokens()) > 200
    assert {"\\frac", "\\\\", '"', "½", "\x00", "答案是"} <= set(mutations.tokens())


def test_changes_are_the_same_for_the_same_source_and_differ_for_others() -> None:
    text = rf"\frac{{1}}{{2}}{SPLIT}0.5".encode()
    changed = [mutations.mutated(text, random.Random(number)) for number in range(300)]
    assert changed == [mutations.mutated(text, random.Random(number)) for number in range(300)]
    assert len(set(changed)) > 200
    assert all(each.decode() for each in changed if each)


def test_shrinking_keeps_what_matters() -> None:
    data = ("é" * 40 + "needle" + "x" * 100).encode()
    assert shrink.shrunk(data, lambda each: b"needle" in each, in_bytes=False) == b"needle"
    assert shrink.shrunk(bytes(range(60)), lambda each: b"\x07\x08" in each, in_bytes=True) == b"\x07\x08"
