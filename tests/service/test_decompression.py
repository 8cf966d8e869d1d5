"""Bodies are inflated in small steps, whatever they were made of, and within bounds."""

import gzip
import random
from collections.abc import Callable

import pytest
import zstandard

from service.decompression import MAX_RATIO, STEP_BYTES, inflate, parts
from service.errors import BadRequest, TooLarge
from tests.tables import table

LIMIT = 10_000_000
NOISE = random.Random(0).randbytes(300_000)
BODIES = [b"", b"a", NOISE, b"abc" * 500_000, NOISE * 4 + b" " * 2_000_000]
MAKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "zstd, with a checksum": zstandard.ZstdCompressor(write_checksum=True).compress,
    "zstd, without its size": zstandard.ZstdCompressor(write_content_size=False).compress,
    "zstd, in blocks": lambda body: _in_blocks(body),
}


def _in_blocks(body: bytes) -> bytes:
    writer = zstandard.ZstdCompressor().compressobj()
    first = writer.compress(body[: len(body) // 2]) + writer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return first + writer.compress(body[len(body) // 2 :]) + writer.flush()


@table("how", MAKERS)
@table("body", BODIES, ids=[str(len(body)) for body in BODIES])
def test_what_was_compressed_comes_back_in_small_steps(how: str, body: bytes) -> None:
    encoding, compress = how[:4], MAKERS[how]
    inflated = list(parts(compress(body), encoding, LIMIT))
    assert b"".join(inflated) == body
    assert max(map(len, inflated), default=0) <= STEP_BYTES
    assert inflate(compress(body) * 2, encoding, LIMIT) == body * 2


@table("how", MAKERS)
def test_what_was_cut_off_is_refused(how: str) -> None:
    packed = MAKERS[how](NOISE)
    for kept in (1, 5, len(packed) // 2, len(packed) - 5, len(packed) - 1):
        with pytest.raises(BadRequest):
            inflate(packed[:kept], how[:4], LIMIT)


@table("how", [how for how in MAKERS if how.startswith("zstd")])
def test_spaces_are_refused_long_before_the_limit(how: str) -> None:
    inflated: list[int] = []
    packed = MAKERS[how](b" " * 63_000_000)
    with pytest.raises(TooLarge, match=f"{MAX_RATIO} times"):
        inflated.extend(len(part) for part in parts(packed, "zstd", 64_000_000))
    assert sum(inflated) < 20_000_000


def test_a_batch_of_one_response_is_inflated() -> None:
    """The highest ratio that anything meant seriously has."""
    item = b'{"verifier":"math","response":"%s","reference":"%d"},'
    words = " ".join(random.Random(1).choices(["so", "the", "sum", "of", "x", "and", "y", "is", "12"], k=1500)).encode()
    body = b"".join(item % (words, number) for number in range(4096))
    for how, compress in MAKERS.items():
        assert inflate(compress(body), how[:4], 64_000_000) == body
