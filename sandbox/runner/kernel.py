"""Calls of the kernel which the standard library does not have.

The numbers are from prctl(2), capget(2) and the kernel's uapi headers.
"""

import ctypes
import fcntl
import os
import signal
from typing import Any, Final, NoReturn

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_CAPABILITIES_VERSION: Final = 0x20080522
_SEALS: Final = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE

_libc = ctypes.CDLL(None, use_errno=True)
_fork = ctypes.PyDLL(None).fork
_prctl = _libc.prctl
_prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def fork() -> int:
    """As `os.fork`, without what that does in the child for threads there are none of.

    All of those hooks together write to some 150 pages, each of which the kernel then has to copy: more than all the
    rest of a short run. What is left undone is to seed `random` anew, and to know of the new thread id.

    Raises:
        OSError: there can be no more processes.
    """
    pid = int(_fork())
    if pid < 0:
        raise OSError("fork: no more processes")
    return pid


def set_dumpable(dumpable: bool) -> None:
    """Whether other processes of the same user may look into this one."""
    prctl(_PR_SET_DUMPABLE, int(dumpable))


def die_with_parent(parent: int) -> None:
    """Be killed when the parent ends, and end at once when it has ended already.

    Args:
        parent: Who called `fork`; by now this may be somebody else's child.
    """
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def renounce_new_privileges() -> None:
    """For this process and all that come from it."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """All of them, in every set."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if _libc.capset(header, nothing) != 0:
        fail("capset")


def prctl(option: int, value: int, address: int | None = None) -> None:
    if _prctl(option, value, address, None, None) != 0:
        fail(f"prctl {option}")


def syscall(name: str, number: int, *arguments: Any) -> int:
    """Call by number.

    Raises:
        OSError: it failed; the message has `name`.
    """
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        fail(name)
    return result


def fail(what: str) -> NoReturn:
    number = ctypes.get_errno()
    raise OSError(number, f"{what}: {os.strerror(number)}")


def sealed_file(data: bytes) -> int:
    """A descriptor that reads `data` from its start: seekable, with a real end, and nobody can change it."""
    writable = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(writable, rest) :]
        fcntl.fcntl(writable, fcntl.F_ADD_SEALS, _SEALS)
        return os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(writable)
