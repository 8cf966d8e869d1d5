"""tinker-cookbook's own renderer and rollouts of one turn, with our environment. Prints the rewards."""

import asyncio
import json
import runpy
import sys
from pathlib import Path
from typing import Any

from rewardline.hook import Hook
from rewardline.tinker import VerifierEnv
from tinker_cookbook import renderers
from tinker_cookbook.rl.problem_env import ProblemGroupBuilder
from tiny_tokenizer import tiny

URL = sys.argv[1]
EXAMPLE = Path(__file__).parents[3] / "client" / "examples" / "tinker" / "arithmetic.py"
WANTED = [{"name": "add", "arguments": {"a": 2}}]
tokenizer = tiny()
renderer = renderers.get_renderer("qwen3", tokenizer)


async def stepped(env: VerifierEnv, text: str) -> Any:
    """The reward of what is said; an exception as its name."""
    observation, _ = await env.initial_observation()
    assert observation.length > 0
    try:
        result = await env.step(tokenizer.encode(f"{text}<|im_end|>", add_special_tokens=False))
    except Exception as error:  # noqa: BLE001 - which one is what is printed
        return type(error).__name__
    assert result.episode_done
    assert result.metrics["score"] == result.reward
    return result.reward


def call(arguments: str) -> str:
    return f'<tool_call>\n{{"name": "add", "arguments": {arguments}}}\n</tool_call>'


async def main() -> None:
    math, calls = (Hook(verifier=name, url=URL) for name in ("math", "tool_call"))
    group = ProblemGroupBuilder(lambda: VerifierEnv(renderer, "2+2=", reference="4", hook=math), num_envs=2)
    right, wrong = await group.make_envs()
    form = Hook(verifier="think_format", url=URL, params={"preset": "deepseek"})
    lost = Hook(verifier="math", url="http://127.0.0.1:9", deadline_s=0.3)
    example = runpy.run_path(str(EXAMPLE))["environment"]
    told = {
        "math": [await stepped(right, "It is \\boxed{4}."), await stepped(wrong, "It is \\boxed{5}.")],
        "thought": await stepped(VerifierEnv(renderer, "2+2=", hook=form), "<think>2 and 2</think>4"),
        "calls": [
            await stepped(VerifierEnv(renderer, "2+2=", reference=wanted, hook=calls), text)
            for wanted, text in (
                (WANTED, call('{"a": 2}')),
                (WANTED, call('{"a": 3}')),
                (WANTED, call('{"a": ')),
                (WANTED, "I call nothing."),
                ([], call('{"a": 2}')),
                ([], call('{"a": ')),
                ([], "I call nothing."),
            )
        ],
        "invalid": await stepped(VerifierEnv(renderer, "2+2=", hook=math), "4"),
        "lost": await stepped(VerifierEnv(renderer, "2+2=", reference="4", hook=lost), "4"),
        "example": await stepped(example(renderer, 2, 2), "\\boxed{4}"),
    }
    print(json.dumps(told))


asyncio.run(main())
