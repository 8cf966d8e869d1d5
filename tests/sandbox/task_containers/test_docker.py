"""Containers of tasks on a real daemon: what they are allowed, and that none is left, whatever happens."""

import asyncio
import gc
import os
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import replace
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import docker
import pytest
from docker.errors import APIError

from sandbox.base import SandboxUnavailable
from sandbox.boxes.docker.owner import OWNER_LABEL, PROCESS_LABEL
from sandbox.containers import BadTask, End, Ended, Meter, Task, TaskLimits, TaskRefused, TooLarge
from sandbox.containers import docker as task_containers
from sandbox.containers.daemon import TaskDaemon
from sandbox.containers.docker import DockerContainer, DockerContainers
from sandbox.containers.images import BASE_LABEL, ImageRules
from tests.sandbox.containers import containers_of
from tests.task_images import TOOLS_IMAGE, ensure_tools_image
from tests.waiting import turns, until

LIMITS = TaskLimits(cpu_s=60, wall_s=600, memory_mb=256, disk_mb=32, processes=64)
TASK = Task(TOOLS_IMAGE, "/root", limits=LIMITS)


@pytest.fixture(scope="module")
def client(docker_address: str) -> Iterator[docker.APIClient]:
    with closing(docker.APIClient(docker_address, version="auto", timeout=300)) as client:
        ensure_tools_image(client)
        yield client


@pytest.fixture(params=["runc", pytest.param("runsc", marks=pytest.mark.repositories)])
async def containers(
    request: pytest.FixtureRequest, docker_address: str, client: docker.APIClient
) -> AsyncIterator[DockerContainers]:
    if request.param not in client.info()["Runtimes"]:
        pytest.skip(f"the Docker daemon has no runtime {request.param}")
    containers = DockerContainers(docker_address, slots=2, runtime=request.param, owner="container-tests", disk_mb=64)
    yield containers
    await containers.stop()
    assert containers_of(client, "container-tests") == []
    assert containers.running == containers.waiting == 0


async def shell(
    containers: DockerContainers, script: str, task: Task = TASK, *, report: str | None = None
) -> tuple[End, int | None, str]:
    async with containers.open(task, {"given/hello": b"hello", "made/note": b"note"}) as container:
        ended = await container.run(["sh", "-c", script], report=report)
        return ended.end, ended.exit_code, ended.output.decode(errors="replace")


@pytest.mark.parametrize("containers", ["runc", "runsc"], indirect=True)
async def test_a_command_runs_without_any_privilege(containers: DockerContainers) -> None:
    script = "cat /rewardline/given/hello; grep CapEff /proc/self/status; (echo x > /rewardline/given/hello) 2>/dev/null || echo kept; exit 3"
    assert await shell(containers, script) == (End.EXITED, 3, "helloCapEff:\t0000000000000000\nkept\n")


@pytest.mark.repositories(beyond=1)
@pytest.mark.parametrize(
    ("workdir", "output"), [("/new/deep", "/new/deep\n"), ("/root", "/root\n"), ("/etc/passwd", None)]
)
@pytest.mark.parametrize("containers", ["runc", pytest.param("runsc", marks=pytest.mark.repositories)], indirect=True)
async def test_the_folder_that_an_image_names_is_made_as_docker_makes_it(
    containers: DockerContainers, client: docker.APIClient, workdir: str, output: str | None
) -> None:
    name = f"rewardline-test-workdir:{workdir.replace('/', '-').strip('-')}"
    repository, _, tag = name.rpartition(":")
    made = client.create_container(TOOLS_IMAGE, ["true"], network_disabled=True)["Id"]
    try:
        client.commit(made, repository=repository, tag=tag, conf={"WorkingDir": workdir})
    finally:
        client.remove_container(made, v=True)
    task = Task(name, "", limits=LIMITS)
    if output is None:
        with pytest.raises(BadTask, match="passwd") as caught:
            await shell(containers, "pwd", task)
        assert caught.value.reason == "bad_image"
    else:
        assert await shell(containers, "pwd", task) == (End.EXITED, 0, output)
        # A folder that the task names, and not the image, is its author's to make.
        assert (await shell(containers, "pwd", replace(task, workdir="/nowhere")))[1] != 0


async def test_files_come_and_go_while_it_runs(containers: DockerContainers) -> None:
    async with containers.open(TASK, {}) as container:
        await container.give({"given/late": b"late"})
        ended = await container.run(["sh", "-c", "cat /rewardline/given/late; echo made > /rewardline/made/report"])
        assert ended.output == b"late"
        assert await container.fetch("report", max_bytes=100) == b"made\n"
        with pytest.raises(TooLarge):
            await container.fetch("report", max_bytes=1)
        assert await container.fetch("missing", max_bytes=100) is None
        await container.run(["sh", "-c", "ln -s /etc/passwd /rewardline/made/link; mkdir /rewardline/made/folder"])
        assert await container.fetch("folder", max_bytes=100) is None


@pytest.mark.repositories
async def test_limits_end_a_command(containers: DockerContainers) -> None:
    spinning = Task(TOOLS_IMAGE, "/root", limits=TaskLimits(cpu_s=1, wall_s=600, memory_mb=256, disk_mb=32))
    assert (await shell(containers, "while :; do :; done", spinning))[0] is End.TIME_LIMIT
    sleeping = Task(TOOLS_IMAGE, "/root", limits=TaskLimits(wall_s=1, memory_mb=256, disk_mb=32))
    assert (await shell(containers, "sleep 600", sleeping))[0] is End.TIME_LIMIT
    flood = "while :; do head -c 1000000 /dev/zero; done"
    talking = Task(TOOLS_IMAGE, "/root", limits=TaskLimits(memory_mb=256, disk_mb=32, output_bytes=100_000))
    end, _, said = await shell(containers, flood, talking)
    assert (end, len(said)) == (End.OUTPUT_LIMIT, 100_000)


@asynccontextmanager
async def starved(
    containers: DockerContainers, client: docker.APIClient, wall_s: float
) -> AsyncIterator[tuple["asyncio.Task[Ended]", str]]:
    """A command of about a CPU second, and the container that gets nearly all of the core that it shares with it."""
    counting = ("sh", "-c", "i=0; while [ $i -lt 1000000 ]; do i=$((i + 1)); done")
    async with containers.open(TASK, {}) as meek, containers.open(TASK, {}) as greedy:
        assert isinstance(meek, DockerContainer)
        assert isinstance(greedy, DockerContainer)
        for name, shares in ((meek.name, 1024), (greedy.name, 64 * 1024)):
            client.update_container(name, cpuset_cpus="0", cpu_shares=shares)
        spinning = asyncio.create_task(greedy.run(("sh", "-c", "while :; do :; done"), replace(LIMITS, cpu_s=600)))
        counted = asyncio.create_task(meek.run(counting, replace(LIMITS, wall_s=wall_s)))
        yield counted, greedy.name
        with suppress(APIError):  # it is over
            client.kill(greedy.name)
        await asyncio.gather(spinning, counted, return_exceptions=True)


only_runc = pytest.mark.parametrize("containers", ["runc"], indirect=True)  # gVisor cannot change what a container gets


@pytest.mark.repositories
@only_runc
async def test_waiting_for_a_cpu_is_no_time_limit(containers: DockerContainers, client: docker.APIClient) -> None:
    async with starved(containers, client, wall_s=3) as (counted, greedy):
        await until(lambda: containers.counters.starved_seconds > 6 or counted.done())
        client.kill(greedy)
        assert (await counted).end is End.EXITED
        assert containers.counters.starved_seconds > 6


@pytest.mark.repositories
@only_runc
async def test_a_command_that_hardly_runs_is_no_verdict(containers: DockerContainers, client: docker.APIClient) -> None:
    async with starved(containers, client, wall_s=0.5) as (counted, _):
        with pytest.raises(SandboxUnavailable, match="its machine is too busy"):
            await counted


@pytest.mark.repositories
@only_runc
@pytest.mark.parametrize(
    ("script", "wants_cpu"),
    [
        ("touch /rewardline/made/begun; sleep 600", False),
        ("(while :; do :; done) & touch /rewardline/made/begun; sleep 600", True),
    ],
)
async def test_a_container_is_seen_to_be_ready_to_run(
    containers: DockerContainers, script: str, wants_cpu: bool
) -> None:
    async with containers.open(TASK, {}) as container:
        assert isinstance(container, DockerContainer)
        running = asyncio.create_task(container.run(("sh", "-c", script)))
        while await container.fetch("begun", max_bytes=1) is None:
            await turns()
        assert bool(await container.waiting()) is wants_cpu
        running.cancel()
        await asyncio.wait([running])


@pytest.mark.repositories
@only_runc
async def test_a_shell_that_is_replaced_says_nothing_about_the_machine(containers: DockerContainers) -> None:
    script = "rm /usr/bin/sh && cp /usr/bin/true /usr/bin/sh && touch /rewardline/made/begun; exec sleep 600"
    async with containers.open(TASK, {}) as container:
        assert isinstance(container, DockerContainer)
        running = asyncio.create_task(container.run(("sh", "-c", script)))
        while await container.fetch("begun", max_bytes=1) is None:
            await turns()
        assert not await container.waiting()
        running.cancel()
        await asyncio.wait([running])


@pytest.mark.repositories
async def test_a_container_that_sleeps_meets_its_wall_seconds_whatever_its_programs_say(
    containers: DockerContainers,
) -> None:
    script = "cp /usr/bin/true /usr/bin/evil; mv /usr/bin/evil /usr/bin/sh; exec sleep 600"
    async with containers.open(TASK, {}) as container:
        assert isinstance(container, DockerContainer)
        try:
            assert (await container.run(("sh", "-c", script), replace(LIMITS, wall_s=5))).end is End.TIME_LIMIT
        except SandboxUnavailable:  # the machine has hardly any CPU time for anybody
            assert await container.waiting() > 0.8


@pytest.mark.repositories(beyond=1)
@only_runc
@pytest.mark.parametrize(
    ("script", "limit"),
    [
        ("true", None),
        ("python3 -c 'x = [bytearray(1 << 22) for _ in range(400)]'; exit 1", End.MEMORY_LIMIT),
        ("for n in $(seq 80); do sleep 600 & done; exit 1", End.PROCESS_LIMIT),
    ],
)
async def test_a_limit_that_a_child_has_met_is_known(
    containers: DockerContainers, script: str, limit: End | None
) -> None:
    async with containers.open(TASK, {}) as container:
        await container.run(["sh", "-c", script])
        assert await container.met_limit() is limit


@pytest.mark.repositories
@only_runc
async def test_processes_are_ended_whatever_became_of_the_programs(containers: DockerContainers) -> None:
    script = "(sleep 600 &); cd /usr/bin; for name in kill rm sh tr; do cp true evil; mv evil $name; done"
    async with containers.open(replace(TASK, folders=("/tests",)), {}) as container:
        await container.run(["sh", "-c", f"{script}; echo >/tests/early; mv /tests /x"])
        assert await container.end_others()
        await container.fill("/tests", {"a/b": b"c"})
        found = await container.run(["python3", "-c", "import os; print(os.listdir('/tests'), *os.listdir('/proc'))"])
        names, *processes = found.output.decode().split(" ")
        assert names == "['a']"
        assert sum(name.isdecimal() for name in processes) == 2


@only_runc
async def test_processes_that_do_not_end_in_time_lose_the_container(
    containers: DockerContainers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_containers, "_END_OTHERS_S", 0.0)
    async with containers.open(TASK, {}) as container:
        with pytest.raises(SandboxUnavailable, match="have not ended"):
            await container.end_others()


@pytest.mark.repositories
async def test_a_bomb_says_something_about_the_command(containers: DockerContainers) -> None:
    """In gVisor it ends the whole container. The daemon then says so in one of several orders, so each is tried often."""
    task = Task(TOOLS_IMAGE, "/root", limits=TaskLimits(cpu_s=5, wall_s=600, memory_mb=256, disk_mb=32))
    for bomb in 4 * (
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        "x = [bytearray(1 << 20) for _ in range(4000)]",
    ):
        end, code, _ = await shell(containers, f"python3 -c '{bomb}'", task)
        assert end in (End.MEMORY_LIMIT, End.TIME_LIMIT) or code == 137


@pytest.mark.parametrize("containers", ["runsc"], indirect=True)
@pytest.mark.repositories
async def test_the_exit_code_of_a_lost_gvisor_may_be_the_commands_own(containers: DockerContainers) -> None:
    assert await shell(containers, "exit 128") == (End.EXITED, 128, "")


@pytest.mark.repositories
async def test_a_container_that_somebody_else_ends_is_no_verdict(
    containers: DockerContainers, client: docker.APIClient
) -> None:
    running = asyncio.create_task(shell(containers, "sleep 3600"))
    await until(lambda: containers.counters.started)
    await asyncio.to_thread(client.kill, containers_of(client, "container-tests")[0])
    with pytest.raises(SandboxUnavailable):
        await running


@pytest.mark.repositories
async def test_a_full_disk_ends_a_command(containers: DockerContainers) -> None:
    fill = "for n in $(seq 100); do dd if=/dev/zero of=f$n bs=1M count=4 2>/dev/null; done; while :; do :; done"
    assert (await shell(containers, fill))[0] is End.DISK_LIMIT


@pytest.mark.repositories
async def test_a_process_that_stays_behind_does_not_hold_a_command(containers: DockerContainers) -> None:
    end, code, said = await shell(containers, "sleep 3600 & echo done")
    assert (end, code, said) == (End.EXITED, 0, "done\n")


@pytest.mark.repositories
async def test_a_report_is_all_that_its_command_wrote(containers: DockerContainers) -> None:
    said = "echo out; echo err >&2; head -c 200000 /dev/zero"
    whole = "out\nerr\n" + "\0" * 200_000
    assert await shell(containers, f"{said}; sleep 600 & exit 3", report="") == (End.EXITED, None, whole)
    assert await shell(containers, f"{said}; kill -9 $$", report="") == (End.EXITED, 137, whole)
    assert await shell(containers, f"{said}; kill -9 $PPID; kill -9 $$", report="") == (End.EXITED, 137, whole)


@pytest.mark.repositories
async def test_a_report_comes_with_the_output_whatever_became_of_the_programs(containers: DockerContainers) -> None:
    write = "printf made >/rewardline/made/report; (sleep 600; echo later >&2) &"
    for script, report in (
        (f"{write} rm /usr/bin/cat", b"made"),
        ("python3 -c 'import os; os.mkfifo(\"/rewardline/made/report\")'", b""),
        ("ln -s /dev/zero /rewardline/made/report", b""),
        ("kill -9 $PPID", None),
    ):
        async with containers.open(TASK, {}) as container:
            ended = await container.run(["sh", "-c", f"echo out; {script}"], report="report")
            assert (ended.output, ended.report) == (b"out\n", report)


@only_runc
async def test_output_that_comes_with_the_head_of_the_answer_is_not_lost(
    containers: DockerContainers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a command may write before the library reads that it has begun."""
    read_head = HTTPResponse.begin

    def read_late(answer: HTTPResponse) -> None:
        connection = answer.fp.raw._sock  # type: ignore[attr-defined]  # what a BufferedReader reads has no type
        while (came := connection.recv(1 << 16, socket.MSG_PEEK)).startswith(
            b"HTTP/1.1 101 "
        ) and b"the end" not in came:
            pass
        read_head(answer)

    async with containers.open(TASK, {}) as container:
        monkeypatch.setattr(HTTPResponse, "begin", read_late)
        assert (await container.run(["sh", "-c", "echo the end; exit 3"])).output == b"the end\n"


@pytest.mark.repositories
async def test_a_report_that_is_read_late_is_whole(
    containers: DockerContainers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon holds a megabyte of output, and cuts off what nobody has read two seconds after the end of a command."""
    read = task_containers._read

    async def read_late(*about: Any) -> None:
        await asyncio.sleep(4)
        await read(*about)

    monkeypatch.setattr(task_containers, "_read", read_late)
    end, _, said = await shell(containers, "head -c 1350000 /dev/zero", report="")
    assert (end, len(said)) == (End.EXITED, 1_350_000)


async def test_what_is_not_allowed_is_refused(containers: DockerContainers) -> None:
    for task, reason in (
        (Task(TOOLS_IMAGE, "/root", limits=LIMITS, network=True), "network_not_allowed"),
        (Task(TOOLS_IMAGE, "/root", limits=TaskLimits(disk_mb=65)), "too_much_disk"),
    ):
        with pytest.raises(TaskRefused) as caught:
            await shell(containers, "true", task)
        assert caught.value.reason == reason
    with pytest.raises(SandboxUnavailable) as missing:
        await shell(containers, "true", Task("nowhere:1", "/root", limits=LIMITS))
    assert missing.value.reason == "no_image"


async def test_a_container_that_is_being_removed_is_free_soon(
    containers: DockerContainers, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go, remove = asyncio.Event(), TaskDaemon.remove

    async def remove_late(daemon: TaskDaemon, name: str) -> None:
        await may_go.wait()
        await remove(daemon, name)

    monkeypatch.setattr(TaskDaemon, "remove", remove_late)
    async with containers.open(TASK, {}):
        assert (containers.running, containers.free) == (1, 1)
    await turns()
    assert (containers.running, containers.free) == (1, 2)
    may_go.set()
    await until(lambda: containers.running == 0)
    assert containers.free == 2


@pytest.mark.repositories
@pytest.mark.parametrize("containers", ["runc", pytest.param("runsc", marks=pytest.mark.repositories)], indirect=True)
async def test_a_spare_is_as_a_fresh_container_and_goes_to_one_task(
    containers: DockerContainers, docker_address: str, client: docker.APIClient
) -> None:
    """One that somebody has ended goes to none."""
    runtime, owner = "runsc" if containers.is_gvisor else "runc", "spare-tests"
    ahead = DockerContainers(docker_address, slots=2, spares=2, runtime=runtime, owner=owner, disk_mb=64)

    def spares() -> list[str]:
        listed = client.containers(filters={"label": f"{OWNER_LABEL}={owner}"})
        return [name for name in (container["Names"][0].removeprefix("/") for container in listed) if name not in used]

    def settings(name: str) -> Any:
        inspected = client.inspect_container(name)
        config = {key: value for key, value in inspected["Config"].items() if key != "Hostname"}
        return config, {key: value for key, value in inspected["HostConfig"].items() if key != "Mounts"}

    script = "touch /root/mark; ls /root; ls /rewardline/given /rewardline/made"
    outputs: set[bytes] = set()
    used: list[str] = []
    prepared: list[list[str]] = []
    try:
        for _ in range(3):
            async with ahead.open(TASK, {"given/hello": b"hello"}) as container:
                assert isinstance(container, DockerContainer)
                outputs.add((await container.run(["sh", "-c", script])).output)
                used.append(container.name)
                described = settings(container.name)
            assert described[1]["MemorySwap"] == described[1]["Memory"] > 0, "both together: there is no swap"
            await until(lambda: len(spares()) == 2)
            prepared.append(spares())
            assert [settings(name) for name in prepared[-1]] == [described] * 2
            if len(used) == 2:
                for name in prepared[-1]:
                    await asyncio.to_thread(client.kill, name)
        assert used[1] in prepared[0]
        assert used[2] not in prepared[1]
        assert len(outputs) == 1
        assert ahead.counters.started == 3
    finally:
        await ahead.stop()
    assert containers_of(client, owner) == []


async def test_who_stops_waiting_leaves_no_container(containers: DockerContainers, client: docker.APIClient) -> None:
    """A caller may go at any moment: before the container is there, or while it works."""
    early = asyncio.create_task(shell(containers, "sleep 3600"))
    await until(lambda: containers.running)
    early.cancel()
    late = asyncio.create_task(shell(containers, "sleep 3600"))
    await until(lambda: containers.counters.started)
    late.cancel()
    for task in (early, late):
        with pytest.raises(asyncio.CancelledError):
            await task
    await until(lambda: not containers.running)
    await containers.stop()
    assert containers_of(client, "container-tests") == []


async def test_what_a_container_used_is_noted_when_it_is_over(docker_address: str, client: docker.APIClient) -> None:
    used: list[float] = []

    class Limited(Meter):
        def check(self) -> None:
            if used:
                raise SandboxUnavailable("no more", "budget")

        def note(self, cpu_s: float) -> None:
            used.append(cpu_s)

    containers = DockerContainers(docker_address, slots=1, owner="meter-tests", meter=Limited())
    try:
        await containers.base(TASK)
        spins = "python3 -c 'import time\nwhile time.process_time() < 0.2: pass'"
        assert await shell(containers, spins) == (End.EXITED, 0, "")
        [spun_s] = used
        assert 0.2 <= spun_s == containers.counters.cpu_seconds
        with pytest.raises(SandboxUnavailable, match="no more"):
            await containers.base(TASK)
        assert (await shell(containers, "true"))[1] == 0, "a task that has begun goes on"
    finally:
        await containers.stop()


@pytest.mark.repositories
async def test_setup_is_done_once(docker_address: str, client: docker.APIClient) -> None:
    task = Task(TOOLS_IMAGE, "/root", ("echo ready >> state",), limits=LIMITS)
    first = DockerContainers(docker_address, slots=2, owner="setup-tests")
    try:
        found = await asyncio.gather(*(shell(first, "cat state", task) for _ in range(3)))
        assert found == [(End.EXITED, 0, "ready\n")] * 3
        assert first.counters.bases_made == 1
        second = DockerContainers(docker_address, slots=2, owner="setup-tests")
        assert await shell(second, "cat state", task) == (End.EXITED, 0, "ready\n")
        assert second.counters.bases_made == 0
        await second.stop()
        with pytest.raises(BadTask, match="exits with 3: no compiler"):
            await first.base(Task(TOOLS_IMAGE, "/root", ("echo no compiler; exit 3",), limits=LIMITS))
    finally:
        await first.stop()
        for image in client.images(filters={"label": BASE_LABEL}, quiet=True):
            client.remove_image(image, force=True)
    assert containers_of(client, "setup-tests") == []


@pytest.mark.repositories
async def test_images_of_ours_go_when_they_take_too_much_room(docker_address: str, client: docker.APIClient) -> None:
    containers = DockerContainers(docker_address, slots=1, spares=2, owner="evict-tests", rules=ImageRules(keep_mb=3))
    write = "dd if=/dev/urandom of=big bs=1M count=2 2>/dev/null; echo {n} > state"
    tasks = [Task(TOOLS_IMAGE, "/root", (write.format(n=n),), limits=LIMITS) for n in range(3)]
    try:
        for n, task in enumerate(tasks):
            assert await shell(containers, "cat state", task) == (End.EXITED, 0, f"{n}\n")
        assert containers.counters.images_evicted == 2
        assert len(client.images(filters={"label": BASE_LABEL}, quiet=True)) == 1
        assert client.images(TOOLS_IMAGE)  # the operator's own stays
    finally:
        await containers.stop()
        for image in client.images(filters={"label": BASE_LABEL}, quiet=True):
            client.remove_image(image, force=True)


async def test_containers_of_a_killed_service_are_removed(docker_address: str, client: docker.APIClient) -> None:
    labels = {OWNER_LABEL: "sweep-tests", PROCESS_LABEL: f"{os.getpid()}@1:gone"}
    client.start(client.create_container(TOOLS_IMAGE, ["sleep", "3600"], labels=labels, network_disabled=True))
    containers = DockerContainers(docker_address, slots=1, owner="sweep-tests")
    await shell(containers, "true")
    await containers.stop()
    assert containers.counters.killed_left_behind == 1
    assert containers_of(client, "sweep-tests") == []


async def test_a_daemon_that_is_not_there_is_no_verdict(tmp_path: Path) -> None:
    containers = DockerContainers(f"unix://{tmp_path}/docker.sock", slots=1)
    with pytest.raises(SandboxUnavailable, match="does not answer"):
        await shell(containers, "true")
    await containers.stop()


async def test_a_disk_without_room_is_no_verdict(docker_address: str, client: docker.APIClient) -> None:
    space = os.statvfs(client.info()["DockerRootDir"])
    free_mb = space.f_bavail * space.f_frsize >> 20
    containers = DockerContainers(docker_address, slots=1, disk_mb=free_mb * 4)
    with pytest.raises(SandboxUnavailable) as caught:
        await shell(containers, "true", Task(TOOLS_IMAGE, "/root", limits=TaskLimits(disk_mb=free_mb * 2)))
    assert caught.value.reason == "no_space"
    await containers.stop()


@pytest.mark.repositories
async def test_a_hundred_tasks_leave_nothing(containers: DockerContainers, docker_address: str) -> None:
    await many_leave_nothing(containers, docker_address, 100)


@pytest.mark.leaks
@only_runc
async def test_a_thousand_tasks_leave_nothing(containers: DockerContainers, docker_address: str) -> None:
    await many_leave_nothing(containers, docker_address, 1000)


async def many_leave_nothing(containers: DockerContainers, address: str, count: int) -> None:
    """Some end by themselves, some by a limit, and some because nobody waits any more."""
    before = held(address)
    talking = replace(TASK, limits=replace(LIMITS, output_bytes=10))

    async def one(number: int) -> None:
        work = asyncio.create_task(
            shell(containers, ("sleep 3600", "exit 1", "echo a lot of text")[number % 3], talking)
        )
        if number % 3 == 0:
            await until(lambda: work.done() or containers.running)
            work.cancel()
        await asyncio.wait([work])

    for start in range(0, count, 10):
        async with asyncio.TaskGroup() as group:
            for number in range(start, start + 10):
                group.create_task(one(number))
    await containers.stop()
    assert set(containers.counters.ends) == {End.EXITED, End.OUTPUT_LIMIT}
    assert held(address) == before


def held(address: str) -> dict[str, object]:
    """What could be left: containers, images and volumes of the daemon; descriptors, sockets among them, and threads of this
    process. The client that asks is gone then: it keeps connections of its own.
    """
    with closing(docker.APIClient(address, version="auto", timeout=300)) as client:
        found = {
            "containers": containers_of(client, "container-tests"),
            "images": {image["Id"] for image in client.images(all=True)},
            "volumes": {volume["Name"] for volume in client.volumes()["Volumes"] or []},
        }
    gc.collect()
    return {
        **found,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": {thread.name for thread in threading.enumerate() if thread.name.startswith("docker")},
    }
