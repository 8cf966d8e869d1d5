"""The requests to endpoints, and their replies."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call, before an endpoint is chosen."""

    messages: Sequence[Mapping[str, Any]]
    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 512
    max_tokens_cap: int | None = None
    """The upper bound of `max_tokens`; None: no such bound."""
    seed: int | None = None
    schema: Mapping[str, Any] | None = None
    """The JSON schema of the reply. Endpoints that can are asked to keep it, but no reply is trusted to do so."""
    schema_name: str = "verdict"
    top_logprobs: int | None = None
    affinity: bytes | None = None
    """Calls with an equal value share the beginning of their prompts."""
    decision: Mapping[str, Any] | None = None
    """`state` and `questions`, for endpoints with protocol `decisions`."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Numbers of tokens; None if the endpoint did not report them."""

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """An endpoint's answer; the parser decides whether it is a verdict."""

    message: Mapping[str, Any]
    finish_reason: str | None
    logprobs: Any
    model: str | None
    """The model's name as the endpoint reports it."""
    usage: Usage
    cost: float | None
    """None: the price or the usage is unknown."""
    endpoint: str
    latency_s: float
    """The duration of the attempt that succeeded."""
    attempts: int
    flags: tuple[str, ...] = ()
    """`dropped:PARAMETER`: the endpoint refuses it; `no_schema`: the schema was not sent; `no_logprobs`;
    `model_mismatch`; `filtered`: the endpoint's own filter refused the prompt."""


@dataclass(frozen=True, slots=True)
class Relayed:
    """An upstream's unchanged answer, for a caller that supplied the whole request."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    endpoint: str
    usage: Usage
    cost: float | None
    latency_s: float
    attempts: int


class Pieces(Protocol):
    """The pieces of a body."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Iterate over the pieces.

        Raises:
            EndpointFailure: the upstream broke off, so that the pieces are not the whole body.
        """

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class RelayedStream:
    """An answer like `Relayed` whose body comes in pieces, the first of which is there already.

    The receiver reads it to its end or its failure, or calls `aclose`; otherwise its place among the calls stays taken.
    """

    status: int
    headers: Mapping[str, str]
    endpoint: str
    attempts: int
    pieces: Pieces = field(repr=False)

    async def aclose(self) -> None:
        """Stop reading; without effect if all was read."""
        await self.pieces.aclose()
