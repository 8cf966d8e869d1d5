"""Does the runs of a program: each is a forked process, confined, watched, and gone before the next one.

descriptors of a run    0 a sealed file    1, 2 pipes    for calls also 3 arguments, 4 value
of one that waits       0 a pipe           1, 2 pipes
of the candidate        0 an empty file    1, 2 pipes    3 requests    4 replies
of the tester           0 an empty file    1, 2 nowhere  3 requests    4 replies    5 outcomes    6 the connection
                                                                                    7 all tests are read
"""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from sandbox.runner.configuration import Configuration
from sandbox.runner.errors import BoxUnusable
from sandbox.runner.isolation import confinement, kernel
from sandbox.runner.isolation.confinement import Jail
from sandbox.runner.process import measures
from sandbox.runner.process.child import TesterChannels
from sandbox.runner.process.forks import Forker, Order, Task
from sandbox.runner.process.later_input import LaterInput
from sandbox.runner.process.limits import RunLimits
from sandbox.runner.process.programs import Program
from sandbox.runner.process.shared_page import RUN, TESTER, SharedPage
from sandbox.runner.process.supervision import End, Reason, Result, StartedRun, Stream, Supervisor
from sandbox.runner.process.workspace import Workspace, read_files
from sandbox.runner.requests import Call, Execute

_MOST_USERS_OF_JOB: Final = 1024
"""A job with more runs than this shares user ids with a later job. By then nothing of the first job is left."""

MAX_VALUE_BYTES: Final = 16 << 20
MAX_OUTCOMES_BYTES: Final = 16 << 20

Entry = tuple[Any, ...]
"""What a child does once it is confined, see `child.run_entry`."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rules:
    """Descriptors of Landlock's rulesets; None without Landlock."""

    run: int | None = None
    test: int | None = None
    sharing_test: int | None = None
    """Of tests that share the program's directory."""


class Runs:
    """Does the runs of one box."""

    def __init__(
        self,
        configuration: Configuration,
        workspace: Workspace,
        supervisor: Supervisor,
        rules: Rules,
        forker: Forker,
        shared_page: SharedPage,
        environment: Mapping[str, str],
    ) -> None:
        """Make it when the runner has its final size in memory.

        Args:
            configuration: Of the box.
            workspace: The directories of runs.
            supervisor: Watches the runs.
            rules: Confine the runs.
            forker: Forks the runs.
            shared_page: Tells the supervisor the pids of runs, and whether a run got as far as becoming the program.
            environment: Of programs that are executed.
        """
        self._configuration = configuration
        self._workspace = workspace
        self._supervisor = supervisor
        self._rules = rules
        self._forker = forker
        self._shared_page = shared_page
        self._environment = environment
        self._number = 0
        self._own_uid = os.getuid()
        self._other_threads = 0
        self._data_bytes = measures.data_bytes()
        self._resident_bytes = measures.resident_bytes(os.getpid())
        self._nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)

    def skip_user_ids(self) -> None:
        """From now on, give runs other users than a fork of this process gives to its runs."""
        self._number += _MOST_USERS_OF_JOB

    def count_threads(self, following: int | None) -> None:
        """Count the threads of the runs' user that do not belong to runs, if runs share the runner's user.

        Args:
            following: The fork that waits for the next job. It counts even before it is made. None: there is none.
        """
        if self._configuration.single_uid:
            threads = measures.threads_of_user(self._own_uid, excluded_pid=following)
            self._other_threads = threads + (following is not None)

    def execute(self, program: Program, request: Execute) -> Result:
        entry: Entry = ("execute", request.arguments, program.environment)
        if not program.is_python:
            entry = self._start(program, request.arguments)
        later = LaterInput(request.stdin) if request.waits else None
        inputs = [request.stdin if later is None else later]
        run = self._prepare(program, request.limits, {**program.files, **request.files}, inputs)
        end = self._watch(run, entry, later, is_last=request.last)
        if later is not None and not later.is_complete:
            end = replace(end, reason=Reason.KILLED)
        stdout, stderr = run.outputs
        fetched = read_files(self._workspace.run, request.fetch) if request.fetch else {}
        return Result(end, stdout, stderr, fetched=fetched)

    def call(self, program: Program, request: Call) -> Result:
        entry = ("call", request.function, program.environment) if program.is_python else self._start(program, ())
        run = self._prepare(program, request.limits, program.files, [b"", request.arguments], has_value=True)
        end = self._watch(run, entry, is_last=request.last)
        stdout, stderr, value = run.outputs
        return Result(end, stdout, stderr, value=value or None)

    def tests(
        self, program: Program, limits: RunLimits, source: int, length: int, *, shares_files: bool = False
    ) -> Result:
        """Run tests. They are the next `length` bytes from `source`; the tester reads them itself.

        With `shares_files` they work in the program's directory, which is then open to both users.

        Raises:
            BoxUnusable: the tester did not read all of them, so it is unknown where the next request begins in the
                stream.
        """
        if not program.is_python:
            raise BoxUnusable("tests can run against Python programs only")
        if self._forker.are_confined:
            raise BoxUnusable("tests in a job that was announced without tests")
        candidate = self._prepare(program, limits, program.files, [b""], is_open=shares_files)
        tester = self._prepare_tester(limits.for_tests())
        if shares_files:
            tester = replace(tester, directory=candidate.directory, ruleset=self._rules.sharing_test)
        requests, replies = os.pipe2(os.O_CLOEXEC), os.pipe2(os.O_CLOEXEC)
        channels = TesterChannels(requests=3, replies=4, outcomes=5, source=6, taken=7, length=length)
        candidates, testers = self._started(candidate, RUN), self._started(tester, TESTER)
        jail = self._jail(replace(candidate, inner=[*candidate.inner, requests[0], replies[1]]))
        entry = ("serve", 3, 4, program.environment, candidate.directory if shares_files else None)
        outcomes_end, taken_end = tester.inner[1:]
        descriptors = [
            tester.inner[0],
            self._nothing,
            self._nothing,
            requests[1],
            replies[0],
            outcomes_end,
            source,
            taken_end,
        ]
        tester_jail = self._jail(replace(tester, inner=descriptors))
        tester_entry = ("test", tuple(channels), self._workspace.test)
        orders = [self._order(RUN, candidate, jail, entry), self._order(TESTER, tester, tester_jail, tester_entry)]
        self._supervisor.prepare()
        # Fork one right after the other: pages written to in between would have to be copied once more.
        for order in orders:
            self._forker.fork(order)
        self._forker.finish()
        for descriptor in (*candidate.inner, *tester.inner, *requests, *replies):
            os.close(descriptor)
        end, test_end = self._supervisor.watch_tests(candidates, testers)
        stdout, stderr = candidate.outputs
        outcomes, taken_bytes = tester.outputs
        if not taken_bytes:
            raise BoxUnusable("the tester did not read all of the tests")
        if end.reason is None and test_end.reason is not None:
            end = replace(end, reason=test_end.reason)
        return Result(end, stdout, stderr, tests=outcomes)

    def _prepare(
        self,
        program: Program,
        limits: RunLimits,
        files: Mapping[str, bytes],
        inputs: Sequence[bytes | LaterInput],
        *,
        has_value: bool = False,
        is_open: bool = False,
    ) -> "_PreparedRun":
        """Prepare a run of a program: descriptors 0 and 3 hold the inputs, 1, 2 and 4 are pipes."""
        self._number += 1
        is_warm = program.is_python
        uid = self._uid(0)
        since = time.monotonic()
        with self._workspace.creating(self._workspace.run, uid, files, is_open=is_open):
            pipes = [os.pipe2(os.O_CLOEXEC) for _ in range(3 if has_value else 2)]
        outer = [Stream(pipes[0][0], limits.output_bytes, ends_run=True)]
        outer.append(Stream(pipes[1][0], limits.stderr_bytes, ends_run=False))
        if has_value:
            outer.append(Stream(pipes[2][0], MAX_VALUE_BYTES, ends_run=True))
        descriptors = [data.inner if isinstance(data, LaterInput) else kernel.sealed_file(data) for data in inputs]
        return _PreparedRun(
            uid=uid,
            since=since,
            limits=limits,
            inner=[
                descriptors[0],
                pipes[0][1],
                pipes[1][1],
                *descriptors[1:],
                *(descriptor for _, descriptor in pipes[2:]),
            ],
            outer=outer,
            directory=self._workspace.run,
            ruleset=None if self._forker.are_confined else self._rules.run,
            base_data_bytes=self._data_bytes if is_warm else 0,
            base_resident_bytes=self._resident_bytes if is_warm else 0,
            data_limit=program.data_limit,
            is_candidate=True,
        )

    def _prepare_tester(self, limits: RunLimits) -> "_PreparedRun":
        """Prepare a tester.

        Its inner descriptors are an empty file and the ends of its outer streams, outcomes and taken.
        """
        uid = self._uid(self._configuration.uids)
        since = time.monotonic()
        with self._workspace.creating(self._workspace.test, uid, {}):
            outcomes, taken_pipe = os.pipe2(os.O_CLOEXEC), os.pipe2(os.O_CLOEXEC)
        return _PreparedRun(
            uid=uid,
            since=since,
            limits=limits,
            inner=[kernel.sealed_file(b""), outcomes[1], taken_pipe[1]],
            outer=[Stream(outcomes[0], MAX_OUTCOMES_BYTES, ends_run=False), Stream(taken_pipe[0], 1, ends_run=False)],
            directory=self._workspace.test,
            ruleset=self._rules.test,
            base_data_bytes=self._data_bytes,
            base_resident_bytes=self._resident_bytes,
            data_limit=True,
            is_candidate=False,
        )

    def _watch(
        self, run: "_PreparedRun", entry: Entry, later: LaterInput | None = None, *, is_last: bool = False
    ) -> End:
        self._supervisor.prepare()
        order = self._order(RUN, run, self._jail(run), entry)
        fork = partial(self._forker.fork, order, is_last=is_last)
        return self._supervisor.watch(self._started(run, RUN), fork, run.inner, later)

    def _jail(self, run: "_PreparedRun") -> Jail:
        return Jail(
            directory=run.directory,
            resources=confinement.resources(
                run.limits,
                base_data_bytes=run.base_data_bytes,
                data_limit=run.data_limit,
                other_threads=self._other_threads,
            ),
            descriptors=run.inner,
            ruleset=run.ruleset,
            is_dumpable=run.is_candidate,
            is_prepared=self._forker.are_prepared,
        )

    def _order(self, role: int, run: "_PreparedRun", jail: Jail, entry: Entry) -> Order:
        return Order(role, None if self._configuration.single_uid else run.uid, Task(tuple(jail), entry))

    def _started(self, run: "_PreparedRun", role: int) -> StartedRun:
        return StartedRun(
            shared_page=self._shared_page,
            uid=run.uid,
            since=run.since,
            limits=run.limits,
            base_bytes=run.base_resident_bytes,
            watch_memory=self._configuration.watch_memory or not run.data_limit,
            streams=run.outer,
            place=role,
        )

    def _start(self, program: Program, arguments: Sequence[str]) -> Entry:
        return ("start", [*program.argv, *arguments], {**self._environment, **program.environment})

    def _uid(self, offset: int) -> int:
        if self._configuration.single_uid:
            return self._own_uid
        return self._configuration.first_uid + offset + self._number % self._configuration.uids


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _PreparedRun:
    """A process that is about to be forked."""

    uid: int
    since: float
    limits: RunLimits
    inner: Sequence[int]
    """They become its descriptors 0, 1, 2 and so on."""
    outer: Sequence[Stream]
    """The runner's ends of its pipes."""
    directory: str
    ruleset: int | None
    base_data_bytes: int
    base_resident_bytes: int
    data_limit: bool
    is_candidate: bool
    """False: it is a tester."""

    @property
    def outputs(self) -> Sequence[bytes]:
        """What has come through its streams."""
        return [bytes(stream.data) for stream in self.outer]
