"""The steps of every door for another system: method, options of the URL, limits, deadline, hanging up, counting.

    read the URL ──► take the body in ──► wait for room ──► answer ──► 200
          │                 └───────────────┴───────────────┤
         422                 503 when the caller has waited long enough

Each door names the types of its routes and answers the requests. Callers wait for room instead of being refused.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from starlette.types import Receive, Scope, Send

from sandbox.base import Sandbox
from service.doors.asgi import asgi_response
from service.doors.asgi.request_body import Disconnected, cancelled_on_disconnect, read_body
from service.doors.compat import request_options
from service.doors.compat.retries import ItemInvalid, RetryingScorer
from service.errors import MethodNotAllowed, NotInTime, NotJudged, RequestError
from service.groups.scoring import GroupScorer
from service.groups.singles import Singles
from service.limits.admission import Admission, Permit
from service.observe.access_log import Call
from service.observe.metrics import Metrics
from service.scoring.engine import Engine
from service.settings import Settings
from service.wire import check_count, encode


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A URL without a query."""


@dataclass(frozen=True, slots=True)
class Form:
    """Another form that a body may have."""

    body: Any
    """The type of the body."""
    example: Any
    answer: Any
    """The type of the answer to this form."""


@dataclass(frozen=True, slots=True)
class Route:
    """A path of a door, and its description for the OpenAPI document."""

    paths: Sequence[str]
    """The paths. The document shows the first one."""
    name: str
    summary: str
    about: str
    answer: Any
    """The type of the answer."""
    body: Any = None
    """The type of the body. None: the route has no body."""
    example: Any = None
    options: type[msgspec.Struct] = NoOptions
    """The type of the options in the URL."""
    method: str = "POST"
    timeout_s: float = 25.0
    """How long a caller waits if it does not say."""
    while_draining: bool = False
    """Whether the route also serves while the service drains, for work that was admitted before."""
    newer: Form | None = None
    """Another form of the body, which newer clients send."""
    refusals: Mapping[int, str] = field(default_factory=dict)
    """The statuses that only this route has, and the meaning of each."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts from which doors are built."""

    settings: Settings
    admission: Admission
    metrics: Metrics
    engine: Engine
    scorer: RetryingScorer
    boxes: Sandbox
    groups: GroupScorer
    singles: Singles


O = TypeVar("O", bound=msgspec.Struct)  # noqa: E741


@dataclass(slots=True)
class Exchange(Generic[O]):
    """A request that is being answered."""

    route: Route
    options: O
    call: Call
    permit: Permit
    started: float
    clock: asyncio.Timeout
    headers: Mapping[bytes, bytes]
    body: bytes = b""
    more_headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    """Headers of the answer."""

    @property
    def deadline(self) -> float:
        """The time when the caller stops waiting, on the loop's clock."""
        when = self.clock.when()
        assert when is not None
        return when

    def wait_for(self, timeout_s: float) -> None:
        """Set how long the caller waits, counted from the arrival of the request, after the body has said it."""
        self.clock.reschedule(self.started + timeout_s)

    async def hold(self, items: int, limit: int) -> None:
        """Wait until there is room to judge this many items, and hold all of them at once. A request that held some and
        waited for more could wait for other requests that do the same.

        Raises:
            TooLarge: the items are more than one request may have.
        """
        check_count(items, limit)
        self.call.items = items
        await self.permit.add_when_possible(items=items)


class Door(ABC):
    """The routes of one client, as an ASGI application."""

    name: ClassVar[str]
    """The name of the client in metrics."""
    routes: ClassVar[Sequence[Route]]
    late: ClassVar[type[RequestError]] = NotJudged
    """The error for a caller that has no time left."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._by_path = {path: route for route in self.routes for path in route.paths}

    @abstractmethod
    async def answer(self, exchange: Exchange[Any]) -> object:
        """The answer for the client, with status 200.

        Raises:
            RequestError: the request is refused; the client gets this error.
        """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._by_path[scope["path"]]
        outcome = "refused"
        try:
            answer, headers = await self._answered(route, scope, receive)
            outcome = "ok"
        except ItemInvalid:
            outcome = "invalid"
            raise
        except (NotJudged, NotInTime):
            outcome = "failed"
            raise
        except (Disconnected, asyncio.CancelledError):
            outcome = "gone"
            raise
        finally:
            self.parts.metrics.observe_door(self.name, outcome)
        await asgi_response.respond(send, 200, answer, *headers)

    async def _answered(
        self, route: Route, scope: Scope, receive: Receive
    ) -> tuple[bytes, Sequence[tuple[bytes, bytes]]]:
        if scope["method"] != route.method:
            raise MethodNotAllowed(f"{scope['method']} {scope['path']}; it takes {route.method}", allow=route.method)
        options = request_options.read(scope["query_string"], route.options)
        call: Call = scope["state"]["call"]
        admission, started = self.parts.admission, asyncio.get_running_loop().time()
        timeout_s = self.timeout_of(options, route.timeout_s)
        try:
            async with asyncio.timeout_at(started + timeout_s) as clock:
                with admission.permit() if route.while_draining else admission.enter() as permit:
                    headers = scope["state"]["headers"]
                    exchange = Exchange(route, options, call, permit, started, clock, headers)
                    if route.body is not None:
                        reserve = permit.reserve_when_possible
                        exchange.body = await read_body(self.parts.settings, headers, receive, reserve)
                    async with cancelled_on_disconnect(receive):
                        return encode(await self.answer(exchange)), exchange.more_headers
        except TimeoutError as error:
            raise self.late("not judged within the time that the caller waits; try again", retry_after_s=1.0) from error

    def timeout_of(self, options: msgspec.Struct, usual_s: float) -> float:
        """How long this caller waits."""
        wished = getattr(options, "deadline_s", msgspec.UNSET)
        return min(usual_s if wished is msgspec.UNSET else float(wished), self.parts.settings.max_deadline_s)
