"""The whole service behind its ports: the engine, background jobs and the HTTP application, for any process that serves it."""

import asyncio
import contextlib
import importlib
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version as distribution_version

from starlette.types import ASGIApp

from service.cancellation import cancel
from service.dataset_audit.running import Audits
from service.doors.compat.openenv import BadTasks
from service.doors.compat.routes import open_doors
from service.doors.http.app import build_app
from service.jobs.lifespan import BackgroundJobs, open_jobs
from service.limits import keys
from service.limits.budgets import Budgets
from service.limits.keys import BadKeys, Issuer, Keys
from service.observe import tracing
from service.observe.history import History
from service.observe.loop_watch import LoopWatch
from service.observe.tracing import CannotTrace, Tracing
from service.run import malloc_trim
from service.run.cannot_start import CannotStart
from service.run.core import Core, open_core
from service.settings import Settings
from tracing.lines import Log

log = Log("rewardline")

_LAST_ANSWERS_S = 0.5
"""Time for answers to go out after all items are judged."""


@dataclass(frozen=True, slots=True)
class Service:
    """The service without ports."""

    settings: Settings
    callers: Keys
    core: Core
    jobs: BackgroundJobs
    audits: Audits
    history: History | None
    app: ASGIApp


@contextlib.asynccontextmanager
async def open_service(settings: Settings) -> AsyncIterator[Service]:
    """Build the service, and wait until it has started. Leaving the block ends it.

    Raises:
        CannotStart: the settings demand something that cannot be had.
        BadRecipes: the file of recipes has mistakes.
    """
    async with open_core(settings) as built, open_around(settings, built) as service:
        yield service


@contextlib.asynccontextmanager
async def open_around(settings: Settings, built: Core) -> AsyncIterator[Service]:
    """Build the service around its core. Leaving the block ends it, but not the core.

    Raises:
        CannotStart: the settings demand something that cannot be had.
    """
    callers, budgets = callers_of(settings)
    with open_traces(settings) as traces:
        async with (
            open_jobs(settings, built.engine, built.admission, built.singles) as jobs,
            _audits(built, settings) as audits,
            open_doors(
                settings, built.engine, built.admission, built.metrics, built.boxes, built.groups, built.singles
            ) as doors,
        ):
            jobs.publish(built.metrics)
            built.metrics.watch("dataset_audits_kept", "Audits under way, and reports of ended ones", audits.count)
            built.usage.ledger.use(budgets)
            if traces is not None:
                traces.publish(built.metrics)
            history = History(built.metrics.registry.collect) if settings.console else None
            try:
                app = build_app(
                    settings,
                    callers,
                    built.engine,
                    built.admission,
                    built.metrics,
                    built.boxes,
                    built.interactions,
                    built.groups,
                    built.singles,
                    jobs,
                    audits,
                    built.panel,
                    history,
                    built.readiness,
                    built.usage,
                    built.watch,
                    doors,
                )
            except BadTasks as error:
                raise CannotStart(str(error)) from error
            yield Service(settings, callers, built, jobs, audits, history, app)


@contextlib.asynccontextmanager
async def beating(service: Service, *coroutines: Coroutine[object, object, None]) -> AsyncIterator[None]:
    """Run what a service does beside its requests, and `coroutines`, while the block lasts."""
    core = service.core
    reports = (core.task_daemon.run(), core.boxes.report())
    beats = [core.load_monitor.run(), malloc_trim.trim_regularly(), core.memory_watch.run(), *reports, *coroutines]
    if service.history is not None:
        beats.append(service.history.run())
    tasks = [asyncio.create_task(beat) for beat in beats]
    with LoopWatch(service.core.metrics.observe_stall).watching():
        try:
            yield
        finally:
            await cancel(*tasks)


async def drain(service: Service) -> None:
    """Wait for admitted requests. Those that are left after the timeout are refused. Audits are not waited for."""
    admission = service.core.admission
    log.info("draining", requests=admission.requests, items=admission.items)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(service.settings.drain_timeout_s):
            await service.audits.stop()
            await service.jobs.drain()
            await admission.idle()
            await admission.calls.wait_until_answered(_LAST_ANSWERS_S)
    log.info("drained", requests_left=admission.requests, calls_ended=admission.calls.end())


@contextlib.contextmanager
def open_traces(settings: Settings) -> Iterator[Tracing | None]:
    """The traces that the settings ask for, while the block lasts.

    Raises:
        CannotStart: they cannot be made.
    """
    with contextlib.ExitStack() as stack:
        try:
            traces = stack.enter_context(tracing.open_tracing(settings, distribution_version("rewardline-server")))
        except CannotTrace as error:
            raise CannotStart(str(error)) from error
        yield traces


def _audits(built: Core, settings: Settings) -> Audits:
    return Audits(
        built.engine,
        built.admission,
        max_under_way=settings.max_dataset_audits,
        batch_items=settings.max_items_per_request,
    )


def callers_of(settings: Settings) -> tuple[Keys, Mapping[str, Budgets]]:
    """All keys, and the budgets of tenants.

    Raises:
        CannotStart: the files have mistakes.
    """
    try:
        callers = keys.gather(settings.key_digests(), settings.keys_file)
        budgets = keys.budgets(settings.keys_file)
    except BadKeys as error:
        raise CannotStart(str(error)) from error
    all_keys = Keys(
        callers,
        required=settings.keys_file is not None,
        issuer=_issuer(settings),
        takes_certificates=settings.tls_client_tenants,
    )
    return all_keys, budgets


def _issuer(settings: Settings) -> Issuer | None:
    if settings.oidc_issuer is None:
        return None
    try:
        tokens: Issuer = importlib.import_module("service.limits.tokens").Tokens(settings)
    except ImportError as error:
        raise CannotStart("oidc_issuer needs PyJWT: pip install 'rewardline-server[oidc]'") from error
    return tokens
