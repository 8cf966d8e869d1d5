"""The channel `answer_line`: what follows a phrase that announces an answer, up to where its sentence or line ends."""

import re
from collections.abc import Sequence

from verifiers.answers.boxes import with_boxes
from verifiers.answers.factorials import FORMULA_GOES_ON, takes_factorial
from verifiers.answers.json_fields import json_answer
from verifiers.answers.numerals import last_digit_end
from verifiers.answers.offers import NO_OFFERS, Offer, Offers
from verifiers.answers.spans import strip, trim
from verifiers.answers.triggers import Trigger, answer_words, trigger_of

_REMARK = re.compile(
    r"(?:in)?(?:correct|right|wrong|reasonable|valid|verified|plausible|consistent|clear|obvious|unknown"
    r"|as follows|below"
    r"|above)\b",
    re.IGNORECASE,
)
_LINE_END = re.compile(r"\n|[。！？；]|(?<!\d\.\.)[.?!](?=[*_`\"'”’)\]$]{0,3}(?:\s|$))")
_BECAUSE = re.compile(
    r"[\s,，(（;—-]{1,4}(?:rather than|instead of|(?<=, )not|because|since|as (?:required|desired|expected|shown"
    r"|needed)|which|due to|so that|i\.\s?e\.?|因为|由于)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_DISPLAY_MATH = {"$$": "$$", "\\[": "\\]"}
_MAX_LINE_CHARS = 4000
_HEDGE = re.compile(
    r"(?:(?:maybe|perhaps|possibly|unlikely|not (?:sure|certain)|unsure|uncertain|(?:i|we) (?:don['’]t|do not) know"
    r"|no idea|idk|not known)\b"
    r"|不确定|不知道|也许|可能)|(?:yes|true)\s?/\s?(?:no|false)$",
    re.IGNORECASE,
)
_IN_WORDS = (
    r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]{3,5}teen|(?:twen|thir|for|fif"
    r"|six|seven|eigh|nine)ty)"
    r"(?:[ -][a-z]{2,9}){0,9}"
)
_GLOSS = re.compile(rf"(?<=\d)\s\({_IN_WORDS}\)$", re.IGNORECASE)
_POINTER = re.compile(
    r"(?<=[\d%$])\s\((?:see|cf\.|from|by|as|per|using|shown|rounded|approximately|since|because|in(?!\sbase)|at)\b[^()\n]{0,60}\)$",
    re.IGNORECASE,
)
"""Where a value is from, or what it is measured in."""
_VALUE_BEHIND_WORDS = re.compile(rf"{_IN_WORDS}\s\(([-−$]?\d[\d,.]*)\)", re.IGNORECASE)
_COPULA_BEHIND = re.compile(
    r"\s?(?:です|でした|である|だ|(?:(?<=[A-H])번)?(?:입니다|이다|이에요|예요)|(?<=[A-H])번)$|(?<=[A-H])\s?(?:选项|項|项)$"
)


def read_lines(text: str, start: int, end: int, stems: Sequence[int] | None = None) -> Offers:
    """What answer lines say; `stems`: as for `stated`."""
    if text[end - 1] in "}`" and (fields := json_answer(text, start, end)) is not None:
        return with_boxes(text, [fields])
    triggers = [
        trigger
        for word in answer_words(text, start, end, stems)
        if (trigger := trigger_of(text, start, end, word)) is not None
    ]
    if not triggers:
        return NO_OFFERS
    offers: list[Offer] = []
    used = False
    for index, trigger in enumerate(triggers):
        is_last = index + 1 == len(triggers)
        limit = end if is_last else triggers[index + 1].start
        line_start, line_end = _line(text, trigger, max(limit, trigger.end))
        inner = trim(text, line_start, line_end)
        if inner[0] < inner[1] and trigger.is_sentence and _REMARK.match(text, *inner):
            continue
        if trigger.is_negated or _is_hedged(text, *inner, line_end):
            used = is_last and last_digit_end(text, line_end, end) is None
            continue
        inner = _without_gloss(text, *inner)
        if inner[0] < inner[1]:
            offers.append(Offer(*inner, trigger.start, max(line_end, inner[1])))
        used = is_last and inner[0] == inner[1]
    if used:
        return Offers(offers, "no_answer")
    return with_boxes(text, offers)


def _is_hedged(text: str, start: int, end: int, line_end: int) -> bool:
    """Whether an answer line asks, or says that its writer does not know."""
    return text.startswith(("?", "？"), line_end) or (start < end and _HEDGE.match(text, start, end) is not None)


def _without_gloss(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the number said again in words, and without a copula that stands behind the answer."""
    if start == end or (last := text[end - 1]).isdigit() or last == "$":
        return start, end
    if last == ")" and (
        gloss := _GLOSS.search(text, max(start, end - 100), end) or _POINTER.search(text, max(start, end - 80), end)
    ):
        return start, gloss.start()
    if last == ")" and (value := _VALUE_BEHIND_WORDS.fullmatch(text, start, end)):
        return value.span(1)
    if not last.isascii() and (copula := _COPULA_BEHIND.search(text, max(start, end - 8), end)):
        return trim(text, start, copula.start())
    return start, end


def _line(text: str, trigger: Trigger, limit: int) -> tuple[int, int]:
    """What follows a trigger: display math, or the rest of the sentence or line; the next line if this one is bare."""
    after = trigger.end
    limit = min(limit, after + _MAX_LINE_CHARS)
    start, _ = strip(text, after, limit, "*_#:：`")
    if text.startswith(">", start) and text.find("\n", after, start) >= 0:
        start, _ = strip(text, start, limit, "*_#:：`>")
    if closing := _DISPLAY_MATH.get(text[start : start + 2]):
        stop = text.find(closing, start + 2, limit)
        return (start, stop + 2) if stop >= 0 else (start, limit)
    stop = _line_stop(text, start, limit, trigger)
    if because := _BECAUSE.search(text, start, stop):
        stop = because.start()
    return start, stop


def _line_stop(text: str, start: int, limit: int, trigger: Trigger) -> int:
    """Where the sentence or line ends. `!` behind a digit, a variable or a bracket may be a factorial: in a formula that
    goes on, or where just a value stands.
    """
    for match in _LINE_END.finditer(text, start, limit):
        stop = match.start()
        if match[0] != "!":
            return stop
        first = start + len(text[start:stop].rstrip("!"))
        if not takes_factorial(text, start, first, stop):
            return first
        if not FORMULA_GOES_ON.match(text, stop + 1, limit):
            is_value = not trigger.is_sentence and strip(text, stop + 1, limit, "*_`")[0] == limit
            return stop + 1 if is_value else first
    return limit
