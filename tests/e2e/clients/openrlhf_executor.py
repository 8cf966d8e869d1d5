"""OpenRLHF's own executors of one turn and of several, with a fake engine, our reward function, our agent and our door.

It prints the result of each sample.
"""

import asyncio
import json
import runpy
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from openrlhf.utils.agent import SingleTurnAgentExecutor
from rewardline.openrlhf import response_of
from tiny_tokenizer import tiny

EXAMPLES = Path(__file__).parents[3] / "client" / "examples"
URL, NOWHERE = sys.argv[1], "http://127.0.0.1:9"
PROMPT = "<|im_start|>user\nIt is not \\boxed{4}. 2+2=<|im_end|>\n<|im_start|>assistant\n"
FOUR = json.dumps({"reference": "four", "verifier": "exact_match"})
RIGHT, WRONG = "so \\boxed{4}<|im_end|>", "so \\boxed{5}<|im_end|>"
CALLED = '<tool_call>\n{"name": "add", "arguments": {"a": 2}}\n</tool_call><|im_end|>'
CALLED_ELSE = CALLED.replace("2", "3")
WANTED = json.dumps([{"name": "add", "arguments": {"a": 2}}])
TOKENIZER = tiny()


class Engine:
    """An engine that gives its answers in turn."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)

    async def generate(self, prompt_token_ids: list[int], sampling_params: Any, **_: Any) -> Any:
        text = self.texts.pop(0)
        ids = TOKENIZER(text, add_special_tokens=False)["input_ids"]
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=ids, text=text, finish_reason="stop", logprobs=None)])


def file(options: str) -> str:
    """A file in the form that a user writes."""
    path = Path(tempfile.mkdtemp()) / "reward.py"
    path.write_text(f"from rewardline.openrlhf import reward\nreward_func = reward({options})\n")
    return str(path)


async def judged(url: str | list[str], text: str, label: str = "4", max_length: int = 4096) -> dict[str, Any]:
    params = SimpleNamespace(max_tokens=64, logprobs=None)
    executor = SingleTurnAgentExecutor(url)
    return dict(await executor.execute(PROMPT, label, params, max_length, TOKENIZER, Engine(text)))


async def played(options: str, *texts: str, label: str = "4") -> Any:
    """The result of a trajectory of several turns, or the exception that ends the run."""
    path = Path(tempfile.mkdtemp()) / "agent.py"
    path.write_text(
        f"from rewardline.openrlhf_agent import agent_executor\nAgentExecutor = agent_executor({options})\n"
    )
    return await trajectory(runpy.run_path(str(path))["AgentExecutor"](), *texts, label=label)


async def trajectory(executor: Any, *texts: str, label: str = "4") -> Any:
    params = SimpleNamespace(max_tokens=64, logprobs=None)
    try:
        output = await executor.execute(PROMPT, label, params, 4096, TOKENIZER, Engine(*texts))
    except Exception as error:  # noqa: BLE001 - told by its name, as the trainer takes any
        return type(error).__name__
    text = TOKENIZER.decode(output["observation_tokens"], skip_special_tokens=False)
    logs = {name: value.item() for name, value in output["extra_logs"].items()}
    numbers = {"reward": output["reward"], "score": output["scores"].item(), "turns": len(output["action_ranges"])}
    return {**numbers, "logs": logs, "asked": text.count("<|im_start|>user")}


def numbers(output: dict[str, Any]) -> Any:
    """Make tensors of lists and tensors, as OpenRLHF's samples generator does, which needs vLLM."""
    if output["reward"] is None:
        return None
    reward, score = torch.tensor([output["reward"]]), torch.tensor([output["scores"]])
    logs = {
        name: torch.tensor([torch.as_tensor(value).flatten()[0].item()]) for name, value in output["extra_logs"].items()
    }
    numbers = {"reward": reward.flatten().tolist(), "score": score[0].item()}
    return {**numbers, "logs": {name: value.tolist() for name, value in logs.items()}}


async def one_turn() -> dict[str, Any]:
    ours = file(f"verifier='math', url={URL!r}")
    routed = file(f"url={URL!r}")
    lost = file(f"verifier='math', url={NOWHERE!r}, deadline_s=3.0")
    calls = file(f"verifier='tool_call', url={URL!r}")
    filled = file(f"verifier='math', url={NOWHERE!r}, deadline_s=0.3, on_failed=-1.0")
    voting = file(f"verifier='math', url={URL!r}, group={{'method': 'majority', 'size': 4}}")
    shaped = file(f"recipe='slime.dapo', url={URL!r}")
    together = await asyncio.gather(*(judged(ours, RIGHT if index % 2 else WRONG) for index in range(64)))
    return {
        "right": numbers(await judged(ours, RIGHT)),
        "wrong": numbers(await judged(ours, WRONG)),
        "cut_prompt": numbers(await judged(ours, "four<|im_end|>", FOUR, max_length=64 + 48)),
        "label": numbers(await judged(routed, RIGHT, json.dumps({"ground_truth": "4", "tag": "deepmath_103k"}))),
        "named": numbers(await judged(ours, "four<|im_end|>", FOUR)),
        "named_recipe": numbers(await judged(ours, RIGHT, json.dumps({"reference": "4", "recipe": "roll.math_rule"}))),
        "shaped": numbers(await judged(shaped, "Answer: 5<|im_end|>")),
        "filled": numbers(await judged(filled, RIGHT)),
        "called": [numbers(await judged(calls, text, WANTED))["reward"] for text in (CALLED, CALLED_ELSE, WRONG)],
        "example": numbers(await judged(str(EXAMPLES / "openrlhf" / "reward.py"), RIGHT)),
        "lost": numbers(await judged(lost, RIGHT)),
        "invalid": numbers(await judged(ours, RIGHT, "")),
        "votes": [
            float(output["reward"])
            for output in await asyncio.gather(*(judged(voting, text) for text in (WRONG, WRONG, RIGHT, WRONG)))
        ],
        "together": [float(output["reward"]) for output in together],
    }


async def several_turns() -> dict[str, Any]:
    ours = f"verifier='math', url={URL!r}"
    lost = f"verifier='math', url={NOWHERE!r}, deadline_s=0.3"
    example = runpy.run_path(str(EXAMPLES / "openrlhf" / "agent.py"))["AgentExecutor"]
    return {
        "example": await trajectory(example(), WRONG, RIGHT),
        "solved": await played(ours, WRONG, RIGHT),
        "exhausted": await played(ours, WRONG, WRONG, WRONG),
        "added": await played(
            f"interaction={{'trajectory': 'sum', 'success_threshold': 2.0}}, {ours}", RIGHT, WRONG, RIGHT
        ),
        "last": await played(f"interaction={{'success_threshold': 2.0}}, {ours}", RIGHT, WRONG, RIGHT),
        "lost": await played(lost, RIGHT),
        "filled": await played(f"{lost}, on_failed=-1.0", RIGHT),
        "invalid": await played(ours, RIGHT, label=""),
        "called": await played(f"verifier='tool_call', url={URL!r}", CALLED_ELSE, CALLED, label=WANTED),
        "together": [each["turns"] for each in await asyncio.gather(*(played(ours, WRONG, RIGHT) for _ in range(32)))],
    }


def responses() -> list[str]:
    """The judged responses of queries in which the prompt is whole, cut, cut within a letter, holds its own end
    twice, or is missing.
    """
    asked = "Say four. Question: what is the sum of two and two? Question: what is the sum of two and two?"
    found = [
        response_of(f"{begin} four</s>", asked) for begin in (asked, asked[20:], f"\ufffd{asked[20:]}", f" {asked}")
    ]
    found.append(response_of(f"{asked.replace('Say', 'say')} four", asked))
    try:
        response_of("another text", asked)
    except ValueError as error:
        found.append(type(error).__name__)
    return found


async def by_http() -> dict[str, Any]:
    door = f"{URL}/compat/openrlhf/get_reward?verifier=math"
    doors = [numbers(await judged([door, door], text)) for text in (RIGHT, WRONG)]
    return {
        "door_right": numbers(await judged(door, RIGHT)),
        "door_wrong": numbers(await judged(door, WRONG)),
        "doors": doors,
    }


async def main() -> None:
    print(json.dumps({**await one_turn(), "turns": await several_turns(), "responses": responses(), **await by_http()}))


asyncio.run(main())
