"""The standard input of a run that has begun before all of its input is known: a pipe that the runner fills."""

import os
from typing import Final

from sandbox.runner import frames
from sandbox.runner.errors import BoxUnusable

_PIECE_BYTES: Final = 1 << 16


class LaterInput:
    """The runner's end of such a pipe. Writing never waits, whatever the run reads."""

    __slots__ = ("_rest", "descriptor", "inner", "is_complete")

    def __init__(self, data: bytes) -> None:
        """Begin with what is known."""
        self.inner, self.descriptor = os.pipe2(os.O_CLOEXEC)
        """`inner` becomes the run's descriptor 0."""
        os.set_blocking(self.descriptor, False)
        self._rest = memoryview(data)
        self.is_complete = False
        """Whether all of the input is known."""

    def receive(self, source: int) -> None:
        """Read the rest of the input from the service.

        Raises:
            BoxUnusable: the service asks for something else.
            Closed: the service is gone.
        """
        header, length = frames.receive_header(source)
        if header["ask"] != "input":
            raise BoxUnusable(f"{header['ask']!r} while a run waits for its input")
        self._rest = memoryview(bytes(self._rest) + (frames.receive_exactly(source, length) if length else b""))
        self.is_complete = True

    def write(self) -> bool:
        """Write what the pipe takes at once. True: there is more to write."""
        try:
            count = os.write(self.descriptor, self._rest[:_PIECE_BYTES]) if self._rest else 0
        except BlockingIOError:
            return True
        except BrokenPipeError:  # the run has closed its input, or has ended
            count = len(self._rest)
        self._rest = self._rest[count:]
        return bool(self._rest)
