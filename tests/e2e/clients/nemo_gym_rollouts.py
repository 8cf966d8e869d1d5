"""NeMo-Gym's own agent, which asks a model, calls tools and has the rollout verified: by our door at its root, and by
our resources server.

The model is a script. The program prints the rewards.
"""

import asyncio
import json
import sys
from typing import Any
from urllib.parse import urlsplit

import httpx
from nemo_gym.server_utils import (
    BaseServerConfig,
    GlobalAIOHTTPAsyncClientConfig,
    ServerClient,
    set_global_aiohttp_client,
)
from nemo_gym_stage import ANSWER, SCRIPT, WANTED, listed, model, resources_server, served
from omegaconf import OmegaConf
from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig

URL = sys.argv[1]


async def rollouts(resources: tuple[str, int]) -> dict[str, Any]:
    """The reward of each question, by the calls and by the answers, or the status of the refusal."""
    model_at = await served(model(SCRIPT))
    config = {
        "verifier": listed("resources_servers", "rewardline", resources),
        "policy_model": listed("responses_api_models", "script", model_at),
        "agent": {},
    }
    client = ServerClient(
        head_server_config=BaseServerConfig(host="127.0.0.1", port=1), global_config_dict=OmegaConf.create(config)
    )
    agent = SimpleAgent(
        config=SimpleAgentConfig(
            name="agent",
            host="127.0.0.1",
            port=1,
            entrypoint="app.py",
            resources_server={"type": "resources_servers", "name": "verifier"},
            model_server={"type": "responses_api_models", "name": "policy_model"},
            max_steps=2,
        ),
        server_client=client,
    )
    agent_at = await served(agent.setup_webserver())
    client.global_config_dict["agent"] = listed("responses_api_agents", "simple_agent", agent_at)
    found: dict[str, Any] = {}
    async with httpx.AsyncClient(base_url=f"http://{agent_at[0]}:{agent_at[1]}", timeout=120) as http:
        for question in SCRIPT:
            for kind, row in (("calls", WANTED), ("answer", ANSWER)):
                asked = {"responses_create_params": {"input": question}, **row}
                reply = await http.post("/run", json=asked)
                found[f"{question}/{kind}"] = reply.json()["reward"] if reply.status_code == 200 else reply.status_code
    return found


async def main() -> None:
    """Run all rollouts by both ways."""
    set_global_aiohttp_client(
        GlobalAIOHTTPAsyncClientConfig()
    )  # otherwise NeMo-Gym would read its options from this command line
    address = urlsplit(URL)
    assert address.hostname is not None
    assert address.port is not None
    door = await rollouts((address.hostname, address.port))
    print(json.dumps({"door": door, "server": await rollouts(await resources_server(URL))}))


asyncio.run(main())
