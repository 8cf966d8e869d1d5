"""What is asked of an endpoint, and what comes back."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call, as yet for no endpoint in particular."""

    messages: Sequence[Mapping[str, Any]]
    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 512
    max_tokens_cap: int | None = None
    """Above it `max_tokens` never goes; None: no such bound."""
    seed: int | None = None
    schema: Mapping[str, Any] | None = None
    """The JSON schema of the reply: asked for where an endpoint can, never to be relied upon."""
    schema_name: str = "verdict"
    top_logprobs: int | None = None
    affinity: bytes | None = None
    """Calls with equal ones share the beginning of their prompts."""
    decision: Mapping[str, Any] | None = None
    """`state` and `questions`, for endpoints with protocol `decisions`."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens; None where the endpoint did not say."""

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What an endpoint said; whether it is a verdict is for the parser to find out."""

    message: Mapping[str, Any]
    finish_reason: str | None
    logprobs: Any
    model: str | None
    """As the endpoint calls it."""
    usage: Usage
    cost: float | None
    """None: the price or the usage is unknown."""
    endpoint: str
    latency_s: float
    """Of the attempt that succeeded."""
    attempts: int
    flags: tuple[str, ...] = ()
    """`dropped:PARAMETER`: the endpoint refuses it; `no_schema`: the schema was not sent; `no_logprobs`;
    `model_mismatch`; `filtered`: refused by the endpoint's own filter."""


@dataclass(frozen=True, slots=True)
class Relayed:
    """An upstream's answer as it came, for a caller who brought the whole request."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    endpoint: str
    usage: Usage
    cost: float | None
    latency_s: float
    attempts: int


class Pieces(Protocol):
    """What a body comes in."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Raises EndpointFailure if the upstream breaks off: what was passed on is then not the whole."""

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class RelayedStream:
    """As `Relayed`, but the body comes in pieces, the first of which is there already.

    Whoever got it reads it to its end or its failure, or calls `aclose`; else its place among the calls stays taken.
    """

    status: int
    headers: Mapping[str, str]
    endpoint: str
    attempts: int
    pieces: Pieces = field(repr=False)

    async def aclose(self) -> None:
        """Nobody listens any more; without effect when all was read."""
        await self.pieces.aclose()
