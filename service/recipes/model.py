"""The types of recipes and routes as they are written in YAML, and of `checks` in an item, with defaults and mistakes.

Everything is checked when it is read, and mistakes are reported with their place. A recipe that cannot work stops the
start.
"""

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from service.recipes.reward_shaping import Aggregate, Clip, Scale

Finite = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_./*-]{0,99}$")]
MAX_CHECKS = 16


class Shape(BaseModel):
    """The base of all types here. Unknown fields are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ScaleSpec(Shape):
    """A scale, written as `"01"`, `"pm1"`, `[wrong, correct]`, or with these fields."""

    wrong: Finite = 0.0
    """The value of score 0."""
    correct: Finite = 1.0
    """The value of score 1. Between the two lies a straight line."""
    reasons: Mapping[str, Finite] = {}
    """The values of single reasons, such as `no_answer: -1`."""
    threshold: Annotated[float, Field(gt=0, le=1)] | None = None
    """Scores from this one on count as 1, all others as 0."""

    def built(self) -> Scale:
        return Scale(self.wrong, self.correct, dict(self.reasons), self.threshold)


def _scale(value: object) -> object:
    match value:
        case "01":
            return {}
        case "pm1":
            return {"wrong": -1.0, "correct": 1.0}
        case [wrong, correct]:
            return {"wrong": wrong, "correct": correct}
        case str() | list():
            raise ValueError("a scale is 01, pm1, [value of wrong, value of correct], or an object")
    return value


ScaleField = Annotated[ScaleSpec, BeforeValidator(_scale)]


class LineSpec(Shape):
    """A straight line over a number made of several values, written as `"01"`, `"pm1"` or `[value of 0, value of
    1]`.
    """

    wrong: Finite = 0.0
    correct: Finite = 1.0


LineField = Annotated[LineSpec, BeforeValidator(_scale)]


class GateSpec(Shape):
    """A condition for running a check: the score of an earlier check. So only few items pay for a judge or a box."""

    after: str
    """The name of a check before this one."""
    at_least: Annotated[float, Field(ge=0, le=1)] | None = None
    below: Annotated[float, Field(gt=0, le=1)] | None = None
    """Bounds of the other check's score: one of the two, or both."""

    @model_validator(mode="after")
    def _has_bounds(self) -> Self:
        if self.at_least is None and self.below is None:
            raise ValueError("a gate needs at_least, below, or both")
        if self.at_least is not None and self.below is not None and self.at_least >= self.below:
            raise ValueError("at_least must be less than below: the gate would never open")
        return self

    def opens(self, score: float) -> bool:
        return (self.at_least is None or score >= self.at_least) and (self.below is None or score < self.below)


class ReferenceSpec(Shape):
    """Which part of a row the check judges against."""

    value: Any = None
    """A fixed value, whatever the row holds."""
    field: Literal["reference", "tests"] | None = None
    """`reference`: the reference or ground truth of the item. `tests`: its test cases."""
    path: Annotated[str, Field(pattern=r"^[^.]+(\.[^.]+){0,7}$")] | None = None
    """Names joined by dots: the path of a part of a reference that is an object."""
    tag: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,40}$")] | None = None
    """The tag to remove around the reference, since data sets write `<answer>5</answer>`. A reference without the tag
    stays as it is."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("give one of value, field, path, tag")
        return self


class CheckSpec(Shape):
    """One verifier's part in a reward."""

    verifier: str | None = None
    recipe: str | None = None
    """Another recipe with a single check. It is taken over with its parameters and scale."""
    name: Name | None = None
    """The name that gates, weights and answers use for it. Default: the name of the verifier or recipe."""
    params: Mapping[str, Any] = {}
    reference: ReferenceSpec | None = None
    """What the check judges against. Default: what the verifier usually judges against."""
    weight: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] | None = None
    """The weight, for weighted_mean and weighted_sum. Default: 1."""
    scale: ScaleField | None = None
    """The scale from its score to its value. Default: the value is the score."""
    penalty: Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)] | None = None
    """Short for the scale [-penalty, 0]: an answer without the fault loses nothing."""
    clip: tuple[Finite, Finite] | None = None
    """The bounds of its value."""
    gate: GateSpec | None = None
    skipped: Finite | Literal["drop"] = 0.0
    """The value of the check if its gate stays shut. With `drop` the check and its weight do not count."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.verifier is None) == (self.recipe is None):
            raise ValueError("a check names either a verifier or a recipe")
        if self.scale is not None and self.penalty is not None:
            raise ValueError("penalty is a scale: give one of the two")
        if self.clip is not None and self.clip[0] > self.clip[1]:
            raise ValueError(f"clip: {self.clip[0]:g} is above {self.clip[1]:g}")
        if self.gate is None and "skipped" in self.model_fields_set:
            raise ValueError("skipped needs a gate; add one or remove skipped")
        return self

    @property
    def label(self) -> str:
        return self.name or self.verifier or self.recipe or ""


ClipField = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)] | tuple[Finite, Finite]
"""The number c means [-c, c]."""


class GroupSpec(Shape):
    """How the items of a prompt are rewarded together: fields of an item's `group`, whose own fields come first."""

    size: Annotated[int, Field(ge=1, le=128)] | None = None
    """The items of each prompt. With it, items without a `group` are members, too."""
    wait_s: Annotated[float, Field(gt=0, le=3600)] = 30.0
    on_incomplete: Literal["score", "fail"] = "score"
    terms: Mapping[str, Any] = {}
    """What length, style and diversity add."""
    advantages: Mapping[str, Any] | None = None


class WatchSpec(Shape):
    """The watch on the rewards of a recipe (docs/watch.md)."""

    shadow: CheckSpec | None = None
    """A second check, which judges a share of the responses. Its verdicts change no reward."""
    share: Annotated[float, Field(gt=0, le=1)] = 0.02
    """The share of items that the shadow judges."""
    impostors: bool = True
    """Have responses judged, now and then, that are known to be bad."""


class RecipeSpec(Shape):
    """A named composition."""

    about: str = ""
    """The purpose of the recipe. If it stands for another project's reward: where the two differ and why."""
    checks: Annotated[tuple[CheckSpec, ...], Field(min_length=1, max_length=MAX_CHECKS)]
    aggregate: Aggregate = "weighted_mean"
    scale: LineField | None = None
    """The scale of the aggregated value."""
    clip: ClipField | None = None
    """The bounds of the reward, applied last."""
    score: str | None = None
    """The check that gives the `score` of the item, without any shaping. `aggregate` stands for the aggregated
    value, which must then lie in [0, 1]. Default: the first check, or `aggregate` for `max`."""
    partial: bool = False
    """Go on without the checks that failed, instead of failing the item. Their weight is left out."""
    group: GroupSpec | None = None
    watch: WatchSpec | None = None
    """Watch the rewards of this recipe."""

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if self.watch is None and "watch" in self.model_fields_set:
            raise ValueError("watch is empty: write {} to watch the rewards, or leave it out")
        labels: set[str] = set()
        for check in self.checks:
            if check.label in labels:
                raise ValueError(f"two checks are called {check.label!r}: give one of them a name")
            if check.gate is not None and check.gate.after not in labels:
                raise ValueError(
                    f"check {check.label!r}: its gate is after {check.gate.after!r}, which is not a check before it"
                    f" ({sorted(labels) or 'there is none'})"
                )
            if check.weight is not None and self.aggregate not in ("weighted_mean", "weighted_sum"):
                raise ValueError(f"check {check.label!r}: {self.aggregate} knows no weights; use a scale")
            labels.add(check.label)
        if self.aggregate in ("weighted_mean", "weighted_sum") and not any(
            check.weight is None or check.weight > 0 for check in self.checks
        ):
            raise ValueError("the weights are all 0")
        if self.score is not None and self.score != "aggregate" and self.score not in labels:
            raise ValueError(f"score: no check is called {self.score!r}; there are {sorted(labels)}")
        if isinstance(self.clip, tuple) and self.clip[0] > self.clip[1]:
            raise ValueError(f"clip: {self.clip[0]:g} is above {self.clip[1]:g}")
        return self


def built_clip(clip: float | tuple[float, float] | None) -> Clip | None:
    if clip is None:
        return None
    low, high = clip if isinstance(clip, tuple) else (-clip, clip)
    return Clip(low, high)


class RangeSpec(Shape):
    """A range of difficulties. A missing bound does not restrict."""

    gte: Finite | None = None
    lt: Finite | None = None

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.gte is None and self.lt is None:
            raise ValueError("a range needs gte, lt, or both")
        if self.gte is not None and self.lt is not None and self.gte >= self.lt:
            raise ValueError("gte must be less than lt: the range is empty")
        return self

    def holds(self, value: float) -> bool:
        return (self.gte is None or value >= self.gte) and (self.lt is None or value < self.lt)

    def meets(self, second: "RangeSpec") -> bool:
        """Whether some difficulty lies in both ranges."""
        low = max(_or(self.gte, -math.inf), _or(second.gte, -math.inf))
        return low < min(_or(self.lt, math.inf), _or(second.lt, math.inf))


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


_LABEL = re.compile(r"[^\x00-\x1f]{1,256}")


class RouteSpec(Shape):
    """A route: rows with this label go to this recipe. `*` in a label stands for any text."""

    domain: str | None = None
    data_source: str | None = None
    tag: str | None = None
    """Exactly one of these three is given."""
    difficulty: RangeSpec | None = None
    """The range of difficulties of the rows."""
    reference_has: str | None = None
    """The field that the reference of the rows must have; the reference is then an object."""
    recipe: str
    params: Mapping[str, Any] = {}
    """Parameters, as in an item's own `params`, which come before these."""

    @model_validator(mode="after")
    def _names_one_label(self) -> Self:
        labels = [label for label in (self.domain, self.data_source, self.tag) if label is not None]
        if len(labels) != 1:
            raise ValueError("a route matches one of domain, data_source, tag")
        if not _LABEL.fullmatch(labels[0]):
            raise ValueError("a label is 1 to 256 characters in one line")
        return self

    @property
    def kind(self) -> Literal["domain", "data_source", "tag"]:
        return "domain" if self.domain is not None else "data_source" if self.data_source is not None else "tag"

    @property
    def pattern(self) -> str:
        return self.domain or self.data_source or self.tag or ""


class BookSpec(Shape):
    """A file of recipes."""

    recipes: Mapping[Name, RecipeSpec] = {}
    routes: tuple[RouteSpec, ...] = ()
