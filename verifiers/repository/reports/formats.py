"""The formats of reports by name."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

import msgspec

from sandbox.containers.base import GIVEN, MADE
from sandbox.workers import worker_function
from verifiers.base import InvalidItem
from verifiers.repository.reports import swebench
from verifiers.repository.reports.state import ForgedReport, ReportPlan, State, UnreadableReport, merged

MAX_REPORT_BYTES: Final = 32 << 20
_PLUGIN: Final = Path(__file__).with_name("pytest_plugin.py").read_text(encoding="utf-8")
_MAX_DEPTH: Final = 64
_CARGO: Final = re.compile(r"^test (\S.*?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b", re.M)
_TAP: Final = re.compile(
    r"^(?P<indent> *)(?P<not>not )?ok\b *\d* *(?:- )?(?P<name>[^#\n]*?)[ \t]*(?:# *(?P<directive>\w+)[^\n]*)?$", re.M
)
_UNITTEST_STATES: Final = r"ok|FAIL|ERROR|skipped[^\n]*|expected failure|unexpected success"
_UNITTEST: Final = re.compile(
    rf"^(?P<name>\w+ \([\w.<>]+\))(?:\n[^\n]*)?? \.\.\. (?:[^\n]*?)(?P<state>{_UNITTEST_STATES})$", re.M
)
_WORDS: Final = {
    "ok": State.PASSED,
    "pass": State.PASSED,
    "fail": State.FAILED,
    "skip": State.SKIPPED,
    "FAILED": State.FAILED,
    "FAIL": State.FAILED,
    "ERROR": State.ERROR,
    "ignored": State.SKIPPED,
    "expected failure": State.PASSED,
    "unexpected success": State.FAILED,
}

Reader = Callable[[Mapping[str, str], bytes, bytes | None], Iterator[tuple[str, State]]]


def check(log_format: str, options: Mapping[str, str]) -> None:
    """Check that there is such a format, and that it has its options.

    Raises:
        InvalidItem: it has not.
        Unavailable: what reads it is not installed.
    """
    if log_format not in FORMATS:
        raise InvalidItem("bad_reference", f"no log format {log_format[:100]!r}; there are {sorted(FORMATS)}")
    if log_format == "junit" and not options.get("path"):
        raise InvalidItem("bad_reference", "log_options must name the `path` of the JUnit XML that the command writes")
    if log_format == "pytest" and options.get("names", "whole") not in _NAMES:
        raise InvalidItem("bad_reference", f"log_options.names must be one of {sorted(_NAMES)}")
    if log_format == "swebench":
        swebench.check(options.get("parser"))


def plan(log_format: str, options: Mapping[str, str], nonce: str) -> ReportPlan:
    """How the command is made to report. `nonce` is secret and used once.

    Raises:
        InvalidItem, Unavailable: see `check`.
    """
    check(log_format, options)
    if log_format == "pytest":
        return _pytest_plan(nonce)
    return ReportPlan(workspace_report=options["path"] if log_format == "junit" else None)


def states(log_format: str, options: Mapping[str, str], log: bytes, report: bytes | None) -> Mapping[str, State]:
    """The state of each test in a report. For `pytest` the options have the `nonce` of the plan.

    Raises:
        UnreadableReport: there is no report, or it is not of this format.
    """
    return merged(FORMATS[log_format](options, log, report))


@worker_function
def states_in_worker(payload: list[Any]) -> list[Any]:
    """Run `states` in a worker: `[kind of error, message, states]`."""
    try:
        return ["", "", dict(states(*payload))]
    except ForgedReport as error:
        return ["forged", str(error), {}]
    except UnreadableReport as error:
        return ["unreadable", str(error), {}]


def _pytest_plan(nonce: str) -> ReportPlan:
    module, key = f"report_{nonce[:16]}", f"key_{nonce[:16]}"
    source = _PLUGIN.replace("@KEY_FILE@", f"{MADE}/{key}").replace("@REPORT_FILE@", f"{MADE}/report")
    return ReportPlan(
        environment={"PYTEST_ADDOPTS": f"-p {module}", "PYTHONPATH": GIVEN, "PYTEST_PLUGINS": ""},
        files={f"given/{module}.py": source.encode(), f"made/{key}": nonce.encode()},
        report="report",
    )


def _pytest(options: Mapping[str, str], log: bytes, report: bytes | None) -> Iterator[tuple[str, State]]:
    if report is None:
        raise UnreadableReport("pytest has written no report")
    for line in report.splitlines():
        try:
            key, name, state = msgspec.json.decode(line, type=tuple[str, str, str])
        except msgspec.DecodeError as error:
            raise ForgedReport("a line of the report is not pytest's") from error
        if key != options["nonce"]:
            raise ForgedReport("a line of the report has not the key")
        if not name:
            if state == "forged":
                raise ForgedReport("a test that must fail has passed")
            continue
        yield _NAMES[options.get("names", "whole")](name), State(state)


_NAMES: Final[Mapping[str, Callable[[str], str]]] = {
    "whole": lambda name: name,
    "word": lambda name: name.partition(" ")[0],
    "r2e": lambda name: ".".join(name.split("::")[1:]) or name,
}
"""What data sets make of the names of pytest: those of SWE-bench and its kin are the second word of a line."""


def _junit(options: Mapping[str, str], log: bytes, report: bytes | None) -> Iterator[tuple[str, State]]:
    if report is None:
        raise UnreadableReport(f"the command has written no report at {options.get('path')}")
    try:
        text = report.decode()
    except UnicodeDecodeError as error:
        raise UnreadableReport("the report is not UTF-8") from error
    if "<!DOCTYPE" in text:  # so there are no entities
        raise UnreadableReport("the report has a document type")
    parser: Any = XMLPullParser(("start", "end"))
    depth = 0
    try:
        parser.feed(text)
        parser.close()
        for event, element in parser.read_events():
            depth += 1 if event == "start" else -1
            if depth > _MAX_DEPTH:
                raise UnreadableReport("the report is nested too deeply")
            if event == "end" and element.tag == "testcase":
                yield _junit_case(element)
    except ParseError as error:
        raise UnreadableReport(f"the report is not XML: {error}") from error


def _junit_case(case: Element) -> tuple[str, State]:
    group, name = case.get("classname", ""), case.get("name", "")
    children = {child.tag for child in case}
    state = State.PASSED
    for tag, means in (("skipped", State.SKIPPED), ("error", State.ERROR), ("failure", State.FAILED)):
        state = means if tag in children else state
    return (f"{group}.{name}" if group else name), state


def _tap(options: Mapping[str, str], log: bytes, report: bytes | None) -> Iterator[tuple[str, State]]:
    for found in _TAP.finditer(log.decode(errors="replace")):
        is_skipped = (found["directive"] or "").lower() in ("skip", "todo")
        judged = State.FAILED if found["not"] else State.PASSED
        if found["name"]:
            yield found["name"], State.SKIPPED if is_skipped else judged


def _go(options: Mapping[str, str], log: bytes, report: bytes | None) -> Iterator[tuple[str, State]]:
    """Lines of `go test -json`; a test is `package/TestName`."""
    for line in log.splitlines():
        if not line.startswith(b"{"):
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and event.get("Test") and event.get("Action") in ("pass", "fail", "skip"):
            yield f"{event.get('Package', '')}/{event['Test']}", _WORDS[event["Action"]]


def _cargo(options: Mapping[str, str], log: bytes, report: bytes | None) -> Iterator[tuple[str, State]]:
    for found in _CARGO.finditer(log.decode(errors="replace")):
        yield found[1], _WORDS[found[2]]


def _unittest(options: Mapping[str, str], log: bytes, report: bytes | None) -> Iterator[tuple[str, State]]:
    """Lines of `python -m unittest -v`; a test is `name (module.Class.name)` as Python prints it."""
    for found in _UNITTEST.finditer(log.decode(errors="replace")):
        word = found["state"]
        yield found["name"], State.SKIPPED if word.startswith("skipped") else _WORDS[word]


FORMATS: Final[Mapping[str, Reader]] = {
    "pytest": _pytest,
    "junit": _junit,
    "tap": _tap,
    "go": _go,
    "cargo": _cargo,
    "unittest": _unittest,
    "swebench": swebench.read,
}
