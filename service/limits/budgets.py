"""Budgets: how much a tenant, and each of its runs, may use.

They are a section of the file of keys:

    tenants:
      maths:
        budget: {items_per_minute: 600000, cpu_s: 360000, judge_cost: 250}
        run_budget: {judge_tokens_per_minute: 200000}

A minute is one of the clock (UTC). `cpu_s` are CPU seconds of programs in boxes and of containers of tasks, `judge_tokens`
those of prompts and replies, `judge_cost` is in the money of the prices in the file of judges.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Measure(StrEnum):
    """What is counted."""

    ITEMS = "items"
    """Items of batches that were let in."""
    JUDGED = "judged"
    """Of those, the items whose verdict came from no cache. It has no budget."""
    CPU_S = "cpu_s"
    JUDGE_TOKENS = "judge_tokens"
    JUDGE_COST = "judge_cost"


class Budget(BaseModel):
    """The most that may be used. None: as much as you like."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    items_per_minute: Amount | None = None
    items: Amount | None = None
    cpu_s_per_minute: Amount | None = None
    cpu_s: Amount | None = None
    judge_tokens_per_minute: Amount | None = None
    judge_tokens: Amount | None = None
    judge_cost_per_minute: Amount | None = None
    judge_cost: Amount | None = None

    def set_limits(self) -> dict[str, float]:
        """The limits that there are, by name."""
        return self.model_dump(exclude_none=True)

    def limits_of(self, measure: Measure) -> Iterator[tuple[str, bool, float]]:
        """The limits of a measure: the name, whether it is per minute, and the most. What does not end by itself comes
        first.
        """
        for name, per_minute in ((measure.value, False), (f"{measure.value}_per_minute", True)):
            limit: float | None = getattr(self, name)
            if limit is not None:
                yield name, per_minute, limit


class Budgets(BaseModel):
    """The budgets of one tenant."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    budget: Budget = Budget()
    """Of all its runs together, and of what it does without a run."""
    run_budget: Budget = Budget()
    """Of each of its runs."""


UNLIMITED = Budgets()
