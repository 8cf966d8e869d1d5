"""`sandbox.boxes.pool.messages`: whatever a box says is understood or refused, never believed."""

import fcntl
import json
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sandbox.base import Exit, RunResult, TestOutcome
from sandbox.boxes.link import Malformed
from sandbox.boxes.pool.messages import SLACK_BYTES, read_hello, read_loaded, read_result, read_unloaded
from sandbox.runner.testing.outcomes import seal
from tests.tables import table

KEY = b"the key of these tests"
RESULT: dict[str, Any] = {
    "answer": "result",
    "code": 0,
    "signal": 0,
    "ended": None,
    "cpu_s": 0.25,
    "wall_s": 1,
    "delay_s": 0.0,
    "peak_kb": 1024,
    "left": 0,
    "stdout": 3,
    "stderr": 2,
    "value": 1,
    "tests": None,
    "fetched": [["a", 1], ["b", 0]],
}
LOADED: dict[str, Any] = {
    "answer": "loaded",
    "ok": True,
    "message": "",
    "compile": None,
    "kept": [["d/p", 2], ["q", 1]],
}

ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def text(header: dict[str, Any], **changes: Any) -> bytes:
    return json.dumps(header | changes).encode()


def test_a_result_is_taken_apart() -> None:
    result, left = read_result(text(RESULT, left=4), b"outervA")
    assert left == 4
    assert result is not None
    assert (result.stdout, result.stderr, result.value) == (b"out", b"er", b"v")
    assert result.files == {"a": b"A", "b": b""}
    assert (result.exit, result.code, result.cpu_s, result.peak_memory_mb) == (Exit.EXITED, 0, 0.25, 1.0)


@table(
    ("ended", "code", "signal", "exit_"),
    [
        (None, 3, 0, Exit.EXITED),
        (None, None, 11, Exit.SIGNALLED),
        ("cpu", None, 9, Exit.TIME_LIMIT),
        ("wall", None, 9, Exit.TIME_LIMIT),
        ("memory", None, 9, Exit.MEMORY_LIMIT),
        ("memory", 1, 0, Exit.MEMORY_LIMIT),
        ("output", None, 9, Exit.OUTPUT_LIMIT),
        ("file_size", None, 25, Exit.OUTPUT_LIMIT),
    ],
)
def test_each_end_has_its_exit(ended: str | None, code: int | None, signal: int, exit_: Exit) -> None:
    result, _ = read_result(text(RESULT, ended=ended, code=code, signal=signal), bytes(7))
    assert result is not None
    assert result.exit is exit_
    assert result.code == (code if exit_ is Exit.EXITED else None)


@pytest.mark.parametrize("ended", ["killed", "starved"])
def test_an_end_that_is_nobodys_gives_no_result(ended: str) -> None:
    assert read_result(text(RESULT, ended=ended, code=None, signal=9, left=1), bytes(7)) == (None, 1)


def test_outcomes_of_tests_are_read_with_whatever_text_they_have() -> None:
    result = parsed(sealed(0, ["one", True, ""]), sealed(1, ["two \ud800", False, "half \udfff"]))
    assert result.value is None
    assert result.tests == [TestOutcome("one", True), TestOutcome("two ?", False, "half ?")]
    assert not result.complete
    assert parsed(sealed(0, ["one", True, ""]), sealed(1, {"complete": 0})).complete


@table(
    "lines",
    [b"no json", b'["name", 1, ""]', b'["name", true]', b'{"complete": true}', b"[" * 100_000, b'["\xff", true, ""]'],
    ids=["text", "number", "short", "object", "deep", "bytes"],
)
def test_lines_that_are_no_outcomes_are_none(lines: bytes) -> None:
    result = parsed(lines, sealed(0, ["one", True, ""]))
    assert result.tests == [TestOutcome("one", True)]
    assert not result.complete


@table(
    "lines",
    [
        [b'["one", true, "", ""]'],
        [b'["one", true, "", "%s"]' % seal(b"", 0, ["one", True, ""]).encode()],
        [b'["one", true, "", "%s"]' % seal(b"other key", 0, ["one", True, ""]).encode()],
        [b'{"complete": 0, "seal": ""}'],
    ],
    ids=["no seal", "no key", "another key", "the end"],
)
def test_a_line_that_the_tests_did_not_seal_says_nothing(lines: list[bytes]) -> None:
    result = parsed(*lines)
    assert result.tests == []
    assert not result.complete


def test_a_seal_holds_for_one_line_at_its_place() -> None:
    failed, passed = sealed(0, ["one", False, "no"]), sealed(1, ["two", True, ""])
    assert parsed(failed.replace(b"false", b"true")).tests == []
    assert parsed(passed, failed).tests == [TestOutcome("one", False, "no")]
    assert parsed(failed, passed, passed).tests == [TestOutcome("one", False, "no"), TestOutcome("two", True)]


def sealed(number: int, line: Any) -> bytes:
    stamp = seal(KEY, number, line)
    return json.dumps({**line, "seal": stamp} if isinstance(line, dict) else [*line, stamp]).encode()


def parsed(*lines: bytes) -> RunResult:
    data = b"\n".join(lines) + b"\n"
    result, _ = read_result(text(RESULT, value=None, tests=len(data), fetched=[]), bytes(5) + data, KEY)
    assert result is not None
    return result


@table(
    "changes",
    [
        {"answer": "unloaded"},
        {"code": None},
        {"code": -1},
        {"code": 256},
        {"ended": "because"},
        {"signal": -9},
        {"cpu_s": -1},
        {"cpu_s": "1"},
        {"wall_s": 1e300},
        {"stdout": -1},
        {"stdout": 4},
        {"stdout": 1 << 60},
        {"stdout": 3.5},
        {"stdout": None},
        {"value": 2},
        {"fetched": [["a", 1, 1]]},
        {"fetched": {"a": 1}},
    ],
)
def test_a_result_that_does_not_fit_is_malformed(changes: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        read_result(text(RESULT, **changes), bytes(7))


def test_outputs_may_be_longer_by_what_a_pipe_holds() -> None:
    reads, writes = os.pipe()
    try:
        assert fcntl.fcntl(writes, fcntl.F_GETPIPE_SZ) <= SLACK_BYTES
    finally:
        os.close(reads)
        os.close(writes)


@table("path", ["/etc/passwd", "../q", "a/../../b", "", ".", "a\0b"])
def test_kept_files_lie_where_they_were_made(path: str) -> None:
    with pytest.raises(Malformed):
        read_loaded(text(LOADED, kept=[[path, 3]]), bytes(3))


def test_kept_files_come_with_their_names() -> None:
    _, files = read_loaded(text(LOADED), b"abc")
    assert files == [("d/p", b"ab"), ("q", b"c")]
    with pytest.raises(Malformed):
        read_loaded(text(LOADED, kept=[["q", 1], ["q", 2]]), b"abc")


@ANY_SPEED
@given(field=st.sampled_from(sorted(RESULT)), value=JSON, body=st.binary(max_size=10))
@example(field="stdout", value=-3, body=b"")
def test_one_wrong_field_never_does_more_than_lose_the_box(field: str, value: Any, body: bytes) -> None:
    header = text(RESULT, **{field: value})
    try:
        result, left = read_result(header, body)
    except Malformed:
        return
    assert left >= 0
    assert result is None or len(result.stdout) + len(result.stderr) <= len(body)


@ANY_SPEED
@given(header=st.binary() | JSON.map(lambda value: json.dumps(value).encode()), body=st.binary(max_size=10))
@example(header=b"[" * 100_000, body=b"")
@example(header=b'{"answer": "hello", "protocol": 1e999}', body=b"")
def test_any_other_header_is_malformed(header: bytes, body: bytes) -> None:
    for read in (read_result, read_loaded, read_hello, read_unloaded):
        with pytest.raises(Malformed):
            read(header, body)
