"""The service's end of the connection to a runner: sends questions, receives answers in order.

    ask ──► frames ──► socket ──► runner
    on_answer ◄── answer ◄── frames ◄── (Docker's attach format, standard error taken out) ◄── socket

What comes from a box is not trusted. Each length is checked against what the oldest open question allows before a byte
of it is kept. Each answer is parsed into a type. An answer without a question is an error. After an error, or at the
end of the stream, the link is lost: it tells its owner, and sends nothing more to the box.

Answers are delivered in callbacks from the event loop: no task, future or queue stands between one run and the next.
"""

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Iterator
from struct import Struct
from typing import Final, Generic, TypeVar

from sandbox.runner.frames import LENGTHS, MAX_HEADER_BYTES

MAX_STDERR_BYTES: Final = 8 << 10
"""How many of the last bytes of a box's standard error are kept."""

_READ_BYTES: Final = 64 << 10
_READS_AT_ONCE: Final = 256
"""More reads than any closed socket has data for; also the bound for a box that never stops sending."""
_ATTACHED: Final = Struct("!B3xI")
_ATTACHED_STDOUT: Final = 1
_ATTACHED_STDERR: Final = 2

AnswerT = TypeVar("AnswerT")


class Malformed(Exception):
    """The box sent something that the protocol does not allow at this point."""


class Question(Generic[AnswerT]):
    """One frame to the runner, and the callback for its answer."""

    __slots__ = ("frame", "max_body_bytes", "on_answer", "read")

    def __init__(
        self,
        frame: bytes,
        read: Callable[[bytes, bytes], AnswerT],
        on_answer: Callable[[AnswerT], None],
        max_body_bytes: int = 0,
    ) -> None:
        self.frame = frame
        self.read = read
        """Parses header and body of the answer; raises `Malformed`."""
        self.on_answer = on_answer
        self.max_body_bytes = max_body_bytes

    def answer(self, header: bytes, body: bytes) -> None:
        self.on_answer(self.read(header, body))


class Link:
    """One connection to a runner. Call `close` before you close the socket."""

    def __init__(self, connection: socket.socket, *, is_multiplexed: bool = False) -> None:
        self._on_lost: Callable[[str], None] = _unheard
        self._loss: str | None = None
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._attached = _Attached() if is_multiplexed else None
        self._questions: deque[Question[object]] = deque()
        self._incoming = bytearray()
        self._wanted_bytes = LENGTHS.size
        self._outgoing: deque[memoryview] = deque()
        self._open = True
        self._loop.add_reader(connection, self._read)

    @property
    def stderr_text(self) -> str:
        """The last bytes of the box's standard error, if the connection carries it."""
        return "" if self._attached is None else bytes(self._attached.stderr).decode(errors="replace")

    def when_lost(self, tell: Callable[[str], None]) -> None:
        """Set the callback that gets the reason when the far side is gone or has sent something malformed.

        If that has happened already, the callback runs soon: a box may die while it changes hands. No callback runs
        after `close`.
        """
        self._on_lost = tell
        if self._loss is not None:
            self._loop.call_soon(self._tell_late, tell)

    def ask(self, question: Question[AnswerT]) -> None:
        """Send a frame.

        Its answer is delivered after the answers to all earlier questions. On a lost link, do nothing.
        """
        if not self._open:
            return
        self._questions.append(question)  # type: ignore[arg-type]  # each is only ever given its own answer
        self._send(question.frame)

    def tell(self, frame: bytes) -> None:
        """Send a frame that has no answer. On a lost link, do nothing."""
        if self._open:
            self._send(frame)

    def close(self) -> None:
        """Stop listening."""
        self._on_lost = _unheard
        self._loss = None
        if self._open:
            self._shut()

    def _shut(self) -> None:
        self._open = False
        self._loop.remove_reader(self._connection)
        if self._outgoing:
            self._loop.remove_writer(self._connection)
        self._outgoing.clear()
        self._questions.clear()
        self._incoming.clear()

    def _lose(self, reason: str) -> None:
        self._shut()
        self._loss = reason
        self._on_lost(reason)

    def _tell_late(self, tell: Callable[[str], None]) -> None:
        if self._loss is not None and self._on_lost is tell:
            tell(self._loss)

    def _send(self, frame: bytes) -> None:
        unsent = memoryview(frame)
        if not self._outgoing:
            unsent = unsent[self._sent(unsent) :]
            if not unsent:
                return
            self._loop.add_writer(self._connection, self._write)
        self._outgoing.append(unsent)

    def _write(self) -> None:
        while self._outgoing:
            head = self._outgoing[0]
            count = self._sent(head)
            if count < len(head):
                self._outgoing[0] = head[count:]
                return
            self._outgoing.popleft()
        self._loop.remove_writer(self._connection)

    def _sent(self, data: memoryview) -> int:
        """How many bytes could be sent now.

        When the far side is gone, report all bytes as sent: what it said before is still to be read, and then the end.
        """
        try:
            return self._connection.send(data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            return len(data)

    def _read(self) -> None:
        """Read until nothing is left: after an error on the socket, uvloop calls this only once."""
        for _ in range(_READS_AT_ONCE):
            try:
                data = self._connection.recv(_READ_BYTES)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._lose(f"the connection broke: {error}")
                return
            if not data:
                self._lose("the connection was closed")
                return
            try:
                self._take(data)
            except Malformed as error:
                self._lose(f"malformed: {error}")
            if not self._open:
                return

    def _take(self, data: bytes) -> None:
        if self._attached is None:
            self._incoming += data
        else:
            for piece in self._attached.pieces(data):
                self._incoming += piece
        if len(self._incoming) >= self._wanted_bytes:
            self._answer_whole_frames()

    def _answer_whole_frames(self) -> None:
        start = 0
        incoming = self._incoming
        while self._open and len(incoming) - start >= LENGTHS.size:
            header_bytes, body_bytes = self._checked(*LENGTHS.unpack_from(incoming, start))
            header_start = start + LENGTHS.size
            body_start = header_start + header_bytes
            end = body_start + body_bytes
            if len(incoming) < end:
                break
            view = memoryview(incoming)
            header, body = bytes(view[header_start:body_start]), bytes(view[body_start:end])
            view.release()
            start = end
            self._questions.popleft().answer(header, body)
        del incoming[:start]
        self._wanted_bytes = LENGTHS.size
        if self._open and len(incoming) >= LENGTHS.size:
            self._wanted_bytes += sum(LENGTHS.unpack_from(incoming))

    def _checked(self, header_bytes: int, body_bytes: int) -> tuple[int, int]:
        if not self._questions:
            raise Malformed("an answer without a question")
        allowed = self._questions[0].max_body_bytes
        if header_bytes > MAX_HEADER_BYTES or body_bytes > allowed:
            raise Malformed(
                f"a header of {header_bytes} and a body of {body_bytes} bytes; allowed are"
                f" {MAX_HEADER_BYTES} and {allowed}"
            )
        return header_bytes, body_bytes


class _Attached:
    """Parser of a stream in Docker's attach format.

    Each part is: stream number, three zero bytes, length, that many bytes.
    """

    __slots__ = ("_head", "_rest_bytes", "_stream", "stderr")

    def __init__(self) -> None:
        self._head = b""
        self._rest_bytes = 0
        self._stream = 0
        self.stderr = bytearray()

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield the parts of `data` that the runner wrote on its standard output.

        The end of its standard error is kept in `stderr`.
        """
        start = 0
        while start < len(data):
            if self._rest_bytes == 0:
                start += self._begin(data[start : start + _ATTACHED.size - len(self._head)])
                continue
            piece = data[start : start + self._rest_bytes]
            start += len(piece)
            self._rest_bytes -= len(piece)
            if self._stream == _ATTACHED_STDOUT:
                yield piece
            else:
                self.stderr += piece
                del self.stderr[:-MAX_STDERR_BYTES]

    def _begin(self, piece: bytes) -> int:
        self._head += piece
        if len(self._head) == _ATTACHED.size:
            self._stream, self._rest_bytes = _ATTACHED.unpack(self._head)
            if self._stream not in (_ATTACHED_STDOUT, _ATTACHED_STDERR) or any(self._head[1:4]):
                raise Malformed(f"not the head of a part in Docker's attach format: {self._head.hex()}")
            self._head = b""
        return len(piece)


def _unheard(_reason: str) -> None:
    """The default: nobody listens yet."""
