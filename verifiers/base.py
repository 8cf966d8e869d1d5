"""What a verifier is: it takes items, and gives one verdict for each.

The first rule of this project is written into `Verdict`: a score exists exactly when something was judged.

    ok        judged; `score` is in [0, 1]. A wrong, missing or truncated answer is judged: 0, with its reason.
    invalid   the caller must mend the item (its reference, its parameters); no score.
    failed    we could not judge (a worker, a box, a judge model, the deadline); no score, never cached.

What the judged text does (hangs a parser, blows up a number) is never `failed`: it is `ok` with score 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Generic, Literal, TypeVar

import msgspec
from pydantic import BaseModel, ConfigDict

from sandbox.base import Sandbox
from sandbox.boxes.absent import NoSandbox
from sandbox.workers import Workers
from verifiers.conversation import Conversation, Turn, of_text

MAX_DETAIL_TEXT_CHARS = 300
"""Texts quoted in a verdict's detail are cut to this length; a verdict never carries a whole response."""


class Status(StrEnum):
    OK = "ok"
    INVALID = "invalid"
    FAILED = "failed"


class Verdict(msgspec.Struct, frozen=True):
    """What was decided about one item."""

    status: Status
    score: float | None
    """In [0, 1] when `status` is ok, else None."""
    reason: str
    """A short stable word (`correct`, `wrong_answer`, `no_answer`): countable, so never made from the response."""
    extracted: str | None = None
    """The answer that was judged, as it stood in the response, cut to `MAX_DETAIL_TEXT_CHARS`."""
    detail: Mapping[str, Any] = {}
    """Small JSON; for invalid and failed verdicts it holds `message`: what was expected, what was found."""

    def __post_init__(self) -> None:
        score = self.score
        if (self.status is Status.OK) is (score is None):
            raise ValueError(f"status {self.status} with score {score}: a score exists exactly when judged")
        if score is not None and not 0.0 <= score <= 1.0:
            raise ValueError(f"score {score} is not in [0, 1]")

    @classmethod
    def correct(cls, extracted: str | None = None, **detail: Any) -> "Verdict":
        return cls(Status.OK, 1.0, "correct", clip(extracted), detail)

    @classmethod
    def wrong(cls, reason: str = "wrong_answer", extracted: str | None = None, **detail: Any) -> "Verdict":
        return cls(Status.OK, 0.0, reason, clip(extracted), detail)

    @classmethod
    def invalid(cls, reason: str, message: str) -> "Verdict":
        return cls(Status.INVALID, None, reason, None, {"message": clip(message)})

    @classmethod
    def failed(cls, reason: str, message: str = "") -> "Verdict":
        return cls(Status.FAILED, None, reason, None, {"message": clip(message)} if message else {})


def clip(text: str | None) -> str | None:
    """Cut a text that may be the response's own to what a verdict may carry."""
    if text is None or len(text) <= MAX_DETAIL_TEXT_CHARS:
        return text
    return text[: MAX_DETAIL_TEXT_CHARS - 1] + "…"


class Params(BaseModel):
    """A verifier's parameters, `reference` among them; unknown names and NaN are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    turn: Turn = "last"
    """Of a response that is messages: which turn is judged, the last one, all or one by its number from 1. Of a turn, what
    the assistant said last; of all, whatever it said."""
    unfinished: Literal["refuse", "wrong"] = "refuse"
    """What verifiers of text make of a turn that ends in a call where an answer should be: they refuse it, or judge that
    there is no answer. A trainer whose rollouts have a limit of steps wants the latter."""


P = TypeVar("P", bound=Params)


class Item(msgspec.Struct, Generic[P], frozen=True):
    """One response and what to judge it by."""

    response: str
    """The text to judge; of a conversation, what `params.turn` says."""
    params: P
    prompt: str | None = None
    explain: bool = False
    """The caller asked why: put candidates seen and forms compared into `detail`."""
    deadline: float | None = None
    """When nobody waits for the verdict any more, in seconds of the event loop's clock; no part of what is judged."""
    cache: Literal["use", "refresh", "off"] = "use"
    """For verifiers that keep what they were told: whether it may be used, is to be replaced, or neither."""
    conversation: Conversation | None = None
    """The whole response, where it is more than text and the verifier `judges_calls`."""

    @property
    def said(self) -> Conversation:
        """The whole response; one that is text is a conversation of one step."""
        return of_text(self.response) if self.conversation is None else self.conversation


class InvalidItem(Exception):
    """The item cannot be judged until its author mends it; becomes status `invalid`."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Unavailable(Exception):
    """What judges this item is not there now; becomes status `failed`. Says nothing about the response."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Verifier(ABC, Generic[P]):
    """Judges items of one kind. Stateless between calls: the same item always gets the same verdict."""

    name: ClassVar[str]
    version: str
    """Part of the cache key: changes whenever any verdict may change. A verifier whose verdicts depend on what it was
    created with, such as models, has that in it."""
    params: ClassVar[type[Params]]
    """The typed parameters, from which the API's JSON schema is made."""
    summary: ClassVar[str]
    """One line for `GET /v1/verifiers`."""
    deterministic: ClassVar[bool] = True
    """Whether verdicts may be cached and shared between equal items."""
    uses_prompt: ClassVar[bool] = False
    """Whether the prompt is part of what is judged, and so of the cache key."""
    judges_calls: ClassVar[bool] = False
    """Whether it takes responses as conversations. Others judge text, and refuse what they would pass over."""
    chunk_items: ClassVar[int] = 64
    """At most so many items per call of `score`: about 2 ms of work when it runs inline."""
    concurrency: int | None = 1
    """Calls of `score` under way at once. 1 for work done inline on the event loop; None: as many as there are
    worker processes, and one waiting for each. Read once, when the verifier was created."""
    bounds_itself: ClassVar[bool] = False
    """What it does ends by limits of its own, such as those of programs in boxes: the setting `item_deadline_s`, which
    would call a program that uses up its time limits `failed`, does not hold for it. A request's deadline does.
    Nor does a slow call make room for another, which could only wait for the same boxes."""

    @abstractmethod
    async def score(self, items: Sequence[Item[P]]) -> Sequence[Verdict]:
        """One verdict per item, in order.

        Raises:
            InvalidItem, Unavailable: each item of the call is then asked alone, and keeps its own trouble.
        """

    async def score_each(self, items: Sequence[Item[P]], deliver: Callable[[int, Verdict], None]) -> None:
        """As `score`, but each verdict is delivered with its item's position as soon as it exists.

        For verifiers whose items may differ much in time; verdicts delivered before trouble or a deadline count.
        """
        for position, verdict in enumerate(await self.score(items)):
            deliver(position, verdict)

    def meet(self, others: Mapping[str, "Verifier[Any]"]) -> None:  # most judge alone
        """Told once, before any item, of all the verifiers there are, by name: for one that has others judge a part."""

    def judged_with(self, params: P) -> Sequence["Verifier[Any]"]:
        """Those whose verdicts go into its own by these parameters, and with them what holds for theirs: version, prompt,
        whether they may be shared.

        Raises:
            InvalidItem: the parameters name one that there is not.
        """
        return ()

    def own_answer(self, params: P) -> str | None:
        """A response that is right by these parameters if any is, for audits of data sets.

        None: to write one is to solve the task, or takes more than the parameters hold.
        """
        return None


@dataclass(frozen=True, slots=True)
class Resources:
    """What verifiers may hold; built once in `service.__main__`."""

    workers: Workers
    sandbox: Sandbox = field(default_factory=NoSandbox)
    """Where programs run that somebody else wrote."""
    judges: object | None = None
    """Judge models, a `verifiers.judge.panel.Panel`; None where none are configured. Not typed as one: the contract knows no
    verifier."""


@dataclass(frozen=True, slots=True)
class Example:
    """A case that shows what a verifier decides: documentation, conformance test and worker warm-up in one."""

    response: str
    params: Mapping[str, Any]
    """As on the wire: `reference` and the verifier's own parameters."""
    score: float | None
    """Expected; None when the status is not ok."""
    reason: str
    note: str
    """What the reader should see in it."""
    status: Status = Status.OK
    prompt: str | None = None
