"""Against llama.cpp's own server and a real, if small, judge."""

import asyncio
import json
from dataclasses import replace

import httpx

from tests.judge_upstream.llama import Llama, serving_llama
from tests.verifiers.judge.endpoints.calls import endpoint, gateway, outcome
from tests.waiting import until
from verifiers.judge.endpoints import ChatReply, ChatRequest
from verifiers.judge.errors import EndpointFailure

SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string", "maxLength": 60}, "verdict": {"enum": ["A", "B"]}},
    "required": ["reasoning", "verdict"],
    "additionalProperties": False,
}


def question(text: str = "QUESTION: 2+2\nREFERENCE: 4\nRESPONSE: 4") -> ChatRequest:
    return ChatRequest(messages=({"role": "user", "content": text},), max_tokens=64, seed=0)


async def test_the_probe_finds_what_it_can_do(llama: Llama) -> None:
    one = endpoint(llama.url, model="tiny-judge", health_path="/health")
    async with gateway({"one": one}, probing=True) as made:
        await until(lambda: made.states()[0].health == "healthy")
        capabilities = made.states()[0].capabilities
        assert capabilities == {"schema": True, "logprobs": True, "several": capabilities["several"], "refused": []}


async def test_a_reply_has_all_that_was_asked_for(llama: Llama) -> None:
    async with gateway({"one": endpoint(llama.url, model="tiny-judge")}) as made:
        reply = await made.ask("judges", replace(question(), schema=SCHEMA, top_logprobs=3))
        assert reply.flags == ()
        assert reply.finish_reason == "stop"
        assert set(json.loads(reply.message["content"])) == {"reasoning", "verdict"}
        tokens = reply.logprobs["content"]
        assert len(tokens[0]["top_logprobs"]) == 3
        assert reply.usage.prompt is not None
        assert reply.usage.completion is not None
        assert reply.usage.prompt > 10
        assert reply.usage.completion >= len(tokens) - 1
        assert reply.model == "tiny-judge"


async def test_an_equal_question_gets_an_equal_answer(llama: Llama) -> None:
    async with gateway({"one": endpoint(llama.url, model="tiny-judge")}) as made:
        replies = [await made.ask("judges", question()) for _ in range(3)]
        assert len({reply.message["content"] for reply in replies}) == 1


async def test_a_prompt_beyond_its_context_is_reported_once(llama: Llama) -> None:
    async with gateway({"one": endpoint(llama.url, model="tiny-judge")}) as made:
        failure = await outcome(made, question("2+2 is 4. " * 3000))
        assert isinstance(failure, EndpointFailure)
        assert (failure.kind, len(failure.attempts), failure.attempts[0].status) == ("context_overflow", 1, 400)
        assert made.states()[0].health == "healthy"


async def test_many_at_once_are_all_answered(llama: Llama) -> None:
    async with gateway({"one": endpoint(llama.url, model="tiny-judge")}) as made, asyncio.TaskGroup() as group:
        calls = [group.create_task(outcome(made, question(f"RESPONSE: {number}"))) for number in range(64)]
    assert all(isinstance(call.result(), ChatReply) for call in calls)


async def test_a_relayed_answer_is_the_servers_own(llama: Llama) -> None:
    body = {"model": "x", "messages": list(question().messages), "max_tokens": 24, "temperature": 0, "seed": 0}
    async with gateway({"one": endpoint(llama.url, model="tiny-judge")}) as made, httpx.AsyncClient() as direct:
        relayed = await made.relay("judges", body)
        said = json.loads(relayed.body)["choices"][0]["message"]["content"]
        plain = await direct.post(f"{llama.url}/chat/completions", json=body, timeout=60)
        assert said == plain.json()["choices"][0]["message"]["content"]
        stream = await made.relay_stream("judges", body | {"stream_options": {"include_usage": True}})
        events = b"".join([piece async for piece in stream.pieces]).decode().split("\n\n")
        deltas = [json.loads(event[6:]) for event in events if event.startswith("data: {")]
        parts = [delta["choices"][0]["delta"].get("content") or "" for delta in deltas if delta["choices"]]
        assert "".join(parts) == said
        assert events[-2] == "data: [DONE]"
        counters = made.states()[0].counters
        assert counters.completion_tokens == 2 * (relayed.usage.completion or 0)


async def test_a_server_that_dies_costs_no_item_where_there_is_another(llama: Llama) -> None:
    with serving_llama() as second:
        endpoints = {"one": endpoint(llama.url), "two": endpoint(second.url)}
        async with gateway(endpoints) as made, asyncio.TaskGroup() as group:
            calls = [group.create_task(outcome(made, question(f"RESPONSE: {number}"))) for number in range(40)]
            await until(lambda: made.states()[1].counters.successes > 2)
            second.process.kill()
    assert all(isinstance(call.result(), ChatReply) for call in calls)
