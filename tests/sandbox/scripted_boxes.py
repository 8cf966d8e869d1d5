"""A backend with boxes that follow the programs' words, for faults that no real box has on demand.

A program is a line of words. At loading: `compiles BYTES`, `broken`, `loads-killed`. Each run says one in its standard input:

    ok TEXT        writes TEXT                        slow SECONDS    the same after some time
    die            the connection ends                oom             so it does, and it was the memory
    garbage        what is not a frame                   silent          nothing is ever answered
    killed         came to no end of its own          left            left a process behind
    once:WORD      WORD the first time it is run, `ok` afterwards

Lines before it are read ahead. A run that waits for the rest ends or dies before that if the line is `ends` or `dies`.
"""

import asyncio
import json
import socket
import struct
from collections import Counter
from contextlib import suppress
from typing import Any

from sandbox.base import Exit, Isolation, RunResult, SandboxUnavailable
from sandbox.boxes.backend import Backend, Box, Profile
from sandbox.runner.configuration import Configuration
from sandbox.runner.frames import PROTOCOL

_LENGTHS = struct.Struct("!II")
_OK: dict[str, Any] = {"code": 0, "signal": 0, "ended": None, "cpu_s": 0.001, "wall_s": 0.001, "peak_kb": 2560}
_RESULT: dict[str, Any] = _OK | {
    "answer": "result",
    "left": 0,
    "stderr": 0,
    "value": None,
    "tests": None,
    "fetched": [],
}


class ResultCollector:
    """Results in their order. After `at_most` the caller stops."""

    def __init__(self, at_most: int = 1000) -> None:
        self.results: list[RunResult] = []
        self._at_most = at_most

    def __call__(self, position: int, result: RunResult) -> bool:
        assert position == len(self.results)
        self.results.append(result)
        return len(self.results) < self._at_most

    @property
    def exits(self) -> list[Exit]:
        return [result.exit for result in self.results]


class ScriptedBackend(Backend):
    isolation = Isolation.LANDLOCK
    caveats = ("There is no box at all.",)

    def __init__(self, *, pytest: bool = True) -> None:
        self.programs = ["g++"]
        self.preloaded = ["numpy", "pandas", "pytest", "sympy"] if pytest else []
        self.broken = ""
        """The reason why boxes cannot be made, if any."""
        self.stuck = False
        """Making a box does not end."""
        self.mute = False
        """Runners say something else than hello."""
        self.last_answer = ""
        """The box ends right after this answer: `hello`, `lone hello` (of a box for one program), or `unloaded`.
        Only the next box that gives it does so."""
        self.made: list[ScriptedBox] = []
        self.attempts = 0
        self.done: Counter[str] = Counter()
        """The words of runs, with how often they began."""
        self.closed = False

    @property
    def living(self) -> "list[ScriptedBox]":
        return [box for box in self.made if not box.destroyed]

    async def open(self) -> None:
        if self.broken:
            raise SandboxUnavailable(self.broken)

    async def close(self) -> None:
        self.closed = True

    async def make(self, profile: Profile, *, once: bool = False) -> Box:
        self.attempts += 1
        if self.stuck:
            await asyncio.Event().wait()
        if self.broken:
            raise SandboxUnavailable(self.broken)
        box = ScriptedBox(self, profile, len(self.made))
        self.made.append(box)
        return box


class ScriptedBox(Box):
    def __init__(self, backend: ScriptedBackend, profile: Profile, number: int) -> None:
        self.name = f"box-{number}"
        self.profile = profile
        self.configuration = Configuration(preload=profile.preload)
        self.connection, self._far = socket.socketpair()
        self.connection.setblocking(False)
        self._far.setblocking(False)
        self._backend = backend
        self._of_memory = False
        self._serving = asyncio.create_task(self._serve())
        self.configured: dict[str, Any] = {}
        """The configuration that the box got at its start."""
        self.asked: list[str] = []
        self.loaded: list[dict[str, Any]] = []
        self.limits_asked: list[dict[str, Any]] = []
        """The limits of the runs."""
        self.destroyed = False
        self.deaf = False
        """Pings get no answer."""
        self.waits = False
        """Its run waits for the rest of its input."""

    def kill(self) -> None:
        """End as if the runner had got SIGKILL."""
        self._serving.cancel()

    async def destroy(self) -> None:
        self.destroyed = True
        self._serving.cancel()
        with suppress(asyncio.CancelledError):
            await self._serving
        self.connection.close()

    async def died_of_memory(self) -> bool:
        return self._of_memory

    async def _serve(self) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=self._far)
        try:
            self.configured, _ = await _frame(reader)
            if self._backend.mute:
                writer.write(b"Segmentation fault\n")
                return
            hello = {"protocol": PROTOCOL, "preloaded": self._backend.preloaded, "programs": self._backend.programs}
            _say(writer, {"answer": "hello", **hello})
            is_lone = self.configured["once"]
            while not self._has_said_its_last("lone hello" if is_lone else "hello"):
                header, body = await _frame(reader)
                self.asked.append(header["ask"])
                if header["ask"] == "execute" and header["waits"]:
                    if body == b"dies\n":
                        return
                    if body == b"ends\n":
                        body = b"killed"
                    else:
                        self.waits = True
                        rest, body = await _frame(reader)
                        self.asked.append(rest["ask"])
                        self.waits = False
                if not await self._answer(header, body, writer):
                    return
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _answer(self, header: dict[str, Any], body: bytes, writer: asyncio.StreamWriter) -> bool:
        match header["ask"]:
            case "load":
                self.loaded.append(header)
                return await self._load(header, body, writer)
            case "execute":
                self.limits_asked.append(header["limits"])
                return await self._run(body.decode().rpartition("\n")[2], writer)
            case "unload":
                _say(writer, {"answer": "unloaded", "dirty": 0})
                return not self._has_said_its_last("unloaded")
            case "ping" if not self.deaf:
                _say(writer, {"answer": "pong"})
        return True

    def _has_said_its_last(self, answer: str) -> bool:
        is_last = self._backend.last_answer == answer
        if is_last:
            self._backend.last_answer = ""
        return is_last

    async def _load(self, header: dict[str, Any], body: bytes, writer: asyncio.StreamWriter) -> bool:
        deed = _source(header, body)
        if deed == "die":
            return False
        ended = "killed" if deed == "loads-killed" else None
        compiled = None if header["compile"] is None else _OK | {"ended": ended}
        word, _, size = deed.partition(" ")
        made = b"b" * int(size or 6) if compiled and word == "compiles" else b""
        answer = {"answer": "loaded", "ok": deed not in ("broken", "loads-killed"), "message": deed}
        _say(writer, {**answer, "compile": compiled, "kept": [["program", len(made)]] if made else []}, made)
        return True

    async def _run(self, deed: str, writer: asyncio.StreamWriter) -> bool:
        self._backend.done[deed] += 1
        if deed.startswith("once:"):
            deed = deed.removeprefix("once:") if self._backend.done[deed] == 1 else "ok"
        word, _, rest = deed.partition(" ")
        changes: dict[str, Any] = {}
        if word == "slow":
            await asyncio.sleep(float(rest))
            changes["wall_s"] = float(rest)
        elif word == "silent":
            await asyncio.Event().wait()
        elif word == "garbage":
            writer.write(b"\xff" * 100)
            return False
        elif word in ("die", "oom"):
            self._of_memory = word == "oom"
            return False
        elif word == "killed":
            changes = {"code": None, "signal": 9, "ended": "killed"}
        elif word == "left":
            changes["left"] = 1
        _say(writer, {**_RESULT, "stdout": len(rest), **changes}, rest.encode())
        return True


def _source(header: dict[str, Any], body: bytes) -> str:
    """The file of a load that is the program's text."""
    start = 0
    for path, length in header["files"]:
        if path == header["main"]:
            return body[start : start + length].decode()
        start += length
    raise AssertionError("a program without its source")


async def _frame(reader: asyncio.StreamReader) -> tuple[dict[str, Any], bytes]:
    header_bytes, body_bytes = _LENGTHS.unpack(await reader.readexactly(8))
    header: dict[str, Any] = json.loads(await reader.readexactly(header_bytes))
    return header, await reader.readexactly(body_bytes)


def _say(writer: asyncio.StreamWriter, header: dict[str, Any], body: bytes = b"") -> None:
    text = json.dumps(header).encode()
    writer.write(_LENGTHS.pack(len(text), len(body)) + text + body)
