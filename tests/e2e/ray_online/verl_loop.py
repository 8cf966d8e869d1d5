"""verl's own reward loop in a Ray cluster with a pool, one of whose actors is killed. Prints one line of JSON.

`verl_loop.py TOKENIZER_FOLDER PYTHON` runs in verl's environment; PYTHON has the server. `verl_batches` lies in tests/e2e/verl.
"""

import json
import os
import sys
from functools import partial
from typing import Any

import ray
from ray_cluster import SETTINGS, cluster, during_a_kill, pool
from verl.experimental.reward_loop import RewardLoopManager
from verl.utils import hf_tokenizer
from verl_batches import batch_of, config_of, row

ROWS = 63


def rewards_of(loop: RewardLoopManager, batch: Any) -> list[float]:
    answer = loop.compute_rm_score(batch)
    rewards: list[float] = answer.batch["rm_scores"].sum(1).tolist()
    return rewards


def main(tokenizer: str, python: str) -> None:
    os.environ["REWARDLINE_URL"] = "ray://judges"
    outcomes: dict[str, Any] = {}
    with cluster(nodes=2) as made:
        os.environ["RAY_ADDRESS"] = made.address
        settings = [f"--env={name}={value}" for name, value in SETTINGS.items()]
        pool(python, "start", "judges", f"--python={python}", *settings)
        batch = batch_of(hf_tokenizer(tokenizer), [row(f"#### {at % 9}", "7") for at in range(ROWS)])
        names = {
            "manager": "reward.reward_manager.name=rewardline",
            "function": "reward.custom_reward_function.path=pkg://rewardline.verl",
        }
        for name, override in names.items():
            loop = RewardLoopManager(config_of(tokenizer, "reward.num_workers=2", override))
            outcomes[name] = rewards_of(loop, batch)
            outcomes[f"{name} with a killed actor"] = during_a_kill("judges", partial(rewards_of, loop, batch))
            for worker in loop.reward_loop_workers:
                ray.kill(worker)  # the next actors take their names
        pool(python, "stop", "judges")
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
