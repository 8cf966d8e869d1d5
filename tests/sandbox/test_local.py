"""Boxes made with the kernel's own means, as far as this machine has them; what runs in them here is a probe of ours."""

import asyncio
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from glob import glob
from pathlib import Path
from typing import Any

import pytest

from sandbox.base import Isolation, SandboxUnavailable
from sandbox.boxes.backend import BoxSize, Profile
from sandbox.boxes.bootstrap import first_frame
from sandbox.boxes.local import LocalBackend, backend, cgroups, interpreter, state_directory, user_ids
from sandbox.boxes.local.backend import Tier
from sandbox.boxes.local.removal import remove_tree
from sandbox.boxes.pool.pooled_box import PooledBox
from sandbox.languages import all_languages
from tests.processes import children, descendants
from tests.sandbox.box_probe import LEAVE_BEHIND, MARKED, found
from tests.sandbox.processes import groups_of, is_there
from tests.waiting import PATIENCE_S, turns, until

ROOT = Path(__file__).parents[2]
NOBODY = 65534
IS_ROOT = os.geteuid() == 0
USUAL_SIZE = BoxSize()
SHARED_PYTHON = "/usr/bin/python3"
"""One that any user can run; the project's own may be installed in somebody's home."""

needs_cgroups = pytest.mark.skipif(cgroups.find_parents() is None, reason="no control groups can be made here")
only_root = pytest.mark.skipif(not IS_ROOT, reason="needs root")
IS_SHOWN_ELSEWHERE = sys.prefix.startswith(("/tmp/", "/dev/", "/box/", "/proc/"))
only_forked = pytest.mark.skipif(
    not IS_ROOT or IS_SHOWN_ELSEWHERE,
    reason="boxes are forked only by root, from an interpreter that they show in its place",
)
both_kinds = pytest.mark.parametrize("once", [False, True], ids=["lasting", "once"])
"""Of boxes: those used once are made by forking."""
BRANCHES = """
import os, time
found["children"] = [os.fork() or (os.setsid(), time.sleep(1000)) for _ in range(3)]
"""
both_tiers = pytest.mark.parametrize("tier", ["namespaces", "landlock"])


@asynccontextmanager
async def open_backend(
    directory: Path, size: BoxSize = USUAL_SIZE, tier: Tier = "namespaces"
) -> AsyncIterator[LocalBackend]:
    """A backend, where this machine lets it make boxes of this tier."""
    python = SHARED_PYTHON if tier == "landlock" else None
    made = LocalBackend(size, python, tier, directory)
    try:
        await made.open()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    try:
        yield made
    finally:
        await made.close()


async def probed(made: LocalBackend, probe: str, *, once: bool = False) -> dict[str, Any]:
    box = await made.make(Profile.PLAIN, once=once)
    try:
        return await found(box, probe)
    finally:
        await box.destroy()


def running(mark: str) -> list[int]:
    """Processes with the mark in their command line."""
    pids = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (process / "cmdline").read_bytes():
                pids.append(int(process.name))
    return pids


async def until_running(count: int, mark: str) -> None:
    """When so many processes have the mark."""
    await until(lambda: len(running(mark)) == count, lambda: running(mark))


def the_directory(directory: Path) -> Path:
    (only,) = directory.iterdir()
    return only


def entries(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def living_in_groups(name: str, *, are_kept: bool) -> list[str]:
    """What is in the groups of a service; the groups themselves, if none may be kept for another box."""
    if not are_kept:
        return [str(group) for group in groups_of(name)]
    return [pid for group in groups_of(name) for pid in (group / "cgroup.procs").read_text().split()]


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def own_mounts() -> str:
    return Path("/proc/self/mountinfo").read_text()


def make_for_nobody(directory: Path) -> None:
    directory.mkdir()
    os.chown(directory, NOBODY, NOBODY)


@pytest.fixture
def state_dir(tmp_path: Path) -> Iterator[Path]:
    """Below directories that other users can pass through, as boxes without a mount namespace need it."""
    for directory in (tmp_path, *tmp_path.parents):
        if directory == Path(tempfile.gettempdir()):
            break
        if directory.stat().st_uid == os.geteuid():
            directory.chmod(directory.stat().st_mode | 0o011)
    yield tmp_path / "state"
    remove_tree(tmp_path / "state")


@both_kinds
async def test_a_box_sees_the_system_and_the_interpreter_and_nothing_else_of_the_machine(
    state_dir: Path, once: bool
) -> None:
    hidden = ["/etc/shadow", "/home", "/var", "/run", "/sys", str(ROOT / "pyproject.toml"), str(ROOT / "sandbox")]
    probe = f"""
import os, sys
for place in ("/", "/etc", "/dev"):
    found[place] = sorted(os.listdir(place))
found["visible"] = [path for path in {hidden!r} if os.path.exists(path)]
found["prefix"] = sys.prefix
"""
    async with open_backend(state_dir) as made:
        seen = await probed(made, probe, once=once)
    shown = [path for each in all_languages().values() for pattern in each.configuration for path in glob(pattern)]
    passed = {str(parent) for prefix in (sys.prefix, sys.base_prefix) for parent in Path(prefix).parents}
    passed |= {str(parent) for path in shown for parent in Path(path).parents}
    assert set(seen["visible"]) <= passed  # on the way to the interpreter, or to what a compiler reads
    system = {"bin", "box", "dev", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc", "sbin", "tmp", "usr"}
    assert set(seen["/"]) <= system | {Path(path).parts[1] for path in (sys.prefix, sys.base_prefix, *shown)}
    of_languages = {Path(path).parts[2] for path in shown if path.startswith("/etc/")}
    assert set(seen["/etc"]) <= {"alternatives", "group", "hosts", "ld.so.cache", "passwd"} | of_languages
    assert seen["/dev"] == ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
    is_hidden = sys.prefix.startswith("/tmp/")  # by the box's own /tmp, so it is put elsewhere
    assert seen["prefix"] == ("/opt/python" if is_hidden else sys.prefix)


@both_kinds
async def test_nothing_can_be_written_but_the_boxs_own_directories_which_have_a_size(
    state_dir: Path, once: bool
) -> None:
    probe = """
import os
found["written"] = []
library = os.path.dirname(os.__file__)
for place in ("/", "/usr", "/usr/lib", "/etc", "/dev", "/proc", library, "/box", "/tmp", "/dev/shm"):
    try:
        os.close(os.open(place + "/written", os.O_CREAT | os.O_WRONLY))
        found["written"].append(place)
    except OSError:
        pass
for place in ("/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches"):
    try:
        open(place, "w")
        found["written"].append(place)
    except OSError:
        pass
own = ("/box", "/tmp", "/dev/shm")
found["mb"] = {place: os.statvfs(place).f_blocks * os.statvfs(place).f_frsize >> 20 for place in own}
found["flags"] = {line.split()[4]: line.split()[5].split(",") for line in open("/proc/self/mountinfo")}
"""
    async with open_backend(state_dir, BoxSize(disk_mb=64)) as made:
        seen = await probed(made, probe, once=once)
    assert seen["written"] == ["/box", "/tmp", "/dev/shm"]
    assert seen["mb"] == {"/box": 64, "/tmp": 16, "/dev/shm": 16}
    assert {place for place, flags in seen["flags"].items() if "nosuid" not in flags} == set()
    with_devices = {place for place, flags in seen["flags"].items() if "nodev" not in flags}
    assert with_devices <= {place for place in seen["flags"] if place.startswith(("/dev/", "/proc/"))} - {"/dev/shm"}


@both_kinds
async def test_a_box_has_processes_and_a_network_of_its_own(state_dir: Path, once: bool) -> None:
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    probe = f"""
import os, socket
found["pid"] = os.getpid()
found["processes"] = [int(name) for name in os.listdir("/proc") if name.isdigit()]
found["interfaces"] = [name for _, name in socket.if_nameindex()]
found["host"] = socket.gethostname()
try:
    socket.create_connection(("127.0.0.1", {server.sockets[0].getsockname()[1]}), 1)
    found["connected"] = True
except OSError:
    found["connected"] = False
"""
    async with server, open_backend(state_dir) as made:
        seen = await probed(made, probe, once=once)
    assert seen == {"pid": 1, "processes": [1], "interfaces": ["lo"], "host": "box", "connected": False}


@both_kinds
@both_tiers
async def test_a_box_has_few_rights_a_clean_environment_and_only_its_socket(
    state_dir: Path, once: bool, tier: Tier
) -> None:
    probe = """
import os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
found["capabilities"] = [int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")]
found["no_new_privs"] = int(status["NoNewPrivs"])
found["environment"] = dict(os.environ)
found["descriptors"] = {}
for name in os.listdir("/proc/self/fd"):
    try:
        found["descriptors"][name] = os.readlink("/proc/self/fd/" + name)
    except OSError:
        pass
"""
    async with open_backend(state_dir, tier=tier) as made:
        box = await made.make(Profile.PLAIN, once=once)
        try:
            seen = await found(box, probe)
        finally:
            await box.destroy()
    inherited, permitted, effective, ambient = seen["capabilities"]
    assert inherited == ambient == 0
    runner_may = 0 if box.configuration.single_uid else 1 << 1 | 1 << 5 | 1 << 6 | 1 << 7
    assert permitted | effective == runner_may
    assert seen["no_new_privs"] == 1
    assert seen["environment"]["PYTHONHASHSEED"] == "0"
    assert not {"HOME", "USER", "PWD", "PYTEST_CURRENT_TEST", "PYTEST_VERSION"} & seen["environment"].keys()
    counter = box.configuration.memory_events
    assert seen["descriptors"].keys() == {"0", "1", "2", "3"} | ({str(counter)} if counter else set())
    assert seen["descriptors"]["0"] == seen["descriptors"]["1"] == "/dev/null"


@pytest.mark.boxes(beyond=1)
@both_kinds
@only_root
@both_tiers
async def test_runs_can_have_user_ids_of_their_own_that_no_other_box_has(
    state_dir: Path, once: bool, tier: Tier
) -> None:
    probe = """
import os
if os.fork() == 0:
    os.setgroups([])
    uid = configuration["first_uid"] + 2 * configuration["uids"] - 1
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    os._exit(7 if "CapEff:\\t0000000000000000" in open("/proc/self/status").read() else 1)
found["exit"] = os.waitstatus_to_exitcode(os.wait()[1])
found["uid_map"] = open("/proc/self/uid_map").read().split()
"""
    async with open_backend(state_dir, tier=tier) as made:
        boxes = [await made.make(Profile.PLAIN, once=once) for _ in range(2)]
        try:
            seen = [await found(box, probe) for box in boxes]
        finally:
            await asyncio.gather(*(box.destroy() for box in boxes))
    assert [each["exit"] for each in seen] == [7, 7]
    mapped = [int(each["uid_map"][1]) for each in seen]
    firsts = mapped if tier == "namespaces" else [box.configuration.first_uid for box in boxes]
    assert len(set(firsts)) == 2
    assert min(firsts) > 100_000


@both_kinds
@needs_cgroups
async def test_a_box_that_takes_more_memory_than_it_may_is_known_to_have_died_of_it(
    state_dir: Path, once: bool
) -> None:
    async with open_backend(state_dir, BoxSize(memory_mb=32)) as made:
        box = await made.make(Profile.PLAIN, once=once)
        try:
            with pytest.raises(AssertionError):
                await found(box, "held = b'x' * (400 << 20)")
            assert await box.died_of_memory()
        finally:
            await box.destroy()
        assert await box.died_of_memory()


@both_kinds
async def test_a_box_that_ended_by_itself_did_not_die_of_memory_and_its_words_are_kept(
    state_dir: Path, once: bool
) -> None:
    async with open_backend(state_dir) as made:
        box = await made.make(Profile.PLAIN, once=once)
        try:
            with pytest.raises(AssertionError):
                await found(box, "import os; os.write(2, b'farewell'); os._exit(3)")
            assert not await box.died_of_memory()
            assert await box.stderr_text() == "farewell"
        finally:
            await box.destroy()
        assert await box.stderr_text() == "farewell"


@both_kinds
async def test_a_boxs_end_is_seen_by_all_who_wait_for_it(state_dir: Path, once: bool) -> None:
    async with open_backend(state_dir) as made:
        box = await made.make(Profile.PLAIN, once=once)
        assert isinstance(box, backend.LocalBox)
        waiting = [asyncio.create_task(box._keeper.wait(None)) for _ in range(3)]
        await turns()
        async with asyncio.timeout(PATIENCE_S):
            await box.destroy()
            assert all(await asyncio.gather(*waiting))


@both_kinds
async def test_who_waits_for_a_boxs_end_is_told_also_if_it_is_destroyed_at_that_moment(
    state_dir: Path, once: bool
) -> None:
    async with open_backend(state_dir) as made:
        box = await made.make(Profile.PLAIN, once=once)
        assert isinstance(box, backend.LocalBox)
        waiting = asyncio.create_task(box._keeper.wait(None))
        await turns()
        box._keeper.process.terminate()
        box._keeper.process.wait()  # in the loop's own thread, so that the loop does not see it first
        async with asyncio.timeout(PATIENCE_S):
            await box.destroy()
            assert await waiting


async def test_a_box_that_is_gone_says_nothing_of_who_has_its_descriptor_now(state_dir: Path) -> None:
    async with open_backend(state_dir) as made:
        box = await made.make(Profile.PLAIN)
        assert isinstance(box, backend.LocalBox)
        await box.destroy()
        reading, writing = os.pipe()
        try:
            os.write(writing, b"not for you")
            box._keeper._stderr = reading
            assert await box.stderr_text() == ""
            assert os.read(reading, 100) == b"not for you"
        finally:
            os.close(reading)
            os.close(writing)


@both_kinds
@needs_cgroups
async def test_a_box_has_only_so_many_processes(state_dir: Path, once: bool) -> None:
    probe = """
import os, time
found["started"] = 0
try:
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(1000)
            os._exit(0)
        found["started"] += 1
except OSError:
    pass
"""
    async with open_backend(state_dir, BoxSize(processes=20)) as made:
        seen = await probed(made, probe, once=once)
    assert 20 <= seen["started"] < 30, "its own, beside the few of the runner"


@pytest.mark.boxes(beyond=1)
@both_kinds
@both_tiers
async def test_a_destroyed_box_leaves_no_process_group_directory_or_descriptor(
    state_dir: Path, once: bool, tier: Tier
) -> None:
    mark = f"left-by-{os.getpid()}-{tier}"
    async with open_backend(state_dir, tier=tier) as made:
        await (await made.make(Profile.PLAIN, once=once)).destroy()
        before, kept = (descriptors(), children()), entries(the_directory(state_dir))
        box = await made.make(Profile.PLAIN, once=once)
        assert len(children() - before[1]) == 1
        await found(box, f"MARK = {mark!r}\n{LEAVE_BEHIND}")
        await until_running(MARKED, mark)
        await box.destroy()
        assert running(mark) == []
        name = the_directory(state_dir).name
        assert living_in_groups(name, are_kept=once) == []
        assert entries(the_directory(state_dir)) == kept
        assert (descriptors(), children()) == before
    assert groups_of(name) == []
    assert str(state_dir) not in own_mounts()
    assert entries(state_dir) == set()


@both_kinds
@pytest.mark.leaks
async def test_fifty_boxes_leave_nothing(state_dir: Path, once: bool) -> None:
    async with open_backend(state_dir) as made:
        await (await made.make(Profile.PLAIN, once=once)).destroy()
        before = descriptors(), children()
        for _ in range(10):
            boxes = [await made.make(Profile.PLAIN, once=once) for _ in range(5)]
            await asyncio.gather(*(found(box, "found['pid'] = 1") for box in boxes))
            await asyncio.gather(*(box.destroy() for box in boxes))
        assert (descriptors(), children()) == before
        name = the_directory(state_dir).name
        assert living_in_groups(name, are_kept=once) == []
    assert groups_of(name) == []
    assert entries(state_dir) == set()


async def test_a_box_can_be_destroyed_twice_and_by_a_caller_that_is_cancelled(state_dir: Path) -> None:
    async with open_backend(state_dir) as made:
        before = children()
        box = await made.make(Profile.PLAIN)
        destroying = asyncio.create_task(box.destroy())
        await turns(1)
        destroying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await destroying
        await box.destroy()
        await box.destroy()
        assert children() == before


async def test_closing_ends_boxes_that_nobody_waits_for(state_dir: Path) -> None:
    """A box whose owner was cancelled while it ended the box, and one whose owner has lost it."""
    before = children()
    async with open_backend(state_dir) as made:
        box = await made.make(Profile.PLAIN)
        await made.make(Profile.PLAIN)
        destroying = asyncio.create_task(box.destroy())
        await turns(1)
        destroying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await destroying
    assert children() == before


@only_forked
async def test_boxes_are_made_on_after_what_forks_them_was_killed(state_dir: Path) -> None:
    others = children()
    async with open_backend(state_dir) as made:
        await probed(made, "found['one'] = True", once=True)
        forkserver = children() - others
        assert len(forkserver) == 1
        box = await made.make(Profile.PLAIN, once=True)
        for pid in forkserver:
            os.kill(pid, signal.SIGKILL)
        assert (await found(box, "found['alive'] = True")) == {"alive": True}
        await box.destroy()
        assert await probed(made, "found['another'] = True", once=True) == {"another": True}
        assert len(children() - others) == 1
        assert not forkserver & children()
    assert children() == others


def of_namespaces(pid: int) -> list[int]:
    """The ids of a process, from the outermost namespace to its own."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return [int(number) for number in re.findall(r"^NSpid:(.*)$", status, re.MULTILINE)[0].split()]


@only_forked
async def test_a_box_that_is_forked_is_one_process_and_needs_no_runner_sent(state_dir: Path) -> None:
    async with open_backend(state_dir) as made:
        box = await made.make(Profile.PLAIN, once=True)
        assert isinstance(box, backend.LocalBox)
        own = box._keeper.process.pid
        assert await found(box, "import os\nfound['own'] = os.getpid()") == {"own": 1}
        assert of_namespaces(own)[-1] == 1, "the service's own child is process 1"
        assert descendants(own) == set()
        await box.destroy()
        loaded = await PooledBox.make(made, Profile.PLAIN, once=True)
        assert len(first_frame(loaded.box.configuration, has_runner=loaded.box.has_runner)) < 10_000
        loaded.link.close()
        await loaded.box.destroy()


@only_forked
@pytest.mark.parametrize("is_killed", [True, False], ids=["killed", "left"])
async def test_a_box_that_is_forked_ends_with_everything_in_it(state_dir: Path, is_killed: bool) -> None:
    """Process 1 sees that its socket is closed, or is killed before it does: nothing in the box outlives it either way."""
    async with open_backend(state_dir) as made:
        box = await made.make(Profile.PLAIN, once=True)
        assert isinstance(box, backend.LocalBox)
        assert len((await found(box, BRANCHES))["children"]) == 3
        own = box._keeper.process.pid
        below = descendants(own)
        assert len(below) == 3
        end = box._keeper.process.kill if is_killed else box.connection.close
        end()
        assert await box._keeper.wait(PATIENCE_S)
        assert box._keeper.process.returncode == (128 + signal.SIGKILL if is_killed else 0)
        assert not any(map(is_there, (own, *below)))
        await box.destroy()


@only_forked
async def test_a_box_that_is_forked_is_gone_once_it_is_destroyed(state_dir: Path) -> None:
    async with open_backend(state_dir) as made:
        box = await made.make(Profile.PLAIN, once=True)
        assert isinstance(box, backend.LocalBox)
        await found(box, BRANCHES)
        own = box._keeper.process.pid
        members = (own, *descendants(own))
        assert len(members) == 4
        await box.destroy()
        assert not any(map(is_there, members))


@only_forked
async def test_a_box_knows_nothing_of_boxes_before_it(state_dir: Path) -> None:
    """What forks both has read nothing of either; and the control: what was sent to this one is found."""
    probe = """
def is_in(content, name):
    begin, end = name
    place = content.find(begin)
    while place >= 0 and not content.startswith(end, place + len(begin)):
        place = content.find(begin, place + 1)
    return place >= 0
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb") as memory:
    seen = set()
    for line in maps:
        start, end = (int(place, 16) for place in line.split()[0].split("-"))
        if "rw" in line.split()[1]:
            memory.seek(start)
            content = memory.read(end - start)
            seen |= {{name for name in {names} if is_in(content, name)}}
found["seen"] = sorted((begin + end).decode() for begin, end in seen)
"""
    async with open_backend(state_dir) as made:
        boxes = []
        for number in range(2):
            boxes.append(await made.make(Profile.PLAIN, once=True))
            marks = [f"/{box.name}-{place}" for place, box in enumerate(boxes)]
            names = [(mark[:9].encode(), mark[9:].encode()) for mark in marks]
            assert await found(boxes[-1], f"{probe.format(names=names)}# {marks[-1]}") == {"seen": [marks[number]]}
            await boxes[-1].destroy()


@contextmanager
def _readable_code() -> Iterator[Path]:
    """What the service of another user runs, where that user can read it: the checkout may be in somebody's home."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        code = Path(made)
        code.chmod(0o755)
        for package in ("sandbox", "memory"):
            shutil.copytree(ROOT / package, code / package, ignore=shutil.ignore_patterns("__pycache__"))
        probe = code / "tests" / "sandbox" / "box_probe.py"
        probe.parent.mkdir(parents=True)
        shutil.copy(ROOT / "tests" / "sandbox" / "box_probe.py", probe)
        yield code


@contextmanager
def another_service(state_dir: Path, tier: Tier, mark: str, user: int | None = None, *before: str) -> Iterator[Any]:
    """A service of its own process with two boxes, and what it says of them."""
    whose: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    command = [*before, SHARED_PYTHON, "-s", "-m", "tests.sandbox.box_probe", str(state_dir), tier, mark]
    with (
        _readable_code() as code,
        subprocess.Popen(
            command, cwd=code, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **whose
        ) as service,
    ):
        assert service.stdin
        assert service.stdout
        assert service.stderr
        try:
            line = service.stdout.readline()
            if not line:
                words = service.stderr.read()
                if "no box can be made here" in words:
                    pytest.skip(words.splitlines()[-1])
                raise AssertionError(words)
            yield service, json.loads(line)
            if service.poll() is None:
                service.stdin.close()
                assert service.wait(PATIENCE_S) == 0, service.stderr.read()
        finally:
            service.kill()


@pytest.mark.boxes
@both_tiers
async def test_boxes_end_with_a_killed_service_and_the_next_one_removes_the_rest(state_dir: Path, tier: Tier) -> None:
    mark = f"killed-{os.getpid()}-{tier}"
    with another_service(state_dir, tier, mark) as (service, _):
        name = the_directory(state_dir).name
        await until_running(MARKED * 2 + 1, mark)  # and the service
        below = descendants(service.pid)
        assert len(below) > MARKED * 2 + 1
        service.send_signal(signal.SIGKILL)
        service.wait()
        await until_running(0, mark)
        await until(lambda: not any(map(is_there, below)))
    assert the_directory(state_dir).name == name
    async with open_backend(state_dir, tier=tier):
        assert the_directory(state_dir).name != name
        assert groups_of(name) == []


async def test_a_living_service_is_left_alone_by_another_with_the_same_directory(state_dir: Path) -> None:
    mark = f"living-{os.getpid()}"
    with another_service(state_dir, "namespaces", mark):
        name = the_directory(state_dir).name
        async with open_backend(state_dir):
            assert name in entries(state_dir)
        await until_running(MARKED * 2 + 1, mark)


@only_root
@both_tiers
async def test_an_ordinary_user_has_boxes_with_one_user_id_that_leave_nothing_either(
    state_dir: Path, tier: Tier
) -> None:
    mark = f"ordinary-{os.getpid()}-{tier}"
    make_for_nobody(state_dir)
    with another_service(state_dir, tier, mark, NOBODY) as (_, said):
        assert said["isolation"] == tier
        assert said["single_uid"] == [True, True]
        assert any("same user id" in caveat for caveat in said["caveats"])
        if tier == "namespaces":
            assert [each["ids"] for each in said["seen"]] == [[1000, 1], [1000, 1]]
    assert running(mark) == []
    assert entries(state_dir) == set()


@only_root
async def test_where_namespaces_are_denied_landlock_is_used_and_named(state_dir: Path) -> None:
    make_for_nobody(state_dir)
    drop = "setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --"
    deny = f'echo 0 > /proc/sys/user/max_user_namespaces && exec {drop} "$@"'
    alone = ["unshare", "--user", "--map-root-user", "sh", "-c", deny, "sh"]
    with another_service(state_dir, "auto", f"denied-{os.getpid()}", NOBODY, *alone) as (_, said):
        assert said["isolation"] == Isolation.LANDLOCK
        assert any("namespace" in caveat for caveat in said["caveats"])


async def test_without_namespaces_and_landlock_nothing_is_run(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_landlock_version", lambda: 0)
    made = LocalBackend(python=SHARED_PYTHON, tier="landlock", state_dir=state_dir)
    with pytest.raises(SandboxUnavailable, match="Landlock"):
        await made.open()
    assert entries(state_dir) == set()
    with pytest.raises(SandboxUnavailable, match="not open"):
        await made.make(Profile.PLAIN)


@only_root
@pytest.mark.parametrize("tier", ["auto", "landlock"])
async def test_root_that_could_not_be_kept_from_forking_gets_no_boxes(
    state_dir: Path, tier: Tier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "find_parents", lambda: None)
    monkeypatch.setattr(user_ids, "ranges", lambda may_share: None)
    with pytest.raises(SandboxUnavailable, match="ordinary user"):
        await LocalBackend(python=SHARED_PYTHON, tier=tier, state_dir=state_dir).open()
    assert entries(state_dir) == set()


async def test_an_interpreter_that_is_not_there_is_said(state_dir: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="/no/python"):
        await LocalBackend(python="/no/python", state_dir=state_dir).open()


def test_an_environment_below_tmp_is_shown_elsewhere_since_boxes_have_a_tmp_of_their_own(tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    subprocess.run([SHARED_PYTHON, "-m", "venv", "--without-pip", environment], check=True)
    python = interpreter.inspect(str(environment / "bin" / "python"))
    if not str(environment).startswith("/tmp/"):
        pytest.skip("the tests' directory is not below /tmp")
    assert python.python_inside == "/opt/python/bin/python"
    assert (str(environment), "/opt/python") in python.visible


def test_a_directory_that_belongs_to_somebody_else_is_not_used(state_dir: Path) -> None:
    if not IS_ROOT:
        pytest.skip("needs root")
    make_for_nobody(state_dir)
    with pytest.raises(SandboxUnavailable, match="another user"):
        state_directory.acquire(state_dir, None)


def test_only_directories_of_dead_services_are_removed(state_dir: Path) -> None:
    living = state_directory.acquire(state_dir, None)
    for name in ("123-456-0123abcd", "somebody's own"):
        (state_dir / name / "deep").mkdir(parents=True)
    (state_dir / "123-456-0123abcd" / "lock").touch()
    later = state_directory.acquire(state_dir, None)
    assert entries(state_dir) == {living.name, later.name, "somebody's own"}
    later.release()
    living.release()
    assert entries(state_dir) == {"somebody's own"}


def test_only_groups_that_stay_empty_and_whose_maker_is_gone_are_removed(
    state_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders stand for groups: those cannot be removed either while something is in them."""
    me = state_directory.acquire(state_dir, None)
    groups = tmp_path / "groups"
    ours, reused = f"{me.name}-1", f"{os.getpid()}-1-0123abcd-1"
    gone, coming, others = "999999999-5-0123abcd-1", "999999999-6-0123abcd-1", "somebody's own"
    for name in (ours, reused, gone, coming, others):
        (groups / name).mkdir(parents=True)

    def settle(seconds: float) -> None:
        (groups / coming / "a box of a service out of sight").mkdir()

    monkeypatch.setattr("time.sleep", settle)
    later = state_directory.acquire(state_dir, cgroups.Parents(2, dict.fromkeys(("memory", "pids"), groups)))
    assert {path.name for path in groups.iterdir()} == {ours, coming, others}
    later.release()
    me.release()


def test_trees_are_removed_however_they_were_left(tmp_path: Path) -> None:
    top, outside = tmp_path / "top", tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    top.mkdir()
    at = os.open(top, os.O_RDONLY)
    for _ in range(1100):  # deeper than any path may be long, and than Python may recurse
        os.mkdir("d" * 50, dir_fd=at)
        below = os.open("d" * 50, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.symlink(outside, "link", dir_fd=at)
    os.close(at)
    os.mkfifo(top / "fifo")
    (top / "shut" / "in").mkdir(parents=True)
    (top / "shut" / "in").chmod(0)
    (top / "shut").chmod(0)
    (top / b"\xff\n".decode("utf-8", "surrogateescape")).touch()
    remove_tree(top)
    remove_tree(top)
    assert entries(tmp_path) == {"outside"}
    assert entries(outside) == {"kept"}


RIGHTS_OF_A_BOX_HOST = ["setpriv", "--bounding-set=-all,+setuid,+setgid,+kill,+dac_override", "--"]
"""Those that docs/deploy-docker.md and docs/deploy-kubernetes.md give to root in its container."""


@only_root
def test_trees_of_others_are_removed_with_the_few_rights_of_a_box_host(tmp_path: Path) -> None:
    top = tmp_path / "top"
    shared = top / "shared"
    (shared / "own" / "in").mkdir(parents=True)
    for path, owner in ((shared, 5001), (shared / "own", 5002), (shared / "own" / "in", 5002)):
        (path / "file").touch()
        os.chown(path / "file", 5003, 5003)
        os.chown(path, owner, owner)
    (shared / "own" / "in").chmod(0)
    shared.chmod(0o1777)
    (shared / "own").chmod(0o1000)
    remove = "import sys, pathlib; from sandbox.boxes.local.removal import remove_tree; remove_tree(pathlib.Path(sys.argv[1]))"
    subprocess.run([*RIGHTS_OF_A_BOX_HOST, sys.executable, "-c", remove, top], cwd=ROOT, check=True)
    assert entries(tmp_path) == set()


@only_root
def test_root_that_could_not_end_the_programs_of_other_users_gets_no_boxes_without_namespaces(state_dir: Path) -> None:
    opened = (
        "import asyncio, sys, pathlib; from sandbox.boxes.local import LocalBackend\n"
        "backend = LocalBackend(python=sys.argv[1], tier='landlock', state_dir=pathlib.Path(sys.argv[2]))\n"
        "asyncio.run(backend.open())"
    )
    few = ["setpriv", "--bounding-set=-all,+setuid,+setgid", "--"]
    command = [*few, sys.executable, "-c", opened, SHARED_PYTHON]
    done = subprocess.run([*command, state_dir], cwd=ROOT, capture_output=True, text=True)
    assert "SandboxUnavailable" in done.stderr
    assert "lacks the capabilities KILL, DAC_OVERRIDE" in done.stderr


async def test_a_box_whose_files_cannot_be_removed_ends_all_the_same(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    before = children()
    async with open_backend(state_dir, tier="landlock") as made:
        box = await made.make(Profile.PLAIN)
        with monkeypatch.context() as patch:
            patch.setattr(backend, "remove_tree", refuse)
            await box.destroy()
    assert children() == before
    assert "Operation not permitted" in caplog.text


@pytest.mark.parametrize(
    ("mountinfo", "own", "version", "places"),
    [
        (
            "33 24 0:29 / {top}/memory rw - cgroup cgroup rw,memory\n"
            "34 24 0:30 / {top}/pids rw - cgroup cgroup rw,pids\n"
            "35 24 0:31 / {top}/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
            "3:memory:/a\n2:pids:/b\n1:cpu,cpuacct:/\n0::/\n",
            1,
            {"memory": "memory/a", "pids": "pids/b", "cpu": "cpu,cpuacct"},
        ),
        (  # a container whose own group is the top of what it sees
            "33 24 0:29 /docker/abc {top}/memory rw - cgroup cgroup rw,memory\n"
            "34 24 0:30 /docker/abc {top}/pids rw - cgroup cgroup rw,pids\n",
            "3:memory:/docker/abc/x\n2:pids:/docker/abc\n",
            1,
            {"memory": "memory/x", "pids": "pids"},
        ),
        (  # only an ancestor hands its controllers on
            "33 24 0:29 / {top}/unified rw - cgroup2 cgroup rw\n",
            "0::/slice/scope\n",
            2,
            {"memory": "unified/slice", "pids": "unified/slice"},
        ),
        ("33 24 0:29 / {top}/memory rw - cgroup cgroup rw,memory\n", "3:memory:/a\n2:pids:/b\n", 0, {}),
    ],
)
def test_groups_are_made_below_the_services_own(
    tmp_path: Path, mountinfo: str, own: str, version: int, places: dict[str, str]
) -> None:
    for directory in ("memory/a", "memory/x", "pids/b", "cpu,cpuacct", "unified/slice/scope"):
        (tmp_path / directory).mkdir(parents=True)
    (tmp_path / "unified" / "cgroup.subtree_control").write_text("")
    (tmp_path / "unified/slice/cgroup.subtree_control").write_text("memory pids")
    (tmp_path / "unified/slice/scope/cgroup.subtree_control").write_text("")
    parents = cgroups.parents_among(mountinfo.format(top=tmp_path), own)
    if version == 0:
        assert parents is None
    else:
        assert parents == cgroups.Parents(version, {name: tmp_path / place for name, place in places.items()})


@needs_cgroups
def test_a_group_serves_another_box_only_when_nothing_is_in_it() -> None:
    parents = cgroups.find_parents()
    assert parents is not None
    groups = cgroups.Groups(parents, f"{os.getpid()}-0-{secrets.token_hex(4)}")
    bounds = cgroups.Bounds(64, 10, 1)
    first = groups.lend(bounds)
    with subprocess.Popen(["/bin/sleep", "600"]) as inside:
        for directory in first.directories:
            (directory / "cgroup.procs").write_text(str(inside.pid))
        assert not groups.take_back(first)
        inside.kill()
    assert groups.take_back(first)
    assert groups.lend(cgroups.Bounds(65, 10, 1)).directories != first.directories, "it has other limits"
    assert groups.lend(bounds).directories == first.directories
    assert groups.take_back(first)
    for directory in first.directories[:1]:
        directory.rmdir()
    second = groups.lend(bounds)
    assert second.directories != first.directories, "another service has removed it"
    assert not any(directory.exists() for directory in first.directories)
    assert groups.take_back(second)
    groups.close()
    left = [path for parent in parents.distinct for path in parent.glob(f"{groups._prefix}-*")]
    for path in left:
        path.rmdir()
    assert len(left) == len(parents.distinct), "all but the one that was not given back are removed"


def test_a_group_that_cannot_be_limited_is_not_kept(tmp_path: Path) -> None:
    """Here no kernel makes the files, so what bounds processes is a new file and what bounds memory cannot be."""
    parents = cgroups.Parents(1, {"memory": tmp_path / "nowhere", "pids": tmp_path})
    with pytest.raises(OSError):
        cgroups.create(parents, "box", cgroups.Bounds(64, 10, 1))
    assert entries(tmp_path) == set()
