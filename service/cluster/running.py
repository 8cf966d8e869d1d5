"""The whole service inside a process that is not ours, such as an actor of Ray, without ports."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from rewardline import Unavailable
from starlette.types import Message

from service import settings
from service.observe import logs
from service.recipes.files import BadRecipes
from service.run.core import CannotStart
from service.run.whole import Service, beating, drain, open_service
from service.settings import Settings

_CANNOT_START = (BadRecipes, CannotStart, settings.SettingsError)


class Running:
    """A service with its life. All methods belong to the event loop of `begin`.

    Its life is one task, because what it opens must be closed by the task that opened it.
    """

    def __init__(self, service: Service, life: asyncio.Task[None], leaving: asyncio.Event) -> None:
        self.service = service
        self._life = life
        self._leaving = leaving

    @classmethod
    async def begin(cls, *, workers: int | None = None) -> "Running":
        """Open the service with the settings of this process's environment, and wait until it is ready.

        Args:
            workers: Worker processes, in place of what the settings say.

        Raises:
            Unavailable: the settings demand what cannot be had here. The message says what.
        """
        service_future: asyncio.Future[Service] = asyncio.get_running_loop().create_future()
        leaving = asyncio.Event()
        life = asyncio.create_task(_live(workers, service_future, leaving))
        futures: list[asyncio.Future[Any]] = [service_future, life]
        await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        if not service_future.done():
            try:
                await life
            except _CANNOT_START as error:
                raise Unavailable("unavailable", f"the service cannot start here: {error}") from error
        service = service_future.result()
        await service.core.boxes.settled()
        return cls(service, life, leaving)

    def problems(self) -> Mapping[str, str]:
        """What stops all judging, by the part that has it."""
        if self._life.done():
            return {"service": "it has ended"}
        return self.service.core.readiness().problems

    async def request(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> "Answer":
        """Answer an HTTP request that came another way."""
        admission = self.service.core.admission
        path, _, query = target.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                *((name.lower().encode(), value.encode()) for name, value in headers.items()),
                (b"content-length", b"%d" % len(body)),
            ],
            "client": None,
            "server": None,
        }
        exchange = _Exchange(body)
        await self.service.app(scope, exchange.receive, exchange.send)
        return Answer(exchange.status, exchange.headers, b"".join(exchange.parts), admission.items)

    async def end(self) -> None:
        """Take nothing more, finish what was admitted, and close."""
        self._leaving.set()
        await asyncio.wait([self._life])


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, and how busy the service is."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    items_in_flight: int


class _Exchange:
    """One request and its answer as ASGI messages."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self.status = 500
        self.headers: dict[str, str] = {}
        self.parts: list[bytes] = []
        self._gone = asyncio.Event()

    async def receive(self) -> Message:
        if self._body is None:
            await self._gone.wait()  # a caller that goes cancels the whole call
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]}
        else:
            self.parts.append(message.get("body", b""))


async def _live(workers: int | None, service_future: "asyncio.Future[Service]", leaving: asyncio.Event) -> None:
    chosen = _settings(workers)
    logs.configure(chosen)
    async with open_service(chosen) as service, beating(service):
        service_future.set_result(service)
        await leaving.wait()
        service.core.admission.draining = True
        await drain(service)


def _settings(workers: int | None) -> Settings:
    # Ray binds the ports, so the setting `host` does not say who reaches the service.
    return settings.read(None, {"allow_open": True, "workers": workers})
