"""The steps before and after every HTTP route: request id, API key, errors as problem+json, log line, metrics."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memory import remember
from service.doors.asgi import asgi_response
from service.doors.asgi.request_body import Disconnected, drain_body
from service.doors.http import console
from service.doors.http.connection import CERTIFICATE, CONNECTION
from service.doors.http.page_guard import PageGuard, check_single, refuse_websocket
from service.errors import BodyTimeout, MethodNotAllowed, Overloaded, Problem, RequestError, ShuttingDown, TooLarge
from service.limits.admission import Admission
from service.limits.budgets import Measure
from service.limits.keys import Keys
from service.limits.keys import Scope as KeyScope
from service.observe.access_log import Call, request_id
from service.observe.metrics import Metrics
from service.usage.ledger import Ledger
from service.wire import encode
from tracing.lines import Log

log = Log("rewardline.http")

OPEN_PATHS: Final = frozenset({"/healthz", "/readyz", "/openapi.json", console.REFERENCE_PATH, console.PATH})
"""Paths that need no key: probes have none, and the contract and the pages are not secret."""
_LAST_WORDS_S: Final = 1.0
"""The time for reading the rest of a body while the service ends. It is less than the time until connections are
cut."""
_CLOSE: Final = (b"connection", b"close")
_VERBS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_ANY_KEY: Final = ("/v1/sandbox", "/v1/ping", "/v1/verifiers", "/v1/recipes", "/v1/usage")
_ASK_LATER_S: Final = 3600.0
"""`Retry-After` where a budget does not end by itself: somebody may raise it."""
_ADMIN: Final = ("/metrics", "/v1/audits", "/v1/series", "/v1/judges", "/v1/log")
_SANDBOX: Final = (
    "/run_code", "/run_jupyter", "/submit", "/compat/sandboxfusion", "/compat/open_instruct", "/compat/open_r1",
    "/compat/kimina", "/api/check", "/v1/boxes",
)  # fmt: skip
"""The paths, with all paths below them, that run the caller's own programs."""


class Gate:
    """Wraps every route: it finds the caller and the request id, and logs and counts the result."""

    def __init__(
        self,
        app: ASGIApp,
        bare: Mapping[str, ASGIApp],
        route: Callable[[str], str],
        keys: Keys,
        admission: Admission,
        metrics: Metrics,
        usage: Ledger,
        guard: PageGuard,
    ) -> None:
        """`route` gives the name of a path in logs and metrics. `bare` holds the routes that do not belong to the app,
        by that name.
        """
        self._admission = admission
        self._app = app
        self._bare = bare
        self._guard = guard
        self._keys = keys
        self._metrics = metrics
        self._route = route
        self._usage = usage

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._connect(scope, receive, send)
            return
        headers = dict(scope["headers"])
        verb = scope["method"] if scope["method"] in _VERBS else "HTTP"
        call = Call(
            "http",
            self._route(scope["path"]),
            request_id(_text(headers, b"x-request-id"), _text(headers, b"traceparent")),
            verb,
        )
        scope["state"] = {"call": call, "headers": headers}
        status = 0
        body_is_read = False
        may_send_body = b"expect" not in headers

        async def receive_marked() -> Message:
            nonlocal body_is_read, may_send_body
            may_send_body = True  # uvicorn sends 100 Continue now
            message = await receive()
            body_is_read = body_is_read or not message.get("more_body", False)
            return message

        async def send_marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", call.request_id.encode())]
                if self._admission.leaving and _CLOSE not in message["headers"]:
                    message["headers"].append(_CLOSE)  # the next one reaches another replica
            await send(message)

        code = "500"
        try:
            try:
                call.trace(f"{verb} {call.method}", _text(headers, b"traceparent"), _text(headers, b"tracestate"))
                self._check_page(scope, headers)
                connected: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
                if scope["path"] not in OPEN_PATHS and not _is_below(scope["path"], console.ALL_FILES):
                    acts_as = _text(headers, b"x-tenant")
                    needed, certificate = _scope_of(scope["path"]), scope.get("extensions", {}).get(CERTIFICATE, {})
                    await call.admit(self._keys, _authorization(headers), needed, acts_as, certificate.get("name"))
                    call.is_of_run(_text(headers, b"x-run-id"), "x-run-id")
                    call.asks(_text(headers, b"x-receipt"), _text(headers, b"x-pin"))
                    if needed is KeyScope.SANDBOX:
                        self._check_budget()
                    connected = self._admission.calls.connected()
                target = self._bare.get(call.method, self._app)
                with self._admission.calls.track(), connected:
                    await target(scope, receive_marked, send_marked)
                    await self._sent(scope)
            except RequestError as error:
                if not status:  # else the answer breaks off, which the caller can see
                    if may_send_body and not body_is_read and not isinstance(error, BodyTimeout):
                        await self._read_rest(receive)
                    await _refuse(send_marked, error, call.request_id, closes=not may_send_body)
            code = str(status)
        except (Disconnected, asyncio.CancelledError) as error:
            code = "499"
            if isinstance(error, asyncio.CancelledError):
                raise
        except Exception:
            log.exception("the HTTP door raised", request_id=call.request_id)
            if status:
                raise
            problem = Problem("urn:rewardline:error:internal", "Internal error", 500, request_id=call.request_id)
            await asgi_response.respond(send_marked, 500, encode(problem), media=asgi_response.PROBLEM)
        finally:
            call.finish(self._metrics, code)

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a websocket on, unless a page of others wants it. Its route finds the caller."""
        route = self._route(scope.get("path", ""))
        try:
            if scope["type"] == "websocket":
                self._check_page(scope, dict(scope["headers"]))
        except RequestError as error:
            call = Call("http", route, request_id(None, None))
            await receive()  # the wish for the websocket
            await refuse_websocket(error, scope, send)
            call.finish(self._metrics, str(error.http_status))
            return
        await self._bare.get(route, self._app)(scope, receive, send)

    def _check_page(self, scope: Scope, headers: Mapping[bytes, bytes]) -> None:
        """Check that no page of others makes the request, where no key tells whose it is.

        Raises:
            BadRequest, Forbidden, UnsupportedMedia
        """
        if len(headers) < len(scope["headers"]):
            check_single(scope["headers"])
        if self._keys.is_open:
            self._guard.check_host(headers)
        elif _has_key(headers):
            return
        self._guard.check_origin(scope, headers)

    async def _sent(self, scope: Scope) -> None:
        """Count what the caller has not read of its answer, until it has."""
        connected = scope.get("extensions", {}).get(CONNECTION)
        if connected is not None and (unsent := connected["connection"].unsent):
            with self._admission.unsent(unsent):
                await connected["connection"].sent()

    def _check_budget(self) -> None:
        """Check that the caller may run programs.

        Raises:
            Overloaded: its budget is used up.
        """
        refusal = self._usage.refusal((Measure.CPU_S,))
        if refusal is not None:
            raise Overloaded(refusal.message, retry_after_s=refusal.retry_after_s or _ASK_LATER_S)

    async def _read_rest(self, receive: Receive) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_S if self._admission.calls.is_over else None):
                await drain_body(receive)


@remember(64)
def _scope_of(path: str) -> KeyScope | None:
    """The scope that a key needs for a path. None: any key will do."""
    if _is_below(path, _ANY_KEY):
        return None
    if _is_below(path, _ADMIN):
        return KeyScope.ADMIN
    return KeyScope.SANDBOX if _is_below(path, _SANDBOX) else KeyScope.SCORE


def _is_below(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(f"{root}/") for root in roots)


def _has_key(headers: Mapping[bytes, bytes]) -> bool:
    """Whether the caller itself sent a key. Names with passwords, and certificates, are sent by browsers on their own."""
    return b"xrl-authorization" in headers or headers.get(b"authorization", b"")[:7].lower() == b"bearer "


def _text(headers: dict[bytes, bytes], name: bytes) -> str | None:
    value = headers.get(name)
    return None if value is None else value.decode("latin-1")


def _authorization(headers: dict[bytes, bytes]) -> str | None:
    """The API key header, under its usual name or under the name that ROLL's remote reward system uses."""
    return _text(headers, b"authorization") or _text(headers, b"xrl-authorization")


async def _refuse(send: Send, error: RequestError, request_id: str, *, closes: bool) -> None:
    headers: list[tuple[bytes, bytes]] = []
    if error.retry_after_s is not None:
        headers.append((b"retry-after", str(max(1, round(error.retry_after_s))).encode()))
    if error.http_status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if isinstance(error, MethodNotAllowed):
        headers.append((b"allow", error.allow.encode()))
    if closes or isinstance(error, BodyTimeout | TooLarge | ShuttingDown):
        headers.append(_CLOSE)
    await asgi_response.respond(
        send, error.http_status, encode(error.problem(request_id)), *headers, media=asgi_response.PROBLEM
    )
