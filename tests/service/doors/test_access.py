"""Every route and every caller: no key, a wrong one, another tenant's, one that lacks the scope, the right one."""

import itertools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import grpc
import httpx
import pytest
from google.protobuf import descriptor_pool
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from service.doors.compat import openenv
from service.doors.http.app import _PATHS
from service.limits.keys import Scope
from tests.service.doors.access import GRPC, HTTP, Access
from tests.service.doors.compat.recorded import recorded
from tests.service.doors.conftest import CALLERS, Shared
from tests.waiting import PATIENCE_S

JSON = dict[str, Any]
SECRET = "only-red-knows"
"""In all that the red team sends: ids, references, responses."""
_numbers = itertools.count()
TASK: JSON = {"verifier": "exact_match", "reference": f"{SECRET}-reference", "max_turns": 9}
EPISODE = {"episode_id": {"rollout_id": f"{SECRET}-rollout"}}
SEED = EPISODE | {"task_id": {"taskset": "t", "task_id": "1"}, "task_data": {}}


@dataclass(frozen=True)
class Request:
    """A request as the OpenAPI document shows it."""

    method: str
    path: str
    body: Any = None
    query: str = ""

    def send(self, shared: Shared, authorization: str | None) -> httpx.Response:
        headers = {} if authorization is None else {"Authorization": authorization}
        return shared.send(self.method, f"{self.path}{self.query}", self.body, headers)

    def about(self, name: str) -> "Request":
        """The same request about the thing of this name."""
        path = self.path.replace("{id}", name)
        if self.path == "/compat/roll/task_result":
            return Request(self.method, path, {"reward_request_id": name})
        if self.path == "/compat/openenv/state":
            return Request(self.method, path, query=f"?episode_id={name}")
        if self.path == "/compat/openenv/step":
            return Request(self.method, path, {"episode_id": name, "action": {"message": "a"}})
        if self.path == "/compat/nemo_gym/seed_session":
            return Request(self.method, path, SEED | {"resources_session_id": name})
        return Request(self.method, path, self.body, self.query)


def requests_of(document: JSON) -> Iterator[tuple[str, Request]]:
    """Every operation of the document with its example, and every other path of the table."""
    seen = set()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            name = f"{method.upper()} {path}"
            seen.add(name)
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            body = content.get("example", next((one["value"] for one in content.get("examples", {}).values()), None))
            own = [one for one in operation.get("parameters", ()) if "$ref" not in one]
            examples = [(one["name"], one["in"], one.get("example")) for one in own]
            query = "&".join(f"{key}={value}" for key, place, value in examples if place == "query" and value)
            filled = path.replace("{name}", "math").replace("{kind}", "verifier")
            yield name, Request(method.upper(), filled, body, f"?{query}" if query else "")
    for name in HTTP.keys() - seen:
        method, _, path = name.partition(" ")
        yield name, Request(method, path)


class Things:
    """Makes what the red team has, a new one each time."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared

    def make(self, of: str) -> str:
        """Returns its id."""
        name = f"{SECRET}-{next(_numbers)}"
        call = self._shared.call
        if of == "interaction":
            assert call("red", "POST", "/v1/interactions", TASK | {"instance_id": name}).status_code == 201
            return name
        if of == "session":
            ended = EPISODE | {"resources_session_id": name}
            assert call("red", "POST", "/compat/nemo_gym/close_session", ended).status_code == 200
            return name
        if of == "job":
            batch = {"items": [{"verifier": "exact_match", "response": name, "reference": name}]}
            return str(call("red", "POST", "/v1/jobs", batch, idempotency_key=name).json()["job_id"])
        assert of == "task"
        body = recorded("roll_submit_task") | {"response": name}
        return str(call("red", "POST", "/compat/roll/submit_task?verifier=math", body).json()["reward_request_id"])

    def unknown(self, of: str) -> str:
        return f"{'nobody':-<20}" if of in ("interaction", "session") else "0123456789abcdef" * 2


def gist(reply: httpx.Response, *names: str) -> tuple[int, dict[str, str], str]:
    """All of an answer but what differs from call to call, and the names that were sent."""
    text = reply.text.replace(reply.headers["x-request-id"], "REQUEST")
    for name in names:
        text = text.replace(name, "ID")
    own = ("date", "x-request-id", "content-length", "set-cookie")
    return reply.status_code, {name: value for name, value in reply.headers.items() if name not in own}, text


def wrong_rows(shared: Shared, name: str, access: Access, request: Request, said: list[str]) -> Iterator[str]:
    """What is not as the table says. `said` takes all that callers got who are not of the red team."""
    bearer = {caller: f"Bearer {key}" for caller, key in shared.secrets.items()}
    things = Things(shared)

    def statuses(authorization: str | None, wanted: Callable[[int], bool], who: str) -> Iterator[str]:
        reply = request.about(things.unknown(access.of) if access.of else "nobody").send(shared, authorization)
        said.append(reply.text)
        if not wanted(reply.status_code):
            yield f"{name}: {who} got {reply.status_code}"

    if access.needs == "nothing":
        for authorization in (None, "Bearer wrong", bearer["red"]):
            yield from statuses(authorization, lambda status: status == access.right, str(authorization)[:12])
        return
    for authorization in (None, "", "Bearer", "Bearer wrong", "Basic !!", f"{bearer['red']}x", "Token a.b.c"):
        yield from statuses(authorization, lambda status: status == 401, f"authorization {str(authorization)[:8]!r}")
    if access.needs != "key":
        lacking = bearer[f"all-but-{access.needs}"]
        yield from statuses(lacking, lambda status: status == 403, "lacking scope")
    scope = Scope.SCORE if access.needs == "key" else access.needs
    mine, theirs = bearer[f"red-for-{scope}"], bearer[f"blue-for-{scope}"]
    if not access.of:
        for who, authorization in (("right", mine), ("other tenant", theirs)):
            yield from statuses(authorization, lambda status: status == access.right, who)
        return
    thing, nobodys = things.make(access.of), things.unknown(access.of)
    other = gist(request.about(thing).send(shared, theirs), thing)
    unknown = gist(request.about(nobodys).send(shared, theirs), nobodys)
    said.append(other[2])
    if other != unknown:
        yield f"{name}: another's {access.of} is answered with {other}, an unknown one with {unknown}"
    own = gist(request.about(thing).send(shared, mine), thing)
    # A session that is over is a 409 to its tenant; what else one has is a 200, and not what others get.
    if own[0] != (409 if access.of == "session" else access.right) or own == other:
        yield f"{name}: its own tenant got {own}"


def test_every_route_has_a_line(shared: Shared) -> None:
    document = shared.send("GET", "/openapi.json").json()
    named = {name for name, _ in requests_of(document)}
    assert named == HTTP.keys(), "add a line to tests/service/doors/access.py"
    paths = {name.partition(" ")[2] for name in HTTP}
    assert paths >= _PATHS | {path for path in openenv.ROUTES if path != f"{openenv.BASE}/ws"}
    operations = {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    for name, operation in operations.items():
        needs_key = HTTP[name].needs != "nothing"
        shown = [one["$ref"].rpartition("/")[2] for one in operation.get("parameters", ()) if "$ref" in one]
        found = ("security" in operation, {"401", "403"} <= operation["responses"].keys(), shown == ["tenant", "run"])
        assert found == (needs_key,) * 3, name
    owned = {name: access for name, access in HTTP.items() if "{id}" in name and access.needs != "admin"}
    assert [name for name, access in owned.items() if not access.of] == []


def test_every_method_has_a_line(shared: Shared) -> None:
    with grpc.insecure_channel(shared.served.grpc) as channel:
        database = ProtoReflectionDescriptorDatabase(channel)
        pool = descriptor_pool.DescriptorPool(database)
        services = [pool.FindServiceByName(name) for name in database.get_services()]
        named = {f"{service.full_name}/{method.name}" for service in services for method in service.methods}
    assert named == GRPC.keys(), "add a line to tests/service/doors/access.py"


def test_each_caller_gets_what_the_table_says_and_nothing_of_others(shared: Shared) -> None:
    document = shared.send("GET", "/openapi.json").json()
    said: list[str] = []
    wrong = [
        row for name, request in requests_of(document) for row in wrong_rows(shared, name, HTTP[name], request, said)
    ]
    assert not wrong, "\n".join(map(str, wrong))
    assert [text for text in said if SECRET in text] == []
    assert_nothing_told(shared)


def assert_nothing_told(shared: Shared) -> None:
    """The log and the metrics hold nothing that a caller sent."""
    assert SECRET not in shared.served.log.read_text()
    metrics = shared.call("boss", "GET", "/metrics").text
    assert SECRET not in metrics
    assert not [key for key in shared.secrets.values() if key in metrics + shared.served.log.read_text()]


@pytest.mark.contract
def test_each_caller_of_grpc_gets_what_the_table_says(shared: Shared) -> None:
    wrong = []
    with grpc.insecure_channel(shared.served.grpc) as channel:

        def code(method: str, key: str | None) -> str:
            metadata = () if key is None else (("authorization", f"Bearer {key}"),)
            replies: Any
            if method.endswith(("Stream", "Info")):
                replies = channel.stream_stream(f"/{method}", None, None)(
                    iter(()), timeout=PATIENCE_S, metadata=metadata
                )
            elif method.endswith("Watch"):
                replies = channel.unary_stream(f"/{method}", None, None)(b"", timeout=PATIENCE_S, metadata=metadata)
            else:
                replies = channel.unary_unary(f"/{method}", None, None).future(
                    b"", timeout=PATIENCE_S, metadata=metadata
                )
            try:
                if method.endswith(("Stream", "Info", "Watch")):
                    next(iter(replies), None)
                else:
                    replies.result()
            except grpc.RpcError as error:
                return str(error.code().name)
            finally:
                replies.cancel()
            return "OK"

        for method, access in GRPC.items():
            callers = {"none": None, "wrong": "wrong", **shared.secrets}
            for caller, key in callers.items():
                expected = {200: "OK", 12: "UNIMPLEMENTED"}[access.right]
                if access.needs != "nothing" and caller in ("none", "wrong"):
                    expected = "UNAUTHENTICATED"
                elif access.needs != "nothing" and access.needs not in CALLERS[caller]["scopes"]:
                    expected = "PERMISSION_DENIED"
                if (got := code(method, key)) != expected:
                    wrong.append((method, caller, got, expected))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.contract
@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.contract)])
def test_guesses_find_nothing_and_break_nothing(shared: Shared, count: int) -> None:
    things, chance = Things(shared), random.Random(count)
    mine = {of: things.make(of) for of in ("interaction", "job", "task", "session")}
    before = shared.call("red", "GET", f"/v1/interactions/{mine['interaction']}").json()
    jobs = {mine["job"]}
    with httpx.Client(base_url=shared.served.url, timeout=PATIENCE_S) as client:
        for _ in range(count):
            method, path, body, headers = _hostile(chance, mine)
            headers |= {"Authorization": f"Bearer {shared.secrets['blue-1']}"}
            reply = client.request(method, path, content=body, headers=headers)
            assert reply.status_code != 500, (method, path, body, headers)
            assert TASK["reference"] not in reply.text, (method, path, body, headers)
            if path == "/v1/jobs" and reply.status_code == 202:
                jobs.add(reply.json()["job_id"])
                assert reply.json()["job_id"] != mine["job"]
            elif reply.status_code == 200 and path.startswith(("/v1/jobs/", "/v1/interactions/")):
                pytest.fail(f"{method} {path} found something: {reply.text[:300]}")
    assert shared.call("red", "GET", f"/v1/interactions/{mine['interaction']}").json() == before
    assert shared.call("red", "GET", f"/v1/jobs/{mine['job']}?wait_s=30").json()["state"] == "done"
    assert_nothing_told(shared)
    lines = shared.served.logged()
    assert [line for line in lines if line["level"] == "error" or "exception" in line] == []


def _hostile(chance: random.Random, mine: dict[str, str]) -> tuple[str, str, bytes, dict[str, str]]:
    """A request that guesses at what the red team has, or means harm."""
    headers = chance.choice(
        [
            {},
            {"X-Run-Id": "red"},
            {"X-Tenant": "red"},
            {"X-Tenant": "default"},
            {"X-Tenant": "red,blue"},
            {"X-Tenant": ""},
        ]
    )
    name = _guess(chance, mine[chance.choice(["interaction", "job"])])
    kind = chance.randrange(7)
    if kind == 0:
        below = chance.choice(["", "/turns", "/..", "//", f"/../{quote(name)}", "?tenant=red"])
        return chance.choice(["GET", "DELETE", "POST"]), f"/v1/interactions/{name}{below}", b"{}", dict(headers)
    if kind == 1:
        query = chance.choice(
            ["", "?after=0", f"?after={chance.randrange(2**31)}", "?after=-1", "?tenant=red", "?wait_s=0"]
        )
        return chance.choice(["GET", "DELETE"]), f"/v1/jobs/{name}{query}", b"", dict(headers)
    if kind == 2:
        key = chance.choice([mine["session"], mine["job"], f"red/{mine['session']}", f"{SECRET}-2"])
        body = json.dumps({"items": [{"verifier": "exact_match", "response": "b", "reference": "c"}]}).encode()
        return "POST", "/v1/jobs", body, {"Idempotency-Key": key}
    if kind == 3:
        body = json.dumps({"reward_request_id": _guess(chance, mine["task"])}).encode()
        return "GET", "/compat/roll/task_result", body, dict(headers)
    if kind == 4:
        return "GET", f"/compat/openenv/state?episode_id={name}", b"", dict(headers)
    route = chance.choice(sorted(HTTP))
    method, _, path = route.partition(" ")
    garbage = chance.choice(
        [b"", b"{", b"[]", b"{}", b"null", b'"x"', b"[" * 2000, chance.randbytes(60), b'{"items":[7]}']
    )
    return method, path.replace("{id}", name), garbage, dict(headers)


def _guess(chance: random.Random, name: str) -> str:
    """The name itself, or what a store or a path may take for it. It is a part of a URL."""
    return chance.choice(
        [
            *(name,) * 10,
            *(f"red%2F{name}", f"red%252F{name}", f"red/{name}", f"default/{name}", f"%2F{name}", f"{name}%00"),
            *(f"{name}%0A", f"{name}.", name.upper(), name[:-1], f"{name}0", f"..%2Fred%2F{name}", f"{{red/{name}}}"),
            *(f"%7Bred%2F{name}%7D", f"rl1ix:%7Bred%2F{name}%7D", "*", "%2A", "?", "process:0", "%F0%9F%92%A9"),
        ]
    )
