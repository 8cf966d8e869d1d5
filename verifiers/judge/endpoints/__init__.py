"""Judge models and how they are reached: pools of OpenAI-compatible endpoints behind a `Gateway`."""

from verifiers.judge.endpoints.config import EndpointConfig, PoolConfig, RetryConfig
from verifiers.judge.endpoints.gateway import EndpointState, Gateway, PoolState
from verifiers.judge.endpoints.messages import ChatReply, ChatRequest, Relayed, RelayedStream, Usage
from verifiers.judge.endpoints.wire import BadKey

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
