"""The interface between a sandbox and the rest of Rewardline: programs go in, results come out.

    Program ──►┌──────── Sandbox ────────┐──► Built            did it compile
    Runs    ──►│ a box, each run a fresh │──► RunResult each   how it ended, what it wrote, what it used
               │ process with its limits │
               └─────────────────────────┘──► SandboxUnavailable, raised: says nothing about the program

A box judges nothing. Expected outputs never enter a box: the caller of `Sandbox.run` compares outputs outside. Tests
that are programs themselves (`Tests`) are the one exception. They run in a second process, under another user, and the
judged program never has their text in its memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

MB = 1 << 20


class Exit(StrEnum):
    """How one run ended. Each value says something about the program."""

    EXITED = "exited"
    """The program exited by itself, with an exit code."""
    SIGNALLED = "signalled"
    """A signal that the program caused ended it."""
    TIME_LIMIT = "time_limit"
    """The run used up its CPU seconds, or the wall-clock backstop."""
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    """The run wrote more than its limit to its standard output or to a file."""


class Isolation(StrEnum):
    """What separates a program from the machine, strongest first."""

    GVISOR = "docker-gvisor"
    IN_GVISOR = "gvisor"
    """The service itself runs within gVisor and makes its own boxes there: they share that kernel."""
    DOCKER = "docker"
    NAMESPACES = "namespaces"
    LANDLOCK = "landlock"
    """The lower tier: no process or network namespace, no hard memory limit over several processes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run."""

    cpu_s: float = 2.0
    """CPU seconds of all processes of the run together. This is the limit that counts: it does not depend on other
    load.
    """
    wall_s: float | None = None
    """The backstop against sleeping. None: 10 s or five times the CPU seconds, whichever is more. Time in which the
    machine did not let the run execute is not counted.
    """
    memory_mb: int = 512
    processes: int = 64
    """Processes and threads together."""
    file_mb: int = 64
    """Size of any one file that the run writes."""
    output_bytes: int = MB
    stderr_bytes: int = 16 << 10
    """The rest of its standard error is dropped silently."""

    @property
    def backstop_s(self) -> float:
        """Wall seconds after which the run is killed."""
        return self.wall_s if self.wall_s is not None else max(10.0, 5 * self.cpu_s)


COMPILE_LIMITS = Limits(cpu_s=10.0, memory_mb=2048, file_mb=256, output_bytes=64 << 10, stderr_bytes=64 << 10)
"""Several times what an honest program needs, and so little that a hostile one is judged before its caller's deadline.
A slow compiler has more, see `sandbox.languages.Language.compile_factor`.
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A source text, loaded (and compiled) once for several runs."""

    source: str
    language: str = "python"
    """A name of `sandbox.languages`, not an alias."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Content by relative path. The files are in the working directory of each run."""
    compile_limits: Limits = COMPILE_LIMITS
    needs_pytest: bool = False
    """The source is our own and imports pytest. When the box has no pytest, the program is not at fault."""
    owner: str = ""
    """Whose the program is. What a compiler made of it, and a run that stands ready, is used for the same owner alone."""


@dataclass(frozen=True, slots=True)
class Execute:
    """Run the program as `__main__` with this standard input."""

    stdin: bytes = b""
    arguments: Sequence[str] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    """More files in the working directory of this run only."""
    fetch: Sequence[str] = ()
    """Files to bring back after the run, if they exist and are regular files."""
    limits: Limits = Limits()
    ahead: bytes = b""
    """What comes before `stdin` on its standard input, and is the same for many runs. A sandbox may keep processes that
    have read it and nothing else, and give one of them `stdin`: a wait for what the beginning asks for is then over.
    """


@dataclass(frozen=True, slots=True)
class Call:
    """Load the program as a module and call one function. Its value leaves through a descriptor of its own."""

    function: str
    """The name of a function at module level, or of a method of the class `Solution`."""
    arguments: bytes
    """JSON: `[positional, keywords]`, a list and an object. For Python only, a third element holds the image of the
    positional arguments (see `sandbox.runner.values.encoding`) when JSON would change them: for example, JSON has no
    tuples.
    """
    limits: Limits = Limits()


class TestStyle(StrEnum):
    __test__ = False

    ASSERTS = "asserts"
    """Each text of `cases` runs by itself after `setup`: one outcome each."""
    CHECK = "check"
    """`setup` defines `check(candidate)`, which is called with `entry_point` of the program. One outcome for each
    top-level statement of `check` that asserts something.
    """
    UNITTEST = "unittest"
    PYTEST = "pytest"
    """`files` are test modules that import `solution`: one outcome for each collected test."""


@dataclass(frozen=True, slots=True)
class Tests:
    """Run test code against the program, in a process that the program cannot touch."""

    __test__ = False

    style: TestStyle
    cases: Sequence[str] = ()
    setup: str = ""
    entry_point: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    objects: bool = False
    """Whether tests may compare and compute with objects of the program's own classes. This runs the program's
    operators.
    """
    limits: Limits = Limits()
    """Limits of the program. The tests themselves get twice as much, and five seconds more."""
    shares_files: bool = False
    """Whether tests and program work in one directory, where each can read and change what the other writes."""
    rehearses: bool = False
    """Whether the tests run without the program, to see if any box can run them."""


Run = Execute | Call | Tests


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """The outcome of one test of `Tests`."""

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
    """For a `Call`: the returned value as `sandbox.runner.values.encoding` encodes it. None: nothing was returned."""
    tests: Sequence[TestOutcome] = ()
    """For `Tests`: outcomes in the order of the tests. A test that never ended is missing."""
    complete: bool = False
    """For `Tests`: whether the test code ran to its end."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """For an `Execute`: the files that `fetch` found."""


@dataclass(frozen=True, slots=True)
class Built:
    """Whether a program could be loaded. If not, none of its runs is done."""

    ok: bool
    message: str = ""
    """The compiler's message, cut."""
    exit: Exit = Exit.EXITED
    """How the compiler ended."""
    cpu_s: float = 0.0
    cached: bool = False


class SandboxUnavailable(Exception):
    """Nothing could be run, or a run could not be finished for a reason that is not the program's.

    The caller may try again.
    """

    def __init__(self, message: str, reason: str = "sandbox_unavailable", **detail: object) -> None:
        super().__init__(message)
        self.reason = reason
        """A short stable word: sandbox_unavailable, sandbox_busy, box_died, language_unavailable, budget_exhausted."""
        self.detail = detail
        """Small JSON beside the message."""


class Sandbox(ABC):
    """A supply of boxes of one kind, some of them ready at any time."""

    isolation: Isolation
    caveats: Sequence[str] = ()
    """What this kind of box cannot prevent, one plain sentence each."""

    @abstractmethod
    async def start(self) -> None:
        """Make the first boxes.

        Raises:
            SandboxUnavailable: this kind of box does not work here; the message says why.
        """

    @abstractmethod
    async def stop(self) -> None:
        """Destroy every box and everything else that was made. Runs under way end with `SandboxUnavailable`."""

    @property
    @abstractmethod
    def languages(self) -> frozenset[str]:
        """Names of the languages that can be run here."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many boxes may work at once."""

    @abstractmethod
    async def run(
        self, program: Program, runs: Sequence[Run], on_result: Callable[[int, RunResult], bool] | None = None
    ) -> Built:
        """Load the program in a box and do the runs in order, each in a fresh process.

        `on_result(position, result)` is called once for each run when it ends. If it returns False, the remaining runs
        are left out (one of them may have begun already: its result is dropped). If the box dies, the runs without a
        result are done once more, alone in a fresh box, before the death counts as the program's doing.

        Raises:
            SandboxUnavailable: there was no box, or two boxes died for an unknown reason.
        """
