"""A response that is more than text: an assistant's texts, thoughts and calls, and the messages between them.

The messages may come in any dialect (`dialects`); a verifier sees steps. A turn is the assistant's reaction to one
message of the user: its steps, with the results of its calls between them.

    user ──► assistant (call) ──► tool ──► assistant (text) ──► user ──► assistant (text)
             └───────────────── turn 1 ───────────────────┘             └── turn 2 ───┘
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field

Role = Literal["system", "user", "assistant", "tool"]
Turn = Literal["last", "all"] | Annotated[int, Field(strict=True, ge=1, le=10_000)]
"""The turn of a conversation that is judged; a number counts from 1. A response that is text is one turn."""


class ToolCall(msgspec.Struct, frozen=True):
    """A call as the model made it."""

    name: str
    arguments: Any
    """The arguments: an object, or a text that was meant as one."""
    id: str | None = None


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message: its text and its calls."""

    role: Role
    text: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: str | None = None
    """For a tool: the id of the call with this result."""
    name: str | None = None
    """For a tool: its name."""
    is_error: bool = False
    """For a tool: whether it reports that the call failed."""
    others: tuple[str, ...] = ()
    """The types of the parts that are neither text nor thought nor call."""

    @property
    def whole_text(self) -> str:
        """The text with the thought before it, as models write it if their server does not separate the two."""
        if not self.reasoning:
            return self.text
        is_cut_off = not self.text and not self.calls
        return f"<think>\n{self.reasoning}" + ("" if is_cut_off else f"\n</think>\n\n{self.text}")


class Conversation(msgspec.Struct, frozen=True):
    """A response as steps, in the order in which they came."""

    steps: tuple[Step, ...]

    @property
    def turns(self) -> list[list[Step]]:
        """The steps of each turn, including those of tools; a turn has at least one step of the assistant."""
        turns: list[list[Step]] = []
        is_new = True
        for step in self.steps:
            if step.role in ("user", "system"):
                is_new = True
            elif step.role == "assistant" and is_new:
                turns.append([step])
                is_new = False
            elif not is_new:
                turns[-1].append(step)
        return turns

    def chosen(self, turn: Turn) -> list[list[Step]]:
        """The turns that are judged; empty if there are fewer turns than the given number."""
        turns = self.turns
        if turn == "all":
            return turns
        return turns[-1:] if turn == "last" else turns[turn - 1 : turn]

    def judged(self, turn: Turn) -> list[Step]:
        """The steps whose text is judged: all of the assistant's steps, or the last one of a turn."""
        answers = [[step for step in steps if step.role == "assistant"] for steps in self.chosen(turn)]
        return [step for steps in answers for step in (steps if turn == "all" else steps[-1:])]

    def text(self, turn: Turn) -> str:
        """The text for verifiers of text; empty if there is no such turn."""
        return "\n\n".join(step.whole_text for step in self.judged(turn))

    def unjudged(self, turn: Turn) -> list[str]:
        """The parts beside the text that a verifier of text would ignore, by the names of their fields."""
        return sorted({name for step in self.judged(turn) for name in parts_beside_text(step)})

    def __str__(self) -> str:
        return "\n\n".join(_step_text(step) for step in self.steps)


def parts_beside_text(step: Step) -> Iterator[str]:
    if step.calls:
        yield "tool_calls"
    yield from step.others


def of_text(text: str) -> Conversation:
    """The conversation of a response that is text."""
    return Conversation((Step("assistant", text),))


def plain(conversation: Conversation) -> str | None:
    """The text of a conversation that is only a text; otherwise None."""
    steps: Sequence[Step] = conversation.steps
    if len(steps) != 1 or steps[0].role != "assistant" or any(parts_beside_text(steps[0])):
        return None
    return steps[0].whole_text


def _step_text(step: Step) -> str:
    calls = [f"calls {call.name} with {as_json(call.arguments)}" for call in step.calls]
    return f"{step.role}: " + "\n".join(part for part in (step.text, *calls) if part)


def as_json(value: Any) -> str:
    """The arguments of a call as they are shown."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
