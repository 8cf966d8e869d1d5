"""`GET /v1/log/groups`, `/steps`, `/compare` and `/records` show the log as training sees it."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from service.doors.routes.log_asking import AskedLog, LogFilters, LogRead, Name
from service.observe.audit_log import runs, search


class LogRecordsQuery(LogFilters):
    limit: Annotated[int, Field(ge=1, le=64)] = 16


class LogGroupsQuery(LogFilters):
    order: runs.GroupOrder = Field(
        "newest", description="`mixed`: the widest rewards first; the last two by the mean reward"
    )
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class LogCompareQuery(LogFilters):
    run: Annotated[list[Name], Field(min_length=2, max_length=2, description="Two runs")]
    limit: Annotated[int, Field(ge=1, le=500)] = 100


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
    is_more: bool
    """Whether there are more, which are not here: choose a run."""
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


def router(log: AskedLog) -> APIRouter:
    """The routes, below that of the log."""
    routes = APIRouter()

    @routes.get("/records", operation_id="show_log_records", response_model=LogRecords)
    async def records(query: Annotated[LogRecordsQuery, Query()], request: Request) -> Response:
        """Whole records, the highest reward first: the responses of a group beside each other."""
        filters = query.filters()
        return await log.answer(request, lambda tables: search.records(tables, filters, query.limit), filters.may_be_in)

    @routes.get("/groups", operation_id="show_log_groups", response_model=LogGroups)
    async def groups(query: Annotated[LogGroupsQuery, Query()], request: Request) -> Response:
        """Responses to one prompt in one step of a run, as groups with their rewards."""
        filters = query.filters()
        return await log.answer(
            request, lambda tables: runs.groups(tables, filters, query.order, query.limit), filters.may_be_in
        )

    @routes.get("/steps", operation_id="show_log_steps", response_model=LogSteps)
    async def steps(query: Annotated[LogFilters, Query()], request: Request) -> Response:
        """Rewards, failures, latency and groups without signal by run, judge and step."""
        filters = query.filters()
        return await log.answer(request, lambda tables: runs.steps(tables, filters), filters.may_be_in)

    @routes.get("/compare", operation_id="compare_log_runs", response_model=LogCompared)
    async def compare(query: Annotated[LogCompareQuery, Query()], request: Request) -> Response:
        """The prompts that two runs answered, with the reward of each; flips first."""
        filters = query.filters()
        return await log.answer(
            request,
            lambda tables: runs.compared(tables, filters, query.run[0], query.run[1], query.limit),
            filters.may_be_in,
        )

    return routes
