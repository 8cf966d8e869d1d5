"""`rewardline audit` finds in a data set what training would trip over, and nothing else."""

import json
import subprocess
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from service.dataset_audit.audit import SEGMENT_ROWS, audit
from service.dataset_audit.page import html
from service.dataset_audit.report import Report
from service.dataset_audit.rows import WHOLE_ROW, Columns, read
from service.row_files.reading import BadData
from service.run.core import open_core
from service.scoring.engine import Engine
from service.settings import Settings
from tests.conftest import rewardline

JSON = dict[str, Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncIterator[Engine]:
    async with open_core(Settings(sandbox="local", workers=1)) as core:
        yield core.engine


pytestmark = pytest.mark.asyncio(loop_scope="module")


def write(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


async def audited(engine: Engine, path: Path, *rows: Any, **columns: Any) -> Report:
    write(path, rows)
    return await audit(engine, read(path, Columns(**columns)), lambda report: None)


ADD = {
    "task_id": "add", "entry_point": "add", "prompt": "def add(a, b):\n",
    "canonical_solution": "    return a + b\n", "test": "def check(candidate):\n    assert candidate(2, 3) == 5\n",
}  # fmt: skip
CASES = [{"input": "2", "expected_output": "4"}]


@pytest.mark.contract(beyond=3)
@pytest.mark.parametrize(
    ("row", "columns", "reason"),
    [
        ({"answer": "5"}, {"verifier": "math"}, None),
        ({"reward_model": {"ground_truth": "1/2"}}, {"recipe": "think_math"}, None),
        ({"tag": "aime", "ground_truth": "5", "messages": "[]", "difficulty": "3", "test_cases": ""}, {}, None),
        ({"answer": "$x = $"}, {"verifier": "math"}, "unparseable_reference"),
        ({"answer": "5"}, {"verifier": "maths"}, "unknown_verifier"),
        ({"answer": "5"}, {}, "unroutable"),
        ({"tag": "no_such_tag", "answer": "5"}, {}, "unroutable"),
        ({"answer": ""}, {"verifier": "math"}, "bad_reference"),
        ({}, {"verifier": "math"}, "bad_reference"),
        ({"answer": "E", "params": {"choices": ["a", "b"]}}, {"verifier": "multiple_choice"}, "reference_not_a_choice"),
        ({"answer": "5", "params": {"abs_tool": 1}}, {"verifier": "math"}, "bad_params"),
        ("[1]", {}, "bad_row"),
        ("{", {}, "bad_row"),
        ({"tag": 5, "answer": "1"}, {}, "bad_row"),
        ({"answer": "a\nb", "params": {"extract": "last_line"}}, {"verifier": "exact_match"}, "not_itself"),
        ({"answer": "(?=x)yes"}, {"verifier": "regex"}, None),
        (ADD, {"verifier": "code", "reference": WHOLE_ROW}, None),
        (
            {**ADD, "canonical_solution": "    return a - b\n"},
            {"verifier": "code", "reference": WHOLE_ROW},
            "solution_fails",
        ),
        ({"test_cases": CASES, "solution": "print(int(input()) * 2)"}, {"verifier": "code"}, None),
        ({"test_cases": CASES, "solution": "print(int(input()) * 3)"}, {"verifier": "code"}, "solution_fails"),
        ({"test_cases": CASES}, {"verifier": "code"}, None),
        ({"test_cases": ["assert len('ab') == 2"], "case_type": "assert"}, {"verifier": "code"}, "accepts_nothing"),
        ({"test_cases": [{"input": "2", "expected_output": ""}]}, {"verifier": "code"}, "no_expectations"),
        ({"test_cases": [{"input": "2"}]}, {"verifier": "code"}, "ambiguous_case_type"),
    ],
)
async def test_a_row_has_this_finding_and_no_other(
    engine: Engine, tmp_path: Path, row: Any, columns: dict[str, str], reason: str | None
) -> None:
    report = await audited(engine, tmp_path / "rows.jsonl", row, **columns)
    assert [finding.reason for finding in report.findings] == ([reason] if reason else [])
    assert report.rows == 1
    assert report.unjudged == 0


async def test_rows_are_numbered_and_counted_across_segments(engine: Engine, tmp_path: Path) -> None:
    rows: list[Any] = [{"id": f"q{n}", "answer": str(n), "tag": "gsm8k"} for n in range(2 * SEGMENT_ROWS + 5)]
    rows[SEGMENT_ROWS + 1]["answer"] = "$x = $"
    rows.insert(3, "")
    report = await audited(engine, tmp_path / "rows.jsonl", *rows, verifier="math")
    assert (report.rows, report.checks, report.own_answers) == (517, 517, 517)
    (finding,) = report.findings
    assert (finding.row, finding.id, finding.told) == (
        SEGMENT_ROWS + 3,
        "q257",
        {"tag": "gsm8k", "reference": "$x = $"},
    )
    assert report.recipes == {"math": 517}


async def test_what_cannot_be_judged_is_no_finding(tmp_path: Path) -> None:
    async with open_core(Settings(sandbox="none", workers=1)) as core:
        report = await audited(core.engine, tmp_path / "rows.jsonl", {"test_cases": CASES}, verifier="code")
    assert (report.findings, report.unjudged) == ([], 1)


async def test_parameters_of_all_rows_replace_those_of_a_row(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", [{"answer": "7", "params": {"abs_tol": 1, "rel_tol": 0.1}}, {"answer": "7"}])
    rows = read(path, Columns(verifier="numeric", all_params={"abs_tol": 2}))
    params = [json.loads(bytes(row.item.params)) for row in rows if row.item]
    assert params == [{"abs_tol": 2, "rel_tol": 0.1}, {"abs_tol": 2}]


async def test_a_file_that_is_no_data_set(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="No such file"):
        list(read(tmp_path / "none.jsonl", Columns()))
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadData, match=r"rows\.parquet"):
        list(read(tmp_path / "rows.parquet", Columns()))


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return rewardline("audit", *arguments)


@pytest.mark.contract
@pytest.mark.asyncio(loop_scope="function")
async def test_the_command_tells_by_its_exit_code_and_a_report(tmp_path: Path) -> None:
    good = write(tmp_path / "good.jsonl", [{"tag": "aime", "answer": "204"}] * 3)
    bad = write(tmp_path / "bad.jsonl", [{"tag": "aime", "answer": "204"}, {"tag": "nosuch", "id": 7, "answer": "1"}])
    report = tmp_path / "report.json"
    fine = run(good)
    assert (fine.returncode, "3 rows; 0 with findings" in fine.stdout) == (0, True), fine.stderr
    found = run(bad, "--report", report)
    assert found.returncode == 1
    assert "row 2 (7): unroutable" in found.stdout
    printed = json.loads(report.read_text())
    assert (printed["rows"], printed["bad_rows"], printed["recipes"]) == (2, 1, {"roll.math_rule": 1})
    assert printed["by_reason"] == [{"verifier": "", "reason": "unroutable", "rows": 1}]
    assert run(write(tmp_path / "code.jsonl", [{"test_cases": CASES}]), "--verifier", "code").returncode == 3
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder/a.jsonl", [{"gts": "204"}, {"gts": "204"}])
    (tmp_path / "folder/b.csv").write_text("target\n204\n")
    both = run(tmp_path / "folder", "--verifier", "numeric", "--limit", "1")
    assert both.stdout.count(": 1 rows; 0 with findings. 1 references looked at") == 2, both.stderr
    rows = write(
        tmp_path / "rows.jsonl", [{"tag": "aime" if number % 2 else "nosuch", "answer": "1"} for number in range(40)]
    )
    drawn = [run(rows, "--sample", "6", "--seed", seed).stdout for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(": 6 rows; " in text for text in drawn)
    empty = run(write(tmp_path / "empty.jsonl", []))
    assert (empty.returncode, empty.stderr) == (2, f"rewardline: {tmp_path}/empty.jsonl has no rows\n")
    page = tmp_path / "report.html"
    assert run(bad, "--report", page).returncode == 1
    assert "unroutable" in page.read_text()
    assert page.read_text().startswith("<!doctype html>")


async def test_references_of_mathematics_are_counted_by_their_kind(engine: Engine, tmp_path: Path) -> None:
    kinds: dict[str, list[Any]] = {
        "boxed": [r"There are $\boxed{4}$ such integers.", r"\boxed{1} papers and \boxed{2} bins"],
        "hash4": ["She pays 3*6 = 18.\n#### 18"],
        "announced": ["We add them. The final answer is $7$. I hope it is correct.", "<answer>7</answer>"],
        "option": ["(C) 25", r"\textbf{(B)}\ 42"],
        "alternatives": [["1/2", "0.5"]],
        "invalid": ["We know the child climbs twice as fast as the other one and gets there first.", "not found"],
        "plain": ["5", r"$\frac{1}{2}$", "zweiundvierzig"],
        "words": ["western blot"],
    }
    rows = [{"answer": reference} for references in kinds.values() for reference in references]
    report = await audited(engine, tmp_path / "data.jsonl", *rows, verifier="math")
    assert report.references == {kind: len(references) for kind, references in kinds.items()}
    assert [finding.reason for finding in report.findings] == ["unparseable_reference"] * 2
    assert report.plain()["references"]["boxed"] == 2
    readings = report.plain()["readings"]
    assert [reading["kind"] for reading in readings] == [kind for kind, references in kinds.items() for _ in references]
    answers = ["4", "1, 2", "18", "7", "7"]
    assert [reading["answer"] for reading in readings][: len(answers)] == answers
    assert "prose" in readings[8]["answer"]
    assert "not an answer" in readings[9]["answer"]
    page = html("data.jsonl", report)
    assert "How references are read" in page
    assert "western blot" in page
    assert Report.of(report.plain()).readings == report.readings


@pytest.mark.parametrize(
    ("row", "columns", "fix"),
    [
        ({"answer": r"There are $\boxed{4}$ such integers."}, {}, (["answer"], "4")),
        ({"reward_model": {"ground_truth": "6*3\n#### 18"}}, {}, (["reward_model", "ground_truth"], "18")),
        ({"extra": {"gold": "<answer>7</answer>"}}, {"reference": "extra.gold"}, (["extra", "gold"], "7")),
        ({"answer": "5"}, {}, None),
        ({"answer": ["#### 5", "6"]}, {}, None),
        (
            {"answer": "B", "q": "Which?\nA. Rome\nB. Oslo"},
            {"verifier": "multiple_choice", "prompt": "q"},
            (["params", "choices"], ["Rome", "Oslo"]),
        ),
        (
            {"answer": "B", "q": "Which?\nA. Rome\nB. Oslo\nAnswer:"},
            {"verifier": "multiple_choice", "prompt": "q"},
            None,
        ),
        ({"answer": "B", "params": {"choices": ["x", "y"]}}, {"verifier": "multiple_choice"}, None),
    ],
)
async def test_a_plainer_value_is_a_hint_and_no_finding(
    engine: Engine, tmp_path: Path, row: Any, columns: dict[str, str], fix: tuple[list[str], Any] | None
) -> None:
    report = await audited(engine, tmp_path / "rows.jsonl", row, **{"verifier": "math", **columns})
    assert [(list(each.path), each.value) for each in report.fixes] == ([] if fix is None else [fix])
    assert (report.findings, report.bad_rows, sum(report.earned)) == ([], 0, 1)
    if fix is not None:
        mended: Any = row
        for name in fix[0][:-1]:
            mended = mended.setdefault(name, {})
        mended[fix[0][-1]] = fix[1]
        again = await audited(engine, tmp_path / "rows.jsonl", row, **{"verifier": "math", **columns})
        assert (again.fixes, again.findings, again.earned[-1]) == ([], [], 1)


async def test_an_audit_leaves_no_trace_in_the_log_of_training(tmp_path: Path) -> None:
    async with open_core(Settings(sandbox="none", workers=1, audit_dir=tmp_path / "log")) as core:
        await audited(core.engine, tmp_path / "rows.jsonl", {"answer": "5"}, verifier="math")
    assert "".join(file.read_text() for file in (tmp_path / "log").rglob("*.jsonl")) == ""
