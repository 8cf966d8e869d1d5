"""Every kind of server, with answers in its shape, with broken ones, and with ones that lack a part."""

import json
from typing import Any

import pytest

from tests.judge_upstream.behaviours import gives, gives_bytes, refuses
from tests.judge_upstream.reward_servers import gives_values, serving_rewards, values_of
from tests.judge_upstream.scripted import Exchange, Scripted
from tests.verifiers.reward_model.panels import INPUTS, TEXT, item, reward_models, verdicts
from verifiers.judge.endpoints import rewarding
from verifiers.judge.endpoints.reward_servers import SERVERS

RESPONSES = ("one", "three", "seventeen letters")


def length(one: Any) -> float:
    """The characters of the response, in any form of input."""
    if isinstance(one, str):
        return float(len(one.partition("assistant: ")[2].rstrip("\n")))
    return float(len(one[-1]["content"] if isinstance(one[-1], dict) else one[-1]))


@pytest.mark.parametrize("protocol", SERVERS)
async def test_each_response_gets_its_own_value(protocol: str) -> None:
    async with (
        serving_rewards(protocol, length) as server,
        reward_models({"rm": (protocol, server)}, INPUTS.get(protocol, TEXT)) as verifier,
    ):
        found = await verdicts(verifier, *RESPONSES)
    assert [(each.status, each.detail["raw"], each.score) for each in found] == [
        ("ok", float(len(text)), len(text) / 100) for text in RESPONSES
    ]
    assert {request.path for request in server.requests} == {SERVERS[protocol].path}
    assert all(request.json["model"] == "rm" for request in server.requests)
    assert len(server.requests) == (3 if "messages" in SERVERS[protocol].forms else 1)


async def test_line_breaks_reach_the_model_as_they_are() -> None:
    """As AtCoder's questions in JudgeBench have them; other hidden characters are shown."""
    async with (
        serving_rewards("vllm_classify", length) as server,
        reward_models({"rm": ("vllm_classify", server)}, TEXT) as verifier,
    ):
        await verifier.score([item("one\r\ntwo\x07", prompt="N games.\r\n")])
    assert server.requests[0].json["input"] == ["user: N games.\r\n\nassistant: one\r\ntwo⟦U+0007⟧\n"]


@pytest.mark.parametrize("protocol", SERVERS)
@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("nan", "judge_not_finite"),
        ("infinite", "judge_not_finite"),
        ("null", "judge_not_finite"),
        ("beyond a double", "judge_not_finite"),
        ("text", "judge_bad_upstream_body"),
        ("fewer", "judge_bad_upstream_body"),
        ("more", "judge_bad_upstream_body"),
        ("other shape", "judge_bad_upstream_body"),
        ("no json", "judge_bad_upstream_body"),
        ("error", "judge_bad_upstream_body"),
    ],
)
async def test_what_the_server_did_not_answer_is_failed(protocol: str, broken: str, reason: str) -> None:
    def broken_answer(request: Any) -> bytes:
        whole = json.dumps(values_of(protocol, request, lambda _: 7.25))
        rows = json.loads(whole)
        place = next((name for name in ("data", "results", "rewards", "scores") if name in rows), "")
        listed = rows[place] if place else rows
        changed = {
            "nan": whole.replace("7.25", "NaN"),
            "infinite": whole.replace("7.25", "Infinity"),
            "null": whole.replace("7.25", "null"),
            "beyond a double": whole.replace("7.25", "1" + "0" * 400),
            "text": whole.replace("7.25", '"7.25"'),
            "fewer": json.dumps({**rows, place: []} if place else []),
            "more": json.dumps({**rows, place: [*listed, *listed]} if place else [*listed, *listed]),
            "other shape": json.dumps({"choices": [{"message": {"content": "7.25"}}]}),
            "no json": "<html>",
            "error": json.dumps({"error": {"message": "out of memory"}}),
        }
        return changed[broken].encode()

    async def behave(exchange: Exchange) -> None:
        await exchange.send(200, broken_answer(exchange.request.json))

    async with (
        Scripted(behave) as server,
        reward_models({"rm": (protocol, server)}, INPUTS.get(protocol, TEXT)) as verifier,
    ):
        (found,) = await verdicts(verifier, "text")
    assert (found.status, found.score, found.reason) == ("failed", None, reason), found.detail
    if broken == "other shape":
        assert f"{protocol} answers with {SERVERS[protocol].form} for each input" in found.detail["message"]


async def test_one_value_that_is_no_number_costs_no_other_item_its_own() -> None:
    def value(one: Any) -> float:
        return float("nan") if "bad" in one else length(one)

    async with (
        serving_rewards("vllm_pooling", value) as server,
        reward_models({"rm": ("vllm_pooling", server)}, TEXT) as verifier,
    ):
        found = await verdicts(verifier, "one", "bad", "three")
    assert [(each.status, each.score) for each in found] == [("ok", 0.03), ("failed", None), ("ok", 0.05)]
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 413, 422, 500])
async def test_an_input_that_a_server_refuses_costs_no_other_its_value(status: int) -> None:
    async def behave(exchange: Exchange) -> None:
        bad = any("bad" in text for text in exchange.request.json["input"])
        await (refuses(status) if bad else gives_values("vllm_classify", length))(exchange)

    async with (
        Scripted(behave) as server,
        reward_models({"rm": ("vllm_classify", server)}, TEXT, health={"probe": False, "failures": 99}) as verifier,
    ):
        found = await verdicts(verifier, *(f"response {number}" for number in range(9)), "bad", "another")
    assert [each.status for each in found] == [*["ok"] * 9, "failed", "ok"]


@pytest.mark.parametrize(
    ("label", "status"),
    [("LABEL_1", "ok"), (1, "ok"), ("positive", "failed"), (2, "failed"), (None, "failed")],
)
@pytest.mark.parametrize("protocol", ["tei_predict", "infinity_classify", "vllm_classify"])
async def test_the_value_is_that_of_the_declared_class(protocol: str, label: Any, status: str) -> None:
    """Servers with labels list the best class first."""
    if protocol == "vllm_classify" and label == "LABEL_1":
        status = "failed"  # it gives no names
    async with (
        serving_rewards(protocol, lambda _: [9.0, 4.0]) as server,
        reward_models({"rm": (protocol, server)}, {**TEXT, "label": label}) as verifier,
    ):
        (found,) = await verdicts(verifier, "text")
    assert found.status == status
    assert found.detail["raw"] == 4.0 if status == "ok" else found.reason == "judge_unknown_label"


@pytest.mark.parametrize(
    "refusal",
    [
        refuses(400, "This model's maximum context length is 128 tokens. However, you requested 400 tokens"),
        refuses(413, "`inputs` must have less than 512 tokens. Given: 600"),
    ],
)
async def test_a_response_that_is_too_long_for_the_server_is_judged_without_its_middle(refusal: Any) -> None:
    """Else a response would decide whether it is judged."""

    async def behave(exchange: Exchange) -> None:
        fits = len(exchange.request.json["input"][0]) < 3_000
        await (gives_values("vllm_classify", length) if fits else refusal)(exchange)

    async with (
        Scripted(behave) as server,
        reward_models({"rm": ("vllm_classify", server)}, {**TEXT, "max_chars": 16_000}) as verifier,
    ):
        short, long = [(await verdicts(verifier, text))[0] for text in ("fits", "far too long " * 1_000)]
    assert (short.status, long.status) == ("ok", "ok")
    assert "flags" not in short.detail
    assert long.detail["flags"] == ["truncated_response"]
    assert 1_000 < long.detail["raw"] < 3_000


async def test_a_dead_server_is_failed_and_another_of_its_pool_answers() -> None:
    async with (
        serving_rewards("openrlhf", length) as server,
        reward_models({"rm": ("openrlhf", "http://127.0.0.1:9")}, TEXT) as dead,
        reward_models({"rm": ("openrlhf", server)}, TEXT) as alive,
    ):
        (lost,), (found,) = await verdicts(dead, "one"), await verdicts(alive, "one")
    assert (lost.status, lost.reason) == ("failed", "judge_connect")
    assert (found.status, found.score) == ("ok", 0.03)


async def test_a_list_where_an_object_belongs_is_no_answer() -> None:
    for body in ([], [1], 7, "x", None, {"data": None}, {"data": [None]}):
        async with (
            Scripted(gives(body)) as server,
            reward_models({"rm": ("vllm_classify", server)}, TEXT) as verifier,
        ):
            (found,) = await verdicts(verifier, "one")
        assert (found.status, found.reason) == ("failed", "judge_bad_upstream_body"), body


async def test_a_flood_of_values_is_no_answer() -> None:
    flood = b'{"data": [{"index": 0, "probs": [' + b"1," * 30_000 + b"1]}]}"
    async with (
        Scripted(gives_bytes(flood)) as server,
        reward_models({"rm": ("vllm_classify", server)}, TEXT) as verifier,
    ):
        (found,) = await verdicts(verifier, "one")
    assert (found.status, found.reason) == ("failed", "judge_bad_upstream_body")


async def test_an_answer_whose_reading_breaks_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer is known that breaks the reading, so the reading is broken here."""

    def broken(protocol: str, body: bytes, count: int) -> Any:
        raise ArithmeticError

    monkeypatch.setattr(rewarding, "answers_of", broken)
    async with (
        serving_rewards("vllm_classify", length) as server,
        reward_models({"rm": ("vllm_classify", server)}, {**TEXT, "deadline_s": 5}) as verifier,
    ):
        found = await verdicts(verifier, *RESPONSES)
    assert [(each.status, each.score, each.reason) for each in found] == [
        ("failed", None, "judge_bad_upstream_body")
    ] * len(RESPONSES)
