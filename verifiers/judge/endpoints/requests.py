"""Builds the body of a `ChatRequest` for one endpoint, by what it can do and what it has refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from verifiers.judge.endpoints.config import EndpointConfig
from verifiers.judge.endpoints.faults import Fault, Retry
from verifiers.judge.endpoints.messages import ChatRequest

_MAX_CHARS_PER_TOKEN = 16
"""An upper bound on the average characters per token of any text."""


@dataclass(slots=True)
class Capabilities:
    """What is known about an endpoint; None: not known yet."""

    schema: bool | None = None
    """Whether its replies follow `response_format`; observed once, and not to be relied upon."""
    logprobs: bool | None = None
    several: bool | None = None
    """Whether it gives as many choices as `n` asks for."""
    refused: set[str] = field(default_factory=set)
    """Parameters that it rejects."""

    def drop(self, parameter: str) -> bool:
        """Remember that a parameter is refused; whether a request without it makes sense."""
        self.refused.add(parameter)
        # It must accept one of the two names; without both, nothing limits the reply.
        return not {"max_tokens", "max_completion_tokens"} <= self.refused


def build(config: EndpointConfig, can: Capabilities, request: ChatRequest) -> tuple[dict[str, Any], list[str]]:
    """The body, and flags for what was left out.

    Raises:
        Fault: `context_overflow`: the prompt cannot fit.
    """
    if config.context_tokens and _chars(request) > config.context_tokens * _MAX_CHARS_PER_TOKEN:
        raise Fault(
            "context_overflow",
            f"a prompt of {_chars(request)} characters for {config.context_tokens} tokens",
            Retry.NEVER,
            reached=False,
        )
    refused = can.refused
    body: dict[str, Any] = {"model": config.model, "messages": request.messages}
    flags = []
    max_tokens = min(request.max_tokens, request.max_tokens_cap or request.max_tokens)
    body["max_completion_tokens" if "max_tokens" in refused else "max_tokens"] = max_tokens
    wishes = {"temperature": request.temperature, "top_p": request.top_p, "seed": request.seed}
    for name, value in wishes.items():
        if value is None:
            continue
        if name in refused:
            flags.append(f"dropped:{name}")
        else:
            body[name] = value
    if request.schema is not None and not ask_for_schema(body, config, can, request.schema_name, request.schema):
        flags.append("no_schema")
    if request.top_logprobs is not None:
        if gives_logprobs(config, can):
            body["logprobs"] = True
            body["top_logprobs"] = request.top_logprobs
        else:
            flags.append("no_logprobs")
    body.update(config.extra_body)
    return body, flags


def gives_logprobs(config: EndpointConfig, can: Capabilities) -> bool:
    """Whether it is worth asking for log-probabilities."""
    if config.logprobs is not None:
        return config.logprobs
    return can.logprobs is not False and not {"logprobs", "top_logprobs"} & can.refused


def ask_for_schema(
    body: dict[str, Any], config: EndpointConfig, can: Capabilities, name: str, schema: Mapping[str, Any]
) -> bool:
    """Add a schema to a body in the endpoint's way; whether it was added."""
    way = config.structured
    if way == "auto":
        way = "none" if can.schema is False else "response_format"
    if way == "none" or way in can.refused:
        return False
    if way == "structured_outputs":
        body["structured_outputs"] = {"json": schema}
    else:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": name, "schema": schema, "strict": True},
        }
    return True


def _chars(request: ChatRequest) -> int:
    return sum(len(message["content"]) for message in request.messages if isinstance(message.get("content"), str))


def estimated_tokens(messages: Any, max_tokens: int) -> float:
    """Estimate the tokens of a call: four ASCII characters per token, one other character per token.

    `messages` may come from a caller, so they may be anything.
    """
    total = 0.0
    for message in messages if isinstance(messages, list | tuple) else ():
        content = message.get("content") if isinstance(message, dict) else None
        pieces = content if isinstance(content, list) else [{"text": content}]
        for piece in pieces:
            text = piece.get("text") if isinstance(piece, dict) else None
            if isinstance(text, str):
                total += len(text) / 4 if text.isascii() else len(text)
    return total + max_tokens
