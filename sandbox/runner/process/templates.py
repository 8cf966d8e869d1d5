"""Templates: processes that hold one job's compiled program, and do nothing but fork its runs.

    runner      reads requests, watches runs, empties the box; once it serves, it forks nothing any more
    original    the interpreter as it was before any program; forks templates
    template    of the job at hand: compiles its program, forks its runs
    template    of the next job, made ahead
    run

All are children of the runner, siblings of the process that forked them (CLONE_PARENT), so that the runner can wait for
each. This has two advantages. What is read and written for a program is in no memory that later programs are forked
from. And nothing is copied twice: after a fork, a process has to copy each page that it writes to. Watching a run
writes to some 400 pages, forking it as its template to a few.

A box that is used once has neither the original nor the second template: the runner forks one template at its start,
while both have written little, and that template itself becomes the job's last run (`OnceForker`).

All except the runs share one table of descriptors (CLONE_FILES): the pipes of a run, which the runner makes, are open
in the template too. Only the runner opens or closes descriptors.
"""

import marshal
import os
import select
import signal
from collections.abc import Collection, Sequence
from contextlib import suppress
from struct import Struct
from typing import Any, Final, NoReturn

from sandbox.runner.errors import BoxUnusable
from sandbox.runner.frames import EXIT_BOX_UNUSABLE, Closed
from sandbox.runner.isolation import confinement, kernel, landlock, seccomp
from sandbox.runner.process import child
from sandbox.runner.process.child import PythonSource
from sandbox.runner.process.compiling import NotCompiled, compile_program
from sandbox.runner.process.file_descriptors import move_high
from sandbox.runner.process.forks import FRAMES, Order, Task, run_child
from sandbox.runner.process.process_reaper import Children, has_ended
from sandbox.runner.process.shared_page import RUN, TEMPLATES, TESTER, SharedPage

_HEAD: Final = Struct("BIi")
"""The action, how many bytes follow, and the user that a run becomes."""
_COMPILE, _ANSWER, _CONFINE, _BECOME = 100, 101, 102, 103
"""Actions of a template. A smaller number is the place of a run that is to be forked."""
_PIECE_BYTES: Final = 1 << 16
_FRAMES_OF_TEMPLATE: Final = 3
"""The template's own frames below those of its runs, and two of constructors: the interpreter counts a call of a class
besides the method's.
"""


def can_be_used(shared_page: SharedPage) -> bool:
    """Whether the kernel supports everything that is needed. Call it while this process has no children."""
    try:
        cloner = kernel.Cloner()
        Children.of_this_process().close()
        pid = cloner.child()
    except OSError:
        return False
    if pid == 0:
        _try_to_have_sibling(cloner, shared_page)
    return pid > 0 and _has_succeeded(pid) and _has_succeeded(shared_page.pid(TEMPLATES[0]))


def _try_to_have_sibling(cloner: kernel.Cloner, shared_page: SharedPage) -> NoReturn:
    status = 1
    try:
        pid = cloner.sibling(shared_page.address(TEMPLATES[0]), shares_descriptors=True)()
        status = int(pid < 0)  # the exit status of this process, and of its sibling
    finally:
        os._exit(status)


def _has_succeeded(pid: int) -> bool:
    return os.waitpid(pid, 0)[1] == 0


class TemplateForker:
    """The runner's side: see `Forker`."""

    may_be_killed = False
    are_prepared = True

    def __init__(
        self,
        shared_page: SharedPage,
        data_bytes: int,
        job_filter: bytes | None,
        ruleset: int | None,
        *,
        control: int,
        wake: int,
    ) -> None:
        """Make the original and the first template, which are forks of this process as it is now.

        Args:
            shared_page: Where their pids are told, and those of runs.
            data_bytes: How much of this process's memory counts towards a process's limit.
            job_filter: For jobs whose programs may not change SIGCHLD.
            ruleset: Landlock's, for programs.
            control: The connection to the service.
            wake: Becomes readable whenever a child ends.
        """
        self._shared_page = shared_page
        self._wake = wake
        self._channels = [_Channel(control, wake) for _ in TEMPLATES]
        self._wanted, self._wanting = map(move_high, os.pipe2(os.O_CLOEXEC))
        self._current: int | None = None
        self._next = 0
        self._ended = 0
        """The last job's template, which is still to be reaped."""
        self.are_confined = False
        self._ruleset = ruleset
        self._tasks: dict[int, Task] = {}
        """By place: the last task sent to the template, which need not be sent again."""
        self._processors = sorted(os.sched_getaffinity(0))
        self._core: int | None = None
        runner = os.getpid()
        cloner = kernel.Cloner()
        shared_page.set_pid(TEMPLATES[0], 0)
        self._original = cloner.child()
        if self._original == 0:
            templates = [_Template(cloner, shared_page, data_bytes, job_filter, channel) for channel in self._channels]
            _run_original(runner, cloner, shared_page, templates, self._wanted)
        if self._original < 0:
            raise BoxUnusable("no more processes")
        self._request_template()

    def mark_killed(self) -> None:
        raise BoxUnusable("the processes that programs are forked from must not be killed")

    @property
    def pids(self) -> Collection[int]:
        numbers = (self._original, self._ended, *map(self._shared_page.pid, TEMPLATES))
        return [number for number in numbers if number]

    def begin(self, *, handles_children: bool, has_tests: bool, core: int | None) -> None:
        self.end()
        self._check_alive()
        if self._ended:
            os.waitpid(self._ended, 0)
            self._ended = 0
        self._current = self._next
        self._next = 1 - self._next
        self._tasks.clear()
        self._await_current()
        self._pin_to_core(core)
        self._request_template()
        ruleset = None if has_tests else self._ruleset
        self.are_confined = ruleset is not None
        self._channel.order.send(_CONFINE, (handles_children, ruleset))

    def end(self) -> None:
        """Kill the template. Its place is used for the template after the next one."""
        if self._current is None:
            return
        role, self._current = TEMPLATES[self._current], None
        self._ended = self._shared_page.pid(role)
        self._shared_page.set_pid(role, 0)
        os.kill(self._ended, signal.SIGKILL)

    def compile(self, text: bytes, path: str) -> None:
        message = self._ask(_COMPILE, (text, path))
        if message:
            raise NotCompiled(message)

    def fork(self, order: Order, *, is_last: bool = False) -> None:
        role, uid, task = order
        if not uid:
            raise BoxUnusable("a run must have a user of its own")
        is_known = self._tasks.get(role) == task
        self._tasks[role] = task
        self._channel.order.send(role, None if is_known else tuple(task), uid)

    def finish(self) -> None:
        """Wait for an answer: orders are carried out one after the other."""
        self._ask(_ANSWER)

    @property
    def _channel(self) -> "_Channel":
        if self._current is None:
            raise BoxUnusable("a run was asked for before its job began")
        return self._channels[self._current]

    def _ask(self, action: int, details: Any = None) -> str:
        self._channel.order.send(action, details)
        self._await_answer()
        answer: str = self._channel.answer.receive()[2]
        return answer

    def _pin_to_core(self, core: int | None) -> None:
        """Pin all processes of the job to one processor, with its template, whose affinity the runs inherit."""
        processors = self._processors
        allowed = processors if core is None else (processors[core % len(processors)],)
        if core is None and self._core is None:
            return
        templates = () if core == self._core else (0, self._original)
        self._core = core
        with suppress(OSError):  # the box may no longer choose its processors: only time is lost
            for member in (self._shared_page.pid(TEMPLATES[self._current or 0]), *templates):
                os.sched_setaffinity(member, allowed)

    def _request_template(self) -> None:
        """Ask the original for another template, at the free place."""
        os.write(self._wanting, bytes([self._next]))

    def _await_current(self) -> None:
        """Wait until the current template has been forked, if it was not made ahead."""
        if not self._shared_page.pid(TEMPLATES[self._current or 0]):
            self._ask(_ANSWER)

    def _await_answer(self) -> None:
        """Wait for the template's answer.

        Raises:
            Closed: the service is gone.
            BoxUnusable: the template is gone.
        """
        channel = self._channel
        while True:
            for descriptor, _ in channel.poll.poll():
                if descriptor == channel.answer.reading:
                    return
                if descriptor != self._wake:
                    raise Closed("the service is gone")
                os.read(self._wake, _PIECE_BYTES)
                self._check_alive()

    def _check_alive(self) -> None:
        for number in self.pids:
            if number != self._ended and has_ended(number):
                raise BoxUnusable(f"process {number}, which programs are forked from, has ended")


class OnceForker:
    """For a box that is used once: see `Forker`."""

    may_be_killed = False
    are_prepared = True
    are_confined = False

    def __init__(
        self, shared_page: SharedPage, data_bytes: int, job_filter: bytes | None, *, control: int, wake: int
    ) -> None:
        """Fork the template. For the arguments see `TemplateForker`."""
        self._shared_page = shared_page
        self._wake = wake
        self._channel = _Channel(control, wake)
        cloner = kernel.Cloner()
        template = _Template(cloner, shared_page, data_bytes, job_filter, self._channel)
        runner = os.getpid()
        self._template = cloner.child()
        if self._template == 0:
            _run_template(runner, template)
        if self._template < 0:
            raise BoxUnusable("no more processes")

    def mark_killed(self) -> None:
        raise BoxUnusable("the process that programs are forked from must not be killed")

    @property
    def pids(self) -> Collection[int]:
        return (self._template,) if self._template else ()

    def begin(self, *, handles_children: bool, has_tests: bool, core: int | None) -> None:
        self._channel.order.send(_CONFINE, (handles_children, None))

    def end(self) -> None:
        """Do nothing: the box has no other job, and the template ends with it."""

    def compile(self, text: bytes, path: str) -> None:
        message = self._ask(_COMPILE, (text, path))
        if message:
            raise NotCompiled(message)

    def fork(self, order: Order, *, is_last: bool = False) -> None:
        role, uid, task = order
        if not uid or not self._template:
            raise BoxUnusable("a run must have a user of its own, and none may follow the last one")
        if is_last:
            self._shared_page.set_pid(role, self._template)
            self._template = 0
        self._channel.order.send(_BECOME if is_last else role, tuple(task), uid)

    def finish(self) -> None:
        self._ask(_ANSWER)

    def _ask(self, action: int, details: Any = None) -> str:
        self._channel.order.send(action, details)
        while True:
            for descriptor, _ in self._channel.poll.poll():
                if descriptor == self._channel.answer.reading:
                    answer: str = self._channel.answer.receive()[2]
                    return answer
                if descriptor != self._wake:
                    raise Closed("the service is gone")
                os.read(self._wake, _PIECE_BYTES)
                if has_ended(self._template):
                    raise BoxUnusable("the process that programs are forked from has ended")


def _run_template(runner: int, template: "_Template") -> NoReturn:
    try:
        kernel.die_with_parent(runner)
        confinement.prepare()
        child.raise_recursion_limit(FRAMES + _FRAMES_OF_TEMPLATE)
        template.serve()
    finally:
        os._exit(EXIT_BOX_UNUSABLE)


class _Pipe:
    """Messages one after the other. Every process holds both ends, so it never ends.

    One read returns exactly what one write has put there (O_DIRECT, see pipe(2)): a short message comes in one piece.
    """

    def __init__(self) -> None:
        self.reading, self._writing = map(move_high, os.pipe2(os.O_CLOEXEC | os.O_DIRECT))
        self._packet = bytearray(select.PIPE_BUF)
        self._into = [self._packet]  # a new buffer for each read would write to the allocator's pages, too

    def send(self, action: int, value: Any, uid: int = 0) -> None:
        data = b"" if value is None else marshal.dumps(value)
        unsent = memoryview(_HEAD.pack(action, len(data), uid) + data)
        while unsent:
            unsent = unsent[os.write(self._writing, unsent) :]

    def receive(self) -> tuple[int, int, Any]:
        """A whole message: the action or answer, the user, and the value."""
        count = os.readv(self.reading, self._into)
        action, length, uid = _HEAD.unpack_from(self._packet)
        if not length:
            return action, uid, None
        data = self._packet[_HEAD.size : count]
        while len(data) < length:
            data += os.read(self.reading, select.PIPE_BUF)
        return action, uid, marshal.loads(data)  # noqa: S302 - of our own processes


class _Channel:
    """The channel between the runner and one template after the other."""

    def __init__(self, control: int, wake: int) -> None:
        self.order = _Pipe()
        self.answer = _Pipe()
        self.poll = select.poll()
        self.poll.register(control, 0)  # reports only the end of the connection
        self.poll.register(wake, select.POLLIN)
        self.poll.register(self.answer.reading, select.POLLIN)


def _run_original(
    runner: int, cloner: kernel.Cloner, shared_page: SharedPage, templates: Sequence["_Template"], requests: int
) -> NoReturn:
    try:
        kernel.die_with_parent(runner)
        confinement.prepare()
        child.raise_recursion_limit(FRAMES + _FRAMES_OF_TEMPLATE)
        forking = [cloner.sibling(shared_page.address(role), shares_descriptors=True) for role in TEMPLATES]
        pid = 1
        while pid > 0:
            index = os.read(requests, 1)[0]
            pid = forking[index]()
            if pid == 0:
                kernel.die_with_parent(runner)
                templates[index].serve()
    finally:
        os._exit(EXIT_BOX_UNUSABLE)


class _Template:
    """Made in the original, and run in a process of its own."""

    def __init__(
        self,
        cloner: kernel.Cloner,
        shared_page: SharedPage,
        data_bytes: int,
        job_filter: bytes | None,
        channel: _Channel,
    ) -> None:
        self._forking = [cloner.sibling(shared_page.address(role), shares_descriptors=False) for role in (RUN, TESTER)]
        self._shared_page = shared_page
        self._data_bytes = data_bytes
        self._job_filter = job_filter
        self._channel = channel
        self._source: PythonSource | None = None
        self._tasks: list[Sequence[Any]] = [()] * len(self._forking)
        """By place: the last task that was received."""

    def serve(self) -> NoReturn:
        """Carry out orders until it is killed."""
        receive, forking, tasks = self._channel.order.receive, self._forking, self._tasks
        pid = 1
        while pid >= 0:
            action, uid, value = receive()
            if action == _BECOME:
                kernel.unshare_descriptors()
                run_child(RUN, uid, value, self._source, self._shared_page.page)
            if action >= len(forking):
                self._do(action, value)
                continue
            if value is not None:
                tasks[action] = value
            pid = forking[action]()
            if pid == 0:
                run_child(action, uid, tasks[action], self._source, self._shared_page.page)
        raise OSError("no more processes")

    def _do(self, action: int, value: Any) -> None:
        if action != _CONFINE:
            self._channel.answer.send(_ANSWER, self._compile(*value) if action == _COMPILE else "")
        else:
            self._confine(*value)

    def _confine(self, handles_children: bool, ruleset: int | None) -> None:
        """Confine this process, and so all its future forks."""
        if ruleset is not None:
            landlock.restrict(ruleset)
        if self._job_filter is not None and not handles_children:
            seccomp.install(self._job_filter)

    def _compile(self, text: bytes, path: str) -> str:
        """Compile a program. Returns the error message; empty on success."""
        try:
            self._source = compile_program(text, path, self._data_bytes)
        except NotCompiled as error:
            return str(error)
        return ""
