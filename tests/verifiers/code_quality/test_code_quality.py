"""The verifier in real boxes: what each dimension is made of, and what its caller must mend."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sandbox.boxes.local import LocalBackend
from sandbox.boxes.pool import PooledSandbox
from sandbox.workers import Workers
from verifiers import code_quality
from verifiers.base import Item, Resources, Status, Verdict
from verifiers.code_quality import CodeQuality, CodeQualityParams

SUM = {"test_cases": {"inputs": ["1 2\n", "-1 1\n"], "outputs": ["3\n", "0\n"]}}
ASSERTS = {"case_type": "assert", "test_cases": ["assert add(1, 2) == 3", "assert add(-1, 1) == 0"]}
CHECK = {"entry_point": "add", "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n"}
ADDS = "# Adds numbers.\nprint(sum(map(int, input().split())))\n"
BURNS = "# Adds numbers, late.\nfor _ in range(%d):\n    pass\nprint(sum(map(int, input().split())))\n"


@pytest.fixture
async def verifier() -> AsyncIterator[CodeQuality]:
    workers, sandbox = Workers(1), PooledSandbox(LocalBackend(), slots=1)
    made = code_quality.create(Resources(workers, sandbox))
    await workers.start()
    try:
        await sandbox.start()
        yield made
    finally:
        await sandbox.stop()
        await workers.stop()


async def judge(
    verifier: CodeQuality, program: str, reference: Any = SUM, language: str = "python", **params: Any
) -> Verdict:
    chosen = CodeQualityParams.model_validate_json(json.dumps({"reference": reference, **params}))
    (verdict,) = await verifier.score([Item(f"```{language}\n{program}\n```", chosen, explain=True)])
    return verdict


async def test_a_good_program_has_everything(verifier: CodeQuality) -> None:
    verdict = await judge(verifier, ADDS)
    assert (verdict.score, verdict.reason) == (1.0, "correct")
    assert verdict.detail["dimensions"] == {"correctness": 1.0, "efficiency": 1.0, "style": 1.0}
    assert [len(test["cpu_ms"]) for test in verdict.detail["times"]] == [3, 3]


async def test_style_costs_its_weight(verifier: CodeQuality) -> None:
    verdict = await judge(verifier, "import os\nimport re\n" + ADDS, weights={"style": 0.8, "efficiency": 0})
    assert verdict.detail["dimensions"]["style"] == 0.9
    assert verdict.score == pytest.approx((0.8 + 0.8 * 0.9) / 1.6)
    assert verdict.detail["style"] == [["unused_import", 1, 0.05], ["unused_import", 2, 0.05]]


@pytest.mark.boxes
async def test_a_slow_program_is_measured_against_the_reference(verifier: CodeQuality) -> None:
    """It does hundreds of times the reference's work; a machine's noise does not."""
    slow = await judge(verifier, BURNS % 10_000_000, reference_solution=ADDS, time_limit_s=5, repeat=1)
    assert slow.detail["dimensions"] == {"correctness": 1.0, "efficiency": 0.0, "style": 1.0}
    assert slow.score == pytest.approx(0.85)
    own = await judge(verifier, BURNS % 10_000_000, reference_ms=60_000, time_limit_s=5, repeat=1)
    assert own.detail["dimensions"]["efficiency"] == 1.0


@pytest.mark.boxes
async def test_a_list_of_reference_times_is_one_for_each_test(verifier: CodeQuality) -> None:
    burns = BURNS % 10_000_000
    verdict = await judge(verifier, burns, reference_ms=[60_000, 1], time_limit_s=5, repeat=1)
    assert verdict.detail["dimensions"]["efficiency"] == 0.5
    verdict = await judge(verifier, ADDS, reference_ms=[1, 2, 3])
    assert (verdict.status, verdict.reason) == (Status.INVALID, "bad_reference_ms")
    assert "3 times for 2 tests" in verdict.detail["message"]


async def test_wrong_code_has_nothing_however_tidy(verifier: CodeQuality) -> None:
    verdict = await judge(verifier, "# Quick.\nprint(7)")
    assert (verdict.status, verdict.score, verdict.reason) == (Status.OK, 0.0, "wrong_answer")
    assert verdict.detail["dimensions"] == {"correctness": 0.0, "efficiency": 0.0, "style": 1.0}


@pytest.mark.boxes
async def test_only_tests_that_were_passed_are_timed(verifier: CodeQuality) -> None:
    verdict = await judge(verifier, "# Half.\nn = sum(map(int, input().split()))\nwhile not n:\n    pass\nprint(n)")
    assert verdict.detail["dimensions"]["correctness"] == 0.5
    assert len(verdict.detail["times"]) == 1
    assert verdict.score == pytest.approx(0.5, abs=0.01)


@pytest.mark.boxes
@pytest.mark.parametrize("reference", [ASSERTS, CHECK])
async def test_tests_of_other_kinds_are_timed_too(verifier: CodeQuality, reference: Any) -> None:
    program = "def add(a, b):\n    # Adds.\n    return a + b"
    verdict = await judge(verifier, program, reference, reference_solution=program)
    assert (verdict.score, verdict.detail["dimensions"]["efficiency"]) == (1.0, 1.0)
    assert all(len(test["cpu_ms"]) == 3 for test in verdict.detail["times"])


async def test_other_languages_have_no_style(verifier: CodeQuality) -> None:
    verdict = await judge(verifier, "read a b; echo $((a + b))", language="bash")
    assert verdict.detail["dimensions"]["style"] is None
    assert verdict.score == 1.0


async def test_what_does_not_compile_has_nothing(verifier: CodeQuality) -> None:
    verdict = await judge(verifier, "print(")
    assert (verdict.score, verdict.reason) == (0.0, "compile_error")
    assert verdict.detail["dimensions"] == {"correctness": 0.0, "efficiency": 0.0, "style": 0.0}


@pytest.mark.boxes(beyond=1)
@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"reference_solution": "print(7)"}, "bad_reference_solution"),
        ({"reference_solution": "print("}, "bad_reference_solution"),
        ({"reference_solution": ADDS, "reference_ms": 1}, "two_references"),
    ],
)
async def test_a_measure_that_is_none_is_the_callers_to_mend(
    verifier: CodeQuality, params: dict[str, Any], reason: str
) -> None:
    for program in (ADDS, "no program at all ("):
        verdict = await judge(verifier, program, **params)
        assert (verdict.status, verdict.reason) == (Status.INVALID, reason)


async def test_text_is_no_program(verifier: CodeQuality) -> None:
    reference = {"case_type": "text", "test_cases": ["assert len({response}) > 2"]}
    verdict = await judge(verifier, "prose", reference)
    assert (verdict.status, verdict.reason) == (Status.INVALID, "no_program")


@pytest.mark.bombs
async def test_text_that_hangs_a_linter_is_bad_style_and_no_trouble(verifier: CodeQuality) -> None:
    for _ in range(3):
        manner = await verifier._style("class A:\n    pass\n" * 200_000)
        if not isinstance(manner, Verdict):
            break
        assert manner.reason == "worker_stalled"  # the machine gave it no time
    assert not isinstance(manner, Verdict)
    assert manner[0] == 0.0
    assert manner[1][0][0] in ("linters_time_limit", "linters_memory_limit")
