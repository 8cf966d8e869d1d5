"""`/classify`, `/v1/embeddings` and `/get_reward` give trainers the value of a reward model for a text of theirs.

    verl's reward loop (reward_model.enable), rollout vllm      POST /classify        data[].probs
    the same, rollout sglang                                    POST /v1/embeddings   data[].embedding
    OpenRLHF (--reward.remote_url)                              POST /get_reward      rewards

A trainer that asks an engine of its own changes only a URL, and gets the balancing, retries, limits, cache and metrics of
the pools. The text is the trainer's, with its chat template applied, and is sent unchanged. The value is the raw one: of
several models that of the ensemble, without margin, cost of length or map.

`model` is a profile of `reward_models`, or the model of one of its endpoints; `/get_reward` knows no model, and takes the
first profile. If one text has no value, the answer is an error after which these clients ask again; what has one is cached.
"""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec
from starlette.types import Receive, Scope, Send

from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.doors.compat.chat import refuse, send_json, use_of
from service.doors.routes.openapi_parts import JSON, Operation
from service.errors import MethodNotAllowed, NotFound, Unprocessable
from service.limits.admission import Admission
from service.settings import Settings
from service.tenant import owned
from service.wire import encode, parse
from verifiers.judge.endpoints.reward_servers import SERVERS
from verifiers.judge.errors import EndpointFailure, JudgeFailure
from verifiers.judge.panel import Panel
from verifiers.judge.rewards.panel import TextAsk

CLASSIFY: Final = "/classify"
EMBEDDINGS: Final = "/v1/embeddings"
GET_REWARD: Final = "/get_reward"
PATHS: Final = (CLASSIFY, EMBEDDINGS, GET_REWARD)
_MAX_TEXTS: Final = 4_096

_Texts = Annotated[list[str], msgspec.Meta(min_length=1, max_length=_MAX_TEXTS)]


class _Asked(msgspec.Struct):
    """Other fields are ignored."""

    input: str | _Texts
    model: str | None = None


class _Query(msgspec.Struct):
    query: str | _Texts


class RewardModelDoor:
    """All routes."""

    def __init__(self, settings: Settings, admission: Admission, panel: Panel | None) -> None:
        self._settings = settings
        self._admission = admission
        self._panel = panel

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, method = scope["path"], scope["method"]
        if method != "POST":
            raise MethodNotAllowed(f"{method} {path}; it takes POST", allow="POST")
        if self._panel is None or not self._panel.config.reward_models:
            raise NotFound("no reward models are configured (`reward_models` in the file of the setting judge_file)")
        headers = scope["state"]["headers"]
        with self._admission.enter() as permit:
            body = await read_body(self._settings, headers, receive, permit.reserve)
            texts, model = _read(path, body)
            permit.add(items=len(texts))
            use = use_of(headers.get(b"x-rewardline-cache", b"").decode("latin-1").strip().lower())
            name = _profile(self._panel, model)
            ask = TextAsk(self._panel.config.reward_models[name].deadline_s, use, owned(""))
            try:
                async with cancelled_on_disconnect(receive):
                    values = await _all(self._panel, name, texts, ask)
            except ExceptionGroup as group:
                await refuse(_as_endpoint_failure(group), send)
                return
        await send_json(send, 200, encode(_answer(path, model or name, values)), {})


def _read(path: str, body: bytes) -> tuple[Sequence[str], str | None]:
    if path == GET_REWARD:
        query = parse(_query_decoder, body, []).query
        return [query] if isinstance(query, str) else query, None
    asked = parse(_asked_decoder, body, [])
    return [asked.input] if isinstance(asked.input, str) else asked.input, asked.model


def _profile(panel: Panel, model: str | None) -> str:
    """The name of the profile for a model.

    Raises:
        NotFound: none is of this name, nor of this model.
        Unprocessable: its servers take no text, or it scores steps.
    """
    models, endpoints = panel.config.reward_models, panel.config.endpoints
    members = {
        name: {each for pool in one.pools for each in panel.config.reach_of(pool)} for name, one in models.items()
    }
    by_model = (name for name, found in members.items() if any(endpoints[each].model == model for each in found))
    name = next(iter(models)) if model is None else model if model in models else next(by_model, None)
    if name is None:
        raise NotFound(f"model: no {str(model)[:100]!r}; there are {sorted(models)}")
    if models[name].steps is not None:
        raise Unprocessable(f"model: {name} gives a value for each step; post items for `reward_model` to /v1/score")
    for each in sorted(members[name]):
        if "text" not in SERVERS[endpoints[each].protocol].forms:
            raise Unprocessable(f"model: {name} has endpoint {each}, which takes no texts ({endpoints[each].protocol})")
    return name


async def _all(panel: Panel, name: str, texts: Sequence[str], ask: TextAsk) -> list[float]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(panel.rewards.value_of_text(name, text, ask)) for text in texts]
    return [task.result() for task in tasks]


def _as_endpoint_failure(group: "ExceptionGroup[Exception]") -> EndpointFailure:
    """The first failure of a judge; any other error is raised."""
    judged, others = group.split(JudgeFailure)
    if others is not None or judged is None:
        raise group
    first: BaseException = judged
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    assert isinstance(first, JudgeFailure)
    if isinstance(first, EndpointFailure):
        return first
    return EndpointFailure(first.kind, first.message, retryable=first.retryable)


def _answer(path: str, model: str, values: Sequence[float]) -> JSON:
    if path == GET_REWARD:
        return {"rewards": values, "scores": values, "extra_logs": {}}
    rows: list[dict[str, Any]] = []
    for index, value in enumerate(values):
        if path == CLASSIFY:
            rows.append({"index": index, "label": "LABEL_0", "probs": [value], "num_classes": 1})
        else:
            rows.append({"index": index, "object": "embedding", "embedding": [value]})
    return {"object": "list", "model": model, "data": rows}


_asked_decoder = msgspec.json.Decoder(_Asked)
_query_decoder = msgspec.json.Decoder(_Query)


def _operation(path: str, name: str, form: str, field: str, example: JSON) -> Operation:
    texts: JSON = {"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "string"}}]}
    fields: JSON = {"model": {"type": "string"}, field: texts} if field == "input" else {field: texts}
    return Operation(
        *("POST", path, "judges", name, f"Values in the form of {form}"),
        "The raw value of a reward model for texts with their chat template applied.",
        {200: ("One value for each text, in order", {"application/json": {}})},
        {"application/json": {"type": "object", "properties": fields, "required": [field]}},
        example,
        refusals={
            400: "Not JSON, or a text that no endpoint can take",
            404: "No such model, or no reward models are configured",
            422: "Not of this shape, or a model that takes no texts",
            429: "The endpoints, or the service, are at their limits",
            502: "An endpoint failed, or gave no value",
            503: "Shutting down, or no endpoint is healthy",
            504: "No answer in time",
        },
    )


_PAIR: Final = {"model": "helpful", "input": "user: 2+2? assistant: 4"}
OPERATIONS: Final = (
    _operation(CLASSIFY, "classify", "vLLM", "input", _PAIR),
    _operation(EMBEDDINGS, "reward_embeddings", "SGLang", "input", _PAIR),
    _operation(GET_REWARD, "get_reward", "OpenRLHF", "query", {"query": ["2+2=4"]}),
)
