"""What is said of the commonest mistakes in items: where, what to write, and what is there."""

from typing import Any

import pytest

from sandbox.workers import Workers
from service.scoring.prepared_item import configure
from tests.tables import table
from verifiers import registry
from verifiers.base import InvalidItem, Resources
from verifiers.registry import Registry


@pytest.fixture(scope="module")
def verifiers() -> Registry:
    return registry.load(Resources(workers=Workers(1)))


@table(
    "name, fields, message",
    [
        ("math", {}, "reference is missing"),
        ("math", {"reference": None}, "reference must be a text, a number, a list or an object; it is null"),
        ("math", {"reference": ""}, "reference: a reference must not be blank"),
        ("math", {"reference": "  "}, "reference: a reference must not be blank"),
        ("math", {"reference": {}}, "reference.final_answer is missing"),
        ("math", {"reference": {"answer": 4}}, "reference.final_answer is missing"),
        ("math", {"reference": []}, "reference must be a list of at least 1; it is an empty list"),
        ("math", {"reference": [None]}, "reference[0] must be a text or a number; it is null"),
        ("math", {"reference": True}, "reference must be a text, a number, a list or an object; it is true"),
        ("math", {"reference": "4", "tolerance": 0.1}, "params.tolerance: no such parameter; there are "),
        ("math", {"reference": "4", "abs_tol": "x"}, "params.abs_tol must be a number; it is the text 'x'"),
        ("math", {"reference": "4", "abs_tol": -1}, "params.abs_tol must be at least 0; it is -1"),
        ("numeric", {"reference": None}, "reference must be a number, a text or a list; it is null"),
        ("numeric", {"reference": {}}, "reference must be a number, a text or a list; it is an empty object"),
        ("numeric", {"reference": 1, "rel_tol": 2, "foo": 1}, "params.foo: no such parameter; there are "),
        ("exact_match", {"reference": 3}, "reference must be a text or a list; it is 3"),
        ("exact_match", {"reference": []}, "reference must be a list of at least 1; it is an empty list"),
        ("exact_match", {"reference": None}, "reference must be a text or a list; it is null"),
        (
            "exact_match",
            {"reference": "a", "extract": "box"},
            "params.extract must be 'auto' or 'answer_tag', 'boxed', 'hash4', 'answer_line', 'bare', 'final_statement', 'last_number', 'last_line' or 'whole'; it is the text 'box'",
        ),
        ("multiple_choice", {}, "reference is missing"),
        (
            "multiple_choice",
            {"reference": "A", "choices": []},
            "params.choices must be a list of at least 1; it is an empty list",
        ),
        ("multiple_choice", {"reference": 3}, "reference must be a text or a list; it is 3"),
        ("multiple_choice", {"reference": None, "choices": ["a"]}, "reference must be a text or a list; it is null"),
        ("multiple_choice", {"reference": 0, "choices": ["a", "b"]}, "reference must be a text or a list; it is 0"),
        (
            "qa",
            {"reference": None},
            "reference must be true or false, a number, a text, a list or an object; it is null",
        ),
        (
            "qa",
            {"reference": "a", "metric": "bleu4"},
            "params.metric must be 'exact', 'f1', 'contains', 'drop', 'wer', 'rouge', 'bleu', 'chrf', 'list', 'bool' or 'date'; it is the text 'bleu4'",
        ),
        ("qa", {"reference": []}, "reference must be a list of at least 1; it is an empty list"),
        ("code", {}, "reference is missing"),
        ("code", {"reference": None}, "reference must be an object, a list or a text; it is null"),
        (
            "code",
            {"reference": ["assert f(1)==2"], "time_limit_s": 0},
            "params.time_limit_s must be more than 0; it is 0",
        ),
        ("code", {"reference": ["assert f(1)==2"], "memory_mb": 8}, "params.memory_mb must be at least 16; it is 8"),
        ("regex", {"reference": None}, "reference must be a text; it is null"),
        ("json_schema", {}, "reference is missing"),
        ("tool_call", {}, "reference is missing"),
        ("length", {}, "params: mode bounds needs minimum, maximum or both"),
        ("length", {"minimum": 5, "maximum": 2}, "params: minimum 5 is more than maximum 2"),
        ("length", {"mode": "kimi"}, "params: mode kimi needs group_lengths"),
        ("sql", {"reference": "SELECT 1"}, "reference must be an object; it is the text 'SELECT 1'"),
        (
            "judge",
            {"reference": "a", "mode": "x"},
            "params.mode must be 'reference', 'criteria', 'quality', 'pairwise', 'compare', 'listwise' or 'steps'; it is the text 'x'",
        ),
        ("judge", {"reference": "a", "criteria": []}, "params.criteria: 0 criteria; there must be 1 to 2000"),
        (
            "tool_call",
            {"reference": "f(1)", "think": "yes"},
            "params.think must be 'auto', 'required' or 'none'; it is the text 'yes'",
        ),
        ("qa", {"reference": "a", "threshold": 2}, "params.threshold must be at most 1; it is 2"),
        (
            "detection",
            {"reference": [], "box_format": "xy"},
            "params.box_format must be 'xyxy', 'xywh', 'cxcywh' or 'yxyx'; it is the text 'xy'",
        ),
        (
            "countdown",
            {"reference": {"nums": [1]}, "use": "once"},
            "params.use must be 'exactly_once' or 'at_most_once'; it is the text 'once'",
        ),
        (
            "math",
            {"reference": "4", "extract": []},
            "params.extract must be 'auto', 'answer_tag', 'boxed', 'hash4', 'answer_line', 'bare', 'final_statement', 'last_number', 'last_line' or 'whole' or a list of at least 1; it is an empty list",
        ),
        ("length", {"minimum": 2.5}, "params.minimum must be an integer; it is 2.5"),
        ("length", {"minumum": 5}, "params.minumum: no such parameter; did you mean `minimum` or `maximum`?"),
        ("overlong", {"max_length": 0}, "params.max_length must be more than 0; it is 0"),
        ("repetition", {"n": 0}, "params.n must be at least 1; it is 0"),
        ("repetition", {"preset": "trl"}, "params: preset trl needs completion_ids: the response's tokens"),
        (
            "think_format",
            {"preset": "qwen"},
            "params.preset must be 'strict', 'deepseek', 'open_r1', 'trl', 'roll', 'video_r1', 'geo3k', 'open_instruct' or 'nemo_rl'; it is the text 'qwen'",
        ),
        (
            "trajectory",
            {"required": "f()", "credit": "some"},
            "params.credit must be 'all' or 'mean'; it is the text 'some'",
        ),
        ("regression", {"reference": None}, "reference must be a number or a text; it is null"),
        ("point", {"reference": "a"}, "reference must be a list or an object; it is the text 'a'"),
        (
            "multiple_choice",
            {"reference": "A", "choices": {"label": ["A"]}},
            "params.choices.text is missing; params.choices.label must be a text; it is a list of 1",
        ),
        ("language", {"language": "xx"}, "params: the scripts of the language 'xx' are not known; give script"),
        (
            "language",
            {"script": "Klingon"},
            "params: 'Klingon' is not a Unicode script; examples are Latin, Han, Hangul, Cyrillic, Arabic",
        ),
        (
            "code",
            {"reference": [], "policy": "any"},
            "params.policy must be 'all', 'ratio', 'threshold' or 'first_n'; it is the text 'any'",
        ),
        (
            "code",
            {"reference": ["x"], "select": "first"},
            "params.select must be 'last', 'first_def' or 'longest'; it is the text 'first'",
        ),
        ("cosine_length", {"max_length": "long"}, "params.max_length must be an integer; it is the text 'long'"),
        ("instruction_following", {"reference": 3}, "reference must be an object, a list or a text; it is 3"),
    ],
)
def test_a_mistake_has_a_sentence(name: str, fields: dict[str, Any], message: str, verifiers: Registry) -> None:
    with pytest.raises(InvalidItem) as refused:
        configure(verifiers[name], fields)
    assert str(refused.value).startswith(message)


def test_what_is_missing_or_of_another_type_is_described(verifiers: Registry) -> None:
    with pytest.raises(InvalidItem, match=r"reference is missing \(The tests: "):
        configure(verifiers["code"], {})
    with pytest.raises(
        InvalidItem, match=r"it is null \(The right answer, or several answers of which each is right\)"
    ):
        configure(verifiers["math"], {"reference": None})
