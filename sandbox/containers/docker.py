"""Containers of tasks on a Docker daemon.

    turn ──► base ──► a spare, or create and start ──► give ──► run … run ──► fetch ──► removed

A container has the labels of its owner and process (`sandbox.boxes.docker.owner`), so what a killed service left behind
is removed by the next one. A container that the daemon cannot remove now is removed when it answers again.

gVisor keeps what a container writes to itself, so a container in gVisor cannot become a base: there the setup runs in
each container.
"""

import asyncio
import contextlib
import io
import itertools
import json
import os
import posixpath
import secrets
import socket
import struct
import tarfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from docker.errors import APIError

from sandbox.base import SandboxUnavailable
from sandbox.boxes.docker import owner as ownership
from sandbox.boxes.docker.container import is_gvisor
from sandbox.boxes.docker.fitness import check_daemon
from sandbox.containers.base import (
    EXCHANGE,
    GIVEN,
    MADE,
    NO_SPACE,
    PREPARATION_S,
    PROGRAMS,
    STARVED,
    BadTask,
    Container,
    Containers,
    Counters,
    End,
    Ended,
    Files,
    Meter,
    Task,
    TaskLimits,
    TaskRefused,
)
from sandbox.containers.daemon import GONE, USER_LABEL, Begun, Image, SlowDaemon, TaskDaemon
from sandbox.containers.images import BASE_LABEL, ImageRules, Images, label_of
from sandbox.containers.options import GIVER, options
from sandbox.containers.patience import Patience
from sandbox.containers.programs import programs
from sandbox.containers.spares import Kind, Spares
from sandbox.containers.turns import Turns

_TICK_S: Final = 0.5
"""Between looks at what a container uses."""
_REPORT_TICK_S: Final = 2.0
"""The same for the end of a report: its mark tells it, unless the shell that writes the mark was killed."""
_RETRY_S: Final = 5
"""Between attempts to remove a container that the daemon could not remove."""
_DRAIN_S: Final = 30.0
"""For the rest of the output of a command that has ended. The daemon itself cuts it off two seconds after the end."""
_REPORT: Final = f"""exec 3>&2 2>/dev/null
mark=$1$2
file=$3
shift 3
(exec "$@" 2>&1 3>&-)
code=$?
[ $code -gt 125 ] && exit $code
printf %s "$mark"
[ ! -f "$file" ] || [ -L "$file" ] || {PROGRAMS}/show <"$file" >&3
printf %s "$mark" >&3
sleep {_DRAIN_S:.0f}
exit $code"""
"""Runs a command. After its output comes a mark, on the second stream its report and a mark, and then it waits before it ends, so
that nothing is cut off. A command that was killed has no mark, nor has an engine's message about a command that it could not begin:
it shows the two halves of the mark apart. The report needs no trust on its way: its lines are signed.
"""
_HALF_MARK: Final = 16
_COUNT_PATIENCE_S: Final = 30.0
"""For a program of ours that needs a tenth of a second of a CPU. What takes longer waits for it all the time."""
_MOST_WAITING: Final = 0.996
"""Docker reads CPU seconds once a second, so that a short count may seem to get none. Half of what is left is more than gVisor
itself uses for a container that sleeps: 0.1 % of a CPU.
"""
_LEAST_WAITING: Final = 0.2
"""A smaller share of time without a CPU is what the measurement itself takes."""
_END_OTHERS_S: Final = 60.0
"""For the processes of a container to be gone. Those with much memory take a while."""
_LOOK_AGAIN_S: Final = 0.05
_BRING: Final = f'rm -rf {MADE}/brought; cp -R -- "$1" {MADE}/brought'
_BRING_LIMITS: Final = TaskLimits(cpu_s=86_400.0, wall_s=60.0)
_STREAM_HEAD: Final = struct.Struct("!B3xI")
_SECOND_STREAM: Final = 2
_GO_PANIC: Final = 2
_KILLED: Final = 137
_LOST_IN_GVISOR: Final = 128
"""The exit code of a command whose gVisor ends before it. The daemon says a little later that the container has ended."""
_END_PATIENCE_S: Final = 5
"""For the daemon's reports of the end of a container. On a busy machine they came up to 0.8 s after that of its command."""
_OOM_PATIENCE_S: Final = 1
"""For the report that the kernel has killed a process of a container that goes on."""
_MB: Final = 1 << 20
_FULL_MB: Final = 16
"""With less on the daemon's disk, a command may have failed for want of room. Tasks within their limits leave as much."""
_MAX_SAID_CHARS: Final = 200


class DockerContainers(Containers):
    """Containers of the Docker daemon at `address`. It is checked once, at the latest when the first task comes.

    Args:
        slots: Containers at once.
        spares: Containers beside them that are started ahead, see `spares`.
        memory_mb: Memory of all of them together; None: no limit.
        cpus: CPUs of each.
        runtime: The daemon's name for it; None is its default.
        may_network: Whether tasks that ask for a network get the daemon's bridge.
        owner: See `sandbox.boxes.docker.owner`; the default is the host's name.
        meter: Counts the CPU seconds of each container when it is over, and refuses tasks. What a task has begun is not
            refused any more: one may wait for what another, with another budget, has begun.
    """

    def __init__(
        self,
        address: str,
        *,
        slots: int,
        spares: int = 0,
        memory_mb: int | None = None,
        cpus: float = 1.0,
        disk_mb: int = 1 << 20,
        runtime: str | None = None,
        rules: ImageRules | None = None,
        may_network: bool = False,
        owner: str | None = None,
        meter: Meter | None = None,
        counters: Counters | None = None,
    ) -> None:
        self.counters = counters or Counters()
        self.slots = slots
        self.owner = owner or ownership.default_owner()
        self.is_gvisor = is_gvisor(runtime)
        self._runtime = runtime
        self._cpus = cpus
        self._disk_mb = disk_mb
        self._may_network = may_network
        self._meter = meter or Meter()
        # a look at each container waits up to a second for the daemon's next numbers, and others must not wait for it
        self._daemon = TaskDaemon(address, at_once=max(4, 2 * slots), patience_s=60)
        self._slow = SlowDaemon(address, at_once=4)
        # what nobody waits for must not hold up what a verdict waits for
        self._behind = TaskDaemon(address, at_once=max(2, slots), patience_s=60)
        self._turns = Turns(slots, memory_mb)
        self._names = (f"rewardline-task-{os.getpid()}-{secrets.token_hex(3)}-{n}" for n in itertools.count(1))
        self._spares = Spares(
            spares,
            self._names,
            start=self._behind.create,
            is_running=self._daemon.is_running,
            remove=self._remove_unused,
        )
        self.images = Images(self._daemon, self._slow, rules or ImageRules(), self.counters, self._spares.clear)
        self._unremoved: set[str] = set()
        self._unused: set[str] = set()
        """Spares that are being removed, which no task has had."""
        self._removals: set[asyncio.Task[None]] = set()
        self._trying: asyncio.Task[None] | None = None
        self._promised_mb = 0
        self._ending = 0
        """Containers that nobody needs any more, and that still have their turn."""
        self._disk: Path | None = None
        self._opening = asyncio.Lock()
        """Guards `_is_open`: the daemon is checked once, and nothing starts before that."""
        self._is_open = False

    @property
    def waiting(self) -> int:
        return self._turns.waiting

    @property
    def running(self) -> int:
        return self._turns.running

    @property
    def free(self) -> int:
        return self.slots - self._turns.running + self._ending

    @property
    def pulling(self) -> int:
        return self.images.pulling

    async def stop(self) -> None:
        if self._trying is not None:
            self._trying.cancel()
            await asyncio.wait([self._trying])
        while self._removals:
            await asyncio.wait(self._removals)
        await self._spares.clear()
        await self._remove_unremoved()
        await self._daemon.close()
        await self._slow.close()
        await self._behind.close()

    async def check(self) -> None:
        await self._open_once()
        await self._daemon.ping()

    async def build(self, context: Mapping[str, bytes]) -> str:
        self._meter.check()
        await self._open_once()
        return await self.images.build(context, may_network=self._may_network)

    async def base(self, task: Task) -> str:
        self._meter.check()
        return (await self._base(task)).id

    @contextlib.asynccontextmanager
    async def open(self, task: Task, files: Files) -> AsyncIterator[Container]:
        base = await self._base(task)
        self.images.begin_use(base.id)
        try:
            async with self._started(task, base, files) as container:
                if self.is_gvisor:
                    await _set_up(container, task)
                yield container
        finally:
            self.images.end_use(base.id)

    def _check_allowed(self, task: Task) -> None:
        if task.network and not self._may_network:
            raise TaskRefused(
                "network_not_allowed", "the task wants a network; this server gives none (setting `repository_network`)"
            )
        if task.limits.disk_mb > self._disk_mb:
            raise TaskRefused(
                "too_much_disk",
                f"the task wants to write {task.limits.disk_mb} MB; this server gives {self._disk_mb} MB",
            )

    async def _open_once(self) -> None:
        async with self._opening:
            if self._is_open:
                return
            info = await self._daemon.info()
            check_daemon(info, self._runtime)
            root = Path(info["DockerRootDir"])
            is_here = info["Name"] == socket.gethostname() and await asyncio.to_thread(root.is_dir)
            self._disk = root if is_here else None
            await self._remove_left_behind()
            self._is_open = True

    async def _base(self, task: Task) -> Image:
        self._check_allowed(task)
        await self._open_once()
        if self.is_gvisor:
            return await self.images.image(task.image)
        return await self.images.base(task, self._prepare)

    async def _prepare(self, task: Task, image: Image) -> Image:
        async with self._started(task, image, {}) as container:
            await _set_up(container, task)
            labels = {BASE_LABEL: label_of(task, image.id), USER_LABEL: image.user}
            base = await self._slow.commit(container.name, labels)
        base_image = await self._daemon.image(base)
        if base_image is None:
            raise SandboxUnavailable("an image of a task's setup was made, and is not there")
        return base_image

    @contextlib.asynccontextmanager
    async def _started(self, task: Task, image: Image, files: Files) -> AsyncIterator["DockerContainer"]:
        """A container that runs, once it is its turn. After the block, however that ends, it is removed; its turn lasts until
        that is done, but nobody waits for it.
        """
        kind = self._kind(task, image)
        async with contextlib.AsyncExitStack() as turn:
            with self._spares.waiting(kind):
                await turn.enter_async_context(self._turns.turn(task.limits.memory_mb))
            turn.enter_context(self._room(task.limits.disk_mb))
            async with self._running(kind, task, image, files, turn) as container:
                yield container

    @contextlib.asynccontextmanager
    async def _running(
        self, kind: Kind, task: Task, image: Image, files: Files, turn: contextlib.AsyncExitStack
    ) -> AsyncIterator["DockerContainer"]:
        spare = await self._spares.take(kind)
        name = spare or next(self._names)
        starting = asyncio.ensure_future(self._start(name, kind, image, files, is_there=spare is not None))
        turn = turn.pop_all()
        self._spares.refill()
        container = DockerContainer(
            self._daemon,
            name,
            task,
            image,
            self.counters,
            cpus=self._cpus,
            is_gvisor=self.is_gvisor,
            disk=self._disk,
        )
        try:
            await asyncio.shield(starting)
            self.counters.started += 1
            try:
                yield container
            finally:
                self.counters.cpu_seconds += container.used_s
                self._meter.note(container.used_s)
        finally:
            self._in_background(self._end(starting, name, kind, turn))

    def _kind(self, task: Task, image: Image) -> Kind:
        container = options(
            task,
            image=image.id,
            workdir=image.workdir,
            cpus=self._cpus,
            labels=ownership.labels(self.owner),
            runtime=self._runtime,
            is_gvisor=self.is_gvisor,
        )
        return Kind(json.dumps(container, sort_keys=True), container)

    async def _start(self, name: str, kind: Kind, image: Image, files: Files, *, is_there: bool) -> None:
        ours = programs(image.architecture)
        exchange_tar = packed(files, with_folders=True, programs=ours, mode=0o755 if self.is_gvisor else 0o711)
        if not is_there:
            await self._daemon.create(name, kind.options)
        await self._daemon.put(name, EXCHANGE, exchange_tar)

    async def _end(
        self, starting: asyncio.Future[None], name: str, kind: Kind, turn: contextlib.AsyncExitStack
    ) -> None:
        """Remove a container once the request that starts it is over: a removal before that would miss it. Then its turn ends.

        Spares of its kind start when no other container is at work.
        """
        self._ending += 1
        turn.callback(self._ended)
        if self.free == self.slots:
            self._spares.refill(kind)
        async with turn:
            await asyncio.wait([starting])
            failure = starting.exception()
            await self._remove(name)
            if isinstance(failure, SandboxUnavailable):
                self._remove_later(name)  # the daemon may still be making what we stopped waiting for

    def _ended(self) -> None:
        self._ending -= 1

    @contextlib.contextmanager
    def _room(self, disk_mb: int) -> Iterator[None]:
        """Promise a container its room on the disk.

        Raises:
            SandboxUnavailable: there is not enough of it.
        """
        if self._disk is not None:
            free_mb = _free_mb(self._disk)
            if free_mb - self._promised_mb < disk_mb + _FULL_MB:
                raise SandboxUnavailable(
                    f"the disk of the Docker daemon has {free_mb} MB left, of which other tasks may use "
                    f"{self._promised_mb} MB; the task may write {disk_mb} MB, and {_FULL_MB} MB stay free",
                    NO_SPACE,
                )
        self._promised_mb += disk_mb
        try:
            yield
        finally:
            self._promised_mb -= disk_mb

    def _in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._removals.add(task)
        task.add_done_callback(self._removals.discard)
        return task

    async def _remove(self, name: str) -> None:
        try:
            await self._behind.remove(name)
        except SandboxUnavailable:
            self._remove_later(name)
        else:
            self._unremoved.discard(name)
            self.counters.removed += name not in self._unused
            self._unused.discard(name)

    async def _remove_unused(self, name: str) -> None:
        self._unused.add(name)
        await self._remove(name)

    def _remove_later(self, name: str) -> None:
        self._unremoved.add(name)
        if self._trying is None or self._trying.done():
            self._trying = asyncio.create_task(self._keep_trying())

    async def _keep_trying(self) -> None:
        """Try to remove what the daemon could not remove, until it is gone."""
        while self._unremoved:
            await asyncio.sleep(_RETRY_S)
            await self._remove_unremoved()

    async def _remove_left_behind(self) -> None:
        containers = await self._daemon.containers(f"{ownership.OWNER_LABEL}={self.owner}")
        for container, labels in containers.items():
            if ownership.is_left_behind(labels):
                await self._remove(container)
                self.counters.killed_left_behind += 1

    async def _remove_unremoved(self) -> None:
        for name in list(self._unremoved):
            await self._remove(name)


class DockerContainer(Container):
    """One container of a task."""

    def __init__(
        self,
        daemon: TaskDaemon,
        name: str,
        task: Task,
        image: Image,
        counters: Counters,
        *,
        cpus: float,
        is_gvisor: bool,
        disk: Path | None = None,
    ) -> None:
        """`disk` is where its files are, if they are on this machine."""
        self.name = name
        self._disk = disk
        self._cpus = cpus
        self._user = image.user
        self._architecture = image.architecture
        self._workdir = task.workdir or image.workdir
        self._daemon = daemon
        self._task = task
        self._counters = counters
        self._is_gvisor = is_gvisor
        self._cpu_s = 0.0
        """Its CPU seconds when it was last looked at."""
        self._looked = 0.0
        """When that was, or when the command began that runs."""
        self._unseen_s = 0.0
        """How long commands ran since."""
        self._has_met_processes = False
        self._counted_s = 0.0
        """CPU seconds of the container while a program of ours counted in it."""

    @property
    def used_s(self) -> float:
        """The CPU seconds of the container. Since the last look, commands count as if each had one thread, always busy."""
        return self._cpu_s + min(1.0, self._cpus) * self._unseen_s

    async def run(
        self, command: Sequence[str], limits: TaskLimits | None = None, *, report: str | None = None, prepared: str = ""
    ) -> Ended:
        limits = limits or self._task.limits
        if report is None:
            ended = await self._run(command, limits, _Output(limits.output_bytes, prepared=prepared.encode()))
        else:
            mark, file = secrets.token_hex(16), f"{MADE}/{report}" if report else ""
            output = _Reporting(limits.output_bytes, mark.encode(), prepared.encode())
            halves = mark[:_HALF_MARK], mark[_HALF_MARK:]
            ended = await self._run(
                ("sh", "-c", _REPORT, "sh", *halves, file, *command), limits, output, _REPORT_TICK_S
            )
            ended = replace(ended, report=output.report.content if output.report.is_whole else None)
        if self._disk is not None and _free_mb(self._disk) < _FULL_MB and ended.end is not End.DISK_LIMIT:
            ended = await self._on_a_full_disk(ended, limits)
        self._counters.ends[ended.end] = self._counters.ends.get(ended.end, 0) + 1
        return ended

    async def _on_a_full_disk(self, ended: Ended, limits: TaskLimits) -> Ended:
        """The end of a command that may have failed for want of room.

        Raises:
            SandboxUnavailable: it is not the command that has filled the disk.
        """
        usage = await self._daemon.usage(self.name)
        if usage is None or usage.disk_bytes <= limits.disk_mb * _MB:
            raise SandboxUnavailable(
                f"the disk of the Docker daemon is full; what the command in {self.name} could not write is not its fault",
                NO_SPACE,
            )
        return replace(ended, end=End.DISK_LIMIT, exit_code=None)

    async def give(self, files: Files) -> None:
        await self._daemon.put(self.name, EXCHANGE, packed(files, with_folders=False))

    async def fetch(self, name: str, *, max_bytes: int) -> bytes | None:
        return (await self._daemon.get(self.name, f"{MADE}/{name}", max_bytes)).get("")

    async def read(
        self, path: str, *, max_bytes: int, is_wanted: Callable[[str], bool] = lambda _: True
    ) -> Mapping[str, bytes]:
        path = posixpath.join(self._workdir, path)
        if self._is_gvisor and not path.startswith(tuple(f"{folder}/" for folder in (EXCHANGE, *self._task.folders))):
            # the daemon may see an old state of the files that are gVisor's own
            await self._run(("sh", "-c", _BRING, "sh", path), _BRING_LIMITS, _Output(_BRING_LIMITS.output_bytes))
            path = f"{MADE}/brought"
        return await self._daemon.get(self.name, path, max_bytes, is_wanted)

    async def met_limit(self) -> End | None:
        if await self._daemon.reports(self.name, "oom", _OOM_PATIENCE_S):
            return End.MEMORY_LIMIT
        usage = await self._daemon.usage(self.name)
        self._has_met_processes |= usage is not None and usage.has_all_processes
        return End.PROCESS_LIMIT if self._has_met_processes else None

    async def fill(self, folder: str, files: Mapping[str, bytes]) -> None:
        parent, _, name = folder.rpartition("/")
        owner = self._user.partition(":")[0]
        folder_tar = filled(name, files, int(owner) if owner.isdecimal() else 0 if owner == "root" else GIVER)
        await self._daemon.put(self.name, parent or "/", folder_tar)

    async def end_others(self) -> bool:
        if not programs(self._architecture):
            message = f"scripts are judged in images for amd64 and arm64; this one is for {self._architecture!r}"
            raise SandboxUnavailable(message, "preparation_failed")
        try:
            async with asyncio.timeout(_END_OTHERS_S):
                if await self._work("end_others", self._user) != 0:
                    return False
                while not await self._is_alone():  # noqa: ASYNC110
                    await asyncio.sleep(_LOOK_AGAIN_S)  # the kernel says nothing when they are gone
        except TimeoutError as error:
            message = f"the processes of {self.name} have not ended in {_END_OTHERS_S:g} s"
            raise SandboxUnavailable(message, "box_died") from error
        return True

    async def _is_alone(self) -> bool:
        """Whether nothing else is alive, as far as the daemon's machine can see it. In gVisor it cannot."""
        try:
            return self._is_gvisor or await self._daemon.is_alone(self.name)
        except SandboxUnavailable as error:
            if not isinstance(error.__cause__, APIError):
                raise
            return True

    async def _work(self, program: str, user: str, output: "_Output | None" = None) -> int | None:
        """Run a program of ours to its end; its exit code."""
        begun = await self._begin((f"{PROGRAMS}/{program}",), user=user, folder="/")
        with begun.connection:
            await _read(begun, output or _Output(1 << 10))
        return await self._exit_code(begun.id, patiently=True)

    async def _run(
        self, command: Sequence[str], limits: TaskLimits, output: "_Output", tick_s: float = _TICK_S
    ) -> Ended:
        clock = asyncio.get_running_loop().time
        begun = await self._begin(command, user=self._user, folder=self._workdir)
        started = self._looked = clock()
        reading = asyncio.ensure_future(_read(begun, output))
        watching = asyncio.ensure_future(self._watch(limits, output))

        def ended(end: End, exit_code: int | None = None) -> Ended:
            return Ended(end, exit_code, output.content, self._cpu_s, clock() - started)

        try:
            while True:
                await asyncio.wait([reading, watching], timeout=tick_s, return_when=asyncio.FIRST_COMPLETED)
                exit_code = None
                if not output.is_over:
                    exit_code = await self._exit_code(begun.id, patiently=reading.done())
                if exit_code is not None:
                    await asyncio.wait([reading], timeout=_DRAIN_S)
                if output.is_over:
                    return ended(End.EXITED if output.is_whole else End.OUTPUT_LIMIT)
                if exit_code is not None:
                    end = await self._end(exit_code)
                    return ended(end, exit_code if end is End.EXITED else None)
                if watching.done():
                    return ended(watching.result())
                if reading.done():
                    await asyncio.wait([watching], timeout=_TICK_S)
        finally:
            reading.cancel()
            watching.cancel()
            await asyncio.wait([reading, watching])
            begun.connection.close()
            self._unseen_s += clock() - self._looked

    async def _watch(self, limits: TaskLimits, output: "_Output") -> End:
        """The limit that the container meets. Looking takes the daemon half a second, so nobody waits for it.

        Raises:
            SandboxUnavailable: the daemon is gone, or the machine is too busy to run the container.
        """
        clock = asyncio.get_running_loop().time
        is_prepared = output.is_prepared
        patience = Patience(limits.wall_s if is_prepared else PREPARATION_S, self._cpus, clock(), self._cpu_s)
        while True:
            await asyncio.sleep(_TICK_S)
            if output.is_prepared and not is_prepared:
                is_prepared, patience = True, Patience(limits.wall_s, self._cpus, clock(), self._cpu_s)
            usage = await self._daemon.usage(self.name)
            if usage is not None:
                self._cpu_s = max(self._cpu_s, usage.cpu_s - self._counted_s)
                self._looked, self._unseen_s = clock(), 0.0
                self._has_met_processes |= usage.has_all_processes
            if self._cpu_s > limits.cpu_s:
                return End.TIME_LIMIT
            if usage is not None and usage.disk_bytes > limits.disk_mb * _MB:
                return End.DISK_LIMIT
            if patience.is_due(now := clock()):
                starved_s, cpu_s = patience.starved_s, self._cpu_s
                waiting = await self.waiting()
                patience.look(now, cpu_s, waiting=waiting, looking_s=clock() - now)
                self._counters.starved_seconds += patience.starved_s - starved_s
            if patience.is_over(now):
                return End.TIME_LIMIT
            if patience.is_hopeless:
                raise SandboxUnavailable(
                    f"the container {self.name} waited {patience.starved_s:.0f} s for a CPU: its machine is too busy",
                    STARVED,
                )

    async def waiting(self) -> float:
        """The share of its time that a thread of the container waits for a CPU. Nothing of the container has a say in it.

        The daemon's machine sees whether a thread is ready to run. It does not see the threads of gVisor: there a program of ours
        counts, and what CPU the container does not get meanwhile, it waits for. One that can start no process says nothing of it.

        Raises:
            SandboxUnavailable: the daemon does not answer.
        """
        try:
            if not self._is_gvisor:
                return float(await self._daemon.is_ready_to_run(self.name))
        except SandboxUnavailable as error:
            if not isinstance(error.__cause__, APIError):
                raise
        try:
            async with asyncio.timeout(_COUNT_PATIENCE_S):
                return await self._waiting_while_counting()
        except TimeoutError:
            return 1.0
        except SandboxUnavailable as error:
            if not isinstance(error.__cause__, APIError):
                raise
            return 0.0

    async def _waiting_while_counting(self) -> float:
        clock = asyncio.get_running_loop().time
        lines, at_first_s = _Lines(1 << 10), await self._daemon.cpu_s(self.name)
        counting = asyncio.ensure_future(self._work("count", f"{GIVER}:{GIVER}", lines))
        try:
            await asyncio.wait([counting, asyncio.ensure_future(lines.has_begun.wait())], return_when="FIRST_COMPLETED")
            is_late, began, before_s = counting.done(), clock(), await self._daemon.cpu_s(self.name)
            exit_code = await counting
        finally:
            lines.has_begun.set()
            counting.cancel()
        counted_s, after_s = clock() - began, await self._daemon.cpu_s(self.name)
        if at_first_s is None or before_s is None or after_s is None or exit_code != 0:
            return 0.0
        self._counted_s += after_s - at_first_s
        if is_late:
            return 1.0  # not even this service has run meanwhile
        waiting = 1 - (after_s - before_s) / (min(1.0, self._cpus) * counted_s)
        return min(waiting, _MOST_WAITING) if waiting > _LEAST_WAITING else 0.0

    async def _begin(self, command: Sequence[str], *, user: str, folder: str) -> Begun:
        """Start a command. Who stops waiting for it leaves no connection open."""
        beginning = asyncio.ensure_future(self._daemon.begin(self.name, command, user=user, folder=folder))
        try:
            return await asyncio.shield(beginning)
        except asyncio.CancelledError:
            beginning.add_done_callback(_close)
            raise

    async def _exit_code(self, execution: str, *, patiently: bool) -> int | None:
        """The exit code of a command. The daemon may know of the end a little later than its output is over."""
        for pause_s in (0.01, 0.02, 0.05, 0.1, 0.2) if patiently else ():
            code = await self._daemon.exit_code(execution)
            if code is not None:
                return code
            await asyncio.sleep(pause_s)
        return await self._daemon.exit_code(execution)

    async def _end(self, exit_code: int) -> End:
        """How a command ended that is over.

        Raises:
            SandboxUnavailable: its container ended, and not for want of memory.
        """
        if exit_code == 0:  # what ends together with its container is killed
            return End.EXITED
        if self._is_gvisor and exit_code == _LOST_IN_GVISOR and not await self._is_alive():
            await self._daemon.reports(self.name, "die", _END_PATIENCE_S)
        state = await self._daemon.state(self.name)
        was_killed_for_memory = bool(state.get("OOMKilled"))
        if state.get("Running") and exit_code != GONE:
            if exit_code != _KILLED:
                return End.EXITED
            is_out_of_memory = was_killed_for_memory or await self._daemon.reports(self.name, "oom", _OOM_PATIENCE_S)
            return End.MEMORY_LIMIT if is_out_of_memory else End.EXITED
        # gVisor's kernel is an ordinary program: it exits with 2 when it can get no more threads or memory.
        if was_killed_for_memory or (self._is_gvisor and state.get("ExitCode") == _GO_PANIC):
            return End.MEMORY_LIMIT if was_killed_for_memory or not self._has_met_processes else End.PROCESS_LIMIT
        # The state does not say it if the kernel's report comes after that of the end.
        if state.get("ExitCode") == _KILLED and await self._daemon.reports(self.name, "oom", _END_PATIENCE_S):
            return End.MEMORY_LIMIT
        raise SandboxUnavailable(
            f"the container {self.name} ended: {state.get('Error') or 'it was killed'}", "box_died"
        )

    async def _is_alive(self) -> bool:
        """Whether the container runs another command."""
        try:
            return await self._work("count", f"{GIVER}:{GIVER}") == 0
        except SandboxUnavailable:
            return False


def _free_mb(folder: Path) -> int:
    space = os.statvfs(folder)
    return space.f_bavail * space.f_frsize // _MB


def _close(beginning: "asyncio.Future[Begun]") -> None:
    if not beginning.cancelled() and beginning.exception() is None:
        beginning.result().connection.close()


class _Output:
    """What a command wrote, up to a limit or to the mark at its end. An empty mark never comes.

    It is prepared once it has written `prepared`.
    """

    def __init__(self, max_bytes: int, mark: bytes = b"", prepared: bytes = b"") -> None:
        self.is_whole = False
        self.is_prepared = not prepared
        self._prepared = prepared
        self._max_bytes = max_bytes
        self._mark = mark
        self._content = bytearray()

    @property
    def is_over(self) -> bool:
        return self.is_whole or len(self._content) > self._max_bytes

    @property
    def content(self) -> bytes:
        return bytes(self._content[: self._max_bytes])

    def close(self) -> None:
        """Nothing more comes."""

    def add(self, piece: bytes, stream: int) -> None:
        if self.is_whole:
            return
        search_start = max(0, len(self._content) - max(len(self._mark), len(self._prepared)))
        self._content += piece
        self.is_prepared = self.is_prepared or self._content.find(self._prepared, search_start) >= 0
        end = self._content.find(self._mark, search_start) if self._mark else -1
        if 0 <= end <= self._max_bytes:
            self.is_whole = True
            del self._content[end:]


class _Lines(_Output):
    """What a program wrote, and whether it has begun to."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self.has_begun = asyncio.Event()

    def add(self, piece: bytes, stream: int) -> None:
        super().add(piece, stream)
        self.has_begun.set()


class _Reporting(_Output):
    """What a command wrote, and its report, which comes on the second stream."""

    def __init__(self, max_bytes: int, mark: bytes, prepared: bytes) -> None:
        super().__init__(max_bytes, mark, prepared)
        self.report = _Output(max_bytes, mark)
        self._is_closed = False

    @property
    def is_over(self) -> bool:
        return super().is_over and (self.report.is_over or self._is_closed or not self.is_whole)

    def close(self) -> None:
        self._is_closed = True

    def add(self, piece: bytes, stream: int) -> None:
        if stream == _SECOND_STREAM:
            self.report.add(piece, stream)
        else:
            super().add(piece, stream)


async def _read(begun: Begun, output: _Output) -> None:
    """Read a stream in Docker's attach format until it ends, or the output is whole or full."""
    loop = asyncio.get_running_loop()
    buffer = bytearray(begun.beginning)
    with contextlib.suppress(OSError):
        while True:
            while len(buffer) >= _STREAM_HEAD.size and not output.is_over:
                stream, length = _STREAM_HEAD.unpack_from(buffer)
                end = _STREAM_HEAD.size + length
                if len(buffer) < end:
                    break
                output.add(bytes(buffer[_STREAM_HEAD.size : end]), stream)
                del buffer[:end]
            if output.is_over:
                return
            piece = await loop.sock_recv(begun.connection, 1 << 16)
            if not piece:
                break
            buffer += piece
    output.close()


async def _set_up(container: Container, task: Task) -> None:
    """Run the setup of a task.

    Raises:
        BadTask: a command of it fails.
    """
    for command in task.setup:
        ended = await container.run(["sh", "-c", command])
        if ended.end is not End.EXITED or ended.exit_code != 0:
            how = f"exits with {ended.exit_code}" if ended.end is End.EXITED else f"meets its {ended.end}"
            output = ended.output[-_MAX_SAID_CHARS:].decode(errors="replace").strip()
            raise BadTask("setup_fails", f"the setup command {command[:_MAX_SAID_CHARS]!r} {how}: {output}")


def packed(
    files: Files, *, with_folders: bool, programs: Mapping[str, bytes] = MappingProxyType({}), mode: int = 0o711
) -> bytes:
    """A tar of files below `EXCHANGE`. With folders it also makes `GIVEN`, `MADE` and `PROGRAMS`, whose files have `mode`."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as members:
        if with_folders:
            members.addfile(_member(GIVEN.removeprefix(f"{EXCHANGE}/"), tarfile.DIRTYPE, 0o755))
            members.addfile(_member(MADE.removeprefix(f"{EXCHANGE}/"), tarfile.DIRTYPE, 0o1777))
            members.addfile(_member(PROGRAMS.removeprefix(f"{EXCHANGE}/"), tarfile.DIRTYPE, 0o755))
            for name, content in programs.items():
                _add(members, _member(f"programs/{name}", tarfile.REGTYPE, mode), content)
        for path, content in files.items():
            _add(members, _member(path, tarfile.REGTYPE, 0o755 if path.startswith("given/") else 0o666), content)
    return archive.getvalue()


def filled(folder: str, files: Mapping[str, bytes], owner: int) -> bytes:
    """A tar of a folder where all may write, with files in it."""
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents} - {"."}
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as members:
        members.addfile(_member(folder, tarfile.DIRTYPE, 0o777, owner))
        for path in sorted(folders):
            members.addfile(_member(f"{folder}/{path}", tarfile.DIRTYPE, 0o777, owner))
        for path, content in files.items():
            _add(members, _member(f"{folder}/{path}", tarfile.REGTYPE, 0o755, owner), content)
    return archive.getvalue()


def _member(path: str, kind: bytes, mode: int, owner: int = GIVER) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.type = kind
    member.mode = mode
    member.uid = member.gid = owner
    return member


def _add(members: tarfile.TarFile, member: tarfile.TarInfo, content: bytes) -> None:
    member.size = len(content)
    members.addfile(member, io.BytesIO(content))
