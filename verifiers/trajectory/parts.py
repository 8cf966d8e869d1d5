"""Judges all parts of a trajectory except the answer."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from verifiers.base import InvalidItem, Item
from verifiers.commitment import Think
from verifiers.conversation import Conversation, Step, Turn
from verifiers.rules.documents import Unreadable, read_json
from verifiers.rules.tool_call import expected, said
from verifiers.rules.tool_call.arguments import compiled, same
from verifiers.rules.tool_call.calls import Call, Malformed

if TYPE_CHECKING:
    from verifiers.trajectory import TrajectoryParams


class Part(NamedTuple):
    name: str
    score: float
    reason: str
    """The reason if the score is below 1."""


class Evidence(NamedTuple):
    """The data of a trajectory by which the parts are judged."""

    params: "TrajectoryParams"
    turns: Sequence[Sequence[Call]]
    """The calls of each judged turn."""
    has_consent: Sequence[bool]
    """Whether each judged turn follows the user's consent."""
    texts: Sequence[str]
    """What the assistant wrote to the user, without its thoughts."""
    steps: Sequence[Step]
    """The steps of the judged turns."""
    reports: Sequence[Step]
    """All results of tools."""
    is_malformed: bool
    """Whether a call could not be read. Then no demand on calls is met."""

    @property
    def calls(self) -> list[Call]:
        return [call for calls in self.turns for call in calls]


class UnjudgedParts(Exception):
    """The response has parts that are not judged; `names` are their types."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names)
        self.names = names


def of(item: "Item[TrajectoryParams]") -> list[Part] | None:
    """Judge the demanded parts except the answer. The result is None if the response has no text and no call.

    Raises:
        UnjudgedParts
        InvalidItem: the environment reports no state.
        Malformed: the parameters hold a value that is not a call.
    """
    params, conversation = item.params, item.said
    reports = [step for step in conversation.steps if step.role == "tool"]
    # What the caller must correct is found before the response is looked at, so that no response hides it.
    required = params.wanted
    if params.forbidden:
        _ = params.unwanted
    if params.error_pattern is not None:
        compiled(params.error_pattern)
    if params.state is not None:
        _reported(params, reports)
    steps = [step for turn in conversation.chosen(params.turn) for step in turn]
    if unjudged := sorted({name for step in steps if step.role == "assistant" for name in step.others}):
        raise UnjudgedParts(unjudged)
    try:
        reading = said.read(conversation, params.turn, params.think, None, may_be_prefilled=bool(required))
        turns, is_malformed = _effective(reading, steps, params) if params.others == "refused" else reading.turns, False
        if not reading.calls and not reading.text:
            return None
    except Malformed:
        turns, is_malformed = [], True
    consents = _chosen(_consents(conversation, params.consent_pattern), params.turn) if params.confirmed else []
    said_texts = texts(conversation, params.turn, params.think) if params.outputs else []
    evidence = Evidence(params, turns, consents, said_texts, steps, reports, is_malformed)
    return [_part(name, evidence) for name in params.named if name != "answer"]


def _effective(reading: said.Said, steps: Sequence[Step], params: "TrajectoryParams") -> list[list[Call]]:
    """The calls of each turn, without those whose result is an error: they changed nothing."""
    is_error = error_test(params.error_pattern)
    calls_of = {id(step): calls for step, calls in reading.steps}
    failed: set[int] = set()
    waiting: list[tuple[str | None, Call]] = []
    for step in steps:
        if step.role == "assistant":
            calls = calls_of.get(id(step), [])
            # Calls of the text follow the typed ones, and have no id.
            ids = [call.id for call in step.calls] + [None] * len(calls)
            waiting = list(zip(ids, calls, strict=False))
        elif waiting:
            index = next((n for n, (name, _) in enumerate(waiting) if name is not None and name == step.answers), 0)
            _, call = waiting.pop(index)
            if is_error(step):
                failed.add(id(call))
    return [[call for call in calls if id(call) not in failed] for calls in reading.turns]


def _part(name: str, evidence: Evidence) -> Part:
    if evidence.is_malformed and name in _ABOUT_CALLS:
        return Part(name, 0.0, "malformed_call")
    score, reason = _PARTS[name](evidence)
    return Part(name, score, "" if score == 1 else reason)


_ABOUT_CALLS = ("required", "others", "forbidden", "confirmed", "max_calls", "max_repeats")

_YES = "yes|yep|yeah|yup|sure|ok|okay|correct|absolutely|of course|confirm(?:ed)?|i confirm|i agree"
_GO_AHEAD = "go ahead|proceed|please (?:do|proceed|go ahead|book|cancel|change|confirm)"
_GOOD = "that(?:'s| is) (?:right|correct|fine)|(?:sounds|looks) good"
CONSENT = rf"(?i)^\W*(?:{_YES}|{_GO_AHEAD}|{_GOOD})\b"


def texts(conversation: Conversation, turn: Turn, think: Think) -> list[str]:
    """What the assistant wrote in the judged turns, message by message, without its thoughts."""
    steps = [step for steps in conversation.chosen(turn) for step in steps if step.role == "assistant"]
    segments = [said.spoken(step.text, think) for step in steps]
    return [
        step.text[part.start : part.end] for step, part in zip(steps, segments, strict=True) if part.reason == "found"
    ]


def _consents(conversation: Conversation, pattern: str) -> list[bool]:
    """For each turn of a conversation, whether the user consented just before it to what the assistant had said."""
    consent = compiled(pattern)
    consents: list[bool] = []
    has_said = is_consent = False
    is_new = True
    for step in conversation.steps:
        if step.role in ("user", "system"):
            is_consent = step.role == "user" and has_said and consent.search(step.text) is not None
            is_new = True
        elif step.role == "assistant":
            if is_new:
                consents.append(is_consent)
            is_new = False
            has_said = bool(step.text.strip()) and not step.calls
    return consents


def _chosen(consents: Sequence[bool], turn: Turn) -> Sequence[bool]:
    if turn == "all":
        return consents
    return consents[-1:] if turn == "last" else consents[turn - 1 : turn]


def _confirmed(evidence: Evidence) -> tuple[float, str]:
    """Whether each call of the named functions follows the user's consent."""
    names = evidence.params.confirmed
    for calls, has_consent in zip(evidence.turns, evidence.has_consent, strict=True):
        if not has_consent and any(call.name in names for call in calls):
            return 0.0, "unconfirmed_call"
    return 1.0, ""


_COMMA_IN_NUMBER = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def _outputs(evidence: Evidence) -> tuple[float, str]:
    """The share of the outputs that were said."""
    outputs = evidence.params.outputs
    said_texts = [_folded(text) for text in evidence.texts]
    count = sum(any(_stands_in(_folded(output), text) for text in said_texts) for output in outputs)
    if count < len(outputs) and evidence.params.credit == "all":
        return 0.0, "missing_output"
    return count / len(outputs), "missing_output"


def _folded(text: str) -> str:
    return _COMMA_IN_NUMBER.sub("", text).casefold()


def _stands_in(output: str, text: str) -> bool:
    """Whether a text contains this one, and not only as a part of a longer word or number."""
    start = text.find(output)
    while start >= 0:
        end = start + len(output)
        if not _goes_on(output[:1], text[max(0, start - 2) : start][::-1]) and not _goes_on(
            output[-1:], text[end : end + 2]
        ):
            return True
        start = text.find(output, start + 1)
    return False


def _goes_on(edge: str, neighbour: str) -> bool:
    """Whether the word or number at this edge goes on in what stands beside it, read outwards."""
    if not edge.isalnum() or not neighbour:
        return False
    return neighbour[0].isalnum() or (edge.isdigit() and neighbour[0] in ".," and neighbour[1:].isdigit())


def _required(evidence: Evidence) -> tuple[float, str]:
    """The share of the required calls that were made; all or nothing with `credit` all or a fixed order."""
    params = evidence.params
    fault = expected.fault_of(evidence.calls, params.wanted, params.policy, ordered=params.ordered)
    if fault is None:
        return 1.0, ""
    if params.credit == "all" or params.ordered:
        return 0.0, fault
    met = sum(
        any(expectation.is_met_by(call, params.policy) for call in evidence.calls) for expectation in params.wanted
    )
    return min(met, len(params.wanted) - 1) / max(1, len(params.wanted)), fault


def _others(evidence: Evidence) -> tuple[float, str]:
    """Whether each call that changes something is a required one, and none is made too often."""
    params = evidence.params
    writes = [call for call in evidence.calls if call.name not in params.reads]
    required = [expectation for expectation in params.wanted if expectation.name not in params.reads]
    limits = Counter(expectation.name for expectation in required)
    counts = Counter(
        next((expectation.name for expectation in required if expectation.is_of(call.name)), call.name)
        for call in writes
    )
    return (0.0, "extra_call") if counts - limits or any(_is_none_of(call, evidence) for call in writes) else (1.0, "")


def _is_none_of(call: Call, evidence: Evidence) -> bool:
    return not any(required.is_met_by(call, evidence.params.policy) for required in evidence.params.wanted)


def _forbidden(evidence: Evidence) -> tuple[float, str]:
    policy = evidence.params.policy
    for forbidden in evidence.params.unwanted:
        if any(
            call.name == forbidden if isinstance(forbidden, str) else forbidden.is_met_by(call, policy)
            for call in evidence.calls
        ):
            return 0.0, "forbidden_call"
    return 1.0, ""


def _max_steps(evidence: Evidence) -> tuple[float, str]:
    assert evidence.params.max_steps is not None
    count = sum(step.role == "assistant" for step in evidence.steps)
    return float(count <= evidence.params.max_steps), "too_many_steps"


def _max_calls(evidence: Evidence) -> tuple[float, str]:
    assert evidence.params.max_calls is not None
    return float(len(evidence.calls) <= evidence.params.max_calls), "too_many_calls"


def _max_repeats(evidence: Evidence) -> tuple[float, str]:
    assert evidence.params.max_repeats is not None
    repeats = max(Counter(call.key for call in evidence.calls).values(), default=0)
    return float(repeats <= evidence.params.max_repeats), "repeated_call"


def _recovered(evidence: Evidence) -> tuple[float, str]:
    """Whether the last result of each function is not an error."""
    is_error = error_test(evidence.params.error_pattern)
    last: dict[str, bool] = {}
    names: dict[str, str] = {}
    waiting: list[str] = []
    for step in evidence.steps:
        if step.role == "assistant":
            waiting = [call.name for call in step.calls]
            names |= {call.id: call.name for call in step.calls if call.id is not None}
            continue
        in_turn = waiting.pop(0) if waiting else ""
        name = step.name or names.get(step.answers or "") or in_turn
        last[name] = is_error(step)
    return float(not any(last.values())), "unrecovered_error"


def error_test(pattern: str | None) -> Callable[[Step], bool]:
    """A function that decides whether a result is an error.

    Raises:
        Malformed: the pattern is not valid.
    """
    error_pattern = None if pattern is None else compiled(pattern)

    def is_error(step: Step) -> bool:
        if step.is_error or (error_pattern is not None and error_pattern.search(step.text) is not None):
            return True
        value = _json(step.text)
        return isinstance(value, Mapping) and bool(value.get("error"))

    return is_error


def _state(evidence: Evidence) -> tuple[float, str]:
    params = evidence.params
    holds = _includes if params.state_match == "subset" else same
    state = _reported(params, evidence.reports)
    return float(holds(state, params.state, params.strings)), "wrong_state"


def _reported(params: "TrajectoryParams", reports: Sequence[Step]) -> Any:
    """The state that the environment reports last.

    Raises:
        InvalidItem: it reports none.
    """
    report = next((step for step in reversed(reports) if step.name == params.state_from), None)
    state = None if report is None else _json(report.text)
    if state is None:
        raise InvalidItem(
            "no_state",
            f"the last message of the role or tool {params.state_from!r} must report the state as JSON text",
        )
    return state


def _includes(actual: Any, expected: Any, strings: Any) -> bool:
    """Whether the found value includes the wanted one: all keys of objects, all elements of lists in their places."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        return all(key in actual and _includes(actual[key], value, strings) for key, value in expected.items())
    if isinstance(actual, list) and isinstance(expected, list):
        return len(actual) == len(expected) and all(
            _includes(item, expected_item, strings) for item, expected_item in zip(actual, expected, strict=True)
        )
    return same(actual, expected, strings)


def _json(text: str) -> Any:
    try:
        return read_json(text, unique_keys=False)
    except Unreadable:
        return None


_PARTS: Mapping[str, Callable[[Evidence], tuple[float, str]]] = {
    "required": _required,
    "others": _others,
    "forbidden": _forbidden,
    "confirmed": _confirmed,
    "max_steps": _max_steps,
    "max_calls": _max_calls,
    "max_repeats": _max_repeats,
    "recovered": _recovered,
    "state": _state,
    "outputs": _outputs,
}
