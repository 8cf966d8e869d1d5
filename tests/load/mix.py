"""Items of every kind of work with known right scores: rules, mathematics, programs, and questions to a judge."""

from collections import deque
from collections.abc import Mapping
from random import Random
from typing import Any

JSON = dict[str, Any]
SHARES: Mapping[str, float] = {"rules": 0.62, "math": 0.25, "code": 0.03, "judge": 0.1}
_REPEATED = 0.2
_SIZES = (1, 2, 8, 16, 32, 64, 128, 256)


class Mix:
    """An endless supply of items. A fifth of them came shortly before, so that caches are used and must be right."""

    def __init__(self, seed: int = 1, shares: Mapping[str, float] = SHARES, largest: int = 256) -> None:
        """`largest` is the most items of a batch. A test waits for its batches in flight at the end."""
        self._random = Random(seed)
        self._kinds, self._weights = list(shares), list(shares.values())
        self._sizes = [size for size in _SIZES if size <= largest]
        self._recent: deque[tuple[JSON, float]] = deque(maxlen=2000)
        self._number = seed * 100_000_000

    def take(self, count: int) -> list[tuple[JSON, float]]:
        """This many items, each with its right score."""
        return [self._one() for _ in range(count)]

    def size(self) -> int:
        """The size of a batch: from a single sample to a whole training step. Small ones are more frequent."""
        return self._random.choice(self._sizes)

    def _one(self) -> tuple[JSON, float]:
        if self._recent and self._random.random() < _REPEATED:
            return self._random.choice(self._recent)
        (kind,) = self._random.choices(self._kinds, self._weights)
        self._number += 1
        made = _MAKERS[kind](self._number)
        self._recent.append(made)
        return made


def _rules(n: int) -> tuple[JSON, float]:
    is_right = n % 4 != 0
    if n % 3 == 0:
        return {"verifier": "exact_match", "response": f"{n}", "reference": f"{n if is_right else n + 1}"}, is_right
    if n % 3 == 1:
        reference = f"{n if is_right else n + 1}"
        return {"verifier": "numeric", "response": f"So it is \\boxed{{{n}}}.", "reference": reference}, is_right
    pattern = rf"It is {n} \w+" if is_right else rf"It is not {n} \w+"
    return {"verifier": "regex", "response": f"It is {n} apples", "reference": pattern}, is_right


def _math(n: int) -> tuple[JSON, float]:
    """An item that needs some milliseconds of computer algebra in a worker."""
    is_right = n % 3 != 0
    reference = f"x^2+{n if is_right else n + 1}+0"
    return {"verifier": "math", "response": f"\\boxed{{x^2+{n}}}", "reference": reference}, is_right


def _code(n: int) -> tuple[JSON, float]:
    is_right = n % 2 == 0
    program = f"```python\nprint(sum(map(int, input().split())) + {n})\n```"
    cases = [{"input": "1 2\n", "expected_output": str(n + 3 if is_right else n)}]
    return {"verifier": "code", "response": program, "reference": {"test_cases": cases}}, is_right


def _judge(n: int) -> tuple[JSON, float]:
    """An item for the judge of `tests.judge_upstream.grader`, which accepts what ends with the reference."""
    is_right = n % 2 == 0
    response = f"I think it is town {n if is_right else n + 1}"
    return {
        "verifier": "judge",
        "prompt": f"Which town? ({n})",
        "response": response,
        "reference": f"town {n}",
    }, is_right


_MAKERS = {"rules": _rules, "math": _math, "code": _code, "judge": _judge}
