"""A recipe that is ready for use: every name is found, every default filled in."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from service.recipes.model import GateSpec, ReferenceSpec, WatchSpec
from service.recipes.reward_shaping import PLAIN, Aggregate, Clip, Scale
from verifiers.registry import Entry


@dataclass(frozen=True, slots=True)
class Gate:
    """Runs its check only if the score of the check at `on` lies within the bounds."""

    on: int
    spec: GateSpec

    def opens(self, score: float) -> bool:
        return self.spec.opens(score)


@dataclass(frozen=True, slots=True)
class Check:
    """One verifier's part in a reward, ready for use."""

    name: str
    entry: Entry
    params: Mapping[str, Any] = field(default_factory=dict)
    reference: ReferenceSpec | None = None
    weight: float = 1.0
    scale: Scale = PLAIN
    clip: Clip | None = None
    gate: Gate | None = None
    skipped: float | None = 0.0
    """The value if the gate stays shut. None: the check does not count."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A composition, ready for use."""

    name: str | None
    """None: the item itself wrote the composition."""
    checks: tuple[Check, ...]
    aggregate: Aggregate = "weighted_mean"
    scale: Scale = PLAIN
    clip: Clip | None = None
    score: int | None = 0
    """The check that gives the score of the item. None: the aggregated value."""
    partial: bool = False
    group: Mapping[str, Any] = field(default_factory=dict)
    """How the items of a prompt are rewarded together: fields of an item's `group`."""
    about: str = ""
    origin: str = ""
    watch: WatchSpec | None = None


def describe(recipe: Recipe) -> dict[str, Any]:
    """The recipe as JSON."""
    return {
        "name": recipe.name,
        "about": recipe.about,
        "origin": recipe.origin,
        "checks": [_describe_check(check, recipe) for check in recipe.checks],
        "aggregate": recipe.aggregate,
        "scale": [recipe.scale.wrong, recipe.scale.correct],
        "clip": _describe_clip(recipe.clip),
        "score": "aggregate" if recipe.score is None else recipe.checks[recipe.score].name,
        "partial": recipe.partial,
        "group": dict(recipe.group),
        **({} if recipe.watch is None else {"watch": recipe.watch.model_dump(exclude_unset=True)}),
    }


def _describe_check(check: Check, recipe: Recipe) -> dict[str, Any]:
    gate = None
    if check.gate is not None:
        gate = check.gate.spec.model_dump(exclude_none=True)
    return {
        "name": check.name,
        "verifier": check.entry.verifier.name,
        "version": check.entry.verifier.version,
        "params": check.params,
        "reference": check.reference.model_dump(exclude_unset=True) if check.reference is not None else None,
        "weight": check.weight if recipe.aggregate in ("weighted_mean", "weighted_sum") else None,
        "scale": dataclasses.asdict(check.scale),
        "clip": _describe_clip(check.clip),
        "gate": gate,
        "skipped": ("drop" if check.skipped is None else check.skipped) if gate else None,
    }


def _describe_clip(clip: Clip | None) -> list[float] | None:
    return [clip.low, clip.high] if clip is not None else None
