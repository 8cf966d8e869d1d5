"""The test suite that is judged, in one form for all data sets.

Suite ──┬─ StdioTests      programs read their input and write their output
        ├─ CallTests       a function is called, its value compared
        ├─ TestPrograms    the tests are programs themselves: asserts, check(candidate), unittest, pytest
        ├─ JoinedTest      solution and tests are one program, in any language
        └─ TextTests       the response is text, and the tests are programs about it
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sandbox.base import TestStyle


class CaseType(StrEnum):
    STDIO = "stdio"
    FUNCTION = "function"
    ASSERT = "assert"
    PYTEST = "pytest"
    UNITTEST = "unittest"
    CHECK_BASED = "check_based"
    TEXT = "text"
    CHECKER = "checker"
    PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class StdioCase:
    name: str
    stdin: str
    expected: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files of this test that the program reads."""
    expected_files: Mapping[str, str] = field(default_factory=dict)
    """Files that the program must write."""
    compares_output: bool = True
    """Whether standard output is compared. If not, only files are."""


@dataclass(frozen=True, slots=True)
class Checker:
    """A special judge: a program of the data set that reads input, output and expected output as files."""

    source: str
    language: str = "python"
    max_points: float = 1.0
    """The most points that it gives; its `points` are a part of them."""


@dataclass(frozen=True, slots=True)
class StdioTests:
    cases: Sequence[StdioCase]
    checker: Checker | None = None


@dataclass(frozen=True, slots=True)
class CallCase:
    name: str
    arguments: str
    """The arguments as JSON, as in `sandbox.base.Call`."""
    accepted: Sequence[Any]
    """The accepted values; more than one only if the data set's form does not show which is meant."""
    only_python: bool = False
    """Whether the arguments hold values that other languages do not have."""


@dataclass(frozen=True, slots=True)
class CallTests:
    function: str
    cases: Sequence[CallCase]


class Relation(StrEnum):
    """The relation between the value of a call and the expected value in an assertion."""

    EQUALS = "=="
    IS = "is"
    TRUE = "true"
    FALSE = "not"


@dataclass(frozen=True, slots=True)
class AssertedCall:
    """A parsed `assert f(1, 2) == 3`, compared as Python compares."""

    function: str
    arguments: str
    relation: Relation
    value: Any = None


@dataclass(frozen=True, slots=True)
class TestProgram:
    """Tests that run in their own process beside the candidate's."""

    __test__ = False

    style: TestStyle
    count: int
    """The least number of outcomes; a missing outcome has failed."""
    cases: Sequence[str] = ()
    setup: str = ""
    entry_point: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TestPrograms:
    __test__ = False

    names: Sequence[str]
    """The names of the outcomes that are known beforehand, over all programs."""
    programs: Sequence[TestProgram]
    calls: Sequence[AssertedCall] | None = None
    """The same tests as calls, one for each name, if all of them can be written so."""
    is_unguarded: bool = False
    """Whether operators of the program's own classes decide a test."""
    shares_files: bool = False
    """Whether tests and program need one directory."""
    is_rehearsed: bool = False
    """Whether they must run once without a program, see `rehearsal`."""


@dataclass(frozen=True, slots=True)
class TextCase:
    name: str
    source: str
    """The test code, which knows the response by a name; see `response_texts`."""


@dataclass(frozen=True, slots=True)
class TextTests:
    cases: Sequence[TextCase]


@dataclass(frozen=True, slots=True)
class JoinedTest:
    """A test that is part of the solution's own program, which passes if it ends with code 0."""

    source: str
    language: str
    """What the whole program is run as: a name of `sandbox.languages`."""
    prompt: str = ""
    """The head of the solution, if it has one."""
    stop_tokens: Sequence[str] = ()
    """Texts behind which a completion of the prompt is cut off."""
    completes: bool | None = None
    """Whether the solution continues the prompt. None: its form decides."""
    is_quoted: bool = False
    """Whether the solution stands in the test as a literal of Python."""
    split: "SplitTest | None" = None
    """The same test in two programs, if its text allows it."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike a told value and the expected one must be."""

    is_loose: bool = False
    """Whether `1` equals `"1"`, as in JavaScript's `==`."""
    tolerance: float | None = None
    """How far a number may be from the expected one."""


@dataclass(frozen=True, slots=True)
class SplitTest:
    """A test in two programs: one with the solution, which tells values, and one that tells what they must be."""

    telling: JoinedTest
    expected: str
    """The program that tells the expected values; it holds nothing of a response."""
    likenesses: Sequence[Likeness]
    """One for each value, in order."""


@dataclass(frozen=True, slots=True)
class Suite:
    """All tests of one item."""

    case_type: CaseType
    tests: StdioTests | CallTests | TestPrograms | TextTests | JoinedTest
    language: str | None = None
    """None: the response decides, or it is Python if only Python is possible."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files beside the program."""
    import_prefix: str = ""
    """Code before the program, and before its tests."""
    prompt: str = ""
    """Python whose last function the response completes or rewrites; empty if there is none."""
    preamble: str = ""
    """The text before that function in the prompt: imports and helpers."""
    entry_point: str = ""
    test_imports: Sequence[tuple[str, str]] = ()
    """Names that the tests import, with code that imports them: a program in one file with them may use them."""
    shares: str = ""
    """What its tests share with the process of the program, so that they need it in their own; empty if nothing."""

    @property
    def size(self) -> int:
        """The number of requested tests."""
        tests = self.tests
        if isinstance(tests, JoinedTest):
            return 1
        return len(tests.names) if isinstance(tests, TestPrograms) else len(tests.cases)

    @property
    def chars(self) -> int:
        """The approximate number of characters in it."""
        tests = self.tests
        if isinstance(tests, StdioTests):
            return sum(len(case.stdin) + len(case.expected) for case in tests.cases)
        if isinstance(tests, CallTests):
            return sum(2 * len(case.arguments) for case in tests.cases)
        if isinstance(tests, TextTests):
            return sum(len(case.source) for case in tests.cases)
        if isinstance(tests, JoinedTest):
            return len(tests.source) + len(tests.prompt)
        texts = [
            text for program in tests.programs for text in (*program.cases, program.setup, *program.files.values())
        ]
        return sum(map(len, texts))
