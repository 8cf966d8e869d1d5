"""Reads the calls of a response turn by turn, from text or from a conversation.

A call may be typed, as an API gives it, or text in any of the forms of `forms`. A typed call that also stands in the
text is one call: some servers leave calls in the text after they have read them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from verifiers.commitment import Think, final_segment
from verifiers.commitment.segment import Segment
from verifiers.conversation import Conversation, Step, Turn
from verifiers.rules.documents import Unreadable, check_depth
from verifiers.rules.tool_call import forms, turns
from verifiers.rules.tool_call.calls import MAX_CALLS, Call, Malformed, arguments_of
from verifiers.rules.tool_call.quoted import without_quoted_tags
from verifiers.rules.tool_call.sources import Language


@dataclass
class Said:
    """The content of the judged turns."""

    turns: list[list[Call]] = field(default_factory=list)
    steps: list[tuple[Step, list[Call]]] = field(default_factory=list)
    """The calls of each step of the assistant."""
    texts: list[str] = field(default_factory=list)
    """The text without thinking; blank if there is none."""
    reason: str | None = None
    """The reason why the last step has no text after its thinking."""

    @property
    def calls(self) -> list[Call]:
        return [call for calls in self.turns for call in calls]

    @property
    def text(self) -> str:
        return "\n\n".join(text for text in self.texts if text)


def read(
    conversation: Conversation,
    turn: Turn,
    think: Think,
    tools: Mapping[str, Any] | None,
    language: Language | None = None,
    *,
    may_be_prefilled: bool,
) -> Said:
    """Read the calls of the judged turns.

    Args:
        conversation: The response.
        turn: The turns to judge.
        think: How thinking is recognised.
        tools: The known tools by name. Without them, a Python fence is read as calls, not as a program.
        language: The one in whose notation calls may be written.
        may_be_prefilled: Whether a call is wanted, so that a text may begin inside a call.

    Raises:
        Malformed: a part was meant as a call, but cannot be read as one.
    """
    reading = Said()
    for steps in conversation.chosen(turn):
        calls: list[Call] = []
        for step in steps:
            if step.role == "assistant":
                of_step = _calls(step, think, reading, may_be_prefilled, tools or (), language)
                reading.steps.append((step, of_step))
                calls += of_step
        if tools is not None and not any(call.is_shown and call.name in tools for call in calls):
            calls = [call for call in calls if not call.is_shown]
        reading.turns.append(calls)
    if len(reading.calls) > MAX_CALLS:
        raise Malformed(f"there are more than {MAX_CALLS} calls")
    return reading


def _calls(
    step: Step, think: Think, reading: Said, may_be_prefilled: bool, listed: Collection[str], language: Language | None
) -> list[Call]:
    typed = [_typed(call.name, call.arguments) for call in step.calls]
    response = forms.plain_tokens(step.whole_text)
    segment = spoken(response, think)
    reading.reason = None if segment.reason == "found" or typed else segment.reason
    if segment.reason != "found":
        return typed
    text = turns.without_thought(response[segment.start : segment.end])
    reading.texts.append("" if turns.is_blank(text) else text)
    text_calls = (forms.prefilled_calls_in(text) if may_be_prefilled else []) or forms.calls_in(
        text, () if typed else listed, language
    )
    return typed + _beside(typed, text_calls)


def spoken(response: str, think: Think) -> Segment:
    """The final segment of a response. Tags in strings are not tags of the response."""
    segment = final_segment(response, think)
    if segment == final_segment(response, "none"):
        return segment
    return final_segment(without_quoted_tags(response), think)


def _typed(name: str, arguments: Any) -> Call:
    if not name:
        raise Malformed("a call has no name")
    try:
        check_depth(arguments)
    except Unreadable as error:
        raise Malformed("the arguments of a call are nested too deep") from error
    return Call(name, arguments_of(arguments))


def _beside(typed: Sequence[Call], text_calls: Iterable[Call]) -> list[Call]:
    """The calls of the text, without those that repeat a typed call."""
    repeated = Counter(call.key for call in typed)
    new_calls = []
    for call in text_calls:
        if repeated[call.key]:
            repeated[call.key] -= 1
        else:
            new_calls.append(call)
    return new_calls
