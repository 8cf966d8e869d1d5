"""A verifier of reward models over servers of a test."""

from collections.abc import AsyncIterator, Callable, Hashable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tests.judge_upstream.scripted import Scripted
from verifiers.base import Item, Verdict
from verifiers.judge import config
from verifiers.judge.endpoints import Gateway
from verifiers.judge.endpoints.reward_servers import NEXT_TOKEN
from verifiers.judge.panel import Panel
from verifiers.judge.sharing import Shared
from verifiers.reward_model import RewardModelParams, RewardModels

PLAIN = {"kind": "affine", "low": 0, "high": 100}
TEXT: Mapping[str, Any] = {"input": "text", "template": {"turn": "{role}: {content}\n"}, "map": PLAIN}
INPUTS: Mapping[str, Mapping[str, Any]] = {
    **{key: {"input": "messages", "map": PLAIN} for key in ("vllm_classify", "vllm_pooling")},
    **{key: {"input": "pair", "map": PLAIN} for key in ("vllm_score", "llama_rerank", "infinity_rerank", "tei_rerank")},
}
"""The profile of a protocol, where it takes no texts or takes messages, too."""

LABELS = {"label_token_ids": [9454, 2753]}


@asynccontextmanager
async def reward_models(
    servers: Mapping[str, tuple[str, Scripted | str]],
    profile: Mapping[str, Any],
    caller: Callable[[], Hashable] = lambda: None,
    **endpoint: Any,
) -> AsyncIterator[RewardModels]:
    """A profile over servers, each with its protocol, of which each is a pool."""
    content: dict[str, Any] = {
        "endpoints": {
            name: {
                "base_url": server if isinstance(server, str) else server.url,
                "model": "rm",
                "protocol": protocol,
                "health": {"probe": False},
                **({"extra_body": LABELS} if protocol in NEXT_TOKEN else {}),
                **endpoint,
            }
            for name, (protocol, server) in servers.items()
        },
        "pools": {
            name: {"members": [name], "retry": {"attempts": 2, "base_s": 0.001, "cap_s": 0.002}} for name in servers
        },
        "reward_models": {"one": {"pools": list(servers), **profile}},
    }
    read = config.read(content, "test")
    gateway = Gateway(read.endpoints, read.pools, keys={})
    panel = Panel(read, gateway, Shared(1_000_000), {}, fence_secret=b"secret", caller=caller)
    try:
        yield RewardModels(panel)
    finally:
        await panel.stop()


def item(response: str, *, prompt: str = "Hello?", **params: Any) -> Item[RewardModelParams]:
    return Item(response, RewardModelParams.model_validate(params), prompt)


async def verdicts(verifier: RewardModels, *responses: str, **params: Any) -> list[Verdict]:
    return list(await verifier.score([item(response, **params) for response in responses]))
