"""Reads the results of tests in the output of their runner, line by line.

Each line is read once, by methods of `str` and by expressions that RE2 runs, so the work is in proportion to the output,
whatever the program wrote. Colours and carriage returns are left out.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import re2

from verifiers.repository.reports.state import State

_ESCAPES: Final[Any] = re2.compile(r"\x1b\[[0-9;:?]*[A-Za-z]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")
_TAP: Final[Any] = re2.compile(r"^ *(not )?ok\b *(?:\d+\b)? *(?:- )?(.*)$")
_TAP_DIRECTIVE: Final[Any] = re2.compile(r"(?i)^(.*[^\\]|)#\s*(?:skip|todo\b).*$")
_TAP_TIME: Final[Any] = re2.compile(r"\s+# time=[0-9.]+m?s$")
_GO: Final[Any] = re2.compile(r"^ *--- (PASS|FAIL|SKIP): (\S+) \([0-9.]+s\)$")
_GO_PACKAGE: Final[Any] = re2.compile(r"^(?:ok  |FAIL)\t(\S+)(?:\t.*)?$")
_NEXTEST: Final[Any] = re2.compile(
    r"^ *(PASS|FAIL|SIGABRT|SIGSEGV|TIMEOUT|LEAK) \[ *[0-9.]+s\] (?:\( *\d+/\d+\) )?(\S+) (\S.*)$"
)
_GO_STATES: Final = {"PASS": State.PASSED, "FAIL": State.FAILED, "SKIP": State.SKIPPED}
_CARGO: Final[Any] = re2.compile(r"^test (\S.*?)(?: - should panic)? \.\.\. ?(.*)$")
_UNITTEST: Final[Any] = re2.compile(r"^([\p{L}\p{N}_]+ \([\p{L}\p{N}_.<>]+\))(?: \.\.\. ?(.*))?$")
_UNITTEST_FAULT: Final[Any] = re2.compile(r"^(FAIL|ERROR): ([\p{L}\p{N}_]+ \([\p{L}\p{N}_.<>]+\))")
_UNITTEST_RULES: Final = ("=" * 70, "-" * 70)
_CARGO_STATES: Final = {"ok": State.PASSED, "FAILED": State.FAILED, "ignored": State.SKIPPED}
_UNITTEST_STATES: Final = {
    "ok": State.PASSED,
    "FAIL": State.FAILED,
    "ERROR": State.ERROR,
    "expected failure": State.PASSED,
    "unexpected success": State.FAILED,
}


def lines(log: bytes) -> Sequence[str]:
    """The lines of an output, without colours and carriage returns."""
    return [line.rstrip("\r") for line in plain(log.decode(errors="replace")).split("\n")]


def plain(text: str) -> str:
    """A text without colours."""
    return str(_ESCAPES.sub("", text)) if "\x1b" in text else text


def tap(log: bytes) -> Iterator[tuple[str, State]]:
    """Lines of TAP. Behind the name there may be a directive (`# SKIP why`, `# TODO`) or a time; any other `#` is the
    name's.
    """
    for line in lines(log):
        if match := _TAP.match(line):
            name, state = match[2].rstrip(), State.FAILED if match[1] else State.PASSED
            if "#" in name:
                if directive := _TAP_DIRECTIVE.match(name):
                    name, state = directive[1].rstrip(), State.SKIPPED
                name = _TAP_TIME.sub("", name).replace("\\#", "#")
            if name:
                yield name, state


def go(log: bytes) -> Iterator[tuple[str, State]]:
    """Lines of `go test -v`. The line of a package comes behind those of its tests."""
    tests: list[tuple[str, State]] = []
    for line in lines(log):
        if test := _GO.match(line):
            tests.append((test[2], _GO_STATES[test[1]]))
        elif package := _GO_PACKAGE.match(line):
            yield from ((f"{package[1]}/{name}", state) for name, state in tests)
            tests = []


def nextest(log: bytes) -> Iterator[tuple[str, State]]:
    """Lines of `cargo nextest run`; a test is `binary test`. One that is tried again has failed if one attempt has."""
    for line in lines(log):
        if match := _NEXTEST.match(line):
            yield f"{match[2]} {match[3]}", State.PASSED if match[1] in ("PASS", "LEAK") else State.FAILED


def cargo(log: bytes) -> Iterator[tuple[str, State]]:
    """Lines of `cargo test`. With `--nocapture`, what a test prints comes between its name and its state, so the last line
    that is a state counts.
    """
    name, state = "", None
    for line in lines(log):
        match = _CARGO.match(line)
        if match or line == "failures:" or line.startswith("test result: "):
            if name and state:
                yield name, state
            name, state = (match[1], _cargo_state(match[2])) if match else ("", None)
        if match and state:
            yield name, state
            name = ""
        elif name and not match:
            state = _cargo_state(line) or state
    if name and state:
        yield name, state


def _cargo_state(line: str) -> State | None:
    """The state that a line is: `ok`, `FAILED <0.01s>`, `ignored, too slow`."""
    return _CARGO_STATES.get(line.partition(" <")[0].partition(",")[0])


def unittest(log: bytes) -> Iterator[tuple[str, State]]:
    """Lines of `python -m unittest -v`; a test is `name (module.Class.name)` as Python prints it.

    What a test logs comes between its name and its state, so the last line that is a state counts. What the faults at the
    end name has failed, whatever was printed before.
    """
    name, state, is_begun = "", None, False
    for line in lines(log):
        head = _UNITTEST.match(line)
        if head or line in _UNITTEST_RULES:
            if name and state:
                yield name, state
            name, state, is_begun = (head[1], None, False) if head else ("", None, False)
        if head and head[2] is not None:
            state, is_begun = _unittest_state(head[2]), True
        elif name and not is_begun and " ... " in f"{line} ":
            # the first line of a documentation comes between the name and the dots
            state, is_begun = _unittest_state(line.rpartition(" ... ")[2] if " ... " in line else ""), True
        elif name and is_begun and not head:
            state = _unittest_state(line) or state
        if line.startswith(("FAIL: ", "ERROR: ")) and (fault := _UNITTEST_FAULT.match(line)):
            yield fault[2], State.FAILED if fault[1] == "FAIL" else State.ERROR
    if name and state:
        yield name, state


def _unittest_state(line: str) -> State | None:
    return State.SKIPPED if line.startswith("skipped ") else _UNITTEST_STATES.get(line)
