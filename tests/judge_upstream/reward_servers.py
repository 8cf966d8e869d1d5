"""Servers of reward models that answer in the shape of each engine, with values that a function of the input gives."""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from tests.judge_upstream.scripted import Behaviour, Exchange, Scripted

Values = Callable[[Any], Any]
"""The value of a text, of a pair or of messages: a number, a vector, or a vector for each step."""


def values_of(protocol: str, body: dict[str, Any], values: Values) -> Any:
    """The answer of an engine to a request."""
    inputs = _inputs(protocol, body)
    found = [values(each) for each in inputs]
    vectors = [each if isinstance(each, list) else [each] for each in found]
    match protocol:
        case "vllm_classify":
            return _data("probs", vectors)
        case "vllm_pooling":
            return _data("data", vectors)
        case "vllm_score":
            return _data("score", found)
        case "vllm_generative":
            return _data("score", found)
        case "sglang_score":
            return {"scores": vectors, "model": "rm", "object": "scoring", "usage": None}
        case "sglang_embeddings":
            return _data("embedding", vectors)
        case "sglang_classify":
            return [{"embedding": vector, "meta_info": {"prompt_tokens": 3}} for vector in vectors]
        case "tei_predict":
            return [_classes(vector) for vector in vectors]
        case "infinity_classify":
            return {"object": "classify", "data": [_classes(vector) for vector in vectors], "usage": _USAGE}
        case "openrlhf":
            return {"rewards": found, "scores": found, "extra_logs": {}}
        case "tei_rerank":
            order = sorted(range(len(found)), key=lambda at: -found[at])
            return [{"index": at, "score": found[at]} for at in order]
        case "llama_rerank" | "infinity_rerank":
            order = sorted(range(len(found)), key=lambda at: -found[at])
            return {"results": [{"index": at, "relevance_score": found[at]} for at in order], "usage": _USAGE}
        case _:
            return [{"index": at, "embedding": [vector]} for at, vector in enumerate(vectors)]


_USAGE = {"prompt_tokens": 12, "total_tokens": 12}


def _data(name: str, values: Sequence[Any]) -> dict[str, Any]:
    rows = [{"index": at, name: value} for at, value in enumerate(values)]
    return {"object": "list", "model": "rm", "data": rows[::-1], "usage": _USAGE}


def _classes(vector: Sequence[float]) -> list[dict[str, Any]]:
    """Best first, as both servers list them."""
    classes = [{"label": f"LABEL_{at}", "score": value} for at, value in enumerate(vector)]
    return sorted(classes, key=lambda each: -each["score"])


def _inputs(protocol: str, body: dict[str, Any]) -> list[Any]:
    if "messages" in body:
        return [body["messages"]]
    if "items" in body:
        assert len(body["label_token_ids"]) == 2
        assert (body["query"], body["apply_softmax"]) == ("", True)
        return list(body["items"])
    if protocol == "vllm_score":
        return list(zip(body["text_1"], body["text_2"], strict=True))
    if "query" in body and protocol != "openrlhf":
        return [(body["query"], each) for each in body["texts" if protocol == "tei_rerank" else "documents"]]
    if protocol == "tei_predict":
        return [text for (text,) in body["inputs"]]
    names = {"sglang_classify": "text", "openrlhf": "query", "llama_embeddings": "content"}
    found: list[Any] = body[names.get(protocol, "input")]
    return found


def gives_values(protocol: str, values: Values) -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        body = json.dumps(values_of(protocol, exchange.request.json, values)).encode()
        await asyncio.sleep(0)
        await exchange.send(200, body)

    return behave


@asynccontextmanager
async def serving_rewards(protocol: str, values: Values) -> Any:
    async with Scripted(gives_values(protocol, values)) as server:
        yield server
