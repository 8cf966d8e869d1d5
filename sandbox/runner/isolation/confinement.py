"""The jail of a forked process: what it gives up before it becomes the program.

The runner itself gives up everything that can be given up once for all, before its first fork: new privileges, and the
system calls of `sandbox.runner.isolation.seccomp`. The rest is given up here, in the child. A child that cannot give up
all of it must not go on.
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
"""No descriptor of the runner has a higher number."""

_MB: Final = 1 << 20
_STACK_BYTES: Final = 256 * _MB
_OPEN_FILES: Final = 256

# Uses plain integers and the C function that `signal.signal` calls: enums would touch 80 pages, copied for each child.
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
    """How one child is confined."""

    directory: str
    """Its working directory."""
    resources: Resources
    descriptors: Sequence[int]
    """Copied to the child's descriptors 0, 1, 2 and so on; all others are closed."""
    ruleset: int | None
    """Landlock's; None: none."""
    closed_to: int = MAX_DESCRIPTOR
    """The highest descriptor that may have to be closed."""
    is_dumpable: bool = True
    is_prepared: bool = False
    """Its parent has already called `prepare`."""


def resources(limits: RunLimits, *, base_data_bytes: int, data_limit: bool, other_threads: int) -> Resources:
    """The resource limits that differ between runs, none above the runner's own hard limits.

    Args:
        limits: Of the run.
        base_data_bytes: Memory of the runner that the process inherits and keeps.
        data_limit: Whether the memory limit is also set as RLIMIT_DATA, for a clean error when it is reached.
        other_threads: Threads of other processes of the same user, which count as well.
    """
    net_s = (
        int(1.25 * limits.cpu_s) + 1
    )  # later than the supervisor's own limit: for this one the kernel counts in ticks
    limits_by_resource = {
        resource.RLIMIT_CPU: net_s,
        resource.RLIMIT_FSIZE: limits.file_mb * _MB,
        resource.RLIMIT_NPROC: limits.processes + other_threads,
    }
    if data_limit:
        limits_by_resource[resource.RLIMIT_DATA] = limits.memory_bytes + base_data_bytes
    return _within_hard_limits(limits_by_resource)


def own_limits() -> Resources:
    """This process's own values of the limits that each run sets: setting them again changes nothing that matters."""
    return [(resource_id, _HARD_LIMITS[resource_id]) for resource_id in _OF_EACH_RUN if resource_id in _HARD_LIMITS]


def enter_jail(uid: int | None, jail: Sequence[Any]) -> None:
    """Give up everything. The order matters.

    Args:
        uid: The user to become. None: it stays the runner's user.
        jail: The fields of a `Jail`.

    Raises:
        OSError: something could not be given up.
    """
    directory, resources, descriptors, ruleset, closed_to, is_dumpable, is_prepared = jail
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    if not is_prepared:
        prepare(is_same_user=uid is None)
    for resource_id, value in resources:
        resource.setrlimit(resource_id, (value, value))
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
    """Restore the default signal handlers, and let a too large file end the process.

    SIGCHLD keeps the runner's handler, which does nothing. A filter makes it stay, except for run times that need their
    own handler: those are other programs, and so begin without any handler.
    """
    signal.set_wakeup_fd(-1)
    for number in _DEFAULT_SIGNALS:
        _set_handler(number, _DEFAULT_HANDLER)
    _set_handler(_INTERRUPT, signal.default_int_handler)


def restore_pipe_signal() -> None:
    """Restore SIGPIPE for programs that are not Python: Python ignores it."""
    _set_handler(_BROKEN_PIPE, _DEFAULT_HANDLER)


def _within_hard_limits(limits: Mapping[int, int]) -> Resources:
    return [
        (resource_id, _at_most(value, hard))
        for resource_id, value in limits.items()
        if (hard := _HARD_LIMITS.get(resource_id)) is not None
    ]


def _at_most(value: int, hard: int) -> int:
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def prepare(*, is_same_user: bool = False) -> None:
    """Give up what is the same for all runs, and is inherited by forks of this process.

    Args:
        is_same_user: It has the same user id as programs. Otherwise no other process can look into this one while its
            own files in /proc are accessible.
    """
    restore_signals()
    os.umask(0o077)
    for resource_id, value in _within_hard_limits(_OF_ALL_RUNS):
        resource.setrlimit(resource_id, (value, value))
    if not is_same_user:
        os.setgroups([])
        kernel.set_dumpable(True)
    _offer_to_oom_killer()
    if not is_same_user:
        kernel.set_dumpable(False)


def _offer_to_oom_killer() -> None:
    """Make the kernel kill this process first when memory runs out."""
    try:
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:  # /proc is read-only, or has no such file
        return
    try:
        os.write(descriptor, b"1000")
    finally:
        os.close(descriptor)


def _is_settable(resource_id: int) -> bool:
    """Whether a limit can be set. gVisor knows the numbers of some limits and lets no process set them."""
    try:
        resource.setrlimit(resource_id, resource.getrlimit(resource_id))
    except (ValueError, OSError):
        return False
    return True


_HARD_LIMITS: Final = {
    which: resource.getrlimit(which)[1] for which in (*_OF_ALL_RUNS, *_OF_EACH_RUN) if _is_settable(which)
}
