"""The errors between an item and a judge's verdict. None of them says anything about the response.

    JudgeFailure
    ├── Unparseable       the judge answered, and its answer holds no verdict that can be read for certain
    └── EndpointFailure   no judge answered: connections, limits, budgets, deadlines
        └── OverBudget    the caller may not ask now

Each has a `kind`, a stable word that is counted and returned. A kind is never made from the judge's text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PARSE_KINDS = frozenset(
    {
        "empty_output", "truncated", "refusal", "content_filter", "wrong_channel", "invalid_json", "schema_mismatch",
        "ambiguous", "no_verdict", "out_of_range", "scale_mismatch", "duplicate_key", "missing_criteria",
        "unknown_criteria", "duplicate_criteria", "low_label_mass",
    }
)  # fmt: skip

_FINAL_KINDS = frozenset(
    {"content_filter", "quota", "auth", "model_not_found", "bad_upstream_request", "context_overflow"}
)
"""Kinds for which the same request to the same endpoint cannot help."""


class JudgeFailure(Exception):
    """There is no verdict. `retryable`: another attempt, perhaps elsewhere or later, may give one."""

    def __init__(
        self, kind: str, message: str = "", *, retryable: bool | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(f"{kind}: {message}" if message else kind)
        self.kind = kind
        self.message = message
        self.retryable = kind not in _FINAL_KINDS if retryable is None else retryable
        self.retry_after_s = retry_after_s


class Unparseable(JudgeFailure):
    """The judge's output holds no verdict by the contract; `kind` is one of `PARSE_KINDS`."""

    endpoint: str | None = None
    """Who wrote it."""
    text: str = ""
    """What the judge wrote, for people."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call to one endpoint, for the report after all calls have failed."""

    endpoint: str
    kind: str
    """`ok`, or the kind of the failure."""
    status: int | None = None
    """The HTTP status, if there was an answer."""
    latency_s: float = 0.0


class EndpointFailure(JudgeFailure):
    """No endpoint gave an answer. `kind` tells why, such as `timeout`; `bad_upstream_request`: it refuses what we sent (400, 422),
    and not because of its length.
    """

    def __init__(
        self,
        kind: str,
        message: str = "",
        *,
        retryable: bool | None = None,
        retry_after_s: float | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        super().__init__(kind, message, retryable=retryable, retry_after_s=retry_after_s)
        self.attempts = tuple(attempts)


class OverBudget(EndpointFailure):
    """The caller has used up its own budget, and no endpoint was asked. `detail` is small JSON for the verdict."""

    def __init__(self, message: str, *, retry_after_s: float | None, detail: Mapping[str, object]) -> None:
        super().__init__("budget_exhausted", message, retryable=False, retry_after_s=retry_after_s)
        self.detail = detail
