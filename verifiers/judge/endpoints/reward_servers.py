"""The servers of reward models: the path of each kind, the request for several inputs, and the rewards in its answer.

    protocol            path             input                              rewards
    vllm_classify       /classify        texts, or the messages of one      data[i].probs
    vllm_pooling        /pooling         texts, or the messages of one      data[i].data: a vector, or one for each step
    vllm_score          /score           pairs of question and response     data[i].score
    sglang_classify     /classify        texts                              [i].embedding
    sglang_embeddings   /v1/embeddings   texts                              data[i].embedding
    tei_predict         /predict         texts                              [i][label].score
    tei_rerank          /rerank          responses to one question          [index].score
    infinity_classify   /classify        texts; two classes or more         data[i][label].score
    infinity_rerank     /rerank          responses to one question          results[index].relevance_score
    openrlhf            /get_reward      texts                              rewards[i]
    llama_rerank        /v1/rerank       responses to one question          results[index].relevance_score
    llama_embeddings    /embeddings      texts                              [i].embedding: a vector, or one for each token
    vllm_generative     /generative_scoring  texts                          data[i].score
    sglang_score        /v1/score        texts                              scores[i]

The last two ask a model that writes: the rewards are the probabilities of its next token, of `label_token_ids` alone.
Raw values are asked for, before sigmoid or softmax. An answer that lacks an input, or has one too many, is not an answer.
An input whose values are not all finite numbers has no rewards, and the other inputs keep theirs.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from verifiers.judge.endpoints.faults import Fault
from verifiers.judge.endpoints.messages import Usage
from verifiers.judge.endpoints.sizes import MAX_VALUES, has_many_values

RewardProtocol = Literal[
    "vllm_classify",
    "vllm_pooling",
    "vllm_score",
    "sglang_classify",
    "sglang_embeddings",
    "tei_predict",
    "tei_rerank",
    "infinity_classify",
    "infinity_rerank",
    "openrlhf",
    "llama_rerank",
    "llama_embeddings",
    "vllm_generative",
    "sglang_score",
]
NEXT_TOKEN: Final = frozenset[str]({"vllm_generative", "sglang_score"})
"""The protocols that need `label_token_ids` in the endpoint's `extra_body`."""
Form = Literal["text", "messages", "pair"]
Messages = Sequence[Mapping[str, str]]
Pair = tuple[str, str]
"""A question and a response."""
Input = str | Pair | Messages

_Body = dict[str, Any]


class Rewards(msgspec.Struct, array_like=True, frozen=True):
    """The values of one input as its server gives them."""

    rows: Sequence[Sequence[float]]
    """One vector, or one for each step; each has a value for each class."""
    labels: Sequence[str] = ()
    """The names of the classes, if the answer has them."""


@dataclass(frozen=True, slots=True)
class Server:
    """One kind of server."""

    path: str
    form: str
    """Where its answers have the reward of an input."""
    forms: frozenset[Form]
    body: Callable[[Sequence[Any], Form], _Body]
    """The request for inputs of one form, without the model's name."""
    rows_of: Callable[[Any], Sequence[Any]]
    """The part of an answer that belongs to each input, in order; it may raise `_SHAPE`."""
    rewards_of: Callable[[Any], Rewards | None]
    """The rewards in such a part; None if a value is not a finite number."""
    asks_one_question: bool = False
    """Whether all pairs of a request must have the same question."""


def answers_of(protocol: str, body: bytes, count: int) -> tuple[list[Rewards | None], Usage]:
    """The rewards of each of `count` inputs, in order (None: not finite numbers), and the tokens.

    Raises:
        Fault: `bad_upstream_body`: the answer has another shape, or is not about as many inputs.
    """
    if has_many_values(body):
        raise Fault("bad_upstream_body", f"more than {MAX_VALUES} values", ill=True)
    content = _decoded(body)
    server = SERVERS[protocol]
    try:
        rows = server.rows_of(content)
        rewards = [server.rewards_of(row) for row in rows]
    except _SHAPE as error:
        problem = (
            _error_in(content) or f"{protocol} answers with {server.form} for each input; this answer has another shape"
        )
        raise Fault("bad_upstream_body", problem, ill=True) from error
    if len(rewards) != count:
        raise Fault("bad_upstream_body", f"{len(rewards)} rewards for {count} inputs", ill=True)
    return rewards, _usage_of(content)


_SHAPE: Final = (TypeError, KeyError, IndexError, ValueError, AttributeError)


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(body)  # it reads NaN, which servers in Python write
    except (ValueError, RecursionError) as error:
        raise Fault("bad_upstream_body", "not JSON", ill=True) from error


def _error_in(content: Any) -> str:
    return "an error with status 200" if isinstance(content, dict) and content.get("error") else ""


def _usage_of(content: Any) -> Usage:
    usage = content.get("usage") if isinstance(content, dict) else None
    tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    is_count = isinstance(tokens, int) and not isinstance(tokens, bool) and 0 <= tokens < 1 << 31
    return Usage(prompt=tokens, completion=0) if is_count else Usage()


def _by_index(rows: Sequence[Any]) -> Sequence[Any]:
    """The rows in the order of their `index`; each index must occur once."""
    if sorted(row["index"] for row in rows) != list(range(len(rows))):
        raise ValueError("the indices are not those of the inputs")
    return sorted(rows, key=lambda row: row["index"])


def _data(content: Any) -> Sequence[Any]:
    return _by_index(content["data"])


def _listed(content: Any) -> Sequence[Any]:
    """A list; a server that is sent one text may answer with its object alone."""
    return content if isinstance(content, list) else [content] if "error" not in content else content["data"]


def _vector(values: Any) -> Rewards | None:
    """One vector, or one for each step."""
    if not isinstance(values, list) or not values:
        raise TypeError("no values")
    rows = values if isinstance(values[0], list) else [values]
    if any(not isinstance(row, list) or len(row) != len(rows[0]) or not row for row in rows):
        raise TypeError("rows of different lengths")
    return Rewards(rows) if all(_is_finite(value) for row in rows for value in row) else None


def _scalar(value: Any) -> Rewards | None:
    if isinstance(value, list):
        (value,) = value
    return Rewards([[value]]) if _is_finite(value) else None


def _is_finite(value: Any) -> bool:
    if value is None:
        return False  # some servers write null for NaN
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{type(value).__name__} instead of a number")
    try:
        return math.isfinite(value)
    except OverflowError:
        return False  # an integer beyond the doubles, which JSON may hold


def _labelled(classes: Any) -> Rewards | None:
    labels = tuple(entry["label"] for entry in classes)
    if not labels or len(set(labels)) < len(labels) or not all(isinstance(label, str) for label in labels):
        raise ValueError("labels are missing, or occur twice")
    values = [entry["score"] for entry in classes]
    return Rewards([values], labels) if all(_is_finite(value) for value in values) else None


_RAW: Final = {"use_activation": False, "activation": False}
"""vLLM has renamed the option that leaves out sigmoid and softmax. An unknown name is ignored there."""


def _vllm(inputs: Sequence[Any], form: Form) -> _Body:
    if form == "messages":
        return {"messages": inputs[0], "add_generation_prompt": False, **_RAW}
    return {"input": inputs, **_RAW}


def _pooling(inputs: Sequence[Any], form: Form) -> _Body:
    return {**_vllm(inputs, form), "encoding_format": "float"}


def _parted(inputs: Iterable[Pair]) -> tuple[list[str], list[str]]:
    questions, responses = zip(*inputs, strict=True)
    return list(questions), list(responses)


def _score(inputs: Sequence[Any], _: Form) -> _Body:
    questions, responses = _parted(inputs)
    return {"text_1": questions, "text_2": responses, **_RAW}


def _rerank(name: str, **options: bool) -> Callable[[Sequence[Any], Form], _Body]:
    """A request with the responses under this name."""

    def body(inputs: Sequence[Any], _: Form) -> _Body:
        questions, responses = _parted(inputs)
        return {"query": questions[0], name: responses, **options}

    return body


_TEXT: Final = frozenset[Form]({"text"})
_CHAT: Final = frozenset[Form]({"text", "messages"})
_PAIR: Final = frozenset[Form]({"pair"})

SERVERS: Final[Mapping[str, Server]] = {
    "vllm_classify": Server("/classify", "data[i].probs", _CHAT, _vllm, _data, lambda row: _vector(row["probs"])),
    "vllm_pooling": Server("/pooling", "data[i].data", _CHAT, _pooling, _data, lambda row: _vector(row["data"])),
    "vllm_score": Server("/score", "data[i].score", _PAIR, _score, _data, lambda row: _scalar(row["score"])),
    "sglang_classify": Server(
        "/classify",
        "[i].embedding",
        _TEXT,
        lambda texts, _: {"text": texts},
        _listed,
        lambda row: _vector(row["embedding"]),
    ),
    "sglang_embeddings": Server(
        "/v1/embeddings",
        "data[i].embedding",
        _TEXT,
        lambda texts, _: {"input": texts},
        _data,
        lambda row: _vector(row["embedding"]),
    ),
    "tei_predict": Server(
        "/predict",
        "[i][label].score",
        _TEXT,
        lambda texts, _: {"inputs": [[text] for text in texts], "raw_scores": True, "truncate": False},
        lambda content: content,
        _labelled,
    ),
    "infinity_classify": Server(
        "/classify",
        "data[i][label].score",
        _TEXT,
        lambda texts, _: {"input": texts, "raw_scores": True},
        lambda content: content["data"],
        _labelled,
    ),
    "openrlhf": Server(
        "/get_reward",
        "rewards[i]",
        _TEXT,
        lambda texts, _: {"query": texts},
        lambda content: content["rewards"],
        _scalar,
    ),
    "llama_rerank": Server(
        "/v1/rerank",
        "results[index].relevance_score",
        _PAIR,
        _rerank("documents"),
        lambda content: _by_index(content["results"]),
        lambda row: _scalar(row["relevance_score"]),
        asks_one_question=True,
    ),
    "infinity_rerank": Server(
        "/rerank",
        "results[index].relevance_score",
        _PAIR,
        _rerank("documents", raw_scores=True),
        lambda content: _by_index(content["results"]),
        lambda row: _scalar(row["relevance_score"]),
        asks_one_question=True,
    ),
    "tei_rerank": Server(
        "/rerank",
        "[index].score",
        _PAIR,
        _rerank("texts", raw_scores=True, truncate=False),
        _by_index,
        lambda row: _scalar(row["score"]),
        asks_one_question=True,
    ),
    "llama_embeddings": Server(
        "/embeddings",
        "[i].embedding",
        _TEXT,
        lambda texts, _: {"content": texts, "embd_normalize": -1},  # it divides vectors by their length otherwise
        lambda content: _by_index(_listed(content)),
        lambda row: _vector(row["embedding"]),
    ),
    "vllm_generative": Server(
        "/generative_scoring",
        "data[i].score",
        _TEXT,
        lambda texts, _: {"query": "", "items": texts, "apply_softmax": True},
        _data,
        lambda row: _scalar(row["score"]),
    ),
    "sglang_score": Server(
        "/v1/score",
        "scores[i]",
        _TEXT,
        lambda texts, _: {"query": "", "items": texts, "apply_softmax": True},
        lambda content: content["scores"],
        _vector,
    ),
}
