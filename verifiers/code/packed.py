"""Opens tests that are packed as LiveCodeBench publishes them: JSON text, pickled, compressed by zlib, in base64.

Nothing is unpickled. A pickle is a program, and only the one that makes a text and ends is read: its steps are looked
at one by one, and any other step refuses the tests.
"""

import base64
import pickletools
import zlib
from typing import Final

from verifiers.base import InvalidItem

MAX_BYTES: Final = 64_000_000
"""Of opened tests. Those of LiveCodeBench have some megabytes."""
SMALL_CHARS: Final = 100_000
SMALL_MAX_BYTES: Final = 8_000_000
"""Of tests that are packed in fewer characters: a few thousand bytes of zlib may hold any number of equal ones."""
_TEXT: Final = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
_AROUND: Final = ("PROTO", "FRAME", "MEMOIZE", "BINPUT", "STOP")
_MAX_STEPS: Final = 8


def opened(text: str) -> str:
    """The JSON text in packed tests.

    Raises:
        InvalidItem: it is something else, or too large.
    """
    try:
        limit = MAX_BYTES if len(text) >= SMALL_CHARS else SMALL_MAX_BYTES
        packed = base64.b64decode("".join(text.split()), validate=True)
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(packed, limit)
    except (ValueError, zlib.error) as error:
        raise _refused(f"they are not base64 of zlib ({error})") from error
    if not unpacking.eof:
        raise _refused(f"they are cut off, or hold more than {limit} bytes")
    if content[:1] in (b"[", b"{"):
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise _refused(f"they are not UTF-8 ({error})") from error
    return _pickled_text(content)


def _pickled_text(content: bytes) -> str:
    """The text of a pickle that makes one text and nothing else."""
    texts: list[str] = []
    try:
        for number, (step, argument, _) in enumerate(pickletools.genops(content)):
            if step.name in _TEXT and isinstance(argument, str):
                texts.append(argument)
            elif step.name not in _AROUND:
                raise _refused(f"their pickle does more than hold a text ({step.name})")
            if len(texts) > 1 or number >= _MAX_STEPS:
                raise _refused("their pickle holds more than one text")
    except (ValueError, UnicodeDecodeError, OverflowError) as error:
        raise _refused(f"their pickle cannot be read ({error})") from error
    if not texts:
        raise _refused("their pickle holds no text")
    return texts[0]


def _refused(why: str) -> InvalidItem:
    return InvalidItem("compressed_tests", f"the tests are packed, and {why}: give them as JSON")
