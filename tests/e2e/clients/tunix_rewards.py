"""google-tunix's own reward manager with our functions. Prints the rewards."""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rewardline.tunix import reward
from tunix.rl.algorithm_config import AlgorithmConfig
from tunix.rl.reward_manager import SequenceRewardManager

URL = sys.argv[1]
EXAMPLE = Path(__file__).parents[3] / "client" / "examples" / "tunix" / "rewards.py"


def rewards(functions: list[Any], completions: list[str], answers: Any) -> Any:
    """The sum of the functions, for each completion; an exception as its name."""
    manager = SequenceRewardManager(reward_fns=functions, algo_config=AlgorithmConfig())
    try:
        found = manager(prompts=["2+2="] * len(completions), completions=completions, answer=answers, mode="train")
    except Exception as error:  # noqa: BLE001 - which one is what is printed
        return type(error).__name__
    return np.asarray(found["rewards"]).tolist()


math = reward(name="math", verifier="math", url=URL)
form = reward(name="form", verifier="think_format", reference=None, params={"preset": "deepseek"}, url=URL)
said = ["<think>2+2</think>\\boxed{4}", "\\boxed{4}", "\\boxed{5}"]
call = '<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call>'
wanted = json.dumps([{"name": "add", "arguments": {"a": 2}}])
print(
    json.dumps(
        {
            "sum": rewards([math, form], said, ["4"] * 3),
            "array": rewards([math], said, np.array(["4", "4", "4"])),
            "calls": rewards([reward(verifier="tool_call", url=URL)], [call, "I call nothing."], [wanted] * 2),
            "invalid": rewards([reward(verifier="maths", url=URL)], ["4"], ["4"]),
            "lost": rewards([reward(verifier="math", url="http://127.0.0.1:9", deadline_s=0.3)], ["4"], ["4"]),
            "example": rewards(runpy.run_path(str(EXAMPLE))["reward_fns"], said, ["4"] * 3),
        }
    )
)
