"""Our environment for NeMo-RL as an actor of real Ray, with a stand-in for NeMo-RL itself.

It prints the result of each step, or whether NeMo-RL would take its exception for an error of the infrastructure.
"""

import json
import sys
from pathlib import Path
from typing import Any

import ray
import torch
import yaml
from nemo_rl.environments.utils import create_env
from rewardline.nemo_rl import register

EXAMPLES = Path(__file__).parents[3] / "client" / "examples"
URL, NOWHERE = sys.argv[1], "http://127.0.0.1:9"
RIGHT, WRONG = "so \\boxed{4}", "so \\boxed{5}"


def log(text: str) -> list[dict[str, Any]]:
    ids = torch.tensor([1, 2, 3])
    asked = {"role": "user", "content": "2+2=", "token_ids": ids}
    return [asked, {"role": "assistant", "content": text, "token_ids": ids, "generation_logprobs": ids.float()}]


def judged(environment: Any, texts: list[str], metadata: list[Any] | None = None) -> Any:
    given = [{"ground_truth": "4"} for _ in texts] if metadata is None else metadata
    try:
        step = ray.get(environment.step.remote([log(text) for text in texts], given))
    except Exception as error:  # noqa: BLE001 - told by its name, as the trainer takes any
        return [isinstance(error, (ConnectionError, TimeoutError)), type(error).__name__]
    rewards = step.rewards
    named = (
        {name: tensor.tolist() for name, tensor in rewards.items()} if isinstance(rewards, dict) else rewards.tolist()
    )
    return {
        "rewards": named,
        "done": step.terminateds.tolist(),
        "observations": [each["content"] for each in step.observations],
        "answers": step.answers,
        "lengths": sorted({len(step.observations), len(step.metadata), len(step.next_stop_strings)}),
    }


def main() -> None:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    register()
    register()
    ours = {"url": URL, "verifier": "math"}
    lost = {"url": NOWHERE, "verifier": "math", "deadline_s": 0.3}
    configurations = {
        "ours": ours,
        "routed": {"url": URL, "num_workers": 8},
        "lost": lost,
        "filled": {**lost, "on_failed": -1.0},
        "both": {"url": URL, "recipe": "think_math", "components": ["math", "think_format"]},
    }
    made = {name: create_env("verifier", {"verifier": options}) for name, options in configurations.items()}
    calls = [made["ours"].step.remote([log(RIGHT if n % 2 else WRONG)], [{"ground_truth": "4"}]) for n in range(256)]
    batch = {"rewards": torch.tensor([1.0, 0.0]), "is_end": torch.tensor([True, False])}
    processed, metrics = ray.get(made["ours"].global_post_process_and_metrics.remote(batch))
    example = create_env("verifier", yaml.safe_load((EXAMPLES / "nemo_rl" / "grpo_verifier.yaml").read_text())["env"])
    answers = {
        "example": judged(example, [RIGHT])["rewards"],
        "judged": judged(made["ours"], [RIGHT, WRONG]),
        "routed": judged(made["routed"], [RIGHT], [{"ground_truth": "4", "tag": "deepmath_103k"}]),
        "empty": judged(made["ours"], []),
        "whole": judged(made["ours"], [RIGHT, WRONG] * 1024)["rewards"] == [1.0, 0.0] * 1024,
        "components": judged(made["both"], [f"<think>2+2</think>{RIGHT}", WRONG]),
        "lost": judged(made["lost"], [RIGHT]),
        "filled": judged(made["filled"], [RIGHT]),
        "invalid": judged(made["ours"], [RIGHT], [None]),
        "one_by_one": [step.rewards.item() for step in ray.get(calls)] == [0.0, 1.0] * 128,
        "metrics": [processed["rewards"].tolist(), metrics],
    }
    print(json.dumps(answers))
    ray.shutdown()


main()
