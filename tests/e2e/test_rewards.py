"""Reward models behind real engines: Infinity, transformers and llama.cpp. What comes back is what the engine says, bit for bit."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.environments import python_of, variables
from tests.judge_upstream.llama import MODEL
from tests.ports import free_port
from tests.verifiers.reward_model.panels import TEXT, item, reward_models
from tests.waiting import PATIENCE_S, eventually
from verifiers.base import Verdict
from verifiers.reward_model import RewardModels

pytestmark = pytest.mark.judges

SCRIPTS = Path(__file__).parent / "rewards"
LLAMA = Path(__file__).parent.parent / "judge_upstream" / "llama_server.py"
RESPONSES = [f"It is {number} * 7 = {number * 7}." for number in range(24)]
SIGMOID = {"map": {"kind": "sigmoid"}}


@pytest.fixture(scope="module")
def python() -> Path:
    return python_of("rewards")


@pytest.fixture(scope="module")
def models(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    subprocess.run([python, SCRIPTS / "models.py", folder], env=variables(), check=True)
    return folder


@contextmanager
def served(*command: object, **more: str) -> Iterator[str]:
    """The first line that a server prints. It runs until the block ends."""
    process = subprocess.Popen(
        [*map(str, command)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=variables(**more),
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def transformers(python: Path, models: Path) -> Iterator[str]:
    with served(python, SCRIPTS / "server.py", models) as port:
        yield f"http://127.0.0.1:{port}"


@contextmanager
def infinity(python: Path, model: Path) -> Iterator[str]:
    url = f"http://127.0.0.1:{(port := free_port())}"
    options = {"--model-id": model, "--port": port, "--host": "127.0.0.1", "--engine": "torch", "--device": "cpu"}
    flat = [part for option in options.items() for part in option]
    command = [python.parent / "infinity_emb", "v2", *flat, "--no-model-warmup"]
    process = subprocess.Popen(
        [*map(str, command)], env=variables(DO_NOT_TRACK="1"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        eventually(lambda: _is_up(url))
        yield url
    finally:
        process.kill()
        process.wait()


def _is_up(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health").status_code == 200
    except httpx.TransportError:
        return False


async def _verdicts(protocol: str, url: str, profile: Mapping[str, Any], *responses: str, **more: Any) -> list[Verdict]:
    async with reward_models({"rm": (protocol, url)}, profile, **more) as verifier:
        return await _scored(verifier, *responses)


async def _scored(verifier: RewardModels, *responses: str) -> list[Verdict]:
    found = list(await verifier.score([item(response, prompt="How much is it?") for response in responses]))
    assert {each.status for each in found} == {"ok"}, [each.detail for each in found]
    return found


def _text(response: str) -> str:
    return f"user: How much is it?\nassistant: {response}\n"


def _posted(url: str, body: dict[str, Any]) -> Any:
    return httpx.post(url, json=body, timeout=PATIENCE_S).raise_for_status().json()


async def test_transformers_values_are_those_of_the_engine(transformers: str) -> None:
    texts = [_text(response) for response in RESPONSES]
    direct = [each["probs"][0] for each in _posted(f"{transformers}/classify", {"input": texts})["data"]]
    assert len(set(direct)) > 20
    for protocol in ("vllm_classify", "openrlhf"):
        found = await _verdicts(protocol, transformers, {**TEXT, **SIGMOID}, *RESPONSES)
        assert [each.detail["raw"] for each in found] == direct


async def test_the_engine_applies_its_own_template_to_messages(transformers: str) -> None:
    found = await _verdicts("vllm_classify", transformers, {"input": "messages", **SIGMOID}, RESPONSES[0])
    messages = [{"role": "user", "content": "How much is it?"}, {"role": "assistant", "content": RESPONSES[0]}]
    (direct,) = _posted(f"{transformers}/classify", {"messages": messages})["data"]
    assert found[0].detail["raw"] == direct["probs"][0]


async def test_each_step_has_the_value_of_its_separator(transformers: str) -> None:
    profile = {"preset": "qwen2.5_math_prm"}
    response = "First 2 + 2.\n\nThat is 4.\n\nSo it is 4 <extra_0>."
    (found,) = await _verdicts("vllm_pooling", transformers, profile, response)
    text = (
        "<|im_start|>user\nHow much is it?<|im_end|>\n<|im_start|>assistant\n"
        "First 2 + 2.<extra_0>That is 4.<extra_0>So it is 4 ‹extra_0›.<extra_0><|im_end|>\n<|endoftext|>"
    )
    (direct,) = _posted(f"{transformers}/pooling", {"input": [text]})["data"]
    assert len(direct["data"]) == len(found.detail["steps"]) == 3
    assert [step > 0.5 for step in found.detail["steps"]] == [positive > other for other, positive in direct["data"]]
    assert found.score == min(found.detail["steps"])


async def test_infinity_gives_classes_by_label_and_ranks_of_one_class(python: Path, models: Path) -> None:
    with infinity(python, models / "classes") as url:
        body = {"model": "classes", "input": [_text(RESPONSES[0])], "raw_scores": True}
        (direct,) = _posted(f"{url}/classify", body)["data"]
        profile = {**TEXT, **SIGMOID, "label": "good"}
        (found,) = await _verdicts("infinity_classify", url, profile, RESPONSES[0], model="classes")
        assert found.detail["raw"] == next(each["score"] for each in direct if each["label"] == "good")
    with infinity(python, models / "scalar") as url:
        query = {"model": "scalar", "query": "How much is it?", "documents": RESPONSES[:5], "raw_scores": True}
        ranks = {each["index"]: each["relevance_score"] for each in _posted(f"{url}/rerank", query)["results"]}
        profile = {"input": "pair", **SIGMOID}
        several = await _verdicts("infinity_rerank", url, profile, *RESPONSES[:5], model="scalar")
        assert [each.detail["raw"] for each in several] == [ranks[at] for at in range(5)]


async def test_llama_cpp_gives_its_vectors_as_they_are() -> None:
    """Their first value counts here: a vector divided by its length would have another."""
    with served(sys.executable, LLAMA, MODEL, 1, "MEAN") as url:
        body = {"content": [_text(RESPONSES[0])], "embd_normalize": -1}
        (direct,) = _posted(f"{url}/embeddings", body)
        profile = {**TEXT, **SIGMOID, "label": 0}
        (found,) = await _verdicts("llama_embeddings", url, profile, RESPONSES[0])
        assert found.detail["raw"] == direct["embedding"][0][0]
        assert abs(sum(value * value for value in direct["embedding"][0]) - 1) > 0.1
        (long,) = await _verdicts("llama_embeddings", url, profile, "far too long " * 2_000)
        assert long.detail["flags"] == ["truncated_response"]
