"""The requests to a Docker daemon that tasks need beside those of boxes."""

import io
import math
import socket
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

import docker
from docker.errors import APIError, ImageNotFound, NotFound

from sandbox.base import SandboxUnavailable
from sandbox.boxes.docker.daemon import Daemon, own_stream
from sandbox.containers.base import BadTask, TooLarge

_SLOW_PATIENCE_S: Final = 600
"""For a request that moves an image or runs over its files."""
_MOST_AROUND_BYTES: Final = 1 << 30
_NEARLY_ALL: Final = 0.95
"""Of the processes that a container may have: one that could not start another has ended, and its parent, too."""
_MOST_MEMBERS: Final = 100_000
_FAULTS_OF_IMAGES: Final = ("executable file not found", "is not a directory")
"""Words of the daemon when it makes and starts a container. The second ones are about its working directory."""
_NO_FILE: Final = ("too many levels of symbolic links", "not a directory", "file name too long", "too many links")
"""Words of the daemon about a path of a container that leads to no file."""
GONE: Final = -1
"""The exit code of a command that is over because its container is."""
USER_LABEL: Final = "rewardline.user"
"""On an image of ours: the user of the image that it was made from."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image of the daemon."""

    id: str
    size_bytes: int
    user: str
    """Who runs its commands."""
    workdir: str = "/"
    """Where they run if a task does not say it."""
    architecture: str = ""
    """That of its programs, such as `amd64`."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a container has used so far."""

    cpu_s: float
    disk_bytes: int
    has_all_processes: bool = False
    """Whether it has about as many processes and threads as it may have."""


class Begun(NamedTuple):
    """A command that has begun."""

    id: str
    connection: socket.socket
    """Its streams in Docker's attach format."""
    beginning: bytes
    """What has come of them already."""


class TaskDaemon(Daemon):
    """A Docker daemon that runs tasks. Errors are those of `Daemon`."""

    reason = "containers_unavailable"

    async def image(self, name: str) -> Image | None:
        """An image by its name or id; None when there is none."""

        def find(client: docker.APIClient) -> Image | None:
            try:
                image_info = client.inspect_image(name)  # type: ignore[no-untyped-call]  # its stubs have holes
            except ImageNotFound:
                return None
            labels = image_info["Config"].get("Labels") or {}
            config = image_info["Config"]
            user = labels.get(USER_LABEL) or config.get("User") or "0"
            return Image(
                image_info["Id"],
                image_info["Size"],
                user,
                config.get("WorkingDir") or "/",
                image_info.get("Architecture") or "",
            )

        return await self._ask(find)

    async def images(self, label: str) -> Sequence[Image]:
        """The images of ours with a label."""

        def find(client: docker.APIClient) -> Sequence[Image]:
            listed = client.images(filters={"label": label})
            return [Image(image["Id"], image["Size"], image["Labels"][USER_LABEL]) for image in listed]

        return await self._ask(find)

    async def create(self, name: str, options: Mapping[str, Any]) -> None:
        """Create a container, and start it.

        Raises:
            BadTask: the image or the working directory does not allow it.
        """

        def create(client: docker.APIClient) -> None:
            try:
                client.create_container_from_config(options, name)  # type: ignore[no-untyped-call]  # its stubs have holes
                client.start(name)
            except APIError as error:
                explanation = str(error.explanation or error)
                if error.status_code == 400 or any(words in explanation for words in _FAULTS_OF_IMAGES):
                    raise BadTask("bad_image", f"no container starts from this image: {explanation}") from error
                raise

        await self._ask(create)

    async def is_running(self, name: str) -> bool:
        return bool((await self.state(name)).get("Running"))

    async def put(self, name: str, folder: str, files: bytes) -> None:
        """Put the members of a tar into a folder of a container."""
        await self._ask(lambda client: client.put_archive(name, folder, files))

    async def get(
        self, name: str, path: str, max_bytes: int, is_wanted: Callable[[str], bool] = lambda _: True
    ) -> Mapping[str, bytes]:
        """The wanted regular files at a path of a container, or below it, by their paths from there: `""` for the file itself.

        Raises:
            TooLarge: they have more than `max_bytes`, or there is too much around them.
        """

        def get(client: docker.APIClient) -> Mapping[str, bytes]:
            try:
                pieces, _ = client.get_archive(name, path)
            except NotFound:
                return {}
            except APIError as error:
                if any(words in str(error.explanation) for words in _NO_FILE):
                    return {}
                raise
            try:
                return _files(pieces, max_bytes, is_wanted)
            finally:
                pieces.close()

        return await self._ask(get)

    async def begin(self, name: str, command: Sequence[str], *, user: str, folder: str) -> Begun:
        """Start a command in a running container."""

        def begin(client: docker.APIClient) -> Begun:
            execution = client.exec_create(name, list(command), user=user, workdir=folder)
            return Begun(execution["Id"], *own_stream(client.exec_start(execution["Id"], socket=True)))

        return await self._ask(begin)

    async def exit_code(self, command: str) -> int | None:
        """The exit code of a command that `begin` started; None while it runs, `GONE` if its container has ended."""

        def find(client: docker.APIClient) -> int | None:
            try:
                execution = client.exec_inspect(command)
            except NotFound:
                return GONE
            return None if execution["Running"] else execution["ExitCode"]

        return await self._ask(find)

    async def reports(self, name: str, event: str, patience_s: int) -> bool:
        """Whether the daemon has reported an event of a container, such as `oom`, or does so within some seconds."""

        def look(client: docker.APIClient) -> bool:
            now = datetime.fromisoformat(client.info()["SystemTime"])  # the daemon's clock, which may not be ours
            events = client.events(
                since=1,
                until=int(now.timestamp()) + patience_s,
                filters={"container": name, "event": event},
                decode=True,
            )
            try:
                return any(
                    event_found["Actor"]["Attributes"]["name"] == name for event_found in events
                )  # the filter takes prefixes
            finally:
                events.close()

        return await self._ask(look)

    async def is_ready_to_run(self, name: str) -> bool:
        """Whether a thread of a container is ready to run, as the daemon's own machine sees it."""
        return any(state.startswith("R") for _, state in await self._states_of_threads(name))

    async def is_alone(self, name: str) -> bool:
        """Whether nothing but the first process of a container is alive, as the daemon's own machine sees it."""
        return len({process for process, state in await self._states_of_threads(name) if state[0] not in "ZX"}) <= 1

    async def _states_of_threads(self, name: str) -> Sequence[Sequence[str]]:
        """The process and the state of each thread of a container."""
        return await self._ask(lambda client: client.top(name, ps_args="-eLo pid,stat")["Processes"])

    async def usage(self, name: str) -> Usage | None:
        """What a container has used; None when it is not there. The daemon runs over its files to count their bytes."""

        def find(client: docker.APIClient) -> Usage | None:
            stats = _stats(client, name)
            if stats is None:
                return None
            processes = stats.get("pids_stats", {})
            listed = client.containers(all=True, size=True, filters={"name": f"^/{name}$"})
            return Usage(
                _cpu_s(stats),
                sum(container.get("SizeRw", 0) for container in listed),
                processes.get("current", 0) >= _NEARLY_ALL * (processes.get("limit") or math.inf),
            )

        return await self._ask(find)

    async def cpu_s(self, name: str) -> float | None:
        """The CPU seconds of a container; None when it is not there."""
        stats = await self._ask(lambda client: _stats(client, name))
        return None if stats is None else _cpu_s(stats)


class SlowDaemon(TaskDaemon):
    """The requests that take minutes, in threads of their own."""

    def __init__(self, address: str, *, at_once: int) -> None:
        super().__init__(address, at_once=at_once, patience_s=_SLOW_PATIENCE_S)

    async def pull(self, image: str, on_bytes: Callable[[int], None]) -> None:
        """Pull an image. `on_bytes` gets the bytes of each piece that has come, in a thread.

        Raises:
            BadTask: the registry does not know it.
            SandboxUnavailable: it could not be pulled, for example because there is no such registry.
        """

        def pull(client: docker.APIClient) -> None:
            bytes_of: dict[str, int] = {}
            try:
                for event in client.pull(_with_tag(image), stream=True, decode=True):
                    _check(image, event)
                    layer, byte_count = event.get("id", ""), _bytes_that_came(event)
                    if byte_count > bytes_of.get(layer, 0):
                        on_bytes(byte_count - bytes_of.get(layer, 0))
                        bytes_of[layer] = byte_count
            except NotFound as error:
                raise BadTask("no_image", f"no registry has the image {image!r}") from error
            except APIError as error:
                raise SandboxUnavailable(
                    f"the image {image!r} could not be pulled: {error.explanation}", "pull_failed"
                ) from error

        await self._ask(pull)

    async def build(self, name: str, context: bytes, labels: Mapping[str, str], network: str) -> None:
        """Build an image of a tar with a Dockerfile.

        Raises:
            BadTask: a command of the Dockerfile fails.
        """

        def build(client: docker.APIClient) -> None:
            events = client.build(
                fileobj=io.BytesIO(context),
                custom_context=True,
                tag=name,
                labels=dict(labels),
                network_mode=network,
                rm=True,
                forcerm=True,
                decode=True,
            )
            for event in list(events):  # all are read, or the connection stays open
                _check_built(event)

        await self._ask(build)

    async def commit(self, name: str, labels: Mapping[str, str]) -> str:
        """Make an image of a container; its id."""

        def commit(client: docker.APIClient) -> str:
            committed = client.commit(name, conf={"Labels": dict(labels)})
            return str(committed["Id"])

        return await self._ask(commit)

    async def remove_image(self, image: str) -> bool:
        """Remove an image unless something needs it; whether it is gone."""

        def remove(client: docker.APIClient) -> bool:
            try:
                client.remove_image(image, noprune=False)
            except NotFound:
                return True
            except APIError as error:
                if error.status_code == 409:
                    return False
                raise
            return True

        return await self._ask(remove)


def _stats(client: docker.APIClient, name: str) -> Mapping[str, Any] | None:
    try:
        stats: Mapping[str, Any] = client.stats(name, stream=False, one_shot=True)
    except NotFound:
        return None
    return stats


def _cpu_s(stats: Mapping[str, Any]) -> float:
    used_ns: int = stats.get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage", 0)
    return used_ns / 1e9


def _with_tag(image: str) -> str:
    """A name with its tag or digest: without one, the daemon would pull every tag."""
    return image if ":" in image.rpartition("/")[2] or "@" in image else f"{image}:latest"


def _bytes_that_came(event: Mapping[str, Any]) -> int:
    """How much of a layer has come. The daemon reports not every piece, but a layer that it unpacks has come whole."""
    counted = {"Downloading": "current", "Extracting": "total"}.get(event.get("status", ""))
    return int(event.get("progressDetail", {}).get(counted, 0))


def _check(image: str, event: Mapping[str, Any]) -> None:
    message = event.get("error")
    if message is None:
        return
    if any(words in message for words in ("not found", "manifest unknown", "does not exist", "no matching manifest")):
        raise BadTask("no_image", f"the image {image!r} cannot be pulled: {message}")
    raise SandboxUnavailable(f"the image {image!r} could not be pulled: {message}", "pull_failed")


def _check_built(event: Mapping[str, Any]) -> None:
    message = event.get("error")
    if message is None:
        return
    if "returned a non-zero code" in message or "dockerfile parse error" in message.lower():
        raise BadTask("build_failed", f"the Dockerfile cannot be built: {message}")
    raise SandboxUnavailable(f"the image could not be built: {message}", "build_failed")


class _Archive(io.RawIOBase):
    """The bytes of an archive as they come."""

    def __init__(self, pieces: Iterator[bytes], max_bytes: int) -> None:
        self._pieces = pieces
        self._room = max_bytes
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        while len(self._rest) < size:
            piece = next(self._pieces, b"")
            if not piece:
                break
            self._room -= len(piece)
            if self._room < 0:
                raise TooLarge("the folder has too many bytes")
            self._rest += piece
        chunk, self._rest = self._rest[:size], self._rest[size:]
        return chunk


def _files(pieces: Iterator[bytes], max_bytes: int, is_wanted: Callable[[str], bool]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=_Archive(pieces, max_bytes + _MOST_AROUND_BYTES), mode="r|") as members:
            for count, member in enumerate(members):
                path = member.name.partition("/")[2]
                if count > _MOST_MEMBERS:
                    raise TooLarge(f"the folder has more than {_MOST_MEMBERS} files")
                if not member.isreg() or not is_wanted(path):
                    continue
                max_bytes -= member.size
                if max_bytes < 0:
                    raise TooLarge("the files have too many bytes")
                file = members.extractfile(member)
                files[path] = b"" if file is None else file.read()
    except tarfile.TarError:
        return {}
    return files
