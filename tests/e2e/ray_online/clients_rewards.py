"""OpenRLHF's own executor, and our worker for ROLL with a stand-in for ROLL itself, in a Ray cluster with a pool, one of whose
actors is killed. Prints one line of JSON.

`clients_rewards.py PYTHON` runs in the environment of the clients; PYTHON has the server. `tiny_tokenizer` and `roll` lie in
tests/e2e/clients.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from openrlhf.utils.agent import SingleTurnAgentExecutor
from ray_cluster import SETTINGS, cluster, during_a_kill, pool
from rewardline.roll import RewardWorker
from roll.distributed.scheduler.protocol import DataProto
from tiny_tokenizer import tiny

ROWS = 63
PROMPT = "<|im_start|>user\nWhich number?<|im_end|>\n<|im_start|>assistant\n"
TOKENIZER = tiny()


class Engine:
    """One that says a number."""

    def __init__(self, at: int) -> None:
        self._text = said(at)

    async def generate(self, prompt_token_ids: list[int], sampling_params: Any, **_: Any) -> Any:
        ids = TOKENIZER(self._text, add_special_tokens=False)["input_ids"]
        output = SimpleNamespace(token_ids=ids, text=self._text, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def said(at: int) -> str:
    return f"so \\boxed{{{at % 9}}}<|im_end|>"


def by_openrlhf() -> list[float]:
    """The rewards of samples that are judged at once, by a file as users write it."""
    file = Path(tempfile.mkdtemp()) / "reward.py"
    file.write_text("from rewardline.openrlhf import reward\nreward_func = reward(verifier='math')\n")
    executor = SingleTurnAgentExecutor(str(file))
    params = SimpleNamespace(max_tokens=64, logprobs=None)

    async def judged() -> list[Any]:
        calls = (executor.execute(PROMPT, "7", params, 4096, TOKENIZER, Engine(at)) for at in range(ROWS))
        return await asyncio.gather(*calls)

    return [float(torch.as_tensor(output["reward"])) for output in asyncio.run(judged())]


def by_roll() -> list[float]:
    """The scores of a batch, by a worker of ROLL."""
    config = SimpleNamespace(
        reward_manager_config=[{"verifier": "math"}], model_args=SimpleNamespace(model_name_or_path="tiny")
    )
    worker = RewardWorker(config)
    worker.initialize(None)
    shape = {"add_special_tokens": False, "padding": True, "padding_side": "right", "return_tensors": "pt"}
    tensors = {
        "responses": TOKENIZER([said(at) for at in range(ROWS)], **shape)["input_ids"],
        "prompts": TOKENIZER(["Which number?"] * ROWS, **shape)["input_ids"],
    }
    columns = {"ground_truth": ["7"] * ROWS, "tag": ["deepmath_103k"] * ROWS}
    arrays = {name: np.array(values, dtype=object) for name, values in columns.items()}
    output = asyncio.run(worker.compute_rewards(DataProto.from_dict(tensors=tensors, non_tensors=arrays)))
    scores: list[float] = output.batch["scores"].tolist()
    return scores


def main(python: str) -> None:
    os.environ["REWARDLINE_URL"] = "ray://judges"
    outcomes: dict[str, Any] = {}
    with cluster(nodes=2) as made:
        os.environ["RAY_ADDRESS"] = made.address
        pool(python, "start", "judges", f"--python={python}", *(f"--env={key}={SETTINGS[key]}" for key in SETTINGS))
        for name, rewards in {"OpenRLHF": by_openrlhf, "ROLL": by_roll}.items():
            outcomes[name] = rewards()
            outcomes[f"{name} with a killed actor"] = during_a_kill("judges", rewards)
        pool(python, "stop", "judges")
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
