"""P10 and P11: scores from probabilities."""

import json
import math
from typing import Any

import pytest

from tests.tables import table
from tests.verifiers.judge.parsing.reading import kind, reading
from verifiers.judge.errors import Unparseable
from verifiers.judge.parsing import Reading, read
from verifiers.judge.schemas import NO_CONTEXT, SCHEMAS, Context


def _token(token: str, *others: tuple[str, float], p: float = 1.0, given: list[int] | None = None) -> dict[str, Any]:
    listed = [{"token": text, "logprob": math.log(share) if share else -9999.0} for text, share in others]
    return {"token": token, "logprob": math.log(p), "bytes": given, "top_logprobs": listed}


def _logprobs(*tokens: dict[str, Any]) -> dict[str, Any]:
    return {"content": list(tokens)}


_SURE = (("A", 0.7), ("B", 0.2), (" A", 0.05), ("a", 0.05))


def test_spellings_of_a_label_are_added_up() -> None:
    found = reading("eq_abc_logprob", "A", logprobs=_logprobs(_token("A", *_SURE, p=0.7)))
    assert found.score == pytest.approx(0.8)
    assert found.probabilities == pytest.approx({"A": 0.8, "B": 0.2, "C": 0.0})
    assert found.flags == ()


@table(
    ("content", "tokens"),
    [
        ('{"verdict": "A"}', ['{"', "verdict", '":', ' "', None, '"}']),
        ('{"verdict":"A"}', ['{"verdict":"', None, '"}']),
        ("VERDICT: A", ["VER", "DICT", ":", " ", None]),
        ("<think>A or B</think>\nA", ["<think>", "A", " or", " B", "</think>", "\n", None]),
        ('{"reasoning": "A", "verdict": "A"}', ['{"reasoning": "', "A", '", "verdict": "', None, '"}']),
        (
            'It says {"verdict": "A"}.\n{"verdict": "A"}',
            ["It says ", '{"verdict": "', "A", '"}.\n', '{"verdict": "', None, '"}'],
        ),
    ],
)
def test_the_token_is_the_one_in_which_the_verdict_begins(content: str, tokens: list[str | None]) -> None:
    pieces = [
        _token("A", *_SURE, p=0.7) if token is None else _token(token, ("A", 0.1), ("B", 0.9)) for token in tokens
    ]
    assert reading("eq_abc_logprob", content, logprobs=_logprobs(*pieces)).score == pytest.approx(0.8)


def test_tokens_may_be_parts_of_characters() -> None:
    content = '{"reasoning": "对", "verdict": "A"}'
    head, tail = "对".encode()[:1], "对".encode()[1:]
    tokens = [_token('{"reasoning": "'), _token("�", given=list(head)), _token("�", given=list(tail))]
    tokens += [_token('", "verdict": "'), _token("A", *_SURE, p=0.7), _token('"}')]
    assert reading("eq_abc_logprob", content, logprobs=_logprobs(*tokens)).score == pytest.approx(0.8)


@table(
    "logprobs",
    [
        None,
        {},
        {"content": None},
        {"content": []},
        {"content": ["A"]},
        _logprobs(_token("something else")),
        _logprobs(_token("A", ("A", 0.9), ("B", 0.9), p=0.9)),
        _logprobs({"token": "A", "logprob": None, "top_logprobs": None}),
        _logprobs({"token": "A", "logprob": float("nan"), "top_logprobs": [{"token": 3}]}),
    ],
)
def test_without_probabilities_the_label_counts(logprobs: Any) -> None:
    found = reading("eq_abc_logprob", "A", logprobs=logprobs)
    assert (found.value, found.score, found.flags) == ("A", 1.0, ("no_logprobs",))


def test_a_label_of_several_tokens_counts_as_it_stands() -> None:
    tokens = [_token("In", ("In", 0.5), ("A", 0.5), p=0.5), _token("correct")]
    found = reading("eq_abc_logprob", "Incorrect", logprobs=_logprobs(*tokens))
    assert (found.value, found.score, found.flags) == ("B", 0.0, ("no_logprobs",))


def test_labels_that_were_unlikely_are_no_verdict() -> None:
    tokens = _logprobs(_token("A", ("I", 0.6), ("A", 0.3), ("B", 0.1), p=0.3))
    assert kind("eq_abc_logprob", "A", logprobs=tokens) == "low_label_mass"


def test_one_token_is_no_cut() -> None:
    found = reading("eq_abc_logprob", "A", "length", logprobs=_logprobs(_token("A", *_SURE, p=0.7)))
    assert found.score == pytest.approx(0.8)
    assert kind("eq_abc_logprob", "word\nA", "length") == "truncated"


def test_others_do_not_read_them() -> None:
    assert reading("eq_abc", "A", logprobs=_logprobs(_token("A", *_SURE, p=0.7))).score == 1.0


def test_the_expected_number() -> None:
    tokens = [_token('{"score": '), _token("7", ("7", 0.5), ("9", 0.25), ("10", 0.25), p=0.5), _token("}")]
    found = reading("score10_logprob", '{"score": 7}', logprobs=_logprobs(*tokens))
    assert found.value == 7
    assert found.score == pytest.approx((0.5 * 6 + 0.25 * 8 + 0.25 * 9) / 9)


def test_a_digit_that_may_begin_a_longer_number_is_not_counted() -> None:
    tokens = [_token('{"score": '), _token("7", ("7", 0.5), ("1", 0.5), p=0.5), _token("}")]
    assert reading("score10_logprob", '{"score": 7}', logprobs=_logprobs(*tokens)).flags == ("no_logprobs",)
    tokens = [_token('{"score": '), _token("1", ("1", 0.9), ("7", 0.1), p=0.9), _token("0"), _token("}")]
    assert reading("score10_logprob", '{"score": 10}', logprobs=_logprobs(*tokens)).score == 1.0


def _decide(body: Any, schema: str = "decision", context: Context = NO_CONTEXT) -> Reading:
    return read(SCHEMAS[schema], {"content": json.dumps(body)}, "stop", context=context)


def _choice(probabilities: Any, **more: Any) -> dict[str, Any]:
    return {"answers": {"verdict": {"type": "choice", "probabilities": probabilities, **more}}}


def test_a_choice_in_both_forms() -> None:
    shares = {"A": 0.9, "B": 0.08, "C": 0.02}
    found = _decide(_choice(shares, choice="A"))
    assert found.value == "A"
    assert found.score == pytest.approx(0.9)
    listed = [{"value": label, "probability": share} for label, share in shares.items()]
    answers = [{"type": "choice", "name": "verdict", "choice": "A", "probabilities": listed}]
    assert _decide({"answers": answers}) == found
    assert _decide(_choice(shares)).value == "A"


@table(
    ("body", "expected"),
    [
        ({"answers": {}}, "missing_criteria"),
        ({"answers": []}, "missing_criteria"),
        ({"answers": None}, "schema_mismatch"),
        ([], "schema_mismatch"),
        ({"answers": {"verdict": {"type": "refusal"}}}, "refusal"),
        ({"answers": [{"type": "refusal", "name": "verdict"}]}, "refusal"),
        ({"answers": {"verdict": {"choice": "A"}}}, "schema_mismatch"),
        (_choice({"A": 0.9, "B": 0.1}), "schema_mismatch"),
        (_choice({"A": 0.9, "B": 0.1, "C": 0.0, "D": 0.0}), "schema_mismatch"),
        (_choice({"A": 0.9, "B": 0.9, "C": 0.0}), "schema_mismatch"),
        (_choice({"A": 0.1, "B": 0.1, "C": 0.0}), "schema_mismatch"),
        (_choice({"A": 1.5, "B": -0.5, "C": 0.0}), "out_of_range"),
        (_choice({"A": 10**400, "B": 0.0, "C": 0.0}), "out_of_range"),
        (_choice({"A": "0.9", "B": 0.1, "C": 0.0}), "schema_mismatch"),
        (_choice({"A": True, "B": 0, "C": 0}), "schema_mismatch"),
        (_choice({"A": 0.9, "B": 0.1, "C": 0.0}, choice="D"), "schema_mismatch"),
        (_choice({"A": 0.9, "B": 0.1, "C": 0.0}, choice="B"), "ambiguous"),
        (_choice({"A": 0.5, "B": 0.5, "C": 0.0}), "ambiguous"),
    ],
)
def test_decisions_that_are_none(body: Any, expected: str) -> None:
    with pytest.raises(Unparseable) as caught:
        _decide(body)
    assert caught.value.kind == expected


def test_a_decision_is_what_a_machine_wrote() -> None:
    with pytest.raises(Unparseable):
        read(SCHEMAS["decision"], {"content": '{"answers": {"verdict": {},}}'}, "stop")


def test_predicates_and_levels() -> None:
    context = Context(criteria={"c1": 3.0, "c2": 1.0})
    found = _decide({"answers": {"c1": {"noul": 0.8}, "c2": {"probability": 0.4}}}, "decision_rubric", context)
    assert found.value == {"c1": 0.8, "c2": 0.4}
    assert found.score == pytest.approx(0.7)
    with pytest.raises(Unparseable):
        _decide({"answers": {"c1": {"noul": 0.8}}}, "decision_rubric", context)
    levels = [0.0] * 8 + [0.5, 0.5]
    scored = _decide({"answers": {"verdict": {"score": 8.5, "probabilities": levels}}}, "decision_score10")
    assert scored.value == pytest.approx(9.5)
    assert scored.score == pytest.approx(8.5 / 9)
