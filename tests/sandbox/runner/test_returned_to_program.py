"""What tests hand to a program, and what they catch from it."""

import pytest

from tests.sandbox.runner.split_process import run

DEEP = (
    "def load():\n    made = 1\n    for _ in range({}):\n        made = [made]\n    return made\ndef take(x): return 5"
)
COROUTINES = "async def load(): return 1\ndef take(x): return 5"
TAKE = "assert take(load()) == 5"
UNRETURNABLE = {
    "deep": (DEEP.format(150), "assert take([load()]) == 5"),
    "large": ("def load(): return 'a' * 10**7\ndef take(x): return 5", "assert take([load(), load()]) == 5"),
    "self-containing": (
        "def load():\n    made = []\n    made.append(made)\n    return made\ndef take(x): return 5",
        "import copy\nassert take([copy.deepcopy(load())]) == 5",
    ),
}


@pytest.mark.parametrize("name", UNRETURNABLE)
def test_a_value_that_the_program_made_too_large_to_go_back_is_its_own_fault(name: str) -> None:
    program, case = UNRETURNABLE[name]
    said = run(program, style="asserts", cases=[f"try:\n    {case.replace(chr(10), chr(10) + '    ')}\nexcept: pass"])
    assert said.passed == [False]
    assert said.messages == ["what the program returned is too large to go back to it"]


def test_what_the_tests_make_too_large_is_not() -> None:
    case = "made = 1\nfor _ in range(150): made = [made]\nassert take(made) == 5"
    assert "untestable" in run("def take(x): return 5", style="asserts", cases=[case]).messages[0]


def test_coroutines_of_the_program_go_back_to_it_themselves() -> None:
    cases = [TAKE, "assert take([load()]) == 5", "assert take(load()) == 6"]
    assert run(COROUTINES, style="asserts", cases=cases).passed == [True, True, False]


SPECIAL = {
    "call": ("return o(2)", "def __call__(self, x, k=1): return x + k", "3"),
    "with": (
        "with o as x:\n        raise ValueError('x')\n    return 4",
        "def __enter__(self): return self\n    def __exit__(self, kind, error, _):\n"
        "        return kind is ValueError and str(error) == 'x'",
        "4",
    ),
    "next": (
        "return [next(o), *o]",
        "n = 0\n    def __iter__(self): return self\n    def __next__(self):\n        self.n += 1\n"
        "        if self.n > 3: raise StopIteration\n        return self.n",
        "[1, 2, 3]",
    ),
    "int": ("return int(o)", "def __int__(self): return 7", "7"),
    "float": ("return float(o)", "def __float__(self): return 2.5", "2.5"),
    "index": ("return [1, 2, 3][o]", "def __index__(self): return 2", "3"),
    "reflected": ("return 5 // o", "def __rfloordiv__(self, other): return other * 2", "10"),
    "not implemented": (
        "return 1 + o",
        "def __add__(self, other): return NotImplemented\n    __radd__ = lambda *_: 3",
        "3",
    ),
    "round": ("return round(o, 1)", "def __round__(self, digits): return digits", "1"),
    "abs": ("return abs(o)", "def __abs__(self): return 3", "3"),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_objects_of_the_tests_keep_their_special_methods_in_the_program(name: str) -> None:
    body, method, expected = SPECIAL[name]
    case = f"class O:\n    {method}\nassert f(O()) == {expected}"
    said = run(f"def f(o):\n    {body}", style="asserts", cases=[case, case.replace("== ", "!= ")])
    assert said.passed == [True, False], said.messages


CATCHING = "try:\n    g()\n    {}\nexcept MyErr:\n    pass"


@pytest.mark.parametrize("kind", ["AssertionError", "Exception", "BaseException", "(AssertionError, ValueError)"])
@pytest.mark.parametrize("failure", ["assert False", "raise AssertionError", "raise Exception('no error')"])
def test_a_name_of_the_program_does_not_catch_the_failure_of_its_test(kind: str, failure: str) -> None:
    program = f"MyErr = {kind}\ndef g(): "
    assert run(f"{program}pass", style="asserts", cases=[CATCHING.format(failure)]).passed == [False]
    assert run(f"{program}raise AssertionError", style="asserts", cases=[CATCHING.format(failure)]).passed == [True]


def test_files_of_tests_catch_only_what_the_program_raised() -> None:
    test = "from solution import MyErr, g\ndef test_g():\n    " + CATCHING.format("assert False").replace(
        "\n", "\n    "
    )
    for program, passed in (
        ("MyErr = AssertionError\ndef g(): pass", False),
        ("class MyErr(Exception): 0\ndef g(): raise MyErr", True),
    ):
        assert run(program, style="pytest", files={"test_g.py": test}).passed == [passed]


def test_names_of_the_tests_catch_what_they_say() -> None:
    cases = [
        CATCHING.format("assert False").replace("MyErr", "AssertionError"),
        f"class MyErr(AssertionError): pass\n{CATCHING.format('raise MyErr')}",
    ]
    assert run("def g(): pass", style="asserts", cases=cases).passed == [True, True]


EXPECTING = {
    "pytest": "import pytest\nwith pytest.raises(MyErr):\n    g()\n    {}",
    "solution": "import pytest, solution\nwith pytest.raises(solution.MyErr):\n    g()\n    {}",
    "unittest": "import unittest\nwith unittest.TestCase().assertRaises(MyErr):\n    g()\n    {}",
    "suppress": "import contextlib\nwith contextlib.suppress(MyErr):\n    g()\n    {}",
}


@pytest.mark.parametrize("kind", ["AssertionError", "BaseException", "(AssertionError, ValueError)"])
def test_a_context_with_a_name_of_the_program_does_not_hide_the_failure_of_its_test(kind: str) -> None:
    failing = [form.format("assert g() == 2") for form in EXPECTING.values()]
    assert run(f"MyErr = {kind}\ndef g(): pass", style="asserts", cases=failing).passed == [False] * len(failing)
    passing = [form.format("assert False") for form in EXPECTING.values()]
    raising = f"MyErr = {kind}\ndef g(): raise AssertionError('so')"
    assert run(raising, style="asserts", cases=passing).passed == [True] * len(passing)
