"""Runs and takes down one serving process around its core: both doors, reloading, signals.

start   ports are bound ► core: workers, boxes and Redis begin to start (startup.py) ► gRPC door ► HTTP door: the ports
        answer, and items wait for what has not started ► workers are warm: ready
stop    SIGTERM: readiness turns false; when balancers have had time to notice, nothing is admitted any more, what was
        admitted finishes, then doors close. SIGINT does not wait for balancers. A second signal ends it at once.
"""

import asyncio
import contextlib
import signal
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp

from service.cancellation import cancel
from service.doors.grpc.server import build_server
from service.doors.http.ops import build_ops
from service.doors.http.page_guard import GuardedFromPages, PageGuard
from service.limits.keys import Keys
from service.run import tls
from service.run.cannot_start import CannotStart
from service.run.core import Core
from service.run.http_server import STOP_S, HttpServer, first, http_config
from service.run.reload import reloading
from service.run.sockets import Addresses, CannotBind, Sockets, port_of
from service.run.tls import BadCertificate, Certificates
from service.run.whole import beating, drain, open_around
from service.settings import Settings


async def serve(settings: Settings, built: Core, sockets: Sockets, on_open: Callable[[Addresses], None]) -> None:
    """Serve until a signal to stop. `on_open` is called when the ports answer.

    Raises:
        CannotStart: the settings demand something that cannot be had.
    """
    stopping: asyncio.Future[signal.Signals] = asyncio.get_running_loop().create_future()
    async with open_around(settings, built) as service:
        grpc_server, health = build_server(
            settings,
            service.callers,
            built.engine,
            built.groups,
            built.singles,
            built.admission,
            built.metrics,
            built.readiness,
        )
        grpc_port = _bind_grpc(grpc_server, settings)
        certificates = _certificates(settings)
        tls_context = None if certificates is None else certificates.context
        http_server = HttpServer(http_config(service.app, settings, tls_context))
        callers, ledger = service.callers, built.usage.ledger
        ops_server = HttpServer(http_config(_ops(built, callers, settings), settings, None))
        with _signals(stopping):
            async with reloading(built.engine, built.metrics, settings, callers, ledger, certificates):
                await grpc_server.start()
                tasks = [await http_server.start(sockets.http)]
                if sockets.ops:
                    tasks.append(await ops_server.start(*sockets.ops))
                on_open(_addresses_of(settings, sockets, grpc_port))
                starting = asyncio.create_task(built.settled())
                async with beating(service, health.follow()):
                    await first(stopping, _failure(starting), *tasks)
                    if stopping.done() and stopping.result() is signal.SIGTERM:
                        await built.admission.leave(settings.drain_notice_s)
                if not _has_failed(starting):
                    built.admission.draining = True
                    health.notify_watchers()
                    await drain(service)
                http_server.should_exit = ops_server.should_exit = True
                await asyncio.gather(grpc_server.stop(STOP_S), *tasks)
                if _has_failed(starting):
                    await starting
                await cancel(starting)


async def _failure(starting: asyncio.Task[None]) -> None:
    """Return if the start fails. If it does not, never return."""
    await asyncio.wait([starting])
    if not _has_failed(starting):
        await asyncio.Event().wait()


def _has_failed(starting: asyncio.Task[None]) -> bool:
    return starting.done() and not starting.cancelled() and starting.exception() is not None


def _certificates(settings: Settings) -> Certificates | None:
    try:
        return tls.certificates(settings)
    except BadCertificate as error:
        raise CannotStart(str(error)) from error


def _ops(built: Core, callers: Keys, settings: Settings) -> ASGIApp:
    ops = build_ops(
        built.admission,
        built.metrics,
        built.readiness,
        callers,
        drain_notice_s=settings.drain_notice_s,
        drain_timeout_s=settings.drain_timeout_s,
    )
    return GuardedFromPages(ops, PageGuard.of(settings, settings.ops_host or settings.host))


@contextlib.contextmanager
def _signals(stopping: asyncio.Future[signal.Signals]) -> Any:
    """Put the first SIGTERM or SIGINT into `stopping`. From then on these signals have their usual, sudden effect."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGTERM, signal.SIGINT)

    def stop(received: signal.Signals) -> None:
        stopping.set_result(received)
        for number in numbers:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in numbers:
        loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


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


def _addresses_of(settings: Settings, sockets: Sockets, grpc_port: int) -> Addresses:
    scheme = "http" if settings.tls_cert is None else "https"
    ops = f"http://{_join(settings.ops_host or settings.host, port_of(sockets.ops[0]))}" if sockets.ops else None
    return Addresses(f"{scheme}://{_join(settings.host, port_of(sockets.http))}", _join(settings.host, grpc_port), ops)


def _join(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
