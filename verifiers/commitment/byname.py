r"""Text behind a marked answer that speaks of it by name: it denies that value, or concludes another one.

    \boxed{48}  48 is wrong.   It can't be 48.   It is 42, not 48.      denied
    \boxed{48}  So it's 42.    It should be 42.                          another one is concluded
    \boxed{48}  If not, 42.    It could also be 42.   42 is also right.  left open

A value fills a slot of a verdict (`retraction.py`), as "right" does: "48 is wrong" says "right is wrong", and "it is not 48" says
"it is not right". All words of the sentence must fill slots, so that "48 is not a square" denies nothing.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from verifiers.commitment.alternatives import is_another_number, is_left_open
from verifiers.commitment.cues import Cue, Kind, listed, words
from verifiers.commitment.figured import figured
from verifiers.commitment.folding import fold
from verifiers.commitment.retraction import VALUE, Clause, Slot, Verdict, counts, judged, pronouns, turns
from verifiers.commitment.slots import is_word, openings_of
from verifiers.commitment.spans import Span
from verifiers.commitment.stance import DENIES, UNMADE, Sentence, sentence_at, sentences

_MAX_CHARS = 2000
_MAX_SENTENCES = 40
_MAX_NAME_WORDS = 6
_MAX_ANSWER_CHARS = 1_000
"""A longer answer is not one that a text names again by its numbers."""
_MAX_UNIT_WORDS = 2
"""The words for what a concluding sentence counts, behind its number."""
_PAUSES = frozenset(",;:，；：、،؛—–(（)）[【…")
_BUT = frozenset([Kind.BUT])
_PARTS = _BUT | {Kind.JOINS}
_APART = frozenset([Kind.ABOUT, Kind.CERTAINTY, Kind.SURE])
"""What makes a number another one than the answer: it is rounded, or it says how sure the speaker is."""
_LEADS = frozenset([Kind.SO, Kind.IT])
_SIGNS = frozenset("=+*/×÷<>≤≥≠≈~^")
Name = Sequence[str]


def denied_at(text: str, end: int, answer: str) -> int | None:
    """The end of the last sentence behind an answer, which ends at `end`, that denies it by name; None if it stands.

    What is denied and then called right stands.
    """
    display = text[end:].casefold()
    members = _members(answer)
    names = [name for name in (name_of(answer), *members) if name and name[0] in display]
    index = None
    for sentence in _behind(text, end) if names else ():
        for name in names:
            verdict = None if sentence.asks else verdict_on(sentence, name, is_member=name in members)
            if verdict is not None:
                index = _place_behind(sentence, name) if verdict is Verdict.REJECTS else None
            if verdict is Verdict.REJECTS:
                break
    return index


def _members(answer: str) -> Sequence[Name]:
    r"""The numbers of a list, none of which a text may reject: the 1 and the 2 of `x=1, x=2` and `\{1,2\}`, but not those of a point."""
    members = (
        _SEPARATOR.split(answer.strip().removeprefix("\\{").removesuffix("\\}"))
        if len(answer) <= _MAX_LIST_CHARS
        else []
    )
    numbers = [_MEMBER.fullmatch(member) for member in members]
    return [(match["number"],) for match in numbers if match] if len(members) > 1 and all(numbers) else ()


_SEPARATOR = re.compile(r"\s*(?:[,;，、]|\\text\s?\{\s?(?:and|or)\s?\}|\b(?:and|or)\b)\s*")
_MEMBER = re.compile(r"\$?\s{0,2}(?:[A-Za-z](?:_\w)?\s?=\s?)?(?P<number>\d{1,12}(?:\.\d{1,12})?)\s{0,2}\$?")
_MAX_LIST_CHARS = 120


def _place_behind(sentence: Sentence, name: Name) -> int:
    """The end of a sentence that denies a value; its start, if it states another number: "It is 42, not 48"."""
    numbers = {word.text for word in sentence.words if word.text[0].isdigit()}
    return sentence.start if numbers - {*name} else sentence.end


def concluded_at(text: str, end: int, answer: str) -> int | None:
    """The start of the last sentence of a text, or of a bracket behind the answer, which ends at `end`, that concludes another number."""
    bare_end, bare = _without_bracket(text, end, answer)
    shown = figured(text, bare_end, bare)
    text = shown.text
    if (at := _corrected_in_bracket(text, bare_end, bare)) is not None:
        return at
    successors = _behind(text, end)
    last = _without_working(successors[-1]) if successors else None
    if (
        last is None
        or last.asks
        or lacks_something(last)
        or not _SIGNS.isdisjoint(_without_name(last))
        or not _APART.isdisjoint(last.kinds)
    ):
        return None
    numbers = [at for at, word in enumerate(last.words) if word.text[0].isdigit()]
    # "But this counts each pair twice, so we divide by 2 to get 48": the last number is the conclusion.
    is_turn = len(numbers) > 1 and _objects(last, numbers[-1])
    numbers = numbers[-1:] if is_turn else numbers
    if (
        len(numbers) != 1
        or _is_in_name(text, last.words[numbers[0]].start)
        or (token := last.words[numbers[0]]).text in _numbers(answer)
    ):
        return None
    sentence = sentence_at(text, max(0, end - 1), 0, len(text))
    units = frozenset(word.text for word in sentence.words)
    start = max([cue.first for cue in last.cues if cue.kind is Kind.SO], default=0) if is_turn else 0
    if not listed("distributive").isdisjoint({word.text for word in last.words[start:]} - units):
        return None
    is_result = ends_in_result(last, numbers[0]) and (
        sentence.has(Kind.IF, 0, sentence.place((end, end))[0])
        or _is_objected(successors[:-1], answer)
        or _turns(successors[:-1], answer)
    )
    is_verdict = last.start > successors[-1].start and _verdict_slots(last, numbers[0], units) is not None
    is_verdict = is_verdict or _is_verdict(last, numbers[0], units, is_name=shown.is_of_names)
    if is_result or _objects(last, numbers[0]) or is_verdict:
        return None if last.stance((token.start, token.end)) in UNMADE else last.start
    return None


def lacks_something(sentence: Sentence) -> bool:
    """Whether a sentence begins with a word like "without", or holds one in a script without spaces: その条件がなければ."""
    text = sentence.text[sentence.start : sentence.end]
    # "Without doubt" lacks nothing.
    begins = sentence.words[0].text in listed("lacks") and not sentence.begins(0, *_SURELY)
    return begins or any(term in text for term in listed("lacks") if not term.isascii() and term >= _UNSPACED)


_SURELY = frozenset([Kind.NEUTRAL, Kind.GUESS])
_UNSPACED = "\u0e00"


def _without_working(sentence: Sentence) -> Sentence:
    """The conclusion of a sentence that ends a computation: the "so it is 48" of "6 * 8 = 48, so it is 48", 48です behind なので."""
    stops = [cue.first for cue in sentence.cues if cue.kind is Kind.SO and cue.first]
    ought = [at for at, word in enumerate(sentence.words) if word.text in listed("ought")]
    if stops and ought and stops[-1] < ought[-1]:
        return Sentence(sentence.text, sentence.words[stops[-1]].start, sentence.end, sentence.stop)
    equalities = [at for at, word in enumerate(sentence.words) if word.text == "=" or _heads_check(sentence, at)]
    stops = [
        at for at in stops or (_ends_of_premises(sentence) if equalities else ()) if at > min(equalities, default=at)
    ]
    if not stops:
        return sentence
    return Sentence(sentence.text, sentence.words[stops[-1]].start, sentence.end, sentence.stop)


def _heads_check(sentence: Sentence, at: int) -> bool:
    """Whether a word is the sign behind the heading of a check: "Check:"."""
    return at < _MAX_HEAD_WORDS and sentence.words[at].text in ":：" and sentence.words[at - 1].text in listed("checks")


_MAX_HEAD_WORDS = 4


def _ends_of_premises(sentence: Sentence) -> Sequence[int]:
    """The places behind words that end a premise, in languages that put them behind it: なので, 이므로."""
    phrases = [term.split() for term in listed("premises") if not term.isascii() and " " in term]
    texts = [word.text for word in sentence.words]
    return sorted(
        at + len(phrase)
        for phrase in phrases
        for at in range(1, len(texts) - len(phrase))
        if texts[at : at + len(phrase)] == phrase and texts[0] != phrase[0]
    )


def _corrected_in_bracket(text: str, end: int, answer: str) -> int | None:
    """The start of a bracket behind an answer that calls another number right: "48 (should be 42)"."""
    bracket = _BRACKET.match(text, end)
    if bracket is None:
        return None
    sentence = sentence_at(text, bracket.end(), bracket.start(), len(text))
    aside = Sentence(text, bracket.end(), sentence.end, sentence.stop)
    numbers = [at for at, word in enumerate(aside.words) if word.text[0].isdigit()]
    is_plain = not aside.asks and _SIGNS.isdisjoint(text[aside.start : aside.end]) and _APART.isdisjoint(aside.kinds)
    if not is_plain or len(numbers) != 1 or aside.words[numbers[0]].text in _numbers(answer):
        return None
    units = frozenset(word.text for word in words(text, max(0, end - _MAX_CHARS), end))
    slots = _verdict_slots(aside, numbers[0], units)
    is_corrected = slots is not None and (_calls_right(aside, numbers[0]) or Slot.TURN in slots)
    return aside.start if is_corrected else None


def _without_bracket(text: str, end: int, answer: str) -> tuple[int, str]:
    """The end of an answer and its text, without the words in brackets at its end: "48 (should be 42)"."""
    inner = INNER_BRACKET.search(answer) if len(answer) <= _MAX_ANSWER_CHARS else None
    if inner and text.endswith(answer, 0, end):
        return end - len(answer) + inner.start(), answer[: inner.start()]
    return end, answer


def _calls_right(sentence: Sentence, number: int) -> bool:
    """Whether the words before a number call it the right one, and not only the same: "should be 48", not "all 48 are right"."""
    if not listed("ought").isdisjoint(word.text for word in sentence.words[:number]):
        return True
    clause = judged(sentence, 0, number)
    return clause is not None and Slot.RIGHT in clause.slots


_BRACKET = re.compile(r"(?:[\s$*_}.!。]|\\[\])]|\\text\{|</answer>){0,12}[(（\[【]")
INNER_BRACKET = re.compile(r"\s{0,4}(?:\\text\{)?\s{0,4}[(（\[【](?=[^()（）]{0,80}(?<![\\A-Za-z])[^\W\d_]{3})")
"""A bracket with words, which may correct the value before it; a command such as `\\infty` is not a word."""


def _without_name(sentence: Sentence) -> str:
    """The text of a sentence without the sign between a last number and its name: "so n = 48"."""
    text = sentence.text[sentence.start : sentence.end]
    match = _NAMED.search(text)
    return text[: match.start()] if match else text


_NAMED = re.compile(r"(?<![A-Za-z])[A-Za-z]\s?=\s?\d[\d.,]{0,24}[\s$*)\\]{0,4}[^\W\d_]{0,4}\Z")


def _is_objected(predecessors: Sequence[Sentence], answer: str) -> bool:
    """Whether a sentence that turns from the answer, and does not name it, stands directly before: "But n must be even."."""
    if not predecessors or predecessors[-1].asks or not predecessors[-1].begins(0, Kind.BUT):
        return False
    return _numbers(answer).isdisjoint(word.text for word in predecessors[-1].words)


def _objects(sentence: Sentence, number: int) -> bool:
    """Whether a sentence turns from the answer and ends by concluding a number: "But n must be even, so n = 48."."""
    stops = [cue.first for cue in sentence.cues if cue.kind is Kind.SO] or _ends_of_premises(sentence)
    concludes = any(0 < at <= number for at in stops)
    is_left = not sentence.has(Kind.IF, 0, number)
    return concludes and is_left and sentence.begins(0, Kind.BUT) and _ends_near(sentence, number)


def leaves_open(text: str, end: int, answer: str) -> bool:
    """Whether the words behind an answer, which ends at `end`, offer another number: "if not, 48", "it could also be 48"."""
    end, answer = _without_bracket(text, end, answer)
    statement = sentence_at(text, max(0, end - 1), 0, len(text))
    remainder = Sentence(text, end, statement.end, statement.stop) if end < statement.end else None
    successors = sentences(text, max(end, statement.end), min(len(text), max(end, statement.end) + _MAX_OFFER_CHARS))
    statements = [*([remainder] if remainder else []), *islice(successors, _MAX_OFFERS)]
    if is_left_open(text, end, partial(is_another_number, answer)):
        return True
    return any(_offers_other(sentence, _numbers(answer)) for sentence in statements if not sentence.asks)


def _offers_other(sentence: Sentence, members: frozenset[str]) -> bool:
    """Whether a clause says nothing but that another number may be right, or is if the answer is wrong."""
    if not _SIGNS.isdisjoint(sentence.text[sentence.start : sentence.end]):
        return False
    is_supposed, is_added = False, _ends_in_also(sentence)
    for first, stop in _clauses(sentence, _BUT):
        start = sentence.past_cue(first, Kind.IF)
        if start > first:
            is_supposed = _is_rejected(sentence, start, stop)
            continue
        numbers = [at for at in range(first, stop) if sentence.words[at].text[0].isdigit()]
        if len(numbers) == 1 and sentence.words[numbers[0]].text not in members:
            cues = [cue for cue in sentence.cues if first <= cue.first and cue.stop <= stop]
            is_offered = is_supposed or is_added or any(cue.kind in _OFFERS for cue in cues)
            is_denied = any(cue.kind in DENIES for cue in cues)
            if is_offered and not is_denied and _only_names(sentence, first, stop, numbers[0], cues):
                return True
    return False


def _ends_in_also(sentence: Sentence) -> bool:
    """Whether a comma and a word like "too" end a sentence: "42 is a solution, too"."""
    first = max((at + 1 for at, word in enumerate(sentence.words) if word.text in _PAUSES), default=0)
    return first > 0 and any(
        cue.kind is Kind.ALSO and (cue.first, cue.stop) == (first, len(sentence.words)) for cue in sentence.cues
    )


def _is_rejected(sentence: Sentence, first: int, stop: int) -> bool:
    """Whether a condition is that the answer is wrong: "if that's wrong", "if not", "if 42 is not accepted"."""
    clause = _judged(sentence, first, stop, _numbered(sentence, first, stop))
    return clause is not None and (clause.verdict is Verdict.REJECTS or clause.slots == {Slot.NOT})


def _only_names(sentence: Sentence, first: int, stop: int, number: int, cues: Sequence[Cue]) -> bool:
    """Whether all words of a clause but those that offer make up "it is [number]" or "[number] is right"."""
    covered = {at for cue in cues if cue.kind in _OFFERS | _JOINTS for at in range(cue.first, cue.stop)}
    words_left = [at for at in range(first, stop) if at not in covered]
    texts = [VALUE if at == number else sentence.words[at].text for at in words_left]
    clause = Sentence(" ".join(texts), 0, len(" ".join(texts)), "")
    verdict = judged(clause, 0, len(clause.words))
    return verdict is not None and verdict.verdict is Verdict.AFFIRMS


_OFFERS = frozenset([Kind.ALSO, Kind.MAYBE])
_JOINTS = frozenset([Kind.BUT, Kind.ASIDE, Kind.JOINS])
_MAX_OFFER_CHARS = 300
_MAX_OFFERS = 2


def _is_in_name(text: str, start: int) -> bool:
    """Whether figures are the end of a name: `c3`."""
    letter = text[start - 1 : start]
    return letter.isascii() and letter.isalpha()


def verdict_on(sentence: Sentence, name: Name, *, is_member: bool = False) -> Verdict | None:
    """What a sentence says of a value with a name, or of the list that it is a member of; None if a word of it says anything else."""
    hit = None
    for first, stop in _clauses(sentence):
        positions = _places(sentence, name, first, stop)
        # "Only 1 is valid" rejects the rest.
        rest = sentence.past_cue(first, Kind.ONLY) if is_member else first
        clause = _judged(sentence, rest, stop, positions or _numbered(sentence, rest, stop))
        if clause is None:
            return None
        if positions and clause.verdict is not Verdict.LEADS:
            hit = clause.verdict if rest == first or clause.verdict is Verdict.REJECTS else Verdict.REJECTS
    return hit


def rejects(text: str) -> bool:
    """Whether a text, with `VALUE` in place of its values, says nothing but that they are not the answer: "VALUE does not fit"."""
    sentence = Sentence(text, 0, len(text), "")
    verdicts = [judged(sentence, first, stop) for first, stop in _clauses(sentence)]
    return all(verdicts) and [clause.verdict for clause in verdicts if clause][-1:] == [Verdict.REJECTS]


def denies_by_name(sentence: Sentence, span: Span) -> bool:
    """Whether the clause of a value says nothing but that it is not the answer: "we reject x = 2", "42 seems too small".

    A value that the clause tells of something wrong is none of that: "the error is 42".
    """
    if not sentence.may_reject():
        return False
    extent = sentence.place(span)
    for first, stop in _clauses(sentence):
        if first <= extent[0] and extent[1] <= stop:
            clause = _judged(sentence, first, stop, [_with_letter(sentence, first, extent)])
            is_told = (
                sentence.ends_in(extent[0], Kind.IS) is not None and clause is not None and Slot.NOT not in clause.slots
            )
            is_told = is_told or (stop == extent[1] + 1 and _counts_wrongs(sentence, extent))
            return clause is not None and clause.verdict is Verdict.REJECTS and not is_told
    return False


def _counts_wrongs(sentence: Sentence, span: Span) -> bool:
    """Whether a number counts what is wrong: "il a fait 42 erreurs"."""
    return sentence.words[span[1]].text in openings_of("verdict", "wrong") and counts(sentence, span[0])


def _with_letter(sentence: Sentence, first: int, span: Span) -> Span:
    """A value with the name that it is given to: the "x = 2" of "we reject x = 2"."""
    at = span[0] - 1 if span[0] > first and sentence.words[span[0] - 1].text == "$" else span[0]
    is_named = at - 2 >= first and sentence.words[at - 1].text == "=" and len(sentence.words[at - 2].text) == 1
    return (at - 2 if is_named else span[0]), span[1]


def name_of(answer: str) -> Name:
    """The words by which a text may name an answer again; none for a formula, a text, and yes or no."""
    texts = [word.text for word in words(fold(answer).strip(" $*_.()"))]
    is_truth = any(word in listed("truth") or word in listed("untruth") for word in texts)
    if (
        not texts
        or len(texts) > _MAX_NAME_WORDS
        or is_truth
        or not all(word.isalnum() or word[0].isdigit() for word in texts)
    ):
        return ()
    is_amount = texts[0][0].isdigit() and all(word.isalpha() for word in texts[1:])
    return texts[:1] if is_amount else texts


def _behind(text: str, end: int) -> Sequence[Sentence]:
    """The last sentences behind an answer, without the rest of its own."""
    sentence = sentence_at(text, max(0, end - 1), 0, len(text))
    start = max(end, sentence.end, len(text) - _MAX_CHARS)
    successors = sentences(text, start, len(text)) if start < len(text) else ()
    return [each for each in successors if any(map(str.isalnum, text[each.start : each.end]))][-_MAX_SENTENCES:]


def _clauses(sentence: Sentence, members: frozenset[Kind] = _PARTS) -> Iterator[Span]:
    """The clauses between pauses and words that part them; words that only lead to a conclusion are left out."""
    # The "no" of "42 no es válida" denies, and begins no clause.
    breaks = {cue.first for cue in sentence.cues if cue.kind in members and cue.first}
    breaks -= {cue.first for cue in sentence.cues if cue.kind in _DENIALS}
    first = sentence.past_cue(0, Kind.SO)
    for position in range(first, len(sentence.words)):
        is_pause = sentence.words[position].text in _PAUSES
        if is_pause or position in breaks:
            if any(map(is_word, sentence.words[first:position])):
                yield first, position
            first = position + is_pause
    if any(map(is_word, sentence.words[first:])):
        yield first, len(sentence.words)


_DENIALS = frozenset([Kind.NOT, Kind.NO, Kind.WRONG])


def _places(sentence: Sentence, name: Name, first: int, stop: int) -> Sequence[Span]:
    """Where words between two places name a value."""
    texts = [word.text for word in sentence.words[first:stop]]
    size = len(name)
    spans = [(first + at, first + at + size) for at in range(len(texts) - size + 1) if texts[at : at + size] == [*name]]
    return [_with_letter(sentence, first, span) for span in spans]


def _numbered(sentence: Sentence, first: int, stop: int) -> Sequence[Span]:
    return [(position, position + 1) for position in range(first, stop) if sentence.words[position].text[0].isdigit()]


def _judged(sentence: Sentence, first: int, stop: int, values: Sequence[Span]) -> Clause | None:
    """The verdict of a clause, with a placeholder for each value."""
    texts, position = [], first
    for start, end in values:
        texts += [_shown(sentence, position, start), VALUE]
        position = end
    text = " ".join([*texts, _shown(sentence, position, stop)])
    clause = Sentence(text, 0, len(text), "")
    return judged(clause, 0, len(clause.words))


def _shown(sentence: Sentence, first: int, stop: int) -> str:
    return sentence.text[sentence.words[first].start : sentence.words[stop - 1].end] if first < stop else ""


def _numbers(answer: str) -> frozenset[str]:
    return frozenset(word.text for word in words(fold(answer[:_MAX_ANSWER_CHARS])))


def _is_verdict(sentence: Sentence, number: int, units: frozenset[str], *, is_name: bool) -> bool:
    """Whether all that a sentence says is that a number is the value: "So it's 42.", "It should be 42 cm.".

    The words behind the number must be among `units`. A name needs more than a verb: "It was Shakespeare" says who wrote the answer.
    """
    slots = _verdict_slots(sentence, number, units)
    if slots is None:
        return False
    if _calls_right(sentence, number) or (not slots.isdisjoint(_REVISES) and _is_last(sentence, number, units)):
        return True
    if is_name:
        return Slot.THIS in slots and Kind.SO in sentence.kinds
    return Slot.THIS in slots or not _LEADS.isdisjoint(sentence.kinds)


_REVISES = frozenset([Slot.TURN, Slot.RECHECK])


def _verdict_slots(sentence: Sentence, number: int, units: frozenset[str]) -> frozenset[str] | None:
    """The slots that the words of a sentence fill with a number; None if a word says anything else, or that it is wrong."""
    if sentence.words[number + 1 : number + 2] and sentence.words[number + 1].text in ":：":
        return None  # The number of a heading: "Note 1: this is right".
    slots = frozenset[str]()
    is_verdict = False
    for first, stop in _clauses(sentence):
        is_here = first <= number < stop
        ended = sentence.past_cue(number + 1, Kind.ENDS)
        is_unit = is_here and units.issuperset(word.text for word in sentence.words[ended:stop])
        values = [(number, stop if is_unit else number + 1)] if is_here else []
        clause = _judged(sentence, first, stop, values)
        if clause is None and is_here:
            clause = _found(sentence, first, number, slots) if _is_last(sentence, number, units) else None
        if clause is None or clause.verdict is Verdict.REJECTS:
            return None
        slots, is_verdict = slots | clause.slots, True
    return slots if is_verdict else None


def puts_in_place(text: str, start: int, span: Span, end: int) -> bool:
    """Whether a part of a text says nothing but that the value at a span is right, or what a new check gives: "(should be C)"."""
    display = text[start : span[0]] + "0" * (span[1] - span[0]) + text[span[1] : end]
    sentence = Sentence(display, 0, len(display), "")
    first, stop = sentence.place((span[0] - start, span[1] - start))
    if stop - first != 1 or sentence.asks:
        return False
    slots = _verdict_slots(sentence, first, frozenset())
    return slots is not None and (not slots.isdisjoint(_REVISES) or _calls_right(sentence, first))


def _found(sentence: Sentence, first: int, number: int, members: frozenset[str]) -> Clause | None:
    """The clause of a number that ends it, past the words that only say that it was found, behind a new check: "Recounting gives 42"."""
    said = {at for cue in sentence.cues if cue.kind in _FINDS for at in range(cue.first, cue.stop)}
    kept = [word.text for at, word in enumerate(sentence.words[first:number], first) if at not in said]
    text = " ".join([*(word for word in kept if word not in listed("totals")), VALUE])
    clause = Sentence(text, 0, len(text), "")
    verdict = judged(clause, 0, len(clause.words))
    is_new = verdict is not None and not _REVISES.isdisjoint(members | verdict.slots)
    return verdict if is_new else None


def _is_last(sentence: Sentence, number: int, units: frozenset[str]) -> bool:
    """Whether nothing but a unit stands behind a number in its clause; "all 3 conditions hold" says something of what it counts."""
    stop = number + 1
    while stop < len(sentence.words) and sentence.words[stop].text in units:
        stop += 1
    return sentence.ends(stop)


_FINDS = frozenset([Kind.SO, Kind.CHOOSE, Kind.IS, Kind.THE])


def ends_in_result(sentence: Sentence, number: int) -> bool:
    """Whether a sentence begins by concluding, and ends in a number with what it counts: "So there are 48 pairs."."""
    return _ends_near(sentence, number) and sentence.begins(0, Kind.SO)


def _ends_near(sentence: Sentence, number: int) -> bool:
    positions = [cue.first for cue in sentence.cues if cue.kind is Kind.ENDS and cue.first > number]
    return min(positions, default=len(sentence.words)) - number - 1 <= _MAX_UNIT_WORDS


def _turns(successors: Sequence[Sentence], answer: str) -> bool:
    """Whether a sentence turns from the answer, and no sentence since then names it: "But that counts 0", 等一下，我多算了."""
    is_present, name = False, name_of(answer)
    for sentence in successors:
        is_named = bool(name) and bool(_places(sentence, name, 0, len(sentence.words)))
        is_present = (is_present or turns(sentence) or _is_on_answer(sentence)) and not is_named
    return is_present


def _is_on_answer(sentence: Sentence) -> bool:
    stop = sentence.past_cue(0, Kind.BUT)
    return 0 < stop < len(sentence.words) and sentence.words[stop].text in pronouns()
