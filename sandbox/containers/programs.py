r"""Three programs of ours that run in a container, whatever became of its own programs.

They are machine code without libraries, so nothing of the container is part of them. Nobody there can read them, which
also keeps its processes from tracing them (gVisor must read what it runs).

    end_others   kill(-1, SIGKILL), until nobody is left that it may kill or a hundred times with a millisecond between; exit(0)
    show         while ((n = read(0, piece, 32768)) > 0) write(1, piece, n); exit(0)
    count        write(1, "\n", 1); count to 100,000,000; write(1, "\n", 1); exit(0)
"""

import struct
from collections.abc import Mapping
from typing import Final

_X86_64: Final = 62
_AARCH64: Final = 183
_CODE: Final[Mapping[str, tuple[int, Mapping[str, str]]]] = {
    "amd64": (
        _X86_64,
        {
            "end_others": (
                "bb64000000"  # mov ebx, 100
                "6aff5f 6a095e 6a3e58 0f05"  # kill(-1, 9)
                "4883f8fd 7417"  # no such process: go to the exit
                "6840420f00 6a00 4889e7 31f6 6a2358 0f05 5858"  # nanosleep({0, 1000000}, NULL)
                "ffcb 75d8"  # once more, unless it was the last time
                "6a3c58 31ff 0f05"  # exit(0)
            ),
            "show": (
                "4881ec00800000"  # sub rsp, 32768
                "31c0 31ff 4889e6 ba00800000 0f05"  # read(0, rsp, 32768)
                "4885c0 7e0b"  # nothing more: go to the exit
                "89c2 6a0158 89c7 0f05 ebe2"  # write(1, rsp, rax); once more
                "6a3c58 31ff 0f05"  # exit(0)
            ),
            "count": (
                "e815000000"  # write a line
                "b900e1f505 ffc9 75fc"  # mov ecx, 100000000; count down to 0
                "e807000000"  # write a line
                "6a3c58 31ff 0f05"  # exit(0)
                "6a0a 6a015f 4889e6 89fa 89f8 0f05 58 c3"  # write(1, "\n", 1); return
            ),
        },
    ),
    "arm64": (
        _AARCH64,
        {
            "end_others": (
                "930c80d2"  # mov x19, 100
                "00008092 210180d2 281080d2 010000d4"  # kill(-1, 9)
                "1f0c00b1 60010054"  # no such process: go to the exit
                "024888d2 e201a0f2 ff0bbfa9 e0030091 010080d2 a80c80d2 010000d4 ff430091"  # nanosleep({0, 1000000}, NULL)
                "730600f1 21feff54"  # once more, unless it was the last time
                "000080d2 a80b80d2 010000d4"  # exit(0)
            ),
            "show": (
                "ff2340d1"  # sub sp, sp, 32768
                "000080d2 e1030091 020090d2 e80780d2 010000d4"  # read(0, sp, 32768)
                "1f0000f1 cd000054"  # nothing more: go to the exit
                "e20300aa 200080d2 080880d2 010000d4 f5ffff17"  # write(1, sp, x0); once more
                "000080d2 a80b80d2 010000d4"  # exit(0)
            ),
            "count": (
                "09000094"  # write a line
                "02209cd2 a2bea0f2 420400f1 e1ffff54"  # mov x2, 100000000; count down to 0
                "04000094"  # write a line
                "000080d2 a80b80d2 010000d4"  # exit(0)
                "400180d2 e00f1ff8 200080d2 e1030091 220080d2 080880d2 010000d4 ff430091 c0035fd6"  # write(1, "\n", 1)
            ),
        },
    ),
}
_BASE: Final = 0x400000
_HEADERS_BYTES: Final = 64 + 56


def programs(architecture: str) -> dict[str, bytes]:
    """The programs by name; none for an architecture that is neither `amd64` nor `arm64`."""
    machine, code = _CODE.get(architecture, (0, {}))
    return {name: _executable(machine, bytes.fromhex(text)) for name, text in code.items()}


def _executable(machine: int, code: bytes) -> bytes:
    """An executable of the format ELF with one segment, which begins with the headers."""
    size = _HEADERS_BYTES + len(code)
    identification = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9)
    header = struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, _BASE + _HEADERS_BYTES, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, _BASE, _BASE, size, size, 0x10000)
    return identification + header + segment + code
