"""`GET /v1/log` and the routes below it search the audit log: a page of records, one record, counts, and an export.

Who may read what others sent needs a key with the scope `admin`.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from service.doors.asgi.request_body import cancelled_on_disconnect
from service.doors.routes.openapi_parts import JSON
from service.errors import FieldError, NotFound, Unprocessable
from service.limits.keys import CALLER
from service.observe.audit_log import reader, runs, search
from service.observe.audit_log.condition import BadCondition
from service.observe.audit_log.desk import Desk
from service.observe.audit_log.query import BadMoment, moment
from service.observe.audit_log.search import BadCursor, Filters, NoRecord
from service.wire import NDJSON, encode

if TYPE_CHECKING:
    from service.observe.audit_log.tables import Tables

PATH: Final = "/v1/log"
PATHS: Final = (
    PATH,
    *(f"{PATH}/{part}" for part in ("record", "records", "summary", "groups", "steps", "compare", "export")),
)
T = TypeVar("T")
_MEDIA: Final = {"jsonl": NDJSON, "parquet": "application/vnd.apache.parquet"}
_Name = Annotated[str, Field(max_length=256)]
_Names = Annotated[list[_Name], Field(max_length=50)]
_Number = Annotated[float, Field(allow_inf_nan=False)]
_Step = Annotated[int, Field(ge=-(2**62), le=2**62)]
_Moment = Annotated[str, Field(max_length=64, examples=["2h"])]


class LogFilters(BaseModel):
    """Which records. Values of one name widen the choice, different names narrow it."""

    model_config = ConfigDict(extra="forbid")

    verifier: _Names = Field(
        [], description="Verifiers or recipes; an empty text stands for records without any", examples=[["math"]]
    )
    status: Annotated[list[Literal["ok", "invalid", "failed"]], Field(max_length=3)] = []
    reason: _Names = []
    data_source: _Names = Field([], description="An empty text stands for records without one")
    run: _Names = Field([], description="Runs of training; an empty text stands for records without one")
    step: Annotated[list[_Step], Field(max_length=50)] = Field([], description="Steps of the trainer, by the metadata")
    prompt: _Names = Field([], description="What the answer of a search calls the prompts of its rows")
    tenant: _Names = []
    id: _Names = Field([], description="Ids of items or of requests")
    min_reward: _Number | None = None
    max_reward: _Number | None = None
    min_score: _Number | None = None
    max_score: _Number | None = None
    since: _Moment | None = Field(None, description="From this time on: 2026-03-07T09:15 (UTC), or 2h ago")
    until: _Moment | None = Field(None, description="Up to this time")
    text: Annotated[str, Field(max_length=1000)] = Field(
        "", description="A part of the id, response, prompt, extracted answer or message, in either case"
    )

    where: Annotated[str, Field(max_length=2000)] = Field(
        "",
        description="A condition in SQL on the columns of a record, `step` and `moment`",
        examples=["reward < 0.5 AND response ILIKE '%wait%'"],
    )

    def filters(self) -> Filters:
        now = datetime.now(UTC)
        return Filters(
            *(self.verifier, self.status, self.reason, self.data_source, self.run, self.step, self.prompt),
            *(self.tenant, self.id, self.min_reward, self.max_reward, self.min_score, self.max_score),
            _moment("since", self.since, now),
            _moment("until", self.until, now),
            self.text,
            self.where,
        )


def _moment(name: str, text: str | None, now: datetime) -> datetime | None:
    try:
        return moment(text, now) if text else None
    except BadMoment as error:
        raise _refused(name, str(error)) from error


class LogPageQuery(LogFilters):
    order: Literal["newest", "oldest", "highest", "lowest"] = Field(
        "newest", description="The first two go by time, the others by reward"
    )
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    cursor: Annotated[str, Field(max_length=1000)] | None = Field(None, description="`next` of the page before")


class LogRecordsQuery(LogFilters):
    limit: Annotated[int, Field(ge=1, le=64)] = 16


class LogGroupsQuery(LogFilters):
    order: runs.GroupOrder = Field(
        "newest", description="`mixed`: the widest rewards first; the last two by the mean reward"
    )
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class LogCompareQuery(LogFilters):
    run: Annotated[list[_Name], Field(min_length=2, max_length=2, description="Two runs")]
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class LogExportQuery(LogFilters):
    format: Literal["jsonl", "parquet"] = "jsonl"


class LogRecordQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    row: Annotated[str, Field(max_length=5000, description="What a page calls the row")]


class LogRead(BaseModel):
    """What was read for an answer."""

    files: int
    files_left: int
    """Files that are too old to hold any of the rows, so that they were not read."""
    rows: int
    damaged_rows: int
    """Lines that are not whole records."""
    damaged_files: list[str]
    """Files that end too early, of which the whole lines were read, or that cannot be read."""


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


class LogRecords(BaseModel):
    records: list[dict[str, Any]]
    is_more: bool
    """Whether there are more than were asked for."""


class LogGroup(BaseModel):
    """What a run sampled for one prompt in one step, by one judge."""

    run: str
    step: int | None
    judge: str
    prompt: str
    shown: str
    """The beginning of the prompt."""
    count: int
    failed: int
    invalid: int
    mean_reward: float | None
    lowest: float | None
    highest: float | None
    rewards: list[float | None]
    """The first 64, in the order of time."""
    time: str | None


class LogGroups(BaseModel):
    groups: list[LogGroup]
    count: int
    """All groups, also those beyond the limit."""
    without_signal: int
    """Groups of which all rewards are equal."""
    read: LogRead


class LogStep(BaseModel):
    """A step of a run, by one judge."""

    run: str
    judge: str
    step: int
    count: int
    failed: int
    invalid: int
    mean_reward: float | None
    latency_ms: float
    groups: int
    without_signal: int
    """Groups of which all rewards are equal."""
    reasons: dict[str, int]


class LogSteps(BaseModel):
    steps: list[LogStep]
    without_step: int
    """Records whose metadata name no step."""
    read: LogRead


class LogPair(BaseModel):
    """A prompt that both runs answered, with the mean reward of each."""

    judge: str
    prompt: str
    shown: str
    mean: float
    other_mean: float
    count: int
    other_count: int
    is_flip: bool
    """Whether one run earns 0.5 or more on average, and the other less."""


class LogCompared(BaseModel):
    pairs: list[LogPair]
    prompts: int
    mean_reward: float | None
    other_mean_reward: float | None
    gained: int
    """Flips by which the second run earns more."""
    lost: int
    only: int
    """Prompts of the first run alone."""
    other_only: int
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
    rewards: LogHistogram
    over_time: LogOverTime
    failures: list[LogFailures]
    read: LogRead


def router(log_desk: Desk | None) -> APIRouter:
    """The routes. There is no desk where no log is kept."""
    routes = APIRouter(prefix=PATH, tags=["log"], responses=_REFUSALS)

    def there() -> Desk:
        if log_desk is None:
            raise NotFound(
                "no audit log is kept here; set audit_dir (REWARDLINE_AUDIT_DIR) to a folder for it, and audit_log not to off"
            )
        return log_desk

    async def ask(desk: Desk, request: Request, question: Callable[["Tables"], T], choose: Callable[[Path], bool]) -> T:
        try:
            async with cancelled_on_disconnect(request.receive):
                return await desk.ask(CALLER.get().name, question, choose)
        except reader.NotThere as error:
            raise NotFound(str(error)) from error
        except BadCondition as error:
            raise _refused("where", str(error)) from error

    @routes.get("", operation_id="search_log")
    async def page(query: Annotated[LogPageQuery, Query()], request: Request) -> LogPage:
        """Records of the audit log, the newest first or in another order. Their texts are cut."""
        desk, filters = there(), query.filters()
        try:
            found = await ask(
                desk,
                request,
                lambda tables: search.page(tables, filters, query.order, query.limit, query.cursor),
                filters.may_be_in,
            )
        except BadCursor as error:
            raise _refused("cursor", "it is not `next` of a page in this order; begin without one") from error
        return LogPage.model_validate(found)

    @routes.get("/record", operation_id="show_log_record", response_model=dict[str, Any])
    async def record(query: Annotated[LogRecordQuery, Query()], request: Request) -> Response:
        """A whole record, as far as the log holds its texts."""
        key = query.row.rpartition(":")[0]
        try:
            found = await ask(
                there(),
                request,
                lambda tables: search.record(tables, query.row),
                lambda path: reader.key_of(path) == key,
            )
        except NoRecord as error:
            raise NotFound("the log has no such row, or not any more") from error
        return Response(encode(found), media_type="application/json")

    @routes.get("/records", operation_id="show_log_records", response_model=LogRecords)
    async def records(query: Annotated[LogRecordsQuery, Query()], request: Request) -> Response:
        """Whole records, the highest reward first: the responses of a group beside each other."""
        desk, filters = there(), query.filters()
        found = await ask(desk, request, lambda tables: search.records(tables, filters, query.limit), filters.may_be_in)
        return Response(encode(found), media_type="application/json")

    @routes.get("/groups", operation_id="show_log_groups")
    async def groups(query: Annotated[LogGroupsQuery, Query()], request: Request) -> LogGroups:
        """Responses to one prompt in one step of a run, as groups with their rewards."""
        desk, filters = there(), query.filters()
        found = await ask(
            desk, request, lambda tables: runs.groups(tables, filters, query.order, query.limit), filters.may_be_in
        )
        return LogGroups.model_validate(found)

    @routes.get("/steps", operation_id="show_log_steps")
    async def steps(query: Annotated[LogFilters, Query()], request: Request) -> LogSteps:
        """Rewards, failures, latency and groups without signal by run, judge and step."""
        desk, filters = there(), query.filters()
        found = await ask(desk, request, lambda tables: runs.steps(tables, filters), filters.may_be_in)
        return LogSteps.model_validate(found)

    @routes.get("/compare", operation_id="compare_log_runs")
    async def compare(query: Annotated[LogCompareQuery, Query()], request: Request) -> LogCompared:
        """The prompts that two runs answered, with the reward of each; flips first."""
        desk, filters = there(), query.filters()
        found = await ask(
            desk,
            request,
            lambda tables: runs.compared(tables, filters, query.run[0], query.run[1], query.limit),
            filters.may_be_in,
        )
        return LogCompared.model_validate(found)

    @routes.get("/summary", operation_id="summarise_log")
    async def summary(query: Annotated[LogFilters, Query()], request: Request) -> LogSummary:
        """Counts of records by what they are, by their reward and over time; and failures, grouped."""
        desk, filters = there(), query.filters()
        found = await ask(desk, request, lambda tables: search.summary(tables, filters), filters.may_be_in)
        return LogSummary.model_validate(found)

    @routes.get("/export", operation_id="export_log", response_class=StreamingResponse, responses=_EXPORTED)
    async def export(query: Annotated[LogExportQuery, Query()]) -> StreamingResponse:
        """The whole records as a file, which `rewardline log` and `rewardline view` read."""
        desk, filters = there(), query.filters()
        parts = desk.stream(
            CALLER.get().name,
            lambda tables, output: search.export(tables, filters, query.format, output),
            filters.may_be_in,
        )
        try:
            first = await anext(parts, b"")  # a refusal gets its own status
        except reader.NotThere as error:
            raise NotFound(str(error)) from error
        except BadCondition as error:
            raise _refused("where", str(error)) from error
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


def _refused(name: str, message: str) -> Unprocessable:
    return Unprocessable(f"{name}: {message}", errors=[FieldError(["query", name], message)])


def _problem(about: str) -> JSON:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": about, "content": {"application/problem+json": {"schema": schema}}}


_REFUSALS: Final[dict[int | str, JSON]] = {
    403: _problem("A key without the scope `admin`"),
    404: _problem("No log is kept, or it has no such row"),
    413: _problem("More than fits in memory; narrow it"),
    422: _problem("A parameter that is not known, or not of its shape; `errors` names it"),
    429: _problem("Too many searches wait; Retry-After says when to try again"),
    504: _problem("It took too long; narrow it"),
}
_EXPORTED: Final[dict[int | str, JSON]] = {
    200: {"description": "The records", "content": {media: {"schema": {"type": "string"}} for media in _MEDIA.values()}}
}
