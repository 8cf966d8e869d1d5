"""Every form in which data sets write tests, and what is refused."""

import base64
import json
import pickle
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.base import TestStyle
from verifiers.base import InvalidItem
from verifiers.code.aliases import parse
from verifiers.code.cases import CallCase, CallTests, CaseType, StdioCase, StdioTests, Suite, TestPrograms, TextTests

STDIO = [("1 2\n", "3\n"), ("4 5\n", "9\n")]
ROWS = [{"input": given, "expected_output": expected} for given, expected in STDIO]
COLUMNS = {"inputs": ["1 2\n", "4 5\n"], "outputs": ["3\n", "9\n"]}
NESTED = [{"input": {"stdin": given}, "output": {"stdout": expected}} for given, expected in STDIO]
CALLS = [CallCase("1", "[[1, 2], {}]", b"[3]"), CallCase("2", "[[4, 5], {}]", b"[9]")]
CALL_ROWS = [{"input": "1\n2", "output": "3"}, {"input": "4\n5", "output": "9"}]


def stdio_cases(suite: Suite) -> list[StdioCase]:
    assert isinstance(suite.tests, StdioTests)
    return list(suite.tests.cases)


def call_tests(suite: Suite) -> CallTests:
    assert isinstance(suite.tests, CallTests)
    return suite.tests


def programs(suite: Suite) -> TestPrograms:
    assert isinstance(suite.tests, TestPrograms)
    return suite.tests


def refused(reference: Any) -> InvalidItem:
    with pytest.raises(InvalidItem) as caught:
        parse(reference)
    return caught.value


@pytest.mark.parametrize(
    "reference",
    [
        {"case_type": "stdio", "test_cases": ROWS},
        {"case_type": "input", "test_cases": json.dumps(ROWS), "test_case_function": "None"},
        {"case_type": "io", "test_cases": ROWS},
        {"case_type": "", "test_cases": ROWS, "test_case_function": ""},
        {"case_type": "Standard-Input", "test_cases": ROWS},
        {"test_cases": ROWS},
        ROWS,
        json.dumps(ROWS),
        json.dumps({"case_type": "stdio", "test_cases": ROWS}),
        json.dumps(json.dumps(ROWS)),
        COLUMNS,
        {"case_type": "stdio", **COLUMNS},
        {"test_cases": COLUMNS},
        {"test_cases": json.dumps(COLUMNS)},
        {"test_cases": {**COLUMNS, "fn_name": None}},
        {"input_output": json.dumps(COLUMNS), "difficulty": "interview"},
        {"inputs": ["1 2\n", ["4 5", ""]], "outputs": ["3\n", ["9", ""]]},
        {"unit_tests": COLUMNS},
        {"verifier_metadata": {"unit_tests": COLUMNS}},
        [{"stdin": given, "expected_stdout": expected} for given, expected in STDIO],
        NESTED,
        {"provided_data": {"id": 1, "test": NESTED}},
        [{"input": given, "output": expected, "testtype": "stdin"} for given, expected in STDIO],
        {"public_test_cases": json.dumps(ROWS[:1]), "private_test_cases": json.dumps(ROWS[1:]), "metadata": "{}"},
        [{"type": "stdin_stdout", "input": given, "output": expected} for given, expected in STDIO],
        {"tests": [list(pair) for pair in STDIO]},
        {"case_type": "unittest", "test_cases": ROWS},
    ],
)
def test_inputs_and_outputs_are_read_in_every_form(reference: Any) -> None:
    suite = parse(reference)
    assert suite.case_type is CaseType.STDIO
    assert [(case.stdin, case.expected) for case in stdio_cases(suite)] == STDIO


def test_numbers_stand_for_their_text() -> None:
    assert stdio_cases(parse([{"input": 1, "output": 3}])) == [StdioCase("1", "1", "3")]


@pytest.mark.parametrize(
    "reference",
    [
        {"case_type": "function", "fn_name": "add", "test_cases": CALL_ROWS},
        {"case_type": "functional", "func_name": "add", "test_cases": CALL_ROWS},
        {"case_type": "call-based", "entry_point": "add", "test_cases": json.dumps(CALL_ROWS)},
        {"case_type": "input", "test_case_function": "add", "test_cases": CALL_ROWS},
        {"case_type": "function", "fn_name": "Solution().add", "test_cases": CALL_ROWS},
        {"fn_name": "add", "test_cases": CALL_ROWS},
        {"fn_name": "add", "inputs": ["1\n2", "4\n5"], "outputs": ["3", "9"]},
        {"test_cases": {"fn_name": "add", "inputs": ["1\n2", "4\n5"], "outputs": ["3", "9"]}},
        {"fn_name": "add", "inputs": [[1, 2], [4, 5]], "outputs": [3, 9]},
        {"fn_name": "add", "test_cases": [{"args": [1, 2], "expected": 3}, {"args": [4, 5], "expected": 9}]},
        {"fn_name": "add", "test_cases": [{"input": "1, 2", "output": "3"}, {"input": "4, 5", "output": "9"}]},
        {"fn_name": "add", "test_cases": [{"input": "a = 1, b = 2", "output": 3}, {"input": "a=4\nb=5", "output": 9}]},
        [{"testtype": "functional", "metadata": {"func_name": "add"}, **row} for row in CALL_ROWS],
        {"public_test_cases": CALL_ROWS[:1], "private_test_cases": CALL_ROWS[1:], "metadata": '{"func_name": "add"}'},
        [{"type": "function_call", "fn_name": "add", **row} for row in CALL_ROWS],
        {"case_type": "unittest", "fn_name": "add", "test_cases": CALL_ROWS},
    ],
)
def test_calls_are_read_in_every_form(reference: Any) -> None:
    suite = parse(reference)
    assert suite.case_type is CaseType.FUNCTION
    assert call_tests(suite) == CallTests("add", CALLS)


def test_the_published_shape_of_a_unit_test_row_is_read() -> None:
    row = {"input": "[1,2,3]", "expected_output": "[[1,2,3],[1,3,2],[2,1,3],[2,3,1],[3,1,2],[3,2,1]]"}
    tests = call_tests(parse({"test_cases": [row], "case_type": "unittest", "fn_name": "permute"}))
    assert tests.cases[0].arguments == "[[[1, 2, 3]], {}]"
    assert len(tests.cases[0].values[0]) == 6


@pytest.mark.parametrize(
    "reference",
    [
        {"test_cases": [{"input": "[1,2,3]", "expected_output": "[[1,2,3],[1,3,2],...]"}], "case_type": "unittest"},
        {"fn_name": "f", "test_cases": [{"input": "[1]", "expected_output": "[[1,2,3],[1,3,2],...]"}]},
        {"fn_name": "f", "test_cases": [{"args": [1], "expected": "..."}]},
        {"case_type": "stdio", "test_cases": [{"input": "", "expected_output": "[1, 2, …]\n"}]},
        {"case_type": "assert", "test_cases": ["assert f(1) == [1, 2, ...]"]},
        {"case_type": "assert", "test_cases": ["assert f(1) == ..."]},
    ],
)
def test_what_leaves_something_out_is_refused(reference: Any) -> None:
    assert refused(reference).reason == "elided_tests"


def test_dots_that_leave_nothing_out_are_fine() -> None:
    assert stdio_cases(parse([{"input": "", "output": "...\n.#.\n"}]))[0].expected == "...\n.#.\n"
    assert stdio_cases(parse([{"input": "", "output": "Loading..."}]))
    assert parse(["import numpy as np\nassert f(np.zeros(3)[..., 0]) == 1"])


def test_literals_of_python_are_read_where_json_is_not() -> None:
    rows = [{"input": "(1, 'a')\nNone", "output": "{1, 2}"}, {"input": "'x'", "output": "True"}]
    cases = call_tests(parse({"fn_name": "f", "test_cases": rows})).cases
    assert [case.arguments for case in cases] == [
        '[[[1, "a"], null], {}, [{"tuple": [1, "a"]}, null]]',
        '[["x"], {}]',
    ]
    assert [case.values for case in cases] == [[{1, 2}], [True]]


def test_a_bare_word_is_itself_and_broken_json_is_refused() -> None:
    row = {"fn_name": "f", "test_cases": [{"input": '"a"', "output": "hello world"}]}
    assert call_tests(parse(row)).cases[0].values == ["hello world"]
    row["test_cases"] = [{"input": '"a"', "output": "[1, 2"}]
    assert refused(row).reason == "unparseable_tests"


def test_native_values_are_not_read_a_second_time() -> None:
    case = call_tests(parse({"fn_name": "f", "test_cases": [{"args": ["[1]"], "expected": "[1]"}]})).cases[0]
    assert (case.arguments, case.values) == ('[["[1]"], {}]', ["[1]"])


def test_outputs_wrapped_in_lists_of_one_are_accepted_both_ways() -> None:
    cases = call_tests(parse({"fn_name": "f", "inputs": [[1], [2]], "outputs": [[3], [4]]})).cases
    assert [case.values for case in cases] == [[[3], 3], [[4], 4]]
    cases = call_tests(parse({"fn_name": "f", "inputs": [[1], [2]], "outputs": [[3], [4, 5]]})).cases
    assert [case.values for case in cases] == [[[3]], [[4, 5]]]
    rows = [{"type": "function_call", "fn_name": "f", "input": [number], "output": [number]} for number in (3, 4)]
    assert [case.values for case in call_tests(parse(rows)).cases] == [[[3], 3], [[4], 4]]
    rows = [{"fn_name": "f", "args": [number], "expected": [number]} for number in (3, 4)]
    assert [case.values for case in call_tests(parse(rows)).cases] == [[[3]], [[4]]]


def test_arguments_that_json_cannot_carry_keep_their_type() -> None:
    rows = [{"input": "{1: 2}", "output": "1"}, {"input": "{(1, 2): b'a'}", "output": "1"}]
    cases = call_tests(parse({"fn_name": "f", "test_cases": rows})).cases
    assert [case.only_python for case in cases] == [False, True]
    assert json.loads(cases[0].arguments)[2] == [{"dict": [[1, 2]]}]
    assert refused({"fn_name": "f", "test_cases": [{"input": "{1: [2, ...]}", "output": "1"}]}).reason == "elided_tests"


def test_words_for_no_numbers_are_numbers() -> None:
    rows = [{"input": "1", "output": text} for text in ("NaN", "[1, -Infinity]", "Infinity of things")]
    cases = call_tests(parse({"fn_name": "f", "test_cases": rows})).cases
    assert [str(case.values[0]) for case in cases] == ["nan", "[1, -inf]", "Infinity of things"]


def test_rows_of_codecontests_are_read() -> None:
    columns = {"input": ["1\n", "2\n"], "output": ["3\n", "4\n"]}
    row = {"public_tests": columns, "private_tests": {"input": [], "output": []}, "generated_tests": columns}
    assert len(stdio_cases(parse(row))) == 4
    assert stdio_cases(parse(columns)) == [StdioCase("1", "1\n", "3\n"), StdioCase("2", "2\n", "4\n")]
    lines = {"input": ["1", "2"], "output": ["3"]}
    assert stdio_cases(parse(lines)) == [StdioCase("1", "1\n2", "3")]


def test_all_tests_of_a_row_of_mbppplus_are_taken() -> None:
    row = {"test_list": ASSERTS, "test": "for x in range(9):\n    assert f(x) == x + 1", "code": "def f(x): ..."}
    assert parse(row).size == 3


def test_a_prompt_of_definitions_goes_before_program_and_tests() -> None:
    prompt = "from typing import *\n\nclass ListNode:\n    pass\n"
    suite = parse({"prompt": prompt, "entry_point": "Solution().f", "test": CHECK})
    assert (suite.import_prefix, suite.prompt) == (prompt, "")
    assert programs(suite).programs[0].setup.startswith(prompt)
    for head in (
        "inf = float('inf')\n",
        "try:\n    import numpy\nexcept ImportError:\n    pass\n",
        "if True:\n    X = 1\n",
    ):
        for whole in (f'"""Helpers."""\n{prompt}{head}', f"{prompt}{head}sys.setrecursionlimit(10**6)\n"):
            assert parse({"prompt": whole, "entry_point": "Solution().f", "test": CHECK}).import_prefix == whole
    for other in ("def f(x):\n    return 1\n", "if True:\n    def f(x): ...\n", "Write a function.", "Hello"):
        assert parse({"prompt": other, "entry_point": "f", "test": CHECK}).import_prefix == ""


@pytest.mark.parametrize("files", [{"a": "1", "a/b": "2"}, {"main.py/x": "1"}, {"/".join("abcdefghijklmnopqrs"): "1"}])
def test_files_that_no_box_can_hold_are_refused(files: dict[str, str]) -> None:
    assert refused({"files": files, "test_cases": [{"input": "", "output": "1"}]}).reason == "bad_reference"


@pytest.mark.parametrize(
    "reference",
    [
        {"case_type": "assert", "test_cases": ["assert (f(1) == 2, 'words')"]},
        {"case_type": "pytest", "test_cases": ["def test_a():\n    assert (f(1) == 2, 'words')"]},
        {"case_type": "pytest", "test_cases": ["def test_a():\n    f(1)"]},
        {"entry_point": "f", "test": "def check(candidate):\n    assert (candidate(1) == 2, 'words')\n"},
    ],
)
def test_tests_that_cannot_fail_are_refused(reference: Any) -> None:
    assert refused(reference).reason == "vacuous_test"


def test_a_test_file_has_its_modules_from_where_they_are() -> None:
    code = "from solution import *\ndef test_a():\n    assert math.isclose(f(1), datetime.now().year)"
    (program,) = programs(parse({"case_type": "pytest", "test_cases": [code]})).programs
    head = program.files["test_solution.py"].removesuffix(code)
    assert "from math import isclose as _" in head
    assert "except ImportError:\n    from solution import datetime" in head


def test_keyword_arguments_are_passed_on() -> None:
    case = call_tests(parse({"fn_name": "f", "test_cases": [{"args": [1], "kwargs": {"b": 2}, "expected": 3}]})).cases[
        0
    ]
    assert case.arguments == '[[1], {"b": 2}]'


ASSERTS = ["assert f(1) == 2", "assert f(2) == 3"]


@pytest.mark.parametrize(
    "reference",
    [
        {"case_type": "assert", "test_cases": ASSERTS},
        {"case_type": "assert", "test_cases": [{"assert_code": text} for text in ASSERTS]},
        {"case_type": "assert", "test_cases": json.dumps([{"assert_code": text} for text in ASSERTS])},
        {"case_type": "assert", "test_cases": "\n".join(ASSERTS)},
        {"assert_case": ASSERTS},
        {"test_cases": {"assert_case": ASSERTS}},
        json.dumps({"assert_case": ASSERTS}),
        {"test_list": ASSERTS, "test_setup_code": "", "code": "def f(x): return x + 1", "task_id": 1},
        {"test_cases": ASSERTS},
        ASSERTS,
        "\n".join(ASSERTS),
        [{"test": text} for text in ASSERTS],
    ],
)
def test_asserts_are_read_in_every_form(reference: Any) -> None:
    suite = parse(reference)
    assert suite.case_type is CaseType.ASSERT
    (program,) = programs(suite).programs
    assert (program.style, list(program.cases), program.count) == (TestStyle.ASSERTS, ASSERTS, 2)
    calls = programs(suite).calls
    assert calls is not None
    assert [call.arguments for call in calls] == ["[[1], {}]", "[[2], {}]"]


def test_asserts_that_are_more_than_calls_stay_programs() -> None:
    suite = parse({"test_list": [*ASSERTS, "assert sorted(f(3)) == [1]"], "test_imports": ["import math"]})
    assert programs(suite).calls is None
    assert programs(suite).programs[0].setup == "import math"


CHECK = "def check(candidate):\n    assert candidate(1) == 2\n    for x in range(3):\n        assert candidate(x) == x + 1\n"


@pytest.mark.parametrize(
    "reference",
    [
        {"case_type": "check_based", "test_cases": [{"assert_code": CHECK, "entry_point": "f", "import_prefix": ""}]},
        {"case_type": "check_based", "test_cases": CHECK, "entry_point": "f"},
        {
            "task_id": "HumanEval/0",
            "prompt": "def f(x):\n",
            "entry_point": "f",
            "canonical_solution": "",
            "test": CHECK,
        },
        {"test": CHECK, "entry_point": "f"},
        {"functional": CHECK + "\ncheck(Solution().f)\n"},
        {"tests": {"functional": CHECK + "\ncheck(Solution().f)"}},
        json.dumps({"functional": CHECK + "\n\ncheck(f)\n"}),
        [{"test": CHECK, "entry_point": "f"}],
    ],
)
def test_check_functions_are_read_in_every_form(reference: Any) -> None:
    suite = parse(reference)
    assert suite.case_type is CaseType.CHECK_BASED
    (program,) = programs(suite).programs
    method = "Solution().f" if "Solution" in str(reference) else "f"
    assert (program.style, program.entry_point, suite.entry_point, suite.size) == (TestStyle.CHECK, method, "f", 1)
    assert "check(" not in program.setup.replace("def check(", "")


def test_helpers_in_the_prompt_are_there_for_the_test_too() -> None:
    prompt = "import math\n\ndef helper(x):\n    return x\n\n\ndef f(x):\n    '''Doc.'''\n"
    test = "def check(candidate):\n    assert candidate(1) == helper(1)\n"
    suite = parse({"prompt": prompt, "entry_point": "f", "test": test})
    assert suite.preamble == "import math\n\ndef helper(x):\n    return x\n\n\n"
    assert suite.preamble.strip() in programs(suite).programs[0].setup
    assert suite.prompt == prompt


def test_a_prompt_in_words_is_left_aside() -> None:
    assert parse({"prompt": "Write f, please.", "entry_point": "f", "test": CHECK}).prompt == ""


MODULE = """\
import pytest
from solution import f

@pytest.mark.parametrize('x', [1, 2])
def test_a(x): assert f(x)
class TestB:
    def test_b(self): assert f(3)
"""
CASE = """\
import unittest
from solution import f
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(f(1), 2)
"""


@pytest.mark.parametrize(
    ("reference", "style", "count"),
    [
        ({"case_type": "pytest", "files": {"test_f.py": MODULE}}, TestStyle.PYTEST, 3),
        ({"case_type": "pytest", "test_cases": [{"assert_code": MODULE}]}, TestStyle.PYTEST, 3),
        ({"test": MODULE}, TestStyle.PYTEST, 3),
        ({"case_type": "pytest", "files": {"test_f.py": MODULE}, "count": 5}, TestStyle.PYTEST, 5),
        ({"case_type": "unittest", "files": {"test_f.py": CASE}}, TestStyle.UNITTEST, 1),
        ({"case_type": "unittest", "test_cases": [{"test": CASE}]}, TestStyle.UNITTEST, 1),
        ({"files": {"test_f.py": CASE}}, TestStyle.UNITTEST, 1),
        (CASE, TestStyle.UNITTEST, 1),
    ],
)
def test_test_modules_are_read_in_every_form(reference: Any, style: TestStyle, count: int) -> None:
    (program,) = programs(parse(reference)).programs
    assert (program.style, program.count) == (style, count)
    assert list(program.files.values()) in ([MODULE], [CASE])


def test_a_test_module_that_imports_nothing_gets_what_it_uses_from_the_program() -> None:
    code = "import math\n\ndef test_f():\n    y = f(2)\n    assert math.isclose(y, G) and len([z for z in h(y)])\n"
    (program,) = programs(parse({"case_type": "pytest", "test_cases": [{"assert_code": code}]})).programs
    (text,) = program.files.values()
    first, rest = text.split("\n", 1)
    assert rest == code
    assert first.startswith("from solution import ")
    assert set(first.removeprefix("from solution import ").split(", ")) == {"f", "G", "h"}


def test_the_response_reaches_a_text_test_under_a_name() -> None:
    code = (
        'text = {response}\nquoted = """{response}"""\nassert len(text) > 3 and f"{response}!" and "{response}" == text'
    )
    suite = parse({"case_type": "text", "test_cases": [{"assert_code": code}]})
    assert isinstance(suite.tests, TextTests)
    assert suite.tests.cases[0].source == (
        'text = response\nquoted = ("""{response}""".replace(\'{response}\', response))\n'
        'assert len(text) > 3 and f"{response}!" and ("{response}".replace(\'{response}\', response)) == text'
    )


def test_a_special_judge_is_read() -> None:
    suite = parse({"case_type": "checker", "checker": "print()", "max_points": 100, "test_cases": ROWS})
    assert isinstance(suite.tests, StdioTests)
    assert suite.tests.checker is not None
    assert suite.tests.checker.max_points == 100
    suite = parse({"test_cases": ROWS, "checker": {"source": "int main(){}", "language": "c++"}})
    assert suite.case_type is CaseType.CHECKER
    assert isinstance(suite.tests, StdioTests)
    assert suite.tests.checker is not None
    assert suite.tests.checker.language == "cpp"


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ({}, "no_tests"),
        ([], "no_tests"),
        ("", "no_tests"),
        ({"case_type": "stdio", "test_cases": []}, "no_tests"),
        ({"case_type": "assert", "test_cases": "[]"}, "no_tests"),
        ({"case_type": "", "test_cases": "", "test_case_function": ""}, "no_tests"),
        ({"inputs": [], "outputs": []}, "no_tests"),
        ({"case_type": "pytest", "files": {"test_a.py": "x = 1"}}, "no_tests"),
        ({"inputs": ["1"], "outputs": ["1", "2"]}, "mismatched_tests"),
        ({"inputs": ["1"]}, "bad_reference"),
        ({"test_cases": "[{"}, "unparseable_tests"),
        ("just words", "unparseable_tests"),
        ({"case_type": "assert", "test_cases": ["assert f(1) =="]}, "unparseable_tests"),
        ({"case_type": "check_based", "test_cases": ["assert 1"], "entry_point": "f"}, "unparseable_tests"),
        ({"case_type": "quantum", "test_cases": ROWS}, "unknown_case_type"),
        ({"case_type": "function", "test_cases": CALL_ROWS}, "bad_entry_point"),
        ({"case_type": "function", "fn_name": "os.system", "test_cases": CALL_ROWS}, "bad_entry_point"),
        ({"case_type": "function", "fn_name": "f(); evil", "test_cases": CALL_ROWS}, "bad_entry_point"),
        ({"case_type": "check_based", "test_cases": [{"assert_code": CHECK}]}, "bad_entry_point"),
        ([{"fn_name": "f", **CALL_ROWS[0]}, {"fn_name": "g", **CALL_ROWS[1]}], "bad_entry_point"),
        ([{"input": "1"}], "ambiguous_case_type"),
        ({"case_type": "stdio", "test_cases": [{"input": "1"}]}, "missing_expectation"),
        ({"case_type": "stdio", "test_cases": [{"input": "1", "output": None}]}, "missing_expectation"),
        ({"case_type": "stdio", "test_cases": [{"input": "1", "output": {"a": 1}}]}, "missing_expectation"),
        ({"case_type": "stdio", "test_cases": [{"input": "1", "output": " \n"}]}, "no_expectations"),
        ({"case_type": "assert", "test_cases": ["f(1)", "print(2)"]}, "vacuous_test"),
        ({"case_type": "assert", "test_cases": ["assert True"]}, "vacuous_test"),
        ({"case_type": "check_based", "entry_point": "f", "test_cases": ["def check(c):\n    c(1)\n"]}, "vacuous_test"),
        ({"case_type": "text", "test_cases": ["assert 1 == 1"]}, "vacuous_test"),
        ({"case_type": "text", "test_cases": ["print({response})"]}, "vacuous_test"),
        ({"case_type": "checker", "test_cases": ROWS}, "no_checker"),
        ({"case_type": "assert", "language": "cpp", "test_cases": ASSERTS}, "language_without_tests"),
        ({"language": "klingon", "test_cases": ROWS}, "unknown_language"),
        ({"test_cases": ROWS, "files": {"../x": "1"}}, "bad_reference"),
        ({"test_cases": ROWS, "files": {"/etc/x": "1"}}, "bad_reference"),
        ({"test_cases": ROWS, "files": {"x": 1}}, "bad_reference"),
        ([1, 2], "bad_reference"),
        ([{"testtype": "stdin", **ROWS[0]}, {"testtype": "functional", **CALL_ROWS[0]}], "ambiguous_case_type"),
    ],
)
def test_what_cannot_be_read_for_certain_is_refused(reference: Any, reason: str) -> None:
    error = refused(reference)
    assert error.reason == reason
    assert len(str(error)) > 10


PACKED = (
    "eJxrYJmaz8gABhEZQEZ0tVJmXkFpiZKVgpJhTF5iUnJMnpKOglJ+aQlUNNI1GCJUklpcUlJZkAoSLC5JycxTqtVRQNJuDNWOILAYhCCI"
    "MdI0Ji85MQloWjKQSE5KjMlLSgSam5SciG64nz+y2WACJESMJWYY7ibFG8T5KnaKHgAcinnp"
)
"""The private tests of question 1873_A of LiveCodeBench, as they are published."""


def test_a_class_whose_method_nobody_names_has_no_tests() -> None:
    """A row of TACO from GeeksforGeeks: a class is asked for, and its inputs are prose."""
    row = {
        "input_output": json.dumps({"inputs": ["n = 5\nk = 3"], "outputs": ["35"]}),
        "starter_code": "\nclass Solution:\n  def f(self):",
    }
    assert refused(row).reason == "bad_entry_point"
    assert parse({**row, "starter_code": "n = int(input())"}).case_type is CaseType.STDIO
    named = {"fn_name": "f", "inputs": [[5, 3]], "outputs": [35]}
    assert parse({**row, "input_output": json.dumps(named)}).case_type is CaseType.FUNCTION


def packed_as(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content)).decode()


def test_packed_tests_of_a_published_row_are_opened() -> None:
    row = {"public_test_cases": json.dumps([{"input": "1\nabc\n", "output": "YES\n", "testtype": "stdin"}])}
    suite = parse({**row, "private_test_cases": PACKED, "metadata": "{}", "starter_code": "", "difficulty": "easy"})
    assert isinstance(suite.tests, StdioTests)
    assert [case.expected.count("\n") for case in suite.tests.cases] == [1, 1, 3, 5, 6]


class _Runs:
    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("this must not be run",))


@pytest.mark.parametrize(
    "content",
    [
        *(pickle.dumps(made) for made in (_Runs(), ["[]"], ("[]", "[]"), {"a": "[]"}, b"[]", None)),
        pickle.dumps("[]")[:-1] + b"0.",
        b"\x80\x04X\xff\xff\xff\xff[]",
        b"cos\nsystem\n(S'true'\ntR.",
        b"[\xff]",
        b"",
    ],
    ids=lambda content: f"{len(content)} bytes",
)
def test_a_pickle_is_never_run_and_only_a_text_is_read(content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    error = refused({"public_test_cases": json.dumps(ROWS), "private_test_cases": packed_as(content).ljust(44)})
    assert error.reason in ("compressed_tests", "unparseable_tests")
    assert capsys.readouterr().out == ""


def test_what_is_packed_is_opened_up_to_a_bound() -> None:
    bomb = packed_as(pickle.dumps("[" + " " * 9_000_000 + "]"))
    assert len(bomb) < 20_000
    assert refused({"private_test_cases": bomb}).reason == "compressed_tests"
    assert refused({"private_test_cases": PACKED[:-8]}).reason == "compressed_tests"


_TEXTS = st.sampled_from(["", "1", "[1", "assert f(1) == 2", "{response}", CHECK])
_KEYS = ["case_type", "test_cases", "inputs", "outputs", "input", "output", "fn_name", "assert_code", "test", "files"]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=4),
    max_leaves=10,
)


@given(_JSON)
def test_any_json_is_a_suite_with_tests_or_is_refused(reference: Any) -> None:
    try:
        size = parse(reference).size
    except InvalidItem:
        size = None
    assert size is None or size > 0


def test_a_text_that_tests_nothing_is_told_what_it_lacks() -> None:
    assert "there is no assertion and no test function in the reference" in str(refused("print(1)"))
