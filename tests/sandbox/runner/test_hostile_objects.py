"""Objects that lie about their class, value or equality pass no test of a number, a text or a container."""

import subprocess
import sys

import pytest

from tests.sandbox.runner.split_process import run

NUMBER = (
    "import math\nassert math.isclose(f(2), 42)",  # before what tells an operand
    "assert f(2) == 42",
    "assert 42 == f(2)",
    "assert abs(f(2) - 42) < 1e-6",
    "assert f(2) in (42, 43)",
    "assert not f(2) != 42",
    "from unittest import TestCase\nTestCase().assertEqual(f(2), 42)",
    "from unittest import TestCase\nTestCase().assertAlmostEqual(f(2), 42)",
    "import pytest\nassert f(2) == pytest.approx(42)",
    "assert {f(2): 1}.get(42) == 1",
    "assert sorted([f(2)]) == [42]",
    "assert {'a': f(2)} == {'a': 42}",
    "x = f(2)\nif isinstance(x, float):\n    assert abs(x - 42) < 1e-6\nelse:\n    assert x == 42",
    "match f(2):\n    case 42: pass\n    case _: assert False",
)
LIAR = """
class Liar:
    def __init__(self, *_, **__): pass
    def _yes(self, *_, **__): return True
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = _yes
    def __ne__(self, other): return False
    def _zero(self, *_): return 0
    __sub__ = __rsub__ = __abs__ = __round__ = __len__ = _zero
    def __hash__(self): return hash(42)
    def __getattr__(self, name): return self
    def __call__(self, *_, **__): return self
"""
LEARNER = """
class Learner{base}:
    seen = []
    def __eq__(self, other):
        Learner.seen.append(other)
        return True
    def __ne__(self, other): return not self == other
    def _learn(self, other):
        Learner.seen.append(other)
        return self
    __sub__ = __rsub__ = __add__ = __radd__ = __xor__ = __contains__ = __getitem__ = __mod__ = _learn
    def __hash__(self): return hash(42)
    def __float__(self): return float(Learner.seen[-1]) if Learner.seen else 0.0
    __abs__ = __float__
"""
ATTACKS = {
    "a class that says it is int": LIAR + "class A(Liar):\n    __class__ = int\ndef f(x): return A()",
    "a class that says it is a float by a property": LIAR
    + "class A(Liar):\n    @property\n    def __class__(self): return float\ndef f(x): return A()",
    "an int whose value is another": LIAR + "class A(Liar, int):\n    def __new__(cls): return int.__new__(cls, 7)\ndef f(x): return A()",
    "a float that tells another value": "class A(float):\n    def __eq__(self, o): return True\n    def __float__(self): return 7.0\n"
    "    def __hash__(self): return hash(42)\n    def __sub__(self, o): return 0.0\ndef f(x): return A(7)",
    "a text that equals all": LIAR + "class A(Liar, str):\n    def __new__(cls): return str.__new__(cls, 'x')\ndef f(x): return A()",
    "a tuple that equals all": LIAR + "class A(Liar, tuple):\n    def __new__(cls): return tuple.__new__(cls, (7,))\ndef f(x): return A()",
    "a list that equals all": LIAR + "class A(Liar, list): pass\ndef f(x): return A()",
    "a dictionary that equals all": LIAR + "class A(Liar, dict): pass\ndef f(x): return A()",
    "a set that equals all": LIAR + "class A(Liar, set): pass\ndef f(x): return A()",
    "a named tuple that equals all": "from collections import namedtuple\nclass A(namedtuple('A', 'x')):\n"
    "    def __eq__(self, o): return True\n    def __ne__(self, o): return False\n    __hash__ = lambda s: hash(42)\ndef f(x): return A(7)",
    "a tuple with fields": "class A(tuple):\n    _fields = ('__eq__', 'real', '__float__')\n    __eq__ = lambda s, o: True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A((7, 8, 9))",
    "a number of an enumeration that equals all": "from enum import IntEnum\nclass A(IntEnum):\n    X = 7\n    def __eq__(self, o): return True\n"
    "    __hash__ = lambda s: hash(42)\ndef f(x): return A.X",
    "a member that equals all": "from enum import Enum\nclass A(Enum):\n    X = 7\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A.X",
    "a class whose metaclass equals all": "class M(type):\n    def __eq__(c, o): return True\n    def __hash__(c): return hash(42)\n    def __sub__(c, o): return 0\n"
    "    def __instancecheck__(c, o): return True\nclass A(metaclass=M): pass\ndef f(x): return A",
    "a metaclass with an order of its own": "class M(type):\n    def mro(c): return [c, int.__class__, object] if 0 else [c, object]\n    __bases__ = (int,)\n    __mro__ = (int, object)\n"
    "class A(metaclass=M):\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A()",
    "an object that learns by comparing": LEARNER.format(base="") + "def f(x): return Learner()",
    "an integer that learns by comparing": LEARNER.format(base="(int)") + "def f(x): return Learner.seen[-1] if Learner.seen else Learner(7)",
    "a float that learns by subtracting": LEARNER.format(base="(float)") + "def f(x): return Learner(7)",
    "a list that learns by comparing": LEARNER.format(base="(list)") + "def f(x): return Learner()",
    "a text that learns by comparing": LEARNER.format(base="(str)") + "def f(x): return Learner('7')",
    "a dataclass that equals all": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 7\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A()",
    "an exception that equals all": "class A(Exception):\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A()",
    "a function that equals all": "class A:\n    def __call__(self): return 42\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A()",
    "a module": "import types\nclass A(types.ModuleType):\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A('a')",
    "an iterator of everything": "class A:\n    n = 0\n    def __iter__(self): return self\n    def __next__(self):\n        self.n += 1\n        return self.n\n    def __eq__(self, o): return True\n"
    "    __hash__ = lambda s: hash(42)\ndef f(x): return A()",
    "a proxy of a number": "class A:\n    def __getattribute__(self, n): return getattr(7, n)\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A()",
    "a partial": "import functools\nclass A(functools.partial):\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A(int)",
    "a mapping of collections.abc": "import collections.abc\nclass A(collections.abc.Mapping):\n    def __getitem__(self, k): return 42\n    def __iter__(self): return iter([])\n    def __len__(self): return 0\n"
    "    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A()",
    "a rational of numbers": "import numbers\nclass A(numbers.Rational):\n    numerator = 7\n    denominator = 1\n    __abstractmethods__ = frozenset()\n    def __eq__(self, o): return True\n"
    "    __hash__ = lambda s: hash(42)\nfor n in list(numbers.Rational.__abstractmethods__):\n    if n not in vars(A): setattr(A, n, lambda self, *o: 0)\nA.__abstractmethods__ = frozenset()\ndef f(x): return A()",
    "a decimal that equals all": "from decimal import Decimal\nclass A(Decimal):\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\n    def __sub__(self, o): return 0\ndef f(x): return A(7)",
    "a fraction that equals all": "from fractions import Fraction\nclass A(Fraction):\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\n    def __sub__(self, o): return 0\ndef f(x): return A(7)",
    "a path that equals all": "import pathlib\nclass A(type(pathlib.Path())):\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A('a')",
    "a default that is whatever is asked": "from collections import defaultdict\nclass A(defaultdict):\n    def __missing__(self, k): return k\n    def __eq__(self, o): return True\ndef f(x): return A()",
    "a weak proxy": "import weakref\nclass B(int):\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\nb = B(7)\ndef f(x): return weakref.proxy(b)",
    "a coroutine": "async def f(x): return 42",
    "an array that claims its memory": "class A:\n    __array_interface__ = {'shape': (), 'typestr': '<i8', 'data': (1, True), 'version': 3}\n    __array__ = lambda s, *a: 42\n"
    "    __eq__ = lambda s, o: True\n    __hash__ = lambda s: hash(42)\ndef f(x): return A()",
    "a reduction to another value": "class A:\n    def __reduce__(self): return (int, (42,))\n    __reduce_ex__ = lambda s, p: (int, (42,))\n    __eq__ = lambda s, o: True\n    __hash__ = lambda s: hash(42)\n"
    "def f(x): return A()",
    "a class that makes what is asked": "class A(int):\n    def __new__(cls, *a): return int.__new__(cls, 7)\n    def __eq__(self, o): return True\n    __hash__ = lambda s: hash(42)\nf = A",
}  # fmt: skip


@pytest.mark.boxes(beyond=8)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_object_that_lies_is_no_number(name: str) -> None:
    said = run(ATTACKS[name], style="asserts", cases=NUMBER)
    assert said.complete
    assert [case for case, passed in zip(NUMBER, said.passed, strict=True) if passed] == []


TELLING = (
    "assert abs(f(2) - 42) < 1e-6",
    "d = f(2) - 42\nassert d == 0 or -1e-6 < d < 1e-6 or d in (0, 0.0)",
    "assert {f(2) - 42: 1}[0]",
    "assert str(f(2) - 42) == f'{f(2) - 42}' == '0'",
    "assert not (f(2) - 42)",
    "assert (f(2) + 42).x == (f(2) ^ 42).__doc__ == 42",
    "from unittest import TestCase\nTestCase().assertAlmostEqual(f(2), 42)",
    "assert 42 in C or isinstance(f(2) - 42, float)",
    "import copy\nassert copy.copy(f(2) - 42) == copy.deepcopy(f(2) - 42) == 0",
)
"""They compute with what is expected, or look for it."""
REMEMBERING = """
class M(type):
    def __contains__(cls, item):
        seen.append(item)
        return True
    def __iter__(cls): return iter([7])
class C(metaclass=M):
    def __float__(self): return float(seen[-1] if seen else 0)
    __doc__ = property(lambda self: seen[-1] if seen else '')
    __hash__ = lambda self: 0
    def _told(self, other):
        seen.append(other)
        return self
    __eq__ = __sub__ = __rsub__ = __add__ = __radd__ = __xor__ = _told
seen = []
def f(x): return seen[-1] if seen else C()
"""


@pytest.mark.parametrize("telling", TELLING)
def test_no_operand_is_told_for_nothing(telling: str) -> None:
    cases = (telling, "import math\nassert math.isclose(f(2), 42)", "assert f(2) == 42", "assert not seen")
    said = run(REMEMBERING, style="asserts", cases=cases)
    assert said.complete
    assert said.passed == [False, False, False, True], said.outcomes


OTHERS = {
    "what the program pickled runs here": (
        "class A:\n    def __reduce__(self): return (eval, ('__import__(\"builtins\").__dict__.update(AssertionError=ValueError) or 42',))\n"
        "import pickle\ndef f(x): return pickle.dumps(A())",
        "import pickle\nx = pickle.loads(f(2))\nassert x == 43",
    ),
    "its own pickle says what is expected": (
        "import pickle\npickle.loads = lambda *a, **k: type('A', (), {'__eq__': lambda s, o: True})()\ndef f(x): return x",
        "import pickle\nassert pickle.loads(pickle.dumps(f(2))) == 42",
    ),
    "its own dataclasses": (
        "import dataclasses\nclass A: pass\ndataclasses.asdict = lambda x: type('D', (dict,), {'__eq__': lambda s, o: True})()\ndef f(x): return A()",
        "import dataclasses\nassert dataclasses.asdict(f(2)) == {'x': 42}",
    ),
    "a class of the tests' own module": (
        "A = type('A', (), {'__module__': 'tests', '__eq__': lambda s, o: True})\ndef f(x): return A()",
        "assert f(2) == 42",
    ),
    "a class of unittest": (
        "import unittest\nclass TestExtra(unittest.TestCase):\n    def test_a(self): pass\ndef f(x): return TestExtra",
        "from unittest import TestCase\nassert issubclass(f(2), TestCase)",
    ),
    "a context that swallows": (
        "class f:\n    def __init__(self, x): pass\n    def __enter__(self): return self\n    def __exit__(self, *a): return True",
        "with f(2) as c:\n    assert c == 42",
    ),
    "an asynchronous context that swallows": (
        "class f:\n    def __init__(self, x): pass\n    async def __aenter__(self): return self\n    async def __aexit__(self, *a): return True",
        "import asyncio\nasync def main():\n    async with f(2) as c:\n        assert c == 42\nasyncio.run(main())",
    ),
    "an iterator that ends the comparison": (
        "def f(x):\n    return\n    yield",
        "got = f(2)\nassert [got.send(None) for _ in range(1)] == [42]",
    ),
    "a task that says it is done": (
        "import asyncio\nasyncio.wait = lambda *a, **k: asyncio.sleep(0)\nasync def f(x): return type('A', (), {'__eq__': lambda s, o: True})()",
        "import asyncio\nassert asyncio.run(f(2)) == 42",
    ),
    "a plain value that changes": (
        "class A(list):\n    def __iter__(self): return iter([42])\n    def __len__(self): return 1\n    def __eq__(self, o): return True\ndef f(x): return A()",
        "assert f(2) == [42]",
    ),
    "a class that is every class": (
        "class M(type):\n    def __subclasscheck__(c, o): return True\n    def __instancecheck__(c, o): return True\nclass f(metaclass=M):\n    def __init__(self, x): pass",
        "assert f(2) == 42 or isinstance(3, f)",
    ),
    "a note in the tests' exceptions": (
        "def f(x): raise AssertionError('x')",
        "try:\n    f(2)\nexcept ValueError:\n    pass",
    ),
    "a function that only seems to compute": (
        "import math\nmath.sqrt = lambda x: 42\ndef f(x): return math.sqrt",
        "import math\nassert f(2) is math.sqrt",
    ),
    "an item of the tests' iterator": (
        "def f(it): return type('A', (), {'__eq__': lambda s, o: True})()",
        "assert f(iter([42])) == 42",
    ),
}


@pytest.mark.boxes(beyond=4)
@pytest.mark.parametrize("name", OTHERS)
def test_what_is_lent_or_told_decides_nothing(name: str) -> None:
    source, case = OTHERS[name]
    said = run(source, style="asserts", cases=[case])
    assert said.complete
    assert said.passed == [False], said.outcomes


DESCRIBED = """
import json, os, struct
def frame(message):
    text = json.dumps(message).encode()
    return struct.pack('!I', len(text)) + text
frames = b''.join(frame([word, content, None, None]) for word, content in {frames!r})
for name in os.listdir('/proc/self/fd'):
    if int(name) > 2:
        try: os.write(int(name), frames)
        except OSError: pass
"""
DESCRIPTIONS = {
    "its own parent": ["f", [], {}, "", [2], [], False],
    "a base that it has not": ["f", [], {}, "int", [], [], False],
    "a class of this process": ["f", [], {}, "", [], [["sandbox.runner.testing.outcomes", "Outcomes"]], True],
    "type": ["f", [], {}, "", [], [["builtins", "type"]], True],
    "special methods of ours": ["f", ["__init_subclass__"], {"__getattribute__": True, "__class__": True}, "", [], [], False],
    "no name": [None, [], {}, "", [], [], False],
    "nothing": [],
    "another layout": ["f", [], {}, "list", [], [["threading", "Thread"], ["functools", "partial"], ["enum", "Enum"]], False],
    "two bases of data": ["f", [], {}, "tuple", [], [["collections", "OrderedDict"], ["collections", "Counter"]], False],
}  # fmt: skip


@pytest.mark.boxes(beyond=4)
@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_class_may_tell_anything_of_itself(name: str) -> None:
    frames = [("value", {"object": [1, 2]}), ("value", DESCRIPTIONS[name]), *[("value", {"object": [1, 2]})] * 8]
    said = run(DESCRIBED.format(frames=frames), style="asserts", cases=["x = f\nassert x == 42", "assert f == 42"])
    assert said.complete
    assert said.passed == [False, False], said.outcomes


def test_no_code_of_the_library_runs_for_a_class_that_claims_to_be_derived_from_it() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.sandbox.runner.mixed_classes"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 500
