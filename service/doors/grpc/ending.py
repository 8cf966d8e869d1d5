"""How a call ends without an answer, and without holding its message any longer.

An error has the frames that it went through, and these have the message and the context. Where one of them keeps the error,
too, that is a cycle, which holds the message, 60 MB of it, until garbage is collected.
"""

from typing import Any, TypeVar

import grpc

E = TypeVar("E", bound=BaseException)


async def end_call(context: Any, code: grpc.StatusCode, detail: str, trailers: tuple[Any, ...] = ()) -> None:
    """Send the status of a call, and no message. The method is to return then; gRPC drops what it returns.

    A code that is only set comes with an empty message before it. `context.abort` sends none, but raises an error, which
    the context keeps.
    """
    try:
        await context.abort(code, detail, trailers)
    except grpc.aio.AbortError as kept:
        without_frames(kept)


def without_frames(error: E) -> E:
    """The error without its traceback, and without those of the errors behind it."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)
