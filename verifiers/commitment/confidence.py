"""How sure a response says it is of its answer, which is none of it: "12 (confidence: 95%)", "Paris, with 90% confidence"."""

import re

_SURE = r"(?:~?\d[\d.]{0,6}(?:\s?\\?%|/\d{1,3})?|(?:very\s)?(?:high|medium|moderate|low))"
_CONFIDENCE = re.compile(
    rf"[(\[]\s?(?:(?:my\s)?confidence(?:\s(?:level|score))?\s?[:=]?\s(?:is\s|of\s)?{_SURE}|~?\d[\d.]{{0,6}}\s?\\?%?\s(?:confidence|confident|sure|certain))\s?[)\]]"
    rf"|(?<=[^\s,;|—–-])\s?[,;|—–-]\s?[*_]{{0,2}}confidence(?:\s(?:level|score))?[*_]{{0,2}}\s?[:=][*_]{{0,2}}\s?{_SURE}(?=[*_]{{0,2}}\s*(?:$|[.|]))"
    r"|(?<=\S)\swith\s(?:a\s)?(?:~?\d[\d.]{0,6}\s?\\?%\sconfidence|confidence\s(?:of\s)?\d[\d.]{0,6}\s?\\?%?)(?![\w%])",
    re.IGNORECASE | re.MULTILINE,
)
_SURE_STEMS = ("onfiden", "ertain)", "sure)")


def without_confidence(text: str, start: int, end: int) -> str:
    """A text of the same length without how sure the response is, between two places, of its answer: `12 (confidence: 95%)`."""
    if not any(text.find(stem, start, end) >= 0 for stem in _SURE_STEMS):
        return text
    return text[:start] + _CONFIDENCE.sub(lambda sure: " " * len(sure[0]), text[start:end]) + text[end:]
