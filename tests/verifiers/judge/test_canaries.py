"""Items whose verdict is known: who is asked, what a misjudging endpoint comes to, and what says nothing."""

import asyncio
import json
import logging
import random
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from service.backends.judges import publish
from service.observe.metrics import Metrics
from tests.judge_upstream.behaviours import completion, refuses, says, when
from tests.judge_upstream.scripted import Behaviour, Exchange, Scripted
from tests.tables import table
from tests.waiting import PATIENCE_S, until
from verifiers.judge import config, prompts
from verifiers.judge.canaries import CANARIES, Canaries, Canary
from verifiers.judge.endpoints import Gateway
from verifiers.judge.errors import EndpointFailure
from verifiers.judge.guards import precheck
from verifiers.judge.modes import Question
from verifiers.judge.panel import Panel
from verifiers.judge.rendering import Data
from verifiers.judge.rendering.neutral import neutralise
from verifiers.judge.schemas import NO_CONTEXT, SCHEMAS
from verifiers.judge.sharing import Shared

_RESPONSE = re.compile(r"^<<<RESPONSE ([0-9a-f]{12})\n(.*?)\n>>>RESPONSE \1$", re.MULTILINE | re.DOTALL)
_BY_TEXT = {neutralise(canary.response): canary for canary in CANARIES}
_RETRY = {"attempts": 1, "base_s": 0.001, "cap_s": 0.002, "min_attempt_s": 0}
_ALL = len(CANARIES)
_A = json.dumps({"reasoning": "the same", "verdict": "A"})


def _judging(answer: Callable[[Canary], str | None]) -> Behaviour:
    """A judge that says of each canary what `answer` tells (None: it breaks down), and of other items A."""

    async def behave(exchange: Exchange) -> None:
        found = _RESPONSE.search(exchange.request.json["messages"][-1]["content"])
        canary = _BY_TEXT.get(found[2]) if found else None
        label = "A" if canary is None else answer(canary)
        if label is None:
            await refuses(500)(exchange)
        else:
            content = json.dumps({"reasoning": "compared", "verdict": label}) if len(label) == 1 else label
            await exchange.send(200, json.dumps(completion(content)).encode())

    return behave


def _first(canary: Canary) -> str:
    return canary.passes[0]


def _some(count: int, then: Callable[[Canary], str | None]) -> Callable[[Canary], str | None]:
    """Right for the first `count` canaries."""
    known = {canary.name for canary in CANARIES[:count]}
    return lambda canary: _first(canary) if canary.name in known else then(canary)


_honest = _judging(_first)


@asynccontextmanager
async def _panel(upstreams: Mapping[str, Scripted | str], **parts: Any) -> AsyncIterator[Panel]:
    """All endpoints in one pool, with one profile `same`, unless `parts` of the configuration say otherwise."""
    endpoint = {"model": "judge", "health": {"probe": False, "failures": 3, "eject_s": 1000, "eject_cap_s": 1000}}
    urls = {name: each if isinstance(each, str) else each.url for name, each in upstreams.items()}
    read = config.read(
        {
            "endpoints": {name: {**endpoint, "base_url": url} for name, url in urls.items()},
            "pools": {"judges": {"members": list(upstreams), "retry": _RETRY}},
            "profiles": {"same": {"mode": "reference", "pool": "judges"}},
            **parts,
        },
        "test",
    )
    gateway = Gateway(read.endpoints, read.pools, keys={}, chance=random.Random(1))
    made = Panel(read, gateway, Shared(1_000_000), prompts.load(folder=None), fence_secret=b"s" * 32)
    try:
        yield made
    finally:
        await made.stop()


def _canaries(panel: Panel, **parts: Any) -> Canaries:
    return Canaries(panel, config.Canaries(**parts), wall=lambda: 7.0)


async def _judge(panel: Panel, response: str) -> str:
    """Which endpoint judged an item, or why none did."""
    profile = panel.config.profiles["same"]
    question = Question(Data(question="How many?", references=("4",), response=response), NO_CONTEXT)
    deadline = asyncio.get_running_loop().time() + PATIENCE_S
    prompt = panel.prompts[profile.prompt]
    try:
        ballot = await panel.ballot(profile, prompt, question, votes=1, deadline=deadline, use="off")
    except EndpointFailure as failure:
        return failure.kind
    return ballot.votes[0].answer.endpoint


def test_canaries_reach_a_judge_whole_and_each_says_what_passes() -> None:
    assert len({canary.name for canary in CANARIES}) == _ALL == len(_BY_TEXT)
    for canary in CANARIES:
        assert precheck(canary.response, [canary.reference]) == "none", canary.name
        assert max(len(neutralise(text)) for text in (canary.question, canary.response)) <= 100, canary.name
        assert canary.passes in ("A", "B", "BC"), canary.name


@table(
    ("schema", "label"),
    [(name, label) for name in ("eq_abc", "simpleqa", "yesno", "xverify") for label in SCHEMAS[name].scores],
)
def test_who_always_says_the_same_does_not_pass(schema: str, label: str) -> None:
    passed = sum(canary.passed(label, SCHEMAS[schema].scores) for canary in CANARIES)
    assert 0 < passed < config.Canaries().min_pass_rate * _ALL


def test_on_a_menu_of_two_what_pays_is_what_counts() -> None:
    right, empty = Canary("right", "?", "1", "one", "A"), Canary("key", "?", "1", "see above", "BC")
    scores = SCHEMAS["yesno"].scores
    assert [right.passed(label, scores) for label in ("YES", "NO")] == [True, False]
    assert [empty.passed(label, scores) for label in ("YES", "NO")] == [False, True]
    assert not right.passed("C", SCHEMAS["eq_abc"].scores)


async def test_each_endpoint_is_asked_by_itself_and_past_all_caches(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    async with Scripted(_honest) as one, Scripted(_honest) as two, _panel({"one": one, "two": two}) as panel:
        canaries = _canaries(panel, eject=True)
        await canaries.examine("one")
        assert (len(one.calls), len(two.calls)) == (_ALL, 0)
        await canaries.examine("one")
        await canaries.examine("two")
        assert (len(one.calls), len(two.calls)) == (2 * _ALL, _ALL)
        found = canaries.rounds["same", "one"]
        assert (found.asked, found.answered, found.passed, found.missed, found.at) == (_ALL, _ALL, _ALL, (), 7.0)
        assert canaries.pass_rates() == {"same/one": 1.0, "same/two": 1.0}
        assert panel.counts == {}, "they are not items"
        assert [state.held for state in panel.gateway.states()] == [None, None]
    assert caplog.records == []


async def test_all_that_may_answer_for_a_reference_profile_are_examined_and_nobody_else() -> None:
    pools = {
        "judges": {"members": ["one"], "fallback": "spare", "retry": _RETRY},
        "spare": {"members": ["two"], "retry": _RETRY},
        "others": {"members": ["three"], "retry": _RETRY},
    }
    profiles = {
        "same": {"mode": "reference", "pool": "judges"},
        "again": {"mode": "reference", "pool": "spare"},
        "good": {"mode": "quality", "pool": "others"},
    }
    async with Scripted(_honest) as one, Scripted(_honest) as two, Scripted(_honest) as three:
        upstreams = {"one": one, "two": two, "three": three}
        async with _panel(upstreams, pools=pools, profiles=profiles) as panel:
            canaries = _canaries(panel)
            for name in upstreams:
                await canaries.examine(name)
            assert set(canaries.rounds) == {("same", "one"), ("same", "two"), ("again", "two")}
            assert [len(each.calls) for each in (one, two, three)] == [_ALL, 2 * _ALL, 0]


async def test_few_are_asked_at_once() -> None:
    gate = asyncio.Event()
    async with Scripted(when(gate, _honest)) as one, _panel({"one": one}) as panel:
        canaries = _canaries(panel)
        examination = asyncio.create_task(canaries.examine("one"))
        await one.until(4)
        for _ in range(100):
            await asyncio.sleep(0)
        assert (len(one.calls), panel.gateway.states()[0].in_flight, panel.gateway.waiting) == (4, 4, 0)
        gate.set()
        await examination
        assert canaries.pass_rates() == {"same/one": 1.0}


async def test_a_judge_that_misjudges_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    async with Scripted(says(_A)) as one, _panel({"one": one}) as panel:
        canaries = _canaries(panel)
        await canaries.examine("one")
        unpaid = [canary.name for canary in CANARIES if canary.passes != "A"]
        found = canaries.rounds["same", "one"]
        assert (found.answered, list(found.missed)) == (_ALL, unpaid)
        (record,) = caplog.records
        assert record.levelname == "WARNING"
        assert "endpoint one" in record.getMessage()
        assert "order_chinese" in record.getMessage()
        panel.canaries = canaries
        metrics = Metrics("1")
        publish(panel, metrics)
        rate = (_ALL - len(unpaid)) / _ALL
        assert f'rewardline_judge_canary_pass_rate{{judge="same/one"}} {rate}'.encode() in metrics.exposition()
        assert b'rewardline_judge_endpoint_held{endpoint="one"} 0.0' in metrics.exposition()
        assert await _judge(panel, "told of, and no more") == "one"


async def test_a_judge_at_the_rate_passes_and_one_below_it_does_not() -> None:
    async with Scripted(_judging(_some(_ALL - 1, lambda _: "A"))) as one, _panel({"one": one}) as panel:
        lenient, strict = ((_ALL - 1) / _ALL, (_ALL - 0.5) / _ALL)
        await _canaries(panel, eject=True, min_pass_rate=lenient).examine("one")
        assert panel.gateway.states()[0].held is None
        await _canaries(panel, eject=True, min_pass_rate=strict).examine("one")
        assert panel.gateway.states()[0].held == "canaries of same"


async def test_with_eject_it_gets_no_items_until_it_has_passed() -> None:
    pools = {"judges": {"members": ["one", "two"], "retry": _RETRY}, "alone": {"members": ["one"], "retry": _RETRY}}
    async with (
        Scripted(says(_A)) as one,
        Scripted(_honest) as two,
        _panel({"one": one, "two": two}, pools=pools) as panel,
    ):
        canaries = _canaries(panel, eject=True)
        alone = {"messages": [{"role": "user", "content": "?"}]}
        assert (await panel.gateway.relay("alone", alone)).endpoint == "one"
        for name in ("one", "two"):
            await canaries.examine(name)
        assert [state.held for state in panel.gateway.states()] == ["canaries of same", None]
        asked = len(one.calls)
        assert {await _judge(panel, f"held {number}") for number in range(8)} == {"two"}
        for call in (panel.gateway.relay, panel.gateway.relay_stream):
            with pytest.raises(EndpointFailure) as caught:
                await call("alone", alone)
            assert caught.value.kind == "no_healthy_endpoint"
            assert "canaries of same" in str(caught.value)
            assert caught.value.retryable
        await canaries.examine("one")  # as bad as before
        assert len(one.calls) == asked + _ALL
        assert await _judge(panel, "still held") == "two"
        one.script[:] = [_honest]
        await canaries.examine("one")
        assert panel.gateway.states()[0].held is None
        assert (await panel.gateway.relay("alone", alone)).endpoint == "one"


async def test_it_must_pass_for_each_of_its_profiles() -> None:
    profiles = {name: {"mode": "reference", "pool": "judges"} for name in ("same", "word")}
    profiles["word"]["prompt"] = "roll_yesno@1"

    async def two_faced(exchange: Exchange) -> None:
        asks_for_a_word = b"response_format" not in exchange.request.body
        await (says("YES") if asks_for_a_word else _honest)(exchange)

    async with Scripted(two_faced) as one, _panel({"one": one}, profiles=profiles) as panel:
        canaries = _canaries(panel, eject=True)
        await canaries.examine("one")
        assert canaries.pass_rates()["same/one"] == 1.0
        assert panel.gateway.states()[0].held == "canaries of word"
        one.script[:] = [_judging(lambda canary: "YES" if canary.passes == "A" else "NO")]
        await canaries.examine("one")  # passes one, and says nothing that the other can read
        assert canaries.pass_rates() == {"same/one": 1.0, "word/one": 1.0}
        assert panel.gateway.states()[0].held is None


async def test_nobody_falls_back_on_one_that_is_held() -> None:
    async with Scripted(says(_A)) as one, Scripted(says(_A)) as two, _panel({"one": one, "two": two}) as panel:
        await two.stop()
        for number in range(8):
            await _judge(panel, f"until two is ejected {number}")
        assert [state.health for state in panel.gateway.states()] == ["healthy", "ejected"]
        await _canaries(panel, eject=True).examine("one")
        before = len(one.calls)
        assert await _judge(panel, "two is tried, one is not") == "connect"
        panel.gateway.hold("two", "so it was said")
        assert await _judge(panel, "both are held") == "no_healthy_endpoint"
        assert len(one.calls) == before


async def test_a_fallback_judges_for_a_pool_that_is_held() -> None:
    pools = {
        "judges": {"members": ["one"], "fallback": "spare", "retry": _RETRY},
        "spare": {"members": ["two"], "retry": _RETRY},
    }
    async with (
        Scripted(says(_A)) as one,
        Scripted(_honest) as two,
        _panel({"one": one, "two": two}, pools=pools) as panel,
    ):
        await _canaries(panel, eject=True).examine("one")
        assert await _judge(panel, "for another pool") == "two"


async def test_calls_that_wait_for_one_that_is_held_are_told() -> None:
    gate = asyncio.Event()
    async with Scripted(when(gate, says(_A))) as one:
        tight = {"start": 1, "min": 1, "max": 1}
        endpoint = {"base_url": one.url, "model": "judge", "health": {"probe": False}, "concurrency": tight}
        async with _panel({"one": one}, endpoints={"one": endpoint}) as panel:
            calls = [asyncio.create_task(_judge(panel, f"item {number}")) for number in range(3)]
            await one.until(1)
            await until(lambda: panel.gateway.waiting == 2)
            panel.gateway.hold("one", "so it was said")
            assert [await call for call in calls[1:]] == ["no_healthy_endpoint"] * 2
            gate.set()
            assert await calls[0] == "one"


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize(
    "trouble",
    [None, refuses(500), refuses(429), says("I would rather not say."), says(""), _judging(_some(_ALL // 2, lambda _: None))],
    ids=["down", "500", "429", "no verdict", "empty", "less than half"],
)  # fmt: skip
async def test_what_is_not_answered_changes_nothing(trouble: Behaviour | None, held: bool) -> None:
    async with Scripted(says(_A) if held else _honest) as one, _panel({"one": one}) as panel:
        canaries = _canaries(panel, eject=True)
        await canaries.examine("one")
        before = dict(canaries.rounds)
        assert bool(panel.gateway.states()[0].held) is held
        if trouble is None:
            await one.stop()
        else:
            one.script[:] = [trouble]
        await canaries.examine("one")
        assert canaries.rounds == before
        assert bool(panel.gateway.states()[0].held) is held
        if trouble is None:
            await one.listen()


async def test_half_of_the_answers_tell() -> None:
    unread = _judging(_some(_ALL // 2 + 1, lambda _: "no idea"))
    async with Scripted(unread) as one, _panel({"one": one}) as panel:
        canaries = _canaries(panel)
        await canaries.examine("one")
        found = canaries.rounds["same", "one"]
        assert (found.asked, found.answered, found.pass_rate) == (_ALL, _ALL // 2 + 1, 1.0)


async def test_nobody_waits_for_a_dead_endpoint_over_and_over() -> None:
    async with Scripted(refuses(500)) as one, _panel({"one": one}) as panel:
        await _canaries(panel).examine("one")
        assert len(one.calls) < _ALL / 2
        assert panel.gateway.states()[0].health == "ejected"


async def test_rounds_go_on_from_the_start_to_the_stop() -> None:
    every = {"canaries": {"every_s": 0.01, "eject": True}}
    async with Scripted(says(_A)) as one, _panel({"one": one}, **every) as panel:
        await panel.start()
        assert panel.canaries is not None
        await one.until(2 * _ALL)
        await until(lambda: panel.gateway.states()[0].held is not None)
        one.script[:] = [_honest]
        await until(lambda: panel.gateway.states()[0].held is None)
        await panel.stop()
        asked = len(one.requests)
        await asyncio.sleep(0.05)
        assert len(one.requests) == asked


async def test_without_a_time_there_are_none() -> None:
    async with Scripted(_honest) as one, _panel({"one": one}) as panel:
        await panel.start()
        assert panel.canaries is None
        publish(panel, metrics := Metrics("1"))
        assert b"rewardline_judge_canary_pass_rate{" not in metrics.exposition()


async def test_a_mistake_in_one_round_does_not_end_the_others(caplog: pytest.LogCaptureFixture) -> None:
    times = iter([None, 1.0])
    again = asyncio.Event()

    def broken_once() -> float:
        now = next(times, None)
        if now is None:
            raise OverflowError("the clock")
        again.set()
        return now

    async with Scripted(_honest) as one, _panel({"one": one}) as panel:
        canaries = Canaries(panel, config.Canaries(every_s=0.01), wall=broken_once)
        canaries.start()
        try:
            await again.wait()
        finally:
            await canaries.stop()
    assert any("the canaries of judge endpoint one" in record.getMessage() for record in caplog.records)
