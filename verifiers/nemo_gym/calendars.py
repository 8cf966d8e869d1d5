"""A server that looks at a list of events: calendar."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from verifiers.base import InvalidItem
from verifiers.commitment import takes_back
from verifiers.nemo_gym.rollouts import Judgement, Rollout, Servers
from verifiers.rules.documents import Unreadable, read_json_at

_TIME: Final = re.compile(r"(\d{1,2})(?::(\d{2}))?\s?(am|pm)?")
_LIMIT: Final = re.compile(r"(before|after|at|between) (.+?)(?: and (.+))?")
_MOST_STARTS: Final = 1_000


def calendar(rollout: Rollout) -> Judgement:
    """As many events as expected, none at the time of another, each as long and as early or late as it must be.

    The first list of objects in the text counts.
    """
    expected = rollout.row.get("exp_cal_state")
    if not isinstance(expected, dict) or not expected:
        raise InvalidItem("bad_row", "the row needs 'exp_cal_state' as an object with an event; else any text is right")
    constraints = {name: _wanted(event) for name, event in expected.items()}
    events = None if takes_back(rollout.text) else _events(rollout.text)
    if events is None:
        return Judgement(0.0, None, "no_answer")
    times = sorted((event[1], event[1] + event[2]) for event in events.values())
    if len(events) != len(constraints) or any(earlier[1] > later[0] for earlier, later in pairwise(times)):
        return Judgement(0.0, None, "conflicting_events" if len(events) == len(constraints) else "wrong_answer")
    fits = all(name in events and constraints[name](*events[name][1:]) for name in constraints)
    return Judgement(float(fits), json.dumps(sorted(events.values())))


SERVERS: Final[Servers] = {"calendar": calendar}

Fits = Callable[[int, float], bool]
"""Whether a start and a length, in minutes, are right."""


def _wanted(event: Any) -> Fits:
    fields = event if isinstance(event, dict) else {}
    limit, length = fields.get("constraint"), fields.get("duration")
    try:
        first, last = (_minutes(fields.get(name)) for name in ("min_time", "max_time"))
        if not isinstance(length, int) or not (limit is None or isinstance(limit, str)):
            raise ValueError("'duration' must be a number, and 'constraint' text")
        limits = _limits(limit)
    except ValueError as error:
        raise InvalidItem("bad_row", f"the row's 'exp_cal_state' has an event that cannot be read: {error}") from error

    def fits(start: int, minutes: float) -> bool:
        return minutes == length and first <= start and start + minutes <= last and limits(start, minutes)

    return fits


def _limits(limit: str | None) -> Fits:
    match = _LIMIT.fullmatch(limit or "")
    if match is None:
        return lambda _, __: True
    kind, first_time = match[1], _minutes(match[2] + (f" and {match[3]}" if match[3] and match[1] != "between" else ""))
    match kind:
        case "before":
            return lambda start, minutes: start + minutes <= first_time
        case "after":
            return lambda start, _: start >= first_time
        case "at":
            return lambda start, _: start == first_time
    second_time = _minutes(match[3])
    return lambda start, minutes: start >= first_time and start + minutes <= second_time


def _minutes(time: Any) -> int:
    """The minutes of a day: 10:30, 10:30am, 2pm.

    Raises:
        ValueError
    """
    match = _TIME.fullmatch(time.strip()) if isinstance(time, str) else None
    if match is None or not (match[2] or match[3]):
        raise ValueError(f"{str(time)[:40]!r} is not a time of day")
    hours = int(match[1])
    if match[3]:
        hours = hours % 12 + 12 * (match[3] == "pm")
    return 60 * hours + int(match[2] or 0)


def _events(text: str) -> Mapping[str, tuple[str, int, float]] | None:
    """The names, starts and lengths of the first list of objects, by the names. None: there is none, or one is unreadable."""
    brackets: Sequence[int] = [match.start() for match in re.finditer(r"\[", text)][:_MOST_STARTS]
    for start in brackets:
        try:
            value, _ = read_json_at(text, start)
        except Unreadable:
            continue
        if isinstance(value, list) and value and all(isinstance(event, dict) for event in value):
            return _read(value)
    return None


def _read(events: Sequence[Mapping[str, Any]]) -> Mapping[str, tuple[str, int, float]] | None:
    read: dict[str, tuple[str, int, float]] = {}
    for event in events:
        name, length = str(event.get("event_id")), event.get("duration")
        try:
            start = _minutes(event.get("start_time"))
        except ValueError:
            return None
        if (
            not isinstance(length, int | float)
            or length <= 0
            or read.get(name, (name, start, length)) != (name, start, length)
        ):
            return None
        read[name] = (name, start, length)
    return read
