"""The recipes and routes that stand for ROLL's reward workers, held against what the workers give."""

import pytest

from tests.service.recipes.shipped.recorded import recorded
from tests.service.recipes.shipped.scorer import Scorer

MATH = "deepmath_103k math_dapo aime aime2024 aime2025 amc23 gsm8k MATH-500 OlympiadBench minervamath mm_math megabench_math"
TAGS = {
    "roll.math_rule": (*MATH.split(), "math_rule"),
    "roll.code_sandbox": ("KodCode", "assert", "input", "livecodebench", "livecodebench_v5", "code_sandbox"),
    "roll.general_rule": ("ifeval",),
    "roll.crossthink_qa": ("crossthinkqa",),
    "roll.general_val": ("ceval", "race_high", "mmlu_pro", "commonsense_qa"),
    "roll.detection": ("v3det_train", "object365_train", "coco_val_multi_test"),
    "roll.video_r1": ("video",),
}
DOMAINS = {
    "roll.math_rule": ("math_rule", "math", "MathRuleRewardWorker"),
    "roll.code_sandbox": ("code_sandbox", "CodeSandboxRewardWorker"),
    "roll.general_val": ("general_val", "GeneralValRuleRewardWorker"),
    "roll.crossthink_qa": ("crossthinkqa", "CrossThinkQARuleRewardWorker"),
    "roll.multiple_choice_boxed": ("multiple_choice_boxed", "MultipleChoiceBoxedRuleRewardWorker"),
    "roll.general_rule": ("ifeval", "general_rule", "GeneralRuleRewardWorker"),
    "roll.detection": ("detection", "cv_detection", "DetectionRewardWorker"),
    "roll.video_r1": ("video_r1", "video_r1/multiple choice", "VideoR1RewardWorker"),
    "roll.video_r1.free_form": ("video_r1/free-form",),
    "roll.video_r1.numerical": ("video_r1/numerical",),
    "roll.video_r1.ocr": ("video_r1/OCR",),
    "roll.video_r1.regression": ("video_r1/regression",),
}
BOXES = "[{'bbox_2d': [0, 0, 9, 9], 'label': 'dog'}]"
REFERENCES = {
    "roll.general_rule": {"func_name": "validate_no_commas"},
    "roll.detection": BOXES,
    "roll.code_sandbox": {"test_cases": [{"stdin": "", "expected_stdout": "4"}]},
    "roll.general_val": "A",
    "roll.crossthink_qa": "A",
    "roll.multiple_choice_boxed": "A",
    "roll.video_r1": "A",
}


@pytest.mark.parametrize(("kind", "labels"), [("tag", TAGS), ("domain", DOMAINS)])
def test_labels_go_to_their_workers(scorer: Scorer, kind: str, labels: dict[str, tuple[str, ...]]) -> None:
    wanted = [(name, label) for name, known in labels.items() for label in known]
    items = [{kind: label, "response": "A", "ground_truth": REFERENCES.get(name, "4")} for name, label in wanted]
    results = scorer.score(*items)
    assert [(result.recipe, label) for result, (_, label) in zip(results, wanted, strict=True)] == wanted
    needs_boxes = {"roll.code_sandbox"}
    assert all((result.status == "ok") is (result.recipe not in needs_boxes) for result in results), results


def test_a_label_that_is_not_known_is_no_mathematics(scorer: Scorer) -> None:
    labels = [
        {"tag": "deepmath"},
        {"domain": "chess"},
        {"tag": "math-500"},
        {"domain": "video_r1/else"},
        {"tag": "code"},
    ]
    results = scorer.score(*({**label, "response": "4", "ground_truth": "4"} for label in labels))
    assert [result.reason for result in results] == ["unroutable"] * len(labels)


def test_programs_have_the_time_and_the_imports_that_the_worker_gives_them(scorer: Scorer) -> None:
    recipes = scorer.core.engine.book.recipes
    given = [recipes[name].checks[0].params for name in ("roll.code_sandbox", "roll.code_sandbox_http")]
    assert [(params["time_limit_s"], params["prelude"]) for params in given] == [(20, "leetcode"), (30, "leetcode")]


def test_the_score_is_whether_the_answer_is_right_whatever_the_reward(scorer: Scorer) -> None:
    loops = "a b c a b c a b c"
    results = scorer.score(
        {"recipe": "roll.crossthink_qa", "response": f"{loops} \\boxed{{B}}", "reference": "B"},
        {"recipe": "roll.crossthink_qa", "response": "Answer: A", "reference": "B"},
        {"recipe": "roll.general_val", "response": "Answer: A", "reference": "B"},
        {"recipe": "roll.general_rule", "response": loops, "reference": {"func_name": "validate_no_commas"}},
        {"recipe": "roll.custom_reward", "response": f"<think>{loops}</think> <answer>5</answer>", "reference": "6"},
    )
    assert [result.score for result in results] == [1.0, 0.0, 0.0, 1.0, 0.0]
    assert [result.reward for result in results] == pytest.approx([0.75, -1.0, -1.0, 0.714286, 0.475], abs=1e-6)


def test_the_example_of_a_custom_worker_adds_correctness_form_and_repetition(scorer: Scorer) -> None:
    responses = ["<think>2 + 3</think>\n<answer>5</answer>", "5", "<think>2 + 3</think>\n<answer>6</answer>", "6"]
    items = [{"recipe": "roll.custom_reward", "response": response, "reference": "5"} for response in responses]
    assert scorer.rewards(*items) == [1.5, 1.0, 0.5, 0.0]


def test_every_recipe_is_held_against_its_worker_and_tells_where_it_differs(scorer: Scorer) -> None:
    recipes = {
        recipe.name: recipe for recipe in scorer.core.engine.book.recipes.values() if recipe.origin == "roll.yaml"
    }
    rows = [*recorded("roll"), *recorded("roll_code")]
    not_recorded = {"roll.custom_reward", "roll.llm_judge", "roll.model_eval"}
    assert {row.item["recipe"] for row in rows} | not_recorded == recipes.keys()
    different = {row.item["recipe"] for row in rows if row.why}
    assert not [name for name in different if "Differs" not in recipes[name].about]
