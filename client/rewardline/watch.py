"""Takes the alarms of the service's watch to where a training run is looked at: a callback, Weights & Biases, MLflow.

report = AlarmReporter(client, [to_wandb(wandb.run), to_mlflow(mlflow)], run_id="run-17")
...
report()      # once per step: each alarm is handed on once
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rewardline.errors import RewardlineError

if TYPE_CHECKING:
    from rewardline.sync_client import Client

log = logging.getLogger("rewardline")

Alarm = dict[str, Any]
Sink = Callable[[Alarm], None]


class AlarmReporter:
    """Asks for new alarms when it is called. An absent service delays nothing but the alarms: it is logged."""

    def __init__(self, client: Client, sinks: Sequence[Sink], *, run_id: str | None = None) -> None:
        self._client = client
        self._sinks = sinks
        self._run_id = run_id
        self._last: str | None = None

    def __call__(self) -> list[Alarm]:
        """The new alarms, which all sinks have got."""
        try:
            alarms = self._client.alarms(run=self._run_id, after=self._last)
        except RewardlineError as error:
            log.warning("alarms of the watch cannot be had: %s", error)
            return []
        for alarm in alarms:
            self._last = alarm["id"]
            for sink in self._sinks:
                sink(alarm)
        return alarms


def to_log(alarm: Alarm) -> None:
    """A sink that writes a warning."""
    log.warning(line(alarm))


def to_wandb(run: Any) -> Sink:
    """A sink that raises an alert of a run of Weights & Biases (`wandb.run`, or what `wandb.init` returned)."""
    return lambda alarm: run.alert(title=f"Reward alarm: {alarm['detector']}", text=line(alarm))


def to_mlflow(mlflow: Any) -> Sink:
    """A sink that sets tags of the active run of MLflow (the module, or an object with its `set_tag`)."""
    return lambda alarm: mlflow.set_tag(f"rewardline.alarm.{alarm['detector']}", line(alarm)[:5000])


def line(alarm: Alarm) -> str:
    """An alarm as one text: what, since when, and the first response."""
    since = alarm["since"]
    when = f"item {since['item']}" if since["step"] is None else f"step {since['step']}"
    example = next((response["response"] for response in alarm["responses"]), "")
    detail = f" ({alarm['detail']})" if alarm["detail"] else ""
    return f"{alarm['judge']}: {alarm['about']}{detail}, since {when}. For example: {example[:300]!r}"
