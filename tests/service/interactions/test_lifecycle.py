"""What interactions promise, on either store, with the real engine."""

import asyncio
import json
from typing import Any

import pytest

from service.errors import Conflict, Gone, NotFound, NotJudged, Overloaded, TooLarge, Unprocessable
from service.interactions.lifecycle import Bounds, Interactions
from service.interactions.schemas import TurnRequest, View, decode_turn
from service.scoring.engine import Engine
from service.storage.memory_records import MemoryRecords
from service.storage.record_store import VERSION, Change, RecordStore
from service.storage.redis_records import RedisRecords
from tests.service.interactions.conftest import ScriptedVerifier
from tests.service.redis_server import RedisServer
from tests.waiting import PATIENCE_S

GOLD = "gold-1729"


async def open_interaction(desk: Interactions, instance_id: str = "a", **more: Any) -> View:
    """Fields that are None are left out."""
    fields = {"instance_id": instance_id, "verifier": "obedient", "reference": GOLD, **more}
    body = {name: value for name, value in fields.items() if value is not None}
    view, _ = await desk.create(json.dumps(body).encode())
    return view


def said(text: str, turn_index: int, **more: Any) -> TurnRequest:
    messages = [{"role": "user", "content": "go on"}, {"role": "assistant", "content": text}]
    return decode_turn(json.dumps({"messages": messages, "turn_index": turn_index, **more}).encode())


async def take(desk: Interactions, request: TurnRequest, name: str = "a") -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(await desk.turn(name, request, asyncio.get_running_loop().time() + PATIENCE_S))
    return answer


async def test_it_goes_on_until_it_is_solved(desk: Interactions) -> None:
    await open_interaction(desk)
    first = await take(desk, said("no", 1))
    assert (first["should_terminate"], first["reward"], first["turn"], first["info"]["turns_left"]) == (
        False,
        0.0,
        1,
        2,
    )
    assert first["response"].startswith("❌")
    second = await take(desk, said(GOLD, 2))
    assert (second["should_terminate"], second["reward"], second["reason"]) == (True, 1.0, "correct")
    assert second["response"].startswith("✅")
    with pytest.raises(Conflict, match="ended with turn 2"):
        await take(desk, said(GOLD, 3))
    view = await desk.show("a")
    assert (view.state, view.turn, view.trajectory_score) == ("solved", 2, 1.0)
    assert [(turn.turn, turn.reward, turn.reason) for turn in view.turns] == [(1, 0, "wrong_answer"), (2, 1, "correct")]


async def test_the_last_turn_ends_it_solved_or_not(desk: Interactions) -> None:
    await open_interaction(desk, max_turns=1, language="zh")
    answer = await take(desk, said("no", 1))
    assert answer["should_terminate"]
    assert answer["info"]["state"] == "exhausted"
    assert "作答次数已用完" in answer["response"]


async def test_the_threshold_is_reached_from_below_too(desk: Interactions) -> None:
    await open_interaction(desk, params={"worth": 0.7}, success_threshold=0.7)
    answer = await take(desk, said(GOLD, 1))
    assert (answer["should_terminate"], answer["reward"], answer["info"]["state"]) == (True, 0.7, "solved")


async def test_opening_again_is_the_same_interaction_and_never_another(desk: Interactions) -> None:
    await open_interaction(desk, query="2+2?", metadata={"row": 1, "set": "x"})
    await take(desk, said("no", 1))
    same = {"metadata": {"set": "x", "row": 1}, "reference": GOLD, "prompt": "2+2?", "verifier": "obedient"}
    view, is_new = await desk.create(json.dumps({**same, "instance_id": "a"}).encode())
    assert not is_new
    assert view.turn == 1
    for other in ({"reference": "5"}, {"max_turns": 4}, {"prompt": "2+3?"}, {"metadata": {"row": 2, "set": "x"}}):
        with pytest.raises(Conflict, match="another body"):
            await desk.create(json.dumps({**same, "instance_id": "a", **other}).encode())
    assert (await desk.show("a")).turn == 1


async def test_without_an_id_each_opening_is_another_interaction(desk: Interactions) -> None:
    body = json.dumps({"verifier": "obedient", "reference": GOLD}).encode()
    (first, _), (second, _) = await desk.create(body), await desk.create(body)
    assert first.id != second.id


async def test_a_turn_sent_again_is_answered_as_it_was(desk: Interactions, obedient: ScriptedVerifier) -> None:
    await open_interaction(desk)
    first = await take(desk, said("no", 1, idempotency_key="k1"))
    await take(desk, said("still no", 2))
    assert await take(desk, said("no", 1)) == first
    assert await take(desk, said("something else", 1, idempotency_key="k1")) == first
    last = await take(desk, said(GOLD, 3))
    assert await take(desk, said(GOLD, 3)) == last
    assert obedient.asked == ["no", "still no", GOLD]
    for other in (said("something else", 1), said("something else", 1, idempotency_key="k2"), said("no", 2)):
        with pytest.raises(Conflict, match="was taken with other messages"):
            await take(desk, other)
    assert desk.turns == {"taken": 3, "replayed": 3, "conflict": 3, "not_judged": 0}


async def test_a_turn_that_is_not_next_is_told_which_is(desk: Interactions) -> None:
    await open_interaction(desk)
    with pytest.raises(Conflict, match="turn_index is 2, but the next turn is 1"):
        await take(desk, said("no", 2))


async def test_what_cannot_be_judged_uses_up_no_turn(desk: Interactions, obedient: ScriptedVerifier) -> None:
    await open_interaction(desk, max_turns=1)
    with pytest.raises(NotJudged) as failed:
        await take(desk, said("down", 1))
    assert failed.value.retry_after_s
    assert "judge_down" in failed.value.detail
    with pytest.raises(Unprocessable, match="bad_reference") as invalid:
        await take(desk, said("mend", 1))
    assert GOLD not in failed.value.detail + invalid.value.detail
    assert (await desk.show("a")).turns == []
    assert (await take(desk, said(GOLD, 1)))["reward"] == 1.0


async def test_silence_is_no_answer_whatever_the_verifier_makes_of_it(desk: Interactions) -> None:
    await open_interaction(desk, reference="", max_turns=9)
    silent: list[list[dict[str, Any]]] = [
        [],
        [{"role": "user", "content": GOLD}],
        [{"role": "assistant", "content": None}],
        [{"role": "assistant", "content": "x"}, {"role": "assistant", "content": " \n"}],
    ]
    for index, messages in enumerate(silent, 1):
        request = decode_turn(json.dumps({"messages": messages, "turn_index": index}).encode())
        answer = await take(desk, request)
        assert (answer["score"], answer["reward"], answer["reason"]) == (0.0, 0.0, "no_answer")
        assert "no answer" in answer["response"]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ({}, "message 0: a message has a role"),
        ({"role": "somebody", "content": GOLD}, "message 0: the role is one of"),
    ],
)
async def test_what_is_not_a_message_is_refused(desk: Interactions, message: dict[str, Any], error: str) -> None:
    await open_interaction(desk)
    request = decode_turn(json.dumps({"messages": [message], "turn_index": 1}).encode())
    with pytest.raises(Unprocessable, match=error):
        await take(desk, request)
    assert (await desk.show("a")).turn == 0


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"content": [{"type": "text", "text": GOLD}, {"type": "image"}]}, "unjudged_parts"),
        ({"content": GOLD, "tool_calls": [{"function": {"name": "f"}}]}, "no_answer"),
    ],
)
async def test_what_would_be_passed_over_is_wrong(desk: Interactions, more: dict[str, Any], reason: str) -> None:
    await open_interaction(desk)
    messages = [{"role": "assistant", **more}]
    answer = await take(desk, decode_turn(json.dumps({"messages": messages, "turn_index": 1}).encode()))
    assert (answer["score"], answer["reason"]) == (0.0, reason)


async def test_the_last_assistant_message_counts_and_its_parts_are_one_text(desk: Interactions) -> None:
    await open_interaction(desk)
    messages = [
        {"role": "assistant", "content": "no"},
        {"role": "assistant", "content": [{"type": "text", "text": GOLD[:4]}, {"type": "text", "text": GOLD[4:]}]},
        {"role": "user", "content": "well?"},
    ]
    answer = await take(desk, decode_turn(json.dumps({"messages": messages, "turn_index": 1}).encode()))
    assert answer["reward"] == 1.0


async def test_of_two_who_take_the_same_turn_at_once_one_does_and_both_are_told(
    desk: Interactions, obedient: ScriptedVerifier
) -> None:
    await open_interaction(desk)
    obedient.gate.clear()
    obedient.opens_at = 2
    one, other = await asyncio.gather(take(desk, said("no", 1)), take(desk, said("no", 1)))
    assert one == other
    assert len(obedient.asked) == 2
    assert (desk.turns["taken"], desk.turns["replayed"]) == (1, 1)
    assert (await desk.show("a")).turn == 1


async def test_of_two_different_answers_to_one_turn_only_one_counts(
    desk: Interactions, obedient: ScriptedVerifier
) -> None:
    await open_interaction(desk)
    obedient.gate.clear()
    obedient.opens_at = 2
    outcomes = await asyncio.gather(take(desk, said("no", 1)), take(desk, said(GOLD, 1)), return_exceptions=True)
    [refused] = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert isinstance(refused, Conflict)
    [answer] = [outcome for outcome in outcomes if isinstance(outcome, dict)]
    assert [turn.reward for turn in (await desk.show("a")).turns] == [answer["reward"]]


async def test_a_turn_that_is_judged_while_it_is_finalized_is_not_taken(
    desk: Interactions, obedient: ScriptedVerifier
) -> None:
    await open_interaction(desk)
    obedient.gate.clear()
    turn = asyncio.create_task(take(desk, said(GOLD, 1)))
    await obedient.entered.wait()
    await desk.finalize("a")
    obedient.gate.set()
    with pytest.raises(Conflict, match="finalized"):
        await turn
    assert (await desk.show("a")).turns == []


async def test_no_turn_counts_for_another_interaction_of_the_same_id(
    desk: Interactions, obedient: ScriptedVerifier
) -> None:
    await open_interaction(desk)
    obedient.gate.clear()
    turn = asyncio.create_task(take(desk, said(GOLD, 1)))
    await obedient.entered.wait()
    await desk.finalize("a")
    assert (await open_interaction(desk, reference="silver")).turn == 0
    obedient.gate.set()
    assert (await turn)["reward"] == 0.0
    assert obedient.asked == [GOLD, GOLD]


async def test_finalizing_keeps_the_outcome_and_can_be_done_again(desk: Interactions) -> None:
    await open_interaction(desk, trajectory="sum", params={"worth": 0.5})
    await take(desk, said(GOLD, 1))
    await take(desk, said(GOLD, 2))
    final = await desk.finalize("a")
    assert (final.state, final.turn, final.trajectory_score) == ("finalized", 2, 1.0)
    assert await desk.finalize("a") == final == await desk.show("a")
    assert desk.events["finalized"] == 1
    with pytest.raises(Conflict, match="finalized"):
        await take(desk, said(GOLD, 3))


async def test_the_reference_is_in_no_answer_and_goes_with_the_last_turn(
    desk: Interactions, store: RecordStore
) -> None:
    view = await open_interaction(desk, max_turns=2)
    answers = [repr(view), repr(await take(desk, said("no", 1))), repr(await desk.show("a"))]
    assert await store.read("a", ["item"]) != [None]
    answers.append(repr(await take(desk, said("no", 2))))
    assert await store.read("a", ["item"]) == [None]
    answers += [repr(await desk.finalize("a")), repr(await desk.show("a"))]
    assert not [text for text in answers if GOLD in text]
    assert await store.read("a", ["item", "turn:1", "turn:2"]) == [None, None, None]


async def is_shown(desk: Interactions, name: str) -> bool:
    try:
        await desk.show(name)
    except NotFound:
        return False
    return True


async def test_nobody_is_scored_in_an_interaction_that_is_not_there(desk: Interactions) -> None:
    with pytest.raises(NotFound):
        await take(desk, said(GOLD, 1), "b")
    with pytest.raises(NotFound):
        await desk.show("b")
    with pytest.raises(NotFound):
        await desk.finalize("b")
    await open_interaction(desk, "b", ttl_s=0.001)
    async with asyncio.timeout(PATIENCE_S):
        while await is_shown(desk, "b"):  # noqa: ASYNC110  # nobody is told
            await asyncio.sleep(0.001)
    with pytest.raises(NotFound):
        await take(desk, said(GOLD, 1), "b")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"verifier": "nosuch"}, "unknown_verifier"),
        ({"verifier": None}, "unroutable"),
        ({"reference": [1]}, "bad_reference"),
        ({"params": {"nosuch": 1}}, "bad_params"),
        ({"reference": GOLD, "ground_truth": GOLD}, "ambiguous"),
        ({"ttl_s": 7201}, "at most 7200"),
        ({"feedback": {"incorrect": f"no, it is {GOLD}"}}, "holds the reference"),
    ],
)
async def test_what_nothing_could_be_judged_by_is_refused_before_it_begins(
    desk: Interactions, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(Unprocessable, match=message):
        await open_interaction(desk, **fields)
    with pytest.raises(NotFound):
        await desk.show("a")


async def test_what_is_kept_is_bounded(desk: Interactions) -> None:
    with pytest.raises(TooLarge, match="at most 100000"):
        await open_interaction(desk, metadata="x" * 100_000)


async def test_rows_and_compositions_are_judged_like_items(desk: Interactions) -> None:
    checks = [{"name": "it", "verifier": "obedient", "weight": 2}, {"name": "too", "verifier": "obedient"}]
    await open_interaction(desk, reference=None, ground_truth=GOLD, verifier=None, checks=checks)
    answer = await take(desk, said(GOLD, 1))
    assert (answer["reward"], answer["score"]) == (1.0, 1.0)
    assert [check["name"] for check in answer["info"]["checks"]] == ["it", "too"]
    assert GOLD not in json.dumps(answer)


async def test_an_open_interaction_is_kept_when_memory_is_full_and_one_that_is_over_makes_room(
    engine: tuple[Engine, ScriptedVerifier],
) -> None:
    store = MemoryRecords(2, 1_000_000)
    desk = Interactions(engine[0], store, Bounds(3600, 7200, 100_000))
    await open_interaction(desk, "a")
    await open_interaction(desk, "b")
    with pytest.raises(Overloaded, match="2 records"):
        await open_interaction(desk, "c")
    await take(desk, said(GOLD, 1), "b")
    assert store.held == {"open": 1, "over": 1}
    await open_interaction(desk, "c")
    assert (await desk.show("a")).state == "open"
    with pytest.raises(NotFound):
        await desk.show("b")
    await store.close()
    assert store.held == {"open": 0, "over": 0}


async def test_each_turn_in_redis_begins_the_time_to_live_anew(
    engine: tuple[Engine, ScriptedVerifier], shared_redis: RedisServer
) -> None:
    store = RedisRecords(shared_redis.url, prefix="t:")
    shared_redis.call("FLUSHALL")
    desk = Interactions(engine[0], store, Bounds(3600, 7200, 100_000))
    await open_interaction(desk, ttl_s=100)
    [key] = shared_redis.call("KEYS", "*")
    shared_redis.call("EXPIRE", key, 50)
    await desk.show("a")
    await take(desk, said("no", 1))
    assert 50 < shared_redis.call("TTL", key) <= 100
    shared_redis.call("EXPIRE", key, 50)
    await desk.finalize("a")
    assert 50 < shared_redis.call("TTL", key) <= 100
    await store.close()


DAMAGE: list[dict[str, bytes]] = [
    {"progress": b"{"},
    {"plan": b"foreign bytes"},
    {"plan": b"\xff"},
    {"progress": b"[" * 5000},
    {"item": b"{"},
    {"body": b""},
    {"turn:1": b"7"},
    {"turn:1": b'{"digest":"x","idempotency_key":null,"answer":{"reward":"much"}}'},
]


@pytest.mark.parametrize("damage", DAMAGE, ids=repr)
async def test_a_damaged_record_is_gone_and_its_owner_deletes_it(
    desk: Interactions, store: RecordStore, damage: dict[str, bytes]
) -> None:
    """It is neither guessed at nor asked for again and again."""
    await open_interaction(desk, max_turns=5)
    await take(desk, said("no", 1))
    [version] = await store.read("a", [VERSION])
    assert await store.swap("a", version, Change({VERSION: b"x", **damage}, 100))
    again = said("no", 1) if "turn:1" in damage else said(GOLD, 2)
    for _ in range(2):
        with pytest.raises(Gone, match="DELETE it, or open it anew"):
            await take(desk, again)
    if damage.keys() & {"item", "turn:1"}:  # its outcome is whole
        assert (await desk.finalize("a")).state == "finalized"
        return
    with pytest.raises(Gone):
        await desk.show("a")
    with pytest.raises(Gone, match="is removed"):
        await desk.finalize("a")
    with pytest.raises(NotFound):
        await desk.show("a")


async def test_a_damaged_record_is_opened_anew(desk: Interactions, store: RecordStore) -> None:
    await open_interaction(desk)
    await take(desk, said("no", 1))
    [version] = await store.read("a", [VERSION])
    assert await store.swap("a", version, Change({VERSION: b"x", "plan": b"{"}, 100))
    view = await open_interaction(desk)
    assert (view.state, view.turn) == ("open", 0)
    assert (await take(desk, said(GOLD, 1)))["reward"] == 1.0


@pytest.mark.parametrize(
    "kind", [("SET", "foreign"), ("RPUSH", "foreign"), ("HSET", "plan", "foreign", "turn:1", "foreign")]
)
async def test_what_is_in_the_place_of_a_record_is_gone_too(
    shared_redis: RedisServer, engine: tuple[Engine, ScriptedVerifier], kind: tuple[str, ...]
) -> None:
    store = RedisRecords(shared_redis.url, prefix="t:")
    desk = Interactions(engine[0], store, Bounds(3600, 7200, 100_000))
    command, *arguments = kind
    for is_deleted in (True, False):
        shared_redis.call("FLUSHALL")
        await open_interaction(desk)
        [key] = shared_redis.call("KEYS", "*")
        shared_redis.call("DEL", key)
        shared_redis.call(command, key, *arguments)
        if is_deleted:
            with pytest.raises(Gone):
                await take(desk, said(GOLD, 1))
            with pytest.raises(Gone, match="is removed"):
                await desk.finalize("a")
            with pytest.raises(NotFound):
                await desk.show("a")
        else:
            assert (await open_interaction(desk)).turn == 0
            assert (await take(desk, said(GOLD, 1)))["reward"] == 1.0
    await store.close()
