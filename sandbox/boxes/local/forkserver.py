"""Makes boxes by forking: an interpreter which has loaded the runner already, and does nothing else.

Where each box starts two interpreters of its own, they are nine tenths of what it costs. What comes of a fork here is the
same: this process is started with the environment of boxes and nothing of the service's, and reads of an order no more
than one byte; the plan of a box is read by its keeper.

    service ──► nursery ─ ─ ─ forks ─ ─ ─► keeper ──► process 1 of the box       (sandbox.boxes.local.enter)
       └──────────────── parent of ───────────┘
"""

import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import sys
from typing import Any, Final, NoReturn

from sandbox.boxes.local import enter
from sandbox.boxes.local.forkserver_protocol import DESCRIPTORS, NUMBER, ORDER, READY
from sandbox.runner import frames, zygote
from sandbox.runner.isolation import kernel
from sandbox.runner.process import preparation

_EXIT_BAD_ORDER: Final = 72
_CLONE: Final = {"x86_64": 56, "aarch64": 220}
_CLONE_PARENT: Final = 0x8000

_syscall = ctypes.PyDLL(None, use_errno=True).syscall
_modules = b""


def main(source: int, sink: int, header: dict[str, Any]) -> NoReturn:
    """Fork until the service is gone.

    Args:
        source: A socket to the service.
        sink: The same.
        header: `preload` names modules to import as far as they are there; `archive_bytes` of the archive that this was
            loaded from are still to come: to know by whether a box is sent the same.
    """
    global _modules
    service = os.getppid()
    _modules = frames.receive_exactly(source, header["archive_bytes"])
    preparation.preload((*zygote.COMMON_MODULES, *header["preload"]))
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=source) as control:
        control.sendall(NUMBER.pack(READY))
        while True:
            order, received, _, _ = socket.recv_fds(control, len(ORDER), DESCRIPTORS)
            if not order:
                os._exit(0)
            if len(received) != DESCRIPTORS or os.getppid() != service:
                os._exit(_EXIT_BAD_ORDER)
            pid = _fork_for_parent()
            if pid == 0:
                _become_keeper(*received)
            for descriptor in received:
                os.close(descriptor)
            control.sendall(NUMBER.pack(pid))


def _fork_for_parent() -> int:
    """Fork a child of this process's own parent, which so can wait for it. Minus the error's number if that cannot be."""
    none = ctypes.c_void_p()
    flags = ctypes.c_ulong(_CLONE_PARENT | signal.SIGCHLD)
    pid = int(_syscall(ctypes.c_long(_CLONE[os.uname().machine]), flags, none, none, none, none))
    return pid if pid >= 0 else -ctypes.get_errno()


def _become_keeper(control: int, stderr: int, plan: int) -> NoReturn:
    try:
        os.setsid()
        os.dup2(stderr, 2)
        with open(plan, "rb") as file:
            wanted: enter.Plan = json.load(file)
        enter.build(wanted, control, _run_runner)
    finally:
        os._exit(enter.EXIT_NOT_BUILT)


def _run_runner() -> NoReturn:
    """As the bootstrap does it in an interpreter of its own (`sandbox.boxes.bootstrap`), with what is loaded already."""
    kernel.set_dumpable(True)  # a change of user ends that, and the runner still wants to look into itself
    header, archive_bytes = frames.receive_header(enter.CONTROL)
    runner = _runner(frames.receive_exactly(enter.CONTROL, archive_bytes), header["directory"])
    runner.main(enter.CONTROL, enter.CONTROL, header)
    raise AssertionError("never reached")


def _runner(archive: bytes, directory: str) -> Any:
    """The one that this process has loaded, if it is of this archive; from here on nobody keeps an archive in memory."""
    global _modules
    is_same, _modules = archive == _modules, b""
    return zygote if is_same else _loaded(archive, directory)


def _loaded(archive: bytes, directory: str) -> Any:
    """The runner of another archive."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "sandbox"]:
        del sys.modules[name]
    path = os.path.join(directory, "runner.zip")
    with open(path, "wb") as file:
        file.write(archive)
    sys.path.insert(0, path)
    module = importlib.import_module("sandbox.runner.zygote")
    sys.path.remove(path)
    os.unlink(path)
    return module
