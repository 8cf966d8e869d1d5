"""What the service and a worker say to each other, and how the service and the zygote talk.

    question   body bytes · number · task index            then the payload as msgpack
    answer     body bytes · number · code · peak RSS · CPU   then the value as msgpack, or a message as UTF-8

A worker answers questions in the order of their numbers, from 1 on; its answer 0 says that it is ready (HELLO), or
why it cannot be (RAISED). Every length is checked before anything is read.
"""

from struct import Struct
from typing import Any, Final

import msgspec

from sandbox.workers.base import Exit

QUESTION: Final = Struct("<IIH")
ANSWER: Final = Struct("<IIBxxxId")
"""Peak RSS in kB; CPU in seconds since the worker was forked."""

EXITS: Final = tuple(Exit)
CODES: Final = {name: code for code, name in enumerate(EXITS)}
HELLO: Final = 255

MAX_MESSAGE_BYTES: Final = 4096
MAX_PAYLOAD_BYTES: Final = 256 * 1024 * 1024

EXIT_MEMORY: Final = 113
"""Exit status of a worker that had not even the memory to say so."""

ORDER: Final = Struct("<BQ")
"""To the zygote: what to do, and the worker's number."""
FORK: Final = 1
"""Make it; its end of a socket pair comes with this message."""
END: Final = 2
"""Kill it, where the service has no pidfd to do so itself."""

PACKET_BYTES: Final = 65536
"""Largest message between service and zygote."""


class Order(msgspec.Struct, array_like=True):
    """What a zygote is started with."""

    tasks: list[tuple[str, str, list[Any], int]]
    """Module, function, warm payloads, the most bytes of a result."""
    memory_mb: int


class Ready(msgspec.Struct, tag=True, array_like=True):
    """The zygote has imported and warmed every task."""


class Broken(msgspec.Struct, tag=True, array_like=True):
    """The zygote cannot start, and ends."""

    message: str


class Forked(msgspec.Struct, tag=True, array_like=True):
    """A worker exists; its pidfd comes with this message, if the kernel has pidfds."""

    number: int
    pid: int


class Refused(msgspec.Struct, tag=True, array_like=True):
    """The system would not fork."""

    number: int
    message: str


class Ended(msgspec.Struct, tag=True, array_like=True):
    """A worker is dead and reaped; `status` as os.waitpid gives it."""

    number: int
    status: int


Report = Ready | Broken | Forked | Refused | Ended
