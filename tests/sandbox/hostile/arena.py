"""Runs attacks: a process with the real verifier and real boxes of one kind, and canaries around them.

It is a program of its own, `python -m tests.sandbox.hostile.arena SETUP`, which `wall` starts. It prints one line of
JSON for each attack with what was wrong about it, and one line at the end.

    two attacks, and beside them a right program ──► what they printed, what became of the canaries
    in every box after them, a right program     ──► must pass
    `then`, in every box                         ──► must not be touched

No attack runs before the sandbox's own self-check, with harmless attacks, has succeeded.
"""

import asyncio
import contextlib
import itertools
import json
import os
import sys
import traceback
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import docker
import requests

from sandbox import self_check
from sandbox.base import Built, Program, Run, RunResult, Sandbox
from sandbox.boxes.backend import Backend, BoxSize
from sandbox.boxes.docker import DockerBackend
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from sandbox.workers import Workers
from tests.sandbox.hostile import attacks, outside
from tests.sandbox.hostile.attacks import Attack, Judgement
from tests.sandbox.hostile.outside import Canaries
from tests.waiting import PATIENCE_S, eventually
from verifiers.base import Item, Resources, Status, Verdict
from verifiers.code import Code, CodeParams, create
from verifiers.code.judging import Terms

SLOTS: Final = 3
TOGETHER: Final = 2
_SIZE: Final = BoxSize(memory_mb=1024, processes=128, disk_mb=128)
_BACKSTOP_S: Final = 3.0
"""The wall time limit, instead of the service's own: a program that sleeps until then shows nothing more by sleeping
longer. gVisor is slow, and has the service's limit."""
_TEMPLATES: Final = 3
"""The forks of a box with users of its own: the original, the template for the next job, and that of the last job
until it is collected."""
_FORKS_FOR_JOBS: Final = 2
"""The forks if all processes have one user: the one of the present job, and the one that waits for the next."""
_RUNNERS: Final = ("sandbox.runner.zygote", "sandbox.boxes.local.forkserver")
"""A runner was started with this module, or forked from such a process."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings of the arena."""

    backend: str
    """docker or local."""
    ids: Sequence[str]
    """The ids of the attacks."""
    runtime: str | None = None
    address: str = ""
    owner: str = ""
    tier: str = "namespaces"
    python: str | None = None
    state_dir: str = ""
    fresh: bool = False
    """Each program has a box of its own, which is forked and used once."""
    rows: str = ""
    """A file of attacks, instead of the usual ones."""


@dataclass(slots=True)
class BoxOutput:
    """What came out of boxes for one item."""

    texts: list[str] = field(default_factory=list)

    def add(self, *parts: bytes | str | None) -> None:
        self.texts += [part.decode(errors="replace") if isinstance(part, bytes) else part for part in parts if part]


class ShortWallTimeParams(CodeParams):
    """Parameters of `code` with which programs may sleep for less long than usual."""

    def terms(self, *, explain: bool = False) -> Terms:
        terms = super().terms(explain=explain)
        return replace(terms, limits=replace(terms.limits, wall_s=max(_BACKSTOP_S, 3 * self.time_limit_s)))


_output: ContextVar[BoxOutput] = ContextVar("output")


class RecordingSandbox(Sandbox):
    """A sandbox that records its results."""

    def __init__(self, inner: PooledSandbox) -> None:
        self.inner = inner

    async def start(self) -> None:
        await self.inner.start()
        self.isolation, self.caveats = self.inner.isolation, self.inner.caveats

    async def stop(self) -> None:
        await self.inner.stop()

    @property
    def languages(self) -> frozenset[str]:
        return self.inner.languages

    @property
    def slots(self) -> int:
        return self.inner.slots

    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        output = _output.get()

        def listen(position: int, result: RunResult) -> bool:
            output.add(result.stdout, result.stderr, result.value, *(test.message for test in result.tests))
            output.add(*result.files.values())
            return on_result is None or on_result(position, result)

        built = await self.inner.run(program, runs, listen)
        output.add(built.message)
        return built


class Arena:
    """Runs attacks one after the other."""

    def __init__(self, setup: Setup, verifier: Code, around: Canaries) -> None:
        self._setup = setup
        self._verifier = verifier
        self._outside = around
        self._known = _living()

    async def judged(self, judgement: Judgement, *, explain: bool = False) -> tuple[Verdict, list[str]]:
        """The verdict, and all output of the boxes."""
        output = BoxOutput()
        _output.set(output)
        kind = CodeParams if self._setup.runtime else ShortWallTimeParams
        params = kind.model_validate({"reference": judgement.reference, **judgement.params})
        try:
            (verdict,) = await self._verifier.score([Item(judgement.response, params, None, explain)])
        except Exception as error:  # noqa: BLE001 - the service would answer `failed`
            verdict = Verdict.failed("raised", repr(error))
        output.add(json.dumps(verdict.detail))
        return verdict, output.texts

    async def let_loose(self, group: Sequence[Attack]) -> dict[str, list[str]]:
        """Run attacks, and return what was wrong about each. Faults that are found outside, or happen in here, count
        for all attacks of the group.
        """
        try:
            async with asyncio.timeout(2 * PATIENCE_S):
                return await self._let_loose(group)
        except TimeoutError:
            return {attack.id: ["it never came to an end"] for attack in group}
        except Exception as error:  # noqa: BLE001 - the other groups shall have their turn
            traceback.print_exc()
            return {attack.id: [f"the arena raised {error!r}"] for attack in group}

    async def _let_loose(self, group: Sequence[Attack]) -> dict[str, list[str]]:
        neighbour = asyncio.create_task(self.judged(attacks.right_program(group[0]), explain=True))
        ended = await asyncio.gather(*(self.judged(attack.program, explain=attack.runs_every_test) for attack in group))
        troubles = {attack.id: self._troubles(attack, *found) for attack, found in zip(group, ended, strict=True)}
        shared = _unless_passed("a neighbour was disturbed", (await neighbour)[0])
        for attack in group:
            after = await self._in_every_box(attacks.right_program(attack), explain=True)
            shared += [line for found in after for line in _unless_passed("the next program was disturbed", found[0])]
            if attack.then is not None:
                troubles[attack.id] += await self._afterwards(attack, attack.then)
        shared += self._outside.touched()
        shared += await self._strays()
        return {name: own + shared for name, own in troubles.items()}

    def _troubles(self, attack: Attack, verdict: Verdict, texts: list[str]) -> list[str]:
        found = self._outside.secrets_in(texts)
        if verdict.status is not Status.OK:
            found.append(f"no verdict: {verdict.status} {verdict.reason} {verdict.detail}")
        elif verdict.score:
            found.append(f"an unearned pass: {verdict.score}")
        found += [f"got through: {line}" for line in attack.got_through(texts)]
        if not attack.shows_itself(texts):
            found.append(f"the attack did not come to its end: {verdict.reason} {[text[-300:] for text in texts]}")
        return found

    async def _afterwards(self, attack: Attack, then: Judgement) -> list[str]:
        found = []
        for verdict, texts in await self._in_every_box(then):
            found += [f"got through to the next: {line}" for line in attack.got_through(texts)]
            if verdict.status is not Status.OK or (verdict.score == 1.0) is not attack.then_passes:
                found.append(f"the next was judged {verdict.status} {verdict.score} {verdict.reason} {verdict.detail}")
        return found

    async def _in_every_box(self, judgement: Judgement, *, explain: bool = False) -> list[tuple[Verdict, list[str]]]:
        """Judge as many items at once as there are boxes, so that each box gets one."""
        return await asyncio.gather(*(self.judged(judgement, explain=explain) for _ in range(SLOTS)))

    async def _strays(self) -> list[str]:
        """Processes that still exist some time after the last run."""
        try:
            await asyncio.to_thread(eventually, lambda: not self._more_than_runners(), self._more_than_runners)
        except AssertionError as error:
            return [f"processes are left: {error}"]
        return []

    def _more_than_runners(self) -> list[str]:
        if self._setup.backend == "docker":
            return [] if self._setup.runtime else _in_containers(self._setup)
        return _in_boxes(self._known)


def _unless_passed(what: str, verdict: Verdict) -> list[str]:
    return [] if verdict.score == 1.0 else [f"{what}: {verdict.status} {verdict.reason} {verdict.detail}"]


class _Process(NamedTuple):
    parent: int
    state: str
    uid: str
    command: str


def _living() -> dict[int, _Process]:
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
            uid = (process / "status").read_text().partition("\nUid:\t")[2].split()[0]
            command = (process / "cmdline").read_text().replace("\0", " ")
            found[int(process.name)] = _Process(int(parent), state, uid, command)
    return found


def _in_boxes(known: Iterable[int]) -> list[str]:
    """Processes of runs in local boxes, and orphans that were adopted outside of them.

    An idle box has a keeper, a runner, and the process that the runner's programs are forked from, which has the
    runner's own user. A box that is forked has no keeper.
    """
    living = _living()
    keepers = {pid for pid, process in living.items() if process.parent == os.getpid()}
    runners = {
        pid: process
        for pid, process in living.items()
        if (process.parent in keepers or pid in keepers) and process.command.rstrip().endswith(_RUNNERS)
    }
    if not runners:
        return ["there is no box, to know which processes are none of a program's"]
    found = {pid for pid, process in living.items() if process.parent <= 1} - set(known)
    most = _TEMPLATES if os.getuid() == 0 else _FORKS_FOR_JOBS
    for runner, itself in runners.items():
        own = sorted(pid for pid, process in living.items() if process.parent == runner and process.uid == itself.uid)
        found |= _descendants(living, {runner}) - set(own[:most])
    return [f"{pid} {living[pid].state} {living[pid].command[-200:]}" for pid in found if pid not in keepers]


def _descendants(living: dict[int, _Process], ancestors: set[int]) -> set[int]:
    found: set[int] = set()
    while more := {pid for pid, process in living.items() if process.parent in ancestors | found} - found:
        found |= more
    return found


def _in_containers(setup: Setup) -> list[str]:
    """Processes in containers that run now. If the daemon does not answer, this says so."""
    try:
        with contextlib.closing(docker.APIClient(setup.address, version="auto")) as client:
            return _processes_of(client, setup.owner)
    except (docker.errors.DockerException, requests.RequestException) as error:
        return [f"nobody knows, as the daemon said {error!r}"[:300]]


def _processes_of(client: docker.APIClient, owner: str) -> list[str]:
    found = []
    for container in client.containers(filters={"label": f"rewardline.owner={owner}"}):
        with contextlib.suppress(docker.errors.APIError):  # the container is being removed
            processes = client.top(container["Id"])["Processes"] or []  # there are none if the container has just ended
            found += [" ".join(process)[:200] for process in processes[1 + _FORKS_FOR_JOBS :]]
    return found


def _backend(setup: Setup) -> Backend:
    if setup.backend == "docker":
        return DockerBackend(_SIZE, runtime=setup.runtime, owner=setup.owner, address=setup.address)
    return LocalBackend(_SIZE, setup.python, setup.tier, Path(setup.state_dir))  # type: ignore[arg-type]


@contextlib.asynccontextmanager
async def _open_sandbox(setup: Setup) -> AsyncIterator[tuple[RecordingSandbox, Code]]:
    workers = Workers(1)
    sandbox = RecordingSandbox(PooledSandbox(_backend(setup), slots=SLOTS, fresh=setup.fresh))
    verifier = create(Resources(workers, sandbox))
    await workers.start()
    try:
        await sandbox.start()
        yield sandbox, verifier
    finally:
        await sandbox.stop()
        await workers.stop()


def _mounts() -> set[str]:
    return set(Path("/proc/self/mountinfo").read_text().splitlines())


def _names(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []


def _tell(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


def _groups(chosen: Sequence[Attack]) -> Iterable[Sequence[Attack]]:
    """Groups of two attacks. Sleepers are together with sleepers. An attack that must be searched for in its own box
    is alone.
    """
    ordered = sorted(chosen, key=lambda attack: attack.id not in attacks.SLEEPERS)
    for is_alone, several in itertools.groupby(ordered, key=lambda attack: attack.then is not None):
        row = list(several)
        size = 1 if is_alone else TOGETHER
        yield from (row[start : start + size] for start in range(0, len(row), size))


async def _main(setup: Setup) -> None:
    mounts = _mounts()
    with outside.put_up() as around:
        async with _open_sandbox(setup) as (sandbox, verifier):
            _output.set(BoxOutput())
            report = await self_check.check(sandbox, self_check.SHORT)
            broken = [finding.detail for finding in report.findings if not finding.held]
            _tell(isolation=sandbox.isolation, caveats=list(sandbox.caveats), broken=broken)
            if broken:
                return
            files = [Path(setup.rows)] if setup.rows else attacks.FILES
            chosen = [attack for attack in attacks.load(around.substitutes, files) if attack.id in setup.ids]
            able = [attack for attack in chosen if attack.language in sandbox.languages]
            _tell(left_out=[attack.id for attack in chosen if attack not in able])
            arena = Arena(setup, verifier, around)
            for group in _groups(able):
                for name, troubles in (await arena.let_loose(group)).items():
                    _tell(id=name, troubles=troubles)
        ending = around.touched()
    ending += [f"a mount is left: {line}" for line in _mounts() - mounts]
    ending += [f"left of the boxes: {name}" for name in _names(setup.state_dir)]
    _tell(ending=ending)


if __name__ == "__main__":
    asyncio.run(_main(Setup(**json.loads(sys.argv[1]))))
    os._exit(0)
