"""The protocol between a box and the service: frames of a JSON header and a body of bytes.

    u32 header length | u32 body length | header: one JSON object, UTF-8 | body          both lengths big-endian

One job is in a box at a time. The service asks; the runner answers each request once, in order. Requests may be sent
before earlier ones are answered. What a box sends is not trusted: the service bounds both lengths. The field `ask` or
`answer` of a header names its kind. The other fields are:

    ask                                                   body                         answer

    (none: sent by the runner when it is ready)                                        hello
    load   mode: "python" | "exec"                        the files, one after         loaded
           files: [[path, bytes], ...]                    the other
           main: path of the source among them
           compile: null | {argv, limits}
           argv: [...]                     of each run
           keep: [path, ...]               to send back
           environment: {name: value}
           data_limit: bool                RLIMIT_DATA
           handles_children: bool          its programs may change the SIGCHLD handler
           has_tests: bool                 there may be tests among its runs
           core: int | null                the processor that the job is pinned to, an index into the available ones
    execute  limits, arguments, stdin: bytes,             files, then stdin            result
             files: [[path, bytes], ...], fetch: [path, ...],
             waits: bool, more of stdin comes
             last: bool, no run of the job follows
    input                                                 the rest of the stdin of     none; dropped if the run has
                                                          the run that waits           ended, which is then "killed"
    call   limits, function, last                         [positional, keywords]       result
    tests  limits                                         {style, cases, .., seal}     result
    unload                                                                             unloaded
    ping                                                                               pong

    hello     protocol: PROTOCOL, python: "3.11.2", pid, uid, single_uid: bool, preloaded: [module, ...],
              programs: [name, ...] of those in the configuration, the ones on the PATH
    loaded    ok, message, compile: null | a result without lengths; kept: [[path, bytes], ...]
                                                           body: the kept files
    result    code: int | null, signal: int, ended: null | "cpu" | "wall" | "memory" | "output" | "file_size" | "killed"
              | "starved", cpu_s, wall_s, delay_s, peak_kb, left: processes it left behind,
              stdout, stderr, value, tests: lengths in bytes (value and tests: null when there is none),
              fetched: [[path, bytes], ...]                body: stdout, stderr, value, tests, fetched, in this order
    unloaded  dirty: number of files found outside the job's own directories and removed

`limits` is {cpu_s, wall_s, memory_mb, processes, file_mb, output_bytes, stderr_bytes}. `tests` of a result are lines of
JSON, see `sandbox.runner.testing.outcomes`. In argv, `{program}` stands for the directory of the program's files, which
runs cannot write to. "killed" and "starved" mean that the run came to no end of its own, so it has no verdict. When the
runner cannot repair something (such as a box that it cannot empty or clean), it exits with `EXIT_BOX_UNUSABLE`, and the
box is destroyed.
"""

import json
import os
import struct
from typing import Any, Final

PROTOCOL: Final = 1
EXIT_BOX_UNUSABLE: Final = 70
LENGTHS: Final = struct.Struct("!II")
MAX_HEADER_BYTES: Final = 1 << 20
MAX_BODY_BYTES: Final = 512 << 20
_encode: Final = json.JSONEncoder(separators=(",", ":")).encode


class Closed(Exception):
    """The other end is gone."""


def packed(header: dict[str, Any], body: bytes = b"") -> bytes:
    """Encode one frame."""
    text = _encode(header).encode()
    return LENGTHS.pack(len(text), len(body)) + text + body


def lengths(data: bytes) -> tuple[int, int]:
    """The lengths of header and body in the first eight bytes of a frame.

    Raises:
        Closed: they are larger than any frame may be.
    """
    header, body = LENGTHS.unpack(data)
    if header > MAX_HEADER_BYTES or body > MAX_BODY_BYTES:
        raise Closed(
            f"a frame of {header} and {body} bytes; at most {MAX_HEADER_BYTES} and {MAX_BODY_BYTES} are allowed"
        )
    return header, body


def send(descriptor: int, header: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame to a blocking descriptor."""
    unsent = memoryview(packed(header, body))
    while unsent:
        unsent = unsent[os.write(descriptor, unsent) :]


def receive_header(descriptor: int) -> tuple[dict[str, Any], int]:
    """Read the next header. Returns it and the number of body bytes that follow, which are still to be read."""
    header_bytes, body_bytes = lengths(receive_exactly(descriptor, LENGTHS.size))
    header: dict[str, Any] = json.loads(receive_exactly(descriptor, header_bytes).decode())
    return header, body_bytes


def receive_exactly(descriptor: int, count: int) -> bytes:
    """Read this many bytes from a blocking descriptor.

    Raises:
        Closed: the stream ended before.
    """
    piece = os.read(descriptor, count)
    if len(piece) == count:  # nearly always
        return piece
    data = bytearray()
    while piece:
        data += piece
        if len(data) == count:
            return bytes(data)
        piece = os.read(descriptor, count - len(data))
    raise Closed("end of stream")
