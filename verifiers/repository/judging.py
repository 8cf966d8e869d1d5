"""Runs a task with and without a change, and says what the tests say.

    base run   no change: the tests of `fail_to_pass` fail, those of `pass_to_pass` pass, or the task is `invalid`
    run        the change applied, the tests restored, the tests run: their states are the verdict
    twin run   if that would earn something: the same with the tests turned around, which must fail (negation.py); it runs
               beside the run where two containers have room

The base run of a task is made once and remembered (`verifiers.base_runs`). So a task whose tests cannot pass in its image,
or pass anyhow, is never a score, whatever the response was.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import blake3

from sandbox.base import Sandbox, SandboxUnavailable
from sandbox.containers import Container, Containers, End, Ended, Task, TaskLimits, TooLarge
from sandbox.workers import Exit as WorkerExit
from sandbox.workers import Task as WorkerTask
from sandbox.workers import Workers
from verifiers.base import InvalidItem, Status, Unavailable, Verdict
from verifiers.base_runs import BaseRuns
from verifiers.boxed import unread
from verifiers.long_texts import BROKEN_LIMITS, ask_workers
from verifiers.repository import negation, reports
from verifiers.repository.changes import Change
from verifiers.repository.given import give_edited, lines, of_change
from verifiers.repository.globs import matches
from verifiers.repository.protection import Protection, name_of
from verifiers.repository.reference import RepositoryReference
from verifiers.repository.reports import ReportPlan, State, UnreadableReport, programs
from verifiers.repository.reports.formats import FILE_END, MAX_REPORT_BYTES, PROGRAM, literal_folder
from verifiers.repository.reports.signed import CHANGED
from verifiers.repository.scripts import PREPARE, Exit, run_command, tests_script

STATES: Final = WorkerTask(
    "verifiers.repository.reports.formats", "report_in_worker", time_limit_s=60.0, output_bytes=MAX_REPORT_BYTES
)
NEGATE: Final = WorkerTask(
    "verifiers.repository.negation", "negate_in_worker", time_limit_s=60.0, output_bytes=MAX_REPORT_BYTES
)
_MOST_SOURCES: Final = 200
_SHOWN: Final = 20
_SAID_CHARS: Final = 300

_CANNOT_RUN: Final = (126, 127)
_KILLED: Final = 137
_INVALID: Final = {
    Exit.NO_GIT: ("bad_image", "the image has no git, which applies patches"),
    Exit.NO_REPOSITORY: ("bad_image", "the working directory of the image is not the top of a checkout of git"),
    Exit.OTHER_COMMIT: ("wrong_base", "the repository of the image is not built upon base_commit; it is at"),
    Exit.TEST_PATCH_FAILED: ("bad_test_patch", "the test_patch does not apply:"),
}


@dataclass(frozen=True, slots=True)
class Guard:
    """Tests that were turned around before a change came, so that a right change fails them."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    """The text of their files by path."""
    tests: frozenset[str] = frozenset()
    expecting: frozenset[str] = frozenset()
    """Those of them whose file says that tests may be expected to fail."""
    absent: frozenset[str] = frozenset()
    """Tests that their file does not have, whatever it imports."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of the tests said."""

    states: Mapping[str, State]
    reason: str = ""
    """Why the tests did not get to their end, or said nothing; empty if they did."""
    message: str = ""
    cpu_s: float = 0.0
    is_whole: bool = True
    """Whether the runner has come to its end, as far as its report says it."""
    is_sound: bool = False
    """Whether a test that must fail was run, and failed."""
    codes: Mapping[str, str] = field(default_factory=dict)
    """Digests of the code of tests, see `reports.Report`."""
    inspections: frozenset[str] = frozenset()
    """The same, of the code that looks at tests."""
    sources: Mapping[str, bytes] = field(default_factory=dict)
    """The text of files that were asked for, as they are before the tests run."""
    guard: Guard = Guard()

    def passes(self, test: str, base: "Run | None" = None) -> bool:
        """Whether a test passes. One that gives up must have given up before the change: code under test can do that."""
        state = self.states.get(test)
        gave_up = base is None or base.states.get(test) is State.GAVE_UP
        return state in (State.PASSED, State.XFAILED) or (state is State.GAVE_UP and gave_up)

    def keeps(self, test: str, base: "Run | None" = None) -> bool:
        """Whether a test of `pass_to_pass` is as it should be. One that is skipped in this image stays skipped."""
        was_skipped = base is None or base.states.get(test) is State.SKIPPED
        return self.passes(test, base) or (was_skipped and self.states.get(test) is State.SKIPPED)


class Judging:
    """Judges changes in containers."""

    def __init__(self, containers: Containers, workers: Workers, sandbox: Sandbox) -> None:
        self._containers = containers
        self._workers = workers
        self._sandbox = sandbox
        self._base_runs: BaseRuns[Run] = BaseRuns()
        self._base_twins: BaseRuns[Run] = BaseRuns()

    async def verdict(
        self,
        reference: RepositoryReference,
        change: Change,
        *,
        explain: bool,
        owner: str = "",
        may_be_unguarded: bool = True,
        may_inspect: bool = True,
    ) -> Verdict:
        """The verdict on a change. The base run is remembered for the same owner alone.

        A change that would earn something is run again, with the tests turned around.

        Raises:
            InvalidItem, BadTask, Unavailable, SandboxUnavailable: it was not judged.
        """
        base = await self.base_run(reference, owner)
        unguarded = [test for test in _asked(reference) if test not in base.guard.tests]
        if unguarded and not may_be_unguarded:
            message = f"{len(unguarded)} tests cannot be turned around, so nothing guards them: {unguarded[0][:80]!r}"
            raise InvalidItem("unguarded", message)
        async with self._twin_run(reference, change, base.guard) as twin_run:
            run = await self._run(reference, change)
            verdict = _verdict(reference, base, run, explain=explain)
            if not verdict.score:
                return verdict
            twin = await twin_run()
        doubt = _doubt(base, run, twin, tests=_asked(reference)) or await self._forged(reference, base, twin, owner)
        if doubt is not None:
            return _verdict(reference, base, doubt, explain=explain)
        inspections = sorted((run.inspections | twin.inspections) - base.inspections)
        if inspections and not may_inspect:
            return Verdict.wrong("inspects_tests", **verdict.detail, inspects_tests=inspections[:_SHOWN])
        guarded = _with_guard(verdict, reference, base, run, twin, inspections)
        if "unguarded" in guarded.detail and not may_be_unguarded:
            return Verdict.wrong(
                "unguarded", **guarded.detail, message=f"the twin run has not judged them: {twin.reason}"
            )
        return guarded

    @asynccontextmanager
    async def _twin_run(
        self, reference: RepositoryReference, change: Change, guard: Guard
    ) -> AsyncIterator[Callable[[], Awaitable[Run]]]:
        """What waits for the twin run. It has begun where nobody else wants its container, and ends with the block."""

        async def run() -> Run:
            return await self._run(reference, change, turned=guard.files) if guard.files else Run({})

        if not guard.files or self._containers.waiting or self._containers.free < 2:
            yield run
            return
        running = asyncio.ensure_future(run())
        try:
            yield lambda: running
        finally:
            running.cancel()
            await asyncio.wait([running])
            if not running.cancelled():
                running.exception()  # if nobody has waited for it, nobody wants it

    async def _forged(self, reference: RepositoryReference, base_run: Run, twin: Run, owner: str) -> Run | None:
        """What is wrong if tests pass both as they are and turned around. Those that do so without a change say nothing."""
        odd = [test for test in base_run.guard.tests if _is_odd(test, base_run, twin)]
        if odd:
            key = await self._key(reference, owner)
            base = await self._base_twins.get(key, lambda: self._run(reference, Change(), turned=base_run.guard.files))
            odd = [test for test in odd if not (base_run.passes(test) and base.passes(test))]
        if not odd:
            return None
        return Run(
            {}, "forged", f"{len(odd)} tests pass as they are and turned around: {_named(odd, twin)}", twin.cpu_s
        )

    async def base_run(self, reference: RepositoryReference, owner: str = "") -> Run:
        """The run without a change, of a task that can be judged.

        Raises:
            InvalidItem, BadTask: the task cannot be judged.
        """
        key = await self._key(reference, owner)
        return await self._base_runs.get(key, lambda: self._checked_base_run(reference))

    async def _key(self, reference: RepositoryReference, owner: str) -> bytes:
        image = await self._containers.base(_task(reference))
        fields = reference.model_dump_json(exclude={"patch", "scoring"})
        return blake3.blake3(f"{owner}\n{image}\n{fields}".encode()).digest()

    async def _checked_base_run(self, reference: RepositoryReference) -> Run:
        locations = negation.places(
            _asked(reference), reference.log_format, reference.log_options.get("names", "whole")
        )
        files = sorted({file for file, _ in locations.values()})[:_MOST_SOURCES]
        run = await self._run(reference, Change(), sources=files)
        if run.reason == End.TIME_LIMIT and run.cpu_s <= reference.cpu_s:
            raise SandboxUnavailable(f"without a change the tests take more than {reference.wall_s:g} s", "too_slow")
        if run.reason:
            raise InvalidItem("base_fails", f"without a change the tests give no result: {run.reason}: {run.message}")
        broken = [test for test in reference.pass_to_pass if not run.keeps(test)]
        if broken:
            raise InvalidItem(
                "base_fails", f"without a change {len(broken)} of pass_to_pass do not pass: {_named(broken, run)}"
            )
        if reference.fail_to_pass and all(run.passes(test) for test in reference.fail_to_pass):
            raise InvalidItem("base_passes", "without a change all of fail_to_pass pass already")
        guard = await self._guard(run.sources, locations)
        is_ours = Protection(reference).covers
        missing = [
            test
            for test in reference.fail_to_pass
            if test in locations
            and is_ours(locations[test][0])
            and locations[test][0] in files
            and _is_missing(test, locations[test], run, guard)
        ]
        if missing:
            raise InvalidItem("no_such_test", f"{len(missing)} of fail_to_pass are not there: {missing[0][:200]!r}")
        states = {test: run.states[test] for test in _asked(reference) if test in run.states}
        codes = {test: run.codes[test] for test in locations if test in run.codes and is_ours(locations[test][0])}
        return replace(run, states=states, codes=codes, sources={}, guard=guard)

    async def _guard(self, sources: Mapping[str, bytes], locations: Mapping[str, tuple[str, str]]) -> Guard:
        """The tests at these places turned around, as far as they can be.

        Raises:
            Unavailable: no worker could do it.
        """
        files = list(sources)
        payload = [[sources[file], sorted({test for at, test in locations.values() if at == file})] for file in files]
        (outcome,) = await ask_workers(self._workers, NEGATE, [payload])
        if outcome.exit is WorkerExit.STALLED:
            raise unread(outcome)
        if outcome.exit is not WorkerExit.OK:
            return Guard()
        turned = dict(zip(files, outcome.value, strict=True))
        negated = {(file, test) for file, (_, tests, _, _) in turned.items() for test in tests}
        absent = {(file, test) for file, (_, _, _, tests) in turned.items() for test in tests}
        guarded = {name for name, location in locations.items() if location in negated}
        return Guard(
            {file: text for file, (text, tests, _, _) in turned.items() if tests},
            frozenset(guarded),
            frozenset(name for name in guarded if turned[locations[name][0]][2]),
            frozenset(name for name, location in locations.items() if location in absent),
        )

    async def _run(
        self,
        reference: RepositoryReference,
        change: Change,
        *,
        turned: Mapping[str, bytes] | None = None,
        sources: Sequence[str] = (),
    ) -> Run:
        """Apply a change and run the tests: with `turned`, with these files in their place, and in another order. `sources`
        are files whose text is wanted.

        Raises:
            InvalidItem, BadTask, Unavailable, SandboxUnavailable: there is no result, and that is not the change's doing.
        """
        nonce = _nonce(is_turned=turned is not None)
        plan = reports.plan(reference.log_format, reference.log_options, nonce, _files_of_tests(reference))
        files = await asyncio.to_thread(_given, reference, change, plan, turned or {}, sources)
        async with self._containers.open(_task(reference), files) as container:
            await give_edited(change, container, self._workers)
            mark = secrets.token_hex(16)
            command = run_command(mark, reference.base_commit or "")
            prepared, ended = _parts(await container.run(command, report=plan.report or "", prepared=mark), mark)
            if ended is None:
                limit = await container.met_limit() if prepared.exit_code == _KILLED else None
                prepared = replace(prepared, end=limit) if limit else prepared
                return _refusal(prepared, reference, has_change=bool(change.paths))
            contents = {
                path: text
                for number, path in enumerate(sources, 1)
                if (text := await container.fetch(f"source-{number}", max_bytes=MAX_REPORT_BYTES)) is not None
            }
            if ended.end is not End.EXITED:
                return Run({}, str(ended.end), "", ended.cpu_s)
            try:
                report = ended.report or await _fetched(container, plan)
            except TooLarge as error:
                return Run({}, str(End.OUTPUT_LIMIT), f"the report is too large: {error}", ended.cpu_s)
            run = await self._read(reference, nonce, ended, report)
            if run.reason == "no_report" or not run.is_whole:
                limit = await container.met_limit()
                run = replace(run, reason=str(limit), message="") if limit else run
        return replace(run, sources=contents)

    async def _read(self, reference: RepositoryReference, nonce: str, ended: Ended, report: bytes | None) -> Run:
        """What the tests reported.

        Raises:
            Unavailable, SandboxUnavailable: nothing could read it.
        """
        if reference.log_format == PROGRAM:
            return await self._read_by_program(reference, ended)
        options = {**reference.log_options, "nonce": nonce}
        payload = [reference.log_format, options, ended.output, report]
        (outcome,) = await ask_workers(self._workers, STATES, [payload])
        if outcome.exit is not WorkerExit.OK and outcome.exit not in BROKEN_LIMITS:
            raise Unavailable(f"worker_{outcome.exit}", outcome.message.partition("\n")[0])
        if outcome.exit is not WorkerExit.OK:
            return Run({}, str(End.OUTPUT_LIMIT), f"reading the report meets the {outcome.exit}", ended.cpu_s)
        kind, message, states, is_whole, is_sound, codes, inspections = outcome.value
        if kind == "forged":
            return Run({}, "forged", message, ended.cpu_s)
        if not states:
            return _no_report(message, ended)
        state_of = {name: State(state) for name, state in states.items()}
        return Run(
            state_of,
            cpu_s=ended.cpu_s,
            is_whole=is_whole,
            is_sound=is_sound,
            codes=codes,
            inspections=frozenset(inspections),
        )

    async def _read_by_program(self, reference: RepositoryReference, ended: Ended) -> Run:
        try:
            report = await programs.report_of(self._sandbox, reference.log_options, ended.output, reference.image)
        except UnreadableReport as error:
            return _no_report(str(error), ended)
        return Run(report.states, cpu_s=ended.cpu_s) if report.states else _no_report("", ended)


def _no_report(message: str, ended: Ended) -> Run:
    output = ended.output[-_SAID_CHARS:].decode(errors="replace").strip()
    return Run({}, "no_report", f"{message or 'no test reported'}. The command said: {output}", ended.cpu_s)


async def _fetched(container: Container, plan: ReportPlan) -> bytes | None:
    """The report file of a run; None if there is none."""
    if plan.workspace_report is not None:
        folder, pattern = literal_folder(plan.workspace_report)
        files = await container.read(
            folder or ".", max_bytes=MAX_REPORT_BYTES, is_wanted=lambda path: matches(path, (pattern,))
        )
        return FILE_END.join(files[path] for path in sorted(files)) if files else None
    return None if plan.report is None else await container.fetch(plan.report, max_bytes=MAX_REPORT_BYTES)


def _parts(ended: Ended, mark: str) -> tuple[Ended, Ended | None]:
    """How the two parts of a `run_command` ended: what prepares the repository, and the tests; None if these did not begin."""
    before, has_mark, behind = ended.output.partition(mark.encode())
    word, _, output = behind.partition(b"\n")
    # An engine that could not begin the command may show it, and the mark in it.
    if not has_mark or not (word.strip() or b"0").isdigit():
        return ended, None
    code = int(word or -1)
    prepared = replace(ended, end=End.EXITED, exit_code=code, output=before)
    return prepared, replace(ended, output=output) if code == Exit.DONE else None


def _refusal(prepared: Ended, reference: RepositoryReference, *, has_change: bool) -> Run:
    """The result if the change cannot be applied. What went well without a change is the change's fault.

    Raises:
        InvalidItem: the task is at fault.
        Unavailable: nobody is.
    """
    output = prepared.output[-_SAID_CHARS:].decode(errors="replace").strip()
    code = prepared.exit_code
    is_slow = prepared.end is End.TIME_LIMIT and prepared.cpu_s <= reference.cpu_s
    if prepared.end is not End.EXITED and has_change and not is_slow:
        return Run({}, str(prepared.end), "the change meets it while it is applied", prepared.cpu_s)
    if prepared.end is not End.EXITED:
        raise SandboxUnavailable(f"the repository could not be prepared: {prepared.end}", "preparation_failed")
    if code == Exit.PATCH_FAILED or (has_change and code == Exit.TEST_PATCH_FAILED):
        return Run({}, "patch_failed", output)
    if code == Exit.FORBIDDEN:
        return Run({}, "forbidden_path", output)
    if code in _CANNOT_RUN and not has_change:
        raise InvalidItem("bad_image", f"the image cannot run sh in workdir: {output}")
    fault = {int(exit_code): entry for exit_code, entry in _INVALID.items()}.get(code or 0)
    if fault is not None:
        raise InvalidItem(fault[0], f"{fault[1]} {output}".strip())
    raise SandboxUnavailable(f"the repository could not be prepared ({code}): {output}", "preparation_failed")


def _nonce(*, is_turned: bool) -> str:
    """A key for a report. Its last digit says whether the order of the tests is turned around."""
    return secrets.token_hex(32)[:-1] + secrets.choice("13579bdf" if is_turned else "02468ace")


def _is_missing(test: str, location: tuple[str, str], run: Run, guard: Guard) -> bool:
    """Whether there is no such test, whatever a change does: the files of tests are the task's."""
    file, path = location
    if test in run.states:
        return False
    if file not in run.sources:
        return "::" in test and not any(name.partition("::")[0] == file for name in run.states)
    is_collected = any(name.startswith(f"{file}::") for name in run.states)
    return test in guard.absent or (is_collected and "::" not in path and test not in guard.tests)


def _doubt(base: Run, run: Run, twin: Run, *, tests: Sequence[str]) -> Run | None:
    """What is wrong with a run that would earn something; None if nothing is."""
    changed = [test for test in tests if test in run.codes and run.codes[test] != base.codes.get(test, "")]
    changed = [test for test in changed if run.codes[test] == CHANGED or test in base.codes]
    if changed:
        message = f"{len(changed)} tests are not those that their files have: {_named(changed, run)}"
        return replace(run, reason="forged", message=message)
    if not run.is_whole:
        return replace(run, reason="no_report", message="the test runner has not come to its end")
    if base.is_sound and not run.is_sound:
        return replace(run, reason="forged", message="the test that must fail was not run")
    return twin if twin.reason == "forged" else None


def _is_odd(test: str, base: Run, twin: Run) -> bool:
    """Whether a test that is turned around has passed."""
    state = twin.states.get(test)
    if state in (State.XFAILED, State.GAVE_UP):
        return test not in base.guard.expecting and base.states.get(test) is not state
    return state is State.PASSED


def _with_guard(
    verdict: Verdict, reference: RepositoryReference, base: Run, run: Run, twin: Run, inspections: Sequence[str]
) -> Verdict:
    """The verdict. It counts the tests that passed, and that no twin run guards, and names code that looks at tests."""
    passed = [test for test in _asked(reference) if run.passes(test, base)]
    unguarded = [test for test in passed if test not in base.guard.tests or test not in twin.states]
    detail = dict(verdict.detail)
    if unguarded:
        detail["unguarded"] = f"{len(unguarded)}/{len(passed)}"
    if inspections:
        detail["inspects_tests"] = inspections[:_SHOWN]
    return Verdict(verdict.status, verdict.score, verdict.reason, verdict.extracted, detail)


def _files_of_tests(reference: RepositoryReference) -> set[str]:
    names = reference.log_options.get("names", "whole")
    files = {file for file, _ in negation.places(_asked(reference), reference.log_format, names).values()}
    return files.union(reference.test_files)


def _asked(reference: RepositoryReference) -> Sequence[str]:
    return (*reference.fail_to_pass, *reference.pass_to_pass)


def _verdict(reference: RepositoryReference, base: Run, run: Run, *, explain: bool) -> Verdict:
    detail: dict[str, Any] = {}
    failing, passing = reference.fail_to_pass, reference.pass_to_pass
    fixed = sum(run.passes(test, base) for test in failing)
    broken = [test for test in passing if not run.keeps(test, base)]
    if not run.reason:
        detail = {
            "fail_to_pass": f"{fixed}/{len(failing)}",
            "pass_to_pass": f"{len(passing) - len(broken)}/{len(passing)}",
        }
    elif run.message:
        detail = {"message": run.message[:_SAID_CHARS]}
    if explain:
        detail["tests"] = _explained(base, run, (*failing, *passing))
        detail["cpu_s"] = round(run.cpu_s, 2)
    if run.reason:
        return Verdict.wrong(run.reason, **detail)
    if fixed == len(failing) and not broken:
        return Verdict.correct(**detail)
    if reference.scoring == "fraction" and not broken and fixed:
        return Verdict(Status.OK, fixed / len(failing), "tests_failed", None, detail)
    return Verdict.wrong("tests_broken" if broken and fixed == len(failing) else "tests_failed", **detail)


def _explained(base: Run, run: Run, tests: Sequence[str]) -> list[dict[str, str]]:
    """The tests, those first that did not pass, as far as a verdict has room for them."""
    order = sorted(tests, key=lambda test: run.passes(test, base))
    return [
        {
            "test": test[:200],
            "before": base.states.get(test, "missing"),
            "after": run.states.get(test, "missing"),
        }
        for test in order[:_SHOWN]
    ]


def _named(tests: Sequence[str], run: Run) -> str:
    return ", ".join(f"{test[:80]!r} ({run.states.get(test, 'missing')})" for test in tests[:3])


def _task(reference: RepositoryReference) -> Task:
    return Task(
        image=reference.image,
        workdir=reference.workdir,
        setup=reference.setup,
        environment=reference.environment,
        limits=TaskLimits(reference.cpu_s, reference.wall_s, reference.memory_mb, reference.disk_mb),
        network=reference.network,
    )


def _given(
    reference: RepositoryReference,
    change: Change,
    plan: ReportPlan,
    turned: Mapping[str, bytes],
    sources: Sequence[str],
) -> dict[str, bytes]:
    """The files of a run, by path below `sandbox.containers.base.EXCHANGE`."""
    protection = Protection(reference)
    protected = sorted(path for path in change.paths if protection.covers(path))
    tests = {path: text.encode() for path, text in reference.test_files.items()} | dict(turned)
    environment = {**reference.environment, **_joined(reference.environment, plan.environment)}
    modules = {f"{module}\t{name_of(module)}\t{path}" for path in change.paths for module in protection.modules(path)}
    sent: dict[str, bytes] = {
        "prepare.sh": PREPARE.encode(),
        "tests.patch": (reference.test_patch or "").encode(),
        "protected": lines(protected),
        "shadows": lines(f"{shadow}\t{path}" for path in sorted(change.paths) if (shadow := protection.shadows(path))),
        "modules": lines(sorted(modules)),
        "reports": lines(filter(None, [plan.workspace_report])),
        "tests": lines(tests),
        "sources": lines(sources),
        "tests.sh": tests_script(reference.test_command, environment, plan.arguments).encode(),
    }
    if any(" " in path for path in change.paths):
        sent["exactly"] = b""  # `patch` would read another name than ours
    sent |= {f"test-{n}": text for n, text in enumerate(tests.values(), 1)}
    files = {f"given/{name}": content for name, content in sent.items()} | of_change(change)
    return {**files, **plan.files}


def _joined(task_variables: Mapping[str, str], planned: Mapping[str, str]) -> dict[str, str]:
    """The variables of the plan, before what the task itself has there."""
    separators = {"PYTHONPATH": ":", "PYTEST_ADDOPTS": " "}
    return {
        name: separators[name].join(filter(None, (value, task_variables.get(name, ""))))
        if name in separators
        else value
        for name, value in planned.items()
    }
