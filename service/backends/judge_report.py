"""Reports how the judge models do: each endpoint with its state, limits, counts and canaries. No key is in it."""

from pathlib import Path
from typing import Any

import msgspec

from service.backends import judge_evaluations
from service.backends.judge_evaluations import Evaluation
from verifiers.judge.endpoints import EndpointConfig, EndpointState
from verifiers.judge.panel import Panel


class CanaryRound(msgspec.Struct, frozen=True):
    """The last conclusive round of items with a known verdict."""

    profile: str
    asked: int
    answered: int
    passed: int
    missed: list[str]
    """The names of the items that got a wrong verdict."""
    at: float
    """The end of the round, in seconds since 1970."""


class JudgeEndpoint(msgspec.Struct, frozen=True):
    """One endpoint. Counts are those of this process since its start."""

    name: str
    model: str
    address: str
    pools: list[str]
    state: str
    """`healthy`, `unprobed`, `ejected`, `trial` (the next call decides), `disabled` or `held` (it fails its canaries)."""
    why: str
    """The class of the failure that led to the state, or the canaries that it failed."""
    back_in_s: float | None
    """Seconds until it gets calls again, if it gets none and that is known."""
    in_flight: int
    limit: int
    """Calls that it is thought to bear at once. Refusals lower it, successes raise it."""
    max_limit: int
    rpm: float | None
    tpm: float | None
    calls: int
    answered: int
    failures: dict[str, int]
    """Failed calls, by class."""
    ejections: int
    mean_latency_s: float | None
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    """None if its price is not configured."""
    can: dict[str, Any]
    """What a probe or a call has shown: `schema`, `logprobs` and `several` (null: not known yet), and `refused` parameters."""
    canaries: list[CanaryRound]


class JudgePool(msgspec.Struct, frozen=True):
    """One pool."""

    name: str
    members: list[str]
    fallback: str | None
    profiles: list[str]
    calls: int
    retries: int
    failures: dict[str, int]
    """Calls that failed for good, by class."""
    failovers: int
    hedges: int
    """Late calls that a second endpoint was asked, too."""


class CanaryRule(msgspec.Struct, frozen=True):
    """How canaries are used."""

    every_s: float | None
    """None: they are not asked."""
    min_pass_rate: float
    eject: bool


class Judges(msgspec.Struct, frozen=True):
    """All judge models of a service."""

    configured: bool
    endpoints: list[JudgeEndpoint] = []
    pools: list[JudgePool] = []
    waiting_calls: int = 0
    votes: dict[str, int] = {}
    """Votes by whether a model was `asked` or the answer was `cached`."""
    canaries: CanaryRule | None = None
    evaluations: list[Evaluation] = []
    """What `rewardline judges evaluate` measured last of each profile on this machine."""


def report(panel: Panel | None, judge_file: Path | None) -> Judges:
    """The state of all judge models now. It reads a file."""
    if panel is None:
        return Judges(configured=False)
    rule = panel.config.canaries
    return Judges(
        configured=True,
        endpoints=[_endpoint(panel, state) for state in panel.gateway.states()],
        pools=_pools(panel),
        waiting_calls=panel.gateway.waiting,
        votes={word: panel.counts["vote", word] for word in ("asked", "cached")},
        canaries=CanaryRule(rule.every_s, rule.min_pass_rate, rule.eject),
        evaluations=judge_evaluations.read(judge_file),
    )


def _endpoint(panel: Panel, state: EndpointState) -> JudgeEndpoint:
    config, counters = panel.config.endpoints[state.name], state.counters
    state_name, why, back_in_s = _standing(state)
    return JudgeEndpoint(
        name=state.name,
        model=state.model,
        address=config.base_url,
        pools=[name for name, pool in panel.config.pools.items() if state.name in pool.members],
        state=state_name,
        why=why,
        back_in_s=back_in_s,
        in_flight=state.in_flight,
        limit=state.limit,
        max_limit=config.concurrency.max,
        rpm=config.rpm,
        tpm=config.tpm,
        calls=counters.requests,
        answered=counters.successes,
        failures=dict(counters.failures),
        ejections=state.ejections,
        mean_latency_s=state.latency_s_total / state.latency_count if state.latency_count else None,
        prompt_tokens=counters.prompt_tokens,
        completion_tokens=counters.completion_tokens,
        cost=_cost(config, counters.cost),
        can=dict(state.capabilities),
        canaries=_rounds(panel, state.name),
    )


def _standing(state: EndpointState) -> tuple[str, str, float | None]:
    """The state in one word, why, and the seconds until it ends."""
    if state.health == "disabled":
        return state.health, state.why or "", None
    if state.held is not None:
        return "held", state.held, None
    if state.health == "ejected":
        over = state.ejected_for_s <= 0.0
        return "trial" if over else "ejected", state.why or "", None if over else round(state.ejected_for_s, 1)
    return state.health, state.why or "", round(state.paused_for_s, 1) or None


def _cost(config: EndpointConfig, cost: float) -> float | None:
    return None if config.price is None else cost


def _rounds(panel: Panel, endpoint: str) -> list[CanaryRound]:
    rounds = {} if panel.canaries is None else panel.canaries.rounds
    return [
        CanaryRound(profile, last.asked, last.answered, last.passed, list(last.missed), last.at)
        for (profile, name), last in rounds.items()
        if name == endpoint
    ]


def _pools(panel: Panel) -> list[JudgePool]:
    return [
        JudgePool(
            state.name,
            list(state.members),
            panel.config.pools[state.name].fallback,
            [name for name, profile in panel.config.profiles.items() if profile.pool == state.name],
            state.counters.requests,
            sum(state.counters.retries.values()),
            dict(state.counters.failures),
            state.counters.failovers,
            state.counters.hedges,
        )
        for state in panel.gateway.pool_states()
    ]
