"""Evidence that the mean of a stream of numbers in [0, 1] has risen above a bound, with a known rate of false alarms.

Each number x is a bet against "the mean is at most m": the stake is multiplied by 1 + λ (x - m), which is 1 on average, or
less, if the claim holds (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024). A
stake that has fallen below 1 begins anew at 1: this is an e-CUSUM (Shin, Ramdas and Rinaldo, "E-detectors: a nonparametric
framework for sequential change detection", 2023). Several λ bet at once; their mean is an e-detector as well.

If the claim holds, such a detector exceeds A within its first N numbers with probability N / A at most: it is never above
the Shiryaev-Roberts sum R, and R plus the numbers to come is a supermartingale that begins at N (Ville's inequality). Nothing
is assumed about the form of the distribution; the numbers need not be independent, but the bound must hold for the mean of each,
given those before it.
"""

import math
from collections.abc import Sequence
from typing import Final

import msgspec

HORIZON: Final = 1e5
"""Numbers of one stream for which the rate of false alarms is promised."""
FALSE_ALARMS: Final = 0.05
"""Of one run and judge: the most alarms by chance that are expected within the horizon, all detectors together."""
_BETS: Final = (0.15, 0.45, 0.9)
"""Parts of 1 / m that are staked. At 1 the stake could be lost as a whole."""
_Z: Final = 1.645
"""The normal quantile of 95 %."""


def log_threshold(detectors: int) -> float:
    """The logarithm of the evidence that makes an alarm, if so many detectors share the rate of false alarms."""
    return math.log(HORIZON * detectors / FALSE_ALARMS)


def upper_bound(total: float, count: int) -> float:
    """The upper bound of a mean of numbers in [0, 1], at 95 % (Wilson 1927: exact enough at 0 and 1, where a share is most
    often; numbers between 0 and 1 vary less than shares).
    """
    if not count:
        return 1.0
    share, z2 = total / count, _Z * _Z
    spread = _Z * math.sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    return min(1.0, (share + z2 / (2 * count) + spread) / (1 + z2 / count))


class Moment(msgspec.Struct, frozen=True):
    """A moment of a run."""

    item: int = 0
    """Items of the run that this replica had judged before it."""
    step: int | None = None
    """The step of the training, if the items' metadata say it."""
    time: str = ""
    """UTC. Empty: from the beginning."""


class Evidence:
    """An e-CUSUM against "the mean is at most `bound`". With a bound of 1 there is never any evidence."""

    __slots__ = ("_logs", "_since", "bound", "count")

    def __init__(self, bound: float) -> None:
        self.bound = min(max(bound, 0.01), 1.0)
        self.count = 0
        self._logs = [0.0] * len(_BETS)
        self._since = [Moment()] * len(_BETS)

    def add(self, x: float, moment: Moment) -> None:
        self.count += 1
        gain = x / self.bound - 1.0
        logs = self._logs
        if gain <= 0.0 and max(logs) <= 0.0:
            return  # all stakes begin anew with the next number in any case
        for at, part in enumerate(_BETS):
            log = logs[at]
            if log <= 0.0:
                log = 0.0
                self._since[at] = moment
            logs[at] = log + math.log1p(part * gain)

    @property
    def log_value(self) -> float:
        largest = max(self._logs)
        return largest + math.log(sum(math.exp(log - largest) for log in self._logs) / len(_BETS))

    def crossing(self, log_least: float) -> Moment | None:
        """The moment from which on the evidence has grown, if there is enough: the estimate of the change. It then begins anew."""
        if max(self._logs) < log_least or self.log_value < log_least:  # the mean is not above the largest
            return None
        since = self._since[max(range(len(_BETS)), key=self._logs.__getitem__)]
        self._logs = [0.0] * len(_BETS)
        return since


def joint_crossing(evidences: Sequence[Evidence], log_least: float) -> Moment | None:
    """Enough evidence for all of these at once: the least of them counts, which is evidence against "at least one holds"."""
    if any(evidence.log_value < log_least for evidence in evidences):
        return None
    since = [evidence.crossing(log_least) for evidence in evidences]
    return max((moment for moment in since if moment), key=lambda moment: moment.item)
