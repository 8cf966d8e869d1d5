"""References that are worked solutions: where their answer stands, and the calculations that GSM8K annotates in them."""

import re
from collections.abc import Sequence
from itertools import islice

from verifiers.commitment import Channel, ExtractionParams, extract
from verifiers.math.exact import unwrap

MAX_STEPS = 64
MAX_STEP_CHARS = 300

ANNOTATION = re.compile(r"<<([^<>\n]{1,300})>>")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
_LEAST_WORDS = 3
_MARKED = (Channel.ANSWER_TAG, Channel.BOXED, Channel.HASH4, Channel.ANSWER_LINE)
_PARAMS = ExtractionParams()


def final_answer(text: str) -> str:
    """The answer that a worked solution marks or announces, as in a response; all of a text that does not."""
    bare = unwrap(text)
    if not any(mark in bare for mark in ("boxed", "####", "</")) and len(_WORD.findall(bare)) < _LEAST_WORDS:
        return text
    found = extract(bare, _PARAMS, _MARKED)
    return text if found.answer is None else found.answer


def annotated_steps(text: str) -> Sequence[str]:
    """The calculations that are annotated, in their order."""
    return [match[1].strip() for match in islice(ANNOTATION.finditer(text), MAX_STEPS)]
