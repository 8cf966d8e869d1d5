"""The account of one tenant, or of one of its runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from service.limits.budgets import Measure

MINUTE_S = 60
Amounts: TypeAlias = dict[Measure, float]
"""How much of each measure. What is missing is 0."""


@dataclass(slots=True)
class Sum:
    """What was used within some time, here and elsewhere.

    What is noted here becomes `unsent`. If the count is shared, it is then `sent`, and at last part of `shared`.
    """

    shared: Amounts = field(default_factory=dict)
    """What the shared count said last."""
    sent: Amounts = field(default_factory=dict)
    """What is on its way to the shared count."""
    unsent: Amounts = field(default_factory=dict)

    def of(self, measure: Measure) -> float:
        return self.shared.get(measure, 0.0) + self.sent.get(measure, 0.0) + self.unsent.get(measure, 0.0)

    def add(self, used: Mapping[Measure, float]) -> None:
        for measure, amount in used.items():
            self.unsent[measure] = self.unsent.get(measure, 0.0) + amount

    def send(self) -> Amounts:
        """What is to be added to the shared count. Until `settle` nothing else may be sent."""
        self.sent, self.unsent = self.unsent, {}
        return self.sent

    def settle(self, shared: Amounts) -> None:
        """Take what the shared count says, after what was sent has become part of it."""
        self.shared, self.sent = shared, {}


class Account:
    """What was used since the account began, and within the current minute of the clock."""

    __slots__ = ("began", "here", "minute", "number", "run", "tenant", "total")

    def __init__(self, tenant: str, run: str, now: float) -> None:
        self.tenant = tenant
        self.run = run
        """Empty: the account is that of the tenant."""
        self.began = now
        """Seconds of Unix time."""
        self.total = Sum()
        self.number = int(now // MINUTE_S)
        self.minute = Sum()
        self.here: Amounts = {}
        """What was noted in this process."""

    def move(self, now: float) -> None:
        """Begin a new minute if the last one is over."""
        number = int(now // MINUTE_S)
        if number != self.number:
            self.number, self.minute = number, Sum()

    def add(self, used: Mapping[Measure, float], now: float) -> None:
        self.move(now)
        self.total.add(used)
        self.minute.add(used)
        for measure, amount in used.items():
            self.here[measure] = self.here.get(measure, 0.0) + amount
