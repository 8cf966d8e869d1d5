"""An exception that tests define in one file with the program is the program's class of that name."""

from tests.sandbox.runner.split_process import run
from tests.tables import table

CLASS = "class NegError(ValueError):\n    pass\n"
ROOT = "def root(x):\n    if x < 0: raise NegError('x')\n    return x ** .5\n"
CAUGHT = "try:\n    root(-1)\n    assert False\nexcept NegError as e:\n    assert str(e) == 'x'\n"
RAISES = "import pytest\nwith pytest.raises(NegError, match='x'):\n    root(-1)\n"


@table(
    ("program", "test", "passed"),
    [
        (ROOT, CLASS + CAUGHT, True),
        (CLASS + ROOT, CLASS + CAUGHT, True),
        (ROOT, CLASS + RAISES, True),
        (CLASS + ROOT, CLASS + RAISES, True),
        (
            "class A(Exception): pass\nclass B(A): pass\ndef root(x): raise B('x')",
            f"class A(Exception): pass\nclass B(A): pass\n{CAUGHT.replace('NegError', 'A')}",
            True,
        ),
        (
            "class NegError(ValueError):\n    def __init__(self, code):\n        super().__init__('x')\n        self.code = code\ndef root(x): raise NegError(3)",
            "class NegError(ValueError):\n    def __init__(self, code):\n        super().__init__('x')\n        self.code = code\n"
            + CAUGHT
            + "    assert e.code == 3",
            True,
        ),
        ("def root(x): raise ValueError('x')", CLASS + CAUGHT, False),
        ("def root(x): return x", CLASS + CAUGHT, False),
        ("class Other(ValueError): pass\ndef root(x): raise Other('x')", CLASS + CAUGHT, False),
        ("class NegError(ValueError): pass\ndef root(x): raise NegError('x')", CLASS + "assert root(-1) == 1", False),
        (
            "class Wrong(Exception): pass\ndef root(x): raise Wrong('x')",
            "class Wrong(AssertionError): pass\n" + CAUGHT.replace("NegError", "Wrong"),
            False,
        ),
    ],
)
def test_an_exception_of_the_tests_is_caught_as_in_one_file(program: str, test: str, *, passed: bool) -> None:
    said = run(program, style="asserts", cases=[test])
    assert said.passed == [passed], said.messages
