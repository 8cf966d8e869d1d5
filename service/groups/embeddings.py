"""How unlike the others a response is by its meaning: the vectors of an embeddings endpoint (`/v1/embeddings`).

A pool of the judges' file gives the vectors. Texts that its model cannot take whole are sent without their middle.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import numpy as np

from service.tenant import owned
from service.wire import CacheMode
from verifiers.judge.errors import JudgeFailure
from verifiers.judge.panel import Panel
from verifiers.judge.rewards.panel import Ask
from verifiers.judge.rewards.profiles import Probability, RewardModel, Template
from verifiers.pace import together

_PROTOCOLS: Final = frozenset({"sglang_embeddings", "llama_embeddings", "vllm_pooling"})


class Embeddings:
    """Asks the pools of a panel. None: there are no pools."""

    def __init__(self, panel: Panel | None) -> None:
        self._panel = panel

    def problem(self, pool: str) -> str:
        """Why this pool gives no vectors; empty if it does."""
        pools = {} if self._panel is None else self._panel.config.pools
        if self._panel is None or pool not in pools:
            return f"terms.diversity.pool: no {pool!r}; there are {sorted(pools)}"
        endpoints = self._panel.config.endpoints
        others = {endpoints[name].protocol for name in self._panel.config.reach_of(pool)} - _PROTOCOLS
        return f"terms.diversity.pool: {pool} needs a protocol of {sorted(_PROTOCOLS)}" if others else ""

    async def novelty(self, texts: Sequence[str], pool: str, use: CacheMode, deadline: float) -> list[float]:
        """For each text, 1 less the mean cosine of its vector and each of the others', from 0 to 1. 0 for a blank text,
        which is none of the others; 1 if there are no others.

        Raises:
            JudgeFailure: a text has no vector.
        """
        assert self._panel is not None
        model = RewardModel(
            pools=[pool], input="text", template=Template(turn="{content}"), map=Probability(kind="probability")
        )
        asks = [Ask("", text, (), deadline, use, owned("")) for text in texts if text.strip()]
        rewards = [
            reward for reward, _ in await together([self._panel.rewards.reward(model, pool, ask) for ask in asks])
        ]
        rows = [reward.rewards.rows for reward in rewards]
        shapes = {(reward.model, len(row), len(row[0])) for reward, row in zip(rewards, rows, strict=True)}
        if len(shapes) > 1 or any(count != 1 for _, count, _ in shapes):
            raise JudgeFailure("bad_upstream_body", f"pool {pool}: expected one vector for each text, of one model")
        vectors = [row[0] for row in rows]
        if not all(map(any, vectors)):
            raise JudgeFailure("bad_upstream_body", f"pool {pool}: the vector of a text has length 0, and no direction")
        values = iter(await asyncio.to_thread(unlikeness, vectors))
        return [next(values) if text.strip() else 0.0 for text in texts]


def unlikeness(vectors: Sequence[Sequence[float]]) -> list[float]:
    """1 less the mean cosine of each vector and the others, from 0 to 1. None of the vectors has length 0."""
    if len(vectors) < 2:
        return [1.0] * len(vectors)
    matrix = np.array(vectors, dtype=float)
    matrix /= np.abs(matrix).max(axis=1, keepdims=True)  # the squares of the largest numbers have no double
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    cosines = matrix @ matrix.T
    means = (cosines.sum(axis=1) - cosines.diagonal()) / (len(vectors) - 1)
    return [float(value) for value in np.clip(1 - means, 0, 1)]
