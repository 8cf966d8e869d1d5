"""The types of requests and answers: how an interaction is opened, its turns, and what callers see of both.

A body that opens an interaction has the fields of an item of `/v1/score` (`ScoreItem`) without its response. They are
handed on as they came.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from service.errors import FieldError, Unprocessable
from service.wire import Message, ScoreItem, ShortText, encode, parse

ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:@~-]{0,127}$"
"""The form of an id that a client chooses. It is part of URLs."""
MAX_TURNS = 1000
ALIASES = {"query": "prompt"}
"""Our names of fields, by the names that verl's interactions use."""
LEFT_OUT = frozenset({"response", "id", "reference_id"})
"""Fields of an item that an interaction does not take, because they belong to a turn or to a batch."""

State = Literal["open", "solved", "exhausted", "finalized"]
Trajectory = Literal["last", "max", "sum", "discounted", "improving"]
Language = Literal["en", "zh"]
InstanceId = Annotated[str, msgspec.Meta(pattern=ID_PATTERN)]
Template = Annotated[str, msgspec.Meta(min_length=1, max_length=4000)]

Index = Annotated[float, msgspec.Meta(ge=1, le=MAX_TURNS, multiple_of=1)]
"""In JSON, 1.0 is an integer just like 1."""


class Templates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The feedback after a turn.

    `{turn}`, `{max_turns}`, `{turns_left}`, `{score}`, `{reward}` and `{reason}` are replaced by their values;
    everything else stays as it is. No template may hold the reference. A missing template is the default of the
    language, except that `no_answer` and `exhausted` follow `incorrect` if that is given.
    """

    correct: Template | None = None
    incorrect: Template | None = None
    no_answer: Template | None = None
    """For a response without an answer."""
    exhausted: Template | None = None
    """For a last turn that is not correct either."""


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of an interaction."""

    instance_id: InstanceId | None = None
    """The id that the client chose. Without one the server makes one."""
    max_turns: Annotated[int, msgspec.Meta(ge=1, le=MAX_TURNS)] = 3
    success_threshold: float = 1.0
    """The lowest reward with which a turn solves the interaction and ends it."""
    ttl_s: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """How long the interaction is kept after its last turn."""
    language: Language = "en"
    """The language of the feedback."""
    feedback: Templates = Templates()
    trajectory: Trajectory = "last"
    """How the rewards of the turns become one number: the last one; the greatest; their sum; `gamma` to the power of
    the number of turns before the first that solves the interaction (0 without one); or the last one less `penalty` for
    each turn that did not improve on the one before (for the first turn: on 0)."""
    gamma: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.9
    penalty: Annotated[float, msgspec.Meta(ge=0, le=1e6)] = 0.05


class TurnRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The conversation so far. Its last assistant message is judged."""

    messages: list[Message]
    turn_index: Index
    """The number of the turn; the first is 1. A turn that was taken before gets the same answer again, if the messages
    or the key are the same."""
    idempotency_key: ShortText | None = None
    deadline_s: Annotated[float, msgspec.Meta(gt=0)] | None = None

    @property
    def index(self) -> int:
        return int(self.turn_index)

    def digest(self) -> str:
        """Equal for equal messages."""
        return hashlib.sha256(_encode_sorted(self.messages)).hexdigest()


class TurnInfo(msgspec.Struct, omit_defaults=True):
    """Further facts on a turn. None of them comes from the reference."""

    state: State
    turns_left: int
    extracted: str | None
    verifier: str | None
    version: str | None
    recipe: str | None = None
    checks: list[dict[str, Any]] | None = None
    """Each check of a composition without its detail."""
    step_reward: float | None = None
    """For the trajectory `improving`: 0, or minus `penalty`."""
    mixed_versions: bool = False
    """Whether verifiers of other versions judged an earlier turn."""


class TurnAnswer(msgspec.Struct):
    """A turn that was judged. Turns that could not be judged are not kept."""

    should_terminate: bool
    response: str
    """The feedback: the next user message, unless `should_terminate`."""
    reward: float
    score: float
    status: Literal["ok"]
    reason: str
    turn: int
    trajectory_score: float
    info: TurnInfo


class TurnView(msgspec.Struct):
    turn: int
    score: float
    reward: float
    reason: str


class View(msgspec.Struct):
    """An interaction as callers see it: without the reference, and without anything that would reveal it."""

    id: str
    state: State
    turn: int
    """Turns taken."""
    max_turns: int
    success_threshold: float
    ttl_s: float
    judged_by: dict[str, str]
    trajectory: Trajectory
    trajectory_score: float | None
    """Null before the first turn."""
    turns: list[TurnView]
    mixed_versions: bool | msgspec.UnsetType = msgspec.UNSET
    """True if verifiers of several versions judged the turns."""


@dataclass(frozen=True, slots=True)
class Creation:
    """A decoded request to open an interaction."""

    options: Options
    item: ScoreItem
    """Its response is empty."""
    item_json: bytes
    answers: Any
    """The reference, under either of its names."""
    surroundings: Any
    """All other fields that may quote the reference."""
    digest: str
    """A hash that is equal for bodies that mean the same, whatever id they name."""


_fields_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_tree_decoder = msgspec.json.Decoder()
_options_decoder = msgspec.json.Decoder(Options)
_item_decoder = msgspec.json.Decoder(ScoreItem)
_turn_decoder = msgspec.json.Decoder(TurnRequest)
_OPTION_NAMES = frozenset(Options.__struct_fields__)
_encode_sorted = msgspec.json.Encoder(order="deterministic").encode


def decode_creation(body: bytes) -> Creation:
    """Decode the body of a request that opens an interaction.

    Raises:
        BadRequest: the body is not JSON.
        Unprocessable: the body does not have the shape of the contract. The error names the field.
    """
    raw, tree = parse(_fields_decoder, body, []), parse(_tree_decoder, body, [])
    _check_names(tree)
    _use_our_names(raw, tree)
    options = parse(_options_decoder, encode({name: raw[name] for name in raw if name in _OPTION_NAMES}), [])
    if options.instance_id is not None and not re.fullmatch(ID_PATTERN, options.instance_id):
        raise unprocessable("instance_id", f"expected text of the form {ID_PATTERN}")  # `$` let a line's end pass
    item_fields = {name: value for name, value in raw.items() if name not in _OPTION_NAMES}
    item_json = encode(item_fields | {"response": ""})
    item = parse(_item_decoder, item_json, [])
    tree.pop("instance_id", None)
    digest = hashlib.sha256(_encode_sorted(tree)).hexdigest()
    answers = [tree.get(name) for name in ("reference", "ground_truth")]
    surroundings = [tree.get(name) for name in ("params", "checks", "test_cases", "evaluation_criteria")]
    return Creation(options, item, item_json, answers, surroundings, digest)


def decode_turn(body: bytes) -> TurnRequest:
    """Decode the body of a turn.

    Raises:
        BadRequest: the body is not JSON.
        Unprocessable: the body does not have the shape of the contract. The error names the field.
    """
    return parse(_turn_decoder, body, [])


def decode_item(item_json: bytes) -> ScoreItem:
    """Decode the item in `Creation.item_json`."""
    return _item_decoder.decode(item_json)


def _check_names(tree: Mapping[str, Any]) -> None:
    for name in tree:
        if name in LEFT_OUT:
            raise unprocessable(name, f"Object contains unknown field `{name}`")
        if tree[name] is not None and tree.get(ALIASES.get(name, "")) is not None:
            raise unprocessable(name, f"{name} is another name of {ALIASES[name]}; give one of them")


def _use_our_names(raw: dict[str, Any], tree: dict[str, Any]) -> None:
    """Rename other names of fields to ours, in both forms of the body. If one name is null, the other one counts."""
    for alias, name in ALIASES.items():
        if alias in tree:
            source_name = name if tree.get(name) is not None else alias
            for fields in (raw, tree):
                fields[name] = fields[source_name]
                del fields[alias]


def unprocessable(field: str, message: str, *path: str) -> Unprocessable:
    return Unprocessable(message, errors=[FieldError([field, *path], message)])
