"""The part `reward_models` of the file of judge models.

reward_models:
  helpful:  {pool: rm, preset: skywork_reward_v2, map: {kind: sigmoid, scale: 5}}
  steps:    {pool: prm, preset: qwen2.5_math_prm}
  careful:  {pools: [rm, other], ensemble: deviation, map: {kind: affine, low: -10, high: 30}}
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from verifiers import tables
from verifiers.judge.endpoints.reward_servers import Form
from verifiers.judge.profiles import Part

_Count = Annotated[int, Field(ge=1)]
_Positive = Annotated[float, Field(gt=0)]
_Name = Annotated[str, Field(min_length=1)]
_PRESETS: Final = Path(__file__).with_name("presets.yaml")


class Probability(Part):
    """The value itself, which must be from 0 to 1."""

    kind: Literal["probability"]
    """The name of this map."""


class Sigmoid(Part):
    """1 / (1 + exp(-(value - center) / scale))."""

    kind: Literal["sigmoid"]
    """The name of this map."""
    center: float = 0.0
    """The value whose score is 0.5."""
    scale: _Positive = 1.0
    """The distance from `center` whose score is 0.73."""


class Affine(Part):
    """(value - low) / (high - low), at least 0 and at most 1."""

    kind: Literal["affine"]
    """The name of this map."""
    low: float
    """The value whose score is 0."""
    high: float
    """The value whose score is 1."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"low {self.low} must be below high {self.high}")
        return self


class Rank(Part):
    """The share of the `others` of the item with a lower value; an equal one counts half."""

    kind: Literal["rank"]
    """The name of this map."""


class ZScore(Part):
    """The share of a normal distribution below z = (value - mean) / deviation of the values of the run so far.

    `center` and `scale` count as `prior` values that were there before, so that the first value has a score. Each
    process counts for itself.
    """

    kind: Literal["zscore"]
    """The name of this map."""
    center: float = 0.0
    """The mean that is assumed before there are values."""
    scale: _Positive = 1.0
    """The deviation that is assumed before there are values."""
    prior: _Positive = 16.0
    """How many values that assumption counts as."""


ScoreMap = Annotated[Probability | Sigmoid | Affine | Rank | ZScore, Field(discriminator="kind")]


class Template(Part):
    """How messages become the text that the server is sent. Tokens of it in messages are made harmless."""

    begin: str = ""
    turn: str
    """Each message, with `{role}` and `{content}`."""
    end: str = ""
    roles: dict[str, str] = Field(default_factory=dict)
    """The model's names for the roles system, user and assistant, where they differ."""

    @field_validator("turn")
    @classmethod
    def _check_turn(cls, turn: str) -> str:
        if turn.count("{content}") != 1 or turn.count("{role}") > 1 or "{role}" in turn.partition("{content}")[2]:
            raise ValueError("expected {content} once, and {role} before it at most once")
        return turn


class Steps(Part):
    """A process reward model: the server gives a value for each separator."""

    separator: _Name
    """The token behind each step."""
    between: str = ""
    """The text between a separator and the next step."""
    reduce: Literal["min", "product", "last", "mean"] = "min"


class LengthCost(Part):
    """What is subtracted from a value for each `chars` characters of the response beyond `free_chars`."""

    weight: float
    chars: _Count = 1_000
    free_chars: Annotated[int, Field(ge=0)] = 0


class Batch(Part):
    """The bounds of one call. A call is sent at once if the pool has room; meanwhile the next one is filled."""

    tokens: _Count = 16_384
    """Estimated tokens. A longer input is sent alone."""
    inputs: Annotated[int, Field(ge=1, le=512)] = 32


class RewardModel(Part):
    """One way to score a response by reward models."""

    pools: Annotated[list[_Name], Field(min_length=1, max_length=16)]
    """The pool of each model of the ensemble; `pool` names the only one."""
    preset: str | None = None
    """A family of `presets.yaml`, whose fields hold where this profile has none."""
    input: Form = "messages"
    """messages: the server applies its chat template; text: `template` makes a text; pair: question and response."""
    template: Template | None = None
    system: str | None = None
    """The system message; None: there is none."""
    special_tokens: bool | None = None
    """Whether vLLM adds special tokens to a text; None: as it does by itself."""
    activation: Literal["none", "sigmoid", "softmax"] = "none"
    """What is applied to the values of the classes, which servers are asked for without it."""
    label: Annotated[int, Field(ge=0)] | str | None = None
    """The class whose value is the reward: its position or its name. It may be left out if there is one class."""
    steps: Steps | None = None
    ensemble: Literal["mean", "min", "deviation"] = "mean"
    """The values of several models as one. deviation: mean - `deviations` × standard deviation (arXiv 2310.02743)."""
    deviations: Annotated[float, Field(ge=0)] = 1.0
    margin: bool = False
    """Whether the value of the item's reference, which is a response, is subtracted."""
    length: LengthCost | None = None
    map: ScoreMap
    view: Literal["final", "full"] = "final"
    """final: the text after the thinking; full: all of it."""
    max_chars: Annotated[int, Field(ge=100)] = 32_000
    """The middle of a longer response is left out, and so for a longer question."""
    batch: Batch = Batch()
    deadline_s: _Positive = 60.0

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        fields = dict(value)
        if "pool" in fields:
            if "pools" in fields:
                raise ValueError("expected pool or pools, not both")
            fields["pools"] = [fields.pop("pool")]
        return {**_preset(fields.get("preset")), **fields}

    @field_validator("pools")
    @classmethod
    def _check_pools(cls, pools: list[str]) -> list[str]:
        if len(set(pools)) < len(pools):
            raise ValueError("expected each pool once")
        return pools

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.input == "text") is (self.template is None):
            raise ValueError("input text and template need each other")
        if self.input == "pair" and (self.steps is not None or self.system is not None):
            raise ValueError("input pair has no steps and no system message")
        if self.ensemble != "mean" and len(self.pools) == 1:
            raise ValueError(f"ensemble {self.ensemble} needs several pools")
        return self


def presets() -> Mapping[str, Mapping[str, Any]]:
    """The families, with the fields of each."""
    return _read()


@cache
def _read() -> dict[str, dict[str, Any]]:
    families: dict[str, dict[str, Any]] = tables.values(_PRESETS)
    return families


def _preset(name: Any) -> dict[str, Any]:
    if name is None:
        return {}
    family = _read().get(name) if isinstance(name, str) else None
    if family is None:
        raise ValueError(f"preset: no {name!r}; there are {sorted(_read())}")
    return {field: value for field, value in family.items() if field != "original"}
