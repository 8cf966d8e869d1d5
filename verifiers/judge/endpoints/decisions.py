"""The protocol of typed decisions: it sends a state and questions, and gets the probability of each option, no text."""

from collections.abc import Mapping
from typing import Any

import msgspec

from verifiers.judge.endpoints.config import EndpointConfig
from verifiers.judge.endpoints.faults import Fault, Retry
from verifiers.judge.endpoints.messages import ChatRequest


def build(config: EndpointConfig, request: ChatRequest) -> dict[str, Any]:
    """The body of a decision.

    Raises:
        Fault: `bad_upstream_request`: the request holds no decision.
    """
    if request.decision is None:
        raise Fault(
            "bad_upstream_request", "endpoints of decisions need a request with one", Retry.NEVER, reached=False
        )
    return {"model": config.model, **request.decision, **config.extra_body}


def as_choice(content: Mapping[str, Any]) -> dict[str, Any]:
    """The whole answer as the content of a message, where the parser expects it.

    Raises:
        Fault: there is no answer.
    """
    if isinstance(content.get("answers"), dict | list):
        text = msgspec.json.encode(content).decode()
        return {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    raise Fault("bad_upstream_body", "no answers", ill=True)
