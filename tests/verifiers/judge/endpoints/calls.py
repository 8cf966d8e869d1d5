"""Gateways to scripted upstreams, with short waits and a fixed random seed."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.judge_upstream.scripted import Scripted
from verifiers.judge.endpoints import ChatReply, ChatRequest, EndpointConfig, Gateway, PoolConfig, RetryConfig
from verifiers.judge.errors import EndpointFailure

QUESTION = ChatRequest(messages=({"role": "user", "content": "is it right?"},), seed=0)
RETRY = RetryConfig(attempts=3, base_s=0.001, cap_s=0.002, min_attempt_s=0.0)


def endpoint(upstream: Scripted | str, **parts: Any) -> EndpointConfig:
    url = upstream if isinstance(upstream, str) else upstream.url
    return EndpointConfig.model_validate({"base_url": url, "model": "judge"} | parts)


@asynccontextmanager
async def gateway(
    endpoints: dict[str, EndpointConfig],
    *,
    pools: dict[str, PoolConfig] | None = None,
    probing: bool = False,
    retry: RetryConfig = RETRY,
    **pool: Any,
) -> AsyncIterator[Gateway]:
    """A gateway to all endpoints in one pool `judges`, or in `pools`. Each key is the name of its variable."""
    pools = pools or {"judges": PoolConfig(members=list(endpoints), retry=retry, **pool)}
    keys = {name: f"secret-of-{name}" for each in endpoints.values() for name in each.env_names}
    made = Gateway(endpoints, pools, keys=keys, chance=random.Random(1))
    if probing:
        await made.start()
    try:
        yield made
    finally:
        await made.stop()


async def outcome(made: Gateway, request: ChatRequest = QUESTION, **parts: Any) -> ChatReply | EndpointFailure:
    """The outcome of a call, also if it failed."""
    try:
        return await made.ask("judges", request, **parts)
    except EndpointFailure as failure:
        return failure
