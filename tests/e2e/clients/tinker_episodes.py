"""tinker-cookbook's own renderer, tools and steps, with our environment and reward function. It prints the rewards."""

import asyncio
import json
import runpy
import sys
from pathlib import Path
from typing import Any

from rewardline.hook import Hook
from rewardline.tinker import VerifierEnv, conversation_reward
from tinker_cookbook import renderers
from tinker_cookbook.rl.problem_env import ProblemGroupBuilder
from tinker_cookbook.rl.rollout_presets import agentic
from tinker_cookbook.tool_use import build_agent_tool_env
from tiny_tokenizer import tiny

URL = sys.argv[1]
EXAMPLES = Path(__file__).parents[3] / "client" / "examples" / "tinker"
WANTED = [{"name": "add", "arguments": {"a": 2}}]
tokenizer = tiny()
renderer = renderers.get_renderer("qwen3", tokenizer)


def tokens(text: str) -> list[int]:
    return list(tokenizer.encode(f"{text}<|im_end|>", add_special_tokens=False))


async def stepped(env: VerifierEnv, text: str) -> Any:
    """The reward of a text. For an exception: its name."""
    observation, _ = await env.initial_observation()
    assert observation.length > 0
    try:
        result = await env.step(tokens(text))
    except Exception as error:  # noqa: BLE001 - which one is what is printed
        return type(error).__name__
    assert result.episode_done
    assert result.metrics["score"] == result.reward
    return result.reward


async def played(env: Any, *texts: str) -> Any:
    """The rewards of the turns; the last turn ends the episode. For an exception: its name."""
    await env.initial_observation()
    rewards = []
    try:
        for text in texts:
            result = await env.step(tokens(text))
            rewards.append(result.reward)
    except Exception as error:  # noqa: BLE001 - which one is what is printed
        return type(error).__name__
    assert result.episode_done
    assert result.metrics["score"] == rewards[-1]
    return rewards


def call(arguments: str) -> str:
    return f'<tool_call>\n{{"name": "add", "arguments": {arguments}}}\n</tool_call>'


async def main() -> None:
    math, calls = (Hook(verifier=name, url=URL) for name in ("math", "tool_call"))
    group = ProblemGroupBuilder(lambda: VerifierEnv(renderer, "2+2=", reference="4", hook=math), num_envs=2)
    right, wrong = await group.make_envs()
    form = Hook(verifier="think_format", url=URL, params={"preset": "deepseek"})
    lost = Hook(verifier="math", url="http://127.0.0.1:9", deadline_s=0.3)
    example = runpy.run_path(str(EXAMPLES / "arithmetic.py"))["environment"]
    calculator = runpy.run_path(str(EXAMPLES / "calculator.py"))
    asked = [{"role": "user", "content": "2+2="}]

    def agent(hook: Hook, reference: Any, **options: Any) -> Any:
        judged = conversation_reward(hook=hook, reference=reference, prompt=asked)
        return build_agent_tool_env(renderer, [calculator["add"]], asked, judged, **options)

    calling, done = call('{"a": 2, "b": 2}'), "It is \\boxed{4}."
    called = [{"name": "add", "arguments": {"a": 2, "b": 2}}]
    results = {
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
        "agents": {
            "called": await played(agent(calls, called), calling, done),
            "called_else": await played(agent(calls, called), call('{"a": 2, "b": 3}'), done),
            "called_in_vain": await played(agent(calls, []), calling, done),
            "answered": await played(agent(math, "4"), calling, done),
            "suffix": await played(agent(calls, called, rollout_config=agentic()), calling, done),
            "invalid": await played(agent(math, None), done),
            "lost": await played(agent(lost, "4"), done),
            "example": await played(calculator["environment"](renderer, 2, 2), calling, done),
        },
    }
    print(json.dumps(results))


asyncio.run(main())
