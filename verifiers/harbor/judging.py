"""Runs a task with and without a response, and reads the reward.

    base run   no response: the tests must write a reward, and less than the full one, or the task is `invalid`
    run        the response acts ► all its processes end ► tests come ► they run ► the reward is read

The folders of tests and reward belong to us until the tests come. Files go in and out through the daemon, and a program of
ours ends processes, so no step between the response and its tests uses what a response could replace.

So a reward that is missing after a response is the response's doing: 0. The base run of a task is made once.

A response may make its container so busy that the daemon cannot reach it. Where that happens twice, and a container without
the response answers between, it is the response's doing, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import blake3

from sandbox.base import SandboxUnavailable
from sandbox.containers import NO_SPACE, STARVED, Container, Containers, End, Ended, Task, TaskLimits
from sandbox.containers.base import GIVEN
from sandbox.workers import Exit as WorkerExit
from sandbox.workers import Task as WorkerTask
from sandbox.workers import Workers
from verifiers.base import InvalidItem, Status, Unavailable, Verdict
from verifiers.base_runs import BaseRuns
from verifiers.boxed import WrongResponse
from verifiers.harbor.reference import HarborReference
from verifiers.harbor.rewards import MAX_REWARD_BYTES
from verifiers.harbor.scripts import APPLY, REWARDS, TESTS, Exit, run_tests
from verifiers.harbor.tasks import Config, Files, part
from verifiers.long_texts import ask_workers
from verifiers.repository.changes import Change
from verifiers.repository.given import give_edited, of_change

REWARD: Final = WorkerTask("verifiers.harbor.rewards", "reward_in_worker", time_limit_s=20.0)
_OUR_LIMITS: Final = TaskLimits(cpu_s=600.0, wall_s=600.0)
_AGENT_S: Final = 600.0
_SAID_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class HarborTask:
    """A task with its settings and its image."""

    reference: HarborReference
    files: Files
    config: Config
    image: str

    @property
    def container(self) -> Task:
        environment = self.config.environment
        return Task(
            image=self.image,
            workdir=self.reference.workdir or environment.workdir or "",
            environment=environment.env,
            limits=self.limits(self.config.verifier.timeout_sec),
            network=self.reference.network,
            folders=(TESTS, REWARDS),
        )

    def limits(self, wall_s: float, used_cpu_s: float = 0.0) -> TaskLimits:
        """The limits of one part of the task. CPU seconds are those of the container, so what was used comes on top."""
        return TaskLimits(
            cpu_s=used_cpu_s + 2 * wall_s, wall_s=wall_s, memory_mb=self.config.memory_mb, disk_mb=self.config.disk_mb
        )


@dataclass(frozen=True, slots=True)
class Run:
    """What the tests said."""

    reward: float = 0.0
    reason: str = ""
    """Why there is no reward; empty if there is one."""
    message: str = ""
    is_slow: bool = False
    """Whether it ended at the limit of time without having used as much of a CPU."""
    response_end: str = ""


class _Judged(WrongResponse):
    """The response has decided the run before the tests."""


class _Lost(Exception):
    """The container of a response does not answer, or is gone."""


class Judging:
    """Judges responses in containers."""

    def __init__(self, containers: Containers, workers: Workers) -> None:
        self._containers = containers
        self._workers = workers
        self._base_runs: BaseRuns[None] = BaseRuns()

    async def verdict(self, task: HarborTask, response: str | Change, *, explain: bool, owner: str = "") -> Verdict:
        """The verdict on a script or a change. The base run is remembered for the same owner alone.

        Raises:
            InvalidItem, BadTask, SandboxUnavailable: it was not judged.
        """
        await self._check_base(task, owner)
        return _verdict(task, await self._run_of(task, response), explain=explain)

    async def _check_base(self, task: HarborTask, owner: str) -> None:
        """Check, once per task and owner, that its tests say what they should when nothing was done.

        Raises:
            InvalidItem: they do not.
        """
        image = await self._containers.base(task.container)
        digest = blake3.blake3(f"{owner}\n{image}\n{task.reference.model_dump_json(exclude={'tar', 'files'})}".encode())
        for path, content in sorted(task.files.items()):
            digest.update(f"\n{path}\n{len(content)}\n".encode(errors="surrogateescape") + content)
        await self._base_runs.get(digest.digest(), lambda: self._run_base(task))

    async def _run_base(self, task: HarborTask) -> None:
        run = await self._run(task, None)
        if run.is_slow:
            limit_s = task.config.verifier.timeout_sec
            raise SandboxUnavailable(f"without a response the tests take more than {limit_s:g} s", "too_slow")
        if run.reason:
            raise InvalidItem("base_fails", f"without a response there is no reward: {run.reason}: {run.message}")
        if run.reward >= task.reference.max_reward:
            raise InvalidItem("base_passes", "without a response the tests give the full reward already")

    async def _run_of(self, task: HarborTask, response: str | Change) -> Run:
        """The run of a response. A container that is lost with it is tried again.

        Raises:
            BadTask, InvalidItem, SandboxUnavailable: see `_run`.
        """
        try:
            return await self._run(task, response)
        except _Lost:
            await self._check_daemon(task)
        try:
            return await self._run(task, response)
        except _Lost as error:
            await self._check_daemon(task)
            return Run(reason="container_lost", message=str(error))

    async def _check_daemon(self, task: HarborTask) -> None:
        """Check that a container without a response answers.

        Raises:
            SandboxUnavailable: it does not.
        """
        async with self._containers.open(task.container, {}) as container:
            ended = await container.run(("sh", "-c", "exit 0"), _OUR_LIMITS)
        if ended.exit_code != 0:
            raise SandboxUnavailable(f"a container in which nothing happened does not answer: {ended.end}", "box_died")

    async def _run(self, task: HarborTask, response: str | Change | None) -> Run:
        """Let a response act and run the tests.

        Raises:
            BadTask, InvalidItem, SandboxUnavailable: there is no result, and that is not the response's doing.
            _Lost: the container is lost, and perhaps that is.
        """
        async with self._containers.open(task.container, _given(response)) as container:
            try:
                return await self._run_in(container, task, response)
            except SandboxUnavailable as error:
                if response is None or error.reason in ("preparation_failed", NO_SPACE, STARVED):
                    raise
                raise _Lost(str(error)) from error

    async def _run_in(self, container: Container, task: HarborTask, response: str | Change | None) -> Run:
        try:
            if isinstance(response, Change):
                await give_edited(response, container, self._workers)
            acted = await _act(container, task, response)
        except _Judged as error:
            return Run(reason=error.reason, message=str(error))
        await container.fill(TESTS, part(task.files, "tests"))
        await container.fill(REWARDS, {})
        limits = task.limits(task.config.verifier.timeout_sec, acted.cpu_s if acted else 0.0)
        ended = await container.run(("sh", "-c", run_tests(task.config.verifier.env)), limits)
        response_end = str(acted.end) if acted else ""
        if ended.end is not End.EXITED:
            is_slow = ended.end is End.TIME_LIMIT and ended.cpu_s <= limits.cpu_s
            return Run(reason=str(ended.end), message="the tests meet it", is_slow=is_slow, response_end=response_end)
        return await self._reward(container, task, ended, response_end)

    async def _reward(self, container: Container, task: HarborTask, ended: Ended, response_end: str) -> Run:
        output = ended.output[-_SAID_CHARS:].decode(errors="replace").strip()
        for name in ("reward.json", "reward.txt"):
            content = (await container.read(f"{REWARDS}/{name}", max_bytes=MAX_REWARD_BYTES)).get("")
            if content is None:
                continue
            (outcome,) = await ask_workers(self._workers, REWARD, [[name, content, task.reference.reward_key]])
            if outcome.exit in (WorkerExit.RAISED, WorkerExit.STALLED):
                raise Unavailable(f"worker_{outcome.exit}", outcome.message.partition("\n")[0])
            score, message = (
                outcome.value if outcome.exit is WorkerExit.OK else (0.0, f"reading meets the {outcome.exit}")
            )
            if message:
                return Run(reason="bad_reward", message=message, response_end=response_end)
            if score > task.reference.max_reward:
                message = f"the reward {score:g} is more than max_reward, {task.reference.max_reward:g}"
                return Run(reason="bad_reward", message=message, response_end=response_end)
            return Run(max(score, 0.0), response_end=response_end)
        return Run(reason="no_reward", message=f"the tests wrote none. They said: {output}", response_end=response_end)


async def _act(container: Container, task: HarborTask, response: str | Change | None) -> Ended | None:
    """Let the response act: how its script ended, or None if nothing of it ran.

    Raises:
        _Judged: what it did is decided.
    """
    if isinstance(response, Change):
        await _apply(container)
    if not isinstance(response, str):
        return None
    shell = f"command -v bash >/dev/null && exec bash {GIVEN}/response.sh; exec sh {GIVEN}/response.sh"
    acted = await container.run(("sh", "-c", shell), task.limits(task.config.agent.timeout_sec or _AGENT_S))
    if acted.end in (End.MEMORY_LIMIT, End.DISK_LIMIT):
        raise _Judged(str(acted.end), "the script of the response meets it")
    if not await container.end_others():
        raise _Judged("not_ended", "a process of the response is there after its end")
    return acted


async def _apply(container: Container) -> None:
    applied = await container.run(("sh", f"{GIVEN}/apply.sh"), _OUR_LIMITS)
    output = applied.output[-_SAID_CHARS:].decode(errors="replace").strip()
    if applied.end is End.TIME_LIMIT and applied.cpu_s <= _OUR_LIMITS.cpu_s:
        raise SandboxUnavailable("the change could not be applied in time", "preparation_failed")
    if applied.end is not End.EXITED:
        raise _Judged(str(applied.end), "the change meets it while it is applied")
    if applied.exit_code == Exit.NO_TOOL:
        raise InvalidItem("bad_image", "the image has neither git nor patch, so no diff can be applied in it")
    if applied.exit_code == Exit.FORBIDDEN:
        raise _Judged("forbidden_path", output)
    if applied.exit_code != Exit.DONE:
        raise _Judged("patch_failed", output)


def _given(response: str | Change | None) -> dict[str, bytes]:
    """The files of a run before the tests, by path below `sandbox.containers.base.EXCHANGE`."""
    if isinstance(response, str):
        return {"given/response.sh": response.encode(errors="replace")}
    if response is None:
        return {}
    return {"given/apply.sh": APPLY.encode(), **of_change(response)}


def _verdict(task: HarborTask, run: Run, *, explain: bool) -> Verdict:
    detail: Mapping[str, Any] = {"reward": run.reward} if not run.reason else {}
    if run.message:
        detail = {**detail, "message": run.message[:_SAID_CHARS]}
    if explain and run.response_end:
        detail = {**detail, "response_end": run.response_end}
    if run.reason:
        return Verdict.wrong(run.reason, **detail)
    score = run.reward / task.reference.max_reward
    if score >= 1.0:
        return Verdict.correct(**detail)
    return Verdict(Status.OK, score, "partial" if score else "tests_failed", None, detail)
