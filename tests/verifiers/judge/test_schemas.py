"""Protocols are consistent in themselves, and say of themselves what their parser reads."""

import json

import jsonschema_rs
import pytest

from verifiers.judge.parsing import read
from verifiers.judge.schemas import SCHEMAS, Context, Kind, Schema, with_logprobs

_CONTEXT = Context(criteria={"c1": 1.0, "c2": 2.0}, n_steps=4, most=2)
_ASKING = [each for each in SCHEMAS.values() if each.json_schema(_CONTEXT) is not None and not each.flat]


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=list(SCHEMAS))
def test_consistent(schema: Schema) -> None:
    assert set(schema.aliases.values()) <= set(schema.scores)
    assert set(schema.qualifiers.values()) <= set(schema.scores)
    assert all(0.0 <= score <= 1.0 for score in schema.scores.values())
    assert all(key == key.casefold() for key in (*schema.lines, *schema.aliases, *schema.qualifiers))
    if schema.kind is Kind.LABELS:
        assert {0.0, 1.0} <= set(schema.scores.values())


def _verdicts(schema: Schema) -> list[object]:
    if schema.kind is Kind.LABELS:
        return list(schema.scores)
    if schema.kind is Kind.STEPS:
        return [0, 4]
    if schema.kind is Kind.NUMBER:
        return [int(schema.low), int(schema.high)]
    if schema.kind is Kind.PROPOSAL:
        return [[], [{"title": "t", "description": name, "fault": name == "c1"} for name in _CONTEXT.criteria]]
    quote = {"quote": ""} if schema.quotes else {}
    return [[{"id": name, **quote, "reason": "r", "score": 0.5} for name in _CONTEXT.criteria]]


@pytest.mark.parametrize("schema", _ASKING, ids=lambda schema: schema.name)
def test_what_the_json_schema_allows_is_read(schema: Schema) -> None:
    form = schema.json_schema(_CONTEXT)
    assert form is not None
    for verdict in _verdicts(schema):
        given = {name: verdict if name == schema.key else "because" for name in form["properties"]}
        jsonschema_rs.validate(dict(form), given)
        assert list(form["properties"])[-1] == schema.key
        found = read(schema, {"content": json.dumps(given)}, "stop", context=_CONTEXT)
        assert 0.0 <= found.score <= 1.0


def test_a_flat_schema_has_a_number_for_each_criterion() -> None:
    context = Context(dict.fromkeys(("score_1", "ranking"), 1.0), {"score_1": "12345", "ranking": "123456"})
    form = SCHEMAS["scores"].json_schema(context)
    assert form is not None
    given = {"reasoning": "because", "score_1": 4, "ranking": 6}
    jsonschema_rs.validate(dict(form), given)
    found = read(SCHEMAS["scores"], {"content": json.dumps(given)}, "stop", context=context)
    assert found.value == {"score_1": 0.75, "ranking": 1.0}
    for wrong in ({**given, "score_1": 6}, {"score_1": 4, "ranking": 6}, {**given, "ranking": 2.5}):
        with pytest.raises(jsonschema_rs.ValidationError):
            jsonschema_rs.validate(dict(form), wrong)


def test_what_is_no_verdict_is_not_allowed() -> None:
    form = SCHEMAS["eq_abc"].json_schema()
    assert form is not None
    for wrong in ({"verdict": "A"}, {"reasoning": "x", "verdict": "D"}, {"reasoning": "x", "verdict": "A", "more": 1}):
        with pytest.raises(jsonschema_rs.ValidationError):
            jsonschema_rs.validate(dict(form), wrong)


def test_text_protocols_ask_for_no_json() -> None:
    assert SCHEMAS["compass"].json_schema() is None
    assert SCHEMAS["decision"].json_schema() is None


def test_probabilities_are_asked_for_once() -> None:
    once = with_logprobs(SCHEMAS["eq_abc"])
    assert once == SCHEMAS["eq_abc_logprob"] == with_logprobs(once)
    form = once.json_schema()
    assert form is not None
    assert list(form["properties"]) == ["verdict"]
