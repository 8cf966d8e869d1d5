"""Sends HTTP answers as ASGI messages, for routes that do not belong to FastAPI."""

from typing import Final

from starlette.types import Send

JSON: Final = b"application/json"
PROBLEM: Final = b"application/problem+json"
"""RFC 9457."""


async def start(send: Send, status: int, media: bytes, *headers: tuple[bytes, bytes]) -> None:
    """Send the status and the headers. The parts of the body follow."""
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", media), *headers]})


async def send_part(send: Send, body: bytes, *, is_last: bool = False) -> None:
    """Send a part of the body."""
    await send({"type": "http.response.body", "body": body, "more_body": not is_last})


async def respond(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes], media: bytes = JSON) -> None:
    """Send an answer with its whole body."""
    await start(send, status, media, (b"content-length", b"%d" % len(body)), *headers)
    await send_part(send, body, is_last=True)
