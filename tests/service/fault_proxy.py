"""A TCP proxy that disturbs its traffic: it delays, withholds, cuts or garbles replies."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from tests.listening import Listener

Fault = Literal["none", "latency", "black_hole", "reset", "garbage", "insert", "drop"]


class FaultProxy:
    """Listens on `port` and forwards to `target_port`; `fault` may be changed at any time.

    `latency`     each reply comes `latency_s` later
    `black_hole`  replies never come, and connections stay open
    `reset`       a reply is cut in half, then the connection is reset
    `garbage`     a few bytes of every other reply or so are replaced by others
    `insert`      each reply is preceded by `inserted`
    `drop`        connections are closed as soon as they are made or used
    """

    def __init__(self, target_port: int, *, seed: int = 0) -> None:
        self.target_port = target_port
        self.port = 0
        self.fault: Fault = "none"
        self.latency_s = 0.2
        self.inserted = b"+OK\r\n"
        self.connections = 0
        self._random = random.Random(seed)
        self._listener = Listener(self._serve)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self.fault != "drop":
            await self._join(reader, writer)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target_reader, target_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        ways = [
            asyncio.create_task(self._requests(reader, target_writer)),
            asyncio.create_task(self._replies(target_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            target_writer.close()  # this comes first, because waiting tasks may be cancelled
            for way in ways:
                way.cancel()
            await asyncio.wait(ways)

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()

    async def _replies(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            match self.fault:
                case "latency":
                    await asyncio.sleep(self.latency_s)
                case "black_hole":
                    continue
                case "reset":
                    writer.write(data[: len(data) // 2])
                    await writer.drain()
                    writer.transport.abort()
                    return
                case "garbage":
                    data = self._spoiled(data)
                case "insert":
                    data = self.inserted + data
                case "drop":
                    return
                case "none":
                    pass
            writer.write(data)
            await writer.drain()

    def _spoiled(self, data: bytes) -> bytes:
        if self._random.random() < 0.5:
            return data
        spoiled = bytearray(data)
        for _ in range(1 + len(data) // 1000):
            spoiled[self._random.randrange(len(data))] = self._random.randrange(256)
        return bytes(spoiled)

    async def close_connections(self) -> None:
        await self._listener.drop()

    async def open(self) -> None:
        self.port = await self._listener.open()

    async def close(self) -> None:
        await self._listener.close()


@asynccontextmanager
async def fault_proxy(target_port: int, *, seed: int = 0) -> AsyncIterator[FaultProxy]:
    """A running proxy in front of `target_port`."""
    proxy = FaultProxy(target_port, seed=seed)
    await proxy.open()
    try:
        yield proxy
    finally:
        await proxy.close()
