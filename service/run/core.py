"""Builds the engine with everything that it needs from the settings, and takes it down in the reverse order."""

import asyncio
import contextlib
import importlib
import resource
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version as distribution_version
from typing import TYPE_CHECKING

from msgspec import Raw

import memory
from sandbox.boxes.remote import BadTlsFiles
from sandbox.containers import Containers
from sandbox.workers import Workers, WorkersUnavailable
from service.backends import judges, task_containers
from service.backends.boxes import Boxes, attack, kinds
from service.cache.memory_cache import MemoryCache
from service.cache.verdict_cache import VerdictCache
from service.cancellation import cancel
from service.groups.scoring import GroupScorer
from service.groups.single_records import Records
from service.groups.singles import Singles
from service.interactions.lifecycle import Bounds, Interactions
from service.limits.admission import Admission
from service.observe.access_log import CURRENT_REQUEST
from service.observe.audit_log import lifespan as audit_log
from service.observe.load_monitor import LoadMonitor
from service.observe.metrics import Metrics
from service.observe.readiness import Readiness
from service.recipes import book as recipes
from service.run import gauges, host
from service.run.cannot_start import CannotStart as CannotStart
from service.run.memory_watch import MemoryWatch
from service.scoring.engine import Engine, Stamp
from service.scoring.pinned import Pinned
from service.settings import Settings
from service.storage.record_store import RecordStore
from service.storage.records import open_records
from service.usage.ledger import Ledger
from service.usage.usage import Usage, open_usage
from service.versions.locks import Locks, Pin
from service.versions.receipts import BadKeyFile, Receipts, read_key
from service.versions.served import Releases
from service.watch.lifespan import Watch, open_watch
from service.wire import BatchRequest, Result, ScoreItem
from verifiers import commitment, registry
from verifiers.base import Resources
from verifiers.judge.config import BadJudges
from verifiers.judge.endpoints import BadKey
from verifiers.judge.panel import Panel
from verifiers.judge.rendering.templates import BrokenPrompt
from verifiers.math import units

if TYPE_CHECKING:
    from service.cache.redis_cache import RedisCache  # its library is loaded only where there is a Redis

_INTERACTIONS = "rl1ix:"
"""The start of the keys of interactions in Redis."""
_GROUPS = "rl1grp:"
"""The same for groups whose members come one by one."""
_MANY_FILES = 1_000_000


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
    """Whether a service without boxes is not ready."""
    demands_boxes: bool
    """Whether the service must not run without boxes."""
    interactions: Interactions
    groups: GroupScorer
    singles: Singles
    panel: Panel | None
    containers: Containers
    task_daemon: task_containers.DaemonWatch
    load_monitor: LoadMonitor
    usage: Usage
    watch: Watch
    memory_watch: MemoryWatch
    trying_redis: asyncio.Task[None]

    async def settled(self) -> None:
        """Wait until everything has started, or is known to be unavailable.

        Raises:
            CannotStart: what the service cannot be without is unavailable.
        """
        try:
            await self.workers.settled()
        except WorkersUnavailable as error:
            raise CannotStart(f"the workers for CPU-bound work cannot be started: {error}") from error
        if self.demands_boxes:
            await self.boxes.settled()
            if self.boxes.state == "unavailable":
                why = self.boxes.why
                raise CannotStart(f"the setting `sandbox` demands boxes for programs, and there are none: {why}")
        await asyncio.wait([self.trying_redis])

    def readiness(self) -> Readiness:
        """The parts that cannot judge now.

        Redis is not among them: without it everything works, only slower. Boxes that cannot be had, or were lost, take
        the service out of rotation only if the settings say so: items without programs can still be judged. While boxes
        start, items that need one wait.

        While workers start, the service is not ready, although its ports answer and items wait: nearly every verifier
        needs them, and a rollout must not go on to the next replica before they have shown that they work.
        """
        if self.admission.draining or self.admission.leaving:
            return Readiness({"draining": "shutting down"})
        problems: dict[str, str] = {}
        lacks: dict[str, str] = {}
        starting: dict[str, str] = {}
        if self.workers.starting:
            problems["workers"] = "the workers are starting; items wait for them"
        elif not self.workers.ready:
            problems["workers"] = "no worker process is running"
        if self.boxes.state == "starting":
            why = "the boxes for programs are starting; items that need one wait"
            (problems if self.needs_boxes or self.demands_boxes else starting)["sandbox"] = why
        elif self.boxes.why:
            (problems if self.needs_boxes else lacks)["sandbox"] = self.boxes.why
        if lack := host.lack_of_files():
            lacks["files"] = lack
        if not self.trying_redis.done():
            starting["redis"] = "Redis has not answered yet; cached verdicts are not used"
        elif self.cache.redis_state not in ("none", "closed"):
            lacks["redis"] = "Redis does not answer; cached verdicts of other replicas are not used"
        return Readiness(problems, lacks, starting)


@contextlib.asynccontextmanager
async def open_core(settings: Settings, *, idle_boxes: bool = True) -> AsyncIterator[Core]:
    """Build everything behind the doors, and wait until it has started. Leaving the block ends it. Without `idle_boxes`
    boxes start, and are attacked, only when an item needs one.

    Raises:
        CannotStart: the settings demand something that cannot be had.
        BadRecipes: the file of recipes has mistakes.
    """
    async with begin_core(settings, idle_boxes=idle_boxes) as core:
        await core.settled()
        yield core


@contextlib.asynccontextmanager
async def begin_core(settings: Settings, *, idle_boxes: bool = True) -> AsyncIterator[Core]:
    """Build everything behind the doors. Workers, boxes and the link to Redis go on starting, and items wait for them:
    `Core.settled` waits until they have. Leaving the block ends everything.

    Raises:
        CannotStart: the settings demand something that cannot be had.
        BadRecipes: the file of recipes has mistakes.
    """
    host.check_folders(settings)
    metrics = Metrics(distribution_version("rewardline-server"), max_tenants=settings.max_metrics_tenants)
    workers = Workers(
        settings.worker_count,
        memory_mb=settings.worker_memory_mb,
        parts_owners=settings.cache_by_tenant,
        on_restart=metrics.observe_restart,
    )
    ledger = Ledger()
    boxes = _boxes(settings, ledger)
    cache = VerdictCache(MemoryCache(int(settings.cache_memory_mb * 1_000_000)), redis_cache(settings))
    admission = Admission(settings.max_items_in_flight, int(settings.max_mb_in_flight * 1_000_000), _max_connections())
    async with contextlib.AsyncExitStack() as stack:
        usage = await stack.enter_async_context(open_usage(ledger, settings.redis_url))
        try:
            panel = await stack.enter_async_context(judges.open_panel(settings, cache, metrics, ledger))
        except (BadJudges, BadKey, BrokenPrompt) as error:
            raise CannotStart(str(error)) from error
        containers = task_containers.make(settings, ledger)
        stack.push_async_callback(containers.stop)
        try:
            resources = Resources(
                workers, boxes, panel, containers, settings.harbor_root, settings.sandbox_refuse_unguarded
            )
            verifiers = registry.load(resources)
        except registry.BrokenVerifier as error:
            raise CannotStart(str(error)) from error
        workers.register(commitment.LOAD)
        book = recipes.load(verifiers, settings.recipes_file)
        stack.push_async_callback(workers.stop)
        await workers.begin()  # early: their zygote imports while this process does the rest
        commitment.load()
        units.load()
        memory.find_libraries()
        stack.push_async_callback(boxes.stop)
        if idle_boxes:
            await boxes.start()
        stack.push_async_callback(cache.close)
        trying_redis = asyncio.create_task(cache.start())
        stack.push_async_callback(cancel, trying_redis)
        try:
            logged = await stack.enter_async_context(audit_log.open_log(settings, metrics))
        except audit_log.CannotOpen as error:
            raise CannotStart(str(error)) from error
        releases = Releases(settings.releases_dir, settings)
        stack.push_async_callback(releases.close)
        observers = [] if logged is None else [logged]

        def on_scored(batch: BatchRequest, results: Sequence[Result]) -> None:
            for observe in observers:
                observe(batch, results)

        engine = Engine(
            verifiers,
            cache,
            metrics,
            workers=settings.worker_count,
            is_backed_up=lambda: workers.queued > 0,
            is_starting=lambda: workers.starting,
            item_deadline_s=settings.item_deadline_s,
            max_response_bytes=settings.max_response_bytes,
            book=book,
            cache_by_tenant=settings.cache_by_tenant,
            usage=ledger,
            on_scored=on_scored,
            pins=Locks(settings.pins_dir, releases.judge).of,
            stamp=stamp_of(settings, panel),
            stamps_all=settings.receipts == "always",
        )
        await stack.enter_async_context(engine)
        watch = await stack.enter_async_context(open_watch(settings, metrics, engine))
        observers.append(watch.observe)
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
        group_store = _group_store(settings)
        scorer = GroupScorer(engine, panel, group_store)
        singles = Singles(engine, scorer, Records(group_store))
        stack.push_async_callback(singles.close)
        built = Core(
            engine,
            admission,
            metrics,
            workers,
            boxes,
            cache,
            settings.readiness_needs_boxes,
            settings.sandbox in ("docker", "local"),
            interactions,
            scorer,
            singles,
            panel,
            containers,
            task_containers.DaemonWatch(containers),
            LoadMonitor(engine.queued_s),
            usage,
            watch,
            MemoryWatch(settings.memory_mb, workers),
            trying_redis,
        )
        gauges.publish(metrics, admission, built.load_monitor, engine, workers, cache)
        gauges.publish_usage(metrics, usage)
        built.memory_watch.publish(metrics)
        boxes.publish(metrics)
        task_containers.publish(containers, built.task_daemon, metrics)
        if panel is not None:
            judges.publish(panel, metrics)
        interactions.publish(metrics)
        yield built


def _group_store(settings: Settings) -> RecordStore:
    return open_records(
        settings.redis_url,
        _GROUPS,
        kept="groups",
        max_records=settings.max_groups_in_memory,
        max_bytes=int(settings.groups_memory_mb * 1_000_000),
    )


def stamp_of(settings: Settings, panel: Panel | None) -> Stamp | None:
    """Puts receipts into results. None: the settings want none.

    Raises:
        CannotStart: the key cannot be used.
    """
    if settings.receipts == "never":
        return None
    try:
        key = None if settings.receipt_key_file is None else read_key(settings.receipt_key_file)
    except BadKeyFile as error:
        raise CannotStart(f"receipt_key_file: {error}") from error
    if key is not None and key.sign is None:
        raise CannotStart(f"receipt_key_file: {settings.receipt_key_file} holds a public key, which cannot sign")
    receipts = Receipts(distribution_version("rewardline-server"), key, judges.told(panel))

    def stamp(
        item: ScoreItem, references: Mapping[str, Raw], result: Result, book: recipes.Book, pin: Pinned | None
    ) -> None:
        lock = pin.lock if isinstance(pin, Pin) else None
        receipts.stamp(item, references, result, book, CURRENT_REQUEST.get(), lock)

    return stamp


def load_verifiers() -> registry.Registry:
    """Load the verifiers to show them. Their workers are never started."""
    return registry.load(Resources(Workers(1)))


def redis_cache(settings: Settings) -> "RedisCache | None":
    """The shared layer of the cache, not connected yet. None without Redis.

    Raises:
        CannotStart: `redis_url` is wrong.
    """
    if settings.redis_url is None:
        return None
    kind: type[RedisCache] = importlib.import_module("service.cache.redis_cache").RedisCache
    try:
        return kind(settings.redis_url.get_secret_value(), ttl_s=settings.cache_ttl_s)
    except ValueError as error:
        raise CannotStart(f"redis_url: {error}") from error


def _boxes(settings: Settings, usage: Ledger) -> Boxes:
    try:
        return Boxes(kinds(settings), attack, slots=settings.slot_count, usage=usage)
    except BadTlsFiles as error:
        raise CannotStart(f"box_hosts_tls: {error}") from error


def _max_connections() -> int:
    """Connections that callers may hold: most of the files that this process may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MANY_FILES if files == resource.RLIM_INFINITY else min(files, _MANY_FILES) * 3 // 4
