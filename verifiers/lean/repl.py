"""Talks with Lean's read-eval-print loop in a box: all commands go in at once, and the answers come out in their order.

The first command may be one that many processes begin with. If so, the boxes may keep a process that has done it.

The protocol is that of leanprover-community/repl: JSON with blank lines between. An answer that is not of this form is
no answer, and neither are those behind it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from sandbox.base import Execute, Exit, Limits, Program, RunResult, Sandbox, SandboxUnavailable

LANGUAGE: Final = "lean_repl"
Order = Mapping[str, Any]
"""One command: `{"cmd": text, "env": number}`, `{"pickleTo": path, "env": number}`, `{"unpickleEnvFrom": path}`."""


class Position(msgspec.Struct, frozen=True):
    line: int
    column: int


class Message(msgspec.Struct, frozen=True):
    """What Lean says about a place of the text."""

    severity: str
    data: str
    pos: Position | None = None


class Reply(msgspec.Struct, frozen=True):
    """The answer to one command. `message` alone says that the loop could not do it."""

    env: int | None = None
    messages: list[Message] = []
    sorries: list[Any] = []
    message: str | None = None

    @property
    def error(self) -> str | None:
        """The first error, with its place; None: there is none."""
        if self.message is not None:
            return self.message
        for message in self.messages:
            if message.severity == "error":
                position = f"{message.pos.line}:{message.pos.column}: " if message.pos else ""
                return position + message.data
        return None


@dataclass(frozen=True, slots=True)
class Talk:
    """What a loop said before its process ended."""

    replies: Sequence[Reply]
    """One for each command, or fewer."""
    result: RunResult

    @property
    def end(self) -> str:
        """How the process ended, for people."""
        words = self.result.stderr[-500:].decode("utf-8", "replace").strip()
        how = f"exit code {self.result.code}" if self.result.exit is Exit.EXITED else str(self.result.exit)
        return f"{how}; {words}" if words else how


def demand(sandbox: Sandbox) -> None:
    """Check that boxes have Lean's loop, whatever the response is.

    Raises:
        SandboxUnavailable: they have other languages alone.
    """
    if sandbox.languages and LANGUAGE not in sandbox.languages:
        raise SandboxUnavailable(f"the task needs Lean, and the boxes lack {LANGUAGE!r}", "language_unavailable")


async def talk(
    sandbox: Sandbox,
    orders: Sequence[Order],
    limits: Limits,
    *,
    files: Mapping[str, bytes] | None = None,
    fetch: Sequence[str] = (),
) -> Talk:
    """Give the commands to a process of the loop that has read nothing else.

    Raises:
        SandboxUnavailable: no box could run it.
    """
    results: list[RunResult] = []

    def take(_: int, result: RunResult) -> bool:
        results.append(result)
        return True

    run = Execute(stdin=input_of(orders[1:]), ahead=input_of(orders[:1]), files=files or {}, fetch=fetch, limits=limits)
    built = await sandbox.run(Program("", LANGUAGE), [run], take)
    if not results:
        raise SandboxUnavailable(f"the loop was not started: {built.message or built.exit}")
    return Talk(replies_of(results[0].stdout), results[0])


def input_of(orders: Sequence[Order]) -> bytes:
    """The commands as the loop reads them. Lone surrogates, which are not text, become question marks."""
    lines = (json.dumps(order, ensure_ascii=False) for order in orders)
    return "".join(f"{line}\n\n" for line in lines).encode("utf-8", "replace")


def parts_of(stdout: bytes) -> list[bytes]:
    """The texts of the answers, and of whatever else there is between blank lines."""
    return [part for part in stdout.split(b"\n\n") if part.strip()]


def replies_of(stdout: bytes) -> list[Reply]:
    replies: list[Reply] = []
    for part in parts_of(stdout):
        try:
            replies.append(msgspec.json.decode(part, type=Reply))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            break
    return replies
