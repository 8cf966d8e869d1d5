"""Runs untrusted queries on databases in memory: read-only, within limits, and with the same results every time.

SQLite's authorizer denies writing, other files, pragmas, extensions, virtual tables, and functions with values that the
database does not determine (random numbers, the state of the connection). The time is fixed (`clock`). Limits hold for
instructions of SQLite's virtual machine and CPU time (`Budget`), for heap, lengths and rows. Use this module in worker
processes only: a single instruction may still take long, and a prepared file may crash its reader.
"""

import re
import sqlite3
import time
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal

from verifiers.rules.sql import clock
from verifiers.rules.sql.clock import Value

MAX_IMAGE_BYTES = 16 << 20
MAX_SCRIPT_BYTES = 8 << 20
MAX_QUERY_BYTES = 100_000
MAX_ROWS = 100_000
MAX_RESULT_BYTES = 16 << 20
MAX_STEPS = 20_000_000
"""The most instructions of the virtual machine in one phase (set-up, reference, response).

They take about half a second. This limit is the same on every machine, and most queries that run too long reach it
before the limit of time.
"""
MAX_CPU_S = 1.2
_HEAP_BYTES = 256 << 20
_STEPS_PER_CHECK = 20_000

Row = tuple[Value, ...]
Fault = Literal["not_a_query", "several_statements", "forbidden", "sql_error", "too_slow", "too_large"]


class QueryFault(Exception):
    """The SQL does not run, or not within the limits. `fault` is the reason of the verdict."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault: Fault = fault


@dataclass
class Budget:
    """The instructions and the time that are left. Several runs may share one budget."""

    steps: int = MAX_STEPS
    cpu_s: float = MAX_CPU_S
    _started_s: float = field(default_factory=time.process_time)

    @property
    def is_spent(self) -> bool:
        return self.steps < 0 or time.process_time() - self._started_s > self.cpu_s

    def is_spent_now(self) -> bool:
        """Whether the budget is used up. SQLite calls this after every `_STEPS_PER_CHECK` instructions."""
        self.steps -= _STEPS_PER_CHECK
        return self.is_spent


@dataclass(frozen=True)
class Result:
    rows: list[Row]
    width: int
    """The number of columns."""
    is_complete: bool
    """Whether the result holds all rows of the query."""
    reads_tables: bool
    """Whether the query reads any table."""


def built(script: str, now: str, budget: Budget) -> bytes:
    """Build a database with a script of CREATE, INSERT and the like, and return its image.

    Raises:
        QueryFault: the script does not run, or not within the limits.
    """
    guard = _Guard(_SETTING_UP)
    with closing(_connect(now, budget)) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_SCRIPT_BYTES)
        connection.set_authorizer(guard)
        try:
            connection.executescript(script.encode(errors="replace").decode())
            connection.set_authorizer(None)
            if connection.in_transaction:
                connection.execute("COMMIT")
            image = connection.serialize()
        except (sqlite3.Error, MemoryError, ValueError) as error:
            raise _fault(error, budget, guard) from error
    if len(image) > MAX_IMAGE_BYTES:
        raise QueryFault("too_large", f"the database has {len(image)} bytes; at most {MAX_IMAGE_BYTES} are allowed")
    return image


def checked(image: bytes, now: str, budget: Budget) -> bytes:
    """Check that a database file is sound, and return its image.

    Raises:
        QueryFault: the file is damaged, or holds forbidden objects.
    """
    if len(image) > MAX_IMAGE_BYTES:
        raise QueryFault("too_large", f"the database has {len(image)} bytes; at most {MAX_IMAGE_BYTES} are allowed")
    if not image.startswith(b"SQLite format 3\0") or len(image) < _HEADER_BYTES:
        raise QueryFault("sql_error", "the file is not a database of SQLite 3")
    image = image[: _VERSIONS.start] + b"\1\1" + image[_VERSIONS.stop :]
    with closing(_connect(now, budget)) as connection:
        try:
            connection.deserialize(image)
            problems = connection.execute("PRAGMA quick_check(1)").fetchone()
            virtual = connection.execute(
                "SELECT count(*) FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'"
            ).fetchone()
        except (sqlite3.Error, MemoryError) as error:
            raise _fault(error, budget) from error
    if problems != ("ok",):
        raise QueryFault("sql_error", f"the database file is damaged: {str(problems)[:100]}")
    if virtual != (0,):
        raise QueryFault("forbidden", "the database has virtual tables")
    return image


def run(image: bytes, query: str, now: str, budget: Budget, max_rows: int, *, backwards: bool = False) -> Result:
    """Run a query on a fresh copy of a database, and return its first `max_rows` rows.

    With `backwards`, tables are scanned from their end where the query asks for no order.

    Raises:
        QueryFault: the text is not a query, fails, or exceeds the limits.
    """
    query = query.encode(errors="replace").decode()
    if not is_query(query):
        raise QueryFault("not_a_query", "a query begins with SELECT, WITH or VALUES")
    guard = _Guard(_READING)
    with closing(_connect(now, budget)) as connection:
        try:
            connection.deserialize(image)
            connection.execute("PRAGMA query_only = ON")
            connection.execute(f"PRAGMA reverse_unordered_selects = {int(backwards)}")
            connection.set_authorizer(guard)
            cursor = connection.execute(query)
            rows: list[Row] = []
            size, is_complete = 0, True
            for row in cursor:
                if len(rows) == max_rows:
                    is_complete = False
                    break
                rows.append(row)
                size += sum(len(cell) if isinstance(cell, str | bytes) else _CELL_BYTES for cell in row)
                if size > MAX_RESULT_BYTES:
                    raise QueryFault("too_large", f"the result has more than {MAX_RESULT_BYTES} bytes")
        except (sqlite3.Error, MemoryError, ValueError) as error:
            raise _fault(error, budget, guard) from error
        return Result(rows, len(cursor.description or ()), is_complete, bool(guard.read))


_CELL_BYTES = 16
_HEADER_BYTES = 100
_VERSIONS = slice(18, 20)
"""The bytes of the write and read versions of the file format (sqlite.org/fileformat2.html).

The value 2 means WAL, which databases in memory lack.
"""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 1 << 20,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: MAX_QUERY_BYTES,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 5_000_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


def _connect(now: str, budget: Budget) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(f"PRAGMA hard_heap_limit = {_HEAP_BYTES}")  # the limit is for the whole process
    connection.execute("PRAGMA temp_store = MEMORY")
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    clock.fix(connection, now)
    connection.set_progress_handler(budget.is_spent_now, _STEPS_PER_CHECK)
    return connection


def _fault(error: BaseException, budget: Budget, guard: "_Guard | None" = None) -> QueryFault:
    """Convert an exception of the `sqlite3` module to the fault of the SQL."""
    name = getattr(error, "sqlite_errorname", "")
    message = str(error)[:200]
    if isinstance(error, MemoryError) or name in ("SQLITE_TOOBIG", "SQLITE_NOMEM", "SQLITE_FULL"):
        return QueryFault("too_large", message or "a value is too large, or needs too much memory to compute")
    if isinstance(error, sqlite3.DataError):
        return QueryFault("too_large", message)
    if name == "SQLITE_INTERRUPT" or budget.is_spent:
        return QueryFault("too_slow", f"the SQL takes more than {MAX_STEPS} instructions or {MAX_CPU_S} s")
    if guard is not None and guard.has_denied:
        return QueryFault("forbidden", message)
    if isinstance(error, sqlite3.ProgrammingError) and "one statement" in message:
        return QueryFault("several_statements", message)
    return QueryFault("sql_error", message)


# --- what is allowed

_READING = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE))
_SETTING_UP = _READING | {
    sqlite3.SQLITE_ALTER_TABLE,
    sqlite3.SQLITE_ANALYZE,
    sqlite3.SQLITE_CREATE_INDEX,
    sqlite3.SQLITE_CREATE_TABLE,
    sqlite3.SQLITE_CREATE_TRIGGER,
    sqlite3.SQLITE_CREATE_VIEW,
    sqlite3.SQLITE_DELETE,
    sqlite3.SQLITE_DROP_INDEX,
    sqlite3.SQLITE_DROP_TABLE,
    sqlite3.SQLITE_DROP_TRIGGER,
    sqlite3.SQLITE_DROP_VIEW,
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_REINDEX,
    sqlite3.SQLITE_SAVEPOINT,
    sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_UPDATE,
}
_PRAGMAS = frozenset(("foreign_keys", "defer_foreign_keys", "user_version", "application_id"))
"""The pragmas that dumps use and that change the meaning of a script or have no effect. Others are ignored."""
_FUNCTIONS = frozenset(
    {"random", "randomblob", "changes", "total_changes", "last_insert_rowid"}
    | {"load_extension", "readfile", "writefile", "edit", "lsmode", "rtreecheck"}
)
_FUNCTION_PREFIXES = ("sqlite_", "fts3_", "fts5")
_TABLES = frozenset(("sqlite_stmt", "dbstat"))


class _Guard:
    """An authorizer (sqlite.org/c3ref/set_authorizer.html) that records the requests of SQLite."""

    def __init__(self, allowed: Collection[int]) -> None:
        self._allowed = allowed
        self.has_denied = False
        self.read: set[str] = set()
        """The tables that are read."""

    def __call__(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_PRAGMA and sqlite3.SQLITE_TRANSACTION in self._allowed:
            return sqlite3.SQLITE_OK if (first or "").lower() in _PRAGMAS else sqlite3.SQLITE_IGNORE
        if action not in self._allowed or not _is_determined(action, first, second):
            self.has_denied = True
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_READ and first:
            self.read.add(first)
        return sqlite3.SQLITE_OK


def _is_determined(action: int, first: str | None, second: str | None) -> bool:
    if action == sqlite3.SQLITE_FUNCTION:
        name = (second or "").lower()
        return name not in _FUNCTIONS and not name.startswith(_FUNCTION_PREFIXES)
    return action != sqlite3.SQLITE_READ or (first or "").lower() not in _TABLES


# --- reading SQL

_QUOTED = r"'[^']*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]"
_TOKEN = re.compile(
    rf"(?P<skip>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))|{_QUOTED}|(?P<word>[A-Za-z_]\w*)|(?P<open>\()|(?P<close>\))|.", re.DOTALL
)
_STARTS = ("select", "with", "values")


def is_query(text: str) -> bool:
    """Whether the first word of a text begins a query."""
    for token in _TOKEN.finditer(text):
        if token.lastgroup != "skip":
            return token.lastgroup == "word" and token["word"].lower() in _STARTS
    return False


def orders_its_rows(query: str) -> bool:
    """Whether a query has an ORDER BY of its own, not in parentheses."""
    return _end_of_order(query) is not None


def breaking_ties(query: str, columns: int, direction: Literal["ASC", "DESC"]) -> str:
    """The ordered query with its columns as further keys. They fix the order and the choice of rows that tie."""
    end = _end_of_order(query)
    assert end is not None
    keys = "".join(f", {column} {direction}" for column in range(1, min(columns, _MAX_KEYS) + 1))
    return f"{query[:end]}{keys} {query[end:]}"


_MAX_KEYS = 50


def _end_of_order(query: str) -> int | None:
    """The end of the keys of the ORDER BY that stands outside parentheses; None if there is none."""
    depth, is_ordered, last, end = 0, False, "", 0
    for token in _TOKEN.finditer(query):
        if token.lastgroup == "skip":
            continue
        word = token["word"].lower() if token.lastgroup == "word" and depth == 0 else ""
        depth += {"open": 1, "close": -1}.get(token.lastgroup or "", 0)
        if is_ordered and (word == "limit" or token[0] == ";"):
            return end
        is_ordered = is_ordered or (last, word) == ("order", "by")
        last, end = word, token.end()
    return end if is_ordered else None
