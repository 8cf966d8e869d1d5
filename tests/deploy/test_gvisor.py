"""Fronts and box hosts inside gVisor (`docker run --runtime=runsc`): a front with no rights, a box host with six of root's."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pytest

from deploy.docker import build
from tests.deploy.engine import ROOT, Engine
from tests.deploy.test_images import SEALED, _ask, _await_health, _program, _running
from tests.sandbox.hostile.arena import Setup
from tests.sandbox.hostile.test_hostile import BRIEF, NOT_PROMISED, RUNNER_IN_VIEW, demand, selected

RIGHTS = ("SETUID", "SETGID", "KILL", "DAC_OVERRIDE", "SYS_CHROOT", "SYS_ADMIN")
PYTHON = "/opt/rewardline/bin/python"
WITH_RIGHTS = tuple(word for right in RIGHTS for word in ("--cap-add", right))
EXCUSED: Mapping[str, str] = {
    **{name: why for name, why in NOT_PROMISED["gvisor"].items() if name != "devices"},
    "clock_games": RUNNER_IN_VIEW,  # a priority, which gVisor only remembers
    "js_native_doors": RUNNER_IN_VIEW,  # the runner's environment, in which nothing is of the service
}
TRIED = [name for name in selected(1) if name in BRIEF and name not in EXCUSED]
"""As many of each kind as show that a box host in gVisor is one; all are tried on boxes in gVisor and on local boxes."""

pytestmark = pytest.mark.deploy


@pytest.fixture(scope="module")
def runsc(docker_images: Engine) -> Engine:
    if "runsc" not in docker_images.run("docker", "info", "--format", "{{json .Runtimes}}"):
        pytest.skip("NOTHING INSIDE GVISOR: the daemon has no runtime `runsc`")
    return docker_images


def in_box_host(engine: Engine, *command: str, options: Sequence[str] = WITH_RIGHTS) -> str:
    """What a command says in a container of a box host, which has ended then."""
    run = ["docker", "run", "--rm", "--runtime", "runsc", *SEALED, *options, "--env", "REWARDLINE_HOST=127.0.0.1"]
    return engine.run(*run, "--entrypoint", command[0], build.BOX_HOST.name, *command[1:], check=False)


def test_a_front_without_any_right_judges_and_leaves_when_told(runsc: Engine) -> None:
    with _running(runsc, build.SERVER.name, "--runtime", "runsc") as container:
        _await_health(runsc, container)
        items = [{"verifier": "math", "response": f"\\boxed{{{n}}}", "reference": "x + 4 - x"} for n in ("4", "5")]
        results = _ask(runsc, container, items)
        assert [(result["status"], result["score"]) for result in results] == [("ok", 1.0), ("ok", 0.0)] * 2
        runsc.run("docker", "stop", "--time", "40", container)
        assert runsc.run("docker", "inspect", "--format", "{{.State.ExitCode}}", container).strip() == "0"


def test_a_box_host_runs_every_language(runsc: Engine) -> None:
    programs = {
        "python": "import numpy\nprint(numpy.array([1, 2]).sum())",
        "cpp": "#include <iostream>\nint main() { std::cout << 1 + 2; }",
        "java": "public class Main { public static void main(String[] a) { System.out.println(1 + 2); } }",
        "javascript": "console.log(1 + 2)",
        "bash": "echo $((1 + 2))",
    }
    with _running(runsc, build.BOX_HOST.name, "--runtime", "runsc", *WITH_RIGHTS) as container:
        _await_health(runsc, container)
        results = _ask(runsc, container, [_program(name, text) for name, text in programs.items()])
    assert [(result["status"], result["score"]) for result in results] == [("ok", 1.0)] * 2 * len(programs)


def test_boxes_hold_against_every_attack_of_the_self_check(runsc: Engine) -> None:
    said = in_box_host(runsc, "rewardline", "check-host", "--sandbox", "local", "--json")
    kinds: dict[str, dict[str, Any]] = {each["kind"]: each for each in json.loads(said)}
    boxes = kinds["local namespaces"]
    assert [finding for finding in boxes["findings"] if not finding["held"]] == []
    assert len(boxes["findings"]) > 15
    assert boxes["not_promised"] == ["shared_memory", "many_files"]
    assert boxes["caveats"][0].startswith("Boxes share one gVisor kernel")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (WITH_RIGHTS[:-2], "have the capabilities SYS_ADMIN"),
        (
            ("--user", "65533:65533"),
            "have the capabilities SETUID, SETGID, KILL, DAC_OVERRIDE, SYS_CHROOT, SYS_ADMIN",
        ),
        ((*WITH_RIGHTS, "--read-only=false"), "the root file system of this container must be read-only"),
    ],
)
def test_no_boxes_are_made_where_they_could_not_be_closed(runsc: Engine, options: Sequence[str], why: str) -> None:
    said = in_box_host(runsc, "rewardline", "check-host", "--sandbox", "local", "--short", "--json", options=options)
    tried = json.loads(said[said.index("[") : said.rindex("]") + 1])
    assert [each["available"] for each in tried] == [False, False]
    assert why in tried[0]["message"]


KILLED = """
import asyncio, os, signal, subprocess, sys, time
from pathlib import Path
from sandbox.boxes.backend import Profile
from sandbox.boxes.local import LocalBackend
STATE = Path("/tmp/state")
async def main(stays):
    backend = LocalBackend(python="/usr/bin/python3", state_dir=STATE)
    await backend.open()
    if stays:
        box = await backend.make(Profile.PLAIN)
        box._keeper.process.kill() if stays == "keeper" else None
        print("made", flush=True)
        await asyncio.sleep(600)
    await backend.close()
if len(sys.argv) > 1:
    asyncio.run(main(sys.argv[1]))
for who in ("keeper", "service"):
    service = subprocess.Popen([sys.executable, "-c", Path("/tmp/script").read_text(), who], stdout=subprocess.PIPE)
    assert service.stdout.readline() == b"made\\n"
    service.kill()
    service.wait()
    time.sleep(1)
    asyncio.run(main(""))
    mounts = [line for line in Path("/proc/mounts").read_text().splitlines() if str(STATE) in line]
    print(who, mounts, os.listdir(STATE), flush=True)
"""
"""A service that is killed, and before it its box's keeper; then the next service."""


def test_what_a_killed_service_had_mounted_is_taken_down_by_the_next(runsc: Engine) -> None:
    run = f"cat > /tmp/script <<'END'\n{KILLED}\nEND\nexec {PYTHON} /tmp/script"
    assert in_box_host(runsc, "sh", "-c", run) == "keeper [] []\nservice [] []\n"


def test_hostile_programs_are_held(runsc: Engine) -> None:
    setup = Setup("local", TRIED, "runsc", tier="auto", python="/usr/bin/python3", state_dir="/tmp/state")
    inside = ("sh", "-c", '"$@" & wait $!', "sh", PYTHON, "-B", "-m", "tests.deploy.arena_in_gvisor")
    mounted = ("--volume", f"{ROOT}/tests:/there/tests:ro", "--env", "PYTHONPATH=/there", "--memory", "6g")
    secret = ("--env", "SBX_CANARY_SECRET=0123456789abcdef0123456789abcdef")
    said = in_box_host(runsc, *inside, json.dumps(asdict(setup)), options=(*WITH_RIGHTS, *mounted, *secret))
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert "ending" in lines[-1], said[-3000:]
    demand(lines, TRIED, EXCUSED)
