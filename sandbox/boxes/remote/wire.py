"""The format between a service and its box hosts.

It is one order as MessagePack, then frames, each with its length before it.

order         program and runs
result        of the next run, in their order
alive         nothing new, but the host is there: every `ALIVE_S`
built         the end: whether the program could be loaded
unavailable   the end: nothing is known about the program
"""

from typing import Final

import msgspec

from sandbox.base import Built, Call, Execute, Program, Run, RunResult, SandboxUnavailable, Tests

PATH: Final = "/v1/boxes/runs"
MEDIA: Final = "application/x-msgpack"
ALIVE_S: Final = 5.0
MAX_FRAME_BYTES: Final = 256 << 20
"""Far more than any run may write."""
HEAD_BYTES: Final = 4


class _Execute(msgspec.Struct, tag="execute"):
    run: Execute


class _Call(msgspec.Struct, tag="call"):
    run: Call


class _Tests(msgspec.Struct, tag="tests"):
    run: Tests


class _Order(msgspec.Struct):
    program: Program
    runs: list[_Execute | _Call | _Tests]


class Result(msgspec.Struct, tag="result"):
    result: RunResult


class Alive(msgspec.Struct, tag="alive"):
    pass


class End(msgspec.Struct, tag="built"):
    built: Built


class Unavailable(msgspec.Struct, tag="unavailable"):
    message: str
    reason: str

    def error(self) -> SandboxUnavailable:
        return SandboxUnavailable(self.message, self.reason)


Frame = Result | Alive | End | Unavailable

_order_decoder = msgspec.msgpack.Decoder(_Order)
_frame_decoder: msgspec.msgpack.Decoder[Frame] = msgspec.msgpack.Decoder(Frame)
_encode = msgspec.msgpack.Encoder().encode


class MalformedFrame(Exception):
    """Bytes that are not in this format."""


def encode_order(program: Program, runs: list[Run]) -> bytes:
    return _encode(_Order(program, [_wrapped(run) for run in runs]))


def decode_order(body: bytes) -> tuple[Program, list[Run]]:
    """Decode an order.

    Raises:
        MalformedFrame: see there.
    """
    try:
        order = _order_decoder.decode(body)
    except msgspec.MsgspecError as error:
        raise MalformedFrame(str(error)) from error
    return order.program, [wire_run.run for wire_run in order.runs]


def encode_frame(frame: Frame) -> bytes:
    body = _encode(frame)
    return len(body).to_bytes(HEAD_BYTES, "big") + body


def length_in(head: bytes) -> int:
    """The length of the frame after this head.

    Raises:
        MalformedFrame: no frame may be so long.
    """
    length = int.from_bytes(head, "big")
    if length > MAX_FRAME_BYTES:
        raise MalformedFrame(f"a frame of {length} bytes; at most {MAX_FRAME_BYTES} are allowed")
    return length


def decode_frame(body: bytes) -> Frame:
    """Decode the body of a frame.

    Raises:
        MalformedFrame: see there.
    """
    try:
        return _frame_decoder.decode(body)
    except msgspec.MsgspecError as error:
        raise MalformedFrame(str(error)) from error


def _wrapped(run: Run) -> _Execute | _Call | _Tests:
    match run:
        case Execute():
            return _Execute(run)
        case Call():
            return _Call(run)
        case Tests():
            return _Tests(run)
