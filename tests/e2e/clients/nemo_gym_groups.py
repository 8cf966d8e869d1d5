"""NeMo-Gym's own server genrm_compare beside our door: `compare`, and `verify` of cohorts, with the same judge's words.

It prints the rewards of both.
"""

import asyncio
import json
import random
import sys
from typing import Any

import httpx
from fastapi import FastAPI
from nemo_gym.openai_utils import NeMoGymResponseCreateParamsNonStreaming
from nemo_gym.server_utils import (
    BaseServerConfig,
    GlobalAIOHTTPAsyncClientConfig,
    ServerClient,
    set_global_aiohttp_client,
)
from nemo_gym_stage import USAGE, listed, message, served
from omegaconf import OmegaConf
from pair_scores import scored
from resources_servers.genrm_compare.app import GenRMCompareConfig, GenRMCompareResourcesServer

URL = f"{sys.argv[1]}/compat/nemo_gym/genrm_compare"
SIZE = 5
QUESTION = {"role": "user", "content": "Which is best?"}
TEXTS = ("one", "# Two\n\n- two words", "three **words** here", "four words are here now", "a fifth, which is longer")
REASONING = {"id": "t", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Let me see."}]}
TERMS = {"reasoning_length": 0.5, "answer_length": 0.25, "style": 0.3}


def answered(name: str, text: str) -> dict[str, Any]:
    """A response object of the policy; those with an even number of characters have thought."""
    output = [*([REASONING] if len(text) % 2 == 0 else []), message(text)]
    fixed = {"created_at": 0.0, "model": "script", "object": "response", "parallel_tool_calls": False}
    return {"id": name, "output": output, "tool_choice": "auto", "tools": [], "usage": USAGE, **fixed}


def judge() -> FastAPI:
    app = FastAPI()

    @app.post("/v1/responses")
    async def responses(body: dict[str, Any]) -> dict[str, Any]:
        pair = body["metadata"]
        return answered("j", scored(pair["response_1"].strip(), pair["response_2"].strip()))

    return app


async def original(strategy: str) -> str:
    """The address of a server of NeMo-Gym."""
    models = {"genrm_model": listed("responses_api_models", "script", await served(judge()))}
    head = BaseServerConfig(host="127.0.0.1", port=1)
    config = GenRMCompareConfig(
        name="genrm_compare",
        host="127.0.0.1",
        port=1,
        entrypoint="app.py",
        domain="other",
        genrm_model_server={"type": "responses_api_models", "name": "genrm_model"},
        genrm_responses_create_params=NeMoGymResponseCreateParamsNonStreaming(input=[]),
        num_rollouts_per_prompt=SIZE,
        comparison_strategy=strategy,
        **{f"group_{term}_penalty_coeff": weight for term, weight in TERMS.items()},
    )
    client = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create(models))
    host, port = await served(GenRMCompareResourcesServer(config=config, server_client=client).setup_webserver())
    return f"http://{host}:{port}"


async def rewards(http: httpx.AsyncClient, url: str, options: dict[str, str], run: str) -> dict[str, list[float]]:
    """Those of a comparison, and of cohorts: two attempts of one group, with other responses, and a task without a group."""
    objects = [answered(f"r{at}", text) for at, text in enumerate(TEXTS)]
    body = {"conversation_history": [QUESTION], "response_objs": objects}
    reply = await http.post(f"{url}/compare", params=options, json=body)
    answers = {"compare": reply.json()["rewards"]}
    cohorts: dict[str, dict[str, Any]] = {
        "first": {"_ng_group_id": f"{run}-1", "_ng_group_attempt": 0, "_ng_task_index": 1},
        "second": {"_ng_group_id": f"{run}-1", "_ng_group_attempt": 1, "_ng_task_index": 1},
        "other": {"_ng_group_id": f"{run}-2", "_ng_group_attempt": 0, "_ng_task_index": 1},
        "task": {"_ng_task_index": 1},
    }

    async def verified(name: str, at: int) -> float:
        texts = TEXTS[1:] + TEXTS[:1] if name == "second" else TEXTS
        row = {"responses_create_params": {"input": [QUESTION]}, "response": answered(f"{name}{at}", texts[at])}
        reply = await http.post(f"{url}/verify", params=options, json={**row, **cohorts[name], "_ng_rollout_index": at})
        return float(reply.json()["reward"]) if reply.status_code == 200 else -float(reply.status_code)

    calls = [("first", at) for at in range(SIZE)]
    random.Random(1).shuffle(calls)
    again = [("first", 0)]
    later = [(name, at) for name in ("second", "other", "task") for at in reversed(range(SIZE))]
    for some in (calls, again, later):
        for (name, at), value in zip(some, await asyncio.gather(*(verified(*call) for call in some)), strict=True):
            answers.setdefault(name, [0.0] * SIZE)[at] = value
    return answers


async def main() -> None:
    set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig())
    printed = {}
    async with httpx.AsyncClient(timeout=120) as http:
        for strategy, pairs in (("circular", "circular"), ("all_pairs", "all")):
            group = {"size": SIZE, "tournament": {"pairs": pairs, "rating": "scores"}, "terms": TERMS}
            ours = await rewards(http, URL, {"cache": "off", "group": json.dumps(group)}, strategy)
            printed[strategy] = {"ours": ours, "theirs": await rewards(http, await original(strategy), {}, strategy)}
    print(json.dumps(printed))


asyncio.run(main())
