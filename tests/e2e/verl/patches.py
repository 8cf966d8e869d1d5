"""Real verl's reward loop on a local Ray, with rewards of the verifier `repository`.

`patches.py URL TOKENIZER_FOLDER ROWS COMMAND...` prints the rewards and columns of the rows in a file of JSON lines
`[response, task]`. COMMAND is that of the example.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import ray
from ray_loop import scored
from verl.experimental.reward_loop import RewardLoopManager
from verl.utils import hf_tokenizer
from verl_batches import batch_of, config_of, row


def main(url: str, tokenizer: str, file: str, *command: str) -> Any:
    os.environ["REWARDLINE_URL"] = url
    rows = [json.loads(line) for line in Path(file).read_text().splitlines()]
    batch = batch_of(hf_tokenizer(tokenizer), [row(response, json.dumps(task), "tasks") for response, task in rows])
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    settings = [each for each in command if "=" in each]
    settings += [f"actor_rollout_ref.model.path={tokenizer}", "reward.num_workers=1"]
    return scored(RewardLoopManager(config_of(tokenizer, *settings)), batch)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
