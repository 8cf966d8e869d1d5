"""Builds, runs and takes down one serving process: event loop, both doors, engine, workers and cache.

start   boxes (in the background) ► workers (warm first) ► cache ► engine ► gRPC door ► HTTP door ► ready
stop    SIGTERM: readiness turns false; when balancers have had time to notice, nothing is admitted any more, what was
        admitted finishes, then doors close. SIGINT does not wait for balancers. A second signal ends it at once.
"""

import asyncio
import contextlib
import signal
from collections.abc import Callable
from typing import Any

from starlette.types import ASGIApp

from service.doors.grpc.server import build_server
from service.doors.http.ops import build_ops
from service.limits.keys import Keys
from service.run import tls
from service.run.core import CannotStart, Core
from service.run.http_server import STOP_S, HttpServer, first, http_config
from service.run.ports import Addresses, addresses_of, bind, bind_grpc, bind_ops
from service.run.reload import reloading
from service.run.tls import BadCertificate, Certificates
from service.run.whole import beating, drain, open_service
from service.settings import Settings


async def serve(settings: Settings, on_ready: Callable[[Addresses], None]) -> None:
    """Serve until a signal to stop.

    Raises:
        CannotStart: a port is taken, or the settings demand a sandbox that cannot be had.
    """
    stopping: asyncio.Future[signal.Signals] = asyncio.get_running_loop().create_future()
    with contextlib.ExitStack() as sockets:
        http_socket = sockets.enter_context(bind(settings.host, settings.http_port))
        ops_sockets = []
        if settings.ops_port is not None:
            ops_sockets = bind_ops(settings.ops_host or settings.host, settings.ops_port)
            for ops_socket in ops_sockets:
                sockets.enter_context(ops_socket)
        async with open_service(settings) as service:
            built = service.core
            grpc_server, health = build_server(
                settings, service.callers, built.engine, built.admission, built.metrics, built.readiness
            )
            grpc_port = bind_grpc(grpc_server, settings)
            certificates = _certificates(settings)
            tls_context = None if certificates is None else certificates.context
            http_server = HttpServer(http_config(service.app, settings, tls_context))
            callers, ledger = service.callers, built.usage.ledger
            ops_server = HttpServer(http_config(_ops(built, callers, settings), settings, None))
            with _signals(stopping):
                async with reloading(built.engine, built.metrics, settings, callers, ledger, certificates):
                    await grpc_server.start()
                    tasks = [await http_server.start(http_socket)]
                    if ops_sockets:
                        tasks.append(await ops_server.start(*ops_sockets))
                    on_ready(addresses_of(settings, http_socket, grpc_port, *ops_sockets[:1]))
                    async with beating(service, health.follow()):
                        await first(stopping, *tasks)
                        if stopping.done() and stopping.result() is signal.SIGTERM:
                            await built.admission.leave(settings.drain_notice_s)
                    built.admission.draining = True
                    health.notify_watchers()
                    await drain(service)
                    http_server.should_exit = ops_server.should_exit = True
                    await asyncio.gather(grpc_server.stop(STOP_S), *tasks)


def _certificates(settings: Settings) -> Certificates | None:
    try:
        return tls.certificates(settings)
    except BadCertificate as error:
        raise CannotStart(str(error)) from error


def _ops(built: Core, callers: Keys, settings: Settings) -> ASGIApp:
    return build_ops(
        built.admission,
        built.metrics,
        built.readiness,
        callers,
        drain_notice_s=settings.drain_notice_s,
        drain_timeout_s=settings.drain_timeout_s,
    )


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
