"""Reads the reference of a query: its databases, and the rows that are wanted on each."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from verifiers.base import InvalidItem
from verifiers.rules.sql import database
from verifiers.rules.sql.clock import Value
from verifiers.rules.sql.database import (
    MAX_IMAGE_BYTES,
    MAX_QUERY_BYTES,
    MAX_ROWS,
    MAX_SCRIPT_BYTES,
    Budget,
    QueryFault,
    Row,
)

_MAX_DATABASES = 16
_MAX_BASE64_CHARS = MAX_IMAGE_BYTES * 4 // 3 + 4
_MAX_INTEGER = 1 << 512


class Blob(BaseModel):
    """A cell that is a blob."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    base64: str
    """Its bytes."""

    @cached_property
    def bytes(self) -> bytes:
        return _decoded(self.base64)


Integer = Annotated[int, Field(ge=-_MAX_INTEGER, le=_MAX_INTEGER)]
Cell = bool | Integer | float | str | Blob | None
Script = Annotated[str, Field(max_length=MAX_SCRIPT_BYTES)]
File = Annotated[str, Field(max_length=_MAX_BASE64_CHARS)]


class Reference(BaseModel):
    """A query or rows, on a database that a script makes or a file holds."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    sql: Annotated[str, Field(max_length=MAX_QUERY_BYTES)] | None = Field(
        default=None, validation_alias=AliasChoices("sql", "query", "gold_sql")
    )
    """The query that returns the wanted rows."""
    rows: Annotated[tuple[tuple[Cell, ...], ...], Field(max_length=MAX_ROWS)] | None = None
    """The wanted rows themselves. A blob is written `{"base64": …}`."""
    columns: tuple[str, ...] | None = None
    """The columns of `rows`. Their number counts; their names do not."""
    setup_sql: Script | Annotated[tuple[Script, ...], Field(min_length=1, max_length=_MAX_DATABASES)] | None = Field(
        default=None, validation_alias=AliasChoices("setup_sql", "schema", "sql_context")
    )
    """A script of CREATE TABLE, INSERT and the like, or several scripts.

    Each script makes a database, and the query must be right on all of them.
    """
    database: File | Annotated[tuple[File, ...], Field(min_length=1, max_length=_MAX_DATABASES)] | None = None
    """A SQLite file in base64, or several files."""

    @model_validator(mode="after")
    def _check(self) -> "Reference":
        if (self.sql is None) is (self.rows is None):
            raise ValueError("give either sql or rows")
        if (self.setup_sql is None) is (self.database is None):
            raise ValueError("give either setup_sql or database")
        if self.rows is not None:
            widths = {len(row) for row in self.rows} | ({len(self.columns)} if self.columns is not None else set())
            if len(widths) > 1 or 0 in widths:
                raise ValueError("all rows, and columns if given, must have the same number of values")
            if isinstance(self.setup_sql or self.database, tuple):
                raise ValueError("rows go with one database only; give sql for several")
        return self

    @cached_property
    def size_bytes(self) -> int:
        """The approximate size of the reference in memory."""
        texts = (*_several(self.setup_sql or ()), *_several(self.database or ()))
        return sum(map(len, texts)) + sum(200 * len(row) for row in self.rows or ())


@dataclass(frozen=True)
class Wanted:
    """One database, and the rows that a query must return on it."""

    image: bytes
    results: Sequence[Sequence[Row]]
    """The rows of the reference, and other right rows if the reference query leaves their choice or order open."""
    width: int | None
    """The number of columns; None if it is unknown, because there are neither rows nor columns."""
    reads_tables: bool


@dataclass(frozen=True)
class Prepared:
    wanted: Sequence[Wanted]
    is_ordered: bool
    """Whether the reference query orders its rows."""

    @cached_property
    def size_bytes(self) -> int:
        """The approximate size of the databases and rows in memory."""
        return sum(
            len(expected.image) + 200 * sum(len(rows) * (expected.width or 1) for rows in expected.results)
            for expected in self.wanted
        )


def prepare(reference: Reference, now: str, *, allow_empty: bool) -> Prepared:
    """Build the databases and run the reference query.

    Raises:
        InvalidItem: a database cannot be built, the query fails, or no rows are wanted.
    """
    try:
        images = _images(reference, now)
    except QueryFault as fault:
        raise InvalidItem("bad_database", f"{fault.fault}: {fault}") from fault
    if reference.rows is not None:
        expected = [_given(reference, images[0])]
    else:
        try:
            expected = _asked(reference.sql or "", images, now)
        except QueryFault as fault:
            raise InvalidItem("bad_reference_query", f"{fault.fault}: {fault}") from fault
    if not allow_empty and not any(
        cell is not None for choice in expected for row in choice.results[0] for cell in row
    ):
        raise InvalidItem(
            "empty_reference",
            "the reference returns no rows or only NULL, as many wrong queries do; correct it, or set allow_empty",
        )
    return Prepared(expected, reference.sql is not None and database.orders_its_rows(reference.sql))


def _images(reference: Reference, now: str) -> list[bytes]:
    budget = Budget()
    if reference.setup_sql is not None:
        return [database.built(script, now, budget) for script in _several(reference.setup_sql)]
    return [database.checked(_decoded(file), now, budget) for file in _several(reference.database or "")]


def _several(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidItem("bad_database", f"a value is not base64: {error}") from error


def _given(reference: Reference, image: bytes) -> Wanted:
    assert reference.rows is not None
    rows: list[Row] = [tuple(map(_value, row)) for row in reference.rows]
    width = len(rows[0]) if rows else len(reference.columns) if reference.columns is not None else None
    return Wanted(image, [rows], width, reads_tables=False)


def _value(cell: Cell) -> Value:
    return cell.bytes if isinstance(cell, Blob) else cell


def _asked(query: str, images: Sequence[bytes], now: str) -> list[Wanted]:
    budget = Budget()
    expected = []
    for image in images:
        result = database.run(image, query, now, budget, MAX_ROWS)
        if not result.is_complete:
            raise QueryFault("too_large", f"the result has more than {MAX_ROWS} rows")
        choices = _other_choices(query, result.width, image, now, budget)
        expected.append(Wanted(image, [result.rows, *choices], result.width, result.reads_tables))
    return expected


def _other_choices(query: str, width: int, image: bytes, now: str, budget: Budget) -> list[list[Row]]:
    """The other right results of the query: with ties broken either way, or with tables scanned backwards."""
    try:
        if not database.orders_its_rows(query):
            return [database.run(image, query, now, budget, MAX_ROWS, backwards=True).rows]
        return [
            database.run(image, database.breaking_ties(query, width, direction), now, budget, MAX_ROWS).rows
            for direction in ("ASC", "DESC")
        ]
    except QueryFault:
        return []
