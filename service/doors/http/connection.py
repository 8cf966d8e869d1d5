"""One HTTP connection of uvicorn, with limits that uvicorn lacks.

head       at most `MAX_HEAD_BYTES`, within `head_timeout_s`; this holds for each request, not only for the first
trailers   count like the head
answer     if the caller reads none of it for several `head_timeout_s`, the connection is closed, not kept for ever
half-close a caller that has closed its side after its request is answered. It may also be gone: it is sent `100 Continue`,
           to which the system of a caller that is gone answers with a reset
no HTTP    is refused with problem+json, like all other errors
"""

import asyncio
import socket
from typing import Final

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from service.errors import BadRequest, RequestError, TooLarge
from service.limits import certificates
from service.wire import encode

CERTIFICATE: Final = "rewardline.certificate"
"""The extension of a request's scope with the name in the caller's certificate."""
CONNECTION: Final = "rewardline.connection"
"""The extension of a request's scope with its connection."""
MAX_HEAD_BYTES: Final = 65_536
_ANSWER_PATIENCE: Final = 4
"""The time without progress of an answer, in units of `head_timeout_s`. It is long, because a trainer may be busy with
other work for a while."""
_GONE_EVERY_S: Final = 0.25
"""How often a caller that has closed its side is looked after."""
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_TCP_CLOSED: Final = 7
"""The state of a reset connection (tcp_states.h)."""
_BETWEEN_BYTES: Final = 4
"""The bytes of a header beside name and value: colon, space, end of line."""


class HeadTooLarge(TooLarge):
    http_status = 431
    title = "Head too large"


class _TooLong(Exception):
    """Stops the parser from inside a callback."""


class Connection(HttpToolsProtocol):
    """A connection. Subclasses set how long it waits."""

    head_timeout_s: float
    _head_timer: asyncio.TimerHandle | None = None
    _answer_timer: asyncio.TimerHandle | None = None
    _gone_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _in_head = False
    _certificate: str | None = None
    """The name in the certificate that the caller showed."""
    _answered: RequestResponseCycle | None = None
    """The request that is answered now."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn narrows it too
        super().connection_made(transport)
        self._certificate = certificates.of_peer(transport.get_extra_info("peercert"))
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        self._stop_answer_timer()
        if self._gone_timer is not None:
            self._gone_timer.cancel()
        if self._answered is not None:  # uvicorn tells only the last of several pipelined requests
            self._answered.disconnected = True
            self._answered.message_event.set()
        self.pipeline.clear()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(HeadTooLarge(f"the head has more than {MAX_HEAD_BYTES} bytes"))
                return
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._await_head()

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn never keeps a half-closed connection
        """Whether to keep the connection for an answer."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete or cycle.more_body or self.transport.is_closing():
            return False
        cycle.keep_alive = False
        if self._answered is cycle and not cycle.response_started and cycle.scope["http_version"] == "1.1":
            self.transport.write(_CONTINUE)
        self._look_whether_gone()
        return True

    def _look_whether_gone(self) -> None:
        connected: socket.socket | None = self.transport.get_extra_info("socket")
        if connected is None or self.transport.is_closing():
            return
        if connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _TCP_CLOSED:
            self.transport.abort()
        else:
            self._gone_timer = self.loop.call_later(_GONE_EVERY_S, self._look_whether_gone)

    @property
    def unsent(self) -> int:
        """Bytes of answers that the caller has not read yet, if they are many."""
        return self.transport.get_write_buffer_size() if self.flow.write_paused else 0

    async def sent(self) -> None:
        """Wait until the caller has read most of its answers, or is gone."""
        await self.flow.drain()

    def on_message_begin(self) -> None:
        self._in_head, self._head_bytes = True, 0
        super().on_message_begin()
        self.scope["extensions"] = {CONNECTION: {"connection": self}}
        if self._certificate is not None:
            self.scope["extensions"][CERTIFICATE] = {"name": self._certificate}

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + _BETWEEN_BYTES)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_head_timer()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that the parser could not read."""
        if self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(HeadTooLarge(f"head and trailers have more than {MAX_HEAD_BYTES} bytes"))
        else:
            self._refuse(BadRequest(msg))

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_answer()

    def resume_writing(self) -> None:
        self._stop_answer_timer()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def _count(self, nbytes: int) -> None:
        self._head_bytes += nbytes
        if self._head_bytes > MAX_HEAD_BYTES:
            raise _TooLong

    def _refuse(self, error: RequestError) -> None:
        body = encode(error.problem())
        head = b"content-type: application/problem+json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[error.http_status] + head + body)
        self.transport.close()

    def _await_head(self) -> None:
        if self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(self.head_timeout_s, self.transport.close)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _watch_answer(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._stop_answer_timer()
        self._answer_timer = self.loop.call_later(_ANSWER_PATIENCE * self.head_timeout_s, self._give_up, waiting)

    def _give_up(self, waited: int) -> None:
        if self.transport.get_write_buffer_size() < waited:
            self._watch_answer()
        else:
            self.transport.abort()

    def _stop_answer_timer(self) -> None:
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None
