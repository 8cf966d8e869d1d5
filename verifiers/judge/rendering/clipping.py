"""Cuts long texts to what a judge is shown: the beginning and the end, with a notice of what is missing between."""

from collections.abc import Sequence

from verifiers.judge.rendering.neutral import REACH_CHARS, neutralise


def clipped(text: str, limit_chars: int, control_tokens: Sequence[str] = ()) -> tuple[str, bool]:
    """The neutralised text within the limit, and whether something was left out.

    The limit is for the neutralised text, which may be much longer than the text. Of a text far beyond the limit only
    what can be shown is neutralised: that shortens a text to its half at most (line breaks of two characters).
    """
    reach = 2 * limit_chars + REACH_CHARS
    if len(text) <= 2 * reach:
        whole = neutralise(text, control_tokens)
        if len(whole) <= limit_chars:
            return whole, False
        return _joined(whole, whole, len(whole), limit_chars), True
    head, tail = neutralise(text[:reach], control_tokens), neutralise(text[-reach:], control_tokens)
    return _joined(head, tail, len(text), limit_chars), True


def _joined(head: str, tail: str, length: int, limit_chars: int) -> str:
    """Two thirds from the beginning, one third from the end; the notice stands on a line of its own."""
    room = max(0, limit_chars - len(_notice(length)))
    from_tail = room // 3
    from_head = room - from_tail
    left_out = length - room
    return head[:from_head] + _notice(left_out) + (tail[-from_tail:] if from_tail else "")


def _notice(left_out: int) -> str:
    return f"\n⟦… {left_out} characters left out here …⟧\n"
