"""Containers in objects of the tests are one object for tests and program; what tests read again stays as it was."""

from tests.sandbox.runner.split_process import run
from tests.tables import table

NODE = "class Node:\n    def __init__(self, *kids): self.kids = [*kids]\n    def size(self): return len(self.kids)\n"
TREE = (
    "class Tree:\n    def __init__(s, v, l=None, r=None): s.v = v; s.l = l; s.r = r\n"
    "def depth(t): return 0 if t is None else 1 + max(depth(t.l), depth(t.r))\n"
)
CHANGED = [
    ("def f(a): a.kids.append(5)", NODE + "a = Node()\nf(a)\nassert a.kids == [5]"),
    ("def f(a):\n    k = a.kids\n    k.append(5)\n    return a.size()", NODE + "a = Node()\nassert f(a) == 1"),
    ("def f(a): a.kids[0][1] = 5", NODE + "a = Node([1, 2])\nf(a)\nassert a.kids == [[1, 5]]"),
    (
        "def f(a):\n    i = []\n    a.kids.append(i)\n    a.size()\n    i.append(2)",
        NODE + "a = Node()\nf(a)\nassert a.kids == [[2]]",
    ),
    ("def f(a): return a.kids is a.kids, a.kids", NODE + "a = Node()\nr = f(a)\nassert r[0] and r[1] is a.kids"),
    (
        "def f(make):\n    k = make(1)\n    k.kids.append(make(4))\n    return k",
        NODE + "k = f(Node)\nassert k.kids[1].kids == [4]",
    ),
    ("def f(g): g().append(1)", "d = []\nf(lambda: d)\nassert d == [1]"),
    (
        "import copy\ndef f(s):\n    c = copy.deepcopy(s)\n    c.items.append(1)\n    return c",
        "from types import SimpleNamespace as N\ns = N(items=[])\nc = f(s)\nassert (s.items, c.items) == ([], [1])",
    ),
    (
        "def f(r, new, word):\n    for c in word:\n        if c not in r.children: r.children[c] = new()\n        r = r.children[c]",
        "class T:\n    def __init__(self): self.children = {}\nt = T()\nf(t, T, 'ab')\nassert [*t.children['a'].children] == ['b']",
    ),
    (
        "def f(nodes):\n    for n in nodes: n.kids.append(n.kids[0] + 1)",
        NODE
        + "n = [Node(i) for i in range(100)]\nf(n)\nassert [one.kids for one in n] == [[i, i + 1] for i in range(100)]",
    ),
]
UNCHANGED = [
    (
        "def f(a):\n    k = a.kids\n    k.sort()\n    return k",
        NODE + "a = Node(3, 1)\nassert f(a) == [1, 3]\nassert a.kids == [3, 1]",
    )
]
EMPTIED = [
    (
        "def f(t):\n    t.l = t.r = None\n    return 1",
        TREE + "for t in (Tree(1, Tree(2)), Tree(1)):\n    assert f(t) == depth(t)",
    ),
    (
        "def f(t):\n    t.l = t.r = None\n    return 1",
        TREE
        + "def check(f):\n    for t in (Tree(1, Tree(2)), Tree(1)):\n        got = f(t)\n        exp = depth(t)\n        assert got == exp\ncheck(f)",
    ),
    (
        "def f(a):\n    a.clear()\n    return 0",
        "from collections import UserList\na = UserList([1, 2])\nassert f(a) == len(a)",
    ),
    (
        "def f(a):\n    a.clear()\n    return 0",
        "from collections import UserDict\na = UserDict(a=2)\nassert f(a) == len(a)",
    ),
    (
        "def f(a):\n    a.clear()\n    return 0",
        "from collections import ChainMap\na = ChainMap({1: 2})\nassert f(a) == len(a)",
    ),
    (
        "def f(a):\n    a.items = ()\n    return 0",
        "from types import SimpleNamespace as N\na = N(items=[2])\nassert f(a) == sum(a.items)",
    ),
    (
        "def f(a):\n    a.truncate(0)\n    return 0",
        "import io\na = io.StringIO('ab')\nassert f(a) == len(a.getvalue())",
    ),
    ("def f(a):\n    a.kids.clear()\n    return 0", NODE + "a = Node(1)\nassert f(a) == len(a.kids)"),
    ("def f(a):\n    a.kids = []\n    return 0", NODE + "a = Node(1)\nassert f(a) == a.size()"),
    (
        "def f(a):\n    a.x = 0\n    return 0",
        "class P:\n    __slots__ = ('x',)\n    def __init__(self, x): self.x = x\na = P(3)\nassert f(a) == a.x",
    ),
    (
        "def f(a):\n    a.lines = ()\n    return 0",
        "from dataclasses import dataclass\n@dataclass\nclass O:\n    lines: list\na = O([2, 3])\nassert f(a) == sum(a.lines)",
    ),
]
KEPT = [
    (
        "def f(t):\n    t.l, t.r = t.r, t.l\n    return t",
        TREE + "t = Tree(1, Tree(2))\nr = f(t)\nassert (r.l, r.r.v) == (t.r, t.l.v)",
    ),
    ("def f(a):\n    a.kids.sort()\n    return a.kids", NODE + "a = Node(3, 1)\nassert f(a) == sorted(a.kids)"),
    ("def f(t): return t", TREE + "t = Tree(1, Tree(2))\nr = f(t)\nassert r is t and depth(r) == depth(t)"),
]


@table(("program", "test"), [*CHANGED, *KEPT])
def test_what_the_program_changes_in_an_object_is_changed(program: str, test: str) -> None:
    said = run(program, style="asserts", cases=[test])
    assert said.passed == [True], said.messages


@table(("program", "test"), [*UNCHANGED, *EMPTIED])
def test_a_program_gains_nothing_by_what_it_changes(program: str, test: str) -> None:
    assert run(program, style="asserts", cases=[test]).passed == [False]
