"""The process that servers of tests are forked from (tests/forked_servers.py). It imports their modules once.

Each server goes through `service.__main__.main`, as a user's server does. The process that its workers are forked from
was forked earlier, without anything of the server, and goes through `sandbox.workers.zygote.main`. If that process
dies, the next one is started in the usual way.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

import msgspec

from sandbox.workers import Workers, link, zygote
from sandbox.workers.frames import Order
from sandbox.workers.functions import Function
from service.__main__ import main
from service.cli.main import COMMANDS, application
from verifiers import commitment, registry
from verifiers.base import Resources

_MANY_BYTES = 65536
_LATER = (
    "pydantic.v1",
    "sandbox.containers.docker",
    "service.cache.redis_cache",
    "service.jobs.redis_store",
    "service.recipes.shipped",
    "service.run.startup",
    "service.usage.redis_sharing",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
)
"""What a server imports while it starts."""


def prepare() -> None:
    """Import and warm up what servers and their workers need."""
    for name in _LATER:
        importlib.import_module(name)
    workers = Workers(1)
    workers.register(commitment.LOAD)
    registry.load(Resources(workers))
    application(*COMMANDS)
    commitment.load()
    zygote._load(workers._order)
    zygote._load = partial(_load_rest, zygote._load, _payloads(workers._order))
    gc.collect()
    gc.freeze()  # the garbage collector must not visit, and so copy, the shared objects in each fork


def _payloads(order: Order) -> set[bytes]:
    return {msgspec.msgpack.encode((*task[:2], payload)) for task in order.tasks for payload in task[2]}


def _load_rest(load: Callable[[Order], list[Function]], warmed: set[bytes], order: Order) -> list[Function]:
    """Load an order without the payloads that were tried before the fork."""
    for module, name, payloads, _ in order.tasks:
        payloads[:] = [one for one in payloads if msgspec.msgpack.encode((module, name, one)) not in warmed]
    return load(order)


def be_forked(control: socket.socket) -> None:
    """Fork servers on request. It returns in each of them. Servers that tests left running end with the tests'
    process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the signal is meant for the whole group
    readable, writable = os.pipe2(os.O_NONBLOCK)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    endings: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([control.fileno(), readable], [], [])
        if readable in ready:
            os.read(readable, _MANY_BYTES)
            _tell_ends(endings)
            continue
        request, fds, _, _ = socket.recv_fds(control, _MANY_BYTES, 4)
        if not request:
            for pid in endings:
                os.kill(pid, signal.SIGTERM)
            sys.exit()
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            arguments, own, cores = json.loads(request)
            os.sched_setaffinity(0, cores)
            if arguments is None:
                _become_zygote(fds[0])
            for number, stream in zip((1, 2, 0), (*fds[:2], *fds[3:]), strict=False):
                os.dup2(stream, number)
            for fd in (readable, writable, *fds, *(ending.detach() for ending in (control, *endings.values()))):
                os.close(fd)
            sys.argv[1:] = arguments
            folders = own.get("PYTHONPATH", "").split(os.pathsep)
            sys.path[1:1] = [folder for folder in folders if folder and folder not in sys.path]
            _fork_zygote()
            os.environ.update(own)
            return
        for stream in (*fds[:2], *fds[3:]):
            os.close(stream)
        endings[pid] = socket.socket(fileno=fds[2])
        endings[pid].send(str(pid).encode())


def _tell_ends(endings: dict[int, socket.socket]) -> None:
    for pid in list(endings):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with endings.pop(pid) as ending, suppress(BrokenPipeError):  # perhaps no process waits for it any more
                ending.send(str(status).encode())


# --- the process that a server's workers are forked from


class _Zygote:
    """The part of `subprocess.Popen` that `sandbox.workers.link` needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._ended = False

    def poll(self) -> int | None:
        self._ended = self._ended or os.waitpid(self.pid, os.WNOHANG)[0] != 0
        return 0 if self._ended else None

    def wait(self) -> None:
        if not self._ended:
            os.waitpid(self.pid, 0)
            self._ended = True

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def _fork_zygote() -> None:
    """Fork a zygote that waits for its order. It ends with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        ours.close()
        said, fds, _, _ = socket.recv_fds(theirs, _MANY_BYTES, 1)
        if not said:
            os._exit(0)
        _become_zygote(*fds)
    theirs.close()
    link._launch = partial(_launch, ours, pid, link._launch)
    link.begin = lambda *tasks: None


def _launch(door: socket.socket, pid: int, launch_another: Any, order: Order) -> tuple[Any, socket.socket]:
    """Replaces `link._launch` once."""
    link._launch = launch_another
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with door, theirs:
        socket.send_fds(door, [b"control"], [theirs.fileno()])
    link.give(ours, order)
    ours.setblocking(False)
    return _Zygote(pid), ours


def _become_zygote(control: int) -> NoReturn:
    """Become a zygote, with nothing of its parent except standard error, as `link._start` starts one."""
    try:
        os.setsid()
        os.chdir("/")
        os.environ.clear()
        os.environ.update(link._ENVIRONMENT)
        for stream in (0, 1):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        for fd in map(int, os.listdir("/proc/self/fd")):
            if fd > 2 and fd != control:
                with suppress(OSError):  # it was an alias of the list itself
                    os.close(fd)
        zygote.main(control, os.getppid())
        os._exit(0)
    except BaseException:  # noqa: BLE001 - must not run on as a server
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    del os.environ["PYTHONHASHSEED"]  # servers have no such setting; this process has it for their workers
    prepare()
    be_forked(socket.socket(fileno=int(sys.argv[1])))
    main()
