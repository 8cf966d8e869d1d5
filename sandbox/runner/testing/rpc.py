"""What tests and the judged program say to each other: each is in a process of its own, with two pipes between.

    tester                                               candidate
    ["get", target, name]
    ["set", target, name, value]
    ["delete", target, name]
    ["call", target, [argument, ...], {name: argument}]
    ["operate", operator, target, [operand, ...]]
    ["names"]
    ["keep classes"]                             ──►
                                                 ◄──     ["value", value, changed, printed]
                                                 ◄──     ["error", error, changed, printed]
                                                 ◄──     ["call back", number, [argument, ...], {...}, printed]
    ["value", value] | ["error", error]          ──►     answers a call back; may be preceded by requests

A message is a big-endian u32 length and so many bytes of JSON. Values are images as in `sandbox.runner.values.encoding`, with
a few more tags. What cannot be copied stays where it is, behind a number; the candidate's number 0 is its module:

    object: [number, type name, kind]                            the candidate's; kind is one of `Kind`
    exception class: [number, name, module, [class, ...]]        the candidate's, with its bases
    exception: error                                             an instance
    builtin: name                                                a class; towards the candidate also a function
    callable: number                                             the tester's, to be called back
    lent: [number, class]    lent class: [number, name, [special method, ...]]
                                                                 objects of the tester's own classes, and those; each is
                                                                 called back too. From the candidate: lent: number
    argument: position                                           of a result: the very argument that stood there

`changed` are [position, value] of the arguments a call has changed; keyword arguments count on after the positional
ones. `printed` is [standard output, standard error], or null. An error is

    {"class": class, "arguments": [value, ...], "text": str(error), "number": its own}   or
    {"raised": number}                                what a call back raised in the tester, come back to it
"""

import os
import struct
from enum import StrEnum
from typing import Any, Final

from sandbox.runner.values.encoding import MAX_BYTES, Image, Undecodable, dumped, parsed

_LENGTH: Final = struct.Struct("!I")
_PIECE_BYTES: Final = 1 << 16


class Kind(StrEnum):
    """What can be done with an object behind a number."""

    CLASS = "class"
    CALLABLE = "callable"
    ITERATOR = "iterator"
    COROUTINE = "coroutine"
    OTHER = "other"


class Broken(Exception):
    """The other side is gone, or speaks something else."""


class RpcChannel:
    """Messages over two blocking descriptors."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._received = bytearray()

    def send(self, message: Image) -> None:
        """Send one message.

        Raises:
            Broken: nobody reads it.
        """
        self.send_text(dumped(message))

    def send_text(self, text: bytes) -> None:
        """Send a message that is JSON already."""
        rest = memoryview(_LENGTH.pack(len(text)) + text)
        try:
            while rest:
                rest = rest[os.write(self._sink, rest) :]
        except OSError as error:
            raise Broken("nobody reads") from error

    def receive(self) -> list[Any]:
        """The next message: some list.

        Raises:
            Broken: there is none, or something else came.
        """
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if length > MAX_BYTES:
            raise Broken("a message too long")
        try:
            message = parsed(self._exactly(length))
        except Undecodable as error:
            raise Broken("not a message") from error
        if type(message) is not list:
            raise Broken("not a message")
        return message

    def _exactly(self, count: int) -> bytes:
        received = self._received
        while len(received) < count:
            received += self._piece()
        data = bytes(received[:count])
        del received[:count]
        return data

    def _piece(self) -> bytes:
        try:
            piece = os.read(self._source, _PIECE_BYTES)
        except OSError as error:
            raise Broken("nobody writes") from error
        if not piece:
            raise Broken("nobody writes")
        return piece
