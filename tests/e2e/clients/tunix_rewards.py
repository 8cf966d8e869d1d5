"""google-tunix's own reward manager with our functions. It prints the rewards."""

import importlib
import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from rewardline.tunix import reward, task_reward, trajectory
from rewardline.tunix_environment import VerifierToolEnvironment
from tunix.cli.config import HyperParameters
from tunix.rl.agentic.environments.task_environment import TaskEnvironment
from tunix.rl.agentic.tools.base_tool import BaseTool, ToolOutput
from tunix.rl.algorithm_config import AlgorithmConfig
from tunix.rl.reward_manager import SequenceRewardManager

URL = sys.argv[1]
EXAMPLE = Path(__file__).parents[3] / "client" / "examples" / "tunix" / "rewards.py"


def rewards(functions: list[Any], completions: list[str], answers: Any) -> Any:
    """The sum of the functions for each completion. For an exception: its name."""
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


def found_by_command() -> list[str]:
    """The names of the functions that tunix's command line takes from the example, as a file and as a module."""
    sys.path.insert(0, str(EXAMPLE.parent))
    found = []
    for named in (str(EXAMPLE), importlib.import_module("rewards").__name__):
        config = SimpleNamespace(config={"reward_functions": [named], "verl_compatible": False})
        found += sorted(function.__name__ for function in HyperParameters.obtain_reward_fn(config))
    return found


class Add(BaseTool):
    """Adds two numbers."""

    def get_json_schema(self) -> dict[str, Any]:
        return {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {}}}

    def apply(self, a: int, b: int) -> Any:
        return ToolOutput(name="add", output=str(a + b))


def played(*actions: Any, max_steps: int = 5, **options: Any) -> Any:
    """The reward of each step. For an exception: its name."""
    task = {"question": "2+2?", "answer": options.pop("answer", "4")}
    environment = VerifierToolEnvironment(task, {"add": Add}, max_steps=max_steps, url=URL, **options)
    environment.reset()
    try:
        return [environment.step(action)[1] for action in actions]
    except Exception as error:  # noqa: BLE001 - which one is what is printed
        return type(error).__name__


def made(**arguments: int) -> list[dict[str, Any]]:
    return [{"id": "1", "type": "function", "function": {"name": "add", "arguments": json.dumps(arguments)}}]


REQUIRED: dict[str, Any] = {"verifier": "trajectory", "reference": None}
PARAMS = {"required": [{"name": "add", "arguments": {"a": 2, "b": 2}}]}
finish = [{"id": "2", "function": {"name": "finish", "arguments": {"response": "\\boxed{4}"}}}]


def by_task(said: str) -> Any:
    environment = TaskEnvironment({"question": "2+2?", "answer": "4"}, reward_fn=task_reward(verifier="math", url=URL))
    environment.reset()
    return environment.step(said)[1]


agents = {
    "right": played(made(a=2, b=2), "It is 4.", params=PARAMS, **REQUIRED),
    "wrong": played(made(a=2, b=3), "It is 4.", params=PARAMS, **REQUIRED),
    "silent": played("It is 4.", params=PARAMS, **REQUIRED),
    "endless": played(made(a=2, b=2), made(a=2, b=2), max_steps=2, params=PARAMS, **REQUIRED),
    "finished": played(made(a=2, b=2), finish, verifier="math"),
    "invalid": played("4", verifier="maths"),
    "tasks": [by_task("\\boxed{4}"), by_task("\\boxed{5}")],
    "handed_on": trajectory(["2+2?"] * 2, ["I add."] * 2, trajectory_rewards=[1.0, 0.0], answer=["4"] * 2),
}
print(
    json.dumps(
        {
            "sum": rewards([math, form], said, ["4"] * 3),
            "array": rewards([math], said, np.array(["4", "4", "4"])),
            "calls": rewards([reward(verifier="tool_call", url=URL)], [call, "I call nothing."], [wanted] * 2),
            "invalid": rewards([reward(verifier="maths", url=URL)], ["4"], ["4"]),
            "lost": rewards([reward(verifier="math", url="http://127.0.0.1:9", deadline_s=0.3)], ["4"], ["4"]),
            "found": found_by_command(),
            "agents": agents,
            "example": rewards(runpy.run_path(str(EXAMPLE))["reward_fns"], said, ["4"] * 3),
        }
    )
)
