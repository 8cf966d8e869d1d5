"""What a runner does once, before its first fork, so that no fork has to."""

import gc
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Final

from sandbox.runner.configuration import Configuration
from sandbox.runner.isolation import kernel, landlock, seccomp
from sandbox.runner.process import programs
from sandbox.runner.process.child import find_generators_to_seed, prepare_standard_streams
from sandbox.runner.process.file_descriptors import move_high
from sandbox.runner.process.measures import OomCounter
from sandbox.runner.process.prefork_warmup import INPUT, warm_up_run
from sandbox.runner.process.runs import Rules
from sandbox.runner.process.workspace import Workspace

_RESERVED_DESCRIPTORS: Final = range(3, 10)
"""Always in use, so that no pipe of a run has a number that another child gets."""
_ENVIRONMENT: Final = {
    "PATH": programs.SEARCH_PATH,
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    # One thread each: more would only compete for the box's processor.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


def reserve_descriptors(source: int, sink: int) -> tuple[int, int]:
    """Move the connection to high descriptors. Its old numbers, and those that children will use, become /dev/null."""
    own_source = move_high(source)
    own_sink = own_source if sink == source else move_high(sink)
    nothing = move_high(os.open(os.devnull, os.O_RDWR))
    for descriptor in (0, 1, *_RESERVED_DESCRIPTORS):
        os.dup2(nothing, descriptor, inheritable=descriptor < 2)
    os.close(nothing)
    return own_source, own_sink


def harden_process() -> None:
    """Protect this process from programs, and make it the parent of all orphans.

    It is not dumpable, ignores signals sent to the whole box, and gets no new privileges.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.umask(0o022)
    kernel.adopt_orphans()
    kernel.set_dumpable(False)
    kernel.renounce_new_privileges()


def close_terminals() -> None:
    """Make pseudo-terminals unusable; do nothing if that is impossible.

    Docker's boxes have them, and no program needs one.
    """
    for path in ("/dev/ptmx", "/dev/pts/ptmx"):
        with suppress(OSError):
            os.chmod(path, 0)


def make_environment(configuration: Configuration, home: str) -> dict[str, str]:
    environment = {**_ENVIRONMENT, "HOME": home}
    if configuration.landlock:
        # /tmp is inaccessible; and openssl, which some run times load at start, fails without its configuration file.
        environment |= {"TMPDIR": home, "OPENSSL_CONF": "/dev/null"}
    return environment


def preload(names: Sequence[str]) -> list[str]:
    """Import these modules if they exist. Returns the names of those that do."""
    imported = []
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        imported.append(name)
    return imported


def make_rules(configuration: Configuration, workspace: Workspace) -> Rules:
    """Landlock's rules for runs and tests.

    If runs have the runner's own user id, only Landlock keeps them from tests and from each other's processes.
    """
    writable = (workspace.run_parent, *configuration.cleaned)
    if configuration.landlock:
        readable = (*configuration.read_only, workspace.program)
        return Rules(
            run=move_high(landlock.make_ruleset(readable, writable)),
            test=move_high(landlock.make_ruleset(readable, (workspace.test_parent, *configuration.cleaned))),
            sharing_test=move_high(landlock.make_ruleset(readable, (workspace.test_parent, *writable))),
        )
    if configuration.single_uid and landlock.version() > 0:
        readable = (*_all_but(configuration.directory), workspace.program)
        return Rules(run=move_high(landlock.make_ruleset(readable, writable)))
    return Rules()


def _all_but(directory: str) -> list[str]:
    """The entries of the root directory, except the one that contains the box's own directory."""
    own_entry = directory.split("/")[1]
    return [f"/{name}" for name in os.listdir("/") if name != own_entry]


def oom_counter(configuration: Configuration) -> OomCounter:
    """The counter for this box. The files in a box count other boxes too when its memory is not bounded."""
    if configuration.memory_events is not None:
        return OomCounter(move_high(configuration.memory_events))
    if configuration.memory_ends_box:
        return OomCounter(None)
    return OomCounter.of_machine() if configuration.watch_memory else OomCounter.of_box()


def wake_descriptor() -> int:
    """A descriptor that becomes readable whenever a child ends. It also works on kernels without pidfds."""
    readable, writable = (move_high(descriptor) for descriptor in os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC))
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    return readable


def refuse_system_calls(configuration: Configuration) -> None:
    """Install the filter of `sandbox.runner.isolation.seccomp`, for this process and all that are forked from it."""
    if configuration.seccomp:
        seccomp.install(_filter_of(configuration))


def prepare_for_forks(configuration: Configuration, *, is_long_lived: bool) -> None:
    """Do once what every child would have to do, and bring memory into the state that forks share best.

    Args:
        configuration: Of the box.
        is_long_lived: There will be many forks, so that it is worth to take some time.
    """
    _filter_of(configuration)
    sys.path[0] = Workspace.run_of(configuration.directory)
    _forget_own_modules()
    find_generators_to_seed()
    _make_streams_of_runs(warms_up=is_long_lived)
    if not is_long_lived:
        gc.freeze()
        return
    gc.collect()
    gc.freeze()
    kernel.give_back_free_memory()


def _forget_own_modules() -> None:
    """A program may have a module of that name."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "sandbox"]:
        del sys.modules[name]


def _filter_of(configuration: Configuration) -> bytes:
    return _run_filter(sockets=not configuration.landlock, schedules_others=not configuration.single_uid)


@cache
def _run_filter(*, sockets: bool, schedules_others: bool) -> bytes:
    return seccomp.filter_program(_architecture(), sockets=sockets, schedules_others=schedules_others)


def job_filter(configuration: Configuration) -> bytes | None:
    """The filter of `sandbox.runner.isolation.seccomp` for each job; None: no filter is wanted."""
    return seccomp.sigchld_filter_program(_architecture()) if configuration.seccomp else None


def _architecture() -> seccomp.Architecture:
    return seccomp.ARCHITECTURES[os.uname().machine]


def _make_streams_of_runs(*, warms_up: bool) -> None:
    """Make the text streams of runs on descriptors of the same kind that runs have, and warm up a run with them."""
    readable, writable = os.pipe2(os.O_CLOEXEC)
    file = kernel.sealed_file(INPUT)
    own_streams = [os.dup(descriptor) for descriptor in range(3)]
    for descriptor, kind in enumerate((file, writable, writable)):
        os.dup2(kind, descriptor)
    if warms_up:
        warm_up_run()
        os.lseek(0, 0, os.SEEK_SET)
    prepare_standard_streams()
    for descriptor, saved in enumerate(own_streams):
        os.dup2(saved, descriptor)
    for descriptor in (readable, writable, file, *own_streams):
        os.close(descriptor)
