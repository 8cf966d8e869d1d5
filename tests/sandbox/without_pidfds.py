"""Runs tests as on a kernel without pidfds: `python -m tests.sandbox.without_pidfds PYTEST-ARGUMENT...`

A filter answers `pidfd_open` as such a kernel does, in this process and its descendants.
"""

import errno
import os
import struct
import sys

import pytest

from sandbox.runner.isolation import kernel, seccomp

_PIDFD_OPEN = 434
_ALLOWED, _REFUSED = 0x7FFF0000, 0x00050000 | errno.ENOSYS
_FILTER = ((0x20, 0, 0, 0), (0x15, 0, 1, _PIDFD_OPEN), (0x06, 0, 0, _REFUSED), (0x06, 0, 0, _ALLOWED))


def _refuse() -> None:
    kernel.renounce_new_privileges()
    seccomp.install(b"".join(struct.pack("=HBBI", *instruction) for instruction in _FILTER))
    with pytest.raises(OSError, match="not implemented"):
        os.pidfd_open(os.getpid())


if __name__ == "__main__":
    _refuse()
    sys.exit(pytest.main(sys.argv[1:]))
