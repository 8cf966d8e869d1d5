"""The ways in which a response may give its answer, and the orders in which they are tried."""

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
    """The whole response, if it is only an answer: one formula, one quantity, a few words."""
    FINAL_STATEMENT = "final_statement"
    """The value of the last sentence: an option, yes or no, true or false, no solution, a bold phrase, a formula."""
    LAST_NUMBER = "last_number"
    """The last number of the text, if it stands alone: not part of an expression, a range or a time."""
    LAST_LINE = "last_line"
    """The last line that is not blank."""
    WHOLE = "whole"
    """All of the text."""


DEFAULT_CHANNELS = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE, Channel.LAST_NUMBER)
"""The channels of `auto`, unless a verifier has its own."""
MATH_CHANNELS = (*DEFAULT_CHANNELS[:-1], Channel.BARE, Channel.FINAL_STATEMENT, Channel.LAST_NUMBER)
"""The channels of `auto` where an answer may be a formula, an option or a word: the last sentence precedes a number."""
