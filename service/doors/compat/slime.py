"""`POST /compat/slime/rm`: slime's remote reward model (`--rm-type remote_rm --rm-url`).

    {"prompt": text or messages, "response": text, "label": text or null}  ►  0.5     with ?shape=dict  {"reward": 0.5, ...}

The whole answer becomes the reward of the sample. `--reward-key` takes a number out of a dict. The client retries after
any error, 4xx too, ten times in about two and a half minutes, and then the rollout ends. So a `failed` item is retried
here for as much of the client's 120 s as possible (503 after that), and `invalid` is a 422 that says which label to
mend.
"""

from typing import Any, ClassVar, Final, Literal

import msgspec

from service.doors.compat.door import Door, Exchange, Route
from service.doors.compat.request_options import RequestOptions, item_of
from service.doors.compat.retries import numbers_of
from service.wire import Message, Result, parse

PATH: Final = "/compat/slime/rm"
_TIMEOUT_S: Final = 108.0


class Sample(msgspec.Struct):
    """Other fields are ignored."""

    response: str
    prompt: str | list[Message] | None = None
    label: Any = None
    """The reference, or the fields of an item as a JSON object, also as text."""


class Told(msgspec.Struct):
    """The answer as a dict. It holds only numbers, and the same names for each sample."""

    reward: float
    score: float
    """Whether the answer is right, in [0, 1]."""
    correct: float
    cached: float
    elapsed_ms: float


class SlimeOptions(RequestOptions, frozen=True, kw_only=True):
    shape: Literal["number", "dict"] = "number"


class Slime(Door):
    name = "slime"
    routes: ClassVar = (
        Route(
            (PATH,),
            "slime_rm",
            "A reward for slime",
            "What `--rm-url` points at. 422: the label cannot be judged against; 503: not judged for as long as the "
            "client waits.",
            float | Told,
            Sample,
            {"prompt": "2+2=", "response": "\\boxed{4}", "label": "4"},
            SlimeOptions,
            timeout_s=_TIMEOUT_S,
        ),
    )

    async def answer(self, exchange: Exchange[SlimeOptions]) -> float | Told:
        sample, options = parse(_decoder, exchange.body, []), exchange.options
        exchange.body = b""
        item = item_of(sample.response, options, sample.label, sample.prompt)
        await exchange.hold(1, 1)
        (result,) = await self.parts.scorer.rewards([item], deadline=exchange.deadline, cache=options.cache)
        return reward_fields(result) if options.shape == "dict" else numbers_of(result)[0]


def reward_fields(result: Result) -> Told:
    reward, score = numbers_of(result)
    return Told(reward, score, float(score >= 1.0), float(result.cached), result.elapsed_ms)


_decoder = msgspec.json.Decoder(Sample)
