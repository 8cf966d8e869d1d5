"""`GET /v1/log` and the routes below it search the audit log: a page of records, one record, counts, and an export.

Who may read what others sent needs a key with the scope `admin`.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from service.doors.routes import log_corrections, log_runs
from service.doors.routes.log_asking import PATH, REFUSALS, AskedLog, LogFilters, LogRead, refused
from service.doors.routes.openapi_parts import JSON
from service.errors import NotFound
from service.limits.keys import CALLER
from service.observe.audit_log import reader, search
from service.observe.audit_log.condition import BadCondition
from service.observe.audit_log.corrections import Corrections
from service.observe.audit_log.search import BadCursor, NoRecord
from service.wire import NDJSON

PATHS: Final = (
    PATH,
    *(
        f"{PATH}/{part}"
        for part in ("record", "records", "summary", "groups", "steps", "compare", "export", "corrections")
    ),
)
_MEDIA: Final = {"jsonl": NDJSON, "parquet": "application/vnd.apache.parquet"}


class LogPageQuery(LogFilters):
    order: Literal["newest", "oldest", "highest", "lowest"] = Field(
        "newest", description="The first two go by time, the others by reward"
    )
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    cursor: Annotated[str, Field(max_length=1000)] | None = Field(None, description="`next` of the page before")


class LogExportQuery(LogFilters):
    format: Literal["jsonl", "parquet"] = "jsonl"


class LogRecordQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    row: Annotated[str, Field(max_length=5000, description="What a page calls the row")]


class LogRow(BaseModel):
    """A record, its texts cut."""

    row: str
    """Its name for `/v1/log/record`."""
    time: str | None
    id: str | None
    status: str
    reason: str
    score: float | None
    reward: float | None
    verifier: str | None
    version: str | None
    recipe: str | None
    data_source: str | None
    tag: str | None
    run_id: str | None
    step: int | None
    prompt: str
    """What is equal of the rows that answer one prompt."""
    tenant: str | None
    request_id: str | None
    cached: bool | None
    elapsed_ms: float | None
    extracted: str | None
    response_end: str | None
    response_chars: int | None
    redacted: bool
    """Whether the log holds hashes in place of the texts."""
    message: str | None


class LogPage(BaseModel):
    rows: list[LogRow]
    next: str | None
    """The cursor of the following page."""
    read: LogRead


class LogCount(BaseModel):
    name: str
    count: int
    mean_reward: float | None


class LogHistogram(BaseModel):
    """Rewards in equal bins from `low` to `high`."""

    low: float
    high: float
    counts: list[int]


class LogSpan(BaseModel):
    """The records of a span of time, by status."""

    begins: str
    ok: int
    invalid: int
    failed: int
    mean_reward: float | None


class LogOverTime(BaseModel):
    width_s: int
    """The seconds that a span takes."""
    spans: list[LogSpan]


class LogFailures(BaseModel):
    """Records that were not judged, for one reason."""

    judge: str
    status: str
    reason: str
    message: str
    count: int
    example: str
    """The row of the newest."""


class LogSummary(BaseModel):
    records: int
    mean_reward: float | None
    by_status: list[LogCount]
    by_reason: list[LogCount]
    by_judge: list[LogCount]
    """By recipe, or by verifier where there is none."""
    by_data_source: list[LogCount]
    by_run: list[LogCount]
    rewards: LogHistogram
    over_time: LogOverTime
    failures: list[LogFailures]
    read: LogRead


def router(log: AskedLog, corrections: Corrections | None = None) -> APIRouter:
    """The routes. There are no corrections where none can be kept."""
    routes = APIRouter(prefix=PATH, tags=["log"], responses=REFUSALS)
    routes.include_router(log_runs.router(log))
    routes.include_router(log_corrections.router(log, corrections))

    @routes.get("", operation_id="search_log")
    async def page(query: Annotated[LogPageQuery, Query()], request: Request) -> LogPage:
        """Records of the audit log, the newest first or in another order. Their texts are cut."""
        filters = query.filters()
        try:
            found = await log.ask(
                request,
                lambda tables: search.page(tables, filters, query.order, query.limit, query.cursor),
                filters.may_be_in,
            )
        except BadCursor as error:
            raise refused("cursor", "it is not `next` of a page in this order; begin without one") from error
        return LogPage.model_validate(found)

    @routes.get("/record", operation_id="show_log_record", response_model=dict[str, Any])
    async def record(query: Annotated[LogRecordQuery, Query()], request: Request) -> Response:
        """A whole record, as far as the log holds its texts."""
        key = query.row.rpartition(":")[0]
        try:
            return await log.answer(
                request,
                lambda tables: search.record(tables, query.row),
                lambda path: reader.key_of(path) == key,
            )
        except NoRecord as error:
            raise NotFound("the log has no such row, or not any more") from error

    @routes.get("/summary", operation_id="summarise_log")
    async def summary(query: Annotated[LogFilters, Query()], request: Request) -> LogSummary:
        """Counts of records by what they are, by their reward and over time; and failures, grouped."""
        filters = query.filters()
        found = await log.ask(request, lambda tables: search.summary(tables, filters), filters.may_be_in)
        return LogSummary.model_validate(found)

    @routes.get("/export", operation_id="export_log", response_class=StreamingResponse, responses=_EXPORTED)
    async def export(query: Annotated[LogExportQuery, Query()]) -> StreamingResponse:
        """The whole records as a file, which `rewardline log` and `rewardline view` read."""
        filters = query.filters()
        parts = log.desk.stream(
            CALLER.get().name,
            lambda tables, output: search.export(tables, filters, query.format, output),
            filters.may_be_in,
        )
        try:
            first = await anext(parts, b"")  # a refusal gets its own status
        except reader.NotThere as error:
            raise NotFound(str(error)) from error
        except BadCondition as error:
            raise refused("where", str(error)) from error
        name = f"attachment; filename=log.{query.format}"
        return StreamingResponse(
            _streamed(first, parts), media_type=_MEDIA[query.format], headers={"Content-Disposition": name}
        )

    return routes


async def _streamed(first: bytes, chunks: AsyncGenerator[bytes]) -> AsyncIterator[bytes]:
    async with aclosing(chunks):
        yield first
        async for part in chunks:
            yield part


_EXPORTED: Final[dict[int | str, JSON]] = {
    200: {"description": "The records", "content": {media: {"schema": {"type": "string"}} for media in _MEDIA.values()}}
}
