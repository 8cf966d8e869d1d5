"""What directly follows an answer and puts another one in its place: "The answer is 12. Wait, no, it's 13."

It is in no channel's form, so it is not the answer; but what it corrects is not, either.
"""

import re

import msgspec

from verifiers.answers.channels import Channel
from verifiers.answers.extraction import Extraction
from verifiers.answers.folding import fold
from verifiers.answers.numerals import NUMBER

_BREATH = r"[\s,.:;!…—–*-]{1,6}"
_WORDS = re.compile(
    r"(?:[\s$*_)\]}.,!;…—–-]|\\[\])]|</answer>){0,12}"
    rf"(?:(?:but|oh|ah|hm+|okay|ok){_BREATH}){{0,4}}"
    rf"(?:(?:no|(?:no\s|but\s)?wait(?=[,.:;!…—–-])|actually|sorry|correction|scratch\sthat|(?:just\s)?kidding|i\smeant?"
    rf"|make\s(?:that|it)|w?h?oops|then\sagain|on\s(?:second\sthoughts?|(?:further\s)?reflection)|apologies|my\s(?:mistake|bad|error|apologies)"
    rf"|i(?:['’]m|\sam|\swas)\s(?:wrong|mistaken)|i\stake\s(?:that|it)\sback|(?:or\s)?(?:maybe|perhaps|possibly)|either\s(?:that|it|this)\sor){_BREATH}){{1,4}}"
    r"(?:so\s)?(?:(?:it|that|this|the\s(?:(?:correct|right|final|actual|real)\s)?answer)(?:['’]s|\s(?:is|should\sbe|must\sbe))\s"
    r"|should\sbe\s)?(?:actually\s)?",
    re.IGNORECASE,
)
_VALUE = re.compile(
    rf"[$*_\"“(]{{0,4}}(?P<value>{NUMBER}|(?!(?:Correct|Right|OK|Okay|Done|Good|Great|Fine|Never|Nothing|Thanks|Thank|I|We|Sorry|Wait"
    r"|Hmm|Let|So|The|That|This|It|There|Here|Now)(?!\w))[A-Z][^\W\d_]{0,30}(?:\s[A-Z][^\W\d_]{0,30}){0,3})"
    r"(?:\s?(?:[a-z]{1,12}|[%°]))?[$*_\"”)]{0,4}\s{0,4}(?:[.!](?=[\s<]|\Z)|\n|\Z)"
)


_UNMADE = re.compile(
    r"(?:[\s$*_)\]}.,!;…—–-]|\\[\])]|</answer>){0,12}"
    r"(?:"
    rf"(?:(?:but|oh|ah|hm+|oops|no|wait|actually|sorry){_BREATH}){{0,4}}"
    r"(?:scratch\sthat|i\s(?:take|retract)\s(?:that|it|this)(?:\sback)?|never\s?mind|(?:just\s)?kidding|(?:or\s)?not\sreally|i\sstand\scorrected"
    r"|(?:that|this)(?:['’]s|\s(?:is|was))\s(?:clearly\s|obviously\s|actually\s)?(?:wrong|incorrect|a\smistake|not\s(?:right|correct|the\s(?:right\s|correct\s)?answer)))"
    r"(?=\s{0,4}(?:[.!…]|\n|</answer>|\Z))"
    rf"|(?:(?:but|oh|ah|hm+|oops|no|wait|actually|sorry){_BREATH}){{1,4}}(?:that|this|it)"
    r"(?:(?:['’]s|\s(?:is|was|looks|seems))\s(?:wrong|incorrect|a\smistake|not\s(?:right|correct))"
    r"|\s(?:does(?:n['’]t|\snot)\s(?:look|seem)|can(?:['’]t|not)\sbe)\s(?:right|correct))(?=[.!,]|\n|\Z))",
    re.IGNORECASE,
)
_CHANNELS = frozenset([Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE])
"""Behind whose answer a response may go on with another; the others take the last one."""
_MIN_CHARS = len(" no 3")


def uncorrected(response: str, extraction: Extraction) -> Extraction:
    """The same; without the answer where it is called wrong, or another one put in its place, directly behind it."""
    if extraction.answer is None or extraction.span is None or len(response) - extraction.span[1] < _MIN_CHARS:
        return extraction
    may_go_on = extraction.channel in _CHANNELS
    is_replaced = may_go_on and _is_replaced(response, extraction.answer, extraction.span[1])
    if is_replaced or _UNMADE.match(response, extraction.span[1]):
        return msgspec.structs.replace(extraction, answer=None, span=None, reason="conflicting_answers")
    return extraction


def _is_replaced(response: str, answer: str, end: int) -> bool:
    """Whether another answer is given directly behind one, with a word that takes that back."""
    words = _WORDS.match(response, end)
    value = words and _VALUE.match(response, words.end())
    if not value:
        return False
    answer, corrected = _plain(answer), _plain(value["value"])
    return answer != corrected and not answer.startswith(f"{corrected} ")


def _plain(text: str) -> str:
    return fold(text).casefold().strip(" \n$*_().\\\"'")
