"""Makes boxes by forking: an interpreter that has loaded the runner already, and does nothing else.

A box that starts two interpreters of its own spends nine tenths of its cost on them. A fork gives the same result: this
process is started with the environment of boxes and nothing of the service's. It reads only one byte of an order; the
keeper reads the box's plan.

    service ──► forkserver ─ ─ ─ forks ─ ─ ─► keeper ──► process 1 of the box       (sandbox.boxes.local.enter)
       └──────────────── parent of ──────────────┘
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
    """Fork keepers until the service is gone.

    Args:
        source: A socket to the service.
        sink: The same.
        header: `preload` names modules to import if they exist. `archive_bytes` is the length of the archive that this
            was loaded from, which follows: a box that is sent the same archive need not load it again.
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
    """Fork a child of this process's own parent, so that the parent can wait for it.

    Returns minus the errno on failure.
    """
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
    """Run the runner with the modules that are already loaded.

    This is what the bootstrap does in an interpreter of its own (`sandbox.boxes.bootstrap`).
    """
    kernel.set_dumpable(True)  # the change of user cleared it, and the runner still has to open its own /proc files
    header, archive_bytes = frames.receive_header(enter.CONTROL)
    runner = _runner(frames.receive_exactly(enter.CONTROL, archive_bytes), header["directory"])
    runner.main(enter.CONTROL, enter.CONTROL, header)
    raise AssertionError("never reached")


def _runner(archive: bytes, directory: str) -> Any:
    """The runner that this process has loaded, if it is from this archive.

    Frees the archive kept for the comparison.
    """
    global _modules
    is_same, _modules = archive == _modules, b""
    return zygote if is_same else _loaded(archive, directory)


def _loaded(archive: bytes, directory: str) -> Any:
    """The runner from another archive."""
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
