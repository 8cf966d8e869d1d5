"""The gRPC door: parse ► engine.score ► render, with the same engine, limits and verdicts as the HTTP door.

Messages are parsed here and not by the gRPC library. So bytes that are not protobuf give INVALID_ARGUMENT and are
counted, and admission comes before parsing. grpc.aio cancels the coroutine of a call when its deadline passes or its
caller goes. That stops the work.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from grpc_reflection.v1alpha import reflection
from msgspec import Raw
from rewardline.pb import rewardline_pb2 as pb

from service.asked import PIN_HEADER, RECEIPT_HEADER
from service.cancellation import cancel
from service.doors.grpc.ending import end_call, without_frames
from service.doors.grpc.health import NAME as HEALTH_SERVICE
from service.doors.grpc.health import Health
from service.doors.grpc.messages import (
    Raws,
    batch_of,
    cache_mode_of,
    check_fields,
    fill,
    item_of,
    items_of,
    parse,
    raw_of,
    response_of,
    text_of,
)
from service.doors.routes.groups import AnyGroup, AnyOptions, answered, asked, decode, decode_rubrics, size
from service.doors.verifier_info import describe
from service.errors import FieldError, Overloaded, RequestError, Unprocessable
from service.groups.scoring import GroupScorer
from service.groups.singles import Singles
from service.json_slices import SLICE_BYTES
from service.limits import certificates
from service.limits.admission import Admission, announced
from service.limits.keys import Keys, Scope
from service.observe.access_log import Call, request_id
from service.observe.metrics import Metrics
from service.observe.readiness import Readiness
from service.scoring.engine import Engine
from service.settings import Settings
from service.wire import (
    LARGE_BYTES,
    WHOLE_BYTES,
    BatchRequest,
    CacheMode,
    ScoreItem,
    check_count,
    encode,
    free,
    wide_bytes,
)
from tracing import spans
from tracing.lines import Log

log = Log("rewardline.grpc")

SERVICE = pb.DESCRIPTOR.services_by_name["Verifier"].full_name
_Decode = Callable[[bytes, Sequence[Raw], int], Awaitable[tuple[AnyOptions, Sequence[AnyGroup]]]]
STREAM_WINDOW_ITEMS = 1024
"""Unanswered items of one stream. Beyond this the server reads no further, and the caller's writes wait."""
_TRACED_ITEMS = 100
"""Items of one stream that are traced. A stream may last for hours, and would be one trace."""
_DEADLINE_MARGIN_S = 0.05
"""Seconds that are taken off the deadline of a call, so that the answer (some verdicts, the rest `failed`) arrives in
time."""
_MIN_DEADLINE_S = 0.001
_READ_REST_S, _QUIET_S = 10.0, 0.5
_MESSAGE_BYTES = WHOLE_BYTES
"""gRPC makes a message of its pieces in one step of the event loop: 5 ms for 4 MB, and 80 ms for 60 MB."""
_BUG = "internal error; the server's log has the traceback"

Context = grpc.aio.ServicerContext[bytes, bytes]
Metadata = Mapping[str, str]


def build_server(
    settings: Settings,
    keys: Keys,
    engine: Engine,
    scorer: GroupScorer,
    singles: Singles,
    admission: Admission,
    metrics: Metrics,
    readiness: Callable[[], Readiness],
) -> tuple[grpc.aio.Server, Health]:
    """Build the server with its services. It is not bound yet."""
    server = grpc.aio.server(
        options=[
            # With port sharing a second server would bind silently, and calls would reach the wrong one.
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", min(settings.max_body_bytes, _MESSAGE_BYTES)),
            ("grpc.max_send_message_length", settings.max_body_bytes),
            ("grpc.max_concurrent_streams", settings.grpc_calls_per_connection),
            ("grpc.keepalive_time_ms", 60_000),
            ("grpc.keepalive_timeout_ms", 20_000),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_recv_ping_interval_without_data_ms", 30_000),
            # Callers must reconnect now and then, so that they find new replicas.
            ("grpc.max_connection_age_ms", 300_000),
            ("grpc.max_connection_age_grace_ms", int(settings.max_deadline_s * 1000)),
        ]
    )
    door = Door(settings, keys, engine, scorer, singles, admission, metrics)
    handlers = {
        "Score": grpc.unary_unary_rpc_method_handler(door.score),
        "ScoreStream": grpc.stream_stream_rpc_method_handler(door.score_stream),
        "ScoreGroups": grpc.unary_unary_rpc_method_handler(door.score_groups),
        "EvolveRubrics": grpc.unary_unary_rpc_method_handler(door.evolve_rubrics),
        "ListVerifiers": grpc.unary_unary_rpc_method_handler(door.list_verifiers),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    health = Health(readiness, (SERVICE,), _asked)
    server.add_generic_rpc_handlers((health.handlers,))
    reflection.enable_server_reflection((SERVICE, HEALTH_SERVICE, reflection.SERVICE_NAME), server)
    return server, health


async def _asked(kind: type[Any], body: bytes, context: Any) -> Any:
    """Parse the message of a call, for services other than ours. None if the call was refused."""
    try:
        return parse(kind, body)
    except RequestError as error:
        await _refuse(context, error)
        return None


class Door:
    """The methods of `rewardline.v1.Verifier`."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        engine: Engine,
        scorer: GroupScorer,
        singles: Singles,
        admission: Admission,
        metrics: Metrics,
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._scorer = scorer
        self._singles = singles
        self._admission = admission
        self._metrics = metrics
        self._keys = keys

    async def score(self, body: bytes, context: Context) -> bytes:
        async def work(call: Call, metadata: Metadata) -> bytes:
            loop = asyncio.get_running_loop()
            started = loop.time()
            with self._admission.enter() as permit:
                limit = self._settings.max_items_per_request
                self._admission.check_room(announced(metadata.get("x-item-count"), limit))
                permit.add(nbytes=len(body))
                request = await batch_of(body, limit)
                check_count(len(request.items), limit)
                permit.add(items=len(request.items))
                call.items = len(request.items)
                call.is_of_run(request.run_id or None, "run_id")
                items = await items_of(request.items, len(body))
                permit.hold(sum(map(wide_bytes, items)) if len(body) > SLICE_BYTES else 0)
                batch = BatchRequest(
                    items,
                    {name: raw_of(text) for name, text in request.references_json.items()},
                    cache_mode_of(request.cache),
                    request.explain,
                    self._deadline(context, request.deadline_s),
                    nbytes=len(body),
                )
                del request  # its items are there twice
                scored = await self._singles.score(batch)
                self._admission.observe_rate(call.items, loop.time() - started)
                if len(body) > LARGE_BYTES:
                    await free(items)
                return await response_of(scored.results, scored.summary)

        return await self._serve("Score", context, work)

    async def score_stream(self, bodies: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
        """Score a stream of items. To the engine each item is a batch of one; the engine fills chunks for workers
        across requests.

        A stream holds no permit, only its items do. So an idle stream does not keep the service from shutting down.
        """
        metadata = _metadata(context)
        async with self._serving("ScoreStream", metadata, context) as call:
            await self._let_in(call, metadata, bodies, context)
            async with contextlib.aclosing(self._stream(call, bodies, context)) as answers:
                async for answer in answers:
                    yield answer

    async def _let_in(self, call: Call, metadata: Metadata, bodies: AsyncIterator[bytes], context: Context) -> None:
        try:
            await self._admit(call, metadata, context)
            self._admission.check()
        except RequestError:
            await _read_rest(bodies)
            raise

    async def _stream(self, call: Call, bodies: AsyncIterator[bytes], context: Context) -> AsyncGenerator[bytes]:
        """Yield answers as they come. An error of the stream comes after them."""
        answers: asyncio.Queue[bytes | None] = asyncio.Queue()
        window = asyncio.Semaphore(STREAM_WINDOW_ITEMS)
        reading = asyncio.create_task(self._read_stream(bodies, context, call, answers, window))
        reading.add_done_callback(lambda _: answers.put_nowait(None))
        try:
            while (answer := await answers.get()) is not None:
                window.release()
                yield answer
            if (trouble := await reading) is not None:
                raise trouble
        finally:
            await cancel(reading)
            # The traceback of the error has this frame, and the task has the error: cycles that would hold the message.
            del reading
            trouble = None

    async def _read_stream(
        self,
        bodies: AsyncIterator[bytes],
        context: Context,
        call: Call,
        answers: asyncio.Queue[bytes | None],
        window: asyncio.Semaphore,
    ) -> RequestError | None:
        """Read items while the window has room, and put each answer into the queue. Returns the error that ended the
        reading, if any.

        An error ends the reading but not the items under way: their answers come first.
        """
        trouble: RequestError | None = None
        async with asyncio.TaskGroup() as group:
            try:
                async for body in bodies:
                    await window.acquire()
                    self._admission.check()
                    await check_fields(pb.Item, body)
                    message = parse(pb.Item, body)
                    item, mode = item_of(message, Raws(), call.items), cache_mode_of(message.cache)
                    stream_item = _One(call.items, item, mode, message.explain, len(body))
                    group.create_task(self._answer_one(stream_item, context, answers))
                    call.items += 1
            except RequestError as error:
                trouble = without_frames(error)  # this frame and its message are among them
                group.create_task(_read_rest(bodies))
        return trouble

    async def _answer_one(self, stream_item: "_One", context: Context, answers: asyncio.Queue[bytes | None]) -> None:
        if stream_item.index >= _TRACED_ITEMS:
            spans.leave()
        with self._admission.permit() as permit:
            await permit.add_when_possible(items=1, nbytes=stream_item.nbytes)
            with spans.span("item"):
                batch = BatchRequest(
                    [stream_item.item],
                    {},
                    stream_item.cache,
                    stream_item.explain,
                    self._deadline(context),
                    nbytes=stream_item.nbytes,
                )
                scored = await self._singles.score(batch)
        result = pb.Result()
        fill(result, scored.results[0], stream_item.index)
        if stream_item.item.id is None:
            result.id = str(stream_item.index)
        answers.put_nowait(result.SerializeToString())

    async def score_groups(self, body: bytes, context: Context) -> bytes:
        return await self._groups("ScoreGroups", decode, body, context)

    async def evolve_rubrics(self, body: bytes, context: Context) -> bytes:
        return await self._groups("EvolveRubrics", decode_rubrics, body, context)

    async def _groups(self, method: str, decoded: _Decode, body: bytes, context: Context) -> bytes:
        async def work(call: Call, metadata: Metadata) -> bytes:
            with self._admission.enter() as permit:
                permit.add(nbytes=2 * len(body))  # the texts of the message, and the groups made of them
                await check_fields(pb.ScoreGroupsRequest, body)
                message = parse(pb.ScoreGroupsRequest, body)
                raws = [raw_of(text) for text in message.groups_json]
                options, groups = await decoded(
                    message.options_json.encode(), raws, self._settings.max_items_per_request
                )
                del message, raws
                call.items = sum(map(size, groups))
                permit.add(items=asked(options, call.items))
                call.is_of_run(options.run_id, "run_id")
                deadline = self._deadline(context, options.deadline_s or 0.0)
                answer = await answered(self._scorer, options, groups, deadline)
                reply = pb.ScoreGroupsResponse(summary_json=text_of(answer.summary))
                for group in answer.groups:
                    reply.groups_json.append(text_of(group))
                    await asyncio.sleep(0)
                return bytes(reply.SerializeToString())

        return await self._serve(method, context, work)

    async def list_verifiers(self, body: bytes, context: Context) -> bytes:
        async def work(call: Call, metadata: Metadata) -> bytes:
            parse(pb.ListVerifiersRequest, body)
            infos = []
            for entry in self._engine.registry.values():
                about = describe(entry)
                infos.append(
                    pb.VerifierInfo(
                        name=about["name"],
                        version=about["version"],
                        summary=about["summary"],
                        params_schema_json=text_of(about["params_schema"]),
                        examples_json=text_of(about["examples"]),
                        deterministic=about["deterministic"],
                    )
                )
            return pb.ListVerifiersResponse(verifiers=infos).SerializeToString()

        return await self._serve("ListVerifiers", context, work)

    async def _serve(self, method: str, context: Context, work: Callable[[Call, Metadata], Awaitable[bytes]]) -> bytes:
        metadata = _metadata(context)
        async with self._serving(method, metadata, context) as call:
            await self._admit(call, metadata, context)
            return await work(call, metadata)
        return b""  # it was refused, and its status is sent

    @contextlib.asynccontextmanager
    async def _serving(self, method: str, metadata: Metadata, context: Context) -> AsyncIterator[Call]:
        """The steps that all methods share: id, log, metrics, and errors as status codes. Errors end here."""
        call = Call("grpc", method, request_id(metadata.get("x-request-id"), metadata.get("traceparent")))
        call.trace(f"{SERVICE}/{method}", metadata.get("traceparent"), metadata.get("tracestate"))
        code = "CANCELLED"
        try:
            with self._admission.calls.track():
                yield call
            code = "OK"
        except RequestError as error:
            code = error.grpc_code.name
            await _refuse(context, error)
        except Exception:
            code = "INTERNAL"
            log.exception("the gRPC door raised", request_id=call.request_id)
            await end_call(context, grpc.StatusCode.INTERNAL, _BUG)
        finally:
            call.finish(self._metrics, code)

    async def _admit(self, call: Call, metadata: Metadata, context: Context) -> None:
        certificate = certificates.of_grpc(context.auth_context())
        authorization, acts_as = metadata.get("authorization"), metadata.get("x-tenant")
        await call.admit(self._keys, authorization, Scope.SCORE, acts_as, certificate)
        call.is_of_run(metadata.get("x-run-id"), "x-run-id")
        call.asks(metadata.get(RECEIPT_HEADER), metadata.get(PIN_HEADER))

    def _deadline(self, context: Context, wanted_s: float = 0.0) -> float:
        """The deadline on the loop's clock: the earliest of the call's own, the request's and ours."""
        if wanted_s < 0 or wanted_s - wanted_s != 0:
            raise Unprocessable(
                "deadline_s must be a positive number", errors=[FieldError(["deadline_s"], "must be positive")]
            )
        deadline_s = min(wanted_s or self._settings.default_deadline_s, self._settings.max_deadline_s)
        remaining_s = context.time_remaining()
        if remaining_s is not None:
            margin_s = min(_DEADLINE_MARGIN_S, remaining_s * 0.1)
            deadline_s = max(_MIN_DEADLINE_S, min(deadline_s, remaining_s - margin_s))
        return asyncio.get_running_loop().time() + deadline_s


@dataclass(frozen=True, slots=True)
class _One:
    """An item of a stream."""

    index: int
    item: ScoreItem
    cache: CacheMode
    explain: bool
    nbytes: int


def _metadata(context: Context) -> Metadata:
    pairs = context.invocation_metadata() or ()
    metadata = {key: value for key, value in pairs if isinstance(value, str)}
    if len(metadata) < len(pairs):  # as in HTTP, values of one name are one list
        counts = [value for key, value in pairs if key == "x-item-count" and isinstance(value, str)]
        if len(counts) > 1:
            metadata["x-item-count"] = ", ".join(counts)
    return metadata


async def _refuse(context: Context, error: RequestError) -> None:
    """End the call with the code of the error. Trailing metadata holds the same problem+json as over HTTP."""
    trailers: list[tuple[str, str | bytes]] = [("problem-bin", encode(error.problem()))]
    if error.retry_after_s is not None:
        trailers.append(("retry-after", f"{error.retry_after_s:.1f}"))
        if isinstance(error, Overloaded):
            trailers.append(("grpc-status-details-bin", _retry_info(error)))
    await end_call(context, error.grpc_code, error.detail, tuple(trailers))


async def _read_rest(bodies: AsyncIterator[bytes]) -> None:
    """Read the rest of a refused stream, within limits, until its caller has sent everything or is quiet.

    If a call ends while its asyncio caller writes, gRPC's own library reports INTERNAL instead of our error.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READ_REST_S) as clock:
            until = asyncio.get_running_loop().time() + _READ_REST_S
            clock.reschedule(until - _READ_REST_S + _QUIET_S)
            async for _ in bodies:
                clock.reschedule(min(until, asyncio.get_running_loop().time() + _QUIET_S))


def _retry_info(error: Overloaded) -> bytes:
    """A google.rpc.Status with RetryInfo, which generic gRPC clients read."""
    delay = Duration()
    delay.FromMilliseconds(int((error.retry_after_s or 1.0) * 1000))
    detail = AnyMessage()
    detail.Pack(RetryInfo(retry_delay=delay))
    status = Status(code=error.grpc_code.value[0], message=error.detail, details=[detail])
    return bytes(status.SerializeToString())
