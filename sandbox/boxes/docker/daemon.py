"""The few requests to the Docker daemon, sent from threads because its library blocks; its errors become ours.

Few requests are under way at a time: the daemon works on containers one after the other anyhow, and
answers many requests at once more slowly than a queue of them.
"""

import asyncio
import contextlib
import re
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Final, TypeVar

import docker
from docker.errors import APIError, DockerException, ImageNotFound, NotFound

from sandbox.base import SandboxUnavailable

_AT_ONCE: Final = 4
_PATIENCE_S: Final = 10
"""For one request. Creating and starting a container takes a fifth of a second on an idle machine."""
_GREETING_PATIENCE_S: Final = 3
_REMOVAL_IN_PROGRESS: Final = 409
_UNIX: Final = "unix://"
_HOST_PATH: Final = re.compile(r"(?<![\w/.:-])/(?:var|run|tmp|home|root|mnt|srv|opt|data)/[^\s:'\",]*")
"""What the daemon says of its own files is for its operator's log."""

Result = TypeVar("Result")


class Daemon:
    """A connection to the Docker daemon at an address such as `unix:///var/run/docker.sock`.

    Each method raises `SandboxUnavailable` when the daemon cannot be reached, does not answer in time, or refuses. The
    next call tries again.
    """

    reason: ClassVar[str] = "sandbox_unavailable"
    """That of `SandboxUnavailable`."""

    def __init__(self, address: str, *, at_once: int = _AT_ONCE, patience_s: int | None = None) -> None:
        """`at_once` requests are under way at a time, each for `patience_s` at most (None: 10 s)."""
        self.address = address
        self._patience_s = patience_s
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="docker")
        self._client: docker.APIClient | None = None

    async def close(self) -> None:
        """Wait for requests under way, then close the connection."""
        await asyncio.to_thread(self._threads.shutdown)
        if self._client is not None:
            self._client.close()
            self._client = None

    async def ping(self) -> None:
        """Ask for an answer, and nothing else."""
        await self._ask(lambda client: client.ping())

    async def info(self) -> Mapping[str, Any]:
        """What the daemon reports about itself and its machine."""
        return await self._ask(lambda client: client.info())

    async def image_labels(self, image: str) -> Mapping[str, str] | None:
        """The labels of an image; None when there is no such image."""

        def find(client: docker.APIClient) -> Mapping[str, str] | None:
            try:
                image_info = client.inspect_image(image)  # type: ignore[no-untyped-call]  # its stubs have holes
            except ImageNotFound:
                return None
            return image_info["Config"].get("Labels") or {}

        return await self._ask(find)

    async def start(self, name: str, options: Mapping[str, Any], streams: Mapping[str, int]) -> socket.socket:
        """Create a container, attach to the given streams of it, and start it.

        The connection is in Docker's attach format. It stays open after the container has ended.
        """

        def start(client: docker.APIClient) -> socket.socket:
            client.create_container_from_config(options, name)  # type: ignore[no-untyped-call]  # its stubs have holes
            connection, _ = own_stream(client.attach_socket(name, params={**streams, "stream": 1}))  # nothing has begun
            try:
                client.start(name)
            except BaseException:
                connection.close()
                raise
            return connection

        return await self._ask(start)

    async def remove(self, name: str) -> None:
        """Kill and remove a container, if it exists.

        It is gone when this returns, even if another request was removing it.
        """

        def remove(client: docker.APIClient) -> None:
            try:
                client.remove_container(name, force=True, v=True)
            except NotFound:
                return
            except APIError as error:
                if error.status_code != _REMOVAL_IN_PROGRESS:
                    raise
                _wait_for_removal(client, name)

        await self._ask(remove)

    async def state(self, name: str) -> Mapping[str, Any]:
        """`State` of `docker inspect`; empty when there is no such container."""

        def find(client: docker.APIClient) -> Mapping[str, Any]:
            try:
                state: Mapping[str, Any] = client.inspect_container(name)["State"]
            except NotFound:
                return {}
            return state

        return await self._ask(find)

    async def containers(self, label: str) -> Mapping[str, Mapping[str, str]]:
        """The labels of each container, running or not, that has the label `name=value`."""

        def find(client: docker.APIClient) -> Mapping[str, Mapping[str, str]]:
            listed = client.containers(all=True, filters={"label": label})
            return {container["Id"]: container["Labels"] for container in listed}

        return await self._ask(find)

    async def _ask(self, question: Callable[[docker.APIClient], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._ask_in_thread, question)

    def _ask_in_thread(self, question: Callable[[docker.APIClient], Result]) -> Result:
        try:
            self._check_listening()
            return question(self._connect())
        except APIError as error:
            refusal = _HOST_PATH.sub("(a path of its host)", str(error.explanation or error))
            raise SandboxUnavailable(f"the Docker daemon refused: {refusal}", self.reason) from error
        except OSError as error:
            message = f"the Docker daemon at {self.address} does not answer: {error}"
            raise SandboxUnavailable(message, self.reason) from error
        except DockerException as error:
            message = f"the Docker daemon at {self.address} cannot be used: {error}"
            raise SandboxUnavailable(message, self.reason) from error

    def _check_listening(self) -> None:
        """Check that the daemon listens; the library leaks the socket of a connection that fails.

        Raises:
            OSError: nothing listens.
        """
        if self.address.startswith(_UNIX):
            with socket.socket(socket.AF_UNIX) as door:
                door.settimeout(_GREETING_PATIENCE_S)
                door.connect(self.address.removeprefix(_UNIX))

    def _connect(self) -> docker.APIClient:
        """Connect once.

        The library asks for the daemon's version first, which quickly shows whether the daemon is there.
        """
        if self._client is None:
            client = docker.APIClient(self.address, version="auto", timeout=_GREETING_PATIENCE_S)
            client.timeout = _PATIENCE_S if self._patience_s is None else self._patience_s
            self._client = client
        return self._client


def _wait_for_removal(client: docker.APIClient, name: str) -> None:
    """Wait until the daemon has finished an earlier removal, perhaps one that we asked for and stopped waiting for.

    The daemon says that a removal is in progress from before the kill on.
    """
    with contextlib.suppress(NotFound):
        failure = client.wait(name, timeout=_PATIENCE_S, condition="removed").get("Error")
        if failure:
            raise SandboxUnavailable(f"the Docker daemon could not remove {name}: {failure}")


def own_stream(file: Any) -> tuple[socket.socket, bytes]:
    """A socket of our own for a stream that the library opened, and the beginning of the stream: what the library has read
    together with the head of the daemon's answer.

    The library closes its socket when its answer is garbage-collected.
    """
    lent: socket.socket = file._sock
    connection = lent.dup()
    try:
        for end in (lent, connection):
            end.setblocking(False)
        beginning: bytes = file._response.raw._fp.fp.peek()
    except BaseException:
        connection.close()
        raise
    finally:
        file.close()
        lent.close()
    return connection, beginning
