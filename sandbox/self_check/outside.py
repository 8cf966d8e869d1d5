"""The targets of attacks outside a box."""

import contextlib
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SLEEP: Final = "/bin/sleep"


@dataclass(frozen=True, slots=True)
class Outside:
    """What programs must not reach."""

    directory: Path
    """Every user may read and write in it."""
    secret: str
    """The content of the canary file; it stands nowhere else."""
    tcp: socket.socket
    abstract: socket.socket
    neighbour: "subprocess.Popen[bytes]"
    neighbour_mark: str
    """The neighbour's name in its command line."""

    @property
    def canary(self) -> Path:
        return self.directory / "canary"

    def facts(self) -> dict[str, object]:
        """What attacking programs are told."""
        return {
            "canary": str(self.canary),
            "written": str(self.directory / "written"),
            "tcp": self.tcp.getsockname()[1],
            "abstract": self.abstract.getsockname()[1:].decode(),
            "neighbour": self.neighbour.pid,
        }


@contextlib.contextmanager
def outside() -> Iterator[Outside]:
    """Set up the targets while the attacks run."""
    with contextlib.ExitStack() as stack:
        directory = Path(tempfile.mkdtemp(prefix="canary-"))
        stack.callback(shutil.rmtree, directory)
        directory.chmod(0o777)
        secret, mark = secrets.token_hex(16), secrets.token_hex(8)
        (directory / "canary").write_text(secret)
        (directory / "canary").chmod(0o666)
        neighbour = subprocess.Popen([mark, "600"], executable=SLEEP)  # noqa: S603 - our own
        stack.callback(neighbour.wait)
        stack.callback(neighbour.kill)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{secrets.token_hex(8)}")
        abstract.listen()
        for listener in (tcp, abstract):
            listener.setblocking(False)
        yield Outside(directory, secret, tcp, abstract, neighbour, mark)
