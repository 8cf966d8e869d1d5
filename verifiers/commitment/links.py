"""How two offers in a row belong together: as parts of one answer, as alternatives, or as one that replaces another."""

import re
from enum import StrEnum


class Link(StrEnum):
    """How two offers in a row belong together, judged by the text between them."""

    PARTS = "parts"
    ALTERNATIVES = "alternatives"
    NEAR = "near"
    APART = "apart"


_MAX_GAP_CHARS = 80
_NEAR_CHARS = 40
_PARTED = re.compile(r"\n[ \t]*\n|\n[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*\n|#{2,}")
"""A paragraph's end, a rule, a marker: what follows is an answer of its own."""
_MARKUP = re.compile(r"</?answer\s{0,4}>|\\[()\[\]]|\$|\*|`|\\q?quad|\\text\{([^{}]{0,40})\}|\\[,;:! ]")
_AND = re.compile(
    r"\s*(?:[,，،;；؛、&]|and\b|und\b|et\b|和|与|及|以及|,\s?and\b)\s*(?:\\?[A-Za-z]\w{0,11}\s{0,2}=)?\s*", re.I
)
_OR = re.compile(r"(?<![A-Za-z])(?:or|either|oder|ou|vs\.?|versus)(?![A-Za-z])|或|还是", re.IGNORECASE)
_RELATION = re.compile(r"[=<>≤≥∈≠]|\\(?:le|ge|leq|geq|lt|gt|in|neq)(?![A-Za-z])")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|\n\s*\n")
_OR_AT_START = re.compile(r"\W{0,6}(?:or\b|或)", re.IGNORECASE)
_PART_LABEL = re.compile(r"\s*[.,;]?\s*\(?(?:[b-h]|i{2,3}|iv)\)[:.]?\s*", re.IGNORECASE)
_PERHAPS = re.compile(
    r"\b(?:alternative(?:ly)?|possibly|possibility|maybe|perhaps|might be|could be|if not)\b|可能|也许|或许",
    re.IGNORECASE,
)
_CASE = re.compile(
    r"(?:^|[;,:。；，\n])[\s*(]{0,4}(?:(?:and|but|while)\s)?(?:case\b|if\b|情况|若|如果|当)", re.IGNORECASE
)
"""The sentence or clause that leads to a later offer is about one case of several."""
_CORRECTS = re.compile(
    r"\b(?:wait|actually|correct\w*|mistake\w*|error|instead|rather|sorry|wrong|no)\b|不对|更正|错", re.IGNORECASE
)
_CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|finally|in (?:all|both|either) cases?|overall|altogether)\b|因此|综上", re.IGNORECASE
)
_COMMITS = re.compile(
    r"\b(?:wait|actually|correct\w*|mistake|error|instead|rather|final\w*|therefore|thus|hence|so|but|answer|no)\b"
    r"|不对|更正|应该|最终|因此|所以|答案",
    re.IGNORECASE,
)


def names_alternatives(text: str) -> bool:
    """Whether a bare answer names alternatives ("1 or 2"), which commits to none of them."""
    return len(text) <= _MAX_GAP_CHARS and _OR.search(text) is not None and not _RELATION.search(text)


def link_of_offers(text: str, start: int, end: int) -> Link:
    """How two offers belong together that have the text from `start` to `end` between them."""
    if end - start > _MAX_GAP_CHARS:
        return Link.ALTERNATIVES if end - start <= 2 * _MAX_GAP_CHARS and _is_case(text[start:end]) else Link.APART
    if _PARTED.search(text, start, end) and not _OR_AT_START.match(text[start:end]):
        return Link.APART
    gap = _MARKUP.sub(lambda match: f" {match[1] or ''} ", text[start:end]) if end > start else ""
    if gap.strip() and (_AND.fullmatch(gap) or _PART_LABEL.fullmatch(gap)):
        return Link.PARTS
    if not any(char.isalnum() or char in "=+" for char in gap):
        return Link.ALTERNATIVES
    if _OR_AT_START.match(gap) or (_OR.search(gap) and not _SENTENCE_END.search(gap)):
        return Link.ALTERNATIVES
    if (_PERHAPS.search(gap) and not _CORRECTS.search(gap)) or _is_case(gap):
        return Link.ALTERNATIVES
    if len(gap) <= _NEAR_CHARS and not _COMMITS.search(gap):
        return Link.NEAR
    return Link.APART


def link_of_numbers(text: str, start: int, end: int) -> Link:
    """Numbers stand close together in any calculation, so less of what is between them says something."""
    if end - start > _MAX_GAP_CHARS:
        return Link.APART
    gap = text[start:end]
    if not gap.strip():
        return Link.APART if "\n" in gap else Link.ALTERNATIVES
    gap = _MARKUP.sub(lambda match: f" {match[1] or ''} ", gap)
    if gap.strip() and _AND.fullmatch(gap):
        return Link.PARTS
    if _OR_AT_START.match(gap) or (_OR.search(gap) and not _SENTENCE_END.search(gap)):
        return Link.ALTERNATIVES
    return Link.APART


def _is_case(gap: str) -> bool:
    """Whether what leads to a later offer makes it the answer of one case, and not a correction or a conclusion."""
    if _CASE.search(_SENTENCE_END.split(gap.rstrip(" .!?。"))[-1]) is None:
        return False
    return not _CORRECTS.search(gap) and not _CONCLUDES.search(gap)
