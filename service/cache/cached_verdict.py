"""A verdict as the caches hold it."""

from typing import Annotated, Any

import msgspec


class CachedVerdict(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A verdict as the caches hold it. Its status is always ok."""

    score: Annotated[float, msgspec.Meta(ge=0, le=1)]
    reason: str
    extracted: str | None
    detail: dict[str, Any]


encode_verdict = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(CachedVerdict).decode


def decode_verdict(content: bytes) -> CachedVerdict | None:
    """Decode a cached verdict. None if the bytes are not one (an older layout, or damage)."""
    try:
        return _decode(content)
    except msgspec.MsgspecError:
        return None
