"""What holds for every recipe that ships."""

from collections.abc import Sequence
from functools import cache

import pytest

from sandbox.workers import Workers
from service.recipes import book
from service.recipes.book import Book
from service.recipes.recipe import Recipe
from service.wire import Result
from tests.service.recipes.shipped.examples import EXAMPLES
from tests.service.recipes.shipped.recorded import faults, recorded
from tests.service.recipes.shipped.scorer import Scorer
from tests.tables import table
from verifiers import registry
from verifiers.base import Resources

_NEED_BOXES = {"code", "code_quality", "reasoning_gym"}
_SHAPE_ALONE = {"repetition", "overlong", "length", "cosine_length", "language"}
"""What punishes shape; nothing said is in good shape."""
_JUDGE_ONE_ANSWER = {"math", "math_steps", "numeric", "multiple_choice"}
_COUNTED = {"completion_tokens", "completion_ids"}
"""Given with the item, so that both responses of an example are equally long."""


@cache
def _shipped() -> Book:
    return book.load(registry.load(Resources(Workers(1))))


NAMES = sorted(_shipped().recipes)


class Scorers:
    """Each recipe's items go where its programs can run, or else where there are no boxes."""

    def __init__(self, scorer: Scorer, code_scorer: Scorer) -> None:
        self._scorer = scorer
        self._code_scorer = code_scorer

    def score(self, name: str, *responses: str) -> list[Result]:
        needed = {check.entry.verifier.name for check in _recipe(name).checks}
        scorer = self._code_scorer if needed & _NEED_BOXES else self._scorer
        return scorer.score(*(EXAMPLES[name].item(name, response) for response in responses))


@pytest.fixture(scope="module")
def scorers(scorer: Scorer, code_scorer: Scorer) -> Scorers:
    return Scorers(scorer, code_scorer)


def _recipe(name: str) -> Recipe:
    return _shipped().recipes[name]


def _judges_one_answer(recipe: Recipe) -> bool:
    return recipe.checks[recipe.score or 0].entry.verifier.name in _JUDGE_ONE_ANSWER


def test_every_recipe_has_an_example_and_every_example_a_recipe() -> None:
    assert set(NAMES) == EXAMPLES.keys()


def test_every_recipe_has_its_verifiers() -> None:
    assert not _shipped().unavailable


@table("name", NAMES)
def test_it_says_what_it_is_and_how_it_differs(name: str) -> None:
    about = _recipe(name).about
    assert len(about) > 40
    assert "." not in name or any(word in about for word in ("Differs", "exactly", "As there", "as there"))


@table("name", NAMES)
def test_its_example_is_judged(scorers: Scorers, name: str) -> None:
    right, wrong = scorers.score(name, EXAMPLES[name].right, EXAMPLES[name].wrong)
    assert (right.status, wrong.status) == ("ok", "ok"), (right, wrong)
    assert right.reward is not None
    assert wrong.reward is not None
    if _COUNTED.isdisjoint(EXAMPLES[name].params):
        assert right.reward > wrong.reward


@table("name", NAMES)
def test_an_empty_response_earns_nothing_but_what_good_shape_is_worth(scorers: Scorers, name: str) -> None:
    for result in scorers.score(name, "", " \n\t", "\u200b", "<|im_end|>"):
        assert result.status == "ok", result
        for outcome, check in zip(result.checks or [], _recipe(name).checks, strict=True):
            if outcome["status"] == "ok" and outcome["verifier"] not in _SHAPE_ALONE:
                assert outcome["score"] == 0.0, outcome
                assert outcome["value"] <= check.scale.wrong, outcome


def _hacks(name: str) -> Sequence[str]:
    example = EXAMPLES[name]
    return (
        *(example.right * times for times in (2, 12)),
        f"{example.right}\n{example.wrong}\n" * 6,
        f"{example.wrong}\n{example.right}\n" * 6,
        "Answer: A, B, C, D\n\\boxed{A, B, C, D}\n<answer>A B C D</answer>",
        "".join(f"\\boxed{{{number}}}" for number in range(20)),
        "".join(f"<answer>{number}</answer>" for number in range(20)),
        "<think>\n\n</think>\n\n<answer>\n\n</answer>\n" * 20,
        "First, Second, Next, Finally, " * 50,
        "```python\n```\n" * 20,
        "yes no true false Paris London 5 6 boat",
    )


@table("name", NAMES)
def test_no_trick_earns_more_than_a_right_answer(scorers: Scorers, name: str) -> None:
    right, *others = scorers.score(name, EXAMPLES[name].right, *_hacks(name))
    for hack, result in zip(_hacks(name), others, strict=True):
        assert result.status == "ok", (hack, result)
        assert (result.reward or 0.0) <= (right.reward or 0.0), (hack, result)


@pytest.mark.parametrize("name", [name for name in NAMES if _judges_one_answer(_recipe(name))])
def test_who_names_all_answers_has_named_none(scorers: Scorers, name: str) -> None:
    listed = (
        r"<think>a</think><answer>4, 5 or 6</answer>",
        r"<think>a</think>\boxed{4}, \boxed{5} or \boxed{6}",
        r"<think>a</think>\boxed{A} \boxed{B} \boxed{C} \boxed{D}",
        "<think>a</think>Answer: A, B, C or D",
        "<think>a</think>4, 5 or 6",
        "<think>a</think>#### 4 or 5 or 6",
    )
    assert [result.score for result in scorers.score(name, *listed)] == [0.0] * len(listed)


@pytest.mark.parametrize("name", ["open_instruct", "open_r1", "roll", "slime", "trl", "verl"])
def test_recipes_pay_what_the_original_pays_or_differ_for_a_reason(scorer: Scorer, name: str) -> None:
    assert not faults(scorer, recorded(name))


@pytest.mark.accuracy(beyond=1)
@pytest.mark.parametrize("name", ["open_r1_code", "roll_code", "verl_code"])
def test_programs_are_paid_as_the_original_pays_them_or_differ_for_a_reason(code_scorer: Scorer, name: str) -> None:
    assert not faults(code_scorer, recorded(name))
