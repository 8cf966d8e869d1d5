"""Has an engine in this process judge items as they come from files and options."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from rewardline import InvalidRequest
from rewardline.errors import FieldError

from service.cli.remote_scorer import DEADLINE_S
from service.errors import RequestError
from service.rollouts.bad_input import Json
from service.scoring.engine import Engine
from service.wire import BatchRequest, decode_request, encode

if TYPE_CHECKING:
    from service.rollouts.judging import Judge


def judge_by(engine: Engine, *, explain: bool = False) -> "Judge":
    """A scorer that asks this engine."""

    async def score(items: Sequence[Json]) -> Sequence[Json]:
        try:
            request = await decode_request(encode({"items": items}), len(items))
        except RequestError as error:
            mistakes = [FieldError((*mistake.loc,), mistake.msg) for mistake in error.errors]
            raise InvalidRequest(error.detail, errors=mistakes) from error
        except UnicodeEncodeError as error:
            raise InvalidRequest("a text holds half a character (a lone surrogate)") from error
        deadline = asyncio.get_running_loop().time() + DEADLINE_S
        scored = await engine.score(BatchRequest(request.items, {}, "use", explain, deadline))
        return [msgspec.structs.asdict(result) for result in scored.results]

    return score
