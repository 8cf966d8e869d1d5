"""The shapes in which usage is told."""

from collections.abc import Mapping, Sequence

import msgspec


class Amounts(msgspec.Struct, frozen=True):
    """How much was used."""

    items: float
    """Items of the batches that were let in."""
    judged: float
    """Those of them whose verdict came from no cache."""
    cpu_s: float
    """CPU seconds of programs in boxes."""
    judge_tokens: float
    """Tokens of prompts to judge models and of their replies."""
    judge_cost: float
    """What these calls came to, by the prices in the file of judges."""


class UsedUp(msgspec.Struct, frozen=True):
    """A budget that is used up."""

    budget: str
    until: str | None
    """When it begins anew. Null: it does not end by itself."""


class Usage(msgspec.Struct, frozen=True):
    """What was used, and what may be."""

    since: str
    """When counting began."""
    total: Amounts
    minute: Amounts
    """Within this minute of the clock."""
    budget: Mapping[str, float]
    """The limits, by name. What is missing has none."""
    exhausted: Sequence[UsedUp]


class RunUsage(Usage, frozen=True, kw_only=True):
    """The usage of one run."""

    run_id: str


class TenantUsage(Usage, frozen=True, kw_only=True):
    """The usage of a tenant, with all its runs and without."""

    tenant: str
    runs: Sequence[RunUsage] = ()
    """Its latest runs, the latest first."""
