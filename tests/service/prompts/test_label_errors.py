"""References that were made wrong are told, by real model responses and the verifier's own equality."""

import asyncio
import random
from typing import Any

import pytest

from service.cli.dataset import by
from service.cli.local_scorer import scorer_here
from service.prompts.collecting import Prompt, Response
from service.prompts.label_errors import Votes, doubts, suspects
from service.settings import Settings
from service.watch.pass_rates import PassRate
from tests.service.watch.recorded_runs import Row, rows

_FLIPPED = 0.05
_RESPONSES = 32


def _prompts(domain: str, count: int, seed: int) -> tuple[list[Row], set[int]]:
    """Questions of GSM8K, or of MATH-V with options; and which of them get the reference of another one."""
    rng = random.Random(seed)
    questions = list({row["prompt"]: row for row in rows(domain)}.values())[:count]
    return questions, set(rng.sample(range(len(questions)), round(_FLIPPED * len(questions))))


def _solutions(question: Row, rng: random.Random) -> list[str]:
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


def _choices(question: Row, rng: random.Random) -> list[str]:
    """The same of a policy that chooses an option, and is right four times in five."""
    wrong, chance = [letter for letter in "ABCDE" if letter != question["reference"]], rng.betavariate(4, 1)
    rng.shuffle(wrong)
    mistakes = [wrong[0] if rng.random() < 0.5 else rng.choice(wrong) for _ in range(2 * _RESPONSES)]
    return [f"The answer is ({question['reference'] if rng.random() < chance else letter})." for letter in mistakes]


async def _told(domain: str, count: int, seed: int) -> tuple[int, int, int]:
    """How many references were told rightly, how many in all, and how many are wrong."""
    rng = random.Random(seed)
    questions, flipped = _prompts(domain, count, seed)
    verifier, write = ("math", _solutions) if domain == "math" else ("multiple_choice", _choices)
    prompts: list[Prompt] = []
    async with scorer_here(Settings(workers=1, sandbox="local")) as score:
        for at, question in enumerate(questions):
            reference = question["reference"]
            if at in flipped:
                reference = rng.choice([row["reference"] for row in questions if row["reference"] != reference])
            texts = write(question, rng)
            items: list[dict[str, Any]] = [
                {"verifier": verifier, "response": text, "reference": reference} for text in texts
            ]
            responses = [
                Response(text, str(result["extracted"] or ""), float(result["score"]))
                for text, result in zip(texts, await score(items), strict=True)
            ]
            prompts.append(Prompt(question["prompt"], reference, {"verifier": verifier}, PassRate(""), responses))
        told = {prompts.index(suspect.prompt) for suspect in await suspects(prompts, by(score))}
    return len(told & flipped), len(told), len(flipped)


@pytest.mark.watch
@pytest.mark.parametrize(("domain", "count", "seed"), [("math", 500, 11), ("mcq", 300, 12)])
def test_flipped_references_are_told(domain: str, count: int, seed: int) -> None:
    right, told, flipped = asyncio.run(_told(domain, count, seed))
    print(right, told, flipped)
    assert right / told >= 0.9
    assert right / flipped >= 0.7


@pytest.mark.accuracy
def test_some_flipped_references_are_told() -> None:
    right, told, flipped = asyncio.run(_told("math", 20, 8))
    assert flipped == 1
    assert right == told


def test_a_mistake_on_a_hard_prompt_is_not_a_wrong_reference() -> None:
    solved = [Votes(right, (32 - right - (32 - right) // 3, (32 - right) // 3)) for right in range(4, 33)] * 2
    *doubts_of_solved, doubt = doubts([*solved, Votes(0, (30, 2))], kinds=4)
    assert max(doubts_of_solved) < 0.5 < doubt
