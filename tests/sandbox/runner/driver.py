"""A blocking counterpart of the runner, and boxes of three kinds around it."""

import dataclasses
import itertools
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandbox.boxes.bootstrap import command, first_frame
from sandbox.runner import frames
from sandbox.runner.configuration import Configuration
from tests.waiting import PATIENCE_S

LIMITS: Mapping[str, Any] = {
    "cpu_s": 2.0,
    "wall_s": 100.0,
    "memory_mb": 256,
    "processes": 32,
    "file_mb": 8,
    "output_bytes": 1 << 20,
    "stderr_bytes": 16 << 10,
}
USER = 54321
_READ_ONLY = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives", "/proc/self")
_UIDS = 1000
_FIRST_UIDS = itertools.count(700_000, 2 * _UIDS)
"""The first user id of each kind. Each box has users of its own: without a PID namespace a runner ends all processes
of a user that it sees."""


@dataclasses.dataclass(frozen=True)
class Answer:
    header: dict[str, Any]
    body: bytes

    def __getattr__(self, name: str) -> Any:
        return self.header[name]

    @property
    def parts(self) -> list[bytes]:
        """stdout, stderr, value, tests and fetched files."""
        lengths = [self.stdout, self.stderr, self.value or 0, self.tests or 0, *(n for _, n in self.fetched)]
        pieces, start = [], 0
        for length in lengths:
            pieces.append(self.body[start : start + length])
            start += length
        assert start == len(self.body)
        return pieces

    @property
    def passed(self) -> list[bool]:
        """The result of each test that ended."""
        return [line[1] for line in self._lines if isinstance(line, list)]

    @property
    def is_complete(self) -> bool:
        return bool(self._lines) and isinstance(self._lines[-1], dict)

    @property
    def _lines(self) -> list[Any]:
        return [json.loads(line) for line in self.parts[3].splitlines()]

    @property
    def out(self) -> bytes:
        return self.parts[0]

    @property
    def err(self) -> str:
        return self.parts[1].decode()


class BoxDied(Exception):
    """The box died. The message has the runner's exit code and its last words."""


class Box:
    """A runner in a box of its own, and a connection to it."""

    def __init__(self, kind: str, **changes: Any) -> None:
        self.kind = kind
        # Not in pytest's own folder: every other session makes that unreadable for other users when it starts.
        self.place = place = Path(tempfile.mkdtemp(prefix="rewardline-runner-"))
        place.chmod(0o711)
        for name in ("box", "tmp"):
            (place / name).mkdir()
        (place / "tmp").chmod(0o1777)
        self.configuration = dataclasses.replace(_configuration(kind, place), **changes)
        if kind.endswith("-user"):
            os.chown(place / "box", USER, USER)
            os.chown(place / "tmp", USER, USER)
        self.connection, theirs = socket.socketpair()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", int(PATIENCE_S), 0))
        argv = [*_wrapper(kind, place), *command("/usr/bin/python3", f"fd:{theirs.fileno()}", with_site=False)]
        environment = {"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0", "LANG": "C.UTF-8"}
        self.process = subprocess.Popen(
            argv, pass_fds=[theirs.fileno()], env=environment, stderr=subprocess.PIPE, cwd="/"
        )
        theirs.close()
        self.connection.sendall(first_frame(self.configuration))
        try:
            self.hello = self.receive()
        except BoxDied:
            self.close()
            raise

    @property
    def program(self) -> str:
        """The directory of the program's files."""
        return f"{self.configuration.directory}/p"

    @property
    def processes(self) -> list[int]:
        """All processes below the box's first one."""
        return list(_descendants(self.process.pid))

    def receive(self) -> Answer:
        try:
            header, body_bytes = frames.receive_header(self._descriptor)
        except (frames.Closed, ConnectionResetError) as error:
            raise BoxDied(*self.end()) from error
        return Answer(header, frames.receive_exactly(self._descriptor, body_bytes))

    def send(self, header: dict[str, Any], body: bytes = b"") -> None:
        self.connection.sendall(frames.packed(header, body))

    def ask(self, ask: str, body: bytes = b"", **fields: Any) -> Answer:
        self.send({"ask": ask, **fields}, body)
        return self.receive()

    def load(self, source: str | bytes, **fields: Any) -> Answer:
        self.send_load(source, **fields)
        return self.receive()

    def send_load(
        self,
        source: str | bytes,
        *,
        mode: str = "python",
        main: str = "main.py",
        argv: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        **fields: Any,
    ) -> None:
        """Send the load. Its answer is still to be received."""
        text = source.encode(errors="surrogateescape") if isinstance(source, str) else source
        everything = {main: text, **(files or {})}
        header: dict[str, Any] = {
            "mode": mode,
            "files": [[path, len(data)] for path, data in everything.items()],
            "main": main,
            "compile": None,
            "argv": argv,
            "keep": [],
            "environment": {},
            "data_limit": True,
            "handles_children": False,
            "has_tests": True,
            "core": None,
        }
        self.send({"ask": "load", **header, **fields}, b"".join(everything.values()))

    def execute(
        self,
        stdin: bytes = b"",
        *,
        arguments: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        fetch: Sequence[str] = (),
        **limits: Any,
    ) -> Answer:
        self.send_execute(stdin, arguments=arguments, files=files, fetch=fetch, **limits)
        return self.receive()

    def send_execute(
        self,
        stdin: bytes = b"",
        *,
        arguments: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        fetch: Sequence[str] = (),
        waits: bool = False,
        **limits: Any,
    ) -> None:
        """Ask for a run. Its answer is still to be received."""
        files = files or {}
        header = {
            "ask": "execute",
            "limits": {**LIMITS, **limits},
            "arguments": arguments,
            "stdin": len(stdin),
            "files": [[path, len(data)] for path, data in files.items()],
            "fetch": fetch,
            "waits": waits,
            "last": False,
        }
        self.send(header, b"".join(files.values()) + stdin)

    def run(self, source: str | bytes, stdin: bytes = b"", **limits: Any) -> Answer:
        """Load one Python program, run it once, and unload it."""
        loaded = self.load(source, has_tests=False)
        assert loaded.ok, loaded.message
        result = self.execute(stdin, **limits)
        self.ask("unload")
        return result

    def load_shell(self, script: str) -> None:
        loaded = self.load(script, mode="exec", main="main.sh", argv=["sh", "{program}/main.sh"], has_tests=False)
        assert loaded.ok, loaded.message

    def shell(self, script: str, stdin: bytes = b"", **limits: Any) -> Answer:
        self.load_shell(script)
        result = self.execute(stdin, **limits)
        self.ask("unload")
        return result

    def call(self, function: str, *positional: Any, **limits: Any) -> Answer:
        body = json.dumps([positional, {}]).encode()
        return self.ask("call", body, limits={**LIMITS, **limits}, function=function, last=False)

    def test(self, spec: dict[str, Any], **limits: Any) -> Answer:
        self.send_tests(spec, **limits)
        return self.receive()

    def send_tests(self, spec: dict[str, Any], **limits: Any) -> None:
        """Send the tests. Their answer is still to be received."""
        whole = {
            "style": "asserts",
            "cases": [],
            "setup": "",
            "entry_point": "",
            "files": {},
            "objects": False,
            "seal": "00",
            **spec,
        }
        shares_files = spec.get("shares_files", False)
        self.send(
            {"ask": "tests", "limits": {**LIMITS, **limits}, "shares_files": shares_files}, json.dumps(whole).encode()
        )

    def end(self) -> tuple[int, str]:
        """Disconnect. Returns the runner's exit code and its last words."""
        self.connection.close()
        _, words = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, words.decode()

    def close(self) -> None:
        self.connection.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()
        shutil.rmtree(self.place, ignore_errors=True)

    @property
    def _descriptor(self) -> int:
        return self.connection.fileno()


def _descendants(pid: int) -> Iterator[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            children = [int(child) for child in file.read().split()]
    except OSError:
        return
    for child in children:
        yield child
        yield from _descendants(child)


def _configuration(kind: str, place: Path) -> Configuration:
    common = Configuration(
        directory=str(place / "box"), cleaned=(str(place / "tmp"),), first_uid=next(_FIRST_UIDS), uids=_UIDS
    )
    if kind == "namespaces":
        return dataclasses.replace(common, cleaned=(*common.cleaned, "/dev/shm"))
    if kind == "namespaces-user":
        cleaned = ("/tmp", "/dev/shm")
        return dataclasses.replace(common, directory="/mnt/box", cleaned=cleaned, single_uid=True, watch_memory=True)
    return dataclasses.replace(
        common,
        init=False,
        landlock=True,
        watch_memory=True,
        read_only=_READ_ONLY,
        single_uid=kind == "landlock-user",
    )


def _wrapper(kind: str, place: Path) -> list[str]:
    if kind == "namespaces":
        prepare = f'mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs -o mode=711 tmpfs {place}/box && exec "$@"'
        options = ["--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--ipc", "--net"]
        return ["unshare", *options, "sh", "-c", prepare, "sh"]
    user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    if kind == "namespaces-user":
        options = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--ipc"]
        places = ("/dev/shm", "/tmp", "/mnt")
        mounts = " && ".join(f"mount -t tmpfs -o mode=1777 tmpfs {place}" for place in places)
        prepare = f'{mounts} && mkdir /mnt/box && exec "$@"'
        return [*user, "unshare", *options, "sh", "-c", prepare, "sh"]
    return user if kind == "landlock-user" else []
