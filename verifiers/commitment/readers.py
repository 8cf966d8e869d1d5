"""Maps each channel to the function that finds its offers."""

from collections.abc import Callable, Mapping
from functools import partial

from verifiers.commitment.bare import read_bare
from verifiers.commitment.boxes import read_boxes
from verifiers.commitment.channels import Channel
from verifiers.commitment.hashes import read_hashes
from verifiers.commitment.last_number import read_numbers
from verifiers.commitment.lines import read_lines
from verifiers.commitment.offers import Offer, Offers
from verifiers.commitment.spans import strip
from verifiers.commitment.statements import read_statement
from verifiers.commitment.tags import read_tags


def _last_line(text: str, start: int, end: int) -> Offers:
    line_start = strip(text, max(start, text.rfind("\n", start, end) + 1), end)[0]
    return Offers((Offer(line_start, end, line_start, end),))


def _whole(text: str, start: int, end: int) -> Offers:
    return Offers((Offer(start, end, start, end),))


READERS: Mapping[Channel, Callable[[str, int, int], Offers]] = {
    Channel.ANSWER_TAG: read_tags,
    Channel.BOXED: read_boxes,
    Channel.HASH4: read_hashes,
    Channel.ANSWER_LINE: read_lines,
    Channel.BARE: read_bare,
    Channel.FINAL_STATEMENT: read_statement,
    Channel.LAST_NUMBER: read_numbers,
    Channel.LAST_LINE: _last_line,
    Channel.WHOLE: _whole,
}
"""A function that finds the offers of a channel between two positions."""
READERS_IF_NAMED: Mapping[Channel, Callable[[str, int, int], Offers]] = {
    **READERS,
    Channel.HASH4: partial(read_hashes, headings=True),
}
"""The readers for callers that name their channels: a line that looks like a heading may be an answer, too."""
