"""Tests that are files with `unittest.TestCase` classes.

`unittest` is imported only for such tests: without it, a box that is used once starts faster by a sixth.
"""

import importlib
from collections.abc import Iterator
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from sandbox.runner.testing.files import load, written
from sandbox.runner.testing.outcomes import Outcomes
from sandbox.runner.testing.remote_program import RemoteProgram
from sandbox.runner.testing.specification import Specification

if TYPE_CHECKING:
    import unittest
    from unittest import TestResult as _TestResult
else:
    _TestResult = object

_ErrorInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


def run(specification: Specification, program: RemoteProgram, outcomes: Outcomes) -> None:
    """Run the tests of each file, named by their id.

    Tests that their own text leaves out (`@unittest.skip`), or expects to fail, have no outcome. One that skips itself as
    it runs has not passed.
    """
    for name in written(specification.files, specification.directory):
        try:
            module = load(name, specification.directory)
        except BaseException as failure:  # noqa: BLE001 - a file that cannot be imported
            outcomes.add(name, outcomes.describe(failure))
            continue
        _run_module(module, outcomes)


def _run_module(module: ModuleType, outcomes: Outcomes) -> None:
    unittest = _unittest()
    try:
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    except BaseException as failure:  # noqa: BLE001 - a module's own `load_tests`
        outcomes.add(module.__name__, outcomes.describe(failure))
        return
    tests = [test for test in _tests(suite) if type(test).__module__ == module.__name__]
    waiting = [test.id() for test in tests if not _is_left_out(test)]
    result: Any = type("Result", (_Reporter, unittest.TestResult), {})(outcomes, waiting)
    try:
        suite.run(result)
    except BaseException as failure:  # noqa: BLE001 - such as SystemExit in setUpClass, which unittest lets through
        result.problem = outcomes.describe(failure)
    result.fail_waiting()


def _unittest() -> Any:
    return importlib.import_module("unittest")


def _tests(suite: Any) -> Iterator["unittest.TestCase"]:
    for test in suite:
        if isinstance(test, _unittest().TestSuite):
            yield from _tests(test)
        else:
            yield test


def _is_left_out(test: "unittest.TestCase") -> bool:
    method = getattr(test, test._testMethodName, None)
    marks = [getattr(marked, "__unittest_skip__", False) for marked in (type(test), method)]
    return any(marks) or any(getattr(marked, "__unittest_expecting_failure__", False) for marked in (test, method))


class _Reporter(_TestResult):
    """Reports each test as it ends; combined with `unittest.TestResult` as a second base."""

    def __init__(self, outcomes: Outcomes, waiting: list[str]) -> None:
        super().__init__()
        self.problem = "it was not run"
        self._outcomes = outcomes
        self._waiting = waiting
        self._error: str | None = None
        self._has_succeeded = False

    def startTest(self, test: "unittest.TestCase") -> None:  # noqa: N802
        super().startTest(test)
        self._error = None
        self._has_succeeded = False

    def stopTest(self, test: "unittest.TestCase") -> None:  # noqa: N802
        super().stopTest(test)
        if test.id() not in self._waiting:
            return
        self._waiting.remove(test.id())
        if self._error is None and not self._has_succeeded:
            self._error = "it did not succeed"
        self._outcomes.add(test.id(), self._error)

    def fail_waiting(self) -> None:
        """Fail all tests that have not been run."""
        while self._waiting:
            self._outcomes.add(self._waiting.pop(0), self.problem)

    def addSuccess(self, test: "unittest.TestCase") -> None:  # noqa: N802
        self._has_succeeded = True

    def addError(self, test: "unittest.TestCase", err: _ErrorInfo) -> None:  # noqa: N802
        self._note(err)
        if not isinstance(test, _unittest().TestCase):
            self.problem = f"{test.id()}: {self._error}"

    def addFailure(self, test: "unittest.TestCase", err: _ErrorInfo) -> None:  # noqa: N802
        self._note(err)

    def addSubTest(  # noqa: N802
        self, test: "unittest.TestCase", subtest: "unittest.TestCase", err: _ErrorInfo | None
    ) -> None:
        if err is not None:
            self._note(err)

    def addSkip(self, test: "unittest.TestCase", reason: str) -> None:  # noqa: N802
        self._error = f"skipped: {reason}"

    def addExpectedFailure(self, test: "unittest.TestCase", err: _ErrorInfo) -> None:  # noqa: N802
        self._error = "it was expected to fail"

    def addUnexpectedSuccess(self, test: "unittest.TestCase") -> None:  # noqa: N802
        self._error = "it was expected to fail, and did not"

    def _note(self, error: _ErrorInfo) -> None:
        description = self._outcomes.describe(error[1]) if error[1] is not None else "it failed"
        self._error = self._error or description
