"""What people ask about the log: a page of records, one whole record, counts, and an export.

Each question is asked in a thread of its own (`desk`). It first reads narrow columns of the records that are wanted, of
one file after the other; texts are read only of the records that are shown.
"""

import base64
import bisect
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias

import msgspec

from service.observe.audit_log import condition, reader
from service.observe.audit_log.columns import COLUMNS, PROMPT_KEY

if TYPE_CHECKING:
    from service.observe.audit_log.tables import Table, Tables

Order = Literal["newest", "oldest", "highest", "lowest"]
JSON = dict[str, Any]
_Place: TypeAlias = tuple[Any, ...]
"""What a record is ordered by, the number of its file, and its line."""
BINS: Final = 20
SPANS: Final = 60
MOST_GROUPS: Final = 50
_SHOWN_CHARS: Final = 300
_WIDTHS_S: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400)
_IS_WHOLE: Final = "(status IS NOT NULL AND reason IS NOT NULL)"
_MESSAGE: Final = "(detail ->> '$.message')"
_FOUND: Final = {
    "line": "line",
    "moment": "moment",
    "status": "status",
    "reason": "reason",
    "judge": "coalesce(recipe, verifier, '')",
    "verifier": "coalesce(verifier, '')",
    "data_source": "coalesce(data_source, '')",
    "run": "coalesce(run_id, '')",
    "reward": "CASE WHEN isfinite(reward) THEN reward END",
    "message": f"CASE WHEN status <> 'ok' THEN coalesce(left({_MESSAGE}, {_SHOWN_CHARS}), '') END",
}
"""The narrow columns."""
_CONDITIONS: Final = {
    "judges": "list_contains($judges, coalesce(verifier, recipe, '')) OR list_contains($judges, recipe)",
    "statuses": "list_contains($statuses, status)",
    "reasons": "list_contains($reasons, reason)",
    "data_sources": "list_contains($data_sources, coalesce(data_source, ''))",
    "runs": "list_contains($runs, coalesce(run_id, ''))",
    "steps": "list_contains($steps, step)",
    "prompts": f"list_contains($prompts, {PROMPT_KEY})",
    "tenants": "list_contains($tenants, tenant)",
    "ids": "(list_contains($ids, id ->> '$') OR list_contains($ids, request_id))",
    "min_reward": "reward >= $min_reward",
    "max_reward": "reward <= $max_reward",
    "min_score": "score >= $min_score",
    "max_score": "score <= $max_score",
    "since": "moment >= $since::TIMESTAMP",
    "until": "moment <= $until::TIMESTAMP",
    "text": " OR ".join(
        f"contains(lower({column}), lower($text))" for column in ("(id ->> '$')", "response", "prompt", "extracted", _MESSAGE)
    ),
}  # fmt: skip
_KEYS: Final[Mapping[Order, tuple[str, str]]] = {
    "newest": ("epoch_us(coalesce(moment, 'epoch'::TIMESTAMP))", "DESC"),
    "oldest": ("epoch_us(coalesce(moment, 'epoch'::TIMESTAMP))", "ASC"),
    "highest": ("coalesce(reward, '-infinity'::DOUBLE)", "DESC"),
    "lowest": ("coalesce(reward, 'infinity'::DOUBLE)", "ASC"),
}
"""What records are ordered by."""
_TIME: Final = "strftime(moment, '%Y-%m-%dT%H:%M:%S.%fZ')"
_ROW: Final = {
    "line": "line",
    "time": _TIME,
    "id": "id ->> '$'",
    **{name: name for name in ("status", "reason", "verifier", "version", "recipe", "data_source", "tag", "run_id")},
    **{name: name for name in ("tenant", "request_id", "cached", "step")},
    "prompt": PROMPT_KEY,
    **{name: f"CASE WHEN isfinite({name}) THEN {name} END" for name in ("score", "reward", "elapsed_ms")},
    "extracted": f"left(extracted, {_SHOWN_CHARS})",
    "response_end": f"right(response, {_SHOWN_CHARS})",
    "response_chars": "coalesce(response_chars, length(response))",
    "redacted": "response_sha256 IS NOT NULL",
    "message": f"left({_MESSAGE}, {_SHOWN_CHARS})",
}
"""What a page shows of a record."""


class BadCursor(Exception):
    """The text is not a cursor of this kind of question."""


class NoRecord(Exception):
    """There is no such record, or not any more."""


@dataclass(frozen=True, slots=True)
class Filters:
    """The conditions that a record must meet, all of them. One that is empty is met by every record."""

    judges: Sequence[str] = ()
    """Verifiers or recipes. An empty text stands for records without any."""
    statuses: Sequence[str] = ()
    reasons: Sequence[str] = ()
    data_sources: Sequence[str] = ()
    runs: Sequence[str] = ()
    """An empty text stands for records without one."""
    steps: Sequence[int] = ()
    prompts: Sequence[str] = ()
    """What a page calls the prompts of records."""
    tenants: Sequence[str] = ()
    ids: Sequence[str] = ()
    """Ids of items or requests."""
    min_reward: float | None = None
    max_reward: float | None = None
    min_score: float | None = None
    max_score: float | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""
    """A part of the id, the response, the prompt, the extracted answer or the message, in either case."""
    where: str = ""
    """A condition in SQL (`condition`)."""

    def values(self) -> JSON:
        """The values that are bound, by name."""
        set_fields = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: _bound(value)
            for name, value in set_fields.items()
            if name != "where" and value not in (None, "", [], ())
        }

    def condition(self, tables: "Tables") -> str:
        """SQL of all conditions.

        Raises:
            BadCondition
        """
        terms = [f"({_CONDITIONS[name]})" for name in self.values()]
        if self.where:
            terms.append(condition.checked(tables, self.where))
        return " AND ".join(terms) or "true"

    def may_be_in(self, path: Path) -> bool:
        return reader.may_hold(path, self.since, self.until)


def _bound(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None)
    return value if isinstance(value, str | float | int) else list(value)


def page(tables: "Tables", filters: Filters, order: Order, limit: int, cursor: str | None) -> JSON:
    """`limit` records behind the cursor, in order, and the cursor of those that follow. The newest come without a look
    at files that are older than all of them.

    Raises:
        BadCursor
    """
    start_cursor = None if cursor is None else _Cursor.of(cursor, order)
    _make_found(tables)
    wanted = Wanted.of(tables, filters)
    positions: list[_Place] = []
    files_left = 0
    numbered = list(enumerate(tables.tables))
    for number, table in reversed(numbered) if order == "newest" else numbered:
        if len(positions) > limit and not _may_be_as_new(table, positions[limit]):
            files_left += 1
        elif _find(tables, number, table, wanted) and order == "newest":
            positions = _places(tables, order, limit, start_cursor)
    positions = _places(tables, order, limit, start_cursor)
    rows = _rows(tables, positions[:limit], _ROW)
    following = None
    if len(positions) > limit:
        k, number, line = positions[limit - 1]
        following = _Cursor(order, k, tables.tables[number].key, line).text()
    return {
        "rows": [rows[number, line] for _, number, line in positions[:limit]],
        "next": following,
        "read": tables.tally.as_json(files_left),
    }


def record(tables: "Tables", row: str) -> JSON:
    """A whole record, by what a page calls its row.

    Raises:
        NoRecord
    """
    key, _, line = row.rpartition(":")
    number = next((number for number, table in enumerate(tables.tables) if table.key == key), None)
    if number is None or not re.fullmatch(r"\d{1,12}", line):
        raise NoRecord
    stored = _whole(tables, [(0, number, int(line))])
    if not stored or stored[0]["status"] is None:
        raise NoRecord
    return stored[0]


def records(tables: "Tables", filters: Filters, limit: int) -> JSON:
    """Whole records, the highest reward first: those of a group beside each other."""
    _make_found(tables)
    wanted = Wanted.of(tables, filters)
    for number, table in enumerate(tables.tables):
        _find(tables, number, table, wanted)
    positions = _places(tables, "highest", limit, None)
    return {"records": _whole(tables, positions[:limit]), "is_more": len(positions) > limit}


def _whole(tables: "Tables", positions: Sequence[_Place]) -> list[JSON]:
    columns = {name: name for name in COLUMNS} | {"line": "line", "time": _TIME, "id": "id ->> '$'", "step": "step"}
    rows = _rows(tables, positions, {**columns, "prompt_key": PROMPT_KEY})
    for stored in rows.values():
        for name, kind in COLUMNS.items():
            if kind == "JSON" and name != "id" and stored[name] is not None:
                stored[name] = msgspec.Raw(stored[name].encode())
    return [rows[number, line] for _, number, line in positions if (number, line) in rows]


def summary(tables: "Tables", filters: Filters) -> JSON:
    """Counts of the records, by what they are, by their reward, and over time; and failures, grouped."""
    _make_found(tables)
    wanted = Wanted.of(tables, filters)
    for number, table in enumerate(tables.tables):
        _find(tables, number, table, wanted)
    ((records, mean),) = tables.sql("SELECT count(*), avg(reward) FROM found")
    return {
        "records": records,
        "mean_reward": mean,
        **{f"by_{name}": _counts(tables, name) for name in ("status", "reason", "judge", "data_source", "run")},
        "rewards": _histogram(tables),
        "over_time": _over_time(tables),
        "failures": _failures(tables),
        "read": tables.tally.as_json(),
    }


def export(tables: "Tables", filters: Filters, form: Literal["jsonl", "parquet"], output: int) -> None:
    """Write the records to a pipe. `output` is its descriptor, which the tables may write to."""
    # A damaged file is found before anything of it is written.
    readable = [table for table in tables.tables if tables.read(table, "SELECT count(status) FROM {}".format)]
    columns = {name: name for name in COLUMNS} | {"time": _TIME, "request_id": "coalesce(request_id, '')"}
    if form == "parquet":  # as the log's own files
        columns |= {name: f"{name}::VARCHAR" for name, kind in COLUMNS.items() if kind == "JSON"}
        columns |= {"time": "make_timestamptz(epoch_us(moment))", "id": "id ->> '$'"}
    columns_sql = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    where = f"{_IS_WHOLE} AND ({filters.condition(tables)})"
    selects = [f"SELECT {columns_sql} FROM {rows} WHERE {where}" for rows in tables.together(readable)]
    # Lines that follow lines make one file; Parquet that follows Parquet does not.
    for rows in selects if form == "jsonl" else [" UNION ALL ".join(selects)]:
        how = "FORMAT json" if form == "jsonl" else "FORMAT parquet, COMPRESSION zstd"
        tables.sql(f"COPY ({rows}) TO '/proc/self/fd/{output}' ({how}, USE_TMP_FILE false)", filters.values())


def _make_found(tables: "Tables") -> None:
    tables.sql(
        "CREATE TEMP TABLE found (file INTEGER, line BIGINT, moment TIMESTAMP, status VARCHAR, reason VARCHAR, "
        "judge VARCHAR, verifier VARCHAR, data_source VARCHAR, run VARCHAR, reward DOUBLE, message VARCHAR)"
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters as SQL, for each of the files."""

    condition: str
    values: JSON

    @classmethod
    def of(cls, tables: "Tables", filters: Filters) -> Self:
        """Raises `BadCondition`."""
        return cls(filters.condition(tables), filters.values())

    def copy(self, tables: "Tables", table: "Table", columns: Mapping[str, str], target: str) -> bool:
        """Add these columns of the wanted records of a file to a table, and all records to the tally. False if the file
        cannot be read.
        """
        narrow = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
        is_readable = tables.read(
            table,
            lambda rows: (
                f"CREATE OR REPLACE TEMP TABLE part AS SELECT {narrow}, is_whole, is_wanted FROM (SELECT *, "
                f"{_IS_WHOLE} AS is_whole, {_IS_WHOLE} AND coalesce({self.condition}, false) AS is_wanted FROM {rows})"
            ),
            self.values,
        )
        if is_readable:
            tables.sql(f"INSERT INTO {target} SELECT * EXCLUDE (is_whole, is_wanted) FROM part WHERE is_wanted")
            ((whole_count, damaged),) = tables.sql(
                "SELECT count(*) FILTER (is_whole), count(*) FILTER (NOT is_whole) FROM part"
            )
            tables.tally.files += 1
            tables.tally.rows += whole_count
            tables.tally.damaged_rows += damaged
            tables.sql("DROP TABLE part")
        return is_readable


def _find(tables: "Tables", number: int, table: "Table", wanted: Wanted) -> bool:
    """Add the wanted records of a file to `found`. False if the file cannot be read."""
    return wanted.copy(tables, table, {"file": str(number), **_FOUND}, "found")


def _places(tables: "Tables", order: Order, limit: int, cursor: "_Cursor | None") -> list[_Place]:
    """The first records behind the cursor, and one more."""
    key, direction = _KEYS[order]
    where, values = "", {}
    if cursor is not None:
        number, line = cursor.place([table.key for table in tables.tables])
        where = f"WHERE (k, file, line) {'<' if direction == 'DESC' else '>'} ($k, $number, $line)"
        values = {"k": cursor.k, "number": number, "line": line}
    return tables.sql(
        f"SELECT k, file, line FROM (SELECT {key} AS k, file, line FROM found) {where} "
        f"ORDER BY k {direction}, file {direction}, line {direction} LIMIT {limit + 1}",
        values,
    )


def _rows(tables: "Tables", positions: Sequence[_Place], columns: Mapping[str, str]) -> dict[tuple[int, int], JSON]:
    """These columns of some records, by file and line."""
    records: dict[tuple[int, int], JSON] = {}
    columns_sql = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    for number in {number for _, number, _ in positions}:
        table = tables.tables[number]
        lines = [line for _, of, line in positions if of == number]
        statement = (
            f"CREATE OR REPLACE TEMP TABLE shown AS SELECT {columns_sql} FROM {{}} WHERE list_contains($lines, line)"
        )
        if not tables.read(table, statement.format, {"lines": lines}):
            continue
        for values in tables.sql("SELECT * FROM shown"):
            row = dict(zip(columns, values, strict=True))
            line = row.pop("line")
            records[number, line] = {"row": f"{table.key}:{line}", **row}
    return records


def _may_be_as_new(table: "Table", position: _Place) -> bool:
    return reader.may_hold(table.path, datetime.fromtimestamp(position[0] / 1e6, UTC), None)


def _counts(tables: "Tables", column: str) -> list[JSON]:
    rows = tables.sql(
        f"SELECT {column}, count(*) AS n, avg(reward) FROM found GROUP BY ALL ORDER BY n DESC, 1 LIMIT {MOST_GROUPS}"
    )
    return [{"name": name, "count": count, "mean_reward": mean} for name, count, mean in rows]


def _histogram(tables: "Tables") -> JSON:
    """Rewards in equal bins. Most are between 0 and 1, so that the bins begin and end there or beyond."""
    ((lowest, highest),) = tables.sql("SELECT min(reward), max(reward) FROM found")
    low, high = min(lowest or 0.0, 0.0), max(highest or 0.0, 1.0)
    bins = tables.sql(
        f"SELECT least({BINS - 1}, floor((reward - $low) / ($high - $low) * {BINS}))::INTEGER, count(*) "
        "FROM found WHERE reward IS NOT NULL GROUP BY ALL",
        {"low": low, "high": high},
    )
    counts = dict(bins)
    return {"low": low, "high": high, "counts": [counts.get(bin, 0) for bin in range(BINS)]}


def _over_time(tables: "Tables") -> JSON:
    """Records in equal spans of time, about `SPANS`, whose width is one that clocks have."""
    ((first, last),) = tables.sql("SELECT min(epoch(moment)), max(epoch(moment)) FROM found")
    if first is None:
        return {"width_s": 0, "spans": []}
    wanted_s = (last - first) / SPANS
    days = math.ceil(wanted_s / _WIDTHS_S[-1])
    width_s = next((width for width in _WIDTHS_S if width >= wanted_s), days * _WIDTHS_S[-1])
    start = int(first // width_s)
    by_span = {
        number: counts
        for number, *counts in tables.sql(
            "SELECT floor(epoch(moment) / $width)::BIGINT - $start, count(*) FILTER (status = 'ok'), "
            "count(*) FILTER (status = 'invalid'), count(*) FILTER (status = 'failed'), avg(reward) "
            "FROM found WHERE moment IS NOT NULL GROUP BY ALL",
            {"width": width_s, "start": start},
        )
    }
    spans = []
    for number in range(int(last // width_s) - start + 1):
        ok, invalid, failed, mean = by_span.get(number, (0, 0, 0, None))
        start_text = datetime.fromtimestamp((start + number) * width_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        spans.append({"begins": start_text, "ok": ok, "invalid": invalid, "failed": failed, "mean_reward": mean})
    return {"width_s": width_s, "spans": spans}


def _failures(tables: "Tables") -> list[JSON]:
    """What was not judged, by judge, reason and message, with a record of each."""
    rows = tables.sql(
        "SELECT judge, status, reason, message, count(*) AS n, arg_max(file, moment), arg_max(line, moment) "
        f"FROM (SELECT * REPLACE (coalesce(moment, 'epoch'::TIMESTAMP) AS moment) FROM found) WHERE status <> 'ok' "
        f"GROUP BY ALL ORDER BY n DESC, 1, 2, 3, 4 LIMIT {MOST_GROUPS}"
    )
    names = ("judge", "status", "reason", "message", "count")
    return [
        {**dict(zip(names, row[:5], strict=True)), "example": f"{tables.tables[row[5]].key}:{row[6]}"} for row in rows
    ]


@dataclass(frozen=True, slots=True)
class _Cursor:
    """The last record of a page."""

    order: Order
    k: float
    key: str
    line: int

    @classmethod
    def of(cls, text: str, order: Order) -> Self:
        """Raises `BadCursor`."""
        try:
            cursor_order, k, key, line = json.loads(base64.urlsafe_b64decode(text))
        except (ValueError, TypeError) as error:
            raise BadCursor from error
        is_sound = isinstance(k, float) or (isinstance(k, int) and abs(k) < 2**62)
        if (
            cursor_order != order
            or not is_sound
            or not isinstance(key, str)
            or not isinstance(line, int)
            or abs(line) > 2**62
        ):
            raise BadCursor
        return cls(order, k, key, line)

    def text(self) -> str:
        return base64.urlsafe_b64encode(json.dumps([self.order, self.k, self.key, self.line]).encode()).decode()

    def place(self, keys: Sequence[str]) -> tuple[int, int]:
        """The position of the file, and the line. If the file is gone: what is between its neighbours."""
        if self.key in keys:
            return keys.index(self.key), self.line
        return bisect.bisect(keys, self.key) - 1, 2**62
