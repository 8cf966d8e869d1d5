"""The types of the requests and answers of `POST /v1/groups/score`."""

from typing import Annotated, Any, Final, Literal

import msgspec

from service.advantages.schemas import Length, LengthReward, Number, Options, Status
from service.groups.pairings import Pairing
from service.groups.ratings import Rating
from service.wire import ABSENT, CacheMode, Message, RunId, ShortText

MAX_GROUPS: Final = 2_048
MAX_MEMBERS: Final = 128

Method = Literal["score", "majority", "tournament", "listwise", "rewards"]
Weight = Annotated[float, msgspec.Meta(ge=-1e3, le=1e3)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Seed = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Group(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The responses to one prompt, and how they are judged. The other fields are those of an item of `/v1/score`."""

    responses: Annotated[list[str | list[Message]], msgspec.Meta(min_length=1, max_length=MAX_MEMBERS)]
    id: str | int | None = None
    prompt: str | list[Message] | None = None
    verifier: ShortText | None = None
    """The verifier. For `majority`, the one whose equality counts. For `tournament` and `listwise`: `judge`."""
    recipe: ShortText | None = None
    reference: msgspec.Raw = ABSENT
    params: msgspec.Raw = ABSENT
    lengths: Annotated[list[Length], msgspec.Meta(max_length=MAX_MEMBERS)] | None = None
    """The length of each response, such as its tokens. Default: its characters."""


class Majority(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How most responses decide what is right (arXiv 2504.16084)."""

    min_share: Share = 0.0
    """The smallest share of all responses that the largest class must have."""
    on_tie: Literal["drop", "first"] = "drop"
    """Several classes are the largest. drop: there is no majority; first: the one whose answer came first is right."""


class Tournament(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Who is compared with whom, and what the results make."""

    pairs: Pairing = "circular"
    """circular: each with the next; all: each with each; swiss: in rounds, those of like results; baseline: each with
    the response `baseline` alone."""
    baseline: Annotated[int, msgspec.Meta(ge=0, lt=MAX_MEMBERS)] = 0
    chunk: Annotated[int, msgspec.Meta(ge=2, le=MAX_MEMBERS)] | None = None
    """Compare only within runs of so many responses. One that would be left over belongs to the last run."""
    rounds: Annotated[int, msgspec.Meta(ge=1, le=32)] | None = None
    """Of swiss. Default: the logarithm of the number of responses to base 2, rounded up, and one more."""
    orders: Literal["both", "one"] = "both"
    """both: each pair is asked about in both orders, and counts as a tie unless the answers agree; one: once, every
    other pair turned."""
    rating: Rating = "win_loss"
    """win_loss: wins less losses, by the number of comparisons; points: wins and half the ties, by that number;
    bradley_terry: strengths of the model, in logits with mean 0; elo: from 0, 32 points a game; scores: the mean of
    the scores that the judge gives each response, ties broken by its ranking."""


class Diversity(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Multiplies rewards by how different a response is from the others (arXiv 2509.02534)."""

    by: Literal["classes", "ngrams", "embeddings"] = "classes"
    """classes: the share of the others that give another answer; ngrams: the share of its n-grams of words that are
    different, and that no other response has; embeddings: 1 less the mean cosine of its vector and the others'."""
    n: Annotated[int, msgspec.Meta(ge=1, le=10)] = 4
    pool: str = "embeddings"
    """The pool of the judges' file whose endpoints give vectors."""


class Terms(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What is added to rewards. Weights of length and style: the shortest, or plainest, response gets the most, and the
    terms of a group add up to 0. Only judged responses count.
    """

    length: Weight = 0.0
    reasoning_length: Weight = 0.0
    """Of the characters before the final answer."""
    answer_length: Weight = 0.0
    """Of the characters of the final answer."""
    style: Weight = 0.0
    """Of the headings, list items, bold words and emojis for each character of the answer, code left out."""
    kimi: LengthReward | None = None
    diversity: Diversity | None = None


class Rewarding(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """How groups are rewarded, those of a request and those whose members come one by one."""

    method: Method = "score"
    majority: Majority = Majority()
    tournament: Tournament = Tournament()
    terms: Terms = Terms()
    seed: Seed | None = 0
    """Draws the order in which responses play and judges see them, by the texts alone: the order of the responses then
    changes no reward, and equal ones have equal rewards. null: as they are given, and no pair is turned."""
    k: Annotated[int, msgspec.Meta(ge=1, le=MAX_MEMBERS)] | None = None
    """Also say the mean of the maximum of k rewards: pass@k, if rewards are 0 and 1."""
    advantages: Options | None = None
    """Also compute advantages, over all groups of the request."""
    cache: CacheMode = "use"
    """Whether verdicts and the answers of judges may come from memory. Of members that come one by one, the `cache` of
    their requests unless their group says so."""

    def __post_init__(self) -> None:
        needs = self.advantages is not None and self.advantages.filters.overlong is not None
        if needs and self.method != "rewards":
            message = "needs lengths and a longest one, which only groups of `rewards` have; leave it out"
            raise ValueError(f"advantages.filters.overlong {message}")
        if self.method == "rewards" and self.terms != Terms():
            raise ValueError("terms need responses; leave them out, or post `responses` and not `rewards`")


class GroupOptions(Rewarding, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """How groups are rewarded, and how the request is answered."""

    deadline_s: Annotated[float, msgspec.Meta(gt=0)] | None = None
    explain: bool = False
    run_id: RunId | None = None


class Envelope(GroupOptions, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Groups that are not decoded yet, and how they are rewarded."""

    groups: list[msgspec.Raw]


class Member(msgspec.Struct):
    """The verdict of one response of a group. `reward` is null unless `status` is ok."""

    status: Status
    reward: float | None
    score: float | None
    """From 0 to 1: that of a judged response; of a tournament `as_score` of its rating. `reward` is the number that counts."""
    reason: str
    extracted: str | None = None
    answer_class: int | None = None
    """Responses of one class give the same answer. The largest class is 0."""
    terms: dict[str, float] = {}
    """What was added to the score, or multiplied with it (`diversity`)."""
    advantage: Number | None = None
    """Null: do not train on this response."""
    checks: list[dict[str, Any]] | None = None
    """Of a recipe: the outcome of each check."""
    detail: dict[str, Any] = {}


class GroupResult(msgspec.Struct, kw_only=True):
    """The answer for one group; `members[i]` belongs to `responses[i]`."""

    id: str | int
    status: Status
    """ok: the group was compared; members may lack a verdict all the same."""
    reason: str
    message: str = ""
    members: list[Member]
    best: int | None = None
    """The position of the highest reward; the first, of several."""
    max_at_k: float | None = None
    keep: bool | None = None
    """Whether the group has advantages; null if they were not asked for. `reason` of a dropped group says why."""
    dropped: str = ""
    detail: dict[str, Any] = {}

    @classmethod
    def unjudged(cls, name: str | int, count: int, status: Status, reason: str, message: str) -> "GroupResult":
        """A group of which no member has a reward."""
        members = [Member(status, None, None, reason) for _ in range(count)]
        return cls(id=name, status=status, reason=reason, message=message, members=members)

    @classmethod
    def invalid(cls, name: str | int, count: int, message: str) -> "GroupResult":
        """A group that cannot be judged until it is mended."""
        return cls.unjudged(name, count, "invalid", "bad_group", message)


class GroupsSummary(msgspec.Struct):
    groups: int
    members: int
    ok: int
    invalid: int
    failed: int
    """Members by status."""
    comparisons: int
    """Questions to judges and comparisons of answers."""
    elapsed_ms: float


class GroupsResponse(msgspec.Struct):
    """`groups[i]` belongs to the request's `groups[i]`."""

    groups: list[GroupResult]
    summary: GroupsSummary


_Key = Annotated[str, msgspec.Meta(min_length=1, max_length=128)] | Annotated[int, msgspec.Meta(ge=0, le=2**53)]
DEFAULT_WAIT_S: Final = 30.0


class GroupOf(Rewarding, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The group of an item. All members say the same, but for `member`."""

    size: Annotated[int, msgspec.Meta(ge=1, le=MAX_MEMBERS)]
    id: Annotated[str, msgspec.Meta(min_length=1, max_length=256)] | int | None = None
    """The name of the group within the run. Default: a hash of how the item is judged and of its prompt, which it must
    have."""
    again: bool = False
    """Whether groups with this id may follow each other, as those of a prompt without an id do."""
    member: _Key | None = None
    """Which member this is. One that is sent again must say so, or it counts twice. Default: the item's id, if it is
    not its position."""
    wait_s: Annotated[float, msgspec.Meta(gt=0, le=3600)] = DEFAULT_WAIT_S
    """How long the group waits for its members, from its first one."""
    on_incomplete: Literal["score", "fail"] = "score"
    """What becomes of a group that is not whole by then. score: its members are compared; fail: all are `failed`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method == "rewards":
            raise ValueError("method `rewards` is for whole groups of POST /v1/groups/score")

    @property
    def options(self) -> GroupOptions:
        return GroupOptions(**{name: getattr(self, name) for name in Rewarding.__struct_fields__})

    def stated(self) -> dict[str, Any]:
        """What all members say alike: the fields that differ from their defaults, without `member`. A release with more
        options states the same of members that use none of them.
        """
        fields: dict[str, Any] = _stated(msgspec.structs.replace(self, member=None))
        return fields


def _stated(value: Any) -> Any:
    if not isinstance(value, msgspec.Struct):
        return value
    fields = [(field, getattr(value, field.name)) for field in msgspec.structs.fields(value)]
    return {field.name: _stated(content) for field, content in fields if content != _default(field)}


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
