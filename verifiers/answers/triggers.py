"""Phrases that announce an answer: "The final answer is", "Answer:", "答案是" and their like.

A word is found first, cheaply; what stands before and behind it decides whether it announces anything.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from verifiers.answers.denials import denies
from verifiers.answers.offers import MAX_OFFERS, last_matches
from verifiers.sightings import ASCII_SPACE, SPACE, Scan, has_other_alphabets

_ANSWER_WORD = re.compile(
    r"(?P<word>answers?(?:\b|(?=_{1,3}(?![^\W_])))|(?:correct|right|best)\s(?:option|choice)\b|respuesta\b|réponse\b"
    r"|antwort\b|resposta\b|risposta\b|ответ\b)"
    r"|(?P<cjk>答案|答え|정답|الإجابة)"
    r"|(?P<choice>(?<![不若未别勿误错])(?<!如果)(?<!假如)(?<!要是)(?<!不能)(?<!不要)(?<!不会)(?<!不该)(?:[故应题此以]选|选择|正确(?:的)?选项)(?:择"
    r"|项)?(?:应该?)?[是为]?[ ]?[:：]?(?=[\s*$(（]{0,4}(?-i:[A-H](?![A-Za-z]{0,7}[a-z]))))",
    re.IGNORECASE,
)
ANSWER_STEMS = rf"answer|(?:correct|right|best){SPACE}(?:option|choice)|respuesta|antwort|resposta|risposta|r\?ponse"
"""With what a word begins that may announce an answer, as a shadow shows it; case does not count."""
_ANSWER_STEM = Scan(f"(?i){ANSWER_STEMS}")
OTHER_ANSWER_STEMS = (
    *(
        "ответ",
        "答案",
        "答え",
        "정답",
        "الإجابة",
        "故选",
        "应选",
        "题选",
        "此选",
        "以选",
        "选择",
        "正确选项",
        "正确的选项",
    ),
)
_OTHER_ANSWER_STEM = Scan(f"(?i){'|'.join(OTHER_ANSWER_STEMS)}")
_AFTER_WORD = re.compile(
    r"[ \t*_`\"'’)\]]{0,24}"
    r"(?:(?:to|for|of|in)\b[^.:：。\n]{0,80}?\s|here\s|,\s(?!or\b)[^,.:：()。\n]{1,40},\s|\((?!or\b)[^(),.:：。\n]{1,40}\)\s)?"
    r"(?:(?:(?P<wrong>incorre[ct]{1,2}[ae]|errad[ao]|errat[ao]|sbagliata|equivocada|err[oó]nea|erronée|fals[ao]|fausse)|corre[ct]{1,2}[ae]|finale?|exacte?|esatta|giusta|certa|juste|richtige)(?:\s{1,4}|(?=[*_]{0,3}\s?[:：=])))?"
    r"(?:(?P<verb>(?:(?<=['’])s(?=\s[(\[*\"“]{0,3}(?:[-−]?\d|[\\$]|(?-i:[A-Z])))|is|are|was|equals|(?:would|should|must|will|can only|(?:has|ought|needs) to)(?:\s(?:therefore|thus|then|hence|clearly|surely|definitely|indeed))? be|es|est|ist|lautet|é|è)(?!\w)(?:\s(?:thus"
    r"|therefore|then|donc|also|por tanto|that)\b"
    r"|,?\sof\scourse,?|,\s(?!not\b|or\b)[A-Za-z' ]{3,30},(?=\s))?)"
    r"[ \t*_]{0,6}[:：]?|(?P<colon>[:：=—]|-\s)|(?P<heading>[*_#:： \t]{0,8}$))",
    re.IGNORECASE | re.MULTILINE,
)
_AFTER_CJK = re.compile(
    r"(?:[ \t*_`]|الصحيحة){0,8}(?:(?:就是|应该是|应当是|应该为|应为|应是|是|为|為|等于|選|选|は|은|는|هي|هو)[ \t*_]{0,6}[:：]?|[:：=]|】[:：]?)"
)
_LEAD = (
    r"(?:\b(?:so|thus|hence|therefore|and|or)\b,?SPACE{1,3})?(?:\b(?:the|my|our|la|die|il|a)SPACE{1,3})?"
    r"(?:\b(?:final|correct|right|best|only|actual|richtige|correcta)SPACE{1,3}){0,3}"
)
_IN_NAME = re.compile(r"[A-Za-z0-9]_{0,3}\Z")
"""Before an answer word that is a part of a longer one; an underscore with nothing before it is emphasis."""
_BEFORE_WORD = re.compile(_LEAD.replace("SPACE", r"\s") + "$|[所以故因此最终正确的最后]{1,8}$", re.IGNORECASE)
_BEFORE_WORD_IN_ASCII = Scan(f"(?i){_LEAD.replace('SPACE', ASCII_SPACE)}\n?\\z")
_NOT_GIVING = re.compile(
    r"\b(?:find|get|give|obtain|determine|compute|calculate|check|verify|write|reach|provide|box|express|format"
    r"|your|an)"
    r"\s{1,3}(?:(?:the|my|our|a)\s{1,3})?(?:(?:final|correct|right)\s{1,3}){0,2}$",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"(?:\b(?:wrong|incorrect|false|invalid|mistaken|erroneous|inaccurate|falsche[nrms]?|inkorrekte[nrms]?|mauvaise|fausse|incorreta|неверн\w{2}|неправильн\w{2}"
    r"|ошибочн\w{2})[*_]{0,2}[ \t]{1,3}(?:(?:final|possible)[ \t]{1,3})?|(?:错误|錯誤|错|錯|不正[确確]|不[对對])的?)[*_]{0,3}$",
    re.IGNORECASE,
)
"""Before an answer word: what follows is what the answer is not."""
_OTHER = re.compile(
    r"\b(?:previous|earlier|initial|original|another|other|(?:my|our)[ \t]{1,3}first)[ \t]{1,3}$", re.IGNORECASE
)
"""Before one that speaks of another answer than this response's last."""
_HEADING_START = re.compile(r"(?:^|\n)[#*\s>_\-✅]{0,12}(?:the\s)?(?:final\s|correct\s){0,2}$", re.IGNORECASE)
_NOT_BUT = re.compile(
    r"[\s*$]{0,4}(?:not\b(?!\s(?:sure|certain)\b)[^\n]{0,80}?\bbut\b|不是[^\n。]{0,40}?而是)", re.IGNORECASE
)
_NOT = re.compile(r"[\s*$]{0,4}(?:not\b|n['’]t\b|不)", re.IGNORECASE)
_BEFORE_CHARS = 60
_OTHER_CHARS, _WRONG_CHARS = len("our   first   "), len("неправильный   possible   ")


class Trigger(msgspec.Struct, frozen=True):
    """A phrase that announces an answer, from `start` to `end`."""

    start: int
    end: int
    is_sentence: bool = False
    """It has a verb, so that a remark about the answer may follow."""
    is_negated: bool = False
    """What follows is what the answer is not."""


def announces(text: str, place: int) -> bool:
    """Whether the word at a place, one of `ANSWER_STEMS`, announces an answer."""
    word = _ANSWER_WORD.match(text, place)
    return word is not None and trigger_of(text, 0, len(text), word) is not None


def answer_words(text: str, start: int, end: int, stems: Sequence[int] | None) -> list[re.Match[str]]:
    """The last words that may announce an answer. RE2 finds where to look; one pattern for all is many times slower."""
    if not text.isascii() and "\u0130" in text:  # one letter that has a lower case of two
        return last_matches(_ANSWER_WORD.finditer(text, start, end))
    if stems is None:
        stems = _stems(text.encode("ascii", "replace"), start, end)
        if has_other_alphabets(text) and _OTHER_ANSWER_STEM.is_in(text.encode("utf-8", "replace")):
            stems += _positions_of(OTHER_ANSWER_STEMS, text.lower(), start, end)
    if not stems:
        return []
    places = sorted(stems)[-MAX_OFFERS:]
    return [word for place in places if (word := _ANSWER_WORD.match(text, place, end)) is not None]


def _stems(shadow: bytes, start: int, end: int) -> list[int]:
    """The last places."""
    found = deque[int](maxlen=MAX_OFFERS)
    while place := _ANSWER_STEM.find(shadow, start, end):
        found.append(place[0])
        start = place[1]
    return list(found)


def _positions_of(stems: Iterable[str], text: str, start: int, end: int) -> Iterator[int]:
    """The last places of each."""
    for stem in stems:
        position, left = text.rfind(stem, start, end), MAX_OFFERS
        while position >= 0 and left:
            yield position
            position, left = text.rfind(stem, start, position), left - 1


def trigger_of(text: str, start: int, end: int, word: re.Match[str]) -> Trigger | None:
    """The phrase around a word that may announce an answer, if it does."""
    before = text[max(start, word.start() - _BEFORE_CHARS) : word.start()]
    if word["word"] and _IN_NAME.search(before[-4:]):
        return None
    outer_start = word.start() - len(before) + _lead_start(before)
    if word["choice"]:
        return Trigger(word.start(), word.end())
    if word["cjk"]:
        if _NOT.match(text, word.end(), end):
            swap = _NOT_BUT.match(text, word.end(), end)
            return Trigger(outer_start, swap.end() if swap else word.end(), is_negated=swap is None)
        tail = _AFTER_CJK.match(text, word.end(), end)
        if tail is None:
            return None
        is_negated = (
            _NOT.match(text, tail.end(), end) is not None or denies(before) or _WRONG.search(before) is not None
        )
        return Trigger(outer_start, tail.end(), is_negated=is_negated)
    tail = _AFTER_WORD.match(text, word.end(), end)
    if tail is None:
        return None
    cut = "" if word.start() - start <= _BEFORE_CHARS else "…"
    if tail["heading"] is not None and not _HEADING_START.search(cut + before):
        return None
    if (not tail["verb"] and _NOT_GIVING.search(before)) or _OTHER.search(before[-_OTHER_CHARS:]):
        return None
    if tail["wrong"] or _WRONG.search(before[-_WRONG_CHARS:]):
        return Trigger(outer_start, tail.end(), bool(tail["verb"]), is_negated=True)
    if _NOT.match(text, tail.end(), end):
        if swap := _NOT_BUT.match(text, tail.end(), end):
            return Trigger(outer_start, swap.end())
        is_negated = _denies_value(text, tail, end)
        return Trigger(outer_start, tail.end(), is_negated=is_negated) if is_negated or not tail["verb"] else None
    head = before[: outer_start - word.start() + len(before)]
    return Trigger(outer_start, tail.end(), bool(tail["verb"]), bool(tail["verb"]) and denies(head))


def _lead_start(before: str) -> int:
    """Where in a text begins what leads to the word behind it: "so the final "."""
    if before.isascii():
        place = _BEFORE_WORD_IN_ASCII.find(before.encode())
        return len(before) if place is None else place[0]
    lead = _BEFORE_WORD.search(before)
    return len(before) if lead is None else lead.start()


def _denies_value(text: str, tail: re.Match[str], end: int) -> bool:
    """Whether "not …" denies a value; "not clear" and "not enough information" say nothing about one."""
    return (
        re.match(
            r"[^.\n]{0,60}?(?:\d|[\\$])|\W{0,4}not\s(?:sure|certain)\b", text[tail.end() : min(end, tail.end() + 80)]
        )
        is not None
    )
