"""A probe that runs in a box instead of the runner, for tests of the box itself.

As a program it is another service with boxes: `python -m tests.sandbox.box_probe STATE_DIR TIER MARK`. It prints one
line of JSON, and stops in order when its standard input ends.
"""

import asyncio
import io
import json
import sys
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from sandbox.boxes.backend import Box, Profile
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.local.backend import Tier
from sandbox.runner.frames import LENGTHS

_PROBE_MODULE = """\
import json, os
def main(source, sink, configuration):
    found = {}
    exec(configuration["probe"], {"found": found, "configuration": configuration})
    answer = json.dumps(found).encode()
    while answer:
        answer = answer[os.write(sink, answer):]
    os.write(sink, b"\\n")
    os.read(source, 1)
    os._exit(0)
"""

_PATIENCE_S = 300
"""A constant of its own, because this file is copied to where other users can read it, without other modules of the
tests."""
MARKED = 3
LEAVE_BEHIND = (
    f"MARKED = {MARKED}"
    + """
import os, signal
for _ in range(MARKED):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            for number in range(256):
                if number < 3:
                    os.dup2(os.open("/dev/null", os.O_RDWR), number)
                else:
                    try:
                        os.close(number)
                    except OSError:
                        pass
            os.execv("/bin/sleep", [MARK, "3600"])
        os._exit(0)
os.makedirs(configuration["directory"] + "/deep/er")
found["ids"] = [os.getuid(), os.getpid()]
"""
)
"""Processes that have left their session, their parent and every descriptor, and a directory that is not empty."""


def first_frame(box: Box, probe: str) -> bytes:
    """The first frame, instead of the runner's: a module that runs the probe and prints what it found."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("sandbox/__init__.py", "sandbox/runner/__init__.py"):
            archive.writestr(name, "")
        archive.writestr("sandbox/runner/zygote.py", _PROBE_MODULE)
    header = json.dumps(asdict(box.configuration) | {"probe": probe}).encode()
    return LENGTHS.pack(len(header), len(packed.getvalue())) + header + packed.getvalue()


async def found(box: Box, probe: str) -> dict[str, Any]:
    """What the probe puts in its `found`. The box continues."""
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(box.connection, first_frame(box, probe))
    answer = b""
    async with asyncio.timeout(_PATIENCE_S):
        while not answer.endswith(b"\n"):
            piece = await loop.sock_recv(box.connection, 65536)
            assert piece, await box.stderr_text()
            answer += piece
    result: dict[str, Any] = json.loads(answer)
    return result


async def _serve(state_dir: Path, tier: Tier, mark: str) -> None:
    backend = LocalBackend(tier=tier, state_dir=state_dir)
    await backend.open()
    boxes = [await backend.make(Profile.PLAIN) for _ in range(2)]
    seen = [await found(box, f"MARK = {mark!r}\n{LEAVE_BEHIND}") for box in boxes]
    single = [box.configuration.single_uid for box in boxes]
    words = {"isolation": backend.isolation, "caveats": backend.caveats, "single_uid": single, "seen": seen}
    print(json.dumps(words), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for box in boxes:
        await box.destroy()
    await backend.close()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), cast(Tier, sys.argv[2]), sys.argv[3]))
