"""What a window remembers of paid responses: twins, phrases, and how the first ones looked. All of it has a fixed size."""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Final

import numpy as np

from service.watch import texts
from service.watch.samples import Sample

_TWINS: Final = 256
_ALIKE: Final = 0.5
"""The share of phrases that near-equal texts have in common. Of different answers by one policy it is below 0.2."""
_SHORT_TEXTS: Final = 512
_ANSWERS: Final = 8
_SLOTS: Final = 1 << 16
_HALVED_AFTER: Final = 512
"""Samples, after which counts of phrases are halved."""
_MOST: Final = 250
_KNOWN: Final = 12
"""Responses that are not paid, of which the usual length is known."""
NBYTES: Final = _TWINS * texts.PLACES * 4 + 7 * _SLOTS + _SHORT_TEXTS * 400 + 60_000
"""What the memories of a window take, at most."""


class Twins:
    """The latest paid responses, to find near-equal ones to other prompts."""

    def __init__(self) -> None:
        self._signatures = np.zeros((_TWINS, texts.PLACES), np.uint32)
        self._prompts = np.zeros(_TWINS, np.uint64)
        self._next = self._count = 0
        self._short: OrderedDict[str, tuple[int, str]] = OrderedDict()

    def has(self, sample: Sample) -> bool:
        """Whether there is one. A short text must be the same to the letter, with another reference: `The answer is B` is
        right for every prompt whose answer is B.
        """
        if not sample.is_long:
            twin = self._short.get(sample.response.strip())
            return twin is not None and twin[0] != sample.prompt_key and twin[1] != sample.reference
        equal = (self._signatures == sample.signature).mean(axis=1) >= _ALIKE
        return bool((equal & (self._prompts != sample.prompt_key))[: self._count].any())

    def keep(self, sample: Sample) -> None:
        if not sample.is_long:
            text = sample.response.strip()[:80]
            self._short[text] = (sample.prompt_key, sample.reference[:80])
            self._short.move_to_end(text)
            if len(self._short) > _SHORT_TEXTS:
                self._short.popitem(last=False)
            return
        slot = self._next
        self._next = (slot + 1) % _TWINS
        self._count = max(self._count, slot + 1)
        self._signatures[slot], self._prompts[slot] = sample.signature, sample.prompt_key


class Phrases:
    """For how many prompts, paid and not, responses had each phrase. Phrases share 65,536 counters.

    A counter passes over a response to the prompt that it counted last, so that a phrase which belongs to one prompt is
    not counted again and again.
    """

    def __init__(self) -> None:
        self._paid, self._unpaid, self._first = (np.zeros(_SLOTS, np.uint8) for _ in range(3))
        self._prompts = np.zeros((2, _SLOTS), np.uint16)
        """The prompt that was counted last, for unpaid and paid responses."""
        self._totals = [0.0, 0.0, 0.0]
        self._since_halved = 0

    def keep(self, sample: Sample, *, is_first: bool) -> None:
        slots = sample.phrases % _SLOTS
        prompt, prompts = sample.prompt_key & 0xFFFF, self._prompts[int(sample.is_paid)]
        slots = slots[prompts[slots] != prompt]
        prompts[slots] = prompt
        table = self._paid if sample.is_paid else self._unpaid
        table[slots] = np.minimum(table[slots] + 1, _MOST)
        self._totals[0 if sample.is_paid else 1] += 1
        if is_first:
            self._first[slots] = np.minimum(self._first[slots] + 1, _MOST)
            self._totals[2] += 1
        self._since_halved += 1
        if self._since_halved >= _HALVED_AFTER:
            self._since_halved = 0
            self._paid >>= 1
            self._unpaid >>= 1
            self._totals[:2] = (total / 2 for total in self._totals[:2])

    def paying(self, sample: Sample) -> str | None:
        """A phrase of the response that is three times as frequent as when the run began, and that nearly always pays, although
        other responses often do not.
        """
        paid, unpaid, first = self._totals
        if paid < 1 or first < 1:
            return None
        slots = sample.phrases % _SLOTS
        own_paid = self._paid[slots].astype(np.float32)
        chance = own_paid * (unpaid / paid)
        """The unpaid responses that would have the phrase if it made no difference."""
        is_new = own_paid / paid >= 3 * (self._first[slots] + 1.0) / first
        is_common = own_paid >= max(6.0, 0.04 * paid)
        pays = is_new & is_common & (chance >= 4) & (self._unpaid[slots] <= 0.2 * chance)
        return texts.phrase(sample.words, int(pays.argmax())) if pays.any() else None


@dataclass(slots=True)
class Beginning:
    """How the first paid responses of a run looked, and how long the others were."""

    unpaid_chars: list[int] = field(default_factory=list)
    chars: list[int] = field(default_factory=list)
    repetition: list[float] = field(default_factory=list)
    terms: list[int] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    kinds: list[set[str]] = field(default_factory=list)
    common_marks: int = 0
    """Marks of forms that nearly all of them have, one bit each."""
    usual_kinds: frozenset[str] = frozenset()
    """Kinds of characters that more than one of them has."""
    usual_chars: float = 0.0
    """The median."""
    usual_unpaid_chars: float = 0.0
    least_repetition: float = 0.0
    most_terms: float = 0.0

    def add(self, sample: Sample) -> None:
        if not sample.is_paid:
            self.unpaid_chars.append(sample.chars)
            return
        self.chars.append(sample.chars)
        packed = texts.repetition(sample.response)
        if packed is not None:
            self.repetition.append(packed)
        self.terms.append(texts.terms_at_end(sample.response))
        self.marks.append(texts.marks(sample.response))
        self.kinds.append(texts.kinds_of_characters(sample.response))

    def usual(self, sample: Sample, choose: Callable[[float, float], float]) -> float:
        """The usual length of responses like this one. Wrong ones are often longer, so that for them one of both is chosen."""
        return self.usual_chars if sample.is_paid else choose(self.usual_chars, self.usual_unpaid_chars)

    def close(self) -> None:
        """Sum up what was added, and forget the rest."""
        self.usual_chars = median(self.chars)
        self.usual_unpaid_chars = median(self.unpaid_chars if len(self.unpaid_chars) >= _KNOWN else self.chars)
        self.least_repetition = _ends(self.repetition)[0] if len(self.repetition) >= 8 else 0.25
        self.most_terms = _ends(self.terms)[1]
        bits = range(len(texts.MARKS))
        self.common_marks = sum(
            1 << bit for bit in bits if sum(mark >> bit & 1 for mark in self.marks) >= 0.95 * len(self.marks)
        )
        kinds = [kind for kinds_of_sample in self.kinds for kind in kinds_of_sample]
        self.usual_kinds = frozenset(kind for kind in kinds if kinds.count(kind) > 1)
        for collected in (self.chars, self.unpaid_chars, self.repetition, self.terms, self.marks, self.kinds):
            collected.clear()


def _ends(values: Iterable[float]) -> tuple[float, float]:
    """The quantiles of 2 % and 98 %."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return ordered[round(0.02 * last)], ordered[round(0.98 * last)]


@dataclass(slots=True)
class Memories:
    """All of these."""

    twins: Twins = field(default_factory=Twins)
    phrases: Phrases = field(default_factory=Phrases)
    beginning: Beginning = field(default_factory=Beginning)
    answers: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_ANSWERS))
    """Answers and references of the latest paid responses."""

    def keep(self, sample: Sample, *, is_first: bool) -> None:
        """Remember a judged response, once all detectors have read it."""
        self.phrases.keep(sample, is_first=is_first)
        if sample.is_paid:
            self.twins.keep(sample)
            self.answers.append((sample.extracted, sample.reference))
