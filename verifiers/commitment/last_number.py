"""The channel `last_number`: the last number of a text, if it stands alone.

A part of an expression, a range or a time is not an answer. Nor is a number that the words around it make a label or a
bound (roles.py), or put in doubt (behind.py).
"""

import re
from collections.abc import Sequence

from verifiers.commitment.absences import is_of_absence
from verifiers.commitment.amounts import negative_before
from verifiers.commitment.around import formula_at, is_cut_out
from verifiers.commitment.behind import is_doubted, is_taken_back
from verifiers.commitment.byname import denies_by_name
from verifiers.commitment.channels import Channel
from verifiers.commitment.contrasts import contrast_start
from verifiers.commitment.cues import Kind, Word, first_word, listed, words
from verifiers.commitment.factorials import is_factorial
from verifiers.commitment.figures import NUMBER, OPERAND_BEFORE, last_digit_end
from verifiers.commitment.glance import ends_with
from verifiers.commitment.labels import names_several
from verifiers.commitment.latex import FUNCTIONS, OPERATORS, command_at, command_before, split
from verifiers.commitment.main_clause import counted_end, without_restrictions
from verifiers.commitment.measures import whole_measure
from verifiers.commitment.mentions import note
from verifiers.commitment.offers import NO_OFFERS, Offer, Offers
from verifiers.commitment.premises import past_premise
from verifiers.commitment.roles import is_bound_to_words, is_label
from verifiers.commitment.sayings import divides, may_divide
from verifiers.commitment.spans import strip
from verifiers.commitment.stance import UNMADE, Stance, sentence_at
from verifiers.commitment.wording import begins_with, single
from verifiers.numerals import parts
from verifiers.numerals.local import blank_groups
from verifiers.numerals.scales import scale_word

_NUMBER = re.compile(rf"(?=[-+−－＋\s$€£¥￥₹\\\d.½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])(?<![A-Za-z\d_.\\^]){NUMBER}")
"""The first sign of a number. The pattern tests it first: letters are passed over in two thirds of the time."""
_NUMBER_CHARS = 400
_PART_BEFORE = re.compile(r"(?:[A-Za-z\d)}\]][ ]?[-−+*/×·÷<>≤≥]|\d[ ]?x|\d\.\(|[\^_](?:\{?[-−+])?)[ $]{0,2}$")
_TAG_BEFORE = re.compile(r"<(?!(?:sub|sup|s|del|strike)>)[A-Za-z_]\w{0,19}>[ $]{0,2}$", re.IGNORECASE)
"""A tag whose content begins with the number; not an index, a power or struck-out text."""
_PART_ENDS = frozenset("-−+*/×·÷<>≤≥^_{x(")
_PART_AFTER = re.compile(
    r"[ ]?[*×·÷+/=^][ ]?(?!\\?circ|\{\\?circ)[\w(\\{$]|[-−–]\d|[({_]|[.:]\d|\.\(\d|[ ]?(?:π|pi\b|[²³¹⁰⁴-⁹⁻⁺√])"
)
_VARIABLE_AFTER = re.compile(r"[a-cefi-knopqrtuvwxyz](?![A-Za-zµ])|[ ][xyznk](?!\w)")
_NO_FACTORS = ("text", "mathrm", "quad", "qquad", "degree", "circ", "end")
_NO_COMMANDS = "%$,;!: )]\\"
_IN_TEXT = split("text textbf mathbf mathrm")
_GOES_ON = re.compile(r"\.\.\.|…|(?:st|nd|rd|th)\b", re.IGNORECASE)
"""Signs that turn digits into another number, and so belong to it."""
_SCALE_CHARS = 26
_ENGLISH = frozenset(["en"])
_SIGNS = "-−－+＋"
_DASH_BEFORE = re.compile(r"(?:^|\n|[A-Za-z]{2,}|\d)[ ]?$")
_TERM_BEFORE = re.compile(r"(?:^|[^A-Za-z])[A-Za-z][ ]?$|[)}][ ]?$")
_DASH_ENDS = re.compile(r"[A-Za-z]{2,}[ ][-−][ ]$")
_CLOCK = re.compile(
    r"(?<![\d:.,])\d{1,2}:[0-5]\d(?::[0-5]\d)?(?![\d:]|[.,]\d)(?:\s?[ap](?:\.\s?m\.|m(?![A-Za-z])))?", re.IGNORECASE
)
_CLOCK_CHARS = 12
_RANGE_SIGNS = frozenset("-−–—~～")
_ASIDES = frozenset([",,", "()", "，，", "（）"])


def read_numbers(text: str, start: int, end: int) -> Offers:
    """The numbers near the end of the text; none if the last one is part of something larger."""
    end = counted_end(text, start, last_digit_end(text, start, end), end)
    last_digit = _before_name(text, start, end, last_digit_end(text, start, end))
    if last_digit is not None and is_of_absence(text, start, last_digit, end):
        return NO_OFFERS
    offers = [] if last_digit is None else _numbers(text, start, end, last_digit)
    if not offers or last_digit is None or offers[-1].end < last_digit:
        return NO_OFFERS
    window = max(start, last_digit - _CLOCK_CHARS), min(end, last_digit + _CLOCK_CHARS)
    clock = _CLOCK.search(text, *window) if text.find(":", *window) >= 0 else None
    is_time = clock is not None and clock.start() <= offers[-1].start < clock.end()
    if clock is not None and is_time:
        offers = [Offer(*clock.span(), *clock.span())]
    offers = without_restrictions(text, start, end, _without_premise(text, start, end, offers))
    if len(offers) > 1 and _is_range(text, start, *offers[-2:]):
        return Offers(offers, "conflicting_answers")
    if len(offers) > 1 and _is_quotient(text, start, end, *offers[-2:]):
        return NO_OFFERS
    if len(offers) > 1 and _is_contrast(text, start, end, offers[-2], offers[-1]):
        contrast = offers.pop()
        note(text, Channel.LAST_NUMBER, (contrast.start, contrast.end), Stance.DENIED)
        joint = contrast_start(words(text, offers[-1].end, contrast.start))
        end = end if joint is None else joint
    if len(offers) > 2 and _is_behind_range(text, start, *offers[-3:]):
        offers = offers[-1:]
    if len(offers) > 1 and _is_discarded(text, start, end, offers[-2], offers[-1]):
        discarded = offers.pop()
        note(text, Channel.LAST_NUMBER, (discarded.start, discarded.end), Stance.RETRACTED)
    last = offers[-1] = _signed(text, start, _with_part(text, offers[-1], end))
    if span := whole_measure(text, start, (last.start, last.end), end):
        offers = [*(offer for offer in offers if offer.end <= span[0]), Offer(*span, *span)]
        last = offers[-1]
    if not is_time and (_is_part(text, start, end, last) or is_cut_out(text, start, (last.start, last.end), end)):
        return NO_OFFERS
    restated = any(text[proposal.start : proposal.end] == text[last.start : last.end] for proposal in offers[:-1])
    sentence = sentence_at(text, last.start, start, end)
    restated = restated and not denies_by_name(sentence, (last.start, last.end))
    if is_label(text, start, end, last) or (not restated and is_doubted(text, start, (last.start, last.end), end)):
        return Offers(offers, "no_answer")
    if text.find(":", max(start, last.start - _MAX_LABEL_CHARS), last.start) > 0 and _is_of_several(
        text, start, end, last
    ):
        return Offers(offers, "conflicting_answers")
    if is_bound_to_words(text, start, last):
        counted = _counted(text, start, end, offers)
        return NO_OFFERS if counted is None else Offers((counted,))
    if _is_one_of_a_list(text, start, end, last):
        return Offers(offers, "conflicting_answers")
    offers = _whole(text, start, end, offers)
    is_more = offers[-1] is not last and _is_led_on(text, offers[-1].end, end)
    return NO_OFFERS if is_more else Offers(offers)


def _before_name(text: str, start: int, end: int, last_digit: int | None) -> int | None:
    """The end of the last digits that are not of a name at the end of a sentence with figures: "64 songs on her mp3 player"."""
    if last_digit is None or not text[:last_digit].rstrip("0123456789")[-1:].isalpha():
        return last_digit
    name = _NAME_BEFORE.search(text, max(start, last_digit - _NAME_CHARS), last_digit)
    if name is None or name["word"].lower() in _NO_NAMES or not _NAME_AFTER.match(text, last_digit, end):
        return last_digit
    earlier = last_digit_end(text, sentence_at(text, name.start(), start, end).start, name.start())
    return last_digit if earlier is None else earlier


_NAME_BEFORE = re.compile(r"(?<![\w\\])(?P<word>[A-Za-z]{2,12})\d{1,3}\Z")
_NAME_AFTER = re.compile(r"\s[A-Za-z]{2}|[.!]?\s*\Z")
_NAME_CHARS = 20
_NO_NAMES = FUNCTIONS - OPERATORS | {"sqrt"}


def _without_premise(text: str, start: int, end: int, offers: list[Offer]) -> list[Offer]:
    """The numbers without those of a premise or a condition: the 20 of "When r = 5, P = 20"."""
    sentence = sentence_at(text, offers[-1].start, start, end)
    is_unreal = any(word.text in listed("unreal") for word in sentence.words)
    leads = listed("premises") if is_unreal else listed("premises") | listed("conditions")
    index = past_premise(sentence, leads) if len(offers) > 1 else 0
    proposals = [
        offer for offer in offers if index < len(sentence.words) and offer.start >= sentence.words[index].start
    ]
    return proposals if index and proposals else offers


def _is_discarded(text: str, start: int, end: int, offer: Offer, last: Offer) -> bool:
    """Whether the last of two solutions is rejected, so that the other one remains: "x = 2 or x = -3 (rejected)", "x = 2 (x = -3 is
    extraneous)".
    """
    sentence, span = sentence_at(text, last.start, start, end), (last.start, last.end)
    is_denied = sentence.may_deny() and sentence.stance(span) is Stance.DENIED
    is_denied = is_denied or denies_by_name(sentence, span)
    if not (is_denied or is_taken_back(text, last.end)) or is_taken_back(text, offer.end):
        return False
    between = text[offer.end : last.start]
    if is_denied and ("(" in between or "（" in between) and sentence.start < offer.start:
        return sentence.stance((offer.start, offer.end)) is not Stance.DENIED
    return sentence.has(Kind.OR, sentence.place((offer.start, offer.end))[1], sentence.place((last.start, last.end))[0])


def _is_of_several(text: str, start: int, end: int, last: Offer) -> bool:
    """Whether a number is one of several with labels that make up its line or sentence: "width: 5, length: 7"."""
    sentence = sentence_at(text, last.start, start, end)
    line = text[sentence.start : sentence.end]
    verbs = [cue.stop for cue in sentence.cues if cue.kind is Kind.IS and cue.stop < len(sentence.words)]
    piece = text[sentence.words[verbs[-1]].start : sentence.end] if verbs else ""
    return names_several(line) or names_several(piece)


def _is_range(text: str, start: int, low: Offer, high: Offer) -> bool:
    """Whether two numbers are the ends of a range: "12-15", "12 to 15", "between 12 and, at the very most, 15"."""
    if text[low.end : high.start] == ":":
        return True
    joint = first_word(text, low.end, high.start) if high.start - low.end < _MAX_RANGE_CHARS else ""
    is_range = joint in listed("ranges") or joint in _RANGE_SIGNS
    if not is_range and joint not in single(Kind.JOINS):
        return False
    phrase = words(text, low.end, high.start)[1:]
    return _is_aside(phrase) and (is_range or (bool(phrase) and _is_low_end(text, start, low)))


def _is_aside(phrase: Sequence[Word]) -> bool:
    """Whether words are nothing, or set off from what is on both sides: ", I think,", "(say)"."""
    return not phrase or (len(phrase) > 2 and phrase[0].text + phrase[-1].text in _ASIDES)


def _is_low_end(text: str, start: int, low: Offer) -> bool:
    return ends_with(text[max(start, low.start - _MAX_BEHIND_CHARS) : low.start].rstrip(" $*("), Kind.BOUND)


def _is_behind_range(text: str, start: int, low: Offer, high: Offer, last: Offer) -> bool:
    """Whether a number is told behind the ends of a range: "Between 12 and 15, 12 is right"."""
    if first_word(text, high.end, last.start) != ",":
        return False
    between, suffix = words(text, low.end, high.start), words(text, high.end, last.start)
    if [word.text for word in suffix] != [","] or len(between) != 1 or between[0].text not in single(Kind.JOINS):
        return False
    return _is_low_end(text, start, low)


def _is_quotient(text: str, start: int, end: int, offer: Offer, rival: Offer) -> bool:
    """Whether only words for a division stand between two numbers that end a clause: "3 over 4", but not "pick 3 over 4"."""
    if rival.start - offer.end > _MAX_BEHIND_CHARS or not may_divide(first_word(text, offer.end, rival.start)):
        return False
    phrase = words(text, offer.end, rival.start)
    if divides(phrase, 0) < len(phrase):
        return False
    sentence = sentence_at(text, rival.start, start, end)
    first, stop = sentence.place((offer.start, rival.end))
    return sentence.ends(stop) and sentence.ends_in(first, Kind.CHOOSE) is None


def _numbers(text: str, start: int, end: int, last_digit: int) -> list[Offer]:
    """The numbers in the characters up to the last digit."""
    window = max(start, last_digit - _NUMBER_CHARS), min(end, last_digit + 8)
    offers: list[Offer] = []
    for match in _NUMBER.finditer(text, *window):
        origin = match.start()
        if text[origin] == " ":
            origin += 1
        if not text[origin].isdigit():
            origin = strip(text, _without_dash(text, start, match), match.end())[0]
        if text[origin] == "$" and _opens_formula(text, origin, match.end(), end):
            origin += 1
        offers.append(Offer(origin, match.end(), origin, match.end()))
    for first, stop in blank_groups(text, *window) if len(offers) > 1 else ():
        proposals = [offer for offer in offers if first < offer.end and offer.start < stop]
        proposal = Offer(proposals[0].start, stop, proposals[0].start, stop)
        offers = [
            *(offer for offer in offers if offer.end <= first),
            proposal,
            *(offer for offer in offers if offer.start >= stop),
        ]
    return offers


def _opens_formula(text: str, sign: int, stop: int, end: int) -> bool:
    r"""Whether the dollar sign of a number opens a formula, and is not a currency: `$5$`, `$5 \mathrm{~nm}$`."""
    if text.startswith("$", stop, end):
        return True
    line = text.find("\n", stop, end)
    is_with_command = text.find("\\", stop, min(end, stop + _UNIT_CHARS)) >= 0
    return is_with_command and formula_at(text, sign, (sign + 1, stop), end if line < 0 else line) is not None


_UNIT_CHARS = 4


def _with_part(text: str, last: Offer, end: int) -> Offer:
    """A number with the words that make a fraction of it: "8 et demi", "2 Drittel"."""
    span = parts.whole(text, last.start, last.end, end)
    return last if span is None else Offer(*span, *span)


def _signed(text: str, start: int, last: Offer) -> Offer:
    """A number with the word for its minus sign: "moins 2", マイナス2, but not the 2 of "más o menos 2"."""
    word = negative_before(text[max(start, last.start - _MAX_SIGN_CHARS) : last.start])
    return Offer(last.start - len(word), last.end, last.start - len(word), last.end) if word else last


_MAX_SIGN_CHARS = 40


def _is_part(text: str, start: int, end: int, last: Offer) -> bool:
    """Whether the signs beside a number make it a part of an expression."""
    if text[last.start].isalpha() and OPERAND_BEFORE.search(text, max(start, last.start - 24), last.start):
        return True
    prefix = text[max(start, last.start - 24) : last.start]
    if prefix.rstrip(" $").endswith(">") and (tag := _TAG_BEFORE.search(prefix)):
        prefix = prefix[: tag.start()]
    head = prefix.rstrip(" $")
    if command_before(head) in OPERATORS or (head.endswith("{") and command_before(head[:-1]) not in _IN_TEXT):
        return True
    if head[-1:] in _PART_ENDS and _PART_BEFORE.search(prefix) and not _DASH_ENDS.search(prefix):
        return True
    return _goes_on(text, last.end, end) or is_factorial(text, start, end, last)


def _goes_on(text: str, index: int, end: int) -> bool:
    """Whether the text behind a number makes it a part of an expression: a sign, a variable, a command, "squared"."""
    if _PART_AFTER.match(text, index, end) or _VARIABLE_AFTER.match(text, index, end):
        return True
    if text.startswith("\\", index, end):
        return text[index + 1 : index + 2] not in _NO_COMMANDS and not command_at(text, index).startswith(_NO_FACTORS)
    return _is_led_on(text, index, end)


def _is_led_on(text: str, index: int, end: int) -> bool:
    """Whether words make a number a part of a larger or an open one: "12 squared", 6万余."""
    return begins_with(text, index, min(end, index + _MAX_BEHIND_CHARS), Kind.MADE, Kind.LIMIT)


def _whole(text: str, start: int, end: int, offers: list[Offer]) -> list[Offer]:
    """The numbers, where the last one is extended by all signs that belong to it."""
    last = offers[-1]
    if goes_on := _GOES_ON.match(text, last.end, end):
        stop = goes_on.end()
    elif scale := scale_word(suffix := text[last.end : min(end, last.end + _SCALE_CHARS)], _ENGLISH):
        stop = last.end + suffix.startswith(" ") + len(scale)
    else:
        return offers
    return [*offers[:-1], Offer(last.start, stop, last.start, stop)]


def _is_contrast(text: str, start: int, end: int, offer: Offer, last: Offer) -> bool:
    """Whether the last number only contrasts with the one before it: "4, not 5", "4 instead of the usual 5"."""
    if last.start - offer.end > _MAX_CONTRAST_CHARS or "\n" in text[offer.end : last.start]:
        return False
    sentence = sentence_at(text, last.start, start, end)
    spans = (offer.start, offer.end), (last.start, last.end)
    if offer.start < sentence.start or not sentence.may_deny() or sentence.stance(spans[1]) is not Stance.DENIED:
        return False
    return sentence.stance(spans[0], [spans[1]]) not in UNMADE


_MAX_CONTRAST_CHARS = 48
_MAX_RANGE_CHARS = 48
_MAX_LABEL_CHARS = 40
_MAX_BEHIND_CHARS = 32
_MIN_WORDS = 3


def _counted(text: str, start: int, end: int, offers: Sequence[Offer]) -> Offer | None:
    """The only number that a sentence states beside limits and steps: "There are 2 bars with values larger than 4."."""
    sentence = sentence_at(text, offers[-1].start, start, end)
    if not sentence.bounds((offers[-1].start, offers[-1].end)):
        return None
    if sum(offer.start >= sentence.start for offer in offers) == 1 and sentence.tells_need(
        (offers[-1].start, offers[-1].end)
    ):
        return offers[-1]
    free = [
        offer
        for offer in offers
        if offer.start >= sentence.start
        and not is_bound_to_words(text, sentence.start, offer)
        and sentence.stance((offer.start, offer.end)) not in UNMADE
    ]
    plain = sum(word.text.isalpha() and (len(word.text) > 1 or not word.text.isascii()) for word in sentence.words)
    is_told = len(free) == 1 and plain >= _MIN_WORDS and not _goes_on(text, free[0].end, end)
    is_told = is_told and not begins_with(text, free[0].end, sentence.end, Kind.PART)
    return free[0] if is_told and "=" not in text[sentence.start : sentence.end] and not sentence.asks else None


def _without_dash(text: str, start: int, match: re.Match[str]) -> int:
    """The start of a number, without its sign if that is a dash ("Total - 5") or an operator ("x - 5")."""
    position = match.start()
    if text[position] not in _SIGNS:
        return position
    prefix = text[max(start, position - 24) : position]
    spaced = text[position + 1].isspace()
    if spaced and (_DASH_BEFORE.search(prefix) or _TERM_BEFORE.search(prefix)):
        return position + 1
    return position


_LIST_MARK = r"(?P<mark>[-−–—*+•·>]\s{1,4}|[(\[]?(?:\d{1,3}|[A-Za-z]{1,4})[.):\]]\s{1,4})"
_LIST_VALUE = rf"(?:(?P<name>[A-Za-z]\w{{0,3}})\s?[=:≈]\s?)?(?P<number>{NUMBER})\s?[%°]?"
_LIST_LINE = re.compile(rf"{_LIST_MARK}?[$*_`(\[{{\\]{{0,6}}{_LIST_VALUE}\s?[$*_`)\]}}\\]{{0,6}}[.,;!]?")
_MAX_LIST_LINE_CHARS = 60
_MAX_LIST_LINES = 64


def _is_one_of_a_list(text: str, start: int, end: int, last: Offer) -> bool:
    """Whether a number is an entry of a list of different numbers, none of which is chosen.

    A list has lines with only a number, or with the same name and a number. It has two lines with list marks, or three
    lines. Of two lines without marks, the second corrects the first.
    """
    stop = text.find("\n", last.end, end)
    match = _list_line(text, start, end if stop < 0 else stop)
    numbers = set[str]()
    line = match
    for _ in range(_MAX_LIST_LINES):
        if match is None or line is None or line["name"] != match["name"]:
            break
        numbers.add(line["number"].strip())
        if len(numbers) == (2 if line["mark"] else 3):
            return True
        line = _list_line(text, start, strip(text, start, max(start, line.start() - 1))[1])
    return False


def _list_line(text: str, start: int, end: int) -> re.Match[str] | None:
    """The line that ends at `end`, if it is a line of a list."""
    first, end = strip(text, max(start, text.rfind("\n", start, end) + 1), end)
    return None if end - first > _MAX_LIST_LINE_CHARS else _LIST_LINE.fullmatch(text, first, end)
