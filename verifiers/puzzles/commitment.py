"""Whether a text that holds several answers commits to the last of them.

    … earlier answer ──between──► last answer ──behind──► …

*Between.* The last answer stands where words before it correct the earlier one or conclude ("so", "wait", "the final
answer is"), or where it is far from it. It does not where nothing is said between the two, where they are led in by the
same words (a list: "Solution 1: … Solution 2: …", "Answer: … Answer: …"), or by words for an alternative or a case
("or", "another", "if").

*Behind.* "… or" makes it an alternative, "that is wrong", "a contradiction" and "no solution exists" take it back.

All looks go a fixed number of characters far, so a text costs no more for its length.
"""

import re
from collections.abc import Sequence
from typing import Literal, Protocol


class Place(Protocol):
    """Where an answer stands in the text."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


_FAR_CHARS = 200
_LEAD_CHARS = 100
_TAIL_CHARS = 160

_ALTERNATIVE = re.compile(
    r"\b(?:or|either|alternatively|alternative|alternate|another|also|other|maybe|perhaps|possibly|could|might|may"
    r"|second|third|fourth|if|suppose|supposing|assume|assuming|unless|whether|case|one\sof)\b"
    r"|或|另一|另外|也可|可能|也许|如果|假设|要么",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:so|therefore|thus|hence|then|final\w*|conclu\w+|overall|altogether|answer|solution|solved|completed?|filled"
    r"|results?|resulting|outputs?|becomes?|gives|yields|into|shortest|shorter|best|better|optimal)\b"
    r"|因此|所以|答案|最终|综上|结果|输出|得到|正确|解为",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"\b(?:wait|actually|correct\w*|mistakes?|error|instead|rather|sorry|wrong|incorrect|fix\w*|invalid|but|however|fails?"
    r"|contradict\w*|impossible|no|not|again)\b|n['’]t\b|不对|更正|纠正|错|矛盾|不行|应该|而是",
    re.IGNORECASE,
)
_PROGRESSES = re.compile(
    r"\b(?:step|stage|phase|iteration|pass|after|input|example|test|train\w*|next)\b|步", re.IGNORECASE
)
"""What leads to a stage on the way, or to a part of the task that is told again."""
_NUMBERING = re.compile(
    r"\b(?:\d+|[a-h]|one|two|three|four|five|first|second|third|fourth|fifth|last|[ivx]+)\b|[一二三四五第#]"
)
_SENTENCE_END = re.compile(r"[.!?;](?=\s)|[。！？；]|\n\s*\n")
_OR_BEFORE = re.compile(
    r"(?:\b(?:or|either|maybe|perhaps|possibly)|或|或者|要么|可能是?)[\s:*`$\"'(\[{,]{0,8}\Z", re.IGNORECASE
)
_DENIED_BEFORE = re.compile(
    r"(?:(?:\bnot|n['’]t|\bnever|\bwhether|\bis it|\binstead of|\brather than)\b|不是|而非"
    r"|(?:\b(?:impossible|false|untrue)|(?:\bnot|n['’]t)\s(?:true|possible|the\scase))\sthat\b"
    r"|(?:\b(?:not|never|cannot)|n['’]t)\s(?:find|get|reach|obtain|make|confirm|verify|recommend)\b)[\s:*`]{0,8}\Z",
    re.IGNORECASE,
)
_DENIAL_CHARS = 32
_DENIAL_AT_START = re.compile(
    r"[\W_]{0,4}(?:i (?:do not|don['’]t) know|(?:(?:it|this|that|the (?:answer|solution|path)) (?:is|was)\s)?not)\b",
    re.IGNORECASE,
)
_OR_BEHIND = re.compile(
    r"[\s*`$\"')\]},.;]{0,8}(?:\((?:\s)?)?(?:or\b(?!\s(?:equivalently|simply|in\sother|more|as|written|rather))|或)",
    re.IGNORECASE,
)
_WRONG_BEHIND = re.compile(
    r"\A[\s*`$\"')\]}]{0,8}(?:(?:is|are|was|seems)\s)?(?:not\s(?:right|correct|valid|a\s|the\s)|wrong|incorrect|invalid)\b"
    r"|\b(?:this|that|it|which|above)\s(?:\w+\s)?(?:is|was|seems|looks|must\sbe)\s(?:\w+\s)?"
    r"(?:wrong|incorrect|invalid|not\s(?:right|correct|valid|allowed|a\ssolution))\b"
    r"|\b(?:that|this|it)\s(?:is|was)n['’]t\s(?:right|correct|valid|a\ssolution)\b"
    r"|\b(?:that|this|it)\s(?:does\snot|doesn['’]t)\swork\b"
    r"|\bi\s(?:do\snot|don['’]t)\sknow\b|\bi\sgive\sup\b|不对|错误|不正确|是错的"
    r"|\A[\s*`$\"')\]}.,;:–—-]{0,8}(?:(?:then|but|so|which|this|that|it|we)\s){0,3}"
    r"(?:(?:is|gives|yields|leads\sto|creates|results\sin|would\sbe|causes|have|get|reach)\s)?(?:an?\s)?"
    r"contradict(?:ion|s|ory)\b"
    r"|(?:\A|[.!?;,\n])[\s*]{0,4}(?:(?:so|thus|therefore|hence|actually|but|wait|unfortunately|however|in\sfact),?\s){0,3}"
    r"(?:there\s(?:is|are)\s)?no\s(?:(?:valid|such|possible|proper|consistent)\s)?"
    r"(?:solution|colou?ring|assignment|placement|ladder|path|answer)s?(?:\s(?:exists?|is\spossible|works))?\s{0,2}(?:[.!\n]|\Z)",
    re.IGNORECASE,
)


def doubt(text: str, last: Place, is_plain: bool) -> Literal["conflicting_answers", "no_answer"] | None:
    """Why the words beside the last answer make it none; `is_plain`: in plain text they may deny it, too."""
    lead = text[max(0, last.start - _LEAD_CHARS) : last.start]
    if _OR_BEFORE.search(lead) or _OR_BEHIND.match(text, last.end):
        return "conflicting_answers"
    if is_plain and (
        _DENIAL_AT_START.match(text, last.start) or _WRONG_BEHIND.search(text[last.end : last.end + _TAIL_CHARS])
    ):
        return "no_answer"
    return None


def is_denied(text: str, place: Place) -> bool:
    """Whether what is offered at a place is said not to be the answer: "not A -> C"."""
    return _DENIED_BEFORE.search(text[max(0, place.start - _DENIAL_CHARS) : place.start]) is not None


def replaces(text: str, last: Place, before: Sequence[Place], restates: bool) -> bool:
    """Whether the last answer replaces the one before it; `before`: those that differ from it, in order.

    `restates`: it was given before them, too.
    """
    earlier = before[-1]
    gap = text[max(earlier.end, last.start - _FAR_CHARS) : last.start]
    is_far = last.start - earlier.end > _FAR_CHARS
    if _is_alternative(gap):
        return False
    lead = _lead(gap)
    start = before[-2].end if len(before) > 1 else max(0, earlier.start - _LEAD_CHARS)
    is_same = lead == _lead(text[max(start, earlier.start - _LEAD_CHARS) : earlier.start])
    if is_same and (lead or not (is_far or _CORRECTS.search(gap))):
        return _PROGRESSES.search(lead) is not None
    return is_far or restates or any(words.search(gap) for words in (_CONCLUDES, _CORRECTS, _PROGRESSES))


def _is_alternative(gap: str) -> bool:
    """Whether the sentence that leads to an answer calls it an alternative, and does not conclude after that."""
    sentence = _SENTENCE_END.split(gap)[-1]
    places = list(_ALTERNATIVE.finditer(sentence))
    return bool(places) and not _decides(sentence[places[-1].end() :])


def _decides(text: str) -> bool:
    return re.search(r"\b(?:so|therefore|thus|hence|final\w*)\b|因此|所以|最终", text, re.IGNORECASE) is not None


def _lead(text: str) -> str:
    """The words that lead to an answer, in its line or the last line that has any, without a number in a list."""
    for line in reversed(text.split("\n")):
        words = " ".join(re.findall(r"[^\W_]+", _NUMBERING.sub(" ", _SENTENCE_END.split(line)[-1].casefold())))
        if words:
            return words
    return ""
