"""Chooses, checks and starts the boxes of this service, while everything else is already served.

    starting ──► ready ◄──► lost    ready: the first kind of boxes that starts and passes the self-check
         │                      lost: the boxes are gone; the service tries again and again to make others
         └─► unavailable        no kind works: programs are refused with the reason, never run unprotected

Verifiers hold this object from the start. A program that comes while boxes are starting waits for them.
"""

import asyncio
import contextlib
import importlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fairness import TENANT
from sandbox import self_check
from sandbox.base import Built, Program, Run, RunResult, Sandbox, SandboxUnavailable
from sandbox.boxes.backend import Backend, BoxSize
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import Counters, PooledSandbox
from sandbox.boxes.remote import TlsFiles
from sandbox.versions import find_versions
from service.backends import docker_library
from service.cancellation import cancel
from service.limits.budgets import Measure
from service.observe.metrics import Metrics
from service.settings import Settings
from service.tenant import RUN
from service.usage.ledger import REASON, Ledger
from tracing.lines import Log

if TYPE_CHECKING:
    from sandbox.boxes.remote.remote import RemoteSandbox  # its library is loaded only where there are box hosts

STATES: Final = ("starting", "ready", "lost", "unavailable")

_LOOK_S: Final = 1.0
_LOGGED: Final = ("kind", "isolation", "caveats", "languages", "slots")

log = Log("rewardline.boxes")


async def attack(sandbox: Sandbox) -> self_check.Report:
    """The report of a quick self-check.

    Raises:
        SandboxUnavailable: the self-check could not run its programs.
    """
    return await self_check.check(sandbox, self_check.SHORT)


Held: TypeAlias = "PooledSandbox | RemoteSandbox"


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to have boxes."""

    name: str
    make: Callable[[], Held]
    checks_itself: bool = False
    """Whether its boxes have been attacked where they run."""
    load: Callable[[], object] = lambda: None
    """Loads what `make` needs, in a thread. It raises SandboxUnavailable if the kind cannot be had here."""


def kinds(settings: Settings) -> list[Kind]:
    """The kinds of boxes that the settings allow, the strongest first.

    Raises:
        BadTlsFiles: the certificates for box hosts cannot be used.
    """
    if settings.box_hosts:
        _tls_files(settings).context()
        return [Kind("remote", lambda: _remote(settings), checks_itself=True)]
    all_kinds = [
        Kind("docker", lambda: _pooled(settings, _docker(settings)), load=lambda: _load_docker(settings)),
        Kind("local", lambda: _pooled(settings, _local(settings))),
    ]
    return [kind for kind in all_kinds if settings.sandbox in ("auto", kind.name)]


def variants(settings: Settings) -> list[Kind]:
    """Every kind of boxes that the settings allow, one by one, for checks of this machine."""
    ways = {
        "docker": settings.model_copy(update={"sandbox": "docker", "docker_runtime": None}),
        "docker runsc": settings.model_copy(update={"sandbox": "docker", "docker_runtime": "runsc"}),
        "local namespaces": settings.model_copy(update={"sandbox": "local", "local_tier": "namespaces"}),
        "local landlock": settings.model_copy(update={"sandbox": "local", "local_tier": "landlock"}),
    }
    return [
        replace(kinds(way)[0], name=name) for name, way in ways.items() if settings.sandbox in ("auto", way.sandbox)
    ]


def _pooled(settings: Settings, backend: Backend) -> PooledSandbox:
    return PooledSandbox(
        backend,
        slots=settings.slot_count,
        fresh=settings.sandbox_isolation == "fresh",
        jobs_per_box=settings.jobs_per_box,
        box_max_age_s=settings.box_max_age_s,
        standing=settings.box_standing,
    )


def _remote(settings: Settings) -> "RemoteSandbox":
    kind: type[RemoteSandbox] = importlib.import_module("sandbox.boxes.remote.remote").RemoteSandbox
    key = settings.box_hosts_key
    return kind(
        settings.box_hosts,
        None if key is None else key.get_secret_value(),
        slots=settings.slot_count,
        tls_files=_tls_files(settings),
    )


def _tls_files(settings: Settings) -> TlsFiles:
    return TlsFiles(settings.box_hosts_tls_ca, settings.box_hosts_tls_cert, settings.box_hosts_tls_key)


def _local(settings: Settings) -> LocalBackend:
    python = None if settings.local_python is None else str(settings.local_python)
    return LocalBackend(_size(settings), python, settings.local_tier)


def _docker(settings: Settings) -> Backend:
    size, image, runtime = _size(settings), settings.docker_image, settings.docker_runtime
    backend: Backend = _load_docker(settings).DockerBackend(size, image, runtime, address=settings.docker_host)
    return backend


def _load_docker(settings: Settings) -> Any:
    return docker_library.load("sandbox.boxes.docker", settings.docker_host, "sandbox_unavailable")


def _size(settings: Settings) -> BoxSize:
    return BoxSize(settings.box_memory_mb, settings.box_processes, settings.box_disk_mb)


class Boxes(Sandbox):
    """The sandbox of the service: the first of `kinds` that works here."""

    def __init__(
        self,
        kinds: Sequence[Kind],
        check: Callable[[Sandbox], Awaitable[self_check.Report]],
        *,
        slots: int = 1,
        usage: Ledger | None = None,
    ) -> None:
        """`check(sandbox)` attacks a sandbox. `slots` is the number of boxes until a kind is chosen. CPU seconds are
        counted in `usage`.
        """
        self._usage = Ledger() if usage is None else usage
        self._kinds = kinds
        self._check = check
        self._slots = slots
        self._chosen: tuple[str, Held] | None = None
        self._why = "" if kinds else "this service was started without boxes for programs (setting `sandbox`)"
        self._starting: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._versions: Mapping[str, str] = {}
        self._refused: dict[str, str] = {}
        """The kinds that were tried and cannot be had, with the reasons."""
        self._stopped: Sequence[str] | None = None
        """The attacks of the self-check, all of which the boxes stopped."""
        self.cpu_s = 0.0
        """CPU seconds that programs in boxes have used so far, in runs with a result."""

    @property
    def state(self) -> str:
        """The state: `starting`, `ready`, `lost` (boxes may come back), or `unavailable` (there will be none)."""
        if self._chosen is not None:
            return "lost" if self._chosen[1].trouble else "ready"
        return "unavailable" if self._why else "starting"

    @property
    def why(self) -> str:
        """The reason why there are no boxes, from the start or just now."""
        return self._chosen[1].trouble if self._chosen is not None else self._why

    @property
    def languages(self) -> frozenset[str]:
        return self._chosen[1].languages if self._chosen else frozenset()

    @property
    def slots(self) -> int:
        return 0 if self._why else self._slots

    @property
    def counters(self) -> Counters:
        return self._chosen[1].counters if self._chosen else Counters()

    def states(self) -> Mapping[str, float]:
        """The number of boxes in each state."""
        if self._chosen is None:
            return {}
        pool = self._chosen[1]
        return {"ready": pool.ready, "busy": pool.busy, "standing": pool.standing}

    @property
    def waiting(self) -> int:
        """The number of programs that wait for a box."""
        return self._chosen[1].waiting if self._chosen else 0

    def publish(self, metrics: Metrics) -> None:
        """Publish the counts of the boxes as metrics."""
        metrics.watch_states("sandbox_state", "State of the boxes: 1 for the current one", STATES, lambda: self.state)
        metrics.watch_gauges("boxes", "Boxes, by what they do now", self.states, "state")
        metrics.watch("box_slots", "Boxes that may work at once", lambda: self.slots)
        metrics.watch("box_waiting_programs", "Programs waiting for a box", lambda: self.waiting)
        metrics.watch_total("box_cpu_seconds", "CPU seconds used by programs in boxes", lambda: self.cpu_s)
        for name, about in (
            ("boxes_started", "Boxes started"),
            ("starts_failed", "Boxes that could not be started"),
            ("jobs", "Programs put into a box"),
            ("jobs_again", "Programs done again, as their box died"),
            ("refused", "Programs refused, as too many were waiting"),
            ("compile_cache_hits", "Programs whose compilation was at hand"),
            ("compile_cache_misses", "Programs that were compiled"),
        ):
            prefix = "" if name.startswith("boxes") else "box_"
            metrics.watch_total(f"{prefix}{name}", about, partial(self._counted, name))
        metrics.watch_totals("boxes_ended", "Boxes taken out of service", lambda: self.counters.boxes_ended, "reason")
        metrics.watch_totals("box_runs", "Runs of programs, by how they ended", lambda: self.counters.runs, "exit")

    def _counted(self, name: str) -> float:
        return float(getattr(self.counters, name))

    def describe(self) -> dict[str, Any]:
        """A description for callers: where programs run, and how well that isolates them."""
        described: dict[str, Any] = {
            "state": self.state,
            "kind": None,
            "isolation": None,
            "caveats": [],
            "languages": sorted(self.languages),
            "versions": self._versions,
            "slots": self.slots,
            "message": self.why,
            "kinds": [{"kind": kind.name, "standing": self._standing(kind.name)} for kind in self._kinds],
            "refused": self._refused,
            "attacks_stopped": self._stopped,
            "boxes": self.states(),
            "waiting_programs": self.waiting,
        }
        if self._chosen is not None:
            kind, pool = self._chosen
            described |= {"kind": kind, "isolation": pool.isolation, "caveats": list(pool.caveats)}
        return described

    def ask_versions(self) -> None:
        """Begin to ask compilers and interpreters for their versions, once. They are in the description later."""
        if self.state == "ready" and self._asking is None:
            self._asking = asyncio.create_task(self._find_versions())

    async def _find_versions(self) -> None:
        assert self._chosen is not None
        try:
            self._versions = await find_versions(self._chosen[1])
        except SandboxUnavailable as error:
            log.info("no versions of compilers", why=str(error))
            self._asking = None  # the next request asks again

    def _standing(self, kind: str) -> str:
        if kind in self._refused:
            return "refused"
        if self._chosen is None:
            return "starting"
        return "used" if self._chosen[0] == kind else "not tried"

    async def start(self) -> None:
        """Begin to start the boxes. Returns at once."""
        if self._kinds:
            self._starting = asyncio.create_task(self._choose_or_say())

    async def report(self) -> None:
        """Say in the log when the boxes are lost, and when there are some again. It never returns."""
        previous = self.state
        while True:
            await asyncio.sleep(_LOOK_S)
            if (now := self.state) == previous:
                continue
            if now == "lost":
                log.warning("the boxes are lost: items that need a box will be `failed`", why=self.why)
            elif previous == "lost" and now == "ready":
                log.warning("the boxes are back")
            previous = now

    async def settled(self) -> None:
        """Wait until the boxes are ready, or are known to be unavailable. They begin to start now if they have not."""
        if self._starting is None:
            await self.start()
        if self._starting is not None:
            await asyncio.wait([self._starting])

    async def stop(self) -> None:
        await cancel(self._starting)
        await cancel(self._asking)
        chosen, self._chosen, self._why = self._chosen, None, "the service is stopping"
        if chosen is not None:
            await chosen[1].stop()

    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        await self.settled()
        if self._chosen is None:
            raise SandboxUnavailable(self._why or "the boxes are not started")
        refusal = self._usage.refusal((Measure.CPU_S,))
        if refusal is not None:
            raise SandboxUnavailable(refusal.message, REASON, **refusal.detail)
        owned = program if program.owner else replace(program, owner=TENANT.get())  # a front names the owner itself
        used_s = 0.0

        def count(position: int, result: RunResult) -> bool:
            nonlocal used_s
            used_s += result.cpu_s
            return True if on_result is None else on_result(position, result)

        try:
            built = await self._chosen[1].run(owned, runs, count)
            used_s += 0.0 if built.cached else built.cpu_s
        finally:  # also what a caller that has gone has used
            self.cpu_s += used_s
            if used_s:
                self._usage.note(TENANT.get(), RUN.get(), {Measure.CPU_S: used_s})
        return built

    async def _choose_or_say(self) -> None:
        try:
            await self._choose()
        except Exception:
            log.exception("starting the boxes raised")
            self._why = "starting the boxes raised; the server's log has the traceback"

    async def _choose(self) -> None:
        for kind in self._kinds:
            try:
                await asyncio.to_thread(kind.load)
                pool = kind.make()
                await self._try(pool, checked=kind.checks_itself)
            except SandboxUnavailable as error:
                log.info("no such boxes", kind=kind.name, why=str(error))
                self._refused[kind.name] = str(error)
                continue
            self._chosen = (kind.name, pool)
            self.isolation, self.caveats = pool.isolation, pool.caveats
            described = {name: value for name, value in self.describe().items() if name in _LOGGED and value}
            log.info("boxes are ready", **described)
            return
        self._why = "; ".join(f"{name}: {why}" for name, why in self._refused.items())
        log.error("programs cannot be run: items that need a box will be `failed`", why=self._why)

    async def _try(self, pool: Held, *, checked: bool) -> None:
        async with contextlib.AsyncExitStack() as undo:
            undo.push_async_callback(pool.stop)
            await pool.start()
            if not checked:
                self._stopped = _all_stopped(await self._check(pool))
            undo.pop_all()


def _all_stopped(report: self_check.Report) -> list[str]:
    """The names of the attacks.

    Raises:
        SandboxUnavailable: one of them got through.
    """
    broken = [f"{finding.name}: {finding.detail}" for finding in report.findings if not finding.held]
    if broken:
        raise SandboxUnavailable(f"the self-check found attacks that these boxes do not stop: {'; '.join(broken)}")
    return [finding.name for finding in report.findings]
