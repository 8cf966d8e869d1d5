"""The relation of two offers in a row: parts of one answer, alternatives, or a replacement."""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from verifiers.commitment.cues import Kind, cues, words
from verifiers.commitment.wording import openings, single, without_guesses


class Link(StrEnum):
    """The relation of two offers in a row, judged by the text between them."""

    PARTS = "parts"
    ALTERNATIVES = "alternatives"
    NEAR = "near"
    APART = "apart"


_MAX_GAP_CHARS = 80
_NEAR_CHARS = 40
_PARTED = re.compile(r"\n[ \t]*\n|\n[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*\n|#{2,}")
"""The end of a paragraph, a rule or a marker: a separate answer follows."""
_MARKUP = re.compile(r"</?answer\s{0,4}>|\\[()\[\]]|\$|\*|`|\\q?quad|\\text\{([^{}]{0,40})\}|\\[,;:! ]")
_RELATION = re.compile(r"[=<>≤≥∈≠]|\\(?:le|ge|leq|geq|lt|gt|in|neq)(?![A-Za-z])")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|\n\s*\n")
_PART_LABEL = re.compile(r"\s*[.,;]?\s*\(?(?:[b-h]|i{2,3}|iv)\)[:.]?\s*", re.IGNORECASE)
_NAME_AT_END = re.compile(r"\\?[A-Za-z]\w{0,11}\s{0,2}=\s*$")
_MAX_NAME_WORDS = 5
_OF_NOUNS = frozenset([Kind.JOINS, Kind.THE, Kind.NOUN, Kind.LABEL, Kind.COMPLEMENT])
_JOINTS = frozenset(",，،;；؛、&")
_CLAUSE_BEGINS = frozenset(",;:，：；。(")
_CORRECTS = frozenset([Kind.BUT, Kind.BACK, Kind.NO, Kind.WRONG])
_COMMITS = _CORRECTS | {Kind.SO, Kind.ANSWER, Kind.RESULT, Kind.RIGHT}


def names_alternatives(text: str) -> bool:
    """Whether a bare answer names alternatives ("1 or 2"). Such an answer commits to none of them."""
    return len(text) <= _MAX_GAP_CHARS and _may_join(text) and _Gap(text).has([Kind.OR]) and not _RELATION.search(text)


def link_of_offers(text: str, start: int, end: int) -> Link:
    """The relation of two offers that have the text from `start` to `end` between them."""
    if end - start > 2 * _MAX_GAP_CHARS:
        return Link.APART
    gap = _Gap(text[start:end])
    if end - start > _MAX_GAP_CHARS:
        return Link.ALTERNATIVES if gap.is_case() else Link.APART
    if gap.begins_with_case():
        return Link.ALTERNATIVES
    if _PARTED.search(text, start, end) and not gap.begins_with_or():
        return Link.APART
    if gap.is_joint() or gap.names_parts():
        return Link.PARTS
    if not any(char.isalnum() or char in "=+" for char in gap.text) or gap.is_or() or gap.is_case():
        return Link.ALTERNATIVES
    # The "a" of "2 a 7" is "and" in Czech and "to" in Spanish.
    if len(gap.words) == 1 and gap.words[0].text in single(Kind.JOINS):
        return Link.ALTERNATIVES
    if gap.has([Kind.MAYBE, Kind.ALSO]) and not gap.has(_CORRECTS):
        return Link.ALTERNATIVES
    if len(gap.text) <= _NEAR_CHARS and not gap.has(_COMMITS):
        return Link.NEAR
    return Link.APART


def link_of_numbers(text: str, start: int, end: int) -> Link:
    """The relation of two numbers.

    Numbers stand close together in any calculation, so fewer gaps between them count.
    """
    if end - start > _MAX_GAP_CHARS or not (display := text[start:end]).strip():
        return Link.ALTERNATIVES if end - start <= _MAX_GAP_CHARS and "\n" not in display else Link.APART
    if not _may_join(display):
        return Link.APART
    gap = _Gap(display)
    if gap.is_joint():
        return Link.PARTS
    return Link.ALTERNATIVES if gap.is_or() else Link.APART


def _may_join(text: str) -> bool:
    """Whether a text holds a word or a sign that may join two offers; most gaps hold none."""
    terms = openings(Kind.OR, Kind.JOINS)
    return any(word.text in terms or word.text in _JOINTS for word in words(text))


class _Gap:
    """The text between two offers, with its words and cues."""

    def __init__(self, text: str) -> None:
        self.text = _MARKUP.sub(lambda match: f" {match[1] or ''} ", text)
        self.words = words(self.text)
        self.cues = cues(self.words)

    def has(self, kinds: Iterable[Kind]) -> bool:
        return any(cue.kind in kinds for cue in self.cues)

    def is_joint(self) -> bool:
        """Whether the gap only joins parts of one answer: a comma, "and", ", and y =", "(b)"."""
        if _PART_LABEL.fullmatch(self.text) and self.text.strip():
            return True
        joints = self._joints()
        return bool(joints) and all(joints)

    def names_parts(self) -> bool:
        """Whether a few words without a verb stand before the joint: "papers and", "for part (a) and"."""
        joints = self._joints()
        is_noun = bool(joints) and joints[-1] and joints.count(False) <= _MAX_NAME_WORDS
        return is_noun and all(cue.kind in _OF_NOUNS for cue in self.cues)

    def _joints(self) -> Sequence[bool]:
        """Whether each word and sign joins, in order."""
        phrase = without_guesses(words(_NAME_AT_END.sub("", self.text)))
        joining = {index for cue in cues(phrase) if cue.kind is Kind.JOINS for index in range(cue.first, cue.stop)}
        return [word.text in _JOINTS or index in joining for index, word in enumerate(phrase)]

    def begins_with_or(self) -> bool:
        first = next((index for index, word in enumerate(self.words) if word.text.isalnum()), 0)
        return any(cue.kind is Kind.OR and cue.first == first for cue in self.cues)

    def begins_with_case(self) -> bool:
        """Whether the next offer holds in a case that has a number: "Case 2: a < 0. Then"."""
        first = next((index for index, word in enumerate(self.words) if word.text.isalnum()), 0)
        stops = [cue.stop for cue in self.cues if cue.kind is Kind.CASE and cue.first == first]
        is_numbered = any(stop < len(self.words) and self.words[stop].text[0].isdigit() for stop in stops)
        return is_numbered and not self.has(_CORRECTS | {Kind.SO})

    def is_or(self) -> bool:
        """Whether the gap begins with "or", or has an "or" in its only sentence."""
        return self.begins_with_or() or (self.has([Kind.OR]) and not _SENTENCE_END.search(self.text))

    def is_case(self) -> bool:
        """Whether the last sentence of the gap limits the next offer to one case, and does not correct or conclude."""
        start = max((stop.end() for stop in _SENTENCE_END.finditer(self.text.rstrip(" .!?。"))), default=0)
        is_case = any(cue.kind in (Kind.IF, Kind.CASE) and self._begins_clause(cue.first, start) for cue in self.cues)
        return is_case and not self.has(_CORRECTS | {Kind.SO})

    def _begins_clause(self, index: int, start: int) -> bool:
        """Whether a word of the last sentence begins a clause, apart from "and" or "but"."""
        if self.words[index].start < start:
            return False
        if any(cue.kind in (Kind.JOINS, Kind.BUT) and cue.stop == index for cue in self.cues):
            index -= 1
        previous = self.words[index - 1].end if index else start
        is_first = previous <= start or "\n" in self.text[previous : self.words[index].start]
        return is_first or self.words[index - 1].text in _CLAUSE_BEGINS
