"""Tests that are files for pytest."""

import importlib
import inspect
import os
from typing import Any, Final

from sandbox.runner.testing.empty_comparisons import patch_approx
from sandbox.runner.testing.files import written
from sandbox.runner.testing.outcomes import Outcomes
from sandbox.runner.testing.remote_program import RemoteProgram
from sandbox.runner.testing.shared_state import FIXTURES, detect_sharing_in_pytest
from sandbox.runner.testing.specification import Specification

_UNUSED_PLUGINS: Final = (
    *("cacheprovider", "doctest", "faulthandler", "junitxml", "nose", "pastebin", "stepwise", "setuponly", "setupplan"),
    *("threadexception", "unraisableexception"),
)


def preload() -> None:
    """Import what pytest imports at its start, so that forked processes need not."""
    configuration: Any = importlib.import_module("_pytest.config")
    for name in configuration.default_plugins:
        importlib.import_module(f"_pytest.{name}")


def run(specification: Specification, program: RemoteProgram, outcomes: Outcomes) -> None:
    """Run pytest on the files: one outcome for each collected test, and for each file that could not be collected.

    Raises:
        RuntimeError: pytest did not accept its arguments; says nothing about the program.
    """
    directory = specification.directory
    names = written(specification.files, directory)
    if not names:
        return
    reporter = _Reporter(outcomes, program)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # noqa: TID251 - this process's own
    pytest: Any = importlib.import_module("pytest")
    patch_approx(type(pytest.approx(0)))
    paths = [os.path.join(directory, name) for name in names]
    code = None
    try:
        code = pytest.main([*_options(directory), *paths], plugins=[reporter])
    except BaseException as failure:  # noqa: BLE001 - pytest itself failed
        reporter.problem = outcomes.describe(failure)
    if code == pytest.ExitCode.USAGE_ERROR:
        raise RuntimeError("pytest did not start")
    reporter.fail_waiting()


def _options(directory: str) -> list[str]:
    return [
        "-q",
        "--noconftest",
        "--continue-on-collection-errors",
        "--assert=plain",
        "--capture=sys",
        "--rootdir",
        directory,
        "--confcutdir",
        directory,
        *("--basetemp", os.path.join(os.getcwd(), ".pytest")),
        *("-c", os.devnull),
        *("-o", "addopts="),
        *("-W", "ignore"),
        *(option for name in _UNUSED_PLUGINS for option in ("-p", f"no:{name}")),
    ]


_LEAVING_OUT: Final = ("skip", "xfail")


class _Reporter:
    """A pytest plugin that reports each test as it ends."""

    def __init__(self, outcomes: Outcomes, program: RemoteProgram) -> None:
        self.problem = "it was not run"
        self._outcomes = outcomes
        self._program = program
        self._waiting: list[str] = []
        self._error: str | None = None
        self._has_passed = False

    def fail_waiting(self) -> None:
        """Fail all tests that have not been run."""
        while self._waiting:
            self._outcomes.add(self._waiting.pop(0), self.problem)

    def pytest_exception_interact(self, call: Any) -> None:
        self._outcomes.describe(call.excinfo.value)

    def pytest_collectreport(self, report: Any) -> None:
        if not report.passed:
            self._outcomes.add(report.nodeid or "collection", _last_line(report))

    def pytest_collection_finish(self, session: Any) -> None:
        # What its own text leaves out, or says to fail, is not asked of a program.
        session.items[:] = [item for item in session.items if not any(map(item.get_closest_marker, _LEAVING_OUT))]
        self._waiting = [item.nodeid for item in session.items]

    def pytest_collection(self) -> None:
        detect_sharing_in_pytest(self._program)

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
        """Run a coroutine function, which pytest itself leaves to plugins."""
        if not inspect.iscoroutinefunction(pyfuncitem.obj):
            return None
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        importlib.import_module("asyncio").run(pyfuncitem.obj(**arguments))
        return True

    def pytest_fixture_setup(self, fixturedef: Any) -> None:
        self._program.shares_process |= fixturedef.argname in FIXTURES

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._error = None
        self._has_passed = False

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not report.passed or hasattr(report, "wasxfail"):
            self._error = self._error or f"{report.outcome}: {_last_line(report)}"
        elif report.when == "call":
            self._has_passed = True

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        if nodeid in self._waiting:
            self._waiting.remove(nodeid)
        if self._error is None and not self._has_passed:
            self._error = "it did not pass"
        self._outcomes.add(nodeid, self._error)


def _last_line(report: Any) -> str:
    """The error without its traceback."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.message)
    lines = str(report.longrepr).strip().splitlines()
    return lines[-1] if lines else ""
