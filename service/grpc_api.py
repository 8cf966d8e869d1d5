"""The gRPC door: parse ► engine.score ► render, with the same engine, limits and verdicts as the HTTP door.

Messages are parsed here rather than by the gRPC library, so that bytes that are no protobuf are INVALID_ARGUMENT and
counted, and so that admission comes before parsing. grpc.aio cancels a call's coroutine when its deadline passes or
its caller goes; that is what stops the work.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import grpc
import msgspec
import structlog
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio  # type: ignore[attr-defined]  # missing in the stubs
from grpc_reflection.v1alpha import reflection

from service.access import Call, Keys, request_id
from service.admission import Admission
from service.batches import Batch
from service.catalogue import describe
from service.engine import Engine
from service.errors import BadRequest, FieldError, Overloaded, RequestError, Unprocessable
from service.metrics import Metrics
from service.pb import rewardline_pb2 as pb
from service.settings import Settings
from service.wire import ABSENT, CacheMode, Message, Result, ScoreItem, Summary, add_row, check_count, encode

log = structlog.get_logger("rewardline.grpc")

SERVICE = pb.DESCRIPTOR.services_by_name["Verifier"].full_name
STREAM_WINDOW_ITEMS = 1024
"""Unanswered items of one stream; beyond it the server reads no further, and the caller's writes wait."""
_SLICE_ITEMS = 256
_DEADLINE_MARGIN_S = 0.05
"""Taken off a call's deadline, so that the answer (some verdicts, the rest `failed`) arrives before it."""
_MIN_DEADLINE_S = 0.001

_CACHE_MODES: Mapping[int, CacheMode] = {
    pb.CACHE_MODE_UNSPECIFIED: "use",
    pb.CACHE_MODE_USE: "use",
    pb.CACHE_MODE_REFRESH: "refresh",
    pb.CACHE_MODE_OFF: "off",
}
_STATUSES = {"ok": pb.STATUS_OK, "invalid": pb.STATUS_INVALID, "failed": pb.STATUS_FAILED}

Context = grpc.aio.ServicerContext[bytes, bytes]


def build_server(
    settings: Settings, engine: Engine, admission: Admission, metrics: Metrics
) -> tuple[grpc.aio.Server, health_aio.HealthServicer]:
    """The server with its services, not yet bound; the health servicer starts as not serving."""
    limit = settings.max_body_bytes
    server = grpc.aio.server(
        options=[
            # With port sharing a second server would bind silently, and calls would vanish in the wrong one.
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", limit),
            ("grpc.max_send_message_length", limit),
            ("grpc.keepalive_time_ms", 60_000),
            ("grpc.keepalive_timeout_ms", 20_000),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_recv_ping_interval_without_data_ms", 30_000),
            # Callers reconnect now and then, and so find new replicas.
            ("grpc.max_connection_age_ms", 300_000),
            ("grpc.max_connection_age_grace_ms", int(settings.max_deadline_s * 1000)),
        ]
    )
    door = _Door(settings, engine, admission, metrics)
    handlers = {
        "Score": grpc.unary_unary_rpc_method_handler(door.score),
        "ScoreStream": grpc.stream_stream_rpc_method_handler(door.score_stream),
        "ListVerifiers": grpc.unary_unary_rpc_method_handler(door.list_verifiers),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    health = health_aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    health_name = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
    reflection.enable_server_reflection((SERVICE, health_name, reflection.SERVICE_NAME), server)
    return server, health


class _Door:
    """The methods of `rewardline.v1.Verifier`."""

    def __init__(self, settings: Settings, engine: Engine, admission: Admission, metrics: Metrics) -> None:
        self._settings = settings
        self._engine = engine
        self._admission = admission
        self._metrics = metrics
        self._keys = Keys(settings.key_digests())

    async def score(self, body: bytes, context: Context) -> bytes:
        async def work(call: Call) -> bytes:
            loop = asyncio.get_running_loop()
            started = loop.time()
            with self._admission.enter() as permit:
                permit.add(nbytes=len(body))
                request = _parse(pb.ScoreRequest, body)
                check_count(len(request.items), self._settings.max_items_per_request)
                permit.add(items=len(request.items))
                call.items = len(request.items)
                scored = await self._engine.score(
                    Batch(
                        await _items(request.items),
                        {name: _raw(text) for name, text in request.references_json.items()},
                        _cache_mode(request.cache),
                        request.explain,
                        loop.time() + self._deadline_s(context, request.deadline_s),
                    )
                )
                self._admission.observe_rate(call.items, loop.time() - started)
                return await _response(scored.results, scored.summary)

        return await self._serve("Score", context, work)

    async def score_stream(self, bodies: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
        """Each item is a batch of one to the engine, which fills workers' chunks across requests.

        A stream holds no permit, only its items do: an idle one does not keep the service from shutting down.
        """
        call = self._call("ScoreStream", context)
        answers: asyncio.Queue[bytes | RequestError | None] = asyncio.Queue()
        window = asyncio.Semaphore(STREAM_WINDOW_ITEMS)
        code = "CANCELLED"
        try:
            call.key = self._key_name(context)
            self._admission.check()
            reading = asyncio.create_task(self._read_stream(bodies, context, call, answers, window))
            try:
                while (answer := await answers.get()) is not None:
                    if isinstance(answer, RequestError):
                        raise answer
                    window.release()
                    yield answer
            finally:
                reading.cancel()
                await asyncio.wait([reading])
            code = "OK"
        except RequestError as error:
            code = error.grpc_code.name
            await _abort(context, error)
        finally:
            call.finish(self._metrics, code)

    async def _read_stream(
        self,
        bodies: AsyncIterator[bytes],
        context: Context,
        call: Call,
        answers: asyncio.Queue[bytes | RequestError | None],
        window: asyncio.Semaphore,
    ) -> None:
        """Read items while the window has room; the queue gets each answer, in the end None, or what went wrong.

        What goes wrong ends the reading, not the items under way: their answers come first.
        """
        trouble: RequestError | None = None
        async with asyncio.TaskGroup() as group:
            try:
                async for body in bodies:
                    await window.acquire()
                    self._admission.check()
                    message = _parse(pb.Item, body)
                    mode = _cache_mode(message.cache)
                    group.create_task(self._answer_one(call.items, message, mode, len(body), context, answers))
                    call.items += 1
            except RequestError as error:
                trouble = error
        answers.put_nowait(trouble)

    async def _answer_one(
        self,
        index: int,
        message: Any,
        mode: CacheMode,
        nbytes: int,
        context: Context,
        answers: asyncio.Queue[bytes | RequestError | None],
    ) -> None:
        loop = asyncio.get_running_loop()
        with self._admission.permit() as permit:
            await permit.add_when_possible(items=1, nbytes=nbytes)
            deadline = loop.time() + self._deadline_s(context, 0.0)
            scored = await self._engine.score(
                Batch([_item(message, _Raw(), index)], {}, mode, message.explain, deadline)
            )
        result = pb.Result()
        _fill(result, scored.results[0], index)
        if not message.id:
            result.id = str(index)
        answers.put_nowait(result.SerializeToString())

    async def list_verifiers(self, body: bytes, context: Context) -> bytes:
        async def work(call: Call) -> bytes:
            _parse(pb.ListVerifiersRequest, body)
            infos = []
            for entry in self._engine.registry.values():
                about = describe(entry)
                infos.append(
                    pb.VerifierInfo(
                        name=about["name"],
                        version=about["version"],
                        summary=about["summary"],
                        params_schema_json=_json(about["params_schema"]),
                        examples_json=_json(about["examples"]),
                        deterministic=about["deterministic"],
                    )
                )
            return pb.ListVerifiersResponse(verifiers=infos).SerializeToString()

        return await self._serve("ListVerifiers", context, work)

    async def _serve(self, method: str, context: Context, work: Callable[[Call], Awaitable[bytes]]) -> bytes:
        """What every unary method shares: key, id, log, metrics, and errors as status codes."""
        call = self._call(method, context)
        code = "CANCELLED"
        try:
            call.key = self._key_name(context)
            answer = await work(call)
            code = "OK"
            return answer
        except RequestError as error:
            code = error.grpc_code.name
            await _abort(context, error)
        except Exception:
            code = "INTERNAL"
            log.exception("the gRPC door raised", request_id=call.request_id)
            await context.abort(grpc.StatusCode.INTERNAL, "internal error; the server's log has the traceback")
        finally:
            call.finish(self._metrics, code)
        raise AssertionError("abort raises")

    def _call(self, method: str, context: Context) -> Call:
        metadata = _metadata(context)
        return Call("grpc", method, request_id(metadata.get("x-request-id"), metadata.get("traceparent")))

    def _key_name(self, context: Context) -> str:
        return self._keys.name_of(_metadata(context).get("authorization"))

    def _deadline_s(self, context: Context, wanted_s: float) -> float:
        """Seconds from now; the call's own deadline, the request's and ours, whichever is first."""
        if wanted_s < 0 or wanted_s - wanted_s != 0:
            raise Unprocessable(
                "deadline_s must be a positive number", errors=[FieldError(["deadline_s"], "must be positive")]
            )
        deadline_s = min(wanted_s or self._settings.default_deadline_s, self._settings.max_deadline_s)
        remaining_s = context.time_remaining()
        if remaining_s is None:
            return deadline_s
        margin_s = min(_DEADLINE_MARGIN_S, remaining_s * 0.1)
        return max(_MIN_DEADLINE_S, min(deadline_s, remaining_s - margin_s))


def _parse(kind: type[Any], body: bytes) -> Any:
    try:
        return kind.FromString(body)
    except DecodeError as error:
        raise BadRequest(f"not a {kind.DESCRIPTOR.full_name}: {error}") from error


async def _items(messages: Any) -> list[ScoreItem]:
    items: list[ScoreItem] = []
    raw = _Raw()
    for start in range(0, len(messages), _SLICE_ITEMS):
        part = messages[start : start + _SLICE_ITEMS]
        items.extend(_item(message, raw, start + at) for at, message in enumerate(part))
        await asyncio.sleep(0)
    return items


class _Raw(dict[str, msgspec.Raw]):
    """JSON texts as raw bytes; those of one request repeat themselves."""

    def __missing__(self, text: str) -> msgspec.Raw:
        self[text] = raw = _raw(text)
        return raw


def _item(message: Any, raw: _Raw, index: int) -> ScoreItem:
    prompt = message.WhichOneof("prompt_kind")
    item = ScoreItem(
        _messages(message.response_messages) if message.HasField("response_messages") else message.response,
        message.verifier or None,
        raw[message.reference_json],
        message.reference_id or None,
        raw[message.params_json],
        None if prompt is None else message.prompt if prompt == "prompt" else _messages(message.prompt_messages),
        message.id or None,
        raw[message.metadata_json],
        message.recipe or None,
        message.domain or None,
        message.data_source or None,
        message.tag or None,
    )
    if message.row_json:
        add_row(item, message.row_json.encode(), index)
    if message.checks_json:
        item.checks = raw[message.checks_json]
    return item


def _messages(messages: Any) -> list[Message]:
    return [Message(message.role, message.content) for message in messages.messages]


def _raw(text: str) -> msgspec.Raw:
    return msgspec.Raw(text.encode()) if text else ABSENT


def _cache_mode(number: int) -> CacheMode:
    mode = _CACHE_MODES.get(number)
    if mode is None:
        raise Unprocessable(
            f"cache mode {number} is unknown", errors=[FieldError(["cache"], f"there are {sorted(_CACHE_MODES)}")]
        )
    return mode


async def _response(results: list[Result], summary: Summary) -> bytes:
    response = pb.ScoreResponse(summary=pb.Summary(**msgspec.structs.asdict(summary)))
    add = response.results.add
    for index, result in enumerate(results):
        _fill(add(), result, index)
        if index % _SLICE_ITEMS == _SLICE_ITEMS - 1:
            await asyncio.sleep(0)
    return bytes(response.SerializeToString())


def _fill(message: Any, result: Result, index: int) -> None:
    """Set the fields of a `Result` message in place: the quickest way there is."""
    message.id = str(result.id)
    message.status = _STATUSES[result.status]
    if result.score is not None:
        message.score = result.score
    if result.reward is not None:
        message.reward = result.reward
    message.reason = result.reason
    if result.verifier is not None:
        message.verifier = result.verifier
    if result.version is not None:
        message.version = result.version
    if result.extracted is not None:
        message.extracted = result.extracted
    message.detail_json = _json(result.detail) if result.detail else "{}"
    message.cached = result.cached
    message.elapsed_ms = result.elapsed_ms
    message.index = index
    if result.checks is not None:
        message.checks_json = _json(result.checks)
    if result.recipe is not None:
        message.recipe = result.recipe


def _json(value: object) -> str:
    return encode(value).decode()


def _metadata(context: Context) -> dict[str, str]:
    pairs = context.invocation_metadata() or ()
    return {key: value for key, value in pairs if isinstance(value, str)}


async def _abort(context: Context, error: RequestError) -> None:
    """End the call with the error's code; its details are the same problem+json as HTTP's, in trailing metadata."""
    trailers: list[tuple[str, str | bytes]] = [("problem-bin", encode(error.problem()))]
    if error.retry_after_s is not None:
        trailers.append(("retry-after", f"{error.retry_after_s:.1f}"))
        if isinstance(error, Overloaded):
            trailers.append(("grpc-status-details-bin", _retry_info(error)))
    await context.abort(error.grpc_code, error.detail, tuple(trailers))


def _retry_info(error: Overloaded) -> bytes:
    """google.rpc.Status with RetryInfo: what generic gRPC clients read."""
    delay = Duration()
    delay.FromMilliseconds(int((error.retry_after_s or 1.0) * 1000))
    detail = AnyMessage()
    detail.Pack(RetryInfo(retry_delay=delay))
    status = Status(code=error.grpc_code.value[0], message=error.detail, details=[detail])
    return bytes(status.SerializeToString())
