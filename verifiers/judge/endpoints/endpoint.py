"""One endpoint: how it stands, and the leases under which calls go to it.

A lease is what a call holds from when it may begin until it is over: a place among the calls under way, tokens of the
budgets per minute, a reservation in the limits of spending. However a call ends, its lease ends with it, once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from verifiers.judge.endpoints.buckets import Bucket
from verifiers.judge.endpoints.config import EndpointConfig
from verifiers.judge.endpoints.faults import Fault
from verifiers.judge.endpoints.health import Health, State
from verifiers.judge.endpoints.latency import Latency
from verifiers.judge.endpoints.limiter import Limiter
from verifiers.judge.endpoints.messages import Usage
from verifiers.judge.endpoints.requests import Capabilities
from verifiers.judge.endpoints.spending import Spending, cost_of
from verifiers.judge.endpoints.wire import Wire

Observe = Callable[[str, str, float], None]
"""Told of each call that is over: endpoint, `ok` or the class of its failure, seconds."""


class Standing(Enum):
    """Whether a call may go to an endpoint."""

    FREE = "free"
    FULL = "full"
    """Until one of its calls is over."""
    LATER = "later"
    """At a time that is known: it asked for a pause, or a budget per minute is used up."""
    EJECTED = "ejected"
    PROBING = "probing"
    SPENT = "spent"
    DISABLED = "disabled"
    HELD = "held"
    """Until it is released."""


@dataclass(slots=True)
class Counters:
    """Since the start, for metrics."""

    requests: int = 0
    successes: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    """By class."""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    """Of calls whose cost is known."""
    uncosted: int = 0
    """Successes whose cost is not known."""
    probes: int = 0


class Endpoint:
    """State of one endpoint; one event loop, so no locks. `changed` is called when waiting calls may go on."""

    def __init__(
        self,
        name: str,
        config: EndpointConfig,
        wire: Wire,
        *,
        clock: Callable[[], float],
        changed: Callable[[], None],
        pause_cap_s: float,
        observe: Observe | None = None,
    ) -> None:
        self.name = name
        self.config = config
        self.wire = wire
        self.capabilities = Capabilities()
        self.health = Health(config.health)
        self.held: str | None = None
        """Why it is not asked, however healthy it is: it answers, but not as it should."""
        self.limiter = Limiter(config.concurrency)
        self.latency = Latency()
        self.counters = Counters()
        self.probed_in_background = False
        self.suspected: Fault | None = None
        """A call was refused as if key or model were wrong; no other goes out until a probe has told."""
        self.call_prober: Callable[[], None] = lambda: None
        self.observe: Observe = observe or (lambda endpoint, kind, seconds: None)
        self._clock = clock
        self._changed = changed
        self._pause_cap_s = pause_cap_s
        self.paused_until = 0.0
        now = clock()
        self._requests = Bucket(config.rpm, now) if config.rpm else None
        self._tokens = Bucket(config.tpm, now) if config.tpm else None
        self._spending = Spending(config.spend) if config.spend else None

    def standing(self, tokens: float, now: float, *, even_held: bool = False) -> tuple[Standing, float]:
        """How it stands for a call of about so many tokens; of LATER, EJECTED: when that ends; of SPENT: in how many
        seconds. `even_held`: for a call that finds out whether it is still to be held.
        """
        state = self.health.tick(now)
        if state is State.DISABLED:
            return Standing.DISABLED, 0.0
        if self.held is not None and not even_held:
            return Standing.HELD, 0.0
        if self._spending and not self._spending.allows(tokens, self.estimated_cost(tokens), now):
            return Standing.SPENT, self._spending.retry_after_s(now)
        if state is State.UNPROBED or self.suspected:
            return Standing.PROBING, 0.0
        if state is State.EJECTED or (state is State.TRIAL and (self.probed_in_background or self.limiter.in_flight)):
            return Standing.EJECTED, self.health.ejected_until
        wait_s = self._wait_s(tokens, now)
        if wait_s > 0:
            return Standing.LATER, now + wait_s
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

    def lease(self, tokens: float, pool: Spending | None = None) -> "Lease":
        """Begin a call, which `standing` allowed; `pool`: further limits on spending that it falls under."""
        now = self._clock()
        self.latency.began(self.limiter.in_flight, now)
        self.limiter.begin()
        self.counters.requests += 1
        if self._requests:
            self._requests.take(1, now)
        if self._tokens:
            self._tokens.take(tokens, now)
        spendings = [each for each in (self._spending, pool) if each is not None]
        for spending in spendings:
            spending.reserve(tokens, self.estimated_cost(tokens))
        return Lease(self, tokens, now, spendings)

    def note_failure(self, fault: Fault, began_at: float, now: float) -> None:
        """What a failed call says of the endpoint."""
        self.counters.failures[fault.kind] = self.counters.failures.get(fault.kind, 0) + 1
        if fault.refused:
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
            # It answers, and the trouble is the call's own.
            self.health.succeeded()
        if self.health.state is State.EJECTED:
            self.call_prober()

    def _suspect(self, fault: Fault, now: float) -> None:
        if self.probed_in_background:
            self.suspected = fault
            self.call_prober()
        elif self.health.state is not State.HEALTHY or self.counters.successes == 0:
            # Nobody checks, and no call was ever answered.
            self.health.disable(fault.kind)
        else:
            self.health.failed(fault.kind, now)

    def probe_ended(self) -> None:
        """Calls that waited for a probe may go on."""
        self._changed()

    def settle(self, lease: "Lease", usage: Usage | None) -> float | None:
        """Book what a call came to (None: nothing); its cost, if that is known."""
        now = self._clock()
        self.limiter.end()
        used, cost = 0.0, 0.0
        known: float | None = None
        if usage is not None:
            known = cost_of(usage, self.config.price)
            reserved = self.estimated_cost(lease.tokens)
            cost = reserved if known is None else known
            whole = usage.prompt is not None and usage.completion is not None
            used = float((usage.prompt or 0) + (usage.completion or 0)) if whole else lease.tokens
        if self._tokens:
            self._tokens.settle(lease.tokens, used)
        for spending in lease.spendings:
            spending.settle((lease.tokens, self.estimated_cost(lease.tokens)), (used, cost), now)
        self._changed()
        return known


@dataclass(slots=True)
class Lease:
    """The right of one call."""

    endpoint: Endpoint
    tokens: float
    began_at: float
    spendings: Sequence[Spending] = ()
    over: bool = False

    def succeeded(self, usage: Usage) -> float | None:
        """The call was answered; its cost, None if unknown."""
        if self.over:
            return None
        self.over = True
        endpoint = self.endpoint
        now = endpoint._clock()
        endpoint.limiter.succeeded()
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
        # What a call that was broken off has used nobody says: it is counted as it was estimated.
        endpoint.settle(self, Usage() if fault.kind in ("timeout", "deadline") else None)

    def abandoned(self, *, sent: bool = True) -> None:
        """Nobody wants the answer any more; says nothing about the endpoint."""
        if not self.over:
            self.over = True
            self.endpoint.settle(self, Usage() if sent else None)
