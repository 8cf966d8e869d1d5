"""The test suite that is judged, in one form for all data sets.

Suite ──┬─ StdioTests      programs read their input and write their output
        ├─ CallTests       a function is called, its value compared
        ├─ TestPrograms    the tests are programs themselves: asserts, check(candidate), unittest, pytest
        ├─ JoinedTest      solution and tests are one program, in any language
        └─ TextTests       the response is text, and the tests are programs about it

A suite can be sent: msgspec writes and reads it. Values of Python, which may be tuples and sets, are images (`encoding`).
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from sandbox.base import TestStyle
from sandbox.runner.values import encoding


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


class StdioCase(msgspec.Struct, frozen=True, array_like=True):
    name: str
    stdin: str
    expected: str
    files: Mapping[str, bytes] = msgspec.field(default_factory=dict)
    """Files of this test that the program reads."""
    expected_files: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Files that the program must write."""
    compares_output: bool = True
    """Whether standard output is compared. If not, only files are."""


class Checker(msgspec.Struct, frozen=True, array_like=True):
    """A special judge: a program of the data set that reads input, output and expected output as files."""

    source: str
    language: str = "python"
    max_points: float = 1.0
    """The most points that it gives; its `points` are a part of them."""


class StdioTests(msgspec.Struct, frozen=True, array_like=True, tag=True):
    cases: Sequence[StdioCase]
    checker: Checker | None = None


class CallCase(msgspec.Struct, frozen=True, array_like=True):
    name: str
    arguments: str
    """The arguments as JSON, as in `sandbox.base.Call`."""
    accepted: bytes
    """The image of a list of the accepted values; more than one only if the data set's form does not show which is meant."""
    only_python: bool = False
    """Whether the arguments hold values that other languages do not have."""

    @property
    def values(self) -> Any:
        return encoding.decode(self.accepted)


class CallTests(msgspec.Struct, frozen=True, array_like=True, tag=True):
    function: str
    cases: Sequence[CallCase]


class Relation(StrEnum):
    """The relation between the value of a call and the expected value in an assertion."""

    EQUALS = "=="
    IS = "is"
    TRUE = "true"
    FALSE = "not"


class AssertedCall(msgspec.Struct, frozen=True, array_like=True):
    """A parsed `assert f(1, 2) == 3`, compared as Python compares."""

    function: str
    arguments: str
    relation: Relation
    expected: bytes = b"null"
    """The image of the value."""

    @property
    def value(self) -> Any:
        return encoding.decode(self.expected)


class TestProgram(msgspec.Struct, frozen=True, array_like=True):
    """Tests that run in their own process beside the candidate's."""

    __test__ = False

    style: TestStyle
    count: int
    """The least number of outcomes; a missing outcome has failed."""
    cases: Sequence[str] = ()
    setup: str = ""
    entry_point: str = ""
    files: Mapping[str, str] = msgspec.field(default_factory=dict)


class TestPrograms(msgspec.Struct, frozen=True, array_like=True, tag=True):
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


class TextCase(msgspec.Struct, frozen=True, array_like=True):
    name: str
    source: str
    """The test code, which knows the response by a name; see `response_texts`."""


class TextTests(msgspec.Struct, frozen=True, array_like=True, tag=True):
    cases: Sequence[TextCase]


class JoinedTest(msgspec.Struct, frozen=True, array_like=True, tag=True):
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
    name: str = ""
    """The name of the function that the prompt begins."""
    split: "SplitTest | None" = None
    """The same test in two programs, if its text allows it."""


class Likeness(msgspec.Struct, frozen=True, array_like=True):
    """How alike a told value and the expected one must be."""

    is_loose: bool = False
    """Whether `1` equals `"1"`, as in JavaScript's `==`."""
    tolerance: float | None = None
    """How far a number may be from the expected one."""


class SplitTest(msgspec.Struct, frozen=True, array_like=True):
    """A test in two programs: one with the solution, which tells values, and one that tells what they must be."""

    telling: JoinedTest
    expected: str
    """The program that tells the expected values; it holds nothing of a response."""
    likenesses: Sequence[Likeness]
    """One for each value, in order."""


class Suite(msgspec.Struct, frozen=True, array_like=True):
    """All tests of one item."""

    case_type: CaseType
    tests: StdioTests | CallTests | TestPrograms | TextTests | JoinedTest
    language: str | None = None
    """None: the response decides, or it is Python if only Python is possible."""
    files: Mapping[str, bytes] = msgspec.field(default_factory=dict)
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
