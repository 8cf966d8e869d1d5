"""The recipes and routes that stand for verl's scorers, held against what the scorers give."""

from tests.service.recipes.shipped.recorded import recorded
from tests.service.recipes.shipped.scorer import Scorer

SOURCES = {
    "verl.gsm8k": "openai/gsm8k",
    "verl.math_reward": "lighteval/MATH DigitalLearningGmbH/MATH-lighteval HuggingFaceH4/MATH-500",
    "verl.math_dapo": "math_dapo math math_dapo_reasoning aime2024 aime_2025 aime",
    "verl.prime_math": (
        "numina_aops_forum numina_synthetic_math numina_amc_aime numina_synthetic_amc numina_cn_k12 numina_olympiads"
    ),
    "verl.prime_code": "codecontests apps codeforces taco",
    "verl.geo3k": "hiyouga/geometry3k",
    "verl.search_r1": (
        "searchR1_nq searchR1_triviaqa searchR1_popqa searchR1_hotpotqa searchR1_2wikimultihopqa searchR1_musique"
        " searchR1_bamboogle"
    ),
}
"""The whole table of its default scorer."""
REFERENCES = {"verl.prime_code": {"inputs": ["1"], "outputs": ["1"]}, "verl.search_r1": {"target": ["4"]}}
RIGHT = "<think>2 + 2</think> <answer>4</answer>\nAnswer: 4\n#### 4\n\\boxed{4}"


def test_data_sources_go_to_their_scorers(scorer: Scorer) -> None:
    wanted = [(name, source) for name, sources in SOURCES.items() for source in sources.split()]
    items = [
        {"data_source": source, "response": RIGHT, "ground_truth": REFERENCES.get(name, "4")} for name, source in wanted
    ]
    results = scorer.score(*items)
    assert [(result.recipe, source) for result, (_, source) in zip(results, wanted, strict=True)] == wanted
    assert {result.recipe for result in results if result.score != 1.0} == {"verl.prime_code"}, "which needs boxes"


def test_a_source_that_its_default_scorer_does_not_know_is_no_mathematics(scorer: Scorer) -> None:
    sources = ["openai/GSM8K", "lighteval/math", "searchR1_other", "numina_math", "my_aime", "rlla"]
    results = scorer.score(*({"data_source": source, "response": "4", "ground_truth": "4"} for source in sources))
    assert [result.reason for result in results] == ["unroutable"] * len(sources)


def test_programs_have_the_time_the_memory_and_the_ten_tests_that_the_scorers_give_them(scorer: Scorer) -> None:
    recipes = scorer.core.engine.book.recipes
    given = [recipes[name].checks[0].params for name in ("verl.prime_code", "verl.sandbox_fusion")]
    assert [(params["time_limit_s"], params["memory_mb"], params["first_n"]) for params in given] == [
        (10, 1024, 10)
    ] * 2


def test_programs_that_cannot_be_run_are_no_zeros(scorer: Scorer) -> None:
    tests = {"inputs": ["1"], "outputs": ["1"]}
    names = ["verl.prime_code", "verl.sandbox_fusion", "roll.code_sandbox", "roll.code_sandbox_http"]
    results = scorer.score(*({"recipe": name, "response": "print(1)", "reference": tests} for name in names))
    assert [(result.status, result.reward) for result in results] == [("failed", None)] * len(names)


def test_every_recipe_is_held_against_its_scorer_and_tells_where_it_differs(scorer: Scorer) -> None:
    recipes = {
        recipe.name: recipe for recipe in scorer.core.engine.book.recipes.values() if recipe.origin == "verl.yaml"
    }
    rows = [*recorded("verl"), *recorded("verl_code")]
    assert {row.item["recipe"] for row in rows} == recipes.keys()
    different = {row.item["recipe"] for row in rows if row.why}
    assert not [name for name in different if "Differs" not in recipes[name].about]
