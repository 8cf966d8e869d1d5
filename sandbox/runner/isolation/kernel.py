"""Kernel calls that the standard library does not have.

The numbers are from prctl(2), capget(2) and the kernel's uapi headers.
"""

import ctypes
import fcntl
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from mmap import mmap
from typing import Any, Final, NoReturn

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_DUMPABLE: Final = 4
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_CAPABILITIES_VERSION: Final = 0x20080522
_PR_GET_TID_ADDRESS: Final = 40
_CLONE: Final = {"x86_64": 56, "aarch64": 220}
_CLONE_FILES: Final = 0x400
_CLONE_PARENT: Final = 0x8000
_CLONE_PARENT_SETTID: Final = 0x100000
_CLONE_CHILD_CLEARTID: Final = 0x200000
_CLONE_CHILD_SETTID: Final = 0x1000000
_SYS_CLOSE_RANGE: Final = 436
_UNSHARE: Final = 2
_NO_DESCRIPTOR: Final = 0xFFFFFFFF
_KILL: Final = int(signal.SIGKILL)
_SEALS: Final = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE

_libc = ctypes.CDLL(None, use_errno=True)
_fork = ctypes.PyDLL(None).fork
_clone = ctypes.PyDLL(None, use_errno=True).syscall
_clone.restype = ctypes.c_long
_prctl_of_numbers = ctypes.PyDLL(None).prctl  # no argument conversion and no release of the GIL: each fork calls it
_prctl = _libc.prctl
_prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def fork() -> int:
    """Like `os.fork`, without its hooks in the child for other threads, of which there are none.

    All those hooks together write to some 150 pages, each of which the kernel then has to copy: more than all the rest
    of a short run. Without them, `random` is not seeded anew, and the new thread id is not known.

    Raises:
        OSError: no more processes are available.
    """
    pid = int(_fork())
    if pid < 0:
        raise OSError("fork: no more processes")
    return pid


class Cloner:
    """Forks like `fork`, but without the C library's own hooks. For processes with one thread, such as the runner's.

    A clone shares this process's table of descriptors, or is a child of this process's own parent, or both.
    """

    def __init__(self) -> None:
        """Find out where the C library keeps the thread's id, which must change in a child.

        Raises:
            OSError: the kernel does not tell.
        """
        tid_address = ctypes.c_ulong(0)
        prctl(_PR_GET_TID_ADDRESS, ctypes.addressof(tid_address))
        machine = os.uname().machine
        if not tid_address.value or machine not in _CLONE:
            raise OSError("clone: the kernel does not tell where the C library keeps the thread's id")
        self._number = _CLONE[machine]
        self._takes_thread_last = machine == "aarch64"
        self._thread_id = tid_address.value

    def child(self) -> int:
        """Fork a child that shares one table of descriptors with this process. See `sibling` for the result."""
        return self._call(_CLONE_FILES, None)()

    def sibling(self, tell: int, *, shares_descriptors: bool) -> Callable[[], int]:
        """A function that forks a child of this process's parent.

        It returns 0 in the child; here the pid, or -1 on failure.

        Args:
            tell: Address of four bytes. The kernel writes the new process's pid there before that process runs.
            shares_descriptors: In one table; otherwise the child gets a copy of them.
        """
        return self._call(_CLONE_PARENT | _CLONE_PARENT_SETTID | (_CLONE_FILES if shares_descriptors else 0), tell)

    def first_of_namespaces(self, flags: int) -> Callable[[], int]:
        """A function that forks process 1 of new namespaces, as a child of this process's parent.

        It returns 0 in the child; here the pid, or -1 on failure.

        Args:
            flags: The namespaces, as clone(2) names them.
        """
        return self._call(flags | _CLONE_PARENT, None)

    def _call(self, flags: int, tell: int | None) -> Callable[[], int]:
        """Prepares all arguments ahead: every page that a process touches right after a fork has to be copied."""
        flags |= _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID | int(signal.SIGCHLD)
        thread_id = ctypes.c_void_p(self._thread_id)
        last = (0, thread_id) if self._takes_thread_last else (thread_id, 0)
        return partial(_clone, self._number, flags, 0, ctypes.c_void_p(tell), *last)


def unshare_descriptors() -> None:
    """Get a table of descriptors of this process's own, with what is in the shared one. Closes nothing."""
    syscall("close_range", _SYS_CLOSE_RANGE, ctypes.c_uint(_NO_DESCRIPTOR), ctypes.c_uint(_NO_DESCRIPTOR), _UNSHARE)


def address(page: mmap, offset: int) -> int:
    """Address of a byte of shared memory."""
    return ctypes.addressof(ctypes.c_char.from_buffer(page, offset))


def give_back_free_memory() -> None:
    """Return the C library's free memory to the kernel, because every fork would copy it.

    Only GNU's library has this call.
    """
    with suppress(AttributeError):
        _libc.malloc_trim(0)


def set_dumpable(dumpable: bool) -> None:
    """Set whether other processes of the same user may look into this one."""
    if _prctl_of_numbers(_PR_SET_DUMPABLE, int(dumpable)) != 0:
        fail("prctl dumpable")


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends; exit at once when it has ended already.

    Args:
        parent: The process that called `fork`. By now, this process may be another one's child.
    """
    if _prctl_of_numbers(_PR_SET_PDEATHSIG, _KILL) != 0:
        fail("prctl parent")
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def renounce_new_privileges() -> None:
    """Give up new privileges (set-user-id programs) for this process and its future children."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Drop all capabilities, in every set."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if _libc.capset(header, nothing) != 0:
        fail("capset")


def prctl(option: int, value: int, address: int | None = None) -> None:
    if _prctl(option, value, address, None, None) != 0:
        fail(f"prctl {option}")


def syscall(name: str, number: int, *arguments: Any) -> int:
    """Make a system call by number.

    Raises:
        OSError: it failed; the message names `name`.
    """
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        fail(name)
    return result


def fail(action: str) -> NoReturn:
    number = ctypes.get_errno()
    raise OSError(number, f"{action}: {os.strerror(number)}")


def sealed_file(data: bytes) -> int:
    """A descriptor that reads `data` from its start: seekable, with a real end, and unchangeable by any process."""
    writable = os.memfd_create("input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        unwritten = memoryview(data)
        while unwritten:
            unwritten = unwritten[os.write(writable, unwritten) :]
        fcntl.fcntl(writable, fcntl.F_ADD_SEALS, _SEALS)
        return os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(writable)
