"""The outer wall: it protects the machine if a sandbox fails these tests.

As root, the arena runs in a PID namespace of its own, so that a signal to all processes ends only those inside. Its
mount namespace allows writing only to /tmp, /dev/shm and the control groups. Its first process is a shell, because the
kernel would protect process 1 from what its boxes do. As an ordinary user there is no such wall: only the arena's
self-check protects the machine.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.sandbox.hostile.arena import Setup
from tests.sandbox.hostile.outside import SECRET_NAME
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[3]
_INSIDE = """\
set -e
mount --bind /tmp /tmp
mount --bind "$1" "$1"
mount -o remount,bind,ro /
shift
"$@" &
wait $!
"""
_SILENCE_S = 4 * PATIENCE_S
"""The most seconds from one line to the next."""


def report(setup: Setup, python: str, folder: Path, uid: int | None, secret: str) -> Iterator[Mapping[str, Any]]:
    """What an arena prints, line by line.

    Args:
        setup: The settings of the arena.
        python: An interpreter that the user can run. It finds this project's dependencies through ours.
        folder: A folder that the arena may write to.
        uid: The user of the arena. None: the user of this process.
        secret: A text for the arena's environment.
    """
    command = [python, "-B", "-m", "tests.sandbox.hostile.arena", json.dumps(asdict(setup))]
    if uid is not None:
        command = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *command]
    if os.geteuid() == 0:
        wall = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"]
        command = [*wall, "sh", "-c", _INSIDE, "sh", str(folder), *command]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(ROOT), *(path for path in sys.path if "site-packages" in path)]),
        SECRET_NAME: secret,
    }
    errors = folder / "arena.err"
    with (
        errors.open("wb") as stderr,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, env=environment, cwd=ROOT) as process,
    ):
        assert process.stdout is not None
        while line := _line(process):
            yield json.loads(line)
        code = process.wait()
    if code != 0:
        yield {"ending": [f"the arena ended with {code}: {errors.read_text(errors='replace')[-3000:]}"]}


def _line(process: subprocess.Popen[bytes]) -> bytes:
    """The next line. An arena that says nothing any more is killed, and so its output ends."""
    assert process.stdout is not None
    end = threading.Timer(_SILENCE_S, process.kill)
    end.start()
    try:
        return process.stdout.readline()
    finally:
        end.cancel()
