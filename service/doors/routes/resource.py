"""The HTTP routes of what is kept for callers: a POST makes one, and its id in the path finds it again."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope, Send

from service.doors.asgi import asgi_response
from service.errors import MethodNotAllowed, NotFound, Unprocessable

Q = TypeVar("Q", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Resource:
    """The paths of one kind of resource, such as `/v1/jobs` and `/v1/jobs/{id}`."""

    noun: str
    root: str
    """The path without an id."""
    below: re.Pattern[str]
    """The paths with an id, which is the group `id`."""
    id_pattern: str

    def route(self, path: str) -> str | None:
        """The route of a path. None if it is none of this resource."""
        if path == self.root:
            return self.root
        match = self.below.fullmatch(path)
        return None if match is None else f"{self.root}/{{id}}{path[match.end('id') :]}"

    def id_of(self, path: str) -> str:
        """The id in the path.

        Raises:
            NotFound: no resource has such an id.
        """
        match = self.below.fullmatch(path)
        if match is None or not re.fullmatch(self.id_pattern, match["id"]):
            raise NotFound(f"no {self.noun} has such an id")
        return match["id"]


@dataclass(frozen=True, slots=True)
class Answer:
    body: bytes
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    media: bytes = asgi_response.JSON


Handler: TypeAlias = Callable[[Scope, Receive], Awaitable[Answer]]


def query_of(query: bytes, kind: type[Q], takes: str) -> Q:
    """Decode the query string of a request. `takes` says for messages what it may hold.

    Raises:
        Unprocessable: an option that is unknown or stands there twice, or a wrong value.
    """
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    if len(dict(pairs)) < len(pairs):
        raise Unprocessable(f"the query has an option twice; it takes {takes}")
    try:
        return msgspec.convert(dict(pairs), kind, strict=False)
    except msgspec.ValidationError as error:
        raise Unprocessable(f"the query takes {takes}: {error}") from error


class ResourceDoor:
    """The routes of a resource as an ASGI application: one handler for each route and method."""

    def __init__(self, resource: Resource, handlers: Mapping[str, Mapping[str, Handler]]) -> None:
        self._resource = resource
        self._handlers = handlers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route, method = self._resource.route(scope["path"]), scope["method"]
        assert route is not None
        handler = self._handlers[route].get(method)
        if handler is None:
            allowed = ", ".join(self._handlers[route])
            raise MethodNotAllowed(f"{method} {route}; it takes {allowed}", allow=allowed)
        answer = await handler(scope, receive)
        await asgi_response.respond(send, answer.status, answer.body, *answer.headers, media=answer.media)
