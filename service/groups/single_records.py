"""The record of a group whose members come one by one, in the store of records: what all replicas know of it.

plan      the size, the options and the deadline that the first member set, and the keys of the members so far
m<i>      the item of the member with the i-th key
claim     who decides the group, and until when that must be renewed
answer    the result of each member, once and for all
"""

import time
from collections.abc import Sequence
from typing import Final

import msgspec

from service.errors import StateUnavailable
from service.storage.record_store import VERSION, Change, RecordStore
from service.system_random import SYSTEM_RANDOM
from service.wire import Result, encode

PLAN, CLAIM, ANSWER = "plan", "claim", "answer"
_ATTEMPTS: Final = 40
"""Attempts at a change, while other replicas change the same record."""
_KEPT_S: Final = 900.0
"""A group is kept so long after its deadline, for members that ask again."""


class Plan(msgspec.Struct, frozen=True):
    size: int
    digest: str
    """A hash of the options and of how members are judged. It is the same for all."""
    until: float
    """When the group is decided, whole or not, in Unix time."""
    members: tuple[str, ...]
    marks: tuple[str, ...] = ()
    """A hash of the item of each member."""

    def is_known_otherwise(self, key: str, mark: str) -> bool:
        """Whether the member with this key is another item."""
        if not self.marks:
            return False  # of a release without marks
        return mark not in [m for member, m in zip(self.members, self.marks, strict=False) if member == key]


class Claim(msgspec.Struct, frozen=True):
    by: str
    until: float


class Answer(msgspec.Struct, frozen=True):
    """The results by the keys of the members."""

    results: dict[str, Result]


class Seen(msgspec.Struct, frozen=True):
    """A record at one moment."""

    version: bytes
    plan: Plan
    claim: Claim | None
    answer: Answer | None


_plans = msgspec.json.Decoder(Plan)
_claims = msgspec.json.Decoder(Claim)
_answers = msgspec.json.Decoder(Answer)


class Records:
    """Reads and changes the records of groups.

    Raises:
        StateUnavailable, Overloaded: the store cannot be used now.
    """

    def __init__(self, store: RecordStore) -> None:
        self.store = store

    async def see(self, name: str) -> Seen | None:
        """The record. None: there is none."""
        version, plan, claim, answer = await self.store.read(name, (VERSION, PLAN, CLAIM, ANSWER))
        if version is None or plan is None:
            return None
        try:
            return Seen(
                version,
                _plans.decode(plan),
                None if claim is None else _claims.decode(claim),
                None if answer is None else _answers.decode(answer),
            )
        except msgspec.MsgspecError as error:
            await self.store.remove(name)
            raise StateUnavailable("the record of a group was damaged; send its members again") from error

    async def items(self, name: str, plan: Plan) -> list[bytes]:
        """The items of all members, in the order of their keys."""
        stored = await self.store.read(name, [_member(at) for at in range(len(plan.members))])
        return [item for item in stored if item is not None]

    async def join(self, name: str, plan: Plan, key: str, item: bytes, mark: str) -> Seen | None:
        """Add a member, or find one with its key there. `plan` is that of a new group. None: the group is full or decided,
        without this member.
        """
        for _ in range(_ATTEMPTS):
            record = await self.see(name)
            if record is None:
                current, version = plan, None
            else:
                current, version = record.plan, record.version
                if key in current.members:
                    return record
                if len(current.members) == current.size or record.answer is not None or record.claim is not None:
                    return None
            grown = msgspec.structs.replace(current, members=(*current.members, key), marks=(*current.marks, mark))
            fields = {PLAN: encode(grown), _member(len(current.members)): item}
            changed = _change(fields, grown)
            if await self.store.swap(name, version, changed):
                return Seen(changed.fields[VERSION], grown, None, None)
        raise StateUnavailable("other members of the group kept coming; send this one again", retry_after_s=1.0)

    async def claim(self, name: str, record: Seen, claim: Claim) -> Seen | None:
        """Claim the group, or renew the claim. None: somebody else has changed it."""
        change = _change({CLAIM: encode(claim)}, record.plan)
        if not await self.store.swap(name, record.version, change):
            return None
        return msgspec.structs.replace(record, version=change.fields[VERSION], claim=claim)

    async def answer(self, name: str, record: Seen, answer: Answer) -> bool:
        """Keep the answer. False: somebody else has changed the record."""
        dropped = [_member(at) for at in range(len(record.plan.members))]
        change = _change({ANSWER: encode(answer)}, record.plan, dropped, is_over=True)
        return await self.store.swap(name, record.version, change)


def _member(at: int) -> str:
    return f"m{at}"


def _change(fields: dict[str, bytes], plan: Plan, dropped: Sequence[str] = (), *, is_over: bool = False) -> Change:
    version = SYSTEM_RANDOM.randbytes(12)
    return Change({VERSION: version, **fields}, max(0.0, plan.until - time.time()) + _KEPT_S, dropped, is_over)
