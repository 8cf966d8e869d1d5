"""Finds the patterns of a response: in how it gives its answer, and in how it is written."""

from fractions import Fraction

from verifiers.base import Item
from verifiers.commitment import Channel, Extraction
from verifiers.commitment.segment import thinking
from verifiers.math.exact import number, plain
from verifiers.math.patterns.codes import Code, Pattern
from verifiers.math.patterns.differences import clipped
from verifiers.rules import language, repetition


def of_extraction(extraction: Extraction, response: str) -> list[Pattern]:
    """The patterns in how a response gives its answer."""
    patterns = [
        Pattern(code, detail)
        for code, reason, detail in (
            (Code.EMPTY, "empty", "there is no text to take an answer from"),
            (Code.NO_ANSWER, "no_answer", "no answer was found"),
            (Code.TRUNCATED, "truncated", "the thinking or the answer was opened and never closed"),
        )
        if extraction.reason == reason
    ]
    if extraction.reason != "truncated" and response.count("```") % 2:
        patterns.append(Pattern(Code.TRUNCATED, "a code block was opened and never closed"))
    if malformed := _malformed_thinking(response):
        patterns.append(Pattern(Code.THINK_MALFORMED, malformed))
    offered = _offered(extraction)
    if extraction.reason == "conflicting_answers" or len(offered) > 1:
        listing = ", ".join(clipped(text) for text in offered[-4:])
        patterns.append(Pattern(Code.CONFLICTING_ANSWERS, f"different answers were given: {listing}"))
    return patterns


def of_outcome(outcome: str, message: str = "") -> list[Pattern]:
    """`UNPARSEABLE` if the answer could not be read; `outcome` is that of `grading.grade`."""
    if outcome not in ("unparseable", "too_complex"):
        return []
    return [Pattern(Code.UNPARSEABLE, message or "the answer could not be read as mathematics or as words")]


def of_writing(response: str, prompt: str | None) -> list[Pattern]:
    """The patterns in the writing of a response, whatever it says."""
    patterns = []
    looped = 1.0 - (repetition.judge(response, _LOOPS).score or 0.0)
    if looped > _MAX_LOOPED:
        patterns.append(Pattern(Code.REPETITION, f"{looped:.0%} of the response are loops"))
    mixed = language.judge(Item(response, _PROMPTS_SCRIPT, prompt))
    if mixed.reason == "mixed_scripts":
        patterns.append(Pattern(Code.LANGUAGE_MIX, "there is more than a little of another script than the prompt's"))
    return patterns


_MAX_LOOPED = 1 / 3
_LOOPS = repetition.RepetitionParams(measure="loops")
_PROMPTS_SCRIPT = language.LanguageParams()


def _malformed_thinking(response: str) -> str | None:
    """What is wrong with thinking tags that do not alternate; the prompt may hold the first one, a cut the last one."""
    is_open, is_first = False, True
    for closes in thinking(response):
        if closes and not is_open and not is_first:
            return "thinking is closed that was not opened"
        if not closes and is_open:
            return "thinking is opened inside thinking"
        is_open, is_first = not closes, False
    return None


def _offered(extraction: Extraction) -> list[str]:
    """One text for each different value that the response offers; an answer in several parts is one value.

    A number in running text is not an offer, unless the extraction says that it conflicts with another.
    """
    if extraction.channel is Channel.LAST_NUMBER and extraction.reason == "found":
        return []
    start, end = extraction.span or (0, 0)
    offered: dict[str | Fraction, str] = {}
    part_keys: set[str | Fraction] = set()
    for candidate in extraction.candidates:
        key = _key(candidate.text)
        if start <= candidate.span[0] and candidate.span[1] <= end:
            part_keys.add(key)
        else:
            offered.setdefault(key, candidate.text)
    if extraction.answer is not None:
        offered = {key: text for key, text in offered.items() if key not in part_keys}
        offered[_key(extraction.answer)] = extraction.answer
    return list(offered.values())


def _key(text: str) -> str | Fraction:
    value = number(text)
    return plain(text).rstrip(".") if value is None else value
