"""How often a policy solves each prompt, and which prompts it should see next.

A verdict counts less by half for every so many steps that have passed since (`HALF_LIFE_STEPS`): a rate is about the
policy of now. A prompt that all its responses solve, or none, teaches a group-relative trainer nothing: its advantages are 0.
The variance p (1 - p) of the rate says how much it teaches (learnability: Foster and Foerster, "Learning to reason at the
frontier of learnability", 2025).
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from memory.store import Store

HALF_LIFE_STEPS: Final = 50.0
SOLVED: Final = 0.5
"""A response with this score or more solves its prompt."""
LEAST: Final = 4.0
"""With less weight than that of four verdicts of now nothing is said of a prompt."""
_NEVER, _ALWAYS = 0.02, 0.98
Band = Literal["never", "hard", "medium", "easy", "always", "unknown"]
BANDS: Final[Sequence[Band]] = ("never", "hard", "medium", "easy", "always", "unknown")
MOST_RUNS: Final = 200
Owner = tuple[str, str, int]
"""A tenant, a run of it, and the key of a prompt."""
_ENTRY_BYTES: Final = 400


@dataclass(slots=True)
class PassRate:
    """The decayed counts of one prompt."""

    prompt: str
    """The beginning of its text."""
    solved: float = 0.0
    weight: float = 0.0
    step: float = 0.0
    count: int = 0
    """All verdicts, each whole."""

    def add(self, scores: Sequence[float], step: float) -> None:
        """Count the scores of responses that were sampled at one step."""
        if step > self.step:
            fades = 0.5 ** ((step - self.step) / HALF_LIFE_STEPS)
            self.step = step
            self.solved *= fades
            self.weight *= fades
        self.solved += sum(map(SOLVED.__le__, scores))
        self.weight += len(scores)
        self.count += len(scores)

    @property
    def rate(self) -> float | None:
        return self.solved / self.weight if self.weight else None

    @property
    def variance(self) -> float:
        rate = self.rate
        return 0.0 if rate is None else rate * (1 - rate)

    @property
    def band(self) -> Band:
        rate = self.rate
        if rate is None or self.weight < LEAST:
            return "unknown"
        if rate <= _NEVER or rate >= _ALWAYS:
            return "never" if rate <= _NEVER else "always"
        return "hard" if rate < 0.35 else "medium" if rate < 0.7 else "easy"


class PromptRate(msgspec.Struct, frozen=True):
    """How often a prompt is solved."""

    key: str
    """BLAKE2b of the whole prompt with 8 bytes, in hexadecimals; of the reference, for items without a prompt."""
    prompt: str
    """The beginning of its text. Empty: the items have no prompt, or texts are redacted."""
    pass_rate: float | None
    variance: float
    band: Band
    responses: int
    step: float
    """The latest step that it was in."""

    @classmethod
    def of(cls, key: int, rate: "PassRate") -> "PromptRate":
        return cls(f"{key:016x}", rate.prompt, rate.rate, rate.variance, rate.band, rate.count, rate.step)


class PassRates:
    """The rates of the prompts of many runs, bounded in bytes: the prompts that were seen longest ago go."""

    def __init__(self, max_bytes: int) -> None:
        self._rates: Store[Owner, PassRate] = Store("pass_rates", max_bytes, size=_size)

    def add(self, owner: Owner, scores: Sequence[float], step: float, prompt: Callable[[], str]) -> None:
        """Count the scores of responses to one prompt. `prompt` gives the beginning of its text."""
        rate = self._rates.get(owner)
        if rate is None:
            rate = PassRate(prompt())
            self._rates.put(owner, rate)
        rate.add(scores, step)

    def of(self, tenant: str, run: str) -> dict[int, PassRate]:
        """The rates of a run, by the keys of prompts."""
        return {key: rate for (owner, name, key), rate in self._rates.items() if (owner, name) == (tenant, run)}

    def bands(self, tenant: str) -> dict[str, dict[str, int]]:
        """How many prompts each run of a tenant has in each band: of `MOST_RUNS` runs, the latest first."""
        runs: dict[str, Counter[str]] = {}
        for (owner, run, _), rate in reversed(self._rates.items()):
            if owner == tenant and (run in runs or len(runs) < MOST_RUNS):
                runs.setdefault(run, Counter())[rate.band] += 1
        return {run: dict(counts) for run, counts in runs.items()}


def _size(key: Owner, rate: PassRate) -> int:
    return _ENTRY_BYTES + len(key[1]) + 4 * len(rate.prompt)


def sampled(
    rates: dict[int, PassRate], count: int, bands: Sequence[Band], *, by_variance: bool, seed: int | None = None
) -> list[tuple[int, PassRate]]:
    """So many prompts of these bands, each once at most; with `by_variance` those that teach more are drawn more often
    (Efraimidis and Spirakis 2006: the largest u^(1/w)).
    """
    chosen = random.Random(seed)  # noqa: S311  # it chooses prompts
    pool = [(key, rate) for key, rate in rates.items() if rate.band in bands]
    if not by_variance:
        return chosen.sample(pool, min(count, len(pool)))
    keyed = [(chosen.random() ** (1 / max(rate.variance, 1e-6)), key, rate) for key, rate in pool]
    keyed.sort(key=lambda keyed_prompt: keyed_prompt[0], reverse=True)
    return [(key, rate) for _, key, rate in keyed[:count]]
