"""Programs that want to pass without computing anything; none harms more than its own process."""

import json
import struct
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sandbox.runner.testing.remote_program import Gone, RemoteProgram
from sandbox.runner.testing.rpc import RpcChannel
from tests.sandbox.runner.split_process import run

CASES = ["assert add(17, 25) == 42", "assert add(1000003, -4) == 999999", "assert abs(add(0, 731) - 731) < 1e-6"]
CHECK = "def check(candidate):\n    for a in range(-5, 6):\n        for b in range(1, 7):\n            assert candidate(a, b) == a + b\n"
UNITTEST = """
import unittest
from solution import *
class T(unittest.TestCase):
    def test_a(self): self.assertEqual(add(17, 25), 42)
    def test_b(self): self.assertAlmostEqual(add(0, 731), 731)
    def test_c(self): self.assertIn(add(1, 2), [3])
    def test_d(self): self.assertTrue(add(1, 2) == 3)
"""
PYTEST = """
from math import isclose
import pytest
from solution import *
def test_a(): assert add(17, 25) == 42
def test_b(): assert add(0, 731) == pytest.approx(731)
def test_c(): assert isclose(add(1, 2), 3)
def test_d(): assert abs(add(1, 2) - 3) < 1e-9
@pytest.mark.parametrize('x', [731])
def test_e(x): assert add(0, x) == x
"""

LIAR = """
class Liar:
    def __init__(self, *a): pass
    def _yes(self, *a, **k): return True
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = __instancecheck__ = _yes
    def _zero(self, *a): return 0
    __sub__ = __rsub__ = __abs__ = __round__ = __int__ = __index__ = __len__ = __float__ = _zero
    def __hash__(self): return 0
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
    def __iter__(self): return iter([])
    def __exit__(self, *a): return True
"""

ATTACKS = {
    "always equal": LIAR + "def add(a, b): return Liar()",
    "always equal class": LIAR + "class Meta(type):\n    __eq__ = lambda *a: True\n    __hash__ = type.__hash__\n"
    "class C(metaclass=Meta): pass\ndef add(a, b): return C",
    "integer subclass": LIAR
    + "class I(Liar, int):\n    def __new__(cls, *a): return int.__new__(cls, 0)\ndef add(a, b): return I()",
    "float subclass": LIAR
    + "class F(Liar, float):\n    def __new__(cls, *a): return float.__new__(cls, 0)\ndef add(a, b): return F()",
    "text subclass": LIAR
    + "class S(Liar, str):\n    def __new__(cls, *a): return str.__new__(cls, '')\ndef add(a, b): return S()",
    "list subclass": LIAR + "class L(Liar, list): pass\ndef add(a, b): return L()",
    "claimed class": "class C:\n    @property\n    def __class__(self): return int\n    __eq__ = lambda *a: True\ndef add(a, b): return C()",
    "liar as the module's function": LIAR + "add = Liar()",
    "generator of everything": "def add(a, b):\n    n = 0\n    while True:\n        yield n\n        n += 1",
    "not a number": "def add(a, b): return float('nan')",
    "array": "def add(a, b):\n    import numpy\n    return numpy.array([])",
    "class of an exception": "class add(Exception): __eq__ = lambda *a: True",
    "patched builtins": "import builtins\nbuiltins.AssertionError = type('A', (Exception,), {})\nbuiltins.abs = lambda x: 0\n"
    "builtins.isinstance = lambda *a: True\nbuiltins.all = lambda x: True\ndef add(a, b): return 0",
    "patched tools": "import json, unittest, os\njson.dumps = lambda *a, **k: '[\"value\", 42, null, null]'\n"
    "unittest.TestCase.assertEqual = lambda *a: None\ndef add(a, b): return 0",
    "shadowed names": "def abs(x): return 0\ndef isclose(*a): return True\ndef all(x): return True\npytest = None\n"
    "unittest = None\nT = None\ndef add(a, b): return 0",
    "assertion error": "def add(a, b): raise AssertionError",
    "own assertion error": "class AssertionError(Exception): pass\ndef add(a, b): raise AssertionError()",
    "stop iteration": "def add(a, b): raise StopIteration",
    "exit": "def add(a, b): raise SystemExit(0)",
    "interrupt": "def add(a, b): raise KeyboardInterrupt",
    "skip of unittest": "import unittest\ndef add(a, b): raise unittest.SkipTest('no')",
    "skip of pytest": "def add(a, b):\n    import pytest\n    pytest.skip('no')",
    "exit of pytest": "def add(a, b):\n    import pytest\n    pytest.exit('done', returncode=0)",
    "xfail of pytest": "def add(a, b):\n    import pytest\n    pytest.xfail('no')",
    "end of the process": "import os\ndef add(a, b): os._exit(0)",
    "end when loaded": "import os\nos._exit(0)",
    "at exit": "import atexit, os\natexit.register(lambda: os._exit(0))\ndef add(a, b): return 0",
    "frames": "import sys\ndef add(a, b):\n    f = sys._getframe()\n    while f:\n        for k, v in list(f.f_locals.items()):\n"
    "            if k in ('expected', 'result'): return v\n        f = f.f_back\n    return 0",
    "printed": "def add(a, b): print('[\"assert0\", true, \"\"]', '1 passed', 'OK')",
    "recursion": "def add(a, b): return add(a, b)",
    "deep value": "def add(a, b):\n    x = []\n    for _ in range(100000): x = [x]\n    return x",
    "value in itself": "def add(a, b):\n    x = []\n    x.append(x)\n    return x",
    "huge value": "def add(a, b): return 'x' * (40 << 20)",
    "huge integer": "def add(a, b): return 1 << (200 << 20)",
    "huge text of an exception": "def add(a, b): raise ValueError('x' * (40 << 20))",
    "exception without text": "class E(Exception):\n    def __str__(self): raise SystemExit\n    args = property(lambda s: 1 / 0)\n"
    "def add(a, b): raise E",
    "huge output": "def add(a, b): print('x' * (40 << 20)); return 0",
    "broken standard output": "import sys\nsys.stdout.close()\nsys.stdout = None\ndef add(a, b): print('x'); return 0",
}


@pytest.mark.boxes(beyond=6)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_passes_no_assert(name: str) -> None:
    said = run(ATTACKS[name], style="asserts", cases=CASES)
    assert said.complete
    assert said.passed == [False] * len(CASES), said.outcomes


@pytest.mark.boxes(beyond=6)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_passes_no_check(name: str) -> None:
    said = run(ATTACKS[name], style="check", setup=CHECK, entry_point="add")
    assert said.complete
    assert said.passed == [False], said.outcomes


@pytest.mark.boxes(beyond=6)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_passes_no_unittest(name: str) -> None:
    said = run(ATTACKS[name], style="unittest", files={"test_add.py": UNITTEST})
    assert said.complete
    assert said.outcomes
    assert not any(said.passed), said.outcomes


@pytest.mark.boxes
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_passes_no_pytest(name: str) -> None:
    said = run(ATTACKS[name], style="pytest", files={"test_add.py": PYTEST})
    assert said.complete
    assert said.outcomes
    assert not any(said.passed), said.outcomes


# Objects may judge where the task allows it, but never against plain data.


@pytest.mark.parametrize("name", ["always equal", "always equal class", "list subclass", "claimed class", "array"])
def test_an_object_never_equals_plain_data_even_where_objects_may_be_compared(name: str) -> None:
    said = run(
        ATTACKS[name],
        style="asserts",
        cases=[
            "assert add(1, 2) == 3",
            "assert 3 == add(1, 2)",
            "assert add(1, 2) in (3, 4)",
            "assert [add(1, 2)] == [3]",
        ],
        objects=True,
    )
    assert said.passed == [False] * 4


def test_truth_is_true_and_nothing_that_looks_like_it() -> None:
    source = "class C:\n    def __eq__(self, o): return 1\n    def __ne__(self, o): return 'yes'\n    def __lt__(self, o): return [1]\ndef f(): return C()"
    said = run(
        source, style="asserts", cases=["assert f() == f()", "assert f() != f()", "assert f() < f()"], objects=True
    )
    assert said.passed == [False] * 3


def test_an_object_cannot_swallow_an_assertion() -> None:
    source = (
        "class C:\n    def __enter__(self): return self\n    def __exit__(self, *a): return True\ndef f(): return C()"
    )
    source += "\ndef g(): raise ValueError"
    check = "def check():\n    assert 1 == 2"
    cases = [
        "with f():\n    assert 1 == 2",
        "with f():\n    raise ValueError",
        "with f():\n    g()\n    assert 1 == 2",
        "with f():\n    g()\n    check()",
        "with f():\n    if g() != 1:\n        raise ValueError",
    ]
    assert run(source, style="asserts", cases=cases, setup=check).passed == [False, True, False, False, False]


def test_a_program_that_ends_is_not_the_exception_a_test_expects() -> None:
    source = "import os\ndef f(): os._exit(0)"
    cases = [
        "try:\n    f()\n    assert False\nexcept Exception:\n    pass",
        "try:\n    f()\nexcept BaseException:\n    pass",
        "assert True",
    ]
    said = run(source, style="asserts", cases=cases)
    assert said.passed == [False] * 3
    assert said.complete


def test_an_iterator_goes_on_after_its_end_as_in_one_process() -> None:
    source = "class I:\n    n = 0\n    def __iter__(self): return self\n    def __next__(self):\n        self.n += 1\n        if self.n == 1: raise StopIteration\n        return 5\ndef f(): return I()"
    said = run(
        source, style="asserts", cases=["i = f()\nassert list(i) == []\nassert next(i) == 5", "assert list(f()) == [5]"]
    )
    assert said.passed == [True, False]


# Frames of its own making.

FRAMES = """
import json, os, struct
def frame(message):
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack('!I', len(text)) + text
def tell(*frames):
    for name in os.listdir('/proc/self/fd'):
        if int(name) > 2:
            try: os.write(int(name), b''.join(frames))
            except OSError: pass
"""
NONSENSE: dict[str, str] = {
    "a length": "struct.pack('!I', 2**31) + b'x' * 1000",
    "half a frame": "struct.pack('!I', 20) + b'[1,'",
    "no JSON": "frame(b'\\xff\\xfe{')",
    "no list": "frame({'value': 42})",
    "an empty list": "frame([])",
    "another word": "frame(['pass', 42, None, None])",
    "too short": "frame(['value'])",
    "an unknown tag": "frame(['value', {'pickle': 'gASVAAAA'}, None, None])",
    "an unknown kind": "frame(['value', {'object': [1, 'judge']}, None, None])",
    "a negative number": "frame(['value', {'object': [-1, 'x', 'other']}, None, None])",
    "an argument that was not there": "frame(['value', {'argument': 7}, None, None])",
    "changed nonsense": "frame(['value', 1, [[99, [1]]], None])",
    "changed text": "frame(['value', 1, 'abc', None])",
    "printed nonsense": "frame(['value', 1, None, [1]])",
    "a call back of nothing": "frame(['call back', 0, [], {}, None])",
    "a call back by name": "frame(['call back', 'exec', ['1'], {}, None])",
    "a builtin function": "frame(['value', {'builtin': 'eval'}, None, None])",
    "no builtin": "frame(['value', {'builtin': '__import__'}, None, None])",
    "an error of no class": "frame(['error', {'class': {'builtin': 'int'}, 'arguments': [], 'text': '', 'number': 1}, None, None])",
    "an error nobody raised": "frame(['error', {'raised': 5}, None, None])",
    "a class of a class of ...": 'frame(b\'["error",{"class":\' + b\'{"exception class":[1,"E","m",[\' * 400 + b\']]}\' * 400'
    ' + b\',"arguments":[],"text":"","number":1},null,null]\')',
    "a bomb": "frame(b'[\"value\",[' + b'[],' * 3000000 + b'0],null,null]')",
    "depth": "frame(b'[' * 100000)",
}


@pytest.mark.boxes(beyond=10)
@pytest.mark.parametrize("name", NONSENSE)
@pytest.mark.parametrize("moment", ["loaded", "called"])
def test_nonsense_on_the_wire_passes_nothing_and_ends_nothing(name: str, moment: str) -> None:
    attack = f"tell(*[{NONSENSE[name]}] * 10)"
    source = FRAMES + (
        f"{attack}\ndef add(a, b): return 0" if moment == "loaded" else f"def add(a, b): {attack}; return 0"
    )
    said = run(source, style="asserts", cases=CASES)
    assert said.complete
    assert said.passed == [False] * len(CASES), said.outcomes


def test_a_forged_answer_is_an_answer_and_no_more() -> None:
    source = (
        FRAMES + "tell(*[frame(['value', {'object': [1, 2]}, None, None]),"
        " frame(['value', ['f', ['__call__'], {'__call__': True}, '', [], [], False], None, None]),"
        " frame(['value', 42, None, None])])"
    )
    said = run(source, style="asserts", cases=["assert add(17, 25) == 42", "assert add(1, 2) == 3"])
    assert said.passed == [True, False]


# Whatever comes, the tester's end of the line raises one exception or has a value.

TAGS = [
    "object",
    "class",
    "value",
    "kept",
    "hint",
    "path",
    "defaultdict",
    "exception class",
    "exception",
    "builtin",
    "callable",
    "argument",
    "dict",
    "tuple",
    "set",
    "int",
    "named",
]
WORDS = st.sampled_from(
    ["value", "error", "call back", "raised", "class", "arguments", "text", "number", "int", "ValueError"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | WORDS | st.sampled_from(["__eq__", "list", "int"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(TAGS) | WORDS, inner, max_size=2)
        | st.fixed_dictionaries({"class": inner, "arguments": inner, "text": inner, "number": inner})
    ),
    max_leaves=12,
)
REPLY = st.tuples(st.sampled_from(["value", "error", "call back"]), JSON, JSON, JSON).map(list) | JSON


class Scripted(RpcChannel):
    """A channel on which a script is all that ever comes."""

    def __init__(self, script: bytes) -> None:
        super().__init__(-1, -1)
        self._received += script

    def send_text(self, text: bytes) -> None:
        pass


@pytest.mark.boxes
@settings(max_examples=400)
@given(st.lists(REPLY, max_size=3))
@example([["value", {"argument": None}, None, None]])
@example([["value", {"argument": 7}, None, None]])
def test_any_messages_are_a_value_an_exception_or_the_end(replies: list[object]) -> None:
    texts = [json.dumps(reply).encode() for reply in replies]
    program = RemoteProgram(Scripted(b"".join(struct.pack("!I", len(text)) + text for text in texts)))
    called: list[object] = []
    function: Callable[..., object] = lambda *values, **named: called.append((values, named))  # noqa: E731
    error = _error_of(lambda: program.call(1, ([1], function), {}))
    assert program.gone if isinstance(error, Gone) else type(error).__module__ in MODULES


MODULES = ("builtins", "sandbox.runner.testing.remote_exceptions")


def _error_of(call: Callable[[], object]) -> BaseException | None:
    try:
        call()
    except BaseException as error:  # noqa: BLE001 - which it is is what is tested
        return error
    return None
