"""The HTTP routes of interactions: parse ► lifecycle ► render.

POST   /v1/interactions              201 opened, 200 was open already
GET    /v1/interactions/{id}         200
DELETE /v1/interactions/{id}         200 finalized, the first time and again
POST   /v1/interactions/{id}/turns   200 the turn, the first time and again
"""

import asyncio
import re
from typing import Any, Final

import msgspec
from starlette.types import Receive, Scope

from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.doors.routes.openapi_parts import Operation, parameter
from service.doors.routes.resource import Answer, Resource, ResourceDoor
from service.errors import TooLarge
from service.interactions.lifecycle import Interactions
from service.interactions.schemas import (
    ALIASES,
    ID_PATTERN,
    LEFT_OUT,
    Options,
    TurnAnswer,
    TurnRequest,
    View,
    decode_turn,
)
from service.limits.admission import Admission, Permit
from service.settings import Settings
from service.wire import WHOLE_BYTES, ScoreItem, encode

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


def creation_shape(name: str, *further_fields: tuple[str, Any, Any]) -> type[msgspec.Struct]:
    """The type of a request that opens an interaction.

    It has the fields of `ScoreItem` and `Options`, and `further_fields` fields (name, type, default), with plain JSON in place of
    raw bytes, because a schema cannot hold the defaults of raw bytes.
    """
    fields: list[Any] = []
    for shape in (Options, ScoreItem):
        for field in msgspec.structs.fields(shape):
            if field.type is msgspec.Raw:
                fields.append((field.name, Any, msgspec.field(default_factory=object)))
            elif field.name not in LEFT_OUT:
                fields.append((field.name, field.type, field.default))
    by_name = {name: kind for name, kind, _ in fields}
    fields += [(alias, by_name[name], None) for alias, name in ALIASES.items()]
    return msgspec.defstruct(name, [*fields, *further_fields], forbid_unknown_fields=True)


_ID = parameter("id", "path", {"type": "string", "pattern": ID_PATTERN}, example="row-17-sample-3")
_QUESTION = "What is 7 times 8?"
_UNAVAILABLE = {503: "Shutting down, or Redis cannot be asked; nothing is lost"}
_UNREADABLE = {
    413: "More bytes than an interaction may have",
    429: "Too much in flight, or too many open interactions in memory; Retry-After says when to try again",
} | _UNAVAILABLE
_NONE = {
    404: "It was never opened, or not used for as long as it is kept",
    410: "Its record is damaged: DELETE it, or open it anew",
} | _UNAVAILABLE
OPERATIONS: Final = (
    Operation(
        *("POST", ALL, "interactions", "open_interaction", "Open an interaction"),
        "With the fields of an item of /v1/score less its response, and how the turns are to go. The reference stays on the "
        "server: no answer ever holds it. An id of one's own makes it safe to ask again.",
        {201: ("Opened", View), 200: ("Open already, by a body that means the same", View)},
        creation_shape("InteractionRequest"),
        {"instance_id": "row-17-sample-3", "verifier": "math", "query": _QUESTION, "reference": "56", "max_turns": 3},
        refusals=_UNREADABLE
        | {
            409: "An interaction of this id exists with another body",
            422: "Not of this shape, or nothing could be judged by it, or a template holds the reference",
        },
    ),
    Operation(
        *("GET", ONE, "interactions", "show_interaction", "What became of it so far"),
        "",
        {200: ("So far", View)},
        parameters=[_ID],
        refusals=_NONE,
    ),
    Operation(
        *("DELETE", ONE, "interactions", "finalize_interaction", "End it"),
        "All but its outcome is forgotten at once, the reference too. Doing it again changes nothing.",
        {200: ("What became of it", View)},
        parameters=[_ID],
        refusals=_NONE,
    ),
    Operation(
        *("POST", TURNS, "interactions", "take_turn", "Take a turn"),
        "Judges the last assistant message. A turn that was taken is answered again as it was then; of one that could not be "
        "judged nothing is kept, and it can be sent again.",
        {200: ("The turn", TurnAnswer)},
        TurnRequest,
        {
            "messages": [
                {"role": "user", "content": _QUESTION},
                {"role": "assistant", "content": "It is \\boxed{54}."},
            ],
            "turn_index": 1,
        },
        parameters=[_ID],
        refusals=_UNREADABLE
        | _NONE
        | {
            409: "Another turn is next, or this one was taken with other messages, or there are no more",
            422: "Not of this shape, or a response that cannot be judged",
            503: "Could not be judged now, or shutting down, or Redis cannot be asked; send the turn again",
        },
    ),
)
