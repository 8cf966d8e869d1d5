"""Alarms, and where they go: the log, the metrics, and a list of the latest for `/v1/watch/alarms`."""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Final

import msgspec

from service.watch.evidence import Moment
from service.watch.samples import Shown
from tracing.lines import Log

log = Log("rewardline.watch")

MAX_ALARMS: Final = 500
"""Alarms that are kept. Each takes 15 kB at most."""
ALARM_BYTES: Final = 15_000


class Alarm(msgspec.Struct, frozen=True):
    """What was seen, since when, and the responses."""

    id: str
    tenant: str
    run: str
    judge: str
    """The recipe or verifier that paid."""
    detector: str
    about: str
    since: Moment
    """Since when the kind of response has grown frequent, as far as the evidence tells."""
    raised: Moment
    share_before: float | None
    """The mean of what the detector reads, at the beginning of the run."""
    share_now: float | None
    """The same over the latest samples."""
    responses: Sequence[Shown]
    detail: str = ""


class WatchedRun(msgspec.Struct, frozen=True):
    """A run that the watch reads."""

    run: str
    judge: str
    items: int
    """Items that were judged so far."""
    step: int | None
    ready: list[str]
    """The detectors that know how the run began, so that they can raise an alarm. `impostor` needs to know nothing."""
    shifts: dict[str, Moment]
    """Detectors whose kind became frequent in all responses, paid or not, and since when: another data set or style, not an alarm."""


class Watched(msgspec.Struct, frozen=True):
    """What is watched, for a tenant."""

    all_rewards: bool
    """The setting `watch`. Without it, only the rewards of recipes with `watch`."""
    recipes: list[str]
    """The recipes with `watch`."""
    detectors: dict[str, str]
    """The name of each, and what it looks for."""
    runs: list[WatchedRun]
    """The latest first."""


class Alarms:
    """The latest alarms of all runs. Called by the thread of the watch and by the event loop."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Alarm] = OrderedDict()
        self.raised: Counter[tuple[str, str]] = Counter()
        """By judge and detector."""

    def raise_(self, alarm: Alarm) -> None:
        self._kept[alarm.id] = alarm
        if len(self._kept) > MAX_ALARMS:
            self._kept.popitem(last=False)
        self.raised[alarm.judge, alarm.detector] += 1
        log.warning(
            "reward_alarm",
            alarm=alarm.id,
            **{name: getattr(alarm, name) for name in ("tenant", "run", "judge", "detector", "about", "detail")},
            since_step=alarm.since.step,
            since_item=alarm.since.item,
            responses=[response.id for response in alarm.responses],
        )

    def of(self, tenant: str, run: str | None = None, after: str | None = None) -> list[Alarm]:
        """The alarms of a tenant, the oldest first: of one run, and those that came after another one, if these are given."""
        alarms = [alarm for alarm in [*self._kept.values()] if alarm.tenant == tenant and run in (None, alarm.run)]
        ids = [alarm.id for alarm in alarms]
        return alarms[ids.index(after) + 1 :] if after in ids else alarms

    @property
    def used_bytes(self) -> int:
        return len(self._kept) * ALARM_BYTES
