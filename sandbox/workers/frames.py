"""The formats of messages between the service and a worker, and between the service and the zygote.

    question   body bytes · number · task index            then the payload as msgpack; FORGET and HALVE may be added to the index
    answer     body bytes · number · code · sizes · CPU      then the value as msgpack, or a message as UTF-8

A worker answers questions in the order of their numbers, from 1 on. Its answer 0 says that it is ready (HELLO), or why
it cannot be (RAISED). Every length is checked before anything is read.
"""

from struct import Struct
from typing import Any, Final

import msgspec

from sandbox.workers.base import Exit

QUESTION: Final = Struct("<IIH")
FORGET: Final = 0x8000
"""Added to the task index: the worker forgets first what it remembers of others' texts."""
HALVE: Final = 0x4000
"""Added to the task index: the worker drops half of what it remembers first."""
ANSWER: Final = Struct("<IIBxxxIId")
"""Peak RSS and what is remembered, in kB; CPU in seconds since the worker was forked."""

EXITS: Final = tuple(Exit)
CODES: Final = {name: code for code, name in enumerate(EXITS)}
HELLO: Final = 255

MAX_MESSAGE_BYTES: Final = 4096
MAX_PAYLOAD_BYTES: Final = 256 * 1024 * 1024

EXIT_MEMORY: Final = 113
"""Exit status of a worker that ran out of memory so far that it could not even report it."""

ORDER: Final = Struct("<BQ")
"""Service to zygote: the action, and the worker's number."""
FORK: Final = 1
"""Fork the worker. Its end of a socket pair comes with this message."""
END: Final = 2
"""Kill the worker, when the service has no pidfd to do it itself."""

PACKET_BYTES: Final = 65536
"""Largest message between service and zygote."""


class Order(msgspec.Struct, array_like=True):
    """What a zygote is to load: a file, whose descriptor comes over its control."""

    tasks: list[tuple[str, str, list[Any], int]]
    """Module, function, warm payloads, the largest result in bytes."""
    memory_mb: int
    is_early: bool = False
    """Whether the order of all tasks follows, and these are loaded while the service makes it."""


class Ready(msgspec.Struct, tag=True, array_like=True):
    """The zygote has imported and warmed every task."""


class Broken(msgspec.Struct, tag=True, array_like=True):
    """The zygote cannot start, and exits."""

    message: str


class Forked(msgspec.Struct, tag=True, array_like=True):
    """A worker exists; its pidfd comes with this message, if the kernel has pidfds."""

    number: int
    pid: int


class Refused(msgspec.Struct, tag=True, array_like=True):
    """The system refused to fork."""

    number: int
    message: str


class Ended(msgspec.Struct, tag=True, array_like=True):
    """A worker is dead and reaped. `status` is what os.waitpid returned."""

    number: int
    status: int


Report = Ready | Broken | Forked | Refused | Ended
