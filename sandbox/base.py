"""What a box is to the rest of Rewardline: programs go in, what they did comes out.

    Program ──►┌──────── Sandbox ────────┐──► Built            did it compile
    Runs    ──►│ a box, each run a fresh │──► RunResult each   how it ended, what it wrote, what it used
               │ process with its limits │
               └─────────────────────────┘──► SandboxUnavailable, raised: says nothing about the program

A box judges nothing. Expected outputs never enter one; whoever calls `Sandbox.run` compares outside. The one exception
are tests which are programs themselves (`Tests`): they run in a second process, under another user, and the judged
program never has their text in its memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

MB = 1 << 20


class Exit(StrEnum):
    """How one run ended; each says something about the program."""

    EXITED = "exited"
    """By itself, with an exit code."""
    SIGNALLED = "signalled"
    """By a signal, its own doing."""
    TIME_LIMIT = "time_limit"
    """Its CPU seconds, or the wall clock that stands behind them, were used up."""
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    """It wrote more than it may, to its standard output or to a file."""


class Isolation(StrEnum):
    """What stands between a program and the machine, strongest first."""

    GVISOR = "docker-gvisor"
    IN_GVISOR = "gvisor"
    """Boxes of this service itself, which runs within gVisor: they share that kernel."""
    DOCKER = "docker"
    NAMESPACES = "namespaces"
    LANDLOCK = "landlock"
    """The lower tier: no process or network namespace, no hard memory limit over several processes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use."""

    cpu_s: float = 2.0
    """CPU seconds of all its processes together: the limit that counts, as it does not depend on other load."""
    wall_s: float | None = None
    """The backstop against sleeping; None: 10 s or five times the CPU seconds, whichever is more.
    Time in which the machine did not let it run is not counted."""
    memory_mb: int = 512
    processes: int = 64
    """Processes and threads."""
    file_mb: int = 64
    """Size of any one file it writes."""
    output_bytes: int = MB
    stderr_bytes: int = 16 << 10
    """More than this on its standard error is dropped silently."""

    @property
    def backstop_s(self) -> float:
        """Wall seconds after which the run is ended."""
        return self.wall_s if self.wall_s is not None else max(10.0, 5 * self.cpu_s)


COMPILE_LIMITS = Limits(cpu_s=20.0, memory_mb=2048, file_mb=256, output_bytes=64 << 10, stderr_bytes=64 << 10)


@dataclass(frozen=True, slots=True)
class Program:
    """A source text, loaded (and compiled) once for several runs."""

    source: str
    language: str = "python"
    """A name of `sandbox.languages`, not an alias."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Relative paths; they lie in the working directory of each run."""
    compile_limits: Limits = COMPILE_LIMITS
    needs_pytest: bool = False
    """The source is our own and imports pytest: a box without is no fault of the program's."""


@dataclass(frozen=True, slots=True)
class Execute:
    """Run the program as `__main__` with this standard input."""

    stdin: bytes = b""
    arguments: Sequence[str] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    """More files in the working directory of this run only."""
    fetch: Sequence[str] = ()
    """Files to bring back when the run has ended, as far as they exist and are regular files."""
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class Call:
    """Load the program as a module and call one function; its value leaves through a channel of its own."""

    function: str
    """At module level, or a method of its class `Solution`."""
    arguments: bytes
    """JSON: `[positional, keywords]`, a list and an object. And for Python alone, as a third, the
    image of the positional ones (see `sandbox.runner.values.encoding`), where JSON changes them: it has no tuples, for one."""
    limits: Limits = Limits()


class TestStyle(StrEnum):
    __test__ = False

    ASSERTS = "asserts"
    """Each text of `cases` is run by itself after `setup`: one outcome each."""
    CHECK = "check"
    """`setup` defines `check(candidate)`; called with `entry_point` of the program. One outcome for each top-level
    statement of `check` that asserts something."""
    UNITTEST = "unittest"
    PYTEST = "pytest"
    """`files` are test modules which import `solution`: one outcome for each test that was collected."""


@dataclass(frozen=True, slots=True)
class Tests:
    """Run test code against the program, in a process which the program cannot touch."""

    __test__ = False

    style: TestStyle
    cases: Sequence[str] = ()
    setup: str = ""
    entry_point: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    objects: bool = False
    """Objects of the program's own classes may be compared and computed with, which runs the program's operators."""
    limits: Limits = Limits()
    """Of the program; the tests themselves have twice as much and five seconds more."""


Run = Execute | Call | Tests


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """What one test of `Tests` said."""

    __test__ = False

    name: str
    passed: bool
    message: str = ""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one run did. Times and memory are measured outside the program."""

    exit: Exit
    code: int | None = None
    """The exit code, when `exit` is EXITED."""
    signal: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_memory_mb: float = 0.0
    value: bytes | None = None
    """Of a `Call`: the returned value as `sandbox.runner.values.encoding` encodes it; None when none was returned."""
    tests: Sequence[TestOutcome] = ()
    """Of `Tests`, in their order; a test that never ended is missing."""
    complete: bool = False
    """Of `Tests`: the tests were gone through to the end."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Of an `Execute`: what `fetch` found."""


@dataclass(frozen=True, slots=True)
class Built:
    """Whether a program could be loaded; without that none of its runs takes place."""

    ok: bool
    message: str = ""
    """The compiler's words, cut."""
    exit: Exit = Exit.EXITED
    """How the compiler ended."""
    cpu_s: float = 0.0
    cached: bool = False


class SandboxUnavailable(Exception):
    """Nothing could be run, or what was run came to no end through no fault of its own; may be tried again."""

    def __init__(self, message: str, reason: str = "sandbox_unavailable") -> None:
        super().__init__(message)
        self.reason = reason
        """A short stable word: sandbox_unavailable, sandbox_busy, box_died, language_unavailable."""


class Sandbox(ABC):
    """Boxes of one kind, some of them ready at any time."""

    isolation: Isolation
    caveats: Sequence[str] = ()
    """What this kind cannot stop, one plain sentence each."""

    @abstractmethod
    async def start(self) -> None:
        """Make the first boxes.

        Raises:
            SandboxUnavailable: boxes of this kind cannot be had here; the message says why.
        """

    @abstractmethod
    async def stop(self) -> None:
        """Destroy every box and whatever else was made; runs still under way end with `SandboxUnavailable`."""

    @property
    @abstractmethod
    def languages(self) -> frozenset[str]:
        """Those which can be run here."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """Boxes that may be at work at once."""

    @abstractmethod
    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        """Load the program in a box, and do the runs in order, each in a fresh process.

        `on_result(position, result)` is called once for each run as it ends; when it returns False, the runs that
        have not begun are left out (one may have begun already: its result is dropped). When the box dies, what has
        no result yet is done once more, alone in a fresh box, before that counts as the program's own doing.

        Raises:
            SandboxUnavailable: no box could be had, or two died for no reason the program is known to have given.
        """
