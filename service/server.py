"""One process that serves: event loop, both doors, engine, workers, cache; built here and taken down here.

start   boxes (in the background) ► workers (warm first) ► cache ► engine ► gRPC door ► HTTP door ► ready
stop    SIGTERM/SIGINT: readiness turns false, nothing is admitted, what was admitted finishes, then doors close.
        A second signal ends it at once.
"""

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version as distribution_version
from typing import Any

import structlog
import uvicorn
from grpc_health.v1 import health_pb2
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sandbox.workers import Workers
from service import grpc_api, http_api, judges
from service.admission import Admission
from service.audit_log import opening as audit_log
from service.background.jobs import BackgroundJobs, open_jobs
from service.boxes import STATES, Boxes, kinds, weaknesses
from service.cache import MemoryCache, VerdictCache
from service.engine import Engine
from service.interactions.desk import Bounds, Interactions
from service.interactions.memory import MemoryStore
from service.interactions.redis import RedisStore
from service.interactions.store import Store
from service.metrics import Metrics
from service.recipes import book as recipes
from service.recipes.files import BadRecipes
from service.redis_cache import CacheCounters, RedisCache
from service.settings import Settings
from verifiers import registry
from verifiers.base import Resources
from verifiers.judge.config import BadJudges
from verifiers.judge.endpoints import BadKey
from verifiers.judge.panel import Panel
from verifiers.judge.rendering.templates import BrokenPrompt

log = structlog.get_logger("rewardline")

_BACKLOG = 4096
_GRPC_STOP_S = 2.0


class CannotStart(Exception):
    """Something the settings demand cannot be had; the message says what."""


class CannotBind(CannotStart):
    """A port is taken, or the address is not ours."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the doors are, once bound."""

    http: str
    grpc: str


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

    def readiness(self) -> http_api.Readiness:
        """What cannot judge now. Redis is not among it: without it everything works, only slower. Boxes that cannot be
        had, or were lost, take the service out of rotation only where the settings say so: what needs none is judged
        all the same.
        """
        problems = {} if self.workers.ready else {"workers": "no worker process is running"}
        lacks: dict[str, str] = {}
        if self.boxes.state == "starting":
            problems["sandbox"] = "the boxes for programs are starting"
        elif self.boxes.why:
            (problems if self.needs_boxes else lacks)["sandbox"] = self.boxes.why
        return http_api.Readiness(problems, lacks)


@contextlib.asynccontextmanager
async def core(settings: Settings) -> AsyncIterator[Core]:
    """Build everything behind the doors; leaving the block ends it.

    Raises:
        CannotStart: a sandbox or an audit log is demanded that cannot be had.
        BadRecipes: the file of recipes has mistakes.
    """
    metrics = Metrics(distribution_version("rewardline-server"))
    workers = Workers(settings.worker_count, memory_mb=settings.worker_memory_mb, on_restart=metrics.observe_restart)
    boxes = Boxes(kinds(settings), weaknesses, slots=settings.slot_count)
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
            engine, admission, metrics, workers, boxes, cache, settings.readiness_needs_boxes, interactions, panel
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
    http_socket = _bind(settings.host, settings.http_port)
    with http_socket:
        async with core(settings) as built, open_jobs(settings, built.engine, built.admission) as jobs:
            jobs.publish(built.metrics)
            grpc_server, health = grpc_api.build_server(settings, built.engine, built.admission, built.metrics)
            grpc_port = _bind_grpc(grpc_server, settings)
            app = http_api.build_app(
                settings,
                built.engine,
                built.admission,
                built.metrics,
                built.boxes,
                built.interactions,
                jobs,
                built.panel,
                built.readiness,
            )
            http_server = _HttpServer(_http_config(app, settings))
            with _signals(stopping), _reloading(built, settings):
                await grpc_server.start()
                http_task = asyncio.create_task(http_server.serve(sockets=[http_socket]))
                await http_server.accepting.wait()
                await _set_serving(health, serving=True)
                on_ready(_addresses(settings.host, http_socket.getsockname()[1], grpc_port))
                await _first(stopping.wait(), http_task)
                await _set_serving(health, serving=False)
                await _drain(built.admission, jobs, settings.drain_timeout_s)
                http_server.should_exit = True
                await asyncio.gather(grpc_server.stop(_GRPC_STOP_S), http_task)


async def _drain(admission: Admission, jobs: BackgroundJobs, timeout_s: float) -> None:
    """Admit nothing more, and wait for what was admitted."""
    admission.draining = True
    log.info("draining", requests=admission.requests, items=admission.items)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await jobs.drain()
            await admission.idle()
    log.info("drained", requests_left=admission.requests)


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


@contextlib.contextmanager
def _reloading(built: Core, settings: Settings) -> Any:
    """SIGHUP has the file of recipes read again. One with mistakes changes nothing but the log and a metric."""
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()
    turn = asyncio.Lock()

    async def reload() -> None:
        async with turn:
            await read_again()

    async def read_again() -> None:
        try:
            book = await asyncio.to_thread(recipes.load, built.engine.registry, settings.recipes_file)
        except BadRecipes as error:
            log.warning("recipes not reloaded: those from before stay in force", problems=error.problems)
            built.metrics.observe_reload("refused")
            return
        built.engine.use(book)
        log.info("recipes reloaded", recipes=len(book.recipes), routes=len(book.routes))
        built.metrics.observe_reload("done")

    def begin() -> None:
        task = loop.create_task(reload())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    loop.add_signal_handler(signal.SIGHUP, begin)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)


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
        return int(server.add_insecure_port(address))
    except RuntimeError as error:
        raise CannotBind(f"cannot listen on {address}: {error}") from error


def _join(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _addresses(host: str, http_port: int, grpc_port: int) -> Addresses:
    return Addresses(f"http://{_join(host, http_port)}", _join(host, grpc_port))


async def _set_serving(health: Any, *, serving: bool) -> None:
    status = health_pb2.HealthCheckResponse.SERVING
    if not serving:
        status = health_pb2.HealthCheckResponse.NOT_SERVING
    for service in ("", grpc_api.SERVICE):
        await health.set(service, status)


def _http_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    timeout_s = settings.header_timeout_s

    class Protocol(_HeadInTime):
        head_timeout_s = timeout_s

    return uvicorn.Config(
        app,
        http=Protocol,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=int(_GRPC_STOP_S),
        backlog=_BACKLOG,
    )


class _HeadInTime(HttpToolsProtocol):
    """uvicorn waits for ever for a request's head on a new connection; this hangs up after a while."""

    head_timeout_s: float
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows it too
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(self.head_timeout_s, transport.close)

    def on_headers_complete(self) -> None:
        self._stop_timer()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class _HttpServer(uvicorn.Server):
    """uvicorn without its signal handling: signals are the whole service's."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.accepting = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.accepting.set()


def _publish(built: Core) -> None:
    """Gauges and counters that others keep."""
    metrics, workers, counters = built.metrics, built.workers, built.cache.counters
    metrics.watch("in_flight_items", "Items admitted and not yet answered", lambda: built.admission.items)
    metrics.watch("in_flight_bytes", "Bytes of admitted requests", lambda: built.admission.bytes)
    metrics.watch("in_flight_requests", "Requests admitted and not yet answered", lambda: built.admission.requests)
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
