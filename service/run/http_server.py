"""Runs uvicorn with our connections and certificates, and without its signal handling."""

import asyncio
import contextlib
import socket
import ssl
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from service.cancellation import cancel
from service.doors.http.connection import Connection
from service.run.sockets import BACKLOG
from service.settings import Settings

STOP_S = 2.0
_WEBSOCKET_PING_TIMEOUT_S = 300.0
"""Seconds without an answer to a ping. They are many, because the event loop of a trainer may be busy for a while."""


class HttpServer(uvicorn.Server):
    """uvicorn without its signal handling. The service handles signals as a whole."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.accepting = asyncio.Event()

    async def start(self, *bound: socket.socket) -> asyncio.Task[None]:
        """Begin to serve on the sockets. The task ends when the server does."""
        task = asyncio.create_task(self.serve(sockets=[*bound]))
        await first(self.accepting.wait(), task)
        if task.done():
            await task  # says what went wrong
        return task

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.accepting.set()


async def first(*awaitables: Any) -> None:
    """Wait for the first of them. Those that are coroutines end then."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    await cancel(*(task for task in tasks if task not in awaitables))


def http_config(app: ASGIApp, settings: Settings, certificates: ssl.SSLContext | None) -> uvicorn.Config:
    timeout_s = settings.header_timeout_s

    class Protocol(Connection):
        head_timeout_s = timeout_s

    return _Config(
        app,
        certificates,
        http=Protocol,
        ws="websockets-sansio",
        ws_max_size=settings.max_body_bytes,
        ws_ping_timeout=_WEBSOCKET_PING_TIMEOUT_S,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=int(STOP_S),
        backlog=BACKLOG,
    )


class _Config(uvicorn.Config):
    """uvicorn's configuration with our TLS context, in place of the one that it would make from files."""

    def __init__(self, app: ASGIApp, certificates: ssl.SSLContext | None, **options: Any) -> None:
        super().__init__(app, **options)
        self._certificates = certificates

    @property
    def is_ssl(self) -> bool:
        return self.loaded and self._certificates is not None

    def load(self) -> None:
        super().load()
        self.ssl = self._certificates
