"""The last sentence of a text that tells what the answer would be in another case: "If order mattered, the answer would be 96."."""

from verifiers.commitment.figures import last_digit_end
from verifiers.commitment.spans import strip
from verifiers.commitment.stance import sentences

_MAX_CHARS = 300
_MARKS = ("\\", "<", "####")


def without_unreal(text: str, begin: int, end: int) -> int:
    """The end of a part of a text before such a sentence, if the text has figures before it, and no mark within."""
    last_digit = last_digit_end(text, max(begin, end - _MAX_CHARS), end)
    if last_digit is None:
        return end
    *_, last = [None, *sentences(text, max(begin, end - _MAX_CHARS), end)]
    if (
        last is None
        or last.asks
        or not begin < last.start < last_digit
        or last_digit_end(text, begin, last.start) is None
    ):
        return end
    is_marked = any(text.find(mark, last.start, end) >= 0 for mark in _MARKS)
    place = last.place((last_digit - 1, last_digit))[0]
    return end if is_marked or not last.is_unreal(place) else strip(text, begin, last.start)[1]
