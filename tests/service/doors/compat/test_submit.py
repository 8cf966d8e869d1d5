"""SandboxFusion's `/submit`."""

from typing import Any

import pytest

from service.doors.compat.submit import PATHS
from service.doors.compat.submitted_rows import reference_of
from tests.conftest import Served
from tests.service.doors.compat.recorded import JSON, answer, post, recorded
from tests.tables import table


def submitted(completion: str, *cases: tuple[str, str], **config: Any) -> JSON:
    tests = [{"input": {"stdin": given}, "output": {"stdout": expected}} for given, expected in cases]
    more = {"dataset_type": "CommonOJDataset", "language": "python", "provided_data": {"test": tests}, **config}
    return {"dataset": "d", "id": "a", "completion": completion, "config": more}


def program(text: str) -> str:
    return f"```python\n{text}\n```"


@pytest.mark.parametrize("path", PATHS)
def test_a_recorded_submission_is_accepted(served: Served, path: str) -> None:
    found = answer(served, path, recorded("submit"))
    assert (found["id"], found["accepted"], found["extracted_type"]) == (1, True, "fenced")
    assert found["extracted_code"] == "print(int(input()) + 1)\n"
    (test,) = found["tests"]
    assert (test["passed"], test["exec_info"]["status"]) == (True, "Success")
    assert test["exec_info"]["run_result"]["status"] == "Finished"


def test_the_tests_end_with_the_first_that_fails_unless_all_are_wanted(served: Served) -> None:
    cases = [("1", "1"), ("2", "0"), ("3", "3")]
    body = submitted(program("print(input())"), *cases)
    found = answer(served, PATHS[0], body)
    assert (found["accepted"], [test["passed"] for test in found["tests"]]) == (False, [True, False])
    body["config"]["extra"] = {"run_all_cases": True}
    found = answer(served, PATHS[0], body)
    assert (found["accepted"], [test["passed"] for test in found["tests"]]) == (False, [True, False, True])


def test_many_tests_are_told_one_by_one(served: Served) -> None:
    cases = [(str(n), str(n + (n == 40))) for n in range(50)]
    body = submitted(program("print(input())"), *cases, extra={"run_all_cases": True})
    assert [test["passed"] for test in answer(served, PATHS[0], body)["tests"]] == [n != 40 for n in range(50)]


@pytest.mark.parametrize(
    ("printed", "expected", "accepted"),
    [
        ("YES", "yes", True),
        ("0.3333333", "0.33333334", True),
        ("0.3334", "0.3333", False),
        ("50000000000000001", "50000000000000000", False),
        ("a  b ", "a  b", True),
        ("", "x", False),
    ],
)
def test_outputs_are_compared_as_the_original_does_but_for_whole_numbers(
    served: Served, printed: str, expected: str, accepted: bool
) -> None:
    body = submitted(program(f"print({printed!r})"), ("", expected))
    assert answer(served, PATHS[0], body)["accepted"] is accepted


@pytest.mark.parametrize(
    ("text", "status", "run_status"),
    [
        ("import sys; sys.exit(3)", "Failed", "Finished"),
        ("while True: pass", "Failed", "TimeLimitExceeded"),
        ("print(2)", "Success", "Finished"),
    ],
)
def test_how_a_test_ended_is_told(served: Served, text: str, status: str, run_status: str) -> None:
    found = answer(served, PATHS[0], submitted(program(text), ("", "1"), run_timeout=0.5))
    (test,) = found["tests"]
    assert (test["passed"], test["exec_info"]["status"]) == (False, status)
    assert test["exec_info"]["run_result"]["status"] == run_status


@pytest.mark.parametrize(
    ("completion", "kind"), [("no program", "heuristic"), ("```python\n```", "empty"), ("", "empty")]
)
def test_a_completion_without_a_program_is_not_accepted(served: Served, completion: str, kind: str) -> None:
    found = answer(served, PATHS[0], submitted(completion, ("", "1")))
    assert (found["accepted"], found["tests"][0]["passed"], found["extracted_type"]) == (False, False, kind)


def test_rows_with_other_tests_are_judged(served: Served) -> None:
    def judged(row: JSON, text: str) -> bool:
        config = {"dataset_type": "other", "provided_data": row}
        found = answer(served, PATHS[0], {"id": 1, "completion": program(text), "config": config})
        return bool(found["accepted"])

    mbpp = {"test_list": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"]}
    assert judged(mbpp, "def add(a, b): return a + b")
    assert not judged(mbpp, "def add(a, b): return 3")
    human_eval = {"entry_point": "add", "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n"}
    assert judged(human_eval, "def add(a, b): return a + b")
    assert not judged(human_eval, "def add(a, b): return a")


@table(
    ("row", "dataset", "extra", "expected"),
    [
        ({"tests": "assert(1)", "prompt": "p", "name": "n"}, "humaneval_lua", {}, {"tests": "assert(1)", "prompt": "p", "language": "lua"}),
        ({"tests": "t", "prompt": "p", "language": "rs"}, "x", {"is_freeform": True},
         {"tests": "t", "prompt": "p", "language": "rs", "completes": False}),
        ({"tests": "t", "prompt": "p", "setup": "s"}, "my_tests", {}, {"tests": "t", "prompt": "p", "setup": "s"}),
        ({"tests": "t", "prompt": "p", "language": "python3", "x": 1}, "", {}, {"tests": "t", "prompt": "p", "language": "python3", "x": 1}),
        ({"test": "[\"assert 1\"]", "labels": 3}, "mbpp", {}, {"test_list": ["assert 1"], "setup": ""}),
        ({"test": {"code": "c", "asset": {"a": "aGk=", "b": "/w==", "c": 1}}, "labels": {"programming_language": "cpp"}}, "", {},
         {"test_cases": ["c"], "files": {"a": "hi", "b": {"base64": "/w=="}, "c": ""}, "quoted": False,
          "language": "cpp", "solution_language": "cpp"}),
        ({"test": "def check(c): assert c", "entry_point": "f"}, "humaneval_python", {}, {"test": "def check(c): assert c", "entry_point": "f"}),
        ({"labels": "{broken", "test": "[broken"}, "", {}, {"labels": "{broken", "test": "[broken"}),
    ],
)  # fmt: skip
def test_rows_become_references_and_others_stay(row: JSON, dataset: str, extra: JSON, expected: JSON) -> None:
    assert reference_of(row, dataset, extra) == expected


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"provided_data": None}, "no data sets are kept here"),
        ({"provided_data": {"test": []}}, "0 tests"),
        ({"provided_data": {"content": "x"}}, "tests"),
        ({"provided_data": {"test": [{"input": {}, "output": {}}]}}, "or names of files"),
        ({"provided_data": {"test": [{"input": {}, "output": {"out.txt": 1}}]}}, "or names of files"),
        ({"provided_data": {"test": [{"input": {}, "output": {"../out.txt": "1"}}]}}, "relative path"),
        ({"language": None}, "CommonOJDataset needs it"),
        ({"language": "cobol"}, "cobol"),
        ({"custom_extract_logic": "submit_code_blocks([])"}, "not executed"),
    ],
)
def test_what_cannot_be_judged_is_refused(served: Served, config: JSON, said: str) -> None:
    reply = post(served, PATHS[0], submitted(program("print(1)"), ("", "1"), **config))
    assert reply.status_code == 422, reply.text
    assert said in reply.text
