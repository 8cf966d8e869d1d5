"""Decompresses request bodies in steps, and bounds the size of the result: gzip (RFC 1952), zstd (RFC 8878)."""

import zlib
from collections.abc import Iterator
from typing import Final

import zstandard

from service.errors import BadRequest, TooLarge, UnsupportedMedia

ENCODINGS: Final = ("gzip", "zstd", "identity")
STEP_BYTES: Final = 500_000
"""The most bytes of one part: about a millisecond."""
_INPUT_BYTES: Final = 65_536
MAX_RATIO: Final = 2_000
"""How many times its size a body may inflate to. Batches of one response, repeated, reach 1,200; a body of spaces 30,000."""
_FREE_BYTES: Final = 4_000_000
"""A body that inflates to no more than this may have any ratio."""
_BLOCK_BYTES: Final = 131_072
"""The most that a block of zstd inflates to (RFC 8878, section 3.1.1.2.4)."""
_RUN: Final = 1
"""The type of a block that repeats one byte."""


def inflate(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """Decompress a body at once, as `parts` does in steps."""
    return b"".join(parts(body, encoding, max_bytes))


def parts(body: bytes, encoding: str, max_bytes: int) -> Iterator[bytes]:
    """Decompress a body, `STEP_BYTES` at a time.

    Raises:
        TooLarge: the body inflates to more than `max_bytes`, or to more than `MAX_RATIO` times its size.
        BadRequest: the body is damaged or truncated.
        UnsupportedMedia: the encoding is neither gzip nor zstd.
    """
    if encoding not in ("gzip", "zstd"):
        raise UnsupportedMedia(f"Content-Encoding {encoding[:40]!r}; there are {list(ENCODINGS)}")
    size, limit = 0, max(_FREE_BYTES, MAX_RATIO * len(body))
    try:
        for part in _gunzipped(body) if encoding == "gzip" else _unzstd(body):
            size += len(part)
            if size > max_bytes:
                raise TooLarge(f"the body inflates to more than {max_bytes} bytes; split the batch")
            if size > limit:
                raise TooLarge(
                    f"the body inflates to more than {MAX_RATIO} times its {len(body)} bytes; send it as it is"
                )
            yield part
    except (zlib.error, zstandard.ZstdError, EOFError) as error:
        raise BadRequest(f"the body is not {encoding}: {error}") from error


def _gunzipped(body: bytes) -> Iterator[bytes]:
    stream = zlib.decompressobj(wbits=31)
    for start in range(0, len(body), _INPUT_BYTES):
        pending = body[start : start + _INPUT_BYTES]
        while pending:
            if stream.eof:  # another member follows
                stream = zlib.decompressobj(wbits=31)
            yield stream.decompress(pending, STEP_BYTES)
            pending = stream.unconsumed_tail or stream.unused_data
    if body and not stream.eof:
        raise EOFError("the compressed data ends too early")


def _unzstd(body: bytes) -> Iterator[bytes]:
    end = 0
    while end < len(body):
        # 8 MB windows at most: RFC 8878 section 3.1.1.1.2 asks decoders to support no more than that.
        stream = zstandard.ZstdDecompressor(max_window_size=8 << 20).decompressobj()
        start = end
        for end in _ends(body, start):
            yield stream.decompress(body[start:end])
            start = end
        if not stream.eof:
            raise EOFError("the compressed data ends too early")


def _ends(body: bytes, start: int) -> Iterator[int]:
    """Places up to which a frame can be inflated in steps, the last one behind it. The library cannot be told how much to
    return: each byte that it takes may become 32,768.
    """
    end = start + zstandard.frame_header_size(body[start : start + 18])
    has_checksum = body[start + 4] & 4
    blocks, is_last = 0, False
    while not is_last and end < len(body):
        header = int.from_bytes(body[end : end + 3], "little")
        is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        end += 3 + (1 if kind == _RUN else size)
        blocks += 1
        if blocks * _BLOCK_BYTES > STEP_BYTES - _BLOCK_BYTES and not is_last:
            blocks = 0
            yield end
    yield end + (4 if has_checksum else 0)
