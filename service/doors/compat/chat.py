"""`POST /v1/chat/completions` and `GET /v1/models` give callers the judge models for prompts of their own.

A user that already calls a judge model (verl's generative rewards, ROLL's `judge_api_url`, a notebook) changes only a
URL, and gets the balancing, limits, retries and budgets of the pools. The request is passed on as it came, with the
endpoint's own model name and key. The answer comes back unchanged. Failures here are reported in OpenAI's form, with an
HTTP status after which those clients retry (429, 502, 503, 504).

`model` is the name of a pool, or one of the configuration's `proxy.models`. Replies to deterministic requests (no
stream, temperature 0, one choice) are cached. The header `x-rewardline-cache: off` asks for a new reply; `refresh` also
caches the new one. The answer has `x-rewardline-cache: hit`, `miss` or `off`, and `x-rewardline-endpoint`.
"""

import asyncio
import contextlib
import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from starlette.types import Receive, Scope, Send

from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.doors.routes.openapi_parts import JSON, Operation, Refusal, describe
from service.errors import BadRequest, MethodNotAllowed, NotFound, TooLarge, Unprocessable
from service.json_slices import excess
from service.limits.admission import Admission
from service.settings import Settings
from service.tenant import owned
from service.wire import encode
from verifiers.judge.endpoints import Relayed
from verifiers.judge.errors import EndpointFailure
from verifiers.judge.panel import Panel
from verifiers.judge.sharing import Use

CHAT: Final = "/v1/chat/completions"
MODELS: Final = "/v1/models"
_STATUS: Final[Mapping[str, int]] = {
    "rate_limited": 429,
    "overloaded": 429,
    "budget_exhausted": 429,
    "quota": 429,
    "no_healthy_endpoint": 503,
    "deadline": 504,
    "timeout": 504,
    "context_overflow": 400,
    "invalid_request": 400,
    "too_large": 413,
}
"""The HTTP status by kind of failure. All other kinds have 502."""


class _Kept(msgspec.Struct, array_like=True, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes
    endpoint: str


class ChatDoor:
    """Both routes of the proxy."""

    def __init__(self, settings: Settings, admission: Admission, panel: Panel | None) -> None:
        self._settings = settings
        self._admission = admission
        self._panel = panel

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        allowed = "GET" if path == MODELS else "POST"
        if method != allowed:
            raise MethodNotAllowed(f"{method} {path}; it takes {allowed}", allow=allowed)
        if self._panel is None:
            raise NotFound("no judge models are configured (setting judge_file)")
        if path == MODELS:
            await self._models(send, self._panel)
            return
        headers = scope["state"]["headers"]
        with self._admission.enter() as permit:
            body = await read_body(self._settings, headers, receive, permit.reserve)
            permit.add(items=1)
            wished = headers.get(b"x-rewardline-cache", b"").decode("latin-1").strip().lower()
            request = _decoded(body)
            pool = self._pool_of(self._panel, request.get("model"))
            try:
                async with cancelled_on_disconnect(receive):
                    if request.get("stream") is True:
                        await self._stream(self._panel, pool, request, send)
                    else:
                        await self._answer(self._panel, pool, request, wished, send)
            except EndpointFailure as error:
                await refuse(error, send)

    async def _models(self, send: Send, panel: Panel) -> None:
        names = sorted({*panel.config.text_pools, *panel.config.proxy.models})
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "rewardline"} for name in names]
        await send_json(send, 200, encode({"object": "list", "data": listed}), {})

    def _pool_of(self, panel: Panel, model: Any) -> str:
        proxy = panel.config.proxy
        if not isinstance(model, str):
            raise Unprocessable("model: expected the name of a pool or of one of proxy.models")
        pool = proxy.models.get(model, model)
        if pool in panel.config.text_pools:
            return pool
        if proxy.default_pool is None:
            known = sorted({*panel.config.text_pools, *proxy.models})
            raise NotFound(f"model: no {model[:100]!r}; there are {known}")
        return proxy.default_pool

    async def _answer(self, panel: Panel, pool: str, request: dict[str, Any], wished: str, send: Send) -> None:
        proxy = panel.config.proxy
        deadline = asyncio.get_running_loop().time() + proxy.deadline_s

        use = use_of(wished)
        if use == "off" or not proxy.cache or not _is_deterministic(request):
            reply = await panel.gateway.relay(pool, request, deadline=deadline)
            await _pass_on(send, _Kept(reply.status, dict(reply.headers), reply.body, reply.endpoint), "off")
            return

        async def compute() -> tuple[bytes, bool]:
            reply: Relayed = await panel.gateway.relay(pool, request, deadline=deadline)
            answer = _Kept(reply.status, dict(reply.headers), reply.body, reply.endpoint)
            return _encoder.encode(answer), reply.status == 200 and _is_whole(reply.body)

        key = _key(panel, pool, request)
        value, cached = await panel.shared.get(key, compute, use=use, deadline=deadline)
        try:
            answer = _decoder.decode(value)
        except msgspec.MsgspecError:  # the stored bytes are not a reply: a miss
            value, cached = await panel.shared.get(key, compute, use="refresh", deadline=deadline)
            answer = _decoder.decode(value)
        await _pass_on(send, answer, "hit" if cached else "miss")

    async def _stream(self, panel: Panel, pool: str, request: dict[str, Any], send: Send) -> None:
        deadline = asyncio.get_running_loop().time() + panel.config.proxy.deadline_s
        stream = await panel.gateway.relay_stream(pool, request, deadline=deadline)
        headers = {"x-rewardline-cache": "off", "x-rewardline-endpoint": stream.endpoint}
        await send(_start(stream.status, {**stream.headers, **headers}))
        async with contextlib.aclosing(stream.pieces) as pieces:
            try:
                async for piece in pieces:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            except EndpointFailure as error:
                # The status has been sent already: an event says that the answer is not complete.
                error_event = b"data: " + encode(_error_body(error)) + b"\n\n"
                await send({"type": "http.response.body", "body": error_event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _decoded(body: bytes) -> dict[str, Any]:
    if much := excess(body):
        raise TooLarge(f"the body holds {much}; send less at once")
    try:
        request = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"the body is not acceptable JSON: {error}") from error
    if not isinstance(request, dict):
        raise Unprocessable(f"expected an object, found {type(request).__name__}")
    if not isinstance(request.get("messages"), list) or not request["messages"]:
        raise Unprocessable("messages: expected a list of at least one")
    return request


def use_of(wished: str) -> Use:
    if wished in ("", "use"):
        return "use"
    if wished == "refresh":
        return "refresh"
    if wished == "off":
        return "off"
    raise Unprocessable(f"x-rewardline-cache: {wished[:40]!r}; there are use, refresh, off")


def _is_deterministic(request: Mapping[str, Any]) -> bool:
    return request.get("temperature") == 0 and request.get("n") in (None, 1) and not request.get("stream")


def _is_whole(body: bytes) -> bool:
    """Whether a reply is complete. Replies that were cut off or refused are not cached."""
    try:
        reply = msgspec.json.decode(body)
        choices = reply["choices"]
        return bool(choices) and all(
            choice.get("finish_reason") in ("stop", "tool_calls")
            and (choice["message"].get("content") or choice["message"].get("tool_calls"))
            for choice in choices
        )
    except (msgspec.MsgspecError, KeyError, TypeError, AttributeError):
        return False


def _key(panel: Panel, pool: str, request: Mapping[str, Any]) -> bytes:
    ingredients: list[Any] = [
        pool,
        panel.config.models_of(pool),
        {name: value for name, value in request.items() if name != "user"},
    ]
    if owner := owned(""):  # the prompt is the caller's, and so is what a model said to it
        ingredients.append(owner)
    return hashlib.sha256(b"chat" + msgspec.json.encode(ingredients, order="deterministic")).digest()


def _error_body(error: EndpointFailure) -> dict[str, Any]:
    return {"error": {"message": error.message, "type": "rewardline_upstream", "param": None, "code": error.kind}}


async def refuse(error: EndpointFailure, send: Send) -> None:
    headers = {}
    if error.retry_after_s is not None:
        headers["retry-after"] = str(max(1, round(error.retry_after_s)))
    await send_json(send, _STATUS.get(error.kind, 502), encode(_error_body(error)), headers)


def _start(status: int, headers: Mapping[str, str]) -> dict[str, Any]:
    merged = {"content-type": "application/json"} | {name.lower(): value for name, value in headers.items()}
    merged.pop("x-request-id", None)  # the gate sets our own
    encoded = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in merged.items()]
    return {"type": "http.response.start", "status": status, "headers": encoded}


async def _pass_on(send: Send, reply: _Kept, cache: str) -> None:
    more = {"x-rewardline-cache": cache, "x-rewardline-endpoint": reply.endpoint}
    await send_json(send, reply.status, reply.body, reply.headers | more)


async def send_json(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    start = _start(status, {**headers, "content-length": str(len(body))})
    await send(start)
    await send({"type": "http.response.body", "body": body})


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Kept)


_REQUEST: JSON = {
    "type": "object",
    "properties": {
        "model": {"type": "string", "description": "A pool, or a name of proxy.models"},
        "messages": {"type": "array", "minItems": 1, "items": {}},
        "stream": {"type": "boolean"},
    },
    "required": ["model", "messages"],
}
_NO_MODEL = "No such model, or no judge models are configured"
_OPERATIONS = (
    Operation(
        *("POST", CHAT, "judges", "chat_completions", "Ask a judge model"),
        "A caller's own prompt through a pool of judge models, in OpenAI's form, errors of endpoints included. Replies to "
        "deterministic requests are kept; see the header `x-rewardline-cache`.",
        {200: ("The endpoint's reply", {"application/json": {"type": "object"}, "text/event-stream": {}})},
        {"application/json": _REQUEST},
        {
            "model": "judges",
            "temperature": 0,
            "messages": [{"role": "user", "content": "Is 0.5 a half? yes or no"}],
        },
        refusals={
            400: "Not JSON, or nothing the endpoint can take",
            404: _NO_MODEL,
            422: "No messages, or no model",
            429: "Too much in flight here, or at the endpoints",
            502: "The endpoint failed",
            503: "Shutting down, or no endpoint is healthy",
            504: "No answer in time",
        },
    ),
    Operation(
        *("GET", MODELS, "judges", "list_models", "List the pools of judge models", ""),
        {200: ("As OpenAI lists models", {"application/json": {}})},
        refusals={404: _NO_MODEL},
    ),
)


def paths(refusal: Refusal) -> tuple[JSON, JSON]:
    """The paths, and the schemas that they refer to. `refusal` describes an answer in our own form."""
    return describe(_OPERATIONS, lambda about: _either(refusal(about)))


def _either(refusal: JSON) -> JSON:
    """A refusal of ours, or one of the endpoint."""
    return {**refusal, "content": {**refusal["content"], "application/json": {"schema": {"type": "object"}}}}
