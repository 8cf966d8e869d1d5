"""The contract of a verifier: it takes items, and gives one verdict for each.

`Verdict` enforces the first rule of this project: a score exists exactly when something was judged.

    ok        judged; `score` is in [0, 1]. A wrong, missing or truncated answer is judged: 0, with its reason.
    invalid   the caller must correct the item (its reference, its parameters); no score.
    failed    the service could not judge (a worker, a box, a judge model, the deadline); no score, never cached.

An effect of the judged text (it hangs a parser, or makes a number huge) is never `failed` or `invalid`: it is `ok` with
score 0. The task decides whether it is judged, never the response: for one task all responses are `ok`, or none is.
"""

import inspect
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

import msgspec
from propcache.api import cached_property
from pydantic import BaseModel, ConfigDict

from sandbox.base import Sandbox
from sandbox.boxes.absent import NoSandbox
from sandbox.containers.base import Containers, NoContainers
from sandbox.workers import Workers
from verifiers.conversation import Conversation, Turn, of_text

MAX_DETAIL_TEXT_CHARS = 300
"""Texts quoted in a verdict's detail are cut to this length; a verdict never carries a whole response."""


class Status(StrEnum):
    OK = "ok"
    INVALID = "invalid"
    FAILED = "failed"


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """The decision about one item."""

    status: Status
    score: float | None
    """In [0, 1] when `status` is ok, else None."""
    reason: str
    """A short stable word (`correct`, `wrong_answer`, `no_answer`).

    It is counted, so it never contains response text.
    """
    extracted: str | None = None
    """The judged answer as it stood in the response, cut to `MAX_DETAIL_TEXT_CHARS`."""
    detail: Mapping[str, Any] = {}
    """Small JSON. For invalid and failed verdicts it holds `message`: what was expected, and what was found."""
    is_lasting: bool = True
    """Whether any other replica gives the same verdict, at any time. If not, it is not cached."""

    def __post_init__(self) -> None:
        score = self.score
        if (self.status is Status.OK) is (score is None):
            raise ValueError(f"status {self.status} with score {score}: only status ok has a score")
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
    def failed(cls, reason: str, message: str = "", **detail: Any) -> "Verdict":
        return cls(Status.FAILED, None, reason, None, {"message": clip(message), **detail} if message else detail)


def clip(text: str | None) -> str | None:
    """Cut a text, such as one from the response, to the length that a verdict may carry."""
    if text is None or len(text) <= MAX_DETAIL_TEXT_CHARS:
        return text
    return text[: MAX_DETAIL_TEXT_CHARS - 1] + "…"


class Params(BaseModel):
    """A verifier's parameters, `reference` among them; unknown names and NaN are refused."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        ignored_types=(cached_property,),  # propcache's, which has no lock and takes a third of the time
    )

    turn: Turn = "last"
    """The turn that is judged, of a response that is messages: the last one, all, or one by its number from 1.

    Of a turn, the last message of the assistant is judged; of all turns, all its messages.
    """
    unfinished: Literal["refuse", "wrong"] = "wrong"
    """How text verifiers treat a turn that ends in a call instead of an answer: it is wrong, or they refuse it.

    With refuse, the response decides whether it is judged. That is for finding rows that have the wrong verifier.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Tell `inspect` where the class stands: it looks through all modules otherwise, for a twentieth of a start."""
        super().__init_subclass__(**options)
        if file := getattr(sys.modules.get(cls.__module__), "__file__", None):
            inspect.modulesbyfile[os.path.normcase(file)] = cls.__module__

    def as_json(self) -> bytes:
        """The parameters as JSON. `chars` is then known without writing them again."""
        encoded: bytes = self.__pydantic_serializer__.to_json(self)  # the same without its way through text
        self.__dict__["chars"] = len(encoded)
        return encoded

    @cached_property
    def chars(self) -> int:
        """The length of the parameters as JSON; 0 if JSON cannot hold them. Verifiers read long ones in a worker."""
        try:
            return len(self.model_dump_json())
        except (ValueError, RecursionError):
            return 0


P = TypeVar("P", bound=Params)


class Item(msgspec.Struct, Generic[P], frozen=True, gc=False):
    """One response and what to judge it by."""

    response: str
    """The text to judge; of a conversation, what `params.turn` says."""
    params: P
    prompt: str | None = None
    explain: bool = False
    """Whether the caller wants an explanation: the candidates and the compared forms are then put into `detail`."""
    deadline: float | None = None
    """The time when nobody waits for the verdict any more, in seconds of the event loop's clock. It is not judged."""
    cache: Literal["use", "refresh", "off"] = "use"
    """For verifiers that store answers: whether a stored answer may be used, is to be replaced, or neither."""
    conversation: Conversation | None = None
    """The whole response, if it is more than text and the verifier `judges_calls`."""
    owner: str = ""
    """Whose the item is. For verifiers that store answers: only items of the same owner share them."""

    @property
    def said(self) -> Conversation:
        """The whole response. A response of text is a conversation of one step."""
        return of_text(self.response) if self.conversation is None else self.conversation


class InvalidItem(Exception):
    """The item cannot be judged until its author corrects it. The status becomes `invalid`."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Unavailable(Exception):
    """A part needed to judge this item is unavailable.

    The status becomes `failed`; this says nothing about the response. `detail` is small JSON for the verdict.
    """

    def __init__(self, reason: str, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.reason = reason
        self.detail = detail


class Verifier(ABC, Generic[P]):
    """Judges items of one kind. Stateless between calls: the same item always gets the same verdict."""

    name: ClassVar[str]
    version: str
    """Part of the cache key. It changes whenever any verdict may change. If verdicts depend on the resources of a
    verifier, such as models, the version contains them."""
    params: ClassVar[type[Params]]
    """The typed parameters, from which the API's JSON schema is made."""
    summary: ClassVar[str]
    """One line for `GET /v1/verifiers`."""
    deterministic: ClassVar[bool] = True
    """Whether verdicts may be cached and shared between equal items."""
    uses_prompt: ClassVar[bool] = False
    """Whether the prompt is part of what is judged, and so of the cache key."""
    is_opinion: ClassVar[bool] = False
    """Whether a verdict is what a model thinks. Such verdicts are shared only between items of the same owner."""
    judges_calls: ClassVar[bool] = False
    """Whether the verifier takes conversations as responses.

    Others judge text, and refuse calls that they would ignore.
    """
    chunk_items: ClassVar[int] = 64
    """The largest number of items per call of `score`: about 2 ms of work if it runs inline."""
    concurrency: int | None = 1
    """The number of calls of `score` that run at once. 1 is for work done inline on the event loop.

    None means one call for each worker process, and one waiting for each. The value is read once, when the verifier was
    created.
    """
    bounds_itself: ClassVar[bool] = False
    """Whether the verifier's work ends by its own limits, such as those of programs in boxes.

    The setting `item_deadline_s` then does not apply, because it would make a program that uses up its time limits
    `failed`. A request's deadline still applies. A slow call does not make room for another call, which could only wait
    for the same boxes.
    """

    @abstractmethod
    async def score(self, items: Sequence[Item[P]]) -> Sequence[Verdict]:
        """One verdict per item, in order.

        Raises:
            InvalidItem, Unavailable: each item of the call is then scored alone, and keeps its own error.
        """

    async def score_each(self, items: Sequence[Item[P]], deliver: Callable[[int, Verdict], None]) -> None:
        """Score the items as `score` does, but deliver each verdict, with its item's position, as soon as it exists.

        This is for verifiers whose items may differ much in time. Verdicts delivered before an error or a deadline
        count.
        """
        for position, verdict in enumerate(await self.score(items)):
            deliver(position, verdict)

    def meet(self, verifiers: Mapping[str, "Verifier[Any]"]) -> None:  # most judge alone
        """Receive all verifiers by name, once before any item. Verifiers that let others judge a part keep them."""

    def judged_with(self, params: P) -> Sequence["Verifier[Any]"]:
        """The verifiers whose verdicts become part of this verifier's verdict for these parameters.

        Their properties then hold for this verdict, too: version, use of the prompt, whether it may be shared.

        Raises:
            InvalidItem: the parameters name a verifier that does not exist.
        """
        return ()

    def obstacle(self, params: P) -> Verdict | None:
        """The verdict on every response, if these parameters or what is configured let none be judged; else None.

        It takes microseconds. It keeps the response from deciding: one that has no answer has no score either.
        """
        return None

    def own_answer(self, params: P) -> str | None:
        """A response that is right for these parameters if any response is. Audits of data sets use it.

        None: writing it would mean solving the task, or needs more than the parameters hold.
        """
        return None

    def answer_key(self, answer: str, params: P) -> Hashable | None:
        """A key of a short answer. Of two answers with keys, either is right for the other if, and only if, these are
        equal. It takes microseconds. `params` hold some reference, which does not count.

        None: the answer has none, and must be judged against others.
        """
        return None


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources that verifiers may hold; built once in `service.__main__`."""

    workers: Workers
    sandbox: Sandbox = field(default_factory=NoSandbox)
    """The sandbox, where programs of others run."""
    judges: object | None = None
    """Judge models, a `verifiers.judge.panel.Panel`; None if none are configured. The type is not named here, because the
    contract imports no verifier."""
    containers: Containers = field(default_factory=NoContainers)
    """The containers of tasks that bring their own image."""
    task_root: Path | None = None
    """The folder below which references may name tasks by path."""
    refuses_unguarded: bool = False
    """Whether tests that nothing guards from the program are refused."""


@dataclass(frozen=True, slots=True)
class Example:
    """A case that shows what a verifier decides: documentation, conformance test and worker warm-up in one."""

    response: str
    params: Mapping[str, Any]
    """As on the wire: `reference` and the verifier's own parameters."""
    score: float | None
    """The expected score; None if the status is not ok."""
    reason: str
    note: str
    """The point that the reader should notice."""
    status: Status = Status.OK
    prompt: str | None = None
