"""A listener that leaves no connection open when it closes.

`asyncio.Server` alone can leave one. If it closes while it accepts a connection, that connection stays open unnoticed.
If a handler is cancelled before its first step, it closes nothing. The garbage collector then finds these in a later
test.
"""

import asyncio
from collections.abc import Awaitable, Callable

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

_STEPS_OF_ACCEPTING = 4
"""The most turns of the event loop from the arrival of a connection to the call of the server."""


class Listener:
    """Serves each connection in a task of its own, on loopback."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._server: asyncio.Server | None = None
        self._handlers: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._is_open = False

    async def open(self, port: int = 0) -> int:
        """Open the port. With 0 the system chooses one. After `close` the same port can be opened again."""
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
        """Cancel the tasks of the present connections, and close these."""
        handlers = dict(self._handlers)
        for handler, writer in handlers.items():
            handler.cancel()
            writer.transport.abort()
        await asyncio.gather(*handlers, return_exceptions=True)

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The server calls this as soon as there is a connection, so all connections are known."""
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
            pass  # the client has gone, or the test is over
        finally:
            writer.close()
