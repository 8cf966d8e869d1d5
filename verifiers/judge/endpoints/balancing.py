"""Chooses the endpoint for each call, and queues the calls for which no endpoint is free.

The policy is weighted least outstanding: (calls under way + 1) ÷ capacity × latency is smallest. The capacity is the
weight of the endpoint, or its learned limit once all endpoints have one. A free endpoint that is much slower than a
full one may be worse than waiting: it gets a call only if the queue is so long that waiting would take longer (the
threshold rule of Lin and Kumar, 1984).
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fairness import TENANT, Turns
from verifiers.judge.endpoints.endpoint import Endpoint, Lease, Standing
from verifiers.judge.endpoints.health import State
from verifiers.judge.endpoints.spending import Allowance, Spending


class NoEndpoint(Exception):
    """No endpoint can take a call before its deadline; `kind` says why."""

    def __init__(self, kind: str, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requirements of a call for an endpoint."""

    names: frozenset[str]
    shunned: frozenset[str]
    """Those of `names` that were asked before; they are asked again only if no other endpoint can be."""
    tokens: float
    affinity: bytes | None = None
    spending: Spending | None = None
    """The spending limits of the pool."""
    fail_open: bool = True
    """If all endpoints are ejected, ask the one whose ejection ends first."""
    even_held: bool = False
    """Whether a held endpoint may be asked, too."""

    @property
    def group(self) -> "_Group":
        return self.names, self.shunned, self.fail_open, self.even_held


_Group = tuple[frozenset[str], frozenset[str], bool, bool]
_Line = tuple[str, _Group]
"""A tenant, and what its calls want."""


@dataclass(slots=True)
class _Waiting:
    wanted: Wanted
    granted: asyncio.Future[Lease]


class Dispatcher:
    """Holds all endpoints of a process, and the calls that wait for one.

    Tenants are served in turn, by weight. Calls of a tenant that want the same are served in order of arrival.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.endpoints: dict[str, Endpoint] = {}
        self._clock = clock
        self._lines: dict[_Line, OrderedDict[int, _Waiting]] = {}
        self._turns = Turns()
        self._tickets = 0
        self._timer: asyncio.TimerHandle | None = None
        self.waiting = 0

    async def acquire(self, call: Wanted, deadline: float, max_waiting: int) -> Lease:
        """Wait for a lease of an endpoint.

        Raises:
            NoEndpoint: no endpoint was free before `deadline`, or none will be as far as is known.
        """
        now = self._clock()
        if not any(group == call.group for _, group in self._lines):
            choice = self._choose(call, 0, now)
            if isinstance(choice, Endpoint):
                self._turns.charge(TENANT.get(), _cost(call))
                return choice.lease(call.tokens, call.spending)
            _check_in_time(choice, deadline, now)
            self._wake_at(choice, now)
        if self.waiting >= max_waiting:
            raise NoEndpoint("overloaded", f"{self.waiting} calls are waiting already", retry_after_s=1.0)
        return await self._wait(call, deadline, now)

    def lease_now(self, call: Wanted) -> Lease | None:
        """A lease that keeps no other call waiting; None if there is none now."""
        try:
            choice = None if self.waiting else self._choose(call, 0, self._clock())
        except NoEndpoint:
            return None
        if not isinstance(choice, Endpoint):
            return None
        self._turns.charge(TENANT.get(), _cost(call))
        return choice.lease(call.tokens, call.spending)

    async def _wait(self, call: Wanted, deadline: float, now: float) -> Lease:
        self._tickets += 1
        ticket = self._tickets
        waiting = _Waiting(call, asyncio.get_running_loop().create_future())
        line = TENANT.get(), call.group
        self._lines.setdefault(line, OrderedDict())[ticket] = waiting
        self.waiting += 1
        try:
            async with asyncio.timeout(deadline - now):
                return await waiting.granted
        except TimeoutError as error:
            self._give_back(waiting)
            raise NoEndpoint("deadline", "no endpoint became free in time") from error
        except asyncio.CancelledError:
            self._give_back(waiting)
            raise
        finally:
            self._forget(line, ticket)

    def _give_back(self, waiting: _Waiting) -> None:
        if waiting.granted.done() and not waiting.granted.cancelled() and waiting.granted.exception() is None:
            waiting.granted.result().abandoned(was_sent=False)

    def _forget(self, name: _Line, ticket: int) -> None:
        self.waiting -= 1
        line = self._lines.get(name)
        if line is not None and ticket in line:
            del line[ticket]
            if not line:
                del self._lines[name]

    def dispatch(self) -> None:
        """Give free endpoints to waiting calls: of the tenant whose turn it is, the oldest call."""
        now = self._clock()
        lines = set(self._lines)
        while lines:
            name = min(lines, key=lambda line_name: (self._turns.due(line_name[0]), next(iter(self._lines[line_name]))))
            if not self._serve_next(name, now) or name not in self._lines:
                lines.discard(name)

    def _serve_next(self, name: _Line, now: float) -> bool:
        """Give the first call of the line an endpoint, or its error. False if it must go on waiting."""
        line = self._lines[name]
        ticket, waiting = next(iter(line.items()))
        if not waiting.granted.done():
            alike = sum(len(calls) for (_, group), calls in self._lines.items() if group == name[1])
            try:
                choice = self._choose(waiting.wanted, alike, now)
            except NoEndpoint as none:
                waiting.granted.set_exception(none)
            else:
                if not isinstance(choice, Endpoint):
                    self._wake_at(choice, now)
                    return False
                self._turns.charge(name[0], _cost(waiting.wanted))
                waiting.granted.set_result(choice.lease(waiting.wanted.tokens, waiting.wanted.spending))
        del line[ticket]
        if not line:
            del self._lines[name]
        return True

    def _wake_at(self, until: float | None, now: float) -> None:
        if until is None:
            return
        loop = asyncio.get_running_loop()
        when = loop.time() + max(until - now, 0.001)
        if self._timer is not None:
            if self._timer.when() <= when:
                return
            self._timer.cancel()
        self._timer = loop.call_at(when, self._look_again)

    def _look_again(self) -> None:
        # The timer may fire early, because timers may be rounded to milliseconds; then another timer is needed.
        self._timer = None
        self.dispatch()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _choose(self, call: Wanted, waiting: int, now: float) -> Endpoint | float | None:
        """An endpoint; or the time of the next attempt, or None to wait for a change.

        Raises:
            NoEndpoint: there is nothing to wait for.
        """
        spending = call.spending
        endpoints = [self.endpoints[name] for name in sorted(call.names)]
        if spending:
            reservations = [e.reservation(call.tokens) for e in endpoints]
            tokens, cost = max(tokens for tokens, _ in reservations), max(cost for _, cost in reservations)
            verdict = spending.verdict(tokens, cost, now)
            if verdict is Allowance.NEVER:
                raise NoEndpoint(
                    "budget_exhausted", "the pool's limit of spending is reached", spending.retry_after_s(now)
                )
            if verdict is Allowance.LATER:
                return None
        standings = [(e, *e.standing(call.tokens, now, even_held=call.even_held)) for e in endpoints]
        alive = [e for e, standing, _ in standings if standing in (Standing.FREE, Standing.FULL)]
        if alive:
            preferred = [e for e in alive if e.name not in call.shunned] or alive
            return _best(preferred, call.affinity, waiting, now)
        later = [until for _, standing, until in standings if standing is Standing.LATER]
        if any(standing in (Standing.PROBING, Standing.RESERVED) for _, standing, _ in standings):
            return None
        if later:
            return min(later)
        return self._least_bad(call, standings, now)

    def _least_bad(
        self, call: Wanted, standings: Sequence[tuple[Endpoint, Standing, float]], now: float
    ) -> Endpoint | float | None:
        ejected = [(until, e) for e, standing, until in standings if standing is Standing.EJECTED]
        if ejected and not call.fail_open:
            raise NoEndpoint(
                "no_healthy_endpoint", _reasons(standings), retry_after_s=max(min(ejected, key=_when)[0] - now, 0.0)
            )
        if ejected:
            free = [pair for pair in ejected if pair[1].limiter.has_room]
            return min(free, key=_when)[1] if free else None
        spent = [seconds for _, standing, seconds in standings if standing is Standing.SPENT]
        if spent:
            raise NoEndpoint("budget_exhausted", _reasons(standings), retry_after_s=min(spent))
        if any(standing is Standing.HELD for _, standing, _ in standings):
            raise NoEndpoint("no_healthy_endpoint", _reasons(standings))
        kinds = {e.health.why or "auth" for e, _, _ in standings}
        raise NoEndpoint(kinds.pop() if len(kinds) == 1 else "no_healthy_endpoint", _reasons(standings))


def _cost(call: Wanted) -> float:
    return max(call.tokens, 1.0)


def _when(pair: tuple[float, Endpoint]) -> float:
    return pair[0]


def _check_in_time(until: float | None, deadline: float, now: float) -> None:
    if until is not None and until > deadline:
        raise NoEndpoint("rate_limited", "all endpoints ask to wait beyond the deadline", retry_after_s=until - now)


def _reasons(standings: Sequence[tuple[Endpoint, Standing, float]]) -> str:
    return ", ".join(
        f"{endpoint.name}: {standing.value}"
        + (f" ({endpoint.held})" if standing is Standing.HELD else "")
        + (f" ({endpoint.health.why})" if endpoint.health.state is not State.HEALTHY and endpoint.health.why else "")
        for endpoint, standing, _ in standings
    )


def _best(endpoints: Sequence[Endpoint], affinity: bytes | None, waiting: int, now: float) -> Endpoint | None:
    if len(endpoints) == 1:
        return endpoints[0] if endpoints[0].limiter.has_room else None
    times = {e.name: e.latency.estimate_s(e.limiter.in_flight, now) for e in endpoints}
    known_s = [seconds for seconds in times.values() if seconds is not None]
    fastest = max(min(known_s), 1e-6) if known_s else 1.0
    free = [e for e in endpoints if e.limiter.has_room]
    if not free:
        return None
    if affinity is not None:
        home = max(endpoints, key=lambda e: _affinity(affinity, e.name))
        if home in free and _is_bearable(home, free, times[home.name], fastest):
            return home
    by_limit = all(e.limiter.learned for e in endpoints)

    def load(e: Endpoint) -> tuple[float, float]:
        bears = e.limiter.limit if by_limit else e.config.weight
        seconds = times[e.name]
        cost = (e.limiter.in_flight + 1) / bears * (fastest if seconds is None else max(seconds, 1e-6))
        return cost, e.counters.requests / e.config.weight

    best = min(free, key=load)
    home_s = times[best.name]
    full = [e for e in endpoints if not e.limiter.has_room]
    faster = [e for e in full if home_s is not None and (times[e.name] or home_s) < home_s]
    if faster and home_s is not None:
        slots = sum(e.limiter.limit for e in faster)
        quickest = min(times[e.name] or home_s for e in faster)
        if home_s > quickest * (1 + max(waiting, 1) / slots):
            return None
    return best


def _affinity(affinity: bytes, name: str) -> bytes:
    """The rank of an endpoint for a group, by rendezvous hashing.

    If an endpoint disappears, only its own groups move (Thaler and Ravishankar, 1998).
    """
    return hashlib.blake2b(
        name.encode(), key=hashlib.blake2b(affinity, digest_size=32).digest(), digest_size=8
    ).digest()


def _is_bearable(home: Endpoint, free: Sequence[Endpoint], seconds: float | None, fastest: float) -> bool:
    least_in_flight = min(endpoint.limiter.in_flight for endpoint in free)
    return home.limiter.in_flight <= 2 * least_in_flight + 10 and (seconds is None or seconds <= 2 * fastest)
