"""Limits a worker before it touches untrusted data: it can only compute, and read files that its imports need.

The limits of resource.setrlimit always hold, and capabilities are dropped so that root cannot lift them. The other
measures depend on kernel and container, and are applied where possible: a network namespace without interfaces,
Landlock (no writing, no executing, no TCP, no signals to other processes and no access to them), and seccomp (no new
processes or threads, because RLIMIT_NPROC does not bind root). The numbers are from prctl(2), landlock(7), seccomp(2),
and the kernel's uapi headers and system call tables.
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_MAX_OPEN_FILES = 32
_KEPT_FD = 3

_CAPABILITIES_VERSION = 0x20080522
_CAP_DAC_READ_SEARCH = 1 << 2

_SYS_LANDLOCK_CREATE_RULESET = 444
_SYS_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_VERSION = 1
_FS_EXECUTE, _FS_WRITE, _FS_REMOVE_AND_MAKE = 1 << 0, 1 << 1, 0b1_1111_1111 << 4
_FS_REFER, _FS_TRUNCATE = 1 << 13, 1 << 14
_NET_BIND_AND_CONNECT_TCP = 0b11
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | errno.EPERM
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_X32_CALLS = 0x40000000
_FORKING_CALLS = {
    "x86_64": (0xC000003E, (56, 57, 58, 435)),  # AUDIT_ARCH_X86_64: clone, fork, vfork, clone3
    "aarch64": (0xC00000B7, (220, 435)),  # AUDIT_ARCH_AARCH64: clone, clone3
}

_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent_pid: int) -> None:
    """Make the kernel kill this process when its parent ends.

    Raises:
        OSError: the kernel refuses.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(0)


def ignore_polite_signals() -> None:
    """Ignore signals sent to the whole process group (Ctrl-C, an orchestrator's SIGTERM): the service handles them."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def leave_network() -> None:
    """Move this process and its children to a namespace without a network. Without the privilege, do nothing."""
    if _libc.unshare(_CLONE_NEWNET) != 0:
        _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)


def keep_only(fd: int) -> int:
    """Close every file but `fd`, which gets a new number. The standard streams become /dev/null."""
    null = os.open(os.devnull, os.O_RDWR)
    duplicate = os.dup2(fd, 100, inheritable=False)
    for stream in range(3):
        os.dup2(null, stream)
    os.dup2(duplicate, _KEPT_FD, inheritable=False)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > _KEPT_FD:
            with suppress(OSError):  # the listing's own file is gone already
                os.close(int(name))
    return _KEPT_FD


def confine(memory_mb: int) -> None:
    """Give up everything that a worker does not need, for good. `memory_mb` is added to what is mapped now.

    Raises:
        OSError: a limit that must hold could not be set.
    """
    with suppress(OSError):  # a hardened /proc may be read-only
        Path("/proc/self/oom_score_adj").write_text("900")
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _limit(resource.RLIMIT_AS, mapped + memory_mb * 1024 * 1024)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_NOFILE, _MAX_OPEN_FILES)
    _limit(resource.RLIMIT_NPROC, 0)  # the kernel does not apply this one to root
    _drop_capabilities()
    _landlock()
    _deny_forking()


def landlock_version() -> int:
    """The kernel's Landlock version; less than 1 when there is none."""
    return int(_libc.syscall(_SYS_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _LANDLOCK_VERSION))


def _limit(resource_id: int, value: int) -> None:
    hard = resource.getrlimit(resource_id)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(resource_id, (value, value))


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        _raise_errno(f"prctl {option}")


def _raise_errno(action: str) -> NoReturn:
    number = ctypes.get_errno()
    raise OSError(number, f"{action}: {os.strerror(number)}")


def _drop_capabilities() -> None:
    """Drop all capabilities that could raise a limit again or look into other processes; see capget(2).

    The capability to read any file stays: a later import may need it if the code belongs to another user.
    """
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then their upper halves
    if _libc.capget(header, sets) != 0:
        _raise_errno("capget")
    permitted = sets[1] & _CAP_DAC_READ_SEARCH
    if _libc.capset(header, (ctypes.c_uint32 * 6)(permitted, permitted, 0, 0, 0, 0)) != 0:
        _raise_errno("capset")


def _landlock() -> None:
    """Forbid what this kernel's Landlock can forbid; do nothing when it is missing or switched off."""
    version = landlock_version()
    if version < 1:
        return
    files = _FS_EXECUTE | _FS_WRITE | _FS_REMOVE_AND_MAKE
    files |= (_FS_REFER if version >= 2 else 0) | (_FS_TRUNCATE if version >= 3 else 0)
    fields = [files]
    if version >= 4:
        fields.append(_NET_BIND_AND_CONNECT_TCP)
    if version >= 6:
        fields.append(_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS)
    rules = (ctypes.c_uint64 * len(fields))(*fields)
    fd = _libc.syscall(_SYS_LANDLOCK_CREATE_RULESET, rules, ctypes.c_size_t(ctypes.sizeof(rules)), 0)
    if fd < 0:
        return
    _libc.syscall(_SYS_LANDLOCK_RESTRICT_SELF, fd, 0)
    os.close(fd)


class _Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def _deny_forking() -> None:
    """Make every call that makes a process or thread fail with EPERM, on architectures whose call numbers are known."""
    if platform.machine() not in _FORKING_CALLS:
        return
    architecture, calls = _FORKING_CALLS[platform.machine()]
    deny = 4 + len(calls) + 1  # the place of the last instruction; jumps count from the next one
    code = [(_LOAD, 0, 0, 4), (_JUMP_IF_EQUAL, 0, deny - 2, architecture), (_LOAD, 0, 0, 0)]
    code.append((_JUMP_IF_AT_LEAST, deny - 4, 0, _X32_CALLS))
    code += [(_JUMP_IF_EQUAL, deny - index - 1, 0, call) for index, call in enumerate(calls, start=4)]
    code += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _DENY)]
    packed = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    program = _Program(len(code), packed)
    _libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(program), 0, 0)
