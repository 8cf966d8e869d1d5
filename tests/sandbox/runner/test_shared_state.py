"""Tests that count on the program being in their own process: what fails for that is not a fault of the program's."""

from collections.abc import Sequence

from sandbox.runner.testing.outcomes import UNTESTABLE
from tests.sandbox.runner.split_process import run

_PROGRAM = """
import logging, os, random, sys, time, warnings
def ask(): return int(input()) * 2
def say(): print("hi")
def wait():
    time.sleep(0)
    return 2
def home(): return os.environ.get("A_NAME")
def read(path):
    with open(path) as file: return file.read()
def arguments(): return sys.argv
async def later(): return 1
def log(): logging.getLogger("x").warning("hey")
def warn(): warnings.warn("old")
def total(): return sum(map(int, sys.stdin.read().split()))
def roll(): return random.randint(1, 6)
def named(repository): return repository.find(3)["name"]
def call(function): return function(3)
def one(): return 1
def die(): os._exit(0)
class Box:
    def inside(self): return 1
    def get(self): return self.inside() + 1
"""
_UNITTEST = """
import builtins, datetime, io, os, sys, tempfile, unittest
from unittest.mock import MagicMock, mock_open, patch
import solution
from solution import *
class Own:
    def value(self): return 1
class Test(unittest.TestCase):
"""
_PYTEST = "import io, os, pytest, random, sys\nimport solution\nfrom solution import *\n"


def _unittest(*bodies: str) -> list[tuple[bool, str]]:
    """What became of each, and why; they are methods of one class."""
    lines = "\n".join(_numbered(bodies)).splitlines()
    said = run(_PROGRAM, style="unittest", files={"test_it.py": _UNITTEST + "".join(f"    {line}\n" for line in lines)})
    assert said.complete
    assert len(said.outcomes) == len(bodies)
    return [(passed, message) for _, passed, message in said.outcomes]


def _pytest(*sources: str) -> list[tuple[bool, str]]:
    """The same for functions."""
    said = run(_PROGRAM, style="pytest", files={"test_it.py": _PYTEST + "\n".join(_numbered(sources))})
    assert said.complete
    assert len(said.outcomes) == len(sources)
    return [(passed, message) for _, passed, message in said.outcomes]


def _numbered(tests: Sequence[str]) -> list[str]:
    return [test.replace("def test(", f"def test_{at:02}(") for at, test in enumerate(tests)]


def test_what_unittest_does_to_its_own_process() -> None:
    tests = [
        "@patch('builtins.input', return_value='4')\ndef test(self, _): assert ask() == 8",
        "@patch('builtins.print')\ndef test(self, said):\n    say()\n    said.assert_called_once_with('hi')",
        "def test(self):\n    with patch('time.sleep') as slept: wait()\n    slept.assert_called_once()",
        "@patch('builtins.open', mock_open(read_data='abc'))\ndef test(self): assert read('x') == 'abc'",
        "def test(self):\n    mock = MagicMock()\n    mock.find.return_value = {'name': 'a'}\n    assert named(mock) == 'a'",
        "def test(self):\n    with self.assertLogs('x'): log()",
        "def test(self):\n    with self.assertWarns(UserWarning): warn()",
        "def test(self):\n    sys.stdin = io.StringIO('1 2')\n    assert total() == 3",
        "def test(self):\n    kept, builtins.input = builtins.input, lambda: '4'\n"
        "    try: assert ask() == 8\n    finally: builtins.input = kept",
    ]
    for test, (passed, message) in zip(tests, _unittest(*tests), strict=True):
        assert not passed, test
        assert message.startswith(UNTESTABLE), (test, message)


def test_what_pytest_does_to_its_own_process() -> None:
    tests = [
        "def test(monkeypatch):\n    monkeypatch.setattr('builtins.input', lambda: '4')\n    assert ask() == 8",
        "def test(monkeypatch):\n    monkeypatch.setattr(random, 'randint', lambda a, b: 9)\n    assert roll() == 9",
        "def test(monkeypatch):\n    monkeypatch.setattr('sys.stdin', io.StringIO('1 2'))\n    assert total() == 3",
        "def test(caplog):\n    log()\n    assert 'hey' in caplog.text",
        "def test():\n    with pytest.warns(UserWarning): warn()",
    ]
    for test, (passed, message) in zip(tests, _pytest(*tests), strict=True):
        assert not passed, test
        assert message.startswith(UNTESTABLE), (test, message)


def test_what_is_shared_passes() -> None:
    tests = [
        "@patch.dict('os.environ', {'A_NAME': '1'})\ndef test(self): assert home() == '1'",
        "def test(self):\n    with patch.dict(os.environ, A_NAME='2'): assert home() == '2'\n    assert home() is None",
        "def test(self):\n    with patch.object(sys, 'argv', ['a', 'b']): assert arguments() == ['a', 'b']",
    ]
    assert set(_unittest(*tests)) == {(True, "")}
    tests = [
        "def test(monkeypatch):\n    monkeypatch.setenv('A_NAME', '1')\n    assert home() == '1'",
        "def test(monkeypatch):\n    monkeypatch.setitem(os.environ, 'A_NAME', '1')\n    assert home() == '1'",
        "async def test():\n    assert await later() == 1",
    ]
    assert set(_pytest(*tests)) == {(True, "")}


def test_what_works_all_the_same_passes() -> None:
    tests = [
        "@patch('time.sleep')\ndef test(self, _): assert wait() == 2",
        "@patch('solution.random.randint', return_value=9)\ndef test(self, _): assert roll() == 9",
        "@patch('sys.stdout', new_callable=io.StringIO)\ndef test(self, out):\n    say()\n"
        "    assert out.getvalue() == 'hi\\n'",
        "def test(self):\n    mock = MagicMock(return_value=5)\n    assert call(mock) == 5\n    mock.assert_called_with(3)",
    ]
    assert set(_unittest(*tests)) == {(True, "")}


def test_other_failures_are_the_programs() -> None:
    tests = [
        "def test(self): assert one() == 2",
        "@patch('solution.random.randint', return_value=9)\ndef test(self, _): assert roll() == 8",
        "@patch('solution.one', return_value=9)\ndef test(self, _): assert one() == 8",
        "@patch('sys.stdout', new_callable=io.StringIO)\ndef test(self, out):\n    say()\n    assert out.getvalue() == 'x'",
        "def test(self):\n    with patch.object(Own, 'value', return_value=3): assert one() == Own().value()",
        "def test(self):\n    with patch.dict({}, a=1): assert one() == 2",
        "def test(self):\n    mock = MagicMock(return_value=5)\n    call(mock)\n    mock.assert_called_with(4)",
        "@patch('builtins.input', return_value='4')\ndef test(self, _): die()",
    ]
    for test, (passed, message) in zip(tests, _unittest(*tests), strict=True):
        assert not passed, test
        assert not message.startswith(UNTESTABLE), (test, message)


def test_other_failures_under_pytest_are_the_programs() -> None:
    tests = [
        "def test(): assert one() == 2",
        "def test(capsys):\n    say()\n    assert capsys.readouterr().out == 'x'",
        "def test(monkeypatch):\n    monkeypatch.setattr(solution, 'one', lambda: 3)\n    assert solution.one() == 2",
        "def test(monkeypatch):\n    monkeypatch.setattr('solution.one', lambda: 3)\n    assert solution.one() == 2",
        "def test():\n    with pytest.raises(ValueError): one()",
    ]
    for test, (passed, message) in zip(tests, _pytest(*tests), strict=True):
        assert not passed, test
        assert not message.startswith(UNTESTABLE), (test, message)


def test_a_test_answers_for_itself_alone() -> None:
    tests = "    @patch('builtins.input', return_value='4')\n    def test_a(self, _): assert ask() == 8\n"
    tests += "    def test_b(self): assert one() == 2\n"
    said = run(_PROGRAM, style="unittest", files={"test_it.py": _UNITTEST + tests})
    assert [message.startswith(UNTESTABLE) for message in said.messages] == [True, False]
