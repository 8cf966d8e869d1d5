r"""The last sentence of a text that tells what the answer is in another case.

If order mattered, the answer would be 96.       \boxed{15} Note: for n = 3, the answer is 16.       \boxed{15} n=3の場合、答えは16です。
"""

import re

from verifiers.commitment.byname import lacks_something
from verifiers.commitment.cues import Kind, words
from verifiers.commitment.figures import last_digit_end
from verifiers.commitment.moods import is_conditional
from verifiers.commitment.remarks import is_place
from verifiers.commitment.spans import Span, strip
from verifiers.commitment.stance import Sentence, last_sentence, sentence_at
from verifiers.commitment.wording import single

_MAX_CHARS = 300
_MARKS = ("\\boxed", "<answer", "####")
_CASE = re.compile(r"(?<![A-Za-z\\\d])(?P<name>[A-Za-z])\s?=\s?(?P<value>[-−]?\d[\d.,/]{0,12})(?<=\d)[\s$)]{0,3}")
_CLOSES = ("}", ">")
_BEHIND_CHARS = 16
_STOPS = frozenset("\n.!?…。．！？｡।؟")
"""The signs that may end a sentence."""


def without_unreal(text: str, start: int, end: int) -> int:
    """The end of a part of a text before such a sentence, if the text has figures before it, and no mark within."""
    mark = max(text.rfind(mark, max(start, end - _MAX_CHARS), end) for mark in _MARKS)
    if mark >= 0 and _STOPS.isdisjoint(text[mark:end].rstrip(" \n.")):
        return end
    line = max(start, end - _MAX_CHARS, text.rfind("\n", start, end) + 1)
    if last_digit_end(text, line, end) is None and any(map(str.isalnum, text[line:end])):
        return end
    last = _last(text, start, end)
    if last is None or not start < last.start or any(text.find(mark, last.start, end) >= 0 for mark in _MARKS):
        return end
    last_digit = last_digit_end(text, last.start, end)
    if last_digit is None or last_digit_end(text, start, last.start) is None:
        return end
    index = last.place((last_digit - 1, last_digit))[0]
    is_unreal = last.is_unreal(index) or (_case(last) is not None and any(map(is_conditional, last.words[:index])))
    return strip(text, start, last.start)[1] if is_unreal else end


def without_case(text: str, origin: int, end: int) -> int:
    """The end of a part of a text before a last sentence that tells of a case which nothing before it names."""
    line = text[max(origin, end - _MAX_CHARS) : end].rstrip().rpartition("\n")[2]
    if "=" not in line and any(map(str.isalnum, line)):
        return end
    last = _last(text, origin, end)
    case = None if last is None or text.find("=", last.start, end) < 0 else _case(last)
    if last is None or case is None:
        return end
    # Behind a mark on the same line: "\\boxed{15} Note: for n = 3, the answer is 16".
    start = max(last.start, *(text.rfind(sign, last.start, case.start()) + 1 for sign in _CLOSES))
    item = re.compile(rf"{case['name']}\s?=\s?{re.escape(case['value'])}(?!\d)")
    is_own = item.search(text, origin, start) is not None or any(text.find(mark, start, end) >= 0 for mark in _MARKS)
    return end if is_own else strip(text, origin, start)[1]


def names_case(text: str, start: int, end: int, answer: str) -> bool:
    """Whether an answer is one of a case, too, or a formula in letters."""
    letters = re.sub(r"\\[A-Za-z]+", "", answer)
    return any(map(str.isalpha, letters)) or _case(sentence_at(text, start, 0, end)) is not None


def tells_other_case(text: str, start: int, announced: Span) -> bool:
    """Whether an announcement, whose noun and value stand at two places, is that of another case or part of the task.

    Its sentence begins with a condition ("if order matters,", 没有限制时), or its noun has another part ("the answer to part (b)").
    """
    sentence = sentence_at(text, announced[0], start, len(text))
    noun, value = (sentence.place((at, at + 1))[0] for at in announced)
    first = sentence.past_cue(0, Kind.SO, Kind.BUT)
    lead = Sentence(text, sentence.words[first].start, announced[0], "") if first < noun else None
    if lead is not None and (sentence.past_cue(first, Kind.IF) > first or lacks_something(lead)):
        return True
    if Kind.CASE in sentence.kinds and _CASE.search(text, sentence.start, announced[0]):
        return True
    is_part = any(cue.kind is Kind.LABEL and noun < cue.first < value for cue in sentence.cues)
    return is_part and any(cue.kind is Kind.COMPLEMENT and noun < cue.first < value for cue in sentence.cues)


def _last(text: str, start: int, end: int) -> Sentence | None:
    """The last sentence of a text that has words, unless it asks."""
    statement = last_sentence(text, max(start, end - _MAX_CHARS), end, has_words=True)
    return None if statement is None or statement.asks else statement


def _case(sentence: Sentence) -> re.Match[str] | None:
    """The value of a name for which the rest of a sentence tells another value; None if there is none."""
    case = _CASE.search(sentence.text, sentence.start, sentence.end)
    if case is None or last_digit_end(sentence.text, case.end(), sentence.end) is None:
        return None
    return case if _is_led(sentence.text, sentence.start, case) else None


def _is_led(text: str, start: int, case: re.Match[str]) -> bool:
    """Whether a word before or behind the value of a name makes it a case: "for n = 3", n=3の場合."""
    prefix = words(text, max(start, case.start() - _BEHIND_CHARS), case.start())
    lead = next((word.text for word in reversed(prefix) if word.text not in "$("), "")
    suffix = text[case.end() : case.end() + _BEHIND_CHARS]
    return is_place(lead) or lead in single(Kind.IF) or (not suffix[:1].isascii() and is_place(suffix))
