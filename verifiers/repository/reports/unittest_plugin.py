"""Reports each test that a runner of Python's own unittest runs, from Python 3.6 on. It runs in the container.

The runners of all kinds tell their result what becomes of a test, and results of all kinds tell their base class. So it listens
there. The results of some runners do not tell it where a run begins and ends: then it begins with its first test, and ends with
the first test of another result, or with the program. At the end of a run it runs a test that must fail. If that passes, something made tests pass.
"""

import atexit
import sys
import unittest
from typing import Any

from verifiers.repository.reports.channel import Replaced, channels, code_of


class _Reporter:
    """The run under way. Results that begin within it belong to tests of its own."""

    def __init__(self, report: Any) -> None:
        self._write = report
        self._result: Any = None
        self._is_told = False  # whether the runner says where its runs begin and end
        self._states: Any = {}
        self._last: Any = None
        self.runner: Any = None

    def begin(self, result: Any, is_told: bool = True) -> None:
        if self._result is None:
            self._result, self._is_told = result, is_told
            self._write("", "begin")

    def start(self, result: Any, test: Any) -> None:
        if result is not self._result and not self._is_told and not self._states:
            self.finish()
            self.begin(result, is_told=False)
        if result is self._result:
            self._states[id(test)] = ""
            self._last = test
            code = _code(test)
            if code:
                self._write(str(test), f"code {code}")

    def note(self, result: Any, test: Any, state: str) -> None:
        if result is not self._result:
            return
        if id(test) not in self._states:  # what comes before and behind the tests of a class or a module
            self._write(str(test), state)
        elif self._states[id(test)] not in ("failed", "error"):
            self._states[id(test)] = state

    def stop(self, result: Any, test: Any) -> None:
        state = self._states.pop(id(test), "") if result is self._result else ""
        if result is self._result:
            self.runner.tell(self._write)
        if state:
            self._write(str(test), state)

    def end(self, result: Any) -> None:
        if result is self._result:
            self._is_told = True  # what is run now is not a run of its own
            self._write("", "sound" if self._fails() else "forged")
            self._write("", "end")
            self._result, self._is_told = None, False

    def finish(self) -> None:
        if not self._is_told and self._result is not None:
            self.end(self._result)

    def _fails(self) -> bool:
        """Whether a test that must fail does, with the names of one that has run."""

        def fails(test: Any) -> None:
            raise AssertionError("this copy of a test must fail")

        kind, name = type(self._last), self._last.id().rpartition(".")[2]
        copy = type(kind.__name__, (unittest.TestCase,), {name: fails, "__module__": kind.__module__})
        result = unittest.TestResult()
        copy(name).run(result)
        return len(result.failures) == 1 and not result.errors


def _code(test: Any) -> str:
    """A digest of the code of a test, as far as its own file has it."""
    method = getattr(test, test.id().rpartition(".")[2], None)
    return code_of(method, getattr(sys.modules.get(type(test).__module__), "__file__", ""))


def _listen(reporter: Any) -> None:
    """Have the reporter hear what results hear."""
    states = {
        "addSuccess": "passed",
        "addError": "error",
        "addFailure": "failed",
        "addSkip": "skipped",
        "addExpectedFailure": "xfailed",
        "addUnexpectedSuccess": "failed",
    }
    base: Any = unittest.TestResult

    def noting(method: Any, state: str) -> Any:
        def note(self: Any, test: Any, *more: Any) -> Any:
            reporter.note(self, test, state)
            return method(self, test, *more)

        return note

    def telling(method: Any, tell: Any) -> Any:
        def hear(self: Any, *more: Any) -> Any:
            tell(self, *more)
            return method(self, *more)

        return hear

    def subtest(method: Any) -> Any:
        def note(self: Any, test: Any, part: Any, error: Any) -> Any:
            if error is not None:
                reporter.note(self, test, "failed" if issubclass(error[0], test.failureException) else "error")
            return method(self, test, part, error)

        return note

    for name, state in states.items():
        setattr(base, name, noting(getattr(base, name), state))
    for name, tell in (
        ("startTestRun", reporter.begin),
        ("startTest", reporter.start),
        ("stopTest", reporter.stop),
        ("stopTestRun", reporter.end),
    ):
        setattr(base, name, telling(getattr(base, name), tell))
    base.addSubTest = subtest(base.addSubTest)


def _turn() -> None:
    """Turn the order of the tests of a class around."""
    loader: Any = unittest.TestLoader
    names = loader.getTestCaseNames
    loader.getTestCaseNames = lambda self, kind: list(reversed(names(self, kind)))


def _begin() -> None:
    channel = channels.pop() if channels else None
    if channel is not None:
        report, is_turned = channel
        reporter = _Reporter(report)
        _listen(reporter)
        if is_turned:
            _turn()
        reporter.runner = Replaced(("unittest.",))
        atexit.register(reporter.finish)


_begin()
