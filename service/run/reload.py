"""Reloads recipes, keys and certificates while the service runs. A file with mistakes changes nothing but the log and a
metric.
"""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator

from service.cancellation import cancel
from service.limits import keys
from service.limits.keys import BadKeys, Keys
from service.observe.metrics import Metrics
from service.recipes import book as recipes
from service.recipes.files import BadRecipes
from service.run import tls
from service.run.tls import BadCertificate, Certificates
from service.scoring.engine import Engine
from service.settings import Settings
from service.usage.ledger import Ledger
from tracing.lines import Log

log = Log("rewardline")


@contextlib.asynccontextmanager
async def reloading(
    engine: Engine,
    metrics: Metrics,
    settings: Settings,
    callers: Keys,
    usage: Ledger,
    certificates: Certificates | None,
) -> AsyncIterator[None]:
    """Read all files again on SIGHUP. Certificates are also read when their files change, because programs replace
    them.
    """
    reader = _Reader(engine, metrics, settings, callers, usage, certificates)
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = {loop.create_task(reader.watch())}

    def begin() -> None:
        task = loop.create_task(reader.read_all())
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    loop.add_signal_handler(signal.SIGHUP, begin)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)
        await cancel(*tasks)


class _Reader:
    def __init__(
        self,
        engine: Engine,
        metrics: Metrics,
        settings: Settings,
        callers: Keys,
        usage: Ledger,
        certificates: Certificates | None,
    ) -> None:
        self._engine = engine
        self._metrics = metrics
        self._settings = settings
        self._callers = callers
        self._usage = usage
        self._certificates = certificates
        self._turn = asyncio.Lock()

    async def read_all(self) -> None:
        async with self._turn:
            await self._read_recipes()
            await self._read_keys()
            await self._read_certificates()

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(tls.LOOKS_EVERY_S)
            async with self._turn:
                if self._certificates is not None and await asyncio.to_thread(self._certificates.look):
                    await self._read_certificates()

    async def _read_recipes(self) -> None:
        try:
            book = await asyncio.to_thread(recipes.load, self._engine.registry, self._settings.recipes_file)
        except BadRecipes as error:
            log.warning("recipes not reloaded; the old ones stay in force", problems=error.problems)
            self._metrics.observe_reload("refused")
            return
        self._engine.use(book)
        log.info("recipes reloaded", recipes=len(book.recipes), routes=len(book.routes))
        self._metrics.observe_reload("done")

    async def _read_keys(self) -> None:
        settings = self._settings
        if settings.keys_file is None:
            return
        try:
            callers = await asyncio.to_thread(keys.gather, settings.key_digests(), settings.keys_file)
            budgets = await asyncio.to_thread(keys.budgets, settings.keys_file)
        except BadKeys as error:
            log.warning("keys not reloaded; the old ones stay in force", problems=error.problems)
            self._metrics.observe_keys_reload("refused")
            return
        self._callers.use(callers)
        self._usage.use(budgets)
        log.info("keys reloaded", keys=len(callers), budgets=len(budgets))
        self._metrics.observe_keys_reload("done")

    async def _read_certificates(self) -> None:
        if self._certificates is None:
            return
        try:
            await asyncio.to_thread(self._certificates.load)
        except BadCertificate as error:
            log.warning("certificates not reloaded; the old ones stay in use", why=str(error))
        else:
            log.info("certificates reloaded")
