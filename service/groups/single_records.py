"""The record of a group whose members come one by one, in the store of records: what all replicas know of it.

plan      the size, the options and the deadline that the first member set, and the keys of the members so far
m<i>      the item of the member with the i-th key
claim     who decides the group, and until when that must be renewed
answer    the result of each member, once and for all
earlier   the answer in which a member has failed for a temporary reason that is sent again: the others keep theirs

Replicas of two releases share these records while an upgrade runs. Their names, their fields and what is hashed of a member
stay as they are (`tests/service/groups/test_singles.py` pins them): else the members of a group would not meet.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import quote

import msgspec

from fairness import TENANT
from service.advantages.schemas import Status
from service.errors import Gone, RequestError, StateUnavailable
from service.groups.schemas import GroupOf
from service.json_slices import excess
from service.scoring.engine import PASSING
from service.shape_mistakes import where
from service.storage.record_store import VERSION, Change, RecordStore
from service.system_random import SYSTEM_RANDOM
from service.tenant import RUN
from service.wire import Result, ScoreItem, encode, parse

PLAN, CLAIM, ANSWER, EARLIER = "plan", "claim", "answer", "earlier"
_ATTEMPTS: Final = 40
"""Attempts at a change, while other replicas change the same record."""
_KEPT_S: Final = 900.0
"""A group is kept so long after its deadline, for members that ask again."""
_ROUNDS: Final = 64
"""Groups of one name that may follow each other while they are kept."""
_JUDGED_BY: Final = ("verifier", "recipe", "prompt", "params", "reference")
_PASSING: Final = PASSING | {"deadline"}
_NOT_OF_MEMBERS: Final = ("checks", "domain", "data_source", "tag", "reference_id")


class Refused(Exception):
    """The member is not of a group, and gets this verdict at once."""

    def __init__(self, status: Status, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason = status, reason


class Stored(msgspec.Struct, frozen=True):
    """A member as it is kept: its item, and its group."""

    item: ScoreItem
    group: GroupOf


_plain_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_groups_of = msgspec.json.Decoder(GroupOf)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A member that comes, and what tells it from the others."""

    stored: Stored
    key: str
    """Its name within the group."""
    body: bytes
    """The JSON of `stored`, without what is not said."""
    digest: str
    """A hash of what all members have in common."""

    @classmethod
    def of(cls, item: ScoreItem, usual: Mapping[str, Any], unnamed: str, *, at: int | None = None) -> "Arrival":
        """The member that an item is.

        Args:
            item: The item.
            usual: What its recipe says of its group; the fields of the item come first.
            unnamed: Its key if it names none.
            at: Its position; an id that says only this names no member.

        Raises:
            Refused: it names no group.
        """
        group = _read(item, usual)
        if group.method == "tournament" and item.verifier is None:
            item.verifier = "judge"
        item_id = None if item.id == at and at is not None else item.id
        named = group.member if group.member is not None else item_id
        key = unnamed if named in (None, "") else str(named)
        common = {name: getattr(item, name) for name in _JUDGED_BY if _is_given(item, name)}
        said = group.stated()
        named_member = {} if group.member is None else {"member": group.member}
        body = encode({"item": {"response": item.response, **common}, "group": {**said, **named_member}})
        digest = blake2b(encode({"item": common, "group": said}), digest_size=24).hexdigest()
        return cls(Stored(item, group), key, body, digest)

    @property
    def mark(self) -> str:
        """A hash of the member."""
        return blake2b(self.body, digest_size=12).hexdigest()

    @property
    def rounds(self) -> int:
        """How many groups of its name may follow each other."""
        group = self.stored.group
        return _ROUNDS if group.id is None or group.again else 1

    def name(self, number: int) -> str:
        """The name of the record of one of these groups, counted from 0."""
        group, run = self.stored.group, quote(RUN.get(), safe="")
        base = f"prompt/{run}/{self.digest}" if group.id is None else f"id/{run}/{group.id}"
        return blake2b(f"{TENANT.get()}/{base}/{number}".encode(), digest_size=24).hexdigest()


def _read(item: ScoreItem, usual: Mapping[str, Any]) -> GroupOf:
    raw = bytes(item.group) or b"{}"
    if much := excess(raw):
        raise Refused("invalid", "bad_group", f"group holds {much}")
    try:
        group = parse(_groups_of, encode({**usual, **_plain_fields.decode(raw)}) if usual else raw, ["group"])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refused("invalid", "bad_group", f"group: {error}") from error
    except RequestError as error:
        message = "; ".join(f"{where(fault.loc)}: {fault.msg}" for fault in error.errors) or f"group: {error.detail}"
        raise Refused("invalid", "bad_group", message) from error
    if names := [name for name in _NOT_OF_MEMBERS if _is_given(item, name)]:
        raise Refused("invalid", "bad_group", f"group: its members have no {names[0]}; name a verifier or a recipe")
    if group.id is None and item.prompt is None:
        raise Refused("invalid", "bad_group", "group: without an id the item needs a prompt, which names the group")
    return group


def _is_given(item: ScoreItem, name: str) -> bool:
    value = getattr(item, name)
    return bool(bytes(value)) if isinstance(value, msgspec.Raw) else value is not None


class Plan(msgspec.Struct, frozen=True):
    """Who is in a group, and when it is decided."""

    size: int
    digest: str
    until: float
    """When the group is decided, whole or not, in Unix time."""
    members: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    """A hash of the item of each member."""

    def __post_init__(self) -> None:
        if not len(self.members) == len(self.marks) <= self.size:
            raise ValueError(f"{len(self.members)} members, {len(self.marks)} marks, size {self.size}")

    @classmethod
    def of(cls, arrival: Arrival) -> "Plan":
        """The plan of a group without members, for the one that comes first."""
        group = arrival.stored.group
        return cls(group.size, arrival.digest, time.time() + group.wait_s)

    @property
    def is_whole(self) -> bool:
        return len(self.members) == self.size

    def joined(self, arrival: Arrival, *, is_closed: bool = False) -> "Plan":
        """The plan with the member; the plan itself if it is in it already.

        Raises:
            Refused: it is none of this group, which is full or `is_closed`, or is of another kind.
        """
        if arrival.digest != self.digest:
            message = "group: the other members have another size, other options, or are judged in another way"
            raise Refused("invalid", "group_mismatch", message)
        if (arrival.key, arrival.mark) in zip(self.members, self.marks, strict=True):
            return self
        if arrival.key in self.members:
            message = f"group: the member {arrival.key!r} is another response; name each sample apart, by `member`"
            raise Refused("invalid", "group_mismatch", message)
        if self.is_whole or is_closed:
            message = "group: it is full or decided, and this is not one of its members"
            raise Refused("failed", "group_over", message)
        return msgspec.structs.replace(self, members=(*self.members, arrival.key), marks=(*self.marks, arrival.mark))


class Claim(msgspec.Struct, frozen=True):
    by: str
    until: float


class Answer(msgspec.Struct, frozen=True):
    """The results by the keys of the members."""

    results: dict[str, Result]

    def is_passing(self, key: str) -> bool:
        """Whether the member has failed for a temporary reason."""
        result = self.results.get(key)
        return result is not None and result.status == "failed" and result.reason in _PASSING


class Seen(msgspec.Struct, frozen=True):
    """A record at one moment."""

    version: bytes
    plan: Plan
    claim: Claim | None = None
    answer: Answer | None = None
    earlier: Answer | None = None


_plans = msgspec.json.Decoder(Plan)
_claims = msgspec.json.Decoder(Claim | None)
_answers = msgspec.json.Decoder(Answer | None)


class Records:
    """Reads and changes the records of groups.

    Raises:
        StateUnavailable, Overloaded: the store cannot be used now.
    """

    def __init__(self, store: RecordStore) -> None:
        self.store = store

    async def see(self, name: str) -> Seen | None:
        """The record. None: there is none."""
        try:
            version, plan, claim, *answers = await self.store.read(name, (VERSION, PLAN, CLAIM, ANSWER, EARLIER))
            if version is None or plan is None:
                return None
            rest = [_answers.decode(answer or b"null") for answer in answers]
            return Seen(version, _plans.decode(plan), _claims.decode(claim or b"null"), *rest)
        except (Gone, msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            await self.store.remove(name)
            raise StateUnavailable("the record of a group was damaged; send its members again") from error

    async def items(self, name: str, plan: Plan) -> list[bytes]:
        """The items of all members, in the order of their keys."""
        stored = await self.store.read(name, [_member(at) for at in range(len(plan.members))])
        return [item for item in stored if item is not None]

    async def join(self, name: str, arrival: Arrival) -> Seen:
        """Add a member, or find it there. If it has failed for a temporary reason, the group is decided anew.

        Raises:
            Refused: it is none of this group.
        """
        for _ in range(_ATTEMPTS):
            record = await self.see(name)
            is_closed = record is not None and (record.answer is not None or record.claim is not None)
            current = Plan.of(arrival) if record is None else record.plan
            grown = current.joined(arrival, is_closed=is_closed)
            if record is not None and grown is current:
                if record.answer is None or not record.answer.is_passing(arrival.key):
                    return record
                if len(await self.items(name, current)) < len(current.members):
                    return record  # of a release that kept none
                change = _change({EARLIER: encode(record.answer)}, current, (ANSWER, CLAIM))
                if await self.store.swap(name, record.version, change):
                    return Seen(change.fields[VERSION], current, earlier=record.answer)
                continue
            changed = _change({PLAN: encode(grown), _member(len(current.members)): arrival.body}, grown)
            if await self.store.swap(name, None if record is None else record.version, changed):
                return Seen(changed.fields[VERSION], grown)
        raise StateUnavailable("other members of the group kept coming; send this one again", retry_after_s=1.0)

    async def claim(self, name: str, record: Seen, claim: Claim) -> Seen | None:
        """Claim the group, or renew the claim. None: somebody else has changed it."""
        change = _change({CLAIM: encode(claim)}, record.plan)
        if not await self.store.swap(name, record.version, change):
            return None
        return msgspec.structs.replace(record, version=change.fields[VERSION], claim=claim)

    async def answer(self, name: str, record: Seen, answer: Answer) -> bool:
        """Keep the answer. False: somebody else has changed the record."""
        is_passing = any(map(answer.is_passing, answer.results))
        dropped = [] if is_passing else [_member(at) for at in range(len(record.plan.members))]
        change = _change({ANSWER: encode(answer)}, record.plan, dropped, is_over=True)
        return await self.store.swap(name, record.version, change)


def _member(at: int) -> str:
    return f"m{at}"


def _change(fields: dict[str, bytes], plan: Plan, dropped: Sequence[str] = (), *, is_over: bool = False) -> Change:
    version = SYSTEM_RANDOM.randbytes(12)
    return Change({VERSION: version, **fields}, max(0.0, plan.until - time.time()) + _KEPT_S, dropped, is_over)
