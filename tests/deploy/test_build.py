"""Who builds images sees which step runs, while it runs."""

from collections.abc import Iterator

import pytest

from deploy.docker import build
from deploy.docker.debian import NotMade


def test_each_step_is_said_when_it_begins(capsys: pytest.CaptureFixture[str]) -> None:
    def events() -> Iterator[dict[str, str]]:
        yield {"stream": "Step 1/2 : FROM base"}
        assert capsys.readouterr().err == "rewardline-server: Step 1/2 : FROM base\n"
        yield {"stream": "\n"}
        yield {"stream": "Step 2/2 : RUN make" + " all" * 100 + "\n"}
        yield {"stream": "a line of its output\n"}

    build._follow("rewardline-server", events())
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("rewardline-server: Step 2/2 : RUN make all")
    assert len(line) < 150


def test_a_step_that_does_not_succeed_is_said_with_its_output() -> None:
    events = [{"stream": "Step 1/1 : RUN false\n"}, {"stream": "no such thing\n"}, {"error": "exit code 1"}]
    with pytest.raises(NotMade, match=r"exit code 1: Step 1/1(.|\n)*no such thing"):
        build._follow("rewardline-server", iter(events))


def test_what_takes_long_is_said_before_and_after(capsys: pytest.CaptureFixture[str]) -> None:
    with build._shown("the base"):
        assert capsys.readouterr().err == "the base ...\n"
    assert capsys.readouterr().err.startswith("the base: done after ")
