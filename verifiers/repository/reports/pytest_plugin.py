"""A plugin for pytest that reports each test, from pytest 3 on, in Python 3.6 and later. It runs in the container.

Each line of the report has a key, which the plugin alone knows: it reads the key before any judged code is imported, and
empties its file. At the end it runs a copy of a test that must fail. If that passes, something made tests pass.
"""

import json
import os
import types

import pytest

_KEY_FILE = "@KEY_FILE@"
_REPORT_FILE = "@REPORT_FILE@"


def _take_key():
    try:
        with open(_KEY_FILE, "r+") as file:
            key = file.read()
            file.truncate(0)
    except OSError:
        return ""
    return key


class _Reporter:
    def __init__(self, key):
        self._key = key
        self._items = []
        self._copy = None
        self._phases = {}
        self._file = os.open(_REPORT_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def _write(self, name, state):
        os.write(self._file, (json.dumps([self._key, name, state]) + "\n").encode("utf-8"))

    def pytest_collection_modifyitems(self, items):
        self._items = list(items)

    def pytest_collectreport(self, report):
        if report.failed:
            self._write(report.nodeid, "error")

    def pytest_runtest_logreport(self, report):
        if self._copy is not None:
            if report.nodeid == self._copy and report.when == "call":
                self._write("", "forged" if report.passed else "sound")
            return
        before = self._phases.get(report.nodeid)
        if report.failed:
            state = "failed" if report.when == "call" else "error"
        elif report.skipped:
            state = "skipped"
        else:
            state = before or "passed"
        if before in ("failed", "error"):
            state = before
        self._phases[report.nodeid] = state
        if report.when == "teardown":
            self._write(report.nodeid, self._phases.pop(report.nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        for item in self._items:
            if type(item) is pytest.Function and not hasattr(item, "callspec") and item.cls is None:
                self._try_copy(session, item)
                break
        self._write("", "end")

    def _try_copy(self, session, item):
        def fails():
            raise AssertionError("this copy of a test must fail")

        fails = types.FunctionType(fails.__code__, {"AssertionError": AssertionError}, item.name)
        fails.__module__ = item.function.__module__
        try:
            copy = pytest.Function.from_parent(item.parent, name=item.name, callobj=fails)
        except AttributeError:  # before pytest 5.4
            copy = pytest.Function(item.name, parent=item.parent, callobj=fails)
        self._copy = copy.nodeid
        session.config.hook.pytest_runtest_protocol(item=copy, nextitem=None)


def pytest_configure(config):
    key = _take_key()
    if key:
        config.pluginmanager.register(_Reporter(key))
