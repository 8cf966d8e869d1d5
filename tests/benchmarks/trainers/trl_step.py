"""`trl_step.py hook|own STEP.json`: the rewards of a step as TRL requests them, by our function or by TRL's own."""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from rewardline.trl import reward_func
from trl.rewards import accuracy_reward


def main(way: str, file: str) -> None:
    samples = json.loads(Path(file).read_text())
    columns: dict[str, Any] = {
        "prompts": [[{"role": "user", "content": each["prompt"]}] for each in samples],
        "completions": [[{"role": "assistant", "content": each["response"]}] for each in samples],
        "completion_ids": [[]] * len(samples),
        "solution": [each["gold"] for each in samples],
    }
    function: Any = reward_func("math") if way == "hook" else accuracy_reward
    began, began_cpu = time.perf_counter(), time.process_time()
    rewards = asyncio.run(function(**columns)) if way == "hook" else function(**columns)
    spent = {"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - began_cpu}
    sys.stdout.write(json.dumps({**spent, "rewards": rewards}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
