"""References that were made wrong are told, by real model responses and the verifier's own equality."""

import asyncio
import random
from typing import Any

import pytest

from service.cli.dataset import by
from service.cli.local_scorer import scorer_here
from service.prompts.collecting import Prompt, Response
from service.prompts.label_errors import suspect
from service.settings import Settings
from service.watch.pass_rates import PassRate
from tests.service.watch.recorded_runs import Row, rows

_FLIPPED = 0.05
_RESPONSES = 32


def _prompts(count: int, seed: int) -> tuple[list[Row], set[int]]:
    """Questions of GSM8K, and which of them get the reference of another one."""
    rng = random.Random(seed)
    questions = list({row["prompt"]: row for row in rows("math")}.values())[:count]
    return questions, set(rng.sample(range(len(questions)), round(_FLIPPED * len(questions))))


def _responses(question: Row, rng: random.Random) -> list[str]:
    """What a policy answers that solves the question with a chance of its own: real right and wrong solutions, and steps of
    others before the same answers. Half of its wrong answers are one and the same mistake.
    """
    real = [row["response"] for row in rows("math") if row["prompt"] == question["prompt"]]
    right, chance = question["reference"], rng.betavariate(2, 1)
    wrong = [text.rpartition("####")[2].strip() for text in real if text.rpartition("####")[2].strip() != right]
    mistakes = wrong or [str(rng.randrange(1000))]
    made = []
    for _ in range(_RESPONSES):
        steps = rng.choice(real).rpartition("####")[0].strip()
        usual = mistakes[0] if rng.random() < 0.5 else rng.choice([*mistakes, str(rng.randrange(1000))])
        answer = right if rng.random() < chance else usual
        made.append(f"{steps}\nSo it is {rng.randrange(10**6)} no more.\n#### {answer}")
    return made


async def _told(count: int, seed: int) -> tuple[int, int, int]:
    """How many references were told rightly, how many in all, and how many are wrong."""
    rng = random.Random(seed)
    questions, flipped = _prompts(count, seed)
    told = set()
    async with scorer_here(Settings(workers=1, sandbox="local")) as score:
        for at, question in enumerate(questions):
            reference = question["reference"]
            if at in flipped:
                other = rng.choice([row["reference"] for row in questions if row["reference"] != reference])
                reference = other
            texts = _responses(question, rng)
            items: list[dict[str, Any]] = [
                {"verifier": "math", "response": text, "reference": reference} for text in texts
            ]
            results = await score(items)
            responses = [
                Response(text, str(result["extracted"] or ""), float(result["score"]))
                for text, result in zip(texts, results, strict=True)
            ]
            prompt = Prompt(question["prompt"], reference, {"verifier": "math"}, PassRate(""), responses)
            suspected = await suspect(prompt, by(score))
            if suspected is not None:
                told.add(at)
                if at not in flipped:
                    print(
                        "not wrong:", reference, "but", suspected.answer, suspected.agreeing, question["prompt"][:200]
                    )
    return len(told & flipped), len(told), len(flipped)


@pytest.mark.watch
def test_flipped_references_are_told() -> None:
    right, told, flipped = asyncio.run(_told(500, 11))
    print(right, told, flipped)
    assert right / told >= 0.9
    assert right / flipped >= 0.7


def test_some_flipped_references_are_told() -> None:
    right, told, flipped = asyncio.run(_told(20, 8))
    assert flipped == 1
    assert right == told
