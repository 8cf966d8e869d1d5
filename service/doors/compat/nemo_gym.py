"""NeMo-Gym's resources server: `POST verify`, `seed_session`, `close_session`, `aggregate_metrics`, `GET reverify_mode`.

Its client makes URLs without a path, and newer clients put the rollout before it: `own_path` handles both. The session
in the cookie has no meaning here, because verifying has no state.

`verify` gets a row with the model's `response` (OpenAI's Responses form), and returns the whole row with `reward` and
the other facts of the verdict. `nemo_gym_rows` says which verifier judges the row; `nemo_gym_episodes` says how
episodes, from 0.7 on, carry the row.

    verdict    answer
    ok         200, the row with `reward`, `score` and the rest of `Verified`
    invalid    422: to NeMo-RL a matter of data, two attempts, then the run ends
    failed     503, with `_ng_failure_class`: to NeMo-RL one of infrastructure, up to five attempts for the prompt
               with ?on_failed=mask 200, as a judge that failed is told there: `_ng_failure_class`, `mask_sample`, and a
               `reward` of 0.0 that is not to be read; rollout collection puts such rows aside

The answer to the verification of an episode has a place for masking. So it is masked unless ?on_failed=status says
otherwise: 200 with `mask_sample`, `failure_kind` and `failure_reason`, for `invalid` too.

The client has no time limit of its own.
"""

import contextlib
import re
import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Annotated, Any, ClassVar, Final, Literal
from urllib.parse import quote

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from service.doors.compat.door import Door, Exchange, Form, NoOptions, Parts, Route
from service.doors.compat.nemo_gym_episodes import (
    ResourcesCloseSessionRequest,
    ResourcesSeedSessionRequest,
    ResourcesVerifyRequest,
    Verification,
    closed,
    components,
    failure_kind,
    input_of,
    is_episode,
    seeded,
    verification,
)
from service.doors.compat.nemo_gym_groups import Compared, Comparison, compare, comparison_item, is_comparison, member
from service.doors.compat.nemo_gym_metrics import Aggregated, Aggregation, aggregate
from service.doors.compat.nemo_gym_rows import Row, item_of, published
from service.doors.compat.nemo_gym_sessions import Sessions
from service.doors.compat.request_options import Name, RequestOptions
from service.doors.compat.retries import check, failure_text, numbers_of
from service.errors import BadRequest, NotJudged, Unprocessable
from service.groups.schemas import MAX_MEMBERS
from service.json_slices import MAX_CONTAINERS
from service.wire import DAMAGED, BatchRequest, Result, ScoreItem, marked, parse

_BASE: Final = "/compat/nemo_gym"
_NAMES: Final = ("verify", "seed_session", "close_session", "aggregate_metrics", "reverify_mode", "compare")
VERIFY, SEED, CLOSE, AGGREGATE, REVERIFY, COMPARE = (f"{_BASE}/{name}" for name in _NAMES)
_ROLLOUT: Final = re.compile(rf"(?P<base>{_BASE})?/ng-rollout/[^/]{{1,256}}/(?P<name>{'|'.join(_NAMES)})")
_SERVER: Final = re.compile(rf"(?P<base>{_BASE})/(?P<server>(?!ng-rollout/)[^/]{{1,100}})(?P<rest>/.*)")
_COOKIE: Final = "rewardline_session"
_TIMEOUT_S: Final = 300.0
_ANSWERING_S: Final = 0.5
"""A member's own deadline comes so long before its caller's."""
_FAILURE_CLASS: Final = "judge_failed"
_SESSION: Final = "resources_session_id"


class GymOptions(RequestOptions, frozen=True, kw_only=True):
    on_failed: Literal["status", "mask"] | msgspec.UnsetType = msgspec.UNSET
    """How to report that a row was not judged. Default: a row by its status, an episode by its mask."""
    server: Name | msgspec.UnsetType = msgspec.UNSET
    """The resources server as which rows are judged. It may also stand in the path: `/compat/nemo_gym/mcqa/verify`."""
    replay: bool = False
    """The caller vouches that what rows record of a judge's words is about these responses."""
    group: Annotated[str, msgspec.Meta(max_length=8192)] | msgspec.UnsetType = msgspec.UNSET
    """A JSON object: the rows are members of groups, with these fields of an item's `group`, such as `size`."""


class Verified(msgspec.Struct):
    """The fields that are added to the row."""

    reward: float
    score: float
    """Whether the answer is right, in [0, 1]."""
    reason: str
    extracted_answer: str | None
    cached: bool
    reward_components: dict[str, float]
    """The checks of a composition, or the parts of a verdict, by name, if they were judged."""


class Session(msgspec.Struct):
    """Any object: the row without the response."""


_ASKED: Final = {"responses_create_params": {"input": [{"role": "user", "content": "2+2="}]}}
_SAID: Final = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "\\boxed{4}"}],
}
_ROW: Final = {**_ASKED, "response": {"output": [_SAID]}, "expected_answer": "4"}
_EPISODE: Final = {
    "episode_id": {"rollout_id": "0-0", "attempt": 0},
    "task_id": {"taskset": "sums", "task_id": "0"},
}


class NeMoGym(Door):
    name = "nemo_gym"
    routes: ClassVar = (
        Route(
            (VERIFY,),
            "nemo_gym_verify",
            "Verify a rollout of NeMo-Gym",
            "The body comes back with what is below. 422: the row cannot be judged; 503: it could not be judged.",
            Verified,
            Row,
            _ROW,
            GymOptions,
            timeout_s=_TIMEOUT_S,
            newer=Form(ResourcesVerifyRequest, {**_EPISODE, "verification_input": _ROW}, Verification),
        ),
        Route(
            (SEED,),
            "nemo_gym_seed_session",
            "Begin a rollout of NeMo-Gym",
            "Verifying has no state: there is nothing to seed.",
            dict[str, str],
            Session,
            {},
            newer=Form(
                ResourcesSeedSessionRequest,
                {"resources_session_id": "s-1", **_EPISODE, "task_data": {}},
                dict[str, str],
            ),
            refusals={409: "The session is closed"},
        ),
        Route(
            (CLOSE,),
            "nemo_gym_close_session",
            "End a rollout of NeMo-Gym",
            "Any number of times, of any session; it is not seeded again.",
            dict[str, str],
            Session,
            {},
            newer=Form(
                ResourcesCloseSessionRequest,
                {"resources_session_id": "s-2", "episode_id": _EPISODE["episode_id"]},
                dict[str, str],
            ),
        ),
        Route(
            (AGGREGATE,),
            "nemo_gym_aggregate_metrics",
            "Aggregate verified rollouts of NeMo-Gym",
            "Mean, max, min, median and deviation of each number, by task and over all; rollouts that were not judged are "
            "left out.",
            Aggregated,
            Aggregation,
            {"verify_responses": [{"_ng_task_index": 0, "reward": 1.0}]},
        ),
        Route(
            (COMPARE,),
            "nemo_gym_compare",
            "Compare responses as NeMo-Gym's genrm_compare does",
            "A judge scores the responses in pairs. 422: they cannot be compared; 503: one was in no comparison.",
            Compared,
            Comparison,
            {
                "conversation_history": _ASKED["responses_create_params"]["input"],
                "response_objs": [{"output": [_SAID]}] * 2,
            },
            GymOptions,
            timeout_s=_TIMEOUT_S,
        ),
        Route(
            (REVERIFY,),
            "nemo_gym_reverify_mode",
            "Whether rollouts can be verified again",
            "They can: verifying has no state.",
            Literal["stateless"],
            method="GET",
            options=NoOptions,
        ),
    )

    def __init__(self, parts: Parts, sessions: Sessions) -> None:
        super().__init__(parts)
        self._sessions = sessions

    async def answer(self, exchange: Exchange[Any]) -> object:
        path = exchange.route.paths[0]
        if path == VERIFY:
            return await self._verify(exchange)
        if path == AGGREGATE:
            return aggregate(parse(_aggregations, exchange.body, [], MAX_CONTAINERS).verify_responses)
        if path == COMPARE:
            return await self._compare(exchange)
        if path == SEED:
            return await self._seed(exchange)
        return await self._close(exchange) if path == CLOSE else "stateless"

    async def _compare(self, exchange: Exchange[GymOptions]) -> Compared:
        body, options = parse(_comparisons, exchange.body, []), exchange.options
        await exchange.hold(len(body.response_objs), MAX_MEMBERS)
        return await compare(self.parts.groups, body, options, options.group, exchange.deadline)

    async def _seed(self, exchange: Exchange[Any]) -> dict[str, str]:
        exchange.more_headers.append((b"set-cookie", _cookie(exchange.headers).encode()))
        if _SESSION not in _object(exchange.body):
            return {}
        session = seeded(exchange.body)
        await self._sessions.seed(session)
        return {_SESSION: session}

    async def _close(self, exchange: Exchange[Any]) -> dict[str, str]:
        if _SESSION not in _object(exchange.body):
            return {}
        session = closed(exchange.body)
        await self._sessions.close(session)
        return {_SESSION: session}

    async def _verify(self, exchange: Exchange[GymOptions]) -> dict[str, Any]:
        try:
            echoed = _object(exchange.body)
        except BadRequest:
            body = await marked(exchange.body)
            if body == exchange.body:
                raise
            exchange.body = body
            echoed = _object(body)
            return _mended(await self._verified(exchange, echoed, is_marked=True))
        return await self._verified(exchange, echoed)

    async def _verified(
        self, exchange: Exchange[GymOptions], echoed: dict[str, Any], *, is_marked: bool = False
    ) -> dict[str, Any]:
        options = exchange.options
        server = None if options.server is msgspec.UNSET else options.server
        episode = is_episode(echoed)
        if episode:
            row, echoed = input_of(exchange.body), echoed["verification_input"]
        else:
            row = published(server, echoed) or parse(_rows, exchange.body, [])
        exchange.body = b""
        is_compared = is_comparison(server, echoed)
        if is_compared:
            item = comparison_item(row.responses_create_params.input, row.response.output)
        else:
            has_judges = self.parts.settings.judge_file is not None
            is_member = options.group is not msgspec.UNSET
            flags = {"has_judges": has_judges, "replay": options.replay, "is_member": is_member}
            item = item_of(row, echoed, options, server, **flags)
        if is_marked and DAMAGED.encode() in bytes(item.reference) + bytes(item.params):
            raise Unprocessable(
                "invalid_text: what the row is judged by holds a lone surrogate, half of a pair; write it anew"
            )
        await exchange.hold(1, 1)
        result = await self._result(exchange, item, echoed, is_compared=is_compared)
        if episode and options.on_failed != "status":
            masked = _masked(echoed, result) if result.status == "failed" else {}
            return {**echoed, **masked, **msgspec.to_builtins(verification(result))}
        if result.status == "failed":
            if options.on_failed == "mask":
                return echoed | _masked(echoed, result)
            raise NotJudged(f"_ng_failure_class {_FAILURE_CLASS}: {failure_text(result)}", retry_after_s=1.0)
        if result.reason == "unroutable" and server is None:
            raise Unprocessable(f"{failure_text(result)}; or name its server in the URL ({_BASE}/SERVER/verify)")
        check([result])
        return {**echoed, **msgspec.to_builtins(_verified(result))}

    async def _result(
        self, exchange: Exchange[GymOptions], item: ScoreItem, row: dict[str, Any], *, is_compared: bool
    ) -> Result:
        options = exchange.options
        if not is_compared and options.group is msgspec.UNSET:
            (result,) = await self.parts.scorer.results([item], deadline=exchange.deadline, cache=options.cache)
            return result
        item = member(item, options.group, row, is_compared=is_compared)
        batch = BatchRequest([item], {}, options.cache, False, exchange.deadline - _ANSWERING_S)
        (result,) = (await self.parts.singles.score(batch)).results
        return result


def own_path(path: str, *, is_root: bool) -> str:
    """The path of this door that a client of NeMo-Gym means. Other paths stay as they are.

    Args:
        path: As it came.
        is_root: Paths without a prefix are this door's, too.
    """
    rollout = _ROLLOUT.fullmatch(path)
    if rollout and (is_root or rollout["base"]):
        return f"{_BASE}/{rollout['name']}"
    return f"{_BASE}{path}" if is_root and path.removeprefix("/") in _NAMES else path


class Rerouted:
    """The application, with paths mapped by `own_path`."""

    def __init__(self, app: ASGIApp, *, is_root: bool) -> None:
        self._app = app
        self._is_root = is_root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = _rerouted(scope, self._is_root)
        await self._app(scope, receive, send)


def _rerouted(scope: Scope, is_root: bool) -> Scope:
    """The scope with the path of this door that is meant; a server in the path becomes an option."""
    path, query = scope["path"], scope["query_string"]
    if match := _SERVER.fullmatch(path):
        path = match["base"] + match["rest"]
        query += (b"&" if query else b"") + b"server=" + quote(match["server"]).encode()
    path = own_path(path, is_root=is_root)
    return scope if path == scope["path"] else {**scope, "path": path, "raw_path": path.encode(), "query_string": query}


def _cookie(headers: Mapping[bytes, bytes]) -> str:
    """The cookie of the session, kept if the client has one."""
    cookies = SimpleCookie()
    with contextlib.suppress(CookieError):
        cookies.load(headers.get(b"cookie", b"").decode("latin-1"))
    cookie = cookies.get(_COOKIE)
    session = cookie.value if cookie is not None and cookie.value.isalnum() else secrets.token_hex(16)
    return f"{_COOKIE}={session}; Path=/; HttpOnly; SameSite=lax"


def _verified(result: Result) -> Verified:
    reward, score = numbers_of(result)
    return Verified(reward, score, result.reason, result.extracted, result.cached, components(result))


def _masked(echoed: dict[str, Any], result: Result) -> dict[str, Any]:
    """A row that was not judged, in the form that this client puts aside."""
    instance = echoed.get("instance_config")
    return {
        "reward": 0.0,
        "mask_sample": True,
        "failure_kind": failure_kind(result),
        "failure_reason": failure_text(result),
        "_ng_failure_class": _FAILURE_CLASS,
        "_ng_failure_judge_error": failure_text(result),
        "instance_config": {**(instance if isinstance(instance, dict) else {}), "mask_sample": True},
    }


def _object(body: bytes) -> dict[str, Any]:
    value = parse(_anything, body, [])
    if not isinstance(value, dict):
        raise Unprocessable(f"expected an object, found {type(value).__name__}")
    return value


def _mended(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with U+FFFD for each half character that the row had."""
    mended: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(answer).replace(DAMAGED.encode(), b"\xef\xbf\xbd"))
    return mended


_rows = msgspec.json.Decoder(Row)
_aggregations = msgspec.json.Decoder(Aggregation)
_comparisons = msgspec.json.Decoder(Comparison)
_anything: msgspec.json.Decoder[Any] = msgspec.json.Decoder()
