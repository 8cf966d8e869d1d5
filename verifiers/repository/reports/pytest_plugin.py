"""A plugin for pytest that reports each test, from pytest 3 on, in Python 3.6 and later. It runs in the container.

PYTEST_DONT_REWRITE: it is imported before pytest could rewrite it.

At the end it runs a copy of a test that must fail. If that passes, something made tests pass.
"""

import types
from typing import Any

from verifiers.repository.reports.channel import Replaced, channels, code_of

_DECIDING = ["python", "runner", "reports", "main", "nodes", "skipping", "outcomes", "fixtures", "_code", "assertion"]
_PACKAGES = ("pluggy.", *(f"_pytest.{name}." for name in _DECIDING))
_runner: Any = []
"""Its functions before any file of the repository is imported."""


class _Reporter:
    def __init__(self, report: Any, is_turned: bool) -> None:
        self._write = report
        self._is_turned = is_turned
        self._items: Any = []
        self._marked: Any = set()
        self._copy: Any = None
        self._phases: Any = {}
        self._codes: Any = {}
        self._runner = _runner.pop() if _runner else Replaced(_PACKAGES)
        report("", "begin")

    def pytest_itemcollected(self, item: Any) -> None:
        code = _code(item)
        if code and self._codes.setdefault(item.nodeid, code) is code:
            self._write(item.nodeid, f"code {code}")

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if self._copy is None and call.when == "call":
            self._runner.tell(self._write)
        if self._copy is None and call.when == "call" and _code(item) != self._codes.get(item.nodeid, ""):
            self._write(item.nodeid, "changed")

    def pytest_collection_modifyitems(self, items: Any) -> None:
        self._items = list(items)
        self._marked = {item.nodeid for item in items if _is_marked(item)}
        if self._is_turned:
            items.reverse()

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._write(report.nodeid, "error")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if self._copy is not None:
            if report.nodeid == self._copy and report.when == "call":
                self._write("", "sound" if report.failed else "forged")
            return
        if report.outcome == "rerun":
            return
        earlier = self._phases.get(report.nodeid)
        if report.failed:
            state = "failed" if report.when == "call" else "error"
        elif report.skipped and hasattr(report, "wasxfail"):
            state = "xfailed" if report.nodeid in self._marked else "gave up"
        elif report.skipped:
            state = "skipped"
        else:
            state = earlier or "passed"
        if earlier in ("failed", "error"):
            state = earlier
        self._phases[report.nodeid] = state
        if report.when == "teardown":
            self._write(report.nodeid, self._phases.pop(report.nodeid))

    def pytest_sessionfinish(self, session: Any) -> None:
        import pytest  # noqa: PLC0415 - see `pytest_configure`

        for item in self._items:
            if type(item) is pytest.Function and not hasattr(item, "callspec") and item.cls is None:
                self._try_copy(session, item, pytest.Function)
                break
        self._write("", "end")

    def _try_copy(self, session: Any, item: Any, kind: Any) -> None:
        def fails() -> None:
            raise AssertionError("this copy of a test must fail")

        code: Any = fails.__code__
        if hasattr(code, "replace"):  # from Python 3.8 on
            code = code.replace(co_name=item.function.__name__, co_filename=item.function.__code__.co_filename)
        test: Any = types.FunctionType(code, {"AssertionError": AssertionError}, item.name)
        test.__module__ = item.function.__module__
        if hasattr(kind, "from_parent"):
            copy = kind.from_parent(item.parent, name=item.name, callobj=test)
        else:  # before pytest 5.4
            copy = kind(item.name, parent=item.parent, callobj=test)
        self._copy = copy.nodeid
        session.config.hook.pytest_runtest_protocol(item=copy, nextitem=None)


def _code(item: Any) -> str:
    """A digest of the code of a test, as far as its own file has it."""
    return code_of(getattr(item, "obj", None), str(getattr(item, "fspath", "")))


def _is_marked(item: Any) -> bool:
    """Whether a test says that it is expected to fail."""
    find = getattr(item, "get_closest_marker", None) or item.get_marker  # the second one before pytest 3.6
    function = getattr(item, "obj", None)
    owners = (function, getattr(item, "cls", None))
    return find("xfail") is not None or any(getattr(owner, "__unittest_expecting_failure__", False) for owner in owners)


def pytest_load_initial_conftests() -> None:
    _runner.append(Replaced(_PACKAGES))


def pytest_configure(config: Any) -> None:
    # pytest is not imported above: where it cannot be imported early, the plugin has taken the key all the same
    import pytest  # noqa: PLC0415

    channel = channels.pop() if channels else None
    if channel is not None:
        for name in ("pytest_sessionfinish", "pytest_itemcollected", "pytest_runtest_makereport"):
            setattr(_Reporter, name, pytest.hookimpl(tryfirst=True)(getattr(_Reporter, name)))
        config.option.tbstyle = "no"  # nobody reads tracebacks: to write them takes longer than the tests of a twin run
        config.pluginmanager.register(_Reporter(*channel))
