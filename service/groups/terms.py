"""What the length, the style and the likeness of a response to the others of its group add to its reward.

All functions are pure, and take time linear in the texts: these are untrusted.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.advantages.formulas import kimi_rewards
from service.groups.schemas import Terms
from verifiers.commitment import final_segment

_EMOJIS: Final = (
    (0x1F600, 0x1F64F), (0x1F300, 0x1F5FF), (0x1F680, 0x1F6FF), (0x1F1E0, 0x1F1FF), (0x2702, 0x27B0),
    (0x24C2, 0x1F251), (0x1F900, 0x1F9FF), (0x1FA00, 0x1FAFF), (0x2600, 0x26FF),
)  # fmt: skip
"""The characters that NeMo-Gym's genrm_compare counts as emojis. The sixth range holds the letters of East Asia, too."""
_EMOJI: Final = re.compile("[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in _EMOJIS) + "]")
_HEADING: Final = re.compile(r"#{1,6}\s")
_ITEM: Final = re.compile(r"(?:\d+\.|[-*+])\s")
_BOLD: Final = (re.compile(r"\*\*[^*\n]+\*\*"), re.compile(r"__[^_\n]+__"))
_FENCE: Final = "```"


@dataclass(frozen=True, slots=True)
class Text:
    """A response as the terms see it."""

    whole: str
    reasoning: str
    answer: str

    @classmethod
    def of(cls, response: str) -> "Text":
        segment = final_segment(response)
        reasoning = response[: segment.start].strip().removeprefix("<think>").removesuffix("</think>")
        return cls(response, reasoning, response[segment.start : segment.end])


def relative(values: Sequence[float]) -> list[float]:
    """1 for the smallest value and 0 for the largest, linear between them, less their mean. All 0 if values are equal."""
    low, high = min(values), max(values)
    if low == high:
        return [0.0] * len(values)
    span = high - low
    shares = [1.0 - (value - low) / span for value in values]
    mean = sum(shares) / len(shares)
    return [share - mean for share in shares]


def style_density(text: str) -> float:
    """Headings, list items, bold words and emojis for each character, without blocks of code."""
    plain = _without_code(text)
    chars = len(plain.strip())
    if not chars:
        return 0.0
    count = sum(len(pattern.findall(plain)) for pattern in (*_BOLD, _EMOJI))
    start = 0
    for line in plain.split("\n"):
        start += len(line) + 1
        # A mark at the end of a line is followed by the line's end, unless the text ends there.
        ended = line + "\n" if start <= len(plain) else line
        count += _HEADING.match(ended) is not None
        count += _ITEM.match(ended.lstrip(_BLANKS)) is not None
    return count / chars


_BLANKS: Final = "".join(char for char in map(chr, range(0x3001)) if char.isspace())


def _without_code(text: str) -> str:
    pieces = text.split(_FENCE)
    if len(pieces) % 2:
        return "".join(pieces[::2])
    return "".join(pieces[:-1:2]) + _FENCE + pieces[-1]


def novelty(texts: Sequence[str], n: int) -> list[float]:
    """For each text, its different n-grams of words that no other text has, by the number of all its n-grams, as DARLING
    counts them: what is repeated is not new. 0 for a text without words. A text of fewer than n words is one n-gram.
    """
    grams = [_grams(text.casefold().split(), n) for text in texts]
    holders = Counter(gram for row in grams for gram in set(row))
    return [sum(holders[gram] == 1 for gram in set(row)) / max(1, len(row)) for row in grams]


def _grams(words: Sequence[str], n: int) -> list[int]:
    n = min(n, len(words))
    return [hash(tuple(words[start : start + n])) for start in range(len(words) - n + 1)] if n else []


def distinctness(classes: Sequence[int | None]) -> list[float]:
    """For each response, the share of the others that are of another class. One without a class is unlike all others, and
    so is the only one, as in DARLING's code.
    """
    sizes = Counter(classes)
    rivals = len(classes) - 1
    if rivals < 1:
        return [1.0] * len(classes)
    return [(len(classes) - (sizes[own_class] if own_class is not None else 1)) / rivals for own_class in classes]


def added(
    scores: Sequence[float], texts: Sequence[Text], lengths: Sequence[float] | None, chosen: Terms
) -> list[dict[str, float]]:
    """What is added to the score of each judged response of a group, by the name of the term."""
    terms_by_text: list[dict[str, float]] = [{} for _ in scores]
    measures = {
        "length": (chosen.length, lengths or [float(len(text.whole.strip())) for text in texts]),
        "reasoning_length": (chosen.reasoning_length, [float(len(text.reasoning.strip())) for text in texts]),
        "answer_length": (chosen.answer_length, [float(len(text.answer.strip())) for text in texts]),
        "style": (chosen.style, [style_density(text.answer) for text in texts] if chosen.style else []),
    }
    for name, (weight, values) in measures.items():
        if weight and len(scores) > 1:
            for terms, share in zip(terms_by_text, relative(values), strict=True):
                terms[name] = weight * share
    if chosen.kimi is not None:
        right = [score >= chosen.kimi.right_from for score in scores]
        for terms, reward in zip(terms_by_text, kimi_rewards(measures["length"][1], right), strict=True):
            assert reward is not None
            terms["kimi"] = chosen.kimi.weight * reward
    return terms_by_text
