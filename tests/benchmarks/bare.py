"""Bare servers, which decode the same bodies as ours and answer with as many bytes.

    http-json      a Starlette route with Starlette's own `await request.json()`
    http-msgspec   a Starlette route that decodes with msgspec into the service's own types: the toughest opponent
    http-chat      a judge model that says the same after 5 ms, however many calls there are
    grpc-parse     a grpc.aio servicer whose request is parsed and not looked at
    grpc-read      the same, but it reads each item's verifier, response and reference, as any servicer must

They run on uvloop and httptools, with the garbage collector tuned as ours. The header `answer-bytes` says how many
bytes they must answer. `python -m tests.benchmarks.bare <kind>` runs one.
"""

import asyncio
import gc
import signal
import sys
from functools import cache
from typing import Any

import grpc
import msgspec
import uvicorn
import uvloop
from rewardline.pb import rewardline_pb2 as pb
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory import GRADUAL_THRESHOLDS
from service.wire import ScoreRequest

CHAT_S = 0.005
_CHAT = msgspec.json.encode(
    {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny-judge",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Verdict: A"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 200, "completion_tokens": 4, "total_tokens": 204},
    }
)


@cache
def _answer(size: int) -> bytes:
    return b"x" * size


def _http_app(kind: str) -> Starlette:
    decode = msgspec.json.Decoder(ScoreRequest).decode
    path = "/v1/chat/completions" if kind == "http-chat" else "/v1/score"

    async def with_json(request: Request) -> Response:
        await request.json()
        return _respond(request)

    async def with_msgspec(request: Request) -> Response:
        decode(await request.body())
        return _respond(request)

    async def chat(request: Request) -> Response:
        await request.body()
        await asyncio.sleep(CHAT_S)
        return Response(_CHAT, media_type="application/json")

    endpoint = {"http-json": with_json, "http-chat": chat}.get(kind, with_msgspec)
    return Starlette(routes=[Route(path, endpoint, methods=["POST"])])


def _respond(request: Request) -> Response:
    return Response(_answer(int(request.headers["answer-bytes"])), media_type="application/json")


async def _serve_http(kind: str) -> None:
    config = uvicorn.Config(
        _http_app(kind),
        port=0,
        http="httptools",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
    )
    bound = config.bind_socket()
    bound.listen(4096)
    host, port = bound.getsockname()[:2]
    print(f"{host}:{port}", flush=True)
    await uvicorn.Server(config).serve(sockets=[bound])


async def _serve_grpc(kind: str) -> None:
    async def score(request: Any, context: Any) -> bytes:
        if kind == "grpc-read":
            [(item.verifier, item.response, item.reference_json) for item in request.items]
        return _answer(int(dict(context.invocation_metadata())["answer-bytes"]))

    limit = 100_000_000
    server = grpc.aio.server(
        options=[("grpc.max_receive_message_length", limit), ("grpc.max_send_message_length", limit)]
    )
    handler = grpc.unary_unary_rpc_method_handler(score, request_deserializer=pb.ScoreRequest.FromString)
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("rewardline.v1.Verifier", {"Score": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


def _main(kind: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GRADUAL_THRESHOLDS)
    uvloop.run(_serve_http(kind) if kind.startswith("http") else _serve_grpc(kind))


if __name__ == "__main__":
    _main(sys.argv[1])
