"""Sends inputs to one server of a reward model, and reads their rewards."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from verifiers.judge.endpoints.endpoint import Endpoint, Lease
from verifiers.judge.endpoints.faults import Fault, Filtered, Retry
from verifiers.judge.endpoints.requests import estimated_tokens
from verifiers.judge.endpoints.reward_servers import SERVERS, Form, Input, Rewards, answers_of
from verifiers.judge.endpoints.statuses import fault_of


@dataclass(frozen=True, slots=True)
class RewardReply:
    """The answer of one endpoint to several inputs."""

    rewards: Sequence[Rewards | None]
    """Those of each input, in order; None where a value is not a finite number."""
    endpoint: str
    model: str
    prompt_tokens: int | None
    """The tokens of all inputs, if the endpoint says them."""


class RewardCall:
    """The errand of several inputs."""

    def __init__(self, inputs: Sequence[Input], form: Form, options: dict[str, Any], wall: Callable[[], float]) -> None:
        """`options`: further fields of the request."""
        self._inputs = inputs
        self._form = form
        self._options = options
        self._wall = wall
        self.tokens = sum(tokens_of(entry) for entry in inputs)
        self.affinity: bytes | None = None
        self.is_whole = True

    async def run(self, lease: Lease, within_s: float, attempt: int) -> RewardReply:
        endpoint = lease.endpoint
        reply, lease_usage = await exchange(endpoint, self._inputs, self._form, self._options, within_s, self._wall())
        lease.succeeded(lease_usage)
        return reply


async def exchange(
    endpoint: Endpoint, inputs: Sequence[Input], form: Form, options: dict[str, Any], within_s: float, wall: float
) -> tuple[RewardReply, Any]:
    """Do one exchange; the rewards and the usage.

    Raises:
        Fault: there is no answer, or not one about these inputs.
    """
    config = endpoint.config
    server = SERVERS[config.protocol]
    if form not in server.forms:
        forms = " or ".join(sorted(server.forms))
        raise Fault("bad_upstream_request", f"{config.protocol} takes {forms}", Retry.NEVER, reached=False)
    body = {"model": config.model, **server.body(inputs, form), **options, **config.extra_body}
    answer = await endpoint.wire.post(msgspec.json.encode(body), within_s)
    if answer.status != 200:
        raise _fault(endpoint, answer.status, answer.headers, answer.body, wall)
    rewards, usage = answers_of(config.protocol, answer.body, len(inputs))
    return RewardReply(rewards, endpoint.name, config.model, usage.prompt), usage


def _fault(endpoint: Endpoint, status: int, headers: Any, body: bytes, wall: float) -> Fault:
    config = endpoint.config
    try:
        return fault_of(
            status, headers, body, names=(), retry_404=config.retry_404, wall=wall, secrets=endpoint.wire.secrets
        )
    except Filtered as filtered:
        return Fault("bad_upstream_request", str(filtered), Retry.NEVER, status=status)


def tokens_of(entry: Input) -> float:
    """The estimated tokens of an input."""
    texts = (
        [entry] if isinstance(entry, str) else [part if isinstance(part, str) else part["content"] for part in entry]
    )
    return estimated_tokens([{"content": text} for text in texts], 0)
