"""Whether a kind of response that has become frequent among paid ones is as frequent among the others.

A policy learns a hack because it pays: then fewer of the responses that are not paid are of its kind. Another data set, a harder
one, or a new style brings a kind to all responses alike. So once there is evidence, the next samples of both are compared; they
came after it, so that the choice of the moment does not favour either.
"""

from dataclasses import dataclass
from typing import Final

from service.watch.evidence import Crossing, upper_bound

_UNPAID: Final = 24
"""Samples that are not paid, after which it is decided."""
_PAID: Final = 32
"""Paid samples, after which it is decided with fewer of the others; after twice as many with hardly any."""
_LEAST: Final = 6
"""With fewer unpaid samples nothing can be said of them: nearly everything is paid."""


@dataclass(slots=True)
class Contrast:
    """The samples since a crossing."""

    crossing: Crossing
    bound: float
    """What the share among paid responses must still exceed."""
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
        if self.paid < _LEAST:
            return False
        return self.unpaid >= _UNPAID or self.paid >= (_PAID if self.unpaid >= _LEAST else 2 * _PAID)

    @property
    def pays(self) -> bool:
        """Whether the kind is still frequent among paid responses, and more so than it can be, at 95 %, among the others."""
        share = self.paid_of_kind / max(1, self.paid)
        if share <= self.bound:
            return False
        return self.unpaid < _LEAST or upper_bound(self.unpaid_of_kind, self.unpaid) < share
