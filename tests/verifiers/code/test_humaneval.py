"""HumanEval as it is: all reference solutions pass, in every form, and their mutants fail."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox.base import Execute, Limits, Program, RunResult
from tests.verifiers.code.bench import Bench
from tests.verifiers.code.mutants import mutants
from verifiers.base import Status

DATA = Path(__file__).parents[2] / "data" / "code" / "HumanEval.jsonl.gz"
with gzip.open(DATA, "rt", encoding="utf-8") as lines:
    ROWS = [json.loads(line) for line in lines]

EQUIVALENT = "equivalent"
"""It does the same for every input the task allows."""
UNTESTED = "untested"
"""It is wrong, and the data set's own tests do not show it."""

SURVIVORS: dict[str, dict[str, str]] = {
    "HumanEval/10": {"delete if not string:": EQUIVALENT, "delete return ''": EQUIVALENT},
    "HumanEval/20": {
        "delete closest_pair = None": EQUIVALENT,
        "delete closest_pair = tuple(sorted([elem, elem2]))": UNTESTED,
    },
    "HumanEval/33": {"delete l = list(l)": EQUIVALENT},
    "HumanEval/46": {
        "delete if n < 4:": UNTESTED,
        "delete return results[n]": UNTESTED,
        "delete results.pop(0)": EQUIVALENT,
    },
    "HumanEval/59": {"delete if k < 2:": EQUIVALENT, "delete return False": EQUIVALENT},
    "HumanEval/66": {"delete if s == '':": EQUIVALENT, "delete return 0": EQUIVALENT},
    "HumanEval/68": {"delete if len(arr) == 0:": EQUIVALENT, "delete return []": EQUIVALENT},
    "HumanEval/76": {"delete if n == 1:": UNTESTED, "delete return x == 1": UNTESTED},
    "HumanEval/81": {
        "delete letter_grade.append('A')": UNTESTED,
        "delete letter_grade.append('B-')": UNTESTED,
        "delete letter_grade.append('C+')": UNTESTED,
    },
    "HumanEval/89": {"delete out += c": UNTESTED},
    "HumanEval/92": {"delete return False": EQUIVALENT},
    "HumanEval/95": {"delete break": UNTESTED},
    "HumanEval/96": {"delete break": EQUIVALENT},
    "HumanEval/99": {
        "delete if value.count('.') == 1:": UNTESTED,
        "delete while value[-1] == '0':": UNTESTED,
        "delete value = value[:-1]": UNTESTED,
        "delete res = 0": UNTESTED,
    },
    "HumanEval/101": {
        "delete if not s:": EQUIVALENT,
        "delete return []": EQUIVALENT,
        "delete s_list.append(' ')": UNTESTED,
    },
    "HumanEval/109": {"delete my_arr = []": EQUIVALENT},
    "HumanEval/118": {"delete if len(word) < 3:": EQUIVALENT, "delete return ''": EQUIVALENT},
    "HumanEval/124": {
        "delete date = date.strip()": UNTESTED,
        "delete if month in [1, 3, 5, 7, 8, 10, 12] and day < 1 or day > 31:": UNTESTED,
        "delete if month == 2 and day < 1 or day > 29:": UNTESTED,
        "delete return False": UNTESTED,
        "flip month in [1, 3, 5, 7, 8, 10, 12]": UNTESTED,
        "flip month == 2": UNTESTED,
        "flip day < 1": UNTESTED,
    },
    "HumanEval/127": {
        "delete if num == 2:": UNTESTED,
        "delete for i in range(2, num):": UNTESTED,
        "delete return True": UNTESTED,
        "delete if num % i == 0:": UNTESTED,
        "delete return False": UNTESTED,
        "flip num == 2": UNTESTED,
        "flip num % i == 0": UNTESTED,
    },
    "HumanEval/129": {"delete val = n * n + 1": EQUIVALENT},
    "HumanEval/140": {"delete new_text += '-'": UNTESTED},
    "HumanEval/150": {"delete break": EQUIVALENT},
}
"""Mutants that pass, by task and name. Lines of the same text in one function have the same name."""


@pytest.mark.boxes
@pytest.mark.accuracy(beyond=1)
@pytest.mark.parametrize("form", ["whole", "body", "fenced", "fenced body"])
def test_every_reference_solution_passes(bench: Bench, form: str) -> None:
    items = [(_response(row, form), {"reference": row}) for row in ROWS]
    failed = {
        row["task_id"]: (verdict.reason, verdict.detail)
        for row, verdict in zip(ROWS, bench.judge_all(items), strict=True)
        if verdict.score != 1.0
    }
    assert len(items) == 164
    assert not failed


def _response(row: dict[str, Any], form: str) -> str:
    text = row["canonical_solution"] if "body" in form else row["prompt"] + row["canonical_solution"]
    return f"```python\n{text}\n```" if "fenced" in form else text


@pytest.mark.boxes
def test_mutants_fail_but_for_those_no_test_can_tell(bench: Bench) -> None:
    all_mutants = list(_mutants())
    assert len(all_mutants) > 2000
    alive: list[tuple[dict[str, Any], str, str]] = []
    for start in range(0, len(all_mutants), 250):
        part = all_mutants[start : start + 250]
        items = [(f"```python\n{source}\n```", {"reference": row, "time_limit_s": 0.4}) for row, _, source in part]
        for mutant, verdict in zip(part, bench.judge_all(items), strict=True):
            assert verdict.status is Status.OK, (mutant[0]["task_id"], mutant[1], verdict)
            if verdict.score != 0.0:
                alive.append(mutant)
    listed = {(task, name) for task, names in SURVIVORS.items() for name in names}
    assert {(row["task_id"], name) for row, name, _ in alive} == listed
    assert len(alive) < 0.03 * len(all_mutants)
    for row, name, source in alive:
        assert _passes_by_itself(bench, row, source), (row["task_id"], name)


def _mutants() -> Iterator[tuple[dict[str, Any], str, str]]:
    for row in ROWS:
        for name, source in mutants(row["prompt"] + row["canonical_solution"], row["entry_point"]):
            yield row, name, source


def _passes_by_itself(bench: Bench, row: dict[str, Any], source: str) -> bool:
    """Whether program and tests in one file, as the data set was meant to be run, end without an error."""
    program = Program(f"{source}\n{row['test']}\ncheck({row['entry_point']})\nprint('end')")
    results: list[RunResult] = []

    def take(position: int, result: RunResult) -> bool:
        results.append(result)
        return True

    bench.run(bench.sandbox.run(program, [Execute(limits=Limits(cpu_s=2))], take))
    return results[0].code == 0 and results[0].stdout == b"end\n"
