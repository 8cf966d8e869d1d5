"""Answers with a form of their own: a list, a truth value, a date.

list   the same elements as often as in the reference, in its order if `ordered`; numbers compare as numbers
bool   yes or no, in English, Chinese and some others; both is neither, and of what is denied only "not true" is no
date   the same day of the calendar, however written, at the end of a sentence too; 03/04/2020 names none
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from verifiers.math import moments
from verifiers.rules import numeric
from verifiers.rules.qa.drop import divided
from verifiers.rules.qa.words import visible

MAX_ITEMS = 256
_MAX_BRACKETS = 3
_MAX_LIST_CHARS = 20_000
_EDGES = " \t\n.,;:!?\"'“”‘’`*_()[]{}<>$。，、；،؛؟"
_BRACKETS = {"[": "]", "(": ")", "{": "}"}
_ALL_COMMAS = re.compile(r"[,，、،]")
_WITH_AMPERSAND = re.compile(r",(?!\d)\s*&?|\s&\s")
_WITH_AND = re.compile(r",(?!\d)|\s(?:und|et|y|e|и)\s")
_OTHER_BULLET = re.compile(r"\A\s{0,8}(?:(?:[+–—·▪‣◦]|\(?[a-z\d]{1,2}\))\s|[①-⑳]\s?)", re.IGNORECASE)
_LATEX_BRACE = re.compile(r"\\(?:(?:left|right)\s?\\)?([{}])")
_FENCED = re.compile(r"```\w{0,20}\n([^`]*)```")
_LEAD = re.compile(r"[^\n]{1,200}[:：]\s{0,4}\n\s{0,4}")
"""A line that says what is listed below it."""
_LEAD_DENIES = re.compile(
    r"\b(?:not|no|none|never|wrong|incorrect|except|excluding|without|other)\b|n['’]t\b|[不非没]", re.IGNORECASE
)
_BULLET = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s")
_YES = frozenset(
    [
        "yes",
        "true",
        "yeah",
        "yep",
        "correct",
        "right",
        "是",
        "是的",
        "对",
        "对的",
        "没错",
        "正确",
        "真",
        "真的",
        "成立",
        "はい",
        "예",
        "네",
        "sí",
        "si",
        "oui",
        "ja",
        "да",
    ]
)
_NO = frozenset(
    [
        "no",
        "false",
        "nope",
        "incorrect",
        "wrong",
        "否",
        "不",
        "不是",
        "不对",
        "错",
        "错误",
        "假",
        "假的",
        "不成立",
        "いいえ",
        "아니요",
        "아니오",
        "non",
        "nein",
        "нет",
    ]
)
_WORD = re.compile(r"[^\W\d_]+(?:['’]t\b)?")
_DENIALS = frozenset(["not", "never", "neither", "nor", "cannot", "maybe", "perhaps", "unsure", "or", "if"])
_IN_PART = frozenset(
    ["half", "partly", "partially", "mostly", "largely", "somewhat", "almost", "nearly", "hardly", "barely"]
)
"""What makes a thing neither true nor false."""
_BOTH_HAN = re.compile(r"(?:是|对|真|正确)(?:和|或|还是|与|且)|是否|对错|不知|不确定|可能")
_HAN_START = re.compile(
    r"\s*(不正确|不成立|不是|不对|没错|错误|是的|对的|真的|假的|正确|成立|是|对|真|否|错|假|不)(?=[，,。.！!；;：:\s]|$)"
)
_MAX_BOOL_WORDS = 40
_DENIED_TRUTH = re.compile(
    r"\W{0,4}(?:(?:this|that|it|the (?:statement|claim|answer|sentence))(?:(?: is|['’]s) not| isn['’]t)|not) (?:true|correct|right)\W{0,4}"
)


def same_list(answer: str, reference: Sequence[str], is_ordered: bool) -> bool:
    wanted = [_element(each) for each in reference]
    return any(
        found == wanted if is_ordered else Counter(found) == Counter(wanted)
        for parts in (*_lists(answer), *_other_lists(answer))
        if len(parts) == len(wanted)
        for found in ([_element(each) for each in parts],)
    )


def elements(text: str) -> list[str]:
    """What a reference that is a text lists: the division that finds most."""
    return max(_lists(text), key=len)


def _lists(text: str) -> list[list[str]]:
    text = _unwrapped(text)
    if len(text) > _MAX_LIST_CHARS:
        return [[text]]
    found = divided(text)
    for _ in range(_MAX_BRACKETS):
        if not text or _BRACKETS.get(text[0]) != text[-1]:
            break
        text = text[1:-1].strip()
        found += divided(text)
    found.append([part for piece in _ALL_COMMAS.split(text) if (part := piece.strip())])
    return [*(parts for parts in found if 0 < len(parts) <= MAX_ITEMS), [text]]


def _other_lists(text: str) -> list[list[str]]:
    """Ways in which an answer may list something that are too bold for reading a reference."""
    text = _unwrapped(text)
    if len(text) > _MAX_LIST_CHARS:
        return []
    found = [_WITH_AMPERSAND.split(text), _WITH_AND.split(text)]
    found.append([_OTHER_BULLET.sub("", line, count=1) for line in text.splitlines()])
    if (lead := _LEAD.match(text)) and _BULLET.match(text, lead.end()) and not _LEAD_DENIES.search(lead[0]):
        found += divided(text[lead.end() :])
    elif listed := listed_at_end(text):
        found += divided(listed)
    return [[part for piece in pieces if (part := piece.strip())] for pieces in found]


def listed_at_end(text: str) -> str | None:
    """The only list with bullets of a text that ends with it, where the line above says what is listed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = next((place for place, line in enumerate(lines) if _BULLET.match(line)), 0)
    if not first or not all(map(_BULLET.match, lines[first:])):
        return None
    lead = lines[first - 1].rstrip("*_ ")
    return None if not lead.endswith((":", "：")) or _LEAD_DENIES.search(lead) else "\n".join(lines[first:])


def listed_from(text: str, place: int) -> str | None:
    """The list with bullets that begins in the line of a place; None if that has no bullet, or another list is as good."""
    start = text.rfind("\n", 0, place) + 1
    if _LEAD_DENIES.search(text[:start].rstrip().rpartition("\n")[2]):
        return None
    lines = text[start:].splitlines()
    filled = [line.strip() for line in lines if line.strip()]
    listed = list(takewhile(_BULLET.match, filled))
    if len(listed) < 2 or _OR_ELSE.match("".join(filled[len(listed) : len(listed) + 1])):
        return None
    return "\n".join(listed)


_OR_ELSE = re.compile(r"\W{0,4}(?:or|alternatively|otherwise)(?!\w)", re.IGNORECASE)


def _unwrapped(text: str) -> str:
    r"""What is seen of a text, without a code fence around it, and with LaTeX's `\{` as a brace."""
    text = visible(text)
    if len(text) <= _MAX_LIST_CHARS and (fence := _FENCED.fullmatch(text)):
        text = fence[1].strip()
    return _LATEX_BRACE.sub(r"\1", text) if "\\" in text else text


def _element(text: str) -> str:
    number = numeric.read(text) if any(map(str.isdigit, text)) else None
    if isinstance(number, numeric.Number) and not (number.is_percent or number.currency):
        return number.show()
    return " ".join(unicodedata.normalize("NFKC", visible(text)).casefold().split()).strip(_EDGES)


_LETTERS = {"t": True, "f": False, "y": True, "n": False}
"""Only a text that is nothing else."""


def truth(text: str) -> bool | None:
    """What a short text says; None when it says both, neither, or denies what it says."""
    text = unicodedata.normalize("NFKC", visible(text)).casefold()
    if _BOTH_HAN.search(text):
        return None
    if han := _HAN_START.match(text):
        return None if han[1] == "不" and len(text.strip(_EDGES)) > 1 else han[1] in _YES
    said = _WORD.findall(text)
    if len(said) == 1 and "?" not in text and (letter := _LETTERS.get(said[0])) is not None:
        return letter
    if _DENIED_TRUTH.fullmatch(text) and "?" not in text:
        return False
    if not 0 < len(said) <= _MAX_BOOL_WORDS or "?" in text:
        return None
    told = {word in _YES for word in said if word in _YES or word in _NO}
    if len(told) != 1:
        return None
    (value,) = told
    is_first = said[0] in _YES or said[0] in _NO
    is_last = said[-1] in _YES or said[-1] in _NO
    if len(said) == 1:
        return value
    if is_first and text.lstrip(_EDGES)[len(said[0]) :].lstrip("*_ ").startswith(
        (",", ".", ";", ":", "!", "-", "—", "–", "、", "。", "\n")
    ):
        return value
    is_plain = not any(word in _DENIALS or word in _IN_PART or word.endswith(("n't", "n’t")) for word in said)
    return value if is_last and is_plain and len(said) <= 8 else None


def same_day(answer: str, reference: moments.Date) -> bool:
    """A reference with a year wants one in the answer."""
    found = day(answer)
    return found is not None and reference.same_as(found) and (reference.year is None or found.year is not None)


_ISO_SHORT = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?")

_ISO_COMPACT = re.compile(r"([12]\d{3})(\d\d)(\d\d)")


_SAID_OF_A_DAY = re.compile(
    r"(?:[^\W\d_][^\W\d_'’-]{0,30},?\s){0,12}(?:(?:is:?|was|be|on)\s(?:the\s)?|(?:date|day|日期)\s?(?:[:：]|是)\s?)(?=[*_`]{0,3}[\w])",
    re.IGNORECASE,
)
"""What may come before a day in a sentence that ends with it: "The treaty was signed on …"."""
_NOT_THAT_DAY = re.compile(
    r"\b(?:not|never|nor|no|cannot|if|whether|unless|unlike|before|after|until|since|between|from|either|neither|doubt|unlikely"
    r"|wrong|maybe|perhaps|might|may|could|instead|than|except|first|originally)\b|n['’]t\b|^\s*(?:is|was)\b",
    re.IGNORECASE,
)
"""What makes the day behind it a bound or a doubt, or the sentence a question."""
_KOREAN = re.compile(r"(\d{4})년\s?(\d{1,2})월\s?(\d{1,2})일")
_FOREIGN_MONTHS = {
    name: english
    for english, names in {
        "January": "januar jänner janvier enero gennaio janeiro января",
        "February": "februar février febrero febbraio fevereiro февраля",
        "March": "märz mars marzo março марта",
        "April": "avril abril aprile апреля",
        "May": "mai mayo maggio maio мая",
        "June": "juni juin junio giugno junho июня",
        "July": "juli juillet julio luglio julho июля",
        "August": "août agosto августа",
        "September": "septembre septiembre settembre setembro сентября",
        "October": "oktober octobre octubre ottobre outubro октября",
        "November": "novembre noviembre novembro ноября",
        "December": "dezember décembre diciembre dicembre dezembro декабря",
    }.items()
    for name in names.split()
}
_FOREIGN_DAY = re.compile(
    rf"(?:am |le |el |il )?(?P<day>\d{{1,2}})(?:\.|er|º|°)? (?:de )?(?P<month>{'|'.join(_FOREIGN_MONTHS)})(?: de[l]?)? (?P<year>\d{{4}})(?: года| г)?",
    re.IGNORECASE,
)


def day(text: str) -> moments.Date | None:
    text = unicodedata.normalize("NFKC", visible(text)).strip(" .,;。")
    text = text.strip("*_`\"' ")
    if (lead := _SAID_OF_A_DAY.match(text)) and not _NOT_THAT_DAY.search(lead[0]):
        text = text[lead.end() :].strip("*_`\"' ")
    if korean := _KOREAN.fullmatch(text):
        text = "-".join(number.zfill(2) for number in korean.groups())
    elif named := _FOREIGN_DAY.fullmatch(text):
        text = f"{named['day']} {_FOREIGN_MONTHS[named['month'].lower()]} {named['year']}"
    if compact := _ISO_COMPACT.fullmatch(text):
        text = "-".join(compact.groups())
    elif iso := _ISO_SHORT.fullmatch(text):
        text = f"{iso[1]}-{int(iso[3]):02}-{int(iso[4]):02}"
    return moments.date(text) if len(text) <= moments.MAX_CHARS else None
