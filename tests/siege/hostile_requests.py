"""Requests that are meant to bring the service down, over both doors: what is sent, and what must come back.

An answer is named by its status: that of HTTP, the code of gRPC, `closed` for a connection that ends without one, or
`invalid` for a batch whose items are. Several in a row mean that each of them will do.
"""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import zstandard
from rewardline.pb import rewardline_pb2 as pb

MB: Final = 1_000_000
BODY: Final = 60 * MB
MESSAGE: Final = 15 * MB
"""What gRPC lets through."""
SCORE: Final = "/v1/score"
ITEM: Final = b'{"verifier":"%s","response":"1","reference":%s}'


@dataclass(frozen=True, slots=True)
class Hostile:
    name: str
    answers: tuple[str, ...]
    body: Callable[[], bytes]
    """Made when it is sent: all bodies together would take gigabytes."""
    path: str = SCORE
    """Of HTTP; for gRPC the method; the lines of the head if that is what is hostile."""
    encoding: Literal["identity", "gzip", "zstd"] = "identity"
    how: Literal["http", "grpc", "half-closed", "cut", "chunked", "raw", "head"] = "http"

    def packed(self) -> bytes:
        body = self.body()
        if self.encoding == "gzip":
            return gzip.compress(body)
        return zstandard.ZstdCompressor().compress(body) if self.encoding == "zstd" else body


def batch(reference: bytes, verifier: bytes = b"qa") -> bytes:
    return b'{"items":[' + ITEM % (verifier, reference) + b"]}"


def many(value: bytes, size: int = BODY) -> bytes:
    """A list of so many bytes."""
    return b"[" + (value + b",") * (size // (len(value) + 1)) + value + b"]"


def keys(count: int, *, are_same: bool = False) -> bytes:
    return b"{" + b",".join(b'"k%d":1' % (0 if are_same else n) for n in range(count)) + b"}"


def items(item: dict[str, Any], count: int) -> bytes:
    return json.dumps({"items": [item] * count}).encode()


def items_of(reference: bytes, count: int, response: bytes = b'"1"') -> bytes:
    item = b'{"verifier":"qa","response":%b,"reference":%b}' % (response, reference)
    return b'{"items":[%b]}' % b",".join([item] * count)


def words(count: int) -> bytes:
    asked = {"instruction_id": "keywords:existence", "kwargs": {"keywords": [f"neword{n}" for n in range(count)]}}
    return items({"verifier": "instruction_following", "response": "no", "params": {"instructions": [asked]}}, 1)


DIGITS: Final = b"9" * 4_300
"""The longest number that Python reads: in the square of its length."""
FACE: Final = "\U0001f600".encode()
"""One of them, and each character of its text takes four bytes."""


def shared(reference: bytes, count: int) -> bytes:
    """A batch whose items share a reference."""
    item = b'{"verifier":"qa","response":"%d","reference_id":"a"}'
    return b'{"references":{"a":%b},"items":[%b]}' % (reference, b",".join([item % n for n in range(count)]))


def shared_message(reference: bytes, count: int) -> bytes:
    items = [pb.Item(verifier="qa", response=str(n), reference_id="a") for n in range(count)]
    return bytes(pb.ScoreRequest(items=items, references_json={"a": reference.decode()}).SerializeToString())


def message(*parts: bytes) -> bytes:
    return b"".join(parts)


def call(reference: bytes, response: str = "1") -> bytes:
    """A message of gRPC with one item."""
    item = pb.Item(verifier="qa", response=response, reference_json=reference.decode())
    return bytes(pb.ScoreRequest(items=[item]).SerializeToString())


TOO_MUCH: Final = ("413", "400")
GRPC_TOO_MUCH: Final = ("RESOURCE_EXHAUSTED", "INVALID_ARGUMENT", "OUT_OF_RANGE")
ONE_FIELD: Final = (*GRPC_TOO_MUCH, "invalid")
NOT_OURS: Final = ("400", "404", "413", "415", "422", "405")
REQUESTS: Final = (
    Hostile("spaces, zstd", TOO_MUCH, lambda: b'{"items":[' + b" " * BODY + b"]}", encoding="zstd"),
    Hostile("spaces, gzip", TOO_MUCH, lambda: b'{"items":[' + b" " * BODY + b"]}", encoding="gzip"),
    Hostile("spaces, plain", ("400",), lambda: b'{"items":[' + b" " * BODY + b"]}"),
    Hostile("gzip within gzip", ("400",), lambda: gzip.compress(b" " * BODY), encoding="gzip"),
    Hostile("zstd cut off", ("400",), lambda: batch(b'"1"') * 500, encoding="zstd", how="cut"),
    Hostile("gzip cut off", ("400",), lambda: batch(b'"1"') * 500, encoding="gzip", how="cut"),
    Hostile("empty lists", TOO_MUCH, lambda: batch(many(b"[]"))),
    Hostile("empty lists, zstd", TOO_MUCH, lambda: batch(many(b"[]", 15 * MB)), encoding="zstd"),
    Hostile("empty objects", TOO_MUCH, lambda: batch(many(b"{}"))),
    Hostile("numbers", TOO_MUCH, lambda: batch(many(b"0"))),
    Hostile("numbers below the bound of bytes", ("invalid",), lambda: batch(many(b"0", 2 * MB))),
    Hostile("texts", TOO_MUCH, lambda: batch(many(b'""'))),
    Hostile("depth", ("400",), lambda: batch(b"[" * (BODY // 2) + b"]" * (BODY // 2))),
    Hostile("depth of objects", TOO_MUCH, lambda: batch(b'{"a":' * (BODY // 6) + b"1" + b"}" * (BODY // 6))),
    Hostile("depth of a small body", ("400", "invalid"), lambda: batch(b"[" * 100_000 + b"]" * 100_000)),
    Hostile("one number", ("400",), lambda: batch(b"9" * BODY)),
    Hostile("a number of 200 kB", ("invalid", "400"), lambda: batch(b"9" * 200_000)),
    Hostile("long integers", ("413",), lambda: batch(many(DIGITS, 4 * MB))),
    Hostile("long integers in one body", ("413", "invalid", "200"), lambda: items_of(DIGITS, 900)),
    Hostile("long fractions", ("413",), lambda: batch(many(b"0." + DIGITS, 4 * MB))),
    Hostile(
        "long integers in messages",
        ("413",),
        lambda: b'{"items":[{"verifier":"qa","response":[{"role":"assistant","n":%b}]}]}' % many(DIGITS, 4 * MB),
    ),
    Hostile("one wide character", ("invalid",), lambda: batch(b'"' + FACE + b"a" * (23 * MB) + b'"')),
    Hostile("a text as long as an item may be", ("invalid",), lambda: batch(b'"' + b"a" * (23 * MB) + b'"')),
    Hostile(
        "long answers with a wide character each",
        ("200", "429"),
        lambda: items_of(b'"1"', 15, response=b'"' + FACE + b"a" * 3_800_000 + b'"'),
    ),
    Hostile("4,000 items that share 5 MB", ("invalid",), lambda: shared(many(b'"' + b"a" * 300 + b'"', 5 * MB), 4_000)),
    Hostile("a shared reference larger than an item", TOO_MUCH, lambda: shared(b'"' + b"a" * (58 * MB) + b'"', 1)),
    Hostile("a fraction of 200 kB", ("200", "invalid", "400"), lambda: batch(b"0." + b"9" * 200_000)),
    Hostile("an exponent of 200 kB", ("invalid", "400"), lambda: batch(b"1e" + b"9" * 200_000)),
    Hostile("numbers of 300 digits", ("invalid",), lambda: batch(many(b"9" * 300, 2 * MB))),
    Hostile("a text of 20 MB", ("200", "invalid", "413"), lambda: batch(b'"' + b"a" * 20 * MB + b'"')),
    Hostile("one text", TOO_MUCH, lambda: batch(b'"' + b"a" * BODY + b'"')),
    Hostile("escapes", TOO_MUCH, lambda: batch(b'"' + b"\\u0041" * (BODY // 6) + b'"')),
    Hostile("a long key", TOO_MUCH, lambda: b'{"items":[{"' + b"k" * BODY + b'":1}]}'),
    Hostile("a key of 200 kB", ("422",), lambda: b'{"items":[{"' + b"k" * 200_000 + b'":1}]}'),
    Hostile("many keys", TOO_MUCH, lambda: batch(keys(4_000_000))),
    Hostile("the same key", TOO_MUCH, lambda: batch(keys(8_000_000, are_same=True))),
    Hostile("empty messages", TOO_MUCH, lambda: b'{"items":[{"verifier":"qa","response":' + many(b"{}") + b"}]}"),
    Hostile("empty items", TOO_MUCH, lambda: b'{"items":' + many(b"{}") + b"}"),
    Hostile("tiny items", ("413",), lambda: b'{"items":' + many(b'{"response":"1"}') + b"}"),
    Hostile("wrong types", ("422",), lambda: b'{"items":{"a":1},"cache":7}'),
    Hostile("not JSON", ("400",), lambda: b"\xff" * BODY),
    Hostile("two lists", ("400", "422"), lambda: b'{"items":[],"x":"' + b"a" * MB + b'","items":[' + b" " * MB + b"]}"),
    Hostile("lone halves of pairs", ("200", "invalid"), lambda: batch(b'"' + b"\\ud800" * 30_000 + b'"')),
    Hostile("msgpack that claims four billion", ("400", "415"), lambda: b"\xdd\xff\xff\xff\xff" * 1000),
    Hostile(
        "an interaction of lists",
        TOO_MUCH,
        lambda: b'{"verifier":"qa","reference":' + many(b"[]", 15 * MB) + b"}",
        "/v1/interactions",
    ),
    Hostile("a job of lists", TOO_MUCH, lambda: batch(many(b"[]")), "/v1/jobs"),
    Hostile("advantages of lists", NOT_OURS, lambda: b'{"groups":' + many(b"[]", 15 * MB) + b"}", "/v1/advantages"),
    Hostile(
        "a sample of slime",
        NOT_OURS,
        lambda: b'{"response":"1","label":' + many(b"[]", 15 * MB) + b"}",
        "/compat/slime",
    ),
    Hostile("chat of lists", NOT_OURS, lambda: b'{"messages":' + many(b"[]", 15 * MB) + b"}", "/v1/chat/completions"),
    Hostile("half-closed", ("200",), lambda: batch(b'"1"'), how="half-closed"),
    Hostile("half-closed within the body", ("closed", "400"), lambda: batch(b'"1"')[:-9], how="raw"),
    Hostile("chunks of one byte", ("200",), lambda: batch(b'"1"') + b" " * 3000, how="chunked"),
    Hostile("two hosts", ("400",), lambda: b"", how="head", path="Host: localhost\r\nHost: 127.0.0.1"),
    Hostile("a count below 0", ("400",), lambda: b"", how="head", path="Host: localhost\r\nX-Item-Count: -1"),
    Hostile(
        "a count without end", ("400",), lambda: b"", how="head", path=f"Host: localhost\r\nX-Item-Count: {'9' * 5000}"
    ),
    Hostile(
        "two counts", ("400",), lambda: b"", how="head", path="Host: localhost\r\nX-Item-Count: 1\r\nX-Item-Count: 9"
    ),
    Hostile("new words", ("200", "invalid", "413", "422"), lambda: words(4000)),
    Hostile("empty items", GRPC_TOO_MUCH, lambda: b"\x0a\x00" * (MESSAGE // 2), "Score", how="grpc"),
    Hostile(
        "4,000 items that share 5 MB",
        ("invalid",),
        lambda: shared_message(many(b'"' + b"a" * 300 + b'"', 5 * MB), 4_000),
        "Score",
        how="grpc",
    ),
    Hostile(
        "an item of 58 MB",
        GRPC_TOO_MUCH,
        lambda: (
            shared_message(b"1", 1)
            + bytes(pb.ScoreRequest(items=[pb.Item(response="a" * 58 * MB)]).SerializeToString())
        ),
        "Score",
        how="grpc",
    ),
    Hostile("empty references", GRPC_TOO_MUCH, lambda: b"\x12\x00" * (MESSAGE // 2), "Score", how="grpc"),
    Hostile("unknown fields", GRPC_TOO_MUCH, lambda: b"\xfa\x7f\x00" * (MESSAGE // 3), "Score", how="grpc"),
    Hostile(
        "a length without content", GRPC_TOO_MUCH, lambda: b"\x0a\xff\xff\xff\xff\x07" + b"a" * MB, "Score", how="grpc"
    ),
    Hostile("a number without end", GRPC_TOO_MUCH, lambda: b"\xff" * MB, "Score", how="grpc"),
    Hostile(
        "lists in a reference",
        ("invalid",),
        lambda: call(many(b"[]", MESSAGE)),
        "Score",
        how="grpc",
    ),
    Hostile("a number of 200 kB", ("invalid",), lambda: call(b"9" * 200_000), "Score", how="grpc"),
    Hostile("one reference", ONE_FIELD, lambda: call(b'"' + b"a" * 59 * MB + b'"'), "Score", how="grpc"),
    Hostile("one response", ONE_FIELD, lambda: call(b'"1"', "a" * MESSAGE), "Score", how="grpc"),
)
