"""`POST /v1/score`. It is a bare ASGI endpoint, so that a batch goes from bytes to verdicts and back in one pass
each.
"""

import asyncio
from typing import Final

from starlette.types import Receive, Scope, Send

from service import asked
from service.doors.asgi import asgi_response
from service.doors.asgi.request_body import cancelled_on_disconnect, read_body
from service.errors import MethodNotAllowed
from service.groups.singles import Singles
from service.limits.admission import Admission, announced
from service.observe.access_log import Call
from service.settings import Settings
from service.wire import (
    LARGE_BYTES,
    NDJSON,
    BatchRequest,
    Summary,
    decode_request,
    free,
    rendered,
    stream_line,
    summary_line,
)

PATH: Final = "/v1/score"


class ScoreDoor:
    """The score door. It answers with one JSON text, or with one line for each verdict as it comes if the caller asks
    for NDJSON.
    """

    def __init__(self, settings: Settings, admission: Admission, singles: Singles) -> None:
        self._settings = settings
        self._admission = admission
        self._singles = singles

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            raise MethodNotAllowed(f"{scope['method']} {PATH}; it takes POST")
        headers = scope["state"]["headers"]
        loop = asyncio.get_running_loop()
        started = loop.time()
        with self._admission.enter() as permit:
            self._admission.check_room(announced(headers.get(b"x-item-count"), self._settings.max_items_per_request))
            body = await read_body(self._settings, headers, receive, permit.reserve)
            request = await decode_request(body, self._settings.max_items_per_request, permit.hold)
            permit.add(items=len(request.items))
            call: Call = scope["state"]["call"]
            call.items = len(request.items)
            call.is_of_run(request.run_id, "run_id")
            asked.note(request)
            batch = BatchRequest(
                request.items,
                request.references,
                request.cache,
                request.explain,
                loop.time()
                + min(request.deadline_s or self._settings.default_deadline_s, self._settings.max_deadline_s),
                nbytes=(nbytes := len(body)),
            )
            del body
            async with cancelled_on_disconnect(receive):
                if NDJSON in headers.get(b"accept", b"").decode("latin-1"):
                    await self._stream(batch, send)
                else:
                    await self._answer(batch, send)
            self._admission.observe_rate(call.items, loop.time() - started)
            if nbytes > LARGE_BYTES:
                await free(request.items)

    async def _answer(self, batch: BatchRequest, send: Send) -> None:
        scored = await self._singles.score(batch)
        body = await rendered(scored.results, scored.summary)
        await asgi_response.respond(send, 200, body)

    async def _stream(self, batch: BatchRequest, send: Send) -> None:
        started = False
        async for part in self._singles.stream(batch):
            if not started:
                await asgi_response.start(send, 200, NDJSON.encode())
                started = True
            if isinstance(part, Summary):
                await asgi_response.send_part(send, summary_line(part), is_last=True)
            else:
                lines = b"".join(stream_line(index, result) for index, result in part)
                await asgi_response.send_part(send, lines)
