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
        '{"criteria": {"c1": true, "c2": "No", "c3": 0.5}}',
        _list({"id": "c1", "criteria_met": True}, {"id": "c2", "met": 0}, _entry("c3", 0.5)),
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
        (_list(_entry("c1", "maybe"), _entry("c2", 1), _entry("c3", 1)), "schema_mismatch"),
        (_list(_entry("c1", None), _entry("c2", 1), _entry("c3", 1)), "schema_mismatch"),
        (_list({"id": "c1"}, _entry("c2", 1), _entry("c3", 1)), "schema_mismatch"),
        (_list(_entry(1, 1), _entry("c2", 1), _entry("c3", 1)), "schema_mismatch"),
        (_list(_entry("c1", 0, met=True), _entry("c2", 1), _entry("c3", 1)), "ambiguous"),
        (_list(1, 1, 1), "schema_mismatch"),
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


_SCALES = Context(
    criteria={"band": 1.0, "met": 1.0, "turned": 1.0},
    choices={"band": ("0", "1", "2"), "met": ("no", "yes"), "turned": ("YES", "NO")},
)


@table(
    ("band", "met", "turned", "expected"),
    [
        (2, "yes", "NO", (1.0, 1.0, 1.0)),
        ("1", True, "yes", (0.5, 1.0, 0.0)),
        (0.0, 1, False, (0.0, 1.0, 1.0)),
        ("0", "no", "No", (0.0, 0.0, 1.0)),
        (3, "yes", "NO", None),
        (True, "yes", "NO", None),
        (1.5, "yes", "NO", None),
        (1, 0.5, "NO", None),
        (1, "yes, mostly", "NO", None),
    ],
)
def test_answers_of_a_scale(band: Any, met: Any, turned: Any, expected: tuple[float, ...] | None) -> None:
    message = {"content": _list(_entry("band", band), _entry("met", met), _entry("turned", turned))}
    if expected is None:
        with pytest.raises(Unparseable):
            read(SCHEMAS["rubric"], message, "stop", context=_SCALES)
        return
    found = read(SCHEMAS["rubric"], message, "stop", context=_SCALES).value
    assert found == dict(zip(("band", "met", "turned"), expected, strict=True))


@table(
    ("quote", "expected"),
    [
        ("the  River\nSeine", 1.0),
        ("river", 1.0),
        ("", 0.0),
        (None, 0.0),
        ("the Thames", 0.0),
        (7, 0.0),
        ("the ... Seine", 0.0),
    ],
)
def test_what_is_not_quoted_is_not_met(quote: Any, expected: float) -> None:
    context = Context(criteria={"c1": 1.0, "c2": 1.0}, shown="It lies on the river Seine.")
    message = {"content": _list(_entry("c1", 1, quote=quote), _entry("c2", 0, quote=""))}
    assert read(SCHEMAS["rubric_quote"], message, "stop", context=context).value == {"c1": expected, "c2": 0.0}
