"""Builds, runs and takes down one serving process: event loop, both doors, engine, workers and cache.

start   boxes (in the background) ► workers (warm first) ► cache ► engine ► gRPC door ► HTTP door ► ready
stop    SIGTERM/SIGINT: readiness turns false, nothing is admitted, what was admitted finishes, then doors close.
        A second signal ends it at once.
"""

import asyncio
import contextlib
import importlib
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from importlib.metadata import version as distribution_version
from typing import Any

import structlog
from starlette.types import ASGIApp

from service.cancellation import cancel
from service.dataset_audit.running import Audits
from service.doors.compat.routes import open_doors
from service.doors.grpc.health import Health
from service.doors.grpc.server import build_server
from service.doors.http.app import build_app
from service.doors.http.ops import build_ops
from service.jobs.lifespan import BackgroundJobs, open_jobs
from service.limits import keys
from service.limits.admission import Admission
from service.limits.budgets import Budgets
from service.limits.keys import BadKeys, Issuer, Keys
from service.observe import tracing
from service.observe.history import History
from service.observe.tracing import CannotTrace, Tracing
from service.run import malloc_trim, tls
from service.run.core import CannotStart, Core, open_core
from service.run.http_server import STOP_S, HttpServer, first, http_config
from service.run.ports import Addresses, addresses_of, bind, bind_grpc
from service.run.reload import reloading
from service.run.tls import BadCertificate, Certificates
from service.settings import Settings

log = structlog.get_logger("rewardline")

_LAST_ANSWERS_S = 0.5
"""Time for answers to go out after all items are judged."""


async def serve(settings: Settings, on_ready: Callable[[Addresses], None]) -> None:
    """Serve until a signal to stop.

    Raises:
        CannotStart: a port is taken, or the settings demand a sandbox that cannot be had.
    """
    stopping = asyncio.Event()
    callers, budgets = _keys(settings)
    with contextlib.ExitStack() as sockets:
        traces = sockets.enter_context(_traces(settings))
        http_socket = sockets.enter_context(bind(settings.host, settings.http_port))
        ops_socket = None
        if settings.ops_port is not None:
            ops_socket = sockets.enter_context(bind(settings.ops_host or settings.host, settings.ops_port))
        async with (
            open_core(settings) as built,
            open_jobs(settings, built.engine, built.admission) as jobs,
            _audits(built, settings) as audits,
            open_doors(settings, built.engine, built.admission, built.metrics, built.boxes) as doors,
        ):
            jobs.publish(built.metrics)
            built.usage.ledger.use(budgets)
            if traces is not None:
                traces.publish(built.metrics)
            grpc_server, health = build_server(
                settings, callers, built.engine, built.admission, built.metrics, built.readiness
            )
            grpc_port = bind_grpc(grpc_server, settings)
            history = History(built.metrics.registry.collect) if settings.console else None
            app = build_app(
                settings,
                callers,
                built.engine,
                built.admission,
                built.metrics,
                built.boxes,
                built.interactions,
                jobs,
                audits,
                built.panel,
                history,
                built.readiness,
                built.usage,
                doors,
            )
            certificates = _certificates(settings)
            http_server = HttpServer(http_config(app, settings, None if certificates is None else certificates.context))
            ops_server = HttpServer(http_config(_ops(built, settings), settings, None))
            with _signals(stopping):
                async with reloading(built.engine, built.metrics, settings, callers, built.usage.ledger, certificates):
                    await grpc_server.start()
                    tasks = [await http_server.start(http_socket)]
                    if ops_socket is not None:
                        tasks.append(await ops_server.start(ops_socket))
                    on_ready(addresses_of(settings, http_socket, grpc_port, ops_socket))
                    async with _beating(built, health, history):
                        await first(stopping.wait(), *tasks)
                    built.admission.draining = True
                    health.notify_watchers()
                    await _drain(built.admission, jobs, audits, settings.drain_timeout_s)
                    http_server.should_exit = ops_server.should_exit = True
                    await asyncio.gather(grpc_server.stop(STOP_S), *tasks)


@contextlib.contextmanager
def _traces(settings: Settings) -> Iterator[Tracing | None]:
    with contextlib.ExitStack() as stack:
        try:
            traces = stack.enter_context(tracing.open_tracing(settings, distribution_version("rewardline-server")))
        except CannotTrace as error:
            raise CannotStart(str(error)) from error
        yield traces


def _audits(built: Core, settings: Settings) -> Audits:
    return Audits(
        built.engine,
        built.admission,
        max_under_way=settings.max_dataset_audits,
        batch_items=settings.max_items_per_request,
    )


def _keys(settings: Settings) -> tuple[Keys, Mapping[str, Budgets]]:
    """All keys, and the budgets of tenants."""
    try:
        callers = keys.gather(settings.key_digests(), settings.keys_file)
        budgets = keys.budgets(settings.keys_file)
    except BadKeys as error:
        raise CannotStart(str(error)) from error
    known = Keys(
        callers,
        required=settings.keys_file is not None,
        issuer=_issuer(settings),
        takes_certificates=settings.tls_client_tenants,
    )
    return known, budgets


def _issuer(settings: Settings) -> Issuer | None:
    if settings.oidc_issuer is None:
        return None
    try:
        found: Issuer = importlib.import_module("service.limits.tokens").Tokens(settings)
    except ImportError as error:
        raise CannotStart("oidc_issuer needs PyJWT: pip install 'rewardline-server[oidc]'") from error
    return found


def _certificates(settings: Settings) -> Certificates | None:
    try:
        return tls.certificates(settings)
    except BadCertificate as error:
        raise CannotStart(str(error)) from error


def _ops(built: Core, settings: Settings) -> ASGIApp:
    return build_ops(built.admission, built.metrics, built.readiness, drain_timeout_s=settings.drain_timeout_s)


@contextlib.asynccontextmanager
async def _beating(built: Core, health: Health, history: History | None) -> AsyncIterator[None]:
    beats = [built.load_monitor.run(), health.follow(), malloc_trim.trim_regularly()]
    if history is not None:
        beats.append(history.run())
    beating = [asyncio.create_task(beat) for beat in beats]
    try:
        yield
    finally:
        await cancel(*beating)


async def _drain(admission: Admission, jobs: BackgroundJobs, audits: Audits, timeout_s: float) -> None:
    """Wait for admitted requests. Those that are left after the timeout are refused. Audits are not waited for."""
    log.info("draining", requests=admission.requests, items=admission.items)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await audits.stop()
            await jobs.drain()
            await admission.idle()
            await admission.calls.wait_until_answered(_LAST_ANSWERS_S)
    log.info("drained", requests_left=admission.requests, calls_ended=admission.calls.end())


@contextlib.contextmanager
def _signals(stopping: asyncio.Event) -> Any:
    """Set `stopping` on the first SIGTERM or SIGINT. From then on these signals have their usual, sudden effect."""
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
