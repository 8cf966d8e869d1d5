"""Whether the sentence of a number states it, or denies, supposes, asks or takes it back."""

import re

from verifiers.answers.offers import Offer, last_matches

_SENTENCE_CHARS = 300
_CLAUSE = re.compile(
    r"(?:[,;:]\s|\b(?:so|then|thus|therefore|hence|which|and|but|because|since|means|leaves|leaving)\b)", re.IGNORECASE
)
_NEGATION = re.compile(
    r"(?:\b(?:not|never|cannot|no\slonger|no\s(?:es|son)|ist\snicht|не)|n['’]t|n['’]est\spas)\b|不是|并非|不等于",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:reject\w*|contradict\w*|impossible|maybe|perhaps|possibly|unsure|suppose|assum\w+"
    r"|(?:not|n['’]t)\s(?:sure|certain|think|believe|know))\b|也许|可能",
    re.IGNORECASE,
)
_AFFIRMS = re.compile(r"\b(?:is|are|was|were|equals|total|leaves)\b|[\w)%}][ ]?=")
_DOUBT_STEMS = (
    "no",
    "n't",
    "n’t",
    "eve",
    "eje",
    "contra",
    "impos",
    "aybe",
    "erhaps",
    "possib",
    "unsure",
    "suppos",
    "assum",
    "est pas",
)
_DOUBT_STEMS_ELSEWHERE = ("не", "不", "并非", "也许", "可能", "n’t", "pas")
_NEGATED_AFTER = re.compile(
    r"[\s$*)\]}]{0,4}(?:(?:is|was|would\sbe)\s(?:also\s|clearly\s)?"
    r"(?:not\s(?:the|an?|right|correct|valid|possible|allowed)\b|wrong\b"
    r"|incorrect\b|invalid\b|impossible\b|extraneous\b|rejected\b|too\s(?:big|small|large|high|low)\b)"
    r"|isn['’]t\s|can(?:not|['’]t)\s(?:be|work|hold)\b"
    r"|does(?:n['’]t|\snot)\s(?:work|hold|fit|satisfy)\b|fails\b|不对|是错|错误|不成立|舍去)",
    re.IGNORECASE,
)
_DOUBTED_LATER = re.compile(
    r"\b(?:don['’]t|do\snot|cannot|can['’]t|can\snot|couldn['’]t|could\snot)\s(?:know|solve|determine|answer"
    r"|help|figure|think\sso)\b(?!\s(?:why|how|whether))"
    r"|\b(?:no\sidea|not\ssure|unsure|not\scertain|not\s(?:right|correct|the\sanswer)|(?:is|was|seems"
    r"|that['’]s)\s(?:wrong|incorrect)"
    r"|does(?:n['’]t|\snot)\swork|extraneous|reject(?:ed)?\s(?:it|this|that))\b|不知道|不确定|不对|不会做",
    re.IGNORECASE,
)
_LATER_STEMS = (
    "n't",
    "n’t",
    "no",
    "wrong",
    "incorrect",
    "unsure",
    "extran",
    "eject",
    "invalid",
    "impos",
    "too ",
    "fails",
    "不",
    "错",
    "舍",
)
_QUESTION_END = re.compile(r"[.!?。！？\n](?=\D|$)")


def is_doubted(text: str, start: int, end: int, number: Offer) -> bool:
    """Whether the statement of a number is negated, supposed, asked, or taken back by what follows."""
    clause = text[_sentence_start(text, start, number.start) : number.start].lower()
    stems = _DOUBT_STEMS if clause.isascii() else _DOUBT_STEMS + _DOUBT_STEMS_ELSEWHERE
    if any(stem in clause for stem in stems) and _is_negated_clause(_CLAUSE.split(clause)[-1]):
        return True
    if end - number.end < 2:
        return text.startswith(("?", "？"), number.end)
    rest = text[number.end : min(end, number.end + _SENTENCE_CHARS)]
    if ("?" in rest or "？" in rest) and (stop := _QUESTION_END.search(rest)) is not None and stop[0] in "?？":
        return True
    if not any(stem in rest for stem in _LATER_STEMS):
        return False
    return (_NEGATED_AFTER.match(text, number.end, end) or _DOUBTED_LATER.search(rest)) is not None


def _is_negated_clause(clause: str) -> bool:
    """Whether a clause that leads to a number denies it; "those not cut are 4" and "he cannot buy 9 - 5 = 4" do not."""
    if _HEDGED.search(clause):
        return True
    negations = last_matches(_NEGATION.finditer(clause), 1)
    return bool(negations) and _AFFIRMS.search(clause, negations[0].end()) is None


def _sentence_start(text: str, start: int, position: int) -> int:
    """Where the sentence before a position begins, as far as `_SENTENCE_CHARS` characters show."""
    start = max(start, position - _SENTENCE_CHARS)
    return max(start, *[text.rfind(mark, start, position) + 1 for mark in ("\n", ". ", "? ", "! ", "。")])
