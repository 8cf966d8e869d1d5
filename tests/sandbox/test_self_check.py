"""The self-check, against sandboxes that are wrong in one way or another, and against real boxes."""

import asyncio
import os
import resource
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from sandbox import self_check
from sandbox.base import (
    Built,
    Execute,
    Exit,
    Isolation,
    Program,
    Run,
    RunResult,
    Sandbox,
    SandboxUnavailable,
    TestOutcome,
    Tests,
)
from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from sandbox.self_check import reach
from sandbox.self_check.attack import run_and_parse

NEEDS_ROOT = frozenset() if os.geteuid() == 0 else frozenset({"privileges"})
"""What a program that is run as the service does can do only if that is root."""


class PlainSubprocess(Sandbox):
    """What the self-check exists to find out: programs have all the rights of the service."""

    isolation = Isolation.NAMESPACES
    cpu_s = 2
    """So that the attack that computes for ever ends some time."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    @property
    def languages(self) -> frozenset[str]:
        return frozenset({"python"})

    @property
    def slots(self) -> int:
        return 2

    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        for position, run in enumerate(runs):
            result = await (self.tested(program, run) if isinstance(run, Tests) else self.executed(program, run))
            if on_result is not None:
                on_result(position, result)
        return Built(True)

    async def executed(self, program: Program, run: Run) -> RunResult:
        arguments = run.arguments if isinstance(run, Execute) else ()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", program.source, *arguments, cwd=directory, preexec_fn=self.end_some_time,
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            stdout, stderr = await process.communicate()
        assert process.returncode is not None
        if process.returncode < 0:
            return RunResult(Exit.SIGNALLED, signal=-process.returncode, stdout=stdout, stderr=stderr)
        return RunResult(Exit.EXITED, process.returncode, stdout=stdout, stderr=stderr)

    def end_some_time(self) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (self.cpu_s, self.cpu_s))

    async def tested(self, program: Program, run: Tests) -> RunResult:
        """The verdict is the exit code of the program and its tests in one process."""
        cases = [Program(program.source + "\n" + case) for case in run.cases]
        results = [await self.executed(case, Execute()) for case in cases]
        outcomes = [TestOutcome(str(at), result.code == 0) for at, result in enumerate(results)]
        return RunResult(Exit.EXITED, 0, tests=outcomes, complete=True)


class Believing(PlainSubprocess):
    """What a program writes to its standard error is its result."""

    async def executed(self, program: Program, run: Run) -> RunResult:
        result = await super().executed(program, run)
        return RunResult(Exit.EXITED, 0, stdout=b"forged") if b"forged" in result.stderr else result


class Deaf(PlainSubprocess):
    """No program comes to say anything."""

    async def executed(self, program: Program, run: Run) -> RunResult:
        return RunResult(Exit.EXITED, 1, stderr=b"no room")


class Unbuilding(PlainSubprocess):
    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        return Built(False, "no such language")


class Unavailable(PlainSubprocess):
    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        raise SandboxUnavailable("gone")


def through(report: self_check.Report) -> set[str]:
    return {finding.name for finding in report.findings if not finding.held}


@pytest.mark.boxes
async def test_a_sandbox_that_protects_nothing_fails_every_attack_but_the_one_on_its_results() -> None:
    report = await self_check.check(PlainSubprocess())
    assert not report.held
    assert {finding.name for finding in report.findings} - through(report) == {"forged_results"} | NEEDS_ROOT


async def test_a_sandbox_that_believes_its_programs_fails_the_attack_on_its_results() -> None:
    (attack,) = [attack for attack in self_check.ATTACKS if attack.name == "forged_results"]
    with self_check.outside() as outside:
        assert await attack.carry_out(PlainSubprocess(), outside) == ""
        assert "made up" in await attack.carry_out(Believing(), outside)


@pytest.mark.parametrize(
    ("name", "attempts"),
    [
        ("other_processes", ["the limits of a neighbour", "a signal to a neighbour"]),
        ("attributes", ["the processors of a neighbour", "the priority of a neighbour"]),
    ],
)
async def test_a_neighbour_is_got_at_where_nothing_stands_before_it(name: str, attempts: Sequence[str]) -> None:
    (attack,) = [attack for attack in self_check.ATTACKS if attack.name == name]
    with self_check.outside() as outside:
        reached = await attack.carry_out(PlainSubprocess(), outside)
    assert set(attempts) <= set(reached.split(", "))


@pytest.mark.boxes
@pytest.mark.parametrize("name", ["threads", "sleep", "errors", "disk", "many_files"])
async def test_a_sandbox_without_limits_fails_the_longer_attacks(name: str) -> None:
    (attack,) = [attack for attack in self_check.ATTACKS if attack.name == name]
    sandbox = PlainSubprocess()
    sandbox.cpu_s = 60
    with self_check.outside() as outside:
        assert await attack.carry_out(sandbox, outside) != ""


@pytest.mark.parametrize("sandbox", [Deaf(), Unbuilding()])
async def test_an_attack_that_comes_to_no_end_shows_nothing_in_favour_of_the_sandbox(sandbox: Sandbox) -> None:
    report = await self_check.check(sandbox, self_check.LONG)
    assert {finding.name for finding in report.findings} == through(report)


async def test_a_sandbox_that_cannot_be_had_is_no_finding() -> None:
    with pytest.raises(SandboxUnavailable):
        await self_check.check(Unavailable())


async def test_what_a_kind_of_sandbox_does_not_promise_is_left_out_and_named() -> None:
    sandbox = Deaf()
    sandbox.isolation = Isolation.LANDLOCK
    report = await self_check.check(sandbox, self_check.LONG)
    assert "disk" in report.not_promised
    assert not {finding.name for finding in report.findings} & set(report.not_promised)
    assert (await self_check.check(Deaf(), self_check.LONG)).not_promised == []


def test_every_attack_says_what_it_tries_and_has_a_name_of_its_own() -> None:
    names = [attack.name for attack in self_check.ATTACKS]
    assert len(set(names)) == len(names)
    assert all(attack.tries.endswith(".") for attack in self_check.ATTACKS)


@pytest.fixture(params=[False, True], ids=["shared", "fresh"])
async def boxes(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[PooledSandbox]:
    backend = LocalBackend(tier="namespaces", state_dir=tmp_path / "state")
    sandbox = PooledSandbox(backend, slots=2, fresh=request.param)
    try:
        await sandbox.start()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    yield sandbox
    await sandbox.stop()


@pytest.mark.boxes(beyond=1)
@pytest.mark.parametrize("source", [reach.PROCESSES, reach.ATTRIBUTES], ids=["processes", "attributes"])
async def test_a_process_of_the_box_that_has_the_neighbours_number_is_no_neighbour(
    boxes: PooledSandbox, source: str
) -> None:
    with self_check.outside() as outside:
        for own in ("1", "os.getppid()", *(f"os.getpid() + {n}" for n in range(6))):
            assert (await run_and_parse(boxes, f'FACTS["neighbour"] = {own}\n{source}', outside))[1] == "", own


@pytest.mark.boxes
async def test_boxes_made_of_namespaces_hold(boxes: PooledSandbox) -> None:
    report = await self_check.check(boxes, self_check.LONG)
    assert [finding for finding in report.findings if not finding.held] == []
