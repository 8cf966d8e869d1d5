"""The containers of tasks that bring their own image, made from the settings, and their counts."""

import asyncio
from functools import partial
from typing import Final

import structlog

from fairness import TENANT
from sandbox.base import SandboxUnavailable
from sandbox.containers import Containers, Meter, NoContainers
from sandbox.containers.docker import DockerContainers
from sandbox.containers.images import ImageRules
from service.limits.budgets import Measure
from service.observe.metrics import Metrics
from service.settings import Settings
from service.tenant import RUN
from service.usage.ledger import REASON, Ledger

STATES: Final = ("unknown", "ready", "lost", "absent")
_LOOK_S: Final = 5.0
_NO_TASKS: Final = "tasks cannot be run: items of `repository` and `harbor` will be `failed`"

log = structlog.get_logger("rewardline.tasks")


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
    return DockerContainers(
        settings.repository_docker_host or settings.docker_host,
        slots=settings.repository_slots,
        memory_mb=settings.repository_memory_mb,
        cpus=settings.repository_cpus,
        disk_mb=settings.repository_disk_mb,
        runtime=settings.repository_runtime or settings.docker_runtime,
        rules=ImageRules(
            settings.repository_pull,
            tuple(settings.repository_images),
            settings.repository_images_mb,
            may_build=settings.harbor_build,
        ),
        may_network=settings.repository_network,
        meter=Budgeted(usage),
    )


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
        before = self.state
        try:
            await self._containers.check()
        except SandboxUnavailable as error:
            self.state = "lost" if before in ("ready", "lost") else "absent"
            if self.state != before:
                say = log.warning if self.state == "lost" else log.info
                say(_NO_TASKS, daemon=self.state, why=str(error))
        else:
            self.state = "ready"
            if before == "lost":
                log.warning("the Docker daemon of tasks is back")
            elif before != "ready":
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
