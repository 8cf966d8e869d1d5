"""Makes boxes by forking: an interpreter that has loaded the runner already, and does nothing else.

A box that starts two interpreters of its own spends nine tenths of its cost on them. A fork gives the same result: this
process is started with the environment of boxes and nothing of the service's. It reads only one byte of an order; the
box reads its own plan.

    service ──► forkserver ─ ─ ─ forks into new namespaces ─ ─ ─► process 1 of the box       (sandbox.boxes.local.enter)
       └────────────────────────── parent of ───────────────────────────┘

Each fork costs: it copies every page that it writes to. So there is no keeper between the service and process 1, and
the service maps the box's user ids.
"""

import ctypes
import importlib
import json
import os
import resource
import signal
import socket
import sys
from typing import Any, Final, NoReturn

from sandbox.boxes.local import enter
from sandbox.boxes.local.forkserver_protocol import FEWEST_DESCRIPTORS, MOST_DESCRIPTORS, NUMBER, ORDER, READY
from sandbox.runner import frames, zygote
from sandbox.runner.isolation import kernel
from sandbox.runner.process import preparation

_EXIT_BAD_ORDER: Final = 72
_CLONE: Final = {"x86_64": 56, "aarch64": 220}
_CLONE_PARENT: Final = 0x8000

_syscall = ctypes.PyDLL(None, use_errno=True).syscall


def main(source: int, sink: int, header: dict[str, Any]) -> NoReturn:
    """Fork boxes until the service is gone.

    Args:
        source: A socket to the service.
        sink: The same.
        header: `preload` names modules to import if they exist; `visible` is what boxes show, see `enter.Plan`.
    """
    service = os.getppid()
    os.umask(0o022)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    preparation.preload((*zygote.COMMON_MODULES, *header["preload"]))
    preparation.prepare_ahead()
    can_clone = enter.can_clone_mounts()
    with socket.socket(fileno=source) as control:
        control.sendall(NUMBER.pack(READY))
        while True:
            order, received, _, _ = socket.recv_fds(control, len(ORDER), MOST_DESCRIPTORS)
            if not order:
                os._exit(0)
            if len(received) < FEWEST_DESCRIPTORS or os.getppid() != service:
                os._exit(_EXIT_BAD_ORDER)
            sources = enter.sources_of(header["visible"], can_clone=can_clone)
            pid = _fork_for_parent()
            if pid == 0:
                _become_first_process(sources, *received)
            for descriptor in (*received, *(tree for each in sources if (tree := each["tree"]) is not None)):
                os.close(descriptor)
            control.sendall(NUMBER.pack(pid))


def _fork_for_parent() -> int:
    """Fork a child of this process's own parent into new namespaces, so that the parent can wait for it.

    Returns minus the errno on failure.
    """
    none = ctypes.c_void_p()
    flags = ctypes.c_ulong(_CLONE_PARENT | enter.NAMESPACES_OF_CLONE | signal.SIGCHLD)
    pid = int(_syscall(ctypes.c_long(_CLONE[os.uname().machine]), flags, none, none, none, none))
    return pid if pid >= 0 else -ctypes.get_errno()


def _become_first_process(
    sources: list[enter.Source], control: int, stderr: int, plan: int, *of_groups: int
) -> NoReturn:
    try:
        os.setsid()
        os.dup2(stderr, 2)
        with open(plan, "rb", buffering=0) as file:  # it comes once the user ids are mapped
            text = file.readall()
        if text:
            enter.become_first_process(json.loads(text), control, of_groups, sources, _run_runner)
    finally:
        os._exit(enter.EXIT_NOT_BUILT)


def _run_runner() -> NoReturn:
    """Run the runner with the modules that are already loaded.

    This is what the bootstrap does in an interpreter of its own (`sandbox.boxes.bootstrap`).
    """
    kernel.set_dumpable(True)  # the change of user cleared it, and the runner still has to open its own /proc files
    header, archive_bytes = frames.receive_header(enter.CONTROL)
    archive = frames.receive_exactly(enter.CONTROL, archive_bytes) if archive_bytes else b""
    runner = _loaded(archive, header["directory"]) if archive else zygote
    runner.main(enter.CONTROL, enter.CONTROL, header)
    raise AssertionError("never reached")


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
