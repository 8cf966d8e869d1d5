"""Decompresses request bodies and bounds the size of the result: gzip (RFC 1952), zstd (RFC 8878)."""

import zlib

import zstandard

from service.errors import BadRequest, TooLarge, UnsupportedMedia

_STEP_BYTES = 1_000_000
ENCODINGS = ("gzip", "zstd", "identity")


def inflate(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """Decompress a body. It never holds more than `max_bytes` and one step. It blocks: call it in a thread if the body
    is large.

    Raises:
        TooLarge: the body inflates to more than `max_bytes`.
        BadRequest: the body is damaged or truncated.
        UnsupportedMedia: the encoding is neither gzip nor zstd.
    """
    try:
        if encoding == "gzip":
            return _gunzip(body, max_bytes)
        if encoding == "zstd":
            return _unzstd(body, max_bytes)
    except (zlib.error, zstandard.ZstdError, EOFError) as error:
        raise BadRequest(f"the body is not {encoding}: {error}") from error
    raise UnsupportedMedia(f"Content-Encoding {encoding[:40]!r}; there are {list(ENCODINGS)}")


def _gunzip(body: bytes, max_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while body:
        stream = zlib.decompressobj(wbits=31)
        pending = body
        while pending and not stream.eof:
            part = stream.decompress(pending, _STEP_BYTES)
            size = _bounded(size + len(part), max_bytes)
            parts.append(part)
            pending = stream.unconsumed_tail
            if not part and not pending:
                break
        if not stream.eof:
            raise EOFError("the compressed data ends too early")
        body = stream.unused_data
    return b"".join(parts)


def _unzstd(body: bytes, max_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while body:
        # 8 MB windows at most: RFC 8878 section 3.1.1.1.2 asks decoders to support no more than that.
        stream = zstandard.ZstdDecompressor(max_window_size=8 << 20).decompressobj(write_size=_STEP_BYTES)
        for start in range(0, len(body), _STEP_BYTES // 16):
            part = stream.decompress(body[start : start + _STEP_BYTES // 16])
            size = _bounded(size + len(part), max_bytes)
            parts.append(part)
            if stream.eof:
                body = stream.unused_data + body[start + _STEP_BYTES // 16 :]
                break
        else:
            raise EOFError("the compressed data ends too early")
    return b"".join(parts)


def _bounded(size: int, max_bytes: int) -> int:
    if size > max_bytes:
        raise TooLarge(f"the body inflates to more than {max_bytes} bytes; split the batch")
    return size
