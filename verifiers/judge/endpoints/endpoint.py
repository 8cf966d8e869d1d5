"""One endpoint: its state, and the leases for calls to it.

A call holds a lease from its start to its end. The lease is a place among the calls under way, tokens of the budgets
per minute, and a reservation in the limits on spending. It ends exactly once with its call, however that ends.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from verifiers.judge.endpoints.config import EndpointConfig
from verifiers.judge.endpoints.faults import Fault
from verifiers.judge.endpoints.health import Health, State
from verifiers.judge.endpoints.latency import Latency
from verifiers.judge.endpoints.limiter import Limiter
from verifiers.judge.endpoints.messages import Usage
from verifiers.judge.endpoints.requests import Capabilities
from verifiers.judge.endpoints.shared_limits import Limits
from verifiers.judge.endpoints.spending import Allowance, Spending, Use, cost_of

if TYPE_CHECKING:
    from verifiers.judge.endpoints.wire import Wire

Observe = Callable[[str, str, float], None]
"""Called after each call with the endpoint, `ok` or the class of the failure, and seconds."""


Spent = Callable[[float, float], None]
"""Called after each call, in the task of its caller, with its tokens and its cost. Both are estimates if they are
unknown."""


class Standing(Enum):
    """Whether a call may go to an endpoint, and if not, why."""

    FREE = "free"
    FULL = "full"
    """No, until one of its calls is over."""
    LATER = "later"
    """No, until a known time: it asked for a pause, or a budget per minute is used up."""
    EJECTED = "ejected"
    PROBING = "probing"
    RESERVED = "reserved"
    """No, until calls under way have said what they used."""
    SPENT = "spent"
    DISABLED = "disabled"
    HELD = "held"
    """No, until it is released."""


@dataclass(slots=True)
class Counters:
    """Counts since the start, for metrics."""

    requests: int = 0
    successes: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    """Failures by class."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    """The cost of all calls whose cost is known."""
    uncosted: int = 0
    """Successes whose cost is not known."""
    probes: int = 0


class Endpoint:
    """The state of one endpoint. It belongs to one event loop, so it has no locks.

    `changed` is called when waiting calls may go on.
    """

    def __init__(
        self,
        name: str,
        config: EndpointConfig,
        wire: "Wire",
        *,
        clock: Callable[[], float],
        changed: Callable[[], None],
        pause_cap_s: float,
        observe: Observe | None = None,
        spent: Spent | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.name = name
        self.config = config
        self.wire = wire
        self.capabilities = Capabilities()
        self.health = Health(config.health)
        self.held: str | None = None
        """Why the endpoint is not asked although it is healthy: its answers are not as they should be."""
        self.limiter = Limiter(config.concurrency)
        self.latency = Latency()
        self.counters = Counters()
        self.probed_in_background = False
        self.suspected: Fault | None = None
        """A failure that suggests a wrong key or model; until a probe has decided, no other call goes out."""
        self.call_prober: Callable[[], None] = lambda: None
        self.observe: Observe = observe or (lambda endpoint, kind, seconds: None)
        self._spent: Spent = spent or (lambda tokens, cost: None)
        self._clock = clock
        self._changed = changed
        self._pause_cap_s = pause_cap_s
        self.paused_until = 0.0
        now = clock()
        limits = limits or Limits()
        limit_prefix = f"endpoint {name}"
        self._requests = limits.bucket(f"{limit_prefix}/requests", config.rpm, now) if config.rpm else None
        self._tokens = limits.bucket(f"{limit_prefix}/tokens", config.tpm, now) if config.tpm else None
        self._spending = limits.spending(limit_prefix, config.spend) if config.spend else None
        self._use = Use()

    def standing(self, tokens: float, now: float, *, even_held: bool = False) -> tuple[Standing, float]:
        """Whether a call of about this many tokens may go to the endpoint.

        For LATER and EJECTED the number is the time at which that ends, for SPENT the seconds until then. `even_held`:
        the call finds out whether the endpoint must still be held.
        """
        state = self.health.tick(now)
        if state is State.DISABLED:
            return Standing.DISABLED, 0.0
        if self.held is not None and not even_held:
            return Standing.HELD, 0.0
        verdict = self._spending.verdict(*self.reservation(tokens), now) if self._spending else Allowance.YES
        if verdict is Allowance.NEVER:
            assert self._spending is not None
            return Standing.SPENT, self._spending.retry_after_s(now)
        if state is State.UNPROBED or self.suspected:
            return Standing.PROBING, 0.0
        if state is State.EJECTED or (state is State.TRIAL and (self.probed_in_background or self.limiter.in_flight)):
            return Standing.EJECTED, self.health.ejected_until
        wait_s = self._wait_s(tokens, now)
        if wait_s > 0:
            return Standing.LATER, now + wait_s
        if verdict is Allowance.LATER:
            return Standing.RESERVED, 0.0
        return (Standing.FREE if self.limiter.has_room else Standing.FULL), 0.0

    def _wait_s(self, tokens: float, now: float) -> float:
        wait_s = self.paused_until - now
        if self._requests:
            wait_s = max(wait_s, self._requests.wait_s(1, now))
        if self._tokens:
            wait_s = max(wait_s, self._tokens.wait_s(tokens, now))
        return wait_s

    def estimated_cost(self, tokens: float) -> float:
        price = self.config.price
        return tokens * max(price.input, price.output) / 1e6 if price else 0.0

    def reservation(self, tokens: float) -> tuple[float, float]:
        """The tokens and the cost that a call of about this many tokens is given: by what calls have really used."""
        share = self._use.share
        return tokens * share, self.estimated_cost(tokens) * share

    def lease(self, tokens: float, pool: Spending | None = None) -> "Lease":
        """Begin a call that `standing` allowed; `pool`: further limits on spending that apply to it."""
        now = self._clock()
        self.latency.began(self.limiter.in_flight, now)
        self.limiter.begin()
        self.counters.requests += 1
        if self._requests:
            self._requests.take(1, now)
        if self._tokens:
            self._tokens.take(tokens, now)
        spendings = [limit for limit in (self._spending, pool) if limit is not None]
        reserved = self.reservation(tokens)
        for spending in spendings:
            spending.reserve(*reserved)
        return Lease(self, tokens, now, spendings, reserved)

    def note_failure(self, fault: Fault, began_at: float, now: float) -> None:
        """Update the state of the endpoint after a failed call."""
        self.counters.failures[fault.kind] = self.counters.failures.get(fault.kind, 0) + 1
        if fault.kind == "rate_limited":
            self.limiter.refused_beyond_taken(now)
        elif fault.refused:
            self.limiter.refused(began_at, now)
        if fault.retry_after_s is not None and (fault.refused or fault.ill):
            self.paused_until = max(self.paused_until, now + min(fault.retry_after_s, self._pause_cap_s))
        if fault.kind == "quota":
            self.health.eject(fault.kind, now)
        elif fault.suspect:
            self._suspect(fault, now)
        elif fault.ill:
            self.health.failed(fault.kind, now)
        elif self.health.state is State.TRIAL and fault.status is not None:
            # The endpoint answers, and the call itself is at fault.
            self.health.succeeded()
        if self.health.state is State.EJECTED:
            self.call_prober()

    def _suspect(self, fault: Fault, now: float) -> None:
        if self.probed_in_background:
            self.suspected = fault
            self.call_prober()
        elif self.health.state is not State.HEALTHY or self.counters.successes == 0:
            # No prober checks it, and no call was ever answered.
            self.health.disable(fault.kind, now)
        else:
            self.health.failed(fault.kind, now)

    def probe_ended(self) -> None:
        """Let calls go on that waited for a probe."""
        self._changed()

    def settle(self, lease: "Lease", usage: Usage | None) -> float | None:
        """Book the usage of a call (None: no usage); its cost, if that is known."""
        now = self._clock()
        self.limiter.end()
        used, cost = 0.0, 0.0
        known_cost: float | None = None
        if usage is not None:
            known_cost = cost_of(usage, self.config.price)
            reserved = self.estimated_cost(lease.tokens)
            cost = reserved if known_cost is None else known_cost
            has_both_counts = usage.prompt is not None and usage.completion is not None
            used = float((usage.prompt or 0) + (usage.completion or 0)) if has_both_counts else lease.tokens
        if self._tokens:
            self._tokens.settle(lease.tokens, used)
        if known_cost is not None and lease.tokens:
            self._use.note(max(used / lease.tokens, known_cost / (self.estimated_cost(lease.tokens) or 1.0)))
        for spending in lease.spendings:
            spending.settle(lease.reserved, (used, cost), now)
        if used or cost:
            self._spent(used, cost)
        self._changed()
        return known_cost


@dataclass(slots=True)
class Lease:
    """The right of one call to an endpoint."""

    endpoint: Endpoint
    tokens: float
    began_at: float
    spendings: Sequence[Spending] = ()
    reserved: tuple[float, float] = (0.0, 0.0)
    """Tokens and cost in these."""
    over: bool = False

    def succeeded(self, usage: Usage) -> float | None:
        """End after an answered call; its cost, None if unknown."""
        if self.over:
            return None
        self.over = True
        endpoint = self.endpoint
        now = endpoint._clock()
        endpoint.limiter.succeeded(now)
        endpoint.health.succeeded(self.began_at)
        endpoint.latency.answered(now - self.began_at, now)
        endpoint.observe(endpoint.name, "ok", now - self.began_at)
        counters = endpoint.counters
        counters.successes += 1
        counters.prompt_tokens += usage.prompt or 0
        counters.cached_tokens += usage.cached or 0
        counters.completion_tokens += usage.completion or 0
        cost = endpoint.settle(self, usage)
        if cost is None:
            counters.uncosted += 1
        else:
            counters.cost += cost
        return cost

    def failed(self, fault: Fault) -> None:
        if self.over:
            return
        self.over = True
        endpoint = self.endpoint
        now = endpoint._clock()
        if fault.kind == "timeout":
            endpoint.latency.gave_up(now - self.began_at)
        endpoint.note_failure(fault, self.began_at, now)
        endpoint.observe(endpoint.name, fault.kind, now - self.began_at)
        # The usage of an aborted call is not known, so its estimate is counted.
        endpoint.settle(self, Usage() if fault.kind in ("timeout", "deadline") else None)

    def abandoned(self, *, was_sent: bool = True) -> None:
        """End because the answer is no longer wanted; this says nothing about the endpoint."""
        if not self.over:
            self.over = True
            self.endpoint.settle(self, Usage() if was_sent else None)
