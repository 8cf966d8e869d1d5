"""The recipes that stand for TRL's rewards, held against what they give."""

import pytest

from tests.service.recipes.shipped.scorer import Scorer

_BOX = r"\boxed{5}"


@pytest.mark.parametrize(
    ("recipe", "reason"),
    [("trl.cosine", "missing_length"), ("trl.soft_overlong", "missing_length"), ("trl.repetition", "bad_params")],
)
def test_nobody_guesses_how_many_tokens_there_are(scorer: Scorer, recipe: str, reason: str) -> None:
    reference = {} if recipe != "trl.cosine" else {"reference": "5"}
    (result,) = scorer.score({"recipe": recipe, "response": _BOX, **reference})
    assert (result.status, result.reason) == ("invalid", reason)


def test_the_score_says_whether_the_answer_is_right_whatever_its_length_costs(scorer: Scorer) -> None:
    (result,) = scorer.score(
        {"recipe": "trl.cosine", "response": _BOX, "reference": "5", "params": {"completion_tokens": 900}}
    )
    assert result.score == 1.0
    assert result.reward == pytest.approx(0.5122358709)
