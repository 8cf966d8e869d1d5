"""Statistics of verified rollouts, as NeMo-Gym wants them: of each number by task, and over all.

Rollouts that were not judged do not count, because they have no reward.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

TASK: Final = "_ng_task_index"
_OLD_TASK: Final = "_task_index"
_INDEXES: Final = frozenset((TASK, _OLD_TASK, "_ng_rollout_index", "_rollout_index", "_ng_attempt_index"))


class Aggregation(msgspec.Struct):
    """Verified rollouts, each with the index of its task."""

    verify_responses: list[dict[str, Any]]


class Aggregated(msgspec.Struct):
    """The statistics under flat names, such as `mean/reward`."""

    group_level_metrics: list[dict[str, Any]]
    """One entry for each task, in the order in which the tasks came."""
    agent_metrics: dict[str, float]
    key_metrics: dict[str, float]


def aggregate(rollouts: Sequence[Mapping[str, Any]]) -> Aggregated:
    """Statistics of all rollouts that were judged."""
    judged = [rollout for rollout in rollouts if not _is_masked(rollout)]
    tasks: dict[Any, list[Mapping[str, Any]]] = {}
    for rollout in judged:
        tasks.setdefault(_hashable(rollout.get(TASK, rollout.get(_OLD_TASK))), []).append(rollout)
    groups: list[dict[str, Any]] = [{TASK: task, **_figures(task_rollouts)} for task, task_rollouts in tasks.items()]
    figures: dict[str, float] = dict(_figures(judged))
    figures["rollouts"] = float(len(rollouts))
    figures["rollouts_not_judged"] = float(len(rollouts) - len(judged))
    keys = {name: value for name, value in figures.items() if name in ("mean/reward", "rollouts_not_judged")}
    return Aggregated(groups, figures, keys)


def _is_masked(rollout: Mapping[str, Any]) -> bool:
    instance = rollout.get("instance_config")
    masked = isinstance(instance, dict) and instance.get("mask_sample") is True
    return masked or rollout.get("mask_sample") is True or bool(rollout.get("_ng_failure_class"))


def _figures(rollouts: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for rollout in rollouts:
        for name, value in rollout.items():
            if isinstance(value, bool | int | float) and name not in _INDEXES:
                number = _finite(value)
                if number is not None:
                    values.setdefault(name, []).append(number)
    return {f"{kind}/{name}": figure for name, numbers in values.items() for kind, figure in _described(numbers)}


def _finite(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and abs(number) < 1e100 else None


def _described(values: Sequence[float]) -> Iterable[tuple[str, float]]:
    yield "mean", statistics.fmean(values)
    yield "max", max(values)
    yield "min", min(values)
    yield "median", statistics.median(values)
    yield "std", statistics.stdev(values) if len(values) > 1 else 0.0


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else repr(value)
