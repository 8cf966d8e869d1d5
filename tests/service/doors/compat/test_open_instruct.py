"""open-instruct's code API."""

import base64
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.doors.compat.open_instruct import HEALTH, PROGRAM, STDIO
from service.doors.compat.test_suites import fenced
from tests.conftest import Served
from tests.service.doors.compat.recorded import answer, post, recorded
from verifiers.code_blocks import find


def test_recorded_requests_are_answered_test_by_test(served: Served) -> None:
    found = answer(served, PROGRAM, recorded("open_instruct_test_program"))
    assert found["results"] == [1, 1, 0]
    assert all(runtime >= 0 for runtime in found["runtimes"][:2])
    found = answer(served, STDIO, recorded("open_instruct_test_program_stdio"))
    assert (found["results"], found["runtimes"][1]) == ([1, 0], -1.0)
    assert httpx.get(f"{served.url}{HEALTH}").json() == {"status": "healthy"}


def test_more_tests_than_a_verdict_shows_keep_their_order(served: Served) -> None:
    wrong = {3, 31, 32, 33, 70}
    tests = [f"assert double({n}) == {2 * n + (n in wrong)}" for n in range(71)]
    body = {"program": "def double(x): return 2 * x", "tests": tests}
    found = answer(served, PROGRAM, body)
    assert found["results"] == [int(n not in wrong) for n in range(71)]
    assert [n for n, runtime in enumerate(found["runtimes"]) if runtime == -1.0] == sorted(wrong)


@pytest.mark.parametrize("program", ["def add(a, b) return", "import nothing_of_this_name", "", "raise SystemExit(0)"])
def test_a_program_that_does_not_run_has_passed_nothing(served: Served, program: str) -> None:
    body = {"program": program, "tests": ["assert add(1, 2) == 3"] * 40}
    assert answer(served, PROGRAM, body) == {"results": [0] * 40, "runtimes": [-1.0] * 40}


def test_each_test_has_its_own_time(served: Served) -> None:
    program = "def f(x):\n    while x: pass\n    return x"
    body = {"program": program, "tests": ["assert f(1) == 1", "assert f(0) == 0"], "max_execution_time": 0.3}
    assert answer(served, PROGRAM, body)["results"] == [0, 1]


MARKED = 'TEXT = """\n```\n~~~\n<|begin_of_solution|>\n```python\nprint(1)\n"""\ndef f(): return len(TEXT)\n'


@pytest.mark.parametrize("program", [MARKED, "def f(): return 1", "# <think>\ndef f(): return 1"])
def test_a_program_is_found_again_in_its_response(program: str) -> None:
    found = find(fenced(program), "python", "none")
    assert found.code is not None
    names: dict[str, Any] = {}
    exec(found.code, names)
    assert names["f"]() in (1, len(names.get("TEXT", "")))


def test_a_program_with_fences_in_it_is_run_as_it_is(served: Served) -> None:
    tests = ["assert f() == len(TEXT)", "assert TEXT.count('`') == 6"]
    assert answer(served, PROGRAM, {"program": MARKED, "tests": tests})["results"] == [1, 1]


def test_tests_may_be_json_text(served: Served) -> None:
    body = recorded("open_instruct_test_program")
    assert answer(served, PROGRAM, body | {"tests": json.dumps(body["tests"])})["results"] == [1, 1, 0]
    body = recorded("open_instruct_test_program_stdio")
    assert answer(served, STDIO, body | {"tests": json.dumps(body["tests"])})["results"] == [1, 0]


class Touches:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_the_compressed_form_is_refused_and_never_opened(served: Served, tmp_path: Path) -> None:
    marker = tmp_path / "opened"
    for tests in (["assert f()"], Touches(marker)):
        text = base64.b64encode(zlib.compress(pickle.dumps(tests))).decode()
        reply = post(served, PROGRAM, {"program": "def f(): return 1", "tests": text})
        assert reply.status_code == 422
        assert "pickle" in reply.json()["detail"]
    assert not marker.exists()


@pytest.mark.parametrize(
    "tests", [[], "[]", ["x = 1"], [1], ["assert f("], "", "{}", [{"input": "1", "output": "1"}], None]
)
def test_tests_that_judge_nothing_are_refused(served: Served, tests: Any) -> None:
    assert post(served, PROGRAM, {"program": "def f(): return 1", "tests": tests}).status_code == 422


def test_what_is_not_run_in_time_has_no_results(served: Served) -> None:
    body = {"program": "import time\ndef f(): time.sleep(5); return 1", "tests": ["assert f() == 1"] * 2}
    reply = post(served, f"{PROGRAM}?deadline_s=1", body)
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
    assert "results" not in reply.json()
    assert reply.json()["detail"]  # what the client looks for
