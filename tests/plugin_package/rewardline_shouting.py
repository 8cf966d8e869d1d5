"""The response is written in capitals only."""

from collections.abc import Sequence

from verifiers.base import Example, Item, Params, Resources, Verdict, Verifier


class ShoutingParams(Params):
    """Nothing to set."""


class Shouting(Verifier[ShoutingParams]):
    name = "shouting"
    version = "1"
    params = ShoutingParams
    summary = "The response is written in capitals only"

    async def score(self, items: Sequence[Item[ShoutingParams]]) -> Sequence[Verdict]:
        return [judge(item.response) for item in items]


def create(resources: Resources) -> Shouting:
    return Shouting()


def judge(response: str) -> Verdict:
    return Verdict.correct() if response.isupper() else Verdict.wrong("not_shouting")


EXAMPLES = (
    Example("WELL DONE", {}, 1.0, "correct", "capitals"),
    Example("well done", {}, 0.0, "not_shouting", "small letters"),
    Example("WELL DONe", {}, 0.0, "not_shouting", "one small letter is enough"),
)
