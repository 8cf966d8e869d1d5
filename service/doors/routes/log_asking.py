"""What the routes of the log share: which records a caller wants, and how a search is asked for and refused."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeVar

from fastapi import Request, Response
from pydantic import BaseModel, ConfigDict, Field

from service.doors.asgi.request_body import cancelled_on_disconnect
from service.doors.routes.openapi_parts import JSON
from service.errors import FieldError, NotFound, Unprocessable
from service.limits.keys import CALLER
from service.observe.audit_log import reader
from service.observe.audit_log.condition import BadCondition
from service.observe.audit_log.desk import Desk
from service.observe.audit_log.query import BadMoment, moment
from service.observe.audit_log.search import Filters
from service.wire import encode

if TYPE_CHECKING:
    from service.observe.audit_log.tables import Tables

PATH: Final = "/v1/log"
T = TypeVar("T")
Name = Annotated[str, Field(max_length=256)]
_Names = Annotated[list[Name], Field(max_length=50)]
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
        raise refused(name, str(error)) from error


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


class AskedLog:
    """The log of a service, or files that are shown as one."""

    def __init__(self, desk: Desk | None) -> None:
        """There is no desk where no log is kept."""
        self._desk = desk

    @property
    def desk(self) -> Desk:
        """Raises `NotFound`."""
        if self._desk is None:
            raise NotFound(
                "no audit log is kept here; set audit_dir (REWARDLINE_AUDIT_DIR) to a folder for it, and audit_log not to off"
            )
        return self._desk

    async def ask(self, request: Request, question: Callable[["Tables"], T], choose: Callable[[Path], bool]) -> T:
        """The answer to a question about the chosen files."""
        desk = self.desk
        try:
            async with cancelled_on_disconnect(request.receive):
                return await desk.ask(CALLER.get().name, question, choose)
        except reader.NotThere as error:
            raise NotFound(str(error)) from error
        except BadCondition as error:
            raise refused("where", str(error)) from error

    async def answer(
        self, request: Request, question: Callable[["Tables"], JSON], choose: Callable[[Path], bool]
    ) -> Response:
        """The same as a response. It is encoded in the thread of the search, because it may be large."""
        encoded = await self.ask(request, lambda tables: encode(question(tables)), choose)
        return Response(encoded, media_type="application/json")


def refused(name: str, message: str) -> Unprocessable:
    return Unprocessable(f"{name}: {message}", errors=[FieldError(["query", name], message)])


def _problem(about: str) -> JSON:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": about, "content": {"application/problem+json": {"schema": schema}}}


REFUSALS: Final[dict[int | str, JSON]] = {
    403: _problem("A key without the scope `admin`"),
    404: _problem("No log is kept, or it has no such row"),
    409: _problem("The record cannot be judged again, so that it is not a case"),
    413: _problem("More than fits in memory; narrow it"),
    422: _problem("A parameter that is not known, or not of its shape; `errors` names it"),
    429: _problem("Too many searches wait; Retry-After says when to try again"),
    504: _problem("It took too long; narrow it"),
}
