"""A listener whose end leaves no connection behind.

`asyncio.Server` alone does: a connection that is being accepted while it closes stays open with nobody to know of it, and
a handler that is cancelled before it began closes nothing. Either is found by the garbage collector in some later test.
"""

import asyncio
from collections.abc import Awaitable, Callable

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

_STEPS_OF_ACCEPTING = 4
"""Turns of the event loop, at the most, from a connection's arrival to when a server is told of it."""


class Listener:
    """Serves each connection in a task of its own, on loopback."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._server: asyncio.Server | None = None
        self._handlers: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._is_open = False

    async def open(self, port: int = 0) -> int:
        """The port, which the system chooses where 0 is given. After `close` it can be opened again."""
        self._is_open = True
        self._server = await asyncio.start_server(self._welcome, "127.0.0.1", port)
        chosen: int = self._server.sockets[0].getsockname()[1]
        return chosen

    async def close(self) -> None:
        assert self._server
        self._is_open = False
        for listener in self._server.sockets:
            asyncio.get_running_loop().remove_reader(listener.fileno())
        for _ in range(_STEPS_OF_ACCEPTING):
            await asyncio.sleep(0)
        self._server.close()
        await self.drop()
        await self._server.wait_closed()

    async def drop(self) -> None:
        """Cancel what serves the connections of now, and end them."""
        handlers = dict(self._handlers)
        for handler, writer in handlers.items():
            handler.cancel()
            writer.transport.abort()
        await asyncio.gather(*handlers, return_exceptions=True)

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Called as soon as there is a connection, so that all are known."""
        if not self._is_open:
            writer.transport.abort()
            return
        handler = asyncio.create_task(self._handle(reader, writer))
        self._handlers[handler] = writer
        handler.add_done_callback(self._handlers.pop)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # one side has gone, or the test is over
        finally:
            writer.close()
