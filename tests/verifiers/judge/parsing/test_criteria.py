"""P9: every criterion once, or no verdict."""

import json
from typing import Any

import pytest

from tests.tables import table
from tests.verifiers.judge.parsing.reading import kind, reading, value
from verifiers.judge.errors import Unparseable
from verifiers.judge.parsing import read
from verifiers.judge.schemas import SCHEMAS, Context

_GOOD = {"c1": 1.0, "c2": 0.0, "c3": 0.5}


def _list(*entries: Any) -> str:
    return json.dumps({"criteria": entries})


def _entry(name: Any, score: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "score": score, **more}


@table(
    "content",
    [
        _list(_entry("c1", 1), _entry("c2", 0), _entry("c3", 0.5)),
        _list(_entry("c3", 0.5, reason="half"), _entry("c1", "1"), {"id": "c2", "met": False}),
        _list(_entry("c1", 1, met=True), _entry(" c2 ", 0.0), _entry("c3", "0.5")),
        json.dumps({"total": 3, "criteria": [_entry("c1", 1), _entry("c2", 0), _entry("c3", 0.5)]}),
        json.dumps([_entry("c1", 1), _entry("c2", 0), _entry("c3", 0.5)]),
        json.dumps([_entry("c1", 1), _entry("c2", 0), _entry("c3", 0.5)], indent=2),
        '{"criteria": {"c1": 1, "c2": {"met": false, "reason": "no"}, "c3": {"score": 0.5}}}',
        '{"c1": 1, "c2": 0, "c3": 0.5}',
        '{"reasoning": "so so", "c1": 1, "c2": 0, "c3": 0.5, "total": 1.5}',
    ],
)
def test_forms(content: str) -> None:
    found = reading("rubric", content)
    assert found.value == _GOOD
    assert found.score == pytest.approx(2.5 / 4)


@table(
    ("content", "expected"),
    [
        (_list(_entry("c1", 1), _entry("c2", 1)), "missing_criteria"),
        (_list(), "missing_criteria"),
        (_list(*[_entry(name, 1) for name in ("c1", "c2", "c3", "c4")]), "unknown_criteria"),
        (_list(_entry("C1", 1), _entry("c2", 1), _entry("c3", 1)), "unknown_criteria"),
        (_list(_entry("c1", 1), _entry("c1", 1), _entry("c2", 1), _entry("c3", 1)), "duplicate_criteria"),
        (_list(_entry("c1", 2), _entry("c2", 1), _entry("c3", 1)), "out_of_range"),
        (_list(_entry("c1", -1), _entry("c2", 1), _entry("c3", 1)), "out_of_range"),
        (_list(_entry("c1", True), _entry("c2", 1), _entry("c3", 1)), "schema_mismatch"),
        (_list(_entry("c1", None), _entry("c2", 1), _entry("c3", 1)), "schema_mismatch"),
        (_list(_entry("c1", "yes"), _entry("c2", 1), _entry("c3", 1)), "schema_mismatch"),
        (_list({"id": "c1", "met": 1}, _entry("c2", 1), _entry("c3", 1)), "schema_mismatch"),
        (_list({"id": "c1"}, _entry("c2", 1), _entry("c3", 1)), "schema_mismatch"),
        (_list(_entry(1, 1), _entry("c2", 1), _entry("c3", 1)), "schema_mismatch"),
        (_list(_entry("c1", 0, met=True), _entry("c2", 1), _entry("c3", 1)), "ambiguous"),
        (_list(1, 1, 1), "schema_mismatch"),
        ('{"criteria": {"c1": true, "c2": 1, "c3": 1}}', "schema_mismatch"),
        ('{"criteria": {"c1": 1, "c2": 1, "c3": 1, "c4": 1}}', "unknown_criteria"),
        ('{"c1": 1, "c2": 1, "c3": 1, "c4": 1}', "unknown_criteria"),
        ('{"c1": 1, "c2": 1}', "missing_criteria"),
        ('{"total": 3}', "schema_mismatch"),
        ('{"criteria": "all met"}', "schema_mismatch"),
        ('{"criteria": null, "c1": 1, "c2": 1, "c3": 1}', "schema_mismatch"),
        ("c1: 1\nc2: 1\nc3: 1", "invalid_json"),
        (_list(_entry("c1", 1), _entry("c2", 1), _entry("c3", 1)) + "\nc1 is weak.", "ambiguous"),
        ('{"criteria": [{"id": "c1", "score": 1, "Score": 0}]}', "duplicate_key"),
        ('{"id": "c1", "score": 1}\n{"id": "c2", "score": 1}\n{"id": "c3", "score": 1}', "ambiguous"),
    ],
)
def test_refusals(content: str, expected: str) -> None:
    assert kind("rubric", content) == expected


def test_reasons() -> None:
    found = reading("rubric", _list(_entry("c1", 1, reason="a\nb"), _entry("c2", 1), _entry("c3", 1)))
    assert found.reasons == {"c1": "a b"}


def test_faults_are_taken_off() -> None:
    def score(weights: dict[str, float], **scores: float) -> float:
        message = {"content": json.dumps({"criteria": scores})}
        return read(SCHEMAS["rubric"], message, "stop", context=Context(criteria=weights)).score

    assert score({"good": 2.0, "bad": -1.0}, good=1, bad=1) == pytest.approx(0.5)
    assert score({"good": 1.0, "bad": -3.0}, good=1, bad=1) == 0.0
    assert score({"bad": -3.0, "worse": -1.0}, bad=0, worse=1) == pytest.approx(0.75)


def test_ids_that_differ_in_case_only_cannot_be_keys() -> None:
    context = Context(criteria={"a": 1.0, "A": 1.0})
    listed = {"content": _list(_entry("a", 1), _entry("A", 0))}
    assert read(SCHEMAS["rubric"], listed, "stop", context=context).value == {"a": 1.0, "A": 0.0}
    with pytest.raises(Unparseable):
        read(SCHEMAS["rubric"], {"content": '{"criteria": {"a": 1, "A": 0}}'}, "stop", context=context)


def test_ids_may_be_words_of_any_language() -> None:
    context = Context(criteria={"事实准确性": 1.0, "逻辑连贯性": 3.0})
    message = {"content": '{"criteria": [{"id": "事实准确性", "score": 1}, {"id": "逻辑连贯性", "score": 0}]}'}
    assert read(SCHEMAS["rubric"], message, "stop", context=context).score == pytest.approx(0.25)
    assert value("rubric", message["content"]) is None
