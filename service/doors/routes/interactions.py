"""The HTTP routes of interactions: parse ► lifecycle ► render.

POST   /v1/interactions              201 opened, 200 was open already
GET    /v1/interactions/{id}         200
DELETE /v1/interactions/{id}         200 finalized, the first time and again
POST   /v1/interactions/{id}/turns   200 the turn, the first time and again
"""

import asyncio
import re
from typing import Final

from starlette.types import Receive, Scope, Send

from service.doors.asgi import asgi_response
from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.errors import MethodNotAllowed, NotFound, TooLarge
from service.interactions.lifecycle import Interactions
from service.interactions.schemas import ID_PATTERN, decode_turn
from service.limits.admission import Admission, Permit
from service.settings import Settings
from service.wire import WHOLE_BYTES, encode

ALL: Final = "/v1/interactions"
ONE: Final = f"{ALL}/{{id}}"
TURNS: Final = f"{ONE}/turns"
_PATH: Final = re.compile(rf"{ALL}/(?P<id>[^/]+)(?P<turns>/turns)?", re.DOTALL)
_ALLOWED: Final = {ALL: "POST", ONE: "GET, DELETE", TURNS: "POST"}


def route(path: str) -> str | None:
    """The route of a path. None if it is none of these."""
    if path == ALL:
        return ALL
    found = _PATH.fullmatch(path)
    return None if found is None else TURNS if found["turns"] else ONE


class InteractionsDoor:
    """The routes as an ASGI application."""

    def __init__(self, settings: Settings, admission: Admission, interactions: Interactions) -> None:
        self._settings = settings
        self._admission = admission
        self._interactions = interactions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        place = route(path)
        assert place is not None
        if method not in _ALLOWED[place].split(", "):
            raise MethodNotAllowed(f"{method} {place}; it takes {_ALLOWED[place]}", allow=_ALLOWED[place])
        with self._admission.enter() as permit:
            status, payload = 200, b""
            if place == ALL:
                view, is_new = await self._interactions.create(await self._body(scope, receive, permit))
                status, payload = 201 if is_new else 200, encode(view)
            elif place == TURNS:
                payload = await self._turn(scope, receive, permit)
            elif method == "GET":
                payload = encode(await self._interactions.show(_id(path)))
            else:
                payload = encode(await self._interactions.finalize(_id(path)))
        await asgi_response.respond(send, status, payload)

    async def _turn(self, scope: Scope, receive: Receive, permit: Permit) -> bytes:
        request = decode_turn(await self._body(scope, receive, permit))
        name = _id(scope["path"])
        permit.add(items=1)
        scope["state"]["call"].items = 1
        settings = self._settings
        timeout_s = min(request.deadline_s or settings.default_deadline_s, settings.max_deadline_s)
        async with cancelled_on_disconnect(receive):
            return await self._interactions.turn(name, request, asyncio.get_running_loop().time() + timeout_s)

    async def _body(self, scope: Scope, receive: Receive, permit: Permit) -> bytes:
        body = await read_body(self._settings, scope["state"]["headers"], receive, permit.reserve)
        if len(body) > WHOLE_BYTES:
            raise TooLarge(f"the body has {len(body)} bytes; one interaction may have at most {WHOLE_BYTES}")
        return body


def _id(path: str) -> str:
    """The id in the path.

    Raises:
        NotFound: no interaction has such an id.
    """
    found = _PATH.fullmatch(path)
    if found is None or not re.fullmatch(ID_PATTERN, found["id"]):
        raise NotFound("no interaction has such an id")
    return found["id"]
