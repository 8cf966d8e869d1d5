"""Puts inputs that wait at the same time into one call, by tokens.

A call begins as soon as its pool has room; what arrives meanwhile waits, and fills the next call. So a quiet service
adds no delay, and a busy one sends full calls. A call holds inputs of one caller only, whose use is counted.

If a call fails by what is in it, its halves are asked by themselves, so that one input costs no other its reward.
"""

import asyncio
import contextvars
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from verifiers.judge.endpoints.gateway import Gateway
from verifiers.judge.endpoints.reward_servers import SERVERS, Form, Input, Rewards
from verifiers.judge.endpoints.rewarding import RewardReply, tokens_of
from verifiers.judge.errors import EndpointFailure, JudgeFailure
from verifiers.judge.rewards.profiles import Batch

log = logging.getLogger("rewardline.judge")

_OF_AN_INPUT: Final = frozenset({"bad_upstream_request", "context_overflow", "upstream_5xx", "bad_upstream_body"})
"""Failures that one input of several may cause."""


@dataclass(frozen=True, slots=True)
class Reward:
    """The reward of one input, and who gave it."""

    rewards: Rewards
    endpoint: str
    model: str


@dataclass(slots=True, eq=False)
class _Waiting:
    input: Input
    tokens: float
    deadline: float
    answer: "asyncio.Future[Reward | JudgeFailure]"
    context: contextvars.Context = field(default_factory=contextvars.copy_context)


class Batcher:
    """The calls to one pool, for inputs of one form with the same options."""

    def __init__(
        self,
        gateway: Gateway,
        pool: str,
        form: Form,
        options: dict[str, Any],
        batch: Batch,
        protocols: frozenset[str],
        caller: Callable[[], Hashable],
    ) -> None:
        """`protocols`: those of the pool's endpoints. `caller`: whose input it is, in the task of the caller."""
        self._gateway = gateway
        self._pool = pool
        self._form = form
        self._options = options
        self._batch = batch
        self._caller = caller
        self._asks_one_question = any(SERVERS[name].asks_one_question for name in protocols)
        self._waiting: OrderedDict[Hashable, deque[_Waiting]] = OrderedDict()
        self._calls: set[asyncio.Task[None]] = set()
        self._scheduled = False

    async def reward(self, reward_input: Input, deadline: float) -> Reward:
        """The reward of an input.

        Raises:
            JudgeFailure: there is none.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(reward_input, tokens_of(reward_input), deadline, loop.create_future())
        key = (self._caller(), reward_input[0] if self._asks_one_question else None)
        self._waiting.setdefault(key, deque()).append(waiting)
        self._schedule()
        try:
            async with asyncio.timeout_at(deadline):
                answer = await waiting.answer
        except TimeoutError as error:
            raise EndpointFailure("deadline", f"pool {self._pool}: no reward in time") from error
        if isinstance(answer, JudgeFailure):
            raise answer
        return answer

    async def stop(self) -> None:
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    def _schedule(self) -> None:
        """Fill calls once the callers that are ready now have all come."""
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._fill)

    def _fill(self) -> None:
        self._scheduled = False
        while self._waiting and len(self._calls) < self._gateway.capacity(self._pool):
            inputs = self._next()
            if inputs:
                # In the context of a caller, so that its tokens are counted as the caller's.
                call = inputs[0].context.run(asyncio.create_task, self._answer(inputs))
                self._calls.add(call)
                call.add_done_callback(partial(self._ended, inputs))
                _cancel_if_unwanted(call, inputs)

    def _ended(self, inputs: Sequence[_Waiting], call: "asyncio.Task[None]") -> None:
        """However a call ends, nobody waits for it any longer."""
        self._calls.discard(call)
        if not call.cancelled() and (error := call.exception()) is not None:
            log.error("pool %s: the answer of a reward model was not read", self._pool, exc_info=error)
            failure = EndpointFailure("bad_upstream_body", f"pool {self._pool}: the answer was not read; see the log")
            for each in inputs:
                _settle(each, failure)
        self._schedule()

    def _next(self) -> list[_Waiting]:
        """The inputs of the next call. Callers take turns."""
        key, queue = self._waiting.popitem(last=False)
        limit = 1 if self._form == "messages" else self._batch.inputs
        inputs: list[_Waiting] = []
        tokens = 0.0
        while queue and len(inputs) < limit:
            if queue[0].answer.done():
                queue.popleft()
                continue
            tokens += queue[0].tokens
            if inputs and tokens > self._batch.tokens:
                break
            inputs.append(queue.popleft())
        if queue:
            self._waiting[key] = queue
        return inputs

    async def _answer(self, inputs: Sequence[_Waiting]) -> None:
        """Give each input its reward, or the reason why it has none."""
        deadline = max(waiting.deadline for waiting in inputs)
        try:
            reply = await self._gateway.rewards(
                self._pool, [waiting.input for waiting in inputs], self._form, self._options, deadline=deadline
            )
        except EndpointFailure as failure:
            if len(inputs) > 1 and failure.kind in _OF_AN_INPUT:
                middle = len(inputs) // 2
                await self._answer(inputs[:middle])
                await self._answer(inputs[middle:])
                return
            for waiting in inputs:
                _settle(waiting, failure)
            return
        for waiting, rewards in zip(inputs, reply.rewards, strict=True):
            _settle(waiting, _reward(rewards, reply))


def _reward(rewards: Rewards | None, reply: RewardReply) -> Reward | JudgeFailure:
    if rewards is None:
        return JudgeFailure("not_finite", f"{reply.endpoint} gave a value that is not a finite number")
    return Reward(rewards, reply.endpoint, reply.model)


def _settle(waiting: _Waiting, answer: Reward | JudgeFailure) -> None:
    if not waiting.answer.done():
        waiting.answer.set_result(answer)


def _cancel_if_unwanted(call: "asyncio.Task[None]", inputs: Sequence[_Waiting]) -> None:
    """Cancel the call once nobody waits for any of its rewards."""
    waiting_count = len(inputs)

    def gone(_: object) -> None:
        nonlocal waiting_count
        waiting_count -= 1
        if not waiting_count and all(waiting.answer.cancelled() for waiting in inputs):
            call.cancel()

    for waiting in inputs:
        waiting.answer.add_done_callback(gone)
