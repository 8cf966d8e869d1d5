"""Curves of a training run where it is looked at: Weights & Biases, MLflow, TensorBoard, trackio.

    curves = Curves([to_wandb(wandb.run), to_tensorboard(SummaryWriter("logs"))])
    ...
    curves.add(items, client.score(items))      # as often as a step scores
    curves.log(step)                            # once per step of the trainer

Each verifier or recipe has curves of its own, `rewardline/<name>/...`:

    mean_reward                     of the items that were judged
    failed, invalid                 shares of the items, from 0 to 1
    reason/<reason>                 the same by reason
    latency_ms                      the mean of the items
    groups_without_signal           the share of groups of two or more rewards that are all equal
    items                           how many there were

`rewardline/judge_cost` is what the judge models of the run have cost so far, in the currency of their prices, if the
client is given. `rewardline curves` draws the same from a service's audit log.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewardline.errors import RewardlineError

if TYPE_CHECKING:
    from rewardline.results import Result
    from rewardline.sync_client import Client

log = logging.getLogger("rewardline")

PREFIX = "rewardline"
Figures = Mapping[str, float]
Sink = Callable[[Figures, int], None]
"""Takes the figures of a step, by name."""
_UNNAMED = re.compile(r"[^A-Za-z0-9_./ -]")
"""What a name may not hold in MLflow, the strictest of the four."""


class Curves:
    """Adds up what a step scored, and hands it to the sinks. One thread uses it."""

    def __init__(self, sinks: Sequence[Sink], *, client: Client | None = None, run_id: str | None = None) -> None:
        """`client` and `run_id`: to ask what the judge models of this run have cost."""
        self._sinks = sinks
        self._client = client
        self._run_id = run_id
        self._judges: defaultdict[str, _Tally] = defaultdict(_Tally)

    def add(self, items: Iterable[Mapping[str, Any]], results: Iterable[Result]) -> None:
        """Count items and their results. Items with one prompt and reference, or one `group`, are a group."""
        for item, result in zip(items, results):
            judge = result.recipe or result.verifier or item.get("recipe") or item.get("verifier") or "unnamed"
            self._judges[str(judge)].add(_group_of(item), result)

    def log(self, step: int) -> Figures:
        """Hand over the figures of this step, and begin with the next. A sink that fails costs the run nothing."""
        figures: dict[str, float] = {}
        for judge, tally in sorted(self._judges.items()):
            figures.update(tally.figures(judge))
        self._judges.clear()
        cost = self._cost()
        if cost is not None:
            figures[f"{PREFIX}/judge_cost"] = cost
        hand_over(figures, step, self._sinks)
        return figures

    def _cost(self) -> float | None:
        if self._client is None or self._run_id is None:
            return None
        try:
            return costs_of(self._client.usage()).get(self._run_id)
        except RewardlineError as error:
            log.warning("the cost of the run cannot be had: %s", error)
            return None


def costs_of(usage: Mapping[str, Any]) -> Mapping[str, float]:
    """What the judge models of each run have cost so far, by an answer of `Client.usage`."""
    runs = (run for tenant in usage["tenants"] for run in tenant["runs"])
    return {run["run_id"]: float(run["total"]["judge_cost"]) for run in runs}


def hand_over(figures: Figures, step: int, sinks: Iterable[Sink]) -> None:
    """Give the figures of a step to all sinks. Trouble of one is logged."""
    for sink in sinks:
        try:
            sink(figures, step)
        except Exception as error:  # noqa: BLE001 - whatever a tracker raises, training goes on
            log.warning("the figures of step %d cannot be handed over: %s: %s", step, type(error).__name__, error)


class _Tally:
    """What one judge did in a step."""

    def __init__(self) -> None:
        self._reasons: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._elapsed_ms = 0.0
        self._rewards: defaultdict[str, list[float]] = defaultdict(list)

    def add(self, group: str, result: Result) -> None:
        self._reasons[result.reason] += 1
        self._statuses[str(result.status)] += 1
        self._elapsed_ms += result.elapsed_ms
        if result.reward is not None:
            self._rewards[group].append(result.reward)

    def figures(self, judge: str) -> Figures:
        rewards = [reward for group in self._rewards.values() for reward in group]
        groups = [group for group in self._rewards.values() if len(group) > 1]
        count = sum(self._statuses.values())
        return figures_of(
            judge,
            count=count,
            failed=self._statuses["failed"],
            invalid=self._statuses["invalid"],
            mean_reward=sum(rewards) / len(rewards) if rewards else None,
            latency_ms=self._elapsed_ms / count,
            groups=len(groups),
            without_signal=sum(len(set(group)) == 1 for group in groups),
            reasons=self._reasons,
        )


def figures_of(
    judge: str,
    *,
    count: int,
    failed: int,
    invalid: int,
    mean_reward: float | None,
    latency_ms: float,
    groups: int,
    without_signal: int,
    reasons: Mapping[str, int],
) -> Figures:
    """The figures of one judge in one step, by their names. A figure that is not known is not there."""
    figures = {
        "items": float(count),
        "failed": failed / count,
        "invalid": invalid / count,
        "latency_ms": latency_ms,
        **{f"reason/{reason}": reason_count / count for reason, reason_count in sorted(reasons.items())},
    }
    if mean_reward is not None:
        figures["mean_reward"] = mean_reward
    if groups:
        figures["groups_without_signal"] = without_signal / groups
    return {_UNNAMED.sub("_", f"{PREFIX}/{judge}/{name}"): value for name, value in figures.items()}


def _group_of(item: Mapping[str, Any]) -> str:
    group = item.get("group")
    key = (
        group if group is not None else [item.get(name) for name in ("prompt", "messages", "reference", "reference_id")]
    )
    return json.dumps(key, sort_keys=True, default=str)


def to_wandb(run: Any) -> Sink:
    """A sink that logs to a run of Weights & Biases (`wandb.run`, or what `wandb.init` returned), with an axis of its
    own: the trainer may count its steps otherwise.
    """
    axis = f"{PREFIX}/step"
    run.define_metric(f"{PREFIX}/*", step_metric=axis)
    return lambda figures, step: run.log({**figures, axis: step})


def to_mlflow(mlflow: Any) -> Sink:
    """A sink that logs metrics of the active run of MLflow (the module, or an object with its `log_metrics`)."""
    return lambda figures, step: mlflow.log_metrics(dict(figures), step=step)


def to_tensorboard(writer: Any) -> Sink:
    """A sink that writes scalars (`torch.utils.tensorboard.SummaryWriter`, or one of tensorboardX)."""

    def write(figures: Figures, step: int) -> None:
        for name, value in figures.items():
            writer.add_scalar(name, value, step)

    return write


def to_trackio(trackio: Any) -> Sink:
    """A sink that logs to the run that `trackio.init` began (the module, or a run)."""
    return lambda figures, step: trackio.log(dict(figures), step=step)
