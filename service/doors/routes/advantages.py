"""`POST /v1/group/advantages` takes groups of rewards and returns advantages. It is for trainers without such code of
their own, and for users that want to know how their trainer uses a reward.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec
from starlette.types import Receive, Scope, Send

from service.advantages.compute import compute_advantages, group_size
from service.advantages.schemas import AdvantagesRequest, AdvantagesResponse, Envelope, RewardGroup
from service.doors.asgi import asgi_response
from service.doors.asgi.request_body import read_body
from service.doors.routes.openapi_parts import Operation
from service.errors import MethodNotAllowed, TooLarge
from service.limits.admission import Admission
from service.settings import Settings
from service.wire import encode, parse

PATH: Final = "/v1/group/advantages"
MAX_BODY_BYTES: Final = 8_000_000
MAX_GROUP_BYTES: Final = 500_000
"""Bytes that are decoded in one slice: about 5 ms."""
MAX_REWARDS: Final = 65_536

_envelope_decoder = msgspec.json.Decoder(Envelope)
_group_decoder = msgspec.json.Decoder(RewardGroup)


class AdvantagesDoor:
    """The door as an ASGI application."""

    def __init__(self, settings: Settings, admission: Admission) -> None:
        self._settings = settings
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise MethodNotAllowed(f"{scope['method']} {PATH}; it takes POST")
        with self._admission.enter() as permit:
            body = await read_body(self._settings, scope["state"]["headers"], receive, permit.reserve)
            if len(body) > MAX_BODY_BYTES:
                raise TooLarge(f"the body has more than {MAX_BODY_BYTES} bytes; send fewer groups at once")
            request = parse(_envelope_decoder, body, [])
            groups = await _decode(request.groups)
            scope["state"]["call"].items = sum(map(group_size, groups))
            payload = encode(await compute_advantages(groups, request))
        await asgi_response.respond(send, 200, payload)


async def _decode(raws: Sequence[msgspec.Raw]) -> list[RewardGroup]:
    groups: list[RewardGroup] = []
    rewards = pending_bytes = 0
    for position, raw in enumerate(raws):
        nbytes = memoryview(raw).nbytes
        if nbytes > MAX_GROUP_BYTES:
            raise TooLarge(f"group {position} has more than {MAX_GROUP_BYTES} bytes")
        groups.append(parse(_group_decoder, raw, ["groups", position]))
        rewards += group_size(groups[-1])
        if rewards > MAX_REWARDS:
            raise TooLarge(f"more than {MAX_REWARDS} rewards in one request; send fewer groups at once")
        pending_bytes += nbytes
        if pending_bytes > MAX_GROUP_BYTES:
            pending_bytes = 0
            await asyncio.sleep(0)
    return groups


OPERATION: Final = Operation(
    *("POST", PATH, "group", "group_advantages", "Advantages of groups of rewards"),
    "`groups[i]` belongs to the request's `groups[i]`. What was not judged (null) counts for nothing. An advantage that is "
    "null is not to be trained on.",
    {200: ("Every group has its answer", AdvantagesResponse)},
    AdvantagesRequest,
    {
        "preset": "trl",
        "filters": {"mean": {"low": 0.0, "high": 1.0}},
        "groups": [{"id": "p1", "rewards": [1, 0, None, 1]}, {"id": "p2", "rewards": [1, 1, 1, 1]}],
    },
    refusals={
        413: "More bytes or rewards than one request may hold",
        422: "Not of this shape, or a wrong number; `errors` names the field",
    },
)
