"""The formats of reports by name."""

import json
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from sandbox.containers.base import GIVEN, MADE
from sandbox.workers import worker_function
from verifiers.base import InvalidItem
from verifiers.long_texts import sendable
from verifiers.repository.reports import outputs, programs, signed, swebench
from verifiers.repository.reports.names import group_of
from verifiers.repository.reports.state import ForgedReport, Report, ReportPlan, State, UnreadableReport, merged

MAX_REPORT_BYTES: Final = 32 << 20
FILE_END: Final = b"\0"
"""Between the files of a report. XML has no such byte."""
_CHANNEL: Final = "verifiers.repository.reports.channel"
"""As our plugins import it."""
PROGRAM: Final = "program"
"""The format that a program of the task reads, in a box and not here."""
_MAX_DEPTH: Final = 64
_GO_STATES: Final = {"pass": State.PASSED, "fail": State.FAILED, "skip": State.SKIPPED}

Reader = Callable[[Mapping[str, str], bytes, bytes | None], Iterator[tuple[str, State]]]


def check(log_format: str, options: Mapping[str, str]) -> None:
    """Check that there is such a format, and that it has its options.

    Raises:
        InvalidItem: it has not.
        Unavailable: what reads it is not installed.
    """
    if log_format not in (*FORMATS, PROGRAM):
        formats = sorted((*FORMATS, PROGRAM))
        raise InvalidItem("bad_reference", f"no log format {log_format[:100]!r}; there are {formats}")
    if log_format == "junit" and not options.get("path"):
        raise InvalidItem("bad_reference", "log_options must name the `path` of the JUnit XML that the command writes")
    kinds = {"pytest": _NAMES, "unittest": _UNITTEST_NAMES}.get(log_format)
    if kinds is not None and options.get("names", "whole") not in kinds:
        raise InvalidItem("bad_reference", f"log_options.names must be one of {sorted(kinds)}")
    if log_format == PROGRAM:
        programs.check(options)
    if log_format == "swebench":
        swebench.check(options.get("parser"))


def plan(log_format: str, options: Mapping[str, str], nonce: str, tests: Iterable[str] = ()) -> ReportPlan:
    """How the command is made to report. `nonce` is secret and used once; `tests` are the paths of files of tests.

    Raises:
        InvalidItem, Unavailable: see `check`.
    """
    check(log_format, options)
    if log_format in _RUNNERS:
        return _plugin_plan(log_format, nonce, tests)
    return ReportPlan(workspace_report=options["path"] if log_format == "junit" else None)


def report_of(log_format: str, options: Mapping[str, str], log: bytes, report: bytes | None) -> Report:
    """The states of the tests in a report. For runners with a plugin of ours the options have the `nonce` of the plan. Without
    a report, tests of unittest are read from the output: its Python may be too old for the plugin, or not run it.

    Raises:
        UnreadableReport: there is no report, or it is not of this format.
    """
    if log_format not in _RUNNERS or (log_format == "unittest" and report is None):
        states = merged(_READERS[log_format](options, log, report))
        return Report(states, log_format != "swebench" or swebench.is_plausible(states, log))
    if report is None:
        raise UnreadableReport("pytest has written no report")
    signed_report = signed.read(report, options["nonce"])
    name_of = (_NAMES if log_format == "pytest" else _UNITTEST_NAMES)[options.get("names", "whole")]
    tests = merged((name_of(name), state) for name, state in signed_report.tests)
    codes: dict[str, str] = {}
    for name, code in ((name_of(name), code) for name, code in signed_report.codes):
        earlier = codes.setdefault(name, code)
        if earlier != signed.CHANGED:  # tests may share a name, as in `r2e`
            codes[name] = code if code in (earlier, signed.CHANGED) else ""
    known = {name: code for name, code in codes.items() if code}
    return Report(tests, signed_report.is_whole, signed_report.is_sound, known, frozenset(signed_report.inspections))


@worker_function
def report_in_worker(payload: list[Any]) -> list[Any]:
    """Run `report_of` in a worker: `[kind of error, message, states, is_whole, is_sound, codes, inspections]`."""
    try:
        report = report_of(*payload)
        states = {sendable(name): state for name, state in report.states.items()}
        codes = {sendable(name): code for name, code in report.codes.items()}
        inspections = sorted(map(sendable, report.inspections))
        return ["", "", states, report.is_whole, report.is_sound, codes, inspections]
    except ForgedReport as error:
        return ["forged", str(error), {}, False, False, {}, []]
    except UnreadableReport as error:
        return ["unreadable", str(error), {}, False, False, {}, []]


def _plugin_plan(runner: str, nonce: str, tests: Iterable[str]) -> ReportPlan:
    plugin, key, channel = f"report_{nonce[:16]}", f"key_{nonce[:16]}", f"channel_{nonce[:16]}"
    programs, addopts = _RUNNERS[runner]
    marks = {
        _CHANNEL: channel,
        "@KEY_FILE@": f"{MADE}/{key}",
        "@REPORT_FILE@": f"{MADE}/report",
        "@GIVEN@": GIVEN,
        "@PROGRAMS@": programs,
        '"@TESTS@"': repr(tuple(sorted({posixpath.basename(path) for path in tests}))),
        "@MODULES@": f"{plugin} {runner} runpy pkgutil",
    }
    sources = {channel: "channel", plugin: f"{runner}_plugin", "sitecustomize": "early"}
    files = {f"given/{name}.py": _filled_in(_SOURCES[source], marks) for name, source in sources.items()}
    environment = {"PYTEST_ADDOPTS": addopts.format(plugin), "PYTEST_PLUGINS": ""} if addopts else {}
    return ReportPlan(
        environment={**environment, "PYTHONPATH": GIVEN},
        files={**files, f"made/{key}": nonce.encode()},
        report="report",
    )


def _filled_in(source: str, names: Mapping[str, str]) -> bytes:
    for mark, name in names.items():
        source = source.replace(mark, name)
    return source.encode()


_RUNNERS: Final[Mapping[str, tuple[str, str]]] = {"pytest": ("pytest py.test", "-p {}"), "unittest": ("", "")}
"""The runners that have a plugin of ours: the programs that are it, and what makes pytest load the plugin."""
_SOURCES: Final = {
    name: Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    for name in ("channel", "early", "pytest_plugin", "unittest_plugin")
}

_NAMES: Final[Mapping[str, Callable[[str], str]]] = {
    "whole": lambda name: name,
    "word": lambda name: name.partition(" ")[0],
    "r2e": lambda name: ".".join(name.split("::")[1:]).partition(" - ")[0] or name,
}
"""What data sets make of the names of pytest: those of SWE-bench and its kin are the second word of a line."""
_UNITTEST_NAMES: Final[Mapping[str, Callable[[str], str]]] = {
    "whole": lambda name: name,
    "r2e": lambda name: "{1}.{0}".format(*group_of(name)),
}


def _junit(options: Mapping[str, str], log: bytes, report: bytes | None) -> Iterator[tuple[str, State]]:
    if report is None:
        raise UnreadableReport(f"the command has written no report at {options.get('path')}")
    for file in report.split(FILE_END):
        yield from _junit_file(file)


def _junit_file(report: bytes) -> Iterator[tuple[str, State]]:
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
    """Lines of `go test -json`, or else of `go test -v`; a test is `package/TestName`."""
    events = [line for line in log.splitlines() if line.startswith(b"{")]
    for line in events:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        state = _GO_STATES.get(str(event.get("Action"))) if isinstance(event, dict) else None
        if state and event.get("Test"):
            yield f"{event.get('Package', '')}/{event['Test']}", state
    if not events:
        yield from outputs.go(log)


def literal_folder(pattern: str) -> tuple[str, str]:
    """The folder of a glob before its first star, and the rest of the glob; all of a plain path, and an empty rest."""
    segments = pattern.split("/")
    depth = next((at for at, part in enumerate(segments) if set(part) & set("*?")), len(segments))
    return "/".join(segments[:depth]), "/".join(segments[depth:])


def _in_output(read: Callable[[bytes], Iterator[tuple[str, State]]]) -> Reader:
    return lambda options, log, report: read(log)


_READERS: Final[Mapping[str, Reader]] = {
    "junit": _junit,
    "tap": _in_output(outputs.tap),
    "go": _go,
    "cargo": _in_output(outputs.cargo),
    "nextest": _in_output(outputs.nextest),
    "unittest": _in_output(outputs.unittest),
    "swebench": swebench.read,
}
FORMATS: Final = frozenset({"pytest", *_READERS})
"""The formats that `report_of` reads."""
