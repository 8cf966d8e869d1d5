"""One box of the pool: a box whose runner has said hello."""

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from fairness import DEFAULT
from sandbox.base import SandboxUnavailable
from sandbox.boxes.backend import Backend, Box, Profile
from sandbox.boxes.bootstrap import first_frame, pack
from sandbox.boxes.link import Link, Question
from sandbox.boxes.pool.job import Job
from sandbox.boxes.pool.messages import Hello, read_hello
from sandbox.runner.frames import PROTOCOL

START_PATIENCE_S: Final = 60.0


@dataclass(eq=False, slots=True)
class PooledBox:
    """Made by `PooledBox.make`. Its owner finally calls `link.close()` and awaits `box.destroy()`."""

    box: Box
    link: Link
    hello: Hello
    expires_s: float = 0.0
    """This and the other times are on the loop's clock."""
    quiet_since_s: float = 0.0
    ping_ends_s: float | None = None
    """When to stop waiting for the answer to a ping, if one was sent."""
    is_for_once: bool = False
    """It is destroyed after one program: the runner need not empty it."""
    is_alone: bool = False
    """Made for one program only."""
    job: Job | None = None
    core: int | None = None
    """The processor it is pinned to while lent, see `sandbox.boxes.pool.cores`."""
    jobs: int = 0
    """How many programs it has run."""
    suspicions: int = 0
    """How many of those left processes behind."""
    tenant: str = DEFAULT
    """To whom it was lent last."""
    _due_back_s: float = 0.0

    def lent(self, tenant: str, work_s: float) -> None:
        """Note that a tenant has the box now, for about so many seconds."""
        self.tenant = tenant
        self._due_back_s = asyncio.get_running_loop().time() + work_s

    def overran_s(self) -> float:
        """The seconds for which it was lent longer than expected; negative if it comes back sooner."""
        return asyncio.get_running_loop().time() - self._due_back_s

    @property
    def profile(self) -> Profile:
        return self.box.profile

    @classmethod
    async def make(cls, backend: Backend, profile: Profile, *, once: bool) -> "PooledBox":
        """Start a box and its runner, which is told whether the box is for one program only.

        Raises:
            SandboxUnavailable: there is no box. Nothing is left of the attempt.
        """
        await pack()
        try:
            async with asyncio.timeout(START_PATIENCE_S):
                box = await backend.make(profile, once=once)
                return await cls._greeted(box, once=once)
        except TimeoutError as error:
            raise SandboxUnavailable(f"a box was not ready within {START_PATIENCE_S:g} s") from error
        except OSError as error:
            raise SandboxUnavailable(f"a box could not be started: {error}") from error

    @classmethod
    async def _greeted(cls, box: Box, *, once: bool) -> "PooledBox":
        link = Link(box.connection, is_multiplexed=box.is_multiplexed)
        try:
            return cls(box, link, await _hello(box, link, once=once), is_for_once=once)
        except BaseException:
            link.close()
            await box.destroy()
            raise


async def _hello(box: Box, link: Link, *, once: bool) -> Hello:
    greeting: asyncio.Future[Hello | str] = asyncio.get_running_loop().create_future()

    def on_answer(answer: Hello | str) -> None:
        if not greeting.done():
            greeting.set_result(answer)

    link.when_lost(on_answer)
    configuration = replace(box.configuration, once=once)
    link.ask(Question(first_frame(configuration, has_runner=box.has_runner), read_hello, on_answer))
    hello = await greeting
    if isinstance(hello, str):
        stderr_text = link.stderr_text or await box.stderr_text()
        raise SandboxUnavailable(f"the runner in a box did not start: {hello}. {stderr_text}".rstrip())
    if hello.protocol != PROTOCOL:
        raise SandboxUnavailable(f"the runner in a box speaks protocol {hello.protocol}, not {PROTOCOL}")
    return hello
