"""The source of all that is new in an item: seeded draws, from which an item's texts, names and numbers are made.

The same verifier and index always give the same item. Names have the index in them, so no two items share one.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from tests.conftest import ROOT

_SYLLABLES: Final = [f"{consonant}{vowel}" for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_WRONG_EVERY: Final = 3
"""One item in so many has a response that is wrong."""
_WORD: Final = re.compile(r"\b[a-z]{4,12}\b")
_FREQUENT: Final = 8
"""A word that occurs less often may be one that a test has cut."""
_MEANT: Final = re.compile(
    r"answers?|options?|choices?|either|neither|both|none|false|true|correct|right|wrong|final|finally|actually|instead|"
    r"wait|sorry|cannot|maybe|perhaps|unless|therefore|hence|thus|conclude|conclusion|result|results|score|question|"
    r"rather|except|without|incorrect|mistake|zero|three|four|five|seven|eight|nine|eleven|twelve|twenty|thirty|forty|"
    r"fifty|sixty|ninety|hundred|thousand|million|billion|half|third|quarter|dozen|first|second|last|knight|knave|"
    r"because|though|although|since|while|where|which|whether|about|other|another|probably|likely|simply|clearly|however|"
    r"still|always|often|usually|only|just|like|with|from|than|that|this|what|when|under|after|before|every|same|"
    r"infeasible|section|would|could|should|might|seems|think|thought|believe|guess|sure|unsure|unknown|also|then|never"
)
"""Words by which a response commits to an answer, or takes one back. Prose that is only there to be read has none."""


@dataclass(frozen=True, slots=True)
class Posted:
    """What an item brings, as it is on the wire, and the score that it must get."""

    response: str | list[dict[str, Any]]
    score: float
    reference: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    prompt: str | None = None

    def fields(self, verifier: str) -> dict[str, Any]:
        """The item as a request has it."""
        posted = {"verifier": verifier, "response": self.response, "params": self.params, "prompt": self.prompt}
        return {
            name: value for name, value in {**posted, "reference": self.reference}.items() if value not in (None, {})
        }


class Draw(random.Random):
    """Draws for the item of one verifier with one index."""

    def __init__(self, verifier: str, index: int) -> None:
        super().__init__(f"{verifier} {index}")
        self.index = index
        self.is_right = index % _WRONG_EVERY != _WRONG_EVERY - 1
        """Whether the response is to be right."""
        self._names = 0

    def name(self) -> str:
        """A name of lower-case letters that no other item has, nor this one before."""
        number, self._names = self.index * 1000 + self._names, self._names + 1
        syllables = ["", ""]
        while number:
            number, rest = divmod(number, len(_SYLLABLES))
            syllables.append(_SYLLABLES[rest])
        syllables[:2] = self.choices(_SYLLABLES, k=2)
        return "".join(syllables)

    def names(self, count: int) -> list[str]:
        return [self.name() for _ in range(count)]

    def words(self, count: int) -> str:
        return " ".join(self.choices(_words(), k=count))

    def phrase(self, words: int = 3) -> str:
        """Some words, of which one is new."""
        return f"{self.words(words - 1)} {self.name()}".strip()

    def sentence(self) -> str:
        return f"{self.phrase(self.randint(6, 14)).capitalize()}."

    def prose(self, sentences: int | None = None) -> str:
        """Sentences without any answer, as many as a chain of thought of some hundred to two thousand characters."""
        count = self.randint(3, 16) if sentences is None else sentences
        return " ".join(self.sentence() for _ in range(count))

    def thought(self) -> str:
        return f"<think>\n{self.prose()}\n</think>\n"

    def fraction(self, least: float = 0.0, most: float = 1.0) -> float:
        """A number in this range that no other item is likely to draw."""
        return float(f"{self.uniform(least, most):.9g}")

    def fresh_int(self, digits: int = 4) -> int:
        """A number that no other index has, of some digits more than the index."""
        least: int = 10 ** (digits - 1)
        return self.index * 10 * least + self.randint(least, 10 * least - 1)


@cache
def _words() -> Sequence[str]:
    """The common words of real responses, without those of `_MEANT`."""
    rows = (ROOT / "tests/data/rules/ifeval_oracle.jsonl").read_text(encoding="utf-8").splitlines()
    counts = Counter(word for row in rows for word in _WORD.findall(json.loads(row)["response"]))
    return sorted(word for word, count in counts.items() if count >= _FREQUENT and not _MEANT.fullmatch(word))
