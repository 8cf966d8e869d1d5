"""Queries against the rows of a reference, on databases that may be hostile too."""

import base64
import json
import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import memory
from sandbox.workers import Exit, Outcome, Task, Workers
from tests.tables import table
from tests.verifiers.found import Found
from verifiers import long_texts
from verifiers.base import Item, Status, Verdict
from verifiers.rules.sql import Sql, SqlParams, _kept, judge_in_worker
from verifiers.rules.sql.database import is_query, orders_its_rows
from verifiers.rules.sql.reference import Reference
from verifiers.rules.sql.rows import same_in_order, same_multiset, tie_groups

SETUP = """
PRAGMA foreign_keys=OFF;
PRAGMA journal_mode=WAL;
BEGIN TRANSACTION;
CREATE TABLE t(a INTEGER, b TEXT, c REAL, d BLOB);
INSERT INTO t VALUES (1, 'x', 0.1, x'00'), (2, 'y', 0.2, NULL), (2, 'y', 0.2, NULL), (3, 'z', 0.3, x'ff');
CREATE INDEX i ON t(b);
CREATE VIEW v AS SELECT a, strftime('%Y', '2020-05-05') AS year FROM t;
CREATE TABLE big(n INTEGER);
INSERT INTO big WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 2000) SELECT x FROM r;
COMMIT;
"""
ALL = "SELECT a, b FROM t"


def ask(response: str, sql: str | None = None, /, *, setup: Any = SETUP, **params: Any) -> Verdict:
    reference = params.pop("reference", None) or {"setup_sql": setup, "sql": sql}
    text = SqlParams.model_validate_json(json.dumps({"reference": reference, **params})).text
    return long_texts.verdict_of(judge_in_worker([response, text, True]))


def file_of(script: str, **pragmas: str) -> str:
    with closing(sqlite3.connect(":memory:")) as connection:
        for name, value in pragmas.items():
            connection.execute(f"PRAGMA {name} = {value}")
        connection.executescript(script)
        return base64.b64encode(connection.serialize()).decode()


@table(
    "response",
    [
        "SELECT a, b FROM t",
        "select a AS x, b y from t;",
        "-- all\nSELECT a, b FROM t -- of it",
        "SELECT a, b FROM t ORDER BY a DESC",
        "SELECT a * 1.0, b FROM t",
        "WITH u AS (SELECT * FROM t) SELECT u.a, u.b FROM u;",
        "SELECT a, b FROM t WHERE a < 3 UNION ALL SELECT 3, 'z'",
        "```sql\nSELECT a, b FROM t\n```",
        "First ```SELECT 1``` no:\n```sql\nSELECT 1\n```\nBetter:\n```sql\nSELECT a, b FROM t;\n```\nDone.",
        "```\nSELECT a, b FROM t\n```",
        "```sqlite\nSELECT a, b FROM t\n```\n```\na | b\n```",
        "```postgresql\nSELECT a, b FROM t\n```",
        "For MySQL:\n```mysql\nSELECT 1\n```\nFor SQLite:\n```sqlite\nSELECT a, b FROM t\n```",
        "```sql\nSELECT a, b FROM t\n```\nElsewhere:\n```tsql\nSELECT 1\n```",
        "`SELECT a, b FROM t`",
        "<think>```sql\nSELECT 1\n```</think>```sql\nSELECT a, b FROM t\n```",
        "<answer>SELECT a, b FROM t</answer>",
        "Here:\n<answer>\n```sql\nSELECT a, b FROM t\n```\n</answer><|im_end|>",
        "SELECT a, b FROM t WHERE date('now') = '2025-01-01' AND CURRENT_TIMESTAMP = '2025-01-01 00:00:00'",
        "SELECT a, b FROM t WHERE julianday() = julianday('2025-01-01', 'localtime') AND strftime('%Y') = '2025'",
    ],
)
def test_queries_that_return_the_same_rows_are_right(response: str) -> None:
    verdict = ask(response, ALL)
    assert (verdict.reason, verdict.score) == ("correct", 1.0)


@table(
    ("response", "reason"),
    [
        ("SELECT DISTINCT a, b FROM t", "different_rows"),
        ("SELECT b, a FROM t", "different_rows"),
        ("SELECT a, b FROM t UNION ALL SELECT 1, 'x'", "different_rows"),
        ("SELECT a, b FROM t LIMIT 3", "different_rows"),
        ("SELECT CAST(a AS TEXT), b FROM t", "different_rows"),
        ("SELECT a, CAST(b AS BLOB) FROM t", "different_rows"),
        ("SELECT a, upper(b) FROM t", "different_rows"),
        ("SELECT a + 0.001, b FROM t", "different_rows"),
        ("SELECT nullif(a, 3), b FROM t", "different_rows"),
        ("SELECT a, b, c FROM t", "different_columns"),
        ("SELECT a FROM t", "different_columns"),
        ("SELECT a, b FROM t WHERE 0", "different_rows"),
        ("VALUES (1,'x'),(2,'y'),(2,'y'),(3,'z')", "reads_no_table"),
        ("SELECT x, b FROM t", "sql_error"),
        ("SELECT a, b FROM", "sql_error"),
        ("SELECT a, b FROM t WHERE a = ?", "sql_error"),
        ("SELECT a, b FROM t\0", "sql_error"),
        ("SELECT a, b FROM t WHERE b = '\ud800'", "different_rows"),
        ("I would select a and b.", "not_a_query"),
        ("", "empty"),
        ("<think>SELECT a, b FROM t", "truncated"),
        ("```sql\nSELECT a, b FROM t", "truncated"),
        ("```sql\n```", "no_answer"),
        ("```python\nSELECT a, b FROM t\n```", "no_answer"),
        ("SELECT a, b FROM t; SELECT 1", "several_statements"),
        ("SELECT a, b FROM t; DROP TABLE t", "several_statements"),
        ("DROP TABLE t", "not_a_query"),
        ("DELETE FROM t", "not_a_query"),
        ("WITH u AS (SELECT 1) DELETE FROM t", "forbidden"),
        ("WITH u AS (SELECT 1) INSERT INTO t(a) SELECT 1 RETURNING a, b", "forbidden"),
        ("EXPLAIN SELECT a, b FROM t", "not_a_query"),
        ("ATTACH '/tmp/x.db' AS x", "not_a_query"),
        ("PRAGMA writable_schema = 1", "not_a_query"),
        ("SELECT * FROM pragma_table_info('t')", "forbidden"),
        ("VACUUM INTO '/tmp/x.db'", "not_a_query"),
        ("SELECT a, b FROM t ORDER BY random()", "forbidden"),
        ("SELECT randomblob(4), b FROM t", "forbidden"),
        ("SELECT load_extension('x'), b FROM t", "forbidden"),
        ("SELECT changes(), total_changes()", "forbidden"),
        ("SELECT sqlite_version(), 1", "forbidden"),
        ("SELECT readfile('/etc/passwd'), 1", "sql_error"),
        ("SELECT sql, 1 FROM sqlite_stmt", "forbidden"),
        ("SELECT zeroblob(1000000000), 1", "too_large"),
        ("SELECT printf('%.*c', 20000000, 'x'), 1", "reads_no_table"),
        ("SELECT hex(zeroblob(4000000)), 1", "too_large"),
        ("SELECT group_concat(hex(zeroblob(1000000))), 1 FROM big", "too_large"),
        ("SELECT " + "(" * 5000 + "1" + ")" * 5000 + ", 1", "sql_error"),
        ("SELECT " + "+".join(["1"] * 5000) + ", 1", "sql_error"),
        ("SELECT 1, '" + "x" * 200_000 + "'", "too_large"),
        ("SELECT 1" + ", 1" * 3000, "sql_error"),
        ("SELECT 1 UNION " * 1000 + "SELECT 1", "sql_error"),
        ("SELECT '" + "a" * 50_000 + "' LIKE '" + "%a" * 20_000 + "b', 1", "sql_error"),
    ],
)
def test_other_texts_are_wrong(response: str, reason: str) -> None:
    verdict = ask(response, ALL)
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)
    assert verdict.reason == reason


def test_order_counts_where_the_reference_asks_for_it_but_not_among_ties() -> None:
    gold = "SELECT b, a FROM t ORDER BY a"
    assert ask("SELECT b, a FROM t ORDER BY 2, 1 DESC", gold).score == 1.0
    assert ask("SELECT b, a FROM t ORDER BY a DESC", gold).reason == "different_order"
    assert ask("SELECT b, a FROM t ORDER BY a DESC", gold, order_matters=False).score == 1.0
    assert ask("SELECT a, b FROM t ORDER BY a DESC", ALL, order_matters=True).reason == "different_order"
    assert ask("SELECT b, a FROM (SELECT * FROM t ORDER BY a) ORDER BY b DESC", "SELECT b, a FROM t").score == 1.0
    people = (
        "CREATE TABLE p(name TEXT, age INT);"
        "INSERT INTO p VALUES ('a', 5), ('b', 5), ('c', 4), ('d', 4), ('e', 4), ('f', 6);"
    )
    gold = "SELECT name FROM p ORDER BY age"
    for right in ("name", "name DESC", "name = 'd', name", "name <> 'e', name DESC"):
        assert ask(f"SELECT name FROM p ORDER BY age, {right}", gold, setup=people).score == 1.0
    for wrong in ("age DESC", "name", "age = 6, age = 4, age", "age = 5 DESC, age"):
        assert ask(f"SELECT name FROM p ORDER BY {wrong}", gold, setup=people).reason == "different_order"
    gold = "SELECT name FROM p ORDER BY age DESC LIMIT 2"
    assert ask("SELECT name FROM p ORDER BY age DESC, name LIMIT 2", gold, setup=people).score == 1.0
    assert ask("SELECT name FROM p ORDER BY age DESC, name DESC LIMIT 2", gold, setup=people).score == 1.0
    assert ask("SELECT name FROM p ORDER BY age LIMIT 2", gold, setup=people).score == 0.0


def test_rows_may_be_given() -> None:
    reference = {"setup_sql": SETUP, "rows": [[1, {"base64": "AA=="}], [3, {"base64": "/w=="}]], "columns": ["a", "d"]}
    assert ask("SELECT a, d FROM t WHERE d IS NOT NULL ORDER BY a DESC", reference=reference).score == 1.0
    assert (
        ask("SELECT a, d FROM t WHERE d IS NOT NULL ORDER BY a DESC", reference=reference, order_matters=True).score
        == 0
    )
    assert ask("SELECT a, hex(d) FROM t WHERE d IS NOT NULL", reference=reference).reason == "different_rows"
    nothing = {"setup_sql": SETUP, "rows": [], "columns": ["a"]}
    assert ask("SELECT a FROM t WHERE 0", reference=nothing).reason == "empty_reference"
    assert ask("SELECT a FROM t WHERE 0", reference=nothing, allow_empty=True).score == 1.0
    assert ask("SELECT a, b FROM t WHERE 0", reference=nothing, allow_empty=True).reason == "different_columns"
    large = {"setup_sql": SETUP, "rows": [[9223372036854775808], [9007199254740993], [True], [None]]}
    query = "SELECT 9223372036854775808 UNION ALL VALUES (9007199254740993), (1), (NULL)"
    assert ask(query, reference=large).score == 1.0
    assert ask(query.replace("0993", "0992"), reference=large).score == 0.0
    assert ask(query.replace("0993", "0992.0"), reference=large).score == 0.0


def test_numbers_may_differ_by_rounding_and_by_the_tolerance() -> None:
    gold = "SELECT sum(c), count(*) FROM t"
    assert ask("SELECT 0.3 + 0.2 + 0.2 + 0.1, count(*) FROM t", gold).score == 1.0
    assert ask("SELECT sum(c) + 0.00001, count(*) FROM t", gold).score == 0.0
    assert ask("SELECT sum(c) + 0.00001, count(*) FROM t", gold, float_tol=0.0001).score == 1.0
    assert ask("SELECT sum(c), count(*) + 1 FROM t", gold, float_tol=5).score == 0.0
    assert ask("SELECT 9e999, -9e999 FROM t", "SELECT 9e999, -9e999 FROM t").score == 1.0
    assert ask("SELECT -9e999, 9e999 FROM t", "SELECT 9e999, -9e999 FROM t", float_tol=9e99).score == 0.0


@pytest.mark.parametrize("encoding", ['"UTF-8"', '"UTF-16le"'])
def test_a_database_may_be_a_file(encoding: str) -> None:
    file = file_of("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 'é𝟙'), (2, NULL)", encoding=encoding)
    reference = {"database": file, "sql": ALL}
    assert ask("SELECT a, b FROM t ORDER BY 1 DESC", reference=reference).score == 1.0
    assert ask("SELECT a, 'e' FROM t", reference=reference).score == 0.0


def test_a_file_in_wal_mode_is_read() -> None:
    image = bytearray(base64.b64decode(file_of("CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2)")))
    image[18:20] = b"\2\2"
    assert ask(ALL, reference={"database": base64.b64encode(image).decode(), "sql": ALL}).score == 1.0


def test_a_query_must_be_right_on_all_databases() -> None:
    scripts = [SETUP, "CREATE TABLE t(a, b); INSERT INTO t VALUES (7, 'q')"]
    assert ask("SELECT a, b FROM t", ALL, setup=scripts).score == 1.0
    assert ask("SELECT a, b FROM t WHERE a < 5", ALL, setup=scripts).reason == "different_rows"


@pytest.mark.accuracy
@table(
    ("reference", "reason"),
    [
        ({"setup_sql": SETUP, "sql": "SELECT nothing FROM t"}, "bad_reference_query"),
        ({"setup_sql": SETUP, "sql": "DELETE FROM t"}, "bad_reference_query"),
        ({"setup_sql": SETUP, "sql": "SELECT a FROM t ORDER BY random()"}, "bad_reference_query"),
        ({"setup_sql": SETUP, "sql": "SELECT 1 FROM big, big b, big c"}, "bad_reference_query"),
        ({"setup_sql": SETUP, "sql": "SELECT count(*) FROM big, big b, big c"}, "bad_reference_query"),
        ({"setup_sql": SETUP, "sql": "SELECT a FROM t WHERE 0"}, "empty_reference"),
        ({"setup_sql": SETUP, "sql": "SELECT max(a) FROM t WHERE 0"}, "empty_reference"),
        ({"setup_sql": "CREATE TABLE t(", "sql": "SELECT 1"}, "bad_database"),
        ({"setup_sql": "ATTACH '/tmp/x' AS x", "sql": "SELECT 1"}, "bad_database"),
        ({"setup_sql": "VACUUM INTO '/tmp/x'", "sql": "SELECT 1"}, "bad_database"),
        ({"setup_sql": "CREATE VIRTUAL TABLE f USING fts5(a)", "sql": "SELECT 1"}, "bad_database"),
        ({"setup_sql": "CREATE TABLE t(a); INSERT INTO t SELECT random()", "sql": "SELECT 1"}, "bad_database"),
        ({"setup_sql": "SELECT load_extension('x')", "sql": "SELECT 1"}, "bad_database"),
        (
            {"setup_sql": "CREATE TABLE t(a); INSERT INTO t SELECT zeroblob(99999999)", "sql": "SELECT 1"},
            "bad_database",
        ),
        (
            {
                "setup_sql": "CREATE TABLE t(a); WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) "
                "INSERT INTO t SELECT zeroblob(100000) FROM r",
                "sql": "SELECT 1",
            },
            "bad_database",
        ),
        (
            {
                "setup_sql": "CREATE TABLE t(a); CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO t SELECT a FROM t; "
                "END; PRAGMA recursive_triggers=ON;" + "INSERT INTO t VALUES (1);" * 60,
                "sql": "SELECT 1",
            },
            "bad_database",
        ),
        ({"database": "AAAA", "sql": "SELECT 1"}, "bad_database"),
        ({"database": "no base64!", "sql": "SELECT 1"}, "bad_database"),
        (
            {"database": base64.b64encode(b"SQLite format 3\0" + b"\xff" * 5000).decode(), "sql": "SELECT 1"},
            "bad_database",
        ),
        ({"database": file_of("CREATE VIRTUAL TABLE f USING fts4(a)"), "sql": "SELECT 1"}, "bad_database"),
    ],
)
def test_references_that_do_not_work_are_invalid(reference: dict[str, Any], reason: str) -> None:
    verdict = ask("SELECT 1", reference=reference)
    assert (verdict.status, verdict.reason) == (Status.INVALID, reason)


@table(
    "reference",
    [
        {"setup_sql": SETUP},
        {"sql": ALL},
        {"setup_sql": SETUP, "sql": ALL, "rows": [[1]]},
        {"setup_sql": SETUP, "database": "AAAA", "sql": ALL},
        {"setup_sql": SETUP, "rows": [[1], [1, 2]]},
        {"setup_sql": SETUP, "rows": [[1]], "columns": ["a", "b"]},
        {"setup_sql": SETUP, "rows": [[[1]]]},
        {"setup_sql": SETUP, "rows": [[float("inf")]]},
        {"setup_sql": [SETUP, SETUP], "rows": [[1]]},
        {"setup_sql": SETUP, "sql": ALL, "other": 1},
        SETUP,
    ],
)
def test_references_of_another_shape_are_refused(reference: Any) -> None:
    with pytest.raises(ValidationError):
        SqlParams.model_validate({"reference": reference})


def test_other_names_of_the_fields_are_known() -> None:
    assert ask(ALL, reference={"sql_context": SETUP, "query": ALL}).score == 1.0
    assert ask(ALL, reference={"schema": SETUP, "gold_sql": ALL}).score == 1.0


def test_time_stands_where_it_is_set() -> None:
    gold = "SELECT strftime('%Y', 'now') - 2000, CURRENT_DATE FROM t"
    assert ask("SELECT 25, '2025-01-01' FROM t", gold).score == 1.0
    assert ask("SELECT 30, '2030-06-01' FROM t", gold, now="2030-06-01 12:00:00").score == 1.0
    setup = "CREATE TABLE t(a, b DEFAULT CURRENT_TIMESTAMP); INSERT INTO t(a) VALUES (1)"
    assert ask("SELECT a, '2025-01-01 00:00:00' FROM t", ALL, setup=setup).score == 1.0


@table(
    ("query", "is_ordered"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("select a from t order\n--x\nby a limit 1", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a)", False),
        ("SELECT rank() OVER (ORDER BY a) FROM t", False),
        ("SELECT 'ORDER BY' FROM t", False),
        ('SELECT "order" by FROM t -- ORDER BY a', False),
        ("SELECT a FROM t /* ORDER BY a", False),
        ("WITH u AS (SELECT 1) SELECT * FROM u ORDER BY 1", True),
    ],
)
def test_an_order_of_its_own_is_not_in_parentheses(query: str, is_ordered: bool) -> None:
    assert is_query(query)
    assert orders_its_rows(query) is is_ordered


@pytest.mark.accuracy(beyond=1)
@pytest.mark.parametrize(
    "query",
    [
        "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x, 1 FROM r ORDER BY x",
        "SELECT count(*), 1 FROM big a, big b, big c, big d",
        "SELECT a.n, b.n FROM big a, big b, big c, big d",
        "SELECT length(replace(hex(zeroblob(1000000)), '0', 'ab')) + n, 1 FROM big",
        "WITH "
        + ", ".join(
            ["c0 AS (SELECT n FROM big)"] + [f"c{i} AS (SELECT a.n FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 40)]
        )
        + " SELECT n, 1 FROM c39",
        "SELECT sum(n) OVER (ORDER BY n ROWS 1999 PRECEDING), instr(hex(zeroblob(1900000)), hex(zeroblob(n)) || '1') "
        "FROM big",
        "SELECT hex(zeroblob(900000)) GLOB '" + "*0" * 400 + "1', n FROM big",
    ],
)
def test_bombs_are_stopped_and_wrong(found: Found, query: str) -> None:
    verdict = found.judge("sql", query, reference={"setup_sql": SETUP, "sql": ALL})
    assert (verdict.status, verdict.score) == (Status.OK, 0.0)


@pytest.mark.bombs
def test_an_instruction_that_does_not_end_is_stopped(found: Found) -> None:
    one = "instr(hex(zeroblob(520000)), hex(zeroblob({})) || '1')"
    slow = f"SELECT {', '.join(one.format(260_000 + n) for n in range(30))}, n FROM big"
    for _ in range(3):
        verdict = found.judge("sql", slow, reference={"setup_sql": SETUP, "sql": ALL})
        if verdict.reason != "worker_stalled":  # the machine gave it no time
            break
    assert (verdict.score, verdict.reason) == (0.0, "too_slow")


class Ended(Workers):
    """Workers that end items of a response as told, and those of a reference alone as told."""

    def __init__(self, whole: Outcome, alone: Outcome) -> None:
        super().__init__(1)
        self.outcomes = {True: whole, False: alone}

    async def map(
        self, task: Task, payloads: Sequence[Any], on_outcome: Callable[[int, Outcome], None] | None = None
    ) -> list[Outcome]:
        return [self.outcomes[payload[0] is not None] for payload in payloads]


FINE = Outcome(Exit.OK, long_texts.fields_of(Verdict.correct()))
BAD = Outcome(Exit.OK, long_texts.fields_of(Verdict.invalid("bad_database", "no")))


@pytest.mark.parametrize(
    ("whole", "alone", "status", "reason"),
    [
        (FINE, BAD, Status.OK, "correct"),
        (Outcome(Exit.TIME_LIMIT), FINE, Status.OK, "too_slow"),
        (Outcome(Exit.MEMORY_LIMIT), FINE, Status.OK, "too_large"),
        (Outcome(Exit.CRASHED), FINE, Status.OK, "too_complex"),
        (Outcome(Exit.CRASHED), BAD, Status.INVALID, "bad_database"),
        (Outcome(Exit.TIME_LIMIT), Outcome(Exit.TIME_LIMIT), Status.INVALID, "reference_too_slow"),
        (Outcome(Exit.TIME_LIMIT), Outcome(Exit.STALLED), Status.FAILED, "worker_stalled"),
        (Outcome(Exit.STALLED), FINE, Status.FAILED, "worker_stalled"),
        (Outcome(Exit.RAISED, message="X: y"), FINE, Status.FAILED, "verifier_bug"),
    ],
)
async def test_who_breaks_a_workers_limit_is_to_blame(
    whole: Outcome, alone: Outcome, status: Status, reason: str
) -> None:
    params = SqlParams(reference=Reference(setup_sql=SETUP, sql=ALL))
    (verdict,) = await Sql(Ended(whole, alone)).score([Item(ALL, params)])
    assert (verdict.status, verdict.reason) == (status, reason)


# --- properties

CELLS = (
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(0, 3)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
    | st.binary(max_size=3)
)
ROWS = st.lists(st.tuples(CELLS, CELLS, st.integers(0, 2)), min_size=1, max_size=8)


@given(rows=ROWS, chance=st.randoms(use_true_random=False), data=st.data())
def test_rows_equal_themselves_in_any_order_and_no_others(
    rows: list[Any], chance: random.Random, data: st.DataObject
) -> None:
    other = rows.copy()
    chance.shuffle(other)
    assert same_multiset(other, rows, 0.0)
    assert same_in_order(rows, rows, 0.0)
    assert not same_multiset(rows[1:], rows, 0.0)
    place = data.draw(st.integers(0, len(rows) - 1))
    changed = [*other]
    changed[place] = (*other[place][:2], other[place][2] + 5)
    assert not same_multiset(changed, rows, 0.0)
    for cell in ("text", b"blob", None):
        if other[place][0] != cell:
            changed[place] = (cell, *other[place][1:])
            assert not same_multiset(changed, rows, 0.0)


@settings(deadline=None, max_examples=30)
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=12), data=st.data())
def test_a_query_equals_itself_on_any_table(rows: list[tuple[int, str]], data: st.DataObject) -> None:
    setup = "CREATE TABLE t(a, b); INSERT INTO t VALUES " + ", ".join(f"({a}, '{b}')" for a, b in rows)
    order = data.draw(st.sampled_from(["", " ORDER BY a", " ORDER BY b DESC, a", " ORDER BY a LIMIT 2"]))
    gold = f"SELECT a, b FROM t{order}"
    assert ask(gold, gold, setup=setup).score == 1.0
    assert ask(f"SELECT b, a FROM t{order}", gold, setup=setup).score == 0.0
    assert ask(f"SELECT a + 1, b FROM t{order}", gold, setup=setup).score == 0.0
    assert ask(gold.replace("t ", "(SELECT * FROM t ORDER BY b DESC) "), gold, setup=setup).score == 1.0


def test_ties_are_runs_of_rows_that_trade_places() -> None:
    assert tie_groups([(1,), (2,), (3,)], [(2,), (1,), (3,)]) == [slice(0, 2), slice(2, 3)]
    assert tie_groups([(1,), (2,)], [(1,), (3,)]) is None
    assert tie_groups([(1,), (2,)], [(1,)]) is None
    assert tie_groups([], []) == []


SORTED = "SELECT a, c FROM t ORDER BY a"


@table(
    ("response", "score"),
    [
        ("SELECT a, c FROM t ORDER BY a, b", 1.0),
        ("SELECT * FROM (SELECT a, c FROM t ORDER BY a)", 1.0),
        ("WITH s AS (SELECT a, c FROM t ORDER BY a) SELECT * FROM s", 1.0),
        ("SELECT a, c FROM t", 0.0),
        ("SELECT a, c FROM t WHERE a > 0", 0.0),
    ],
)
def test_rows_in_order_by_chance_are_in_none(response: str, score: float) -> None:
    assert ask(response, SORTED).score == score
    assert ask(response, SORTED, order_matters=False).score == 1.0


def test_a_reference_whose_rows_nothing_orders_is_right_itself() -> None:
    assert ask(ALL, ALL, order_matters=True).score == 1.0
    assert ask("SELECT a, b FROM t ORDER BY a DESC", ALL, order_matters=True).reason == "different_order"


def test_looking_for_chance_takes_nothing_of_what_a_query_may_use() -> None:
    numbers = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 1000000)"
    slow = f"{numbers} SELECT a, c FROM (SELECT a, c FROM t WHERE (SELECT max(x) FROM r) > 0 ORDER BY a)"
    assert ask(slow, SORTED).reason == "correct"


def test_groups_that_sorting_made_are_in_order() -> None:
    assert ask("SELECT a, count(*) FROM t GROUP BY a", "SELECT a, count(*) FROM t GROUP BY a ORDER BY a").score == 1.0


@table(
    ("response", "score"),
    [
        ("SQL: SELECT a, b FROM t;", 1.0),
        ("The query is `SELECT a, b FROM t`.", 1.0),
        ("**SQL:**\n\n    SELECT a, b\n    FROM t;\n\nIt reads all rows; duplicates stay.", 1.0),
        ("SELECT a, b FROM t;\n\nThis returns everything.", 1.0),
        ("We read both columns:\n\nWITH s AS (SELECT * FROM t)\nSELECT a, b FROM s", 1.0),
        ("Select the columns first.\n\nSELECT a, b FROM t", 0.0),
        ("Either `SELECT a, b FROM t` or `SELECT a FROM t`.", 0.0),
        ("SELECT a FROM t;\n\nOr rather:\n\nSELECT a, b FROM t;", 0.0),
        ("Run this:\n\nSELECT a, b FROM t; DROP TABLE t;\n\nDone.", 0.0),
        ("SELECT a, b FROM t; DROP TABLE t", 0.0),
        ("The query is `DROP TABLE t`.", 0.0),
        ("I would select a and b from t.", 0.0),
    ],
)
def test_the_one_query_amid_words(response: str, score: float) -> None:
    assert ask(response, ALL).score == score


def test_a_worker_that_is_to_forget_forgets_references() -> None:
    params = SqlParams.model_validate({"reference": {"setup_sql": "CREATE TABLE t (a)", "query": "SELECT 1"}})
    judge_in_worker(["SELECT 1", params.text, False])
    assert _kept
    memory.forget()
    assert not _kept
