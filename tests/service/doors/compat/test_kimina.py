"""The routes of kimina-lean-server over the stand-in of Lean's loop, in real boxes."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
import pytest_asyncio
from starlette.types import Message

from sandbox.base import Sandbox
from sandbox.boxes.absent import NoSandbox
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from service.doors.compat.door import Parts
from service.doors.compat.kimina import CHECK, HEALTH, VERIFY, Kimina
from service.errors import NotJudged, Unprocessable
from service.limits.admission import Admission
from service.observe.access_log import Call
from service.observe.metrics import Metrics
from service.settings import Settings
from tests.verifiers.lean.stand_in import WithLean

pytestmark = pytest.mark.asyncio(loop_scope="module")

RIGHT = "import Mathlib\n\ntheorem a : 1 + 1 = 2 := by rfl"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def door() -> AsyncIterator[Kimina]:
    boxes = WithLean(PooledSandbox(LocalBackend(), slots=2, standing=1))
    await boxes.start()
    yield door_over(boxes)
    await boxes.stop()


def door_over(boxes: Sandbox) -> Kimina:
    nothing = cast(Any, None)
    return Kimina(
        Parts(Settings(), Admission(100, 1 << 26), Metrics("test"), nothing, nothing, boxes, nothing, nothing)
    )


async def asked(door: Kimina, path: str, body: Any = None) -> Any:
    sent: list[Message] = []
    received = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

    async def receive() -> Message:
        if received:
            return received.pop()
        await asyncio.Event().wait()
        raise AssertionError("nothing sets this event")

    async def send(message: Message) -> None:
        sent.append(message)

    call = Call("http", path, "r")
    state = {"call": call, "headers": {b"content-type": b"application/json"}}
    method = "GET" if body is None else "POST"
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": [], "state": state}
    await door(scope, receive, send)
    assert sent[0]["status"] == 200
    return json.loads(b"".join(message.get("body", b"") for message in sent))


async def checked(door: Kimina, code: str, **more: Any) -> Any:
    (result,) = (await asked(door, CHECK[0], {"snippets": [{"id": "x", "code": code}], **more}))["results"]
    assert result["id"] == "x"
    return result


async def test_each_text_has_the_loops_answer_under_its_id(door: Kimina) -> None:
    codes = [{"custom_id": 7, "proof": RIGHT}, {"custom_id": "b", "code": RIGHT.replace("= 2", "= 3")}]
    first, second = (await asked(door, VERIFY[0], {"codes": codes, "timeout": 60}))["results"]
    assert (first["custom_id"], first["response"]["messages"], first["response"]["env"]) == ("7", [], 1)
    assert first["response"]["time"] > 0
    assert "error" not in first
    (message,) = second["response"]["messages"]
    assert (second["custom_id"], message["severity"], message["pos"]["line"]) == ("b", "error", 3)


async def test_sorries_and_errors_of_imports_are_told_as_the_loop_does(door: Kimina) -> None:
    result = await checked(door, "theorem a : 1 + 1 = 3 := by sorry", infotree="original")
    assert len(result["response"]["sorries"]) == 1
    assert result["time"] > 0
    result = await checked(door, "import Missing\ntheorem a : 1 = 1 := by rfl")
    assert result["response"] == {"message": "unknown module prefix 'Missing'"}


@pytest.mark.contract(beyond=1)
@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("theorem a : 1 = 1 := by loop", "Lean REPL command timed out in 0.3 seconds"),
        ("import Slow", "Lean REPL header command timed out in 0.3 seconds"),
        ("theorem a : 1 = 1 := by crash", "Lean REPL ended"),
        ("theorem a : 1 = 1 := by garbage", "Lean REPL ended"),
    ],
)
async def test_a_text_that_ends_its_process_is_an_error_and_no_answer(door: Kimina, code: str, says: str) -> None:
    result = await checked(door, code, timeout=0.3)
    assert says in result["error"]
    assert "response" not in result


async def test_without_lean_nothing_is_answered() -> None:
    with pytest.raises(NotJudged, match="sandbox_unavailable"):
        await asked(door_over(NoSandbox()), CHECK[1], {"snippets": [{"id": "x", "code": RIGHT}]})


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (VERIFY[1], {"codes": [{"custom_id": "a"}]}),
        (CHECK[0], {"snippets": []}),
        (CHECK[0], {"snippets": [{"id": "a", "code": ""}, {"id": "a", "code": ""}]}),
    ],
)
async def test_requests_of_another_shape_are_refused(door: Kimina, path: str, body: Any) -> None:
    with pytest.raises(Unprocessable):
        await asked(door, path, body)


async def test_clients_find_the_door(door: Kimina) -> None:
    assert await asked(door, HEALTH) == {"status": "ok"}
