"""Tells kinds of references apart, and finds the answer and GSM8K's annotations in a worked solution."""

import re
from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from itertools import islice
from pathlib import Path

from verifiers import tables
from verifiers.commitment import ABSENCES, Channel, ExtractionParams, extract, in_signs
from verifiers.commitment.cues import Kind, cues, phrases, words
from verifiers.commitment.wording import places
from verifiers.math.exact import unwrap
from verifiers.math.words import as_words, split_option, word_key
from verifiers.numerals import value

MAX_STEPS = 64
MAX_STEP_CHARS = 300

ANNOTATION = re.compile(r"<<([^<>\n]{1,300})>>")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
_LEAST_WORDS = 3
_MARKED = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE)
_PARAMS = ExtractionParams()


class ReferenceKind(StrEnum):
    """How a data set gives a right answer."""

    ALTERNATIVES = "alternatives"
    """A list of answers, each of which is right."""
    BOXED = "boxed"
    r"""A worked solution with its answer in `\boxed{}`."""
    HASH4 = "hash4"
    """A worked solution with its answer behind `####`."""
    ANNOUNCED = "announced"
    """A worked solution that announces its answer, or has it in a tag."""
    OPTION = "option"
    """The letter of an option with its text."""
    PROSE = "prose"
    """Many words in which no answer is marked or announced; such a reference is refused."""
    WORDS = "words"
    """The answer alone, in words that no formula is read from."""
    PLAIN = "plain"
    """The answer alone: a value or a formula."""


MAX_WORDS = 10
"""A reference with more words than this, and no marked or announced answer, is prose, which no response repeats."""
_OF_CHANNELS = {Channel.BOXED: ReferenceKind.BOXED, Channel.HASH4: ReferenceKind.HASH4}


def kind_of(references: Sequence[str]) -> ReferenceKind:
    """The kind of the reference that a caller gave."""
    if len(references) > 1:
        return ReferenceKind.ALTERNATIVES
    bare = unwrap(references[0])
    if final_answer(bare) != bare:
        channel = extract(bare, _PARAMS, _MARKED).channel
        return ReferenceKind.ANNOUNCED if channel is None else _OF_CHANNELS.get(channel, ReferenceKind.ANNOUNCED)
    if split_option(bare) is not None:
        return ReferenceKind.OPTION
    if len(_WORD.findall(bare)) > MAX_WORDS:
        return ReferenceKind.PROSE
    return ReferenceKind.PLAIN if value(bare) is not None or as_words(bare) is None else ReferenceKind.WORDS


def final_answer(text: str) -> str:
    """The answer that a worked solution marks or announces, as in a response; without such an answer the whole text.

    A solution retracts nothing. If several boxes would leave the answer of a response open, all boxes of a solution
    together are its answer.
    """
    bare = unwrap(text)
    if bare[:1].isalpha() and in_signs(bare) in ABSENCES:
        return text  # in Persian it begins with a word for the answer
    if heading := _HEADED.search(bare):
        return final_answer(heading[1].strip()) if heading[1].strip() else text
    is_marked = any(mark in bare for mark in ("boxed", "####", "</")) or places(Kind.ANSWER, bare, 0, len(bare))
    if start := _behind_lead(bare):
        return bare[start:].strip()
    if not is_marked and len(_WORD.findall(bare)) < _LEAST_WORDS:
        return text
    extraction = extract(bare, _PARAMS, _MARKED)
    if extraction.answer is None and extraction.channel is Channel.BOXED and extraction.candidates:
        return ", ".join(dict.fromkeys(candidate.text for candidate in extraction.candidates))
    if extraction.answer is None:
        # "Rozwiązanie: 6·7=42. Odpowiedź: 42": two announcements, of which a solution means the last
        last = max(places(Kind.ANSWER, bare, 0, len(bare)), default=0)
        first = max(bare.rfind(end, 0, last) for end in _SENTENCE_ENDS) + 1
        extraction = extract(bare[first:], _PARAMS, _MARKED) if first else extraction
    return text if extraction.answer is None else extraction.answer


def unanswered(text: str) -> str | None:
    """What a reference holds in the place of an answer, where it names none: "not found" is `no value`, "see the proof" is `a proof`."""
    return _remarks().get(word_key(text)) if len(text) <= _MAX_REMARK_CHARS else None


@cache
def _remarks() -> dict[str, str]:
    kinds = tables.read(Path(__file__).with_name("unanswered.yaml"))
    return {word_key(remark): kind for kind, entries in kinds.items() for entry in entries for remark in phrases(entry)}


_MAX_REMARK_CHARS = 60
_SENTENCE_ENDS = "\n.。\u3000"


def _behind_lead(text: str) -> int:
    """The place behind the last word for the answer, or its abbreviation, that is a sentence: `Ans. 7`, `We get 7. Answer. 5`; else 0."""
    for match in reversed(deque(_SHORT.finditer(text, max(0, len(text) - _TAIL_CHARS)), _MAX_LEADS)):
        lead = words(match["lead"])
        is_whole = any(cue.kind in _ANSWERS and (cue.first, cue.stop) == (0, len(lead)) for cue in cues(lead))
        if is_whole:
            return match.end()
    return 0


_ANSWERS = frozenset([Kind.ANSWER, Kind.RESULT])
_SHORT = re.compile(r"(?:^|(?<=[.。!?\n])\s{0,4})(?P<lead>[^\W\d_][^.。!?\n]{1,24})\.(?=[ \n])")
_TAIL_CHARS = 2_000
_MAX_LEADS = 20
"""So many short sentences at the end are looked at."""
_HEADED = re.compile(r"【\s*答案\s*】\s*[:：]?([^【]{0,2000})")
"""The answer under its heading: 【答案】42【解析】6×7=42."""


def annotated_steps(text: str) -> Sequence[str]:
    """The annotated calculations of a text, in order."""
    return [match[1].strip() for match in islice(ANNOTATION.finditer(text), MAX_STEPS)]
