"""Behaviours of a scripted upstream: good, bad, and in between."""

import asyncio
import gzip
import json
from typing import Any

from tests.judge_upstream.scripted import Behaviour, Exchange

VERDICT = '{"reasoning": "the same", "verdict": "A"}'
USAGE = {"prompt_tokens": 20, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 5}}


def completion(
    content: Any = VERDICT, *, finish_reason: Any = "stop", usage: Any = USAGE, model: Any = "judge", **message: Any
) -> dict[str, Any]:
    """The body of a good reply."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content} | message,
        "finish_reason": finish_reason,
    }
    body = {"id": "c", "object": "chat.completion", "model": model, "choices": [choice]}
    return body if usage is None else body | {"usage": usage}


def says(content: Any = VERDICT, **parts: Any) -> Behaviour:
    return gives(completion(content, **parts))


def gives(body: Any, status: int = 200, **headers: str) -> Behaviour:
    """Answers with any JSON. `_` in names of headers stands for `-`."""
    return gives_bytes(json.dumps(body).encode(), status, **headers)


def gives_bytes(body: bytes, status: int = 200, **headers: str) -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        await exchange.send(status, body, {name.replace("_", "-"): value for name, value in headers.items()})

    return behave


def refuses(status: int, message: str = "no", *, code: Any = None, param: Any = None, **headers: str) -> Behaviour:
    """Answers with an error in OpenAI's form."""
    return gives({"error": {"message": message, "type": "some_error", "code": code, "param": param}}, status, **headers)


def sends(data: bytes, *, then: str = "close") -> Behaviour:
    """Sends any bytes, and then does `close`, `reset` or `hang`."""

    async def behave(exchange: Exchange) -> None:
        if data:
            await exchange.raw(data)
        if then == "hang":
            await exchange.until_gone()
        if then == "reset":
            exchange.reset()
        exchange.close()

    return behave


def after(seconds: float, behaviour: Behaviour) -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        await asyncio.sleep(seconds)
        await behaviour(exchange)

    return behave


def when(event: asyncio.Event, behaviour: Behaviour) -> Behaviour:
    """Answers only after `event` is set."""

    async def behave(exchange: Exchange) -> None:
        await event.wait()
        await behaviour(exchange)

    return behave


def drips(body: bytes = b"x" * 1000, every_s: float = 0.05) -> Behaviour:
    """Sends one byte at a time, for longer than any caller waits."""

    async def behave(exchange: Exchange) -> None:
        await exchange.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for byte in body:
            if exchange.reader.at_eof():
                exchange.request.gone.set()
                exchange.close()
            await exchange.raw(bytes([byte]))
            await asyncio.sleep(every_s)

    return behave


def streams(*pieces: bytes, end: str = "whole", **headers: str) -> Behaviour:
    """Sends a stream of events in chunks. `end` is whole, cut (no last chunk) or hang."""

    async def behave(exchange: Exchange) -> None:
        given = {"Content-Type": "text/event-stream"} | {name.replace("_", "-"): each for name, each in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        await exchange.raw(f"HTTP/1.1 200 OK\r\n{lines}Transfer-Encoding: chunked\r\n\r\n".encode())
        for piece in pieces:
            await exchange.raw(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await asyncio.sleep(0.001)
        if end == "hang":
            await exchange.until_gone()
        if end == "cut":
            exchange.close()
        await exchange.raw(b"0\r\n\r\n")

    return behave


def echoes_nonce() -> Behaviour:
    """Answers with the content of the request's last message, so that a reply to another question is noticed."""

    async def behave(exchange: Exchange) -> None:
        content = exchange.request.json["messages"][-1]["content"]
        await exchange.send(200, json.dumps(completion(content)).encode())

    return behave


def capable(*, schema: bool = True, logprobs: bool = True, several: bool = True) -> Behaviour:
    """A server with these capabilities. It ignores options that it does not support."""

    async def behave(exchange: Exchange) -> None:
        asked = exchange.request.json
        content = VERDICT
        if schema and "response_format" in asked:
            properties = asked["response_format"]["json_schema"]["schema"]["properties"]
            content = json.dumps({name: each.get("enum", ["x"])[0] for name, each in properties.items()})
        body = completion(content, model=asked["model"])
        if logprobs and asked.get("logprobs"):
            body["choices"][0]["logprobs"] = {"content": [{"token": "A", "logprob": -0.1, "top_logprobs": []}]}
        if several:
            body["choices"] = [body["choices"][0] | {"index": place} for place in range(asked.get("n", 1))]
        await exchange.send(200, json.dumps(body).encode())

    return behave


class Slots:
    """Accepts `capacity` calls at once, and answers 429 to more. Each call takes `seconds`, or this many turns of the
    event loop.

    Turns mean the same on a fast and a slow machine, because the client's turns are in the same loop.
    """

    def __init__(self, capacity: int, seconds: float = 0.0, *, turns: int = 0, **headers: str) -> None:
        self.capacity = capacity
        self.seconds = seconds
        self.turns = turns
        self.at_once = 0
        self.most = 0
        self.refused = 0
        self.served = 0
        self._refusal = refuses(429, "too many", **headers)
        self._answer = says()

    async def __call__(self, exchange: Exchange) -> None:
        if self.at_once >= self.capacity:
            self.refused += 1
            await self._refusal(exchange)
            return
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            await asyncio.sleep(self.seconds)
            for _ in range(self.turns):
                await asyncio.sleep(0)
            await self._answer(exchange)
            self.served += 1
        finally:
            self.at_once -= 1


GZIPPED = gzip.compress(json.dumps(completion()).encode())
