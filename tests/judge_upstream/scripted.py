"""An OpenAI-compatible server that follows a test's script, down to single bytes, and remembers every request.

A behaviour is a coroutine that gets the `Exchange` of one request. `Scripted.script` is played in order; its last
behaviour is repeated. Everything runs on loopback, in the test's own event loop.
"""

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

from tests.listening import Listener


@dataclass
class RecordedRequest:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    answered: bool = False
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """This is set when the client closes the connection before the behaviour is over."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def is_probe(self) -> bool:
        return b"Say hello in one word." in self.body


class Exchange:
    """A request, and the connection on which to answer it."""

    def __init__(self, request: RecordedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.request = request
        self.reader = reader
        self.writer = writer

    async def send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send the whole answer, in one piece."""
        given = {"Content-Type": "application/json", "Content-Length": str(len(body))} | (headers or {})
        lines = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value)
        await self.raw(f"HTTP/1.1 {status} Something\r\n{lines}\r\n".encode() + body)

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def until_gone(self) -> None:
        """Answer nothing (more) until the client leaves."""
        while await self.reader.read(1024):
            pass
        self.request.gone.set()
        raise ConnectionResetError

    def close(self) -> None:
        self.writer.close()
        raise ConnectionResetError

    def reset(self) -> None:
        """Close the connection with RST instead of FIN."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
        raise ConnectionResetError


Behaviour = Callable[[Exchange], Awaitable[None]]


class Scripted:
    """The server; `async with` starts and stops it."""

    def __init__(self, *script: Behaviour, probes: Behaviour | None = None) -> None:
        """`probes` answers probes. They are not steps of the script."""
        self.script = list(script)
        self.probes = probes
        self.requests: list[RecordedRequest] = []
        self.connections = 0
        self.arrived = asyncio.Condition()
        self.port = 0
        self._listener = Listener(self._serve)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def calls(self) -> list[RecordedRequest]:
        """The requests that are not probes."""
        return [request for request in self.requests if not request.is_probe and request.method == "POST"]

    async def __aenter__(self) -> Self:
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def listen(self) -> None:
        """Listen. After `stop` it uses the same port again."""
        self.port = await self._listener.open(self.port)

    async def stop(self) -> None:
        await self._listener.close()

    async def until(self, count: int) -> None:
        """Return when this many calls have arrived."""
        async with self.arrived:
            await self.arrived.wait_for(lambda: len(self.calls) >= count)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        while await self._one(reader, writer, number):
            pass

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = RecordedRequest(method, path, headers, body, number)
        self.requests.append(request)
        async with self.arrived:
            self.arrived.notify_all()
        exchange = Exchange(request, reader, writer)
        behaviour = self.probes if request.is_probe and self.probes else self._next()
        await behaviour(exchange)
        request.answered = True
        return not writer.is_closing()

    def _next(self) -> Behaviour:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]
