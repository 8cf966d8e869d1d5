"""Opens the watch by the settings and the recipes, with its metrics, for as long as the engine runs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from service.cancellation import cancel
from service.observe.metrics import Metrics
from service.recipes.model import WatchSpec
from service.scoring.engine import Engine
from service.settings import Settings
from service.watch.alarms import Alarms, Watched
from service.watch.detectors import DETECTORS
from service.watch.pass_rates import PassRates
from service.watch.probes import Prober
from service.watch.stream import Stream
from service.wire import BatchRequest, Result

_DEFAULT: Final = WatchSpec()
_CLOSE_S: Final = 5.0
_RATES_SHARE: Final = 0.5
"""Of the memory of the watch, for the rates of prompts."""
Observer = Callable[[BatchRequest, Sequence[Result]], None]


@dataclass(frozen=True, slots=True)
class Watch:
    """The watch of a service."""

    alarms: Alarms
    rates: PassRates
    observe: Observer
    watched: Callable[[str], Watched]
    """What is watched for a tenant."""


@contextlib.asynccontextmanager
async def open_watch(settings: Settings, metrics: Metrics, engine: Engine) -> AsyncIterator[Watch]:
    """The watch, for as long as the block lasts. Hand finished batches to its `observe`."""
    alarms, prober = Alarms(), Prober(engine)
    rates = PassRates(int(settings.watch_memory_mb * _RATES_SHARE * 1_000_000))

    def spec_of(result: Result) -> WatchSpec | None:
        recipe = None if result.recipe is None else engine.book.recipes.get(result.recipe)
        spec = None if recipe is None else recipe.watch
        return spec or (_DEFAULT if settings.watch else None)

    stream = Stream(
        alarms,
        prober,
        spec_of,
        share=settings.watch_share,
        max_bytes=int(settings.watch_memory_mb * (1 - _RATES_SHARE) * 1_000_000),
        rates=rates,
        redact=settings.audit_redact,
    )

    def watched(tenant: str) -> Watched:
        recipes = [name for name, recipe in engine.book.recipes.items() if recipe.watch is not None]
        abouts = {detector.name: detector.about for detector in DETECTORS}
        return Watched(settings.watch, recipes, abouts, stream.windows.runs(tenant))

    metrics.watch_pairs("watch_alarms", "Alarms on rewards", lambda: dict(alarms.raised), ("judge", "detector"))
    metrics.watch_totals(
        "watch_probes", "Items judged by the watch, by outcome", lambda: dict(prober.counts), "outcome"
    )
    metrics.watch_totals("watch_items", "Items that the watch read or dropped", lambda: dict(stream.counts), "outcome")
    stream.start()
    probing = asyncio.create_task(stream.probe())
    try:
        yield Watch(alarms, rates, stream.observe, watched)
    finally:
        await cancel(probing)
        await asyncio.to_thread(stream.close, _CLOSE_S)
