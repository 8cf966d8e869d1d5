"""ms-swift's own path from samples to rewards, with our plugin. It prints the rewards."""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import torch
from rewardline.ms_swift import orm
from swift.rewards import orms
from swift.rl_core.data import GRPOSample
from swift.rl_core.grpo_algorithm import compute_rewards_per_func, compute_std_for_dynamic_sampling

URL = sys.argv[1]
EXAMPLE = Path(__file__).parents[3] / "client" / "examples" / "ms_swift" / "plugin.py"
ASKED = {"role": "user", "content": "2+2="}
TOLD = {"role": "tool", "content": "4"}
WANTED = json.dumps([{"name": "add", "arguments": {"a": 2}}])


def sample(solution: str, *said: Any) -> GRPOSample:
    messages = [ASKED, *({"role": "assistant", "content": one} if isinstance(one, str) else one for one in said)]
    return GRPOSample(messages=messages, extra={"solution": solution})


def rewards(kind: Any, *samples: GRPOSample) -> Any:
    """The rewards as swift's trainer gets them. For an exception: its name."""
    try:
        found = compute_rewards_per_func(list(samples), [kind(args=None)], [None], torch.device("cpu"))
    except Exception as error:  # noqa: BLE001 - which one is what is printed
        return type(error).__name__
    return found[:, 0].tolist()


def calling(arguments: str) -> list[Any]:
    """Calls in swift's own roles, and as chat."""
    function = {"name": "add", "arguments": arguments}
    return [
        {"role": "tool_call", "content": json.dumps({**function, "arguments": json.loads(arguments)})},
        {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": function}]},
    ]


def spread(*values: float) -> float:
    """The deviation that swift computes for a group, if its only reward function gave these rewards."""
    return float(compute_std_for_dynamic_sampling(torch.tensor(values)[:, None], torch.ones(1), len(values))[0])


def abstaining() -> str | None:
    try:
        orm(verifier="math", on_failed="abstain")
    except ValueError as error:
        return str(error)
    return None


math, calls = orm(verifier="math", url=URL), orm(verifier="tool_call", url=URL)
swift_style, chat_style = calling('{"a": 2}')
results = {
    "math": rewards(math, sample("4", "It is \\boxed{4}."), sample("4", "It is \\boxed{5}.")),
    "behind_a_call": rewards(math, sample("4", swift_style, TOLD, "It is \\boxed{4}.")),
    "calls": rewards(
        calls,
        sample(WANTED, swift_style, TOLD, "Done."),
        sample(WANTED, chat_style, TOLD, "Done."),
        sample(WANTED, calling('{"a": 3}')[0], TOLD, "Done."),
        sample(WANTED, "I call nothing."),
        sample("[]", chat_style, TOLD, "Done."),
    ),
    "invalid": rewards(orm(verifier="maths", url=URL), sample("4", "4")),
    "none_is_zero": spread(torch.nan, 1.0) == spread(0.0, 1.0),
    "abstaining": abstaining(),
    "lost": rewards(orm(verifier="math", url="http://127.0.0.1:9", deadline_s=0.3), sample("4", "4")),
}
runpy.run_path(str(EXAMPLE))
results["example"] = rewards(orms["rewardline"], sample("4", "It is \\boxed{4}."))
print(json.dumps(results))
