"""A rollout as a server of NeMo-Gym sees it, and what it says of it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from verifiers.base import InvalidItem, Item, Status, Verdict, clip
from verifiers.commitment import Channel, ExtractionParams, corrected, extract
from verifiers.conversation import Step, ToolCall
from verifiers.rules import documents
from verifiers.rules.pairing import MAX_THINGS

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
        text = _without_thoughts(all_text)
        lead = all_text.removesuffix(text).removesuffix(_END_OF_THOUGHTS)
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


Servers = Mapping[str, Callable[[Rollout], Judgement]]
"""What servers do with a rollout, by their names."""


def _without_thoughts(text: str) -> str:
    """What stands behind the thoughts of a text; empty if the last one was cut off."""
    tail = text.rpartition(_END_OF_THOUGHTS)[2]
    return "" if _THOUGHTS in tail else tail


def _turns(prompt: str, steps: Sequence[Step]) -> Iterator[Turn]:
    observation, reply = prompt, ""
    for step in steps:
        if step.role == "user":
            if reply:
                yield Turn(observation, reply)
            observation, reply = step.text, ""
        elif step.role == "assistant":
            reply += _without_thoughts(step.text)
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


def stands_by(text: str, channel: Channel, tag: str = "answer") -> str | None:
    """The answer of a channel that the text neither denies, doubts nor takes back. `tag` is that of an answer."""
    text = as_answer(text, tag)
    return corrected(text, extract(text, ExtractionParams(extract=channel))).answer


def as_answer(text: str, tag: str) -> str:
    """A text with the tags of that name as tags of an answer."""
    return re.sub(rf"<(/?){tag}>", r"<\1answer>", text, flags=re.IGNORECASE)


def parsed(value: Any) -> Any:
    """A value that may be JSON in text; None if the text is not JSON, or the value is nested too deep."""
    try:
        if isinstance(value, str):
            return documents.read_json(value, unique_keys=False)
        documents.check_depth(value)
    except documents.Unreadable:
        return None
    return value


def call_of(action: Any) -> tuple[str, Mapping[str, Any]] | None:
    """The name and the arguments of a call of a row. None: it is not a call, or its arguments are not an object."""
    fields = action if isinstance(action, dict) else {}
    name, arguments = fields.get("name"), parsed(fields.get("arguments") or {})
    return (name.strip(), arguments) if isinstance(name, str) and name.strip() and isinstance(arguments, dict) else None


def merged(row: Mapping[str, Any], name: str = "verifier_metadata") -> dict[str, Any]:
    """The fields of a row, with those of its metadata that it does not have itself."""
    metadata = row.get(name)
    return {**(metadata if isinstance(metadata, dict) else {}), **row}


def calls_of(action: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The calls of an action that is a call or a batch of calls.

    Raises:
        InvalidItem: it is neither.
    """
    listed = action["calls"] if isinstance(action.get("calls"), list) else [action]
    calls = [call for entry in listed if (call := call_of(entry))]
    if not calls or len(calls) < len(listed) or len(calls) > MAX_THINGS:
        kinds = f"a message, or 1 to {MAX_THINGS} calls, each with a name and an object of arguments"
        raise InvalidItem("bad_row", f"the row's 'expected_action' must be {kinds}")
    return calls


def expected_call(row: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The call that a row demonstrates, in the first of three fields that has one.

    Raises:
        InvalidItem: none has.
    """
    metadata = row.get("metadata")
    hidden = metadata.get("expected_action") if isinstance(metadata, dict) else None
    for action in (row.get("expected_action"), parsed(row.get("expected_answer")), hidden):
        if call := call_of(action):
            return call
    raise InvalidItem(
        "bad_row", "the row needs 'expected_action', a call with a name and an object of arguments; add it"
    )


def clicked(rollout: Rollout) -> tuple[int, int] | None:
    """Where the first call of `click` points. None: nowhere, or so far away that it is not a pixel."""
    arguments: Any = next((parsed(call.arguments) for call in rollout.calls if call.name == "click"), None)
    try:
        x, y = int(arguments["x"]), int(arguments["y"])
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
    return (x, y) if max(abs(x), abs(y)) < _FARTHEST else None


_FARTHEST: Final = 1 << 31


def spoken(rollout: Rollout) -> Judgement:
    """Whether the response is a message, where one is expected."""
    wrong = "call_unexpected" if rollout.calls else "no_answer"
    return Judgement(float(not rollout.calls and bool(rollout.text)), rollout.text, wrong)


def schemas_of(rollout: Rollout) -> Mapping[str, Mapping[str, Any]]:
    """The schemas of the declared tools, by their names.

    Raises:
        InvalidItem: there are none.
    """
    tools = rollout.row.get("declared_tools")
    objects = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    functions = [function for tool in objects if isinstance(function := tool.get("function", tool), dict)]
    pairs = [(function.get("name"), function.get("parameters")) for function in functions]
    schemas = {name: schema for name, schema in pairs if isinstance(name, str) and isinstance(schema, dict)}
    if not schemas:
        raise InvalidItem("bad_row", "the row needs 'declared_tools' as a list of functions; add it")
    return schemas


_NAMES = {str: "text", list: "a list", dict: "an object", int: "a whole number", bool: "true or false"}
