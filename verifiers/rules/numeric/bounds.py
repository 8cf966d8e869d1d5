"""Words that make a limit or a denial of the number beside them, in all languages of the lexicon."""

from verifiers.commitment.cues import Kind, cues, words

_CHARS = 40
_BEFORE = frozenset([Kind.BOUND, Kind.NOT])
_BEHIND = frozenset([Kind.LIMIT, Kind.WRONG])
_MAX_COUNTED = 3
"""Characters of a counter between a number and what stands behind it: 20個以上."""


def bound_before(head: str) -> str:
    """The words at the end of a text that make a limit, or a denial, of the number behind it."""
    bare = head[-_CHARS:].rstrip(" $*(")
    if not bare[-1:].isalpha():
        return ""
    said = words(bare)
    found = [cue for cue in cues(said) if cue.stop == len(said) and cue.kind in _BEFORE]
    return bare[said[min(cue.first for cue in found)].start :] + " " if found else ""


def bound_behind(after: str) -> str:
    """The same of what a text begins with."""
    if after.isascii():
        return ""
    said = words(after[:_CHARS])
    found = [cue for cue in cues(said) if cue.kind in _BEHIND and cue.first <= _MAX_COUNTED]
    if not found or any(word.text.isascii() for word in said[: found[0].first]):
        return ""
    return after[: said[found[0].stop - 1].end]
