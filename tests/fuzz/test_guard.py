"""The guard sees what it is there to see: a fuzzer whose laws cannot be broken proves nothing."""

import gc
import importlib
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import guard, targets
from tests.fuzz.guard import Broken


@pytest.mark.parametrize(
    "act",
    [
        lambda: os.system("true"),
        lambda: subprocess.run(["true"]),
        lambda: eval("1 + 1"),
        lambda: exec("x = 1"),
        lambda: compile("1", "<answer>", "eval"),
        lambda: Path("made").write_text("x"),
        lambda: Path("/etc/passwd").read_text(),
        lambda: os.mkdir("made"),
        lambda: socket.socket().close(),
        lambda: pickle.loads(b"cos\nsystem\n(S'true'\ntR."),
    ],
)
def test_what_an_answer_may_not_do_is_refused_and_reported(
    act: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Broken, match="executed"), guard.watched():
        act()
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_that_is_swallowed_is_reported_all_the_same() -> None:
    def swallowing() -> None:
        with suppress(Exception):
            os.system("true")

    with pytest.raises(Broken, match=r"os\.system"), guard.watched():
        swallowing()


def test_importing_what_is_installed_is_no_execution() -> None:
    with guard.watched():
        import wsgiref.util  # noqa: F401, PLC0415 - any module that nothing else has imported


def test_importing_what_was_never_compiled_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fresh_module.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(guard, "_CODE_PLACES", (*guard._CODE_PLACES, str(tmp_path)))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    with guard.watched():
        assert importlib.import_module("fresh_module").x == 1
    assert [path.name for path in tmp_path.iterdir()] == ["fresh_module.py"]
    assert sys.dont_write_bytecode is False


def test_what_is_not_watched_goes_on_as_ever(tmp_path: Path) -> None:
    with guard.watched():
        pass
    (tmp_path / "made").write_text("x")
    assert eval("1 + 1") == 2


def _spin() -> None:
    while True:
        pass


def _spin_and_swallow() -> None:
    for _ in range(10_000_000):
        with suppress(Exception):
            sum(range(1000))


@pytest.mark.parametrize("function", [_spin, _spin_and_swallow])
def test_slow_is_reported_and_endless_is_interrupted(function: Callable[[], None]) -> None:
    with pytest.raises(Broken, match="slow: no end"):
        guard.within(0.02, function)
    assert guard.within(0.5, len, "abc") == 3
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_slow_is_reported_over_what_was_raised() -> None:
    def slow_and_wrong() -> None:
        sum(range(2_000_000))
        raise ValueError

    with pytest.raises(Broken, match="slow"):
        guard.within(0.001, slow_and_wrong)
    with pytest.raises(ValueError):
        guard.within(5.0, slow_and_wrong)


@pytest.mark.parametrize(
    ("took_s", "is_linear"),
    [
        ([1.0, 2.1], True),
        ([1.0, 4.0, 1.0, 3.9, 1.0, 4.1], False),
        ([1.0, 4.0, 1.0, 2.0], True),
        ([0.0001, 0.01], True),
        ([0.0001, 0.04] * 3, False),
    ],
)
def test_what_takes_longer_than_in_proportion_each_time_is_reported(
    monkeypatch: pytest.MonkeyPatch, took_s: list[float], is_linear: bool
) -> None:
    measured = iter(took_s)
    monkeypatch.setattr(guard, "cpu_s", lambda *_: next(measured))
    with nullcontext() if is_linear else pytest.raises(Broken, match="slow: twice the text"):
        targets.stays_linear("ab", len)
    assert not list(measured)


def test_a_call_is_measured_and_bounded() -> None:
    assert 0.0 <= guard.cpu_s(5.0, sum, range(1000)) < 5.0
    with pytest.raises(Broken, match="slow"):
        guard.cpu_s(0.001, sum, range(2_000_000))


def test_alone_a_call_is_killed_at_its_limit_and_cannot_break_us() -> None:
    assert guard.alone(5.0, sorted, [3, 1, 2]).value == [1, 2, 3]
    assert guard.alone(0.05, _spin).killed == "time"
    assert guard.alone(5.0, _hungry).killed == "memory"
    with pytest.raises(Broken, match=r"crashed: signal 11"):
        guard.alone(5.0, _die)
    with pytest.raises(Broken, match="raised: ZeroDivisionError"):
        guard.alone(5.0, divmod, 1, 0)
    with pytest.raises(Broken, match="executed"):
        guard.alone(5.0, _execute)


def _hungry() -> int:
    return len(bytearray(1 << 46))


def _die() -> None:
    signal.raise_signal(signal.SIGSEGV)


def _execute() -> None:
    with guard.watched():
        os.system("true")


def test_alone_a_call_does_not_answer_for_what_others_have_left_behind() -> None:
    gc.disable()
    try:
        left = _Left()
        left.itself = left
        del left
        assert guard.alone(5.0, _collect).killed is None
    finally:
        gc.enable()


class _Left:
    itself: object

    def __del__(self) -> None:
        os.system("true")


def _collect() -> None:
    with guard.watched():
        gc.collect()
