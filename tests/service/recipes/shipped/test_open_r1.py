"""The recipes that stand for Open R1's rewards, held against what they give."""

from tests.service.recipes.shipped.scorer import Scorer

_BOX = r"\boxed{5}"
_SUMS = {
    "language": "python",
    "test_cases": [{"input": "1 2\n", "output": "3\n"}, {"input": "2 2\n", "output": "4\n"}],
}
_RIGHT = "```python\nprint(sum(map(int, input().split())))\n```"


def test_a_test_that_takes_too_long_costs_that_test_alone(code_scorer: Scorer) -> None:
    slow = "```python\nn = sum(map(int, input().split()))\nwhile n == 4: pass\nprint(n)\n```"
    (result,) = code_scorer.score(
        {"recipe": "open_r1.code", "response": slow, "reference": _SUMS, "params": {"time_limit_s": 0.2}}
    )
    assert (result.status, result.reward) == ("ok", 0.5)


def test_the_program_is_run_once_for_both_parts_of_the_codeforces_reward(code_scorer: Scorer) -> None:
    before = _jobs(code_scorer)
    (result,) = code_scorer.score({"recipe": "open_r1.cf_code", "response": f"Once:\n{_RIGHT}", "reference": _SUMS})
    assert [check["value"] for check in result.checks or []] == [1.0, 0.1]
    assert _jobs(code_scorer) == before + 1


def _jobs(scorer: Scorer) -> float:
    return scorer.core.metrics.registry.get_sample_value("rewardline_box_jobs_total") or 0.0


def test_the_codeforces_mixture_is_for_programs_in_cpp(code_scorer: Scorer) -> None:
    broken = "<think>\na\n</think>\n<answer>\n```cpp\nint main( {\n```\n</answer>"
    (result,) = code_scorer.score(
        {"recipe": "open_r1.codeforces", "response": broken, "reference": _SUMS["test_cases"]}
    )
    assert [check["value"] for check in result.checks or []] == [-0.1, 0.0, 0.1]


def test_without_its_group_a_length_is_worth_nothing_that_could_be_said(scorer: Scorer) -> None:
    (result,) = scorer.score({"recipe": "open_r1.length", "response": _BOX, "reference": "5"})
    assert (result.status, result.reason) == ("invalid", "bad_params")


def test_without_boxes_a_program_is_failed_and_never_wrong(scorer: Scorer) -> None:
    (result,) = scorer.score({"recipe": "open_r1.demo_code", "response": _RIGHT, "reference": _SUMS})
    assert (result.status, result.reward) == ("failed", None)
