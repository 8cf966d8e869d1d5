"""Builds, sends and reads one question of a judge to one endpoint."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from verifiers.judge.endpoints import decisions
from verifiers.judge.endpoints.endpoint import Endpoint, Lease
from verifiers.judge.endpoints.faults import Fault, Filtered, Retry
from verifiers.judge.endpoints.messages import ChatReply, ChatRequest, Usage
from verifiers.judge.endpoints.replies import (
    FILTERED_MESSAGE,
    choice_of,
    decode,
    message_of,
    says_other_model,
    text_or_none,
    usage_of,
)
from verifiers.judge.endpoints.requests import Capabilities, build, estimated_tokens
from verifiers.judge.endpoints.statuses import fault_of

_encode = msgspec.json.Encoder().encode


class Chat:
    """Sends one `ChatRequest` to an endpoint."""

    def __init__(self, request: ChatRequest, clock: Callable[[], float], wall: Callable[[], float]) -> None:
        self._request = request
        self._clock = clock
        self._wall = wall
        self.tokens = estimated_tokens(request.messages, request.max_tokens)
        self.affinity = request.affinity
        self.is_whole = True

    async def run(self, lease: Lease, within_s: float, attempt: int) -> ChatReply:
        endpoint = lease.endpoint
        began_at = self._clock()
        try:
            content, flags = await self.exchange(endpoint, within_s)
        except Filtered:
            usage = Usage()
            cost = lease.succeeded(usage)
            seconds = self._clock() - began_at
            return ChatReply(
                FILTERED_MESSAGE,
                "content_filter",
                None,
                None,
                usage,
                cost,
                endpoint.name,
                seconds,
                attempt,
                ("filtered",),
            )
        reply = decisions.as_choice(content) if endpoint.config.protocol == "decisions" else choice_of(content)
        usage = usage_of(content)
        model = text_or_none(content.get("model"))
        if says_other_model(endpoint.config.model, model):
            flags.append("model_mismatch")
        logprobs = reply.get("logprobs")
        if self._request.top_logprobs is not None and logprobs is None and "no_logprobs" not in flags:
            flags.append("no_logprobs")
        return ChatReply(
            message_of(reply),
            text_or_none(reply.get("finish_reason")),
            logprobs,
            model,
            usage,
            lease.succeeded(usage),
            endpoint.name,
            self._clock() - began_at,
            attempt,
            tuple(flags),
        )

    async def exchange(self, endpoint: Endpoint, within_s: float) -> tuple[Mapping[str, Any], list[str]]:
        """Send the request without parameters that the endpoint refuses; the body of its answer, and the flags.

        Raises:
            Fault, Filtered: there is no answer.
        """
        until = self._clock() + within_s
        can = endpoint.capabilities
        left_out: set[str] = set()
        while True:
            body, flags = self._build(endpoint, can)
            try:
                content = await send(endpoint, body, until - self._clock(), self._wall())
            except Fault as fault:
                parameter = fault.parameter
                if parameter is None or parameter in left_out or parameter in endpoint.config.extra_body:
                    raise
                left_out.add(parameter)
                can = replace(can, refused=set(can.refused))
                if not can.drop(parameter) or self._clock() >= until:
                    raise
                continue
            # Checked only now, because a server may refuse a parameter because of the prompt's content.
            endpoint.capabilities.refused |= left_out
            return content, flags

    def _build(self, endpoint: Endpoint, can: Capabilities) -> tuple[dict[str, Any], list[str]]:
        if endpoint.config.protocol == "decisions":
            return decisions.build(endpoint.config, self._request), []
        return build(endpoint.config, can, self._request)


async def send(endpoint: Endpoint, body: Mapping[str, Any], within_s: float, wall: float) -> dict[str, Any]:
    """Do one exchange; the JSON object of a 200.

    Raises:
        Fault, Filtered: there was any other answer, or none.
    """
    try:
        encoded = _encode(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise Fault(
            "bad_upstream_request", f"the request is not JSON: {type(error).__name__}", Retry.NEVER, reached=False
        ) from error
    answer = await endpoint.wire.post(encoded, within_s)
    if answer.status != 200:
        raise fault_of(
            answer.status,
            answer.headers,
            answer.body,
            names=tuple(body),
            retry_404=endpoint.config.retry_404,
            wall=wall,
            secrets=endpoint.wire.secrets,
        )
    return decode(answer.body)
