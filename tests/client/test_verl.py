"""Rewards for verl, as far as they need no verl: the functions, and what a sample becomes."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import math
import multiprocessing
import pickle
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import rewardline.verl
import yaml
from rewardline import FailedItems, InvalidItems
from rewardline.hook import Hook
from rewardline.token_params import TokenParams
from rewardline.verl import NoVerdict, compute_score, compute_score_batch, compute_score_prime, compute_score_sync
from rewardline.verl.options import manager_options
from rewardline.verl.samples import hook_of, item_of

if TYPE_CHECKING:
    from tests.client.conftest import FakeServer
    from tests.conftest import Served

EXAMPLES = Path(__file__).parents[2] / "client" / "examples" / "verl"
NOWHERE = "http://127.0.0.1:9"
NUMBERS = {"score", "acc", "failed", "invalid", "cached", "judge_ms"}


def item(extra_info: Any = None, *, hook: Hook | None = None, **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"data_source": "openai/gsm8k", "ground_truth": "7", "extra_info": extra_info, **more}
    return item_of(hook or Hook(), "#### 7", **fields)


def test_without_verl_the_functions_are_there_and_the_rest_says_what_is_missing() -> None:
    assert inspect.iscoroutinefunction(compute_score), "verl calls anything else in a thread"
    for name in ("RewardManager", "LegacyRewardManager", "RewardInteraction", "RewardTool"):
        assert name in rewardline.verl.__all__
        with pytest.raises(ImportError, match=r"verl|torch"):
            getattr(rewardline.verl, name)
    with pytest.raises(AttributeError):
        _ = rewardline.verl.Manager


def test_a_sample_is_routed_by_its_data_source_unless_judges_are_named() -> None:
    assert item() == {"response": "#### 7", "reference": "7", "data_source": "openai/gsm8k"}
    assert item(hook=Hook("math")) == {"response": "#### 7", "reference": "7", "verifier": "math"}
    assert item(data_source=np.str_("math"), ground_truth=math.nan) == {"response": "#### 7", "data_source": "math"}
    assert item({"domain": "algebra", "tag": "t"}) == item(), "other data sets mean other things by these"


def test_columns_of_extra_info_that_the_server_knows_travel() -> None:
    extra = {
        "test_cases": np.array([{"input": "1", "expected_output": np.int64(2)}], dtype=object),
        "case_type": "stdio",
        "reward_clip": 1,
        "index": 3,
        "num_turns": 2,
        "tool_rewards": [0.5],
    }
    made = item(extra)
    assert made["test_cases"] == [{"input": "1", "expected_output": 2}]
    assert (made["case_type"], made["reward_clip"]) == ("stdio", 1)
    assert not made.keys() & {"index", "num_turns", "tool_rewards"}
    json.dumps(made)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        (3, 3.0),
        (np.float32(2.5), 2.5),
        ("4.5", 4.5),
        ("Hard", "Hard"),
        ("interview", None),
        (math.nan, None),
        ("nan", None),
        ([1], None),
        (None, None),
    ],
)
def test_a_difficulty_is_sent_where_routes_can_read_it(given: Any, sent: Any) -> None:
    assert item({"difficulty": given}).get("difficulty") == sent


@pytest.mark.parametrize(
    ("prompt", "extra_info", "sent"),
    [
        (None, {"question": "3+4?"}, "3+4?"),
        (None, {"question": "3+4?", "prompt": "4+3?"}, "4+3?"),
        ("mine", {"question": "3+4?"}, "mine"),
        (np.array([{"role": "user", "content": "3+4?"}]), None, [{"role": "user", "content": "3+4?"}]),
        (
            [{"role": "user", "content": [{"type": "image", "image": object()}, {"type": "text", "text": "Which?"}]}],
            {},
            [{"role": "user", "content": "Which?"}],
        ),
        ([{"role": "assistant", "content": None, "tool_calls": []}], {}, [{"role": "assistant", "content": ""}]),
        (math.nan, {"question": None}, None),
        ([], "not a mapping", None),
        (["no", "message"], {}, None),
    ],
)
def test_a_prompt_comes_from_the_conversation_or_else_the_row(prompt: Any, extra_info: Any, sent: Any) -> None:
    made = item(extra_info, prompt=prompt)
    assert made.get("prompt") == sent
    json.dumps(made)
    assert "prompt" not in item(extra_info, prompt=prompt, hook=Hook(send_prompt=False))


class Given(Mapping[str, Any]):
    """A mapping and, in it, a sequence that are none of Python's own, as configurations of OmegaConf are."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Listed(Sequence[Any]):
    def __init__(self, *values: Any) -> None:
        self._values = values

    def __getitem__(self, at: Any) -> Any:
        return self._values[at]

    def __len__(self) -> int:
        return len(self._values)


def test_options_may_come_from_a_configuration() -> None:
    given = Given({"recipe": "think_math", "components": Listed("math"), "params": Given({"extract": Listed("boxed")})})
    hook = hook_of(given)
    assert (hook.recipe, hook.components, hook.params) == ("think_math", ["math"], {"extract": ["boxed"]})
    assert hook_of(dict(given)) is hook
    hook, tokens = manager_options(Given({"verifier": "overlong", "token_params": Listed("completion_tokens")}))
    assert tokens.add({"params": {"buffer": 2}}, [5, 6, 7]) == {"params": {"buffer": 2, "completion_tokens": 3}}
    tokens_of_verl: Any = np.array([5, 6])
    assert TokenParams(("completion_ids",)).add({}, tokens_of_verl) == {"params": {"completion_ids": [5, 6]}}
    assert manager_options({})[1].add({"response": ""}, [5]) == {"response": ""}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"verifer": "math"}, TypeError),
        ({"on_failed": "abstain"}, ValueError),
        ({"on_invalid": "abstain"}, ValueError),
        ({"token_params": ["tokens"]}, ValueError),
        ({"token_params": "completion_ids"}, TypeError),
    ],
)
def test_options_that_cannot_work_are_refused_at_once(options: Mapping[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        manager_options(options)


def test_rewards_come_with_the_same_numbers_for_every_sample(served: Served) -> None:
    async def both() -> list[dict[str, float]]:
        samples = [("#### 7", {"question": "3+4?"}), ("I do not know", None)]
        more: dict[str, Any] = {"reward_router_address": None, "reward_model_tokenizer": object(), "url": served.url}
        scores = (
            compute_score(data_source="openai/gsm8k", solution_str=response, ground_truth="7", extra_info=extra, **more)
            for response, extra in samples
        )
        return list(await asyncio.gather(*scores))

    right, wrong = asyncio.run(both())
    assert (right["score"], right["acc"], wrong["score"]) == (1.0, 1.0, 0.0)
    assert set(right) == set(wrong) == NUMBERS
    assert compute_score_sync("openai/gsm8k", "#### 7", "7", None, url=served.url)["score"] == 1.0
    columns: tuple[Any, ...] = (
        np.array(["openai/gsm8k", "math_dapo"]),
        ["#### 7", "Answer: 8"],
        ["7", "7"],
        np.array([{}, {}]),
    )
    batch = compute_score_batch(*columns, url=served.url)
    assert [each["score"] for each in batch] == [1.0, -1.0]
    assert compute_score_batch([], [], [], [], url=served.url) == []
    assert compute_score_prime("openai/gsm8k", "#### 7", "7", url=served.url) == 1.0


CALL = {"name": "add", "arguments": {"a": 2}}


def calls(arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """As verl's agent loop has them."""
    made = {"type": "function", "function": {"name": "add", "arguments": arguments}}
    result = {"role": "tool", "content": "4", "tool_call_id": "0"}
    return [
        {"role": "assistant", "content": "", "tool_calls": [made]},
        result,
        {"role": "assistant", "content": "So 4."},
    ]


def test_calls_are_read_in_text_and_taken_as_messages_where_a_loop_left_them(served: Served) -> None:
    def text(arguments: Mapping[str, Any]) -> str:
        call = json.dumps({"name": "add", "arguments": arguments})
        return f"<tool_call>\n{call}\n</tool_call>\nuser\n<tool_response>\n4\n</tool_response>\nassistant\nSo 4."

    def reward(said: str, extra: Any = None) -> float:
        judged = {"verifier": "tool_call", "url": served.url}
        return compute_score_sync("mine", said, [CALL], extra_info=extra, **judged)["score"]

    assert [reward(said) for said in (text({"a": 2}), text({"a": 3}), "So 4.")] == [1.0, 0.0, 0.0]
    left = [{"response_messages": np.array(calls({"a": a}), dtype=object), "num_turns": 4} for a in (2, 3)]
    assert [reward("detokenized", extra) for extra in left] == [1.0, 0.0]
    assert reward(text({"a": 2}), {"response_messages": None, "tool_rewards": []}) == 1.0


def test_concurrent_samples_travel_as_one_request(server: FakeServer) -> None:
    async def all_at_once() -> list[dict[str, float]]:
        scores = (compute_score(None, str(at), "7", url=server.url, verifier="math") for at in range(64))
        return list(await asyncio.gather(*scores))

    assert [each["score"] for each in asyncio.run(all_at_once())] == [float(at == 7) for at in range(64)]
    assert [len(body["items"]) for body in server.bodies] == [64]


def test_a_batch_of_columns_that_do_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[2, 1, 1, 1\]"):
        compute_score_batch(["a", "b"], ["x"], ["y"], [None])


def test_what_cannot_be_judged_is_never_a_score(served: Served) -> None:
    away: dict[str, Any] = {"url": NOWHERE, "deadline_s": 0.2}
    with pytest.raises(FailedItems):
        asyncio.run(compute_score("openai/gsm8k", "#### 7", "7", **away))
    with pytest.raises(FailedItems):
        compute_score_sync("openai/gsm8k", "#### 7", "7", **away)
    with pytest.raises(FailedItems) as failed:
        compute_score_batch(["openai/gsm8k"] * 3, ["#### 7"] * 3, ["7"] * 3, **away)
    assert list(failed.value.results) == [0, 1, 2]
    with pytest.raises(InvalidItems) as invalid:
        compute_score_batch(["my/own", "openai/gsm8k"], ["#### 7"] * 2, ["7", "many"], url=served.url)
    assert list(invalid.value.results) == [0, 1]
    marked = compute_score_batch(["openai/gsm8k"], ["#### 7"], ["7"], on_failed=-1.0, **away)
    assert (marked[0]["score"], marked[0]["failed"], set(marked[0])) == (-1.0, 1.0, NUMBERS)


def test_in_the_pool_of_prime_no_verdict_is_not_an_exception_that_it_makes_a_0(served: Served) -> None:
    assert not issubclass(NoVerdict, Exception)
    assert str(pickle.loads(pickle.dumps(NoVerdict("why")))) == "why"
    with pytest.raises(NoVerdict, match="FailedItems"):
        compute_score_prime("openai/gsm8k", "#### 7", "7", None, url=NOWHERE, deadline_s=0.2)
    with pytest.raises(NoVerdict, match="InvalidItems"):
        compute_score_prime("openai/gsm8k", "#### 7", "many", None, url=served.url)
    with pytest.raises(NoVerdict, match="TypeError"):
        compute_score_prime("openai/gsm8k", "#### 7", "7", None, verifer="math")
    judged = functools.partial(compute_score_prime, url=served.url)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(judged, "openai/gsm8k", "#### 7", "7", {}).result() == 1.0


def test_in_the_pool_of_prime_we_give_up_before_it_does(server: FakeServer) -> None:
    assert compute_score_prime(None, "7", "7", None, url=server.url, verifier="math") == 1.0
    assert 200 < server.bodies[-1]["deadline_s"] < 250


def test_the_examples_have_options_that_exist() -> None:
    reward = yaml.safe_load((EXAMPLES / "reward.yaml").read_text())["reward"]
    assert manager_options(reward["reward_kwargs"])[0].recipe == "think_math"
    (tool,) = yaml.safe_load((EXAMPLES / "tool.yaml").read_text())["tools"]
    (interaction,) = yaml.safe_load((EXAMPLES / "interaction.yaml").read_text())["interaction"]
    for example in (tool, interaction):
        module, _, name = example["class_name"].rpartition(".")
        assert module == "rewardline.verl"
        assert name in rewardline.verl.__all__
        Hook(**{key: value for key, value in example["config"].items() if key in Hook.__dataclass_fields__})
