"""Sets up the judge models of the settings: reads their file, looks up keys, caches and counts their answers."""

import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from fairness import TENANT
from service.backends import judge_limits
from service.cache.verdict_cache import VerdictCache
from service.limits.budgets import Measure
from service.observe.metrics import Metrics
from service.settings import Settings, environment
from service.tenant import RUN
from service.usage.ledger import JUDGING, NOBODY, Ledger
from verifiers.judge import config, prompts
from verifiers.judge.endpoints import EndpointState, Gateway
from verifiers.judge.endpoints.shared_limits import Limits
from verifiers.judge.errors import OverBudget
from verifiers.judge.panel import Panel
from verifiers.judge.sharing import Shared


class Kept:
    """The cache of verdicts as a store for answers of judge models."""

    def __init__(self, cache: VerdictCache) -> None:
        self._cache = cache

    async def get(self, key: bytes) -> bytes | None:
        (value,) = await self._cache.lookup([key])
        return value

    async def put(self, key: bytes, value: bytes) -> None:
        self._cache.store({key: value})


@contextlib.asynccontextmanager
async def open_panel(
    settings: Settings, cache: VerdictCache, metrics: Metrics, usage: Ledger
) -> AsyncIterator[Panel | None]:
    """The panel of judges. Its endpoints are checked in the background. None if no file is named. Tokens and cost are
    counted in `usage`.

    Raises:
        BadJudges: the file has mistakes, or a key it names is not in the environment.
        BrokenPrompt: a prompt of the user has mistakes.
    """
    if settings.judge_file is None:
        yield None
        return
    async with contextlib.AsyncExitStack() as stack:
        limits = await stack.enter_async_context(judge_limits.opened(settings.redis_url))
        panel = _panel(settings, settings.judge_file, cache, metrics, usage, limits)
        stack.push_async_callback(panel.stop)
        caller = TENANT.set(NOBODY)  # what runs in the background asks in nobody's name
        await panel.start()
        TENANT.reset(caller)
        yield panel


def _panel(
    settings: Settings, file: Path, cache: VerdictCache, metrics: Metrics, usage: Ledger, limits: Limits
) -> Panel:
    read, keys, texts = load(file)
    secret = settings.judge_fence_secret
    gateway = Gateway(
        read.endpoints,
        read.pools,
        keys=keys,
        observe=metrics.observe_judge_call,
        check=partial(_check, usage),
        spent=partial(_note, usage),
        limits=limits,
    )
    return Panel(
        read,
        gateway,
        Shared(int(read.answers_memory_mb * 1_000_000), outer=Kept(cache)),
        texts,
        fence_secret=secret.get_secret_value().encode() if secret is not None else secrets.token_bytes(32),
        caller=lambda: (TENANT.get(), RUN.get()),
    )


def load(file: Path) -> tuple[config.JudgeConfig, Mapping[str, str], Mapping[str, prompts.Prompt]]:
    """A file of judge models, the keys that it names, and the prompts.

    Raises:
        BadJudges: the file has mistakes, or a key it names is not in the environment.
        BrokenPrompt: a prompt of the user has mistakes.
    """
    read = config.load(file)
    keys = config.keys_from(environment(read.key_names), read.key_names)
    return read, keys, prompts.load(folder=read.prompts_dir)


def _check(usage: Ledger) -> None:
    refusal = usage.refusal(JUDGING)
    if refusal is not None:
        raise OverBudget(refusal.message, retry_after_s=refusal.retry_after_s, detail=refusal.detail)


def _note(usage: Ledger, tokens: float, cost: float) -> None:
    usage.note(TENANT.get(), RUN.get(), {Measure.JUDGE_TOKENS: tokens, Measure.JUDGE_COST: cost})


_EVENTS: Final[Mapping[str, str]] = {
    "vote": "Votes, by whether a model was asked",
    "ballot": "Questions whose votes differed",
    "cascade": "Items of cascades, by who decided them",
    "unparseable": "Answers of models that were not verdict, by why",
    "failure": "Votes that could not be had, by why",
    "flag": "Verdicts with a flag, by flag",
}


def publish(panel: Panel, metrics: Metrics) -> None:
    """Publish the counters of the panel. They are read at each scrape. Labels are names of the configuration."""
    for event, about in _EVENTS.items():
        metrics.watch_totals(f"judge_{event}s", about, partial(_of, panel, event), "kind")
    for name, (about, read) in _GAUGES.items():
        metrics.watch_gauges(f"judge_endpoint_{name}", about, partial(_by_endpoint, panel, read), "endpoint")
    for name, (about, read) in _TOTALS.items():
        metrics.watch_totals(f"judge_endpoint_{name}", about, partial(_by_endpoint, panel, read), "endpoint")
    metrics.watch_gauges(
        "judge_canary_pass_rate",
        "Items with a known verdict that were judged rightly in the last round, by profile/endpoint",
        lambda: panel.canaries.pass_rates() if panel.canaries is not None else {},
        "judge",
    )
    metrics.watch("judge_waiting_calls", "Calls that wait for an endpoint", lambda: panel.gateway.waiting)


def _of(panel: Panel, event: str) -> Mapping[str, float]:
    return {word: float(count) for (kind, word), count in panel.counts.items() if kind == event}


def _by_endpoint(panel: Panel, read: Callable[[EndpointState], float]) -> Mapping[str, float]:
    return {state.name: read(state) for state in panel.gateway.states()}


_GAUGES: Final[Mapping[str, tuple[str, Callable[[EndpointState], float]]]] = {
    "healthy": ("Whether an endpoint answers calls", lambda state: float(state.health == "healthy")),
    "held": ("Whether an endpoint is not asked because it misjudged canaries", lambda state: float(bool(state.held))),
    "limit": ("Calls that an endpoint is thought to bear at once", lambda state: state.limit),
    "in_flight": ("Calls under way", lambda state: state.in_flight),
}
_TOTALS: Final[Mapping[str, tuple[str, Callable[[EndpointState], float]]]] = {
    "requests": ("Calls, repeats included", lambda state: state.counters.requests),
    "ejections": ("Times an endpoint was given no more calls for a while", lambda state: state.ejections),
    "prompt_tokens": ("Tokens of prompts", lambda state: state.counters.prompt_tokens),
    "cached_tokens": ("Those of them that the endpoint had cached", lambda state: state.counters.cached_tokens),
    "completion_tokens": ("Tokens of replies", lambda state: state.counters.completion_tokens),
    "cost": ("What calls of a known price came to", lambda state: state.counters.cost),
}


def told(panel: Panel | None) -> Callable[[Mapping[str, Any]], dict[str, Any] | None]:
    """What a receipt says of the judge models of a verdict, from its detail: names and revisions, no addresses and no keys."""

    def of(detail: Mapping[str, Any]) -> dict[str, Any] | None:
        profile = None if panel is None else panel.config.profiles.get(str(detail.get("judge")))
        if panel is None or profile is None:
            return None
        prompt = panel.prompts.get(str(detail.get("prompt")))
        endpoints = sorted(panel.config.reach_of(profile.pool))
        return {
            "profile": detail["judge"],
            "prompt": detail.get("prompt"),
            "prompt_sha256": None if prompt is None else prompt.sha256,
            "endpoints": [
                {"name": name, "model": endpoint.model, "revision": endpoint.model_revision}
                for name in endpoints
                if (endpoint := panel.config.endpoints[name])
            ],
            "seed": profile.sampling.seed,
        }

    return of
