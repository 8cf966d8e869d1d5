"""Spans record how long each part of a request took. Every layer may make them.

    door (`enter`) ──► engine ──► one span for a chunk, linked to every request it serves (`shared`)
                         │            └──► worker, box, judge (`span`, `traced`) ──► the next service (`headers`)
                         └──► cache ──► Redis

This package has no dependency. `use` installs a tracer (`service.observe.otlp` makes one). Without a tracer, or inside a
request that is not recorded, no span is made, and a `with` block costs one read of a variable. Spans hold names and
numbers, never texts of requests and never keys.

The current span belongs to the task (it is a context variable): a new task inherits the span of the code that creates
it. Work that serves other requests than its creator's must name its parent span.
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
    """A part of a request with a beginning and an end. All methods may be called after the end, and then do nothing."""

    @property
    def is_recorded(self) -> bool:
        """Whether the span will be exported."""

    @property
    def trace_id(self) -> str:
        """32 hexadecimal digits."""

    @property
    def headers(self) -> Headers:
        """Headers that pass this span on to the next service (W3C Trace Context)."""

    def set(self, attributes: Mapping[str, Value]) -> None: ...

    def link(self, span: "Span") -> None:
        """Link two spans that belong together although neither is part of the other."""

    def fail(self, why: str) -> None:
        """Mark the span as failed. `why` is an exception class or a code, never the text of an error."""

    def end(self) -> None: ...


class Tracer(Protocol):
    """Makes spans. Its methods must not raise or block."""

    def begin_request(self, name: str, carrier: Headers) -> Span:
        """Begin the first span of a request in this service. The caller's headers name its parent."""

    def begin(self, name: str, kind: Kind, parent: Span, links: Sequence[Span]) -> Span: ...


_tracer: Tracer | None = None
_current: ContextVar[Span | None] = ContextVar("span", default=None)


def use(tracer: Tracer | None) -> None:
    """Make all further spans with this tracer; None: make no more spans."""
    global _tracer
    _tracer = tracer


def enter(name: str, carrier: Mapping[str, str | None]) -> Span | None:
    """Begin the span of a request and make it the task's current span; None without a tracer. The caller ends it."""
    if _tracer is None:
        return None
    request_span = _tracer.begin_request(name, {key: value for key, value in carrier.items() if value is not None})
    _current.set(request_span)
    return request_span


def leave() -> None:
    """Detach this task from its trace: what it does from now on is not recorded."""
    if _tracer is not None:
        _current.set(None)


def current() -> Span | None:
    return _current.get()


def headers() -> Headers:
    """Headers that tell another service which trace a call belongs to; empty without a current span."""
    current = _current.get()
    return {} if current is None else current.headers


def note(**attributes: Value) -> None:
    """Add attributes to the current span, if there is one.

    Here and below, an attribute `name` is exported as `rewardline.name`.
    """
    current = _current.get()
    if current is not None:
        current.set(_named(attributes))


def fail(why: str) -> None:
    """Mark the current span as failed, where no exception says so."""
    current = _current.get()
    if current is not None:
        current.fail(why)


def _named(attributes: Mapping[str, Value]) -> dict[str, Value]:
    return {f"rewardline.{name}": value for name, value in attributes.items()}


class Block(Protocol):
    """A `with` block that makes its span the current one; None when nothing is recorded."""

    def __enter__(self) -> Span | None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class _NoSpan:
    """Makes no span and leaves the current one as it is."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


_NO_SPAN: Final = _NoSpan()


class _Current:
    """Makes a span (or none) the current one inside the block, and ends it with the block."""

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
        # Set, not reset: a block in an asynchronous generator may end in another context than the one it began in.
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
    """Begin a span below `parent`, or else below the current span. Do nothing when that span is not recorded."""
    if _tracer is None:
        return _NO_SPAN
    parent_span = parent if parent is not None else _current.get()
    if parent_span is None or not parent_span.is_recorded:
        return _NO_SPAN
    new_span = _tracer.begin(name, kind, parent_span, ())
    new_span.set(_named(attributes))
    return _Current(new_span)


def shared(name: str, among: Iterable[Span | None], kind: Kind = "internal", **attributes: Value) -> Block:
    """Begin a span for work that serves several requests: a child of the first recorded one, linked to all others.

    When no request is recorded, the work inside is not recorded either, whichever task runs it.
    """
    if _tracer is None:
        return _NO_SPAN
    all_of_them = dict.fromkeys(member for member in among if member is not None)
    recorded = [member for member in all_of_them if member.is_recorded]
    if not recorded:
        return _Current(next(iter(all_of_them), None))
    new_span = _tracer.begin(name, kind, recorded[0], recorded)
    new_span.set(_named(attributes))
    return _Current(new_span)


def join(work: Span | None, request: Span | None) -> None:
    """Link a request to work already under way that the request now waits for."""
    if work is not None and request is not None:
        work.link(request)
        request.link(work)


def traced(
    name: str, kind: Kind = "internal"
) -> Callable[[Callable[P, Coroutine[Any, Any, R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """Decorate a coroutine function so that each call is a span below the current one."""

    def decorate(work: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        async def within(*args: P.args, **kwargs: P.kwargs) -> R:
            with span(name, kind):
                return await work(*args, **kwargs)

        @functools.wraps(work)
        def begin(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
            return work(*args, **kwargs) if _tracer is None else within(*args, **kwargs)

        return begin

    return decorate
