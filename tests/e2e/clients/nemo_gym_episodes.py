"""NeMo-Gym's environment server of one agent's turn (since 0.7) and its check of sessions, against our door at its root
and against our resources server.

It prints the result of each episode.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from environment_servers.single_agent_turn.app import (
    SingleAgentTurnEnvironmentServer,
    SingleAgentTurnEnvironmentServerConfig,
)
from fastapi import FastAPI, Request, Response
from nemo_gym.base_resources_server import (
    BaseMultiRewardVerifyResponse,
    ResourcesSeedSessionRequest,
    ResourcesVerifyRequest,
)
from nemo_gym.failure_kinds import is_namespaced, is_registered
from nemo_gym.server_utils import (
    BaseServerConfig,
    GlobalAIOHTTPAsyncClientConfig,
    ServerClient,
    set_global_aiohttp_client,
)
from nemo_gym.testing.session_conformance import check_resources_session_contract
from nemo_gym_stage import ANSWER, SCRIPT, WANTED, listed, message, model, resources_server, served
from omegaconf import OmegaConf
from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig

URL = sys.argv[1]
HEAD = BaseServerConfig(host="127.0.0.1", port=1)
EPISODE: dict[str, Any] = {"rollout_id": "0-1", "attempt": 1}
TASK = {"taskset": "sums", "task_id": "7"}


async def episodes(resources: tuple[str, int]) -> dict[str, Any]:
    """The reward of each question, by the calls and by the answers, or the stage at which the episode failed."""
    config = {
        "verifier": listed("resources_servers", "rewardline", resources),
        "policy_model": listed("responses_api_models", "script", await served(model(SCRIPT))),
        "agent": {},
    }
    client = ServerClient(head_server_config=HEAD, global_config_dict=OmegaConf.create(config))
    agent = SimpleAgent(
        config=SimpleAgentConfig(
            name="agent",
            host="127.0.0.1",
            port=1,
            entrypoint="app.py",
            model_server={"type": "responses_api_models", "name": "policy_model"},
            max_steps=2,
        ),
        server_client=client,
    )
    client.global_config_dict["agent"] = listed(
        "responses_api_agents", "simple_agent", await served(agent.setup_webserver())
    )
    environment = SingleAgentTurnEnvironmentServer(
        config=SingleAgentTurnEnvironmentServerConfig(
            name="environment",
            host="127.0.0.1",
            port=1,
            entrypoint="app.py",
            cleanup_timeout_seconds=30,
            resources_server={"type": "resources_servers", "name": "verifier"},
            agent_server={"type": "responses_api_agents", "name": "agent"},
            resources_tool_transports=["direct_http"],
        ),
        server_client=client,
    )
    host, port = await served(environment.setup_webserver())
    found: dict[str, Any] = {}
    async with httpx.AsyncClient(base_url=f"http://{host}:{port}", timeout=120) as http:
        for question in SCRIPT:
            for kind, row in (("calls", WANTED), ("answer", ANSWER)):
                task = {"responses_create_params": {"input": question}, "task_data": row}
                body = {"episode_id": EPISODE, "task": {"task_id": TASK, "task_input": task}}
                answer = (await http.post("/run", json=body)).json()
                found[f"{question}/{kind}"] = (
                    answer["result"]["reward"] if answer["result"] else answer["failure"]["stage"]
                )
    return found


async def verified(address: tuple[str, int], text: str, wanted: str) -> list[Any]:
    """The answer to a typed verification, read by NeMo-Gym's own model."""
    response = {
        "id": "r",
        "created_at": 0.0,
        "model": "script",
        "object": "response",
        "output": [message(text)],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
    row = {"responses_create_params": {"input": "2+2="}, "response": response, "expected_answer": wanted}
    body = ResourcesVerifyRequest[dict[str, Any]](episode_id=EPISODE, task_id=TASK, verification_input=row)
    async with httpx.AsyncClient(base_url=f"http://{address[0]}:{address[1]}", timeout=120) as http:
        reply = await http.post("/verify", json=body.model_dump(mode="json"))
        mode = (await http.get("/reverify_mode")).json()
    assert reply.status_code == 200, reply.text
    answer = BaseMultiRewardVerifyResponse.model_validate(reply.json())
    kind = answer.failure_kind
    assert kind is None or is_registered(kind) or is_namespaced(kind), kind
    return [answer.reward, answer.mask_sample, kind, mode]


def relay(address: tuple[str, int]) -> FastAPI:
    """A server elsewhere, in the form of the application that the check needs."""
    app = FastAPI()

    @app.post("/{path}")
    async def forward(path: str, request: Request) -> Response:
        async with httpx.AsyncClient(timeout=60) as http:
            url = f"http://{address[0]}:{address[1]}/{path}"
            reply = await http.post(url, json=await request.json())
        return Response(reply.content, reply.status_code, media_type="application/json")

    return app


async def told_by(address: tuple[str, int], name: str) -> Mapping[str, Any]:
    seed = ResourcesSeedSessionRequest(
        resources_session_id=f"checked by {name}, {uuid4().hex}",
        episode_id=EPISODE,
        task_id=TASK,
        task_data={"expected_answer": "4"},
    )
    await asyncio.to_thread(check_resources_session_contract, relay(address), seed, keeps_state=True)
    cases = {"right": ("\\boxed{4}", "4"), "wrong": ("\\boxed{5}", "4"), "invalid": ("x", "\\frac{")}
    typed = {case: await verified(address, *given) for case, given in cases.items()}
    return {"episodes": await episodes(address), "typed": typed}


async def main() -> None:
    """Run all episodes by both ways."""
    set_global_aiohttp_client(GlobalAIOHTTPAsyncClientConfig())
    address = urlsplit(URL)
    assert address.hostname is not None
    assert address.port is not None
    door = await told_by((address.hostname, address.port), "the door")
    print(json.dumps({"door": door, "server": await told_by(await resources_server(URL), "the server")}))


asyncio.run(main())
