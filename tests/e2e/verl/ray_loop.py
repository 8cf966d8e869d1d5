"""Real verl's reward loop on a local Ray: workers in processes of their own, as a trainer has them.

`ray_loop.py URL TOKENIZER_FOLDER` prints lines of JSON: `{"begun": ...}` when the batch begins during which the server may
be restarted, and last what came of everything.
"""

import json
import os
import sys
from typing import Any

import ray
from verl.experimental.reward_loop import RewardLoopManager
from verl.utils import hf_tokenizer
from verl_batches import batch_of, config_of, requests_to, row

SLOW = "```python\nimport time\ntime.sleep(0.4)\nprint({answer})\n```"
TESTS = json.dumps({"inputs": [""], "outputs": ["7"]})


def scored(loop: RewardLoopManager, batch: Any) -> Any:
    """The result of `compute_rm_score` for a batch: rewards and columns, or the name of the exception that ended it."""
    try:
        answer = loop.compute_rm_score(batch)
    except ray.exceptions.RayTaskError as error:
        return type(error.cause).__name__
    columns = {name: [float(each) for each in values] for name, values in answer.non_tensor_batch.items()}
    return {"rewards": answer.batch["rm_scores"].sum(1).tolist(), "columns": columns}


def main(url: str, tokenizer: str) -> None:
    os.environ["REWARDLINE_URL"] = url
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    known = hf_tokenizer(tokenizer)
    batch = batch_of(known, [row(f"#### {at % 9}", "7") for at in range(63)])
    mistaken = batch_of(known, [row("#### 7", "7"), row("#### 7", "seven or so")])
    outcomes = {}

    loop = RewardLoopManager(
        config_of(tokenizer, "reward.num_workers=2", "reward.custom_reward_function.path=pkg://rewardline.verl")
    )
    outcomes["function"] = counted(url, loop, batch)
    outcomes["mistake"] = scored(loop, mistaken)
    for worker in loop.reward_loop_workers:
        ray.kill(worker)  # the next actors take their names

    loop = RewardLoopManager(config_of(tokenizer, "reward.num_workers=2", "reward.reward_manager.name=rewardline"))
    outcomes["manager"] = counted(url, loop, batch)
    slow = batch_of(known, [row(SLOW.format(answer=at % 9), TESTS, "codecontests") for at in range(24)])
    print(json.dumps({"begun": len(slow)}), flush=True)
    outcomes["restarted"] = scored(loop, slow)
    print(json.dumps(outcomes))


def counted(url: str, loop: RewardLoopManager, batch: Any) -> Any:
    before = requests_to(url)
    outcome = scored(loop, batch)
    return {**outcome, "requests": requests_to(url) - before}


if __name__ == "__main__":
    main(*sys.argv[1:])
