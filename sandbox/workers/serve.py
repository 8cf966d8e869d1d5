"""The main loop of a worker: reads a question, calls the function, answers; until the service or a limit ends it."""

import os
import resource
import socket
import time
from collections import deque
from collections.abc import Sequence
from typing import NoReturn

import msgspec

import memory
from sandbox.workers.base import Exit
from sandbox.workers.confine import confine
from sandbox.workers.frames import ANSWER, CODES, EXIT_MEMORY, FORGET, HALVE, HELLO, MAX_MESSAGE_BYTES, QUESTION
from sandbox.workers.functions import Function

_READ_BYTES = 262144
_MAX_ERROR_CHARS = 500
_MAX_FRAMES = 8
_RSS_EVERY_ITEMS = 64
_RSS_AFTER_CPU_S = 0.001
_WATCH_AFTER_CPU_S = 0.05
_GROWTH_BYTES = 16_000_000
_MOST_GROWTH_BYTES = 96_000_000
"""Beyond this growth since its fork a worker halves its memories. The pool replaces one that grows much further."""


def serve(
    connection: socket.socket, functions: Sequence[Function], memory_mb: int, output_bytes: Sequence[int]
) -> NoReturn:
    """Answer questions until the service closes its end. Never returns: a worker exits without any clean-up of its own.

    `output_bytes[i]` bounds the result of `functions[i]`.
    """
    try:
        confine(memory_mb)
    except OSError as error:
        _send(connection, 0, CODES[Exit.RAISED], _Sizes(), 0.0, describe(error))
        os._exit(1)
    try:
        _answer_all(connection, functions, output_bytes)
    except MemoryError:
        os._exit(EXIT_MEMORY)
    except OSError:  # the service is gone, or has closed this connection
        pass
    os._exit(0)


def _answer_all(connection: socket.socket, functions: Sequence[Function], output_bytes: Sequence[int]) -> None:
    sizes = _Sizes()
    cpu_s = time.process_time()
    _send(connection, 0, HELLO, sizes, cpu_s, b"")
    served = 0
    pending = bytearray()
    while chunk := connection.recv(_READ_BYTES):
        pending += chunk
        start = 0
        while len(pending) - start >= QUESTION.size:
            body_bytes, number, task = QUESTION.unpack_from(pending, start)
            end = start + QUESTION.size + body_bytes
            if end > len(pending):
                break
            payload = bytes(memoryview(pending)[start + QUESTION.size : end])
            start = end
            if task & FORGET:
                task -= FORGET
                memory.forget()
            if task & HALVE:
                task -= HALVE
                memory.halve()
            exit_, body = _answer(functions[task], payload, output_bytes[task])
            now_s = time.process_time()
            served += 1
            if served % _RSS_EVERY_ITEMS == 0 or now_s - cpu_s > _RSS_AFTER_CPU_S:
                sizes.look(now_s, is_due=served % _RSS_EVERY_ITEMS == 0)
            cpu_s = now_s
            _send(connection, number, CODES[exit_], sizes, cpu_s, body)
            if exit_ is Exit.MEMORY_LIMIT:  # the heap may be in a bad state: it must not run the next item
                os._exit(EXIT_MEMORY)
        del pending[:start]


def _answer(function: Function, payload: bytes, output_bytes: int) -> tuple[Exit, bytes]:
    try:
        value = function(msgspec.msgpack.decode(payload))
    except MemoryError:
        return Exit.MEMORY_LIMIT, b""
    except BaseException as error:  # noqa: BLE001 - sys.exit() in a task must not end the worker; all are reported
        return Exit.RAISED, describe(error)
    try:
        if isinstance(value, str | bytes | bytearray) and len(value) > output_bytes:
            return Exit.OUTPUT_LIMIT, b""
        body = msgspec.msgpack.encode(value)
    except MemoryError:  # the encoded result takes more memory than is left, so more than `output_bytes`
        return Exit.OUTPUT_LIMIT, b""
    except Exception as error:  # noqa: BLE001 - a value's own methods may raise anything; all are reported
        return Exit.RAISED, describe(error)
    if len(body) > output_bytes:
        return Exit.OUTPUT_LIMIT, b""
    return Exit.OK, body


def describe(error: BaseException) -> bytes:
    """`TypeName: text` and the innermost lines of the traceback, as UTF-8 of bounded length. Never fails."""
    try:
        text = str(error)[:_MAX_ERROR_CHARS]
    except Exception:  # noqa: BLE001 - __str__ is the error's own code
        text = "(its text cannot be read)"
    frames: deque[str] = deque(maxlen=_MAX_FRAMES)
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"\n  {code.co_filename[-200:]}:{trace.tb_lineno} {code.co_name[:100]}")
        trace = trace.tb_next
    message = f"{type(error).__name__}: {text}"[:_MAX_ERROR_CHARS] + "".join(frames)
    return message.encode("utf-8", "replace")[:MAX_MESSAGE_BYTES]


def _send(connection: socket.socket, number: int, code: int, sizes: "_Sizes", cpu_s: float, body: bytes) -> None:
    head = ANSWER.pack(len(body), number, code, sizes.peak_kb, sizes.memories_kb, cpu_s)
    connection.sendall(head + body)


class _Sizes:
    """How large this worker is, and what its memories hold."""

    def __init__(self) -> None:
        self._watch = memory.Watch(growth_bytes=_GROWTH_BYTES, bound_bytes=memory.resident_bytes() + _MOST_GROWTH_BYTES)
        self._watched_s = 0.0
        self.peak_kb = _peak_rss_kb()
        self.memories_kb = memory.total_bytes() >> 10

    def look(self, now_s: float, *, is_due: bool) -> None:
        """Look at the sizes after an item, and at the memories if that is due. `now_s` is the CPU time of this process."""
        self.peak_kb = _peak_rss_kb()
        memory.drop_overfull()
        if is_due or now_s - self._watched_s > _WATCH_AFTER_CPU_S:
            self._watched_s = now_s
            self._watch.check()
            self.memories_kb = memory.total_bytes() >> 10


def _peak_rss_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
