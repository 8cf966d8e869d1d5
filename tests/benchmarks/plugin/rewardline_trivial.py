"""A verifier that does next to nothing, to measure the service itself: the response must end with the reference."""

from collections.abc import Sequence

from verifiers.base import Example, Item, Params, Resources, Verdict, Verifier


class TrivialParams(Params):
    reference: str


class Trivial(Verifier[TrivialParams]):
    name = "trivial"
    version = "1"
    params = TrivialParams
    summary = "The response ends with the reference"

    async def score(self, items: Sequence[Item[TrivialParams]]) -> Sequence[Verdict]:
        return [
            Verdict.correct() if item.response.endswith(item.params.reference) else Verdict.wrong() for item in items
        ]


def create(resources: Resources) -> Trivial:
    return Trivial()


EXAMPLES = (
    Example("It is 12", {"reference": "12"}, 1.0, "correct", "the same ending"),
    Example("It is 13", {"reference": "12"}, 0.0, "wrong_answer", "another ending"),
)
