"""What is said at the end of a text beside its number and states no other one, and what disowns a number.

An aside is left out: a contrast (`12, not 15`), how the number was got (`12 (3 × 4)`), the same value again
(`3/4, or 0.75`). Disowned is a number that is denied, doubted, given as an example, another's opinion or an earlier
guess, or called wrong.
"""

import re

from verifiers.rules.numeric.reading import read
from verifiers.rules.numeric.values import Number

_CHARS = 80
_END = r"(?=[\s.。$*!)}\]]{0,6}(?:</answer>\s{0,4})?\Z)"
_VALUE = r"[$\\]{0,2}[-−]?\d[\d.,]{0,20}(?:/\d{1,12})?(?:\s?\\?%)?\$?"
_CONTRAST = re.compile(
    rf"(?<=[\w%)}}\]$*°])(?P<aside>(?:\s?[,;—–]\s|\s-\s|\s(?=rather|instead)|\s\()(?:(?:and\s|but\s)?not|rather\sthan|instead\sof|pas|nicht|non|não|а\sне)"
    rf"\s{_VALUE}(?:\s[a-z]{{1,12}})?\)?|[，,]\s?(?:而不是|而非|不是)\s?{_VALUE}[^\W\d_a-zA-Z]{{0,3}}){_END}",
    re.IGNORECASE,
)
_CALCULATION = re.compile(
    r"\d(?:\s?[^\W\d_]{1,12}){0,2}[$*°%]{0,3}(?P<aside>\s\(\s?(?:=\s?)?\d[\d.,]{0,12}(?:\s?(?:[×x*+÷/·]|\s[-−]\s)\s?\d[\d.,]{0,12}){1,5}(?:\s?=\s?\d[\d.,]{0,12})?\s?\))"
    + _END
)
_DENIED_FIRST = re.compile(rf"(?P<aside>不是\s?{_VALUE}[^\W\d_a-zA-Z]{{0,3}}[，,]\s?而)(?=是\s?[-−]?\d)")
_AGAIN = re.compile(
    rf"(?<![\w.,/])(?P<value>{_VALUE})(?P<aside>,?\s(?:or|i\.e\.,?|that\sis,?)\s(?:(?:equivalently|simply)\s)?(?P<again>{_VALUE})){_END}"
)
_CONTRAST_SIGNS = ("not ", "than ", "stead", "pas ", "nicht ", "non ", "não ", "не ", "不是", "而非")
_AGAIN_SIGNS = (" or ", " i.e.", " that is")


def without_asides(text: str) -> str:
    """A text of the same length without the asides at its end."""
    first = max(0, len(text) - _CHARS)
    tail = text[first:].lower()
    if any(sign in tail for sign in _CONTRAST_SIGNS):
        text = _without(text, _CONTRAST, first)
        text = _without(text, _DENIED_FIRST, first) if "不是" in tail else text
    if ")" in tail[-_BRACKET_CHARS:]:
        text = _without(text, _CALCULATION, first)
    if any(sign in tail for sign in _AGAIN_SIGNS):
        again = _AGAIN.search(text, first)
        return _blank(text, *again.span("aside")) if again and _is_same(again["value"], again["again"]) else text
    return text


_BRACKET_CHARS = 24
"""What may stand behind a bracket that is an aside: a mark, an end tag."""


def _without(text: str, aside: re.Pattern[str], first: int) -> str:
    found = aside.search(text, first)
    return _blank(text, *found.span("aside")) if found else text


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _is_same(value: str, again: str) -> bool:
    one, other = read(value), read(again)
    return isinstance(one, Number) and one == other


_IT = r"(?:\s(?:that\s)?(?:(?:it|this|(?:the|my)\s(?:final\s|correct\s)?answer|[a-z])(?:['’]s|\s(?:is|was|equals|=))?|to\sbe))?"
_DISOWNED = re.compile(
    r"(?:\b(?:(?:anything|any\snumber|everything)\sbut|except(?:\sfor)?|neither|unless(?:\s(?:it|x)(?:['’]s|\sis))?"
    r"|(?<!\bno\s)(?<!\bwithout\sa\s)(?<!n['’]t\s)(?<!\bnot\s)doubt(?:\sthat)?"
    + _IT
    + r"|(?<!\bnot\s)(?<!n['’]t\s)unlikely"
    + _IT
    + r"|(?:not|\w{1,8}n['’]t)\sknow\s(?:if|whether)"
    + _IT
    + r"|e\.\s?g\.,?|for\s(?:example|instance),?|such\sas|numbers?\slike"
    r"|(?:my|our|the)\s(?:first|initial|original)\s(?:guess|thought|answer)\swas)"
    r"|(?:\A|[.!?\n]\s?)\W{0,3}(?:some(?:\speople)?|my\s[a-z]{2,12}|the\s(?:user|textbook|student))\s(?:says?|thinks?|claims?|believes?|suggests?|guess(?:es)?)(?:\sthat)?(?:\sit(?:['’]s|\sis|\swas))?"
    r"|(?:\A|\n)\W{0,3}(?:incorrect|wrong)\s?[:：]|[❌✗✘✖]|\b(?:ليس|ليست))[\s$*(]{0,4}\Z",
    re.IGNORECASE,
)
_DISOWNED_SIGNS = (
    *(
        "but",
        "xcept",
        "either",
        "nless",
        "doubt",
        "nlikely",
        "know",
        "g.",
        "xample",
        "nstance",
        "such",
        "like",
        "guess",
    ),
    *(
        "thought",
        "answer",
        "say",
        "think",
        "claim",
        "believe",
        "suggest",
        "ncorrect",
        "rong",
        "❌",
        "✗",
        "✘",
        "✖",
        "ليس",
    ),
)
_DISOWNED_BEHIND = re.compile(
    r"[*$%]{0,3}(?:(?:\s?[a-z]{1,12})?\s?(?:[❌✗✘✖]|[(\[](?:wrong|incorrect|rejected|excluded|not\s(?:right|correct|the\sanswer))\b)"
    r"|\s(?:has\sbeen\s|was\s|is\s)?(?:excluded|rejected|ruled\sout|eliminated)\b|\sis\s(?:close|tempting),?\sbut\s(?:no|not|wrong|incorrect)\b"
    r"|(?:\s?[a-z]{1,12})?[.!,;…]{0,3}\s{1,4}(?:(?:but|oh|hm+|no|wait|actually|sorry)[\s,.!…]{1,3}){0,3}(?:scratch\sthat|i\stake\s(?:that|it|this)\sback|never\s?mind|(?:just\s)?kidding|(?:or\s)?not\sreally)(?=\s?(?:[.!…]|\Z))"
    r"|(?:は|が)(?:正しくない|間違い|違う)|左右吗|吗)",
    re.IGNORECASE,
)


def is_disowned(head: str, behind: str) -> bool:
    """Whether a number is disowned by the text that ends before it, or by what begins behind it."""
    if any(sign in head for sign in _DISOWNED_SIGNS) and _DISOWNED.search(head):
        return True
    return _DISOWNED_BEHIND.match(behind) is not None
