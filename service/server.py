"""One process that serves: event loop, both doors, engine, workers, cache; built here and taken down here.

start   boxes (in the background) ► workers (warm first) ► cache ► engine ► gRPC door ► HTTP door ► ready
stop    SIGTERM/SIGINT: readiness turns false, nothing is admitted, what was admitted finishes, then doors close.
        A second signal ends it at once.
"""

import asyncio
import contextlib
import signal
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version as distribution_version
from typing import Any

import structlog
import uvicorn
from starlette.types import ASGIApp

from sandbox.remote import BadTrust
from sandbox.workers import Workers
from service import grpc_api, heap, http_api, judges, keys, tls, tracing
from service.admission import Admission
from service.audit_log import opening as audit_log
from service.background.jobs import BackgroundJobs, open_jobs
from service.boxes import STATES, Boxes, kinds, weaknesses
from service.cache import MemoryCache, VerdictCache
from service.compat.doors import open_doors
from service.engine import Engine
from service.grpc_health import Health
from service.http_connection import Connection
from service.interactions.desk import Bounds, Interactions
from service.interactions.memory import MemoryStore
from service.interactions.redis import RedisStore
from service.interactions.store import Store
from service.keys import BadKeys, Keys
from service.metrics import Metrics
from service.ops import build_ops
from service.pulse import Pulse
from service.readiness import Readiness
from service.recipes import book as recipes
from service.redis_cache import CacheCounters, RedisCache
from service.reloading import reloading
from service.settings import Settings
from service.tls import BadCertificate, Certificates
from service.tracing import CannotTrace, Tracing
from verifiers import commitment, registry
from verifiers.base import Resources
from verifiers.judge.config import BadJudges
from verifiers.judge.endpoints import BadKey
from verifiers.judge.panel import Panel
from verifiers.judge.rendering.templates import BrokenPrompt

log = structlog.get_logger("rewardline")

_BACKLOG = 4096
_GRPC_STOP_S = 2.0
_WEBSOCKET_PATIENCE_S = 300.0
"""With a client that answers no ping: a trainer's event loop may be busy with something else for a while."""
_LAST_WORDS_S = 0.5
"""For answers on their way when all items are judged."""


class CannotStart(Exception):
    """Something the settings demand cannot be had; the message says what."""


class CannotBind(CannotStart):
    """A port is taken, or the address is not ours."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the doors are, once bound."""

    http: str
    grpc: str
    ops: str | None = None


@dataclass(frozen=True, slots=True)
class Core:
    """The engine with what belongs to it: all that scoring needs, without doors."""

    engine: Engine
    admission: Admission
    metrics: Metrics
    workers: Workers
    boxes: Boxes
    cache: VerdictCache
    needs_boxes: bool
    interactions: Interactions
    panel: Panel | None
    pulse: Pulse

    def readiness(self) -> Readiness:
        """What cannot judge now. Redis is not among it: without it everything works, only slower. Boxes that cannot be
        had, or were lost, take the service out of rotation only where the settings say so: what needs none is judged
        all the same.
        """
        if self.admission.draining or self.admission.leaving:
            return Readiness({"draining": "shutting down"})
        problems = {} if self.workers.ready else {"workers": "no worker process is running"}
        lacks: dict[str, str] = {}
        if self.boxes.state == "starting":
            problems["sandbox"] = "the boxes for programs are starting"
        elif self.boxes.why:
            (problems if self.needs_boxes else lacks)["sandbox"] = self.boxes.why
        return Readiness(problems, lacks)


@contextlib.asynccontextmanager
async def core(settings: Settings) -> AsyncIterator[Core]:
    """Build everything behind the doors; leaving the block ends it.

    Raises:
        CannotStart: a sandbox or an audit log is demanded that cannot be had.
        BadRecipes: the file of recipes has mistakes.
    """
    metrics = Metrics(distribution_version("rewardline-server"))
    workers = Workers(settings.worker_count, memory_mb=settings.worker_memory_mb, on_restart=metrics.observe_restart)
    boxes = _boxes(settings)
    redis = None
    if settings.redis_url is not None:
        redis = RedisCache(settings.redis_url.get_secret_value(), ttl_s=settings.cache_ttl_s)
    cache = VerdictCache(MemoryCache(int(settings.cache_memory_mb * 1_000_000)), redis)
    admission = Admission(settings.max_items_in_flight, int(settings.max_mb_in_flight * 1_000_000))
    async with contextlib.AsyncExitStack() as stack:
        try:
            panel = await stack.enter_async_context(judges.opened(settings, cache, metrics))
        except (BadJudges, BadKey, BrokenPrompt) as error:
            raise CannotStart(str(error)) from error
        verifiers = registry.load(Resources(workers, boxes, panel))
        commitment.load()
        book = recipes.load(verifiers, settings.recipes_file)
        stack.push_async_callback(boxes.stop)
        await boxes.start()
        stack.push_async_callback(workers.stop)
        await workers.start()
        stack.push_async_callback(cache.close)
        await cache.start()
        try:
            on_scored = await stack.enter_async_context(audit_log.opened(settings, metrics))
        except audit_log.CannotOpen as error:
            raise CannotStart(str(error)) from error
        engine = Engine(
            verifiers,
            cache,
            metrics,
            workers=settings.worker_count,
            item_deadline_s=settings.item_deadline_s,
            max_response_bytes=settings.max_response_bytes,
            book=book,
            on_scored=on_scored,
        )
        await stack.enter_async_context(engine)
        if settings.sandbox in ("docker", "local"):
            await boxes.settled()
            if boxes.why:
                raise CannotStart(f"no boxes for programs, which the setting `sandbox` demands: {boxes.why}")
        store = _interaction_store(settings)
        stack.push_async_callback(store.close)
        bounds = Bounds(
            settings.interaction_ttl_s, settings.interaction_max_ttl_s, int(settings.max_interaction_mb * 1_000_000)
        )
        interactions = Interactions(engine, store, bounds)
        built = Core(
            engine,
            admission,
            metrics,
            workers,
            boxes,
            cache,
            settings.readiness_needs_boxes,
            interactions,
            panel,
            Pulse(engine.queued_s),
        )
        _publish(built)
        yield built


def _interaction_store(settings: Settings) -> Store:
    if settings.redis_url is not None:
        return RedisStore(settings.redis_url.get_secret_value())
    return MemoryStore(settings.max_interactions_in_memory, int(settings.interactions_memory_mb * 1_000_000))


def load_verifiers() -> registry.Registry:
    """The verifiers for looking at; their workers are never started."""
    return registry.load(Resources(Workers(1)))


async def serve(settings: Settings, on_ready: Callable[[Addresses], None]) -> None:
    """Serve until a signal says stop.

    Raises:
        CannotStart: a port is taken, or a sandbox is demanded that cannot be had.
    """
    stopping = asyncio.Event()
    callers = _keys(settings)
    with contextlib.ExitStack() as sockets:
        traces = sockets.enter_context(_traces(settings))
        http_socket = sockets.enter_context(_bind(settings.host, settings.http_port))
        ops_socket = None
        if settings.ops_port is not None:
            ops_socket = sockets.enter_context(_bind(settings.ops_host or settings.host, settings.ops_port))
        async with (
            core(settings) as built,
            open_jobs(settings, built.engine, built.admission) as jobs,
            open_doors(settings, built.engine, built.admission, built.metrics, built.boxes) as doors,
        ):
            jobs.publish(built.metrics)
            if traces is not None:
                traces.publish(built.metrics)
            grpc_server, health = grpc_api.build_server(
                settings, callers, built.engine, built.admission, built.metrics, built.readiness
            )
            grpc_port = _bind_grpc(grpc_server, settings)
            app = http_api.build_app(
                settings,
                callers,
                built.engine,
                built.admission,
                built.metrics,
                built.boxes,
                built.interactions,
                jobs,
                built.panel,
                built.readiness,
                doors,
            )
            certificates = _certificates(settings)
            http_server = _HttpServer(
                _http_config(app, settings, None if certificates is None else certificates.context)
            )
            ops_server = _HttpServer(_http_config(_ops(built, settings), settings, None))
            with _signals(stopping):
                async with reloading(built.engine, built.metrics, settings, callers, certificates):
                    await grpc_server.start()
                    tasks = [await http_server.opened(http_socket)]
                    if ops_socket is not None:
                        tasks.append(await ops_server.opened(ops_socket))
                    on_ready(_addresses(settings, http_socket, grpc_port, ops_socket))
                    async with _beating(built, health):
                        await _first(stopping.wait(), *tasks)
                    built.admission.draining = True
                    health.look()
                    await _drain(built.admission, jobs, settings.drain_timeout_s)
                    http_server.should_exit = ops_server.should_exit = True
                    await asyncio.gather(grpc_server.stop(_GRPC_STOP_S), *tasks)


def _boxes(settings: Settings) -> Boxes:
    try:
        return Boxes(kinds(settings), weaknesses, slots=settings.slot_count)
    except BadTrust as error:
        raise CannotStart(f"box_hosts_tls: {error}") from error


@contextlib.contextmanager
def _traces(settings: Settings) -> Iterator[Tracing | None]:
    with contextlib.ExitStack() as stack:
        try:
            traces = stack.enter_context(tracing.opened(settings, distribution_version("rewardline-server")))
        except CannotTrace as error:
            raise CannotStart(str(error)) from error
        yield traces


def _keys(settings: Settings) -> Keys:
    try:
        return Keys(keys.gather(settings.key_digests(), settings.keys_file), required=settings.keys_file is not None)
    except BadKeys as error:
        raise CannotStart(str(error)) from error


def _certificates(settings: Settings) -> Certificates | None:
    try:
        return tls.certificates(settings)
    except BadCertificate as error:
        raise CannotStart(str(error)) from error


def _ops(built: Core, settings: Settings) -> ASGIApp:
    return build_ops(built.admission, built.metrics, built.readiness, drain_timeout_s=settings.drain_timeout_s)


@contextlib.asynccontextmanager
async def _beating(built: Core, health: Health) -> AsyncIterator[None]:
    beating = [asyncio.create_task(beat) for beat in (built.pulse.beat(), health.follow(), heap.keep_small())]
    try:
        yield
    finally:
        for task in beating:
            task.cancel()
        await asyncio.wait(beating)


async def _drain(admission: Admission, jobs: BackgroundJobs, timeout_s: float) -> None:
    """Wait for what was admitted; what is left then is refused."""
    log.info("draining", requests=admission.requests, items=admission.items)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await jobs.drain()
            await admission.idle()
            await admission.calls.last_words(_LAST_WORDS_S)
    log.info("drained", requests_left=admission.requests, calls_ended=admission.calls.end())


async def _first(*awaitables: Any) -> None:
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


@contextlib.contextmanager
def _signals(stopping: asyncio.Event) -> Any:
    """The first SIGTERM or SIGINT asks to stop; from then on they have their usual, sudden effect."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGTERM, signal.SIGINT)

    def stop() -> None:
        stopping.set()
        for number in numbers:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in numbers:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        raise CannotBind(f"cannot listen on {host}:{port}: {error.strerror}") from error
    bound.setblocking(False)
    return bound


def _bind_grpc(server: Any, settings: Settings) -> int:
    address = _join(settings.host, settings.grpc_port)
    try:
        credentials = tls.grpc_credentials(settings)
        if credentials is not None:
            return int(server.add_secure_port(address, credentials))
        return int(server.add_insecure_port(address))
    except BadCertificate as error:
        raise CannotStart(str(error)) from error
    except RuntimeError as error:
        raise CannotBind(f"cannot listen on {address}: {error}") from error


def _join(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _addresses(
    settings: Settings, http_socket: socket.socket, grpc_port: int, ops_socket: socket.socket | None
) -> Addresses:
    scheme = "http" if settings.tls_cert is None else "https"
    ops = None if ops_socket is None else f"http://{_join(settings.ops_host or settings.host, _port(ops_socket))}"
    return Addresses(f"{scheme}://{_join(settings.host, _port(http_socket))}", _join(settings.host, grpc_port), ops)


def _port(bound: socket.socket) -> int:
    return int(bound.getsockname()[1])


def _http_config(app: ASGIApp, settings: Settings, certificates: ssl.SSLContext | None) -> uvicorn.Config:
    timeout_s = settings.header_timeout_s

    class Protocol(Connection):
        head_timeout_s = timeout_s

    return _Config(
        app,
        certificates,
        http=Protocol,
        ws="websockets-sansio",
        ws_max_size=settings.max_body_bytes,
        ws_ping_timeout=_WEBSOCKET_PATIENCE_S,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=int(_GRPC_STOP_S),
        backlog=_BACKLOG,
    )


class _Config(uvicorn.Config):
    """uvicorn's, with a context of ours in place of the one it would make of files."""

    def __init__(self, app: ASGIApp, certificates: ssl.SSLContext | None, **options: Any) -> None:
        super().__init__(app, **options)
        self._certificates = certificates

    @property
    def is_ssl(self) -> bool:
        return self.loaded and self._certificates is not None

    def load(self) -> None:
        super().load()
        self.ssl = self._certificates


class _HttpServer(uvicorn.Server):
    """uvicorn without its signal handling: signals are the whole service's."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.accepting = asyncio.Event()

    async def opened(self, bound: socket.socket) -> asyncio.Task[None]:
        """Begin to serve on the socket; the task ends when the server does."""
        task = asyncio.create_task(self.serve(sockets=[bound]))
        await _first(self.accepting.wait(), task)
        if task.done():
            await task  # says what went wrong
        return task

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.accepting.set()


def _is_leaving(admission: Admission) -> float:
    return float(admission.draining or admission.leaving)


def _publish(built: Core) -> None:
    """Gauges and counters that others keep."""
    metrics, workers, counters = built.metrics, built.workers, built.cache.counters
    metrics.watch("in_flight_items", "Items admitted and not yet answered", lambda: built.admission.items)
    metrics.watch("in_flight_bytes", "Bytes of admitted requests", lambda: built.admission.bytes)
    metrics.watch("in_flight_requests", "Requests admitted and not yet answered", lambda: built.admission.requests)
    metrics.watch("draining", "1 while callers should go elsewhere", lambda: _is_leaving(built.admission))
    metrics.watch("event_loop_lag_seconds", "The most the event loop was late in 15 s", lambda: built.pulse.lag_s)
    metrics.watch_gauges("queued_work_seconds", "Work waiting, by verifier", built.engine.queued_s, "verifier")
    metrics.watch(
        "queued_work_seconds_peak", "The most work waiting at once in ten minutes", lambda: built.pulse.peak_s
    )
    metrics.watch_pairs(
        "key_refused",
        "Requests refused or held back by a key's limits",
        lambda: built.admission.allowances.refused,
        ("key", "reason"),
    )
    metrics.watch("workers_busy", "Workers that are judging", lambda: workers.busy)
    metrics.watch("workers_queued_items", "Items waiting for a worker", lambda: workers.queued)
    metrics.watch("cache_memory_bytes", "Bytes held by the in-process cache", lambda: built.cache.memory.used_bytes)
    metrics.watch("cache_memory_entries", "Verdicts held by the in-process cache", lambda: len(built.cache.memory))
    metrics.watch_states(
        "cache_redis_state",
        "Circuit breaker before Redis: 1 for the state it is in",
        ("none", "closed", "half_open", "open"),
        lambda: built.cache.redis_state,
    )
    metrics.watch_gauges("queue_items", "Items waiting for their verifier", built.engine.queued, "verifier")
    for name, about in (
        ("misses", "Keys no cache had"),
        ("errors", "Calls to Redis that failed or were late"),
        ("rejected", "Values in Redis that were not what was stored"),
        ("written", "Verdicts written to Redis"),
        ("dropped_writes", "Verdicts that did not reach Redis"),
        ("breaker_opened", "Times Redis was given up for a while"),
    ):
        metrics.watch_total(f"cache_{name}", about, partial(_read, counters, name))
    _publish_boxes(metrics, built.boxes)
    if built.panel is not None:
        judges.publish(built.panel, metrics)
    built.interactions.publish(metrics)


def _publish_boxes(metrics: Metrics, boxes: Boxes) -> None:
    metrics.watch_states(
        "sandbox_state", "Boxes for programs: 1 for the state they are in", STATES, lambda: boxes.state
    )
    metrics.watch_gauges("boxes", "Boxes by what they do", boxes.states, "state")
    metrics.watch("box_slots", "Boxes that may be at work at once", lambda: boxes.slots)
    metrics.watch("box_waiting_programs", "Programs waiting for a box", lambda: boxes.waiting)
    metrics.watch_total("box_cpu_seconds", "CPU seconds used by programs in boxes", lambda: boxes.cpu_s)
    for name, about in (
        ("boxes_started", "Boxes started"),
        ("starts_failed", "Boxes that could not be started"),
        ("jobs", "Programs put into a box"),
        ("jobs_again", "Programs done again, as their box died"),
        ("refused", "Programs refused, as too many were waiting"),
        ("compile_cache_hits", "Programs whose compilation was at hand"),
        ("compile_cache_misses", "Programs that were compiled"),
    ):
        prefix = "" if name.startswith("boxes") else "box_"
        metrics.watch_total(f"{prefix}{name}", about, partial(_read_boxes, boxes, name))
    metrics.watch_totals("boxes_ended", "Boxes taken out of service", lambda: boxes.counters.boxes_ended, "reason")
    metrics.watch_totals("box_runs", "Runs of programs, by how they ended", lambda: boxes.counters.runs, "exit")


def _read_boxes(boxes: Boxes, name: str) -> float:
    return float(getattr(boxes.counters, name))


def _read(counters: CacheCounters, name: str) -> float:
    return float(getattr(counters, name))
