"""What a forked process gives up before it becomes the program.

What can be given up once for all is given up by the runner itself before its first fork: new privileges, and the system
calls of `sandbox.runner.isolation.seccomp`. The rest is done here, in the child. A child that cannot do all of it must not go on.
"""

import importlib
import os
import resource
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sandbox.runner.isolation import kernel, landlock
from sandbox.runner.process.limits import RunLimits

MAX_DESCRIPTOR: Final = 127
"""No descriptor of the runner is higher."""

_MB: Final = 1 << 20
_STACK_BYTES: Final = 256 * _MB
_OPEN_FILES: Final = 256

# Plain integers, and the function below `signal.signal`: its enums touch 80 pages, which each child would have to copy.
_set_handler: Final[Callable[[int, Any], object]] = importlib.import_module("_signal").signal
_DEFAULT_SIGNALS: Final = tuple(int(n) for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGXFSZ))
_DEFAULT_HANDLER: Final = int(signal.SIG_DFL)
_INTERRUPT: Final = int(signal.SIGINT)
_BROKEN_PIPE: Final = int(signal.SIGPIPE)

Resources = Sequence[tuple[int, int]]
"""Numbers of resource limits, and their values."""

_OF_ALL_RUNS: Final = {
    resource.RLIMIT_NOFILE: _OPEN_FILES,
    resource.RLIMIT_STACK: _STACK_BYTES,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_MSGQUEUE: 0,
    resource.RLIMIT_MEMLOCK: 0,
}
_OF_EACH_RUN: Final = (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_DATA)


class Jail(NamedTuple):
    """How one child is shut in."""

    directory: str
    """Its working directory."""
    resources: Resources
    descriptors: Sequence[int]
    """What become its descriptors 0, 1, 2 and so on; all others are closed."""
    ruleset: int | None
    """Of Landlock."""
    closed_to: int = MAX_DESCRIPTOR
    """The highest descriptor that may have to be closed."""
    is_dumpable: bool = True
    is_prepared: bool = False
    """What it was forked from has done what `prepare` does."""


def resources(limits: RunLimits, *, base_data_bytes: int, data_limit: bool, other_threads: int) -> Resources:
    """The resource limits of a run that not all have in common, none above what the runner itself may have.

    Args:
        limits: Of the run.
        base_data_bytes: What the process has of the runner's memory and keeps.
        data_limit: Whether the memory limit is also set as RLIMIT_DATA, for a clean error when it is reached.
        other_threads: Of the same user, which count as well.
    """
    net_s = int(limits.cpu_s) + 1  # the supervisor comes first
    wanted = {
        resource.RLIMIT_CPU: net_s,
        resource.RLIMIT_FSIZE: limits.file_mb * _MB,
        resource.RLIMIT_NPROC: limits.processes + other_threads,
    }
    if data_limit:
        wanted[resource.RLIMIT_DATA] = limits.memory_bytes + base_data_bytes
    return _possible(wanted)


def own_limits() -> Resources:
    """Of this process, those that each run is given anew: to set them changes nothing that matters."""
    return [(which, _HARD_LIMITS[which]) for which in _OF_EACH_RUN if which in _HARD_LIMITS]


def enter_jail(uid: int | None, jail: Sequence[Any]) -> None:
    """Give up everything; the order matters.

    Args:
        uid: The user to become. None: it stays the user that the runner is.
        jail: The fields of a `Jail`.

    Raises:
        OSError: something could not be given up.
    """
    directory, resources, descriptors, ruleset, closed_to, is_dumpable, is_prepared = jail
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    if not is_prepared:
        prepare(is_same_user=uid is None)
    for which, value in resources:
        resource.setrlimit(which, (value, value))
    os.chdir(directory)
    if ruleset is not None:
        landlock.restrict(ruleset)
    os.closerange(len(descriptors), closed_to + 1)
    if uid is None:
        kernel.drop_capabilities()
    else:
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.set_dumpable(is_dumpable)


def restore_signals() -> None:
    """As a process has them that nobody did anything to, but that too large a file ends it.

    That of ended children keeps the runner's handler, which does nothing: a filter has it stay, but for run times that
    are to have theirs, which are other programs and so begin without any.
    """
    signal.set_wakeup_fd(-1)
    for number in _DEFAULT_SIGNALS:
        _set_handler(number, _DEFAULT_HANDLER)
    _set_handler(_INTERRUPT, signal.default_int_handler)


def restore_pipe_signal() -> None:
    """For programs that are no Python: Python ignores it."""
    _set_handler(_BROKEN_PIPE, _DEFAULT_HANDLER)


def _possible(wanted: Mapping[int, int]) -> Resources:
    return [
        (which, _at_most(value, hard))
        for which, value in wanted.items()
        if (hard := _HARD_LIMITS.get(which)) is not None
    ]


def _at_most(value: int, hard: int) -> int:
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def prepare(*, is_same_user: bool = False) -> None:
    """What is the same for all runs, and inherited by what is forked from this process.

    Args:
        is_same_user: As programs are. Otherwise nobody can look into this process while its own files are in its reach.
    """
    restore_signals()
    os.umask(0o077)
    for which, value in _possible(_OF_ALL_RUNS):
        resource.setrlimit(which, (value, value))
    if not is_same_user:
        os.setgroups([])
        kernel.set_dumpable(True)
    _offer_to_oom_killer()
    if not is_same_user:
        kernel.set_dumpable(False)


def _offer_to_oom_killer() -> None:
    """Have this process ended first when memory runs out."""
    try:
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:  # a /proc that is read-only, or has no such thing
        return
    try:
        os.write(descriptor, b"1000")
    finally:
        os.close(descriptor)


def _is_settable(which: int) -> bool:
    """Of some limits gVisor knows the number, and lets nobody set them."""
    try:
        resource.setrlimit(which, resource.getrlimit(which))
    except (ValueError, OSError):
        return False
    return True


_HARD_LIMITS: Final = {
    which: resource.getrlimit(which)[1] for which in (*_OF_ALL_RUNS, *_OF_EACH_RUN) if _is_settable(which)
}
