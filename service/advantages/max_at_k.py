"""The expected maximum of k answers, and what each answer adds to it: for policies of which k answers are drawn and the
best one counts. Rewards of 0 and 1 make it pass@k.

    expected    the mean of the maximum over all subsets of k answers, an unbiased estimate of the expected maximum
    loo         expected of all answers, less expected without this one
    loo1        over all subsets of k answers that hold this one: how much lower their maximum is without it

`loo` and `loo1` are the gradient weights of arXiv 2505.15201 (equations 29 and 33). All take time n log n.
"""

from collections.abc import Sequence


def expected(rewards: Sequence[float], k: int) -> float:
    """The mean of the maximum over all subsets of `k` rewards. There are at least `k`."""
    ordered = sorted(rewards)
    return sum(weight * reward for weight, reward in zip(_weights(len(ordered), k), ordered, strict=True))


def loo(rewards: Sequence[float], k: int) -> list[float]:
    """For each reward, how much lower `expected` is without it. There are more than `k` rewards."""
    full = expected(rewards, k)
    return [full - reduced for reduced in _without(rewards, k)]


def loo1(rewards: Sequence[float], k: int) -> list[float]:
    """For each reward, the mean over all subsets of `k` of what it adds to their maximum, subsets without it adding 0.
    There are at least `k` rewards, and `k` is at least 2.
    """
    count = len(rewards)
    all_k, fewer = expected(rewards, k), _without(rewards, k - 1)
    of_k = _without(rewards, k) if count > k else [0.0] * count
    share = k / count
    return [all_k - (1 - share) * a - share * b for a, b in zip(of_k, fewer, strict=True)]


def _weights(count: int, k: int) -> list[float]:
    """The share of the subsets of `k` in which the reward of each rank, from the lowest, is the maximum."""
    weights = [0.0] * count
    weight = k / count
    for rank in range(count - 1, k - 2, -1):
        weights[rank] = weight
        weight *= (rank - k + 1) / rank if rank else 0.0
    return weights


def _without(rewards: Sequence[float], k: int) -> list[float]:
    """For each reward, `expected` of the others."""
    order = sorted(range(len(rewards)), key=rewards.__getitem__)
    weights = _weights(len(rewards) - 1, k)
    lower, upper = 0.0, sum(weight * rewards[at] for weight, at in zip(weights, order[1:], strict=True))
    values = [0.0] * len(rewards)
    for rank, at in enumerate(order):
        values[at] = lower + upper
        if rank < len(weights):
            lower += weights[rank] * rewards[at]
            upper -= weights[rank] * rewards[order[rank + 1]]
    return values
