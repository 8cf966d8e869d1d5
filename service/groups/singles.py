"""Groups whose members come one by one, each as an item of `/v1/score` with the field `group`.

    item ──join──► record ──whole, or its deadline has come──► claimed by one replica ──scored──► answer ──► all members

All replicas see the same record. Any of them that has a member waiting may decide the group; the claim of one that has
died runs out. Whoever decides keeps the answer by comparing and swapping, so that there is one answer, for all members and
for ever: a member that is sent again gets the same. No member gets a number before that.
"""

import asyncio
import contextlib
import dataclasses
import logging
import secrets
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import quote

import msgspec

from fairness import TENANT
from service.errors import RequestError
from service.groups.pairings import FEWEST
from service.groups.schemas import (
    Group,
    GroupOf,
    GroupResult,
    Member,
)
from service.groups.scoring import GroupScorer
from service.groups.single_records import Answer, Claim, Plan, Records, Seen
from service.json_slices import excess
from service.scoring.engine import PASSING, Engine, Scored
from service.shape_mistakes import where
from service.system_random import SYSTEM_RANDOM
from service.tenant import RUN
from service.wire import BatchRequest, Result, ScoreItem, Summary, encode, parse
from verifiers.pace import Pace

log = logging.getLogger("rewardline.groups")

_POLL_S: Final = (0.1, 1.0)
"""The shortest and the longest pause between two looks at a record that other replicas may change."""
_LEASE_S: Final = 6.0
_RENEW_S: Final = 2.0
_SCORING_S: Final = 300.0
"""The longest time for scoring a group."""
_ROUNDS: Final = 64
"""Groups of one name that may follow each other while they are kept."""
_INLINE_BYTES: Final = 100_000
_MISMATCH: Final = "group: the other members have another size, other options, or are judged in another way"


_PASSING: Final = PASSING | {"deadline"}


class _Kept(msgspec.Struct, frozen=True):
    """A member as it is kept: its item, and its group."""

    item: ScoreItem
    group: GroupOf


_plain_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_groups_of = msgspec.json.Decoder(GroupOf)
_kept = msgspec.json.Decoder(_Kept)


@dataclass(slots=True)
class _Watch:
    """What this process waits for: the answer of one group."""

    answer: asyncio.Future[Answer | None]
    """None: the record is gone."""
    whole: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it is worth looking at the record at once."""
    waiting: int = 0
    task: asyncio.Task[None] | None = None


class _Refused(Exception):
    """The member gets this verdict at once."""

    def __init__(self, status: str, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason = status, reason


def _other_response(key: str) -> _Refused:
    message = f"group: the member {key!r} is another response; name each sample apart, by `member`"
    return _Refused("invalid", "group_mismatch", message)


def _over() -> _Refused:
    return _Refused("failed", "group_over", "group: it is full or decided, and this is not one of its members")


@dataclass(frozen=True, slots=True)
class _Known:
    """What tells a member of a job's group from the others."""

    digest: str
    """A hash of what all members have in common."""
    key: str
    mark: bytes

    @classmethod
    def of(cls, group: GroupOf, item: ScoreItem, at: int) -> "_Known":
        """`at` is the item's position in the job: an id that says only this names no member."""
        key = f"#{at}" if group.member is None and item.id == at else _key(group, item)
        mark = blake2b(encode({"item": _plain(item), "group": group}), digest_size=12).digest()
        return cls(_digest(group, item), key, mark)


@dataclass(slots=True)
class _Roll:
    """The members of a group whose items have all come."""

    size: int
    digest: str
    marks: dict[str, bytes] = field(default_factory=dict)
    positions: list[int] = field(default_factory=list)

    def passes_on(self, arrival: _Known) -> bool:
        """Whether the member belongs to the next group of this name."""
        if arrival.key in self.marks:
            return self.marks[arrival.key] != arrival.mark
        return len(self.marks) >= self.size

    def join(self, arrival: _Known) -> _Refused | None:
        """Add the member, or say why it is none."""
        if arrival.digest != self.digest:
            return _Refused("invalid", "group_mismatch", _MISMATCH)
        if self.marks.get(arrival.key, arrival.mark) != arrival.mark:
            return _other_response(arrival.key)
        if arrival.key not in self.marks and len(self.marks) >= self.size:
            return _over()
        self.marks[arrival.key] = arrival.mark
        return None


class Singles:
    """Collects members of groups, and answers them. It runs in one event loop."""

    def __init__(self, engine: Engine, scorer: GroupScorer, records: Records) -> None:
        self._engine = engine
        self._scorer = scorer
        self._records = records
        self._watches: dict[str, _Watch] = {}
        self._joining: dict[str, asyncio.Lock] = {}
        """Members of one group join one after the other. A lock is there while somebody needs it."""
        self._me = secrets.token_hex(8)

    async def close(self) -> None:
        """End the watches, and close the store. Members that wait are not answered."""
        tasks = [watch.task for watch in self._watches.values() if watch.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._records.store.close()

    async def score(self, batch: BatchRequest) -> Scored:
        """Judge a batch. Members of groups wait for their groups, at most to the deadline of the batch; the other items
        are judged by the engine.
        """
        members = self.members(batch)
        if not members:
            return await self._engine.score(batch)
        started = time.perf_counter()
        ungrouped = [at for at in range(len(batch.items)) if at not in members]
        ungrouped_batch = dataclasses.replace(batch, items=[batch.items[at] for at in ungrouped])
        async with asyncio.TaskGroup() as tasks:
            waiting = {at: tasks.create_task(self._result(batch.items[at], at, batch.deadline)) for at in members}
            scored = await self._engine.score(ungrouped_batch) if ungrouped else Scored([], Summary())
        for at, result in zip(ungrouped, scored.results, strict=True):
            result.id = at if batch.items[at].id is None else result.id
        by_position = dict(zip(ungrouped, scored.results, strict=True)) | {
            at: task.result() for at, task in waiting.items()
        }
        results = [by_position[at] for at in range(len(batch.items))]
        counts = Counter(result.status for result in results)
        summary = msgspec.structs.replace(
            scored.summary,
            items=len(results),
            ok=counts["ok"],
            invalid=counts["invalid"],
            failed=counts["failed"],
            elapsed_ms=round((time.perf_counter() - started) * 1000, 3),
        )
        return Scored(results, summary)

    async def stream(self, batch: BatchRequest) -> AsyncGenerator[list[tuple[int, Result]] | Summary]:
        """The results with their indexes, then the summary; all results together if there are members of groups."""
        if not self.members(batch):
            async for part in self._engine.stream(batch):
                yield part
            return
        scored = await self.score(batch)
        yield list(enumerate(scored.results))
        yield scored.summary

    async def groups_of(self, items: Sequence[ScoreItem]) -> list[list[int]]:
        """The positions of the members of each group, if all of them are here. Groups of one name follow each other as
        they do when members come one by one; a member that belongs to none of them is with the last, which refuses it.
        """
        rolls: dict[str, list[_Roll]] = {}
        pace = Pace()
        for at, item in enumerate(items):
            usual = self._usual(item)
            if not memoryview(item.group).nbytes and "size" not in usual:
                continue
            with contextlib.suppress(_Refused):  # such a member is refused alone
                group = _read(item, usual)
                if group.id is None and item.prompt is None:
                    continue
                arrival = _Known.of(group, item, at)
                of_name = rolls.setdefault(arrival.digest if group.id is None else f"id/{group.id}", [])
                rounds = 1 if group.id is not None and not group.again else _ROUNDS
                roll = next((each for each in of_name if not (rounds > 1 and each.passes_on(arrival))), None)
                if roll is None and len(of_name) < rounds:
                    roll = _Roll(group.size, arrival.digest)
                    of_name.append(roll)
                roll = roll or of_name[-1]
                roll.positions.append(at)
                roll.join(arrival)
            if pace.is_over():
                await pace.rest()
        return [roll.positions for of_name in rolls.values() for roll in of_name]

    async def whole(self, items: Sequence[ScoreItem], positions: Sequence[int], deadline: float) -> list[Result]:
        """The results of the members of one group, which have all come. `positions` are those in the job."""
        roll: _Roll | None = None
        kept: dict[str, _Kept] = {}
        outcomes: list[str | _Refused] = []
        for item, at in zip(items, positions, strict=True):
            group = _read(item, self._usual(item))
            arrival = _Known.of(group, item, at)
            roll = roll or _Roll(group.size, arrival.digest)
            refusal = roll.join(arrival)
            outcomes.append(refusal or arrival.key)
            if refusal is None:
                kept[arrival.key] = _Kept(item, group)
        keys = sorted(kept, key=_by_number)
        try:
            rewarded = await self._rewarded(keys, [kept[key] for key in keys], deadline)
        except RequestError as error:
            rewarded = [_unjudged("failed", "group_unavailable", error.detail)] * len(keys)
        by_key = dict(zip(keys, rewarded, strict=True))
        results = [
            by_key[outcome] if isinstance(outcome, str) else _unjudged(outcome.status, outcome.reason, str(outcome))
            for outcome in outcomes
        ]
        return [msgspec.structs.replace(each, id=item.id) for each, item in zip(results, items, strict=True)]

    def members(self, batch: BatchRequest) -> set[int]:
        """The positions of the items that are members of groups: they say so, or their recipe does, with its `size`."""
        return {
            at for at, item in enumerate(batch.items) if memoryview(item.group).nbytes or "size" in self._usual(item)
        }

    def _usual(self, item: ScoreItem) -> Mapping[str, Any]:
        """What the recipe of an item says of its group."""
        recipe = None if item.recipe is None else self._engine.book.recipes.get(item.recipe)
        return {} if recipe is None else recipe.group

    async def _result(self, item: ScoreItem, position: int, deadline: float) -> Result:
        started = time.perf_counter()
        name = position if item.id is None else item.id
        try:
            result = await self._member(item, deadline)
        except _Refused as refusal:
            result = _unjudged(refusal.status, refusal.reason, str(refusal))
        except RequestError as error:
            result = _unjudged("failed", "group_unavailable", error.detail)
        elapsed_ms = round((time.perf_counter() - started) * 1000, 3)
        return msgspec.structs.replace(result, id=name, elapsed_ms=elapsed_ms)

    async def _member(self, item: ScoreItem, deadline: float) -> Result:
        group = _read(item, self._usual(item))
        if group.method == "tournament" and item.verifier is None:
            item.verifier = "judge"
        key = _key(group, item) or secrets.token_hex(12)
        name, record = await self._join(group, item, key)
        answer = record.answer or await self._answer(name, record, deadline)
        if answer is None:
            raise _Refused("failed", "group_lost", "what was known of the group is lost; send its members again")
        return answer.results[key]

    async def _join(self, group: GroupOf, item: ScoreItem, key: str) -> tuple[str, Seen]:
        """Add the member to its group; its name, and what is known of it."""
        digest = _digest(group, item)
        if group.id is not None:
            base, rounds = f"id/{quote(RUN.get(), safe='')}/{group.id}", _ROUNDS if group.again else 1
        elif item.prompt is None:
            raise _Refused(
                "invalid", "bad_group", "group: without an id the item needs a prompt, which names the group"
            )
        else:
            base, rounds = f"prompt/{RUN.get()}/{digest}", _ROUNDS
        encoded = encode({"item": _plain(item), "group": group})
        mark = blake2b(encoded, digest_size=12).hexdigest()
        plan = Plan(group.size, digest, time.time() + group.wait_s, ())
        for number in range(rounds):
            name = blake2b(f"{TENANT.get()}/{base}/{number}".encode(), digest_size=24).hexdigest()
            record = await self._joined(name, plan, key, encoded, mark)
            if record is None or (rounds > 1 and record.plan.is_known_otherwise(key, mark)):
                continue
            if record.plan.digest != digest:
                raise _Refused("invalid", "group_mismatch", _MISMATCH)
            if record.plan.is_known_otherwise(key, mark):
                raise _other_response(key)
            if len(record.plan.members) == record.plan.size and name in self._watches:
                self._watches[name].whole.set()
            return name, record
        raise _over()

    async def _joined(self, name: str, plan: Plan, key: str, encoded: bytes, mark: str) -> Seen | None:
        lock = self._joining.setdefault(name, asyncio.Lock())
        try:
            async with lock:
                record = await self._records.see(name)
                if record is not None and record.plan.digest != plan.digest:
                    return record
                return await self._records.join(name, plan, key, encoded, mark)
        finally:
            if not lock.locked():
                self._joining.pop(name, None)

    async def _answer(self, name: str, record: Seen, deadline: float) -> Answer | None:
        """Wait for the answer of a group.

        Raises:
            _Refused: the deadline has come.
        """
        loop = asyncio.get_running_loop()
        watch = self._watches.get(name)
        if watch is None:
            watch = self._watches[name] = _Watch(loop.create_future())
            watch.task = loop.create_task(self._watch(name, record, watch))
        watch.waiting += 1
        try:
            async with asyncio.timeout_at(deadline):
                return await asyncio.shield(watch.answer)
        except TimeoutError:
            raise _Refused(
                "failed", "deadline", "the group was not decided in time; send the member again for its answer"
            ) from None
        finally:
            watch.waiting -= 1
            if not watch.waiting:
                if self._watches.get(name) is watch:
                    del self._watches[name]
                if watch.task is not None and not watch.answer.done():
                    watch.task.cancel()

    async def _watch(self, name: str, record: Seen, watch: _Watch) -> None:
        """Follow a group until it has an answer, and decide it if nobody else does."""
        try:
            watch.answer.set_result(await self._followed(name, record, watch))
        except Exception:
            log.exception("a group could not be decided")
            watch.answer.set_result(None)
        if self._watches.get(name) is watch:
            del self._watches[name]  # whoever joins now joins another record

    async def _followed(self, name: str, record: Seen, watch: _Watch) -> Answer | None:
        pause_s, longest_s = _POLL_S
        latest: Seen | None = record
        while True:
            try:
                answer = await self._step(name, latest)
                if answer is not None or latest is None:
                    return answer
            except RequestError:
                answer = None  # the store is away; its members wait for as long as they like
            watch.whole.clear()
            until_s = max(0.0, record.plan.until - time.time())
            wait_s = min(pause_s * SYSTEM_RANDOM.uniform(0.8, 1.2), until_s) if until_s else pause_s
            try:
                async with asyncio.timeout(wait_s):
                    await watch.whole.wait()
            except TimeoutError:
                pause_s = min(1.5 * pause_s, longest_s)
            try:
                latest = await self._records.see(name)
            except RequestError:
                continue

    async def _step(self, name: str, record: Seen | None) -> Answer | None:
        """The answer, if there is one, or if this process can now make it."""
        if record is None or record.answer is not None:
            return None if record is None else record.answer
        now = time.time()
        is_ready = len(record.plan.members) == record.plan.size or now >= record.plan.until
        if not is_ready or (record.claim is not None and record.claim.until > now and record.claim.by != self._me):
            return None
        mine = await self._records.claim(name, record, Claim(self._me, now + _LEASE_S))
        return None if mine is None else await self._decide(name, mine)

    async def _decide(self, name: str, mine: Seen) -> Answer | None:
        """Score the group, and keep the answer. None: another replica has taken the group over."""
        bodies = await self._records.items(name, mine.plan)
        if len(bodies) != len(mine.plan.members):
            return None
        scoring = asyncio.create_task(self._scored(mine.plan, bodies))
        try:
            while True:
                finished, _ = await asyncio.wait([scoring], timeout=_RENEW_S)
                if finished:
                    return await self._kept(name, mine, scoring.result())
                renewed = await self._records.claim(name, mine, Claim(self._me, time.time() + _LEASE_S))
                if renewed is None:
                    return None
                mine = renewed
        finally:
            scoring.cancel()

    async def _kept(self, name: str, mine: Seen, answer: Answer) -> Answer | None:
        """Keep the answer for members that ask again. If it failed for a temporary reason, the group is forgotten: its
        members are sent again, and make it anew. None: another replica has taken the group over.
        """
        if not await self._records.answer(name, mine, answer):
            return None
        results = answer.results.values()
        if all(result.status == "failed" for result in results) and any(r.reason in _PASSING for r in results):
            await self._records.store.remove(name)
        return answer

    async def _scored(self, plan: Plan, bodies: Sequence[bytes]) -> Answer:
        stored, keys = [], sorted(plan.members, key=_by_number)  # in this order whoever came first
        for key in keys:
            body = bodies[plan.members.index(key)]
            stored.append(
                _kept.decode(body) if len(body) <= _INLINE_BYTES else await asyncio.to_thread(_kept.decode, body)
            )
        deadline = asyncio.get_running_loop().time() + _SCORING_S
        return Answer(dict(zip(keys, await self._rewarded(keys, stored, deadline), strict=True)))

    async def _rewarded(self, keys: Sequence[str], stored: Sequence[_Kept], deadline: float) -> list[Result]:
        """The results of the members of a group that have come; `keys` names them."""
        group, first = stored[0].group, stored[0].item
        verifier = "judge" if group.method == "tournament" and first.verifier is None else first.verifier
        missing = group.size - len(stored)
        about: dict[str, Any] = {"size": group.size, "members": keys, "missing": missing}
        too_few = group.method in ("tournament", "listwise") and len(stored) < FEWEST
        if missing and (group.on_incomplete == "fail" or too_few):
            message = f"{missing} of {group.size} members never came"
            members = [Member("failed", None, None, "group_incomplete") for _ in stored]
            result = GroupResult(id=0, status="failed", reason="group_incomplete", message=message, members=members)
        else:
            full_group = Group(
                responses=[entry.item.response for entry in stored],
                prompt=first.prompt,
                verifier=verifier,
                recipe=first.recipe,
                reference=first.reference,
                params=first.params,
            )
            [result] = (await self._scorer.score([full_group], group.options, deadline, missing=missing)).groups
        about |= {"status": result.status, "reason": result.reason, **result.detail}
        return [_result_of(member, first, result, about) for member in result.members]


def _key(group: GroupOf, item: ScoreItem) -> str:
    """The name of a member within its group; empty if it has none."""
    return str(group.member) if group.member is not None else "" if item.id is None else str(item.id)


def _by_number(key: str) -> tuple[int, str]:
    """Sorts keys: numbers and positions by their value."""
    return (len(key), key) if key.removeprefix("#").isdecimal() else (sys.maxsize, key)


def _read(item: ScoreItem, usual: Mapping[str, Any]) -> GroupOf:
    """The group that an item names. Its fields come before the usual ones of its recipe."""
    raw = bytes(item.group) or b"{}"
    if much := excess(raw):
        raise _Refused("invalid", "bad_group", f"group holds {much}")
    try:
        if usual:
            raw = encode({**usual, **_plain_fields.decode(raw)})
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _Refused("invalid", "bad_group", f"group: {error}") from error
    try:
        group = parse(_groups_of, raw, ["group"])
    except RequestError as error:
        message = "; ".join(f"{where(fault.loc)}: {fault.msg}" for fault in error.errors) or f"group: {error.detail}"
        raise _Refused("invalid", "bad_group", message) from error
    names = [name for name in ("checks", "domain", "data_source", "tag", "reference_id") if _is_given(item, name)]
    if names:
        raise _Refused("invalid", "bad_group", f"group: its members have no {names[0]}; name a verifier or a recipe")
    return group


def _is_given(item: ScoreItem, name: str) -> bool:
    value = getattr(item, name)
    return bool(bytes(value)) if isinstance(value, msgspec.Raw) else value is not None


_JUDGED_BY: Final = ("verifier", "recipe", "prompt", "params", "reference")


def _digest(group: GroupOf, item: ScoreItem) -> str:
    """A hash of what all members of a group have in common."""
    alike = [getattr(item, name) for name in _JUDGED_BY]
    ingredients = [bytes(value) if isinstance(value, msgspec.Raw) else encode(value) for value in alike]
    ingredients.append(encode(msgspec.structs.replace(group, member=None)))
    hashed = blake2b(digest_size=24)
    for ingredient in ingredients:
        hashed.update(b"%d:%b" % (len(ingredient), ingredient))
    return hashed.hexdigest()


def _plain(item: ScoreItem) -> dict[str, Any]:
    """The fields of an item that are kept of a member."""
    fields = ("response", *_JUDGED_BY)
    return {name: getattr(item, name) for name in fields if _is_given(item, name)}


def _unjudged(status: str, reason: str, message: str) -> Result:
    return Result(0, status, None, None, reason, None, None, None, {"message": message}, False, 0.0)


def _result_of(member: Member, item: ScoreItem, group: GroupResult, about: dict[str, Any]) -> Result:
    """The result of a member. Its reward is the number of its group."""
    detail = {**member.detail, "group": about}
    if member.answer_class is not None:
        detail["answer_class"] = member.answer_class
    if member.terms:
        detail["terms"] = member.terms
    if member.advantage is not None:
        detail["advantage"] = member.advantage
    if member.status != "ok" and group.message:
        detail["message"] = group.message
    return Result(
        0,
        member.status,
        member.score,
        member.reward,
        member.reason,
        item.verifier,
        None,
        member.extracted,
        detail,
        False,
        0.0,
        checks=member.checks,
        recipe=item.recipe,
    )
