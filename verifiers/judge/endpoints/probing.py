"""Probes what an endpoint can do: at the start, whenever it comes back, and before its key is called wrong.

A probe is one small call with everything at once: a schema that no model would follow by itself, log-probabilities, two
choices, temperature and seed. It warms up what a server compiles at first use, and shows which parameters are refused.
A 200 alone shows nothing, because servers ignore parameters that they do not know.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from verifiers.judge.endpoints.chat import send
from verifiers.judge.endpoints.endpoint import Endpoint
from verifiers.judge.endpoints.faults import Fault, Filtered
from verifiers.judge.endpoints.health import State
from verifiers.judge.endpoints.replies import choice_of, message_of
from verifiers.judge.endpoints.requests import Capabilities, ask_for_schema
from verifiers.judge.endpoints.reward_servers import SERVERS, Input
from verifiers.judge.endpoints.rewarding import exchange

log = logging.getLogger("rewardline.judge")

PROBE_WORD = "zq-41"
_SCHEMA = {
    "type": "object",
    "properties": {"code": {"type": "string", "enum": [PROBE_WORD]}},
    "required": ["code"],
    "additionalProperties": False,
}
_MESSAGES = ({"role": "user", "content": "Say hello in one word."},)
_MAX_TOKENS = 48
_FORMS = ("text", "pair", "messages")


class Prober:
    """Probes one endpoint as long as `run` runs."""

    def __init__(self, endpoint: Endpoint, clock: Callable[[], float], wall: Callable[[], float]) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._wall = wall
        self._called = asyncio.Event()
        endpoint.call_prober = self._called.set
        endpoint.probed_in_background = True
        endpoint.health.await_probe()

    async def run(self) -> None:
        while True:
            await self._until_due()
            await self.probe()

    async def _until_due(self) -> None:
        endpoint = self._endpoint
        while True:
            self._called.clear()
            state = endpoint.health.tick(self._clock())
            if endpoint.suspected or state in (State.UNPROBED, State.TRIAL):
                return
            is_out = state in (State.EJECTED, State.DISABLED)
            wait_s = endpoint.health.ejected_until - self._clock() if is_out else None
            try:
                async with asyncio.timeout(wait_s):
                    await self._called.wait()
            except TimeoutError:
                pass

    async def probe(self) -> None:
        """Probe once, and update the endpoint's state with the result."""
        endpoint = self._endpoint
        old_state = endpoint.health.state
        endpoint.counters.probes += 1
        try:
            await self._check_health()
            endpoint.capabilities = await self._learn()
        except Filtered:
            endpoint.health.succeeded()
        except Fault as fault:
            self._conclude(fault)
        except Exception:  # an unexpected reply must not end the probes of this endpoint
            log.exception("the probe of judge endpoint %s", endpoint.name)
            self._conclude(Fault("bad_upstream_body", "the probe could not be read", ill=True))
        else:
            endpoint.health.succeeded()
        finally:
            endpoint.suspected = None
        if endpoint.health.state is not old_state:
            log.log(
                logging.ERROR if endpoint.health.state is State.DISABLED else logging.INFO,
                "judge endpoint %s is %s (%s)",
                endpoint.name,
                endpoint.health.state.value,
                endpoint.health.why,
            )
        endpoint.probe_ended()

    def _conclude(self, fault: Fault) -> None:
        health = self._endpoint.health
        if fault.suspect:
            health.disable(fault.kind, self._clock())
        elif fault.ill or fault.kind == "quota":
            if health.state in (State.UNPROBED, State.TRIAL):
                health.failed(fault.kind, self._clock())
            else:
                health.eject(fault.kind, self._clock())
        else:
            # The endpoint is up, but too busy for a probe, or it refuses this one.
            health.succeeded()

    async def _check_health(self) -> None:
        config = self._endpoint.config
        if config.health_path is None:
            return
        status = await self._endpoint.wire.ask_health(config.timeout.total_s)
        if status >= 400:
            raise Fault("upstream_5xx", f"{config.health_path} says {status}", status=status, ill=True)

    async def _learn(self) -> Capabilities:
        endpoint = self._endpoint
        can = Capabilities()
        if endpoint.config.protocol == "decisions":
            return can
        if endpoint.config.gives_rewards:
            await self._try_rewards()
            return can
        until = self._clock() + endpoint.config.timeout.probe_s
        while True:
            body = _body(endpoint, can)
            try:
                content = await send(endpoint, body, until - self._clock(), self._wall())
            except Fault as fault:
                if fault.parameter is None or fault.parameter in can.refused or fault.parameter not in body:
                    raise
                if not can.drop(fault.parameter):
                    raise
                continue
            _read(content, body, can)
            return can

    async def _try_rewards(self) -> None:
        """Ask for the rewards of one short input."""
        config = self._endpoint.config
        form = min(SERVERS[config.protocol].forms, key=_FORMS.index)
        text = _MESSAGES[0]["content"]
        probe_input: Input = (text, text) if form == "pair" else text
        reply, _ = await exchange(self._endpoint, [probe_input], form, {}, config.timeout.probe_s, self._wall())
        if reply.rewards[0] is None:
            raise Fault("bad_upstream_body", "the reward of the probe is not a finite number", ill=True)


def _body(endpoint: Endpoint, can: Capabilities) -> dict[str, Any]:
    limit = "max_completion_tokens" if "max_tokens" in can.refused else "max_tokens"
    body: dict[str, Any] = {"model": endpoint.config.model, "messages": _MESSAGES, limit: _MAX_TOKENS}
    wishes: dict[str, Any] = {"temperature": 0, "seed": 0, "n": 2}
    if endpoint.config.logprobs is not False and "top_logprobs" not in can.refused:
        wishes |= {"logprobs": True, "top_logprobs": 2}
    body |= {name: value for name, value in wishes.items() if name not in can.refused}
    if "logprobs" not in body:
        body.pop("top_logprobs", None)
    ask_for_schema(body, endpoint.config, can, "probe", _SCHEMA)
    return body | endpoint.config.extra_body


def _read(content: Mapping[str, Any], body: Mapping[str, Any], can: Capabilities) -> None:
    choices = content.get("choices")
    can.several = "n" in body and isinstance(choices, list) and len(choices) == body["n"]
    choice = choice_of(content)
    if "logprobs" in body:
        logprobs = choice.get("logprobs")
        can.logprobs = isinstance(logprobs, dict) and bool(logprobs.get("content"))
    else:
        can.logprobs = False if {"logprobs", "top_logprobs"} & can.refused else None
    if "response_format" in body or "structured_outputs" in body:
        can.schema = _keeps(message_of(choice).get("content"), choice.get("finish_reason"))
    elif {"response_format", "structured_outputs"} & can.refused:
        can.schema = False


def _keeps(text: Any, finish_reason: Any) -> bool | None:
    """Whether the reply follows the schema; None if it was cut off too early to tell."""
    reply = text.strip() if isinstance(text, str) else ""
    try:
        if msgspec.json.decode(reply) == {"code": PROBE_WORD}:
            return True
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    is_start_of_object = not reply or reply.startswith("{")
    return None if finish_reason == "length" and is_start_of_object else False
