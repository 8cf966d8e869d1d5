"""Canaries outside the boxes: they are put up around the attacks, and checked after each.

The canaries are a secret in the environment, a file that all users may write, listeners on loopback and on an abstract
name, and a process of the service's own user.
"""

import contextlib
import os
import secrets
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.sandbox.hostile.attacks import CANARY_IN_ROWS, NICENESS_IN_ROWS, PORT_IN_ROWS, SOCKET_IN_ROWS

SECRET_NAME = "SBX_CANARY_SECRET"
_IDS_OF_BOXES = (range(100_000, 200_000), range(1 << 28, 1 << 31))
"""The user ids of programs in containers, and in local boxes of root."""
_SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")


@dataclass(frozen=True, slots=True)
class Canaries:
    """The canaries."""

    secrets: tuple[str, ...]
    canary: Path
    neighbour: "subprocess.Popen[bytes]"
    sockets: tuple[socket.socket, ...]
    port: int
    abstract: str
    files_before: frozenset[str]
    objects_before: frozenset[str]

    @property
    def substitutes(self) -> dict[str, str]:
        """The values of the placeholders in the attacks."""
        return {
            PORT_IN_ROWS: str(self.port),
            CANARY_IN_ROWS: str(self.canary),
            SOCKET_IN_ROWS: self.abstract,
            NICENESS_IN_ROWS: f"os.nice(0) > {os.nice(0)}",
        }

    def secrets_in(self, texts: list[str]) -> list[str]:
        """The secrets in the output of boxes."""
        return [f"a secret came out: {secret[:6]}" for secret in self.secrets if any(secret in text for text in texts)]

    def touched(self) -> list[str]:
        """What happened to the canaries since the last check."""
        found = [f"something arrived at {one.getsockname()}" for one in self.sockets if _has_come(one)]
        if self.neighbour.poll() is not None:
            found.append("a process of the service's user was ended")
        elif "\nState:\tT" in Path(f"/proc/{self.neighbour.pid}/status").read_text():
            found.append("a process of the service's user was stopped")
        if self.canary.read_text() not in self.secrets:
            found.append("the canary file was written")
        found += [f"left outside: {path}" for path in sorted(_files() - self.files_before)]
        found += [f"left in the kernel: {name}" for name in sorted(_objects() - self.objects_before)]
        return found


@contextlib.contextmanager
def put_up() -> Iterator[Canaries]:
    """Put up the canaries for as long as the block lasts."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="canary-")))
        folder.chmod(0o755)
        canary = folder / "world.txt"
        in_file = secrets.token_hex(16)
        canary.write_text(in_file)
        canary.chmod(0o666)
        neighbour = stack.enter_context(subprocess.Popen(["/bin/sleep", "3600"]))
        stack.callback(neighbour.kill)
        abstract = f"sbx-{secrets.token_hex(8)}"
        sockets = [stack.enter_context(one) for one in _listeners(abstract)]
        known = (in_file, os.environ[SECRET_NAME])
        port = sockets[0].getsockname()[1]
        yield Canaries(known, canary, neighbour, tuple(sockets), port, abstract, _files(), _objects())


def _listeners(abstract: str) -> Iterator[socket.socket]:
    """Listeners on one port, on all addresses. The first one has chosen the port."""
    first = socket.create_server(("127.0.0.1", 0))
    yield first
    port = first.getsockname()[1]
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1")):
        with contextlib.suppress(OSError):  # this machine has no IPv6
            datagrams = socket.socket(family, socket.SOCK_DGRAM)
            datagrams.bind((address, port))
            yield datagrams
    with contextlib.suppress(OSError):
        yield socket.create_server(("::1", port), family=socket.AF_INET6)
    named = socket.socket(socket.AF_UNIX)
    named.bind(f"\0{abstract}")
    named.listen()
    yield named


def _has_come(one: socket.socket) -> bool:
    one.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        if one.type == socket.SOCK_DGRAM:
            one.recv(100)
        else:
            one.accept()[0].close()
        return True
    return False


def _files() -> frozenset[str]:
    """Files in folders open to all that belong to users of boxes, or to this user if it is an ordinary one."""
    found = set()
    for folder in _SHARED_FOLDERS:
        for entry in os.scandir(folder):
            with contextlib.suppress(FileNotFoundError):
                if _is_of_boxes(entry.stat(follow_symlinks=False).st_uid):
                    found.add(entry.path)
    return frozenset(found)


def _objects() -> frozenset[str]:
    """Shared memory, semaphores and queues of System V that belong to such users. Those of other tests do not."""
    found = set()
    for kind in ("shm", "sem", "msg"):
        head, *lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()
        owner = head.split().index("uid")
        fields = [line.split() for line in lines]
        found |= {f"{kind} {one[0]} {one[1]}" for one in fields if _is_of_boxes(int(one[owner]))}
    return frozenset(found)


def _is_of_boxes(uid: int) -> bool:
    """Whether this is a user of boxes, or this process's user if it is an ordinary one."""
    return uid == (os.getuid() or None) or any(uid in ids for ids in _IDS_OF_BOXES)
