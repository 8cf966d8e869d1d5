"""The HTTP door: parse ► engine.score ► render.

`/v1/score` is a bare ASGI endpoint, because a batch goes from bytes to verdicts and back in one pass each; everything
else is FastAPI's. `_Gate` stands before all of it: request id, API key, errors as problem+json, metrics.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import structlog
from fastapi import FastAPI, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service import group_door, openapi
from service.access import Call, Keys, request_id
from service.admission import Admission
from service.background import door as jobs_door
from service.background.jobs import BackgroundJobs
from service.batches import Batch
from service.boxes import Boxes
from service.catalogue import describe
from service.compat import chat, run_code
from service.engine import Engine
from service.errors import (
    BodyTimeout,
    FieldError,
    MethodNotAllowed,
    NotFound,
    Problem,
    RequestError,
    ShuttingDown,
    TooLarge,
    Unprocessable,
)
from service.interactions import door as interactions_door
from service.interactions.desk import Interactions
from service.metrics import Metrics
from service.pages import DOCS_PAGE
from service.reception import Gone, body_of, read_rest, stopped_when_gone
from service.settings import Settings
from service.wire import (
    NDJSON,
    Summary,
    decode_request,
    encode,
    rendered,
    stream_line,
    summary_line,
)
from verifiers.judge.panel import Panel

log = structlog.get_logger("rewardline.http")

_SCORE_PATH = "/v1/score"
_OPEN_PATHS = frozenset({"/healthz", "/readyz", "/docs", "/openapi.json"})
"""They need no key: probes have none, and the contract is no secret."""
_READINESS: dict[int | str, dict[str, Any]] = {
    status: {"description": about, "content": {"application/json": {"schema": {"type": "object"}}}}
    for status, about in ((200, "Ready"), (503, "Not ready; says what cannot judge"))
}


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether new batches should be sent here; each problem or lack by the part that has it, with the reason."""

    problems: Mapping[str, str]
    """As long as there is one, none should."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """What cannot judge, while all else can."""


def build_app(
    settings: Settings,
    engine: Engine,
    admission: Admission,
    metrics: Metrics,
    boxes: Boxes,
    interactions: Interactions,
    jobs: BackgroundJobs,
    panel: Panel | None,
    readiness: Callable[[], Readiness],
) -> ASGIApp:
    """The HTTP application."""
    app = FastAPI(
        title="Rewardline",
        version=metrics.version,
        description="Verdicts for reinforcement learning with verifiable rewards. No judgement, no score.",
        docs_url=None,
        redoc_url=None,
    )

    @app.get("/v1/verifiers", tags=["verifiers"])
    async def list_verifiers() -> dict[str, Any]:
        """Every verifier: its name, version, what it decides."""
        return {"verifiers": [describe(entry) for entry in engine.registry.values()]}

    @app.get("/v1/verifiers/{name}", tags=["verifiers"])
    async def show_verifier(name: Annotated[str, Path(examples=["math"])]) -> dict[str, Any]:
        """One verifier with the JSON schema of its parameters and its examples."""
        entry = engine.registry.get(name)
        if entry is None:
            raise NotFound(f"no verifier {name[:100]!r}; there are {list(engine.registry)}")
        return describe(entry)

    @app.get("/v1/recipes", tags=["recipes"], response_model=dict[str, Any])
    async def list_recipes() -> Response:
        """Every recipe with its defaults filled in, the routes to them, and recipes whose verifier is not installed."""
        return Response(engine.book.as_json, media_type="application/json")

    @app.get("/v1/sandbox", tags=["sandbox"])
    async def show_sandbox() -> dict[str, Any]:
        """Where programs run: how isolated, what that cannot stop, in which languages."""
        return boxes.describe()

    @app.get("/v1/ping", tags=["sandbox"])
    async def ping() -> str:
        """What clients of SandboxFusion ask before they send programs."""
        return "pong"

    @app.get("/healthz", tags=["operation"])
    async def healthz() -> dict[str, str]:
        """The process is alive; stays so while it drains."""
        return {"status": "alive"}

    @app.get("/readyz", tags=["operation"], responses=_READINESS)
    async def readyz() -> Response:
        """Whether new batches should be sent here."""
        found = Readiness({"draining": "shutting down"}) if admission.draining else readiness()
        body: dict[str, Any] = {"status": "not ready" if found.problems else "ready"}
        body |= {name: told for name, told in asdict(found).items() if told}
        return Response(encode(body), 503 if found.problems else 200, media_type="application/json")

    @app.get("/metrics", tags=["operation"], response_class=PlainTextResponse)
    async def prometheus() -> Response:
        """Metrics in Prometheus' text format."""
        return Response(metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(DOCS_PAGE)

    _speak_problem_json(app)
    openapi.extend(app, _SCORE_PATH, _OPEN_PATHS)
    runner = run_code.RunCode(settings, admission, boxes, metrics.observe_run_code)
    bare: dict[str, ASGIApp] = {_SCORE_PATH: _Score(settings, engine, admission)}
    bare |= dict.fromkeys(run_code.PATHS, runner)
    bare[group_door.PATH] = group_door.GroupDoor(settings, admission)
    door = interactions_door.Door(settings, admission, interactions)
    bare |= dict.fromkeys((interactions_door.ALL, interactions_door.ONE, interactions_door.TURNS), door)
    bare |= dict.fromkeys((jobs_door.ALL, jobs_door.ONE), jobs_door.Door(settings, admission, jobs.store))
    bare |= dict.fromkeys((chat.CHAT, chat.MODELS), chat.ChatDoor(settings, admission, panel))
    return _Gate(app, bare, Keys(settings.key_digests()), metrics)


class _Score:
    """`POST /v1/score`."""

    def __init__(self, settings: Settings, engine: Engine, admission: Admission) -> None:
        self._settings = settings
        self._engine = engine
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise MethodNotAllowed(f"{scope['method']} {_SCORE_PATH}; it takes POST")
        headers = scope["state"]["headers"]
        loop = asyncio.get_running_loop()
        started = loop.time()
        with self._admission.enter() as permit:
            body = await body_of(self._settings, headers, receive, permit.reserve)
            request = await decode_request(body, self._settings.max_items_per_request)
            permit.add(items=len(request.items))
            scope["state"]["call"].items = len(request.items)
            batch = Batch(
                request.items,
                request.references,
                request.cache,
                request.explain,
                loop.time()
                + min(request.deadline_s or self._settings.default_deadline_s, self._settings.max_deadline_s),
            )
            del body
            async with stopped_when_gone(receive):
                if NDJSON in headers.get(b"accept", b"").decode("latin-1"):
                    await self._stream(batch, send)
                else:
                    await self._answer(batch, send)
        self._admission.observe_rate(len(batch.items), loop.time() - started)

    async def _answer(self, batch: Batch, send: Send) -> None:
        scored = await self._engine.score(batch)
        body = await rendered(scored.results, scored.summary)
        await _send(send, 200, body, b"application/json")

    async def _stream(self, batch: Batch, send: Send) -> None:
        started = False
        async for part in self._engine.stream(batch):
            if not started:
                await send(_start(200, NDJSON.encode()))
                started = True
            if isinstance(part, Summary):
                await send({"type": "http.response.body", "body": summary_line(part), "more_body": False})
            else:
                lines = b"".join(stream_line(index, result) for index, result in part)
                await send({"type": "http.response.body", "body": lines, "more_body": True})


def _start(status: int, media: bytes, *more: tuple[bytes, bytes]) -> Message:
    return {"type": "http.response.start", "status": status, "headers": [(b"content-type", media), *more]}


async def _send(send: Send, status: int, body: bytes, media: bytes, *more: tuple[bytes, bytes]) -> None:
    await send(_start(status, media, (b"content-length", str(len(body)).encode()), *more))
    await send({"type": "http.response.body", "body": body})


class _Gate:
    """Before every route: who calls, by what id, and what became of it."""

    def __init__(self, app: ASGIApp, bare: Mapping[str, ASGIApp], keys: Keys, metrics: Metrics) -> None:
        """`bare` are the routes that are not FastAPI's, by what `_route` calls them."""
        self._app = app
        self._bare = bare
        self._keys = keys
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        call = Call(
            "http", _route(scope["path"]), request_id(_text(headers, b"x-request-id"), _text(headers, b"traceparent"))
        )
        scope["state"] = {"call": call, "headers": headers}
        status = 0
        body_is_read = False

        async def receive_marked() -> Message:
            nonlocal body_is_read
            message = await receive()
            body_is_read = body_is_read or not message.get("more_body", False)
            return message

        async def send_marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", call.request_id.encode())]
            await send(message)

        code = "500"
        try:
            try:
                if scope["path"] not in _OPEN_PATHS:
                    call.key = self._keys.name_of(_text(headers, b"authorization"))
                target = self._bare.get(call.method, self._app)
                await target(scope, receive_marked, send_marked)
            except RequestError as error:
                if not body_is_read and not isinstance(error, BodyTimeout):
                    await read_rest(receive)
                await _refuse(send_marked, error, call.request_id)
            code = str(status)
        except (Gone, asyncio.CancelledError) as error:
            code = "499"
            if isinstance(error, asyncio.CancelledError):
                raise
        except Exception:
            log.exception("the HTTP door raised", request_id=call.request_id)
            if status:
                raise
            problem = Problem("urn:rewardline:error:internal", "Internal error", 500, request_id=call.request_id)
            await _send(send_marked, 500, encode(problem), b"application/problem+json")
        finally:
            call.finish(self._metrics, code)


def _text(headers: dict[bytes, bytes], name: bytes) -> str | None:
    value = headers.get(name)
    return None if value is None else value.decode("latin-1")


def _route(path: str) -> str:
    """The path as a metric label: only paths of ours, bounded."""
    if path.startswith("/v1/verifiers/"):
        return "/v1/verifiers/{name}"
    return path if path in _PATHS else interactions_door.route(path) or jobs_door.route(path) or "other"


_PATHS = frozenset(
    {
        *(_SCORE_PATH, *run_code.PATHS, "/v1/ping", "/v1/recipes", "/v1/sandbox", "/v1/verifiers", group_door.PATH),
        *(chat.CHAT, chat.MODELS),
        *("/healthz", "/readyz", "/metrics", "/docs", "/openapi.json"),
    }
)


async def _refuse(send: Send, error: RequestError, request_id: str) -> None:
    more: list[tuple[bytes, bytes]] = []
    if error.retry_after_s is not None:
        more.append((b"retry-after", str(max(1, round(error.retry_after_s))).encode()))
    if error.http_status == 401:
        more.append((b"www-authenticate", b"Bearer"))
    if isinstance(error, MethodNotAllowed):
        more.append((b"allow", error.allow.encode()))
    if isinstance(error, BodyTimeout | TooLarge | ShuttingDown):
        more.append((b"connection", b"close"))
    await _send(send, error.http_status, encode(error.problem(request_id)), b"application/problem+json", *more)


def _speak_problem_json(app: FastAPI) -> None:
    """FastAPI's own errors in the same form as ours."""

    def respond(request: Request, status: int, title: str, detail: str, errors: list[FieldError]) -> Response:
        slug = title.lower().replace(" ", "-")
        call: Call = request.scope["state"]["call"]
        problem = Problem(f"urn:rewardline:error:{slug}", title, status, detail, errors, call.request_id)
        return Response(encode(problem), status, media_type="application/problem+json")

    @app.exception_handler(Exception)
    async def on_bug(request: Request, error: Exception) -> Response:
        call: Call = request.scope["state"]["call"]
        log.error("a route raised", request_id=call.request_id, exc_info=error)
        return respond(request, 500, "Internal error", "the server's log has the traceback", [])

    @app.exception_handler(RequestError)
    async def on_request_error(request: Request, error: RequestError) -> Response:
        return respond(request, error.http_status, error.title, error.detail, error.errors)

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        response = respond(request, error.status_code, str(error.detail), "", [])
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(RequestValidationError)
    async def on_validation(request: Request, error: RequestValidationError) -> Response:
        fields = [FieldError(list(item["loc"]), item["msg"]) for item in error.errors()]
        return respond(request, 422, Unprocessable.title, "the request does not have the shape of the contract", fields)
