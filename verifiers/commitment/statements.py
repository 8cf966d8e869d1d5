"""The channel `final_statement`: the value that the last sentence of a text, or an announced sentence, states.

A value is a yes or no, an option, a formula, a bold phrase, or "no solution". It stands behind a verb or a conclusion,
or before "is the solution". A number alone is left to `last_number`.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from verifiers import numerals
from verifiers.commitment.absences import without_reason
from verifiers.commitment.amounts import is_bounded, is_counted, leads_to_number
from verifiers.commitment.bare import read_bare
from verifiers.commitment.contrasts import ends_in_denial
from verifiers.commitment.cues import Cue, Kind, Word, kinds, listed, words
from verifiers.commitment.figures import NUMBER, last_digit_end
from verifiers.commitment.offers import NO_OFFERS, Offer, Offers
from verifiers.commitment.premises import past_premise
from verifiers.commitment.retraction import Verdict, judged
from verifiers.commitment.sayings import divides, finds_none, in_signs, names_value, relates, subject_end
from verifiers.commitment.spans import Span, strip, trim, unwrap
from verifiers.commitment.stance import UNMADE, Sentence, Stance, last_sentence, sentences
from verifiers.commitment.wording import single
from verifiers.numerals import parts

_CHARS = 400
_OPTION_LINE = re.compile(r"[*_\s]{0,4}\(?[A-H](?:\)?[*_\s]{0,4}|[.)][*_\s]{0,4}(?:\S[^\n]{0,100})?)")
_OPTION_ITEM = re.compile(r"[*_\s-]{0,4}\(?[A-H][.)]")
_OPTION = re.compile(r"\(?(?<![^\W_])[A-H](?![^\W_])\)?")
_WORD_ENDS = re.compile(r"[*_.,:;]{0,4}\Z|[*_]{0,3}[.,:;—–][*_]{0,3}\s")
_SOLUTIONS = re.compile(
    r"\b(?:has|have|is|are|exists?)\s[*_]{0,3}(?P<word>(?:no|infinitely\smany)\s(?:[a-z]{3,9}\s)?solutions?)[*_]{0,3}$",
    re.I,
)
_FORMULA = re.compile(r"\$(?:[^$\n\\]|\\.){1,300}\$|\\\((?:(?!\\\)).){1,300}\\\)|\*\*[^*\n]{1,80}\*\*")
_ONLY_NUMBER = re.compile(rf"\s?{NUMBER}\s?[°%]?\s?(?:(?!pi(?![A-Za-z]))[A-Za-z]{{1,16}})?")
_SIDE = r"[-−+]?(?:[\d.,]*[\d√π]|[\w{}\\^/().√π]{1,40}(?<![.]))"
_CASE = re.compile(
    rf"\$?(?<![A-Za-z\\])(?P<name>[a-zA-Z])(?:_\d)?\s?(?:[=<>≤≥]|\\(?:leq?|geq?|lt|gt)(?![a-z]))\s?{_SIDE}\$?"
)
"""A relation: a name has a value, or lies on one side of it."""
_GROUP = re.compile(r"(?<![^\s$])\$?(?P<group>[\[(]{1,2}[-−+\w\s,;./^√π∞\\()\[\]{}]{1,120}[\])]{1,2})\$?$")
_NAMES = re.compile(r"(?<!\\)[^\W\d_]{2,}")
_OPEN = frozenset([Kind.NOT, Kind.DOUBT, Kind.MAYBE, Kind.IF, Kind.SAID, Kind.FIND, Kind.OR, Kind.WRONG])
_LEAD = frozenset([Kind.SO, Kind.IS])
_VERBS = frozenset([Kind.IS, Kind.SO, Kind.CHOOSE])


def read_statement(text: str, start: int, end: int) -> Offers:
    """The value that the last sentence commits to, if it is one; nothing if the sentence denies, supposes or asks."""
    line_start = strip(text, max(start, text.rfind("\n", start, end) + 1, end - _CHARS), end)[0]
    span = _option_line(text, start, line_start, end) or _yes_or_no(text, line_start, end)
    if span is None:
        in_line = list(sentences(text, line_start, end))
        span = _stated(_main_clause(without_reason(in_line[-1]))) if in_line else None
    if span is None or _is_rejected(text, start, line_start, span[0]):
        return NO_OFFERS
    return Offers((Offer(*span, *span),))


def _is_rejected(text: str, start: int, line_start: int, first: int) -> bool:
    """Whether a value begins its line, and the words above it only lead to what they deny or doubt: "This is wrong:"."""
    if line_start <= start or any(map(str.isalnum, text[line_start:first])):
        return False
    lead = last_sentence(text, max(start, line_start - _CHARS), line_start)
    if lead is None or lead.stop.strip() or "\n" not in lead.stop:
        return False
    clause = judged(lead, 0, len(lead.words))
    return lead.stance_at_end() in UNMADE or (clause is not None and clause.verdict is Verdict.REJECTS)


def _main_clause(sentence: Sentence) -> Sentence:
    r"""A sentence up to the formula that a reason explains, and without the premise before a clause that is a formula.

    So the area is $2π$, as desired    Since $r = \sqrt5$, $P = 4\sqrt5$    $r=\sqrt5$より、$P=4\sqrt5$である
    """
    text = sentence.text
    for cue in sentence.cues:
        is_reason = cue.kind is Kind.BECAUSE and sentence.words[cue.first].text not in listed("supposes")
        index = sentence.words[cue.first].start if is_reason else sentence.start
        end = strip(text, sentence.start, index, ",，、 ")[1]
        statement = Sentence(text, sentence.start, end, sentence.stop)
        remainder = Sentence(text, index, sentence.end, sentence.stop)
        tail = text[sentence.words[cue.stop].start : sentence.end] if cue.stop < len(sentence.words) else ""
        is_unreal = any(word.text in listed("conditional") for word in statement.words)
        if (
            text.endswith(_FORMULA_ENDS, sentence.start, end)
            and remainder.kinds.isdisjoint(_REVERSES)
            and not is_unreal
            and not _ONLY_NUMBER.fullmatch(tail.strip("$ .,，"))  # "i.e. 1000"
        ):
            return statement
    stop = past_premise(sentence, listed("premises"))
    first = sentence.words[stop].start if 0 < stop < len(sentence.words) else sentence.start
    starts = text.startswith(("$", "\\("), first) or (stop > 0 and _CASE.match(text, first))
    return Sentence(text, first, sentence.end, sentence.stop) if starts else sentence


_FORMULA_ENDS = ("$", "\\)")
_REVERSES = frozenset([Kind.NOT, Kind.WRONG, Kind.BAD, Kind.BUT, Kind.BACK, Kind.NO, Kind.NONE, Kind.MAYBE, Kind.FALSE])


def _option_line(text: str, start: int, line_start: int, end: int) -> Span | None:
    """A last line that is a letter, or one option written out. The last item of a list of options does not count."""
    if not _OPTION_LINE.fullmatch(text, line_start, end):
        return None
    prefix = text[max(start, line_start - _CHARS) : line_start].rstrip().rpartition("\n")[2]
    return None if _OPTION_ITEM.match(prefix) else trim(text, line_start, end)


def _yes_or_no(text: str, line_start: int, end: int) -> Span | None:
    """The yes or no that begins a last line, if the line holds no number, no doubt and not the opposite."""
    word = next(iter(words(text, line_start, min(end, line_start + _MAX_WORD_CHARS))), None)
    if word is None or not _is_truth(word.text) or not _WORD_ENDS.match(text, word.end, end):
        return None
    remainder = Sentence(text, word.end, end, "")
    is_open = not remainder.kinds.isdisjoint(_REVISES) or "?" in text[word.end : end]
    return None if is_open or any(map(str.isdigit, text[word.end : end])) else (word.start, word.end)


_REVISES = frozenset([Kind.BUT, Kind.BACK, Kind.YES, Kind.NO])
_MAX_WORD_CHARS = 24


def _is_truth(word: str) -> bool:
    return word in listed("truth") or word in listed("untruth")


def _stated(sentence: Sentence) -> Span | None:
    """The value at the end of a sentence, or the formula before "is the solution"."""
    text, (start, end) = sentence.text, strip(sentence.text, sentence.start, _before_ends(sentence), ".。．")
    if sentence.asks or start >= end:
        return None
    display = text[start:end]
    if solutions := _SOLUTIONS.search(display):
        return None if _is_open(sentence, start) else (start + solutions.start("word"), start + solutions.end("word"))
    statement = _cases(sentence, start, end) or _condition(sentence, start, end) or _relation(sentence, end)
    statement = statement or _possible(sentence, end) or _ratio(sentence, end)
    statement = statement or _no_solution(sentence, end) or _listing(sentence, start, end) or _all_but(sentence, end)
    if statement:
        return statement
    if _is_open(sentence, start):
        return None
    options = [match.span() for match in _OPTION.finditer(text, start, end)]
    for index, option in enumerate(options):
        if _is_chosen(sentence, option):
            return option[0], _end_of_list(sentence, options[index:])
    last = sentence.words[-1] if sentence.words else None
    if last and _is_truth(last.text) and sentence.ends_in(len(sentence.words) - 1, *_VERBS):
        return _called_right(sentence, last) or (last.start, last.end)
    if (span := _in_words(sentence) or _named(sentence, end) or _group(sentence, start, end)) is not None:
        return span
    formulas = list(_FORMULA.finditer(text, start, end))
    if len(formulas) == 1 and sentence.stance(formulas[0].span()) is Stance.ANNOUNCED and formulas[0].end() < end:
        return unwrap(text, *formulas[0].span())
    return _behind_verb(sentence, start, end)


def _end_of_list(sentence: Sentence, options: Sequence[Span]) -> int:
    """The end of the options in a row, if they end the clause: "A, C and D"; else that of the first: "B, A is too small"."""
    last = options[0]
    for option in options[1:]:
        if not _is_joined(sentence, last[1], option[0]):
            break
        last = option
    return last[1] if sentence.ends(sentence.place(last)[1]) else options[0][1]


def _is_chosen(sentence: Sentence, option: Span) -> bool:
    """Whether a letter is an option, and not a quantity: the A of "so A = 12", "|A|", or a subject, as in "so B gets 12"."""
    first, stop = sentence.place(option)
    is_marked = first > 0 and sentence.words[first - 1].text == "$"
    end = sentence.past(stop, _MARKS)
    texts = [sentence.words[at].text for at in (first - 1 - is_marked, end) if 0 <= at < len(sentence.words)]
    if any(word in _OPERATORS for word in texts):
        return False
    stance = sentence.stance(option)
    is_apart = (sentence.ends(end) and not sentence.begins(end, *_JOINTS)) or sentence.begins(end, Kind.BECAUSE)
    return stance in (Stance.ANNOUNCED, Stance.CALLED) or (stance is Stance.CONCLUDED and is_apart)


_MARKS = frozenset("$)")
_OPERATORS = frozenset("=≠<>≤≥+-−±*/^|\\∩∪∈⊂~≈∠△∥⊥")


def _before_ends(sentence: Sentence) -> int:
    """The end of a sentence, or of the formula before a verb that ends it: "$2π$である"."""
    indices = [cue.first for cue in sentence.cues if cue.kind is Kind.ENDS and sentence.ends(cue.stop)]
    first = min(indices, default=0)
    is_formula = first and sentence.words[first - 1].text in ("$", ")")
    return sentence.words[first].start if is_formula else sentence.end


def _called_right(sentence: Sentence, verdict: Word) -> Span | None:
    """The number that is called right, alone or behind a conclusion: "Thus 42 is correct", "Yes, 42 is right"."""
    numbers = [*re.finditer(NUMBER, sentence.text[sentence.start : verdict.start])]
    if len(numbers) != 1 or verdict.text not in listed("truth"):
        return None
    span = trim(sentence.text, sentence.start + numbers[0].start(), sentence.start + numbers[0].end())
    first, stop = sentence.place(span)
    while first and sentence.words[first - 1].text in ",，$":
        first -= 1
    is_start = first == 0 or sentence.ends_in(first, *_BEFORE_CALLED) is not None
    return span if is_start and sentence.begins(stop, *_VERBS) else None


_BEFORE_CALLED = frozenset([Kind.SO, Kind.YES, Kind.GREETS])


def _cases(sentence: Sentence, start: int, end: int) -> Span | None:
    """The cases of one name that end a sentence, with nothing open before: `x = 1 or x = -1`, `x < -1 or x > 4`."""
    matches = list(_CASE.finditer(sentence.text, start, end))
    if len(matches) < 2 or matches[-1].end() < end or len({case["name"] for case in matches}) > 1:
        return None
    for match, hit in pairwise(matches):
        first, stop = sentence.place((match.end(), hit.start()))
        joined = {index for cue in sentence.cues if cue.kind in _JOINTS for index in range(cue.first, cue.stop)}
        if any(index not in joined and sentence.words[index].text not in ",$" for index in range(first, stop)):
            return None
    first = sentence.place((matches[0].start(), end))[0]
    if any(cue.kind in _OPEN and cue.stop <= first for cue in sentence.cues):
        return None
    return matches[0].start(), end


_JOINTS = frozenset([Kind.OR, Kind.JOINS])


def _relation(sentence: Sentence, end: int) -> Span | None:
    """What is told of a name in words that end a sentence without other figures: "so x must be at least 5"."""
    for index in range(1, len(sentence.words)):
        if relates(sentence.words, index):
            if any(cue.kind in _OPEN and cue.first < index for cue in sentence.cues):
                return None
            name = subject_end(sentence.words, index) - 1
            name -= name > 0 and sentence.words[name].text == "$"
            name -= name > 0 and sentence.words[name - 1].text == "$"
            return _told_to_end(sentence, name, end) if name >= 0 and _begins_clause(sentence, name) else None
    return None


def _possible(sentence: Sentence, end: int) -> Span | None:
    """All values that a name can have, at the end of a sentence: "n can be 1, 2, or 3"."""
    phrase = sentence.words
    joined = {index for cue in sentence.cues if cue.kind in _JOINTS for index in range(cue.first, cue.stop)}
    if not sentence.has(Kind.OR, 0, len(phrase)) or any(cue.kind in _OPEN - {Kind.OR} for cue in sentence.cues):
        return None
    for index in range(1, len(phrase) - 2):
        if phrase[index].text in listed("able") and phrase[index + 1].text in listed("being"):
            is_name = len(phrase[index - 1].text) == 1 and not phrase[index - 1].text.isdigit()
            values = [at for at in range(index + 2, len(phrase)) if at not in joined and phrase[at].text not in ",$"]
            is_list = len(values) > 1 and all(phrase[at].text[0].isdigit() for at in values)
            return (phrase[index + 2].start, end) if is_name and is_list else None
    return None


def _ratio(sentence: Sentence, end: int) -> Span | None:
    """The two numbers of a ratio at the end of a sentence: "The ratio of boys to girls is 2 to 3"."""
    phrase, first = sentence.words, len(sentence.words) - 3
    if first < 1 or phrase[first + 1].text not in listed("ranges") or not sentence.ends_in(first, Kind.IS):
        return None
    is_ratio = any(word.text in listed("ratios") for word in phrase[:first]) and not _is_open(sentence, sentence.start)
    is_plain = phrase[first].text[0].isdigit() and phrase[-1].text[0].isdigit()
    return (phrase[first].start, end) if is_ratio and is_plain else None


def _begins_clause(sentence: Sentence, index: int) -> bool:
    """Whether a name is what a clause is about, and no part of something: not the x of "the square of x", "-x"."""
    prefix = sentence.words[index - 1].text if index else ","
    return prefix in _CLAUSES or prefix in listed("relatives") or sentence.ends_in(index, *_LEAD) is not None


_CLAUSES = frozenset(",:，：")


def _no_solution(sentence: Sentence, end: int) -> Span | None:
    """The words that end a sentence and say that there is no solution: "方程无解"."""
    for index, word in enumerate(sentence.words):
        if finds_none(sentence.words, index):
            is_article = (
                Kind.OR if sentence.has(Kind.OR, 0, 1) else None
            )  # "O limite": alternatives do not begin a sentence
            is_open = any(cue.kind in _OPEN - {is_article} and cue.first < index for cue in sentence.cues)
            is_case = any(token.text[0].isdigit() for token in sentence.words)
            return None if is_open or is_case else (word.start, end)
    return None


def _told_to_end(sentence: Sentence, index: int, end: int) -> Span | None:
    """From a word to the end of its sentence, if that is a formula in words, and no figures stand before it."""
    first = sentence.words[index].start
    is_apart = not any(map(str.isdigit, sentence.text[sentence.start : first]))
    return (first, end) if is_apart and in_signs(sentence.text[first:end]) is not None else None


def _condition(sentence: Sentence, start: int, end: int) -> Span | None:
    """A relation that ends a sentence as what something holds for: "f is increasing for x > 2", "exactly when x is at most 3"."""
    cues = [cue for cue in sentence.cues if cue.kind is Kind.IF]
    indices = [cue.stop for cue in cues] + [
        index + 1 for index, word in enumerate(sentence.words) if word.text in listed("qualifiers")
    ]
    lead = max((index for index in indices if index < len(sentence.words)), default=0)
    is_open = any(cue.kind in _OPEN - {Kind.IF} for cue in sentence.cues) or len(cues) > 1
    is_open = is_open or any(word.text in listed("lacking") for word in sentence.words)
    if not lead or is_open or not any(cue.kind in _HOLDS and cue.stop < lead for cue in sentence.cues):
        return None
    first = sentence.words[lead].start
    relation = _CASE.fullmatch(sentence.text, first, end)
    if relation and "=" not in _EQUATION.findall(relation[0]) and not any(map(str.isdigit, sentence.text[start:first])):
        return first, end
    is_related = any(relates(sentence.words, index) for index in range(lead, len(sentence.words)))
    return _told_to_end(sentence, lead, end) if is_related else None


_HOLDS = frozenset([Kind.IS, Kind.FITS])
_EQUATION = re.compile(r"[<>≤≥]?=")


def _group(sentence: Sentence, start: int, end: int) -> Span | None:
    """An interval, point or matrix that ends a sentence without other figures: "increasing on (2, ∞)"."""
    group = _GROUP.search(sentence.text, start, end)
    if (
        group is None
        or "," not in group["group"]
        or any(name not in _INFINITE for name in _NAMES.findall(group["group"]))
    ):
        return None
    if any(map(str.isdigit, sentence.text[start : group.start()])) or not any(map(str.isdigit, group["group"])):
        return None
    first = sentence.place(group.span("group"))[0]
    return group.span("group") if any(cue.kind in _VERBS and cue.stop <= first for cue in sentence.cues) else None


_INFINITE = frozenset(["inf", "infty", "infinity"])


def _in_words(sentence: Sentence) -> Span | None:
    """The only number in words of a sentence without figures: "There are two objects left"."""
    if (spelled := _spelled(sentence)) is not None:
        return spelled
    if any(word.text[0].isdigit() for word in sentence.words):
        return None
    if (share := _share(sentence)) is not None:
        return share
    indices = [index for index, word in enumerate(sentence.words) if _counts(word.text)]
    if len(indices) != 1:
        return None
    word, is_last = sentence.words[indices[0]], indices[0] == len(sentence.words) - 1
    is_told = sentence.ends_in(indices[0], *_VERBS) or (is_last and _is_verb(sentence, indices[0] - 1))
    return (word.start, word.end) if is_told else None


def _is_verb(sentence: Sentence, index: int) -> bool:
    """Whether a word is a copula of any language, whether or not the sentence tells which: "Die Summe ist sieben"."""
    word = sentence.words[index].text if index > 0 else ""
    return word in listed("singular") or word in listed("plural")


def _share(sentence: Sentence) -> Span | None:
    """The only number of a sentence, if that is a fraction in words: "Pete ate five twelfths of the pizza"."""
    phrase = sentence.words
    indices = [
        index for index, word in enumerate(phrase) if len(word.text) > 2 and numerals.value(word.text) is not None
    ]
    if not indices:
        return None
    for stop in range(min(indices[0] + _MOST_WORDS, len(phrase)), indices[0] + 1, -1):
        span = phrase[indices[0]].start, phrase[stop - 1].end
        value = numerals.value(sentence.text[slice(*span)])
        if value is not None:
            is_alone = value.denominator > 1 and indices[-1] < stop and not sentence.bounds(span)
            return span if is_alone and sentence.stance(span) not in UNMADE else None
    return None


def _spelled(sentence: Sentence) -> Span | None:
    """A number of several words behind a verb, with all figures of its sentence: "is minus 7", "are three quarters"."""
    indices = {index for index, word in enumerate(sentence.words) if word.text[0].isdigit()}
    leads = [cue.stop for cue in sentence.cues if cue.kind in (Kind.IS, Kind.HAS)]
    leads += [index + 1 for index in range(len(sentence.words)) if _is_verb(sentence, index) and index + 1 not in leads]
    for lead in leads:
        if lead >= len(sentence.words):
            continue
        if (extent := _told_to_end(sentence, lead, sentence.end)) is not None:
            return extent
        for stop in range(min(lead + _MOST_WORDS, len(sentence.words)), lead + 1, -1):
            span = sentence.words[lead].start, sentence.words[stop - 1].end
            is_apart = indices <= set(range(lead, stop)) and not sentence.text[span[0]].isdigit()
            if is_apart and numerals.value(sentence.text[slice(*span)]) is not None:
                return span
    return None


_MOST_WORDS = 8


def _counts(word: str) -> bool:
    return len(word) > 2 and word != "one" and numerals.value(word) is not None


def _is_open(sentence: Sentence, start: int) -> bool:
    """Whether a sentence denies, doubts or supposes something."""
    return any(_opens(sentence, cue) and not _is_quotient(sentence, cue.first) for cue in sentence.cues)


def _opens(sentence: Sentence, cue: Cue) -> bool:
    """Whether a cue denies, doubts or supposes: not "other" without an answer's noun, nor the article o that begins a sentence."""
    if cue.kind is Kind.FIND and cue.stop == cue.first + 1:
        return sentence.begins(sentence.past_cue(cue.stop, Kind.RIGHT), *_ANSWERS)
    return cue.kind in _OPEN and (cue.kind is not Kind.OR or cue.first > 0)


_ANSWERS = frozenset([Kind.ANSWER, Kind.RESULT])


def _is_quotient(sentence: Sentence, index: int) -> bool:
    """Whether words divide what stands on both sides of them: the "over" in "three over four"."""
    phrase, stop = sentence.words, divides(sentence.words, index)
    sides = (phrase[index - 1], phrase[stop]) if index and index < stop < len(phrase) else ()
    return bool(sides) and all(word.text[0].isdigit() or _counts(word.text) for word in sides)


def _listing(sentence: Sentence, start: int, end: int) -> Span | None:
    """The formulas or groups in a row behind a verb, and what is said of their letters: "are $(1,1)$ and $(2,3)$"."""
    matches = [*_ITEM.finditer(sentence.text, start, end)]
    leads = {0, *_leads(sentence)}
    for index, item in enumerate(matches):
        if sentence.place(item.span())[0] not in leads:
            continue
        run = [item]
        for later in matches[index + 1 :]:
            if not _is_joined(sentence, run[-1].end(), later.start()):
                break
            run.append(later)
        stop = sentence.place((run[-1].end(), end))[0]
        is_last = not any(map(str.isalnum, sentence.text[run[-1].end() : end]))
        if (not is_last and not _qualifies(sentence, stop)) or _is_open_until(sentence, stop):
            continue
        if len(run) + (not is_last) < 2 or all(_ONLY_NUMBER.fullmatch(match[0].strip("$")) for match in run):
            return None
        return (item.start(), run[-1].end()) if is_last else (item.start(), end)
    return None


_PAIR = r"(?<![\w)}$\\])\([^\n()$]{1,60},[^\n()$]{1,60}\)(?!\$)"
_ITEM = re.compile(rf"\$[^$\n]{{1,300}}\$|\\\((?:(?!\\\)).){{1,300}}\\\)|{_PAIR}")


def _is_joined(sentence: Sentence, start: int, end: int) -> bool:
    """Whether two formulas have only a comma or an "and" between them."""
    joined = {at for cue in sentence.cues if cue.kind is Kind.JOINS for at in range(cue.first, cue.stop)}
    between = [(at, sentence.words[at].text) for at in range(*sentence.place((start, end)))]
    return bool(between) and all(at in joined or word in ",，、;；" or word in _joints() for at, word in between)


@cache
def _joints() -> frozenset[str]:
    """Words for "and" that can be no other word between two formulas: the Spanish y, the Polish i."""
    return frozenset(single(Kind.JOINS)) - {"a", "of"}


def _is_open_until(sentence: Sentence, index: int) -> bool:
    """Whether a sentence denies, doubts or supposes something; behind a place it may speak of any ("an arbitrary constant")."""
    return any(cue.kind in _OPEN and (cue.first < index or cue.kind is not Kind.FIND) for cue in sentence.cues)


def _all_but(sentence: Sentence, end: int) -> Span | None:
    """All of something but an exception, behind a verb: "the domain is all real numbers except $-5$"."""
    exceptions = [cue.first for cue in sentence.cues if cue.kind is Kind.EXCEPT]
    is_open = any(cue.kind in _OPEN and cue.first not in exceptions for cue in sentence.cues)
    if len(exceptions) != 1 or is_open:
        return None
    for index in range(1, exceptions[0]):
        if sentence.words[index].text in _ALL and sentence.ends_in(index, Kind.IS):
            return sentence.words[index].start, end
    return None


def _named(sentence: Sentence, end: int) -> Span | None:
    """A value that has a name, behind a verb at the end of a sentence: "the limit is infinity"."""
    for index, word in enumerate(sentence.words):
        if names_value(sentence.words, index) and sentence.ends_in(index, Kind.IS):
            return word.start, end
    return None


def _qualifies(sentence: Sentence, index: int) -> bool:
    """Whether the rest of a sentence says of which letters a formula speaks: ", where C is a constant", "for all real x"."""
    texts = [word.text for word in sentence.words[index:]]
    texts = texts[1:] if texts and texts[0] in ",，" else texts
    return bool(texts) and (texts[0] in listed("supposes") or (texts[0] in listed("qualifiers") and texts[1] in _ALL))


_ALL = frozenset(["all", "every", "any", "each"])


def _leads(sentence: Sentence) -> list[int]:
    """The places behind verbs, conclusions and colons, and behind the noun of "has"."""
    phrase = sentence.words
    leads = [cue.stop for cue in sentence.cues if cue.kind in _VERBS]
    leads += [
        cue.stop + 1 for cue in sentence.cues if cue.kind is Kind.SO and _begins_formula(phrase, cue.stop, ",，、")
    ]
    leads += [index + 1 for index in range(len(phrase)) if _is_verb(sentence, index) and _begins_formula(phrase, index)]
    leads += [cue.stop + 1 for cue in sentence.cues if cue.kind is Kind.HAS and _is_noun(sentence, cue.stop)]
    leads += _last_side(sentence)
    return leads + [index + 1 for index, word in enumerate(phrase) if word.text in ":："]


def _last_side(sentence: Sentence) -> list[int]:
    """The place behind the last equality sign of a calculation that a name, or a sign at the start of its line, begins: 解:原式=2a+b."""
    phrase = sentence.words
    equals = [at for at, word in enumerate(phrase) if word.text == "="]
    if not equals:
        return []
    stop = equals[0] - (equals[0] > 0 and phrase[equals[0] - 1].text == "$")
    first = stop
    while first and phrase[first - 1].text.isalpha():
        first -= 1
    is_start = not first or phrase[first - 1].text in _NAME_STARTS
    is_named = is_start and (first == stop == 0 or (first < stop and _is_name(sentence, phrase[first:stop])))
    return [equals[-1] + 1] if is_named else []


_NAME_STARTS = frozenset(":：】")


def _is_name(sentence: Sentence, phrase: Sequence[Word]) -> bool:
    """Whether words name a quantity, and are no letter of mathematics: "Area = 2π", 原式=2a+b."""
    is_word = phrase[-1].end - phrase[0].start > 1 and sentence.text[phrase[0].start : phrase[-1].end].isalpha()
    return is_word and (len(phrase[0].text) > _MAX_LETTERS or not phrase[0].text.isascii())


_MAX_LETTERS = 3


def _begins_formula(phrase: Sequence[Word], index: int, signs: str = "") -> bool:
    """Whether a formula begins behind a word, which is one of some signs if any are given."""
    return index + 1 < len(phrase) and phrase[index + 1].text in "$\\" and (not signs or phrase[index].text in signs)


def _behind_verb(sentence: Sentence, start: int, end: int) -> Span | None:
    """The formula or the few bold words that end a sentence, behind its last verb, colon or conclusion."""
    text = sentence.text
    leads = _leads(sentence)
    opening = strip(text, start, end, "*_")[0]
    of = {at for at, word in enumerate(sentence.words) if word.text in listed("of")}
    leads = [lead + (lead in of) for lead in leads]  # "est de 1/2"
    leads += [0] if text.startswith(("$", "\\("), opening) else []
    for lead in sorted({*leads}, reverse=True):
        if lead >= len(sentence.words):
            continue
        first = opening
        if lead:
            first = _past_emphasis(text, start, strip(text, sentence.words[lead].start, end)[0])
        is_within = text.endswith("$", start, end) and text.count("$", start, first) % 2 == 1
        span = (
            _expression(text, first, end - is_within)
            or _with_nouns(sentence, first, end)
            or _with_unit(sentence, first, end)
        )
        if span is not None:
            return span
    return _behind_subject(sentence, start, end)


def _behind_subject(sentence: Sentence, start: int, end: int) -> Span | None:
    """The only formula of a sentence, at its end, behind a verb and a few words ("Also beträgt die Fläche $2π$", "est égale à $2π$"),
    or before the verb that ends the sentence ("Alan $2π$ olur").
    """
    formulas = [*_FORMULA.finditer(sentence.text, start, end)]
    if len(formulas) != 1 or formulas[0].end() != end:
        return None
    last = sentence.place(formulas[0].span())[0]
    verbs = [cue.stop for cue in sentence.cues if cue.kind in _LEADS_ON and cue.stop < last]
    verbs = verbs or [0] * (end < sentence.end and sentence.begins(sentence.place((end, end + 1))[0], Kind.ENDS))
    subject = sentence.words[max(verbs) : last] if verbs else []
    subject = subject[1:] if subject and subject[0].text in ",，、" else subject
    kinds = {cue.kind for cue in sentence.cues if verbs and cue.first < last and cue.stop > max(verbs)}
    is_subject = 0 < len(subject) <= _MAX_SUBJECT and all(word.text[0].isalpha() for word in subject)
    return _expression(sentence.text, formulas[0].start(), end) if is_subject and kinds <= _OF_SUBJECTS else None


_MAX_SUBJECT = 4
_LEADS_ON = frozenset([Kind.IS, Kind.HAS, Kind.SO])
_OF_SUBJECTS = kinds("the right answer result noun about only stage greets complement find")


def _is_noun(sentence: Sentence, index: int) -> bool:
    """Whether a word may name a quantity: the length in "has length √2", but not the x in "gives x = 4"."""
    return index < len(sentence.words) and len(word := sentence.words[index].text) > 2 and word.isalpha()


def _with_nouns(sentence: Sentence, start: int, end: int) -> Span | None:
    r"""A formula with one or two words for what it counts or measures: `$\frac{2\pi}{5}$ radians`, `10^6 ways`."""
    for index in range(len(sentence.words) - 1, len(sentence.words) - 3, -1):
        word = sentence.words[index] if index > 0 else None
        if word is None or word.start <= start or len(word.text) < 2 or not word.text.isalpha() or sentence.at(index):
            return None
        formula = start, strip(sentence.text, start, word.start)[1]
        if "=" not in sentence.text[slice(*formula)] and _expression(sentence.text, *formula) is not None:
            return start, end
    return None


def _with_unit(sentence: Sentence, start: int, end: int) -> Span | None:
    r"""A formula between signs, with a unit outside: `$AB = \sqrt{51}$ cm`, `$36\pi$ cm$^2$`."""
    formula = _FORMULA.match(sentence.text, start, end)
    if formula is None or _UNIT.fullmatch(sentence.text, formula.end(), end) is None:
        return None
    stop = sentence.place((formula.end(), end))[0]
    is_read = all(cue.first < stop for cue in sentence.cues)
    return (start, end) if is_read and _expression(sentence.text, start, formula.end()) is not None else None


_UNIT = re.compile(r"\s?[^\W\d_]{1,16}(?:[ /·][^\W\d_]{1,16}){0,2}(?:[²³]|\$?\^\{?[-−]?\d\}?\$?)?")


def _past_emphasis(text: str, start: int, index: int) -> int:
    while index > start and text[index - 1] in "*_$(\\-−":
        index -= 1
    return index


def _expression(text: str, start: int, end: int) -> Span | None:
    """The text between two places, if it is all formula or all bold, and more than a number."""
    span = trim(text, start, end)
    if span[0] >= span[1] or span[1] - span[0] > _CHARS:
        return None
    display = text[span[0] : span[1]]
    is_marked = text[start] in "*$" or text.startswith("\\(", start)
    value = display.rpartition("=")[2] if display.count("=") == 1 and re.match(r"[a-z]\s?=", display, re.I) else display
    if _ONLY_NUMBER.fullmatch(display.strip("$* ")) or _ONLY_NUMBER.fullmatch(value.strip("$ ")):
        return None
    if not is_marked and not _SIGNS.search(display):
        return None
    if text[start] == "*" and not any(map(str.isdigit, display)):
        return span
    return span if "$" not in display and read_bare(text, *span).items else None


_FUNCTION = r"(?<![A-Za-z])(?:(?:sqrt|log|ln|exp|sin|cos|tan)(?:\s?\(|\s[a-z]\b)|pi(?![A-Za-z]))"
_SIGNS = re.compile(rf"{_FUNCTION}|[∞=<>≤≥^+*/√π]|\\[a-zA-Z]|\d\s?[a-z]\b|(?<![^\W\d_]{{2}})[-−]\s?\w|\d:\d|\d_\{{?\d")


def narrowed(text: str, start: int, end: int) -> Span:
    """The value that an announced sentence states: "The largest n is 34", "There are 2 bars left"."""
    sentence = Sentence(text, start, end, "")
    plain = [word for word in sentence.words if len(word.text) > 1 and word.text.isalpha()]
    if len(plain) < _MIN_WORDS or _is_open(sentence, start):
        return start, end
    verbs = [cue.stop for cue in sentence.cues if cue.kind is Kind.IS and cue.stop < len(sentence.words)]
    if _has_operand(sentence):
        return (_told_to_end(sentence, max(verbs), end) if verbs else None) or (start, end)
    if verbs:
        first = _past_emphasis(text, start, sentence.words[max(verbs)].start)
        span = trim(text, first, end)
        is_value = _ONLY_NUMBER.fullmatch(text, *span) or numerals.value(text[slice(*span)]) is not None
        if (is_value or _expression(text, first, end)) and not sentence.bounds(span):
            return span
    numbers = [match for match in _ONLY_NUMBER.finditer(text, start, end) if not sentence.bounds(match.span())]
    if len(numbers) != 1 or _SIGNS.search(text, start, end) or _is_rate(sentence, numbers[0].end()):
        return start, end
    if _is_of_other(sentence, *numbers[0].span()):
        return start, end
    first, stop = parts.whole(text, *numbers[0].span(), end) or numbers[0].span()
    digits_end = last_digit_end(text, first, stop) or stop
    is_understood = leads_to_number(text[start:first], text[digits_end:end]) and is_counted(text[stop:end])
    return strip(text, first, stop) if is_understood else (start, end)


def states_number(sentence: Sentence) -> bool:
    """Whether a sentence states its only number, behind a few words: "Marie hat 2 Hunde gekauft.", ジルは13個を売りました。"""
    text = sentence.text[sentence.start : sentence.end]
    numbers = [*_NUMBER.finditer(text)] if len(text) <= _CHARS and any(map(str.isdigit, text)) else []
    if len(numbers) != 1 or text[0].islower():
        return False
    start, stop = numbers[0].span()
    plain = [word.start - sentence.start for word in sentence.words if word.text[0].isalpha()]
    is_led = len(plain) >= _FEWEST_WORDS and plain[_FEWEST_BEFORE - 1] < start
    if not is_led or not sentence.kinds.isdisjoint(_UNSETTLED) or ends_in_denial(text):
        return False
    return not is_bounded(text, start, stop) and not _is_of_other(
        sentence, sentence.start + start, sentence.start + stop
    )


_NUMBER = re.compile(NUMBER)
_FEWEST_WORDS, _FEWEST_BEFORE = 3, 2
_UNSETTLED = _OPEN | {Kind.WRONG, Kind.BACK, Kind.NO, Kind.BUT}


def _is_of_other(sentence: Sentence, start: int, end: int) -> bool:
    """Whether a number says which one, or of what: "the 42nd prime", "the number of divisors of 42", "one of 42"."""
    if sentence.text.endswith("第", sentence.start, start):
        return True
    ofs = [cue for cue in sentence.cues if cue.kind is Kind.COMPLEMENT and sentence.words[cue.stop - 1].end <= start]
    ofs = [cue for cue in ofs if sentence.words[cue.first].text in listed("of")]
    if not ofs or sentence.place((start, end))[0] != ofs[-1].stop or not ofs[-1].first:
        return False
    return len(ofs) > 1 or numerals.value(sentence.words[ofs[-1].first - 1].text) is not None


def _is_rate(sentence: Sentence, stop: int) -> bool:
    """Whether what a number counts is told for each of something, directly behind it: "60 miles per hour"."""
    suffix = [word.text for word in sentence.words if word.start >= stop][:_RATE_WORDS]
    return not listed("rates").isdisjoint(suffix)


_RATE_WORDS = 2


def _has_operand(sentence: Sentence) -> bool:
    """Whether a number is only a part of what is said: "the square root of 2"."""
    indices = [cue.stop for cue in sentence.cues if cue.kind is Kind.PART and cue.stop < len(sentence.words)]
    return any(sentence.words[index].text[0].isdigit() for index in indices)


_MIN_WORDS = 3
