"""A text twice as long takes about twice the work, also one that repeats itself, as models do and as the hostile write.

Work is counted in calls, of Python's functions and of C's, so that no busy machine makes a difference.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.work import counted
from verifiers.rules import numeric
from verifiers.rules.multiple_choice import MultipleChoiceParams, judge
from verifiers.rules.numeric import NumericParams

CHOICE = MultipleChoiceParams(reference="C", choices=("London", "Berlin", "Paris", "Madrid"))
NUMBER = NumericParams(reference=12)
REPEATED = [
    "The answer is {}. So {other} fits and {} is wrong. ",
    "So {}. ",
    "{other}, {} and {other} or {}, not {other} but maybe {} because ",
    "\\boxed{{}} ",
    "{} is not right, but ",
    "({}) ",
    "the answer ",
    "Answer: {}\n",
    "- {} is right\n",
]


def work(run: Callable[[], Any]) -> int:
    with counted() as done:
        run()
    return done.calls + done.calls_of_c


def choice(text: str, times: int) -> None:
    judge(text.replace("{other}", "B").replace("{}", "C") * times, CHOICE)


def number(text: str, times: int) -> None:
    numeric.judge(text.replace("{other}", "15").replace("{}", "12") * times, NUMBER)


@pytest.mark.accuracy(beyond=1)
@pytest.mark.parametrize("text", REPEATED)
@pytest.mark.parametrize("read", [choice, number])
def test_twice_the_text_is_twice_the_work(read: Callable[[str, int], None], text: str) -> None:
    read(text, 1)
    once, twice = (work(partial(read, text, times)) for times in (40, 80))
    assert twice <= 2.5 * once + 2_000
