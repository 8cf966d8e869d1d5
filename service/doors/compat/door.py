"""What every door for another system does with a request: method, options of the URL, bounds, time limit, hanging up, counting.

    read the URL ──► take the body in ──► wait for room ──► answer ──► 200
          │                 └───────────────┴───────────────┤
         422                 503 when the caller has waited long enough

Each door says what its routes take and give, and answers. Callers wait for room instead of being refused.
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
    """What a body may be instead."""

    body: Any
    """Its type."""
    example: Any
    answer: Any
    """The type of the answer to it."""


@dataclass(frozen=True, slots=True)
class Route:
    """A path of a door, and what the OpenAPI document says of it."""

    paths: Sequence[str]
    """The first is the one in the document."""
    name: str
    summary: str
    about: str
    answer: Any
    """The type of the answer."""
    body: Any = None
    """The type of the body; None: there is none."""
    example: Any = None
    options: type[msgspec.Struct] = NoOptions
    """Of the URL."""
    method: str = "POST"
    timeout_s: float = 25.0
    """How long a caller waits that does not say."""
    while_draining: bool = False
    """For what was let in already."""
    newer: Form | None = None
    """What newer clients send."""
    refusals: Mapping[int, str] = field(default_factory=dict)
    """Statuses that no other route answers with, and what each is about."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What doors are built from."""

    settings: Settings
    admission: Admission
    metrics: Metrics
    engine: Engine
    scorer: RetryingScorer
    boxes: Sandbox


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
    """Of the answer."""

    @property
    def deadline(self) -> float:
        """When the caller stops waiting, on the loop's clock."""
        when = self.clock.when()
        assert when is not None
        return when

    def wait_for(self, timeout_s: float) -> None:
        """The body has said how long the caller waits, counted from its arrival."""
        self.clock.reschedule(self.started + timeout_s)

    async def hold(self, items: int, most: int) -> None:
        """Wait until there is room to judge so many items, all at once: who held some and waited for more could wait for
        others who do the same.

        Raises:
            TooLarge: they are more than one request may have.
        """
        check_count(items, most)
        self.call.items = items
        await self.permit.add_when_possible(items=items)


class Door(ABC):
    """The routes of one client, as an ASGI application."""

    name: ClassVar[str]
    """In metrics."""
    routes: ClassVar[Sequence[Route]]
    late: ClassVar[type[RequestError]] = NotJudged
    """What a caller is told when its time is over."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._by_path = {path: route for route in self.routes for path in route.paths}

    @abstractmethod
    async def answer(self, exchange: Exchange[Any]) -> object:
        """What the client gets, with 200.

        Raises:
            RequestError: what it gets instead.
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
            raise self.late("not judged for as long as the caller waits", retry_after_s=1.0) from error

    def timeout_of(self, options: msgspec.Struct, usual_s: float) -> float:
        """How long this caller waits."""
        wished = getattr(options, "deadline_s", msgspec.UNSET)
        return min(usual_s if wished is msgspec.UNSET else float(wished), self.parts.settings.max_deadline_s)
