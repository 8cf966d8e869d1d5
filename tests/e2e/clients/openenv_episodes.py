"""OpenEnv's own client against our environments. It prints the results."""

import asyncio
import json
import sys
from typing import Any

from openenv.core.generic_client import GenericAction, GenericEnvClient

URL = sys.argv[1]
CALL = {"type": "function", "function": {"name": "add", "arguments": {"a": 7, "b": 8}}}


def sync_episode() -> list[Any]:
    """An episode with a wrong answer, its feedback, and a right answer."""
    with GenericEnvClient(base_url=f"{URL}/compat/openenv/verifier/math").sync() as env:
        first = env.reset(prompt="7 times 8?", reference="56", max_turns=3)
        wrong = env.step({"message": "\\boxed{55}"})
        state = env.state()
        right = env.step(GenericAction(message="\\boxed{56}"))
        return [
            [first.observation["prompt"], first.reward, first.done],
            [wrong.reward, wrong.done, bool(wrong.observation["feedback"])],
            [state["step_count"], state["state"]],
            [right.reward, right.done, right.observation["score"]],
        ]


async def calls() -> list[Any]:
    """The rewards of an action with calls and of one without, and the error of one that cannot be judged."""
    seen: list[Any] = []
    async with GenericEnvClient(base_url=f"{URL}/compat/openenv/verifier/tool_call") as env:
        for action in ({"tool_calls": [CALL]}, {"message": "15"}, {"nothing": 1}):
            await env.reset(reference=json.dumps([CALL["function"]]))
            try:
                seen.append((await env.step(action)).reward)
            except RuntimeError as error:
                seen.append(str(error))
    return seen


print(json.dumps({"episode": sync_episode(), "calls": asyncio.run(calls())}))
