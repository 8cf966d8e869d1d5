"""Asks reward models: keeps what they answered, and shortens a response that is too long for them."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from verifiers.judge.endpoints.gateway import Gateway
from verifiers.judge.endpoints.reward_servers import Form, Input
from verifiers.judge.errors import JudgeFailure
from verifiers.judge.long_texts import by_length
from verifiers.judge.rendering.clipping import clipped
from verifiers.judge.rewards.batching import Batcher, Reward
from verifiers.judge.rewards.formulas import RunningScores, by_step, ensembled
from verifiers.judge.rewards.profiles import Batch, RewardModel, Template
from verifiers.judge.sharing import Shared, Use


@dataclass(frozen=True, slots=True)
class Sent:
    """An input, and whether something was left out of the response."""

    input: Input
    is_cut: bool


def input_of(
    model: RewardModel,
    question: str,
    response: str,
    steps: Sequence[str],
    *,
    max_chars: int,
    control_tokens: Sequence[str],
) -> Sent:
    """The input for a response, or for its steps if the model scores steps."""
    tokens = [*control_tokens, *([model.steps.separator] if model.steps else [])]
    question_text, _ = clipped(question, max_chars, tokens, keeps_breaks=True)
    if model.steps is None:
        response_text, is_cut = clipped(response, max_chars, tokens, keeps_breaks=True)
    else:
        step_texts = [clipped(step, max(max_chars // len(steps), 1), tokens, keeps_breaks=True) for step in steps]
        response_text = model.steps.between.join(step_text + model.steps.separator for step_text, _ in step_texts)
        is_cut = any(cut for _, cut in step_texts)
    if model.input == "pair":
        return Sent((question_text, response_text), is_cut)
    messages = [{"role": "user", "content": question_text}, {"role": "assistant", "content": response_text}]
    if model.system is not None:
        messages.insert(0, {"role": "system", "content": model.system})
    return Sent(messages if model.template is None else _text(model.template, messages), is_cut)


def _text(template: Template, messages: Sequence[dict[str, str]]) -> str:
    head, ending = template.turn.split("{content}")
    lead, has_role, tail = head.partition("{role}")
    pieces = [template.begin]
    for message in messages:
        role = template.roles.get(message["role"], message["role"])
        pieces += [lead, role if has_role else "", tail, message["content"], ending]
    return "".join((*pieces, template.end))


if TYPE_CHECKING:
    from verifiers.judge.config import JudgeConfig

_CUTS: Final = tuple(2**power for power in range(9))
"""A response that the server finds too long is cut to these parts of its limit, one after the other: what a response
holds never decides whether it is judged."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A response as one model is to score it."""

    question: str
    response: str
    steps: Sequence[str]
    deadline: float
    use: Use
    owner: str


@dataclass(frozen=True, slots=True)
class TextAsk:
    """How a text of a caller is scored."""

    within_s: float
    use: Use
    owner: str


class RewardPanel:
    """All reward models of the configuration."""

    def __init__(
        self,
        config: "JudgeConfig",
        gateway: Gateway,
        shared: Shared,
        counts: Counter[tuple[str, str]],
        caller: Callable[[], Hashable],
    ) -> None:
        self.config = config
        self.running = RunningScores()
        self._gateway = gateway
        self._shared = shared
        self._counts = counts
        self._caller = caller
        self._batchers: dict[tuple[str, Form, bool | None, Batch], Batcher] = {}
        self._models = {name: config.models_of(name) for name in config.pools}

    async def stop(self) -> None:
        for batcher in self._batchers.values():
            await batcher.stop()

    async def reward(self, model: RewardModel, pool: str, ask: Ask) -> tuple[Reward, bool]:
        """What a pool gives a response, and whether a part of it was left out.

        Raises:
            JudgeFailure: it gives nothing.
        """
        failure: JudgeFailure | None = None
        for cut in _CUTS:
            cut_input = await by_length(len(ask.response) + len(ask.question), self._sent, model, pool, ask, cut)
            if failure is not None and not cut_input.is_cut:
                continue
            try:
                reward = await self._kept(model, pool, model.input, cut_input.input, ask.deadline, ask.use, ask.owner)
                return reward, cut_input.is_cut
            except JudgeFailure as error:
                if error.kind != "context_overflow":
                    raise
                failure = error
        assert failure is not None
        raise failure

    def _sent(self, model: RewardModel, pool: str, ask: Ask, cut: int) -> Sent:
        members = sorted(self.config.reach_of(pool))
        tokens = [token for name in members for token in self.config.endpoints[name].extra_control_tokens]
        return input_of(
            model, ask.question, ask.response, ask.steps, max_chars=model.max_chars // cut, control_tokens=tokens
        )

    async def value_of_text(self, name: str, text: str, ask: TextAsk) -> float:
        """The value that a profile without steps gives a text, which is sent as it is; no margin, cost or map.

        Raises:
            JudgeFailure: there is none.
        """
        model = self.config.reward_models[name]
        deadline = asyncio.get_running_loop().time() + ask.within_s
        values = []
        for pool in model.pools:
            reward = await self._kept(model, pool, "text", text, deadline, ask.use, ask.owner)
            values += by_step(model, reward.rewards, 1)
        return ensembled(model, values)

    async def _kept(
        self, model: RewardModel, pool: str, form: Form, reward_input: Input, deadline: float, use: Use, owner: str
    ) -> Reward:
        batcher = self._batcher(model, pool, form)

        async def compute() -> tuple[bytes, bool]:
            return _encoder.encode(await batcher.reward(reward_input, deadline)), True

        key_bytes = msgspec.msgpack.encode([self._models[pool], form, model.special_tokens, owner, reward_input])
        key = hashlib.blake2b(key_bytes, digest_size=32, person=b"reward").digest()
        value, cached = await self._shared.get(key, compute, use=use, deadline=deadline)
        try:
            reward = _decoder.decode(value)
        except msgspec.MsgspecError:  # the stored bytes are not a reward: a miss
            value, cached = await self._shared.get(key, compute, use="refresh", deadline=deadline)
            reward = _decoder.decode(value)
        self._counts["vote", "cached" if cached else "asked"] += 1
        return reward

    def _batcher(self, model: RewardModel, pool: str, form: Form) -> Batcher:
        key = (pool, form, model.special_tokens, model.batch)
        batcher = self._batchers.get(key)
        if batcher is None:
            protocols = frozenset(self.config.endpoints[name].protocol for name in self.config.reach_of(pool))
            options = {} if model.special_tokens is None else {"add_special_tokens": model.special_tokens}
            batcher = Batcher(self._gateway, pool, form, options, model.batch, protocols, self._caller)
            self._batchers[key] = batcher
        return batcher


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Reward)
