"""Words that make the number beside them a limit, or deny it, in all languages of the lexicon."""

import re

from verifiers.commitment.cues import Kind, cues, words
from verifiers.commitment.stance import Sentence, Stance

_CHARS = 40
_BEFORE = frozenset([Kind.BOUND, Kind.NOT])
_BEHIND = frozenset([Kind.LIMIT, Kind.WRONG])
_DENYING = frozenset([Kind.NOT, Kind.NO, Kind.BAD, Kind.DOUBT, Kind.WRONG, Kind.FALSE, Kind.EXCEPT])
_ANYWHERE = frozenset([Kind.OR, Kind.IF])
_MAX_COUNTED = 3
"""The number of words for the counted noun between a number and a limit: 20個以上, "5 years or more"."""
_SIGN = re.compile(r"\+(?!\s?\d)")
_RELATION = re.compile(
    r"[\s$]{0,2}(?:<(?![^<>\n]{0,60}>)=?|>=?|[≤≥≠]|!=|\\(?:[lg](?:eq?|t)|neq?|[lg]eqslant)(?![A-Za-z]))"
)
_LETTER = re.compile(r"[\s$]{0,2}[A-Za-z](?!\w)")
_VARIABLE = re.compile(r"[\s$]{0,2}\\?[A-Za-z]")


def is_bounded(text: str, start: int, end: int) -> bool:
    """Whether the words beside a number make it a limit, a choice, a condition or a part of an expression."""
    if not any(map(str.isalpha, text[:start] + text[end:])):
        return False
    sentence = Sentence(text, 0, len(text), "")
    first, stop = sentence.place((start, end))
    said = max([cue.stop for cue in sentence.cues if cue.kind is Kind.IS and cue.stop <= first], default=0)
    own = {cue.first: cue.stop for cue in sentence.cues if cue.kind in (Kind.NEGATIVE, Kind.ASIDE)}
    for cue in sentence.cues:
        is_beside = cue.kind is Kind.PART and (cue.stop == first or cue.first == stop)
        is_limit = (cue.kind is Kind.BOUND and cue.first >= said) or (cue.kind is Kind.LIMIT and cue.first >= stop)
        is_sign = cue.first < first and cue.stop <= own.get(cue.first, 0)
        if not is_sign and (is_beside or is_limit or cue.kind in _ANYWHERE):
            return True
    may_be_denied = any(cue.kind in _DENYING for cue in sentence.cues)
    return may_be_denied and sentence.stance((start, end)) in (Stance.DENIED, Stance.SUPPOSED)


def negative_before(head: str) -> str:
    """The word for a minus sign at the end of a text."""
    return _ending(head, frozenset([Kind.NEGATIVE]))


def bound_before(head: str) -> str:
    """The words at the end of a text that make the number behind it a limit, or deny it."""
    return _ending(head, _BEFORE)


def _ending(head: str, kinds: frozenset[Kind]) -> str:
    bare = head[-_CHARS:].rstrip(" $*(")
    if not bare[-1:].isalpha():
        return ""
    said = words(bare)
    found = [cue for cue in cues(said) if cue.stop == len(said) and cue.kind in kinds]
    return head[len(head[:-_CHARS]) + said[min(cue.first for cue in found)].start :] if found else ""


def bound_behind(after: str) -> str:
    """The words at the beginning of a text that make the number before it a limit, or deny it."""
    sign = _SIGN.match(after) or _RELATION.match(after)
    if sign and (sign.re is _SIGN or _VARIABLE.match(after, sign.end())):
        return after[: sign.end() + 1]
    after = after[:_CHARS].partition("\n")[0]
    if not any(map(str.isalpha, after)):
        return ""
    said = words(after)
    found = cues(said)
    for cue in found:
        begins = cue.first == 0 or all(word.text.isalpha() or word.text in "*," for word in said[: cue.first])
        is_near = begins and cue.first <= _MAX_COUNTED
        ends = cue.stop == len(said) or said[cue.stop].text in ".,;!?)" or not said[cue.first].text.isascii()
        is_limit = cue.kind in _BEHIND and not (cue.kind is Kind.WRONG and said[cue.first].text.isascii())
        is_relation = cue.kind is Kind.BOUND and cue.first <= 1 and _LETTER.match(after, said[cue.stop - 1].end)
        if is_near and ((is_limit and (cue.first == 0 or ends)) or is_relation):
            return after[: said[cue.stop - 1].end]
    return ""
