"""The protocol of typed decisions: a state and questions go out, a probability for each option comes back, no text."""

from collections.abc import Mapping
from typing import Any

import msgspec

from verifiers.judge.endpoints.config import EndpointConfig
from verifiers.judge.endpoints.faults import Fault, Retry
from verifiers.judge.endpoints.messages import ChatRequest


def build(config: EndpointConfig, request: ChatRequest) -> dict[str, Any]:
    """The body of a decision.

    Raises:
        Fault: `bad_upstream_request`: the request says none.
    """
    if request.decision is None:
        raise Fault(
            "bad_upstream_request", "endpoints of decisions need a request with one", Retry.NEVER, reached=False
        )
    return {"model": config.model, **request.decision, **config.extra_body}


def as_choice(content: Mapping[str, Any]) -> dict[str, Any]:
    """The whole answer as the content of a message, in which the parser finds it.

    Raises:
        Fault: there is none.
    """
    if isinstance(content.get("answers"), dict | list):
        text = msgspec.json.encode(content).decode()
        return {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    raise Fault("bad_upstream_body", "no answers", ill=True)
