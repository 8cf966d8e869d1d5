"""Alarms go to each sink once, and an absent service costs nothing but the alarms."""

from types import SimpleNamespace
from typing import Any

import pytest
from rewardline.errors import Unavailable
from rewardline.watch import AlarmReporter, to_log, to_mlflow, to_wandb

ALARM = {
    "id": "a1",
    "judge": "math",
    "detector": "near_equal",
    "about": "near-equal responses to different prompts are paid",
    "detail": "",
    "since": {"step": 12, "item": 900, "time": ""},
    "responses": [{"response": "exit(0)"}],
}


class Service:
    """A client of a service whose alarms are at hand."""

    def __init__(self, *alarms: dict[str, Any]) -> None:
        self.alarms_kept = list(alarms)
        self.is_gone = False

    def alarms(self, *, run: str | None = None, after: str | None = None) -> list[dict[str, Any]]:
        if self.is_gone:
            raise Unavailable("gone")
        ids = [alarm["id"] for alarm in self.alarms_kept]
        return self.alarms_kept[ids.index(after) + 1 :] if after in ids else self.alarms_kept


def test_each_alarm_reaches_each_sink_once(caplog: pytest.LogCaptureFixture) -> None:
    alerts: list[dict[str, str]] = []
    tags: dict[str, str] = {}
    wandb = SimpleNamespace(alert=lambda **fields: alerts.append(fields))
    mlflow = SimpleNamespace(set_tag=tags.__setitem__)
    service = Service(ALARM)
    report = AlarmReporter(service, [to_log, to_wandb(wandb), to_mlflow(mlflow)])  # type: ignore[arg-type]  # a client in all that matters
    assert [alarm["id"] for alarm in report()] == ["a1"]
    assert report() == []
    service.alarms_kept.append({**ALARM, "id": "a2", "since": {"step": None, "item": 7, "time": ""}})
    assert [alarm["id"] for alarm in report()] == ["a2"]
    assert [alert["title"] for alert in alerts] == ["Reward alarm: near_equal"] * 2
    assert "since step 12" in alerts[0]["text"]
    assert "since item 7" in alerts[1]["text"]
    assert "exit(0)" in tags["rewardline.alarm.near_equal"]
    assert "since step 12" in caplog.text


def test_an_absent_service_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    service = Service(ALARM)
    service.is_gone = True
    assert AlarmReporter(service, [to_log])() == []  # type: ignore[arg-type]  # a client in all that matters
    assert "alarms of the watch cannot be had" in caplog.text
