"""Judge models and how they are reached: pools of OpenAI-compatible endpoints behind a `Gateway`."""

from verifiers.judge.endpoints.config import BadKey, EndpointConfig, PoolConfig, RetryConfig
from verifiers.judge.endpoints.gateway import EndpointState, Gateway, PoolState
from verifiers.judge.endpoints.messages import ChatReply, ChatRequest, Relayed, RelayedStream, Usage

__all__ = [
    "BadKey",
    "ChatReply",
    "ChatRequest",
    "EndpointConfig",
    "EndpointState",
    "Gateway",
    "PoolConfig",
    "PoolState",
    "Relayed",
    "RelayedStream",
    "RetryConfig",
    "Usage",
]
