"""Makes Docker boxes, and makes sure that no box outlives its use.

The service talks to a box in one of two ways (`Transport`). A socket in a private folder, which the container mounts,
costs least: it is accepted once, and its name and folder are removed at once. When the daemon runs on another machine,
or the container runs in gVisor, the service uses the container's standard streams, through the daemon.
"""

import asyncio
import itertools
import os
import secrets
import socket
import struct
import tempfile
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sandbox.base import Isolation, SandboxUnavailable
from sandbox.boxes import bootstrap
from sandbox.boxes.backend import GVISOR_COUNTS_WAITING, Backend, Box, BoxSize, Profile
from sandbox.boxes.docker import owner as ownership
from sandbox.boxes.docker.container import INTERPRETER, SOCKET_FOLDER, is_gvisor, options
from sandbox.boxes.docker.daemon import Daemon
from sandbox.boxes.docker.fitness import Transport, best_transport, check_daemon, check_image, user_ids_of_boxes
from sandbox.boxes.user_ids import Range, ranges_of_a_machine
from sandbox.languages import all_languages
from sandbox.runner.configuration import Configuration

_CONNECT_PATIENCE_S: Final = 20
"""For a started container to connect to us: it has only an interpreter to start."""
_DEATH_PATIENCE_S: Final = 2
"""For the daemon to notice that a container has ended, after its connection broke."""
_MAX_STDERR_BYTES: Final = 4096
_GO_PANIC: Final = 2
_SOCKET: Final = "runner"
_ATTACH_HEAD: Final = struct.Struct("!4xI")
_SHARED_KERNEL: Final = "Programs share the machine's kernel: a vulnerability in it can let them out."
_GVISOR_CAVEATS: Final = (
    "A program that uses up its box's memory ends the whole box; the number of its files has no limit of its own.",
    "Programs can see the memory layout, the environment and the open files' names of the runner in their box, which "
    "hold nothing of the service, can open devices that gVisor itself emulates, and get an answer of gVisor's own to some "
    "calls that other boxes refuse, such as those about priorities.",
    GVISOR_COUNTS_WAITING,
)


class DockerBackend(Backend):
    """Boxes of the Docker daemon at `address`, which is `unix://` or unencrypted `tcp://`.

    Args:
        image: Made by `make box-image`, or derived from such an image.
        runtime: The daemon's name for it, such as `runsc`; None is the daemon's default.
        owner: See `sandbox.boxes.docker.owner`; the default is the host's name.
    """

    def __init__(
        self,
        size: BoxSize | None = None,
        image: str = "rewardline-box",
        runtime: str | None = None,
        owner: str | None = None,
        address: str = "unix:///var/run/docker.sock",
        transport: Transport = Transport.AUTO,
    ) -> None:
        self.size = size or BoxSize()
        self.image = image
        self.runtime = runtime
        self.owner = owner or ownership.default_owner()
        self.isolation = Isolation.GVISOR if is_gvisor(runtime) else Isolation.DOCKER
        self.caveats = _GVISOR_CAVEATS if is_gvisor(runtime) else (_SHARED_KERNEL,)
        self._daemon = Daemon(address)
        self._transport = transport
        self._ids = ranges_of_a_machine()
        self._lent: dict[str, Range] = {}
        self._names = (f"rewardline-{os.getpid()}-{secrets.token_hex(3)}-{number}" for number in itertools.count(1))
        self._unremoved: set[str] = set()
        self._removals: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        info = await self._daemon.info()
        check_daemon(info, self.runtime)
        check_image(self.image, await self._daemon.image_labels(self.image))
        if self._transport is Transport.AUTO:
            self._transport = best_transport(info, self.isolation)
        self._ids = user_ids_of_boxes(info)
        await asyncio.to_thread(ownership.remove_folders_left_behind)
        await self._remove_left_behind()

    async def close(self) -> None:
        while self._removals:
            await asyncio.wait(self._removals)
        await self._remove_unremoved()
        await self._daemon.close()

    async def make(self, profile: Profile, *, once: bool = False) -> Box:
        name = next(self._names)
        making = asyncio.ensure_future(self._make(name, profile))
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            await asyncio.shield(self.in_background(_undo(making)))
            raise

    async def remove(self, name: str) -> None:
        """Remove a container. If the daemon cannot do it now, remove it the next time the daemon answers."""
        try:
            await self._daemon.remove(name)
        except SandboxUnavailable:
            self._unremoved.add(name)
            return
        ids = self._lent.pop(name, None)
        if ids is not None:
            self._ids.give_back(ids)

    async def state(self, name: str) -> Mapping[str, Any]:
        """The state of a container, as the daemon reports it."""
        return await self._daemon.state(name)

    def in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run a coroutine that `close` waits for."""
        task = asyncio.ensure_future(work)
        self._removals.add(task)
        task.add_done_callback(self._removals.discard)
        return task

    async def _make(self, name: str, profile: Profile) -> "DockerBox":
        ids = self._lent[name] = self._ids.lend()
        try:
            if self._transport is Transport.SOCKET:
                box = await self._make_with_socket(name, profile, ids)
            else:
                box = await self._make_with_streams(name, profile, ids)
        except BaseException:
            self.in_background(self.remove(name))
            raise
        if self._unremoved:
            self.in_background(self._remove_unremoved())
        return box

    async def _make_with_socket(self, name: str, profile: Profile, ids: Range) -> "DockerBox":
        try:
            with _listening() as (folder, listener):
                stderr = await self._start(name, profile, f"unix:{SOCKET_FOLDER}/{_SOCKET}", folder, {"stderr": 1})
                connection = await self._accept(name, listener, stderr)
        except OSError as error:
            raise SandboxUnavailable(f"cannot make a socket for the container {name}: {error}") from error
        return DockerBox(self, name, profile, ids, connection, stderr=stderr, is_multiplexed=False)

    async def _make_with_streams(self, name: str, profile: Profile, ids: Range) -> "DockerBox":
        connection = await self._start(name, profile, "stdio", None, {"stdin": 1, "stdout": 1, "stderr": 1})
        return DockerBox(self, name, profile, ids, connection, stderr=None, is_multiplexed=True)

    async def _start(
        self, name: str, profile: Profile, transport: str, folder: Path | None, streams: Mapping[str, int]
    ) -> socket.socket:
        container = options(
            image=self.image,
            command=bootstrap.command(INTERPRETER, transport, with_site=True),
            profile=profile,
            size=self.size,
            labels=ownership.labels(self.owner),
            runtime=self.runtime,
            socket_folder=folder,
        )
        return await self._daemon.start(name, container, streams)

    async def _accept(self, name: str, listener: socket.socket, stderr: socket.socket) -> socket.socket:
        try:
            async with asyncio.timeout(_CONNECT_PATIENCE_S):
                connection, _ = await asyncio.get_running_loop().sock_accept(listener)
        except TimeoutError:
            output = _stderr_text(stderr)
            stderr.close()
            raise SandboxUnavailable(
                f"the container {name} was started, but did not connect within {_CONNECT_PATIENCE_S} s. {output}".strip()
            ) from None
        connection.setblocking(False)
        return connection

    async def _remove_left_behind(self) -> None:
        """Remove the containers that dead services of this owner left behind."""
        containers = await self._daemon.containers(f"{ownership.OWNER_LABEL}={self.owner}")
        async with asyncio.TaskGroup() as group:
            for container, labels in containers.items():
                if ownership.is_left_behind(labels):
                    group.create_task(self.remove(container))

    async def _remove_unremoved(self) -> None:
        names, self._unremoved = self._unremoved, set()
        for name in names:
            await self.remove(name)


class DockerBox(Box):
    """One container. Its connection is open from the start, and the container ends when the connection is closed."""

    def __init__(
        self,
        backend: DockerBackend,
        name: str,
        profile: Profile,
        ids: Range,
        connection: socket.socket,
        *,
        stderr: socket.socket | None,
        is_multiplexed: bool,
    ) -> None:
        self.name = name
        self.profile = profile
        self.connection = connection
        self.is_multiplexed = is_multiplexed
        self.configuration = Configuration(
            preload=profile.preload,
            programs=_programs(),
            first_uid=ids.first,
            uids=ids.count // 2,
            cpus=backend.size.cpus,
            # gVisor accepts RLIMIT_DATA, but does not enforce it.
            watch_memory=is_gvisor(backend.runtime),
            memory_ends_box=is_gvisor(backend.runtime),
        )
        self._backend = backend
        self._stderr = stderr
        self._destruction: asyncio.Task[None] | None = None

    async def destroy(self) -> None:
        if self._destruction is None:
            self.connection.close()
            if self._stderr is not None:
                self._stderr.close()
            self._destruction = self._backend.in_background(self._backend.remove(self.name))
        await asyncio.shield(self._destruction)

    async def died_of_memory(self) -> bool:
        """Whether the kernel killed the box because memory ran out.

        gVisor's kernel is an ordinary program: it exits with 2 when it can get no more threads or memory.
        """
        state = await self._last_state()
        has_given_up = is_gvisor(self._backend.runtime) and state.get("ExitCode") == _GO_PANIC
        return bool(state.get("OOMKilled")) or has_given_up

    async def stderr_text(self) -> str:
        if self._destruction is not None:
            return ""
        state = await self._last_state()
        output = _stderr_text(self._stderr) if self._stderr is not None else ""
        return f"exit code {state.get('ExitCode')} {state.get('Error', '')} {output}".strip()

    async def _last_state(self) -> Mapping[str, Any]:
        """The container's state once it has ended; its current state if it has not ended in time."""
        patience = asyncio.get_running_loop().time() + _DEATH_PATIENCE_S
        while True:
            state = await self._backend.state(self.name)
            if not state.get("Running") or asyncio.get_running_loop().time() > patience:
                return state
            await asyncio.sleep(0.1)


@contextmanager
def _listening() -> Iterator[tuple[Path, socket.socket]]:
    """A listening socket in a private folder. Both are removed at the end."""
    with (
        tempfile.TemporaryDirectory(prefix=ownership.folder_prefix(), ignore_cleanup_errors=True) as folder,
        socket.socket(socket.AF_UNIX) as listener,
    ):
        _bind(listener, folder)
        listener.listen(1)
        listener.setblocking(False)
        yield Path(folder), listener


def _bind(listener: socket.socket, folder: str) -> None:
    """Bind through a descriptor, because the path of a socket may have at most 107 bytes, and folders can be deep."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        listener.bind(f"/proc/self/fd/{descriptor}/{_SOCKET}")
    finally:
        os.close(descriptor)


async def _undo(making: "asyncio.Future[DockerBox]") -> None:
    """Remove a box that nobody waits for any more."""
    try:
        box = await making
    except SandboxUnavailable:
        return
    await box.destroy()


def _programs() -> tuple[str, ...]:
    return tuple(sorted({program for language in all_languages().values() for program in language.needs}))


def _stderr_text(stream: socket.socket) -> str:
    """The text received so far from a stream in Docker's attach format, cut."""
    try:
        data = stream.recv(_MAX_STDERR_BYTES)
    except OSError:
        return ""
    received = bytearray()
    while len(data) >= _ATTACH_HEAD.size:
        length = _ATTACH_HEAD.unpack_from(data)[0]
        received += data[_ATTACH_HEAD.size : _ATTACH_HEAD.size + length]
        data = data[_ATTACH_HEAD.size + length :]
    return received.decode(errors="replace").strip()
