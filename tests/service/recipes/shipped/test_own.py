"""Our own recipes."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from service.cache.memory_cache import MemoryCache
from service.cache.verdict_cache import VerdictCache
from service.observe.metrics import Metrics
from service.recipes import book
from service.scoring.engine import Engine
from service.wire import BatchRequest, Result, decode_request, encode
from tests.service.recipes.shipped.scorer import Scorer
from tests.waiting import PATIENCE_S
from verifiers.base import Example, Item, Params, Unavailable, Verdict, Verifier
from verifiers.math import MathParams
from verifiers.registry import Entry, Registry


@pytest.mark.parametrize(
    ("response", "score", "reward"),
    [
        (r"<think>2 + 3</think>\boxed{5}", 1.0, 1.0),
        ("<think>2 + 3</think>\n<answer>5</answer>", 1.0, 1.0),
        (r"<think>2 + 3</think>\boxed{6}", 0.0, 0.1),
        (r"<think></think>\boxed{5}", 1.0, 0.9),
        (r"<think>a</think><think>b</think>\boxed{5}", 1.0, 0.9),
        (r"2 + 3</think>\boxed{5}", 1.0, 0.9),
        (r"\boxed{5}", 0.0, 0.0),
        (r"<think>\boxed{5}</think>", 0.0, 0.0),
        (r"<think>\boxed{5}", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_think_math_pays_for_the_answer_and_a_tenth_for_thinking_before_it(
    scorer: Scorer, response: str, score: float, reward: float
) -> None:
    (result,) = scorer.score({"recipe": "think_math", "response": response, "reference": "5"})
    assert (result.status, result.score) == ("ok", score)
    assert result.reward == pytest.approx(reward)


def test_math_steps_pays_every_right_answer_more_than_any_wrong_one(scorer: Scorer) -> None:
    reference = {"final_answer": "20", "steps": ["5*8=40", "40/2=20"]}
    responses = [r"\boxed{20}", r"5*8=40, 40/2=20, so \boxed{21}", r"5*8=40, so \boxed{21}", r"\boxed{21}", ""]
    items = [{"recipe": "math_steps", "response": response, "reference": reference} for response in responses]
    rewards = [reward or 0.0 for reward in scorer.rewards(*items)]
    assert rewards[0] == 1.0
    assert rewards == sorted(rewards, reverse=True)
    assert rewards[1] < 0.5
    assert rewards[2] > rewards[3] == rewards[4] == 0.0


def test_code_multi_pays_style_and_speed_for_right_programs_only(code_scorer: Scorer) -> None:
    tests = {"test_cases": [{"input": "1 2\n", "output": "3\n"}, {"input": "2 2\n", "output": "4\n"}]}
    programs = ["print(sum(map(int, input().split())))", "print(3)", "x = 1"]
    items = [
        {"recipe": "code_multi", "response": f"```python\n{program}\n```", "reference": tests} for program in programs
    ]
    right, half, wrong = (reward or 0.0 for reward in code_scorer.rewards(*items))
    assert right > 0.9
    assert 0.4 < half <= 0.5
    assert wrong == 0.0


class Rule(Verifier[MathParams]):
    """In the place of `math`."""

    name, version, summary, params = "math", "1", "test", MathParams

    async def score(self, items: Sequence[Item[MathParams]]) -> Sequence[Verdict]:
        return [Verdict.correct() if item.response == item.params.reference else Verdict.wrong() for item in items]


class Asked(Params):
    mode: str
    reference: str
    signed: bool = False


class Judge(Verifier[Asked]):
    """In the place of `judge`: it takes what is like the reference, and remembers what it was asked."""

    name, version, summary, params = "judge", "1", "test", Asked

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def score(self, items: Sequence[Item[Asked]]) -> Sequence[Verdict]:
        self.asked += [item.response for item in items]
        if "down" in self.asked:
            raise Unavailable("judge_down", "no judge answers")
        return [
            Verdict.correct() if item.response.lower() == item.params.reference else Verdict.wrong() for item in items
        ]


async def _judged(judge: Judge, *responses: str) -> Sequence[Result]:
    verifiers: list[Verifier[Any]] = [Rule(), judge]
    registry = Registry({each.name: Entry(each, [Example("", {}, 1.0, "", "")], "test") for each in verifiers})
    engine = Engine(
        registry,
        VerdictCache(MemoryCache(1_000_000)),
        Metrics("test"),
        workers=1,
        item_deadline_s=PATIENCE_S,
        max_response_bytes=1000,
        book=book.load(registry),
    )
    items = [{"recipe": "math_then_judge", "response": response, "reference": "yes"} for response in responses]
    async with engine:
        request = await decode_request(encode({"items": items}), len(items))
        deadline = asyncio.get_running_loop().time() + PATIENCE_S
        return (await engine.score(BatchRequest(request.items, {}, "use", False, deadline))).results


async def test_math_then_judge_asks_a_judge_for_what_the_rule_did_not_accept() -> None:
    judge = Judge()
    results = await _judged(judge, "yes", "YES", "no")
    assert [(result.status, result.reward) for result in results] == [("ok", 1.0), ("ok", 1.0), ("ok", 0.0)]
    assert sorted(judge.asked) == ["YES", "no"]


async def test_math_then_judge_never_calls_an_answer_wrong_that_the_judge_did_not_see() -> None:
    accepted, unseen = await _judged(Judge(), "yes", "down")
    assert (accepted.status, accepted.reward) == ("ok", 1.0)
    assert (unseen.status, unseen.reward) == ("failed", None)
