"""Makes boxes by forking: an interpreter that has loaded the runner already, and does nothing else.

A box that starts two interpreters of its own spends nine tenths of its cost on them. A fork gives the same result: this
process is started with the environment of boxes and nothing of the service's. It reads only one byte of an order; the
box reads its own frames.

    service ──► forkserver ─ ─ ─ forks into new namespaces ─ ─ ─► process 1 of the box       (sandbox.boxes.local.enter)
       └────────────────────────── parent of ───────────────────────────┘

Each fork costs: it copies every page that it writes to. So there is no keeper between the service and process 1, the
service maps the box's user ids, and what is alike in all boxes is done here, before the first fork.
"""

import ctypes
import dataclasses
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final, NoReturn

from sandbox.boxes.local import enter
from sandbox.boxes.local.forkserver_protocol import FEWEST_DESCRIPTORS, MOST_DESCRIPTORS, NUMBER, ORDER, READY
from sandbox.runner import frames, zygote
from sandbox.runner.configuration import Configuration
from sandbox.runner.frames import LENGTHS, Closed
from sandbox.runner.isolation import kernel
from sandbox.runner.process import prefork_warmup
from sandbox.runner.process.mappings import inherit_page_tables, open_own_memory
from sandbox.runner.zygote import Prepared

_EXIT_BAD_ORDER: Final = 72
_RESERVED: Final = range(3, 50)
_CONTROL, _NOWHERE, _SERVICE = 50, 51, 52
_RUNNERS: Final = range(53, 1024)
"""Descriptors: this process has its own between those that every runner reserves and those that it moves its own to."""
_WARM_UPS: Final = 16
"""The interpreter specialises a function after eight calls."""


def main(source: int, sink: int, header: dict[str, Any]) -> NoReturn:
    """Fork boxes until the service is gone.

    Args:
        source: A socket to the service.
        sink: The same.
        header: `configuration` is that of the boxes; the rest is of an `enter.Plan`.
    """
    service = os.getppid()
    os.umask(0o022)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    configuration = zygote.configuration_of(header["configuration"])
    build = enter.builder(header["mount_point"], header["visible"], header["disk_mb"])
    programs = json.loads(enter.answer_from_box(lambda: json.dumps(zygote.programs_of(configuration)).encode()))
    prepared = zygote.prepare(configuration, programs)
    source = _moved(source, _CONTROL)
    if enter.is_prepared():
        _warm_up(configuration, prepared)
    gc.disable()  # a collection would write to most pages; programs have it enabled again
    inherit_page_tables(open_own_memory())
    kernel.set_dumpable(True)  # a run that was tried in this process cleared it
    fork = kernel.Cloner().first_of_namespaces(enter.NAMESPACES_OF_CLONE)  # the service is to wait for the child
    with socket.socket(fileno=source) as control:
        control.sendall(NUMBER.pack(READY))
        while True:
            order, received, _, _ = socket.recv_fds(control, len(ORDER), MOST_DESCRIPTORS)
            if not order:
                os._exit(0)
            if len(received) < FEWEST_DESCRIPTORS or os.getppid() != service:
                os._exit(_EXIT_BAD_ORDER)
            pid = fork()
            if pid == 0:
                _become_first_process(build, prepared, *received)
            for descriptor in received:
                os.close(descriptor)
            control.sendall(NUMBER.pack(pid if pid > 0 else -ctypes.get_errno()))


def _moved(descriptor: int, to: int) -> int:
    os.dup2(descriptor, to, inheritable=False)
    os.close(descriptor)
    return to


def _warm_up(configuration: Configuration, prepared: Prepared) -> None:
    """Be a runner a few times, of a sample program, see `sandbox.runner.process.prefork_warmup`.

    Nothing in it reaches further than this process and its children: the runner has one user id, its own, so it ends only
    what descends from it, and its directory is in the file system that only this process and boxes being built see.
    """
    environment = dict(os.environ)  # noqa: TID251 - of boxes
    os.dup2(0, _NOWHERE, inheritable=False)
    for number in range(_WARM_UPS):
        directory = f"/warm-up-{number}"
        os.mkdir(directory)
        tried = dataclasses.replace(
            configuration,
            directory=directory,
            cleaned=(),
            single_uid=True,
            init=False,
            seccomp=False,
            memory_ends_box=True,
        )
        ours, theirs = socket.socketpair()
        ours.sendall(prefork_warmup.sample_job())
        ours.shutdown(socket.SHUT_WR)
        service, runner = _moved(ours.detach(), _SERVICE), theirs.detach()
        with suppress(Closed):
            zygote.Runner(runner, runner, tried, prepared).serve()
        os.close(service)
        signal.set_wakeup_fd(-1)
        for numbers in (_RESERVED, _RUNNERS):
            os.closerange(numbers.start, numbers.stop)
    for number in range(2):
        os.dup2(_NOWHERE, number)
    os.close(_NOWHERE)
    os.environ.clear()  # noqa: TID251 - each runner sets its own
    os.environ.update(environment)  # noqa: TID251 - of boxes


def _become_first_process(
    build: Callable[[], None], prepared: Prepared, control: int, stderr: int, *of_groups: int
) -> NoReturn:
    try:
        os.setpgid(0, 0)  # not a session, see `sandbox.runner.process.forks`
        os.dup2(stderr, 2)
        lengths = os.read(control, LENGTHS.size)  # they come once the user ids are mapped
        if len(lengths) == LENGTHS.size:
            enter.become_first_process(control, of_groups, build, partial(_run_runner, prepared, lengths))
    finally:
        os._exit(enter.EXIT_NOT_BUILT)


def _run_runner(prepared: Prepared, lengths: bytes) -> NoReturn:
    """Run the runner with the modules that are already loaded.

    This is what the bootstrap does in an interpreter of its own (`sandbox.boxes.bootstrap`).
    """
    kernel.set_dumpable(True)  # the change of user cleared it, and the runner still has to open its own /proc files
    header_bytes, archive_bytes = frames.lengths(lengths)
    header = json.loads(frames.receive_exactly(enter.CONTROL, header_bytes))
    archive = frames.receive_exactly(enter.CONTROL, archive_bytes) if archive_bytes else b""
    if archive:
        _loaded(archive, header["directory"]).main(enter.CONTROL, enter.CONTROL, header)
    zygote.main(enter.CONTROL, enter.CONTROL, header, prepared)
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
