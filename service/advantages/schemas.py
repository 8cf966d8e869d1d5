"""The types of groups of rewards, and of their advantages."""

from typing import Annotated, Final, Literal

import msgspec

from service.advantages.formulas import Deviation, Method, Overlong, Reason, Scale

MAX_GROUPS: Final = 16_384
MAX_GROUP_REWARDS: Final = 2_048
MAX_COMPONENTS: Final = 16

Number = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Length = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
"""Not `int`: a JSON schema takes 1.0 as an integer, the decoder does not."""
Rewards = Annotated[list[Number | None], msgspec.Meta(max_length=MAX_GROUP_REWARDS)]
Preset = Literal["trl", "verl", "roll", "slime", "open_instruct", "openrlhf"]
Status = Literal["ok", "invalid", "failed"]


class RewardGroup(msgspec.Struct, forbid_unknown_fields=True):
    """The answers to one prompt. Every list has one entry per answer. A group has `rewards` or `components`."""

    rewards: Rewards = []
    """Null: the answer was not judged."""
    components: Annotated[dict[Name, Rewards], msgspec.Meta(max_length=MAX_COMPONENTS)] = {}
    """Several rewards by name. gdpo normalises each by itself; other methods use their weighted sum."""
    id: str | int | None = None
    scores: Rewards | None = None
    """The values for the filters of mean and deviation: rewards before they were shaped. Default: the rewards."""
    statuses: Annotated[list[Status], msgspec.Meta(max_length=MAX_GROUP_REWARDS)] | None = None
    """An answer with a status other than `ok` counts as not judged, whatever its reward."""
    lengths: Annotated[list[Length], msgspec.Meta(max_length=MAX_GROUP_REWARDS)] | None = None
    max_length: Length | None = None
    """Answers of this length were cut off. `truncated` says the same for each answer."""
    truncated: Annotated[list[bool], msgspec.Meta(max_length=MAX_GROUP_REWARDS)] | None = None


class Between(msgspec.Struct, forbid_unknown_fields=True):
    """Keeps a group with a mean above `low` and below `high`."""

    low: Number | None = None
    high: Number | None = None


class Above(msgspec.Struct, forbid_unknown_fields=True):
    """Keeps a group with a deviation above `min`."""

    min: Number = 0.0


class FilterOptions(msgspec.Struct, forbid_unknown_fields=True):
    """Which groups and answers are worth training on."""

    mean: Between | None = None
    std: Above | None = None
    overlong: Overlong | None = None
    """`mask`: answers that were cut off get no advantage. `exclude`: they also do not count for the other answers."""


class LengthReward(msgspec.Struct, forbid_unknown_fields=True):
    """Kimi's reward for short answers, added to the others."""

    weight: Number = 1.0
    right_from: Number = 1.0
    """An answer is right if its score (or its reward, without scores) is at least this."""


class Options(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How to compute advantages. Missing options are those of the preset, else those of grpo with the group's unbiased
    deviation and eps 1e-6.
    """

    preset: Preset | None = None
    method: Method | None = None
    scale: Scale | None = None
    """The rewards that give the deviation by which grpo divides."""
    std: Deviation | None = None
    eps: Annotated[float, msgspec.Meta(ge=1e-12, le=1)] | None = None
    clip: Annotated[float, msgspec.Meta(gt=0, le=1e9)] | msgspec.UnsetType | None = msgspec.UNSET
    """The bound of the size of an advantage. Null: no bound, whatever the preset says."""
    k: Annotated[int, msgspec.Meta(ge=2, le=1024)] = 2
    """For maxk_loo and maxk_loo1: the number of answers of which the best counts. maxk_loo needs one reward more."""
    partial: bool | None = None
    """Whether an answer that lacks some of its components counts all the same."""
    weights: Annotated[dict[Name, Number], msgspec.Meta(max_length=MAX_COMPONENTS)] = {}
    """The weights of components. A component without one has weight 1."""
    filters: FilterOptions = msgspec.field(default_factory=FilterOptions)
    length_reward: LengthReward | None = None


class Envelope(Options, forbid_unknown_fields=True, kw_only=True):
    """Groups of rewards that are not decoded yet, and how to compute their advantages."""

    groups: list[msgspec.Raw]


class GroupAdvantages(msgspec.Struct):
    """The answer for one group."""

    id: str | int
    """The id of the group, or its position if it has no id."""
    keep: bool
    reason: Reason
    message: str
    """What is wrong with an invalid group."""
    advantages: list[float | None]
    """One advantage per answer. Null: do not train on it."""
    usable: int
    """The number of rewards that count for mean and deviation."""
    mean: float | None
    std: float | None
    rewards: list[float | None]
    """What the advantages are computed of: of components, their weighted sum."""


class FormulaUsed(msgspec.Struct):
    """The options that were used, from request and preset together."""

    method: Method
    scale: Scale
    std: Deviation
    eps: float
    clip: float | None
    partial: bool
    k: int


class AdvantagesSummary(msgspec.Struct):
    groups: int
    rewards: int
    kept: int
    reasons: dict[str, int]
    """The number of groups by reason."""


class AdvantagesResponse(msgspec.Struct):
    """`groups[i]` belongs to the request's `groups[i]`."""

    groups: list[GroupAdvantages]
    formula: FormulaUsed
    summary: AdvantagesSummary
