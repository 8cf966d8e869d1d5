"""What the log says of a server that gives no results: soon, each minute, and once when it is over."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from rewardline import AsyncClient, Client, Unavailable
from rewardline.hook import Hook
from rewardline.outage import Outage

if TYPE_CHECKING:
    from tests.client.conftest import FakeServer

SERVER = "http://127.0.0.1:1"
REFUSED = Unavailable("unreachable", "connection refused")
ITEM = {"verifier": "math", "response": "4", "reference": "4"}


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def outage(clock: Clock) -> Outage:
    return Outage(SERVER, clock)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "rewardline"]


def fail(outage: Outage, clock: Clock, *, lasts_s: float = 0.0, pause_s: float) -> None:
    """An attempt that takes `lasts_s` and fails, and the pause behind it."""
    began_at = clock.seconds
    clock.seconds += lasts_s
    outage.attempt_failed(REFUSED, began_at, pause_s)
    clock.seconds += pause_s


def test_a_short_outage_is_not_logged(outage: Outage, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    for pause_s in (0.1, 0.2, 0.4, 0.8, 1.6):
        fail(outage, clock, pause_s=pause_s)
    outage.attempt_succeeded()
    assert lines(caplog) == []


def test_the_first_warning_comes_before_a_pause_that_would_pass_five_seconds(
    outage: Outage, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    began_at = clock.seconds
    warned_at = None
    for pause_s in (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0):
        attempted_at = clock.seconds
        fail(outage, clock, pause_s=pause_s)
        if warned_at is None and lines(caplog):
            warned_at = attempted_at
    assert warned_at is not None
    assert warned_at - began_at < 5
    assert len(lines(caplog)) == 1
    assert SERVER in lines(caplog)[0]
    assert "connection refused" in lines(caplog)[0]


def test_a_connection_that_hangs_is_logged_when_it_has_hung_for_four_seconds(
    outage: Outage, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    fail(outage, clock, lasts_s=4.0, pause_s=0.1)
    assert len(lines(caplog)) == 1


def test_a_long_outage_is_logged_each_minute_and_its_end(
    outage: Outage, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(60):
        fail(outage, clock, pause_s=5.0)
    assert 5 <= len(lines(caplog)) <= 6
    outage.attempt_succeeded()
    outage.attempt_succeeded()
    assert lines(caplog)[-1] == f"{SERVER} answers again, after 300 s"
    assert len([line for line in lines(caplog) if "again, after" in line]) == 1


def test_calls_at_once_share_one_summary(outage: Outage, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    outage.call_began()
    outage.call_began()
    fail(outage, clock, pause_s=0.1)
    outage.gave_up(3)
    outage.call_ended()
    assert lines(caplog) == []
    outage.gave_up(4)
    outage.call_ended()
    assert [line.partition(":")[0] for line in lines(caplog)] == ["7 items have no verdict"]
    outage.call_began()
    outage.call_ended()
    assert len(lines(caplog)) == 1


@pytest.mark.parametrize("single", [False, True], ids=["batch", "single"])
def test_a_hook_of_an_absent_server_says_so_once(single: bool, caplog: pytest.LogCaptureFixture) -> None:
    hook = Hook(verifier="math", url=SERVER, deadline_s=0.3, on_failed="abstain")
    if single:
        hook.score_one_blocking(ITEM)
    else:
        hook.score_blocking([ITEM] * 3)
    (line,) = lines(caplog)
    assert line.startswith("1 item has no verdict" if single else "3 items have no verdict")
    assert SERVER in line


async def test_an_url_with_a_password_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with AsyncClient("http://someone:secret@127.0.0.1:1", timeout_s=0.3) as client:
        await client.score([ITEM])
    assert len(lines(caplog)) == 1
    assert "secret" not in caplog.text


def test_a_server_that_answers_is_not_logged(server: FakeServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "rewardline"), Client(server.url) as client:
        client.score([ITEM])
    assert lines(caplog) == []
