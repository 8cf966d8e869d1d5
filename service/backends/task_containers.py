"""The containers of tasks that bring their own image, made from the settings, and their counts."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fairness import TENANT
from sandbox.base import SandboxUnavailable
from sandbox.containers import Container, Containers, Counters, Files, Meter, NoContainers, Task
from service.backends import docker_library
from service.limits.budgets import Measure
from service.observe.metrics import Metrics
from service.settings import Settings
from service.tenant import RUN
from service.usage.ledger import REASON, Ledger
from tracing.lines import Log

if TYPE_CHECKING:
    from sandbox.containers.docker import DockerContainers  # `docker_library` loads it
STATES: Final = ("unknown", "ready", "lost", "absent")
_LOOK_S: Final = 5.0
_NO_TASKS: Final = "tasks cannot be run: items of `repository` and `harbor` will be `failed`"

log = Log("rewardline.tasks")


class Budgeted(Meter):
    """What a tenant and its run may use."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def check(self) -> None:
        refusal = self._ledger.refusal((Measure.CPU_S,))
        if refusal is not None:
            raise SandboxUnavailable(refusal.message, REASON, **refusal.detail)

    def note(self, cpu_s: float) -> None:
        if cpu_s:
            self._ledger.note(TENANT.get(), RUN.get(), {Measure.CPU_S: cpu_s})


def make(settings: Settings, usage: Ledger) -> Containers:
    """The containers that the settings allow. Nothing is asked of a daemon yet. `usage` counts CPU seconds."""
    if not settings.repository_slots:
        return NoContainers()
    return LateContainers(settings, usage)


class LateContainers(Containers):
    """The containers of a Docker daemon, loaded when the first is asked for."""

    def __init__(self, settings: Settings, usage: Ledger) -> None:
        self.counters = Counters()
        self.slots = settings.repository_slots
        self._settings = settings
        self._usage = usage
        self._loaded: DockerContainers | None = None

    @property
    def waiting(self) -> int:
        return self._loaded.waiting if self._loaded else 0

    @property
    def running(self) -> int:
        return self._loaded.running if self._loaded else 0

    @property
    def free(self) -> int:
        return self._loaded.free if self._loaded else self.slots

    @property
    def pulling(self) -> int:
        return self._loaded.pulling if self._loaded else 0

    async def base(self, task: Task) -> str:
        return await (await self._held()).base(task)

    async def check(self) -> None:
        await (await self._held()).check()

    async def build(self, context: Mapping[str, bytes]) -> str:
        return await (await self._held()).build(context)

    @asynccontextmanager
    async def open(self, task: Task, files: Files) -> AsyncIterator[Container]:
        async with (await self._held()).open(task, files) as container:
            yield container

    async def stop(self) -> None:
        if self._loaded is not None:
            await self._loaded.stop()

    async def _held(self) -> "DockerContainers":
        if self._loaded is None:
            address = self._settings.repository_docker_host or self._settings.docker_host
            library = await asyncio.to_thread(
                docker_library.load, "sandbox.containers.docker", address, "containers_unavailable"
            )
            if self._loaded is None:  # nobody else has made it meanwhile
                self._loaded = self._made(library, address)
        return self._loaded

    def _made(self, library: Any, address: str) -> "DockerContainers":
        settings = self._settings
        rules = library.ImageRules(
            settings.repository_pull,
            tuple(settings.repository_images),
            settings.repository_images_mb,
            may_build=settings.harbor_build,
        )
        containers: DockerContainers = library.DockerContainers(
            address,
            slots=settings.repository_slots,
            spares=settings.repository_slots,
            memory_mb=settings.repository_memory_mb,
            cpus=settings.repository_cpus,
            disk_mb=settings.repository_disk_mb,
            runtime=settings.repository_runtime or settings.docker_runtime,
            rules=rules,
            may_network=settings.repository_network,
            meter=Budgeted(self._usage),
            counters=self.counters,
        )
        return containers


class DaemonWatch:
    """Whether the Docker daemon of tasks answers. Changes are said in the log.

    unknown ──► ready ◄──► lost        lost: it has answered before
       └──► absent ──► ready           absent: it has never answered, or there are to be no containers
    """

    def __init__(self, containers: Containers) -> None:
        self.state = "unknown"
        self._containers = containers

    async def run(self) -> None:
        """Ask it again and again."""
        await self._look()
        while self._containers.slots:
            await asyncio.sleep(_LOOK_S)
            await self._look()

    async def _look(self) -> None:
        previous = self.state
        try:
            await self._containers.check()
        except SandboxUnavailable as error:
            self.state = "lost" if previous in ("ready", "lost") else "absent"
            if self.state != previous:
                say = log.warning if self.state == "lost" else log.info
                say(_NO_TASKS, daemon=self.state, why=str(error))
        else:
            self.state = "ready"
            if previous == "lost":
                log.warning("the Docker daemon of tasks is back")
            elif previous != "ready":
                log.info("containers of tasks are ready", slots=self._containers.slots)


def publish(containers: Containers, watch: DaemonWatch, metrics: Metrics) -> None:
    """Publish the counts of the containers as metrics."""
    metrics.watch_states(
        "task_daemon_state", "State of the Docker daemon of tasks: 1 for the current one", STATES, lambda: watch.state
    )
    metrics.watch("task_slots", "Containers of tasks that may run at once", lambda: containers.slots)
    metrics.watch("tasks_running", "Tasks that have a container", lambda: containers.running)
    metrics.watch("tasks_waiting", "Tasks waiting for a container", lambda: containers.waiting)
    metrics.watch("task_images_pulling", "Images of tasks that are being pulled", lambda: containers.pulling)
    for name, about in (
        ("started", "Containers of tasks started"),
        ("removed", "Containers of tasks removed"),
        ("killed_left_behind", "Containers of tasks that killed services left behind, removed"),
        ("bases_made", "Images made of the setup of a task"),
        ("images_pulled", "Images of tasks pulled"),
        ("pulls_failed", "Images of tasks that could not be pulled"),
        ("pulled_bytes", "Bytes of images pulled"),
        ("images_built", "Images built from Dockerfiles of tasks"),
        ("builds_failed", "Dockerfiles of tasks that could not be built"),
        ("images_evicted", "Images of tasks removed for want of room"),
        ("cpu_seconds", "CPU seconds used by containers of tasks"),
        ("starved_seconds", "Seconds in which commands of tasks were ready to run and got no CPU"),
    ):
        metrics.watch_total(f"task_{name}", about, partial(_counted, containers, name))
    metrics.watch_totals(
        "task_commands", "Commands in containers of tasks, by how they ended", lambda: _ends(containers), "end"
    )


def _counted(containers: Containers, name: str) -> float:
    return float(getattr(containers.counters, name))


def _ends(containers: Containers) -> dict[str, float]:
    return {end: float(count) for end, count in containers.counters.ends.items()}
