"""Judges whether the function calls of a response equal those of the reference.

A response is text, or messages with typed calls; `said` reads both. By default the last turn is judged: all calls of
the assistant since the user's last message. `turn` names another turn. A reference that is a list of lists wants calls
turn by turn, as in BFCL's rows of several turns.

`forms` lists the forms of calls that can be read: JSON as OpenAI, Claude, Hermes, Qwen, Llama, Mistral and others write
it, arguments in elements (Qwen3-Coder, GLM, MiniMax, DeepSeek), the own tokens of other models, and Python's form as in
BFCL. The reference is one call or a list, as objects or as text in any of these forms. `[]` wants no call; then any
text without a call is right; what looks like a call in an unknown form is none (`unread`). The response must make every wanted call exactly once, and no other call, unless `calls`
is subset. Thinking is ignored. A call that is cut off or cannot be read makes the response wrong.

Values are compared by type: 1 equals 1.0, but neither "1" nor true. Strings must be equal to the character, unless
`strings` is loose (which ignores case and space) or a call's `compare` sets another rule for an argument. The order of
keys does not count; the order of lists does. Parameters in XML have no types: they take the type of the schema in
`tools`, or else the reading that equals the reference. In BFCL's form, texts are compared as BFCL's own checker does, and in its Java and
JavaScript rows they are read as source of those languages (`sources`), and so are calls in their notation.

With `tools`, every call must name one of the listed functions and have arguments that are valid for its schema. If no
Python fence calls any of them, such fences are programs, not calls.

`credit="graded"` gives ToolRL's reward (rlla), from 0 to 1. Deliberate differences to the original: pairs do not depend
on the order of calls, 1 is not true, and if no call is wanted, a response without calls gets 1 instead of 0.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Literal

import msgspec
from propcache.api import cached_property
from pydantic import Field, model_validator

from sandbox.workers import Workers
from verifiers.base import Example, Item, Params, Resources, Status, Verdict, Verifier, clip
from verifiers.commitment import Think
from verifiers.rules import bounded
from verifiers.rules.schemas import parts
from verifiers.rules.tool_call import expected, forms, said, tools
from verifiers.rules.tool_call.arguments import Strings
from verifiers.rules.tool_call.calls import Call, Malformed
from verifiers.rules.tool_call.expected import Expected, Policy, Wanted
from verifiers.rules.tool_call.sources import Language
from verifiers.rules.tool_call.tools import Tool

_INLINE_CHARS = 6_000
"""Hostile text of this length takes three milliseconds."""
_MAX_QUICK_CALLS = 16
_MAX_QUICK_GRADED = 4
"""The most wanted calls that are paired on the event loop; a worker pairs more.

To pair 4 with the most calls that a response may have takes 10 ms.
"""


class ToolCallParams(Params):
    """The wanted calls, and the rules by which they are compared."""

    reference: Any = Field()
    """The wanted calls: one call or a list. `[]` wants no call.

    A call is `{"name": …, "arguments": {…}}`, or has any form of a response, as an object or as text. It may have
    further keys:

        "accept": {"unit": ["C", "celsius"]}    further values that are right
        "optional": ["unit"]                    arguments that may be left out
        "compare": {"city": "loose"}            how an argument is compared: exact, loose, set, any, {"tolerance": 0.1},
                                                {"relative": 0.01}, {"pattern": …} or {"schema": …}

    BFCL's `[{"get_weather": {"city": ["Paris"], "unit": ["celsius", ""]}}]` and lists of call strings are read, too. A
    list of lists has the calls of each turn.
    """
    ordered: bool = False
    """Whether calls must come in the order of the reference."""
    arguments: Literal["exact", "subset"] = "exact"
    """subset: arguments that the reference does not have are allowed."""
    calls: Literal["exact", "subset"] = "exact"
    """subset: calls that the reference does not have are allowed, unless it wants no call."""
    strings: Strings = "exact"
    """loose: strings that differ only in case and space are equal; bfcl: also those that differ in `,./-_*^`,
    and what stands behind a list or an object of Java or JavaScript is ignored, in Java what is before it, too."""
    credit: Literal["all", "graded"] = "all"
    """all: 1 or 0; graded: the parts of calls that are right count."""
    tools: Any = None
    """The tools in OpenAI's form: a list, or its JSON text."""
    language: Literal["auto", "python", "java", "javascript"] = "auto"
    """The language of BFCL's possible values. In its Java and JavaScript rows, arguments are texts that hold values:
    "5", "true", "new int[]{1, 2}". auto: a function with types such as HashMap or Bigint in `tools` is of those
    languages; without tools, a call whose arguments are all texts may be."""
    think: Think = "auto"
    """Which text is searched for calls. auto: the text after the last closing think tag; required: the tag must be
    there; none: all text."""

    @model_validator(mode="after")
    def _check(self) -> "ToolCallParams":
        if self.ordered and self.credit == "graded":
            raise ValueError("credit graded ignores the order of calls; use ordered with credit all")
        return self

    @cached_property
    def policy(self) -> Policy:
        return Policy(self.arguments == "subset", self.strings, self.calls == "subset")

    @cached_property
    def tools_(self) -> Mapping[str, Tool] | str | None:
        """The tools by name, or a message about their fault; None if none were given."""
        return None if self.tools is None else tools.read(self.tools, self.source_language)

    @cached_property
    def source_language(self) -> Language | None:
        return self.language if self.language in ("java", "javascript") else None

    @cached_property
    def notation(self) -> Language | None:
        """The language in which a response may write its calls, beside the forms that `forms` lists."""
        listed = self.tools_.values() if isinstance(self.tools_, Mapping) else ()
        return self.source_language or next((tool.language for tool in listed if tool.language is not None), None)

    def may_be_sources(self, call: Call) -> bool:
        """Whether the arguments of a call may be texts of Java or JavaScript."""
        if self.language == "auto":
            return all(isinstance(value, str) for value in call.arguments.values())
        return self.source_language is not None

    @cached_property
    def wanted(self) -> Wanted | str:
        """The calls of the reference, or a message about its fault."""
        try:
            expected_calls = expected.read(self.reference)
        except Malformed as error:
            return str(error)
        return self._unknown_in(expected_calls.calls) or expected_calls

    def _unknown_in(self, expected_calls: Sequence[Expected]) -> str:
        """A message about a contradiction between these calls and the tools; empty if there is none."""
        listed = self.tools_
        if not isinstance(listed, Mapping):
            return ""
        for expected_call in expected_calls:
            tool = listed.get(expected_call.name)
            if tool is None:
                return f"the reference calls {expected_call.name[:100]!r}, which tools do not list"
            call = expected_call.only_call
            if (
                call
                and tool.language is None
                and not self.policy.is_subset
                and not tool.schema.holds(tools.typed(call, tool).arguments)
            ):
                return f"the reference's call of {expected_call.name[:100]!r} is not valid for its schema in tools"
        return ""

    @cached_property
    def quick_parts(self) -> int:
        """The largest number of parts of a response that is judged on the event loop; 0 if the reference takes long."""
        limit = _INLINE_CHARS if self.tools is None else tools.quick_values(self.tools)
        if not limit or (isinstance(self.reference, str) and not _is_short(self.reference)):
            return 0
        # A pattern that the reference sets for an argument is compiled in a worker.
        if b"pattern" in msgspec.json.encode(self.reference):
            return 0
        if not isinstance(self.wanted, str) and len(self.wanted.calls) > (
            _MAX_QUICK_GRADED if self.credit == "graded" else _MAX_QUICK_CALLS
        ):
            return 0
        return limit


class ToolCall(Verifier[ToolCallParams]):
    name = "tool_call"
    version = "18"
    params = ToolCallParams
    summary = "The function calls of the response equal the reference's, in any of the forms that models write"
    concurrency = None
    judges_calls = True

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def score(self, items: Sequence[Item[ToolCallParams]]) -> Sequence[Verdict]:
        return await bounded.judge_all(self._workers, judge, items, _is_quick)


def create(resources: Resources) -> ToolCall:
    bounded.register(resources.workers, judge, Item("f(a=1)", ToolCallParams(reference="f(a=1)")))
    return ToolCall(resources.workers)


def _is_quick(item: Item[ToolCallParams]) -> bool:
    if not item.params.quick_parts:
        return False
    if item.conversation is not None:
        text = msgspec.json.encode(item.conversation).decode()
    elif len(item.response) > _INLINE_CHARS:
        return False
    else:
        segment = said.spoken(item.response, item.params.think)
        text = item.response[segment.start : segment.end]
    return _is_short(text) and (item.params.tools is None or parts(text) <= item.params.quick_parts)


def _is_short(text: str) -> bool:
    return len(text) <= _INLINE_CHARS and forms.is_quick(text)


def judge(item: Item[ToolCallParams]) -> Verdict:
    params = item.params
    if isinstance(params.tools_, str):
        return Verdict.invalid("bad_tools", params.tools_)
    reference = params.wanted
    if isinstance(reference, str):
        return Verdict.invalid("bad_reference", reference)
    turn = "all" if reference.is_by_turn else params.turn
    if unjudged := sorted({name for steps in item.said.chosen(turn) for step in steps for name in step.others}):
        # They may be calls in all but name, such as a server's own tools, so they never count as no call.
        return Verdict.wrong("unjudged_parts", unjudged=unjudged)
    try:
        reading = said.read(
            item.said, turn, params.think, params.tools_, params.notation, may_be_prefilled=bool(reference.calls)
        )
    except Malformed as error:
        text = item.response or "(a call)"
        return Verdict.wrong("malformed_call", clip(text), **({"message": clip(str(error))} if item.explain else {}))
    calls, text = reading.calls, reading.text
    if not calls and (reading.reason is not None or not text):
        return Verdict.wrong("no_answer" if reading.reason in (None, "empty") else reading.reason)
    detail = {"calls": [clip(call.key) for call in calls[:_MAX_SHOWN]]} if item.explain else {}
    calls_text = text if item.conversation is None else "; ".join(call.key for call in calls[:_MAX_SHOWN])
    extracted = clip(calls_text) if calls else None
    fault, score = _compare_turns(reading.turns, reference, params)
    if fault is None:
        return Verdict.correct(extracted, **detail)
    return Verdict(
        Status.OK, score, "partly" if score else fault, extracted, detail | ({"fault": fault} if score else {})
    )


_MAX_SHOWN = 8


def _compare_turns(
    turns: Sequence[Sequence[Call]], reference: Wanted, params: ToolCallParams
) -> tuple[str | None, float]:
    """The first fault, or None, and the score. Graded credit is the mean over the turns."""
    if not reference.is_by_turn:
        return _compare([call for calls in turns for call in calls], reference.calls, params)
    pairs = zip_longest(turns, reference.turns, fillvalue=())
    compared = [_compare(calls, of_turn, params) for calls, of_turn in pairs]
    fault = next((fault for fault, _ in compared if fault is not None), None)
    scores = [score for _, score in compared]
    return fault, sum(scores) / len(scores) if params.credit == "graded" else float(fault is None)


def _compare(calls: Sequence[Call], reference: Sequence[Expected], params: ToolCallParams) -> tuple[str | None, float]:
    """The fault in the calls of one turn, or None, and the score."""
    listed = params.tools_
    assert not isinstance(listed, str)
    if not calls and reference:
        return "no_call", 0.0
    if calls and not reference:
        return "unexpected_call", 0.0
    if listed is not None:
        named_calls = [tools.named(call, listed) for call in calls]
        calls = [tools.typed(call, listed[call.name]) for call in named_calls if call is not None]
        if len(calls) < len(named_calls):
            return "unknown_function", 0.0
        if not all(listed[call.name].schema.holds(call.arguments) for call in calls):
            # BFCL's rows list values that their own schemas do not allow, and the listed values are right.
            has_values = all(expected_call.has_possible_values for expected_call in reference)
            if not has_values or expected.fault_of(calls, reference, params.policy, ordered=params.ordered):
                return "invalid_arguments", 0.0
    elif all(expected_call.has_possible_values for expected_call in reference):
        calls = [
            tools.as_sources(call, None, params.source_language) if params.may_be_sources(call) else call
            for call in calls
        ]
    fault = expected.fault_of(calls, reference, params.policy, ordered=params.ordered)
    if fault is None or params.credit == "all":
        return fault, float(fault is None)
    return fault, float(expected.graded(calls, reference, params.policy))


_WEATHER = {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}
_TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
_HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"days": 2, "city": "Paris"}}\n</tool_call>'


def _example(
    response: str, score: float | None, reason: str, note: str, reference: Any = _WEATHER, **fields: Any
) -> Example:
    status = Status.OK if score is not None else Status.INVALID
    return Example(response, {"reference": reference, **fields}, score, reason, note, status)


EXAMPLES = (
    _example(f"<think>Paris, two days.</think>\n{_HERMES}", 1.0, "correct", "as Hermes and Qwen write it"),
    _example('[get_weather(city="Paris", days=2)]', 1.0, "correct", "Python's form; parsed, never run"),
    _example(f"<think>{_HERMES}</think>\nIt rains.", 0.0, "no_call", "looks like a call, but was only thought of"),
    _example(_HERMES.replace("2", '"2"'), 0.0, "wrong_arguments", "text is not a number"),
    _example(_HERMES * 2, 0.0, "extra_call", "called twice"),
    _example("It rains in Paris.", 1.0, "correct", "no call was wanted", reference=[]),
    _example(_HERMES.replace("2", "2.5"), 0.0, "invalid_arguments", "no integer", tools=[_TOOL]),
    _example(_HERMES.replace("2", "3"), 0.75, "partly", "3 of 4 parts are right", credit="graded"),
    _example("", None, "bad_reference", "the caller must mend it", reference="no call"),
)
