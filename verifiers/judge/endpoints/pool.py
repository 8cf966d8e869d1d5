"""Makes one call to a pool: asks one endpoint, and after a failure perhaps another, until an answer or the deadline.

This is the only loop of retries; nothing below it tries twice, except without a parameter that an endpoint does not
know.
"""

import asyncio
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from tracing import spans
from verifiers.judge.endpoints.balancing import Dispatcher, NoEndpoint, Wanted
from verifiers.judge.endpoints.config import PoolConfig
from verifiers.judge.endpoints.endpoint import Endpoint, Lease
from verifiers.judge.endpoints.faults import Fault, Retry
from verifiers.judge.endpoints.hedging import HedgeBudget, Race
from verifiers.judge.endpoints.retrying import RetryBudget, delay_s
from verifiers.judge.endpoints.shared_limits import Limits
from verifiers.judge.errors import Attempt, EndpointFailure

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

NOT_OURS = frozenset({"bad_upstream_request", "context_overflow"})
"""Failures that the request itself causes."""
_FINAL = NOT_OURS | {"budget_exhausted", "auth", "model_not_found", "quota"}
_MAX_TIMEOUTS = 2
"""A prompt that makes two endpoints think for too long would do so with a third one."""


class Errand(Protocol[T_co]):
    """A task for any endpoint."""

    @property
    def tokens(self) -> float:
        """The estimated number of tokens."""

    @property
    def affinity(self) -> bytes | None: ...

    @property
    def is_whole(self) -> bool:
        """Whether the result is all of the answer: then a second endpoint may be asked, too."""

    async def run(self, lease: Lease, within_s: float, attempt: int) -> T_co:
        """Do the task; a success ends the lease, or passes it on.

        Raises:
            Fault: it failed; the lease is still held.
        """


@dataclass(slots=True)
class PoolCounters:
    requests: int = 0
    retries: dict[str, int] = field(default_factory=dict)
    """Repeated calls, by the class of failure before them."""
    failures: dict[str, int] = field(default_factory=dict)
    """Calls that failed for good, by class."""
    failovers: int = 0
    hedges: int = 0
    """Late calls for which a second endpoint was asked, too."""
    hedges_won: int = 0
    """Those that the second endpoint answered first."""


class Pool:
    """The members, limits and counts of one pool."""

    def __init__(
        self,
        name: str,
        config: PoolConfig,
        dispatcher: Dispatcher,
        *,
        clock: Callable[[], float],
        chance: random.Random,
        limits: Limits,
    ) -> None:
        self.name = name
        self.config = config
        self.counters = PoolCounters()
        self._names = frozenset(config.members)
        self._dispatcher = dispatcher
        self._clock = clock
        self._chance = chance
        self._budget = RetryBudget(config.retry)
        self._hedges = HedgeBudget(config.hedge)
        self._spending = limits.spending(f"pool {name}", config.spend) if config.spend else None

    @property
    def members(self) -> list[Endpoint]:
        return [self._dispatcher.endpoints[name] for name in self.config.members]

    async def send(
        self,
        errand: Errand[T],
        deadline: float,
        *,
        avoid: Collection[str],
        only: str | None,
        fail_open: bool,
        attempts: list[Attempt],
        even_held: bool = False,
    ) -> T:
        """Run the errand; its result. Failed attempts are appended to `attempts`.

        Raises:
            EndpointFailure: there is no result; with all attempts so far.
        """
        names = self._names if only is None else frozenset({only})
        shunned = frozenset(avoid) & names
        earlier_attempts = len(attempts)
        fault: Fault | None = None
        self.counters.requests += 1
        self._budget.called(self._clock())
        self._hedges.called()
        while True:
            call = Wanted(
                names,
                shunned,
                errand.tokens,
                errand.affinity if self.config.affinity != "none" else None,
                self._spending,
                fail_open,
                even_held,
            )
            lease = await self._lease(call, deadline, attempts, fault)
            barred: set[str] = set()
            outcome = await self._hedged(errand, lease, call, deadline, attempts, barred)
            if not isinstance(outcome, Fault):
                return outcome.value
            fault = outcome
            shunned |= {attempt.endpoint for attempt in attempts[earlier_attempts:]}
            names -= barred
            await self._before_next(fault, attempts[earlier_attempts:], names, deadline, attempts)

    async def _lease(self, call: Wanted, deadline: float, attempts: list[Attempt], last: Fault | None) -> Lease:
        if self._clock() > deadline - self.config.retry.min_attempt_s:
            raise self._failure("deadline", "no time is left", attempts)
        try:
            return await self._dispatcher.acquire(call, deadline, self.config.max_waiting)
        except NoEndpoint as none:
            kind, message = none.kind, none.message
            if kind == "no_healthy_endpoint" and last is not None:
                kind, message = last.kind, f"{last.message}; then {message}"
            hints = [f.retry_after_s for f in (none, last) if f is not None and f.retry_after_s is not None]
            raise self._failure(kind, message, attempts, max(hints, default=None)) from none

    async def _hedged(
        self,
        errand: Errand[T],
        lease: Lease,
        call: Wanted,
        deadline: float,
        attempts: list[Attempt],
        barred: set[str],
    ) -> "_Done[T] | Fault":
        """Ask the endpoint of the lease, and another one, too, when it is late."""
        number = len(attempts) + 1
        first = self._attempt(errand, lease, number, deadline, attempts, barred)
        others = call.names - call.shunned - {lease.endpoint.name}
        latencies = [self._dispatcher.endpoints[name].latency.late_s for name in others]
        times_s = [late_s for late_s in latencies if late_s is not None]
        if not times_s or not errand.is_whole or not self.config.hedge:
            return await first
        second_call = replace(call, names=others, fail_open=False)

        def begin() -> asyncio.Task[_Done[T] | Fault] | None:
            second = self._dispatcher.lease_now(second_call) if self._hedges.is_open else None
            if second is None:
                return None
            self._hedges.take()
            self.counters.hedges += 1
            task = asyncio.create_task(self._attempt(errand, second, number + 1, deadline, attempts, barred))
            # A task that is cancelled before its first step has ended nothing.
            task.add_done_callback(lambda _: second.abandoned(was_sent=False))
            return task

        def first_lost() -> None:
            self.counters.hedges_won += 1
            lease.endpoint.latency.gave_up(self._clock() - lease.began_at)

        return await Race(min(times_s), begin, first_lost).run(first)

    @spans.traced("call a judge", "client")
    async def _attempt(
        self,
        errand: Errand[T],
        lease: Lease,
        number: int,
        deadline: float,
        attempts: list[Attempt],
        barred: set[str],
    ) -> "_Done[T] | Fault":
        """Ask one endpoint. A fault is added to `attempts`, and the endpoint to `barred` if it is not to be asked again."""
        endpoint = lease.endpoint
        spans.note(endpoint=endpoint.name, model=endpoint.config.model, attempt=number)
        began_at = self._clock()
        total_s = endpoint.config.timeout.total_s
        within_s = min(total_s, deadline - began_at)
        try:
            return _Done(await errand.run(lease, within_s, number))
        except Fault as fault:
            if fault.kind == "timeout" and fault.status is None and within_s < total_s:
                # The endpoint did not get its full time, so the failure is not its fault.
                fault = Fault("deadline", f"cut off by the deadline: {fault.message}", Retry.NEVER)
            lease.failed(fault)
            spans.fail(fault.kind)
            seconds = self._clock() - began_at
            attempts.append(Attempt(endpoint.name, fault.kind, fault.status, seconds))
            if fault.retry is Retry.ELSEWHERE:
                barred.add(endpoint.name)
            return fault
        except BaseException:
            lease.abandoned()
            raise

    async def _before_next(
        self,
        fault: Fault,
        tries: Sequence[Attempt],
        names: frozenset[str],
        deadline: float,
        attempts: list[Attempt],
    ) -> None:
        """Wait before the next attempt.

        Raises:
            EndpointFailure: there must be no further attempt.
        """
        retry = self.config.retry
        timeouts = sum(attempt.kind == "timeout" for attempt in tries)
        final = fault.retry is Retry.NEVER or not names or len(tries) >= retry.attempts or timeouts >= _MAX_TIMEOUTS
        if final:
            raise self._failure(fault.kind, fault.message, attempts, fault.retry_after_s)
        times = [
            seconds
            for name in names
            if (seconds := self._dispatcher.endpoints[name].latency.estimate_s(0, self._clock())) is not None
        ]
        needed_s = max(retry.min_attempt_s, min(times, default=0.0))
        wait_s = delay_s(retry, len(tries), self._chance)
        while True:
            if self._clock() + wait_s + needed_s > deadline:
                raise self._failure(
                    fault.kind, f"{fault.message}; no time for another attempt", attempts, fault.retry_after_s
                )
            await asyncio.sleep(wait_s)
            # A call that never arrived adds to no endpoint's load.
            if not fault.reached or self._budget.take(self._clock()):
                break
            wait_s = self._budget.wait_s
        retries = self.counters.retries
        retries[fault.kind] = retries.get(fault.kind, 0) + 1

    def _failure(
        self, kind: str, message: str, attempts: Sequence[Attempt], retry_after_s: float | None = None
    ) -> EndpointFailure:
        failures = self.counters.failures
        failures[kind] = failures.get(kind, 0) + 1
        return EndpointFailure(
            kind,
            f"pool {self.name}: {message}",
            retryable=kind not in _FINAL,
            retry_after_s=retry_after_s,
            attempts=tuple(attempts),
        )


@dataclass(frozen=True, slots=True)
class _Done(Generic[T]):
    value: T
