"""open-instruct's verifiers, against a stand-in for its registry."""

from __future__ import annotations

import asyncio
import gc
import importlib
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rewardline import FailedItems, InvalidItems

if TYPE_CHECKING:
    from tests.client.conftest import FakeServer
    from tests.conftest import Served

EXAMPLE = Path(__file__).parents[2] / "client" / "examples" / "open_instruct" / "train.py"
STAND_INS = Path(__file__).parent / "stand_ins"
NOWHERE = "http://127.0.0.1:9"
RIGHT, WRONG = "so \\boxed{4}<|im_end|>", "so \\boxed{5}"


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module anew, since verifiers are registered by being defined."""
    monkeypatch.syspath_prepend(str(STAND_INS))
    yield importlib.import_module("rewardline.open_instruct")
    for name in [name for name in sys.modules if name.split(".")[0] == "open_instruct"]:
        del sys.modules[name]
    del sys.modules["rewardline.open_instruct"]


def built(name: str) -> Any:
    gc.collect()
    return importlib.import_module("open_instruct.ground_truth_utils").build_all_verifiers(None)[name]


async def test_a_name_of_the_trainers_own_is_judged_by_its_recipe_here(served: Served, remote: Any) -> None:
    assert built("math")([], RIGHT, "4").score == 0.25
    remote.define("math", url=served.url)
    verifier = built("math")
    result = await verifier.async_call([1, 2], RIGHT, "4", "2+2=", rollout_state={"done": True})
    assert (result.score, result.reasoning) == (1.0, "correct")
    assert (await verifier.async_call([1, 2], WRONG, "4")).score == 0.0


async def test_new_names_have_the_options_they_are_given(served: Served, remote: Any) -> None:
    remote.define("mine", verifier="exact_match", url=served.url, weight=0.5)
    remote.define("other", recipe="slime.dapo", url=served.url)
    assert built("mine").weight == 0.5
    assert built("mine").name == "mine"
    assert (await built("mine").async_call([], "four<|im_end|>", "four")).score == 1.0
    assert (await built("other").async_call([], "Answer: 5", "4")).score == -1.0


def test_it_can_be_called_without_an_event_loop(served: Served, remote: Any) -> None:
    remote.define("math", url=served.url)
    assert built("math")([], RIGHT, "4", "2+2=").score == 1.0


async def test_lengths_are_told_to_the_recipes_that_read_them(served: Served, remote: Any) -> None:
    remote.define("max_length", url=served.url)
    verifier = built("max_length")
    assert (await verifier.async_call([0] * 100, "text", "100")).score == 1.0
    assert (await verifier.async_call([0] * 50, "text", "100")).score < 1.0


async def test_a_prompts_samples_travel_together(server: FakeServer, remote: Any) -> None:
    remote.define("mine", verifier="math", url=server.url, send_prompt=False, gather_ms=100)
    verifier = built("mine")
    results = await asyncio.gather(*(verifier.async_call([], str(index % 2), "1") for index in range(32)))
    assert [result.score for result in results] == [0.0, 1.0] * 16
    assert (await verifier.async_call([], "1</s>", "1")).score == 1.0
    assert len(server.bodies) == 2


@pytest.mark.contract
async def test_what_is_judged_at_the_third_try_was_worth_the_wait(server: FakeServer, remote: Any) -> None:
    remote.define("mine", verifier="math", url=server.url)
    server.fails["4"] = 8
    assert (await built("mine").async_call([], "4", "4")).score == 1.0
    assert len(server.bodies) == 9


async def test_without_judgement_there_is_no_score(served: Served, remote: Any) -> None:
    remote.define("lost", url=NOWHERE, verifier="math", deadline_s=0.2)
    with pytest.raises(FailedItems):
        await built("lost").async_call([], RIGHT, "4")
    remote.define("bad", url=served.url, verifier="math")
    with pytest.raises(InvalidItems):
        await built("bad").async_call([], RIGHT, "")
    with pytest.raises(ValueError, match="open-instruct knows no abstention"):
        remote.define("none", on_failed="abstain")


def test_only_what_was_defined_is_registered(remote: Any) -> None:
    registry = importlib.import_module("open_instruct.ground_truth_utils")
    assert set(registry.build_all_verifiers(None)) == {"math"}


async def test_the_example_takes_the_place_of_what_is_there(
    served: Served, remote: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REWARDLINE_URL", served.url)
    replaced = runpy.run_path(str(EXAMPLE))["REPLACED"]
    registry = importlib.import_module("open_instruct.ground_truth_utils")
    assert set(registry.build_all_verifiers(None)) == {*replaced, "think_math"}
    assert (await built("gsm8k").async_call([], "It is 4.", "4")).score == 1.0
