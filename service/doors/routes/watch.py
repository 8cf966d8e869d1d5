"""`GET /v1/watch/alarms` tells a tenant where a policy seems to game its reward; `GET /v1/prompts` which prompts teach it."""

import asyncio
from collections import Counter
from typing import Annotated, Any, Final
from urllib.parse import parse_qs

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.types import Receive, Scope, Send

from fairness import TENANT
from service.doors.asgi import asgi_response
from service.doors.routes.openapi_parts import Operation
from service.errors import FieldError, MethodNotAllowed, Unprocessable
from service.watch.alarms import Alarm, Watched
from service.watch.lifespan import Watch
from service.watch.pass_rates import BANDS, Band, PromptRate, sampled
from service.wire import encode

ALARMS: Final = "/v1/watch/alarms"
PROMPTS: Final = "/v1/prompts"
PATHS: Final = (ALARMS, PROMPTS)
_Text = Annotated[str, Meta(max_length=128)]


class AlarmQuery(msgspec.Struct, forbid_unknown_fields=True):
    run: Annotated[_Text | None, Meta(description="Of this run alone")] = None
    after: Annotated[_Text | None, Meta(description="The id of an alarm: those that came after it")] = None


class PromptQuery(msgspec.Struct, forbid_unknown_fields=True):
    run: Annotated[_Text, Meta(description="The run; default: requests that name none")] = ""
    band: Annotated[list[Band], Meta(description="Only prompts of these bands of difficulty")] = []
    count: Annotated[int, Meta(ge=1, le=10_000, description="How many")] = 100
    by_variance: Annotated[bool, Meta(description="Draw prompts that teach more, more often")] = False
    seed: Annotated[int, Meta(description="The same seed draws the same prompts from the same counts")] | UnsetType = (
        UNSET
    )


class AlarmReport(msgspec.Struct, frozen=True):
    """The alarms of a tenant, the oldest first, and what is watched."""

    alarms: list[Alarm]
    watched: Watched


class PromptReport(msgspec.Struct, frozen=True):
    """Prompts of a run, and how many there are in each band."""

    prompts: list[PromptRate]
    bands: dict[str, int]
    runs: dict[str, dict[str, int]]
    """The bands of all runs of the tenant, the latest first."""


class WatchDoor:
    """Both routes as an ASGI application."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if scope["method"] != "GET":
            raise MethodNotAllowed(f"{scope['method']} {path}; it takes GET", allow="GET")
        # In a thread: it looks at each of the prompts that are kept, of which there may be many thousands.
        report = await asyncio.to_thread(self._prompts if path == PROMPTS else self._report, scope["query_string"])
        await asgi_response.respond(send, 200, encode(report))

    def _report(self, given: bytes) -> AlarmReport:
        query = _query(ALARMS, given, AlarmQuery)
        tenant = TENANT.get()
        return AlarmReport(self._watch.alarms.of(tenant, query.run, query.after), self._watch.watched(tenant))

    def _prompts(self, given: bytes) -> PromptReport:
        query = _query(PROMPTS, given, PromptQuery)
        rates = self._watch.rates.of(TENANT.get(), query.run)
        seed = None if query.seed is UNSET else query.seed
        chosen = sampled(rates, query.count, query.band or BANDS, by_variance=query.by_variance, seed=seed)
        return PromptReport(
            [PromptRate.of(key, rate) for key, rate in chosen],
            dict(Counter(rate.band for rate in rates.values())),
            self._watch.rates.bands(TENANT.get()),
        )


def _query(path: str, given: bytes, kind: type[Any]) -> Any:
    """Decode the query string of a request.

    Raises:
        Unprocessable: a name that is unknown or stands there twice, or a wrong value.
    """
    pairs = parse_qs(given.decode("latin-1"), keep_blank_values=True)
    fields = {name: values if name == "band" or len(values) > 1 else values[0] for name, values in pairs.items()}
    try:
        return msgspec.convert(fields, kind, strict=False)
    except msgspec.ValidationError as error:
        known = " and ".join(kind.__struct_fields__)
        message = f"expected {known}: {error}"
        raise Unprocessable(f"the query of {path}: {message}", errors=[FieldError(["query"], message)]) from error


_HERE: Final = "the caller's tenant at this replica; with `admin` and `X-Tenant`, of another one."
_REFUSALS: Final = {422: "Another parameter in the query, or a wrong value"}
OPERATIONS: Final = (
    Operation(
        *("GET", ALARMS, "operation", "alarms", "Where a policy seems to game its reward"),
        f"The latest alarms of {_HERE}",
        {200: ("Alarms, the oldest first, and what is watched", AlarmReport)},
        query=AlarmQuery,
        refusals=_REFUSALS,
    ),
    Operation(
        *("GET", PROMPTS, "operation", "prompts", "How often prompts are solved, and a sample of them"),
        f"Of the prompts that the watch has counted, of {_HERE}",
        {200: ("Prompts, and the size of each band, in this run and in all", PromptReport)},
        query=PromptQuery,
        refusals=_REFUSALS,
    ),
)
