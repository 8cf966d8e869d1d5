"""`POST /v1/boxes/runs` lends the boxes of this service to other services of ours (`sandbox.boxes.remote` is the
client).

A request brings a program and its runs. The results go out one by one, and hanging up stops the program. Callers may
wait for their turn as long as they like. Requests come from other services of ours, but they are checked all the same:
the key for this route can run programs, and nothing else.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Final

from starlette.types import Receive, Scope, Send

from sandbox.base import Program, Run, RunResult, Sandbox, SandboxUnavailable
from sandbox.boxes.remote import wire
from service.cancellation import cancel
from service.doors.asgi import asgi_response
from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.errors import BadRequest, MethodNotAllowed, Unprocessable
from service.limits.admission import Admission
from service.settings import Settings

PATH: Final = wire.PATH
_MEDIA: Final = frozenset({wire.MEDIA})


class BoxRunsDoor:
    """The route as an ASGI application."""

    def __init__(self, settings: Settings, admission: Admission, sandbox: Sandbox) -> None:
        self._settings = settings
        self._admission = admission
        self._sandbox = sandbox

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise MethodNotAllowed(f"{scope['method']} {PATH}; it takes POST")
        scope["state"]["call"].items = 1
        with self._admission.enter() as permit:
            await permit.add_when_possible(items=1)
            headers = scope["state"]["headers"]
            body = await read_body(self._settings, headers, receive, permit.reserve_when_possible, media=_MEDIA)
            try:
                program, runs = wire.decode_order(body)
            except wire.MalformedFrame as error:
                raise BadRequest(f"the body does not hold a program and its runs: {error}") from error
            del body
            async with cancelled_on_disconnect(receive), contextlib.aclosing(self._frames(program, runs)) as frames:
                first = await anext(frames)  # an immediate refusal gets its own status
                await asgi_response.start(send, 200, wire.MEDIA.encode())
                await asgi_response.send_part(send, first)
                async for frame in frames:
                    await asgi_response.send_part(send, frame)
                await asgi_response.send_part(send, b"", is_last=True)

    async def _frames(self, program: Program, runs: list[Run]) -> AsyncGenerator[bytes]:
        """Yield frames as they come, and a sign of life while none comes.

        Raises:
            Unprocessable: a box cannot take this program.
        """
        frames: asyncio.Queue[wire.Frame | ValueError] = asyncio.Queue()

        def take(_: int, result: RunResult) -> bool:
            frames.put_nowait(wire.Result(result))
            return True

        async def work() -> None:
            try:
                frames.put_nowait(wire.End(await self._sandbox.run(program, runs, take)))
            except SandboxUnavailable as error:
                frames.put_nowait(wire.Unavailable(str(error), error.reason))
            except ValueError as error:
                frames.put_nowait(error)

        working = asyncio.create_task(work())
        try:
            while True:
                frame = await _next(frames)
                if isinstance(frame, ValueError):
                    raise Unprocessable(f"a box cannot take this program: {frame}")
                yield wire.encode_frame(frame)
                if isinstance(frame, wire.End | wire.Unavailable):
                    return
        finally:
            await cancel(working)


async def _next(frames: "asyncio.Queue[wire.Frame | ValueError]") -> wire.Frame | ValueError:
    try:
        async with asyncio.timeout(wire.ALIVE_S):
            return await frames.get()
    except TimeoutError:
        return wire.Alive()
