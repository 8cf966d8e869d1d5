"""Judges an agent by a whole conversation: its calls, its steps, the state that it left, and its last answer.

Each given parameter adds one part with a score from 0 to 1. The verdict's detail names the parts:

    required        these calls were made, in any form that `tool_call` takes as its reference; `ordered`: in this order
    others          refused: no further call was made, except of functions in `reads`, which change nothing, and calls
                    whose result is an error (tau-bench); then a required call whose result is an error was not made
    forbidden       none of these calls was made: names of functions, or calls
    confirmed       each call of these functions follows the user's consent to what the assistant said (tau2's policies)
    max_steps       the assistant wrote at most so many messages
    max_calls       at most so many calls were made
    max_repeats     no call was made more often with the very same arguments
    recovered       after each result that is an error, the same function was called again without an error
    state           the environment reports this state in the end
    outputs         each of these texts stands in a message of the assistant (tau-bench's outputs, tau2's communicate_info)
    answer          another verifier's score of the assistant's last text, or of those that its own `turn` names

A response that neither says nor calls anything is not an answer. The score is the least part (`credit` all) or the mean of
the parts by `weights` (mean). The reason is that of the first part that is not met.

An environment reports its state as JSON text, in the last message of the role `environment` or of the tool that
`state_from` names. Without such a message the state cannot be judged, and the item is invalid. A response with parts
that are neither text nor call is invalid, too.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from propcache.api import cached_property
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from sandbox.workers import Workers
from verifiers import shapes
from verifiers.base import Example, InvalidItem, Item, Params, Resources, Status, Verdict, Verifier
from verifiers.commitment import Think
from verifiers.conversation import Turn
from verifiers.mistakes import sentences
from verifiers.rules import bounded
from verifiers.rules.pattern_size import is_small
from verifiers.rules.tool_call import expected
from verifiers.rules.tool_call.arguments import Strings
from verifiers.rules.tool_call.calls import Malformed
from verifiers.rules.tool_call.expected import Expected, Policy
from verifiers.trajectory import parts
from verifiers.trajectory.parts import Part

_INLINE_CHARS = 16_000
PARTS = (
    "required", "others", "forbidden", "confirmed", "max_steps", "max_calls", "max_repeats", "recovered", "state",
    "outputs", "answer",
)  # fmt: skip


class Answer(BaseModel):
    """The verifier of the assistant's last text, and its parameters."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    verifier: str
    """The name of the verifier."""
    params: dict[str, Any] = {}
    """Its parameters."""
    reference: Any = None
    """The reference for that verifier. The default is the reference of the item."""


class TrajectoryParams(Params):
    """The demands on a trajectory. At least one part must be given."""

    reference: Any = None
    """The reference for the answer, or the required calls if only calls are demanded. Other parts ignore it."""
    turn: Turn = "all"
    """Which turns of the assistant are judged; here all by default."""
    required: Any = None
    """Calls that must be made, in any form that `tool_call` takes as its reference."""
    ordered: bool = False
    """Whether the required calls must come in this order."""
    arguments: Literal["exact", "subset"] = "exact"
    """exact: a required call has these arguments and no others; subset: it may have others."""
    strings: Strings = "exact"
    """How texts in arguments are compared."""
    others: Literal["allowed", "refused"] = "allowed"
    """Whether calls beside the required ones are allowed. Refused: only those of functions in `reads`, and those whose
    result is an error, because they change nothing. With `"required": []` nothing may be changed."""
    reads: tuple[str, ...] = ()
    """Functions that change nothing, and may always be called."""
    forbidden: tuple[str | dict[str, Any], ...] = ()
    """Calls that must not be made: names of functions, or calls with arguments."""
    confirmed: tuple[str, ...] = ()
    """Functions that may be called only after the assistant has said something and the user's next message consents.

    The consent holds until the user's next message.
    """
    consent_pattern: str = Field(default=parts.CONSENT, max_length=4096)
    """A pattern in RE2's syntax that is found in a consent. The default finds a message that begins with yes or its like."""
    outputs: tuple[Annotated[str, Field(min_length=1, max_length=4096)], ...] = Field(default=(), max_length=256)
    """Texts to be said to the user, at any time, not only in thought. Case and commas in numbers are ignored; a part of a
    word or of a number is not enough."""
    max_steps: int | None = Field(default=None, ge=1)
    """The greatest number of messages of the assistant. None: any."""
    max_calls: int | None = Field(default=None, ge=0)
    """The greatest number of calls. None: any."""
    max_repeats: int | None = Field(default=None, ge=1)
    """How often a call may be made with the same arguments. None: any number of times."""
    recovered: bool = False
    """Whether the same function must be called again without an error after each result that is an error."""
    error_pattern: str | None = Field(default=None, max_length=4096)
    """A pattern in RE2's syntax. A result in which it is found is an error, too.

    A result is always an error if its message says so, or if it is a JSON object with an `error`.
    """
    state: Any = None
    """The state that the environment must report in the end, as JSON."""
    state_match: Literal["exact", "subset"] = "exact"
    """subset: objects of the reported state may have further keys."""
    state_from: str = "environment"
    """The role or tool whose last message reports the state."""
    answer: Answer | None = None
    """Another verifier that judges the assistant's text."""
    credit: Literal["all", "mean"] = "all"
    """all: the score is that of the least part; mean: the mean of all parts by `weights`."""
    weights: Mapping[str, float] = {}
    """The weights of the parts for the mean, by the name of the part. The default is 1."""
    think: Think = "auto"
    """Which text is searched for calls. auto: the text after the last closing think tag; required: the tag must be
    there; none: all text."""

    _inner: Any = PrivateAttr(None)

    @model_validator(mode="after")
    def _check(self) -> "TrajectoryParams":
        if not self.named:
            raise ValueError(f"nothing is asked of the trajectory; give at least one of {', '.join(PARTS)}")
        if self.others == "refused" and not self.wants_calls:
            raise ValueError(
                "others: refused goes with required, which names the calls that are not refused; give [] if all are"
            )
        if set(self.weights) - set(self.named) or any(not 0 <= weight < 1e9 for weight in self.weights.values()):
            raise ValueError(f"weights must be numbers from 0, for the given parts only: {', '.join(self.named)}")
        if self.credit == "mean" and not any(self.weights.get(name, 1.0) for name in self.named):
            raise ValueError("weights: at least one part must have more than 0")
        return self

    @property
    def wants_calls(self) -> bool:
        limits = (self.answer, self.state, self.max_steps, self.max_calls, self.max_repeats)
        asks_else = (
            bool(self.forbidden or self.confirmed or self.outputs)
            or self.recovered
            or any(value is not None for value in limits)
        )
        return self.required is not None or (self.reference is not None and not asks_else)

    @cached_property
    def named(self) -> list[str]:
        """The demanded parts, in the order of `PARTS`."""
        is_demanded = {
            "required": self.wants_calls,
            "others": self.others == "refused",
            "forbidden": bool(self.forbidden),
            "confirmed": bool(self.confirmed),
            "max_steps": self.max_steps is not None,
            "max_calls": self.max_calls is not None,
            "max_repeats": self.max_repeats is not None,
            "recovered": self.recovered,
            "state": self.state is not None,
            "outputs": bool(self.outputs),
            "answer": self.answer is not None,
        }
        return [name for name in PARTS if is_demanded[name]]

    @property
    def policy(self) -> Policy:
        return Policy(self.arguments == "subset", self.strings, may_call_more=True)

    @cached_property
    def wanted(self) -> list[Expected]:
        """The required calls.

        Raises:
            Malformed: the parameter holds no calls.
        """
        if not self.wants_calls:
            return []
        required = expected.read(self.required if self.required is not None else self.reference)
        if required.is_by_turn:
            raise Malformed("required must be one list of calls; for calls turn by turn, use the verifier tool_call")
        return required.calls

    @cached_property
    def unwanted(self) -> list[Expected | str]:
        """The forbidden calls. A name forbids all calls of a function.

        Raises:
            Malformed: the parameter holds no calls.
        """
        return [
            entry if isinstance(entry, str) else call
            for entry in self.forbidden
            for call in ([entry] if isinstance(entry, str) else expected.read(entry).calls)
        ]


class Trajectory(Verifier[TrajectoryParams]):
    name = "trajectory"
    version = "5"
    params = TrajectoryParams
    summary = "The calls, steps, final state and final answer of a whole conversation are as they should be"
    judges_calls = True
    bounds_itself = True
    chunk_items = 16
    concurrency = None

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._others: Mapping[str, Verifier[Any]] = {}

    def meet(self, verifiers: Mapping[str, Verifier[Any]]) -> None:
        self._others = verifiers

    def judged_with(self, params: TrajectoryParams) -> Sequence[Verifier[Any]]:
        return () if params.answer is None else (self._inner(params)[0],)

    async def score(self, items: Sequence[Item[TrajectoryParams]]) -> Sequence[Verdict]:
        # Without its conversation an item has no state to judge, so there are no probes: the response is at fault.
        verdicts = await bounded.judge_all(self._workers, judge, items, _is_quick, probes=())
        by_verifier: dict[str, list[int]] = {}
        for position, (item, verdict) in enumerate(zip(items, verdicts, strict=True)):
            if item.params.answer is not None and verdict.status is Status.OK:
                by_verifier.setdefault(item.params.answer.verifier, []).append(position)
        answers: dict[int, Verdict] = {}
        await asyncio.gather(*(self._answers(items, positions, answers) for positions in by_verifier.values()))
        return [
            _whole(item, verdict, answers.get(position), has_text=position in answers and bool(self._answer_text(item)))
            for position, (item, verdict) in enumerate(zip(items, verdicts, strict=True))
        ]

    async def _answers(
        self, items: Sequence[Item[TrajectoryParams]], positions: Sequence[int], answers: dict[int, Verdict]
    ) -> None:
        verifier = self._inner(items[positions[0]].params)[0]
        for start in range(0, len(positions), verifier.chunk_items):
            chunk = positions[start : start + verifier.chunk_items]
            answer_items = [self._inner_item(items[position]) for position in chunk]
            answers.update(zip(chunk, await verifier.score(answer_items), strict=True))

    def _inner_item(self, item: Item[TrajectoryParams]) -> Item[Any]:
        params = self._inner(item.params)[1]
        return Item(self._answer_text(item), params, item.prompt, item.explain, item.deadline, item.cache)

    def _answer_text(self, item: Item[TrajectoryParams]) -> str:
        turn = self._inner(item.params)[1].turn
        return _last_text(item) if turn == "last" else "\n\n".join(parts.texts(item.said, turn, item.params.think))

    def _inner(self, params: TrajectoryParams) -> tuple[Verifier[Any], Params]:
        """The verifier of the answer, and its parameters.

        Raises:
            InvalidItem: there is no such verifier, it judges no text, or the parameters are not valid for it.
        """
        if params._inner is None:
            params._inner = self._found(params)
        verifier_and_params: tuple[Verifier[Any], Params] = params._inner
        return verifier_and_params

    def _found(self, params: TrajectoryParams) -> tuple[Verifier[Any], Params]:
        answer = params.answer
        assert answer is not None
        verifier = self._others.get(answer.verifier)
        if verifier is None or verifier.judges_calls:
            raise InvalidItem(
                "bad_params", f"answer: {answer.verifier[:100]!r} is not a verifier of text; give one, such as 'math'"
            )
        reference = params.reference if answer.reference is None else answer.reference
        fields = answer.params if reference is None else {**answer.params, "reference": reference}
        try:
            return verifier, shapes.typed(verifier.params, fields)
        except ValidationError as error:
            lines = sentences(error, fields, root="params", beside="reference", fields=verifier.params.model_fields)
            raise InvalidItem("bad_params", f"answer: {lines[0]}") from error


def create(resources: Resources) -> Trajectory:
    bounded.register(resources.workers, judge, Item("f(a=1)", TrajectoryParams(required="f(a=1)")))
    return Trajectory(resources.workers)


def _is_quick(item: Item[TrajectoryParams]) -> bool:
    patterns = (item.params.error_pattern, item.params.consent_pattern)
    if not all(pattern is None or is_small(pattern) for pattern in patterns):
        return False
    if item.conversation is None:
        return len(item.response) + item.params.chars <= _INLINE_CHARS
    return len(msgspec.json.encode(item.conversation)) + item.params.chars <= _INLINE_CHARS


def _last_text(item: Item[TrajectoryParams]) -> str:
    """The assistant's last text; empty if its last message makes calls instead."""
    conversation = item.said
    last = conversation.judged("last")
    return "" if last and last[0].calls else conversation.text("last")


def judge(item: Item[TrajectoryParams]) -> Verdict:
    """Judge all parts except the answer."""
    try:
        results = parts.of(item)
        if results is None:
            return Verdict.wrong("no_answer")
    except parts.UnjudgedParts as error:
        return Verdict.wrong("unjudged_parts", unjudged=error.names)
    except Malformed as error:
        return Verdict.invalid("bad_params", str(error))
    except InvalidItem as error:
        return Verdict.invalid(error.reason, str(error))
    return _verdict(item.params, results)


def _whole(item: Item[TrajectoryParams], verdict: Verdict, answer: Verdict | None, *, has_text: bool) -> Verdict:
    """Add to a verdict the part that another verifier judged."""
    params = item.params
    if answer is None or answer.score is None:
        return answer or verdict
    if "parts" not in verdict.detail:  # the response is wrong as a whole
        return verdict
    # Without a text it was asked only whether it can judge: an empty text may be what it wants.
    part = Part("answer", answer.score, answer.reason) if has_text else Part("answer", 0.0, "no_answer")
    results = [
        Part(name, score, verdict.detail["reasons"].get(name, "")) for name, score in verdict.detail["parts"].items()
    ]
    return _verdict(params, [*results, part], answer)


def _verdict(params: TrajectoryParams, results: Sequence[Part], answer: Verdict | None = None) -> Verdict:
    weights = [params.weights.get(part.name, 1.0) for part in results]
    if params.credit == "all" or not sum(weights):
        score = min((part.score for part in results), default=1.0)
    else:
        score = sum(part.score * weight for part, weight in zip(results, weights, strict=True)) / sum(weights)
    reasons = {part.name: part.reason for part in results if part.score < 1}
    detail: dict[str, Any] = {"parts": {part.name: part.score for part in results}, "reasons": reasons}
    if answer is not None and answer.detail:
        detail["answer"] = dict(answer.detail)
    reason = next(iter(reasons.values()), "correct")
    if answer is None:
        return Verdict(Status.OK, min(1.0, score), reason, None, detail)
    return Verdict(Status.OK, min(1.0, score), reason, answer.extracted, detail, answer.is_lasting)


_FLIGHT = {"name": "book", "arguments": {"flight": "LH1"}}


def _example(calls: Sequence[str], score: float, reason: str, note: str, **params: Any) -> Example:
    return Example("\n".join(calls), params, score, reason, note)


_BOOKED = '<tool_call>{"name": "book", "arguments": {"flight": "LH1"}}</tool_call>'
_CANCELLED = '<tool_call>{"name": "cancel", "arguments": {"flight": "LH1"}}</tool_call>'
EXAMPLES = (
    _example([_BOOKED], 1.0, "correct", "the required call was made", required=[_FLIGHT]),
    _example(
        [_BOOKED, _CANCELLED],
        0.0,
        "forbidden_call",
        "a forbidden call follows the required one",
        required=[_FLIGHT],
        forbidden=["cancel"],
    ),
    _example([_BOOKED, _BOOKED], 0.5, "repeated_call", "made twice", required=[_FLIGHT], max_repeats=1, credit="mean"),
    _example(["It is booked."], 0.0, "missing_call", "nothing was done", required=[_FLIGHT]),
)
