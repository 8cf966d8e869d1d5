"""The environment of NeMo-Gym's episodes: a model that is a script, and servers on this event loop."""

import asyncio
import socket
from typing import Any

import uvicorn
from fastapi import FastAPI
from nemo_gym.server_utils import BaseServerConfig, ServerClient
from omegaconf import OmegaConf
from rewardline.nemo_gym import VerifierConfig, VerifierResourcesServer

USAGE = {
    "input_tokens": 1,
    "output_tokens": 1,
    "total_tokens": 2,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}


def message(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def call(name: str, arguments: str) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": "f",
        "call_id": "c",
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }


def model(script: dict[str, list[dict[str, Any]]]) -> FastAPI:
    """A model that answers a question by the script, one item per step."""
    app = FastAPI()

    @app.post("/v1/responses")
    @app.post("/ng-rollout/{rollout}/v1/responses")
    async def responses(body: dict[str, Any]) -> dict[str, Any]:
        asked = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
        question = next(item["content"] for item in asked if item.get("role") == "user")
        steps = sum(item.get("type") in ("function_call", "message") and item.get("role") != "user" for item in asked)
        return {
            "id": "r",
            "created_at": 0.0,
            "model": "script",
            "object": "response",
            "output": [script[question][steps]],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "usage": USAGE,
        }

    return app


async def served(app: FastAPI) -> tuple[str, int]:
    """The address of a server on this event loop, which runs as long as the script."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    SERVERS.append(asyncio.create_task(server.serve([listener])))
    return "127.0.0.1", int(listener.getsockname()[1])


SERVERS: list[Any] = []


def listed(kind: str, name: str, at: tuple[str, int]) -> dict[str, Any]:
    return {kind: {name: {"entrypoint": "app.py", "host": at[0], "port": at[1]}}}


RIGHT = [call("add", '{"a": 2, "b": 2}'), message("It is \\boxed{4}.")]
WRONG = [call("add", '{"a": 2, "b": 3}'), message("It is \\boxed{5}.")]
SCRIPT = {
    "right": RIGHT,
    "wrong": WRONG,
    "unparsable": [call("add", '{"a": '), message("It is \\boxed{4}.")],
    "silent": [message("I call nothing.")],
    "endless": [call("add", "{}")] * 2,
}
WANTED = {"expected_answers": [{"name": "add", "arguments": {"a": 2, "b": 2}}]}
ANSWER = {"expected_answer": "4"}


async def resources_server(url: str) -> tuple[str, int]:
    """Our resources server, which asks the server at this address."""
    config = VerifierConfig(
        name="verifier",
        host="127.0.0.1",
        port=1,
        entrypoint="app.py",
        domain="other",
        rewardline={"url": url, "deadline_s": 60},
    )
    client = ServerClient(
        head_server_config=BaseServerConfig(host="127.0.0.1", port=1), global_config_dict=OmegaConf.create({})
    )
    return await served(VerifierResourcesServer(config=config, server_client=client).setup_webserver())
