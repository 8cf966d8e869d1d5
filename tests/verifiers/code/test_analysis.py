"""What the text of tests says before anything is run."""

import ast
import json
from typing import Any

import pytest

from sandbox.runner.testing.own_objects import decides_by_objects
from verifiers.base import InvalidItem
from verifiers.code import analysis
from verifiers.code.cases import Relation


@pytest.mark.parametrize(
    ("code", "arguments", "relation", "value"),
    [
        ("assert f(1, 'a') == [1]", [[1, "a"], {}], Relation.EQUALS, [1]),
        ("assert [1] == f(1)", [[1], {}], Relation.EQUALS, [1]),
        ("assert f(1) == (1, 2), 'message'", [[1], {}], Relation.EQUALS, (1, 2)),
        ("assert f(x=1, y=[-2.5]) == {1}", [[], {"x": 1, "y": [-2.5]}], Relation.EQUALS, {1}),
        ("assert f() is True", [[], {}], Relation.IS, True),
        ("assert f(None) is None", [[None], {}], Relation.IS, None),
        ("assert f(1)", [[1], {}], Relation.TRUE, None),
        ("assert not f(1)", [[1], {}], Relation.FALSE, None),
        ("assert (f({'a': 1}) == -1)", [[{"a": 1}], {}], Relation.EQUALS, -1),
        ("assert f([]) == 1 + 2j", [[[]], {}], Relation.EQUALS, 1 + 2j),
    ],
)
def test_an_assert_of_a_call_is_taken_apart(code: str, arguments: Any, relation: Relation, value: Any) -> None:
    call = analysis.asserted_call(ast.parse(code))
    assert call is not None
    assert (call.function, json.loads(call.arguments), call.relation) == ("f", arguments, relation)
    assert (type(call.value), call.value) == (type(value), value)


@pytest.mark.parametrize(
    "code",
    [
        "assert f((1, 2)) == 1",
        "assert f({1}) == 1",
        "assert f({1: 2}) == 1",
        "assert f(b'a') == 1",
        "assert f(1e999) == 1",
        "assert f(x) == 1",
        "assert f(*[1]) == 1",
        "assert f(**{'a': 1}) == 1",
        "assert f(1) == g(1)",
        "assert f(1) != 1",
        "assert f(1) is not None",
        "assert f(1) in [1]",
        "assert 1 < f(1) < 2",
        "assert f(1) is 1",
        "assert Solution().f(1) == 1",
        "assert sorted(f(1)) == [1]",
        "assert len([1]) == 1",
        "assert f(1) == 1 and f(2) == 2",
        "x = 1\nassert f(1) == 1",
        "assert f(1) == 1\nassert f(2) == 2",
        "assert 1 == 1",
        "f(1)",
    ],
)
@pytest.mark.filterwarnings('ignore:"is" with')
def test_everything_else_stays_a_program(code: str) -> None:
    assert analysis.asserted_call(ast.parse(code)) is None


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("def test_a(): pass\ndef test_b(): pass\ndef helper(): pass", 2),
        ("def test_a(): pass\ndef test_a(): pass", 1),
        ("async def test_a(): pass", 1),
        (
            "class TestA:\n    def test_a(self): pass\n    def helper(self): pass\nclass B:\n    def test_b(self): pass",
            1,
        ),
        ("@pytest.mark.parametrize('a', [1, 2, 3])\n@pytest.mark.parametrize('b', (1, 2))\ndef test_a(a, b): pass", 6),
        ("@pytest.mark.parametrize('a', VALUES)\ndef test_a(a): pass", 1),
        ("@pytest.mark.parametrize('a', [*VALUES, 1])\ndef test_a(a): pass", 1),
        ("import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass", 1),
        ("@pytest.mark.skip\ndef test_a(): pass\n@pytest.mark.xfail(reason='no')\ndef test_b(): pass", 0),
        ("@unittest.skip('no')\nclass T(unittest.TestCase):\n    def test_a(self): pass\ndef test_b(): pass", 1),
        ("@pytest.mark.skipif(X, reason='')\ndef test_a(): pass", 1),
        ("@pytest.mark.parametrize('a', [1, pytest.param(2, marks=pytest.mark.xfail)])\ndef test_a(a): pass", 1),
        ("pytestmark = pytest.mark.skip\ndef test_a(): pass", 0),
        ("x = 1", 0),
    ],
)
def test_tests_are_counted_without_running_them(code: str, count: int) -> None:
    assert analysis.count_tests(ast.parse(code), code, is_pytest=True) == count


def test_only_test_cases_count_for_unittest() -> None:
    code = "def test_a(): pass\nclass T(TestCase):\n    def test_b(self): pass\n    def testC(self): pass"
    assert analysis.count_tests(ast.parse(code), code, is_pytest=False) == 2
    code = "class T(Base):\n    def test_b(self): pass"
    assert analysis.count_tests(ast.parse(code), code, is_pytest=False) == 1, "the base may be a test case"


@pytest.mark.parametrize(
    ("code", "decides"),
    [
        ("assert Vec(1, 2) + Vec(3, 4) == Vec(4, 6)", True),
        ("assert Vec(1, 2) != Vec(2, 1)", True),
        ("v = Vec(1, 2)\nassert v.x == 1\nassert v * 2 == 4", True),
        ("m = Money(5)\nm.pay()\nassert m == 5", True),
        ("from solution import Money\nclass T(TestCase):\n    def setUp(self): self.m = Money(5)\n"
         "    def test(self):\n        self.m.pay()\n        self.assertEqual(self.m, 5)", True),
        ("@pytest.fixture\ndef m():\n    return Money(5)\ndef test(m):\n    m.pay()\n    assert m < 5", True),
        ("s = Stack()\ns.push(1)\nassert s.pop() == 1 and len(s) == 0 and s[0] == 1", False),
        ("assert Find_Max([1, 2]) == 2", False),
        ("assert Stack().empty()", False),
        ("assert f(1) == 42", False),
        ("assert Vec(1, 2) is not None", False),
        ("from fractions import Fraction\nassert f(1) == Fraction(1, 2) and Fraction(1, 2).numerator == 1", False),
        ("class Node:\n    val = 1\nassert f(Node()) == Node() and Node().val", False),
        ("assert f(Vec(1)) == 42", False),
    ],
)  # fmt: skip
def test_the_text_says_where_operators_of_the_program_decide(code: str, decides: bool) -> None:
    assert decides_by_objects([ast.parse(code)]) is decides


def test_long_texts_are_looked_at_without_a_parser() -> None:
    code = "def test_a(): pass\n" * 10_000
    assert analysis.tree_of(code, "x") is None
    assert analysis.count_tests(None, code, is_pytest=True) == 10_000


@pytest.mark.parametrize("code", ["assert", "def f(:", "(" * 300, "x = \0", "1" * 10_000 + "]"])
def test_what_is_no_python_is_refused(code: str) -> None:
    with pytest.raises(InvalidItem, match="not Python"):
        analysis.tree_of(code, "test 1")


def test_names_of_the_program_are_those_defined_nowhere() -> None:
    code = (
        "import os.path as p\nfrom a import b as c\nX = 1\ndef g(q, *r, **s):\n    try:\n        return f(q, X, p, c, T())\n"
        "    except E as e:\n        print(e, [i for i in s], lambda k: k + r)\n"
    )
    assert sorted(analysis.missing_names(ast.parse(code))) == ["E", "T", "f"]


def test_the_head_of_a_function_has_a_preamble() -> None:
    assert analysis.preamble_of("import a\n@d\ndef f(x):\n    'doc'\n", "f") == "import a\n"
    assert analysis.preamble_of("def f(x):\n    'doc'\n", "f") == ""
    assert analysis.preamble_of("def g(x):\n    'doc'\n", "f") is None
    assert analysis.preamble_of("Write f.", "f") is None
    dog = "class Animal: pass\n\nclass Dog(Animal):\n    'doc'\n"
    assert analysis.preamble_of(dog, "Dog", (ast.ClassDef,)) == "class Animal: pass\n\n"
    assert analysis.preamble_of(dog, "Dog") is None
    for head in (
        "class Solution:",
        "class Solution:\n    def f(self, x):",
        'class Solution:\n    def f(self):\n        """doc"""',
    ):
        assert analysis.preamble_of(f"import a\n{head}\n", "Solution", (ast.ClassDef,)) == "import a\n"
