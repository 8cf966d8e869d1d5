"""Solutions as GSM8K writes them: each calculation in `<<48/2=24>>`, and the answer behind `####`."""

import re
from collections.abc import Sequence
from itertools import islice

MAX_STEPS = 64
MAX_STEP_CHARS = 300

_ANNOTATION = re.compile(r"<<([^<>\n]{1,300})>>")
_HASH4 = re.compile(r"####(?!#)")


def final_answer(text: str) -> str:
    """What stands behind the last `####`; all of a text that has none."""
    return _HASH4.split(text)[-1].strip() if "####" in text else text


def annotated_steps(text: str) -> Sequence[str]:
    """The calculations that are annotated, in their order."""
    return [match[1].strip() for match in islice(_ANNOTATION.finditer(text), MAX_STEPS)]
