"""`POST /v1/groups/score` takes groups, and returns rewards and advantages that compare the members of each with each other.

    responses    are judged, and compared by a method
    rewards      exist already (method `rewards`), and are compared only

`POST /v1/rubrics/evolve` takes groups with their rubrics, and returns the rubrics of the next step.
`POST /v1/group/advantages` is the older name for the second: its options are those of `advantages`, and its answer holds
the advantages alone.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from starlette.types import Receive, Scope, Send

from service.advantages import schemas as advantages
from service.advantages.compute import compute_advantages, group_size
from service.advantages.schemas import AdvantagesResponse, RewardGroup
from service.doors.asgi import asgi_response
from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.doors.routes.openapi_parts import JSON, Operation, documented
from service.errors import MethodNotAllowed, TooLarge
from service.groups.evolving import EvolveEnvelope, EvolveOptions, RubricGroup, RubricsResponse
from service.groups.schemas import MAX_GROUPS, Envelope, Group, GroupOptions, GroupResult, GroupsResponse
from service.groups.scoring import GroupScorer
from service.limits.admission import Admission
from service.observe.access_log import Call
from service.settings import Settings
from service.wire import WHOLE_BYTES, check_count, encode, parse

PATH: Final = "/v1/groups/score"
ADVANTAGES: Final = "/v1/group/advantages"
EVOLVE: Final = "/v1/rubrics/evolve"
MAX_BODY_BYTES: Final[Mapping[str, int]] = {PATH: WHOLE_BYTES, EVOLVE: WHOLE_BYTES, ADVANTAGES: 8_000_000}
MAX_REWARDS: Final = 65_536
"""The most rewards of a request that holds rewards."""
MAX_GROUP_BYTES: Final = 500_000
"""The most bytes of a group of rewards."""
_INLINE_BYTES: Final = 100_000
"""A larger group is decoded in a thread, as are bodies that are larger."""
_MAX_GROUP_VALUES: Final = 100_000
_SLICE_BYTES: Final = 300_000

_envelopes = msgspec.json.Decoder(Envelope)
_options = msgspec.json.Decoder(GroupOptions)
_groups = msgspec.json.Decoder(Group)
_evolve_envelopes = msgspec.json.Decoder(EvolveEnvelope)
_evolve_options = msgspec.json.Decoder(EvolveOptions)
_rubric_groups = msgspec.json.Decoder(RubricGroup)
_reward_groups = msgspec.json.Decoder(RewardGroup)
_advantages = msgspec.json.Decoder(advantages.Envelope)
AnyGroup = Group | RewardGroup | RubricGroup
AnyOptions = GroupOptions | EvolveOptions


class GroupsDoor:
    """The door as an ASGI application, for all of these paths."""

    def __init__(self, settings: Settings, admission: Admission, scorer: GroupScorer) -> None:
        self._settings = settings
        self._admission = admission
        self._scorer = scorer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if scope["method"] != "POST":
            raise MethodNotAllowed(f"{scope['method']} {path}; it takes POST", allow="POST")
        settings, loop = self._settings, asyncio.get_running_loop()
        with self._admission.enter() as permit:
            body = await read_body(settings, scope["state"]["headers"], receive, permit.reserve)
            most = MAX_BODY_BYTES[path]
            if len(body) > most:
                raise TooLarge(f"the body has {len(body)} bytes; at most {most}, send fewer groups at once")
            options: AnyOptions
            if path == ADVANTAGES:
                options, groups = await _decoded_rewards(body)
            else:
                decoder = decode_rubrics if path == EVOLVE else decode
                options, groups = await decoder(body, None, settings.max_items_per_request)
            del body
            call: Call = scope["state"]["call"]
            call.items = sum(map(size, groups))
            permit.add(items=asked(options, call.items))
            call.is_of_run(options.run_id, "run_id")
            deadline_s = min(options.deadline_s or settings.default_deadline_s, settings.max_deadline_s)
            async with cancelled_on_disconnect(receive):
                if path == ADVANTAGES and isinstance(options, GroupOptions):
                    rewards = [group for group in groups if isinstance(group, RewardGroup)]
                    payload = encode(await compute_advantages(rewards, options.advantages or advantages.Options()))
                else:
                    answer = await answered(self._scorer, options, groups, loop.time() + deadline_s)
                    payload = await rendered(answer)
        await asgi_response.respond(send, 200, payload)


async def answered(
    scorer: GroupScorer, options: AnyOptions, groups: Sequence[AnyGroup], deadline: float
) -> GroupsResponse | RubricsResponse:
    """The answer for decoded groups, by `deadline` on the event loop's clock."""
    if isinstance(options, EvolveOptions):
        with_rubrics = [group for group in groups if isinstance(group, RubricGroup)]
        return await scorer.evolver.evolve(with_rubrics, options, deadline)
    return await scorer.score([group for group in groups if not isinstance(group, RubricGroup)], options, deadline)


def asked(options: AnyOptions, members: int) -> int:
    """The items that a request counts for: rewards are judged already."""
    return 0 if isinstance(options, GroupOptions) and options.method == "rewards" else members


async def decode_rubrics(
    body: bytes, raws: Sequence[msgspec.Raw] | None, max_members: int
) -> tuple[EvolveOptions, Sequence[AnyGroup]]:
    """The same as `decode` for groups with rubrics."""
    options: EvolveOptions
    options, raws = await _opened(_evolve_envelopes, _evolve_options, body, raws)
    return options, await _decoded(raws, _rubric_groups, MAX_GROUPS, max_members, WHOLE_BYTES)


async def decode(
    body: bytes, raws: Sequence[msgspec.Raw] | None, max_members: int
) -> tuple[GroupOptions, Sequence[AnyGroup]]:
    """The options and the groups of a request. Other tasks run between groups.

    Args:
        body: The JSON of the options, and of the groups too if `raws` is None.
        raws: The JSON of each group.
        max_members: The most responses that all groups may have.

    Raises:
        BadRequest, Unprocessable, TooLarge
    """
    options: GroupOptions
    options, raws = await _opened(_envelopes, _options, body, raws)
    if options.method == "rewards":
        return options, await _decoded(raws, _reward_groups, advantages.MAX_GROUPS, MAX_REWARDS, MAX_GROUP_BYTES)
    return options, await _decoded(raws, _groups, MAX_GROUPS, max_members, WHOLE_BYTES)


async def _opened(
    envelopes: msgspec.json.Decoder[Any],
    options: msgspec.json.Decoder[Any],
    body: bytes,
    raws: Sequence[msgspec.Raw] | None,
) -> tuple[Any, Sequence[msgspec.Raw]]:
    """The options, and the JSON of each group."""
    if raws is not None:
        return await _parsed(options, body or b"{}", ["options"]), raws
    envelope = await _parsed(envelopes, body, [])
    return msgspec.structs.replace(envelope, groups=[]), envelope.groups


async def _decoded_rewards(body: bytes) -> tuple[GroupOptions, Sequence[AnyGroup]]:
    """The same of a body of the older path."""
    envelope: advantages.Envelope = await _parsed(_advantages, body, [])
    groups = await _decoded(envelope.groups, _reward_groups, advantages.MAX_GROUPS, MAX_REWARDS, MAX_GROUP_BYTES)
    return GroupOptions(method="rewards", advantages=envelope), groups


async def _decoded(
    raws: Sequence[msgspec.Raw], decoder: msgspec.json.Decoder[Any], max_groups: int, max_members: int, max_bytes: int
) -> list[AnyGroup]:
    if len(raws) > max_groups:
        raise TooLarge(f"{len(raws)} groups in one request; at most {max_groups}, send fewer at once")
    groups: list[AnyGroup] = []
    members = pending_bytes = 0
    for position, raw in enumerate(raws):
        nbytes = memoryview(raw).nbytes
        if nbytes > max_bytes:
            raise TooLarge(f"group {position} has more than {max_bytes} bytes")
        groups.append(await _parsed(decoder, raw, ["groups", position]))
        members += size(groups[-1])
        check_count(members, max_members)
        pending_bytes += nbytes
        if pending_bytes > _SLICE_BYTES:
            pending_bytes = 0
            await asyncio.sleep(0)
    return groups


def size(group: AnyGroup) -> int:
    """The members of a group."""
    return group_size(group) if isinstance(group, RewardGroup) else len(group.responses)


async def _parsed(decoder: msgspec.json.Decoder[Any], raw: bytes | msgspec.Raw, prefix: list[str | int]) -> Any:
    if memoryview(raw).nbytes <= _INLINE_BYTES:
        return parse(decoder, raw, prefix, _MAX_GROUP_VALUES)
    return await asyncio.to_thread(parse, decoder, raw, prefix, _MAX_GROUP_VALUES)


async def rendered(answer: GroupsResponse | RubricsResponse) -> bytes:
    """The answer as JSON, some groups at a time."""
    chunks: list[bytes] = []
    members = 0
    for group in answer.groups:
        chunks.append(encode(group))
        members += len(group.members) if isinstance(group, GroupResult) else len(group.rubrics)
        if members > _SLICE_MEMBERS:
            members = 0
            await asyncio.sleep(0)
    return b'{"groups":[%b],"summary":%b}' % (b",".join(chunks), encode(answer.summary))


_SLICE_MEMBERS: Final = 256


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
GROUP: Final = documented(Group, {})
_EITHER: Final = {"items": {"anyOf": [{"$ref": f"#/components/schemas/{kind}"} for kind in ("Group", "RewardGroup")]}}
_GROUPS: Final = Annotated[list[Any], msgspec.Meta(extra_json_schema=_EITHER)]
_TOO_LARGE: Final = {413: "More bytes, groups, responses or rewards than one request may hold"}
OPERATIONS: Final = (
    Operation(
        *("POST", PATH, "group", "score_groups", "Rewards of whole groups"),
        "`groups[i]` belongs to the request's `groups[i]`, and `members[i]` to its `responses[i]`, or with the method `rewards` "
        "to its `rewards[i]`. A group that cannot be judged costs the others nothing.",
        {200: ("Every group has its answer", GroupsResponse)},
        documented(Envelope, {list[msgspec.Raw]: _GROUPS}, "GroupsRequest"),
        EXAMPLE,
        refusals=_TOO_LARGE,
    ),
    Operation(
        *("POST", EVOLVE, "group", "evolve_rubrics", "The next rubrics of prompts"),
        "A judge proposes criteria that tell the responses to a prompt apart; each response is judged by them, and those are "
        "kept whose scores spread. `groups[i]` belongs to the request's `groups[i]`. If the judge did not answer, a group is "
        "`failed`, and its rubric is as it was.",
        {200: ("Every group has its answer", RubricsResponse)},
        documented(EvolveEnvelope, {list[msgspec.Raw]: list[RubricGroup]}, "EvolveRequest"),
        {
            "max_active": 5,
            "groups": [
                {
                    "prompt": "How do I lower a fever?",
                    "responses": ["Rest and drink. See a doctor above 40 °C.", "Take antibiotics."],
                    "rubrics": [{"title": "Fluids", "description": "Advises to drink enough", "weight": 1.0}],
                }
            ],
        },
        refusals=_TOO_LARGE,
    ),
    Operation(
        *("POST", ADVANTAGES, "group", "group_advantages", "Advantages of groups of rewards"),
        "The older name of `POST /v1/groups/score` with the method `rewards`. What was not judged (null) counts for nothing. "
        "An advantage that is null is not to be trained on.",
        {200: ("Every group has its answer", AdvantagesResponse)},
        documented(advantages.Envelope, {list[msgspec.Raw]: list[RewardGroup]}, "AdvantagesRequest"),
        {
            "preset": "trl",
            "filters": {"mean": {"low": 0.0, "high": 1.0}},
            "groups": [{"id": "p1", "rewards": [1, 0, None, 1]}, {"id": "p2", "rewards": [1, 1, 1, 1]}],
        },
        refusals={**_TOO_LARGE, 422: "Not of this shape, or a wrong number; `errors` names the field"},
    ),
)
