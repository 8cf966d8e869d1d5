"""A plugin for pytest that reports each test, from pytest 3 on, in Python 3.6 and later. It runs in the container.

Each line of the report has a key, which the plugin alone knows: it reads the key before any judged code is imported, and
empties its file. At the end it runs a copy of a test that must fail. If that passes, something made tests pass.
"""

import json
import os
import types
from typing import Any

import pytest

_KEY_FILE = "@KEY_FILE@"
_REPORT_FILE = "@REPORT_FILE@"


def _take_key() -> str:
    try:
        with open(_KEY_FILE, "r+") as file:
            key = file.read()
            file.truncate(0)
    except OSError:
        return ""
    return key


class _Reporter:
    def __init__(self, key: str) -> None:
        self._key = key
        self._items: Any = []
        self._copy: Any = None
        self._phases: Any = {}
        self._file = os.open(_REPORT_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def _write(self, name: str, state: str) -> None:
        os.write(self._file, (json.dumps([self._key, name, state]) + "\n").encode("utf-8"))

    def pytest_collection_modifyitems(self, items: Any) -> None:
        self._items = list(items)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._write(report.nodeid, "error")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if self._copy is not None:
            if report.nodeid == self._copy and report.when == "call":
                self._write("", "forged" if report.passed else "sound")
            return
        before = self._phases.get(report.nodeid)
        if report.failed:
            state = "failed" if report.when == "call" else "error"
        elif report.skipped:
            state = "passed" if hasattr(report, "wasxfail") else "skipped"
        else:
            state = before or "passed"
        if before in ("failed", "error"):
            state = before
        self._phases[report.nodeid] = state
        if report.when == "teardown":
            self._write(report.nodeid, self._phases.pop(report.nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: Any) -> None:
        for item in self._items:
            if type(item) is pytest.Function and not hasattr(item, "callspec") and item.cls is None:
                self._try_copy(session, item)
                break
        self._write("", "end")

    def _try_copy(self, session: Any, item: Any) -> None:
        def fails() -> None:
            raise AssertionError("this copy of a test must fail")

        test: Any = types.FunctionType(fails.__code__, {"AssertionError": AssertionError}, item.name)
        test.__module__ = item.function.__module__
        kind: Any = pytest.Function
        if hasattr(kind, "from_parent"):
            copy = kind.from_parent(item.parent, name=item.name, callobj=test)
        else:  # before pytest 5.4
            copy = kind(item.name, parent=item.parent, callobj=test)
        self._copy = copy.nodeid
        session.config.hook.pytest_runtest_protocol(item=copy, nextitem=None)


def pytest_configure(config: Any) -> None:
    key = _take_key()
    if key:
        config.pluginmanager.register(_Reporter(key))
