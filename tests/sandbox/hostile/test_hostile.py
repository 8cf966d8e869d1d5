"""Every hostile program of tests/data/code, on every kind of boxes: no unearned pass, no effect outside, no neighbour
disturbed, all that comes after it judged as ever.
"""

import contextlib
import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import docker
import pytest

from tests.sandbox.containers import containers_of, states_of
from tests.sandbox.hostile import attacks, wall
from tests.sandbox.hostile.arena import Setup
from tests.waiting import eventually

IS_ROOT = os.geteuid() == 0
NOBODY = 65534
SHARED_PYTHON = "/usr/bin/python3"
only_root = pytest.mark.skipif(not IS_ROOT, reason="needs root")

ALL = attacks.load({})
IDS = [attack.id for attack in ALL]
HEAVY = frozenset({"cpp_template_bomb", "cpp_huge_image", "cpp_fork_bomb", "tests_eat_memory", "sigchld_storm"})


def by_kind(count: int) -> list[str]:
    """The first attacks of each kind."""
    kinds = sorted({attack.kind for attack in ALL})
    return [attack.id for kind in kinds for attack in [one for one in ALL if one.kind == kind][:count]]


def selected(count: int) -> list[str]:
    """All escapes, all that reach for the next program, so many of each other kind."""
    escapes = [attack.id for attack in ALL if attack.kind == "escape"]
    reaching = [attack.id for attack in ALL if attack.then is not None]
    return list(dict.fromkeys([*escapes, *reaching, *by_kind(count)]))


SELECTED = selected(4)
"""All escapes, all that reach for the next program, four of each other kind: for gVisor, where a run takes ten times as
long, and for the other tiers, whose limits and comparisons are the same code."""
BRIEF = [name for name in SELECTED if name not in attacks.SLEEPERS | HEAVY]
ONE_OF_EACH_CLASS = [
    "frames_on_every_fd", "call_forged_value", "programs_forged_replies", "fork_bomb", "mounts_all",
    "shared_things_for_next", "cpp_raw_calls", "js_patched_harness",
]  # fmt: skip
"""And one that reaches for the next program. An image without a compiler leaves out what it cannot compile."""

ONE_OF_EACH_AIM = ["call_forged_value", "fork_bomb", "mounts_all", "shared_things_for_next"]
"""A reward, resources, a way out, the next program: for the other tiers."""


def few_and(
    many: Sequence[str], excused: Mapping[str, str], few: Sequence[str] = ONE_OF_EACH_CLASS
) -> pytest.MarkDecorator:
    """Few, and many in a lane of their own."""
    all_ = [name for name in many if name not in excused]
    return pytest.mark.parametrize(
        "ids", [pytest.param(few, id="few"), pytest.param(all_, id="all", marks=pytest.mark.boxes)]
    )


WITH_ONE_ID = "Programs have the same user id as the runner of their box"
RUNNER_IN_VIEW = "Programs can see the memory layout, the environment and the open files' names of the runner"
NOT_PROMISED: Mapping[str, Mapping[str, str]] = {
    "gvisor": {
        "devices": RUNNER_IN_VIEW,  # and devices that gVisor itself emulates
        "dumpable_games": RUNNER_IN_VIEW,
        "ns_files": RUNNER_IN_VIEW,  # names of namespaces; to enter them is refused
        "priority_of_others": RUNNER_IN_VIEW,  # numbers that gVisor only remembers
        "clock_games": RUNNER_IN_VIEW,
        "js_native_doors": RUNNER_IN_VIEW,
        "cpp_int80": RUNNER_IN_VIEW,  # it prints the error, -22, as if that were a process id
    },
    "user": {"links_out": WITH_ONE_ID},
    "landlock": {},
}
"""Attacks which a kind makes no promise about, each with the beginning of the caveat that says so."""


def demand(lines: Sequence[Mapping[str, Any]], expected: Sequence[str], excused: Mapping[str, str]) -> None:
    """Fail with one short line for each thing that was wrong, which is all of the message."""
    wrong = unmet(lines, expected, excused)
    if wrong:
        faults = [f"{name}: {str(fault)[:300]}" for name, found in wrong.items() for fault in found]
        pytest.fail(f"{', '.join(wrong)[:300]}\n" + "\n".join(faults), pytrace=False)


def unmet(lines: Sequence[Mapping[str, Any]], expected: Sequence[str], excused: Mapping[str, str]) -> dict[str, Any]:
    """What was wrong, by attack; and what was not tried."""
    wrong = {line["id"]: line["troubles"] for line in lines if line.get("troubles")}
    for line in lines:
        wrong |= {name: line[name] for name in ("broken", "ending") if line.get(name)}
    tried = {line["id"] for line in lines if "id" in line}
    left_out = {name for line in lines for name in line.get("left_out", ())}
    missing = sorted(set(expected) - tried - left_out)
    caveats = [caveat for line in lines for caveat in line.get("caveats", ())]
    unfounded = [name for name, why in excused.items() if not any(caveat.startswith(why) for caveat in caveats)]
    return wrong | ({"not tried": missing} if missing else {}) | ({"not excused": unfounded} if unfounded else {})


@pytest.fixture
def programs_python(open_folder: Path) -> str:
    """An interpreter for programs that any user can run, with pytest installed."""
    home = open_folder / "venv"
    subprocess.run([SHARED_PYTHON, "-m", "venv", "--without-pip", home], check=True)
    (packages,) = home.glob("lib/python*/site-packages")
    for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py"):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        source = Path(spec.origin)
        if source.name == "__init__.py":
            shutil.copytree(source.parent, packages / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, packages)
    return str(home / "bin" / "python")


def service_python(uid: int) -> str:
    """An interpreter like ours, which that user can run with our packages."""
    ask = "import sys, msgspec, pydantic; print(sys.version_info[:2])"
    environment = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if "site-packages" in path)}
    for python in (sys.executable, SHARED_PYTHON):
        try:
            asked = subprocess.run(
                [python, "-B", "-c", ask],
                user=uid, group=uid, extra_groups=[], env=environment, cwd="/", capture_output=True, text=True,
            )  # fmt: skip
        except PermissionError:
            continue
        if asked.returncode == 0 and asked.stdout.strip() == str(sys.version_info[:2]):
            return python
    pytest.skip(f"NO ATTACKS AS AN ORDINARY USER: no interpreter that user {uid} could run with our packages")


def state_of(open_folder: Path, uid: int) -> str:
    state = open_folder / "state"
    state.mkdir()
    os.chown(state, uid, uid)
    return str(state)


def fight(
    setup: Setup, open_folder: Path, python: str = sys.executable, uid: int | None = None
) -> list[Mapping[str, Any]]:
    return list(wall.report(setup, python, open_folder, uid, secrets.token_hex(16)))


def in_containers(
    address: str, open_folder: Path, ids: Sequence[str], runtime: str | None = None, excused: Mapping[str, str] = {}
) -> None:
    owner = f"hostile-{secrets.token_hex(4)}"
    setup = Setup("docker", ids, runtime, address, owner, state_dir=str(open_folder / "none"))
    with contextlib.closing(docker.APIClient(address, version="auto")) as client:
        try:
            demand(fight(setup, open_folder), ids, excused)
            # A daemon with much to do may still be at what it was asked.
            eventually(lambda: not containers_of(client, owner), lambda: states_of(client, owner))
        finally:
            for container in containers_of(client, owner):
                with contextlib.suppress(docker.errors.NotFound):
                    client.remove_container(container, force=True)


def test_one_of_each_class_are_of_all_classes() -> None:
    assert {attack.kind for attack in ALL if attack.id in ONE_OF_EACH_CLASS} == {attack.kind for attack in ALL}


@pytest.mark.boxes
@few_and(IDS, {})
@only_root
def test_docker_boxes_hold(docker_address: str, open_folder: Path, ids: Sequence[str]) -> None:
    in_containers(docker_address, open_folder, ids)


@pytest.mark.boxes
@only_root
def test_docker_boxes_of_gvisor_hold(docker_address: str, open_folder: Path) -> None:
    client = docker.APIClient(docker_address, version="auto")
    known = client.info()["Runtimes"]
    client.close()
    if "runsc" not in known:
        pytest.skip("NO ATTACKS IN GVISOR: the daemon has no runtime `runsc`")
    excused = NOT_PROMISED["gvisor"]
    in_containers(docker_address, open_folder, [name for name in SELECTED if name not in excused], "runsc", excused)


@pytest.mark.boxes
@few_and(IDS, {})
@only_root
def test_local_boxes_of_root_hold(open_folder: Path, ids: Sequence[str]) -> None:
    lines = fight(Setup("local", ids, state_dir=state_of(open_folder, 0)), open_folder)
    demand(lines, ids, {})


@few_and(IDS, {})
@only_root
def test_boxes_that_are_forked_and_used_once_hold(open_folder: Path, ids: Sequence[str]) -> None:
    lines = fight(Setup("local", ids, fresh=True, state_dir=state_of(open_folder, 0)), open_folder)
    demand(lines, ids, {})


@pytest.mark.boxes
@few_and(BRIEF, NOT_PROMISED["user"], ONE_OF_EACH_AIM)
def test_local_boxes_of_an_ordinary_user_hold(open_folder: Path, programs_python: str, ids: Sequence[str]) -> None:
    uid = NOBODY if IS_ROOT else None
    setup = Setup(
        "local", ids, python=programs_python, state_dir=state_of(open_folder, NOBODY if IS_ROOT else os.geteuid())
    )
    lines = fight(setup, open_folder, service_python(NOBODY) if IS_ROOT else sys.executable, uid)
    demand(lines, ids, NOT_PROMISED["user"])


@pytest.mark.boxes
@few_and(BRIEF, NOT_PROMISED["landlock"], ONE_OF_EACH_AIM)
@only_root
def test_boxes_of_the_lower_tier_hold_what_they_promise(
    open_folder: Path, programs_python: str, ids: Sequence[str]
) -> None:
    setup = Setup("local", ids, tier="landlock", python=programs_python, state_dir=state_of(open_folder, 0))
    demand(fight(setup, open_folder), ids, NOT_PROMISED["landlock"])
