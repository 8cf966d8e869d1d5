"""`GET /v1/series` and `GET /v1/judges` show operators what the service does now, and did in the last hour."""

import asyncio
from pathlib import Path
from typing import Annotated, Final

import msgspec
from starlette.types import Receive, Scope, Send

from service.backends.judge_report import Judges, report
from service.doors.asgi import asgi_response
from service.doors.routes.openapi_parts import Operation
from service.doors.routes.resource import query_of
from service.errors import MethodNotAllowed, NotFound
from service.observe.history import STEP_S, STEPS, History, Past
from service.wire import encode
from verifiers.judge.panel import Panel

SERIES: Final = "/v1/series"
JUDGES: Final = "/v1/judges"
_LATEST_S: Final = 1e11
"""No clock is beyond this time."""
_SINCE: Final = "A time in seconds since 1970: only later figures are given. `until` of an answer is the next `since`."


class Query(msgspec.Struct, forbid_unknown_fields=True):
    """The query of a request for series."""

    since: (
        Annotated[float, msgspec.Meta(ge=0, le=_LATEST_S, description=_SINCE, examples=[1_795_800_000.0])]
        | msgspec.UnsetType
    ) = msgspec.UNSET


class LiveDoor:
    """Both routes as an ASGI application."""

    def __init__(self, history: History | None, panel: Panel | None, judge_file: Path | None) -> None:
        """`history` is None if the service keeps none."""
        self._history = history
        self._panel = panel
        self._judge_file = judge_file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        if method != "GET":
            raise MethodNotAllowed(f"{method} {path}; it takes GET", allow="GET")
        if path == JUDGES:
            judges = await asyncio.to_thread(report, self._panel, self._judge_file)
            await asgi_response.respond(send, 200, encode(judges))
            return
        query = query_of(
            scope["query_string"], Query, "since, a time in seconds since 1970 such as `until` of the last answer"
        )
        if self._history is None:
            raise NotFound("this service keeps no series: the console is turned off (setting console); see /metrics")
        past = self._history.since(query.since if isinstance(query.since, float) else None)
        await asgi_response.respond(send, 200, await asyncio.to_thread(lambda: encode(past())))


_FORBIDDEN: Final = {403: "The key lacks the scope `admin`"}
OPERATIONS: Final = (
    Operation(
        *("GET", SERIES, "operation", "series", "The last hour of this replica"),
        f"The series of the Grafana dashboard, one figure each {STEP_S:g} s, {STEPS} at most. Other replicas have their own.",
        {200: ("All figures, or the new ones", Past)},
        query=Query,
        refusals=_FORBIDDEN | {404: "The console is turned off", 422: "The query has a wrong option or value"},
    ),
    Operation(
        *("GET", JUDGES, "operation", "judges", "Judge models"),
        "Each endpoint with its state, limits, counts and canaries, the pools, and the last evaluation of each profile. "
        "Keys are not shown.",
        {200: ("Now, at this replica", Judges)},
        refusals=_FORBIDDEN,
    ),
)
