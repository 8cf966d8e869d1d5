"""Names that solutions for LeetCode-like sites use without importing them."""

import re
from typing import Literal

Prelude = Literal["none", "leetcode"]

LEETCODE = """\
from bisect import bisect_left, bisect_right, insort, insort_left, insort_right
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
from copy import deepcopy
from datetime import date, timedelta
from fractions import Fraction
from functools import cache, cmp_to_key, lru_cache, partial, reduce, wraps
from heapq import heapify, heappop, heappush, heappushpop, heapreplace, merge, nlargest, nsmallest
from itertools import accumulate, chain, combinations, combinations_with_replacement, compress, count, cycle
from itertools import dropwhile, groupby, islice, pairwise, permutations, product, repeat, starmap, takewhile
from itertools import zip_longest
from math import ceil, comb, cos, dist, exp, factorial, floor, fsum, gcd, hypot, inf, isqrt, lcm, log, log2, log10
from math import perm, pi, prod, sin, sqrt, tan
from operator import add, and_, attrgetter, itemgetter, mul, or_, sub, xor
from random import choice, randint, randrange, sample, shuffle, uniform
from statistics import mean, median, mode
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits, punctuation
from typing import Any, Callable, DefaultDict, Deque, Dict, FrozenSet, Generator, Generic, Iterable, Iterator, List
from typing import NamedTuple, Optional, Sequence, Set, Tuple, Type, TypeVar, Union
import bisect, builtins, collections, copy, datetime, functools, heapq, io, itertools, json, math, operator, random
import re, statistics, string, sys, typing
sys.setrecursionlimit(600000)
"""
"""Modules come last: `bisect`, `copy` and the like are the modules, as such solutions expect."""


def prefixed(source: str, *heads: str) -> str:
    """The source behind the heads, with its own imports from `__future__` first, as Python requires."""
    head = "".join(text if text.endswith("\n") else f"{text}\n" for text in heads if text.strip())
    if not head:
        return source
    futures = _FUTURE.findall(source)
    return "".join(f"{line.strip()}\n" for line in futures) + head + _FUTURE.sub("\n", source)


_FUTURE = re.compile(r"^from[ \t]+__future__[ \t]+import[ \t]+[\w, \t]+(?:#.*)?(?:\n|\Z)", re.MULTILINE)
