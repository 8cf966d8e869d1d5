"""Attacks on the next program, through things left behind in a box."""

import asyncio
import contextlib
import secrets
from pathlib import Path
from typing import Final

from sandbox.base import Sandbox
from sandbox.self_check.attack import run_and_parse
from sandbox.self_check.outside import SLEEP, Outside

_LEAVE: Final = """\
import ctypes, signal, socket
mark = %r
for place in (".", "..", "/tmp", "/dev/shm", "/box", "/var/tmp", "/run", os.path.expanduser("~")):
    try:
        os.mkdir(os.path.join(place, mark))
        os.mkdir(os.path.join(place, mark, "deep"))
        os.chmod(os.path.join(place, mark), 0)
        open(os.path.join(place, mark + "-file"), "w").close()
        os.mkfifo(os.path.join(place, "." + mark))
    except OSError:
        pass
def stay():
    os.setsid()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork():
        return
    for descriptor in range(3):
        os.dup2(os.open("/dev/null", os.O_RDWR), descriptor)
    try:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("\\0" + mark)
        listener.listen()
        os.set_inheritable(listener.fileno(), True)
    except OSError:
        pass
    os.execv(%r, [mark, "30"])
attempt("nothing", stay)
libc = ctypes.CDLL(None)
key = int(mark[-7:], 16)
libc.shmget(key, ctypes.c_size_t(4096), 0o1666)
libc.semget(key, 1, 0o1666)
libc.msgget(key, 0o1666)
libc.mq_open(b"/" + mark.encode(), 0o102, 0o666, None)
"""

_FIND: Final = """\
import ctypes, glob, shutil, socket
mark = %r
for place in (".", "..", "/tmp", "/dev/shm", "/box", "/var/tmp", "/run", os.path.expanduser("~")):
    for name in (mark, mark + "-file", "." + mark):
        path = os.path.join(place, name)
        if os.path.lexists(path):
            print("reached:", path)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        if content(path).startswith(mark.encode()):
            print("reached: a process of the program before")
    except OSError:
        pass
def connects():
    socket.socket(socket.AF_UNIX).connect("\\0" + mark)
    return True
attempt("a socket of the program before", connects)
libc = ctypes.CDLL(None)
key = int(mark[-7:], 16)
attempt("shared memory of the program before", lambda: libc.shmctl(libc.shmget(key, ctypes.c_size_t(1), 0), 0, None) == 0)
attempt("semaphores of the program before", lambda: libc.semctl(libc.semget(key, 1, 0), 0, 0) == 0)
attempt("messages of the program before", lambda: libc.msgctl(libc.msgget(key, 0), 0, None) == 0)
attempt("a queue of the program before", lambda: libc.mq_unlink(b"/" + mark.encode()) == 0)
"""


async def leftovers(sandbox: Sandbox, outside: Outside) -> str:
    """Run as many programs as there are boxes to leave something behind, then as many to look for it."""
    mark = f"left-{secrets.token_hex(8)}"
    leave, find = _LEAVE % (mark, SLEEP), _FIND % mark
    await asyncio.gather(*(run_and_parse(sandbox, leave, outside) for _ in range(sandbox.slots)))
    reports = await asyncio.gather(*(run_and_parse(sandbox, find, outside) for _ in range(sandbox.slots)))
    through = sorted({reached for _, reached in reports if reached})
    if await asyncio.to_thread(_is_running, mark):
        through.append("a process that was left is still running")
    return ", ".join(through)


def _is_running(name: str) -> bool:
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cmdline").read_bytes().startswith(name.encode()):
                return True
    return False
