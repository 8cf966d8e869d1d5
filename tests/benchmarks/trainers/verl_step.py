"""`verl_step.py hook|own STEP.json`: a step through verl's reward loop, one `run_single` per sample, all at once.

`hook` is our manager; `own` is verl's naive manager with its Math-Verify scorer. The tokenizer has one token per byte
and is made here.
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "e2e" / "verl"))

import tokenizer as bytewise
from verl.trainer.ppo.reward import load_reward_manager
from verl.utils import hf_tokenizer
from verl_batches import batch_of, config_of

_OWN = """
from verl.utils.reward_score import math_verify

def compute_score(data_source, solution_str, ground_truth, extra_info=None, **rest):
    return math_verify.compute_score(solution_str, ground_truth)
"""


async def judged(config: Any, tokens: Any, batch: Any) -> tuple[list[float], dict[str, float]]:
    manager = load_reward_manager(config, tokens)  # verl keeps the loop that runs when it is made
    began, began_cpu = time.perf_counter(), time.process_time()
    results = await asyncio.gather(*(manager.run_single(batch[at : at + 1]) for at in range(len(batch))))
    spent = {"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - began_cpu}
    return [float(each["reward_score"]) for each in results], spent


def main(way: str, file: str) -> None:
    samples = json.loads(Path(file).read_text())
    rows = [
        {"response": each["response"], "ground_truth": each["gold"], "data_source": "gsm8k", "prompt": each["prompt"]}
        for each in samples
    ]
    with tempfile.TemporaryDirectory() as folder:
        bytewise.main(folder)
        own = Path(folder) / "own.py"
        own.write_text(_OWN)
        overrides = {
            "hook": ("reward.reward_manager.name=rewardline", "+reward.reward_kwargs.verifier=math"),
            "own": (f"reward.custom_reward_function.path={own}",),
        }[way]
        tokens = hf_tokenizer(folder)
        rewards, spent = asyncio.run(judged(config_of(folder, *overrides), tokens, batch_of(tokens, rows)))
    sys.stdout.write(json.dumps({**spent, "rewards": rewards}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
