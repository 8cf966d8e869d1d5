"""A verifier that kills its engine with some references, as rows do that need too much memory."""

import os
import signal
from collections.abc import Sequence

from verifiers.base import Example, Item, Params, Resources, Verdict, Verifier

KILLS = {"1237", "1403"}


class DeadlyParams(Params):
    reference: str


class Deadly(Verifier[DeadlyParams]):
    name = "deadly"
    version = "1"
    params = DeadlyParams
    summary = "The response has a box that begins with 3 +"

    async def score(self, items: Sequence[Item[DeadlyParams]]) -> Sequence[Verdict]:
        if any(item.params.reference in KILLS for item in items):
            os.kill(os.getpid(), signal.SIGKILL)
        return [Verdict.correct() if "{3 + " in item.response else Verdict.wrong() for item in items]


def create(resources: Resources) -> Deadly:
    return Deadly()


EXAMPLES = (
    Example(r"\boxed{3 + 4}", {"reference": "7"}, 1.0, "correct", "it begins so"),
    Example(r"\boxed{2 + 4}", {"reference": "7"}, 0.0, "wrong_answer", "it begins otherwise"),
)
