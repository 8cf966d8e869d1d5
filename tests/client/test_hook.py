"""What all trainers' hooks share: items of samples, and what stands for a verdict that there is none of."""

from __future__ import annotations

import asyncio
import json
import math
import pickle
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rewardline import FailedItems, InvalidItems, Result, Status
from rewardline.hook import DEFAULT_URL, Hook, Missing, is_missing, plain

if TYPE_CHECKING:
    from tests.client.conftest import FakeServer
    from tests.conftest import Served


def result(status: str = "ok", score: float | None = 1.0, **more: Any) -> Result:
    fields: dict[str, Any] = {"reward": score, "reason": "because", "verifier": "math", **more}
    return Result("0", Status(status), score, **fields)


FAILED = result("failed", None)
INVALID = result("invalid", None)


def test_an_item_says_what_judges_it_and_what_the_row_knows() -> None:
    hook = Hook("math", params={"extract": "boxed"})
    row = {"ground_truth": "5", "tag": "math_rule", "difficulty": np.int64(3), "answer": "not ours", "test_cases": None}
    assert hook.item("It is 5", prompt="2+3?", row=row, item_id="a") == {
        "verifier": "math",
        "params": {"extract": "boxed"},
        "response": "It is 5",
        "prompt": "2+3?",
        "ground_truth": "5",
        "difficulty": 3,
        "id": "a",
    }


def test_labels_route_only_where_nothing_is_named() -> None:
    row = {"tag": "t", "data_source": "d", "domain": float("nan")}
    assert Hook().item("r", row=row) == {"response": "r", "tag": "t", "data_source": "d"}
    assert Hook(recipe="think_math").item("r", row=row) == {"recipe": "think_math", "response": "r"}


def test_a_reference_given_comes_over_the_rows_own() -> None:
    item = Hook("math").item("r", reference=["1", "2"], row={"ground_truth": "9", "reference": "8"})
    assert item["reference"] == ["1", "2"]
    assert "ground_truth" not in item


def test_prompts_are_left_out_on_request() -> None:
    assert "prompt" not in Hook("math", send_prompt=False).item("r", prompt="long")


@pytest.mark.parametrize(
    ("value", "as_json"),
    [
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array([{"a": (1, np.float32(0.5))}], dtype=object), [{"a": [1, 0.5]}]),
        (np.str_("x"), "x"),
        (np.bool_(True), True),
        ({1: b"caf\xc3\xa9"}, {"1": "café"}),
        ([None, "x", 1.5], [None, "x", 1.5]),
    ],
)
def test_values_of_rows_become_json(value: Any, as_json: Any) -> None:
    assert json.loads(json.dumps(plain(value))) == as_json


def test_what_is_missing_in_a_column() -> None:
    assert is_missing(None)
    assert is_missing(math.nan)
    assert not is_missing("")
    assert not is_missing(0.0)


@pytest.mark.parametrize(
    "options",
    [
        {"verifier": "math", "recipe": "think_math"},
        {"on_failed": "zero"},
        {"on_failed": math.nan},
        {"on_invalid": True},
        {"components": "math"},
        {"url": "verifier:8080"},
        {"deadline_s": 0},
    ],
)
def test_options_that_cannot_work_are_refused_at_once(options: Mapping[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Hook(**options)


def test_no_verdict_is_no_number_unless_one_was_chosen() -> None:
    hook = Hook("math")
    assert hook.rewards([result(score=0.25), result(score=0.0)]) == [0.25, 0.0]
    with pytest.raises(FailedItems) as failed:
        hook.rewards([result(), FAILED])
    assert list(failed.value.results) == [1]
    with pytest.raises(InvalidItems):
        hook.rewards([FAILED, INVALID])
    chosen: list[tuple[Missing, float | None]] = [("abstain", None), (-0.5, -0.5), (0, 0.0)]
    for missing, expected in chosen:
        assert Hook("math", on_failed=missing).rewards([result(), FAILED]) == [1.0, expected]
        assert Hook("math", on_invalid=missing).rewards([INVALID, result()]) == [expected, 1.0]
        with pytest.raises(InvalidItems):
            Hook("math", on_failed=missing).rewards([INVALID])


def test_the_reward_is_what_the_recipe_made_of_the_score() -> None:
    assert Hook().reward(result(score=1.0, reward=-0.5)) == -0.5


def test_every_sample_has_the_same_numbers() -> None:
    hook = Hook(on_failed=-1.0, on_invalid=0.5, components={"think_format": 0.0})
    composed = result(
        score=1.0, reward=0.9, checks=({"name": "think_format", "score": 1.0, "value": 0.1},), cached=True
    )
    numbers = [hook.numbers(each) for each in (composed, result(score=0.0), FAILED, INVALID)]
    assert len({tuple(each) for each in numbers}) == 1
    assert all(type(value) is float and math.isfinite(value) for each in numbers for value in each.values())
    assert numbers[0] == {
        "score": 0.9,
        "acc": 1.0,
        "failed": 0.0,
        "invalid": 0.0,
        "cached": 1.0,
        "judge_ms": 0.0,
        "think_format": 0.1,
    }
    assert [each["think_format"] for each in numbers] == [0.1, 0.0, 0.0, 0.0]
    assert [(each["score"], each["acc"], each["failed"], each["invalid"]) for each in numbers[2:]] == [
        (-1.0, -1.0, 1.0, 0.0),
        (0.5, 0.5, 0.0, 1.0),
    ]


def test_a_component_that_was_promised_must_be_there() -> None:
    hook = Hook(components=["style"])
    with pytest.raises(ValueError, match="no check 'style'"):
        hook.numbers(result(checks=({"name": "math", "score": 1.0, "value": 1.0},)))
    with pytest.raises(ValueError, match="no check 'style'"):
        hook.numbers(result(checks=({"name": "style", "status": "skipped", "score": None, "value": None},)))
    assert Hook(components=["math"]).component_values(result(score=0.5, reward=0.5)) == {"math": 0.5}


def test_numbers_cannot_be_had_of_an_abstention() -> None:
    with pytest.raises(ValueError, match="no numbers"):
        Hook(on_failed="abstain").numbers(FAILED)


def test_the_environment_says_which_server_unless_the_hook_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REWARDLINE_URL", raising=False)
    monkeypatch.delenv("REWARDLINE_API_KEY", raising=False)
    assert Hook().client_config()["url"] == DEFAULT_URL
    monkeypatch.setenv("REWARDLINE_URL", "http://verifier:8080")
    monkeypatch.setenv("REWARDLINE_API_KEY", "secret")
    config = Hook().client_config()
    assert (config["url"], config["api_key"]) == ("http://verifier:8080", "secret")
    assert Hook(url="http://other:1", api_key="mine").client_config()["api_key"] == "mine"


def test_hooks_of_one_server_share_a_client_and_survive_pickling(server: FakeServer) -> None:
    hook = Hook("math", url=server.url)
    copy: Hook = pickle.loads(pickle.dumps(hook))
    assert copy == hook
    assert copy.client() is hook.client()
    assert copy.blocking_client() is Hook(recipe="x", url=server.url).blocking_client()
    assert hook.client() is not Hook("math", url=server.url, deadline_s=5).client()


def test_samples_that_come_alone_travel_together(server: FakeServer) -> None:
    hook = Hook("math", url=server.url, gather_ms=50)

    async def many() -> list[float | None]:
        items = [hook.item(str(n), reference="3") for n in range(64)]
        return [hook.reward(one) for one in await asyncio.gather(*map(hook.score_one, items))]

    assert asyncio.run(many()) == [float(n == 3) for n in range(64)]
    assert len(server.bodies) == 1
    assert hook.score_one_blocking(hook.item("3", reference="3")).score == 1.0


@pytest.mark.chaos
def test_a_hook_waits_for_a_server_that_comes_back(server: FakeServer) -> None:
    """More refusals than a plain client's six retries."""

    async def broken(request: Any, body: Any) -> Any:
        request.transport.close()
        return None

    server.faults.extend([broken] * 9)
    results = Hook("math", url=server.url, deadline_s=120).score_blocking([{"response": "1", "reference": "1"}])
    assert results[0].score == 1.0
    assert not server.faults


def test_a_hook_against_the_real_server(served: Served) -> None:
    hook = Hook(recipe="think_math", url=served.url, components=["math", "think_format"])
    items = [hook.item("<think>5+5</think>It is \\boxed{10}", reference="10"), hook.item("It is 9", reference="10")]
    right, wrong = (hook.numbers(each) for each in hook.score_blocking(items))
    assert (right["score"], right["acc"]) == (1.0, 1.0)
    assert right["math"] + right["think_format"] > wrong["math"] + wrong["think_format"]
    assert wrong["acc"] == 0.0
    with pytest.raises(InvalidItems, match="unroutable"):
        Hook(url=served.url).rewards(Hook(url=served.url).score_blocking([{"response": "x", "tag": "nobody"}]))


HALVES = ("\\boxed{1/2}", "\\boxed{3}", "\\boxed{0.5}")


def test_the_samples_of_a_prompt_in_a_call_are_a_group() -> None:
    hook = Hook(verifier="math", group={"method": "majority"})
    items = [hook.item(text, prompt=prompt) for text in HALVES for prompt in ("p", "q")]
    found = [item["group"] for item in hook.in_groups(items)]
    assert [group["size"] for group in found] == [3] * 6
    assert len({group["id"] for group in found[::2]}) == len({group["id"] for group in found[1::2]}) == 1
    assert found[0]["id"] != found[1]["id"]
    assert [group["member"] for group in found] == [
        "0",
        "0",
        "1",
        "1",
        "2",
        "2",
    ]  # in their order, which `on_tie` takes
    again = [item["group"]["id"] for item in hook.in_groups(items)]
    assert not set(again) & {group["id"] for group in found}
    assert [item["group"]["size"] for item in hook.in_groups([*items[:4], hook.item("x", prompt="r")])] == [2] * 4 + [1]


def test_a_part_of_a_group_is_named_by_its_prompt() -> None:
    hook = Hook(verifier="math", group={"method": "majority", "size": 4})
    found = [item["group"] for item in hook.in_groups([hook.item("x", prompt="p")] * 6)]
    assert [("id" in group, group["size"]) for group in found] == [(True, 4)] * 4 + [(False, 4)] * 2


@pytest.mark.parametrize("group", [{"method": "majority", "id": "x"}, {"member": 3}])
def test_names_of_groups_are_the_hooks(group: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the hook sets"):
        Hook(verifier="math", group=group)


def test_samples_without_a_group_are_refused() -> None:
    hook = Hook(verifier="math", group={"method": "majority"})
    with pytest.raises(ValueError, match="add `size`"):
        hook.score_one_blocking(hook.item("x", prompt="p"))
    with pytest.raises(ValueError, match="without a prompt"):
        hook.in_groups([hook.item("x"), hook.item("y")])


async def test_more_members_wait_than_requests_usually_may(served: Any) -> None:
    """Each sample is a request of its own, and each waits for the last one."""
    hook = Hook(verifier="math", url=served.url, gather_ms=0, group={"method": "majority", "size": 12})
    texts = HALVES * 4

    async def one(text: str) -> float | None:
        return hook.reward(await hook.score_one(hook.item(text, prompt="more members than max_in_flight")))

    assert hook.max_in_flight < len(texts)
    assert await asyncio.gather(*map(one, texts)) == [1, 0, 1] * 4
