"""The runner: process 1 of a box. It loads one program at a time and has a fresh process forked for each run.

    frames ──► Runner ──► load     programs    put its files where runs cannot write, compile it once
                          runs     runs        forks ──► confinement ──► process     in the child: never returns
                                               └───────► supervision                 watches, kills, empties the box
                          unload   cleaning    nothing of the program may be left

Where the kernel supports it, `templates` forks the runs, and the runner serves all jobs itself. Elsewhere a fork of the
runner serves each job, and forks the runs itself.

The runner touches what programs made only in ways that need no trust: it reads pipes, removes files, waits for
processes. It holds no expected answers. When a box is not in its original state, the runner exits
(`EXIT_BOX_UNUSABLE`).
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from sandbox.runner import frames, requests
from sandbox.runner.answers import Answer, loaded_answer, result_answer
from sandbox.runner.configuration import Configuration
from sandbox.runner.errors import BoxUnusable
from sandbox.runner.frames import EXIT_BOX_UNUSABLE, PROTOCOL, Closed
from sandbox.runner.isolation import kernel, landlock
from sandbox.runner.process import programs, templates
from sandbox.runner.process.forks import DirectForker, Forker
from sandbox.runner.process.limits import parse
from sandbox.runner.process.mappings import inherit_page_tables, open_own_memory
from sandbox.runner.process.measures import data_bytes
from sandbox.runner.process.prefork_warmup import warm_up_job
from sandbox.runner.process.preparation import (
    close_terminals,
    harden_process,
    job_filter,
    make_environment,
    make_rules,
    oom_counter,
    preload,
    prepare_for_forks,
    refuse_system_calls,
    reserve_descriptors,
    wake_descriptor,
)
from sandbox.runner.process.process_reaper import ProcessReaper, ProtectedProcesses
from sandbox.runner.process.programs import Loaded, Program
from sandbox.runner.process.runs import Runs
from sandbox.runner.process.shared_page import SharedPage
from sandbox.runner.process.standby import StandbyFork
from sandbox.runner.process.supervision import Result, Supervisor
from sandbox.runner.process.workspace import BadPath, Workspace

_SERVICE_GONE: Final = 3
"""Exit status of the fork that serves a job, when the service is gone."""

COMMON_MODULES: Final = (
    "array", "bisect", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools",
    "heapq", "io", "itertools", "json", "math", "operator", "queue", "random", "re", "statistics", "string",
    "threading", "time", "types", "typing",
)  # fmt: skip
"""Modules that judged programs often import. Each one makes every fork a little slower."""


def main(source: int, sink: int, configuration: dict[str, Any], prepared: "Prepared | None" = None) -> NoReturn:
    """Serve until the service is gone.

    Args:
        source: Descriptor that requests come from.
        sink: Descriptor that answers go to; may be the same.
        configuration: `Configuration` as JSON.
        prepared: What the process that this one was forked from has done already.
    """
    with _exit_after(gone_status=0):
        Runner(source, sink, configuration_of(configuration), prepared).serve()
    raise AssertionError("never reached")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prepared:
    """An interpreter in which everything is done that is alike in all boxes of a configuration."""

    preloaded: list[str]
    programs: list[str]
    has_templates: bool
    """Whether the kernel supports what `OnceForker` needs."""


def prepare(configuration: Configuration, programs: list[str] | None = None) -> Prepared:
    """Prepare this process, for its runner or for processes that are forked from it to become runners.

    Args:
        configuration: Of the box or the boxes.
        programs: From `programs_of`; None: this process is in the box.
    """
    is_forked = programs is not None
    if is_forked or not configuration.once:
        preload(COMMON_MODULES)
    preloaded = preload(configuration.preload)
    prepare_for_forks(configuration, is_long_lived=is_forked or not configuration.once)
    if programs is None:
        return Prepared(preloaded, programs_of(configuration), has_templates=False)
    return Prepared(preloaded, programs, has_templates=templates.can_be_used(SharedPage()))


def programs_of(configuration: Configuration) -> list[str]:
    """Those of the configuration's programs that are on the PATH."""
    return [name for name in configuration.programs if programs.find_program(name)]


@contextmanager
def _exit_after(gone_status: int = _SERVICE_GONE) -> Iterator[None]:
    """Exit this process when the block ends in any way. The exit status is `gone_status` when the service is gone."""
    status = EXIT_BOX_UNUSABLE
    try:
        yield
        status = 0
    except (Closed, BrokenPipeError, ConnectionResetError):
        status = gone_status
    except (BoxUnusable, OSError, ValueError, LookupError, TypeError, MemoryError, RecursionError) as error:
        os.write(2, f"runner: {type(error).__name__}: {error}\n".encode(errors="replace"))
    finally:
        os._exit(status)


class Runner:
    """The runner of one box."""

    def __init__(self, source: int, sink: int, configuration: Configuration, prepared: Prepared | None) -> None:
        """Bring this process into the state that it keeps until it ends. The order matters."""
        self._configuration = configuration
        self._source, self._sink = reserve_descriptors(source, sink)
        self._workspace = Workspace(configuration)
        memory = open_own_memory()
        harden_process()
        close_terminals()
        environment = make_environment(configuration, self._workspace.run)
        os.environ.clear()  # noqa: TID251 - programs inherit it
        os.environ.update(environment)  # noqa: TID251 - programs inherit it
        rules = make_rules(configuration, self._workspace)
        oom = oom_counter(configuration)
        wake = wake_descriptor()
        refuse_system_calls(configuration)
        self._prepared = prepared or prepare(configuration)
        inherit_page_tables(memory)
        shared_page = SharedPage()
        self._standby = StandbyFork(shared_page.page)
        protected: ProtectedProcesses
        self._forker: Forker
        if not configuration.once and not configuration.single_uid and templates.can_be_used(shared_page):
            protected = self._forker = templates.TemplateForker(
                shared_page, data_bytes(), job_filter(configuration), rules.run, control=self._source, wake=wake
            )
            self._has_forks = False
        elif self._prepared.has_templates and not configuration.single_uid:
            protected = self._forker = templates.OnceForker(
                shared_page, data_bytes(), job_filter(configuration), control=self._source, wake=wake
            )
            self._has_forks = False
        else:
            protected, self._forker = self._standby, DirectForker(shared_page, data_bytes(), job_filter(configuration))
            self._has_forks = not configuration.once and _can_fork_for_jobs(configuration)
        self._reaper = ProcessReaper(protected, is_init=configuration.init, single_uid=configuration.single_uid)
        supervisor = Supervisor(
            self._reaper, oom, shared_page, control=self._source, wake=wake, cpus=configuration.cpus
        )
        self._runs = Runs(configuration, self._workspace, supervisor, rules, self._forker, shared_page, environment)
        self._has_had_program = False
        self._program: Program | None = None
        self._dirty = 0
        self._answers: Mapping[str, Callable[[dict[str, Any], int], Answer]] = {
            "load": self._load,
            "execute": self._execute,
            "call": self._call,
            "tests": self._tests,
            "unload": self._unload,
            "ping": self._ping,
        }

    def serve(self) -> NoReturn:
        """Answer one request after the other.

        Without templates, a fork of this process serves each job. So what is read and written for a program is in no
        memory that later programs are forked from. After the first job, one such fork is always made ahead, and waits
        for its job. A box that is used once needs none.

        Raises:
            Closed: the service is gone.
            BoxUnusable: the box is not fit for another run.
        """
        frames.send(self._sink, self._hello())
        if not self._has_forks:
            while True:
                self._serve_job()
        current = self._fork_for_job()
        self._standby.activate()
        _check_end_of_job(self._wait_for(current))
        standby = self._fork_for_job()
        while True:
            current = standby
            self._standby.activate()
            standby = self._fork_for_job()
            self._standby.set_pid(standby)
            _check_end_of_job(self._wait_for(current))
            if self._standby.is_killed:
                self._standby.cancel()
                _kill_and_reap(standby)
                standby = self._fork_for_job()

    def _fork_for_job(self) -> int:
        self._runs.skip_user_ids()
        self._standby.open_pipe()
        runner = os.getpid()
        pid = kernel.fork()
        if pid == 0:
            self._run_fork(runner)
        return pid

    def _wait_for(self, pid: int) -> int:
        """Wait for a child, and reap others meanwhile. Returns its exit code, or minus the signal that ended it.

        Raises:
            BoxUnusable: the fork that waits for the next job has ended, though no job killed it.
        """
        while True:
            ended, status = os.wait()
            if ended == pid:
                return os.waitstatus_to_exitcode(status)
            if ended == self._standby.pid and not self._standby.is_killed:
                raise BoxUnusable(f"the fork for the next job ended with {os.waitstatus_to_exitcode(status)}")

    def _run_fork(self, runner: int) -> NoReturn:
        kernel.die_with_parent(runner)
        with _exit_after():
            self._reaper.adopt()
            warm_up_job()
            self._standby.wait()
            self._serve_job()
        raise AssertionError("never reached")

    def _serve_job(self) -> None:
        """Answer requests up to the end of a job."""
        question = ""
        while question != "unload":
            header, body_bytes = frames.receive_header(self._source)
            question = header["ask"]
            if question == "input":  # of a run that has ended before
                self._body(body_bytes)
                continue
            answer, body = self._answers[question](header, body_bytes)
            frames.send(self._sink, answer, body)
            self._dirty += self._workspace.clear_runs()

    def _hello(self) -> dict[str, Any]:
        return {
            "answer": "hello",
            "protocol": PROTOCOL,
            "python": sys.version.split()[0],
            "pid": os.getpid(),
            "uid": os.getuid(),
            "single_uid": self._configuration.single_uid,
            "preloaded": self._prepared.preloaded,
            "programs": self._prepared.programs,
        }

    def _ping(self, _header: dict[str, Any], body_bytes: int) -> Answer:
        self._body(body_bytes)
        return {"answer": "pong"}, b""

    def _load(self, header: dict[str, Any], body_bytes: int) -> Answer:
        if self._configuration.once and self._has_had_program:
            raise BoxUnusable("a second program in a box that is for one program")
        self._has_had_program = True
        self._unload_program()
        body = self._body(body_bytes)
        core = header["core"] if self._configuration.cpus == 1 else None
        self._forker.begin(handles_children=header["handles_children"], has_tests=header["has_tests"], core=core)
        self._runs.count_threads(self._standby.pid if self._has_forks else None)
        try:
            load = requests.read_load(header, body)
        except BadPath as error:
            return loaded_answer(Loaded(None, str(error)))
        loaded = programs.load(load, self._workspace, self._forker, self._compile)
        self._program = loaded.program
        return loaded_answer(loaded)

    def _compile(self, compiler: Program, request: requests.Execute) -> Result:
        return self._runs.execute(compiler, request)

    def _execute(self, header: dict[str, Any], body_bytes: int) -> Answer:
        request = requests.read_execute(header, self._body(body_bytes))
        return result_answer(self._runs.execute(self._loaded(), request))

    def _call(self, header: dict[str, Any], body_bytes: int) -> Answer:
        request = requests.read_call(header, self._body(body_bytes))
        return result_answer(self._runs.call(self._loaded(), request))

    def _tests(self, header: dict[str, Any], body_bytes: int) -> Answer:
        limits = parse(header["limits"])
        shares_files = header["shares_files"]
        return result_answer(
            self._runs.tests(self._loaded(), limits, self._source, body_bytes, shares_files=shares_files)
        )

    def _unload(self, _header: dict[str, Any], body_bytes: int) -> Answer:
        self._body(body_bytes)
        self._unload_program()
        dirty, self._dirty = self._dirty, 0
        return {"answer": "unloaded", "dirty": dirty}, b""

    def _unload_program(self) -> None:
        self._program = None
        self._forker.end()
        self._workspace.clear_program()

    def _loaded(self) -> Program:
        if self._program is None:
            raise BoxUnusable("a run was asked for before a program was loaded")
        return self._program

    def _body(self, length: int) -> bytes:
        return frames.receive_exactly(self._source, length) if length else b""


def _can_fork_for_jobs(configuration: Configuration) -> bool:
    """Whether programs are unable to signal the runner's forks, as they are unable to signal process 1 of their box."""
    return not configuration.single_uid or landlock.version() >= landlock.SCOPES_SIGNALS


def _kill_and_reap(pid: int) -> None:
    """Kill and reap a child that may have been killed, or even reaped, already."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _check_end_of_job(status: int) -> None:
    """Check how the fork that served a job ended.

    Raises:
        Closed: the service is gone.
        BoxUnusable: the box is not fit for another job.
    """
    if status == _SERVICE_GONE:
        raise Closed("the service is gone")
    if status == EXIT_BOX_UNUSABLE:
        os._exit(status)  # the fork has written the reason to standard error
    if status != 0:
        raise BoxUnusable(f"a job ended with {status}")


def configuration_of(fields: dict[str, Any]) -> Configuration:
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    return Configuration(**settings)
