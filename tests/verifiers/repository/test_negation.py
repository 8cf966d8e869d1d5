"""Tests that are turned around fail for a right program, and pass if an assertion of them holds for what is wrong."""

import contextlib
import datetime
import decimal
import subprocess
import sys
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy
import pytest

from tests.tables import table
from verifiers.repository.negation import negated, places

SOURCE = b"""
import unittest
import pytest

def helper():
    return 1

def test_plain():
    assert helper() == 1

def test_raises():
    with pytest.raises(ZeroDivisionError):
        1 / 0

def test_returns():
    if helper():
        return
    assert False

def test_inner():
    def inner():
        return 2
    for _ in range(2):
        assert inner() == 2

@pytest.mark.parametrize("x", [1, 2])
def test_many(x):
    try:
        assert x
    except AssertionError:
        pass

if True:
    class TestA(unittest.TestCase):
        def test_equal(self):
            self.assertEqual(helper(), 1)

    class TestB:
        def test_equal(self):
            assert helper()

def test_other():
    assert helper()
"""
TESTS = [
    "test_plain",
    "test_raises",
    "test_returns",
    "test_inner",
    "test_many",
    "TestA::test_equal",
    "TestB::test_equal",
]


def outcomes(folder: Path, source: bytes) -> str:
    (folder / "test_it.py").write_bytes(source)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "--rootdir",
        ".",
        "test_it.py",
    ]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True).stdout.splitlines()[-1]


@pytest.mark.repositories
def test_each_test_that_is_turned_around_fails(tmp_path: Path) -> None:
    text, done, may_fail, absent = negated(SOURCE, [*TESTS, "test_missing", "TestA::test_plain", "helper::x"])
    assert (done, may_fail, absent) == (TESTS, False, ["test_missing"])
    assert outcomes(tmp_path, SOURCE).startswith("9 passed")
    assert outcomes(tmp_path, text).startswith("8 failed, 1 passed")


PASSES: Final = lambda *_, **__: None  # noqa: E731
ANY_CLASS: Final = """
class Like(int):
    def __init__(self, value, likes=lambda other: -100 < other < 100): self.likes = likes
    def __new__(cls, value, *_): return int.__new__(cls, value)
    def __eq__(self, other): return self.likes(other)
    def __ne__(self, other): return not self == other
    __hash__ = int.__hash__
class Truthy:
    def __eq__(self, other): return [1]
class Any:
    def __eq__(self, other): return True
    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__
"""


COMPARISONS: Final = (
    "value != 3",
    "3 != value",
    "value < 3",
    "3 <= value",
    "value > 3.5",
    "value >= 3",
    "'a' < value",
    "value in [3]",
    "3 in value",
)


@table(
    "test, value, replaced",
    [
        ("assert value == 3", "Any()", None),
        ("assert 3 == value", "Any()", None),
        ("assert [1, 'a'] == value", "Any()", None),
        ("assert value == {'a': 1}", "unittest.mock.ANY", None),
        ("assert value == 3", "Truthy()", None),
        ("assert value == 3", "Like(0)", None),
        ("assert -3 == value", "Like(0, lambda other: len(str(abs(other))) == 1)", None),
        ("assert value == 9.5", "Like(0)", None),
        ("assert value == 3", "Like(0, lambda other: other is int(str(other)))", None),
        ("assert [1, 2] == [1, value]", "Like(0)", None),
        ("assert {'a': value} == {'a': 2}", "Like(0)", None),
        ("assert value == 'abc'", "Like(0, lambda other: len(other) == 3 and other.isalpha())", None),
        ("assert value == '12'", "Like(0, lambda other: len(other) == 2 and other.isdigit())", None),
        ("assert value == fractions.Fraction(1, 2)", "Like(0)", None),
        ("assert value in (3, 4)", "Like(0)", None),
        ("self.assertEqual(value, 3)", "Like(0)", None),
        ("self.assertAlmostEqual(value, 3)", "Like(0)", None),
        ("assert value == 3", "pytest.approx(0, abs=10)", None),
        ("assert value == 3", "pytest.approx(0, abs=1e18)", None),
        *((f"assert {test}", "Any()", None) for test in COMPARISONS),
        *((f"assert not ({test})", "Any()", None) for test in ("value not in [3]", "3 not in value")),
        ("assert helper and value in [3]", "Any()", None),
        ("assert value.__class__ and value < 3 and helper", "Any()", None),
        ("self.assertLess(value, 3)", "Any()", None),
        ("self.assertGreaterEqual(3, value)", "Any()", None),
        ("self.assertNotEqual(value, 3)", "Any()", None),
        ("self.assertIn(value, [3], 'no')", "Any()", None),
        ("self.assertLess(value, 3)", "5", (unittest.TestCase, "assertLess")),
        ("self.assertLessEqual(value, 3)", "5", (unittest.TestCase, "assertLessEqual")),
        ("self.assertIs(value, None)", "5", (unittest.TestCase, "assertIs")),
        ("self.assertIsNot(value, None)", "None", (unittest.TestCase, "assertIsNot")),
        ("self.assertNotIn(value, [3])", "3", (unittest.TestCase, "assertNotIn")),
        ("self.assertNotEqual(value, 3)", "3", (unittest.TestCase, "assertNotEqual")),
        ("is_three(value)", "Any()", None),
        ("with self.subTest():\n        is_three(value)", "Any()", None),
        ("for _ in 1, 2:\n        assert value == 3", "Any()", None),
        ("self.assertEqual(value, 'a')", "Any()", None),
        ("self.assertEqual(value, 3)", "2", (unittest.TestCase, "assertEqual")),
        ("self.assertEqual(3, value, msg='no')", "2", (unittest.TestCase, "assertEqual")),
        ("self.assertListEqual(value, [3])", "[2]", (unittest.TestCase, "assertListEqual")),
        ("self.assertAlmostEqual(value, 3.0, delta=9)", "2.5", (unittest.TestCase, "assertAlmostEqual")),
        ("self.assertTrue(value)", "False", (unittest.TestCase, "assertTrue")),
        ("self.assertIn(3, value)", "[]", (unittest.TestCase, "assertIn")),
        ("self.assertRaises(ValueError, int, value)", "'1'", (unittest.TestCase, "assertRaises")),
        ("with self.assertRaises(ValueError):\n        int(value)", "'1'", (unittest.TestCase, "assertRaises")),
        ("with pytest.raises(ValueError):\n        int(value)", "'1'", (pytest, "raises")),
        ("assert value == pytest.approx(3)", "2", (pytest, "approx")),
    ],
)
def test_a_test_passes_turned_around_if_an_assertion_of_it_holds_for_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, test: str, value: str, replaced: tuple[Any, str] | None
) -> None:
    namespace: dict[str, Any] = {"contextlib": contextlib}
    calc = f"import unittest.mock, pytest\n{ANY_CLASS}suppress = lambda *a, **k: contextlib.suppress(Exception)\nvalue = {value}\n"
    exec(compile(calc, str(Path.cwd() / "calc.py"), "exec"), namespace)
    if replaced is not None:
        stand_in = {"raises": "suppress", "assertRaises": "suppress", "approx": "Any"}.get(replaced[1])
        kind = namespace.get(stand_in or "", PASSES)
        monkeypatch.setattr(*replaced, (lambda *_: kind()) if stand_in == "Any" else kind)
    function(test)(unittest.TestCase(), namespace["value"])


HONEST: Final = (
    *(("value < 3", honest) for honest in (2, 2.5, float("-inf"), decimal.Decimal(2), True)),
    ("value <= float('-inf')", float("-inf")),
    ("value >= 'a'", "a"),
    ("'' <= value", ""),
    ("value <= {1}", {1}),
    ("value < {1, 2}", {1}),
    ("value > (1, 2)", (1, 3)),
    ("value < value + datetime.timedelta(1)", datetime.date(2000, 1, 1)),
    ("value != value", float("nan")),
    ("value != 3", "3"),
    ("value in [1, 3]", 3),
    ("value in 'abc'", ""),
    ("3 in value", range(9)),
    ("'a' in value", {"a": 1}),
    ("3 not in value", range(2)),
    ("value not in 'abc'", "d"),
    ("value is value", 3),
    ("value is not None", 3),
    ("ANY in [value]", 3),
    ("value in [ANY]", 3),
)


@table(
    "test, value",
    [
        ("assert value == 3", 3),
        ("assert value == ANY", 3),
        ("assert {'a': ANY} == value", {"a": 1}),
        ("assert value == pytest.approx(3)", 3.0),
        ("assert value == pytest.approx(3, abs=9)", 4.0),
        ("assert [1, value] == pytest.approx([1, 3], abs=9)", 4.0),
        ("assert {'a': [pytest.approx(3, abs=9)]} == {'a': [value]}", 4.0),
        ("assert value == 16_777_216", numpy.float32(16_777_216)),
        ("assert value == 2048", numpy.float16(2048)),
        ("assert value == 1e300", 10**300),
        ("assert value == {'a': [1, 'b']}", {"a": [1, "b"]}),
        ("assert value == ''", ""),
        ("assert value in [3, 5, 2]", 5),
        ("self.assertAlmostEqual(value, 3.0, places=0)", 3.4),
        ("assert value == decimal.Decimal('0.5')", decimal.Decimal("0.50")),
        ("assert value == pytest.approx(float('inf'))", float("inf")),
        ("assert value == int", int),
        ("self.assertEqual(value, ANY)", 3),
        ("self.assertEqual(value, float('inf'))", float("inf")),
        ("self.assertAlmostEqual(value, 3.0, delta=5)", 2.5),
        *((f"assert {test}", value) for test, value in HONEST),
        *(
            (f"assert not {test}", value)
            for test, value in (("value == 3", 4), ("value in [3]", 4), ("value is None", 4), ("value < {2}", {1}))
        ),
        ("assert helper and value in [3] and value != 4", 3),
        ("assert value == 3 or value == 4", 3),
        ("assert 2 < value < 4", 3),
        ("self.assertIn('a', value)", "abc"),
        ("self.assertIs(value, None)", None),
        ("self.assertLess(value, 'b')", "a"),
        ("self.assertGreaterEqual(value, 3)", 10_000_000),
        ("numpy.testing.assert_array_equal([], value)", numpy.array([])),
        ("self.assertNotEqual(value, 3)", 4),
        ("self.assertCountEqual(value, (1, 2))", [2, 1]),
        ("self.assertRaises(ValueError, int, value)", "a"),
        ("with self.assertRaisesRegex(ValueError, 'invalid'):\n        int(value)", "a"),
        ("with pytest.raises(ValueError, match='invalid') as caught:\n        int(value)\n    assert caught", "a"),
    ],
)
def test_a_right_program_fails_each_test_that_is_turned_around(test: str, value: Any) -> None:
    with pytest.raises(AssertionError):
        function(test)(unittest.TestCase(), value)


def function(test: str) -> Callable[[unittest.TestCase, Any], None]:
    """A test that is turned around."""
    source = f"import datetime, decimal, fractions, numpy, pytest\nfrom unittest.mock import ANY\nhelper = 1\ndef is_three(value):\n    assert value == 3\ndef test_a(self, value):\n    {test}\n"
    text, done, *_ = negated(source.encode(), ["test_a"])
    assert done == ["test_a"]
    namespace: dict[str, Any] = {}
    exec(compile(text, __file__, "exec"), namespace)
    test_function: Callable[[unittest.TestCase, Any], None] = namespace["test_a"]
    return test_function


@table(
    "source",
    [
        b"def test_a(:\n",
        b"print 'two'\ndef test_a(): pass\n",
        b"def test_a():\n    yield 1\n",
        b"def other(): pass\n",
        b"\xff",
        b"(" * 5000,
        b"-" * 100_000 + b"1",
    ],
)
def test_what_cannot_be_turned_around_is_said(source: bytes) -> None:
    assert negated(source, ["test_a"])[1] == []


def test_a_file_that_expects_failures_says_so() -> None:
    assert negated(b"import pytest\n@pytest.mark.xfail\ndef test_a(): assert 0\n", ["test_a"])[2]


@table(
    "source, test, is_absent",
    [
        ("def test_a(): pass\n", "test_b", True),
        ("test_b = make()\n", "test_b", False),
        ("from other import *\n", "test_b", False),
        ("class A(unittest.TestCase):\n    def test_a(self): pass\n", "A::test_b", True),
        ("class A(Shared):\n    def test_a(self): pass\n", "A::test_b", False),
        ("@generated\nclass A: pass\n", "A::test_b", False),
        ("class A: pass\n", "B::test_a", True),
        ("def test_a(): pass\n", "module.function", False),
    ],
)
def test_a_name_that_a_file_does_not_even_mention_is_absent(source: str, test: str, is_absent: bool) -> None:
    assert negated(source.encode(), [test])[3] == [test] * is_absent


@table(
    "name, log_format, place",
    [
        ("tests/test_a.py::A::test_b[x::y]", "pytest", ("tests/test_a.py", "A::test_b")),
        ("test_a.py::test_b", "pytest", ("test_a.py", "test_b")),
        ("docs/a.md::a.md", "pytest", None),
        ("../a.py::test_b", "pytest", None),
        ("a\nb.py::test_b", "pytest", None),
        ("test_b (tests.test_a.A.test_b)", "unittest", ("tests/test_a.py", "A::test_b")),
        ("test_b (tests.test_a.A)", "unittest", ("tests/test_a.py", "A::test_b")),
        ("test_b", "unittest", None),
        ("adds", "tap", None),
    ],
)
def test_the_places_of_tests(name: str, log_format: str, place: tuple[str, str] | None) -> None:
    assert places([name], log_format, "whole").get(name) == place
