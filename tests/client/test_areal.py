"""AReaL's reward function, in a pool of processes as AReaL has one; its own wrapper and workflow are in tests/e2e."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from rewardline import FailedItems, InvalidItems
from rewardline.areal import DEADLINE_S, reward, reward_fn

if TYPE_CHECKING:
    from tests.client.conftest import FakeServer
    from tests.conftest import Served

NOWHERE = "http://127.0.0.1:9"
RIGHT, WRONG = "so \\boxed{4}<|im_end|>", "so \\boxed{5}<|im_end|>"
IDS: dict[str, Any] = {"prompt_ids": [1, 2], "completion_ids": [3]}


@pytest.mark.contract
def test_rewards_are_floats_for_each_way_a_row_names_its_reference(served: Served) -> None:
    judge = reward(verifier="math", url=served.url)
    for row in ({"answer": "4"}, {"ground_truth": "4", "answer": "9"}, {"reference": 4}):
        right, wrong = judge("2+2=", RIGHT, **IDS, **row), judge("2+2=", WRONG, **IDS, **row)
        assert (right, wrong) == (1.0, 0.0)
        assert (type(right), type(wrong)) == (float, float)
    assert reward(verifier="math", url=served.url, reference="solution")("2+2=", RIGHT, [], [], solution="4") == 1.0


@pytest.mark.contract
def test_it_is_called_by_position_too_and_with_columns_it_does_not_know(served: Served) -> None:
    judge = reward(verifier="math", url=served.url)
    row: dict[str, Any] = {"messages": [{"role": "user", "content": "2+2="}], "answer": "4", "query_id": 7}
    assert judge("<|im_start|>user\n2+2=", RIGHT, [1], [2], **row) == 1.0


def test_the_tokenizers_marks_are_not_sent(server: FakeServer) -> None:
    assert reward(verifier="math", url=server.url, send_prompt=False)("", "4<|im_end|>", [1], [2], answer="4") == 1.0


def test_the_function_by_its_dotted_path_is_routed_by_labels(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REWARDLINE_URL", served.url)
    assert reward_fn("2+2=", RIGHT, **IDS, tag="deepmath_103k", answer="4") == 1.0


def test_what_could_not_be_judged_raises_within_the_trainers_time() -> None:
    judge = reward(verifier="math", url=NOWHERE, deadline_s=0.2)
    with pytest.raises(FailedItems) as caught:
        judge("2+2=", RIGHT, **IDS, answer="4")
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), FailedItems)
    assert reward(verifier="math").hook.deadline_s == DEADLINE_S < 12
    assert reward(verifier="math", url=NOWHERE, deadline_s=0.2, on_failed=-1)("", RIGHT, answer="4") == -1.0


def test_a_row_to_be_mended_raises(served: Served) -> None:
    with pytest.raises(InvalidItems):
        reward(verifier="math", url=served.url)("2+2=", RIGHT, **IDS)


def test_there_is_no_abstaining() -> None:
    with pytest.raises(ValueError, match="AReaL knows no abstention"):
        reward(on_failed="abstain")


@pytest.mark.contract
@pytest.mark.parametrize("method", ["forkserver", "spawn"])
async def test_it_travels_into_a_pool_of_processes(served: Served, method: str) -> None:
    judge = reward(verifier="math", url=served.url)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        loop = asyncio.get_running_loop()
        texts = [RIGHT, WRONG] * 4
        calls = [partial(judge, "2+2=", text, **IDS, answer="4") for text in texts]
        rewards = await asyncio.gather(*(loop.run_in_executor(pool, call) for call in calls))
    assert rewards == [1.0, 0.0] * 4
