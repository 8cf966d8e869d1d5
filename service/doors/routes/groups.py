"""`POST /v1/groups/score` takes groups of responses, and returns rewards that compare each response with the others of its
group.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from starlette.types import Receive, Scope, Send

from service.doors.asgi import asgi_response
from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.doors.routes.openapi_parts import JSON, Operation
from service.errors import MethodNotAllowed, TooLarge
from service.groups.schemas import MAX_GROUPS, Envelope, Group, GroupOptions, GroupsRequest, GroupsResponse
from service.groups.scoring import GroupScorer
from service.limits.admission import Admission
from service.observe.access_log import Call
from service.settings import Settings
from service.wire import WHOLE_BYTES, check_count, encode, parse

PATH: Final = "/v1/groups/score"
_INLINE_BYTES: Final = 100_000
"""A larger group is decoded in a thread, as are bodies that are larger."""
_MAX_GROUP_VALUES: Final = 100_000
_SLICE_BYTES: Final = 300_000

_envelopes = msgspec.json.Decoder(Envelope)
_options = msgspec.json.Decoder(GroupOptions)
_groups = msgspec.json.Decoder(Group)


class GroupsDoor:
    """The door as an ASGI application."""

    def __init__(self, settings: Settings, admission: Admission, scorer: GroupScorer) -> None:
        self._settings = settings
        self._admission = admission
        self._scorer = scorer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise MethodNotAllowed(f"{scope['method']} {PATH}; it takes POST", allow="POST")
        settings, loop = self._settings, asyncio.get_running_loop()
        with self._admission.enter() as permit:
            body = await read_body(settings, scope["state"]["headers"], receive, permit.reserve)
            if len(body) > WHOLE_BYTES:
                raise TooLarge(f"the body has {len(body)} bytes; at most {WHOLE_BYTES}, send fewer groups at once")
            request, groups = await decode(body, None, settings.max_items_per_request)
            del body
            call: Call = scope["state"]["call"]
            call.items = sum(len(group.responses) for group in groups)
            permit.add(items=call.items)
            call.is_of_run(request.run_id, "run_id")
            deadline_s = min(request.deadline_s or settings.default_deadline_s, settings.max_deadline_s)
            async with cancelled_on_disconnect(receive):
                answer = await self._scorer.score(groups, request, loop.time() + deadline_s)
                payload = await rendered(answer)
        await asgi_response.respond(send, 200, payload)


async def decode(
    options: bytes, groups: Sequence[msgspec.Raw] | None, max_members: int
) -> tuple[GroupOptions, list[Group]]:
    """The options and the groups of a request. Other tasks run between groups.

    Args:
        options: The JSON of the options, and of the groups too if `groups` is None.
        groups: The JSON of each group.
        max_members: The most responses that all groups may have.

    Raises:
        BadRequest, Unprocessable, TooLarge
    """
    if groups is None:
        envelope = await _parsed(_envelopes, options, [])
        groups, envelope.groups = envelope.groups, []
    else:
        envelope = await _parsed(_options, options or b"{}", ["options"])
    _check_groups(len(groups))
    decoded: list[Group] = []
    members = pending_bytes = 0
    for position, raw in enumerate(groups):
        decoded.append(await _parsed(_groups, raw, ["groups", position]))
        members += len(decoded[-1].responses)
        check_count(members, max_members)
        pending_bytes += memoryview(raw).nbytes
        if pending_bytes > _SLICE_BYTES:
            pending_bytes = 0
            await asyncio.sleep(0)
    return envelope, decoded


def _check_groups(count: int) -> None:
    if count > MAX_GROUPS:
        raise TooLarge(f"{count} groups in one request; at most {MAX_GROUPS}, send fewer at once")


async def _parsed(decoder: msgspec.json.Decoder[Any], raw: bytes | msgspec.Raw, prefix: list[str | int]) -> Any:
    if memoryview(raw).nbytes <= _INLINE_BYTES:
        return parse(decoder, raw, prefix, _MAX_GROUP_VALUES)
    return await asyncio.to_thread(parse, decoder, raw, prefix, _MAX_GROUP_VALUES)


async def rendered(answer: GroupsResponse) -> bytes:
    """The answer as JSON, some groups at a time."""
    chunks: list[bytes] = []
    members = 0
    for group in answer.groups:
        chunks.append(encode(group))
        members += len(group.members)
        if members > _SLICE_MEMBERS:
            members = 0
            await asyncio.sleep(0)
    return b'{"groups":[%b],"summary":%b}' % (b",".join(chunks), encode(answer.summary))


_SLICE_MEMBERS: Final = 256


def _documented() -> Any:
    """`GroupsRequest` with plain JSON in place of raw bytes, because a schema cannot hold the defaults of raw bytes."""
    plain: dict[str, Any] = {"reference": (Any, None), "params": (dict[str, Any], {})}
    fields: list[Any] = []
    for field in msgspec.structs.fields(Group):
        kind, default = plain.get(field.name, (field.type, field.default))
        fields.append((field.name, kind) if default is msgspec.NODEFAULT else (field.name, kind, default))
    group = msgspec.defstruct("Group", fields, forbid_unknown_fields=True, kw_only=True)
    documented = [
        (field.encode_name, list[group] if field.name == "groups" else field.type)  # type: ignore[valid-type]
        if field.default is msgspec.NODEFAULT
        else (field.encode_name, field.type, field.default)
        for field in msgspec.structs.fields(GroupsRequest)
    ]
    return msgspec.defstruct("GroupsRequest", documented, forbid_unknown_fields=True, kw_only=True)


EXAMPLE: Final[JSON] = {
    "method": "majority",
    "advantages": {"preset": "verl"},
    "groups": [
        {
            "id": "p1",
            "verifier": "math",
            "responses": ["\\boxed{1/2}", "\\boxed{0.5}", "\\boxed{2}", "\\boxed{\\frac12}"],
        }
    ],
}
OPERATION: Final = Operation(
    *("POST", PATH, "group", "score_groups", "Rewards of whole groups"),
    "`groups[i]` belongs to the request's `groups[i]`, and `members[i]` to its `responses[i]`. A group that cannot be judged "
    "costs the others nothing.",
    {200: ("Every group has its answer", GroupsResponse)},
    _documented(),
    EXAMPLE,
    refusals={413: "More bytes, groups or responses than one request may hold"},
)
