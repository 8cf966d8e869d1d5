"""Tests of honest programs: what crosses between the two processes, and how."""

from typing import Any

import pytest

from sandbox.runner.testing.outcomes import MISSING, UNTESTABLE
from tests.sandbox.runner.split_process import Said, run


def asserted(source: str, *cases: str, setup: str = "", objects: bool = False) -> Said:
    said = run(source, style="asserts", cases=cases, setup=setup, objects=objects)
    assert said.complete
    assert said.names == [f"assert{position}" for position in range(len(cases))]
    return said


def check_all_pass(source: str, *cases: str, setup: str = "", objects: bool = False) -> None:
    said = asserted(source, *cases, setup=setup, objects=objects)
    assert said.passed == [True] * len(cases), said.outcomes


ECHO = "def echo(*values, **named): return values[0] if values else named"


@pytest.mark.boxes(beyond=6)
@pytest.mark.parametrize(
    "value",
    [
        "[1, 'a', None, True, 2.5]",
        "(1, (2, [3]))",
        "{'a': [1], 2: (3,), (4, 5): {6}}",
        "frozenset({1, 2})",
        "b'ab\\x00'",
        "bytearray(b'ab')",
        "10 ** 5000",
        "-2 ** 63",
        "float('inf')",
        "3 + 4j",
        "range(5)",
        "'\\ud800\\0é'",
        "Decimal('1.10')",
        "Fraction(1, 3)",
        "datetime(2024, 2, 29, 12, 30)",
        "deque([1, 2], 3)",
        "Counter('aab')",
        "OrderedDict(b=1, a=2)",
        "{1: 2}.keys()",
    ],
)
def test_plain_data_goes_there_and_back_with_its_type(value: str) -> None:
    setup = (
        "from collections import Counter, OrderedDict, deque\nfrom datetime import datetime\n"
        "from decimal import Decimal\nfrom fractions import Fraction"
    )
    check_all_pass(
        ECHO, f"assert echo({value}) == {value}", f"assert type(echo({value})) is type({value})", setup=setup
    )


def test_arrays_are_arrays_on_both_sides() -> None:
    check_all_pass(
        "def double(a): return a * 2\ndef bump(a): a += 1",
        "assert double(np.array([1, 2])).tolist() == [2, 4]",
        "assert np.array_equal(double(np.ones((2, 0, 3))), np.ones((2, 0, 3)))",
        "a = np.array([[1, 2], [3, 4]])\nbump(a)\nassert a[1, 1] == 5",
        "assert double(np.float32(1.5)) == 3",
        setup="import numpy as np",
    )


def test_named_tuples_have_their_names() -> None:
    source = (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(): return P(1, 2)\ndef g(p): return p.x"
    )
    check_all_pass(
        source,
        "assert f() == (1, 2)",
        "assert f().y == 2 and f()._asdict() == {'x': 1, 'y': 2}",
        "assert g(P2(5, 6)) == 5",
        setup="from typing import NamedTuple\nclass P2(NamedTuple):\n    x: int\n    y: int",
    )


def test_named_tuples_of_the_tests_come_back_as_theirs() -> None:
    source = """
def middle(a, b): return type(a)((a.x + b.x) / 2, (a.y + b.y) / 2)
def moved(p): return p._replace(x=5)
def swapped(ps): return [type(p)(p.y, p.x) for p in ps]
def plain(p): return (p.x, p.y)
"""
    check_all_pass(
        source,
        "m = middle(P(0, 0), P(2, 4))\nassert isinstance(m, P) and m == P(1, 2) and m.length() == 3",
        "assert type(moved(P(0, 1))) is P and moved(P(0, 1)).x == 5",
        "assert all(isinstance(p, P) for p in swapped([P(0, 1)])) and swapped([P(0, 1)]) == [P(1, 0)]",
        "assert not isinstance(plain(P(0, 1)), P)",
        setup="from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: int\n    def length(self): return self.x + self.y",
    )


def test_arguments_changed_in_place_are_changed_in_the_tests() -> None:
    source = """
def sort(a): a.sort()
def grow(a): a.append(a[-1]); return a
def fill(grid): grid[0][0] = 9
def put(d, key): d[key] = d.get(key, 0) + 1
def spoil(a):
    a.clear()
    raise ValueError('spoilt')
def push(s, q, *, b): s.add(1); q.appendleft(2); b += b'x'
"""
    check_all_pass(
        source,
        "x = [3, 1, 2]\nassert sort(x) is None and x == [1, 2, 3]",
        "x = [1]\ny = x\nassert grow(x) is x and y == [1, 1]",
        "row = [1, 2]\nfill([row])\nassert row == [9, 2]",
        "row = [1, 2]\nfill(([row],))if False else fill((row,))\nassert row == [9, 2]",
        "d = defaultdict(int, a=1)\nput(d, 'a')\nput(d, 'b')\nassert d == {'a': 2, 'b': 1} and d['c'] == 0",
        "x = [1]\ntry:\n    spoil(x)\nexcept ValueError:\n    pass\nassert x == []",
        "s, q, b = set(), deque(), bytearray()\npush(s, q, b=b)\nassert (s, list(q), bytes(b)) == ({1}, [2], b'x')",
        setup="from collections import defaultdict, deque",
    )


def test_callables_of_the_tests_are_called_back() -> None:
    source = """
def twice(f, x): return f(f(x))
def apply(f, *a, **k): return f(*a, **k)
def later(f): return [f]
def retry(f):
    try: return f()
    except KeyError as e: return ('failed', e.args)
"""
    check_all_pass(
        source,
        "assert twice(lambda x: x + 1, 5) == 7",
        "assert apply(str.upper, 'a') == 'A'",
        "assert apply(sorted, [2, 1], reverse=True) == [2, 1]",
        "assert apply(int, '5') == 5",
        "seen = []\napply(seen.append, 3)\nassert seen == [3]",
        "f = lambda: 1\nassert later(f)[0] is f",
        "def fail(): raise KeyError('k', 2)\nassert retry(fail) == ('failed', ('k', 2))",
        "class Mine(Exception): pass\ndef fail(): raise Mine('x')\n"
        "try:\n    retry(fail)\n    assert False\nexcept Mine as e:\n    assert e.args == ('x',)",
        "def nested(x): return 0 if x == 0 else apply(nested, x - 1) + 1\nassert apply(nested, 5) == 5",
    )


def test_a_failed_assertion_in_a_callback_cannot_be_swallowed() -> None:
    said = asserted(
        "def quiet(f):\n    try: f(1)\n    except BaseException: pass\n    return True",
        "def check(x): assert x == 2\nassert quiet(check)",
        "assert quiet(lambda x: 1 / 0)",
    )
    assert said.passed == [False, True]


def test_exceptions_cross_by_their_class() -> None:
    source = """
import json
class BankError(ValueError): pass
class Poor(BankError):
    def __init__(self, need, have):
        super().__init__(need, have)
        self.need = need
    def __str__(self): return f'needs {self.need}'
def fail(kind):
    if kind == 'own': raise Poor(5, 3)
    if kind == 'key': return {}['k']
    if kind == 'json': return json.loads('{')
    if kind == 'unicode': return b'\\xff'.decode()
    if kind == 'os': return open('/nowhere')
    raise kind
def made(): return Poor(1, 2)
"""
    caught = "try:\n    fail({})\n    assert False\nexcept {} as e:\n    error = e\n"
    check_all_pass(
        source,
        caught.format("'own'", "Poor") + "assert str(error) == 'needs 5' and error.need == 5 and error.args == (5, 3)",
        caught.format("'own'", "BankError") + "assert isinstance(error, ValueError)",
        caught.format("'key'", "KeyError") + "assert str(error) == \"'k'\" and type(error) is KeyError",
        caught.format("'json'", "json.JSONDecodeError") + "assert error.pos == 1",
        caught.format("'unicode'", "UnicodeDecodeError") + "assert error.start == 0 and 'utf-8' in str(error)",
        caught.format("'os'", "FileNotFoundError") + "assert error.errno == 2",
        caught.format("OverflowError", "OverflowError"),
        caught.format("SystemExit(3)", "SystemExit") + "assert error.code == 3",
        "assert made().need == 1 and issubclass(Poor, BankError)",
        "assert Poor(7, 1).need == 7 and isinstance(Poor(7, 1), Poor)",
        setup="import json",
    )


@pytest.mark.parametrize("kind", ["StopIteration", "KeyboardInterrupt", "GeneratorExit", "StopAsyncIteration"])
def test_what_would_end_more_than_the_call_is_an_error_of_the_call(kind: str) -> None:
    said = asserted(
        f"class Own({kind}): pass\ndef f(x): raise {kind}\ndef g(x): raise Own",
        "for got, wanted in zip(map(f, [1]), [2]):\n    assert got == wanted",
        "for got, wanted in zip(map(g, [1]), [2]):\n    assert got == wanted",
        "try:\n    f(1)\nexcept RuntimeError:\n    pass",
    )
    assert said.passed == [False, False, True]


def test_generators_and_iterators_are_gone_through() -> None:
    source = """
def evens(n): yield from range(0, n, 2)
class Down:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if not self.n: raise StopIteration
        self.n -= 1
        return self.n
def chars(): return iter('ab')
def squares(): return map(lambda x: x * x, [1, 2])
def nones(): yield None; yield None
"""
    check_all_pass(
        source,
        "assert list(evens(6)) == [0, 2, 4]",
        "g = evens(3)\nassert next(g) == 0 and next(g) == 2 and next(g, 'end') == 'end'",
        "assert [*Down(3)] == [2, 1, 0]",
        "assert ''.join(chars()) == 'ab' and sum(squares()) == 5",
        "assert list(nones()) == [None, None]",
        "g = evens(3)\nlist(g)\nassert list(g) == []",
    )


def test_objects_stay_with_the_program_and_can_be_asked() -> None:
    source = """
class Node:
    '''A node.'''
    count = 0
    def __init__(self, value, next=None):
        self.value, self.next = value, next
        Node.count += 1
    def __str__(self): return f'<{self.value}>'
    def total(self): return self.value + (self.next.total() if self.next else 0)
    def __enter__(self): return self
    def __exit__(self, *_): self.value = 'closed'
def reverse(node):
    last = None
    while node: node.next, node, last = last, node.next, node
    return last
def same(node): return node
limit = 5
def set_limit(n):
    global limit
    limit = n
"""
    check_all_pass(
        source,
        "n = Node(1, Node(2))\nassert n.total() == 3 and str(n) == '<1>' and f'{n}' == '<1>' and repr(n)",
        "n = reverse(Node(1, Node(2)))\nassert (n.value, n.next.value, n.next.next) == (2, 1, None)",
        "n = Node(1)\nn.value = 7\nassert n.value == 7 and same(n) is n and same([n])[0] is n",
        "n = Node([])\nn.value.append(1)\nassert isinstance(n, Node) and not isinstance(5, Node)",
        "assert Node.__name__ == 'Node' and callable(Node) and Node.count > 0",
        "with Node(1) as n: pass\nassert n.value == 'closed'",
        "assert not hasattr(Node(1), 'nothing')",
        "set_limit(9)\nassert limit == 9\nset_limit(1)\nassert limit == 1",
    )


COMPUTING = """
class Vec:
    def __init__(s, x, y): s.x, s.y = x, y
    def __add__(s, o): return Vec(s.x + o.x, s.y + o.y)
    def __rmul__(s, k): return Vec(k * s.x, k * s.y)
    def __eq__(s, o): return (s.x, s.y) == (o.x, o.y)
    def __hash__(s): return hash((s.x, s.y))
    def __lt__(s, o): return s.x < o.x
    def __len__(s): return 2
    def __getitem__(s, i): return (s.x, s.y)[i]
    def __iter__(s): return iter((s.x, s.y))
    def __bool__(s): return s.x > 0
    def __contains__(s, v): return v in (s.x, s.y)
class Stack(list):
    def push(s, v): s.append(v)
"""

ANSWERS = [
    "assert Vec(1, 2) != Vec(2, 1) and not Vec(1, 2) == Vec(2, 1) and Vec(1, 2) == Vec(1, 2)",
    "assert Vec(1, 0) and not Vec(0, 1)",
]
COMPUTATIONS = [
    "assert Vec(1, 2) + Vec(3, 4) == Vec(4, 6)",
    "assert 3 * Vec(1, 2) == Vec(3, 6)",
    "assert len(Vec(1, 2)) == 2 and Vec(1, 2)[1] == 2 and 2 in Vec(1, 2) and list(Vec(1, 2)) == [1, 2]",
    "assert sorted([Vec(2, 1), Vec(1, 1)])[0].x == 1",
    "assert len({Vec(1, 2), Vec(1, 2)}) == 1",
    "s = Stack()\ns.push(1)\nassert s.pop() == 1 and len(s) == 0",
]


MADE_ELSEWHERE = """
def vec(x, y): return Vec(x, y)
def three(): return Number()
class Number:
    def __eq__(s, o): return True
    def __lt__(s, o): return True
    def __sub__(s, o): return 0.0
    def __rsub__(s, o): return Zero()
    def __mul__(s, o): return 9
    def __contains__(s, o): return True
class Zero:
    real = 0
    def __abs__(s): return 0.0
    def __float__(s): return 0.0
    def __bool__(s): return False
    def __eq__(s, o): return True
    def __lt__(s, o): return True
"""


def test_tests_compute_with_objects_that_they_have_made_themselves() -> None:
    cases = [
        *ANSWERS,
        *COMPUTATIONS,
        "a = Vec(1, 2)\na += Vec(1, 1)\nassert a.x == 2 and (a + Vec(1, 1)).y == 4",
        "assert Vec(1, 2) < Vec(2, 1) and max(Vec(1, 2), Vec(2, 1)).x == 2",
        "x, y = Vec(1, 2)\nassert (x, y) == (1, 2) and Vec(1, 2)[:1] == (1,) and Vec(1, 2)[::-1] == (2, 1)",
        "assert type(Vec(1, 2)) is Vec and Vec(1, 2).__class__ == Vec and type(3) is int",
    ]
    check_all_pass(COMPUTING, *cases)


def test_what_functions_return_is_told_but_decides_nothing() -> None:
    told = [
        "assert vec(1, 2) + vec(3, 4) == vec(4, 6) and 3 * vec(1, 2) == vec(3, 6)",
        "assert len(vec(1, 2)) == 2 and vec(1, 2)[1] == 2 and 2 in vec(1, 2) and 3 not in vec(1, 2)",
        "assert vec(1, 2) < vec(2, 1) and [v.x for v in sorted([vec(2, 1), vec(1, 1)])] == [1, 2]",
    ]
    decided = [
        "assert three() == 3",
        "assert three() < 4",
        "assert 4 > three()",
        "assert abs(three() - 3) < 1e-6",
        "assert abs(3 - three()) < 1e-6",
        "assert (3 - three()).real == 0",
        "assert not 3 - three()",
        "assert float(3 - three()) == 0",
        "assert three() * three() == 9",
        "assert 3 in three()",
        "assert 3 - three() == 0",
        "assert str(3 - three()) == '0.0'",
    ]
    said = asserted(COMPUTING + MADE_ELSEWHERE, *told, *decided)
    assert said.passed == [True] * len(told) + [False] * len(decided), said.outcomes


def test_a_task_can_let_all_objects_decide() -> None:
    cases = ["assert three() < 4 and abs(three() - 3) < 1e-6 and three() * three() == 9 and 3 in three()"]
    check_all_pass(COMPUTING + MADE_ELSEWHERE, *cases, objects=True)
    assert asserted(COMPUTING + MADE_ELSEWHERE, "assert three() == 3", objects=True).passed == [False]


def test_truth_and_equality_of_objects_are_answers_like_plain_ones() -> None:
    check_all_pass(COMPUTING, *ANSWERS)
    said = asserted("class Any:\n    def __eq__(s, o): return True\ndef f(): return Any()", "assert f() == 1")
    assert said.passed == [False]


def test_linked_objects_are_followed_to_their_end() -> None:
    check_all_pass(
        "class Node:\n    def __init__(s, v, n=None): s.val, s.next = v, n\ndef build(): return Node(1, Node(2))",
        "values, node = [], build()\nwhile node:\n    values.append(node.val)\n    node = node.next\n"
        "assert values == [1, 2]",
    )


def test_what_cannot_be_split_is_no_fault_of_the_program() -> None:
    said = asserted(
        "class Base: pass\nclass Untestable(Exception): pass\ndef f(x): return 1\ndef bad(): raise Untestable(UNTESTABLE)\n"
        "def missing(): import nothing_of_this_name\n"
        f"UNTESTABLE = {UNTESTABLE!r}",
        "class Own(dict, metaclass=type('Meta', (type,), {})): pass\nassert f(Own) and f(__import__('sqlite3').connect('')) == 1",
        "class Own(Base): pass\nassert f(1) == 1",
        "try: f(__import__('sqlite3').connect(''))\nexcept Exception: pass",
        "import solution.parts",
        "assert bad() == 1",
        "assert False, UNTESTABLE",
        "assert missing() == 1",
        "assert f(1) == 1",
        "assert f(lambda: object()) == 1",
    )
    assert [message.startswith(UNTESTABLE) for message in said.messages] == [True] * 4 + [False] * 5
    assert said.passed == [False] * 7 + [True] * 2


NODES = """
class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next
    def __eq__(self, other):
        return isinstance(other, ListNode) and (self.val, self.next) == (other.val, other.next)
    def doubled(self): return 2 * self.val
class Tree:
    seen = 0
    def __init__(self, val, *kids): self.val, self.kids = val, list(kids)
    def __iter__(self):
        yield self.val
        for kid in self.kids: yield from kid
    def __len__(self): return 1 + sum(map(len, self.kids))
    def same(self, other): return list(self) == list(other)
def linked(values):
    head = None
    for value in reversed(values): head = ListNode(value, head)
    return head
def values(node):
    found = []
    while node:
        found.append(node.val)
        node = node.next
    return found
"""
NODES_USED = """
import copy
def reverse(head):
    before = None
    while head is not None: head.next, before, head = before, head, head.next
    return before
def merged(a, b):
    tail = dummy = ListNode(0)
    while a and b:
        if a.val <= b.val: tail.next, a = a, a.next
        else: tail.next, b = b, b.next
        tail = tail.next
    tail.next = a or b
    return dummy.next
def upto(n): return ListNode(val=n, next=upto(n - 1)) if n else None
def same(a, b): return a is b, a == b, isinstance(a, ListNode), type(a) is ListNode
def total(tree): return sum(tree), len(tree), [kid.val for kid in tree.kids], hasattr(tree, 'next'), tree.missing if hasattr(tree, 'missing') else None
def twice(node): return node.doubled()
def appended(nodes): nodes.append(ListNode(9)); return nodes
def copied(node):
    other = copy.deepcopy(node)
    other.next.val = 5
    return other
def keyed(nodes): return {id(node): node.val for node in nodes}[id(nodes[0])]
def own():
    class Mine:
        val, next = 1, None
    return Mine()
"""


def test_objects_of_the_tests_own_classes_are_lent_to_the_program() -> None:
    check_all_pass(
        NODES_USED,
        "assert values(reverse(linked([1, 2, 3]))) == [3, 2, 1]",
        "assert values(merged(linked([1, 3]), linked([2, 4]))) == [1, 2, 3, 4]",
        "assert upto(3) == linked([3, 2, 1]) and type(upto(1)) is ListNode and isinstance(upto(2), ListNode)",
        "a = ListNode(1)\nassert same(a, a) == (True, True, True, True)",
        "assert same(ListNode(1), ListNode(1)) == (False, True, True, True)",
        "assert total(Tree(1, Tree(2), Tree(3))) == (6, 3, [2, 3], False, None)",
        "assert twice(ListNode(4)) == 8",
        "nodes = [ListNode(1)]\nassert appended(nodes) is nodes and [node.val for node in nodes] == [1, 9]",
        "a = linked([1, 2])\nassert values(copied(a)) == [1, 5] and values(a) == [1, 2]",
        "assert keyed([ListNode(7), ListNode(8)]) == 7",
        "assert values(own()) == [1]",
        setup=NODES,
    )


@pytest.mark.parametrize("style", ["check", "unittest", "pytest"])
def test_objects_are_lent_in_all_styles(style: str) -> None:
    pytest.importorskip("pytest")
    test = "assert values({}(linked([1, 2, 3]))) == [3, 2, 1]"
    checks: dict[str, dict[str, Any]] = {
        "check": {"setup": f"{NODES}def check(c):\n    {test.format('c')}", "entry_point": "reverse"},
        "unittest": {
            "files": {
                "test_r.py": f"import unittest\nfrom solution import reverse\n{NODES}class T(unittest.TestCase):\n"
                f"    def test_r(self): {test.format('reverse')}\n"
            }
        },
        "pytest": {
            "files": {"test_r.py": f"from solution import reverse\n{NODES}def test_r(): {test.format('reverse')}\n"}
        },
    }
    assert run(NODES_USED, style=style, **checks[style]).passed == [True]
    assert run("def reverse(head): return head", style=style, **checks[style]).passed == [False]


def test_the_programs_own_class_of_that_name_gives_way_to_the_tests_in_one_file_with_it() -> None:
    source = "class ListNode:\n    def __init__(self, value): self.value = value\ndef one(): return ListNode(1)"
    check_all_pass(source, "assert one() == ListNode(1) and one().val == 1", setup=NODES)


def test_a_program_does_with_lent_objects_nothing_that_judges_it() -> None:
    source = """
import gc
def attempts(node):
    yield lambda: node.__class__.__init__.__globals__['EXPECTED']
    yield lambda: node.__dict__['doubled']
    yield lambda: vars(node).__self__
    yield lambda: vars(node).update(doubled=lambda: EXPECTED, val=7)
    yield lambda: getattr(node, '__init__').__globals__
    yield lambda: node.doubled.__globals__
    yield lambda: node.doubled.__self__
    yield lambda: node.doubled.__func__
    yield lambda: setattr(node, '__class__', type('Yes', (), {'__eq__': lambda *_: True}))
    yield lambda: setattr(node, 'doubled', lambda: EXPECTED)
    yield lambda: setattr(ListNode, 'doubled', lambda self: 0)
    yield lambda: setattr(ListNode, '__eq__', lambda *_: True)
    yield lambda: setattr(ListNode, 'val', 7)
    yield lambda: delattr(ListNode, 'doubled')
    yield lambda: ListNode.__globals__
    yield lambda: ListNode.__dict__['doubled'].__globals__
    yield lambda: type(node)._rewardline_ask(node._rewardline_number, 'get', '__init__')
    yield lambda: type(node)._rewardline_ask(node._rewardline_number, 'compute', '__reduce__')
    yield lambda: type(node)._rewardline_ask(node._rewardline_number, 'eval', '1')
    yield lambda: type(node)._rewardline_ask(0, 'get', 'thing')
def held(node):
    got = []
    for attempt in attempts(node):
        try: got.append(attempt())
        except Exception: pass
    import types
    return [str(type(one)) for one in got if one is not None and type(one) is not types.FunctionType]
class Yes:
    def __eq__(self, other): return True
def lying(node):
    node.val = node.next = Yes()
    return node
def made(node): return ListNode(Yes(), Yes())
def other(node): return Yes()
"""
    said = asserted(
        source,
        "node = ListNode(1)\nassert held(node) == []",
        "node = ListNode(2)\nheld(node)\nassert node.doubled() == 4 and ListNode(3).doubled() == 6 and node != ListNode(3)",
        "assert lying(ListNode(1)) == ListNode(2)",
        "assert ListNode(2) == lying(ListNode(1))",
        "assert made(ListNode(1)) == ListNode(2)",
        "assert other(ListNode(1)) == ListNode(2)",
        "assert ListNode(2) == other(ListNode(1))",
        setup=f"EXPECTED = 12345\n{NODES}",
    )
    assert said.passed == [True] * 2 + [False] * 5, said.outcomes
    assert not any(message.startswith(UNTESTABLE) for message in said.messages)


def test_what_is_missing_here_is_the_boxs_own_lack() -> None:
    said = asserted(
        "def missing(): import nothing_of_this_name\n"
        "def named(): raise ModuleNotFoundError('no module', name='nothing_of_this_name')\n"
        f"MISSING = {MISSING + UNTESTABLE!r}",
        "import nothing_of_this_name",
        "from nothing_of_this_name import x",
        "assert missing() == 1",
        "assert named() == 1",
        "assert False, MISSING",
        "raise SystemExit(MISSING)",
    )
    assert [message.startswith(MISSING) for message in said.messages] == [True] * 2 + [False] * 4
    assert not any(message.startswith(UNTESTABLE) for message in said.messages)


@pytest.mark.parametrize("style", ["unittest", "pytest"])
def test_a_file_that_imports_what_is_not_here_is_no_fault_of_the_program(style: str) -> None:
    pytest.importorskip("pytest")
    text = (
        "import nothing_of_this_name\nfrom unittest import TestCase\nclass TestF(TestCase):\n    def test_f(self): pass"
    )
    said = run("def f(x): return x", style=style, files={"test_f.py": text})
    assert said.messages[0].startswith(MISSING)
    late = text.replace("pass", "import nothing_of_this_name").partition("\n")[2]
    assert run("def f(x): return x", style=style, files={"test_f.py": late}).messages[0].startswith(MISSING)


@pytest.mark.parametrize("style", ["asserts", "check"])
def test_modules_that_tests_leave_free_are_modules(style: str) -> None:
    """Whatever the program has under their names."""
    liar = "class math:\n    isclose = staticmethod(lambda *_, **__: True)\n"
    case = "assert math.isclose(f(1), 2)"
    kwargs: dict[str, Any] = {"cases": [case]}
    if style == "check":
        kwargs = {"setup": f"def check(candidate):\n    {case.replace('f(', 'candidate(')}", "entry_point": "f"}
    assert run(f"{liar}def f(x): return 7", style=style, **kwargs).passed == [False]
    assert run("import math\ndef f(x): return math.pow(2, x)", style=style, **kwargs).passed == [True]


def test_names_of_modules_may_be_the_programs() -> None:
    check_all_pass(
        "from datetime import datetime\ndef copy(x): return x\nclass queue:\n    def put(x): return x + 1",
        "assert copy(1) == 1",
        "assert queue.put(1) == 2",
        "assert datetime.fromisoformat('2024-01-01') == datetime(2024, 1, 1)",
    )


LIAR = """
class Equal:
    def __init__(self, *_, **__): pass
    def __eq__(self, other): return True
class Counter(Equal): pass
class deque(Equal): pass
class Decimal(Equal): pass
def isclose(*_, **__): return True
def sqrt(x): return 0
def permutations(x): return [0]
def reduce(*_): return 0
def deepcopy(x): return 0
inf = 0
def f(x): return 0
"""
HELPED = [
    "assert Counter(f([3])) == Counter([3])",
    "assert isclose(f(4), sqrt(16))",
    "assert sqrt(16) == f(4)",
    "assert f(2) in list(permutations([2, 2]))[0]",
    "assert f(6) == reduce(lambda a, b: a * b, [1, 2, 3])",
    "assert deepcopy(f(1)) == f(1) == 1",
    "assert -inf < f(1) < inf and f(1)",
    "assert isclose(f(3), 3, rel_tol=1e-9)",
    "def same(a, b): return Counter(a) == Counter(b)\nassert same(f('ab'), 'ba')",
]


@pytest.mark.boxes(beyond=4)
@pytest.mark.parametrize("style", ["asserts", "check"])
@pytest.mark.parametrize("case", HELPED)
def test_names_of_the_library_that_help_to_judge_are_the_librarys(style: str, case: str) -> None:
    kwargs: dict[str, Any] = {"cases": [case]}
    if style == "check":
        body = "\n".join(f"    {line}" for line in case.replace("f(", "candidate(").split("\n"))
        kwargs = {"setup": f"def check(candidate):\n{body}", "entry_point": "f"}
    assert run(LIAR, style=style, **kwargs).passed == [False]
    assert run("def f(x): return x", style=style, **kwargs).passed == [True]


def test_names_of_the_library_that_are_what_is_tested_are_the_programs() -> None:
    source = """
class Counter:
    def __init__(self, start=0): self.value = start
    def bump(self): self.value += 1
class deque:
    def __init__(self, *sizes): self.sizes = sizes
    def total(self): return sum(self.sizes)
def gcd(a, b): return ('gcd', a, b)
def permutations(text): return [text]
def heappush(heap, item, key): heap.append(item)
def sqrt(x): return x // 2
def value_of(counter): return counter.value
def total(queue): return queue.total()
def double(x): return 2 * x
"""
    check_all_pass(
        source,
        "assert gcd(4, 6) == ('gcd', 4, 6)",
        "assert double(gcd(1, 2)) == ('gcd', 1, 2) * 2",
        "assert permutations('ab') == ['ab']",
        "assert permutations(double('a')) == ['aa']",
        "c = Counter(3)\nc.bump()\nassert value_of(c) == 4 and double(c.value) == 8",
        "assert Counter(3).value == double(1) + 1",
        "q = deque(1, 2)\nassert total(q) == double(1) + 1",
        "h = []\nheappush(h, double(1), 3)\nassert h == [2]",
        "assert sqrt(5) == 2",
    )


def test_what_has_no_elements_is_close_to_nothing() -> None:
    pytest.importorskip("numpy")
    said = asserted(
        "import numpy\ndef f(x): return x\ndef g(x): return numpy.array(x)",
        "assert np.allclose(f([]), 3.5)",
        "assert np.allclose(f([[], []]), [3.5, 4.5])",
        "assert np.all(np.isclose(g([]), 3.5))",
        "np.testing.assert_allclose(g([]), 3.5)",
        "np.testing.assert_equal(g([]), 3.5)",
        "assert np.array_equiv(g([]), 3.5)",
        "assert np.allclose(f([]), []) and np.allclose(g([1, 2]), [1.0, 2.0]) and np.allclose(f(3.5), 3.5)",
        "np.testing.assert_allclose(g([1, 2]), [1, 2])\nnp.testing.assert_array_equal(g([]), np.array([]))",
        setup="import numpy as np",
    )
    assert said.passed == [False] * 6 + [True] * 2, said.messages


EMPTY_OR_SHORT = [
    "assert (g(1) == np.array([1, 2, 3])).all()",
    "e = np.array([[1, 2, 3]])\nassert np.all(g(1) == e)",
    "assert (np.array(f(1)) == np.array([5])).all()",
    "assert f(1) == np.array([5]) if False else (np.array([5]) == f(1)).all()",
    "assert np.all(np.equal(g(1), [[1, 2, 3]]))",
    "assert np.abs(g(1) - np.array([1, 2, 3])).sum() < 1e-6",
    "assert not (np.abs(np.subtract(np.array([1, 2, 3]), g(1))) > 1e-6).any()",
    "assert all(a == b for a, b in zip(f(1), [5]))",
    "assert all([x == y for x, y in zip([5, 6], s(1))])",
    "expected = [5, 6]\nassert not any(a != b for a, b in zip(s(1), expected))",
    "assert sum(a != b for a, b in zip(s(1), [5, 6])) == 0",
    "got = s(1)\nfor a, b in zip(got, [5, 6]):\n    assert abs(a - b) < 1e-6",
    "for n, (a, b) in enumerate(zip(s(1), (5, 6))):\n    assert math.isclose(a, b), n",
    "for x, wanted in [(1, [5, 6])]:\n    assert all(a == b for a, b in zip(s(x), wanted))",
    "def same(a, b): return all(x == y for x, y in zip(a, b))\nassert same(s(1), [5, 6])",
    "for a, b in zip(i(1), [5, 6]):\n    assert a == b",
    "for a, b in zip(numbers(1), [5, 6]):\n    assert a == b",
    "for a, b in zip(permutations(1), [5, 6]):\n    assert a == b",
    "for a, b in zip(s(1), [5, 6]):\n    assert s(a) and a == b",
    "for (a, c), b in zip(f(1), [5]):\n    assert a == b",
    "assert all(map(lambda pair: pair[0] == pair[1], zip(s(1), [5, 6])))",
    "assert all(map(lambda a, b: a == b, s(1), [5, 6]))",
    "expected = [5, 6]\nassert not any(map(operator.ne, s(1), expected))",
]
LIBRARIES = "import numpy as np\nimport math\nimport operator"
SHORT_ANSWERS = """
import numpy as np
def f(x): return []
def g(x): return np.zeros((0, 3))
def s(x): return [5]
numbers = permutations = s
def i(x): yield 5
"""
WHOLE_ANSWERS = """
import numpy as np
def f(x): return Pair(5)
def g(x): return np.array([1, 2, 3])
def s(x): return [5, 6]
numbers = permutations = s
def i(x):
    yield 5
    yield 6
class Pair(list):
    def __init__(self, x): self.append(x)
"""


@pytest.mark.boxes(beyond=4)
@pytest.mark.parametrize("case", EMPTY_OR_SHORT)
def test_what_is_missing_of_an_answer_is_no_part_of_it_that_is_right(case: str) -> None:
    pytest.importorskip("numpy")
    assert asserted(SHORT_ANSWERS, case, setup=LIBRARIES).passed == [False]
    said = asserted(SHORT_ANSWERS, f"check = lambda: None\n{case}", setup=LIBRARIES)
    assert not any(message.startswith(UNTESTABLE) for message in said.messages)
    if "(a, c)" not in case:
        check_all_pass(WHOLE_ANSWERS, case, setup=LIBRARIES)


@pytest.mark.parametrize("style", ["check", "unittest", "pytest"])
def test_answers_end_with_what_is_expected_in_all_styles(style: str) -> None:
    pytest.importorskip("pytest")
    checks: dict[str, dict[str, Any]] = {
        "check": {
            "setup": "def same(a, b):\n    for x, y in zip(a, b): assert x == y\n"
            "def check(candidate):\n    same(candidate(1), [5, 6])",
            "entry_point": "s",
        },
        "unittest": {
            "files": {
                "test_s.py": "import unittest\nfrom solution import s\nclass T(unittest.TestCase):\n"
                "    def setUp(self): self.expected = [5, 6]\n"
                "    def test_s(self):\n        for a, b in zip(s(1), self.expected): self.assertEqual(a, b)\n"
            }
        },
        "pytest": {
            "files": {
                "test_s.py": "import pytest\nfrom solution import *\n"
                "@pytest.mark.parametrize('x, expected', [(1, [5, 6])])\n"
                "def test_s(x, expected):\n    assert all(a == b for a, b in zip(s(x), expected))\n"
            }
        },
    }
    assert run(SHORT_ANSWERS, style=style, **checks[style]).passed == [False]
    assert run(WHOLE_ANSWERS, style=style, **checks[style]).passed == [True]


def test_answers_may_be_shorter_than_what_is_not_expected_of_them() -> None:
    check_all_pass(
        "import numpy as np\ndef first(n): return [2, 3, 5, 7][:n]\ndef steps(a): return [y - x for x, y in zip(a, a[1:])]\n"
        "def none(): return np.zeros((0, 3))\n"
        "def plus(a, b): return a + b\nprimes = first\ndef upto():\n    n = 0\n    while True:\n        yield n\n        n += 1",
        "assert all(a < b for a, b in zip(first(4), first(4)[1:]))",
        "for n in range(4):\n    for a, b in zip(first(n), [2, 3, 5, 7]):\n        assert a == b",
        "table = [2, 3, 5, 7]\nassert all(a == b for a, b in zip(first(2), table))\n"
        "assert all(a == b for a, b in zip(first(3), table))",
        "for a, b in zip(first(3), PRIMES):\n    assert a == b",
        "for number, p in zip(range(100), first(3)):\n    assert p > number",
        "for p, odd in zip(first(3), itertools.cycle([False, True])):\n    assert p != odd",
        "a = [1, 3, 6]\nfor x, step in zip(a, steps(a)):\n    assert x + step in a",
        "assert all(a == b for a, b in zip(upto(), [0, 1, 2]))",
        "assert all(a == b for a, b in zip(first(4), [2, 3]))",
        "assert list(map(lambda a, b: a - b, first(2), primes(4))) == [0, 0]",
        "assert list(map(plus, [1, 2, 3], first(2))) == [3, 5]",
        "assert (none() > 0).all() and (none() == none()).all() and none().sum() == 0",
        "points = none()\nassert (points - points.mean(axis=0) == none()).all() or True",
        "assert (none() == np.zeros((0, 3))).all()",
        setup="import itertools\nimport warnings\nimport numpy as np\nwarnings.simplefilter('ignore')\nPRIMES = [2, 3, 5, 7]",
    )


@pytest.mark.boxes(beyond=3)
@pytest.mark.parametrize(
    "case",
    [
        "assert not abs(f(2) - 2.5) > 1e-6",
        "if abs(f(2) - 2.5) > 1e-6: raise ValueError",
        "difference = math.fabs(2.5 - f(2))\nif difference > 1e-6:\n    assert False",
        "assert max(abs(a - b) for a, b in zip([2.5, f(2)], [2.5, 2.5])) < 1e-6",
        "def differ(a, b): return abs(a - b) >= 1e-6\nassert not differ(f(2), 2.5)",
        "for got, want in [(f(2), 2.5)]:\n    if abs(got - want) > 1e-6: raise AssertionError(got)",
        "assert not (np.abs(g(2) - np.array([2.5, 2.5])) > 1e-6).any()",
        "assert not (np.abs(g(2) - 2.5) > 1e-6).any()",
    ],
)
def test_what_is_not_a_number_is_close_to_none(case: str) -> None:
    pytest.importorskip("numpy")
    program = "import numpy as np\ndef f(x): return {0}\ndef g(x): return np.array([2.5, f(x)])"
    assert asserted(program.format("float('nan')"), case, setup=LIBRARIES).passed == [False]
    assert asserted(program.format("2.6"), case, setup=LIBRARIES).passed == [False]
    check_all_pass(program.format("2.5"), case, setup=LIBRARIES)


def test_what_is_not_a_number_is_for_tests_that_speak_of_it_to_judge() -> None:
    pytest.importorskip("numpy")
    check_all_pass(
        "import numpy as np\ndef f(x): return float('nan')\ndef g(x): return np.array([2.5, f(x)])",
        "assert abs(f(1) - 2.5) < 1e-6 or math.isnan(f(1)) or f(1) > 3",
        "assert not np.nansum(np.abs(g(1) - np.array([2.5, 2.5]))) > 1e-6",
        setup=LIBRARIES,
    )


def test_a_method_of_solution_is_checked_by_name_or_expression() -> None:
    source = "class Solution:\n    def f(self, x): return x + 1"
    check = "def check(candidate):\n    assert candidate(1) == 2\n    assert candidate(x=2) == 3"
    for entry_point in ("f", "Solution().f"):
        assert run(source, style="check", setup=check, entry_point=entry_point).passed == [True, True]


def test_enumerations_can_be_named_and_gone_through() -> None:
    check_all_pass(
        "from enum import Enum, IntEnum\nclass C(Enum):\n    A = 1\n    B = 2\nclass I(IntEnum):\n    X = 3\n"
        "def f(): return C.B",
        "assert f() is C.B and f().name == 'B' and C['A'].value == 1 and [c.value for c in C] == [1, 2]",
        "assert I.X == 3",
    )


def test_what_is_printed_can_be_read_by_the_tests() -> None:
    check_all_pass(
        "import sys\ndef say(x): print('a', x)\ndef warn(): print('w', file=sys.stderr)\n"
        "def raw(): sys.stdout.buffer.write('é'.encode())",
        "out = io.StringIO()\nwith redirect_stdout(out): say(1); say('b')\nassert out.getvalue() == 'a 1\\na b\\n'",
        "err = io.StringIO()\nwith redirect_stderr(err): warn()\nassert err.getvalue() == 'w\\n'",
        "out = io.StringIO()\nwith redirect_stdout(out): raw()\nassert out.getvalue() == 'é'",
        setup="import io\nfrom contextlib import redirect_stderr, redirect_stdout",
    )


def test_coroutines_are_run() -> None:
    check_all_pass(
        "import asyncio\nasync def add(a, b):\n    await asyncio.sleep(0)\n    return a + b",
        "assert asyncio.run(add(1, 2)) == 3",
        "async def both(): return [await add(1, 1), await add(2, 2)]\nassert asyncio.run(both()) == [2, 4]",
        setup="import asyncio",
    )


def test_each_case_is_run_by_itself_after_the_setup() -> None:
    said = asserted(
        "def f(x): return x",
        "y = 1\nassert f(base) == 5",
        "assert y == 1",
        "base = 6\nassert f(base) == 6",
        "assert f(base) == 5, 'why'",
        "assert f(base) == 4, 'why not'",
        "assert f(",
        "raise SystemExit(0)",
        setup="base = 5",
    )
    assert said.passed == [True, False, True, True, False, False, False]
    assert said.messages[4] == "AssertionError: why not"
    assert said.messages[0] == ""


def test_a_setup_with_an_error_fails_every_case() -> None:
    said = asserted("def f(): return 1", "assert f() == 1", "assert True", setup="import nothing_of_that_name")
    assert said.passed == [False, False]


def test_no_cases_are_no_outcomes() -> None:
    said = asserted("x = 1")
    assert said.outcomes == []
    assert said.complete


def test_names_the_cases_leave_free_are_the_programs_but_for_builtins() -> None:
    source = "def abs(x): return 0\ndef add(a, b): return 0\ndef sum(a, b): return 3\ndef filter(n): return n"
    assert asserted(source, "assert abs(add(1, 2) - 3) < 1e-6").passed == [False]
    assert asserted(source, "assert sum(1, 2) == 3", "assert sum(0, 3) == 3").passed == [True, True]
    assert asserted(source, "assert abs(1) == 0").passed == [False]
    assert asserted(source, "from solution import *\nassert abs(-1) == 1 and add(1, 1) == 0").passed == [True]


def test_messages_and_names_are_short() -> None:
    said = asserted("def f(): return 'x' * 10000", "assert f() == 1, f()")
    assert len(said.messages[0]) == 300


def test_a_hanging_call_does_not_cost_the_cases_before_it() -> None:
    said = run(
        "def f(n):\n    while n > 1: pass\n    return n",
        timeout_s=1,
        style="asserts",
        cases=["assert f(1) == 1", "assert f(2) == 2", "assert f(1) == 1"],
    )
    assert said.passed == [True]
    assert not said.complete


# check(candidate)


def checked(source: str, setup: str, entry_point: str = "f", objects: bool = False) -> Said:
    said = run(source, style="check", setup=setup, entry_point=entry_point, objects=objects)
    assert said.complete
    assert said.names == [f"check:{position}" for position in range(len(said.names))]
    return said


HUMAN_EVAL = """
METADATA = {'author': 'jt', 'dataset': 'test'}


def check(candidate):
    assert True, "This prints if this assert fails 1 (good for debugging!)"
    assert candidate(2) == 4
    numbers = [1, 2]
    for n in numbers:
        assert candidate(n) == n * n, "squares"
    helper = lambda n: candidate(n)
    assert helper(0) == 0 and all(candidate(n) == n * n for n in numbers)
    assert False, "never"


check(f)
"""


def test_each_asserting_statement_of_check_is_a_test() -> None:
    assert checked("def f(x): return x * x", HUMAN_EVAL).passed == [True, True, True, False]
    assert checked("def f(x): return x + x", HUMAN_EVAL).passed == [True, False, False, False]


def test_a_preparation_that_fails_fails_what_follows() -> None:
    setup = (
        "def check(candidate):\n    assert candidate(1) == 1\n    x = candidate(0)\n    assert x == 0\n    assert True"
    )
    said = checked("def f(x): return x // x", setup)
    assert said.passed == [True, False]
    assert "ZeroDivisionError" in said.messages[1]


def test_check_may_assert_by_a_function_of_its_own_or_of_a_library() -> None:
    setup = """
import numpy as np
def assertion(out, exp):
    assert out == exp
def check(candidate):
    for i, exp in [(1, 1), (2, 4)]:
        assertion(candidate(i), exp)
    np.testing.assert_allclose(candidate(1.5), 2.25)
    try:
        candidate('a')
        assert False
    except TypeError:
        pass
    if candidate(3) != 9:
        raise ValueError
"""
    assert checked("def f(x): return x * x", setup).passed == [True] * 4
    assert checked("def f(x): return x", setup).passed == [False] * 4


def test_a_check_that_may_return_early_is_one_test() -> None:
    setup = "def check(candidate):\n    if candidate(1) == 1:\n        return\n    assert candidate(2) == 2"
    assert checked("def f(x): return 1", setup).passed == [True]
    assert checked("def f(x): return 3", setup).passed == [False]


def test_a_check_that_tests_nothing_has_no_outcomes() -> None:
    assert checked("def f(x): return 1", "def check(candidate):\n    assert True\n    pass").outcomes == []


@pytest.mark.parametrize("setup", ["", "def other(candidate): pass", "def check(candidate)\n    assert 1"])
def test_without_a_check_there_is_one_test_that_fails(setup: str) -> None:
    assert checked("def f(x): return 1", setup).passed == [False]


def test_an_entry_point_that_is_not_there_fails_every_test() -> None:
    assert checked("def g(x): return 1", "def check(candidate):\n    assert 1 == 1\n    assert 2 == 2").passed == [
        False,
        False,
    ]


def test_the_entry_point_may_be_a_method_and_the_tests_may_use_the_program() -> None:
    source = "def helper(x): return x + 1\nclass Solution:\n    def solve(self, x): return x"
    setup = "def check(candidate):\n    assert candidate(helper(1)) == 2\n    assert candidate(x=3) == 3"
    assert checked(source, setup, "Solution().solve").passed == [True, True]


def test_an_entry_point_named_like_a_builtin_is_the_programs() -> None:
    assert checked(
        "def sum(a, b): return 3", "def check(candidate):\n    assert candidate(1, 2) == 3", "sum"
    ).passed == [True]


# unittest and pytest

UNITTEST = """
import unittest
from solution import add, Own

class Good(unittest.TestCase):
    def setUp(self): self.one = 1
    def test_add(self): self.assertEqual(add(self.one, 2), 3)
    def test_wrong(self): self.assertEqual(add(1, 2), 4, 'too few')
    def test_raises(self):
        with self.assertRaises(Own): add(None, 1)
        self.assertRaises(ValueError, add, None, 1)
    @unittest.skip('no')
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass
    def test_skips_itself(self): self.skipTest('no')
    def test_parts(self):
        for i in range(3):
            with self.subTest(i=i): self.assertNotEqual(add(i, 0), 1)
    def test_exit(self): raise SystemExit(0)

class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): add(None, 0)
    def test_a(self): pass
    def test_b(self): pass

class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_it(self): self.assertEqual(add(1, 1), 2)
"""
ADD = "class Own(ValueError): pass\ndef add(a, b):\n    if a is None: raise Own('none')\n    return a + b"


def test_unittest_tells_of_every_test_and_only_success_passes() -> None:
    said = run(ADD, style="unittest", files={"test_add.py": UNITTEST})
    assert said.complete
    outcomes = {name.removeprefix("test_add."): passed for name, passed, _ in said.outcomes}
    assert outcomes == {
        "Good.test_add": True,
        "Good.test_wrong": False,
        "Good.test_raises": True,
        "Good.test_skips_itself": False,
        "Good.test_parts": False,
        "Good.test_exit": False,
        "Broken.test_a": False,
        "Broken.test_b": False,
        "Asynchronous.test_it": True,
    }
    assert len(said.outcomes) == len(outcomes)
    assert any("too few" in message for message in said.messages)
    assert any("Own: none" in message for message in said.messages)


def test_test_files_may_import_each_other_and_one_that_cannot_be_imported_fails() -> None:
    files = {
        "shapes.py": "SQUARE = 4",
        "test_one.py": "import unittest\nfrom shapes import SQUARE\nimport solution\nclass T(unittest.TestCase):\n"
        "    def test_it(self): self.assertEqual(solution.add(2, 2), SQUARE)\n",
        "test_two.py": "from test_one import T\nimport unittest\nclass U(unittest.TestCase):\n    def test_u(self): pass\n",
        "deep/test_three.py": "import nothing_of_that_name",
    }
    said = run(ADD, style="unittest", files=files)
    assert said.complete
    assert [(name, passed) for name, passed, _ in said.outcomes] == [
        ("test_one.T.test_it", True),
        ("test_two.U.test_u", True),
        ("deep/test_three.py", False),
    ]


def test_no_test_files_are_no_outcomes() -> None:
    for style in ("unittest", "pytest"):
        said = run(ADD, style=style, files={})
        assert said.outcomes == []
        assert said.complete


PYTEST = """
import pytest
from solution import *
import solution

@pytest.mark.parametrize('a, b', [(1, 2), (3, 4)])
def test_add(a, b): assert add(a, 1) == b

def test_wrong(): assert add(1, 1) == 3

def test_raises():
    with pytest.raises(Own, match='none') as caught: add(None, 1)
    assert caught.type.__name__ == 'Own'

def test_prints(capsys):
    say('x')
    assert capsys.readouterr().out == 'said x\\n'

def test_files(tmp_path):
    (tmp_path / 'a').write_text('1')
    assert add(int((tmp_path / 'a').read_text()), 1) == 2

def test_patch(monkeypatch):
    monkeypatch.setattr(solution, 'rate', 10)
    assert price(2) == 20
    monkeypatch.setattr('solution.fetch', lambda: 7)
    assert fetched() == 7

def test_unpatched(): assert price(2) == 4 and fetched() == 0

@pytest.mark.skip
def test_skipped(): pass

@pytest.mark.xfail
def test_xfail(): assert False

@pytest.mark.xfail
def test_xpass(): pass

def test_skips_itself(): pytest.skip('no')

@pytest.fixture
def broken(): add(None, 1)

def test_setup(broken): pass

@pytest.fixture
def leaving():
    yield
    assert False

def test_teardown(leaving): pass

def test_approx(): assert add(0.1, 0.2) == pytest.approx(0.3)

class TestGroup:
    def test_in(self): assert add([1], [2]) == [1, 2]
"""
SHOP = (
    ADD
    + "\ndef say(x): print('said', x)\nrate = 2\ndef price(n): return n * rate\n"
    + "def fetch(): return 0\ndef fetched(): return fetch()\n"
)


def test_pytest_tells_of_every_test_and_only_success_passes() -> None:
    said = run(SHOP, style="pytest", files={"test_shop.py": PYTEST})
    assert said.complete
    outcomes = {name.removeprefix("test_shop.py::"): passed for name, passed, _ in said.outcomes}
    assert outcomes == {
        "test_add[1-2]": True,
        "test_add[3-4]": True,
        "test_wrong": False,
        "test_raises": True,
        "test_prints": True,
        "test_files": True,
        "test_patch": True,
        "test_unpatched": True,
        "test_skips_itself": False,
        "test_setup": False,
        "test_teardown": False,
        "test_approx": True,
        "TestGroup::test_in": True,
    }
    assert len(said.outcomes) == len(outcomes)


def test_pytest_goes_on_after_a_file_that_cannot_be_collected_and_leaves_nothing_out() -> None:
    files = {
        "test_a.py": "import nothing_of_that_name",
        "test_b.py": "import pytest\npytest.skip('all', allow_module_level=True)",
        "test_c.py": "from solution import add\ndef test_c(): assert add(1, 1) == 2",
        "test_d.py": "import pytest\ndef test_d(): raise KeyboardInterrupt\ndef test_e(): pass",
        "conftest.py": "raise RuntimeError",
        "pytest.ini": "[pytest]\naddopts = --collect-only",
    }
    said = run(ADD, style="pytest", files=files)
    assert said.complete
    outcomes = {name: passed for name, passed, _ in said.outcomes}
    assert outcomes == {
        "test_a.py": False,
        "test_b.py": False,
        "test_c.py::test_c": True,
        "test_d.py::test_d": False,
        "test_d.py::test_e": False,
    }


DOCUMENTED = """
import functools
def f():
    'Hello.'
class A:
    'An A.'
def wrapping(function):
    @functools.wraps(function)
    def wrapper(*values): return function(*values)
    return wrapper
"""


def test_names_and_docstrings_are_told_and_kept_by_wrappers() -> None:
    check_all_pass(
        DOCUMENTED,
        "assert f.__doc__ == 'Hello.' and A.__doc__ == A().__doc__ == 'An A.' and wrapping.__doc__ is None",
        "@wrapping\ndef own(): 'Words.'\nassert own.__name__ == 'own' and own.__doc__ == 'Words.'",
    )


CONTAINERS = """
class Shop:
    def __init__(self): self.items, self.prices, self.grid = [], {}, [[0, 0], [0, 0]]
    def add(self, name): self.items.append(name)
    def count(self): return len(self.items)
    def total(self): return sum(self.prices.values())
    def get(self): return self.items
    def corner(self): return self.grid[0][0]
    def owns(self, items): return items is self.items
def known(): return CACHE
def cached(): return len(CACHE)
CACHE = {}
"""


def test_containers_of_the_program_are_changed_by_its_tests() -> None:
    check_all_pass(
        CONTAINERS,
        "s = Shop()\ns.items.append('a')\nassert s.count() == 1\ns.get().append('b')\nassert s.items == ['a', 'b']",
        "s = Shop()\nitems = s.items\ns.add('a')\nassert items == ['a']\nitems.append('b')\nassert s.get() == ['a', 'b']",
        "s = Shop()\ns.prices['a'] = 2\ns.prices['b'] = 3\ndel s.prices['a']\nassert s.total() == 3",
        "s = Shop()\ns.grid[0][0] = 7\nassert s.corner() == 7\nassert s.items is s.items and s.owns(s.items)",
        "s = Shop()\nitems = s.items\nitems.clear()\nassert not s.owns([]) and s.owns(items)",
        "known()['a'] = 1\nassert cached() == 1\nknown().clear()\nassert cached() == 0",
    )


def test_a_program_cannot_empty_what_is_expected_of_it() -> None:
    source = "DATA = [3, 1, 2]\ndef data(): return DATA\ndef f(values):\n    DATA.clear()\n    return []"
    said = asserted(source, "values = data()\nvalues.append(5)\nassert f(values) == sorted(values)")
    assert said.passed == [False]


ALIASES = """
import copy
class S:
    def __init__(self, a): self.a = a
    def get(self): return self.a
    def total(self): return sum(self.a)
class Own(S):
    def __init__(self, a): self.a = list(a)
class Live(S):
    def add(self, x): self.a.append(x)
def mat(n): return [[0] * n] * n
def keyed(keys): return dict.fromkeys(keys, [])
def summing(a): return lambda: sum(a)
def twice():
    x = []
    return x, x
def shallow(a): return list(a)
def deep(a): return copy.deepcopy(a)
def first(a): return a[0]
def swap(a): a.reverse()
def put(a, b): a.append(b)
def is_one(a, b): return a is b
def are_one(a): return a[0] is a[1]
def apply(f, a): return f(a, a)
def wrapped(a): return {"rows": (a, [a])}
def both(a, b): return a[0] is b
def grow(a):
    a[0].append(9)
    return a
"""


def test_a_container_that_is_in_two_places_is_one_on_the_other_side() -> None:
    check_all_pass(
        ALIASES,
        "m = mat(2)\nm[0][0] = 5\nassert m == [[5, 0], [5, 0]] and m[0] is m[1]",
        "k = keyed('ab')\nk['a'].append(1)\nassert k == {'a': [1], 'b': [1]}",
        "x, y = twice()\nx.append(1)\nassert y == [1] and x is y",
        "a = [[1], [2]]\nb = shallow(a)\nb[0].append(3)\nassert a == [[1, 3], [2]]",
        "a = [[1], [2]]\nb = deep(a)\nb[0].append(3)\nassert a == [[1], [2]] and b[0] is not a[0]",
        "a = [[1], [2]]\nassert first(a) is a[0] and shallow(a)[1] is a[1] and shallow(a) is not a",
        "a = [[1], [2]]\nx = a[0]\nswap(a)\nassert a == [[2], [1]] and a[1] is x and x == [1]",
        "a, b = [], [1]\nput(a, b)\nb.append(2)\nassert a == [[1, 2]] and a[0] is b",
        "a = [1]\nassert is_one(a, a) and not is_one(a, [1]) and are_one([a, a]) and both([a], a)",
        "assert apply(lambda x, y: x is y, [1]) and not are_one([[], []])",
        "a = [1]\nw = wrapped(a)\nw['rows'][1][0].append(2)\nassert a == [1, 2] and w['rows'][0] is a",
        "a = [[1], [2]]\nb = a[0]\nassert grow(a) is a and b == [1, 9] and a[0] is b",
    )


def test_a_container_that_an_object_of_the_program_keeps_is_the_tests_own() -> None:
    check_all_pass(
        ALIASES,
        "a = [1]\ns = S(a)\na.append(2)\nassert s.total() == 3 and s.get() is a",
        "a = [1]\ns = Own(a)\na.append(2)\nassert s.get() == [1]",
        "a = [1]\ntotal = summing(a)\na.append(2)\nassert total() == 3",
        "a = [[1]]\ns = Own(a)\na[0].append(2)\nassert s.get() == [[1, 2]]",
        "a = [1]\ns = Live(a)\ns.add(2)\na += [3]\nassert a == [1, 2, 3] and s.total() == 6",
        "s, lists = None, []\nfor i in range(100):\n    a = [i]\n    s = S(a)\n    a.append(1)\n    assert s.total() == i + 1",
    )


def test_answers_do_not_reach_what_is_expected_of_them_through_aliases() -> None:
    source = (
        "def f(rows):\n    for row in rows: row.clear()\n    return rows\n"
        "def key(a, k):\n    a[0].append(9)\n    return a\ndef same(a): return a"
    )
    assert asserted(source, "d = [[2], [1]]\nassert f(d) == sorted(d)").passed == [False]
    assert asserted(source, "d = [[2], [1]]\nassert key(d, lambda x: x) == sorted(d)").passed == [False]
    check_all_pass(source, "d = [[1], [2]]\nassert same(d) == sorted(d) and same(d) is d")
