"""References that are worked solutions: where their answer stands, and the calculations that GSM8K annotates in them."""

import re
from collections.abc import Sequence
from itertools import islice

from verifiers.commitment import Channel, ExtractionParams, extract
from verifiers.math.exact import unwrap

MAX_STEPS = 64
MAX_STEP_CHARS = 300

_ANNOTATION = re.compile(r"<<([^<>\n]{1,300})>>")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
_LEAST_WORDS = 3
_MARKED = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE)
_PARAMS = ExtractionParams()


def final_answer(text: str) -> str:
    """The answer that a worked solution marks or announces, as in a response; all of a text that does not.

    A solution takes nothing back, and what a response would leave open are its parts: all of its boxes are the answer then.
    """
    bare = unwrap(text)
    if not any(mark in bare for mark in ("boxed", "####", "</")) and len(_WORD.findall(bare)) < _LEAST_WORDS:
        return text
    found = extract(bare, _PARAMS, _MARKED)
    if found.answer is None and found.channel is Channel.BOXED and found.candidates:
        return ", ".join(dict.fromkeys(candidate.text for candidate in found.candidates))
    return text if found.answer is None else found.answer


def annotated_steps(text: str) -> Sequence[str]:
    """The calculations that are annotated, in their order."""
    return [match[1].strip() for match in islice(_ANNOTATION.finditer(text), MAX_STEPS)]
