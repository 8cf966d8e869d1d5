"""SkyRL's own registry and base class with our environment, called from threads as SkyRL's generator does.

It prints the result of each step.
"""

import json
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import skyrl_gym
from omegaconf import OmegaConf
from skyrl_gym.metrics import aggregate_for_environment

EXAMPLES = Path(__file__).parents[3] / "client" / "examples"
URL, NOWHERE = sys.argv[1], "http://127.0.0.1:9"
PROMPT = [{"role": "user", "content": "2+2="}]
RIGHT, WRONG = "so \\boxed{4}<|im_end|>", "so \\boxed{5}<|im_end|>"
ROW = {"reward_spec": {"method": "rule", "ground_truth": "4"}, "extra_info": {"index": 7}, "data_source": "mine"}
COMPOSED = {"url": URL, "checks": [{"verifier": "math"}, {"verifier": "think_format"}], "components": ["math"]}
JUDGED = {"verifier": "math", "url": URL}
VOTING = {**JUDGED, "group": {"method": "majority", "size": 4}}

CALLED = '<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call><|im_end|>'
CALLED_ELSE = CALLED.replace("2", "3")
CALLS = {"url": URL, "verifier": "tool_call"}
CALLING = {**ROW, "reward_spec": {"method": "rule", "ground_truth": [{"name": "add", "arguments": {"a": 2}}]}}

play = runpy.run_path(str(EXAMPLES / "skyrl" / "play.py"))["play"]
"""The example, which registers the environment."""


def environment(config: Any, row: dict[str, Any] = ROW) -> Any:
    made = skyrl_gym.make("verifier", env_config=config, extras=row)
    made.init(PROMPT)
    return made


def played(config: Any, *actions: str, row: dict[str, Any] = ROW) -> Any:
    """The trajectory of these actions, as far as it goes, or the exception that ends the trainer's step."""
    made, steps = environment(config, row), []
    try:
        for action in actions:
            step = made.step(action)
            steps.append({name: step[name] for name in ("observations", "reward", "done")})
            if step["done"]:
                break
    except Exception as error:  # noqa: BLE001 - told by its name, as the trainer takes any
        return type(error).__name__
    finally:
        made.close()
    return {"steps": steps, "metrics": made.get_metrics()}


@dataclass
class Typed:
    """A configuration in the form of newer trainers."""

    verifier: str = "exact_match"
    recipe: str | None = None


def registered() -> list[Any]:
    """Environments with options from the registry alone, and with others in the configuration."""
    skyrl_gym.register(id="ours", entry_point="rewardline.skyrl:VerifierEnv", kwargs=JUDGED)
    rewards = []
    configurations: list[Any] = [{}, Typed()]
    for config in configurations:
        made = skyrl_gym.make("ours", env_config=config, extras=ROW)
        made.init(PROMPT)
        rewards.append(made.step(RIGHT)["reward"])
    return rewards


def forgotten(config: dict[str, Any]) -> Any:
    """A trajectory with a server that loses the interaction between two turns."""
    made = environment(config)
    steps = [made.step(WRONG)]
    made._interaction._id = "never-opened"
    steps.append(made.step(RIGHT))
    made.close()
    shown = [{name: step[name] for name in ("observations", "reward", "done")} for step in steps]
    return {"steps": shown, "metrics": made.get_metrics()}


def main() -> None:
    several = {**JUDGED, "max_turns": 3}
    with ThreadPoolExecutor(32) as threads:
        texts = [RIGHT if number % 2 else WRONG for number in range(64)]
        together = list(threads.map(lambda text: played(JUDGED, text)["steps"][0]["reward"], texts))
        votes = list(threads.map(lambda text: played(VOTING, text)["steps"][0]["reward"], [WRONG, WRONG, RIGHT, WRONG]))
        several_together = list(threads.map(lambda text: len(played(several, text, text, RIGHT)["steps"]), texts))
    lost = {"verifier": "math", "url": NOWHERE, "deadline_s": 0.3}
    right, wrong = played(JUDGED, RIGHT), played(JUDGED, WRONG)
    answers = {
        "example": [play(WRONG, WRONG, RIGHT), play(WRONG, WRONG, WRONG)],
        "right": right,
        "wrong": wrong,
        "aggregated": aggregate_for_environment("verifier", [right["metrics"], wrong["metrics"]]),
        "routed": played(
            OmegaConf.create({"url": URL}), "#### 4<|im_end|>", row={**ROW, "data_source": "openai/gsm8k"}
        ),
        "composed": played(OmegaConf.create(COMPOSED), RIGHT),
        "registered": registered(),
        "limited": played(JUDGED, WRONG, RIGHT, row={**ROW, "max_turns": 9}),
        "lost": played(lost, RIGHT),
        "filled": played({**lost, "on_failed": -1.0}, RIGHT),
        "invalid": played(JUDGED, RIGHT, row={}),
        "solved": played(several, WRONG, RIGHT, WRONG),
        "exhausted": played(several, WRONG, WRONG, WRONG, WRONG),
        "several_lost": played({**lost, "max_turns": 3}, RIGHT),
        "several_invalid": played(several, RIGHT, row={}),
        "several_filled": played({**lost, "max_turns": 3, "on_failed": -1.0}, RIGHT),
        "added": played({**several, "trajectory": "sum", "success_threshold": 2.0}, RIGHT, WRONG, RIGHT),
        "last": played({**several, "success_threshold": 2.0}, RIGHT, WRONG, RIGHT),
        "forgotten": forgotten(several),
        "called": [played(CALLS, text, row=CALLING)["steps"][0]["reward"] for text in (CALLED, CALLED_ELSE, WRONG)],
        "called_later": [
            each["reward"] for each in played({**CALLS, "max_turns": 2}, CALLED_ELSE, CALLED, row=CALLING)["steps"]
        ],
        "votes": votes,
        "together": together,
        "several_together": several_together,
    }
    print(f"\n{json.dumps(answers)}")


main()
