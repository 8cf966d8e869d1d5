"""Landlock limits, for good, which parts of the file system a process and its children may reach.

It is for boxes without namespaces of their own. From version 4 on it also denies TCP, from version 6 on abstract
sockets and signals to processes outside. The numbers are from landlock(7) and linux/landlock.h.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from sandbox.runner.isolation import kernel

_SYS_CREATE_RULESET, _SYS_ADD_RULE, _SYS_RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION: Final = 1
_RULE_PATH_BENEATH: Final = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_FIRST_RIGHTS: Final = (1 << 13) - 1
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ_ONLY: Final = _EXECUTE | _READ_FILE | _READ_DIR
_DEVICE: Final = _READ_FILE | _WRITE_FILE
_ALL: Final = -1
_NO_TCP: Final = 0b11
_NO_ABSTRACT_SOCKETS_NO_SIGNALS: Final = 0b11

SCOPES_SIGNALS: Final = 6
"""The first version that can prevent signals to processes outside."""

_DEVICES: Final = ("/dev/null", "/dev/full", "/dev/zero", "/dev/random", "/dev/urandom")


def version() -> int:
    """The kernel's Landlock version; 0 when there is none."""
    with suppress(OSError):
        return kernel.syscall("landlock", _SYS_CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION)
    return 0


def make_ruleset(read_only: Iterable[str], writable: Iterable[str]) -> int:
    """A descriptor of a ruleset that allows only these paths and everything below them.

    Paths that do not exist are left out.
    """
    abi = version()
    rights = _FIRST_RIGHTS
    rights |= (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0) | (_IOCTL_DEV if abi >= 5 else 0)
    fields = [rights]
    if abi >= 4:
        fields.append(_NO_TCP)
    if abi >= SCOPES_SIGNALS:
        fields.append(_NO_ABSTRACT_SOCKETS_NO_SIGNALS)
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = kernel.syscall("landlock", _SYS_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    for path in read_only:
        _allow(ruleset, path, rights & _READ_ONLY)
    for path in _DEVICES:
        _allow(ruleset, path, rights & _DEVICE)
    for path in writable:
        _allow(ruleset, path, rights & _ALL)
    return ruleset


def restrict(ruleset: int) -> None:
    """Restrict this process and its future children. New privileges must have been given up before."""
    kernel.syscall("landlock_restrict_self", _SYS_RESTRICT_SELF, ruleset, 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, descriptor)
        kernel.syscall("landlock_add_rule", _SYS_ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)
