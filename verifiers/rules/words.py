"""What counts as a word, and how long a text is.

Scripts without spaces would be one long word: each Han character and each kana is a word of its own, everything else
goes by spaces. Characters are Unicode code points. Characters that show nothing (zero-width, bidi controls, soft
hyphens) count where length is punished and do not count where it is asked for.
"""

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator

from verifiers.sightings import beyond_ascii

Unit = Annotated[
    Literal["characters", "words", "lines", "tokens"],
    BeforeValidator(lambda name: "characters" if name == "chars" else name),
]
MAX_LENGTH = 2**53
"""No length that a caller gives is larger: verdicts repeat it, and every JSON reader reads it exactly."""


def split(text: str) -> list[str]:
    """The words of a text, in order."""
    return _WORD.findall(text) if has_unspaced(beyond_ascii(text)) else text.split()


def has_unspaced(text: str) -> bool:
    """Whether a character stands in it that is a word of its own."""
    return _UNSPACED_CHAR.search(text) is not None


def measure(text: str, unit: Unit) -> int:
    """How long a text is, in any unit but tokens, which only the trainer's tokenizer can count."""
    if unit == "characters":
        return len(text)
    if unit == "words":
        return len(split(text))
    assert unit == "lines"
    return len(text.splitlines())


def visible(text: str) -> str:
    """The text without characters that show nothing, and without space at either end."""
    if _INVISIBLE.search(beyond_ascii(text)):
        text = _INVISIBLE.sub("", text)
    if text.encode("ascii", "ignore").translate(None, _SHOWN):
        text = text.translate(_WITHOUT_CONTROLS)
    return text.strip()


_ASCII = bytes(range(128))
_SHOWN = bytes(code for code in range(128) if chr(code).isprintable() or chr(code) in "\t\n\r")
_WITHOUT_CONTROLS = dict.fromkeys(set(_ASCII) - set(_SHOWN))


_UNSPACED = (
    r"\u2E80-\u2FD5\u3005\u3007\u3021-\u3029\u3038-\u303B\u3041-\u3096\u309D-\u309F\u30A1-\u30FA\u30FC-\u30FF"
    r"\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\uFF66-\uFF9D\U0001B000-\U0001B16F\U00020000-\U000323AF"
)
_UNSPACED_CHAR = re.compile(rf"[{_UNSPACED}]")
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_INVISIBLE = re.compile(
    r"[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u2800\u3164\uFE00-\uFE0F"
    r"\uFEFF\uFFA0\uFFF9-\uFFFB\U000E0000-\U000E0FFF]+"
)
