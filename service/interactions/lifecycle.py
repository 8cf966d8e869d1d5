"""The life of an interaction, whatever the door: it is opened, takes turns, is shown, and is finalized.

A turn is judged first and then recorded, in one step that succeeds only if the interaction has not changed meanwhile.
Otherwise the record is read again. If another call took the same turn, both calls get its answer. A turn that could not
be judged leaves no trace.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from service.errors import Conflict, Gone, NotFound, NotJudged, StateUnavailable, TooLarge, Unprocessable
from service.interactions import turns
from service.interactions.feedback import giveaway
from service.interactions.schemas import (
    Creation,
    TurnAnswer,
    TurnRequest,
    View,
    decode_creation,
    decode_item,
    unprocessable,
)
from service.interactions.turns import Plan, Progress, Taken
from service.observe.metrics import Metrics
from service.scoring.engine import Engine
from service.storage.record_store import VERSION, Change, RecordStore
from service.wire import BatchRequest, Message, Result, encode
from verifiers.base import InvalidItem, Status
from verifiers.conversation import dialects, parts_beside_text

log = logging.getLogger("rewardline.interactions")

_ATTEMPTS = 4
"""Attempts at a change. If the record has changed before each attempt, the change is given up."""
_RETRY_AFTER_S = 1.0
_BODY, _ITEM, _PLAN, _PROGRESS = "body", "item", "plan", "progress"
_NAMES = ("verifier", "recipe", "domain", "data_source", "tag")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of what a caller can ask for."""

    ttl_s: float
    """The time to live of an interaction that names none."""
    max_ttl_s: float
    max_bytes: int
    """The largest body that opens an interaction. The body is kept."""


@dataclass(frozen=True, slots=True)
class _Record:
    """The record of an interaction, as it was read."""

    version: bytes
    body: str
    plan: Plan
    progress: Progress
    item: bytes
    taken: Taken | None


class Interactions:
    """Opens, judges and ends interactions. It runs in one thread and needs no lock."""

    def __init__(self, engine: Engine, store: RecordStore, bounds: Bounds) -> None:
        self.store = store
        self._engine = engine
        self._bounds = bounds
        self.events: Counter[str] = Counter(created=0, solved=0, exhausted=0, finalized=0)
        """Counts of what this process did to interactions."""
        self.turns: Counter[str] = Counter(taken=0, replayed=0, conflict=0, not_judged=0)
        """Counts of the answers of this process to turns."""

    def publish(self, metrics: Metrics) -> None:
        """Publish the counts as metrics."""
        metrics.watch_totals("interactions", "Events of interactions, by event", lambda: self.events, "event")
        metrics.watch_totals("interaction_turns", "Turns of interactions, by outcome", lambda: self.turns, "outcome")
        metrics.watch_gauges("interactions_in_memory", "Interactions kept in memory", lambda: self.store.held, "state")
        metrics.watch("interactions_in_memory_bytes", "Their bytes", lambda: self.store.held_bytes)
        metrics.watch_total("interactions_redis_errors", "Calls to Redis that failed", lambda: self.store.errors)

    async def create(self, body: bytes) -> tuple[View, bool]:
        """Open an interaction. Returns False if it was open already, from a body that means the same.

        Raises:
            RequestError: the interaction cannot be opened. The error says why.
        """
        creation = self._checked(body)
        name = creation.options.instance_id
        if name is None:
            name = secrets.token_hex(16)
        plan = Plan(creation.options, creation.options.ttl_s or self._bounds.ttl_s, _judged_by(creation))
        fields = {
            _BODY: creation.digest.encode(),
            _ITEM: creation.item_json,
            _PLAN: encode(plan),
            _PROGRESS: encode(Progress()),
        }
        version: bytes | None = None
        for _ in range(_ATTEMPTS):
            if await self.store.swap(name, version, _change(fields, plan)):
                self.events["created"] += 1
                return turns.view(name, plan, Progress()), True
            try:
                record = await self._find(name)
            except Gone:
                await self.store.remove(name)
                version = None
                continue
            if record is not None and record.progress.state != "finalized":
                if record.body != creation.digest:
                    raise Conflict(f"interaction {name!r} exists already with another body; use another instance_id")
                return turns.view(name, record.plan, record.progress), False
            version = record.version if record is not None else None
        raise _given_up()

    def _checked(self, body: bytes) -> Creation:
        bounds = self._bounds
        if len(body) > bounds.max_bytes:
            raise TooLarge(
                f"the body has {len(body)} bytes; a body that opens an interaction has at most {bounds.max_bytes}"
            )
        creation = decode_creation(body)
        ttl_s = creation.options.ttl_s
        if ttl_s is not None and ttl_s > bounds.max_ttl_s:
            raise unprocessable("ttl_s", f"{ttl_s:g} s is too long; at most {bounds.max_ttl_s:g}")
        refusal = self._engine.refusal(creation.item)
        if refusal is not None:
            why = f"({refusal.reason}): {refusal.detail.get('message')}"
            if refusal.status is Status.FAILED:
                raise NotJudged(
                    f"responses to this interaction cannot be judged now {why}; try again",
                    retry_after_s=_RETRY_AFTER_S,
                )
            raise Unprocessable(f"no response to this interaction could ever be judged {why}")
        telling = giveaway(creation.options.feedback, creation.answers, creation.surroundings)
        if telling is not None:
            raise unprocessable("feedback", "the template holds the reference, or an answer in it", telling)
        return creation

    async def turn(self, name: str, request: TurnRequest, deadline: float) -> bytes:
        """The answer to a turn, as JSON. If the turn was taken before, the answer is the same as then.

        `deadline` is on the event loop's clock.

        Raises:
            NotFound, Conflict, NotJudged, Unprocessable, StateUnavailable
        """
        for _ in range(_ATTEMPTS):
            record = await self._get(name, request.index)
            replay = self._replayed(record, request)
            if replay is not None:
                self.turns["replayed"] += 1
                return bytes(replay.answer)
            answer = await self._take(name, record, request, deadline)
            if answer is not None:
                return encode(answer)
        raise _given_up()

    def _replayed(self, record: _Record, request: TurnRequest) -> Taken | None:
        try:
            return turns.replayed(record.progress, record.taken, request)
        except Conflict:
            self.turns["conflict"] += 1
            raise

    async def _take(self, name: str, record: _Record, request: TurnRequest, deadline: float) -> TurnAnswer | None:
        """Judge a turn and record it. None if the interaction has changed meanwhile."""
        verdict = await self._judge(name, record, request, deadline)
        progress, answer = turns.after_turn(
            record.plan.options, record.progress, verdict, self._engine.registry.edition
        )
        taken_turn = Taken(request.digest(), request.idempotency_key, msgspec.Raw(encode(answer)))
        fields = {_PROGRESS: encode(progress), _turn(answer.turn): encode(taken_turn)}
        # After the last turn the reference is removed: nothing is left to judge.
        dropped = [_ITEM] if answer.should_terminate else []
        change = _change(fields, record.plan, dropped, is_over=answer.should_terminate)
        if not await self.store.swap(name, record.version, change):
            return None
        self.turns["taken"] += 1
        if progress.state != "open":
            self.events[progress.state] += 1
        return answer

    async def _judge(self, name: str, record: _Record, request: TurnRequest, deadline: float) -> turns.Judged:
        is_silent = _is_silent(request.messages)
        try:
            item = decode_item(record.item)
        except msgspec.MsgspecError as error:
            raise _damaged(name, error) from error
        item.response = "" if is_silent else request.messages
        item.id = f"{name}/{request.index}"
        scored = await self._engine.score(BatchRequest([item], {}, "use", False, deadline))
        [result] = scored.results
        if result.status != "ok":
            self.turns["not_judged"] += 1
            raise _not_judged(result)
        return turns.judged(result, is_silent=is_silent)

    async def show(self, name: str) -> View:
        """The current view of an interaction.

        Raises:
            NotFound, StateUnavailable
        """
        record = await self._get(name)
        return turns.view(name, record.plan, record.progress)

    async def finalize(self, name: str) -> View:
        """End an interaction and forget everything but its outcome. A repetition changes nothing.

        Raises:
            NotFound, StateUnavailable
            Gone: it was damaged, and is removed.
        """
        for _ in range(_ATTEMPTS):
            try:
                record = await self._get(name)
            except Gone as error:
                await self.store.remove(name)
                raise Gone(f"the interaction {name!r} was damaged, and is removed; its outcome is lost") from error
            progress = record.progress
            if progress.state == "finalized":
                return turns.view(name, record.plan, progress)
            final = Progress("finalized", progress.turns)
            dropped = [_ITEM, *(_turn(index) for index in range(1, len(progress.turns) + 1))]
            fields = {_PROGRESS: encode(final)}
            change = _change(fields, record.plan, dropped, is_over=True)
            if await self.store.swap(name, record.version, change):
                self.events["finalized"] += 1
                return turns.view(name, record.plan, final)
        raise _given_up()

    async def _get(self, name: str, turn_index: int = 0) -> _Record:
        record = await self._find(name, turn_index)
        if record is None:
            raise NotFound(f"no interaction {name!r}: it was never opened, or not used for as long as it is kept")
        return record

    async def _find(self, name: str, turn_index: int = 0) -> _Record | None:
        """
        Raises:
            Gone: its record is damaged.
        """
        fields = (VERSION, _BODY, _PLAN, _PROGRESS, _ITEM, _turn(turn_index))
        try:
            values = await self.store.read(name, fields)
        except Gone as error:
            raise _damaged(name, error) from error
        if not any(values):
            return None
        try:
            return _record(*values)
        except (msgspec.MsgspecError, ValueError) as error:
            # What a link has garbled is whole at the next look.
            if await self.store.read(name, fields) != values:
                raise StateUnavailable(
                    "the interaction could not be read; ask again", retry_after_s=_RETRY_AFTER_S
                ) from error
            raise _damaged(name, error) from error


def _record(
    version: bytes | None,
    body: bytes | None,
    plan: bytes | None,
    progress: bytes | None,
    item: bytes | None,
    turn_json: bytes | None,
) -> _Record:
    """
    Raises:
        MsgspecError, ValueError: a part is lost or damaged.
    """
    if not version or not body:
        raise ValueError("version or body are lost")
    record = _Record(
        version,
        body.decode("latin-1"),
        _plan_decoder.decode(plan or b""),
        _progress_decoder.decode(progress or b""),
        item or b"",
        None if turn_json is None else _taken_decoder.decode(turn_json),
    )
    if record.taken is not None:
        _answer_decoder.decode(record.taken.answer)
    return record


def _damaged(name: str, error: Exception) -> Gone:
    log.error("the record of interaction %s is damaged: %s", name, error)
    return Gone(f"the record of interaction {name!r} is damaged; DELETE it, or open it anew")


def _change(fields: dict[str, bytes], plan: Plan, dropped: Sequence[str] = (), *, is_over: bool = False) -> Change:
    return Change({VERSION: secrets.token_bytes(12), **fields}, plan.ttl_s, dropped, is_over)


def _turn(index: int) -> str:
    return f"turn:{index}"


def _judged_by(creation: Creation) -> dict[str, str]:
    names = {name: getattr(creation.item, name) for name in _NAMES}
    return {name: value for name, value in names.items() if value is not None}


def _is_silent(messages: Sequence[Message]) -> bool:
    """Whether the assistant says nothing, calls nothing and shows nothing in its turn.

    Raises:
        Unprocessable: the texts are not messages.
    """
    try:
        last = dialects.read(messages).judged("last")
    except InvalidItem as error:
        raise unprocessable("messages", str(error)) from error
    return not last or not (last[0].whole_text.strip() or any(parts_beside_text(last[0])))


_plan_decoder = msgspec.json.Decoder(Plan)
_progress_decoder = msgspec.json.Decoder(Progress)
_taken_decoder = msgspec.json.Decoder(Taken)
_answer_decoder = msgspec.json.Decoder(TurnAnswer)


def _not_judged(result: Result) -> Exception:
    """The error for a response without a verdict. It holds the reason but not the message, which may quote the
    reference.
    """
    if result.status == "invalid":
        return Unprocessable(f"the response cannot be judged ({result.reason}); the turn was not taken")
    return NotJudged(
        f"the response could not be judged now ({result.reason}); the turn was not taken, send it again",
        retry_after_s=_RETRY_AFTER_S,
    )


def _given_up() -> StateUnavailable:
    return StateUnavailable("other calls kept changing the interaction; try again", retry_after_s=_RETRY_AFTER_S)
