"""Builds the engine with everything that it needs from the settings, and takes it down in the reverse order."""

import contextlib
import resource
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib.metadata import version as distribution_version

from sandbox.boxes.remote import BadTlsFiles
from sandbox.containers import Containers
from sandbox.workers import Workers
from service.backends import judges, task_containers
from service.backends.boxes import Boxes, attack, kinds
from service.cache.memory_cache import MemoryCache
from service.cache.redis_cache import RedisCache
from service.cache.verdict_cache import VerdictCache
from service.interactions.lifecycle import Bounds, Interactions
from service.limits.admission import Admission
from service.observe.audit_log import lifespan as audit_log
from service.observe.load_monitor import LoadMonitor
from service.observe.metrics import Metrics
from service.observe.readiness import Readiness
from service.recipes import book as recipes
from service.run import gauges
from service.scoring.engine import Engine
from service.settings import Settings
from service.storage.records import open_records
from service.usage.ledger import Ledger
from service.usage.usage import Usage, open_usage
from verifiers import commitment, registry
from verifiers.base import Resources
from verifiers.judge.config import BadJudges
from verifiers.judge.endpoints import BadKey
from verifiers.judge.panel import Panel
from verifiers.judge.rendering.templates import BrokenPrompt

_INTERACTIONS = "rl1ix:"
"""The start of the keys of interactions in Redis."""
_MANY_FILES = 1_000_000


class CannotStart(Exception):
    """The settings demand something that cannot be had. The message says what."""


@dataclass(frozen=True, slots=True)
class Core:
    """The engine with everything that scoring needs, without doors."""

    engine: Engine
    admission: Admission
    metrics: Metrics
    workers: Workers
    boxes: Boxes
    cache: VerdictCache
    needs_boxes: bool
    interactions: Interactions
    panel: Panel | None
    containers: Containers
    task_daemon: task_containers.DaemonWatch
    load_monitor: LoadMonitor
    usage: Usage

    def readiness(self) -> Readiness:
        """The parts that cannot judge now.

        Redis is not among them: without it everything works, only slower. Boxes that cannot be had, or were lost, take
        the service out of rotation only if the settings say so: items without programs can still be judged.
        """
        if self.admission.draining or self.admission.leaving:
            return Readiness({"draining": "shutting down"})
        problems = {} if self.workers.ready else {"workers": "no worker process is running"}
        lacks: dict[str, str] = {}
        if self.boxes.state == "starting":
            problems["sandbox"] = "the boxes for programs are starting"
        elif self.boxes.why:
            (problems if self.needs_boxes else lacks)["sandbox"] = self.boxes.why
        return Readiness(problems, lacks)


@contextlib.asynccontextmanager
async def open_core(settings: Settings) -> AsyncIterator[Core]:
    """Build everything behind the doors. Leaving the block ends it.

    Raises:
        CannotStart: the settings demand a sandbox or an audit log that cannot be had.
        BadRecipes: the file of recipes has mistakes.
    """
    metrics = Metrics(distribution_version("rewardline-server"), max_tenants=settings.max_metrics_tenants)
    workers = Workers(
        settings.worker_count,
        memory_mb=settings.worker_memory_mb,
        parts_owners=settings.cache_by_tenant,
        on_restart=metrics.observe_restart,
    )
    ledger = Ledger()
    boxes = _boxes(settings, ledger)
    redis = None
    if settings.redis_url is not None:
        redis = RedisCache(settings.redis_url.get_secret_value(), ttl_s=settings.cache_ttl_s)
    cache = VerdictCache(MemoryCache(int(settings.cache_memory_mb * 1_000_000)), redis)
    admission = Admission(settings.max_items_in_flight, int(settings.max_mb_in_flight * 1_000_000), _max_connections())
    async with contextlib.AsyncExitStack() as stack:
        usage = await stack.enter_async_context(open_usage(ledger, settings.redis_url))
        try:
            panel = await stack.enter_async_context(judges.open_panel(settings, cache, metrics, ledger))
        except (BadJudges, BadKey, BrokenPrompt) as error:
            raise CannotStart(str(error)) from error
        containers = task_containers.make(settings, ledger)
        stack.push_async_callback(containers.stop)
        verifiers = registry.load(Resources(workers, boxes, panel, containers, settings.harbor_root))
        commitment.load()
        workers.register(commitment.LOAD)
        book = recipes.load(verifiers, settings.recipes_file)
        stack.push_async_callback(boxes.stop)
        await boxes.start()
        stack.push_async_callback(workers.stop)
        await workers.start()
        stack.push_async_callback(cache.close)
        await cache.start()
        try:
            on_scored = await stack.enter_async_context(audit_log.open_log(settings, metrics))
        except audit_log.CannotOpen as error:
            raise CannotStart(str(error)) from error
        engine = Engine(
            verifiers,
            cache,
            metrics,
            workers=settings.worker_count,
            is_backed_up=lambda: workers.queued > 0,
            item_deadline_s=settings.item_deadline_s,
            max_response_bytes=settings.max_response_bytes,
            book=book,
            cache_by_tenant=settings.cache_by_tenant,
            usage=ledger,
            on_scored=on_scored,
        )
        await stack.enter_async_context(engine)
        if settings.sandbox in ("docker", "local"):
            await boxes.settled()
            if boxes.why:
                raise CannotStart(f"the setting `sandbox` demands boxes for programs, and there are none: {boxes.why}")
        store = open_records(
            settings.redis_url,
            _INTERACTIONS,
            max_records=settings.max_interactions_in_memory,
            max_bytes=int(settings.interactions_memory_mb * 1_000_000),
        )
        stack.push_async_callback(store.close)
        bounds = Bounds(
            settings.interaction_ttl_s, settings.interaction_max_ttl_s, int(settings.max_interaction_mb * 1_000_000)
        )
        interactions = Interactions(engine, store, bounds)
        built = Core(
            engine,
            admission,
            metrics,
            workers,
            boxes,
            cache,
            settings.readiness_needs_boxes,
            interactions,
            panel,
            containers,
            task_containers.DaemonWatch(containers),
            LoadMonitor(engine.queued_s),
            usage,
        )
        gauges.publish(metrics, admission, built.load_monitor, engine, workers, cache)
        gauges.publish_usage(metrics, usage)
        boxes.publish(metrics)
        task_containers.publish(containers, built.task_daemon, metrics)
        if panel is not None:
            judges.publish(panel, metrics)
        interactions.publish(metrics)
        yield built


def load_verifiers() -> registry.Registry:
    """Load the verifiers to show them. Their workers are never started."""
    return registry.load(Resources(Workers(1)))


def _boxes(settings: Settings, usage: Ledger) -> Boxes:
    try:
        return Boxes(kinds(settings), attack, slots=settings.slot_count, usage=usage)
    except BadTlsFiles as error:
        raise CannotStart(f"box_hosts_tls: {error}") from error


def _max_connections() -> int:
    """Connections that callers may hold: most of the files that this process may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MANY_FILES if files == resource.RLIM_INFINITY else min(files, _MANY_FILES) * 3 // 4
