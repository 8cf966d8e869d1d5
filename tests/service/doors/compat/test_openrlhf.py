"""OpenRLHF's remote reward model."""

import json
from typing import Any

import pytest

from service.doors.compat.openrlhf import PATH, response_of
from service.errors import Unprocessable
from tests.conftest import Served
from tests.service.doors.compat.recorded import JSON, answer, post, recorded
from tests.tables import table

CHAT = "<|im_start|>user\nWhat is 1+1?<|im_end|>\n<|im_start|>assistant\n"
NUMBERS = " ".join(map(str, range(200)))


@table(
    ("query", "prompt", "response"),
    [
        (f"{CHAT}two", CHAT, "two"),
        (f"{CHAT}two<|im_end|>", CHAT, "two"),
        (f"{CHAT}two <|im_end|>\n<|endoftext|>\n<|endoftext|>\n", CHAT, "two "),
        (f"{CHAT}two  \n", CHAT, "two  \n"),
        (f"{CHAT}<think>a</think> b </s>", CHAT, "<think>a</think> b "),
        (f"{CHAT}a<|im_end|>b", CHAT, "a<|im_end|>b"),
        (f"<s> {CHAT}two</s>", CHAT, "two"),
        (f"<|begin_of_text|>{CHAT}two", f"<|begin_of_text|>{CHAT}", "two"),
        (f"{CHAT}two", f"<|begin_of_text|>{CHAT}", "two"),
        (f"<s>{CHAT.rstrip()}two", CHAT, "two"),
        (f"1+1?{CHAT[-50:]}two", "much more that was cut off " + "x" * 200 + CHAT[-50:] * 4, None),
        (f"{NUMBERS[50:]} two", NUMBERS, " two"),
        (f"{CHAT}say {CHAT}two", CHAT, f"say {CHAT}two"),
        ("two", None, "two"),
        ("two<eos><pad><pad>", "", "two"),
        ("", "", ""),
        (CHAT, CHAT, ""),
        ("quite another text", CHAT, None),
    ],
)
def test_the_response_is_what_follows_the_prompt(query: str, prompt: str | None, response: str | None) -> None:
    if response is None:
        with pytest.raises(Unprocessable) as caught:
            response_of(query, prompt, 3)
        assert caught.value.errors[0].loc == ["query", 3]
    else:
        assert response_of(query, prompt) == response


@table("text", ["</s>" * 300_000, " " * 2_000_000, "< " * 500_000, "<|" * 500_000, "</s> " * 200_000])
def test_hostile_ends_take_time_linear_in_their_length(text: str) -> None:
    assert len(response_of(f"{CHAT}a{text}", CHAT)) >= 1


def test_a_recorded_request_is_judged_by_its_response_alone(served: Served) -> None:
    body = recorded("openrlhf")
    found = answer(served, f"{PATH}?verifier=math", body)
    assert (found["rewards"], found["scores"]) == ([1.0], [1.0])
    assert {name: len(values) for name, values in found["extra_logs"].items()} == {
        "score": 1, "correct": 1, "cached": 1, "elapsed_ms": 1,
    }  # fmt: skip
    assert all(isinstance(value, float) for values in found["extra_logs"].values() for value in values)
    body["query"][0] = body["query"][0].replace("12", "13")
    assert answer(served, f"{PATH}?verifier=math", body)["rewards"] == [0.0]
    body["query"][0] = body["prompts"][0] + "nothing"
    body["labels"] = ["9"]  # what stands in the prompt is not an answer
    assert answer(served, f"{PATH}?verifier=math", body)["rewards"] == [0.0]


def test_batches_of_older_clients_and_the_empty_ones_of_several_urls(served: Served) -> None:
    body = {"query": ["a \\boxed{1}", "b \\boxed{2}"], "prompts": ["a ", "b "], "labels": ["1", "3"]}
    found = answer(served, f"{PATH}?verifier=math", body)
    assert found["rewards"] == [1.0, 0.0]
    empties: list[JSON] = [{"query": []}, {"query": [], "prompts": [], "labels": []}]
    for empty in empties:
        assert answer(served, PATH, empty) == {"rewards": [], "scores": [], "extra_logs": {}}


def test_a_label_routes_and_the_reward_may_be_shaped(served: Served) -> None:
    label = json.dumps({"recipe": "slime.dapo", "reference": "5"})
    body = {"query": ["Answer: 6"], "labels": [label]}
    found = answer(served, PATH, body)
    assert (found["rewards"], found["scores"]) == ([-1.0], [0.0])


@pytest.mark.parametrize(
    ("query", "body", "said"),
    [
        ("", {"query": ["x"], "labels": ["4"]}, "unroutable"),
        ("?verifier=mth", {"query": ["x"], "labels": ["4"]}, "mth"),
        ("?verifier=math", {"query": ["x"], "labels": [None]}, "reference"),
        ("?verifier=math", {"query": ["x"], "prompts": ["y"], "labels": ["4"]}, "does not begin with its prompt"),
        ("?verifier=math", {"query": ["x", "y"], "labels": ["4"]}, "labels"),
        ("?verifier=math", {"query": ["\\boxed{4}", "y"], "labels": ["4", ""]}, "item 1"),
    ],
)
def test_what_cannot_be_judged_is_no_reward_but_a_refusal(served: Served, query: str, body: Any, said: str) -> None:
    reply = post(served, f"{PATH}{query}", body)
    assert reply.status_code == 422
    assert said in reply.text
