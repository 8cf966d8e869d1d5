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
from typing import Any, Final

import msgspec

from fairness import FairLock
from service.errors import RequestError, StateUnavailable
from service.groups.pairings import FEWEST
from service.groups.schemas import Group, GroupResult, Member
from service.groups.scoring import GroupScorer
from service.groups.single_records import Answer, Arrival, Claim, Plan, Records, Refused, Seen, Stored
from service.scoring.engine import Engine, Scored
from service.system_random import SYSTEM_RANDOM
from service.wire import BatchRequest, CacheMode, Result, ScoreItem, Summary
from verifiers.pace import Pace

log = logging.getLogger("rewardline.groups")

_POLL_S: Final = (0.1, 1.0)
"""The shortest and the longest pause between two looks at a record that other replicas may change."""
_JOIN_AT_ONCE: Final = 32
"""Half of the calls that a link to Redis makes at once, so that none of them waits there."""
_LEASE_S: Final = 6.0
_RENEW_S: Final = 2.0
_SCORING_S: Final = 300.0
"""The longest time for scoring a group."""
_INLINE_BYTES: Final = 100_000
_INCOMPLETE: Final = "group_incomplete"

_stored = msgspec.json.Decoder(Stored)


@dataclass(slots=True)
class _Watch:
    """What this process waits for: the answer of one group."""

    answer: asyncio.Future[Answer | None]
    """None: the record is gone."""
    whole: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it is worth looking at the record at once."""
    waiting: int = 0
    task: asyncio.Task[None] | None = None


@dataclass(slots=True)
class _Roll:
    """A group of a job, whose items have all come."""

    plan: Plan
    positions: list[int] = field(default_factory=list)


class Singles:
    """Collects members of groups, and answers them. It runs in one event loop."""

    def __init__(self, engine: Engine, scorer: GroupScorer, records: Records) -> None:
        self._engine = engine
        self._scorer = scorer
        self._records = records
        self._watches: dict[str, _Watch] = {}
        self._joining: dict[str, asyncio.Lock] = {}
        """Members of one group join one after the other. A lock is there while somebody needs it."""
        self._turns = FairLock(_JOIN_AT_ONCE)
        """Members wait for theirs to their own deadlines; a call to Redis fails after two seconds, though it only waited."""
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
            waiting = {at: tasks.create_task(self._result(batch, at)) for at in members}
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

    async def groups_of(self, items: Sequence[ScoreItem], cache: CacheMode) -> list[list[int]]:
        """The positions of the members of each group, if all of them are here. Groups of one name follow each other as
        they do when members come one by one; a member that belongs to none of them is with the last, which refuses it.
        """
        rolls: dict[str, list[_Roll]] = {}
        pace = Pace()
        for at, item in enumerate(items):
            with contextlib.suppress(Refused):  # such a member is refused alone
                if self._is_member(item):
                    arrival = self._arrival(item, at, cache)
                    _enter(rolls.setdefault(arrival.name(0), []), arrival, at)
            await pace.keep()
        return [roll.positions for of_name in rolls.values() for roll in of_name]

    async def whole(
        self, items: Sequence[ScoreItem], positions: Sequence[int], cache: CacheMode, deadline: float
    ) -> list[Result]:
        """The results of the members of one group, which have all come. `positions` are those in the job."""
        plan: Plan | None = None
        members: dict[str, Stored] = {}
        outcomes: list[str | Refused] = []
        for item, at in zip(items, positions, strict=True):
            arrival = self._arrival(item, at, cache)
            try:
                plan = (plan or Plan.of(arrival)).joined(arrival)
                members[arrival.key] = arrival.stored
                outcomes.append(arrival.key)
            except Refused as refusal:
                outcomes.append(refusal)
        try:
            results: Mapping[str, Result] = await self._rewarded(members, deadline)
        except RequestError as error:
            results = dict.fromkeys(members, _unjudged("failed", "group_unavailable", error.detail))
        return [
            msgspec.structs.replace(results[outcome] if isinstance(outcome, str) else _refusal(outcome), id=item.id)
            for outcome, item in zip(outcomes, items, strict=True)
        ]

    def members(self, batch: BatchRequest) -> set[int]:
        """The positions of the items that are members of groups: they say so, or their recipe does, with its `size`."""
        return {at for at, item in enumerate(batch.items) if self._is_member(item)}

    def _is_member(self, item: ScoreItem) -> bool:
        return memoryview(item.group).nbytes > 0 or "size" in self._usual(item)

    def _usual(self, item: ScoreItem) -> Mapping[str, Any]:
        """What the recipe of an item says of its group."""
        recipe = None if item.recipe is None else self._engine.book.recipes.get(item.recipe)
        return {} if recipe is None else recipe.group

    def _usual_of(self, item: ScoreItem, cache: CacheMode) -> Mapping[str, Any]:
        """What the recipe and the request of an item say of its group."""
        return self._usual(item) if cache == "use" else {"cache": cache, **self._usual(item)}

    def _arrival(self, item: ScoreItem, at: int, cache: CacheMode) -> Arrival:
        """The member that the item at this position of a job is."""
        return Arrival.of(item, self._usual_of(item, cache), f"#{at}", at=at)

    async def _result(self, batch: BatchRequest, position: int) -> Result:
        """The result of a member. Those of a request without a name are in its order."""
        started, item = time.perf_counter(), batch.items[position]
        name = position if item.id is None else item.id
        unnamed = f"{position:06}/{secrets.token_hex(12)}"
        try:
            arrival = Arrival.of(item, self._usual_of(item, batch.cache), unnamed)
            result = await self._member(arrival, batch.deadline)
        except Refused as refusal:
            result = _refusal(refusal)
        except RequestError as error:
            result = _unjudged("failed", "group_unavailable", error.detail)
        elapsed_ms = round((time.perf_counter() - started) * 1000, 3)
        return msgspec.structs.replace(result, id=name, elapsed_ms=elapsed_ms)

    async def _member(self, arrival: Arrival, deadline: float) -> Result:
        name, record = await self._joined(arrival, deadline)
        answer = record.answer or await self._answer(name, record, deadline)
        result = None if answer is None else answer.results.get(arrival.key)
        if result is None:  # or the record was made anew by others, after it was lost
            raise Refused("failed", "group_lost", "what was known of the group is lost; send its members again")
        return result

    async def _joined(self, arrival: Arrival, deadline: float) -> tuple[str, Seen]:
        """Join, again and again while the store does not answer: a member that is there already is found.

        Raises:
            Refused: no group of its name takes it, or its turn did not come by the deadline.
            StateUnavailable: the store did not answer by the deadline, or the record is damaged.
        """
        pause_s, longest_s = _POLL_S
        failure: StateUnavailable | Refused = _late("send the member again")
        try:
            async with asyncio.timeout_at(deadline):
                while True:
                    try:
                        return await self._join(arrival)
                    except StateUnavailable as error:
                        if error.retry_after_s is None:
                            raise
                        failure = error
                    await asyncio.sleep(pause_s * SYSTEM_RANDOM.uniform(0.8, 1.2))
                    pause_s = min(1.5 * pause_s, longest_s)
        except TimeoutError:
            raise failure from None

    async def _join(self, arrival: Arrival) -> tuple[str, Seen]:
        """Add the member to its group; its name, and what is known of it.

        Raises:
            Refused: no group of its name takes it.
        """
        number = 0
        while True:
            name = arrival.name(number)
            lock = self._joining.setdefault(name, asyncio.Lock())
            try:
                async with lock, self._turns:
                    record = await self._records.join(name, arrival)
                    break
            except Refused:
                number += 1
                if number == arrival.rounds:
                    raise
            finally:
                if not lock.locked():
                    self._joining.pop(name, None)
        if record.plan.is_whole and name in self._watches:
            self._watches[name].whole.set()
        return name, record

    async def _answer(self, name: str, record: Seen, deadline: float) -> Answer | None:
        """Wait for the answer of a group.

        Raises:
            Refused: the deadline has come.
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
            raise _late("send the member again for its answer") from None
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
            with contextlib.suppress(RequestError):
                await self._records.store.remove(name)  # members that are sent again make it anew
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
        is_ready = record.plan.is_whole or now >= record.plan.until
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
        """Keep the answer for members that ask again. If all failed for a temporary reason, or since others never came, the
        group is forgotten: its members are sent again, and make it anew. Who had a number before keeps it. None: another
        replica has taken the group over.
        """
        earlier = {} if mine.earlier is None else mine.earlier.results
        answer = Answer({**answer.results, **{key: known for key, known in earlier.items() if known.status == "ok"}})
        if not await self._records.answer(name, mine, answer):
            return None
        is_passing = any(r.reason == _INCOMPLETE or answer.is_passing(key) for key, r in answer.results.items())
        if is_passing and all(result.status == "failed" for result in answer.results.values()):
            await self._records.store.remove(name)
        return answer

    async def _scored(self, plan: Plan, bodies: Sequence[bytes]) -> Answer:
        members: dict[str, Stored] = {}
        for key, body in zip(plan.members, bodies, strict=True):
            is_short = len(body) <= _INLINE_BYTES
            members[key] = _stored.decode(body) if is_short else await asyncio.to_thread(_stored.decode, body)
        return Answer(await self._rewarded(members, asyncio.get_running_loop().time() + _SCORING_S))

    async def _rewarded(self, members: Mapping[str, Stored], deadline: float) -> dict[str, Result]:
        """The results of the members of a group that have come, by their keys."""
        keys = sorted(members, key=_by_number)  # in this order whoever came first
        stored = [members[key] for key in keys]
        group, first = stored[0].group, stored[0].item
        missing = group.size - len(stored)
        about: dict[str, Any] = {"size": group.size, "members": keys, "missing": missing}
        too_few = group.method in ("tournament", "listwise") and len(stored) < FEWEST
        if missing and (group.on_incomplete == "fail" or too_few):
            message = f"{missing} of {group.size} members never came"
            result = GroupResult.unjudged(0, len(stored), "failed", _INCOMPLETE, message)
        else:
            whole = Group(
                responses=[entry.item.response for entry in stored],
                prompt=first.prompt,
                verifier=first.verifier,
                recipe=first.recipe,
                reference=first.reference,
                params=first.params,
            )
            [result] = (await self._scorer.score([whole], group.options, deadline, missing=missing)).groups
        about |= {"status": result.status, "reason": result.reason, **result.detail}
        if result.max_at_k is not None:
            about["max_at_k"] = result.max_at_k
        results = [_result_of(member, first, result, about) for member in result.members]
        return dict(zip(keys, results, strict=True))


def _enter(rolls: list[_Roll], arrival: Arrival, at: int) -> None:
    """Add the member at this position of a job to the groups of its name."""
    for number in range(arrival.rounds):
        if number == len(rolls):
            rolls.append(_Roll(Plan.of(arrival)))
        with contextlib.suppress(Refused):
            rolls[number].plan = rolls[number].plan.joined(arrival)
            break
    rolls[number].positions.append(at)


def _by_number(key: str) -> tuple[int, str]:
    """Sorts keys: numbers and positions by their value."""
    return (len(key), key) if key.removeprefix("#").isdecimal() else (sys.maxsize, key)


def _late(what_to_do: str) -> Refused:
    return Refused("failed", "deadline", f"the group was not decided in time; {what_to_do}")


def _refusal(refusal: Refused) -> Result:
    return _unjudged(refusal.status, refusal.reason, str(refusal))


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
