"""Conditions that a person writes in SQL: what they may hold, and that nothing else of them is run."""

import json
from pathlib import Path

import pytest

from service.observe.audit_log import search
from service.observe.audit_log.condition import BadCondition
from service.observe.audit_log.search import Filters
from service.observe.audit_log.tables import Tables
from tests.service.observe.audit_log.test_search import record
from tests.tables import table


def chosen(folder: Path, where: str) -> int:
    path = folder / "log.jsonl"
    records = [record(number, metadata={"step": number // 5}) for number in range(10)]
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    with Tables([path]) as opened:
        count: int = search.summary(opened, Filters(where=where))["records"]
        return count


@table(
    "where, count",
    [
        ("reward < 0.5", 4),
        ("reward < 0.5 AND step = 1", 2),
        ("response ILIKE '%BOXED{4}%'", 1),
        ("id ->> '$' = 'item-2' OR id ->> '$' = '3'", 2),
        ("metadata ->> '$.step' = '1'", 5),
        ("regexp_matches(extracted, '^[78]$') AND NOT cached", 2),
        ("status IN ('failed', 'invalid')", 2),
        ("moment >= '2026-03-01 00:00:08'", 2),
        ("CASE WHEN verifier = 'math' THEN length(response) > 3 END", 6),
        ("extracted::INTEGER BETWEEN 3 AND 5", 3),
        ("response::INTEGER = 1", 0),
        ("NOT cached -- that is all", 10),
        ("response LIKE '%\\_%' ESCAPE '\\'", 0),
        ("moment >= DATE '2026-03-01'", 10),
        ("response <> '{rows}'", 10),
    ],
)
def test_a_condition_chooses(tmp_path: Path, where: str, count: int) -> None:
    assert chosen(tmp_path, where) == count


@table(
    "where, message",
    [
        ("rewrd < 1", "did you mean `reward`?"),
        ("reward <", "syntax error"),
        ("read_text('/etc/passwd') = ''", "the function 'read_text'"),
        ("getenv('HOME') = ''", "the function 'getenv'"),
        ("repeat('x', 1000000000) = ''", "the function 'repeat'"),
        ("(SELECT 1) = 1", "subquery"),
        ("reward IN (SELECT reward FROM found)", "subquery"),
        ("true) UNION SELECT (true", "more than a condition"),
        ("true) LIMIT (SELECT 1", "more than a condition"),
        ("true); SELECT (true", "more than a condition"),
        ("true) QUALIFY (reward > 1", "more than a condition"),
        ("NOT " * 400 + "true", "maximum nesting depth"),
        ("regexp_matches(response, '(')", "missing )"),
        ("metadata -> '$.step' = 1", "write `->>`"),
        ("true; DROP TABLE found", "syntax error"),
        ("list_sum(list_transform([1], x -> x)) = 1", "is not possible"),
        ("row_number() OVER () = 1", "window"),
        ("found.reward = 1", "no column 'found.reward'"),
        ("$judges = 1", "parameter"),
        ("* = 1", "star is not possible"),
        ("response LIKE 1", "No function matches"),
        ("response::BLOB = 'a'", "the type BLOB"),
    ],
)
def test_what_is_more_than_a_condition_is_refused(tmp_path: Path, where: str, message: str) -> None:
    with pytest.raises(BadCondition) as refused:
        chosen(tmp_path, where)
    assert message in str(refused.value)
