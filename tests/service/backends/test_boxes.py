"""The service's boxes: which kind is taken, what is refused, and that nothing is left behind."""

import asyncio
from typing import Any

import pytest

from sandbox.base import Execute, Isolation, Program, RunResult, Sandbox, SandboxUnavailable
from sandbox.boxes.backend import Box, Profile
from sandbox.boxes.docker import DockerBackend
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from sandbox.self_check import Finding, Report
from service.backends.boxes import Boxes, Kind, kinds
from service.settings import Settings
from tests.virtual_time import in_virtual_time
from tests.waiting import turns, until

LOCAL = Kind("local", lambda: PooledSandbox(LocalBackend(), slots=1))
NO_DAEMON = Kind("docker", lambda: PooledSandbox(DockerBackend(address="unix:///nonexistent.sock"), slots=1))


async def nothing_found(sandbox: Sandbox) -> Report:
    return Report(sandbox.isolation, [Finding("network", True, "connects to the network")], ())


async def a_hole_found(sandbox: Sandbox) -> Report:
    return Report(sandbox.isolation, [Finding("network", False, "a program reached the network")], ())


async def broken(sandbox: Sandbox) -> Report:
    raise ZeroDivisionError


async def greeting(boxes: Boxes) -> bytes:
    results: list[RunResult] = []

    def take(_: int, result: RunResult) -> bool:
        results.append(result)
        return True

    built = await boxes.run(Program("print('hi')"), [Execute()], take)
    assert built.ok
    return results[0].stdout


@pytest.mark.parametrize(
    ("setting", "names"),
    [("auto", ["docker", "local"]), ("docker", ["docker"]), ("local", ["local"]), ("none", [])],
)
def test_the_setting_says_which_kinds_are_tried(setting: Any, names: list[str]) -> None:
    assert [kind.name for kind in kinds(Settings(sandbox=setting))] == names


async def test_the_first_kind_that_can_be_had_is_taken() -> None:
    boxes = Boxes([NO_DAEMON, LOCAL], nothing_found)
    await boxes.start()
    try:
        await boxes.settled()
        assert boxes.state == "ready"
        description = boxes.describe()
        assert description["kind"] == "local"
        assert description["isolation"] in (Isolation.NAMESPACES, Isolation.LANDLOCK)
        assert description["caveats"]
        assert "python" in description["languages"]
        assert [each["standing"] for each in description["kinds"]] == ["refused", "used"]
        assert "nonexistent" in description["refused"]["docker"]
        assert description["attacks_stopped"] == ["network"]
        assert description["boxes"].keys() == {"ready", "busy", "standing"}
        assert await greeting(boxes) == b"hi\n"
        assert boxes.cpu_s > 0
    finally:
        await boxes.stop()


async def test_a_program_waits_for_boxes_that_are_starting() -> None:
    boxes = Boxes([LOCAL], nothing_found)
    await boxes.start()
    try:
        assert boxes.state == "starting"
        assert boxes.describe()["kinds"] == [{"kind": "local", "standing": "starting"}]
        assert await greeting(boxes) == b"hi\n"
    finally:
        await boxes.stop()


async def test_without_any_kind_programs_are_refused_with_every_reason() -> None:
    boxes = Boxes([NO_DAEMON], nothing_found)
    await boxes.start()
    with pytest.raises(SandboxUnavailable, match=r"docker: .*nonexistent"):
        await greeting(boxes)
    assert boxes.state == "unavailable"
    assert boxes.slots == 0
    assert "nonexistent" in boxes.describe()["message"]
    await boxes.stop()


async def test_a_service_without_boxes_says_how_to_have_some() -> None:
    boxes = Boxes([], nothing_found)
    await boxes.start()
    with pytest.raises(SandboxUnavailable, match="setting `sandbox`"):
        await greeting(boxes)
    await boxes.stop()


class Breakable(LocalBackend):
    """Makes boxes until it is told to break, and again when it is whole."""

    is_broken = False

    async def make(self, profile: Profile, *, once: bool = False) -> Box:
        if self.is_broken:
            raise SandboxUnavailable("the daemon is gone")
        return await super().make(profile, once=once)


@pytest.mark.boxes
async def test_boxes_that_are_lost_are_told_until_there_are_some_again() -> None:
    backend = Breakable()
    boxes = Boxes([Kind("local", lambda: PooledSandbox(backend, slots=1, jobs_per_box=1))], nothing_found)
    await boxes.start()
    try:
        await boxes.settled()
        backend.is_broken = True
        assert await greeting(boxes) == b"hi\n", "in the last box"
        await _reaches(boxes, "lost")
        assert "the daemon is gone" in boxes.why
        assert boxes.describe()["message"] == boxes.why
        assert boxes.slots == 1, "they may come back"
        with pytest.raises(SandboxUnavailable, match="the daemon is gone"):
            await greeting(boxes)
        backend.is_broken = False
        await _reaches(boxes, "ready")
        assert boxes.why == boxes.describe()["message"] == ""
        assert await greeting(boxes) == b"hi\n"
    finally:
        await boxes.stop()


async def _reaches(boxes: Boxes, state: str) -> None:
    await until(lambda: boxes.state == state)


@pytest.mark.parametrize(
    ("check", "said"), [(a_hole_found, "a program reached the network"), (broken, "the server's log")]
)
async def test_a_kind_that_fails_its_self_check_runs_nothing(check: Any, said: str) -> None:
    boxes = Boxes([LOCAL], check)
    await boxes.start()
    with pytest.raises(SandboxUnavailable, match=said):
        await greeting(boxes)
    await boxes.stop()


async def test_stopped_while_starting_it_runs_nothing_more() -> None:
    boxes = Boxes([LOCAL], nothing_found)
    await boxes.start()
    await turns()
    await boxes.stop()
    with pytest.raises(SandboxUnavailable, match="stopping"):
        await greeting(boxes)


class Standing(Boxes):
    """Boxes with a state that the test sets."""

    now = "starting"

    @property
    def state(self) -> str:
        return self.now

    @property
    def why(self) -> str:
        return "the daemon is gone"


@in_virtual_time
async def test_boxes_that_are_lost_and_back_are_said_once_each_time(caplog: pytest.LogCaptureFixture) -> None:
    boxes = Standing([], nothing_found)
    reporting = asyncio.create_task(boxes.report())
    for boxes.now in ("starting", "ready", "lost", "ready"):
        await asyncio.sleep(60)
    reporting.cancel()
    assert [(record.message, vars(record)["fields"].get("why")) for record in caplog.records] == [
        ("the boxes are lost: items that need a box will be `failed`", "the daemon is gone"),
        ("the boxes are back", None),
    ]
