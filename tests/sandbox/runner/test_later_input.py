"""Runs that begin before all of their input is known."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from sandbox.runner import frames
from tests.sandbox.runner.driver import Box, BoxDied
from tests.waiting import eventually

ECHO = "read a; read b; echo $a $b"


def begin(box: Box, script: str, known: bytes, **limits: Any) -> int:
    """Begin a run that waits. Returns its process, which has read what is known."""
    before = set(box.processes)
    box.load_shell(script)
    box.send_execute(known, waits=True, **limits)
    eventually(lambda: _shells(box, before))
    return _shells(box, before)[0]


def _shells(box: Box, before: set[int]) -> list[int]:
    found = []
    for pid in sorted(set(box.processes) - before):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            waits = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"
        except OSError:
            continue
        if words[0].endswith(b"/sh") and waits:
            found.append(pid)
    return found


def age_s(pid: int) -> float:
    began = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - began / os.sysconf("SC_CLK_TCK")


def test_the_rest_comes_later_and_until_then_wall_time_does_not_count(box: Box) -> None:
    pid = begin(box, ECHO, b"one\n", wall_s=0.2)
    eventually(lambda: age_s(pid) > 0.5)
    box.send({"ask": "input"}, b"two")
    result = box.receive()
    box.ask("unload")
    assert (result.out, result.code, result.ended) == (b"one two\n", 0, None)
    assert result.wall_s < age_s(os.getpid())


@pytest.mark.parametrize("limit", [{"cpu_s": 0.2}, {"wall_s": 0.2}])
def test_its_limits_count_from_then_on(box: Box, limit: dict[str, float]) -> None:
    end = "while :; do :; done" if "cpu_s" in limit else "exec sleep 1000"
    begin(box, f"{ECHO}; {end}", b"one\n", **limit)
    box.send({"ask": "input"}, b"two\n")
    result = box.receive()
    box.ask("unload")
    assert (result.out, result.ended) == (b"one two\n", next(iter(limit)).removesuffix("_s"))


def test_more_than_a_pipe_holds_is_given_as_it_is_read(box: Box) -> None:
    box.load_shell("wc -c")
    box.send_execute(b"x" * 300_000, waits=True)
    box.send({"ask": "input"}, b"y" * 1_000_000)
    result = box.receive()
    box.ask("unload")
    assert result.out == b"1300000\n"


def test_what_a_run_does_not_read_is_nothing_to_wait_for(box: Box) -> None:
    begin(box, "read a; read b; exec <&-; echo $a", b"one\n")
    box.send({"ask": "input"}, b"x\n" * 1_000_000)
    result = box.receive()
    box.ask("unload")
    assert (result.out, result.code) == (b"one\n", 0)


@pytest.mark.parametrize("script", ["exit 3", "while :; do :; done"])
def test_one_that_ends_before_it_has_its_input_says_nothing(box: Box, script: str) -> None:
    box.load_shell(script)
    box.send_execute(b"one\n", waits=True, cpu_s=0.2)
    result = box.receive()
    box.send({"ask": "input"}, b"two")
    box.ask("unload")
    assert (result.ended, result.code) == ("killed", None if "while" in script else 3)
    assert box.shell(ECHO, b"1\n2\n").out == b"1 2\n"


def test_nothing_else_may_be_asked_while_it_waits(box: Box) -> None:
    begin(box, ECHO, b"one\n")
    with pytest.raises(BoxDied) as death:
        box.ask("unload")
    assert death.value.args[0] == frames.EXIT_BOX_UNUSABLE
    assert "waits for its input" in death.value.args[1]


@pytest.mark.boxes
def test_it_ends_with_the_service(box: Box) -> None:
    pid = begin(box, ECHO, b"one\n")
    assert box.end() == (0, "")
    eventually(lambda: not Path(f"/proc/{pid}").exists())
