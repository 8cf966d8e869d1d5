"""The HTTP routes of interactions: parse ► lifecycle ► render.

POST   /v1/interactions              201 opened, 200 was open already
GET    /v1/interactions/{id}         200
DELETE /v1/interactions/{id}         200 finalized, the first time and again
POST   /v1/interactions/{id}/turns   200 the turn, the first time and again
"""

import asyncio
import re
from typing import Final

from starlette.types import Receive, Scope

from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.doors.routes.resource import Answer, Resource, ResourceDoor
from service.errors import TooLarge
from service.interactions.lifecycle import Interactions
from service.interactions.schemas import ID_PATTERN, decode_turn
from service.limits.admission import Admission, Permit
from service.settings import Settings
from service.wire import WHOLE_BYTES, encode

ALL: Final = "/v1/interactions"
ONE: Final = f"{ALL}/{{id}}"
TURNS: Final = f"{ONE}/turns"
RESOURCE: Final = Resource("interaction", ALL, re.compile(rf"{ALL}/(?P<id>[^/]+)(/turns)?", re.DOTALL), ID_PATTERN)


class InteractionsDoor(ResourceDoor):
    """The routes as an ASGI application."""

    def __init__(self, settings: Settings, admission: Admission, interactions: Interactions) -> None:
        methods = {"GET": self._show, "DELETE": self._finalize}
        super().__init__(RESOURCE, {ALL: {"POST": self._open}, ONE: methods, TURNS: {"POST": self._turn}})
        self._settings = settings
        self._admission = admission
        self._interactions = interactions

    async def _open(self, scope: Scope, receive: Receive) -> Answer:
        with self._admission.enter() as permit:
            view, is_new = await self._interactions.create(await self._body(scope, receive, permit))
        return Answer(encode(view), 201 if is_new else 200)

    async def _turn(self, scope: Scope, receive: Receive) -> Answer:
        with self._admission.enter() as permit:
            request = decode_turn(await self._body(scope, receive, permit))
            name = RESOURCE.id_of(scope["path"])
            permit.add(items=1)
            scope["state"]["call"].items = 1
            settings = self._settings
            timeout_s = min(request.deadline_s or settings.default_deadline_s, settings.max_deadline_s)
            async with cancelled_on_disconnect(receive):
                deadline = asyncio.get_running_loop().time() + timeout_s
                return Answer(await self._interactions.turn(name, request, deadline))

    async def _show(self, scope: Scope, receive: Receive) -> Answer:
        with self._admission.enter():
            return Answer(encode(await self._interactions.show(RESOURCE.id_of(scope["path"]))))

    async def _finalize(self, scope: Scope, receive: Receive) -> Answer:
        with self._admission.enter():
            return Answer(encode(await self._interactions.finalize(RESOURCE.id_of(scope["path"]))))

    async def _body(self, scope: Scope, receive: Receive, permit: Permit) -> bytes:
        body = await read_body(self._settings, scope["state"]["headers"], receive, permit.reserve)
        if len(body) > WHOLE_BYTES:
            raise TooLarge(f"the body has {len(body)} bytes; one interaction may have at most {WHOLE_BYTES}")
        return body
