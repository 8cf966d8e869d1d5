"""What callers of `POST /v1/group/advantages` send and get."""

from typing import Annotated, Final, Literal

import msgspec

from service.advantages.formulas import Deviation, Method, Overlong, Reason, Scale

MAX_GROUPS: Final = 16_384
MAX_GROUP_REWARDS: Final = 2_048
MAX_COMPONENTS: Final = 16

Number = Annotated[float, msgspec.Meta(ge=-1e9, le=1e9)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Length = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
"""Not `int`: to a JSON schema 1.0 is an integer, to the decoder it is none."""
Rewards = Annotated[list[Number | None], msgspec.Meta(max_length=MAX_GROUP_REWARDS)]
Preset = Literal["trl", "verl", "roll", "slime", "open_instruct", "openrlhf"]
Status = Literal["ok", "invalid", "failed"]


class RewardGroup(msgspec.Struct, forbid_unknown_fields=True):
    """The answers to one prompt; every list has one entry per answer. It has `rewards` or `components`."""

    rewards: Rewards = []
    """Null: not judged."""
    components: Annotated[dict[Name, Rewards], msgspec.Meta(max_length=MAX_COMPONENTS)] = {}
    """Several rewards by name; gdpo normalises each by itself, other methods their weighted sum."""
    id: str | int | None = None
    scores: Rewards | None = None
    """What the filters of mean and deviation look at: rewards before they were shaped. Default: the rewards."""
    statuses: Annotated[list[Status], msgspec.Meta(max_length=MAX_GROUP_REWARDS)] | None = None
    """What is not `ok` counts as not judged, whatever its reward."""
    lengths: Annotated[list[Length], msgspec.Meta(max_length=MAX_GROUP_REWARDS)] | None = None
    max_length: Length | None = None
    """Answers of this length were cut off; `truncated` says it answer by answer."""
    truncated: Annotated[list[bool], msgspec.Meta(max_length=MAX_GROUP_REWARDS)] | None = None


class Between(msgspec.Struct, forbid_unknown_fields=True):
    """Keeps a group whose mean is above `low` and below `high`."""

    low: Number | None = None
    high: Number | None = None


class Above(msgspec.Struct, forbid_unknown_fields=True):
    """Keeps a group whose deviation is above `min`."""

    min: Number = 0.0


class FilterOptions(msgspec.Struct, forbid_unknown_fields=True):
    """What is worth training on."""

    mean: Between | None = None
    std: Above | None = None
    overlong: Overlong | None = None
    """`mask`: answers that were cut off get no advantage; `exclude`: they count for nothing either."""


class LengthReward(msgspec.Struct, forbid_unknown_fields=True):
    """Kimi's reward for short answers, added to the others."""

    weight: Number = 1.0
    right_from: Number = 1.0
    """An answer is right whose score (without scores: reward) is at least this."""


class Options(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """How to reckon. What is not said is as in the preset, else grpo with the group's unbiased deviation and eps 1e-6."""

    preset: Preset | None = None
    method: Method | None = None
    scale: Scale | None = None
    """Whose deviation grpo divides by."""
    std: Deviation | None = None
    eps: Annotated[float, msgspec.Meta(ge=1e-12, le=1)] | None = None
    clip: Annotated[float, msgspec.Meta(gt=0, le=1e9)] | msgspec.UnsetType | None = msgspec.UNSET
    """Bound of an advantage's size; null: none, whatever the preset."""
    partial: bool | None = None
    """Whether an answer that lacks some of its components counts all the same."""
    weights: Annotated[dict[Name, Number], msgspec.Meta(max_length=MAX_COMPONENTS)] = {}
    """Of components; 1 for those that are not named."""
    filters: FilterOptions = msgspec.field(default_factory=FilterOptions)
    length_reward: LengthReward | None = None


class AdvantagesRequest(Options, forbid_unknown_fields=True, kw_only=True):
    """Groups of rewards, and how to reckon."""

    groups: Annotated[list[RewardGroup], msgspec.Meta(max_length=MAX_GROUPS)]


class Envelope(Options, forbid_unknown_fields=True, kw_only=True):
    """An `AdvantagesRequest` whose groups are still to be decoded."""

    groups: Annotated[list[msgspec.Raw], msgspec.Meta(max_length=MAX_GROUPS)]


class GroupAdvantages(msgspec.Struct):
    """One group's answer."""

    id: str | int
    """Its position, if it has none."""
    keep: bool
    reason: Reason
    message: str
    """What is wrong with a group that is invalid."""
    advantages: list[float | None]
    """One per answer; null: not to be trained on."""
    usable: int
    """Rewards that count for mean and deviation."""
    mean: float | None
    std: float | None


class FormulaUsed(msgspec.Struct):
    """Options and preset taken together."""

    method: Method
    scale: Scale
    std: Deviation
    eps: float
    clip: float | None
    partial: bool


class AdvantagesSummary(msgspec.Struct):
    groups: int
    rewards: int
    kept: int
    reasons: dict[str, int]
    """Groups by reason."""


class AdvantagesResponse(msgspec.Struct):
    """`groups[i]` belongs to the request's `groups[i]`."""

    groups: list[GroupAdvantages]
    formula: FormulaUsed
    summary: AdvantagesSummary
