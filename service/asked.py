"""What the current request asks for beside verdicts, in headers or in metadata of gRPC, through every door."""

import json
from contextvars import ContextVar
from typing import Any, Final, Protocol

RECEIPTS: ContextVar[bool] = ContextVar("receipts", default=False)
"""Whether each verdict is to carry its receipt (service/versions/receipts.py)."""
PIN: ContextVar[str] = ContextVar("pin", default="")
"""The versions that the request is pinned to: the name or the text of a lock (service/versions/locks.py)."""
RECEIPT_HEADER: Final = "x-receipt"
PIN_HEADER: Final = "x-pin"


class Asking(Protocol):
    """A request whose body may ask for the same."""

    receipts: bool
    pin: str | dict[str, Any] | None


def note(request: Asking) -> None:
    """Note what the body of the current request asks for, in place of what its headers do."""
    if request.receipts:
        RECEIPTS.set(True)
    if request.pin is not None:
        PIN.set(request.pin if isinstance(request.pin, str) else json.dumps(request.pin))


def beside(request: Asking) -> dict[str, Any]:
    """What the headers of the current request ask for, and its body does not."""
    options: dict[str, Any] = {}
    if RECEIPTS.get() and not request.receipts:
        options["receipts"] = True
    if PIN.get() and request.pin is None:
        options["pin"] = PIN.get()
    return options
