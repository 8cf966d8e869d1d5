"""What trainers post to an engine of their own, posted to us: their payloads, and what they read in the answer."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.conftest import Served, serving
from tests.judge_upstream.grader import Grader
from tests.waiting import PATIENCE_S


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with Grader() as grader:
        yield grader


@pytest.fixture(scope="module")
def served(grader: Grader, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("rewards")
    file = str(grader.file(folder))
    with serving(folder / "log.jsonl", sandbox="none", workers="1", judge_file=file) as served:
        yield served


def _posted(served: Served, path: str, body: Any, **headers: str) -> httpx.Response:
    return httpx.post(f"{served.url}{path}", json=body, headers=headers, timeout=PATIENCE_S)


def test_verls_reward_loop_reads_its_score(served: Served, grader: Grader) -> None:
    """The payloads and the readings of compute_score_disrm (verl, verl/experimental/reward_loop/reward_loop.py)."""
    grader.reset()
    text = "[user] 2+2? [assistant] It is 4."
    vllm = _posted(served, "/classify", {"model": "grader", "input": text, "activation": False}).json()
    sglang = _posted(served, "/v1/embeddings", {"model": "grader", "input": text}).json()
    assert vllm["data"][-1]["probs"][-1] == sglang["data"][-1]["embedding"][-1] == float(len(text))
    assert grader.calls["/classify"] == 1  # the second one was remembered


def test_openrlhfs_reward_model_is_this_one(served: Served) -> None:
    found = _posted(served, "/get_reward", {"query": ["one", "three"], "prompts": ["", ""], "labels": ["", ""]}).json()
    assert found == {"rewards": [3.0, 5.0], "scores": [3.0, 5.0], "extra_logs": {}}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/classify", {"model": "another", "input": "x"}, 404),
        ("/classify", {"input": []}, 422),
        ("/classify", {"messages": []}, 422),
        ("/classify", {"input": [1, 2]}, 422),
        ("/get_reward", {"query": 7}, 422),
        ("/v1/chat/completions", {"model": "rewards", "messages": [{"role": "user", "content": "x"}]}, 404),
    ],
)
def test_what_cannot_be_sent_is_refused(served: Served, path: str, body: Any, status: int) -> None:
    reply = _posted(served, path, body)
    assert reply.status_code == status, reply.text


def test_a_server_that_fails_is_an_error_after_which_clients_ask_again(served: Served, grader: Grader) -> None:
    grader.reset()
    grader.trouble = lambda number: (500, "no") if number < 2 else None
    assert _posted(served, "/classify", {"input": "again and again"}).json()["data"][0]["probs"] == [15.0]
    grader.trouble = lambda number: (200, '{"data": [{"index": 0, "probs": [NaN]}]}')
    lost = _posted(served, "/get_reward", {"query": ["never a value"]})
    assert (lost.status_code, lost.json()["error"]["code"]) == (502, "not_finite")
    grader.reset()


def test_genrm_roles_reach_the_model_as_they_are(served: Served, grader: Grader) -> None:
    """NeMo-Gym's genrm_model sends the compared responses as messages of their own roles."""
    seen: list[dict[str, str]] = []
    grader.answer = lambda sections: seen.append(sections) or '{"verdict": "A"}'  # type: ignore[func-returns-value]
    messages = [
        {"role": role, "content": f"<<<{role.upper()} 0123456789ab\n{role}\n>>>{role.upper()} 0123456789ab"}
        for role in ("user", "response", "response_b")
    ]
    reply = _posted(served, "/v1/chat/completions", {"model": "judges", "messages": messages, "temperature": 0})
    assert reply.status_code == 200
    assert seen == [{"USER": "user", "RESPONSE": "response", "RESPONSE_B": "response_b"}]
    grader.reset()
