"""The formats of reports by name."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from sandbox.containers.base import GIVEN, MADE
from sandbox.workers import worker_function
from verifiers.base import InvalidItem
from verifiers.long_texts import sendable
from verifiers.repository.reports import outputs, signed, swebench
from verifiers.repository.reports.state import ForgedReport, Report, ReportPlan, State, UnreadableReport, merged

MAX_REPORT_BYTES: Final = 32 << 20
_PLUGIN: Final = Path(__file__).with_name("pytest_plugin.py").read_text(encoding="utf-8")
_EARLY: Final = Path(__file__).with_name("early.py").read_text(encoding="utf-8")
_MAX_DEPTH: Final = 64
_GO_STATES: Final = {"pass": State.PASSED, "fail": State.FAILED, "skip": State.SKIPPED}

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


def report_of(log_format: str, options: Mapping[str, str], log: bytes, report: bytes | None) -> Report:
    """The states of the tests in a report. For `pytest` the options have the `nonce` of the plan.

    Raises:
        UnreadableReport: there is no report, or it is not of this format.
    """
    if log_format != "pytest":
        return Report(merged(_READERS[log_format](options, log, report)))
    if report is None:
        raise UnreadableReport("pytest has written no report")
    found, name_of = signed.read(report, options["nonce"]), _NAMES[options.get("names", "whole")]
    tests = merged((name_of(name), state) for name, state in found.tests)
    return Report(tests, found.is_whole, found.is_sound)


@worker_function
def report_in_worker(payload: list[Any]) -> list[Any]:
    """Run `report_of` in a worker: `[kind of error, message, states, is_whole, is_sound]`."""
    try:
        report = report_of(*payload)
        states = {sendable(name): state for name, state in report.states.items()}
        return ["", "", states, report.is_whole, report.is_sound]
    except ForgedReport as error:
        return ["forged", str(error), {}, False, False]
    except UnreadableReport as error:
        return ["unreadable", str(error), {}, False, False]


def _pytest_plan(nonce: str) -> ReportPlan:
    module, key = f"report_{nonce[:16]}", f"key_{nonce[:16]}"
    names = {"@KEY_FILE@": f"{MADE}/{key}", "@REPORT_FILE@": f"{MADE}/report", "@GIVEN@": GIVEN, "@PLUGIN@": module}
    files = {f"given/{module}.py": _filled_in(_PLUGIN, names), "given/sitecustomize.py": _filled_in(_EARLY, names)}
    return ReportPlan(
        environment={"PYTEST_ADDOPTS": f"-p {module}", "PYTHONPATH": GIVEN, "PYTEST_PLUGINS": ""},
        files={**files, f"made/{key}": nonce.encode()},
        report="report",
    )


def _filled_in(source: str, names: Mapping[str, str]) -> bytes:
    for mark, name in names.items():
        source = source.replace(mark, name)
    return source.encode()


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
            if event == "end" and _tag(element) == "testcase":
                yield _junit_case(element)
    except ParseError as error:
        raise UnreadableReport(f"the report is not XML: {error}") from error


def _junit_case(case: Element) -> tuple[str, State]:
    group, name = case.get("classname", ""), case.get("name", "")
    children = {_tag(child) for child in case}
    state = State.PASSED
    for tag, means in (("skipped", State.SKIPPED), ("error", State.ERROR), ("failure", State.FAILED)):
        state = means if tag in children else state
    return (f"{group}.{name}" if group else name), state


def _tag(element: Element) -> str:
    """The name of an element, without the namespace that some writers give it."""
    return element.tag.rpartition("}")[2]


def _go(options: Mapping[str, str], log: bytes, report: bytes | None) -> Iterator[tuple[str, State]]:
    """Lines of `go test -json`; a test is `package/TestName`."""
    for line in log.splitlines():
        if not line.startswith(b"{"):
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        state = _GO_STATES.get(str(event.get("Action"))) if isinstance(event, dict) else None
        if state and event.get("Test"):
            yield f"{event.get('Package', '')}/{event['Test']}", state


def _in_output(read: Callable[[bytes], Iterator[tuple[str, State]]]) -> Reader:
    return lambda options, log, report: read(log)


_READERS: Final[Mapping[str, Reader]] = {
    "junit": _junit,
    "tap": _in_output(outputs.tap),
    "go": _go,
    "cargo": _in_output(outputs.cargo),
    "unittest": _in_output(outputs.unittest),
    "swebench": swebench.read,
}
FORMATS: Final = frozenset({"pytest", *_READERS})
