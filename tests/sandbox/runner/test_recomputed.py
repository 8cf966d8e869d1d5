"""Whether tests compute what they expect from an argument, after the program has had it: their text decides."""

from sandbox.runner.testing.recomputed import recomputes_from_arguments
from sandbox.runner.testing.specification import Specification
from tests.sandbox.runner.split_process import run
from tests.tables import table

RECOMPUTED = [
    "arr=[3,1,2]\nresult=f(arr)\nexpected=sorted(arr)\nassert result==expected",
    "d=[3,1]\ndef verify(d,r): return r==sorted(d)\nassert verify(d,f(d))",
    "d=[3,1]\ndef verify(d,r):\n    assert r==sorted(d)\nverify(d,f(d))",
    "d=[3,1]\nargs=(d,)\nassert f(*args)==sorted(*args)",
    "D=[[3,1],[2,1]]\nassert list(map(f,D))==list(map(sorted,D))",
    "D=[[3,1],[2,1]]\nouts=[f(d) for d in D]\nexp=[sorted(q) for q in D]\nassert outs==exp",
    "d=[3,1]\nif f(d)!=sorted(d): raise AssertionError",
    "d=[3,1]\nr=f(d)\nif r!=sorted(d):\n    raise AssertionError('x')",
    "d=[3,1]\ne=d\nr=f(d)\nassert r==sorted(e)",
    "d=[3,1]\nr=f(d)\nwant=sorted(d)\nok=r==want\nassert ok",
    "d=[3,1]\nr=f(d)\nassert len(r)==len(d) and all(a==b for a,b in zip(r,sorted(d)))",
    "d=[3,1]\nr=f(d)\nassert len(r)==len(d)\nassert r==sorted(d)",
    "for d in ([3,1],[2,1]):\n    r=f(d)\n    e=sorted(d)\n    assert r==e",
    "cases=[{'in':[3,1]},{'in':[2,1]}]\nfor c in cases:\n    assert f(c['in'])==sorted(c['in'])",
    "cases=[{'in':[3,1]},{'in':[2,1]}]\nfor c in cases:\n    r=f(c['in'])\n    e=sorted(c['in'])\n    assert r==e",
    "d=[3,1]\ns=Solution()\nr=s.f(d)\nexpected=sorted(d)\nassert r==expected",
    "d=[3,1]\nassert Solution().f(d)==sorted(d)",
    "d=[3,1]\nr=Solution().f(d)\nassert r==sorted(d)",
    "d=[3,1]\nout=list(map(f,[d]))[0]\nassert out==sorted(d)",
    "d=[3,1]\ndef ref(d): return sorted(d)\nassert f(d)==ref(d)",
    "d=[3,1]\ndef ref(d): return sorted(d)\na=f(d)\nb=ref(d)\nassert a==b",
    "d=[3,1]\na,b=f(d),sorted(d)\nassert a==b",
    "d=[3,1]\nassert (lambda a,b: a==b)(f(d),sorted(d))",
    "d=[3,1]\nassert not f(d)!=sorted(d)",
    "def run(fn,d):\n    r=fn(d)\n    return r,sorted(d)\na,b=run(f,[3,1])\nassert a==b",
    "d=[3,1]\nassert f(d) in (sorted(d),)",
    "d=[3,1]\nassert f(d=d)==sorted(d)",
    "d=[3,1]\nr=f(d)\nassert sum(r)==sum(d)\nassert r==[1,3] or len(d)==len(r)",
    "d=[3,1]\nassert [*f(d)]==sorted(d)",
    "d=[3,1]\nx=f(d)\ny=sorted(d)\nassert str(x)==str(y)",
    "from solution import f\ndef test_a():\n    d=[3,1]\n    r=f(d)\n    e=sorted(d)\n    assert r==e\n",
    "import pytest\nfrom solution import f\n@pytest.mark.parametrize('d',[[3,1],[2,1]])\ndef test_a(d):\n    r=f(d)\n    e=sorted(d)\n    assert r==e\n",
    "import pytest\nfrom solution import f\n@pytest.fixture\ndef d(): return [3,1]\ndef test_a(d):\n    assert f(d)==sorted(d)\n",
    "import pytest\nfrom solution import f\ndef test_e():\n    with pytest.raises(Exception):\n        f(None)\ndef test_a():\n    d=[3,1]\n    r=f(d)\n    e=sorted(d)\n    assert r==e\n",
    "import pytest\nimport solution\ndef test_a():\n    d=[3,1]\n    r=solution.f(d)\n    e=sorted(d)\n    assert r==e\n",
    "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.d=[3,1]\n    def test_a(self):\n        r=f(self.d)\n        e=sorted(self.d)\n        self.assertEqual(r,e)\n",
    "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self):\n        d=[3,1]\n        self.assertEqual(f(d),sorted(d))\n    def test_b(self):\n        d=[3,1]\n        with self.assertRaises(Exception):\n            f(5)\n",
    "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self):\n        d=[3,1]\n        self.assertTrue(f(d)==sorted(d))\n",
    "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def ok(self,d):\n        r=f(d)\n        self.assertListEqual(r,sorted(d))\n    def test_a(self):\n        self.ok([3,1])\n",
    "def check(candidate):\n    d=[3,1]\n    r=candidate(d)\n    e=sorted(d)\n    assert r==e\n",
    "def check(candidate):\n    for d in ([3,1],[2,1]):\n        assert candidate(d)==sorted(d)\n",
    "def check(candidate):\n    inputs=[[[3,1]],[[2,1]]]\n    for i in inputs:\n        out=candidate(*i)\n        exp=sorted(i[0])\n        assert out==exp\n",
    "d=[3,1]\nassert f(d)==[x for x in d if x>1]",
    "d=[3,1]\nr=f(d)\nn=0\nfor x in d:\n    if x>1: n+=1\nassert r==n",
    "d=[3,1]\ndef ref(d):\n    m=0\n    for x in d:\n        if x>m: m=x\n    return m\nassert f(d)==ref(d)",
    "d=[3,1]\nassert len(d)==2\nassert f(d)==sorted(d)",
    "def build(v):\n    i=0\n    while i<len(v): i+=1\n    return [*v]\ndef ref(d): return sorted(d)\nfor v in ([3,1],[2]):\n    d=build(v)\n    assert f(d)==ref(d)",
    "d=[3,1]\nassert f(d)==(d[0] if len(d)>1 else 0)",
    "d=[3,1]\nr=f(d)\nassert r is not d\nassert r==sorted(d)",
    "d=[3,1]\nr=f(d)\nassert r is d\nassert r==sorted(d)",
]

LOOKED_AT = [
    "d=[3,1]\nr=f(d)\nok=d==[1,3]\nassert ok and r==sorted(d)",
    "def check(f):\n    d=[3,1]\n    r=f(d)\n    if d!=[1,3]: return False\n    return r==sorted(d)\nassert check(f)",
    "d=[3,1]\nf(d)\nassert d==[1,3]",
    "d=[3,1]\ne=sorted(d)\nf(d)\nassert d==e",
    "d=[3,1]\nr=f(d)\nassert d==[1,3]",
    "d=[3,1]\nassert f(d) is None\nassert d==[1,3]",
    "d=[3,1]\nf(d)\nassert d==sorted([3,1])",
    "d=[3,1]\nf(d)\nassert all(a<=b for a,b in zip(d,d[1:]))\n",
    "def ok(d): return d==[1,3]\nd=[3,1]\nf(d)\nassert ok(d)",
    "for d,e in (([3,1],[1,3]),([2,1],[1,2])):\n    f(d)\n    assert d==e",
    "for d,e in (([3,1],[1,3]),([2,1],[1,2])):\n    r=f(d)\n    assert d==e",
    "args=([3,1],)\nf(*args)\nassert args[0]==[1,3]",
    "args=([3,1],)\nr=f(*args)\nassert r is None and args[0]==[1,3]",
    "def run(fn,d):\n    fn(d)\n    return d\nassert run(f,[3,1])==[1,3]",
    "def run(fn,d):\n    r=fn(d)\n    return d if r is None else r\nassert run(f,[3,1])==[1,3]",
    "d=[3,1]\nr=f(d) or d\nassert r==[1,3]",
    "d=[3,1]\nf(d)\nout=d\nassert out==[1,3]",
    "d=[3,1]\nf(d)\ns=','.join(map(str,d))\nassert s=='1,3'",
    "from solution import f\ndef test_a():\n    d=[3,1]\n    f(d)\n    assert d==[1,3]\n",
    "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self):\n        d=[3,1]\n        f(d)\n        self.assertEqual(d,[1,3])\n",
    "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def setUp(self):\n        self.d=[3,1]\n    def test_a(self):\n        f(self.d)\n        self.assertEqual(self.d,[1,3])\n",
    "def check(candidate):\n    d=[3,1]\n    candidate(d)\n    assert d==[1,3]\n",
    "def check(candidate):\n    for d,e in [([3,1],[1,3])]:\n        out=candidate(d)\n        assert d==e\n",
    "n=[3,2,2,3]\nk=rm(n,3)\nassert k==2 and n[:k]==[2,2]",
    "n=[3,2,2,3]\nk=rm(n,3)\nassert k==2\nassert sorted(n[:k])==[2,2]",
    "n=[3,2,2,3]\nexp=[2,2]\nk=rm(n,3)\nassert k==len(exp)\nn[:k]=sorted(n[:k])\nfor i in range(k):\n    assert n[i]==exp[i]",
    "def check(candidate):\n    n=[3,2,2,3]\n    k=candidate(n,3)\n    assert k==2\n    assert n[:k]==[2,2]\n",
    "s={'n':0}\nassert nxt(s)==1\nassert nxt(s)==2",
    "s={'n':0}\nfor i in range(3):\n    assert nxt(s)==i+1",
    "s={'n':0}\na=nxt(s)\nb=nxt(s)\nassert (a,b)==(1,2)",
    "memo={}\nassert m(3,memo)==9\nassert memo=={3:9}",
    "memo={}\nassert m(3,memo)==9\nassert 3 in memo",
    "memo={}\nr=m(3,memo)\nassert r==9\nassert len(memo)==1",
    "memo={}\nr=m(3,memo)\nassert memo",
    "memo={}\nr=m(3,memo)\nassert memo.get(3)==9",
    "d=[3,1]\nr=p(d)\nassert r==[1,3]\nassert d==[3,1]",
    "d=[3,1]\nc=d[:]\nr=p(d)\nassert r==sorted(c)\nassert d==c",
    "d=[1]\ns=S(d)\ns.add(2)\nassert d==[1,2]",
    "d=[1]\ns=Acc(5)\nassert s.move(d)\nassert d==[1,5]",
    "d=[1]\ns=Acc(5)\nr=s.move(d)\nassert r is True\nassert d[-1]==5",
    "d=[3,1]\nr=f(d)\nassert r is d, f'{d}'\nassert r[0]==1",
    "import unittest\nfrom solution import f\nclass T(unittest.TestCase):\n    def test_a(self):\n        d=[3,1]\n        r=f(d)\n        self.assertIs(r,d,msg=f'{d}')\n",
]


@table("text", RECOMPUTED)
def test_what_is_recomputed_is_kept_apart(text: str) -> None:
    assert recomputes_from_arguments(Specification("asserts", (text,)))


@table("text", LOOKED_AT)
def test_what_tests_look_at_comes_back(text: str) -> None:
    assert not recomputes_from_arguments(Specification("asserts", (text,)))


def test_a_program_that_empties_its_argument_is_not_paid() -> None:
    emptied = "def f(d):\n    d.clear()\n    return []"
    for case in [text for text in RECOMPUTED if not text.startswith(("from", "import", "def check"))][:9]:
        assert run(emptied, style="asserts", cases=[case]).passed == [False], case
        assert run("def f(d): return sorted(d)", style="asserts", cases=[case]).passed == [True], case


def test_a_queue_that_the_program_fills_comes_back_with_what_it_put_there() -> None:
    case = "from queue import PriorityQueue\nq = PriorityQueue()\nq = f(q)\nassert q.get(False) == 1\nassert q.qsize() == 1"
    filled = "def f(q):\n    q.put(2)\n    q.put(1)\n    return q"
    assert run(filled, style="asserts", cases=[case]).passed == [True]
    assert run(filled.replace("put(1)", "put(0)"), style="asserts", cases=[case]).passed == [False]
