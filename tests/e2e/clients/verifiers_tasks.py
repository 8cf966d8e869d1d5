"""Prime's own tasks and traces with our rewards. Their `Rubric`, which the package no longer has, calls functions the
same way.

It prints the content of each trace.
"""

import asyncio
import importlib
import json
import runpy
import sys
from pathlib import Path
from typing import Any

from rewardline.always_reward import Unjudged
from rewardline.hook import Hook
from rewardline.verifiers import Rewarded, rubric_function

EXAMPLES = Path(__file__).parents[3] / "client" / "examples"
vf: Any = importlib.import_module("verifiers.v1")
URL, NOWHERE = sys.argv[1], "http://127.0.0.1:9"
RIGHT, WRONG = "so \\boxed{4}", "so \\boxed{5}"


class Data(vf.TaskData):
    answer: str | None = None
    tag: str | None = None


class Judged(Rewarded, vf.Task[Data]):
    rewardline = Hook(verifier="math", url=URL)


class Voting(Rewarded, vf.Task[Data]):
    rewardline = Hook(verifier="math", url=URL, group={"method": "majority", "size": 4})


class Lost(Rewarded, vf.Task[Data]):
    rewardline = Hook(verifier="math", url=NOWHERE, deadline_s=0.3)


class Plain(vf.Task[Data]):
    """A task with its reward from the configuration, as `rewards` in a TOML file."""


class Called(Rewarded, vf.Task[Data]):
    rewardline = Hook(verifier="tool_call", url=URL)


def calling(arguments: str) -> list[Any]:
    """A call and its result."""
    call = vf.ToolCall(id="c", name="add", arguments=arguments)
    return [vf.AssistantMessage(content=None, tool_calls=[call]), vf.ToolMessage(tool_call_id="c", content="4")]


async def scored(task: Any, *said: Any) -> dict[str, Any]:
    messages = [vf.AssistantMessage(content=one) if isinstance(one, str) else one for one in said]
    nodes = [vf.MessageNode(message=vf.UserMessage(content="2+2="))]
    nodes += [
        vf.MessageNode(message=message, parent=place, sampled=message.role == "assistant")
        for place, message in enumerate(messages)
    ]
    about = vf.TraceTask(type=type(task).__name__, data=task.data)
    trace = vf.Trace(task=about, agent=vf.AgentInfo(config=vf.AgentConfig()), nodes=nodes)
    try:
        await task.score(trace)
    except vf.RolloutError as error:
        trace.record_error(error)
    rewards = {name: None if reward is None else reward.value for name, reward in trace.rewards.items()}
    errors = [error.type for error in trace.errors]
    return {"rewards": rewards, "metrics": trace.metrics, "info": trace.info, "errors": errors}


async def ruled(text: Any, **options: Any) -> Any:
    try:
        score = rubric_function(**options)
        row: dict[str, Any] = {"prompt": "2+2=", "state": {}, "parser": None, "info": {}}
        return await score(completion=text, answer="4", task="mine", **row)
    except Unjudged as error:
        return [isinstance(error, Exception), type(error).__name__]


async def main() -> None:
    row = Data(prompt="2+2=", answer="4")
    plugged = vf.TaskConfig(rewards={"ours": {"fn": "rewardline.verifiers:reward", "weight": 0.5}})
    sums = runpy.run_path(str(EXAMPLES / "verifiers" / "arithmetic.py"))["Sums"](vf.TasksetConfig())
    answers = {
        "example": [await scored(task, f"\\boxed{{{task.data.answer}}}") for task in list(sums)[:2]],
        "right": await scored(Judged(row), RIGHT),
        "wrong": await scored(Judged(row), WRONG),
        "lost": await scored(Lost(row), RIGHT),
        "invalid": await scored(Judged(Data(prompt="2+2=")), RIGHT),
        "plugged": await scored(Plain(Data(answer="4", tag="deepmath_103k"), plugged), RIGHT),
        "together": await asyncio.gather(*(scored(Judged(row), RIGHT if n % 2 else WRONG) for n in range(64))),
        "votes": await asyncio.gather(*(scored(Voting(row), text) for text in (WRONG, WRONG, RIGHT, WRONG))),
        "called": [
            await scored(Called(Data(prompt="2+2=", answer=wanted)), *calling(given), *last)
            for wanted in (json.dumps({"name": "add", "arguments": {"a": 2}}), "[]")
            for given, last in (('{"a": 2}', ["It is 4."]), ('{"a": 2}', []), ('{"a": 3}', []))
        ],
        "answered": await scored(Judged(row), *calling('{"a": 2}'), RIGHT),
        "unanswered": await scored(Judged(row), *calling('{"a": 2}')),
        "rubric": await ruled(RIGHT, verifier="math", url=URL),
        "rubric_messages": await ruled([{"role": "assistant", "content": WRONG}], verifier="math", url=URL),
        "rubric_lost": await ruled(RIGHT, verifier="math", url=NOWHERE, deadline_s=0.3),
        "rubric_invalid": await ruled(RIGHT, verifier="maths", url=URL),
    }
    print(json.dumps(answers))


asyncio.run(main())
