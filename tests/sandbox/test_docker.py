"""Docker boxes: real containers, with a small peer in the runner's place."""

import asyncio
import contextlib
import dataclasses
import io
import itertools
import json
import secrets
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from sandbox.base import Execute, Isolation, Limits, Program, RunResult, SandboxUnavailable
from sandbox.boxes.backend import Box, BoxSize, Profile
from sandbox.boxes.docker import DockerBackend, Transport
from sandbox.boxes.docker.fitness import best_transport, check_daemon
from sandbox.boxes.docker.owner import OWNER_LABEL, Process, is_left_behind, labels
from sandbox.boxes.pool import PooledSandbox
from sandbox.images import recipe
from sandbox.runner.frames import LENGTHS
from tests.dockerd import DockerDaemon, NoDocker, bring_small_image
from tests.sandbox.containers import containers_of
from tests.waiting import PATIENCE_S, until

ROOT = Path(__file__).parents[2]

PEER = """
import ctypes, json, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def syscall(*arguments):
    return 0 if libc.syscall(*arguments) >= 0 else ctypes.get_errno()
def reach(family):
    try:
        socket.socket(family).close()
    except OSError as error:
        return error.errno
    return 0
def read(*paths):
    for path in paths:
        if os.path.exists(path):
            return open(path).read()
def writes(path):
    try:
        open(path, "w").close()
    except OSError as error:
        return error.errno
    return 0
def main(source, sink, configuration):
    while True:
        line = b""
        while not line.endswith(b"\\n"):
            piece = os.read(source, 1)
            if not piece:
                os._exit(0)
            line += piece
        os.write(sink, json.dumps(eval(line)).encode() + b"\\n")
"""


@pytest.fixture
def owner() -> str:
    return f"test-{secrets.token_hex(4)}"


@pytest.fixture
def client(docker_address: str, owner: str) -> Iterator[docker.APIClient]:
    """Looks at the daemon past the backend, and removes what a failed test left."""
    client = docker.APIClient(docker_address, version="auto")
    yield client
    for container in containers_of(client, owner):
        with contextlib.suppress(docker.errors.NotFound):
            client.remove_container(container, force=True)
    client.close()


@pytest.fixture
async def backend(docker_address: str, owner: str, client: docker.APIClient) -> AsyncIterator[DockerBackend]:
    backend = DockerBackend(BoxSize(memory_mb=256, disk_mb=64), address=docker_address, owner=owner)
    await backend.open()
    yield backend
    await backend.close()


class Talk:
    """Speaks with the peer in a box: asks for the value of Python expressions."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self._loop = asyncio.get_running_loop()
        self._heard = b""

    @classmethod
    async def begin(cls, box: Box) -> "Talk":
        talk = cls(box)
        header = json.dumps(dataclasses.asdict(box.configuration)).encode()
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, text in (("__init__", ""), ("runner/__init__", ""), ("runner/zygote", PEER)):
                archive.writestr(f"sandbox/{name}.py", text)
        body = packed.getvalue()
        await talk._loop.sock_sendall(box.connection, LENGTHS.pack(len(header), len(body)) + header + body)
        return talk

    async def ask(self, expression: str) -> Any:
        await self._loop.sock_sendall(self.box.connection, expression.encode() + b"\n")
        while b"\n" not in self._heard:
            self._heard += await self._receive()
        line, self._heard = self._heard.split(b"\n", 1)
        return json.loads(line)

    async def send(self, expression: str) -> None:
        await self._loop.sock_sendall(self.box.connection, expression.encode() + b"\n")

    async def end(self) -> None:
        """Wait until the box has gone."""
        async with asyncio.timeout(PATIENCE_S):
            with contextlib.suppress(ConnectionError):
                while await self._loop.sock_recv(self.box.connection, 65536):
                    pass

    async def _receive(self) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            if not self.box.is_multiplexed:
                return await self._exactly_or_less(65536)
            head = b""
            while len(head) < 8:
                head += await self._exactly_or_less(8 - len(head))
            assert head[0] == 1, "standard output"
            return await self._exactly_or_less(int.from_bytes(head[4:], "big"))

    async def _exactly_or_less(self, count: int) -> bytes:
        data = await self._loop.sock_recv(self.box.connection, count)
        assert data, f"the box has gone: {await self.box.stderr_text()}"
        return data


@contextlib.asynccontextmanager
async def boxed(backend: DockerBackend, profile: Profile = Profile.PLAIN) -> AsyncIterator[Talk]:
    box = await backend.make(profile)
    try:
        yield await Talk.begin(box)
    finally:
        await box.destroy()


async def test_the_first_process_of_a_box_has_the_runners_four_capabilities_and_can_gain_none(
    backend: DockerBackend,
) -> None:
    async with boxed(backend) as talk:
        status = dict(line.split(":\t", 1) for line in (await talk.ask("read('/proc/self/status')")).splitlines())
    assert status["Pid"] == "1"
    setuid_setgid_kill_override = 1 << 7 | 1 << 6 | 1 << 5 | 1 << 1
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == setuid_setgid_kill_override
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2", "a filter"


async def test_a_box_has_no_network_and_no_writable_disk(backend: DockerBackend) -> None:
    async with boxed(backend) as talk:
        assert await talk.ask("sorted(os.listdir('/sys/class/net'))") == ["lo"]
        mounts = [line.split() for line in (await talk.ask("read('/proc/mounts')")).splitlines()]
        assert await talk.ask("writes('/etc/passwd')") != 0
        assert await talk.ask("writes('/run/rewardline/x')") != 0
        assert await talk.ask("writes('/dev/mqueue/x')") != 0
        assert await talk.ask("os.listdir('/run/rewardline')") == [], "the socket's name has gone"
    writable = {where: kind for _, where, kind, how, *_ in mounts if "rw" in how.split(",")}
    kernels_own = {"proc", "sysfs", "devpts", "cgroup", "cgroup2", "mqueue"}
    assert set(writable.values()) <= kernels_own | {"tmpfs"}


async def test_a_box_is_as_large_as_it_was_said_to_be(backend: DockerBackend) -> None:
    async with boxed(backend) as talk:
        memory = await talk.ask("read('/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes')")
        swap = "read('/sys/fs/cgroup/memory.swap.max', '/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes')"
        more = await talk.ask(swap)
        processes = await talk.ask("read('/sys/fs/cgroup/pids.max', '/sys/fs/cgroup/pids/pids.max')")
        room = {
            where: await talk.ask(f"os.statvfs({where!r}).f_blocks * os.statvfs({where!r}).f_frsize")
            for where in ("/box", "/tmp", "/dev/shm")
        }
        limits = await talk.ask("[__import__('resource').getrlimit(what) for what in (3, 4, 7)]")
    assert 256 << 20 <= int(memory) <= 400 << 20
    assert more in ("0\n", memory, None), "no swap; None where the kernel does not count it"
    assert 128 <= int(processes) <= 140
    assert room == {"/box": 64 << 20, "/tmp": 16 << 20, "/dev/shm": 16 << 20}
    assert limits == [[8 << 20, 512 << 20], [0, 0], [1024, 1024]], "stack, core, files"


async def test_system_calls_that_programs_do_not_need_are_refused(backend: DockerBackend) -> None:
    """Numbers of x86-64; what is unknown to the kernel itself is refused as well."""
    calls = {
        "unshare user": "272, 0x10000000",
        "setns": "308, 0, 0",
        "mount": "165, 0, 0, 0, 0, 0",
        "open_tree": "428, -100, b'/', 0",
        "ptrace": "101, 0, 0, 0, 0",
        "keyctl": "250, 0, -3, 0",
        "bpf": "321, 0, 0, 0",
        "perf_event_open": "298, 0, 0, 0, 0, 0",
        "userfaultfd": "323, 0",
        "io_uring_setup": "425, 1, 0",
        "open_by_handle_at": "304, 0, 0, 0",
        "process_vm_readv": "310, 1, 0, 0, 0, 0, 0",
        "clone new user": "56, 0x10000011, 0, 0, 0, 0",
        "clone3": "435, 0, 0",
        "shmget": "29, 0, 4096, 0o1600",
        "mq_open": "240, b'x', 0o102, 0o600, 0",
        "kexec_load": "246, 0, 0, 0, 0",
        "sethostname": "170, b'x', 1",
        "personality": "135, 0x40000",
    }
    async with boxed(backend) as talk:
        refusals = {name: await talk.ask(f"syscall({arguments})") for name, arguments in calls.items()}
        families = {
            family: await talk.ask(f"reach(socket.{family})")
            for family in ("AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_UNIX")
        }
    not_permitted, unknown = 1, 38
    assert {name for name, error in refusals.items() if error not in {not_permitted, unknown}} == set()
    assert families.pop("AF_UNIX") == 0
    assert set(families.values()) == {not_permitted}


async def test_a_box_can_be_spoken_to_through_its_streams(
    docker_address: str, owner: str, client: docker.APIClient
) -> None:
    backend = DockerBackend(address=docker_address, owner=owner, transport=Transport.STREAMS)
    await backend.open()
    async with boxed(backend) as talk:
        assert talk.box.is_multiplexed
        assert await talk.ask("os.getpid()") == 1
    await backend.close()
    assert containers_of(client, owner) == []


async def test_a_destroyed_box_leaves_nothing(backend: DockerBackend, client: docker.APIClient, owner: str) -> None:
    box = await backend.make(Profile.PLAIN)
    assert len(containers_of(client, owner)) == 1
    await box.destroy()
    await box.destroy()
    assert containers_of(client, owner) == []


async def test_who_asks_for_a_removal_that_is_under_way_is_answered_when_the_box_is_gone(
    backend: DockerBackend, client: docker.APIClient, owner: str
) -> None:
    box = await backend.make(Profile.PLAIN)
    removals = [asyncio.create_task(backend.remove(box.name)) for _ in range(4)]
    await asyncio.wait(removals, return_when=asyncio.FIRST_COMPLETED)
    assert containers_of(client, owner) == []
    await asyncio.gather(*removals)
    await box.destroy()


@pytest.mark.boxes
@pytest.mark.parametrize("runtime", [None, "runsc"])
async def test_a_run_stands_ready_in_a_box_of_its_own(docker_address: str, owner: str, runtime: str | None) -> None:
    size = BoxSize(memory_mb=256, disk_mb=64)
    pool = PooledSandbox(DockerBackend(size, address=docker_address, owner=owner, runtime=runtime), slots=1, standing=1)
    results: list[RunResult] = []

    def take(_: int, result: RunResult) -> bool:
        results.append(result)
        return True

    await pool.start()
    try:
        for place in range(3):
            run = Execute(str(place).encode(), ahead=b"one\n", limits=Limits(wall_s=100.0))
            await pool.run(Program("read a; read b; echo $a $b", "bash"), [run], take)
            if place > 0:
                await until(lambda: pool.standing == 1)
        started = pool.counters.boxes_started
    finally:
        await pool.stop()
    assert [result.stdout for result in results] == [b"one 0\n", b"one 1\n", b"one 2\n"]
    assert started == 3  # of the slot, and two that stood ready


@pytest.mark.chaos
async def test_a_box_that_a_slow_daemon_makes_after_all_is_removed(
    own_daemon: DockerDaemon, owner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.boxes.docker.daemon._PATIENCE_S", 1)
    backend = DockerBackend(image="small", address=own_daemon.address, owner=owner)
    await backend.open()
    with own_daemon.stopped_for_a_while():
        for _ in range(3):
            with pytest.raises(SandboxUnavailable, match="does not answer"):
                await backend.make(Profile.PLAIN)
    await backend.close()
    with contextlib.closing(docker.APIClient(own_daemon.address, version="auto")) as client:
        assert containers_of(client, owner) == []


@pytest.mark.chaos
async def test_a_box_whose_making_or_destruction_was_cancelled_at_any_moment_leaves_nothing(
    docker_address: str, client: docker.APIClient, owner: str, tmp_path: Path
) -> None:
    """After each thing that the daemon was asked."""
    async with passage(docker_address, tmp_path / "docker.sock") as daemon:
        backend = DockerBackend(address=daemon.address, owner=owner)
        await backend.open()

        async def make_and_destroy() -> None:
            await (await backend.make(Profile.PLAIN)).destroy()

        for moment in itertools.count():
            last = daemon.asked + moment
            making = asyncio.create_task(make_and_destroy())
            await until(lambda making=making, last=last: making.done() or daemon.asked >= last)  # type: ignore[misc]
            making.cancel()
            await asyncio.wait([making])
            if not making.cancelled():
                break
        await making
        await backend.close()
    assert moment > 3
    assert containers_of(client, owner) == []


async def test_what_a_killed_service_left_is_removed_and_what_a_living_one_has_is_not(
    docker_address: str, client: docker.APIClient, owner: str
) -> None:
    leave = (
        "import asyncio, os\n"
        "from sandbox.boxes.backend import Profile\nfrom sandbox.boxes.docker import DockerBackend\n"
        "async def main():\n"
        f"    backend = DockerBackend(address={docker_address!r}, owner={owner!r})\n"
        "    await backend.open()\n    await backend.make(Profile.PLAIN)\n    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())"
    )
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", leave], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(containers_of(client, owner)) == 1

    living = DockerBackend(address=docker_address, owner=owner)
    await living.open()
    assert containers_of(client, owner) == []
    async with boxed(living) as talk:
        another = DockerBackend(address=docker_address, owner=owner)
        await another.open()
        assert await talk.ask("1 + 1") == 2
        await another.close()
    await living.close()


def test_a_process_is_told_from_a_later_one_with_its_id() -> None:
    assert not is_left_behind(labels("anybody"))
    assert Process.current().is_alive
    assert not dataclasses.replace(Process.current(), started="1:another boot").is_alive
    assert Process.parse("no process") is None
    assert is_left_behind({OWNER_LABEL: "anybody"})


async def test_the_daemon_not_being_there_is_said_and_forgotten_when_it_is_back(
    docker_address: str, client: docker.APIClient, owner: str, tmp_path: Path
) -> None:
    async with passage(docker_address, tmp_path / "docker.sock") as daemon:
        backend = DockerBackend(address=daemon.address, owner=owner)
        await backend.open()
        box = await backend.make(Profile.PLAIN)

        await daemon.shut()
        with pytest.raises(SandboxUnavailable, match=r"does not answer|no use"):
            await backend.make(Profile.PLAIN)
        await box.destroy()
        assert len(containers_of(client, owner)) == 1, "it could not be removed"

        await daemon.open()
        async with boxed(backend) as talk:
            assert await talk.ask("1 + 1") == 2
        await backend.close()
        assert containers_of(client, owner) == []


@pytest.mark.chaos
async def test_boxes_die_with_the_daemon_and_can_be_had_again_when_it_is_back(
    docker_address: str, tmp_path: Path
) -> None:
    try:
        daemon = DockerDaemon(tmp_path / "data", tmp_path)
        daemon.start()
    except NoDocker as why:
        pytest.skip(f"NO TEST WITH A DAEMON OF ITS OWN: {why}")
    try:
        bring_small_image(docker_address, daemon.address)
        backend = DockerBackend(image="small", address=daemon.address)
        await backend.open()
        box = await backend.make(Profile.PLAIN)
        talk = await Talk.begin(box)
        assert await talk.ask("1 + 1") == 2

        await asyncio.to_thread(daemon.stop)
        await talk.end()
        with pytest.raises(SandboxUnavailable, match="does not answer"):
            await backend.make(Profile.PLAIN)
        await box.destroy()

        await asyncio.to_thread(daemon.start)
        async with boxed(backend) as another:
            assert await another.ask("1 + 1") == 2
        await backend.close()
        with contextlib.closing(docker.APIClient(daemon.address, version="auto")) as client:
            assert client.containers(all=True) == []
    finally:
        daemon.stop()


async def test_without_a_daemon_a_backend_cannot_be_opened(tmp_path: Path) -> None:
    backend = DockerBackend(address=f"unix://{tmp_path}/docker.sock")
    with pytest.raises(SandboxUnavailable, match=r"docker\.sock"):
        await backend.open()
    await backend.close()


async def test_a_missing_image_is_said_with_the_command_that_builds_it(docker_address: str) -> None:
    backend = DockerBackend(image="rewardline-no-such-image", address=docker_address)
    with pytest.raises(SandboxUnavailable, match="make box-image"):
        await backend.open()
    await backend.close()


async def test_an_image_of_another_recipe_is_refused(docker_address: str, client: docker.APIClient) -> None:
    name = "rewardline-test-stale"
    mark = f'LABEL {recipe.VERSION_LABEL}="0" {recipe.LANGUAGES_LABEL}="python"'
    client.import_image_from_data(b"\0" * 10240, repository=name, tag="latest", changes=[mark])
    backend = DockerBackend(image=name, address=docker_address)
    try:
        with pytest.raises(SandboxUnavailable, match="another recipe"):
            await backend.open()
    finally:
        client.remove_image(name)
        await backend.close()


async def test_a_runtime_the_daemon_does_not_have_is_said_with_those_it_has(docker_address: str) -> None:
    backend = DockerBackend(runtime="runsc-of-mars", address=docker_address)
    with pytest.raises(SandboxUnavailable, match=r"it has .*runc"):
        await backend.open()
    await backend.close()


FIT: dict[str, Any] = {
    "Name": socket.gethostname(),
    "Runtimes": {"runc": {}},
    "SecurityOptions": ["name=seccomp,profile=default"],
    "MemoryLimit": True,
    "PidsLimit": True,
    "CpuCfsQuota": True,
}


def test_a_daemon_that_would_leave_out_a_limit_is_refused() -> None:
    check_daemon(FIT, None)
    with pytest.raises(SandboxUnavailable, match="cannot limit memory, processes"):
        check_daemon(FIT | {"MemoryLimit": False, "PidsLimit": False}, None)


@pytest.mark.parametrize(
    ("difference", "isolation", "transport"),
    [
        ({}, Isolation.DOCKER, Transport.SOCKET),
        ({}, Isolation.GVISOR, Transport.STREAMS),
        ({"Name": "a machine far away"}, Isolation.DOCKER, Transport.STREAMS),
        ({"SecurityOptions": ["name=userns"]}, Isolation.DOCKER, Transport.STREAMS),
    ],
)
def test_a_socket_is_only_used_where_a_box_can_connect_to_it(
    difference: dict[str, Any], isolation: Isolation, transport: Transport
) -> None:
    assert best_transport(FIT | difference, isolation) is transport


async def test_what_is_no_interpreter_is_not_waited_for(
    docker_address: str, client: docker.APIClient, owner: str
) -> None:
    name = "rewardline-test-empty"
    client.import_image_from_data(b"\0" * 10240, repository=name, tag="latest")
    backend = DockerBackend(image=name, address=docker_address, owner=owner)
    await backend.open()
    try:
        with pytest.raises(SandboxUnavailable, match="python3"):
            await backend.make(Profile.PLAIN)
    finally:
        await backend.close()
        client.remove_image(name)
    assert containers_of(client, owner) == []


@pytest.mark.boxes
async def test_a_box_that_used_up_its_memory_says_so(backend: DockerBackend) -> None:
    async with boxed(backend) as talk:
        await talk.send("len(bytearray(2 << 30))")
        await talk.end()
        assert await talk.box.died_of_memory()


async def test_a_box_whose_runner_failed_says_what_it_wrote_and_did_not_die_of_memory(backend: DockerBackend) -> None:
    async with boxed(backend) as talk:
        await talk.send("1 / 0")
        await talk.end()
        assert not await talk.box.died_of_memory()
        assert "ZeroDivisionError" in await talk.box.stderr_text()


class Passage:
    """A socket that leads to the daemon, and can be shut: as if the daemon had stopped."""

    def __init__(self, target: str, path: Path) -> None:
        self.address = f"unix://{path}"
        self._target = target.removeprefix("unix://")
        self._path = path
        self._server: asyncio.Server | None = None
        self._travellers: set[asyncio.Task[None]] = set()
        self.asked = 0
        """How often something came for the daemon."""

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._join, self._path)

    async def shut(self) -> None:
        assert self._server
        self._server.close()
        self._path.unlink(missing_ok=True)
        for traveller in self._travellers:
            traveller.cancel()
        if self._travellers:
            await asyncio.wait(self._travellers)

    def _count(self) -> None:
        self.asked += 1

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        traveller = asyncio.current_task()
        assert traveller
        self._travellers.add(traveller)
        back, forth = await asyncio.open_unix_connection(self._target)
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(_copy(reader, forth, self._count))
                ways.create_task(_copy(back, writer))
        except asyncio.CancelledError:
            pass  # the passage was shut
        finally:
            self._travellers.discard(traveller)
            forth.close()
            writer.close()


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, passing: Callable[[], None] = lambda: None
) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            passing()
            writer.write(data)
            await writer.drain()
    writer.close()


@contextlib.asynccontextmanager
async def passage(target: str, path: Path) -> AsyncIterator[Passage]:
    if not target.startswith("unix://"):
        pytest.skip("the Docker daemon is not at a socket of this machine")
    way = Passage(target, path)
    await way.open()
    try:
        yield way
    finally:
        await way.shut()
