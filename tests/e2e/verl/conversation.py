"""Real verl's agent loop of several turns. Only the answers of the generating engine are scripted.

`conversation.py (interaction|tool) URL TOKENIZER_FOLDER FILE` prints one line of JSON.
"""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import rewardline
from verl.experimental.agent_loop.agent_loop import DictConfigWrap
from verl.experimental.agent_loop.tool_agent_loop import ToolAgentLoop
from verl.utils import hf_tokenizer
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.rollout.replica import TokenOutput
from verl_batches import NOWHERE, config_of

ROLLOUT = "actor_rollout_ref.rollout"
QUESTION = [{"role": "user", "content": "7 times 8?"}]


class Scripted:
    """An engine that gives its answers in turn."""

    def __init__(self, tokenizer: Any, answers: Sequence[str]) -> None:
        self._ids = [tokenizer(f"{answer}<|im_end|>", add_special_tokens=False)["input_ids"] for answer in answers]

    async def generate(self, *, request_id: str, prompt_ids: Any, **_: Any) -> TokenOutput:
        return TokenOutput(token_ids=self._ids.pop(0))


def agent(folder: str, answers: Sequence[str], overrides: Sequence[str], **more: Any) -> Any:
    tokenizer = hf_tokenizer(folder)
    config = config_of(folder, f"{ROLLOUT}.name=vllm", f"{ROLLOUT}.multi_turn.enable=true", *overrides)
    data = DictConfigWrap(config.data)
    return ToolAgentLoop(
        DictConfigWrap(config), Scripted(tokenizer, answers), tokenizer, None, RLHFDataset, data, **more
    )


async def spoken(made: Any, **columns: Any) -> Any:
    """The rewards of the turns and of the tools, and all messages after the question; or the name of the exception
    that ended it.
    """
    try:
        output = await made.run({}, raw_prompt=QUESTION, **columns)
    except rewardline.RewardlineError as error:
        return type(error).__name__
    said = made.tokenizer.decode(output.response_ids)
    return {"turns": output.extra_fields["turn_scores"], "tools": output.extra_fields["tool_rewards"], "said": said}


def interaction(url: str, folder: str, file: str) -> Any:
    async def converse(answers: Sequence[str], truth: Any) -> Any:
        made = agent(folder, answers, [f"{ROLLOUT}.multi_turn.interaction_config_path={file}"])
        row = {"name": "math", "query": "7 times 8?", "ground_truth": truth}
        outcome = await spoken(made, extra_info={"interaction_kwargs": row})
        return outcome, made.interaction_map["math"]

    async def calculated(answers: Sequence[str]) -> list[float]:
        _, ours = await converse(answers, "56")
        name = await ours.start_interaction(None, ground_truth="56")
        messages = [
            *QUESTION,
            {"role": "assistant", "content": [{"type": "text", "text": "\\boxed{5"}, {"text": "4}"}]},
        ]
        _, _, first, _ = await ours.generate_response(name, messages)
        await ours.generate_response(name, [*messages, *QUESTION, {"role": "assistant", "content": "\\boxed{56}"}])
        score = await ours.calculate_score(name)
        await ours.finalize_interaction(name)
        return [first, score]

    async def unjudged(**options: Any) -> Any:
        from rewardline.verl import RewardInteraction  # noqa: PLC0415 - there in some releases

        ours = RewardInteraction({"name": "math", "verifier": "math", "deadline_s": 0.3, **options})
        try:
            return await ours.generate_response("none", [*QUESTION, {"role": "assistant", "content": "56"}])
        except rewardline.RewardlineError as error:
            return type(error).__name__

    async def everything() -> Any:
        return {
            "solved": (await converse(["It is \\boxed{54}.", "Well, \\boxed{56}."], "56"))[0],
            "never": (await converse(["\\boxed{1}", "\\boxed{2}", "\\boxed{3}"], "56"))[0],
            "mistake": (await converse(["\\boxed{1}"], None))[0],
            "calculated": await calculated(["\\boxed{56}"]),
            "unknown": await unjudged(),
            "away": await unjudged(url=NOWHERE),
            "abstain": await unjudged(url=NOWHERE, on_failed="abstain"),
            "number": await unjudged(url=NOWHERE, on_failed=-0.5),
        }

    return asyncio.run(everything())


def tool(url: str, folder: str, file: str) -> Any:
    # some releases have these, others have interactions
    from verl.experimental.agent_loop.agent_loop import ToolListWrap  # noqa: PLC0415
    from verl.tools.tool_registry import initialize_tools_from_config  # noqa: PLC0415

    def call(answer: Any) -> str:
        return f"<tool_call>{json.dumps({'name': 'check_answer', 'arguments': {'answer': answer}})}</tool_call>"

    async def converse(answers: Sequence[str], truth: Any) -> Any:
        tools = initialize_tools_from_config(file)
        made = agent(folder, answers, [f"{ROLLOUT}.multi_turn.format=hermes"], tools=ToolListWrap(tools))
        row = {"check_answer": {"create_kwargs": {"ground_truth": truth}}}
        return await spoken(made, tools_kwargs=row), len(tools[0]._rows)

    async def everything() -> Any:
        outcomes = {
            "right": await converse([call(54), call("56"), "It is 56."], "56"),
            "mistake": await converse([call("56"), "It is 56."], None),
        }
        os.environ["REWARDLINE_URL"] = NOWHERE
        return {**outcomes, "away": await converse([call("56"), "It is 56."], "56")}

    return asyncio.run(everything())


def main() -> None:
    scenario, url, *arguments = sys.argv[1:]
    os.environ["REWARDLINE_URL"] = url
    print(json.dumps({"interaction": interaction, "tool": tool}[scenario](url, *arguments)))


if __name__ == "__main__":
    main()
