"""AReaL's own RLVR workflow and pool of reward processes, with a fake engine and our rewards.

Prints the reward of each trajectory, or the exception by which AReaL rejects it.
"""

import asyncio
import json
import runpy
import sys
from functools import partial
from pathlib import Path
from typing import Any

from areal.api.cli_args import GenerationHyperparameters
from areal.api.io_struct import ModelRequest, ModelResponse
from areal.api.reward_api import AsyncRewardWrapper
from areal.utils.dynamic_import import import_from_string
from areal.workflow.rlvr import RLVRWorkflow
from rewardline.areal import reward
from rewardline.areal_workflow import Workflow
from tiny_tokenizer import tiny

EXAMPLES = Path(__file__).parents[3] / "client" / "examples"
URL, NOWHERE = sys.argv[1], "http://127.0.0.1:9"
RIGHT, WRONG = "so \\boxed{4}<|im_end|>", "so \\boxed{5}<|im_end|>"
TOKENIZER = tiny()
ROW = {"messages": [{"role": "user", "content": "It is not \\boxed{4}. 2+2="}], "answer": "4", "query_id": "7"}


class Engine:
    """An engine that answers with the given texts."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def agenerate(self, request: ModelRequest) -> ModelResponse:
        ids = TOKENIZER(self.text, add_special_tokens=False)["input_ids"]
        given = {"output_tokens": ids, "output_logprobs": [0.0] * len(ids), "output_versions": [0] * len(ids)}
        return ModelResponse(input_tokens=list(request.input_ids), tokenizer=TOKENIZER, **given)


async def outcome(workflow: Any, text: str, row: dict[str, Any]) -> Any:
    try:
        trajectory = await workflow.arun_episode(Engine(text), dict(row))
    except Exception as error:  # noqa: BLE001 - told by its name, as the trainer takes any
        return type(error).__name__
    return [trajectory["rewards"].dtype.is_floating_point, trajectory["rewards"].tolist()]


async def outcomes(make: Any) -> dict[str, Any]:
    judging = make(verifier="math", url=URL)
    routed = make(url=URL)
    lost = make(verifier="math", url=NOWHERE, deadline_s=0.3)
    return {
        "right": await outcome(judging, RIGHT, ROW),
        "wrong": await outcome(judging, WRONG, ROW),
        "routed": await outcome(routed, RIGHT, {**ROW, "tag": "deepmath_103k"}),
        "lost": await outcome(lost, RIGHT, ROW),
        "invalid": await outcome(judging, RIGHT, {"messages": ROW["messages"]}),
        "together": await asyncio.gather(*(outcome(judging, RIGHT if n % 2 else WRONG, ROW) for n in range(64))),
    }


async def main() -> None:
    parameters = {"gconfig": GenerationHyperparameters(max_new_tokens=64), "tokenizer": TOKENIZER}
    pooled = await outcomes(lambda **options: RLVRWorkflow(reward_fn=reward(**options), **parameters))
    awaited = await outcomes(lambda **options: Workflow(rewardline=options, **parameters))
    named = AsyncRewardWrapper(import_from_string("rewardline.areal.reward_fn"), max_workers=2)
    call = partial(named, "2+2=", RIGHT, [1], [2], tag="deepmath_103k", answer="4")
    found = import_from_string("rewardline.areal_workflow.Workflow") is Workflow
    written = runpy.run_path(str(EXAMPLES / "areal" / "train.py"))["workflow"](**parameters)
    example = import_from_string(written["workflow"])(**written["workflow_kwargs"])
    shown = await outcome(example, RIGHT, ROW)
    print(json.dumps({"example": shown, "pooled": pooled, "awaited": awaited, "named": await call(), "found": found}))


if __name__ == "__main__":
    asyncio.run(main())
