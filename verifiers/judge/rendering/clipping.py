"""Cuts long texts for a judge: the beginning and the end stay, with a notice of what is missing between them."""

from collections.abc import Sequence

from verifiers.judge.rendering.neutral import REACH_CHARS, neutralise


def clipped(
    text: str, limit_chars: int, control_tokens: Sequence[str] = (), *, keeps_breaks: bool = False
) -> tuple[str, bool]:
    """The neutralised text within the limit, and whether something was left out.

    The limit applies to the neutralised text, which may be much longer than the text. If a text is far beyond the
    limit, only the part that can be shown is neutralised. Neutralising shortens a text to half its length at most (line
    breaks of two characters).
    """
    reach = 2 * limit_chars + REACH_CHARS
    if len(text) <= 2 * reach:
        neutral_text = neutralise(text, control_tokens, keeps_breaks=keeps_breaks)
        if len(neutral_text) <= limit_chars:
            return neutral_text, False
        return _joined(neutral_text, neutral_text, len(neutral_text), limit_chars), True
    head, tail = (neutralise(part, control_tokens, keeps_breaks=keeps_breaks) for part in (text[:reach], text[-reach:]))
    return _joined(head, tail, len(text), limit_chars), True


def shortened(text: str, limit_chars: int) -> str:
    """The text as it is, within the limit."""
    return text if len(text) <= limit_chars else _joined(text, text, len(text), limit_chars)


def _joined(head: str, tail: str, length: int, limit_chars: int) -> str:
    """Join two thirds from the beginning and one third from the end, with the notice on a line of its own."""
    room = max(0, limit_chars - len(_notice(length)))
    from_tail = room // 3
    from_head = room - from_tail
    left_out = length - room
    return head[:from_head] + _notice(left_out) + (tail[-from_tail:] if from_tail else "")


def _notice(left_out: int) -> str:
    return f"\n⟦… {left_out} characters left out here …⟧\n"
