"""Gives access to all judge models of a service: its pools, and calls to them.

Gateway ── Pool: retries, budgets, failover ── Dispatcher: which endpoint is asked, which calls wait
                                                   └── Endpoint: limits, health, capabilities ── Wire: HTTP
"""

import asyncio
import copy
import importlib
import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from verifiers.judge.endpoints.balancing import Dispatcher
from verifiers.judge.endpoints.chat import Chat
from verifiers.judge.endpoints.config import EndpointConfig, PoolConfig
from verifiers.judge.endpoints.endpoint import Counters, Endpoint, Observe, Spent
from verifiers.judge.endpoints.health import State
from verifiers.judge.endpoints.messages import ChatReply, ChatRequest, Relayed, RelayedStream
from verifiers.judge.endpoints.pool import NOT_OURS, Errand, Pool, PoolCounters
from verifiers.judge.endpoints.probing import Prober
from verifiers.judge.endpoints.relaying import Relay, StreamRelay
from verifiers.judge.endpoints.reward_servers import Form, Input
from verifiers.judge.endpoints.rewarding import RewardCall, RewardReply
from verifiers.judge.endpoints.shared_limits import Limits
from verifiers.judge.errors import Attempt, EndpointFailure

if TYPE_CHECKING:
    from verifiers.judge.endpoints.wire import Wire  # its library is loaded only where there are endpoints

T = TypeVar("T")

_NO_FAILOVER = NOT_OURS | {"deadline", "budget_exhausted"}
"""Failures for which another pool would not help, or must not be used to get around a limit on spending."""


@dataclass(frozen=True, slots=True)
class EndpointState:
    """The current state of one endpoint, for readiness and metrics."""

    name: str
    model: str
    health: str
    why: str | None
    """The class of the failure because of which it is not asked."""
    held: str | None
    """The reason why it is not asked although it answers."""
    limit: int
    in_flight: int
    ejections: int
    ejected_for_s: float
    """Seconds until the ejection ends, 0 if it is over."""
    paused_for_s: float
    """Seconds for which it asked to be left alone."""
    capabilities: Mapping[str, Any]
    latency_s_total: float
    latency_count: int
    counters: Counters


@dataclass(frozen=True, slots=True)
class PoolState:
    name: str
    members: tuple[str, ...]
    counters: PoolCounters


class Gateway:
    """The endpoints and pools of a configuration. It is usable at once; `start` begins the probes."""

    def __init__(
        self,
        endpoints: Mapping[str, EndpointConfig],
        pools: Mapping[str, PoolConfig],
        *,
        keys: Mapping[str, str],
        chance: random.Random | None = None,
        observe: Observe | None = None,
        check: Callable[[], None] = lambda: None,
        spent: Spent | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        """Create the endpoints and pools.

        `keys`: values of environment variables, by name. `observe`: called after each call, for metrics, with the
        endpoint, `ok` or the class of the failure, and seconds. `check`: called before each call, in the task of its
        caller; it may raise `OverBudget`. `limits`: None if no other replica shares them. `clock` must be the event loop's.

        Raises:
            BadKey: a key is missing, or no header can hold it.
        """
        self._clock = clock
        self._wall = wall
        self._check = check
        self._dispatcher = Dispatcher(clock)
        limits = limits or Limits()
        limits.tell(self._dispatcher.dispatch)
        self._probing: list[asyncio.Task[None]] = []
        self._only: str | None = None
        wire: type[Wire] = importlib.import_module("verifiers.judge.endpoints.wire").Wire
        for name, config in endpoints.items():
            self._dispatcher.endpoints[name] = Endpoint(
                name,
                config,
                wire(config, keys),
                clock=clock,
                changed=self._dispatcher.dispatch,
                pause_cap_s=max(
                    (pool.retry.retry_after_cap_s for pool in pools.values() if name in pool.members), default=0.0
                ),
                observe=observe,
                spent=spent,
                limits=limits,
            )
        chance = chance or random.Random()  # noqa: S311 -- spreads retries; no secret depends on it
        self._pools = {
            name: Pool(name, config, self._dispatcher, clock=clock, chance=chance, limits=limits)
            for name, config in pools.items()
        }

    async def start(self) -> None:
        """Begin to probe in the background, without waiting for endpoints that are down."""
        for endpoint in self._dispatcher.endpoints.values():
            if endpoint.config.health.probe:
                prober = Prober(endpoint, self._clock, self._wall)
                self._probing.append(asyncio.create_task(prober.run(), name=f"probe {endpoint.name}"))

    async def stop(self) -> None:
        """End the probes and close all connections; calls under way fail."""
        for task in self._probing:
            task.cancel()
        await asyncio.gather(*self._probing, return_exceptions=True)
        self._probing.clear()
        self._dispatcher.close()
        for endpoint in self._dispatcher.endpoints.values():
            await endpoint.wire.close()

    async def ask(
        self,
        pool: str,
        request: ChatRequest,
        *,
        deadline: float | None = None,
        avoid: Collection[str] = frozenset(),
        only: str | None = None,
    ) -> ChatReply:
        """Ask a pool, or its fallback; the reply of one endpoint.

        `deadline`: by the clock of the event loop; None: the pool's. `avoid`: endpoints that are asked only if no other
        can be. `only`: the one endpoint that may be asked.

        Raises:
            EndpointFailure: no endpoint answered; this says nothing about the judged response.
        """
        return await self._send(pool, Chat(request, self._clock, self._wall), self._until(pool, deadline), avoid, only)

    async def relay(self, pool: str, body: Mapping[str, Any], *, deadline: float | None = None) -> Relayed:
        """Pass on a caller's own request; the answer as the endpoint gave it.

        Raises:
            EndpointFailure: as `ask`; but if the request itself is at fault, the refusal is an answer.
        """
        return await self._send(pool, Relay(body, self._clock, self._wall), self._until(pool, deadline))

    async def relay_stream(self, pool: str, body: Mapping[str, Any], *, deadline: float | None = None) -> RelayedStream:
        """Pass on a request as `relay` does, until the first piece is there.

        The caller must read to the end, or `aclose` the pieces.
        """
        until = self._until(pool, deadline)
        return await self._send(pool, StreamRelay(body, until, self._clock, self._wall), until)

    async def rewards(
        self, pool: str, inputs: Sequence[Input], form: Form, options: dict[str, Any], *, deadline: float
    ) -> RewardReply:
        """The rewards of several inputs, by one endpoint of a pool of reward models.

        Raises:
            EndpointFailure: as `ask`.
        """
        return await self._send(pool, RewardCall(inputs, form, options, self._wall), deadline)

    def capacity(self, pool: str) -> int:
        """The number of calls that the members of a pool are thought to bear at once."""
        return sum(member.limiter.limit for member in self._pools[pool].members)

    def only(self, name: str) -> Self:
        """A gateway to one endpoint alone, to find out how it answers: held or not, but not while it is ejected."""
        door = copy.copy(self)
        door._only = name
        return door

    def hold(self, name: str, why: str) -> None:
        """Send no calls to an endpoint, from any pool, until `release`; calls under way go on."""
        self._dispatcher.endpoints[name].held = why
        self._dispatcher.dispatch()

    def release(self, name: str) -> None:
        self._dispatcher.endpoints[name].held = None
        self._dispatcher.dispatch()

    def states(self) -> list[EndpointState]:
        """The current state of every endpoint."""
        now = self._clock()
        return [_state(endpoint, now) for endpoint in self._dispatcher.endpoints.values()]

    def pool_states(self) -> list[PoolState]:
        return [PoolState(pool.name, tuple(pool.config.members), pool.counters) for pool in self._pools.values()]

    @property
    def waiting(self) -> int:
        """The number of calls that wait for an endpoint."""
        return self._dispatcher.waiting

    def _until(self, pool: str, deadline: float | None) -> float:
        return deadline if deadline is not None else self._clock() + self._pools[pool].config.deadline_s

    async def _send(
        self,
        pool: str,
        errand: Errand[T],
        deadline: float,
        avoid: Collection[str] = frozenset(),
        only: str | None = None,
    ) -> T:
        self._check()
        attempts: list[Attempt] = []
        if self._only is not None:
            return await self._pools[pool].send(
                errand, deadline, avoid=(), only=self._only, fail_open=False, attempts=attempts, even_held=True
            )
        chain = [self._pools[pool]] if only is not None else self._chain(pool)
        for p in chain[:-1]:
            try:
                return await p.send(errand, deadline, avoid=avoid, only=only, fail_open=False, attempts=attempts)
            except EndpointFailure as failure:
                if failure.kind in _NO_FAILOVER:
                    raise
                p.counters.failovers += 1
        return await chain[-1].send(errand, deadline, avoid=avoid, only=only, fail_open=True, attempts=attempts)

    def _chain(self, pool: str) -> list[Pool]:
        chain: list[Pool] = []
        name: str | None = pool
        while name is not None and self._pools[name] not in chain:
            chain.append(self._pools[name])
            name = self._pools[name].config.fallback
        return chain


_LONG_PAUSE_S = 10.0


def _health(endpoint: Endpoint, now: float) -> str:
    """The state of an endpoint, or `paused` if it has asked for a long pause and gets no calls."""
    state = endpoint.health.state
    return "paused" if state is State.HEALTHY and endpoint.paused_until - now > _LONG_PAUSE_S else state.value


def _state(endpoint: Endpoint, now: float) -> EndpointState:
    can = endpoint.capabilities
    return EndpointState(
        endpoint.name,
        endpoint.config.model,
        _health(endpoint, now),
        endpoint.health.why,
        endpoint.held,
        endpoint.limiter.limit,
        endpoint.limiter.in_flight,
        endpoint.health.ejections,
        max(0.0, endpoint.health.ejected_until - now),
        max(0.0, endpoint.paused_until - now),
        {**asdict(can), "refused": sorted(can.refused)},
        endpoint.latency.total_s,
        endpoint.latency.count,
        endpoint.counters,
    )
