"""Objects of the library that tests pass to a program stay with the tests; those it returns are compared by value."""

import pytest

from tests.sandbox.runner.split_process import run

OPERATION = "from enum import Enum\nclass Op(Enum):\n    ADD = 'add'\n    SUB = 'sub'\n"
PASSED = {
    "sentinel": ("return x", "M = object()\nassert f(M) is M", "M = object()\nassert f(M) is not M"),
    "value of a member": (
        "return x.value, x.name",
        "assert f(Op.ADD) == ('add', 'ADD')",
        "assert f(Op.ADD) == ('sub', 'SUB')",
    ),
    "member": (
        "return x is Op.ADD, x == Op['ADD'], isinstance(x, Op), [*Op][0] is x, {Op.ADD: 1}.get(x), Op('add') is x",
        "assert f(Op.ADD) == (True, True, True, True, 1, True)",
        "assert f(Op.SUB) == (True, True, True, True, 1, True)",
    ),
    "returned member": ("return Op.SUB", "assert f(Op.ADD) is Op.SUB", "assert f(Op.ADD) is Op.ADD"),
    "namespace": (
        "x.b = x.a + 1",
        "from types import SimpleNamespace as N\nn = N(a=1)\nf(n)\nassert n.b == 2 and n == N(a=1, b=2)",
        "from types import SimpleNamespace as N\nn = N(a=1)\nf(n)\nassert n.b == 3",
    ),
    "lock": (
        "with x:\n        return x.locked()",
        "import threading\nassert f(threading.Lock()) is True",
        "import threading\nassert f(threading.Lock()) is False",
    ),
    "pattern": (
        "import re\n    return re.sub(x, '-', 'a1'), isinstance(x, re.Pattern), x.fullmatch('1').group()",
        "import re\nassert f(re.compile('[0-9]')) == ('a-', True, '1')",
        "import re\nassert f(re.compile('[a-z0-9]')) == ('a-', True, '1')",
    ),
    "random": (
        "x.seed(1)\n    items = [1, 2, 3]\n    x.shuffle(items)\n    return items, x.randint(1, 100)",
        "import random\nr = random.Random(1)\ni = [1, 2, 3]\nr.shuffle(i)\nassert f(random.Random()) == (i, r.randint(1, 100))",
        "import random\nassert f(random.Random()) == ([], 0)",
    ),
    "queue": (
        "x.put(2)\n    return x.get()",
        "import queue\nq = queue.Queue()\nq.put(1)\nassert f(q) == 1 and q.get() == 2",
        "import queue\nq = queue.Queue()\nq.put(1)\nassert f(q) == 2",
    ),
}
OF_TESTS = """
from abc import ABC, abstractmethod
from collections import namedtuple
from dataclasses import dataclass
from typing import Generic, TypeVar
T = TypeVar("T")
class Shape(ABC):
    @abstractmethod
    def area(self): ...
class Square(Shape):
    def __init__(self, a): self.a = a
    def area(self): return self.a ** 2
class Box(Generic[T]):
    def __init__(self, v): self.v = v
@dataclass
class Stock:
    n: int
    m: int = 0
class Node:
    def __init__(self, v): self.v = v
P = namedtuple("P", "x y", defaults=[7])
"""
STOCK = ("assert f(Stock(1)) == Stock(1, 5)", "assert f(Stock(1)) == Stock(1, 6)")
OWN_CLASSES = {
    "abstract base": (
        "def f(x): return x.area(), isinstance(x, Shape), issubclass(Square, Shape)",
        "assert f(Square(2)) == (4, True, True)",
        "assert f(Square(3)) == (4, True, True)",
    ),
    "generic": (
        "def f(x): return Box[int](x.v + 1)",
        "assert f(Box(1)).v == 2 and type(f(Box(1))) is Box",
        "assert f(Box(1)).v == 1",
    ),
    "method read again": (
        "def f(x, other):\n    areas = [x.area() for _ in range(3)]\n    other.call = x.area\n    return areas, other.call()",
        "o = Node(0)\nassert f(Square(2), o) == ([4, 4, 4], 4) and o.call() == 4",
        "assert f(Square(2), Node(0))[1] == 5",
    ),
    "replace": ("from dataclasses import replace\ndef f(s): return replace(s, m=5)", *STOCK),
    "asdict": ("from dataclasses import asdict\ndef f(s): return Stock(**{**asdict(s), 'm': 5})", *STOCK),
    "fields": (
        "import dataclasses\ndef f(s): return [x.name for x in dataclasses.fields(Stock)], dataclasses.is_dataclass(s)",
        "assert f(Stock(1)) == (['n', 'm'], True)",
        "assert f(Stock(1)) == (['n'], True)",
    ),
    "vars": ("def f(s): return Stock(**{**vars(s), 'm': 5})", *STOCK),
    "__dict__": ("def f(s): return Stock(**{**s.__dict__, 'm': 5})", *STOCK),
    "positions": ("def f(s):\n    match s:\n        case Stock(n, m): return Stock(n, m + 5)", *STOCK),
    "named tuple": (
        "def f(p): return P(p.y), type(p)(1, 2), p._replace(x=9)",
        "assert f(P(1)) == (P(7, 7), P(1, 2), P(9, 7))",
        "assert f(P(1)) == (P(7, 7), P(1, 2), P(1, 7))",
    ),
    "operator of the program": (
        "class Node:\n    def __init__(self, v): self.v = v\n"
        "Node.__lt__ = lambda a, b: a.v < b.v\ndef f(x): return min(x).v",
        "assert f([Node(3), Node(2)]) == 2",
        "assert f([Node(3), Node(2)]) == 3",
    ),
}
RETURNED = {
    "slice": ("slice(1, 2)", "slice(1, 2)", "slice(1, 3)"),
    "namespace": (
        "__import__('types').SimpleNamespace(a=1)",
        "types.SimpleNamespace(a=1)",
        "types.SimpleNamespace(a=2)",
    ),
    "namespace beside its items": ("__import__('types').SimpleNamespace()", "types.SimpleNamespace()", "{}"),
    "read only": ("__import__('types').MappingProxyType({'a': 1})", "types.MappingProxyType({'a': 1})", "{'a': 2}"),
    "user dictionary": (
        "__import__('collections').UserDict(a=1)",
        "collections.UserDict(a=1)",
        "collections.UserDict()",
    ),
    "user list": ("__import__('collections').UserList([1])", "collections.UserList([1])", "[2]"),
    "address": (
        "__import__('ipaddress').ip_address('::1')",
        "ipaddress.ip_address('::1')",
        "ipaddress.ip_address('::2')",
    ),
    "network": (
        "__import__('ipaddress').ip_network('10.0.0.0/8')",
        "ipaddress.ip_network('10.0.0.0/8')",
        "ipaddress.ip_network('10.0.0.0/9')",
    ),
}


@pytest.mark.parametrize("name", PASSED)
def test_objects_of_the_library_are_lent_to_the_program(name: str) -> None:
    body, right, wrong = PASSED[name]
    said = run(f"def f(x):\n    {body}", style="asserts", setup=OPERATION, cases=[right, wrong])
    assert said.passed == [True, False], said.messages


@pytest.mark.parametrize("name", OWN_CLASSES)
def test_classes_of_the_tests_are_lent_as_they_are(name: str) -> None:
    program, right, wrong = OWN_CLASSES[name]
    outcome = run(program, style="asserts", setup=OF_TESTS, cases=[right, wrong])
    assert outcome.passed == [True, False], outcome.messages


@pytest.mark.parametrize(
    "attack",
    [
        "vars(x)['area'] = lambda: 9",
        "x.__dict__.update(area=lambda: 9)",
        "Square.area = lambda s: 9",
        "Shape.register(int)",
        "x.area = lambda: 9",
        "type(x).__init__ = None",
    ],
)
def test_a_program_does_not_change_how_tests_see_their_classes(attack: str) -> None:
    program = f"def f(x):\n    try:\n        {attack}\n    except Exception: pass\n    return 9"
    case = "s = Square(2)\nassert f(s) == 9\nassert not isinstance(9, Shape)\nassert s.area() == 4"
    assert run(program, style="asserts", setup=OF_TESTS, cases=[case]).passed == [True]


@pytest.mark.parametrize("name", RETURNED)
def test_objects_of_the_library_are_compared_by_what_they_hold(name: str) -> None:
    made, same, other = RETURNED[name]
    cases = [f"assert f() == {same}", f"assert {same} == f()", f"assert f() == {other}", f"assert f() != {same}"]
    said = run(f"def f(): return {made}", style="asserts", setup="import types, collections, ipaddress", cases=cases)
    assert said.passed == [True, True, False, False], said.messages


@pytest.mark.parametrize("name", ["_value_", "__class__", "__init__", "_name_"])
def test_a_program_reaches_nothing_behind_what_is_lent(name: str) -> None:
    program = f"def f(x):\n    try:\n        setattr(x, {name!r}, 'sub')\n    except AttributeError:\n        return 1"
    said = run(
        program,
        style="asserts",
        setup=OPERATION,
        cases=["assert f(Op.ADD) == 1", "f(Op.ADD)\nassert Op.ADD.value == 'sub'"],
    )
    assert not said.passed[1]


def test_a_program_cannot_replace_what_a_queue_is_made_of() -> None:
    program = "def f(x):\n    try:\n        x.mutex = 1\n    except AttributeError:\n        return 1"
    assert run(program, style="asserts", cases=["import queue\nassert f(queue.Queue()) == 1"]).passed == [True]
