"""The ways in which a response may give its answer, and the orders in which they are looked at."""

from enum import StrEnum


class Channel(StrEnum):
    """A way in which a response may give its answer."""

    ANSWER_TAG = "answer_tag"
    """The last `<answer>…</answer>`; a box inside it counts as its content."""
    BOXED = "boxed"
    r"""The last `\boxed{…}`, `\fbox{…}` or `\framebox{…}`, or `\boxed 42`."""
    HASH4 = "hash4"
    """The last `#### …`, as in GSM8K."""
    ANSWER_LINE = "answer_line"
    """`The final answer is …`, `Answer: …`, `答案是…` and their like, up to the end of the sentence or line."""
    BARE = "bare"
    """All of a response that is nothing but an answer: one formula, one quantity, a few words."""
    FINAL_STATEMENT = "final_statement"
    """What the last sentence states: an option, yes or no, true or false, no solution, a bold phrase, a formula."""
    LAST_NUMBER = "last_number"
    """The last number of the text, if it stands alone: not part of an expression, a range or a time."""
    LAST_LINE = "last_line"
    """The last line that is not blank."""
    WHOLE = "whole"
    """All of the text."""


DEFAULT_CHANNELS = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE, Channel.LAST_NUMBER)
"""What `auto` means, unless a verifier says otherwise."""
MATH_CHANNELS = (*DEFAULT_CHANNELS[:-1], Channel.BARE, Channel.FINAL_STATEMENT, Channel.LAST_NUMBER)
"""What `auto` means where an answer may be a formula, an option or a word: its last sentence goes before a number."""
