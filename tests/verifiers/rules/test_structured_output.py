"""Documents of JSON, YAML, TOML and CSV."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.tables import table
from verifiers.base import Item, Status, Verdict
from verifiers.rules.structured_output import StructuredOutputParams, judge

TABLE = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "ok": {"type": "boolean"}, "s": {"type": "string"}},
        "required": ["n"],
    },
}


def ask(response: str, format_: str, **params: Any) -> Verdict:
    return judge(Item(response, StructuredOutputParams.model_validate({"format": format_, **params}), explain=True))


@table(
    ("format_", "response"),
    [
        ("json", "1"),
        ("json", '"x"'),
        ("json", '```json\n{"a": 1}\n```'),
        ("json", '{"a": "\\u00e9"}'),
        ("yaml", "a: 1\nb:\n  - x\n  - y"),
        ("yaml", "- 1\n- 2"),
        ("yaml", "```yaml\na: 1\n```"),
        ("yaml", "---\na: [1, {b: c}]\n..."),
        ("yaml", 'a: "R&D * 2 !"'),
        ("toml", "a = 1"),
        ("toml", "[x]\na = 1979-05-27T07:32:00Z"),
        ("toml", "```toml\na = [1, 2]\n```"),
        ("csv", "a,b\n1,2"),
        ("csv", 'a,b\r\n"x, ""y""","two\nlines"\r\n'),
        ("csv", "```csv\na,b\n1,2\n```"),
    ],
)
def test_documents_are_read(format_: str, response: str) -> None:
    assert ask(response, format_).score == 1.0


@table(
    ("format_", "response", "reason"),
    [
        ("json", "", "no_answer"),
        ("json", "NaN", "not_readable"),
        ("json", '{"a": 1}{"b": 2}', "not_readable"),
        ("yaml", "", "no_answer"),
        ("yaml", "just some prose", "not_readable"),
        ("yaml", "# a comment", "not_readable"),
        ("yaml", "a: 1\na: [", "not_readable"),
        ("yaml", "a: 1\n---\nb: 2", "not_readable"),
        ("yaml", "a: &x 1\nb: *x", "not_readable"),
        ("yaml", "a: !!python/object/apply:os.system ['id']", "not_readable"),
        ("yaml", "a: !!binary aGk=", "not_readable"),
        ("yaml", "a: .inf", "not_readable"),
        ("yaml", "? [a]\n: 1", "not_readable"),
        ("yaml", "[" * 5000, "too_deep"),
        ("yaml", "- " * 5000 + "x", "too_deep"),
        ("yaml", "a: 1\n" * 60_000, "too_large"),
        ("yaml", "{}", "empty"),
        ("toml", "", "no_answer"),
        ("toml", "some prose", "not_readable"),
        ("toml", "# a comment", "empty"),
        ("toml", "a = 1\na = 2", "not_readable"),
        ("toml", "a = nan", "not_readable"),
        ("toml", "a = " + "[" * 5000, "too_deep"),
        ("toml", "a" + ".a" * 120_000 + " = 1", "too_deep"),
        ("toml", "['a'" + " . 'a'" * 100 + "]", "too_deep"),
        ("csv", "a,b", "not_readable"),
        ("csv", "prose\nof two lines", "not_readable"),
        ("csv", "a,b\n1", "not_readable"),
        ("csv", "a,b\n1,2,3", "not_readable"),
        ("csv", "a,a\n1,2", "wrong_columns"),
        ("csv", "a,\n1,2", "wrong_columns"),
        ("csv", 'a,b\n"1,2', "not_readable"),
        ("csv", 'a,b\n"1"x,2', "not_readable"),
        ("csv", "a,b\n" + "1" * 200_000 + ",2", "not_readable"),
    ],
)
def test_other_texts_are_not(format_: str, response: str, reason: str) -> None:
    verdict = ask(response, format_)
    assert (verdict.reason, verdict.score) == (reason, 0.0)


def test_billion_laughs_are_refused_before_they_are_built() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert ask("\n".join(lines), "yaml").reason == "not_readable"


def test_yaml_has_the_core_schema_of_1_2() -> None:
    schema = {
        "properties": {
            **{name: {"type": "string"} for name in ("no", "time", "date", "underscored", "quoted")},
            "ten": {"const": 10},
            "eight": {"const": 8},
            "half": {"const": 0.5},
            "nothing": {"type": "null"},
            "yes": {"const": True},
        },
        "minProperties": 10,
    }
    text = (
        "no: no\ntime: 12:30\ndate: 2024-01-01\nunderscored: 1_000\nquoted: '1'\nten: 010\neight: 0o10\nhalf: .5\n"
        "nothing: ~\nyes: TRUE"
    )
    assert ask(text, "yaml", reference=schema).score == 1.0


def test_a_lone_scalar_is_yaml_where_a_schema_says_so() -> None:
    assert ask("no", "yaml", reference={"type": "string"}).score == 1.0
    assert ask("5", "yaml", reference={"type": "string"}).reason == "schema_mismatch"


def test_keys_named_twice_are_refused_on_request() -> None:
    assert ask("a: 1\na: 2", "yaml").score == 1.0
    assert ask("a: 1\na: 2", "yaml", unique_keys=True).reason == "duplicate_key"
    assert ask('{"a": 1, "a": 2}', "json", unique_keys=True).reason == "duplicate_key"


def test_dates_of_toml_are_text_for_a_schema() -> None:
    schema = {"properties": {"d": {"type": "string", "format": "date"}}, "required": ["d"]}
    assert ask("d = 1979-05-27", "toml", schema=schema, check_formats=True).score == 1.0


@table(
    ("text", "score"),
    [
        ("n,ok,s\n1,true,5\n2,FALSE,x\n", 1.0),
        ("n,ok\n1,maybe\n", 0.0),
        ("n,ok\n1.5,true\n", 0.0),
        ("n,ok\n,true\n", 0.0),
        ("n,ok\ntrue,true\n", 0.0),
        ("m,ok\n1,true\n", 0.0),
    ],
)
def test_fields_of_csv_are_what_the_schema_says_they_are(text: str, score: float) -> None:
    assert ask(text, "csv", reference=TABLE).score == score


def test_columns_must_be_the_header_in_order() -> None:
    assert ask("a,b\n1,2", "csv", columns=["a", "b"]).score == 1.0
    assert ask("b,a\n1,2", "csv", columns=["a", "b"]).reason == "wrong_columns"
    assert ask("a\n1", "csv", columns=["a"]).score == 1.0
    assert ask("a;b\n1;2", "csv", columns=["a", "b"], delimiter=";").score == 1.0
    with pytest.raises(ValidationError, match="go with format csv"):
        StructuredOutputParams(columns=("a",))


def test_a_bad_schema_is_the_callers_to_mend() -> None:
    for format_ in ("json", "yaml", "toml", "csv"):
        verdict = ask("", format_, reference={"type": 5})
        assert (verdict.status, verdict.reason) == (Status.INVALID, "bad_schema")


@pytest.mark.parametrize("format_", ["json", "yaml", "toml", "csv"])
@given(text=st.text("ab01 :-[]{}=\"',.#&*!|>\n~<%@?", max_size=60))
def test_any_text_is_judged(format_: str, text: str) -> None:
    assert ask(text, format_).status is Status.OK
    assert ask("", format_).score == 0.0
