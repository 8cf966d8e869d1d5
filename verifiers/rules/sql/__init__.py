"""Judges whether the response's query returns the rows that the reference's query returns, or that the reference lists.

The query is the last code fence tagged `sql` (or else tagged with the name of a dialect, or without a tag). If there is
an answer tag, the query must stand in it. Without a fence, the query is the whole text, or the only query among words:
in backticks, or on separate lines up to a semicolon or a blank line. It must be one statement that only reads.

The query runs on a fresh copy, in memory, of a SQLite database. The reference makes the database with a script, or
gives it as a file (base64). With several databases, as in Spider's test suites, the query must be right on all. `now`
is the time of every query. Functions that are random or depend on the connection are forbidden.

The module `rows` compares rows by the place of their columns and ignores the names of columns. Duplicates count. The
order counts if the reference query has an ORDER BY of its own (`order_matters` overrides this), except among rows that
tie. A query without ORDER BY must then return that order, whichever way tables are scanned. If the reference query
leaves the choice of rows open (ties before a LIMIT, or LIMIT without ORDER BY), its results with ties broken either
way, and with tables scanned either way, are right.

A reference that returns no rows, or only NULL, is invalid unless `allow_empty` is set, because most wrong queries
return that, too. A query that reads no table although the reference does is a guess.

Deliberate differences to others: BIRD's evaluation, NeMo-Gym and SkyRL compare sets, so duplicates and order are lost.
Spider's evaluation also tries every order of columns; here the order of columns is part of the task. None of them
limits queries as `database` does. A query that exceeds a limit is wrong; a reference that exceeds one is invalid.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Annotated, Any

from propcache.api import cached_property
from pydantic import Field

from memory import Store
from sandbox.workers import Exit, Outcome, Task, Workers, worker_function
from verifiers import code_blocks, commitment, long_texts
from verifiers.base import Example, InvalidItem, Item, Resources, Status, Verdict, Verifier, clip
from verifiers.commitment import Channel
from verifiers.rules.sql import database, rows
from verifiers.rules.sql.database import MAX_CPU_S, MAX_ROWS, Budget, QueryFault, Result
from verifiers.rules.sql.reference import Prepared, Reference, Wanted, prepare


class SqlParams(commitment.ExtractionParams):
    """The wanted rows, and the rules by which rows are compared."""

    reference: Reference
    """The databases, and the query whose rows are right, or these rows."""
    order_matters: bool | None = None
    """Whether the order of rows counts. None: it counts if the reference query has an ORDER BY of its own.

    Listed rows have no order.
    """
    float_tol: Annotated[float, Field(ge=0)] = 0.0
    """The allowed difference of REAL numbers, in addition to rounding errors."""
    allow_empty: bool = False
    """Whether a reference that returns nothing is allowed."""
    now: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")] = "2025-01-01 00:00:00"
    """The time, in UTC, for CURRENT_TIMESTAMP, date('now') and the like."""

    @cached_property
    def text(self) -> str:
        """The parameters as text, in which form they go to a worker."""
        return self.model_dump_json()


class Sql(Verifier[SqlParams]):
    name = "sql"
    version = "10"
    params = SqlParams
    summary = "The query of the response returns the reference's rows on a read-only SQLite database"
    concurrency = None

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[SqlParams]]) -> Sequence[Verdict]:
        payloads = [[long_texts.sendable(item.response), item.params.text, item.explain] for item in items]
        outcomes = await long_texts.ask_workers(self._workers, _JUDGE, payloads)
        stopped = [position for position, outcome in enumerate(outcomes) if outcome.exit in _BROKEN_LIMITS]
        references = [[None, items[position].params.text, False] for position in stopped]
        reference_outcomes = await long_texts.ask_workers(self._workers, _JUDGE, references)
        blamed = dict(zip(stopped, reference_outcomes, strict=True))
        return [_verdict(outcome, blamed.get(position)) for position, outcome in enumerate(outcomes)]


_BROKEN_LIMITS = (Exit.TIME_LIMIT, Exit.MEMORY_LIMIT, Exit.CRASHED)


def create(resources: Resources) -> Sql:
    resources.workers.register(_JUDGE)
    return Sql(resources.workers)


def _verdict(outcome: Outcome, reference_outcome: Outcome | None) -> Verdict:
    """The verdict for an outcome.

    `reference_outcome` is the outcome for the reference alone. It is given if response and reference together broke a limit.
    """
    if outcome.exit is Exit.OK:
        return long_texts.verdict_of(outcome.value)
    if reference_outcome is None or reference_outcome.exit not in (Exit.OK, *_BROKEN_LIMITS):
        return long_texts.trouble(reference_outcome or outcome)
    if reference_outcome.exit is Exit.OK:
        verdict = long_texts.verdict_of(reference_outcome.value)
        return verdict if verdict.status is Status.INVALID else Verdict.wrong(_REASONS[outcome.exit])
    return Verdict.invalid(
        f"reference_{_REASONS[reference_outcome.exit]}",
        "the reference alone exceeds the limits of a query; make its query or database smaller",
    )


_REASONS = {Exit.TIME_LIMIT: "too_slow", Exit.MEMORY_LIMIT: "too_large", Exit.CRASHED: "too_complex"}


# --- in a worker


@worker_function
def judge_in_worker(payload: Sequence[Any]) -> list[Any]:
    """The fields of the verdict. Without a response, the fields of the verdict on the reference alone."""
    response, text, explain = payload
    params, prepared = _known(text)
    if isinstance(prepared, InvalidItem):
        return long_texts.fields_of(Verdict.invalid(prepared.reason, str(prepared)))
    if response is None:
        return long_texts.fields_of(Verdict.correct())
    return long_texts.fields_of(judge(response, params, prepared, explain))


def _size_bytes(_key: bytes, entry: tuple[SqlParams, Prepared | InvalidItem]) -> int:
    params, prepared = entry
    return params.reference.size_bytes + (prepared.size_bytes if isinstance(prepared, Prepared) else 0)


_MAX_KEPT = 64
_MAX_KEPT_BYTES = 48 << 20
_kept: Store[bytes, tuple[SqlParams, Prepared | InvalidItem]] = Store(
    "sql.databases", _MAX_KEPT_BYTES, size=_size_bytes, max_entries=_MAX_KEPT, of_texts=True
)


def _known(text: str) -> tuple[SqlParams, Prepared | InvalidItem]:
    """The parameters and the prepared reference. They are cached for other responses to the same prompt."""
    key = hashlib.sha256(text.encode()).digest()
    entry = _kept.get(key)
    if entry is None:
        entry = _read(text)
        _kept.put(key, entry)
    return entry


def _read(text: str) -> tuple[SqlParams, Prepared | InvalidItem]:
    params = SqlParams.model_validate_json(text)
    try:
        prepared = prepare(params.reference, params.now, allow_empty=params.allow_empty)
    except InvalidItem as error:
        return params, error
    return params, prepared


def judge(response: str, params: SqlParams, prepared: Prepared, explain: bool = False) -> Verdict:
    extraction = commitment.extract(response, params, (Channel.ANSWER_TAG, Channel.WHOLE))
    if extraction.answer is None:
        return Verdict.wrong(extraction.reason, **extraction.detail(explain))
    query, is_whole = _query(extraction.answer)
    if not query or not is_whole:
        return Verdict.wrong("no_answer" if is_whole else "truncated")
    is_ordered = prepared.is_ordered if params.order_matters is None else params.order_matters
    budget, second_budget = Budget(), Budget(cpu_s=2 * MAX_CPU_S)
    for expected in prepared.wanted:
        try:
            max_rows = min(max(map(len, expected.results)), MAX_ROWS)
            result = database.run(expected.image, query, params.now, budget, max_rows)
        except QueryFault as fault:
            return Verdict.wrong(fault.fault, query, **({"message": clip(_shown(str(fault)))} if explain else {}))
        reason = _fault_of(result, expected, params.float_tol, is_ordered=is_ordered)
        # Without an ORDER BY of its own, the query is run again on tables that are read backwards.
        if reason is None and is_ordered and prepared.is_ordered and len(result.rows) > 1:
            reason = (
                None
                if database.orders_its_rows(query)
                else _fault_backwards(query, expected, params, second_budget, max_rows)
            )
        if reason is not None:
            return Verdict.wrong(reason, query, **(_compared(result, expected) if explain else {}))
    return Verdict.correct(query)


def _fault_backwards(query: str, expected: Wanted, params: SqlParams, budget: Budget, max_rows: int) -> str | None:
    """The fault, if rows without an ORDER BY were in the right order only by chance.

    A second run that exceeds the budget decides nothing.
    """
    try:
        result = database.run(expected.image, query, params.now, budget, max_rows, backwards=True)
    except QueryFault:
        return None
    return "different_order" if _fault_of(result, expected, params.float_tol, is_ordered=True) else None


def _query(text: str) -> tuple[str, bool]:
    """The query of a text, and whether its fence is closed. The query is empty if no fence of several holds one."""
    blocks = code_blocks.blocks(text)
    if not blocks:
        # The whole text may stand in backticks.
        unfenced = text.strip().strip("`")
        statement = (unfenced if "`" not in unfenced else text).strip()
        return (_amid_words(statement) or statement), True
    offered: list[code_blocks.Block] = []
    # A fence tagged `sql` counts before one tagged `mysql`, and that before one without a tag.
    for tags in (_TAGS, _DIALECTS, ("",)):
        offered = offered or [block for block in blocks if block.tag in tags]
    if not offered:
        return "", True
    return text[offered[-1].start : offered[-1].end].strip(), offered[-1].is_closed


_INLINE = re.compile(r"`(?P<query>[^`]{8,20000})`")
_HEADING = r"(?:sql|(?:the[ \t]+)?(?:sql[ \t]+)?query)[ \t]*:[ \t]*"
_BEGIN = r"SELECT[ \t\n]|WITH[ \t]+(?:RECURSIVE[ \t]+)?\w+[ \t]*(?:\([^()\n]*\)[ \t]*)?AS[ \t\n(]"
_LINES = re.compile(
    rf"^[ \t]*(?:{_HEADING})?(?P<query>(?:{_BEGIN})(?:'[^'\n]{{0,2000}}'|[^';\n]|\n(?![ \t]*\n))*+)", re.I | re.M
)


def _amid_words(text: str) -> str:
    """The only query among the words of a text; empty if there is no query, or more than one."""
    if len(text) > database.MAX_QUERY_BYTES or (database.is_query(text) and not _PROSE_BEHIND.search(text)):
        return ""
    # `DROP TABLE item; SELECT …`
    if _WRITES.search(text) or _CHANGES.search(text):
        return ""
    for pattern in (_INLINE, _LINES):
        # A query in backticks in a sentence, or on a line of its own: `Query: SELECT name FROM item`
        queries = {match["query"].strip() for match in pattern.finditer(text) if database.is_query(match["query"])}
        if queries:
            return queries.pop() if len(queries) == 1 else ""
    return ""


_WRITES = re.compile(r"\b(?:(?:INSERT|REPLACE)\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|PRAGMA|ATTACH)\b", re.IGNORECASE)
_CHANGES = re.compile(r"\b(?:DROP|CREATE|ALTER)\s+(?:TEMP\s+)?(?:TABLE|VIEW|INDEX|TRIGGER)\b", re.IGNORECASE)
"""The beginnings of other statements, which may not stand beside the query."""
_PROSE_BEHIND = re.compile(r";\s*\n\s*(?!--|/\*)[A-Z][a-z]")


_TAGS = ("sql", "sqlite", "sqlite3")
_DIALECTS = (
    "mysql", "mariadb", "postgresql", "postgres", "psql", "pgsql", "plpgsql", "tsql", "mssql", "plsql", "duckdb",
)  # fmt: skip
"""The names of dialects, as tags of fences. SQLite runs all of them, but fences tagged SQL take precedence."""


def _fault_of(result: Result, expected: Wanted, float_tol: float, *, is_ordered: bool) -> str | None:
    # `SELECT name, price` where one column is asked for.
    if expected.width is not None and result.width != expected.width:
        return "different_columns"
    # `SELECT 3` guesses what `SELECT count(*) FROM item` counts.
    if expected.reads_tables and not result.reads_tables:
        return "reads_no_table"
    same_rows = result.is_complete and any(
        rows.same_multiset(result.rows, expected_rows, float_tol) for expected_rows in expected.results
    )
    if not same_rows:
        return "different_rows"
    return "different_order" if is_ordered and not _is_in_order(result, expected, float_tol) else None


def _is_in_order(result: Result, expected: Wanted, float_tol: float) -> bool:
    first, *choices = expected.results
    if len(choices) < 2:
        return rows.same_in_order(result.rows, first, float_tol)
    if any(rows.same_in_order(result.rows, expected_rows, float_tol) for expected_rows in expected.results):
        return True
    groups = rows.tie_groups(*choices)
    return groups is not None and all(
        rows.same_multiset(result.rows[group], choices[0][group], float_tol) for group in groups
    )


def _compared(result: Result, expected: Wanted) -> dict[str, Any]:
    return {
        "compared": {
            "found": [clip(_shown(repr(row))) for row in result.rows[:_MAX_SHOWN]],
            "wanted": [clip(_shown(repr(row))) for row in expected.results[0][:_MAX_SHOWN]],
        }
    }


_MAX_SHOWN = 5


def _shown(text: str) -> str:
    """The beginning of the text, in a form that UTF-8 can encode."""
    return text[:1000].encode(errors="replace").decode()


_SHOP = (
    "CREATE TABLE item (name TEXT, price REAL, shop TEXT);"
    "INSERT INTO item VALUES ('pen', 1.5, 'A'), ('cup', 4, 'A'), ('pen', 2, 'B'), ('hat', NULL, 'B');"
)
_PENS = {"setup_sql": _SHOP, "sql": "SELECT name, price FROM item WHERE name = 'pen'"}
_SORTED = {"setup_sql": _SHOP, "sql": "SELECT price FROM item WHERE price > 1 ORDER BY price"}

EXAMPLES = (
    Example(
        "<think>pens</think>\n```sql\nSELECT name, price AS p FROM item WHERE name LIKE 'pen' ORDER BY 2 DESC;\n```",
        {"reference": _PENS},
        1.0,
        "correct",
        "the same rows; the reference asks for no order, and the names of columns do not count",
    ),
    Example(
        "SELECT DISTINCT name FROM item",
        {"reference": {"setup_sql": _SHOP, "rows": [["pen"], ["pen"], ["cup"], ["hat"]]}},
        0.0,
        "different_rows",
        "looks right as a set, but duplicates count",
    ),
    Example(
        "SELECT price FROM item WHERE price > 1 ORDER BY price DESC",
        {"reference": _SORTED},
        0.0,
        "different_order",
        "the reference query has an ORDER BY",
    ),
    Example("DROP TABLE item", {"reference": _PENS}, 0.0, "not_a_query", "only reading is allowed"),
    Example(
        "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x), 1 FROM r",
        {"reference": _PENS},
        0.0,
        "too_slow",
        "an endless query is stopped",
    ),
    Example(
        "SELECT 1 WHERE 0",
        {"reference": {"setup_sql": _SHOP, "sql": "SELECT * FROM item WHERE price > 99"}},
        None,
        "empty_reference",
        "most wrong queries return no rows, too: correct the reference, or set allow_empty",
        Status.INVALID,
    ),
)
_JUDGE = Task(
    "verifiers.rules.sql",
    "judge_in_worker",
    time_limit_s=4.0,
    warm=(["SELECT 1", SqlParams.model_validate(EXAMPLES[0].params).text, False],),
)
"""The task of a worker. Its time limit exceeds the sum of all budgets.

A single instruction that takes longer is stopped with its worker.
"""
