"""Whether a kind of response that has become frequent among paid ones is as frequent among the others.

A policy learns a hack because it pays: then fewer of the responses that are not paid are of its kind. Another data set, a harder
one, or a new style brings a kind to all responses alike. So once there is evidence, the next samples of both are compared; they
came after it, so that the choice of the moment does not favour either.
"""

from dataclasses import dataclass
from typing import Final

from service.watch.evidence import Moment, upper_bound

_UNPAID: Final = 24
"""Samples that are not paid, after which it is decided: never before, because who looks again and again sees a difference by chance."""
_PAID: Final = 64
"""Paid samples, after which it is decided even if there are fewer of the others."""
_LEAST: Final = 6
"""Of fewer samples nothing can be said. With fewer that are not paid nearly everything is."""
_LESS: Final = 0.25
"""Of a kind that pays, the share among unpaid responses has risen by at most so much of what it has among paid ones."""


@dataclass(slots=True)
class Contrast:
    """The samples since a crossing."""

    since: Moment
    bound: float
    """What the share among paid responses must still exceed."""
    before: float
    """The share at the beginning of the run."""
    paid: int = 0
    paid_of_kind: float = 0.0
    unpaid: int = 0
    unpaid_of_kind: float = 0.0

    def add(self, x: float, *, is_paid: bool) -> None:
        if is_paid:
            self.paid += 1
            self.paid_of_kind += x
        else:
            self.unpaid += 1
            self.unpaid_of_kind += x

    @property
    def is_decided(self) -> bool:
        return self.unpaid >= _UNPAID or self.paid >= _PAID

    @property
    def pays(self) -> bool:
        """Whether the kind is still frequent among paid responses, and more so than it can be, at 95 %, among the others."""
        share = self.paid_of_kind / max(1, self.paid)
        if share <= self.bound or self.unpaid < _LEAST:
            return share > self.bound
        is_less = self.unpaid_of_kind / self.unpaid - self.before <= _LESS * (share - self.before)
        return is_less and upper_bound(self.unpaid_of_kind, self.unpaid) < share
