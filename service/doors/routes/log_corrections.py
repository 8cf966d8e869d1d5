"""`/v1/log/corrections` keeps records as cases, with the verdict that a person gives them."""

import asyncio
from typing import Annotated, Any, Final, Literal, Self

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from service.doors.routes.log_asking import AskedLog
from service.errors import Conflict, NotFound
from service.limits.keys import CALLER
from service.observe.audit_log import reader, search
from service.observe.audit_log.corrections import Correction, Corrections, NotACase, case_of
from service.observe.audit_log.search import NoRecord
from service.wire import NDJSON

_SET_SCORE: Final[dict[str, Any]] = {"required": ["score"], "properties": {"score": {"type": "number"}}}
_SET_STATUS: Final[dict[str, Any]] = {"required": ["status"], "properties": {"status": {"type": "string"}}}


class LogCorrection(BaseModel):
    """A person's own verdict on a record: `score`, or `status`."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"oneOf": [_SET_SCORE, _SET_STATUS]})

    row: Annotated[str, Field(max_length=5000, description="What a page calls the row")]
    score: Annotated[float, Field(ge=0, le=1)] | None = Field(None, description="The score that is right")
    status: Literal["invalid"] | None = Field(None, description="The task has a mistake, so that nothing can be judged")
    note: Annotated[str, Field(max_length=2000, description="Why")] = ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.score is None) is (self.status is None):
            raise ValueError("expected score or status, and not both")
        return self


class LogCorrected(BaseModel):
    count: int
    """The cases that are kept."""


def router(log: AskedLog, corrections: Corrections | None) -> APIRouter:
    """The routes, below that of the log."""
    routes = APIRouter()

    def kept() -> Corrections:
        if corrections is None:
            _ = log.desk  # which is the first thing that may be missing
            raise NotFound("nothing keeps corrections of these files; start `rewardline view` with --cases cases.jsonl")
        return corrections

    @routes.post("/corrections", operation_id="correct_log_record", status_code=201)
    async def correct(correction: LogCorrection, request: Request) -> LogCorrected:
        """Keep a record as a case, with the verdict that it should have had. `rewardline check` judges cases again."""
        cases, key = kept(), correction.row.rpartition(":")[0]
        try:
            found = await log.ask(
                request,
                lambda tables: search.record(tables, correction.row),
                lambda path: reader.key_of(path) == key,
            )
            expected: float | Literal["invalid"] = "invalid" if correction.score is None else correction.score
            case = case_of(found, Correction(expected, correction.note, CALLER.get().name))
            return LogCorrected(count=await asyncio.to_thread(cases.add, case))
        except NoRecord as error:
            raise NotFound("the log has no such row, or not any more") from error
        except (NotACase, OSError) as error:
            raise Conflict(str(error)) from error

    @routes.get("/corrections", operation_id="export_log_corrections", response_class=Response)
    async def cases() -> Response:
        """All cases as JSON lines, which `rewardline check` and `rewardline score` read."""
        name = "attachment; filename=cases.jsonl"
        lines = await asyncio.to_thread(kept().read)
        return Response(lines, media_type=NDJSON, headers={"Content-Disposition": name})

    return routes
