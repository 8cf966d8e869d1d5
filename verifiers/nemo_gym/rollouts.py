"""A rollout as a server of NeMo-Gym sees it, and what it says of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from verifiers.base import InvalidItem, Item, Status, Verdict, clip
from verifiers.conversation import Step, ToolCall
from verifiers.rules import documents

T = TypeVar("T")
FENCE: Final = re.compile(r"```[^\n`]{0,100}\n(.*?)```", re.DOTALL)
"""Its group is the content."""
_THOUGHTS, _END_OF_THOUGHTS = "<think>", "</think>"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a server makes of a response."""

    score: float
    """Correctness in [0, 1]."""
    extracted: str | None = None
    wrong: str = "wrong_answer"
    """The reason where the score is 0."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    total: float | None = None
    """The return of an episode, the sum of its rewards."""

    def verdict(self) -> Verdict:
        score = min(max(self.score, 0.0), 1.0)
        reason = "correct" if score == 1.0 else "partial" if score else self.wrong
        return Verdict(Status.OK, score, reason, clip(self.extracted), dict(self.detail))


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model was shown last, and what it said then, without thoughts."""

    shown: str
    text: str


@dataclass(frozen=True)
class Rollout:
    """A response and its row."""

    text: str
    """The texts of the assistant, one after the other, without thoughts and calls; empty if a thought was cut off."""
    written: str
    """The same with the thoughts that stand among them, as servers see it that do not know thoughts."""
    reasoning: str
    """The thoughts."""
    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]
    """What the tools answered."""
    prompt: str
    row: Mapping[str, Any]
    turns: tuple[Turn, ...] = ()
    """Of an episode: the first one was shown the prompt, each other one a message of the user."""

    @classmethod
    def of(cls, item: Item[Any]) -> "Rollout":
        steps = [step for step in item.said.steps if step.role == "assistant"]
        all_text = "".join(step.text for step in steps)
        lead, end, text = all_text.rpartition(_END_OF_THOUGHTS)
        if not end and _THOUGHTS in all_text:
            lead, text = all_text, ""
        reasoning = "".join(step.reasoning for step in steps) + lead.replace(_THOUGHTS, "", 1)
        calls = tuple(call for step in steps for call in step.calls)
        results = tuple(step.text for step in item.said.steps if step.role == "tool")
        prompt = item.prompt or ""
        turns = tuple(_turns(prompt, item.said.steps))
        return cls(text.strip(), all_text, reasoning, calls, results, prompt, item.params.reference, turns)

    def get(self, name: str, kind: type[T]) -> T:
        """A field of the row.

        Raises:
            InvalidItem: the row has none of this kind.
        """
        value = self.row.get(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise InvalidItem("bad_row", f"the row needs {name!r} as {_NAMES.get(kind, kind.__name__)}; add it")
        if isinstance(value, str) and not value.strip():
            raise InvalidItem("bad_row", f"the row's {name!r} is empty; fill it")
        return value

    def texts(self, name: str) -> list[str]:
        """A field that is a list of texts, at least one.

        Raises:
            InvalidItem: it is anything else.
        """
        values = self.get(name, list)
        if not values or not all(isinstance(value, str) and value.strip() for value in values):
            raise InvalidItem("bad_row", f"the row needs {name!r} as a list of texts, none of them empty; mend it")
        return values


def _turns(prompt: str, steps: Sequence[Step]) -> Iterator[Turn]:
    observation, reply = prompt, ""
    for step in steps:
        if step.role == "user":
            if reply:
                yield Turn(observation, reply)
            observation, reply = step.text, ""
        elif step.role == "assistant":
            reply += step.text.rpartition(_END_OF_THOUGHTS)[2]
    if reply:
        yield Turn(observation, reply)


def between(text: str, opening: str, end: str) -> Iterator[str]:
    """The parts of a text from each mark to the next mark that ends it, in time that grows with the text alone."""
    start = text.find(opening)
    while start >= 0:
        stop = text.find(end, start := start + len(opening))
        if stop < 0:
            return
        yield text[start:stop]
        start = text.find(opening, stop + len(end))


def last_box(text: str) -> str | None:
    r"""The content of the last `\boxed{}`. None: there is none, or it does not end."""
    _, mark, content = text.rpartition("\\boxed{")
    depth = 1
    for index, letter in enumerate(content if mark else ""):
        depth += (letter == "{") - (letter == "}")
        if not depth:
            return content[:index]
    return None


def parsed(value: Any) -> Any:
    """A value that may be JSON in text; None if the text is not JSON, or the value is nested too deep."""
    try:
        if isinstance(value, str):
            return documents.read_json(value, unique_keys=False)
        documents.check_depth(value)
    except documents.Unreadable:
        return None
    return value


_NAMES = {str: "text", list: "a list", dict: "an object", int: "a whole number", bool: "true or false"}
