"""Style: what each habit costs, that texts are only read, and that odd ones are survived."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import ends
from tests.tables import table
from verifiers.code_quality.style import judge

CLEAN = '''\
"""Adds."""


def add(a, b):
    return a + b
'''


def kinds(source: str) -> set[str]:
    return {kind for kind, _, _ in judge(source)[1]}


def test_a_clean_program_loses_nothing() -> None:
    assert judge(CLEAN) == (1.0, [])


@table(
    ("added", "kind", "score"),
    [
        ("import os\n", "unused_import", 0.95),
        ("import os\nimport re\nimport sys\n", "unused_import", 0.85),
        ("".join(f"import m{n}\n" for n in range(9)), "unused_import", 0.8),
        ("def f():\n    x = 1\n", "unused_name", 0.95),
        ("def addTwo(a):\n    return a + 2\n", "function_name", 0.95),
        ("def f(a):\n    try:\n        return a\n    except:\n        return 0\n", "bare_except", 0.95),
        ("def f(a):\n    return eval(a)\n", "eval_or_exec", 0.9),
        ("def f(a):\n    return a.eval(exec(a))\n", "eval_or_exec", 0.9),
        ("if add(1, 2):\n\tadd(1, 3)\n", "tabs_and_spaces", 0.95),
        ("def f(a):\n" + "".join(f"    if a == {n}:\n        a = 0\n" for n in range(12)), "complex_function", 0.9),
    ],
)
def test_each_habit_has_its_price(added: str, kind: str, score: float) -> None:
    assert judge(CLEAN + added)[0] == pytest.approx(score)
    assert kinds(CLEAN + added) == {kind}


def test_long_lines_cost_their_share() -> None:
    long = CLEAN + "x = [" + "1, " * 50 + "]\n"
    assert judge(long)[0] == pytest.approx(1 - 0.1 / 4)
    assert kinds(long) == {"long_lines"}


def test_a_comment_or_a_docstring_is_enough_words() -> None:
    assert kinds("x = 1\n") == {"no_words"}
    assert kinds("# one\nx = 1\n") == set()
    assert kinds("x = '# one'\n") == {"no_words"}
    for said in (
        "# noqa",
        "#!/usr/bin/python",
        "#",
        "# ---",
        "# pylint: disable=all",
        "# type: ignore",
        "# flake8: noqa",
    ):
        assert kinds(f"{said}\nx = 1\n") == {"no_words"}


def test_names_that_the_library_asks_for_are_nobodys_choice() -> None:
    methods = "".join(
        f"    def {name}(self):\n        pass\n" for name in ("setUp", "visit_Name", "do_GET", "__init__")
    )
    assert judge(CLEAN + "class C:\n" + methods) == (1.0, [])


@table("source", ["def (", "x = 1\0", "print 1", "\ud800", "return (", "f(" * 300])
def test_what_is_no_python_has_nothing(source: str) -> None:
    score, ((kind, _, cost),) = judge(source)
    assert (score, kind, cost) == (0.0, "no_python", 1.0)


@table("source", ["1" + "+1" * 50_000, "-" * 100_000 + "1", "x" + "[0]" * 20_000])
def test_what_is_nested_too_deeply_has_nothing(source: str) -> None:
    assert judge(source) == (0.0, [("nested_too_deeply", 0, 1.0)])


def test_nothing_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    opens = f"open({str(trace)!r}, 'w')"
    judge(f"import os\n{opens}\n\n@{opens}.write\ndef f(a={opens}): pass\n")
    assert not trace.exists()


@pytest.mark.growth(beyond=1)
@pytest.mark.parametrize(
    "source",
    [
        "def f():\n" + " x=1\n" * 20_000,
        "class A:\n pass\n" * 20_000,
        "a=" * 20_000 + "1",
        "import a\n" * 30_000,
        "'" * 300_000,
        "x" * 1_000_000,
        "if x:\n\tpass\n" * 30_000,
        "from a import *\n" + "".join(f"x{n}\n" for n in range(20_000)),
        "def f(): yield\n" * 20_000,
        "\\\n" * 100_000,
    ],
)
def test_long_texts_take_less_than_a_workers_limit(source: str) -> None:
    ends(lambda: judge(source))


@given(st.text("def f(x):\n\t =1#'\"\\\0lambdaimportexcept\ud800é", max_size=300))
def test_any_text_gets_a_score_and_the_same_again(source: str) -> None:
    score, findings = judge(source)
    assert 0.0 <= score <= 1.0
    assert (score, findings) == judge(source)
