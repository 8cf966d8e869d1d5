"""Makes an input smaller while it still shows its fault."""

import time
from collections.abc import Callable, Sequence
from typing import Final

_LIMIT_S: Final = 30
"""CPU seconds. An input that takes long each time stays larger."""


def shrunk(data: bytes, shows: Callable[[bytes], bool], *, in_bytes: bool) -> bytes:
    """Leave out ever smaller runs of characters (or bytes) as long as `shows` is true."""
    parts: Sequence[bytes]
    if in_bytes:
        parts = [data[index : index + 1] for index in range(len(data))]
    else:
        parts = [character.encode("utf-8", "replace") for character in data.decode("utf-8", "replace")]
    end_s = time.process_time() + _LIMIT_S
    length = max(1, len(parts) // 2)
    while time.process_time() < end_s:
        start, is_smaller = 0, False
        while start < len(parts) and time.process_time() < end_s:
            rest = [*parts[:start], *parts[start + length :]]
            if shows(b"".join(rest)):
                parts, is_smaller = rest, True
            else:
                start += length
        if length > 1:
            length //= 2
        elif not is_smaller:
            break
    return b"".join(parts)
