"""Removes what ends a text behind its value: where it is attained, the reason for it, how it is rounded, another root that is rejected.

    答案是42，此时x=3。        The answer is 42, attained at x = 3.        #### 42 (at x = 3)
    There are 42 ways, since each of the 7 people has 6 choices.       42 to the nearest integer       x = 3 (x = -2 does not fit)

The numbers of such a remark are not the answer.
"""

import re
from collections.abc import Iterator
from functools import cache

from verifiers.commitment.byname import rejects
from verifiers.commitment.cues import Kind, first_word, languages, listed, phrases, words
from verifiers.commitment.latex import any_of
from verifiers.commitment.retraction import VALUE
from verifiers.commitment.stance import Sentence, last_sentence
from verifiers.commitment.wording import begins_with, single

_CHARS = 240
_SHORT = 8
"""A shorter line has no remark: `#### 18`."""
_ENDS = " \t\r\n.。．!！*"
_STOPS = re.compile(r"(?:[.?]|(?<!\d)!)(?=\s)|[。？！\n]")
_GAP = r"[\s$\\(),，、]{0,6}"
_EQUAL = r"(?<![A-Za-z])[A-Za-z](?:_\w)?(?:\s?=\s?[-−]?[A-Za-z\d.\\{}^/√π]{1,24}){1,3}"
_ATTAINED = re.compile(
    rf"(?P<lead>[^=\d$\\()]{{0,40}}?){_GAP}{_EQUAL}(?:{_GAP}(?:[^\W\d_]{{1,4}}\s)?{_GAP}{_EQUAL}){{0,3}}"
    r"[\s$\\)）]{0,4}(?P<behind>[^=\d]{0,16})"
)
_VALUE = re.compile(r"[\d$\\]")
_LAST_NUMBER = re.compile(r"(\S{1,16})\s?[$\\(]{0,2}\d[\d.,/]{0,24}[^\d]{0,80}\Z")
_MORE = frozenset([Kind.OR, Kind.MAYBE, Kind.BUT, Kind.DOUBT, Kind.BACK, Kind.ALSO, Kind.WRONG, Kind.BAD, Kind.SO])
"""Cues of another answer, of a doubt, or of a conclusion."""
_SUBJECTS = frozenset([Kind.THE, Kind.IT])


def without_remark(text: str) -> str:
    """A text of the same length, without the remark on the value of its last line at its end."""
    display = text[-_CHARS:].rstrip(_ENDS).removesuffix("</answer>").rstrip(_ENDS)
    line = display[display.rfind("\n") + 1 :]
    if len(line) < _SHORT or "boxed" in line:
        return text
    end = max(0, len(text) - _CHARS) + len(display)
    start = end - len(line)
    if (index := _attained_at(text, start, end)) is not None:
        return text[:index] + " " * (end - index) + text[end:]
    clause = start
    for sign in _set_off().finditer(text, start, end):
        tail = sign.end()
        if _VALUE.search(text, clause, sign.start()) and any(is_one(text, start, tail, end) for is_one in _REMARKS):
            index = _kept_end(text, start, sign.start(), end)
            return text[:index] + " " * (end - index) + text[end:]
        clause = tail
    return text


@cache
def _set_off() -> re.Pattern[str]:
    """What sets a remark off: a comma, a bracket, a dash; how a number is rounded needs none."""
    return re.compile(rf"[,，;；、](?!\d)|[(（]|\s[—–-]\s|\s(?={_rounds()})", re.IGNORECASE)


@cache
def _rounds() -> str:
    return any_of(phrase for entry in listed("rounds") for phrase in phrases(entry))


def _is_rounding(text: str, start: int, tail: int, end: int) -> bool:
    """Whether a part of a text only says how the number before it is rounded: "to the nearest integer", 保留2位小数."""
    return _rounding().fullmatch(text, tail, end) is not None and _MORE.isdisjoint(Sentence(text, tail, end, "").kinds)


@cache
def _rounding() -> re.Pattern[str]:
    return re.compile(rf"\s?(?:{_rounds()})[^\d=,;，.]{{0,40}}(?:\d{{1,2}}[^\d=,;，.]{{0,40}})?", re.IGNORECASE)


def _is_attained(text: str, origin: int, start: int, end: int) -> bool:
    """Whether a part of a text only says for which values of letters something is so: "attained at x = 3", 此时x=3."""
    stated = _ATTAINED.fullmatch(text, start, end) if "=" in text[start:end] else None
    if stated is None or _is_other_case(text, origin, start, end):
        return False
    if not any(map(is_place, _around(stated))) and not _is_bracketed(text, origin, stated):
        return False
    lead = Sentence(text, start, stated.end("lead"), "")
    is_clause = lead.words and lead.begins(0, *_SUBJECTS)
    return not is_clause and _MORE.isdisjoint(lead.kinds) and Kind.NOT not in lead.kinds


def _is_bracketed(text: str, origin: int, stated: re.Match[str]) -> bool:
    """Whether values of letters alone stand in brackets behind an announced answer: "The answer is 15 (x = 3, y = 5)"."""
    is_alone = not stated["lead"].strip() and text[stated.start() - 1] in "(（"
    return is_alone and Kind.ANSWER in Sentence(text, origin, stated.start(), "").kinds


def _is_other_case(text: str, origin: int, start: int, end: int) -> bool:
    """Whether a part of a text gives a name another value than the text before it: "for r = 5, P = 20; for r = 6, P = 24"."""
    values = {root["letter"]: root["value"] for root in _ROOT.finditer(text, origin, start)}
    return any(values.get(root["letter"], root["value"]) != root["value"] for root in _ROOT.finditer(text, start, end))


def without_attained(text: str) -> str:
    """A text of the same length, without where its last sentence says that the extremum is attained."""
    end = len(text.rstrip(_ENDS))
    line = max(end - _CHARS, text.rfind("\n", 0, end) + 1)
    index = _attained_at(text, line, end)
    return text if index is None else text[:index] + " " * (end - index) + text[end:]


def _attained_at(text: str, start: int, end: int) -> int | None:
    """Where the last sentence begins to say for what its extremum is attained: "the maximum is 42 and occurs at x = 3"; None if it does not."""
    if _extremes().search(text, start, end) is None:
        return None
    sentence = last_sentence(text, start, end)
    match = _extremes().search(text, sentence.start, end) if sentence else None
    value = _DIGITS.search(text, match.end(), end) if match else None
    if value is None or sentence is None or sentence.asks or "?" in text[value.end() : end]:
        return None
    head, tail = Sentence(text, sentence.start, value.end(), ""), Sentence(text, value.end(), end, "")
    kinds = tail.kinds | (head.kinds & _SUPPOSES)
    if not kinds.isdisjoint(_MORE | _SUPPOSES - _WHEN) or _extremes().search(text, value.end(), end):
        return None
    joint, is_joint = None, False
    for at, word in enumerate(tail.words[:_MAX_VERB_WORDS]):
        # ", and the sum of these" begins with another subject.
        is_other = is_joint and tail.begins(at, Kind.THE)
        is_joint = word.text in _SETS_OFF or word.text in _joints()
        if word.text[0].isdigit() or word.text == "=" or is_other:
            return None
        joint = word.start if joint is None and is_joint else joint
        if is_place(word.text) and at + 1 < len(tail.words):
            is_told = "=" in text[word.end : end] or word.text in single(Kind.IF) or _PAIR.match(text, word.end, end)
            return (word.start if joint is None else joint) if is_told else None
    return None


@cache
def _joints() -> frozenset[str]:
    return single(Kind.JOINS) | listed("relatives")


@cache
def _extremes() -> re.Pattern[str]:
    """Words for a largest or smallest value, in all languages; the lexicons have their stems."""
    return re.compile(rf"(?<![^\W\d_])(?:{any_of(listed('extremes'))})[^\W\d_]{{0,6}}", re.IGNORECASE)


_DIGITS = re.compile(r"\d[\d.,]{0,24}(?<=\d)")
_PAIR = re.compile(r"[\s$\\]{0,4}\(")
_SETS_OFF = frozenset(",，(（;；")
_SUPPOSES = frozenset([Kind.IF, Kind.NOT])
_WHEN = frozenset([Kind.IF])
_MAX_VERB_WORDS = 8
"""The words between an extremum and where it is attained: "square metres, and this value is attained at"."""


def _around(stated: re.Match[str]) -> Iterator[str]:
    """The words that may say that a relation is a place: the last one before it, and scripts without spaces on both sides."""
    prefix = words(stated["lead"])
    if prefix:
        yield prefix[-1].text
    suffix = words(stated["behind"])
    if suffix:
        yield suffix[0].text
    yield from (part for part in (stated["lead"].strip(), stated["behind"].strip()) if part and not part.isascii())


def is_place(text: str) -> bool:
    """Whether a word begins or ends the case in which a name has a value: the "for" of "for n = 3", のとき."""
    return text in listed("attained") or any(text.startswith(word) for word in listed("attained") if word >= _UNSPACED)


_UNSPACED = "\u0e00"


def _is_reason(text: str, start: int, tail: int, end: int) -> bool:
    """Whether a part of a text gives the reason for the value before it, which is announced or not stated by the reason."""
    first = first_word(text, tail, end)
    is_led = begins_with(text, tail, end, Kind.BECAUSE) or (
        first in listed("causes") and _tells_relation(text, tail, end)
    )
    if not is_led or _STOPS.search(text, tail, end):
        return False
    if first in _english() and first not in listed("causes"):
        return False
    reason = Sentence(text, tail, end, "")
    if not _MORE.isdisjoint(reason.kinds) or Kind.ANSWER in reason.kinds:
        return False
    head = Sentence(text, start, tail, "")
    if "####" in text[start:tail] or Kind.ANSWER in head.kinds:
        return True
    number = _LAST_NUMBER.search(text, tail, end)
    index = reason.place(number.span(1))[1] if number else 0
    return number is not None and number[1][-1] not in "=≈:" and reason.ends_in(index, Kind.IS) is None


def _is_related(text: str, start: int, end: int) -> bool:
    """Whether a part of a text holds a relation that gives no value: "x > 0", "in (0, 5)"."""
    return _BOUNDS.search(text, start, end) is not None


_BOUNDS = re.compile(
    r"[<>≤≥∈≠]|\\(?:[lg]eq?|[lg]t|in|neq?)(?![A-Za-z])|[(\[][-−\d\\][^()\[\]]{0,24},[^()\[\]]{1,24}[)\]]"
)


def _tells_relation(text: str, start: int, end: int) -> bool:
    """Whether a part of a text holds a relation of any kind: "as x > 0", "as 7 + 8 = 15"."""
    return "=" in text[start:end] or _is_related(text, start, end)


def _is_property(text: str, start: int, tail: int, end: int) -> bool:
    """Whether a part of a text only says of the value before it what holds for it: "which is less than 5", "satisfying x < 5"."""
    if first_word(text, tail, end) not in listed("relatives") | listed("restricts") or _STOPS.search(text, tail, end):
        return False
    clause = Sentence(text, tail, end, "")
    if not clause.kinds.isdisjoint((_MORE - {Kind.SO}) | {Kind.NOT, Kind.IF}):
        return False
    is_fit = Kind.FITS in clause.kinds and "=" in text[tail:end]
    numbers = [at for at, word in enumerate(clause.words) if word.text[0].isdigit()]
    is_bound = any(cue.kind is Kind.BOUND and cue.stop <= min(numbers, default=0) for cue in clause.cues)
    is_bound = is_bound or _is_related(text, tail, end)
    return is_fit or (is_bound and "=" not in text[tail:end])


def _is_rejection(text: str, start: int, tail: int, end: int) -> bool:
    """Whether a part of a text only rejects another root: "x = -2 does not fit", x=-2 舍去."""
    match, root = _ROOT.search(text, start, tail), _ROOT.search(text, tail, end)
    if match is None or root is None or match["letter"] != root["letter"] or match["value"] == root["value"]:
        return False
    return rejects(_MARKUP.sub(" ", _ROOT.sub(f" {VALUE} ", text[tail:end])))


def _kept_end(text: str, start: int, stop: int, end: int) -> int:
    """The end of the roots before a remark without the last, if the remark rejects it: "x = 1 or x = 2, but x = 2 is extraneous"."""
    roots, tail = [*_ROOT.finditer(text, start, stop)], _ROOT.search(text, stop, end)
    is_last = tail is not None and len(roots) > 1 and roots[-1].groups() == tail.groups()
    return roots[-2].end() if is_last and _is_rejection(text, start, stop, end) else stop


_ROOT = re.compile(
    r"(?<![A-Za-z\\])(?P<letter>[A-Za-z](?:_\w)?)\s?=\s?(?P<value>[-−]?(?:\d[\d./]{0,24}|\\frac\{\d+\}\{\d+\}))"
)
_MARKUP = re.compile(r"[$)）]|\\[()]")


@cache
def _english() -> frozenset[str]:
    """The first words of English phrases about an answer, many of which give no reason: "which", "where", "though"."""
    return frozenset(phrase.split()[0] for entry in languages()["en"][Kind.BECAUSE] for phrase in phrases(entry))


_REMARKS = (_is_attained, _is_reason, _is_property, _is_rounding, _is_rejection)
