"""Helpers for running within gVisor: how to recognise it, and what its boxes need that others do not.

gVisor's kernel has process, network and IPC namespaces, but older releases have no mount namespaces. So the root of
each box is mounted where the service sees it too, in a directory of its own. It must be unmounted before that directory
is removed.
"""

import ctypes
import os
import re
from pathlib import Path
from typing import Final

_READ_ALL: Final = 3
_LOG_BYTES: Final = 1 << 16
_LOG_START: Final = b"Starting gVisor"
_MNT_DETACH: Final = 2
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
"""Spaces and other special characters in names of /proc/PID/mounts, see proc(5)."""
RIGHTS: Final = ("SETUID", "SETGID", "KILL", "DAC_OVERRIDE", "SYS_CHROOT", "SYS_ADMIN")
"""The capabilities of root that making boxes there needs. They are rights over gVisor's kernel alone: gVisor's own
process on the machine has none of them.
"""

_libc = ctypes.CDLL(None, use_errno=True)


def is_kernel() -> bool:
    """Whether this process runs on gVisor's kernel, which names itself in the first line of its log (syslog(2))."""
    log = ctypes.create_string_buffer(_LOG_BYTES)
    length = int(_libc.klogctl(_READ_ALL, log, _LOG_BYTES))
    return length > 0 and _LOG_START in log.raw[:length].partition(b"\n")[0]


def unmount_below(directory: Path) -> None:
    """Unmount every file system mounted at or below the directory, as far as this process sees any.

    Raises:
        OSError: one remains. Its content belongs to others, and must not be removed with the directory.
    """
    for mount_point in sorted(_mounted_below(directory), key=len):
        _libc.umount2(os.fsencode(mount_point), _MNT_DETACH)  # detaches everything below too
    remaining = _mounted_below(directory)
    if remaining:
        raise OSError(f"{remaining[0]} is still mounted")


def _mounted_below(directory: Path) -> list[str]:
    top = os.path.realpath(directory)
    lines = Path("/proc/self/mounts").read_text(errors="surrogateescape").splitlines()
    mount_points = [_ESCAPED.sub(lambda match: chr(int(match[1], 8)), line.split(" ")[1]) for line in lines]
    return [mount_point for mount_point in mount_points if mount_point == top or mount_point.startswith(f"{top}/")]
