"""`POST /compat/openrlhf/get_reward`: OpenRLHF's remote reward model (`--reward.remote_url`).

    {"query": [prompt and response], "prompts": [...], "labels": [...]}  ►  {"rewards": [...], "scores": [...], "extra_logs": {}}

`rewards` are for the advantage; `scores` in [0, 1] are for dynamic filtering. Lists are as long as those of the
request, which brings one sample, or none if the client has several URLs. The text has its special tokens: the response
is the part after the prompt, without the tokens that end it.

The client retries after any error, five times, and then the run ends. It knows no sample without a reward. So a
`failed` item is retried here for as much of the client's 180 s as possible (503 after that), and `invalid` is a 422
whose text says which label to mend.
"""

import re
from typing import Any, ClassVar, Final

import msgspec

from service.doors.compat.door import Door, Exchange, Route
from service.doors.compat.request_options import RequestOptions, item_of, refusal
from service.doors.compat.retries import numbers_of
from service.wire import parse

PATH: Final = "/compat/openrlhf/get_reward"
_TIMEOUT_S: Final = 168.0
_TAIL_CHARS: Final = 200
_SPECIAL: Final = (
    r"<\|[^|<>\s]{1,40}\|>|<｜[^｜<>]{1,40}｜>|</?s>|<(?:bos|eos|pad|unk|end_of_turn)>|\[(?:PAD|EOS|BOS)\]"
)
_AT_START: Final = re.compile(rf"(?:{_SPECIAL}|\s)*")
_ENDS: Final = (
    *("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|end|>", "<|return|>", "<|pad|>"),
    *(
        "<|im_start|>", "<｜end▁of▁sentence｜>", "<｜▁pad▁｜>", "</s>", "<eos>", "<pad>", "<end_of_turn>", "[PAD]",
        "[EOS]",
    ),
)  # fmt: skip
_MAX_ENDS: Final = 100_000


class Query(msgspec.Struct):
    """Samples. Other fields are ignored."""

    query: list[str]
    prompts: list[str] | None = None
    labels: list[Any] | None = None
    """Each label is the reference, or the fields of an item as a JSON object, which may also be text."""


class Rewards(msgspec.Struct):
    """Each list has as many numbers as the request has samples."""

    rewards: list[float]
    scores: list[float]
    extra_logs: dict[str, list[float]]


class OpenRlhf(Door):
    name = "openrlhf"
    routes: ClassVar = (
        Route(
            (PATH,),
            "openrlhf_get_reward",
            "Rewards for OpenRLHF",
            "What `--reward.remote_url` points at. 422: a label cannot be judged against; 503: not judged for as "
            "long as the client waits.",
            Rewards,
            Query,
            {"query": ["2+2=\\boxed{4}<|im_end|>"], "prompts": ["2+2="], "labels": ["4"]},
            RequestOptions,
            timeout_s=_TIMEOUT_S,
        ),
    )

    async def answer(self, exchange: Exchange[RequestOptions]) -> Rewards:
        request = parse(_decoder, exchange.body, [])
        exchange.body = b""
        count, options = len(request.query), exchange.options
        prompts = _aligned("prompts", request.prompts, count)
        labels = _aligned("labels", request.labels, count)
        items = [
            item_of(response_of(query, prompt, index), options, label, prompt)
            for index, (query, prompt, label) in enumerate(zip(request.query, prompts, labels, strict=True))
        ]
        if not items:
            return Rewards([], [], {})
        await exchange.hold(count, self.parts.settings.max_items_per_request)
        results = await self.parts.scorer.rewards(items, deadline=exchange.deadline, cache=options.cache)
        scores = [numbers_of(result)[1] for result in results]
        logs = {
            "score": scores,
            "correct": [float(score >= 1.0) for score in scores],
            "cached": [float(result.cached) for result in results],
            "elapsed_ms": [result.elapsed_ms for result in results],
        }
        return Rewards([numbers_of(result)[0] for result in results], scores, logs)


def response_of(query: str, prompt: str | None, index: int = 0) -> str:
    """The text after the prompt, without the special tokens that end it.

    The prompt may have lost its beginning (a limit on its length) or may follow a token that begins every text. Spaces
    at its end may differ.

    Raises:
        Unprocessable: the text does not begin with the prompt.
    """
    start = _end_of_prompt(query, prompt) if prompt else 0
    if start is None:
        raise refusal(
            ["query", index],
            f"query[{index}] does not begin with its prompt, so the response is unknown; send prompt and response",
        )
    return query[start : _end_of_response(query, start)]


def _end_of_response(query: str, start: int) -> int:
    """The position where the special tokens at the end begin. Without any, spaces at the end stay."""
    end = len(query)
    for _ in range(_MAX_ENDS):
        position = end
        while position > start and query[position - 1].isspace():
            position -= 1
        token = next((token for token in _ENDS if query.endswith(token, start, position)), None)
        if token is None:
            break
        end = position - len(token)
    return end


def _end_of_prompt(query: str, prompt: str) -> int | None:
    if query.startswith(prompt):
        return len(prompt)
    bare = prompt.rstrip()
    tail_tokens = prompt[len(bare) :]
    start = _without_start(query)
    bare_prompt = bare[_without_start(bare) :]
    if query.startswith(bare_prompt, start):
        end = start + len(bare_prompt)
    else:
        tail = bare[-_TAIL_CHARS:]
        position = query.find(tail) if tail else -1
        if position < 0:
            return None
        end = position + len(tail)
    return end + len(tail_tokens) if query.startswith(tail_tokens, end) else end


def _without_start(text: str) -> int:
    """The position where the special tokens and spaces at the start of the text end."""
    match = _AT_START.match(text)
    return match.end() if match else 0


def _aligned(name: str, values: list[Any] | None, count: int) -> list[Any]:
    if values is None:
        return [None] * count
    if len(values) != count:
        raise refusal([name], f"{name}: {len(values)} for {count} queries; there must be one for each")
    return values


_decoder = msgspec.json.Decoder(Query)
