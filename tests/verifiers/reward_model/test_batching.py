"""Which inputs share a call: those that wait at the same time, within bounds, of one caller."""

import asyncio
from contextvars import ContextVar

from msgspec.structs import replace

from tests.judge_upstream.behaviours import when
from tests.judge_upstream.reward_servers import gives_values, serving_rewards
from tests.judge_upstream.scripted import Exchange, Scripted
from tests.verifiers.reward_model.panels import TEXT, item, reward_models, verdicts
from tests.verifiers.reward_model.test_servers import length
from tests.waiting import until

CALLER: ContextVar[str] = ContextVar("caller", default="a")


async def test_calls_are_filled_up_to_their_bounds() -> None:
    async with (
        serving_rewards("vllm_classify", length) as server,
        reward_models({"rm": ("vllm_classify", server)}, {**TEXT, "batch": {"inputs": 10}}) as verifier,
    ):
        found = await verdicts(verifier, *(f"text {number:03}" for number in range(64)))
    assert {each.status for each in found} == {"ok"}
    assert sorted(len(request.json["input"]) for request in server.requests) == [4, *[10] * 6]


async def test_calls_are_bounded_by_tokens_and_a_longer_input_goes_alone() -> None:
    async with (
        serving_rewards("vllm_classify", length) as server,
        reward_models({"rm": ("vllm_classify", server)}, {**TEXT, "batch": {"tokens": 100}}) as verifier,
    ):
        texts = [str(number) * 100 for number in range(8)] + ["x" * 900]
        assert {each.status for each in await verdicts(verifier, *texts)} == {"ok"}
    sent = [request.json["input"] for request in server.requests]
    assert sorted(map(len, sent)) == [1, 2, 3, 3]
    assert all(sum(map(len, each)) / 4 <= 100 for each in sent if len(each) > 1)


async def test_what_arrives_while_all_places_are_taken_fills_the_next_call() -> None:
    free = asyncio.Event()
    async with (
        Scripted(when(free, gives_values("vllm_classify", length))) as server,
        reward_models(
            {"rm": ("vllm_classify", server)}, TEXT, concurrency={"start": 1, "min": 1, "max": 1}
        ) as verifier,
        asyncio.TaskGroup() as group,
    ):
        tasks = [group.create_task(verdicts(verifier, "first"))]
        await server.until(1)
        for number in range(20):
            tasks.append(group.create_task(verdicts(verifier, f"later {number}")))
            await asyncio.sleep(0)
        free.set()
    assert [len(request.json["input"]) for request in server.requests] == [1, 20]
    assert {task.result()[0].status for task in tasks} == {"ok"}


async def test_two_callers_are_in_no_call_together() -> None:
    seen: set[frozenset[str]] = set()

    async def behave(exchange: Exchange) -> None:
        seen.add(frozenset(text.partition("assistant: ")[2][0] for text in exchange.request.json["input"]))
        await gives_values("vllm_classify", length)(exchange)

    async def call(verifier: object, name: str) -> None:
        CALLER.set(name)
        await verdicts(verifier, *(f"{name} {number}" for number in range(9)))  # type: ignore[arg-type]

    async with (
        Scripted(behave) as server,
        reward_models({"rm": ("vllm_classify", server)}, TEXT, caller=CALLER.get) as verifier,
        asyncio.TaskGroup() as group,
    ):
        for name in "ab":
            group.create_task(call(verifier, name))
    assert seen == {frozenset("a"), frozenset("b")}


async def test_an_equal_input_is_sent_once() -> None:
    async with (
        serving_rewards("vllm_classify", length) as server,
        reward_models({"rm": ("vllm_classify", server)}, TEXT) as verifier,
    ):
        assert {each.score for each in await verdicts(verifier, *["same"] * 30)} == {0.04}
        await verifier.score([item("same")])
    assert [len(request.json["input"]) for request in server.requests] == [1]


async def test_questions_share_no_call_where_a_server_takes_one() -> None:
    async with (
        serving_rewards("llama_rerank", length) as server,
        reward_models({"rm": ("llama_rerank", server)}, {"input": "pair", "map": TEXT["map"]}) as verifier,
    ):
        await verifier.score([item(f"{at}", prompt=f"question {at % 2}") for at in range(10)])
    assert [(request.json["query"], len(request.json["documents"])) for request in server.requests] == [
        ("question 0", 5),
        ("question 1", 5),
    ]


async def test_a_call_that_nobody_waits_for_is_cancelled() -> None:
    hanging = asyncio.Event()
    async with (
        Scripted(when(hanging, gives_values("vllm_classify", length))) as server,
        reward_models({"rm": ("vllm_classify", server)}, TEXT) as verifier,
    ):
        task = asyncio.create_task(verdicts(verifier, "one", "two"))
        await server.until(1)
        task.cancel()
        assert verifier._panel is not None
        gateway = verifier._panel.gateway
        await until(lambda: gateway.states()[0].in_flight == 0)
        hanging.set()
    assert gateway.states()[0].counters.failures == {}


async def test_an_item_without_time_is_failed_and_the_others_get_theirs() -> None:
    async with (
        serving_rewards("vllm_classify", length) as server,
        reward_models({"rm": ("vllm_classify", server)}, TEXT) as verifier,
    ):
        late = replace(item("one"), deadline=asyncio.get_running_loop().time())
        lost, kept = await verifier.score([late, item("two")])
    assert (lost.status, lost.reason) == ("failed", "judge_deadline")
    assert (kept.status, kept.score) == ("ok", 0.03)
