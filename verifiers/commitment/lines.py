"""The channel `answer_line`: the text behind an announcement, up to the end of its sentence or line."""

import re
from collections.abc import Sequence

from verifiers import numerals
from verifiers.commitment.announce import Announcement, announcements, begins_value
from verifiers.commitment.boxes import with_boxes
from verifiers.commitment.channels import Channel
from verifiers.commitment.contrasts import joins
from verifiers.commitment.cues import Cue, Kind, Word, listed
from verifiers.commitment.factorials import FORMULA_GOES_ON, takes_factorial
from verifiers.commitment.figures import last_digit_end
from verifiers.commitment.json_fields import json_answer
from verifiers.commitment.mentions import is_heard, note
from verifiers.commitment.moods import supposes
from verifiers.commitment.offers import NO_OFFERS, Offer, Offers
from verifiers.commitment.retraction import Verdict, judged
from verifiers.commitment.spans import Span, strip, trim
from verifiers.commitment.stance import UNMADE, Sentence, Stance, sentence_at
from verifiers.commitment.wording import begins_with

_LINE_END = re.compile(
    r"[\n。．！？；।](?<!．(?=\d))|(?<=\d)(?P<pause>\.{3}|…)(?=\s)|(?<!\d\.\.)[.?!؟](?<!i\.e\.|e\.g\.)(?=[*_`\"'”’)\]$]{0,3}(?!\S))"
)
_DISPLAY = {"$$": "$$", "\\[": "\\]"}
_MAX_CHARS = 4000


def read_lines(text: str, start: int, end: int) -> Offers:
    if text[end - 1] in "}`>" and (fields := json_answer(text, start, end)) is not None:
        return with_boxes(text, [fields])
    announced = announcements(text, start, end)
    offers: list[Offer] = []
    used = False
    for index, announcement in enumerate(announced):
        is_last = index + 1 == len(announced)
        limit = end if is_last else max(announced[index + 1].start, announcement.span[0])
        first, stop = content(text, announcement, limit)
        span = trim(text, first, stop)
        sentence = Sentence(text, *span, text[stop : stop + 1])
        if not is_last and _only_concludes(sentence):
            continue
        if span[0] < span[1] and announcement.has_verb and _is_remark(sentence):
            continue
        if (offers and _is_conditional(text, announcement)) or (
            (offers or not is_last) and _is_verdict(text, announcement, sentence)
        ):
            continue
        if announcement.stance in UNMADE or sentence.asks or _is_open(sentence):
            if is_heard(text):
                stance = announcement.stance if announcement.stance in UNMADE else Stance.HEDGED
                note(text, Channel.ANSWER_LINE, _without_denial(sentence), stance)
            is_other = announcement.stance in (Stance.SUPPOSED, Stance.ATTRIBUTED) and offers
            used = is_last and not is_other and last_digit_end(text, stop, end) is None
            continue
        span = _without_gloss(sentence, *span)
        if span[0] < span[1]:
            offers.append(Offer(*span, announcement.start, max(stop, span[1])))
        used = is_last and span[0] == span[1] and (announcement.has_verb or not offers)
    if used:
        return Offers(offers, "no_answer")
    return with_boxes(text, offers) if offers else NO_OFFERS


def last_announced(text: str, start: int, end: int) -> Span | None:
    """The words that the end of a text announces, also if they may only speak of an answer: "So the answer is valid."."""
    announced = announcements(text, start, end)
    if not announced or not announced[-1].has_verb or announced[-1].stance is not Stance.ANNOUNCED:
        return None
    span = trim(text, *content(text, announced[-1], end))
    return span if span[0] < span[1] and not any(map(str.isalnum, text[span[1] : end])) else None


def announced_last(text: str, start: int, end: int) -> Span | None:
    """The words behind the last announcement, also if they deny: "Answer: That is wrong."; None if nothing is announced."""
    announced = announcements(text, start, end)
    span = trim(text, *content(text, announced[-1], end)) if announced else (start, start)
    return span if span[0] < span[1] else None


def _only_concludes(sentence: Sentence) -> bool:
    """Whether the words below a heading only lead to the next announcement: "**Answer** Therefore, the"."""
    led = {index for cue in sentence.cues if cue.kind in _CONCLUDES for index in range(cue.first, cue.stop)}
    return sentence.begins(0, Kind.SO) and all(
        index in led or not word.text.isalnum() for index, word in enumerate(sentence.words)
    )


_CONCLUDES = frozenset([Kind.SO, Kind.IS, Kind.THE, Kind.RIGHT])


def _is_conditional(text: str, announced: Announcement) -> bool:
    """Whether an announcement tells what the answer would be: "If you meant 3 boxes, the answer would be 9"."""
    sentence = sentence_at(text, announced.start, 0, len(text))
    last = sentence.place((announced.span[0], announced.span[0]))[0]
    would = [word.text in listed("conditional") for word in sentence.words[:last]]
    return any(would) and any(cue.kind is Kind.IF for cue in sentence.cues)


def _is_verdict(text: str, announced: Announcement, sentence: Sentence) -> bool:
    """Whether an announcement only calls the answer before it right: "이 답이 맞습니다". Yes and no may be answers of their own."""
    statement = sentence_at(text, announced.start, 0, len(text))
    is_truth = any(word.text in listed("truth") or word.text in listed("untruth") for word in sentence.words)
    clause = judged(statement, 0, len(statement.words))
    return not is_truth and clause is not None and clause.verdict is not Verdict.LEADS


def _without_denial(sentence: Sentence) -> tuple[int, int]:
    """The announced text behind the words that deny or doubt it."""
    index = sentence.past_cue(0, Kind.NOT, Kind.MAYBE, Kind.DOUBT)
    return sentence.words[index].start if index < len(sentence.words) else sentence.start, sentence.end


def content(text: str, announcement: Announcement, limit: int) -> tuple[int, int]:
    """The span that is announced: display math, or the rest of the sentence.

    The next line if nothing follows on this one.
    """
    end = announcement.span[0]
    limit = min(limit, end + _MAX_CHARS)
    has_words = any(map(str.isalnum, text[end:limit]))
    start, _ = strip(text, end, limit, '*_#:：`"”’)】' if has_words else "*_#:：`")
    if text.startswith(">", start) and text.find("\n", end, start) >= 0:
        start, _ = strip(text, start, limit, "*_#:：`>")
    if not announcement.has_verb:
        start = _past_lead_ins(text, start, limit)
    if closing := _DISPLAY.get(text[start : start + 2]):
        stop = text.find(closing, start + 2, limit)
        return (start, stop + 2) if stop >= 0 else (start, limit)
    stop = _stop(text, start, limit, announcement.has_verb)
    if (quote := _QUOTES.get(text[announcement.start])) and text.find(quote, start, stop) >= 0:
        return start, text.rindex(quote, start, stop)  # 答えは「Answer: 260」です
    if start > end and text[start - 1] == '"' and text.count('"', start, stop) == 1:
        start -= 1
    start, stop = _matched(text, start, clause_end(Sentence(text, start, stop, "")))
    return start, stop


_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", "„": "“"}
_LEAD_IN = re.compile(r"[^\n\d$\\]{1,200}[:：,，][*_ \t]*\n")
_BULLET = re.compile(r"\s*(?:[-•·]\s+)?")
_MAX_LEAD_INS = 4


def _past_lead_ins(text: str, start: int, limit: int) -> int:
    """The place behind those lines below a heading that only lead to the answer: "The area is:"."""
    for _ in range(_MAX_LEAD_INS):
        lead = _LEAD_IN.match(text, start, limit)
        if lead is None:
            break
        bullet = _BULLET.match(text, lead.end(), limit)
        start = bullet.end() if bullet else lead.end()
    return start


def _matched(text: str, start: int, stop: int) -> tuple[int, int]:
    """The span without a closing bracket that was opened before it, or an opening one that is not closed in it."""
    if not any(map(str.isalnum, text[start:stop])):
        return start, stop  # an answer of brackets: "} ] )"
    while start < stop and text[start] in "} ":
        start += 1
    for opening, closing in (("\\[", "\\]"), ("\\(", "\\)"), ("{", "}")):
        if text.count(opening, start, stop) < text.count(closing, start, stop) and text[start:stop].rstrip().endswith(
            closing
        ):
            stop = text.rindex(closing, start, stop)
    return start, stop


def _stop(text: str, start: int, limit: int, has_verb: bool) -> int:
    """The end of the sentence or line. `!` behind a digit, a variable or a bracket may be a factorial."""
    for match in _LINE_END.finditer(text, start, limit):
        stop = match.start()
        if match["pause"] and (_REPEATS.search(text, start, stop) or not _turns(text, match.end(), limit)):
            continue
        if match[0] != "!":
            return stop
        if text.startswith("\\", stop - 1):  # a thin space
            continue
        first = start + len(text[start:stop].rstrip("!"))
        if not takes_factorial(text, start, first, stop) or _is_exclaimed(text, start):
            return first
        if not FORMULA_GOES_ON.match(text, stop + 1, limit):
            is_value = not has_verb and strip(text, stop + 1, limit, "*_`")[0] == limit
            return stop + 1 if is_value else first
    return limit


def _is_exclaimed(text: str, start: int) -> bool:
    """Whether a Spanish exclamation began before the answer: "¡Respuesta: 16!"."""
    first = max(0, start - _MAX_TURN_CHARS)
    return text.rfind("¡", first, start) > text.rfind("!", first, start)


_REPEATS = re.compile(r"\d[.,]\d{1,32}\Z")
"""The digits of a decimal that goes on: "0.333…"."""
_MAX_TURN_CHARS = 48


def _turns(text: str, index: int, limit: int) -> bool:
    """Whether the text behind a pause turns from what was said: "15... wait, that's wrong"."""
    return begins_with(text, index, min(limit, index + _MAX_TURN_CHARS), Kind.BUT, Kind.BACK)


def clause_end(sentence: Sentence) -> int:
    """The end of the announced text, before a reason, a consequence or a contrast."""
    phrase = sentence.words
    for index, word in enumerate(phrase[1:], 1):
        # The second word of a phrase ends nothing: "42 ya da 48" has no "da" of its own.
        if any(cue.kind is Kind.OR and cue.first < index < cue.stop for cue in sentence.cues):
            continue
        cues = [cue for cue in sentence.cues if cue.first == index]
        is_guess = any(cue.kind is Kind.GUESS for cue in cues) and phrase[index - 1].text in ",，—–"
        if is_guess and not _adds(sentence, index):
            return phrase[index - 1].start
        if any(cue.kind is Kind.ASIDE for cue in cues) and _has_digit(phrase[:index]) and _has_digit(phrase[index:]):
            return _before(sentence, index)
        if _is_way(sentence, index, cues) or _is_note(sentence, index):
            return _before(sentence, index)
        if any(cue.kind is Kind.BECAUSE or (cue.kind is Kind.NOT and _is_contrast(sentence, index)) for cue in cues):
            return _before(sentence, index)
        if word.text in ",，;；—–" and index + 1 < len(phrase):
            signals = [cue for cue in sentence.cues if cue.first == index + 1]
            if any(cue.kind in (Kind.SO, Kind.BUT, Kind.BECAUSE) for cue in signals):
                return word.start
            if word.text in ";；" and _begins_clause(sentence, index + 1):
                return word.start
            if (
                any(cue.kind is Kind.JOINS for cue in signals)
                and index + 2 < len(phrase)
                and phrase[index + 2].text in listed("clause")
            ):
                return word.start
    return sentence.end


def _is_way(sentence: Sentence, index: int, cues: Sequence[Cue]) -> bool:
    """Whether plain words to the end say by what a value was found: "17 by symmetry", "17, using the table"; not "17 by 4", "12 by x"."""
    prefix, phrase = sentence.words[index - 1].text, sentence.words[index:]
    if not any(cue.kind in _WAYS for cue in cues) or not (prefix in "$,，%" or prefix[0].isdigit()):
        return False
    if sentence.begins(index, Kind.BOUND) or any(cue.first >= index and cue.kind in _CHANGES for cue in sentence.cues):
        return False
    is_plain = all(word.text in _PLAIN or (word.text.isalpha() and word.text not in _VARIABLES) for word in phrase)
    return is_plain and any(_has_digit([word]) or word.text == "$" for word in sentence.words[:index])


_WAYS = frozenset([Kind.ASIDE, Kind.AT, Kind.BY])
_CHANGES = frozenset([Kind.MAYBE, Kind.DOUBT, Kind.NOT, Kind.WRONG, Kind.BAD, Kind.BUT, Kind.OR])
"""What words behind a value say of the value: "3 at least"."""
_PLAIN = frozenset(["a", ",", "-", "'s"])
_VARIABLES = frozenset("bcdefghijklmnopqrstuvwxyz")


def _is_note(sentence: Sentence, index: int) -> bool:
    """Whether a dash stands between a value and a note on it: "9 — note that (5,5) counts once"."""
    phrase = sentence.words
    is_set_off = phrase[index].text in "—–" and index + 1 < len(phrase) and phrase[index - 1].text[0] in "0123456789$"
    return is_set_off and phrase[index + 1].text in listed("notes")


def _begins_clause(sentence: Sentence, index: int) -> bool:
    """Whether prose follows, and not another value: "5; this holds for all x", but "x+1; x+2", "Paris; London", "5; or 6"."""
    if any(cue.kind is Kind.OR and cue.first == index for cue in sentence.cues):
        return False
    prose = [word for word in sentence.words[index:] if word.text.isalpha() and (len(word.text) > 1 or word.text > "z")]
    return sentence.words[index].text.isalpha() and len(prose) >= _FEWEST_WORDS


_FEWEST_WORDS = 2


def _adds(sentence: Sentence, index: int) -> bool:
    """Whether another value is joined around a degree of certainty: "12, I think, and 15", "12 and, of course, 15"."""
    stop = sentence.past(sentence.past_cue(index, Kind.GUESS), _COMMAS)
    joined = sentence.past_cue(stop, Kind.JOINS, Kind.OR)
    if joined == stop and sentence.ends_in(index - 1, *_JOINTS) is None:
        return False
    return begins_value(sentence, sentence.past_cue(joined, Kind.MAYBE, Kind.THE))


_COMMAS = frozenset(",，")
_JOINTS = frozenset([Kind.JOINS, Kind.OR])


def _has_digit(phrase: Sequence[Word]) -> bool:
    return any(word.text[0].isdigit() for word in phrase)


def _is_contrast(sentence: Sentence, index: int) -> bool:
    """Whether a denial is set off from the text before it, is a phrase, or denies another number: "12, not 15", "12 and not 15"."""
    if any(cue.kind is Kind.NOT and cue.stop > index + 1 for cue in sentence.at(index)):
        return True
    stop = sentence.past_cue(index, Kind.NOT)
    is_between = stop < len(sentence.words) and all(
        _has_digit(phrase) for phrase in (sentence.words[:index], sentence.words[stop : stop + 1])
    )
    if stop < len(sentence.words) and joins(sentence.words[index - 1]):
        # "Lima and not Cusco" sets a name against a name; "Love and Not Hate" is one.
        is_between = is_between or (
            sentence.text[sentence.words[index].start].islower() and sentence.text[sentence.words[stop].start].isupper()
        )
    return is_between or sentence.words[index - 1].text in ",，"


def _before(sentence: Sentence, index: int) -> int:
    if sentence.begins(index, Kind.NOT) and joins(sentence.words[index - 1]):
        index -= 1
    index = min([index, *_open_brackets(sentence.words[:index])])
    while index > 0 and sentence.words[index - 1].text in ",，(（;—–-":
        index -= 1
    return sentence.words[index - 1].end if index else sentence.start


def _open_brackets(phrase: Sequence[Word]) -> list[int]:
    """The places of the brackets that some words open and do not close."""
    indices: list[int] = []
    for index, word in enumerate(phrase):
        if word.text in "(（":
            indices.append(index)
        elif word.text in ")）" and indices:
            indices.pop()
    return indices


def _is_remark(sentence: Sentence) -> bool:
    """Whether a sentence speaks about an answer without giving it."""
    first = sentence.words[0] if sentence.words else None
    if (
        first
        and first.text in listed("places")
        and sentence.text[first.start].islower()
        and not _has_digit(sentence.words)
    ):
        return True
    return any(cue.kind is Kind.REMARK for cue in sentence.at(0))


_FEWEST_OF_CONDITION = 3
"""A condition and what follows from it have more words."""


def _is_open(sentence: Sentence) -> bool:
    """Whether the announced text is in doubt, denied behind, or holds only in a case that is supposed: "12, if it were red"."""
    first = [cue.kind for cue in sentence.cues if cue.first == 0]
    if Kind.MAYBE in first or Kind.DOUBT in first or Kind.BACK in first:
        return True
    if len(sentence.words) > _FEWEST_OF_CONDITION and supposes(sentence.words):
        return True
    if (
        Kind.YES in first
        and any(cue.kind is Kind.NO and cue.first == 2 for cue in sentence.cues)
        and sentence.words[1].text == "/"
    ):
        return True
    return any(cue.kind is Kind.WRONG and sentence.ends(cue.stop) and 0 < cue.first <= 4 for cue in sentence.cues)


_SPELLED = re.compile(r"(?P<words>[A-Za-z][A-Za-z -]{1,60}) \((?P<figures>[-−$]?\d[\d,.]*)\)")
_GLOSS = re.compile(r"(?<=[\w%$])(?:\s\(|\s?（)(?P<gloss>[^()（）\n]{1,80})[)）]$")


def _without_gloss(sentence: Sentence, start: int, end: int) -> tuple[int, int]:
    """The span without a copula behind the answer, and without a remark in brackets."""
    text = sentence.text
    if start == end:
        return start, end
    if (spelled := _SPELLED.fullmatch(text, start, end)) and numerals.value(spelled["words"]) is not None:
        return spelled.span("figures")
    if gloss := _GLOSS.search(text, max(start, end - 100), end):
        clause = Sentence(text, *gloss.span("gloss"), "")
        is_figure = text[gloss.start() - 1].isdecimal() or text[gloss.start() - 1] in "%$"
        is_remark = is_figure and (
            not any(char.isdigit() for char in gloss["gloss"])
            or clause.begins(0, *_POINTS)
            or clause.words[0].text in listed("glosses")
        )
        if is_remark or _denies_value(clause):
            return start, gloss.start()
    for cue in sentence.cues:
        if cue.kind is Kind.ENDS and cue.stop == len(sentence.words) and cue.first:
            return trim(text, start, sentence.words[cue.first - 1].end)
    return start, end


def _denies_value(parenthesis: Sentence) -> bool:
    """Whether an aside only denies another value: "(not Lyon)", （26ではない）; not "(not certain)"."""
    stop = parenthesis.past_cue(parenthesis.past_cue(0, Kind.JOINS), Kind.NOT)
    if parenthesis.begins(parenthesis.past_cue(0, Kind.JOINS), Kind.NOT) and stop < len(parenthesis.words):
        first = parenthesis.words[stop]
        return not first.text[0].isalpha() or parenthesis.text[first.start].isupper()
    wrong = [cue for cue in parenthesis.cues if cue.kind is Kind.WRONG and cue.first and parenthesis.ends(cue.stop)]
    return bool(wrong) and parenthesis.words[0].text[0].isdigit()


_POINTS = frozenset([Kind.LABEL, Kind.BY, Kind.AT, Kind.ASIDE, Kind.ABOUT, Kind.BECAUSE, Kind.NOT])
"""The beginning of an aside about the source or the precision of a number, or about another one: "7 (not 8)"."""
