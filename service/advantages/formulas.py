"""Group-relative advantages: GRPO and its relatives compute them from the rewards of several answers to one prompt. All
functions are pure.

    rewards ──► baseline ──► advantages
                mean,        centred, scaled,
                deviation,   clipped
                keep or drop

Not judged is not wrong: a null reward is left out of mean and deviation, and its advantage is null. A null advantage
always means: do not train on this answer. All answers of a dropped group have null advantages, and so do those of a
group with fewer than two rewards, which has nothing to compare (TRL gives 0 there, verl the bare reward).

    method    advantage of reward r                                       source
    grpo      (r - mean) / (deviation + eps)                              arXiv 2402.03300
    dr_grpo   r - mean                                                    arXiv 2503.20783
    rloo      r - mean of the others                                      arXiv 2402.14740
    gdpo      each component as grpo, their weighted sum, and that        arXiv 2601.05242
              as grpo over the batch
    grpo_passk  the best answer alone: (r - second best) /                arXiv 2503.19595, as verl computes it
              (deviation + eps); all others 0
    maxk_loo  the expected maximum of k answers, less that without r      arXiv 2505.15201, equation 29
    maxk_loo1 what r adds to the maximum of k answers that hold it        arXiv 2505.15201, equation 33

Sums are exact, and equal rewards have deviation 0 and advantage 0. In the 32-bit arithmetic of trainers, a small eps
can blow up the rounding error of their mean.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from service.advantages import max_at_k

Method = Literal["grpo", "dr_grpo", "rloo", "gdpo", "grpo_passk", "maxk_loo", "maxk_loo1"]
Scale = Literal["group", "batch", "none"]
Deviation = Literal["population", "unbiased"]
Overlong = Literal["mask", "exclude"]
Reason = Literal[
    "kept", "invalid", "too_few_rewards", "mean_too_low", "mean_too_high", "deviation_too_small", "all_overlong"
]
Rewards = Sequence[float | None]

MIN_REWARDS: Final = 2
_TOKEN_EPS: Final = 1e-8
"""The eps of verl's `masked_whiten`. It is added under the root."""


@dataclass(frozen=True, slots=True)
class Formula:
    """The formula by which rewards become advantages."""

    method: Method = "grpo"
    scale: Scale = "group"
    """The rewards that give the deviation by which grpo divides. With `none` grpo becomes dr_grpo."""
    std: Deviation = "unbiased"
    eps: float = 1e-6
    clip: float | None = None
    """The bound of the size of an advantage."""
    partial: bool = False
    """Whether an item that lacks some of its components is used. Otherwise it is left out."""
    by_tokens: bool = False
    """Whether the last step of gdpo counts an item as often as it has tokens."""
    weights: Sequence[float] = ()
    """The weights of the components, for gdpo."""
    k: int = 2
    """The number of answers of which the best counts, for maxk_loo and maxk_loo1."""

    @property
    def min_rewards(self) -> int:
        """The fewest rewards that can be compared."""
        return {"maxk_loo": self.k + 1, "maxk_loo1": self.k}.get(self.method, MIN_REWARDS)


PRESETS: Final = {
    # trl/trainer/grpo_trainer.py and rloo_trainer.py of 1.16; it adds up the rewards that are not None.
    "trl": Formula(eps=1e-4, partial=True),
    # verl/trainer/ppo/core_algos.py of 0.9.1.
    "verl": Formula(eps=1e-6, by_tokens=True),
    # roll/utils/functionals.py; `reward_clip` as in the configurations that come with it.
    "roll": Formula(eps=1e-6, clip=10.0),
    # slime/ray/rollout.py.
    "slime": Formula(eps=1e-6),
    # open_instruct/grpo_fast.py, which computes in numpy.
    "open_instruct": Formula(std="population", eps=1e-8),
    # openrlhf/trainer/ppo_utils/experience_maker.py, where grpo is called group_norm.
    "openrlhf": Formula(eps=1e-9),
}


@dataclass(frozen=True, slots=True)
class Filters:
    """Which groups are worth training on. All bounds are strict, as in ROLL."""

    mean_low: float | None = None
    mean_high: float | None = None
    std_min: float | None = None
    overlong: Overlong | None = None
    """What happens to answers that were cut off. `mask` takes them out of the training (TRL's
    `mask_truncated_completions`, ROLL's `max_len_mask`). `exclude` also takes them out of mean and deviation."""


@dataclass(frozen=True, slots=True)
class Group:
    """The answers to one prompt. All sequences have one entry per answer."""

    rewards: Rewards
    scores: Rewards | None = None
    """The rewards before shaping, which filters use instead. An entry is None only if its reward is."""
    components: Sequence[Rewards] = ()
    """The components of the rewards, for gdpo."""
    overlong: Sequence[bool] | None = None
    tokens: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """A group, and the baseline with which its rewards are compared."""

    group: Group
    reason: Reason
    """The reason why the group is kept or dropped."""
    usable: Sequence[int] = ()
    """Positions of the rewards that count."""
    mean: float | None = None
    std: float | None = None
    decoupled: Sequence[float] = ()
    """The weighted sums of gdpo, one per usable position."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The values that an advantage needs from all kept groups."""

    mean: float = 0.0
    divisor: float = 1.0


def weigh(components: Sequence[Rewards], weights: Sequence[float], *, partial: bool) -> list[float | None]:
    """The weighted sum of the components of each item. It is null if a component is null (with `partial`: if all
    are).
    """
    sums: list[float | None] = []
    for values in zip(*components, strict=True):
        weighted = [weight * value for weight, value in zip(weights, values, strict=True) if value is not None]
        sums.append(math.fsum(weighted) if weighted and (partial or len(weighted) == len(values)) else None)
    return sums


def kimi_rewards(lengths: Sequence[float], right: Sequence[bool | None]) -> list[float | None]:
    """The length reward of Kimi k1.5 (arXiv 2501.12599, section 2.3.3).

    It falls from 0.5 for the shortest answer to -0.5 for the longest. A wrong answer gains nothing. An answer that was
    not judged has null, and its length does not count.
    """
    judged = [length for length, verdict in zip(lengths, right, strict=True) if verdict is not None]
    shortest, longest = min(judged, default=0), max(judged, default=0)
    rewards: list[float | None] = []
    for length, verdict in zip(lengths, right, strict=True):
        reward = 0.5 - (length - shortest) / (longest - shortest) if longest > shortest else 0.0
        rewards.append(None if verdict is None else reward if verdict else min(0.0, reward))
    return rewards


def baseline(group: Group, formula: Formula, filters: Filters) -> Baseline:
    """The baseline of a group, and whether the filters keep the group."""
    usable = [at for at, reward in enumerate(group.rewards) if reward is not None]
    cut_off = group.overlong if filters.overlong else None
    trained = usable if cut_off is None else [at for at in usable if not cut_off[at]]
    if usable and not trained:
        return Baseline(group, "all_overlong", usable)
    if filters.overlong == "exclude":
        usable = trained
    if len(usable) < formula.min_rewards:
        return Baseline(group, "too_few_rewards", usable)
    rewards = _at(group.rewards, usable)
    reason = _filtered(rewards if group.scores is None else _at(group.scores, usable), formula, filters)
    decoupled = _decoupled(group.components, usable, formula) if formula.method == "gdpo" else ()
    return Baseline(group, reason, usable, _mean(rewards), _deviation(rewards, formula.std), decoupled)


def batch(baselines: Iterable[Baseline], formula: Formula) -> Batch:
    """The values that all kept groups have in common."""
    usable = [b for b in baselines if b.reason == "kept"]
    if not usable:
        return Batch()
    if formula.method == "gdpo":
        sums = [value for b in usable for value in b.decoupled]
        if formula.by_tokens:
            return _by_tokens(sums, [b.group.tokens[at] for b in usable if b.group.tokens for at in b.usable])
        return Batch(_mean(sums), _deviation(sums, formula.std) + formula.eps)
    if formula.method == "grpo" and formula.scale == "batch":
        rewards = [reward for b in usable for reward in _at(b.group.rewards, b.usable)]
        return Batch(divisor=_deviation(rewards, formula.std) + formula.eps)
    return Batch()


def advantages(baseline: Baseline, batch_values: Batch, formula: Formula, filters: Filters) -> list[float | None]:
    """One advantage per item of the group. Null: do not train on it."""
    values: list[float | None] = [None] * len(baseline.group.rewards)
    if baseline.reason != "kept":
        return values
    cut_off = baseline.group.overlong if filters.overlong else None
    for at, advantage in zip(baseline.usable, _relative(baseline, batch_values, formula), strict=True):
        if cut_off is None or not cut_off[at]:
            values[at] = advantage if formula.clip is None else max(-formula.clip, min(formula.clip, advantage))
    return values


def _relative(baseline: Baseline, batch_values: Batch, formula: Formula) -> list[float]:
    assert baseline.mean is not None
    assert baseline.std is not None
    if formula.method == "gdpo":
        return [(value - batch_values.mean) / batch_values.divisor for value in baseline.decoupled]
    rewards = _at(baseline.group.rewards, baseline.usable)
    if min(rewards) == max(rewards):
        return [0.0] * len(rewards)
    if formula.method == "grpo_passk":
        return _best_alone(rewards, 1.0 if formula.scale == "none" else baseline.std + formula.eps)
    if formula.method == "maxk_loo":
        return max_at_k.loo(rewards, formula.k)
    if formula.method == "maxk_loo1":
        return max_at_k.loo1(rewards, formula.k)
    if formula.method == "rloo":
        total, peers = math.fsum(rewards), len(rewards) - 1
        return [reward - (total - reward) / peers for reward in rewards]
    divisor = 1.0
    if formula.method == "grpo" and formula.scale != "none":
        divisor = baseline.std + formula.eps if formula.scale == "group" else batch_values.divisor
    return [(reward - baseline.mean) / divisor for reward in rewards]


def _best_alone(rewards: Sequence[float], divisor: float) -> list[float]:
    """The lead of the best reward over the second best, at the place of the best. Equal ones have no lead."""
    second, best = sorted(rewards)[-2:]
    return [(best - second) / divisor if reward == best else 0.0 for reward in rewards]


def _filtered(scores: Sequence[float], formula: Formula, filters: Filters) -> Reason:
    mean = _mean(scores)
    if filters.mean_low is not None and mean <= filters.mean_low:
        return "mean_too_low"
    if filters.mean_high is not None and mean >= filters.mean_high:
        return "mean_too_high"
    if filters.std_min is not None and _deviation(scores, formula.std) <= filters.std_min:
        return "deviation_too_small"
    return "kept"


def _decoupled(components: Sequence[Rewards], usable: Sequence[int], formula: Formula) -> list[float]:
    """The weighted sum of the components for each usable item. Each component is first normalised within the group."""
    weighted: dict[int, list[float]] = {at: [] for at in usable}
    for weight, values in zip(formula.weights, components, strict=True):
        present = [at for at in usable if values[at] is not None]
        if len(present) < MIN_REWARDS:
            continue
        rewards = _at(values, present)
        mean, divisor = _mean(rewards), _deviation(rewards, formula.std) + formula.eps
        for at, reward in zip(present, rewards, strict=True):
            weighted[at].append(weight * (reward - mean) / divisor)
    return [math.fsum(weighted[at]) for at in usable]


def _by_tokens(values: Sequence[float], tokens: Sequence[float]) -> Batch:
    """Mean and deviation, with each value counted once for each of its tokens."""
    total = sum(tokens)
    mean = math.fsum(value * count for value, count in zip(values, tokens, strict=True)) / total
    squares = math.fsum((value - mean) ** 2 * count for value, count in zip(values, tokens, strict=True))
    return Batch(mean, math.sqrt(squares / (total - 1) + _TOKEN_EPS))


def _at(values: Rewards, positions: Sequence[int]) -> list[float]:
    """The values at these positions that are not null."""
    return [value for at in positions if (value := values[at]) is not None]


def _mean(values: Sequence[float]) -> float:
    if min(values) == max(values):
        return values[0]
    return math.fsum(values) / len(values)


def _deviation(values: Sequence[float], kind: Deviation) -> float:
    if min(values) == max(values):
        return 0.0
    mean = _mean(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return math.sqrt(squares / (len(values) - (kind == "unbiased")))
