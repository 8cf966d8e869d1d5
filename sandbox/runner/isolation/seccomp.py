"""System calls that programs are refused: those that namespaces, user ids and limits do not already make harmless.

This is a list of denied calls, on top of what the container's own profile allows. It is installed once in the runner,
which needs none of these calls itself, and everything forked from the runner inherits it.

Each job gets another filter, which makes one call do nothing: changing the handler of SIGCHLD. A process that ignores
that signal is not charged for its children's CPU time, and neither is any other process. So SIGCHLD keeps its handler
for good. Python programs can still set handlers of their own, because the interpreter calls them. Run times that learn
of their children through a handler of their own (`sandbox.languages.Language.handles_children`) do not get this filter.
The numbers are from the kernel's system call tables (asm/unistd_64.h of x86-64, asm-generic/unistd.h for aarch64), the
format is from seccomp(2) and linux/filter.h.
"""

import ctypes
import errno
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sandbox.runner.isolation import kernel


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Architecture:
    """System call numbers of one machine architecture."""

    audit: int
    """AUDIT_ARCH_*"""
    denied: Mapping[str, int]
    clone: int
    clone3: int
    socket: int
    socketpair: int
    other_socket_calls: tuple[int, ...]
    """bind, connect"""
    prlimit64: int
    ioctl: int
    sigaction: int
    """rt_sigaction"""
    scheduling_by_first: tuple[int, ...]
    """sched_setparam, sched_setscheduler, sched_setaffinity, sched_setattr: the first argument names the process."""
    scheduling_by_second: tuple[int, ...]
    """setpriority, ioprio_set: the second argument names the process."""
    has_x32: bool = False


_DENIED: Final = """
io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, open_tree 428 428, move_mount 429 429,
fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, pidfd_getfd 438 438, process_madvise 440 440,
mount_setattr 442 442, quotactl_fd 443 443, process_mrelease 448 448, set_mempolicy_home_node 450 450,
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272, add_key 248 217,
request_key 249 218, keyctl 250 219, userfaultfd 323 282, bpf 321 280, perf_event_open 298 241, unshare 272 97,
setns 308 268, mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, name_to_handle_at 303 264,
open_by_handle_at 304 265, swapon 167 224, swapoff 168 225, reboot 169 142, kexec_load 246 104,
kexec_file_load 320 294, init_module 175 105, finit_module 313 273, delete_module 176 106, acct 163 89,
quotactl 179 60, sysfs 139 -, uselib 134 -, ustat 136 -, modify_ldt 154 -, syslog 103 116, personality 135 92,
shmget 29 194, shmat 30 196, shmctl 31 195, shmdt 67 197, semget 64 190, semop 65 193, semctl 66 191,
semtimedop 220 192, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, mq_open 240 180, mq_unlink 241 181,
fanotify_init 300 262, fanotify_mark 301 263, lookup_dcookie 212 18, vhangup 153 58, iopl 172 -, ioperm 173 -,
adjtimex 159 171, clock_adjtime 305 266, clock_settime 227 112, settimeofday 164 170, sethostname 170 161,
setdomainname 171 162, migrate_pages 256 238, move_pages 279 239, mbind 237 235, set_mempolicy 238 237
"""
"""The denied calls: name, number on x86-64, number on aarch64 (or a dash: it has no such call)."""


def _denied(column: int) -> dict[str, int]:
    rows = [row.split() for row in _DENIED.split(",")]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


X86_64: Final = Architecture(
    audit=0xC000003E,
    denied=_denied(1),
    clone=56,
    clone3=435,
    socket=41,
    socketpair=53,
    other_socket_calls=(49, 42),
    prlimit64=302,
    ioctl=16,
    sigaction=13,
    scheduling_by_first=(142, 144, 203, 314),
    scheduling_by_second=(141, 251),
    has_x32=True,
)

AARCH64: Final = Architecture(
    audit=0xC00000B7,
    denied=_denied(2),
    clone=220,
    clone3=435,
    socket=198,
    socketpair=199,
    other_socket_calls=(200, 203),
    prlimit64=261,
    ioctl=29,
    sigaction=134,
    scheduling_by_first=(118, 119, 122, 274),
    scheduling_by_second=(140, 30),
)

ARCHITECTURES: Final[Mapping[str, Architecture]] = {"x86_64": X86_64, "aarch64": AARCH64}
"""By the machine name of `os.uname()`."""

_PR_SET_SECCOMP: Final = 22
_SECCOMP_MODE_FILTER: Final = 2

_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _JUMP_IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW: Final = 0x7FFF0000
_KILL_PROCESS: Final = 0x80000000
_ERRNO: Final = 0x00050000
_NUMBER, _MACHINE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
"""Offsets in struct seccomp_data; of arguments, the lower half of a little-endian machine."""
_UPPER_HALF: Final = 4
_SIGCHLD: Final = 17

_X32_BIT: Final = 0x40000000
_NEW_NAMESPACES: Final = 0x7E020000
"""CLONE_NEW* without NEWTIME, which only clone3 and unshare know."""
_AF_UNIX: Final = 1
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

Instruction = tuple[int, int, int, int]
"""Operation code, jump if true, jump if false, operand."""


def filter_program(architecture: Architecture, *, sockets: bool, schedules_others: bool = True) -> bytes:
    """The filter as an array of struct sock_filter.

    Args:
        architecture: Of the machine. A call by the convention of any other architecture kills the process.
        sockets: Whether AF_UNIX sockets may be made; pairs of them always may.
        schedules_others: Whether a process may change the priority and processors of other processes of its user.
    """
    return _packed(_instructions(architecture, sockets, schedules_others))


def sigchld_filter_program(architecture: Architecture) -> bytes:
    """The filter for each job: changes of SIGCHLD's handler succeed without doing anything."""
    return _packed(_ignore_sigchld_changes(architecture.sigaction))


def install(program: bytes) -> None:
    """Install a filter for this process and its future children, for good.

    New privileges must have been given up before.

    Raises:
        OSError: the kernel does not accept it.
    """
    code = ctypes.create_string_buffer(program, len(program))
    length = len(program) // struct.calcsize("=HBBI")
    filter_program = _Program(length, ctypes.addressof(code))
    kernel.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(filter_program))


def _packed(instructions: Iterable[Instruction]) -> bytes:
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions)


class _Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def _instructions(architecture: Architecture, sockets: bool, schedules_others: bool) -> Iterator[Instruction]:
    yield _LOAD, 0, 0, _MACHINE
    yield _JUMP_IF_EQUAL, 1, 0, architecture.audit
    yield _RETURN, 0, 0, _KILL_PROCESS
    yield _LOAD, 0, 0, _NUMBER
    if architecture.has_x32:
        yield _JUMP_IF_AT_LEAST, 0, 1, _X32_BIT
        yield _RETURN, 0, 0, _KILL_PROCESS
    for number in sorted(architecture.denied.values()):
        yield from _refuse(number, errno.EPERM)
    yield from _refuse(
        architecture.clone3, errno.ENOSYS
    )  # its flags are in memory, so a filter cannot check them; libc falls back to clone
    yield from _refuse_argument(architecture.clone, _FIRST_ARGUMENT, (_JUMP_IF_ANY_BIT, 0, 1, _NEW_NAMESPACES))
    if sockets:
        yield from _refuse_argument(
            architecture.socket, _FIRST_ARGUMENT, (_JUMP_IF_EQUAL, 1, 0, _AF_UNIX), errno.EACCES
        )
    else:
        for number in (architecture.socket, *architecture.other_socket_calls):
            yield from _refuse(number, errno.EACCES)
    yield from _refuse_argument(
        architecture.socketpair, _FIRST_ARGUMENT, (_JUMP_IF_EQUAL, 1, 0, _AF_UNIX), errno.EACCES
    )
    yield from _refuse_argument(architecture.prlimit64, _FIRST_ARGUMENT, (_JUMP_IF_EQUAL, 1, 0, 0))
    if not schedules_others:
        for number in architecture.scheduling_by_first:
            yield from _refuse_argument(number, _FIRST_ARGUMENT, (_JUMP_IF_EQUAL, 1, 0, 0))
        for number in architecture.scheduling_by_second:
            yield from _refuse_argument(number, _SECOND_ARGUMENT, (_JUMP_IF_EQUAL, 1, 0, 0))
    for request in (_TIOCSTI, _TIOCLINUX):
        yield from _refuse_argument(architecture.ioctl, _SECOND_ARGUMENT, (_JUMP_IF_EQUAL, 0, 1, request))
    yield _RETURN, 0, 0, _ALLOW


def _ignore_sigchld_changes(sigaction: int) -> Iterator[Instruction]:
    """Make a change of SIGCHLD's handler succeed without doing anything.

    Reading the handler (no second argument) is allowed.

    Calls by the numbers of another architecture have already been refused by the other filter.
    """
    yield _LOAD, 0, 0, _NUMBER
    yield _JUMP_IF_EQUAL, 0, 7, sigaction
    yield _LOAD, 0, 0, _FIRST_ARGUMENT
    yield _JUMP_IF_EQUAL, 0, 5, _SIGCHLD
    yield _LOAD, 0, 0, _SECOND_ARGUMENT
    yield _JUMP_IF_EQUAL, 0, 2, 0
    yield _LOAD, 0, 0, _SECOND_ARGUMENT + _UPPER_HALF
    yield _JUMP_IF_EQUAL, 1, 0, 0
    yield _RETURN, 0, 0, _ERRNO
    yield _RETURN, 0, 0, _ALLOW


def _refuse(number: int, error: int) -> Iterator[Instruction]:
    yield _JUMP_IF_EQUAL, 0, 1, number
    yield _RETURN, 0, 0, _ERRNO | error


def _refuse_argument(number: int, offset: int, test: Instruction, error: int = errno.EPERM) -> Iterator[Instruction]:
    """Refuse a call if `test` on an argument falls through to the next instruction.

    To allow the call, it jumps over one.
    """
    yield _JUMP_IF_EQUAL, 0, 4, number
    yield _LOAD, 0, 0, offset
    yield test
    yield _RETURN, 0, 0, _ERRNO | error
    yield _LOAD, 0, 0, _NUMBER
