"""Spans: which part of a request took how long, for whoever keeps traces. Every layer may say so here.

    door (`enter`) ──► engine ──► one span for a chunk, linked to every request it serves (`shared`)
                         │            └──► worker, box, judge (`span`, `traced`) ──► the next service (`headers`)
                         └──► cache ──► Redis

There is no dependency: a tracer is something that `use` was given (`service.otlp` makes one). Without one, or below a
request that is not recorded, nothing is made, and a `with` costs a look at a variable. Spans hold names and numbers, never
texts of requests, and no keys.

The current span is the task's (a context variable): tasks take it along from where they are made. Work that is done for
others than the task's maker names its parent itself.
"""

import asyncio
import functools
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Literal, ParamSpec, Protocol, TypeVar

Kind = Literal["internal", "server", "client"]
Value = str | int | float | bool
Headers = Mapping[str, str]

P = ParamSpec("P")
R = TypeVar("R")


class Span(Protocol):
    """Something that began and will end. All of it may be called after the end, and does nothing then."""

    @property
    def is_recorded(self) -> bool:
        """Whether anybody will see it."""

    @property
    def trace_id(self) -> str:
        """32 hexadecimal digits."""

    @property
    def headers(self) -> Headers:
        """What tells the next service of it (W3C Trace Context)."""

    def set(self, attributes: Mapping[str, Value]) -> None: ...

    def link(self, other: "Span") -> None:
        """Note that the two belong together, though neither is part of the other."""

    def fail(self, why: str) -> None:
        """It came to nothing; `why` is a class of errors or a code, never their text."""

    def end(self) -> None: ...


class Tracer(Protocol):
    """Makes spans; nothing it does may raise, or wait for anything."""

    def begin_request(self, name: str, carrier: Headers) -> Span:
        """The first span here of a request; its parent is what the caller's headers name."""

    def begin(self, name: str, kind: Kind, parent: Span, links: Sequence[Span]) -> Span: ...


_tracer: Tracer | None = None
_current: ContextVar[Span | None] = ContextVar("span", default=None)


def use(tracer: Tracer | None) -> None:
    """Have spans made by this one from now on; None: no more spans."""
    global _tracer
    _tracer = tracer


def enter(name: str, carrier: Mapping[str, str | None]) -> Span | None:
    """Begin the span of a request, to be ended by the caller, and make it the task's; None without a tracer."""
    if _tracer is None:
        return None
    begun = _tracer.begin_request(name, {key: value for key, value in carrier.items() if value is not None})
    _current.set(begun)
    return begun


def leave() -> None:
    """What this task does from now on belongs to no trace."""
    if _tracer is not None:
        _current.set(None)


def current() -> Span | None:
    return _current.get()


def headers() -> Headers:
    """For a call to another service: of which trace it is part; empty where it is of none."""
    here = _current.get()
    return {} if here is None else here.headers


def note(**attributes: Value) -> None:
    """Add to the current span, if there is one. Here as below, what is called `name` is seen as `rewardline.name`."""
    here = _current.get()
    if here is not None:
        here.set(_named(attributes))


def fail(why: str) -> None:
    """The current span comes to nothing, which no exception says."""
    here = _current.get()
    if here is not None:
        here.fail(why)


def _named(attributes: Mapping[str, Value]) -> dict[str, Value]:
    return {f"rewardline.{name}": value for name, value in attributes.items()}


class Block(Protocol):
    """A `with` block whose span is the current one inside it; None where none is recorded."""

    def __enter__(self) -> Span | None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class _NoSpan:
    """No span, and the current one stays what it is."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


_NO_SPAN: Final = _NoSpan()


class _Current:
    """The span, or none, is the current one inside; it is ended with the block."""

    __slots__ = ("_before", "_span")

    def __init__(self, span: Span | None) -> None:
        self._span = span
        self._before: Span | None = None

    def __enter__(self) -> Span | None:
        self._before = _current.get()
        _current.set(self._span)
        return self._span

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Set, not reset: a block in an asynchronous generator may be left in another context than it was entered in.
        _current.set(self._before)
        if self._span is None:
            return
        if kind is not None:
            self._note(kind)
        self._span.end()

    def _note(self, kind: type[BaseException]) -> None:
        assert self._span is not None
        if issubclass(kind, asyncio.CancelledError | GeneratorExit):
            self._span.set({"rewardline.cancelled": True})
        else:
            self._span.fail(kind.__name__)


def span(name: str, kind: Kind = "internal", *, parent: Span | None = None, **attributes: Value) -> Block:
    """A part of `parent`, or else of the current span; of none that is recorded: nothing."""
    if _tracer is None:
        return _NO_SPAN
    above = parent if parent is not None else _current.get()
    if above is None or not above.is_recorded:
        return _NO_SPAN
    begun = _tracer.begin(name, kind, above, ())
    begun.set(_named(attributes))
    return _Current(begun)


def shared(name: str, among: Iterable[Span | None], kind: Kind = "internal", **attributes: Value) -> Block:
    """Work done for several requests at once: part of the first that is recorded, linked to each of the others.

    Where none is recorded, what is inside is not either, whoever made the task.
    """
    if _tracer is None:
        return _NO_SPAN
    all_of_them = dict.fromkeys(each for each in among if each is not None)
    seen = [each for each in all_of_them if each.is_recorded]
    if not seen:
        return _Current(next(iter(all_of_them), None))
    begun = _tracer.begin(name, kind, seen[0], seen)
    begun.set(_named(attributes))
    return _Current(begun)


def join(work: Span | None, request: Span | None) -> None:
    """A request has come to wait for work that is under way."""
    if work is not None and request is not None:
        work.link(request)
        request.link(work)


def traced(
    name: str, kind: Kind = "internal"
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """A coroutine function each of whose calls is a span, part of the current one."""

    def decorate(work: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        async def within(*args: P.args, **kwargs: P.kwargs) -> R:
            with span(name, kind):
                return await work(*args, **kwargs)

        @functools.wraps(work)
        def begin(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
            return work(*args, **kwargs) if _tracer is None else within(*args, **kwargs)

        return begin

    return decorate
