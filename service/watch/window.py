"""What is known of one run and the recipe or verifier that judges it: the beginning, evidence, the latest suspects.

The first 48 paid samples show how responses look at the beginning (`Beginning`), the next 64 how often each detector reads what
it looks for without a hack. All later ones may be evidence that it has become more frequent.
"""

import secrets
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from service.watch import memories
from service.watch.alarms import Alarm
from service.watch.contrast import Contrast
from service.watch.detectors import BY_NAME, DETECTORS, PAID, Detector
from service.watch.evidence import Evidence, Moment, joint_crossing, log_threshold, upper_bound
from service.watch.memories import Memories
from service.watch.samples import Sample, Shown

_BEGINNING: Final = 48
_CALIBRATION: Final = 64
_SUSPECTS: Final = 6
"""Responses that an alarm shows."""
_RECENT: Final = 64
_MIN_GROUP: Final = 4
_LOG_LEAST: Final = log_threshold(len(DETECTORS))
NBYTES: Final = memories.NBYTES + len(DETECTORS) * _SUSPECTS * 2_500
"""What a window takes, at most."""


@dataclass(frozen=True, slots=True)
class Whose:
    """Which verdicts a window is of."""

    tenant: str
    run: str
    judge: str


@dataclass(slots=True)
class _Series:
    """The numbers that one detector has read."""

    detector: Detector
    total: float = 0.0
    count: int = 0
    evidence: Evidence | None = None
    contrast: Contrast | None = None
    """Is made when there is evidence for a kind that may be a matter of style."""
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=_RECENT))
    suspects: deque[Shown] = field(default_factory=lambda: deque(maxlen=_SUSPECTS))
    quoted: str | None = None
    """What an alarm quotes of the last suspect."""

    def add(self, x: float, moment: Moment, calibration: int = _CALIBRATION) -> Moment | None:
        self.recent.append(x)
        if self.evidence is None:
            self.total += x
            self.count += 1
            if self.count >= calibration:
                bound = upper_bound(self.total, self.count) + self.detector.tolerance
                self.evidence = Evidence(max(bound, self.detector.floor))
            return None
        self.evidence.add(x, moment)
        return self.evidence.crossing(_LOG_LEAST)

    def rebase(self) -> None:
        """Take the latest samples for the new beginning: the next evidence is of what gets worse still."""
        if self.evidence is not None and self.now is not None:
            self.evidence = Evidence(self.now + 2 * self.detector.tolerance)

    @property
    def before(self) -> float | None:
        return self.total / self.count if self.count else None

    @property
    def now(self) -> float | None:
        return sum(self.recent) / len(self.recent) if self.recent else None


class Window:
    """The watch on one run and its judge. `report` gets each alarm; `redact` leaves texts out of them."""

    def __init__(self, owner: Whose, report: Callable[[Alarm], None], *, redact: bool = False) -> None:
        self.whose = owner
        self.items = 0
        """Items that were judged so far."""
        self.step: int | None = None
        self.shifts: dict[str, Moment] = {}
        """The kinds that have become frequent in all responses, paid or not, and since when: no hack."""
        self._report = report
        self._redact = redact
        self._memories = Memories()
        self._first = 0
        self._series = {detector.name: _Series(detector) for detector in DETECTORS}
        self._diverging = (_Series(BY_NAME["diverging"]), _Series(BY_NAME["diverging"]))
        """The score; and what the shadow does not pay."""

    @property
    def ready(self) -> list[str]:
        """The detectors that know how often they see their kind without a hack. Only these can raise an alarm."""
        known = [name for name, series in self._series.items() if series.evidence is not None]
        pair = ["diverging"] if all(series.evidence is not None for series in self._diverging) else []
        return [*known, *pair]

    def take(self, sample: Sample) -> None:
        """Read a sampled response, and remember it."""
        if sample.step is not None:
            self.step = sample.step
        is_first = self._first < _BEGINNING
        if not is_first:
            self._read(sample)
        else:
            self._memories.beginning.add(sample)
            self._first += sample.is_paid
            if self._first == _BEGINNING:
                self._memories.beginning.close()
        self._memories.keep(sample, is_first=is_first)

    def _read(self, sample: Sample) -> None:
        moment = Moment(sample.item, sample.step, sample.time)
        for detector in PAID:
            contrast = self._series[detector.name].contrast
            if not sample.is_paid and contrast is None:
                continue
            assert detector.read is not None
            x = detector.read(sample, self._memories)
            if x is None:
                continue
            if contrast is not None:
                contrast.add(x, is_paid=sample.is_paid)
            if sample.is_paid:
                self._add(detector.name, float(x), moment, sample)
            if contrast is not None and contrast.is_decided:
                self._decide(detector.name, contrast, moment)

    def _decide(self, name: str, contrast: Contrast, moment: Moment) -> None:
        """Raise the alarm that waits for it, or note that all responses have changed."""
        series = self._series[name]
        series.contrast = None
        if contrast.pays:
            self._raise(name, contrast.since, moment)
            return
        self.shifts[name] = contrast.since
        series.rebase()

    def take_group(self, scores: Sequence[float], moment: Moment) -> None:
        """Take the scores of all responses to one prompt."""
        if len(scores) >= _MIN_GROUP:
            self._add("no_variance", float(min(scores) >= 0.5), moment, None)

    def take_shadow(self, sample: Sample, score: float) -> None:
        """Take what the shadow verifier gave the sample."""
        moment = Moment(sample.item, sample.step, sample.time)
        self._add("shadow", max(0.0, sample.score - score), moment, sample)
        rises, falls = self._diverging
        for series, x in ((rises, sample.score), (falls, 1.0 - score)):
            series.recent.append(x)
            if series.evidence is None:
                series.add(x, moment)
            else:
                series.evidence.add(x, moment)
        self._series["diverging"].suspects.append(sample.shown(redact=self._redact))
        if rises.evidence is not None and falls.evidence is not None:
            since = joint_crossing((rises.evidence, falls.evidence), _LOG_LEAST)
            if since is not None:
                detail = f"the score was {rises.before:.2f} and is {rises.now:.2f}; {_shadow_means(falls)}"
                self._raise("diverging", since, moment, detail=detail)

    def impostor_paid(self, kind: str, response: Shown) -> None:
        """A planted response was paid: an alarm by itself."""
        moment = Moment(self.items, self.step)
        self._series["impostor"].suspects.append(response)
        self._raise("impostor", moment, moment, detail=f"kind: {kind}")

    def _add(self, name: str, x: float, moment: Moment, sample: Sample | None) -> None:
        series = self._series[name]
        if sample is not None and x > 0.5:
            series.suspects.append(sample.shown(redact=self._redact))
            series.quoted = None if self._redact else series.detector.names(sample, self._memories)
        since = series.add(x, moment)
        if since is None or series.contrast is not None:
            return
        if series.detector.is_style:
            assert series.evidence is not None
            series.contrast = Contrast(since, series.evidence.bound, series.before or 0.0)
        else:
            self._raise(name, since, moment)

    def _raise(self, name: str, since: Moment, moment: Moment, detail: str = "") -> None:
        series = self._series[name]
        owner = self.whose
        alarm = Alarm(
            secrets.token_hex(8),
            *(owner.tenant, owner.run, owner.judge, name, series.detector.about),
            since,
            moment,
            series.before,
            series.now,
            [*series.suspects],
            detail or (f"such as {series.quoted!r}" if series.quoted else ""),
        )
        series.rebase()
        self._report(alarm)


def _shadow_means(falls: _Series) -> str:
    old, now = (1.0 - (value or 0.0) for value in (falls.before, falls.now))
    return f"that of the shadow was {old:.2f} and is {now:.2f}"
