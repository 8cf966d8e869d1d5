"""The messages between tests and the judged program, each in a process of its own, with two pipes between them.

    tester                                               candidate
    ["get", target, name]
    ["set", target, name, value]    ["set item", target, key, value]
    ["delete", target, name]
    ["call", target, [argument, ...], {name: argument}]
    ["operate", operator, target, [operand, ...]]
    ["names"]
    ["keep containers", arguments too]
    ["update", number, value]                            no answer
    ["share", [[number, value], ...]]                    no answer
    ["changes"]    ["define", name, [base, ...]]
    ["describe", class]                                              ──►
                                                 ◄──     ["value", value, changed, printed]
                                                 ◄──     ["error", error, changed, printed]
                                                 ◄──     ["call back", number, [argument, ...], {...}, printed]
    ["value", value, changed] | ["error", error] ──►     answers a call back; requests may come before it

A message is a big-endian u32 length and that many bytes of JSON. Values are images as in
`sandbox.runner.values.encoding`, with a few more tags. An object that cannot be copied stays where it is, and is known
by a number; the candidate's number 0 is its module. Each class is described once, when its first object comes, as
[name, [own special method, ...], {special method: whether it is not None}, plain base | "", [class, ...], [[module, name], ...],
whether it is of the standard library]; "own" are those that its plain base does not have:

    object: [number, class]    class: number                     the candidate's
    value: [number, class, value]                                an object of a class derived from an immutable plain type
    exception class: [number, name, module, [class, ...]]        the candidate's, with its bases
    exception: error                                             an instance
    builtin: name                                                a class; towards the candidate also a function
    module: name                                                 of a library; from the tester only
    not implemented: null                                        what a special method may return
    table class: [numpy | pandas, name]                          the same class in the tester's process
    slice: [start, stop, step]                                   the tester's, as an index
    callable: [number, name, text, parameters]                   the tester's; the candidate sends the number alone
    callable: number                                             the tester's, to be called back
    lent: [number, class]    lent class: [number, name, [special method, ...], base, ...]
                                                                 an object of the tester's own classes, or such a class;
                                                                 called back too. From the candidate: lent: number
    named class: [name, [field, ...], [default, ...]]            a class of named tuples that the tester has made
    iterator: number                                             the tester's, called back for each item; back as lent
    kept: [number, value]                                        the candidate's container, which tests may change
    new: [label, value]                                          the tester's, put into one of the candidate's
    same: number                                                 a container that was told before, see `identity`
    shared: [number, value] | [number]                           the tester's, which both have, see `lent_containers`

`parameters` is null, "method" for one of a tests' own class, or [[name, ...], [positional, positional only, keyword only, *args, **kwargs], defaults, defaults by
name, annotations]. `changed` is a list of [number, value] for the containers in the arguments that a call has changed; those of the candidate
are known by the negative of their number, and [-number] is known no more. [number, null, own number] is an argument
that has such a number from then on, ["shared", [[number, value], ...]] what the program changed in such containers, and ["new", label, own number] a container that an update has brought. `printed` is [standard output, standard error], or null. An error is

    {"class": class, "arguments": [value, ...], "text": str(error), "number": its own}   or
    {"raised": number}                                an exception that a call back raised in the tester, sent back
"""

import os
import struct
from typing import Any, Final

from sandbox.runner.values.encoding import MAX_BYTES, Image, Undecodable, dumped, parsed

_LENGTH: Final = struct.Struct("!I")
_PIECE_BYTES: Final = 1 << 16


class Broken(Exception):
    """The other side is gone, or sends something else than messages."""


class RpcChannel:
    """Messages over two blocking descriptors."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._received = bytearray()
        self.largest = 0
        """The length of the longest message that has come."""

    def send(self, message: Image) -> None:
        """Send one message.

        Raises:
            Broken: no process reads it.
        """
        self.send_text(dumped(message))

    def send_text(self, text: bytes) -> None:
        """Send a message that is encoded as JSON already."""
        unsent = memoryview(_LENGTH.pack(len(text)) + text)
        try:
            while unsent:
                unsent = unsent[os.write(self._sink, unsent) :]
        except OSError as error:
            raise Broken("no process reads any more") from error

    def receive(self) -> list[Any]:
        """The next message: a list of anything.

        Raises:
            Broken: there is none, or something else came.
        """
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if length > MAX_BYTES:
            raise Broken(f"a message of {length} bytes; at most {MAX_BYTES} are allowed")
        self.largest = max(self.largest, length)
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
            raise Broken("no process writes any more") from error
        if not piece:
            raise Broken("no process writes any more")
        return piece
