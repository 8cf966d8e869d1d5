"""Votes that are kept."""

import asyncio
from pathlib import Path

import pytest

from tests.judge_upstream.grader import Grader
from tests.waiting import PATIENCE_S
from verifiers.judge import config, prompts
from verifiers.judge.endpoints import Gateway
from verifiers.judge.modes import Question
from verifiers.judge.panel import Panel
from verifiers.judge.rendering import Data
from verifiers.judge.schemas import NO_CONTEXT
from verifiers.judge.sharing import Shared


class Store:
    """Holds the same for every key, and what it was told."""

    def __init__(self, held: bytes) -> None:
        self._held = held
        self.stored: list[bytes] = []

    async def get(self, key: bytes) -> bytes | None:
        return self._held

    async def put(self, key: bytes, value: bytes) -> None:
        self.stored.append(value)


@pytest.mark.parametrize("held", [b"", b"\xc1garbage", b"\x90", b"\x93\x01\x02\x03"])
async def test_a_store_that_holds_something_else_is_a_store_that_holds_nothing(held: bytes, tmp_path: Path) -> None:
    store = Store(held)
    with Grader() as grader:
        read = config.load(grader.file(tmp_path))
        gateway = Gateway(read.endpoints, read.pools, keys={})
        panel = Panel(read, gateway, Shared(1_000_000, store), prompts.load(), fence_secret=b"s" * 32)
        try:
            profile = read.profiles["reference"]
            question = Question(Data(references=("Paris",), response="It is Paris"), NO_CONTEXT)
            deadline = asyncio.get_running_loop().time() + PATIENCE_S
            prompt = panel.prompts[profile.prompt]
            ballots = [await panel.ballot(profile, prompt, question, votes=1, deadline=deadline) for _ in range(2)]
        finally:
            await panel.stop()
    assert [ballot.decision.value for ballot in ballots] == ["A", "A"]
    assert [ballot.votes[0].cached for ballot in ballots] == [False, True]
    assert len(grader.prompts) == len(store.stored) == 1


async def test_a_vote_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    with Grader() as grader:
        read = config.load(grader.file(tmp_path))
        panel = Panel(
            read,
            Gateway(read.endpoints, read.pools, keys={}),
            Shared(1_000_000),
            prompts.load(),
            fence_secret=b"s" * 32,
        )
        try:
            profile = read.profiles["reference"]
            question = Question(Data(references=("Paris",), response="It is Paris"), NO_CONTEXT)
            deadline = asyncio.get_running_loop().time() + PATIENCE_S
            prompt = panel.prompts[profile.prompt]
            ballots = [
                await panel.ballot(profile, prompt, question, votes=1, deadline=deadline, owner=owner)
                for owner in ("", "red", "blue", "red", "")
            ]
        finally:
            await panel.stop()
    assert [ballot.votes[0].cached for ballot in ballots] == [False, False, False, True, True]
