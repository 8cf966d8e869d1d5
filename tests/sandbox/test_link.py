"""`sandbox.boxes.link` against far sides that say what they should, and ones that say anything else, on both event loops."""

import asyncio
import socket
import struct
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

import pytest
import uvloop

from sandbox.boxes.link import MAX_STDERR_BYTES, Link, Malformed, Question
from sandbox.runner.frames import MAX_HEADER_BYTES
from tests.waiting import PATIENCE_S, turns, until


class Conversation:
    """A link, and the socket on its far side."""

    def __init__(self, *, is_multiplexed: bool = False) -> None:
        self.ours, self.far = socket.socketpair()
        self.ours.setblocking(False)
        self.far.setblocking(False)
        self.link = Link(self.ours, is_multiplexed=is_multiplexed)
        self.link.when_lost(self._lose)
        self.heard: list[tuple[bytes, bytes]] = []
        self.lost: list[str] = []
        self._changed = asyncio.Event()

    def ask(self, frame: bytes = b"?", max_body_bytes: int = 1000) -> None:
        self.link.ask(Question(frame, lambda header, body: (header, body), self._hear, max_body_bytes))

    async def say(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.far, data)

    async def until(self, answers: int = 0, losses: int = 0) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while len(self.heard) < answers or len(self.lost) < losses:
                self._changed.clear()
                await self._changed.wait()

    def close(self) -> None:
        self.link.close()
        self.far.close()
        self.ours.close()

    def _hear(self, answer: tuple[bytes, bytes]) -> None:
        if answer[0] == b"unreadable":
            raise Malformed("unreadable")
        self.heard.append(answer)
        self._changed.set()

    def _lose(self, why: str) -> None:
        self.lost.append(why)
        self._changed.set()


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def runner(request: pytest.FixtureRequest) -> Iterator[asyncio.Runner]:
    with asyncio.Runner(loop_factory=request.param) as made:
        yield made


Scene = Callable[[Conversation], Coroutine[Any, Any, None]]
Play = Callable[[Scene], None]


@pytest.fixture
def play(runner: asyncio.Runner) -> Play:
    """Runs a scene with a new conversation."""
    return lambda scene: runner.run(_played(scene, is_multiplexed=False))


@pytest.fixture
def play_attached(runner: asyncio.Runner) -> Play:
    """The same over Docker's attach format."""
    return lambda scene: runner.run(_played(scene, is_multiplexed=True))


async def _played(scene: Scene, *, is_multiplexed: bool) -> None:
    conversation = Conversation(is_multiplexed=is_multiplexed)
    try:
        await scene(conversation)
    finally:
        conversation.close()


def framed(header: bytes, body: bytes = b"") -> bytes:
    return struct.pack("!II", len(header), len(body)) + header + body


def streamed(stream: int, data: bytes) -> bytes:
    return struct.pack("!B3xI", stream, len(data)) + data


def test_answers_are_heard_in_the_order_of_the_questions(play: Play) -> None:
    async def scene(conversation: Conversation) -> None:
        for _ in range(3):
            conversation.ask()
        await conversation.say(framed(b"one") + framed(b"two", b"body") + framed(b"three"))
        await conversation.until(answers=3)
        assert conversation.heard == [(b"one", b""), (b"two", b"body"), (b"three", b"")]
        assert not conversation.lost

    play(scene)


def test_an_answer_may_come_byte_by_byte(play: Play) -> None:
    async def scene(conversation: Conversation) -> None:
        conversation.ask()
        conversation.ask()
        for byte in framed(b"header", b"body") + framed(b"x"):
            await conversation.say(bytes([byte]))
            await turns()
        await conversation.until(answers=2)
        assert conversation.heard == [(b"header", b"body"), (b"x", b"")]

    play(scene)


def test_large_frames_pass_both_ways_at_once(play: Play) -> None:
    async def scene(conversation: Conversation) -> None:
        question, answer = bytes(3_000_000), b"a" * 4_000_000
        conversation.ask(question, max_body_bytes=len(answer))
        conversation.ask(b"after it")

        async def far_side() -> bytes:
            heard = bytearray()
            while len(heard) < len(question) + len(b"after it"):
                heard += await asyncio.get_running_loop().sock_recv(conversation.far, 1 << 20)
            return bytes(heard)

        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            group.create_task(conversation.say(framed(b"big", answer)))
            heard = group.create_task(far_side())
        await conversation.until(answers=1)
        assert heard.result() == question + b"after it"
        assert conversation.heard == [(b"big", answer)]

    play(scene)


def test_closing_at_any_byte_loses_the_link_once_and_gives_only_whole_answers(runner: asyncio.Runner) -> None:
    said = framed(b"first", b"body") + framed(b"second", b"body")
    first = len(framed(b"first", b"body"))

    async def scene(conversation: Conversation, cut: int) -> None:
        conversation.ask()
        conversation.ask()
        await conversation.say(said[:cut])
        conversation.far.close()
        await conversation.until(losses=1)
        assert len(conversation.heard) == (cut >= first)
        conversation.ask()
        await turns()
        assert len(conversation.lost) == 1

    for cut in range(len(said)):
        runner.run(_played(partial(scene, cut=cut), is_multiplexed=False))


@pytest.mark.parametrize(
    "said",
    [
        struct.pack("!II", MAX_HEADER_BYTES + 1, 0),
        struct.pack("!II", 2, 1001),
        b"\xff" * 8,
        b"Traceback (most recent call last):\n",
        framed(b"unreadable"),
        framed(b"asked") + framed(b"not asked"),
    ],
    ids=["long header", "long body", "huge", "text", "unreadable", "one too many"],
)
def test_what_does_not_fit_the_protocol_loses_the_link(play: Play, said: bytes) -> None:
    async def scene(conversation: Conversation) -> None:
        conversation.ask()
        await conversation.say(said)
        await conversation.until(losses=1)
        assert conversation.lost[0].startswith("malformed: ")
        await conversation.say(framed(b"and more"))
        await turns()
        assert len(conversation.lost) == 1

    play(scene)


def test_a_body_longer_than_its_question_allows_is_refused_before_it_comes(play: Play) -> None:
    async def scene(conversation: Conversation) -> None:
        conversation.ask(max_body_bytes=10)
        await conversation.say(struct.pack("!II", 0, 11))
        await conversation.until(losses=1)

    play(scene)


def test_answers_before_the_malformed_one_are_heard(play: Play) -> None:
    async def scene(conversation: Conversation) -> None:
        conversation.ask()
        conversation.ask()
        await conversation.say(framed(b"good") + b"\xff" * 8)
        await conversation.until(losses=1)
        assert conversation.heard == [(b"good", b"")]

    play(scene)


def test_an_answer_before_any_question_loses_the_link(play: Play) -> None:
    async def scene(conversation: Conversation) -> None:
        await conversation.say(framed(b"hello"))
        await conversation.until(losses=1)

    play(scene)


def test_a_closed_link_hears_nothing_and_is_not_lost(play: Play) -> None:
    async def scene(conversation: Conversation) -> None:
        conversation.ask()
        conversation.link.close()
        await conversation.say(framed(b"late"))
        conversation.far.close()
        await turns()
        assert conversation.heard == []
        assert conversation.lost == []

    play(scene)


def test_a_loss_that_nobody_heard_is_told_to_who_listens_next(play: Play) -> None:
    async def scene(conversation: Conversation) -> None:
        conversation.far.close()
        await conversation.until(losses=1)
        earlier: list[str] = []
        conversation.link.when_lost(earlier.append)
        conversation.link.when_lost(conversation._lose)
        await conversation.until(losses=2)
        assert earlier == []
        conversation.link.when_lost(earlier.append)
        conversation.link.close()
        await turns()
        assert earlier == []

    play(scene)


def test_the_last_answer_of_a_far_side_that_went_away_is_heard(play: Play) -> None:
    async def scene(conversation: Conversation) -> None:
        conversation.ask()
        await conversation.say(framed(b"last words"))
        conversation.far.close()
        conversation.ask(bytes(1_000_000))
        await conversation.until(answers=1, losses=1)
        assert conversation.heard == [(b"last words", b"")]

    play(scene)


def test_an_attached_stream_is_taken_apart_at_any_boundary(play_attached: Play) -> None:
    async def scene(attached: Conversation) -> None:
        answer = framed(b"header", b"body of it")
        said = streamed(1, answer[:3]) + streamed(2, b"some ") + streamed(1, b"") + streamed(1, answer[3:])
        attached.ask()
        for byte in said + streamed(2, b"words"):
            await attached.say(bytes([byte]))
            await turns()
        await attached.until(answers=1)
        await until(lambda: attached.link.stderr_text == "some words")
        assert attached.heard == [(b"header", b"body of it")]
        assert not attached.lost

    play_attached(scene)


def test_only_the_end_of_the_words_is_kept(play_attached: Play) -> None:
    async def scene(attached: Conversation) -> None:
        attached.ask()
        await attached.say(streamed(2, b"a" * 100_000 + b"the end") + streamed(1, framed(b"x")))
        await attached.until(answers=1)
        assert len(attached.link.stderr_text) == MAX_STDERR_BYTES
        assert attached.link.stderr_text.endswith("the end")

    play_attached(scene)


@pytest.mark.parametrize("head", [b"\x03\0\0\0\0\0\0\1", b"\x01\0\1\0\0\0\0\1", b"HTTP/1.1"])
def test_a_head_that_is_none_loses_an_attached_link(play_attached: Play, head: bytes) -> None:
    async def scene(attached: Conversation) -> None:
        attached.ask()
        await attached.say(head + b"x")
        await attached.until(losses=1)
        assert attached.lost[0].startswith("malformed: ")

    play_attached(scene)
