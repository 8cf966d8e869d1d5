"""What goes before a program."""

from verifiers.code.prelude import LEETCODE, prefixed


def run(source: str) -> dict[str, object]:
    namespace: dict[str, object] = {}
    exec(source, namespace)
    return namespace


def test_names_and_modules_of_such_sites_are_there() -> None:
    source = (
        "class Solution:\n    def f(self, a: List[int]) -> Optional[int]:\n"
        "        d = defaultdict(int); heapq.heappush(a, 1); heappush(a, 2)\n"
        "        return bisect.bisect_left(a, inf) + collections.Counter(a)[1] + math.gcd(2, 4) + copy.deepcopy(d)[0]\n"
        "x = Solution().f([])\n"
    )
    head = LEETCODE.replace("sys.setrecursionlimit(600000)\n", "")
    assert run(prefixed(source, head))["x"] == 2 + 1 + 2 + 0


def test_imports_from_the_future_come_first() -> None:
    source = "from __future__ import annotations\nx: Undefined = 1\n"
    assert run(prefixed(source, "import os"))["x"] == 1


def test_nothing_before_a_program_leaves_it_alone() -> None:
    assert prefixed("a = 1\n", "", " \n") == "a = 1\n"
