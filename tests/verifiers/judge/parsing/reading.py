"""Helpers that read a raw output: they give the value, or the kind of its refusal in parentheses."""

from typing import Any

from verifiers.judge.errors import Unparseable
from verifiers.judge.parsing import Reading, read
from verifiers.judge.schemas import SCHEMAS, Context

CONTEXT = Context(criteria={"c1": 2.0, "c2": 1.0, "c3": 1.0}, n_steps=5)
REFUSED = None


def reading(schema: str, content: Any, finish_reason: str | None = "stop", **more: Any) -> Reading:
    logprobs = more.pop("logprobs", None)
    return read(SCHEMAS[schema], {"content": content, **more}, finish_reason, context=CONTEXT, logprobs=logprobs)


def value(schema: str, content: Any, finish_reason: str | None = "stop", **more: Any) -> Any:
    """The value that was read, or None if there is no verdict."""
    try:
        return reading(schema, content, finish_reason, **more).value
    except Unparseable:
        return REFUSED


def kind(schema: str, content: Any, finish_reason: str | None = "stop", **more: Any) -> str:
    """The reason why there is no verdict. It is `read` if there is one."""
    try:
        reading(schema, content, finish_reason, **more)
    except Unparseable as error:
        return error.kind
    return "read"
