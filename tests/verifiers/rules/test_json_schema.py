"""One JSON document for which a schema holds."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.tables import table
from verifiers.base import Item, Status, Verdict
from verifiers.rules.json_schema import JsonSchemaParams, judge

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def ask(response: str, schema: Any = PERSON, **params: Any) -> Verdict:
    return judge(Item(response, JsonSchemaParams(reference=schema, **params), explain=True))


@table(
    ("response", "reason"),
    [
        ('{"name": "Ann", "age": 3}', "correct"),
        (' \n{"name": "Ann", "age": 3}\n', "correct"),
        ('<think>{"no": 1}</think>{"name": "Ann", "age": 3}<|im_end|>', "correct"),
        ('```json\n{"name": "Ann", "age": 3}\n```', "correct"),
        ('```JSON\n{"name": "Ann", "age": 3}\n```', "correct"),
        ('```\n{"name": "Ann", "age": 3}\n```', "correct"),
        ('```json\n{"name": "Ann", "age": 3}```', "correct"),
        ('``` json\n{"name": "Ann", "age": 3}\n```', "correct"),
        ('~~~json\n{"name": "Ann", "age": 3}\n~~~', "correct"),
        ('~~~json\n{"name": "Ann", "age": 3}\n```', "not_readable"),
        ('~~~json\n{"a": 1}\n~~~\n~~~json\n{"name": "Ann", "age": 3}\n~~~', "not_readable"),
        ('{"name": "Ann", "age": 3.0}', "correct"),
        ('{"name": "Ann", "age": "3"}', "schema_mismatch"),
        ('{"name": "Ann", "age": true}', "schema_mismatch"),
        ('{"name": "", "age": 3}', "schema_mismatch"),
        ('{"name": "Ann", "age": 3, "x": 1}', "schema_mismatch"),
        ('[{"name": "Ann", "age": 3}]', "schema_mismatch"),
        ("null", "schema_mismatch"),
        ('"\\ud800"', "schema_mismatch"),
        ("", "no_answer"),
        ("<think>x", "truncated"),
        ("{'name': 'Ann', 'age': 3}", "not_readable"),
        ('{"name": "Ann", "age": 3,}', "not_readable"),
        ('{"name": "Ann", "age": 3} // it is', "not_readable"),
        ('{"name": "Ann", "age": 3}{"name": "Ann", "age": 3}', "not_readable"),
        ('Here: {"name": "Ann", "age": 3}', "not_readable"),
        ('```json\n{"name": "Ann", "age": 3}\n```\nthat is it', "not_readable"),
        ('```json\n{"a": 1}\n```\n```json\n{"name": "Ann", "age": 3}\n```', "not_readable"),
        ('```python\n{"name": "Ann", "age": 3}\n```', "not_readable"),
        ('{"name": "Ann", "age": Infinity}', "not_readable"),
        ('{"name": "Ann", "age": 1e999}', "not_readable"),
        ('{"name": "Ann", "age": 1' + "0" * 5000 + "}", "not_readable"),
        ('{"name": "A\nnn", "age": 3}', "not_readable"),
        ('{"na\u200bme": "Ann", "age": 3}', "schema_mismatch"),
        ('{"ｎame": "Ann", "age": 3}', "schema_mismatch"),
        ("[" * 100_000, "too_deep"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "too_deep"),
    ],
)
def test_documents(response: str, reason: str) -> None:
    verdict = ask(response)
    assert (verdict.reason, verdict.score) == (reason, float(reason == "correct"))


def test_nesting_ends_at_one_hundred() -> None:
    assert ask("[" * 100 + "]" * 100, True).score == 1.0
    assert ask("[" * 101 + "]" * 101, True).reason == "too_deep"


def test_a_fence_can_be_forbidden_and_an_answer_tag_asked_for() -> None:
    assert ask("```json\n1\n```", True, allow_fence=False).reason == "not_readable"
    assert ask("So <answer>1</answer>", True, extract="answer_tag").score == 1.0
    assert ask("So <answer>1</answer>", True).score == 0.0


def test_keys_named_twice_are_refused_on_request() -> None:
    assert ask('{"a": 1, "a": 2}', {"properties": {"a": {"const": 2}}}).score == 1.0
    assert ask('[{"a": 1, "a": 2}]', True, unique_keys=True).reason == "duplicate_key"


@table(
    "schema",
    [
        {"type": "strin"},
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/nowhere"},
        {"$schema": "https://example.com/draft"},
        {"pattern": "(?=a)b"},
        {"pattern": "(a+"},
        5,
        "no json",
        {"enum": ["x" * 300_000]},
    ],
)
def test_an_unusable_schema_is_the_callers_to_mend(schema: Any) -> None:
    for response in ("{}", "", "no json"):
        verdict = ask(response, schema)
        assert (verdict.status, verdict.reason) == (Status.INVALID, "bad_schema")


def test_a_schema_may_be_text_or_called_schema() -> None:
    assert ask("1", json.dumps({"type": "integer"})).score == 1.0
    params = JsonSchemaParams.model_validate({"schema": {"type": "integer"}})
    assert JsonSchemaParams.model_validate_json(params.model_dump_json()) == params
    assert judge(Item("1", params)).score == 1.0


def test_references_inside_the_schema_are_followed() -> None:
    tree = {"$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "$ref": "#/$defs/node"}
    assert ask("[[], [[]]]", tree).score == 1.0
    assert ask("[[], [[1]]]", tree).score == 0.0
    assert ask("[]", {"$ref": "#"}).status is Status.OK


def test_patterns_take_linear_time() -> None:
    schema = {"type": "string", "pattern": "^(a+)+$"}
    assert ask('"' + "a" * 100_000 + '!"', schema).score == 0.0


def test_formats_are_checked_on_request() -> None:
    date = {"type": "string", "format": "date"}
    assert ask('"tomorrow"', date).score == 1.0
    assert ask('"tomorrow"', date, check_formats=True).score == 0.0
    assert ask('"2024-02-29"', date, check_formats=True).score == 1.0


def test_an_explanation_says_what_and_where() -> None:
    assert ask('{"name": "Ann", "age": "3"}').detail["message"] == '"3" is not of type "integer" at $[\'age\']'


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=10,
    )
)
def test_whatever_json_writes_is_read(value: Any) -> None:
    assert ask(json.dumps(value), True, think="none").score == 1.0
    assert ask(json.dumps(value) + "]", True, think="none").score == 0.0


def test_a_schema_inside_an_envelope_is_the_callers_mistake() -> None:
    """Every document satisfies it: none of its keys is a keyword."""
    for envelope in ({"name": "person", "strict": True, "schema": PERSON}, {"name": "person", "schema": PERSON}):
        assert ask('{"anything": 1}', envelope).status is Status.INVALID
    assert ask("{}", {"schema": PERSON, "type": "object"}).score == 1.0


def test_fences_of_more_signs() -> None:
    text = '{"name": "Ann", "age": 3}'
    assert ask(f"````json\n{text}\n````").score == ask(f"~~~~\n{text}\n~~~~").score == 1.0
    assert ask(f"````json\n{text}\n```").score == ask(f"```json\n{text}\n````").score == 0.0
