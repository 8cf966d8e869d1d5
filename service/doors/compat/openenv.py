"""Offers interactions as environments of OpenEnv: `reset`, `step`, `state` over its websocket and over HTTP.

    GenericEnvClient(base_url="http://127.0.0.1:8080/compat/openenv/verifier/math")

`reset` opens an interaction. Its arguments are the fields of `POST /v1/interactions` (reference, prompt, max_turns,
...), together with the verifier or recipe that the URL names. Without a reference, `seed` chooses a task of the file in
`openenv_tasks`. `step` takes a turn: the action is the assistant's text (`message`) or whole messages, and its reward
is that of the turn. If the turn could not be judged, the answer is an error, never a number.

A websocket runs one episode after the other. HTTP keeps nothing between requests, so `step` and `state` name their
`episode_id`. A key goes into the URL, `http://any:KEY@host/...`, because these clients set no headers of their own.

The protocol is that of the package `openenv-core` (https://github.com/meta-pytorch/OpenEnv).
"""

import asyncio
import base64
import binascii
import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

import msgspec
from starlette.types import Receive, Scope, Send

from service.doors.asgi import asgi_response
from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.doors.compat.openenv_schemas import (
    SCHEMA,
    OpenEnvAction,
    OpenEnvHealth,
    OpenEnvMetadata,
    OpenEnvOwn,
    OpenEnvResult,
    OpenEnvStep,
    begun,
    state_of,
    stepped,
)
from service.errors import BadRequest, MethodNotAllowed, NotFound, RequestError, Unprocessable
from service.interactions.lifecycle import Interactions
from service.interactions.schemas import ALIASES, TurnAnswer, View, decode_turn, unprocessable
from service.limits.admission import Admission
from service.limits.keys import Keys
from service.limits.keys import Scope as KeyScope
from service.observe.access_log import Call, request_id
from service.observe.metrics import Metrics
from service.settings import Settings
from service.system_random import SYSTEM_RANDOM
from service.wire import encode, parse

BASE: Final = "/compat/openenv"
_PATH: Final = re.compile(
    rf"{BASE}(?:/(?P<kind>verifier|recipe|tag)/(?P<name>[^/]{{1,256}}))?/(?P<what>ws|reset|step|state|health|schema|metadata)"
)
ROUTES: Final = tuple(f"{BASE}/{what}" for what in ("ws", "reset", "step", "state", "health", "schema", "metadata"))
_METHODS: Final = {"reset": "POST", "step": "POST", "state": "GET", "health": "GET", "schema": "GET", "metadata": "GET"}
_OWN: Final = OpenEnvOwn.__struct_fields__

JSON = dict[str, Any]


class Said(msgspec.Struct, omit_defaults=True):
    """A message of the websocket."""

    type: str
    data: JSON = {}


def route(path: str) -> str | None:
    """The route of a path, for metrics. None if it is none of these."""
    match = _PATH.fullmatch(path)
    return None if match is None else f"{BASE}/{match['what']}"


class BadTasks(Exception):
    """The file of tasks cannot be used. The message says where and why."""


def tasks_of(path: Path | None) -> Sequence[JSON]:
    """The tasks of a file of JSON lines. Each holds the fields that open an interaction.

    Raises:
        BadTasks: the file cannot be read, or a line is not a JSON object.
    """
    if path is None:
        return ()
    tasks = []
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadTasks(f"openenv_tasks: cannot read {path}: {error.strerror}") from error
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            task = json.loads(line)
        except ValueError as error:
            raise BadTasks(f"openenv_tasks: {path}, line {number}: {error}") from error
        if not isinstance(task, dict):
            raise BadTasks(f"openenv_tasks: {path}, line {number}: expected a JSON object with the fields of a task")
        tasks.append(task)
    return tasks


class OpenEnv:
    """The routes as an ASGI application, websocket included."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        admission: Admission,
        metrics: Metrics,
        interactions: Interactions,
    ) -> None:
        self._settings = settings
        self._keys = keys
        self._admission = admission
        self._metrics = metrics
        self._interactions = interactions
        self._tasks = tasks_of(settings.openenv_tasks)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._talk(scope, receive, send)
            return
        match = _PATH.fullmatch(scope["path"])
        if match is None or match["what"] == "ws":
            raise NotFound(f"{BASE} has no such path")
        action = match["what"]
        if scope["method"] != _METHODS[action]:
            raise MethodNotAllowed(f"{scope['method']} {action}; it takes {_METHODS[action]}", allow=_METHODS[action])
        await asgi_response.respond(send, 200, encode(await self._answer_to(action, _named(match), scope, receive)))

    async def _answer_to(self, action: str, judged_by: JSON, scope: Scope, receive: Receive) -> object:
        if action == "health":
            return OpenEnvHealth()
        if action == "schema":
            return SCHEMA
        if action == "metadata":
            return OpenEnvMetadata()
        if action == "state":
            query = parse_qs(scope["query_string"].decode("latin-1"))
            return state_of(await self._interactions.show(_episode(query.get("episode_id", [""])[0])))
        with self._admission.enter() as permit:
            body = await read_body(self._settings, scope["state"]["headers"], receive, permit.reserve)
            async with cancelled_on_disconnect(receive):
                if action == "reset":
                    return (await self._reset(judged_by, parse(_object, body or b"{}", [])))[1]
                step = parse(_step, body, [])
                name = _episode(step.episode)
                view = await self._interactions.show(name)
                permit.add(items=1)
                return await self._step(name, view.turn + 1, step.action)

    # --- episodes

    async def _reset(self, judged_by: JSON, arguments: JSON) -> tuple[View, OpenEnvResult]:
        """Open an interaction. Returns it and the first observation."""
        own_arguments = _own(arguments)
        fields = {name: value for name, value in arguments.items() if name not in _OWN and value is not None}
        if self._tasks and not any(name in fields for name in ("reference", "ground_truth", "test_cases")):
            at = (
                SYSTEM_RANDOM.randrange(len(self._tasks))
                if own_arguments.seed is None
                else own_arguments.seed % len(self._tasks)
            )
            fields = {**self._tasks[at], **fields}
        if not any(name in fields for name in ("verifier", "recipe", "tag", "domain", "data_source", "checks")):
            fields |= judged_by
        if own_arguments.episode_id is not None:
            fields["instance_id"] = own_arguments.episode_id
        view, _ = await self._interactions.create(encode(fields))
        prompt = next((fields[name] for name in ("prompt", *ALIASES, "messages") if fields.get(name) is not None), "")
        return view, begun(view, prompt)

    async def _step(self, name: str, index: int, action: OpenEnvAction) -> OpenEnvResult:
        """Take a turn."""
        request = decode_turn(encode({"messages": action.said(), "turn_index": index}))
        timeout_s = min(self._settings.default_deadline_s, self._settings.max_deadline_s)
        deadline = asyncio.get_running_loop().time() + timeout_s
        return stepped(name, _answers.decode(await self._interactions.turn(name, request, deadline)))

    # --- the websocket

    async def _talk(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        match = _PATH.fullmatch(scope["path"])
        call = Call("http", f"{BASE}/ws", request_id(None, None))
        code = "101"
        connection = contextlib.ExitStack()
        try:
            await receive()  # the event that it wants to connect
            try:
                if match is None or match["what"] != "ws":
                    raise NotFound(f"{BASE} has no such websocket")
                await call.admit(self._keys, _authorization(headers), KeyScope.SCORE, _text(headers, b"x-tenant"))
                call.is_of_run(_text(headers, b"x-run-id"), "x-run-id")
                self._admission.check()
                connection.enter_context(self._admission.calls.connected())
            except RequestError as error:
                code = str(error.http_status)
                await send({"type": "websocket.close", "code": 1008, "reason": error.title})
                return
            await send({"type": "websocket.accept"})
            await self._converse(call, _named(match), receive, send)
        finally:
            connection.close()
            call.finish(self._metrics, code)

    async def _converse(self, call: Call, judged_by: JSON, receive: Receive, send: Send) -> None:
        episode: View | None = None
        data: object
        turn = 0
        while (event := await receive())["type"] == "websocket.receive":
            try:
                message = _read(event)
                if message.type == "close":
                    await send({"type": "websocket.close", "code": 1000})
                    return
                with self._admission.calls.track(), self._admission.enter() as permit:
                    if message.type == "reset":
                        episode, data = await self._reset(judged_by, message.data)
                        turn = episode.turn
                    elif message.type == "step":
                        permit.add(items=1)
                        call.items += 1
                        data = await self._step(_open(episode).id, turn + 1, _action(message.data))
                        turn += 1
                    elif message.type == "state":
                        data = state_of(await self._interactions.show(_open(episode).id))
                    else:
                        raise _Unknown(f"unknown type of message: {message.type[:100]!r}")
                answer: JSON = {"type": "state" if message.type == "state" else "observation", "data": data}
            except RequestError as error:
                answer = {"type": "error", "data": {"message": _message(error), "code": _code(error)}}
            await send({"type": "websocket.send", "text": encode(answer).decode()})


class _Unknown(Unprocessable):
    """The message has a type that the websocket does not know."""


def _read(event: Mapping[str, Any]) -> Said:
    try:
        return _said.decode(event.get("text") or event.get("bytes") or b"")
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise BadRequest(f"not a message of OpenEnv: {error}") from error


def _open(episode: View | None) -> View:
    if episode is None:
        raise Unprocessable("there is no episode yet; send reset first")
    return episode


def _own(arguments: JSON) -> OpenEnvOwn:
    """The arguments of a reset that belong to OpenEnv.

    Raises:
        Unprocessable: an argument has the wrong type.
    """
    try:
        return msgspec.convert(arguments, OpenEnvOwn)
    except msgspec.ValidationError as error:
        raise unprocessable("reset", str(error)) from error


def _action(data: JSON) -> OpenEnvAction:
    """Decode an action.

    Raises:
        Unprocessable: a field of the action has the wrong type.
    """
    try:
        return msgspec.convert(data, OpenEnvAction)
    except msgspec.ValidationError as error:
        raise unprocessable("action", str(error)) from error


def _episode(name: str) -> str:
    if not name:
        raise unprocessable("episode_id", "expected the episode_id from the observation of reset")
    return name


def _named(match: "re.Match[str]") -> JSON:
    return {} if match["kind"] is None else {match["kind"]: match["name"]}


def _message(error: RequestError) -> str:
    return "; ".join([error.detail, *(problem.msg for problem in error.errors if problem.msg not in error.detail)])


def _code(error: RequestError) -> str:
    """OpenEnv's code for an error."""
    if isinstance(error, BadRequest):
        return "INVALID_JSON"
    if isinstance(error, _Unknown):
        return "UNKNOWN_TYPE"
    return "EXECUTION_ERROR" if error.http_status >= 500 else "VALIDATION_ERROR"


def _authorization(headers: Mapping[bytes, bytes]) -> str | None:
    """The key: a bearer token, or the password of a URL."""
    header = headers.get(b"authorization", b"").decode("latin-1")
    kind, _, value = header.partition(" ")
    if kind.lower() == "basic":
        with contextlib.suppress(binascii.Error, UnicodeDecodeError):
            return f"Bearer {base64.b64decode(value, validate=True).decode().partition(':')[2]}"
    return header or None


def _text(headers: Mapping[bytes, bytes], name: bytes) -> str | None:
    value = headers.get(name)
    return None if value is None else value.decode("latin-1")


_object: Final = msgspec.json.Decoder(JSON)
_step: Final = msgspec.json.Decoder(OpenEnvStep)
_said: Final = msgspec.json.Decoder(Said)
_answers: Final = msgspec.json.Decoder(TurnAnswer)
